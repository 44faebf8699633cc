/* SPDX-License-Identifier: MIT */

/* Whether a run can go on from a state: its checkpoints, its input files, its graph. */

#include "state.h"

#include <stdio.h>
#include <string.h>

typedef struct
{
  const StateOptions *options;
  GVariantBuilder findings; /* a(ssb): what, how it is, whether it is well; for --json */
  guint n_faults;
} Verify;

static void say (Verify *self, gboolean well, const char *what, const char *format, ...)
    G_GNUC_PRINTF (4, 5);

static void
say (Verify *self, gboolean well, const char *what, const char *format, ...)
{
  g_autofree char *message = NULL;
  g_autofree char *valid = NULL;
  GVariantDict dict;
  va_list args;

  va_start (args, format);
  message = g_strdup_vprintf (format, args);
  va_end (args);
  valid = g_utf8_make_valid (message, -1);
  self->n_faults += !well;
  if (!self->options->json)
    printf ("%s %s: %s\n", well ? "ok   " : "FAULT", what, valid);
  g_variant_dict_init (&dict, NULL);
  g_variant_dict_insert (&dict, "what", "s", what);
  g_variant_dict_insert (&dict, "text", "s", valid);
  g_variant_dict_insert (&dict, "ok", "b", well);
  g_variant_builder_add_value (&self->findings, g_variant_dict_end (&dict));
}

/* ---- checkpoints ---- */

static void
verify_generations (Verify *self, const char *folder, GVariant *described)
{
  g_autoptr (GVariant) generations = g_variant_lookup_value (described, "generations", NULL);

  for (gsize i = 0; i < g_variant_n_children (generations); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (DlpCheckpoint) checkpoint = NULL;
      g_autofree char *path = NULL;
      guint64 generation;

      g_variant_get_child (generations, i, "t", &generation);
      path = g_strdup_printf ("%s/checkpoint-%" G_GUINT64_FORMAT, folder, generation);
      checkpoint = dlp_checkpoint_new_from_file (path, &error);
      /* A run that lives removes the older one. */
      if (checkpoint == NULL && g_error_matches (error, G_FILE_ERROR, G_FILE_ERROR_NOENT))
        continue;
      say (self, checkpoint != NULL, "checkpoint", "%s",
           checkpoint != NULL ? path : error->message);
    }
}

/* ---- input files ---- */

static gboolean
equals (DlpFile *before, DlpFile *now)
{
  const char *was = dlp_file_get_identity (before);
  const char *is = dlp_file_get_identity (now);

  return (dlp_file_get_size (before) < 0 || dlp_file_get_size (now) < 0 ||
          dlp_file_get_size (before) == dlp_file_get_size (now)) &&
         (was == NULL || is == NULL || strcmp (was, is) == 0);
}

static char *
print_file (DlpFile *file)
{
  return g_strdup_printf ("%" G_GINT64_FORMAT " bytes, %s", dlp_file_get_size (file),
                          dlp_file_get_identity (file) != NULL ? dlp_file_get_identity (file) :
                                                                 "identity unknown");
}

static gboolean
verify_file (Verify *self, DlpFile *before)
{
  const char *uri = dlp_file_get_uri (before);
  g_autoptr (GError) error = NULL;
  DlpScheme *scheme = dlp_scheme_for_uri (uri, &error);
  g_autoptr (DlpFile) now = scheme != NULL ? dlp_scheme_identify (scheme, uri, NULL, &error) : NULL;
  g_autofree char *shown = dlp_uri_escape_for_display (uri);
  g_autofree char *was = print_file (before);
  g_autofree char *is = NULL;

  if (now == NULL)
    {
      say (self, FALSE, "input file", "%s%s", error->message,
           g_path_is_absolute (uri) || strstr (uri, "://") != NULL ?
               "" :
               "; its name counts from the folder in which the run was started");
      return FALSE;
    }
  if (equals (before, now))
    return TRUE;
  is = print_file (now);
  say (self, FALSE, "input file", "%s: was %s; is %s", shown, was, is);
  return FALSE;
}

static void
verify_files (Verify *self, DlpCheckpoint *checkpoint)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) files = dlp_checkpoint_list_inputs (checkpoint, &error);
  guint n = 0;

  if (files == NULL)
    {
      say (self, FALSE, "input list", "%s", error->message);
      return;
    }
  for (guint i = 0; i < files->len; i++)
    {
      const char *uri = dlp_file_get_uri (files->pdata[i]);

      /* The standard input, or what a program puts in. */
      n += uri[0] == '\0' || strcmp (uri, "-") == 0 || verify_file (self, files->pdata[i]);
    }
  if (n == files->len)
    say (self, TRUE, "input files", "%u, as they were when they were read", n);
}

/* ---- the graph ---- */

/* Whether this is about what is installed here, and not about the state. */
static gboolean
is_missing (const GError *error)
{
  return g_error_matches (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_UNKNOWN_ELEMENT);
}

static void
verify_graph (Verify *self, const char *folder)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (DlpPipeline) pipeline = dlp_pipeline_new_from_state (folder, &error);

  if (pipeline != NULL && dlp_pipeline_check (pipeline, NULL, &error) &&
      dlp_pipeline_check_state (pipeline, NULL, &error))
    say (self, TRUE, "graph", "fits");
  else if (is_missing (error))
    say (self, TRUE, "graph", "not looked at, since an element is not installed here: %s",
         error->message);
  else
    say (self, FALSE, "graph", "%s", error->message);
}

/* ---- */

static int
conclude (Verify *self)
{
  GVariantDict dict;

  if (self->options->json)
    {
      g_variant_dict_init (&dict, NULL);
      g_variant_dict_insert (&dict, "ok", "b", self->n_faults == 0);
      g_variant_dict_insert (&dict, "faults", "u", self->n_faults);
      g_variant_dict_insert_value (&dict, "findings", g_variant_builder_end (&self->findings));
      state_print_json (g_variant_dict_end (&dict));
    }
  else
    {
      g_variant_builder_clear (&self->findings);
      printf ("%u fault%s\n", self->n_faults, self->n_faults == 1 ? "" : "s");
    }
  return self->n_faults == 0 ? STATE_EXIT_OK : STATE_EXIT_FAULTS;
}

static int
verify_folder (Verify *self, const char *folder, GError **error)
{
  g_autoptr (GVariant) described = dlp_checkpoint_describe_folder (folder, error);
  g_autoptr (GVariant) generations = NULL;
  g_autoptr (DlpCheckpoint) checkpoint = NULL;

  if (described == NULL)
    return STATE_EXIT_USAGE;
  generations = g_variant_lookup_value (described, "generations", NULL);
  if (g_variant_n_children (generations) == 0)
    {
      g_set_error (error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND, "%s: there is no checkpoint", folder);
      return STATE_EXIT_USAGE;
    }
  g_variant_builder_init (&self->findings, G_VARIANT_TYPE ("aa{sv}"));
  verify_generations (self, folder, described);
  checkpoint = dlp_checkpoint_new_from_folder (folder, NULL, NULL);
  if (checkpoint == NULL)
    return conclude (self);
  verify_files (self, checkpoint);
  verify_graph (self, folder);
  return conclude (self);
}

int
state_verify (const StateOptions *options, GError **error)
{
  Verify self = { .options = options };
  g_autofree char *folder = state_find_folder (options->places[0]);
  g_autoptr (DlpCheckpoint) checkpoint = NULL;
  g_autoptr (GError) failure = NULL;

  if (g_file_test (folder, G_FILE_TEST_IS_DIR))
    return verify_folder (&self, folder, error);
  if (!g_file_test (folder, G_FILE_TEST_EXISTS))
    {
      g_set_error (error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND, "%s: there is nothing", folder);
      return STATE_EXIT_USAGE;
    }
  checkpoint = dlp_checkpoint_new_from_file (folder, &failure);
  g_variant_builder_init (&self.findings, G_VARIANT_TYPE ("aa{sv}"));
  say (&self, checkpoint != NULL, "checkpoint", "%s",
       checkpoint != NULL ? folder : failure->message);
  if (checkpoint != NULL)
    verify_files (&self, checkpoint);
  return conclude (&self);
}
