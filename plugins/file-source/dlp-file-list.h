/* SPDX-License-Identifier: MIT */
#pragma once

#include <dlpipe/dlp-error.h>
#include <dlpipe/dlp-file.h>

#include "source-manifest.h"

G_BEGIN_DECLS

/* The files that a source reads, in their order; see README.md. Immutable once it is made. */

#define FILE_LIST_N_PREFIXES 16

typedef struct
{
  GPtrArray *files;   /* of DlpFile */
  GPtrArray *entries; /* (nullable): of ManifestEntry: what the manifest says of each */
  /* (nullable): of a part, the number that each has in the whole list, ascending. */
  GArray *numbers;
  guint32 n_all; /* files in the whole list */
  char *hash;    /* of the names */
  /* (nullable): what the locations are called so that they mean the same later; of a part, NULL. */
  char **pins;
  /* Of the first 1/16, 2/16, ... of them: where two lists begin to differ. */
  guint64 prefixes[FILE_LIST_N_PREFIXES];
} FileList;

/* (transfer none) (nullable): who is going to write the file of that name. */
typedef const char *(*FileListFindWriter) (gpointer data, const char *uri);

/* @locations: (nullable). @pins: (nullable): what they were called before. @list: (nullable): a
 * file of names. What somebody writes (@find_writer, (nullable)) is left out where a pattern or a
 * folder has it, and an error where it is named. */
FileList *file_list_new (const char *const *locations,
                         const char *const *pins,
                         const char *list,
                         FileListFindWriter find_writer,
                         gpointer data,
                         gboolean sorted,
                         GCancellable *cancellable,
                         GError **error);
/* Those that a plan of a fan-out deals to @task; there may be none. */
FileList *file_list_new_part (const char *plan, const char *source, guint task, GError **error);
/* Of a manifest. */
FileList *file_list_new_from_manifest (const char *location,
                                       FileListFindWriter find_writer,
                                       gpointer data,
                                       gboolean sorted,
                                       GCancellable *cancellable,
                                       GError **error);
/* Of a part: what the manifest says of its files, each of which it has to name. */
gboolean file_list_add_manifest (FileList *self,
                                 const char *location,
                                 GCancellable *cancellable,
                                 GError **error);
/* Of the entries of a manifest, of which @self is what it says now: of URIs that were stored
 * without what gives access it has the whole. They are in their order; of a part the files stay as
 * the plan has them. Takes @entries. */
FileList *file_list_new_from_entries (const FileList *self,
                                      GPtrArray *entries,
                                      GCancellable *cancellable,
                                      GError **error);
void file_list_free (FileList *self);
guint file_list_get_length (const FileList *self);
DlpFile *file_list_get (const FileList *self, guint index);
/* The number that it has in the whole list. */
guint32 file_list_get_number (const FileList *self, guint index);
/* The first file that cannot be read twice: standard input or a pipe; NULL: none. */
DlpFile *file_list_find_stream (const FileList *self);

GVariant *file_list_describe_prefixes (const FileList *self);
/* FALSE and DLP_STATE_ERROR_CHANGED if this is not the list that was described. */
gboolean file_list_check (const FileList *self,
                          guint64 n_files,
                          const char *hash,
                          GVariant *prefixes,
                          GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (FileList, file_list_free)

G_END_DECLS
