/* SPDX-License-Identifier: MIT */
#include "dlp-normalizer-step.h"

#define MAX_MATCHERS 16

/* What one thread needs to run one regular expression. */
typedef struct
{
  gsize serial;
  DlpMatcher *matcher;
} Entry;

static void
clear_entry (gpointer data)
{
  Entry *entry = data;

  dlp_matcher_free (entry->matcher);
}

static DlpMatcher *
get_matcher (const DlpNormalizerStep *self, DlpNormalizerScratch *scratch)
{
  Entry entry = { self->serial, NULL };

  if (scratch->matchers == NULL)
    {
      scratch->matchers = g_array_new (FALSE, FALSE, sizeof (Entry));
      g_array_set_clear_func (scratch->matchers, clear_entry);
    }
  for (guint i = 0; i < scratch->matchers->len; i++)
    {
      const Entry *known = &g_array_index (scratch->matchers, Entry, i);

      if (known->serial == self->serial)
        return known->matcher;
    }
  /* Those of normalizers that are no more. */
  if (scratch->matchers->len == MAX_MATCHERS)
    g_array_set_size (scratch->matchers, 0);
  entry.matcher = dlp_matcher_new_for_code (self->regex);
  g_array_append_val (scratch->matchers, entry);
  return entry.matcher;
}

gboolean
dlp_normalizer_compile (DlpNormalizerStep *self, const char *regex, GError **error)
{
  static gsize last_serial;

  self->regex = dlp_regex_compile_onig (regex, error);
  self->serial = __atomic_add_fetch (&last_serial, 1, __ATOMIC_RELAXED);
  self->run = dlp_normalizer_run_regex;
  return self->regex != NULL;
}

/* An empty text stays so, even where the regular expression matches it. */
gboolean
dlp_normalizer_run_regex (const DlpNormalizerStep *self,
                          DlpNormalizerScratch *scratch,
                          DlpNormalizerText *out,
                          const guint8 **text,
                          gsize *len)
{
  DlpMatcher *matcher = get_matcher (self, scratch);
  DlpEdit edit = dlp_edit_begin (*text, *len, out);
  const guint8 *start = *text;
  DlpMatch match = { 0 };
  gboolean changed = FALSE;
  int found;

  if (*len == 0)
    return TRUE;
  while ((found = dlp_matcher_find (matcher, start, *len, &match)) > 0)
    {
      dlp_edit_cut (&edit, start + match.start, start + match.stop);
      dlp_text_append (out, self->content, self->content_len);
      changed = TRUE;
    }
  if (found < 0)
    return FALSE;
  if (changed)
    {
      dlp_text_append (out, edit.done, edit.end - edit.done);
      edit.done = edit.end;
      dlp_edit_end (&edit, text, len);
    }
  return TRUE;
}
