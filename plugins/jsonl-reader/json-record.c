/* SPDX-License-Identifier: MIT */

#include "json-private.h"

JsonScratch *
json_scratch_new (void)
{
  return g_new0 (JsonScratch, 1);
}

void
json_scratch_free (JsonScratch *self)
{
  g_free (self->data);
  g_free (self->copy);
  g_free (self->seen);
  g_free (self);
}

void
json_scratch_trim (JsonScratch *self, gsize max_bytes)
{
  if (self->size + self->copy_size <= max_bytes)
    return;

  g_clear_pointer (&self->data, g_free);
  g_clear_pointer (&self->copy, g_free);
  self->size = 0;
  self->copy_size = 0;
}

/* What was there is not kept: a buffer that must grow is made anew. */
static void
grow (guint8 **data, gsize *size, gsize wanted)
{
  if (wanted <= *size)
    return;

  g_free (*data);
  *size = wanted < 1 << 20 ? wanted * 2 : wanted;
  *data = g_malloc (*size);
}

void
json_scratch_reserve (JsonScratch *self, gsize len)
{
  grow (&self->data, &self->size, len + 2 * JSON_PADDING);
}

void
json_scratch_prepare (JsonScratch *self, guint n_nodes)
{
  self->seen = g_realloc (self->seen, n_nodes);
  self->n_seen = n_nodes;
}

gboolean
json_parse_record (const JsonPlan *plan,
                   JsonScratch *scratch,
                   const guint8 *line,
                   gsize len,
                   JsonValue *values,
                   JsonCounts *counts,
                   JsonError *error)
{
  return plan->parse (plan, scratch, line, len, values, counts, error);
}

gboolean
json_parse_record_unpadded (const JsonPlan *plan,
                            JsonScratch *scratch,
                            const guint8 *line,
                            gsize len,
                            JsonValue *values,
                            JsonCounts *counts,
                            JsonError *error)
{
  grow (&scratch->copy, &scratch->copy_size, len + JSON_PADDING);
  if (len > 0)
    memcpy (scratch->copy, line, len);
  memset (scratch->copy + len, 0, JSON_PADDING);

  return plan->parse (plan, scratch, scratch->copy, len, values, counts, error);
}
