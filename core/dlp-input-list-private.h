/* SPDX-License-Identifier: MIT */
#pragma once

#include "dlp-state-dir-private.h"

G_BEGIN_DECLS

/* The file "inputs" of a state folder, see docs/internals/checkpoint.md. In memory is an index of
 * 12 bytes a slot, not the entries: a find reads its line from the file. Any thread, except new,
 * restore and free.
 */
typedef struct _DlpInputList DlpInputList;

typedef enum
{
  DLP_INPUT_LIST_READ_ONLY, /* nothing is written, no entry can be added */
  DLP_INPUT_LIST_IN_PLACE,  /* goes on in the file: nobody else can be writing to it */
  DLP_INPUT_LIST_COPY,      /* goes on in a copy, which takes the file's place */
} DlpInputListMode;

/* @folder is borrowed. A new list is empty; the first entry or sync replaces a file that is there.
 */
DlpInputList *dlp_input_list_new (int folder, const char *path);
void dlp_input_list_free (DlpInputList *self);
gboolean dlp_input_list_restore (DlpInputList *self,
                                 DlpInputListMode mode,
                                 guint64 length,
                                 guint64 hash,
                                 GError **error);
/* Back to what new gives. */
void dlp_input_list_reset (DlpInputList *self);
DlpInputEntry *dlp_input_list_find (DlpInputList *self,
                                    guint32 stage,
                                    guint32 source,
                                    guint32 file,
                                    GError **error);
gboolean dlp_input_list_add (DlpInputList *self, const DlpInputEntry *entry, GError **error);
gboolean dlp_input_list_sync (DlpInputList *self, guint64 *length, guint64 *hash, GError **error);

/* One line, for the tests and the fuzzer. Parse: NULL if it is malformed; @line without its line
 * feed. */
void dlp_input_entry_append (const DlpInputEntry *entry, GString *out);
DlpInputEntry *dlp_input_entry_parse (const char *line, gsize size);
/* Only its stage, source and file. */
gboolean dlp_input_entry_parse_key (const char *line, gsize size, guint32 key[3]);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (DlpInputList, dlp_input_list_free)

G_END_DECLS
