/* SPDX-License-Identifier: MIT */
#pragma once

#include "dlp-json-tree.h"
#include "dlpipe/dlp-tokenizer.h"

#include <glib/gstdio.h>

/* The tokenizer of a file in a folder of its own, which is gone again when this returns. */
static inline DlpTokenizer *
load_as (const char *name, gconstpointer data, gsize size, GError **error)
{
  g_autofree char *folder = g_dir_make_tmp ("dlp-tokenizer-XXXXXX", NULL);
  g_autofree char *path = g_build_filename (folder, name, NULL);
  DlpTokenizer *tokenizer;

  g_assert_true (g_file_set_contents (path, data, size, NULL));
  tokenizer = dlp_tokenizer_new (path, NULL, error);
  g_assert_no_errno (g_unlink (path));
  g_assert_no_errno (g_rmdir (folder));
  return tokenizer;
}

/* A list of whole numbers. */
static inline GArray *
read_ids (DlpJsonNode list)
{
  GArray *ids = g_array_new (FALSE, FALSE, sizeof (guint32));
  DlpJsonNode at = dlp_json_get_first (list);

  for (guint n = dlp_json_get_n_children (list); n > 0; n--)
    {
      guint64 value;
      guint32 id;

      g_assert_true (dlp_json_read_uint (at, G_MAXUINT32, &value, NULL));
      id = value;
      g_array_append_val (ids, id);
      at = dlp_json_get_next (at);
    }
  return ids;
}
