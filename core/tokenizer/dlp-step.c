/* SPDX-License-Identifier: MIT */
#include "dlp-splitter-private.h"

#include <string.h>

DlpStep *
dlp_step_new (DlpStepType type, DlpCut cut)
{
  DlpStep *self = g_new0 (DlpStep, 1);

  self->type = type;
  self->cut = cut;
  return self;
}

void
dlp_step_free (DlpStep *self)
{
  g_free (self->text);
  g_clear_pointer (&self->pattern, dlp_pattern_free);
  g_clear_pointer (&self->set, dlp_char_set_free);
  g_free (self);
}

/* A set is known by its name, a pattern by its text. */
void
dlp_step_hash (const DlpStep *self, GChecksum *checksum)
{
  const char *pattern = self->pattern ? self->pattern->text : "";
  g_autofree char *numbers =
      g_strdup_printf ("step %d %d %d %d %" G_GUINT64_FORMAT " %" G_GSIZE_FORMAT " ", self->type,
                       self->cut, self->invert, self->prepend, self->length, self->text_len);

  g_checksum_update (checksum, (const guchar *) numbers, strlen (numbers));
  if (self->text_len > 0)
    g_checksum_update (checksum, (const guchar *) self->text, self->text_len);
  g_checksum_update (checksum, (const guchar *) pattern, strlen (pattern) + 1);
}
