/* SPDX-License-Identifier: MIT */
#include "dlp-normalizer.h"

#include <gmodule.h>

#include <string.h>

/* For test_normalizers.py: normalizers through ctypes. */

typedef struct
{
  DlpNormalizer *normalizer;
  DlpNormalizerScratch scratch;
} Probe;

G_MODULE_EXPORT Probe *probe_new (const char *json, char **message);
G_MODULE_EXPORT Probe *
probe_new_sentencepiece (const char *charsmap, gsize size, const char *symbols, guint flags);
G_MODULE_EXPORT const guint8 *probe_run (Probe *self, const guint8 *text, gsize *len);
G_MODULE_EXPORT void probe_free (Probe *self);

static Probe *
new_probe (DlpNormalizer *normalizer)
{
  Probe *self = g_new0 (Probe, 1);

  self->normalizer = normalizer;
  return self;
}

Probe *
probe_new (const char *json, char **message)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (DlpJsonTree) tree = dlp_json_tree_new (json, strlen (json), "file", &error);
  DlpNormalizer *normalizer =
      tree ? dlp_normalizer_new (dlp_json_tree_get_root (tree), &error) : NULL;

  *message = error ? g_strdup (error->message) : NULL;
  return normalizer ? new_probe (normalizer) : NULL;
}

/* @symbols are separated by newlines. */
Probe *
probe_new_sentencepiece (const char *charsmap, gsize size, const char *symbols, guint flags)
{
  g_auto (GStrv) all = g_strsplit (symbols, "\n", -1);
  DlpNormalizer *normalizer = dlp_normalizer_new_sentencepiece (
      charsmap, size, (const char *const *) all, flags, "file", NULL);

  return normalizer ? new_probe (normalizer) : NULL;
}

/* @len is that of the text, then that of the result. */
const guint8 *
probe_run (Probe *self, const guint8 *text, gsize *len)
{
  return dlp_normalizer_run (self->normalizer, &self->scratch, &text, len) ? text : NULL;
}

void
probe_free (Probe *self)
{
  dlp_normalizer_free (self->normalizer);
  dlp_normalizer_scratch_clear (&self->scratch);
  g_free (self);
}
