/* SPDX-License-Identifier: MIT */

/* The checkpoints of a state folder, or the runs whose state folders are below a folder. */

#include "state.h"

#include <stdio.h>
#include <string.h>

/* Deeper ones are not looked for. */
#define MAX_DEPTH 8
#define CHECKPOINT_NAME "%s/checkpoint-%" G_GUINT64_FORMAT

static gboolean
is_state (GVariant *folder)
{
  g_autoptr (GVariant) generations = g_variant_lookup_value (folder, "generations", NULL);

  return g_variant_n_children (generations) > 0 || g_variant_lookup (folder, "attempt", "u", NULL);
}

/* In its own words, or by whether its process is there. */
static const char *
get_status (GVariant *folder)
{
  g_autoptr (GVariant) status = g_variant_lookup_value (folder, "status", G_VARIANT_TYPE_VARDICT);
  const char *word = status != NULL ? state_get_string (status, "status") : "";
  gboolean running;

  if (g_variant_lookup (folder, "running", "b", &running))
    {
      if (running)
        return "running";
      if (strcmp (word, "running") == 0 || strcmp (word, "ready") == 0 || word[0] == '\0')
        return "dead";
    }
  return word[0] != '\0' ? word : "unknown";
}

/* ---- checkpoints ---- */

typedef struct
{
  guint64 records, tokens;
} Totals;

static Totals
sum_sinks (GVariant *state)
{
  g_autoptr (GVariant) elements = state_get_elements (state);
  Totals totals = { 0, 0 };

  for (gsize i = 0; i < g_variant_n_children (elements); i++)
    {
      g_autoptr (GVariant) element = g_variant_get_child_value (elements, i);
      g_autoptr (GVariant) sink = g_variant_lookup_value (element, "sink", G_VARIANT_TYPE_VARDICT);

      if (sink == NULL)
        continue;
      totals.records += state_get_number (sink, "records");
      totals.tokens += state_get_number (sink, "tokens");
    }
  return totals;
}

static void
describe_checkpoint (GVariantDict *dict, DlpCheckpoint *checkpoint)
{
  g_autoptr (GVariant) state = dlp_checkpoint_to_variant (checkpoint);
  Totals totals = sum_sinks (state);
  double elapsed = 0;

  g_variant_lookup (state, "elapsed", "d", &elapsed);
  g_variant_dict_insert (dict, "run-id", "s", state_get_string (state, "run-id"));
  g_variant_dict_insert (dict, "attempt", "u", (guint) state_get_number (state, "attempt"));
  g_variant_dict_insert (dict, "progress", "s", state_get_progress (state));
  g_variant_dict_insert (dict, "elapsed", "d", elapsed);
  g_variant_dict_insert (dict, "records", "t", totals.records);
  g_variant_dict_insert (dict, "tokens", "t", totals.tokens);
}

/* (transfer full): of one generation, with what is wrong with it. */
static GVariant *
describe_generation (const char *folder, guint64 generation)
{
  g_autofree char *path = g_strdup_printf (CHECKPOINT_NAME, folder, generation);
  g_autoptr (GError) error = NULL;
  g_autoptr (DlpCheckpoint) checkpoint = dlp_checkpoint_new_from_file (path, &error);
  g_autoptr (GFile) file = g_file_new_for_path (path);
  g_autoptr (GFileInfo) info = g_file_query_info (
      file, G_FILE_ATTRIBUTE_STANDARD_SIZE "," G_FILE_ATTRIBUTE_TIME_MODIFIED, 0, NULL, NULL);
  GVariantDict dict;

  g_variant_dict_init (&dict, NULL);
  g_variant_dict_insert (&dict, "generation", "t", generation);
  if (info != NULL)
    {
      g_autoptr (GDateTime) time = g_file_info_get_modification_date_time (info);

      g_variant_dict_insert (&dict, "bytes", "t", (guint64) g_file_info_get_size (info));
      if (time != NULL)
        g_variant_dict_insert (&dict, "time", "x", g_date_time_to_unix (time));
    }
  if (checkpoint != NULL)
    describe_checkpoint (&dict, checkpoint);
  else
    g_variant_dict_insert (&dict, "fault", "s", error->message);
  return g_variant_ref_sink (g_variant_dict_end (&dict));
}

/* (transfer full): all of a state folder. */
static GVariant *
describe_folder (const char *path, GVariant *folder)
{
  g_autoptr (GVariant) generations = g_variant_lookup_value (folder, "generations", NULL);
  g_autofree char *valid = g_utf8_make_valid (path, -1);
  GVariantBuilder builder;
  GVariantDict dict;

  g_variant_builder_init (&builder, G_VARIANT_TYPE ("aa{sv}"));
  for (gsize i = 0; i < g_variant_n_children (generations); i++)
    {
      guint64 generation;
      g_autoptr (GVariant) described = NULL;

      g_variant_get_child (generations, i, "t", &generation);
      described = describe_generation (path, generation);
      g_variant_builder_add_value (&builder, described);
    }
  g_variant_dict_init (&dict, folder);
  g_variant_dict_remove (&dict, "generations");
  g_variant_dict_insert (&dict, "path", "s", valid);
  g_variant_dict_insert (&dict, "state", "s", get_status (folder));
  g_variant_dict_insert_value (&dict, "checkpoints", g_variant_builder_end (&builder));
  return g_variant_ref_sink (g_variant_dict_end (&dict));
}

static void
print_checkpoint (GVariant *checkpoint)
{
  g_autofree char *time = state_print_time ((gint64) state_get_number (checkpoint, "time"));
  const char *fault = state_get_string (checkpoint, "fault");

  printf ("  checkpoint-%" G_GUINT64_FORMAT ", %" G_GUINT64_FORMAT " bytes, %s: ",
          state_get_number (checkpoint, "generation"), state_get_number (checkpoint, "bytes"),
          time);
  if (fault[0] != '\0')
    printf ("cannot be used: %s\n", fault);
  else
    printf ("attempt %" G_GUINT64_FORMAT ", %s, %" G_GUINT64_FORMAT " records, %" G_GUINT64_FORMAT
            " tokens\n",
            state_get_number (checkpoint, "attempt"), state_get_string (checkpoint, "progress"),
            state_get_number (checkpoint, "records"), state_get_number (checkpoint, "tokens"));
}

static void
print_folder (GVariant *described)
{
  g_autoptr (GVariant) checkpoints = g_variant_lookup_value (described, "checkpoints", NULL);
  g_autoptr (GVariant) damaged = g_variant_lookup_value (described, "damaged", NULL);
  g_autofree char *path = dlp_uri_escape_for_display (state_get_string (described, "path"));
  g_autofree char *host = dlp_uri_escape_for_display (state_get_string (described, "host"));
  g_autofree char *pid = dlp_uri_escape_for_display (state_get_string (described, "pid"));
  g_autofree char *status = dlp_uri_escape_for_display (state_get_string (described, "state"));

  printf ("%s: run %s, attempt %" G_GUINT64_FORMAT ", %s", path,
          state_get_string (described, "run-id"), state_get_number (described, "attempt"), status);
  if (pid[0] != '\0')
    printf (", process %s on %s", pid, host);
  printf ("\n");
  for (gsize i = 0; i < g_variant_n_children (checkpoints); i++)
    {
      g_autoptr (GVariant) checkpoint = g_variant_get_child_value (checkpoints, i);

      print_checkpoint (checkpoint);
    }
  for (gsize i = 0; i < g_variant_n_children (damaged); i++)
    {
      guint64 generation;

      g_variant_get_child (damaged, i, "t", &generation);
      printf ("  checkpoint-%" G_GUINT64_FORMAT ": damaged, put aside\n", generation);
    }
}

/* ---- folders ---- */

typedef struct
{
  char *path;
  guint depth;
} Place;

static void
place_clear (gpointer data)
{
  g_free (((Place *) data)->path);
}

static int
compare_places (gconstpointer a, gconstpointer b)
{
  return -strcmp (((const Place *) a)->path, ((const Place *) b)->path);
}

/* Puts the folders in @place on the stack, such that the first by name comes next. */
static void
push_children (GArray *stack, const Place *place)
{
  g_autoptr (GDir) dir = g_dir_open (place->path, 0, NULL);
  g_autoptr (GArray) found = g_array_new (FALSE, FALSE, sizeof (Place));
  const char *name;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    {
      Place child = { g_build_filename (place->path, name, NULL), place->depth + 1 };

      if (g_file_test (child.path, G_FILE_TEST_IS_DIR) &&
          !g_file_test (child.path, G_FILE_TEST_IS_SYMLINK) && child.depth <= MAX_DEPTH)
        g_array_append_val (found, child);
      else
        place_clear (&child);
    }
  g_array_sort (found, compare_places);
  if (found->len > 0)
    g_array_append_vals (stack, found->data, found->len);
}

/* (element-type GVariant): what is at and below @path. */
static GPtrArray *
find_states (const char *path, GError **error)
{
  g_autoptr (GPtrArray) states = g_ptr_array_new_with_free_func ((GDestroyNotify) g_variant_unref);
  g_autoptr (GArray) stack = g_array_new (FALSE, FALSE, sizeof (Place));
  Place first = { g_strdup (path), 0 };

  g_array_append_val (stack, first);
  while (stack->len > 0)
    {
      Place place = g_array_index (stack, Place, stack->len - 1);
      g_autoptr (GError) failure = NULL;
      g_autoptr (GVariant) folder = dlp_checkpoint_describe_folder (place.path, &failure);

      g_array_set_size (stack, stack->len - 1);
      if (folder != NULL && is_state (folder))
        g_ptr_array_add (states, describe_folder (place.path, folder));
      else if (folder != NULL)
        push_children (stack, &place);
      else if (place.depth > 0)
        g_printerr ("dlpipe-state: %s\n", failure->message);
      place_clear (&place);
      if (folder == NULL && place.depth == 0)
        {
          g_propagate_error (error, g_steal_pointer (&failure));
          return NULL;
        }
    }
  return g_steal_pointer (&states);
}

int
state_list (const StateOptions *options, GError **error)
{
  g_autofree char *path = state_find_folder (options->places[0]);
  g_autoptr (GPtrArray) states = find_states (path, error);
  GVariantBuilder builder;

  if (states == NULL)
    return STATE_EXIT_USAGE;
  if (states->len == 0)
    {
      g_set_error (error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND, "%s: no state is there, nor below it",
                   path);
      return STATE_EXIT_USAGE;
    }
  g_variant_builder_init (&builder, G_VARIANT_TYPE ("aa{sv}"));
  for (guint i = 0; i < states->len; i++)
    {
      g_variant_builder_add_value (&builder, states->pdata[i]);
      if (!options->json)
        print_folder (states->pdata[i]);
    }
  if (options->json)
    state_print_json (g_variant_builder_end (&builder));
  else
    g_variant_builder_clear (&builder);
  return STATE_EXIT_OK;
}
