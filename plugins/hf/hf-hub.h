/* SPDX-License-Identifier: MIT */
#pragma once

#include <dlpipe/dlp-file.h>

#include "dlp-http-document.h"
#include "hf-place.h"

G_BEGIN_DECLS

/* The hub's interface, as far as files of datasets need it. */

/* Requests of one dataset: with a token, where there is one, to the hub alone. */
typedef struct
{
  HttpAccess parent;
  char *page;   /* of the dataset, for messages */
  GBytes *form; /* (nullable): JSON to be posted */
  gboolean has_token;
  char *code; /* (nullable): of the last error */
} HfAccess;

HfAccess *hf_access_new (const HfPlace *place);
void hf_access_free (HfAccess *self);

typedef struct
{
  const HttpSettings *settings;
  const HfPlace *place;
  const char *commit;
  GCancellable *cancellable;
} HfHub;

typedef enum
{
  HF_NOTHING,
  HF_FILE,
  HF_FOLDER,
} HfEntryKind;

/* (transfer full) (nullable): the commit that the place's revision is now; @hub's is not looked at.
 */
char *hf_hub_resolve (const HfHub *hub, GError **error);
/* (transfer full): where a file's bytes are. */
char *hf_hub_make_file_uri (const HfPlace *place, const char *commit, const char *path);
/* What is at a path. @file: (out) (transfer full) (nullable): a file. FALSE: @error. */
gboolean
hf_hub_look (const HfHub *hub, const char *path, HfEntryKind *kind, DlpFile **file, GError **error);

/* TRUE: it is wanted; stop: nothing else is. */
typedef gboolean (*HfWanted) (gpointer data, const char *path, gboolean *stop);

/* Appends the wanted ones of the files in a folder ("": the root) to @files. A folder that does not
 * exist is as an empty one. */
gboolean hf_hub_list (const HfHub *hub,
                      const char *folder,
                      gboolean is_recursive,
                      HfWanted wanted,
                      gpointer data,
                      GPtrArray *files,
                      GError **error);
/* (transfer full) (nullable): its README.md; one that does not exist is an error. */
GBytes *hf_hub_read_card (const HfHub *hub, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (HfAccess, hf_access_free)

G_END_DECLS
