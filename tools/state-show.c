/* SPDX-License-Identifier: MIT */

#include "state.h"

#include <stdio.h>

/* ---- as text ---- */

static void
print_inputs (GVariant *element)
{
  g_autoptr (GVariant) links = g_variant_lookup_value (element, "links", NULL);
  g_autoptr (GVariant) inputs = g_variant_lookup_value (element, "inputs", NULL);

  for (gsize i = 0; i < g_variant_n_children (links); i++)
    {
      const char *link;
      gint64 at;

      g_variant_get_child (links, i, "&s", &link);
      g_variant_get_child (inputs, i, "x", &at);
      if (at >= 0)
        printf ("    in   %s: goes on at record %" G_GINT64_FORMAT "\n", link, at);
      else if (at == -1)
        printf ("    in   %s: seen to its end\n", link);
      else
        printf ("    in   %s: closed behind %" G_GINT64_FORMAT " records\n", link, -2 - at);
    }
}

static void
print_outputs (GHashTable *positions, GVariant *element)
{
  g_autoptr (GVariant) emitted =
      g_variant_lookup_value (element, "emitted", G_VARIANT_TYPE ("a{st}"));

  for (gsize i = 0; emitted != NULL && i < g_variant_n_children (emitted); i++)
    {
      const char *pad;
      guint64 n, replay;

      g_variant_get_child (emitted, i, "{&st}", &pad, &n);
      replay = state_count_replay (positions, element, pad);
      printf ("    out  %s: goes on at record %" G_GUINT64_FORMAT, pad, n);
      if (replay > 0)
        printf ("; %" G_GUINT64_FORMAT " are made again and dropped", replay);
      printf ("\n");
    }
}

static void
print_fixed (GVariant *element)
{
  g_autoptr (GVariant) fixed = g_variant_lookup_value (element, "fixed", NULL);

  for (gsize i = 0; i < g_variant_n_children (fixed); i++)
    {
      g_autoptr (GVariant) value = NULL;
      g_autofree char *shown = NULL;
      g_autofree char *key = NULL;

      g_variant_get_child (fixed, i, "{s@s}", &key, &value);
      shown = state_print_value (value);
      printf ("    set  %s=%s\n", key, shown);
    }
}

static void
print_sink (GVariant *element)
{
  g_autoptr (GVariant) sink = g_variant_lookup_value (element, "sink", G_VARIANT_TYPE_VARDICT);
  g_autofree char *digest = NULL;

  if (sink == NULL)
    return;
  digest = state_print_digest (sink);
  printf ("    has  %" G_GUINT64_FORMAT " records, %" G_GUINT64_FORMAT " tokens\n    digest %s\n",
          state_get_number (sink, "records"), state_get_number (sink, "tokens"), digest);
}

/* Of a state that was made before it was recorded nothing. */
static char *
print_plugin (GVariant *element)
{
  g_autoptr (GVariant) plugin = g_variant_lookup_value (element, "plugin", G_VARIANT_TYPE_STRING);
  g_autoptr (GVariant) version =
      g_variant_lookup_value (element, "plugin-version", G_VARIANT_TYPE_STRING);
  g_autofree char *shown = NULL;

  if (plugin == NULL || version == NULL)
    return g_strdup ("");
  shown = state_print_value (version);
  return g_strdup_printf (", plugin %s %s", g_variant_get_string (plugin, NULL), shown);
}

static void
print_element (GHashTable *positions, GVariant *element, gboolean all)
{
  g_autoptr (GVariant) state = g_variant_lookup_value (element, "state", NULL);
  g_autofree char *plugin = print_plugin (element);
  g_autofree char *shown = NULL;

  printf ("  %s: %s, state version %" G_GUINT64_FORMAT "%s%s\n", state_get_string (element, "name"),
          state_get_string (element, "factory"), state_get_number (element, "version"), plugin,
          state_get_flag (element, "needed") ? "" : ", not needed any more");
  print_inputs (element);
  print_outputs (positions, element);
  print_sink (element);
  if (all)
    print_fixed (element);
  if (state == NULL || g_variant_n_children (state) == 0)
    return;
  shown = state_print_value (state);
  printf ("    state %s\n", shown);
}

static void
print_warnings (GVariant *state, gboolean all)
{
  g_autoptr (GVariant) warnings = g_variant_lookup_value (state, "warnings", NULL);
  guint64 n = state_get_number (state, "n-warnings");

  if (n == 0)
    return;
  printf ("warnings %" G_GUINT64_FORMAT "%s\n", n, all ? "" : " (--all shows them)");
  for (gsize i = 0; all && i < g_variant_n_children (warnings); i++)
    {
      g_autoptr (GVariant) warning = g_variant_get_child_value (warnings, i);
      g_autofree char *shown = g_variant_print (warning, FALSE);

      printf ("  %s\n", shown);
    }
}

static void
print_files (DlpCheckpoint *checkpoint, gboolean all)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) files = dlp_checkpoint_list_inputs (checkpoint, &error);

  if (files == NULL)
    {
      printf ("input files unknown: %s\n", error->message);
      return;
    }
  printf ("input files opened: %u\n", files->len);
  for (guint i = 0; all && i < files->len; i++)
    {
      DlpFile *file = files->pdata[i];
      g_autofree char *shown = dlp_uri_escape_for_display (dlp_file_get_uri (file));

      printf ("  %s: %" G_GINT64_FORMAT " bytes, %s\n", shown, dlp_file_get_size (file),
              dlp_file_get_identity (file) != NULL ? dlp_file_get_identity (file) : "unknown");
    }
}

static void
print_graph (DlpCheckpoint *checkpoint)
{
  g_autofree char *valid = g_utf8_make_valid (dlp_checkpoint_get_graph (checkpoint), -1);
  g_auto (GStrv) lines = g_strsplit (valid, "\n", -1);

  printf ("graph\n");
  for (guint i = 0; lines[i] != NULL; i++)
    {
      g_autofree char *shown = dlp_uri_escape_for_display (lines[i]);

      if (shown[0] != '\0')
        printf ("  %s\n", shown);
    }
}

static void
print_replay (GHashTable *positions, GVariant *elements)
{
  gboolean any = FALSE;

  printf ("a resume makes again");
  for (gsize i = 0; i < g_variant_n_children (elements); i++)
    {
      g_autoptr (GVariant) element = g_variant_get_child_value (elements, i);
      g_autoptr (GVariant) emitted =
          g_variant_lookup_value (element, "emitted", G_VARIANT_TYPE ("a{st}"));

      for (gsize k = 0; emitted != NULL && k < g_variant_n_children (emitted); k++)
        {
          const char *pad;
          guint64 replay;

          g_variant_get_child (emitted, k, "{&st}", &pad, NULL);
          replay = state_count_replay (positions, element, pad);
          if (replay > 0)
            printf ("%s %" G_GUINT64_FORMAT " records of %s.%s", any ? "," : "", replay,
                    state_get_string (element, "name"), pad);
          any = any || replay > 0;
        }
    }
  printf ("%s\n", any ? "" : " nothing");
}

static void
print_text (DlpCheckpoint *checkpoint, GVariant *state, gboolean all)
{
  g_autoptr (GVariant) elements = state_get_elements (state);
  g_autoptr (GHashTable) positions = state_index_positions (elements);
  g_autofree char *elapsed = NULL;
  g_autofree char *path = dlp_uri_escape_for_display (dlp_checkpoint_get_path (checkpoint));
  double seconds = 0;

  g_variant_lookup (state, "elapsed", "d", &seconds);
  elapsed = state_print_duration (seconds);
  printf ("%s\nrun %s, attempt %" G_GUINT64_FORMAT ", seed %" G_GUINT64_FORMAT ", %s after %s\n",
          path, state_get_string (state, "run-id"), state_get_number (state, "attempt"),
          state_get_number (state, "seed"), state_get_progress (state), elapsed);
  print_graph (checkpoint);
  printf ("elements\n");
  for (gsize i = 0; i < g_variant_n_children (elements); i++)
    {
      g_autoptr (GVariant) element = g_variant_get_child_value (elements, i);

      print_element (positions, element, all);
    }
  print_files (checkpoint, all);
  print_warnings (state, all);
  if (!state_get_flag (state, "complete"))
    print_replay (positions, elements);
}

/* ---- as JSON ---- */

static GVariant *
describe_replay (GHashTable *positions, GVariant *element)
{
  g_autoptr (GVariant) emitted =
      g_variant_lookup_value (element, "emitted", G_VARIANT_TYPE ("a{st}"));
  GVariantBuilder builder;

  g_variant_builder_init (&builder, G_VARIANT_TYPE ("a{st}"));
  for (gsize i = 0; emitted != NULL && i < g_variant_n_children (emitted); i++)
    {
      const char *pad;

      g_variant_get_child (emitted, i, "{&st}", &pad, NULL);
      g_variant_builder_add (&builder, "{st}", pad, state_count_replay (positions, element, pad));
    }
  return g_variant_builder_end (&builder);
}

static GVariant *
describe_elements (GVariant *elements)
{
  g_autoptr (GHashTable) positions = state_index_positions (elements);
  GVariantBuilder builder;

  g_variant_builder_init (&builder, G_VARIANT_TYPE ("aa{sv}"));
  for (gsize i = 0; i < g_variant_n_children (elements); i++)
    {
      g_autoptr (GVariant) element = g_variant_get_child_value (elements, i);
      g_autoptr (GVariant) sink = g_variant_lookup_value (element, "sink", G_VARIANT_TYPE_VARDICT);
      g_autofree char *digest = sink != NULL ? state_print_digest (sink) : NULL;
      GVariantDict dict;

      g_variant_dict_init (&dict, element);
      g_variant_dict_insert_value (&dict, "replay", describe_replay (positions, element));
      if (digest != NULL)
        g_variant_dict_insert (&dict, "digest", "s", digest);
      g_variant_builder_add_value (&builder, g_variant_dict_end (&dict));
    }
  return g_variant_builder_end (&builder);
}

/* What are bytes in the state, as a text. */
static void
insert_text (GVariantDict *dict, GVariant *state, const char *key)
{
  g_autofree char *valid = NULL;
  const char *text;

  if (!g_variant_lookup (state, key, "^&ay", &text))
    return;
  valid = g_utf8_make_valid (text, -1);
  g_variant_dict_insert (dict, key, "s", valid);
}

static GVariant *
describe_files (DlpCheckpoint *checkpoint)
{
  g_autoptr (GPtrArray) files = dlp_checkpoint_list_inputs (checkpoint, NULL);
  GVariantBuilder builder;

  g_variant_builder_init (&builder, G_VARIANT_TYPE ("aa{sv}"));
  for (guint i = 0; files != NULL && i < files->len; i++)
    {
      DlpFile *file = files->pdata[i];
      g_autofree char *uri = g_utf8_make_valid (dlp_file_get_uri (file), -1);
      GVariantDict dict;

      g_variant_dict_init (&dict, NULL);
      g_variant_dict_insert (&dict, "uri", "s", uri);
      g_variant_dict_insert (&dict, "size", "x", dlp_file_get_size (file));
      if (dlp_file_get_identity (file) != NULL)
        g_variant_dict_insert (&dict, "identity", "s", dlp_file_get_identity (file));
      g_variant_builder_add_value (&builder, g_variant_dict_end (&dict));
    }
  return g_variant_builder_end (&builder);
}

static void
print_json (DlpCheckpoint *checkpoint, GVariant *state)
{
  g_autoptr (GVariant) elements = state_get_elements (state);
  g_autofree char *path = g_utf8_make_valid (dlp_checkpoint_get_path (checkpoint), -1);
  GVariantDict dict;

  g_variant_dict_init (&dict, state);
  g_variant_dict_remove (&dict, "opened");
  g_variant_dict_insert (&dict, "path", "s", path);
  insert_text (&dict, state, "graph");
  insert_text (&dict, state, "quarantine");
  g_variant_dict_insert_value (&dict, "elements", describe_elements (elements));
  g_variant_dict_insert_value (&dict, "input-files", describe_files (checkpoint));
  state_print_json (g_variant_dict_end (&dict));
}

int
state_show (const StateOptions *options, GError **error)
{
  g_autoptr (DlpCheckpoint) checkpoint = state_open (options->places[0], error);
  g_autoptr (GVariant) state = NULL;

  if (checkpoint == NULL)
    return STATE_EXIT_USAGE;
  state = dlp_checkpoint_to_variant (checkpoint);
  if (options->json)
    print_json (checkpoint, state);
  else
    print_text (checkpoint, state, options->all);
  return STATE_EXIT_OK;
}
