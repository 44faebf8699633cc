/* SPDX-License-Identifier: MIT */

#include "order-config.h"

#include <string.h>

#include <glib/gstdio.h>

#include <dlpipe/dlpipe.h>

static guint64
get_number (GVariant *dict, const char *key, guint64 otherwise)
{
  g_autoptr (GVariant) value = g_variant_lookup_value (dict, key, NULL);

  if (value == NULL || !g_variant_type_is_basic (g_variant_get_type (value)))
    return otherwise;
  if (g_variant_is_of_type (value, G_VARIANT_TYPE_UINT64))
    return g_variant_get_uint64 (value);
  return (guint64) g_variant_get_int64 (value);
}

static gboolean
get_flag (GVariant *dict, const char *key)
{
  gboolean value = FALSE;

  g_variant_lookup (dict, key, "b", &value);
  return value;
}

static GVariant *
get_list (GVariant *dict, const char *key)
{
  GVariant *list = g_variant_lookup_value (dict, key, G_VARIANT_TYPE ("av"));

  g_assert_nonnull (list);
  return list;
}

static GVariant *
get_item (GVariant *list, gsize i)
{
  g_autoptr (GVariant) item = g_variant_get_child_value (list, i);

  return g_variant_get_variant (item);
}

OrderConfig *
order_config_new (const char *line)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GVariant) dict = dlp_json_parse (line, strlen (line), &error);
  OrderConfig *self = g_new0 (OrderConfig, 1);

  g_assert_no_error (error);
  self->config = g_variant_lookup_value (dict, "config", G_VARIANT_TYPE_VARDICT);
  g_assert_nonnull (self->config);
  self->json = dlp_json_print (self->config, FALSE);
  g_variant_lookup (dict, "error", "s", &self->error);
  g_variant_lookup (dict, "sha256", "s", &self->sha256);
  g_variant_lookup (dict, "first", "s", &self->first);
  self->batches = get_number (dict, "batches", 0);
  self->records = get_number (dict, "records", 0);
  g_assert_true (self->error != NULL || self->sha256 != NULL);
  return self;
}

void
order_config_free (OrderConfig *self)
{
  g_variant_unref (self->config);
  g_free (self->json);
  g_free (self->error);
  g_free (self->sha256);
  g_free (self->first);
  g_free (self);
}

guint64
order_config_get_seed (const OrderConfig *self)
{
  return get_number (self->config, "seed", 0);
}

guint
order_config_get_world_size (const OrderConfig *self)
{
  return (guint) get_number (self->config, "world_size", 1);
}

gboolean
order_config_has_one_rule (const OrderConfig *self)
{
  g_autoptr (GVariant) stages = get_list (self->config, "stages");
  g_autoptr (GVariant) first = get_item (stages, 0);

  for (gsize i = 1; i < g_variant_n_children (stages); i++)
    {
      g_autoptr (GVariant) stage = get_item (stages, i);

      if (get_flag (stage, "drop_last") != get_flag (first, "drop_last"))
        return FALSE;
    }
  return TRUE;
}

/* ---- files ---- */

static char *
name_source (const char *folder, gsize stage, gsize source)
{
  return g_strdup_printf ("%s/%zu-%zu", folder, stage, source);
}

static void
write_source (GVariant *source, const char *folder)
{
  g_autoptr (GVariant) rows = get_list (source, "rows");

  g_assert_no_errno (g_mkdir (folder, 0700));
  for (gsize i = 0; i < g_variant_n_children (rows); i++)
    {
      g_autoptr (GVariant) n = get_item (rows, i);
      g_autofree char *name = g_strdup_printf ("%s/%02zu.jsonl", folder, i);
      g_autoptr (GString) text = g_string_new (NULL);
      g_autoptr (GError) error = NULL;

      for (gint64 k = 0; k < g_variant_get_int64 (n); k++)
        g_string_append (text, "{\"text\":\"\"}\n");
      g_file_set_contents_full (name, text->str, (gssize) text->len, G_FILE_SET_CONTENTS_NONE, 0600,
                                &error);
      g_assert_no_error (error);
    }
}

void
order_config_write_files (const OrderConfig *self, const char *folder)
{
  g_autoptr (GVariant) stages = get_list (self->config, "stages");

  for (gsize i = 0; i < g_variant_n_children (stages); i++)
    {
      g_autoptr (GVariant) stage = get_item (stages, i);
      g_autoptr (GVariant) sources = get_list (stage, "sources");

      for (gsize k = 0; k < g_variant_n_children (sources); k++)
        {
          g_autoptr (GVariant) source = get_item (sources, k);
          g_autofree char *name = name_source (folder, i, k);

          write_source (source, name);
        }
    }
}

/* ---- graph ---- */

static void
append_source (GString *text, GVariant *source, const char *folder, gboolean infinite)
{
  g_string_append_printf (text, "file-source location=%s/*.jsonl epochs=%" G_GUINT64_FORMAT, folder,
                          infinite ? 0 : get_number (source, "epochs", 1));
  if (get_flag (source, "shuffle_files"))
    g_string_append (text, " shuffle=true");
  if (get_flag (source, "reshuffle"))
    g_string_append (text, " reshuffle=true");
  g_string_append_printf (text, " ! jsonl-reader interleave=%" G_GUINT64_FORMAT " ! ",
                          get_number (source, "interleave", 1));
}

/* As written in the configuration. */
static void
append_weight (GString *weights, GVariant *source)
{
  g_autoptr (GVariant) weight = g_variant_lookup_value (source, "weight", NULL);
  g_autofree char *text = dlp_json_print (weight, FALSE);

  g_string_append_printf (weights, "%s%s", weights->len > 0 ? "," : "", text);
}

static void
append_batch (GString *text, GVariant *stage)
{
  g_string_append_printf (text, "batch size=%" G_GUINT64_FORMAT " drop-last=%s ! ",
                          get_number (stage, "batch_size", 0),
                          get_flag (stage, "drop_last") ? "true" : "false");
}

static void
append_stage (GString *text, GVariant *stage, const char *folder, gsize index)
{
  g_autoptr (GVariant) sources = get_list (stage, "sources");
  g_autoptr (GVariant) shuffle = g_variant_lookup_value (stage, "shuffle", G_VARIANT_TYPE_VARDICT);
  g_autoptr (GString) weights = g_string_new (NULL);
  gsize n = g_variant_n_children (sources);

  for (gsize i = 0; i < n; i++)
    {
      g_autoptr (GVariant) source = get_item (sources, i);
      g_autofree char *name = name_source (folder, index, i);

      append_source (text, source, name, get_flag (stage, "infinite"));
      append_weight (weights, source);
      if (n > 1)
        g_string_append_printf (text, "m%zu.  ", index);
    }
  if (n > 1)
    g_string_append_printf (text, "mix name=m%zu weights=%s ! ", index, weights->str);
  if (shuffle != NULL)
    g_string_append_printf (text, "shuffle size=%" G_GUINT64_FORMAT " ! ",
                            get_number (shuffle, "buffer_rows", 0));
}

static void
append_number (GString *list, guint64 number)
{
  g_string_append_printf (list, "%s%" G_GUINT64_FORMAT, list->len > 0 ? "," : "", number);
}

/* One stage without a limit needs no `stages`. */
static gboolean
needs_stages (const OrderConfig *self)
{
  g_autoptr (GVariant) stages = get_list (self->config, "stages");
  g_autoptr (GVariant) first = get_item (stages, 0);

  return g_variant_n_children (stages) > 1 || get_number (first, "max_batches", 0) > 0;
}

static void
append_end (GString *text, const OrderConfig *self, const char *sizes, GVariant *first)
{
  g_string_append (text, "batch name=b");
  if (sizes != NULL)
    g_string_append_printf (text, " size=%s drop-last=%s", sizes,
                            get_flag (first, "drop_last") ? "true" : "false");
  g_string_append_printf (
      text, " rank=%" G_GUINT64_FORMAT " world-size=%" G_GUINT64_FORMAT " ! app-sink name=k",
      get_number (self->config, "rank", 0), get_number (self->config, "world_size", 1));
}

char *
order_config_make_graph (const OrderConfig *self, const char *folder, gboolean behind)
{
  g_autoptr (GVariant) stages = get_list (self->config, "stages");
  g_autoptr (GVariant) first = get_item (stages, 0);
  g_autoptr (GString) sizes = g_string_new (NULL);
  g_autoptr (GString) limits = g_string_new (NULL);
  GString *text = g_string_new (NULL);

  for (gsize i = 0; i < g_variant_n_children (stages); i++)
    {
      g_autoptr (GVariant) stage = get_item (stages, i);

      append_stage (text, stage, folder, i);
      if (!behind)
        append_batch (text, stage);
      append_number (sizes, get_number (stage, "batch_size", 0));
      append_number (limits, get_number (stage, "max_batches", 0));
      if (needs_stages (self))
        g_string_append (text, "s.  ");
    }
  if (needs_stages (self))
    g_string_append_printf (text, "stages name=s batches=%s ! ", limits->str);
  append_end (text, self, behind ? sizes->str : NULL, first);
  return g_string_free (text, FALSE);
}
