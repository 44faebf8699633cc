/* SPDX-License-Identifier: MIT */
#include "dlp-splitter.h"

#include <gmodule.h>

#include <string.h>

/* For test_splitters.py: splitters through ctypes. */

typedef struct
{
  DlpSplitter *splitter;
  DlpPieces pieces;
} Probe;

G_MODULE_EXPORT Probe *probe_new (const char *json, char *message, gsize size);
G_MODULE_EXPORT const DlpPieces *probe_run (Probe *self, const guint8 *text, gsize len);
G_MODULE_EXPORT gboolean probe_is_byte_level (const Probe *self);
G_MODULE_EXPORT void probe_free (Probe *self);

Probe *
probe_new (const char *json, char *message, gsize size)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (DlpJsonTree) tree = dlp_json_tree_new (json, strlen (json), "file", &error);
  DlpSplitter *splitter =
      tree ? dlp_splitter_new (dlp_json_tree_get_root (tree), FALSE, &error) : NULL;
  Probe *self;

  if (splitter == NULL)
    {
      g_strlcpy (message, error->message, size);
      return NULL;
    }
  self = g_new0 (Probe, 1);
  self->splitter = splitter;
  return self;
}

const DlpPieces *
probe_run (Probe *self, const guint8 *text, gsize len)
{
  return dlp_splitter_run (self->splitter, text, len, TRUE, &self->pieces) ? &self->pieces : NULL;
}

gboolean
probe_is_byte_level (const Probe *self)
{
  return dlp_splitter_is_byte_level (self->splitter);
}

void
probe_free (Probe *self)
{
  dlp_pieces_clear (&self->pieces);
  dlp_splitter_free (self->splitter);
  g_free (self);
}
