/* SPDX-License-Identifier: MIT */

#include "sink-rig.h"

#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- the source ---- */

#define RIG_TYPE_SOURCE (rig_source_get_type ())
G_DECLARE_FINAL_TYPE (RigSource, rig_source, RIG, SOURCE, DlpSource)

struct _RigSource
{
  DlpSource parent_instance;

  guint64 next;
  guint64 made; /* in this attempt */
};

G_DEFINE_FINAL_TYPE (RigSource, rig_source, DLP_TYPE_SOURCE)

enum
{
  PROP_0,
  PROP_VOCAB_SIZE,
  PROP_MODEL_NAME,
  PROP_MODEL_FINGERPRINT,
  N_PROPS
};

static struct
{
  DlpSchema *schema;
  guint64 n_records;
  SinkRigFunc func;
  const char *model;
  const char *fingerprint;
  guint64 vocab_size;
  SinkRigEnd end;
  guint64 end_at;
  DlpPipeline *pipeline;
  gboolean overwrite;
  gboolean restart;
} rig;

static gboolean
rig_source_negotiate (DlpElement *element, GError **error)
{
  dlp_pad_set_schema (dlp_element_get_output (element, 0), rig.schema);
  return TRUE;
}

/* All elements share one thread then, so the count is that of this moment. */
static gboolean
is_all_consumed (RigSource *self)
{
  for (guint i = 0; i < g_list_model_get_n_items (G_LIST_MODEL (rig.pipeline)); i++)
    {
      g_autoptr (DlpElement) element = g_list_model_get_item (G_LIST_MODEL (rig.pipeline), i);

      if (DLP_IS_SINK (element) && dlp_sink_get_n_records (DLP_SINK (element)) == self->next)
        return TRUE;
    }
  return FALSE;
}

static DlpStep
end_early (RigSource *self, GError **error)
{
  if (rig.end == SINK_RIG_KILL)
    _exit (9);
  if (!is_all_consumed (self))
    return DLP_STEP_MORE;
  if (rig.end == SINK_RIG_STOP)
    {
      dlp_pipeline_stop (rig.pipeline);
      return DLP_STEP_MORE;
    }

  g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_BAD_RATIO, "too many bad records");
  return DLP_STEP_ERROR;
}

static DlpStep
rig_source_produce (DlpSource *source, DlpPad *out, GCancellable *cancellable, GError **error)
{
  RigSource *self = RIG_SOURCE (source);
  DlpCoordinate at = { .source = 1, .file = 2, .row = self->next };

  if (rig.end != SINK_RIG_RUN && self->made >= rig.end_at)
    return end_early (self, error);
  if (self->next == rig.n_records)
    return DLP_STEP_END;

  rig.func (dlp_pad_get_builder (out), self->next++);
  dlp_pad_end_record (out, &at);
  self->made++;
  return DLP_STEP_MORE;
}

static DlpState *
rig_source_save (DlpElement *element)
{
  RigSource *self = RIG_SOURCE (element);

  return dlp_state_new (&self->next, sizeof self->next);
}

static GVariant *
rig_source_describe (DlpElement *element, const DlpState *state)
{
  GVariantDict dict;

  g_variant_dict_init (&dict, NULL);
  g_variant_dict_insert (&dict, "next", "t", *(const guint64 *) dlp_state_get_data (state));
  return g_variant_dict_end (&dict);
}

static gboolean
rig_source_load (DlpElement *element, GVariant *described, guint version, GError **error)
{
  RigSource *self = RIG_SOURCE (element);

  return dlp_state_get_uint64 (described, "next", G_MAXUINT64, &self->next, error);
}

static void
rig_source_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  if (id == PROP_VOCAB_SIZE)
    g_value_set_uint64 (value, rig.vocab_size);
  else if (id == PROP_MODEL_NAME)
    g_value_set_string (value, rig.model);
  else
    g_value_set_string (value, rig.fingerprint);
}

static void
rig_source_class_init (RigSourceClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  DlpElementClass *element_class = DLP_ELEMENT_CLASS (klass);
  const GParamFlags flags = G_PARAM_READABLE | G_PARAM_STATIC_STRINGS;

  object_class->get_property = rig_source_get_property;
  element_class->negotiate = rig_source_negotiate;
  element_class->save = rig_source_save;
  element_class->describe = rig_source_describe;
  element_class->load = rig_source_load;
  DLP_SOURCE_CLASS (klass)->produce = rig_source_produce;

  g_object_class_install_property (
      object_class, PROP_VOCAB_SIZE,
      g_param_spec_uint64 ("vocab-size", NULL, NULL, 0, G_MAXUINT64, 0, flags));
  g_object_class_install_property (object_class, PROP_MODEL_NAME,
                                   g_param_spec_string ("model-name", NULL, NULL, NULL, flags));
  g_object_class_install_property (
      object_class, PROP_MODEL_FINGERPRINT,
      g_param_spec_string ("model-fingerprint", NULL, NULL, NULL, flags));
}

static void
rig_source_init (RigSource *self)
{
}

/* ---- runs ---- */

void
sink_rig_set_source (DlpSchema *schema, guint64 n_records, SinkRigFunc func)
{
  g_clear_pointer (&rig.schema, dlp_schema_unref);
  rig.schema = schema;
  rig.n_records = n_records;
  rig.func = func;
}

void
sink_rig_set_model (const char *name, const char *fingerprint, guint64 vocab_size)
{
  rig.model = name;
  rig.fingerprint = fingerprint;
  rig.vocab_size = vocab_size;
}

void
sink_rig_set_options (gboolean overwrite, gboolean restart)
{
  rig.overwrite = overwrite;
  rig.restart = restart;
}

static void
register_once (void)
{
  static gsize once = 0;

  if (g_once_init_enter (&once))
    {
      g_autoptr (GError) error = NULL;

      dlp_registry_add_element ("rig-source", RIG_TYPE_SOURCE, &error);
      g_assert_no_error (error);
      g_once_init_leave (&once, 1);
    }
}

static DlpPipeline *
make_pipeline (const char *sink,
               const char *state,
               SinkRigEnd end,
               guint64 n_records,
               GError **error)
{
  g_autofree char *text = g_strconcat ("rig-source ! ", sink, NULL);
  DlpPipeline *pipeline;

  register_once ();
  pipeline = dlp_pipeline_new_from_string (text, error);
  if (pipeline == NULL)
    return NULL;

  rig.end = end;
  rig.end_at = n_records;
  rig.pipeline = pipeline;
  g_object_set (pipeline, "state-dir", state, "overwrite", rig.overwrite, "restart", rig.restart,
                "checkpoint-interval", (gint64) (end == SINK_RIG_KILL ? 1000 : G_USEC_PER_SEC),
                "batch-records", end == SINK_RIG_RUN ? 0 : 1, NULL);
  if (end == SINK_RIG_STOP || end == SINK_RIG_FAIL)
    g_object_set (pipeline, "runner", DLP_RUNNER_SEQUENTIAL, NULL);
  return pipeline;
}

gboolean
sink_rig_run (const char *sink,
              const char *state,
              SinkRigEnd end,
              guint64 n_records,
              GError **error)
{
  g_autoptr (DlpPipeline) pipeline = make_pipeline (sink, state, end, n_records, error);

  return pipeline != NULL && dlp_pipeline_run (pipeline, NULL, error);
}

char *
sink_rig_run_for_report (const char *sink, const char *state)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (DlpPipeline) pipeline = make_pipeline (sink, state, SINK_RIG_RUN, 0, &error);
  g_autoptr (GVariant) report = NULL;

  g_assert_no_error (error);
  dlp_pipeline_run (pipeline, NULL, &error);
  g_assert_no_error (error);
  report = dlp_pipeline_get_report (pipeline);
  return dlp_json_print (report, FALSE);
}

gboolean
sink_rig_run_in_child (const char *sink, const char *state, guint64 kill_at)
{
  pid_t pid;
  int status;

  fflush (NULL);
  pid = fork ();
  g_assert_cmpint (pid, >=, 0);
  if (pid == 0)
    {
      g_autoptr (GError) error = NULL;
      gboolean ok = sink_rig_run (sink, state, SINK_RIG_KILL, kill_at, &error);

      if (!ok)
        g_printerr ("%s\n", error->message);
      _exit (ok ? 0 : 1);
    }

  g_assert_cmpint (waitpid (pid, &status, 0), ==, pid);
  g_assert_true (WIFEXITED (status));
  if (WEXITSTATUS (status) != 0)
    g_assert_cmpint (WEXITSTATUS (status), ==, 9);
  return WEXITSTATUS (status) == 0;
}

static void
run_limited (const char *sink, const char *state, guint64 max_file)
{
  const struct rlimit limit = { max_file, max_file };
  g_autoptr (GError) error = NULL;

  signal (SIGXFSZ, SIG_IGN);
  if (setrlimit (RLIMIT_FSIZE, &limit) != 0)
    _exit (3);
  if (sink_rig_run (sink, state, SINK_RIG_RUN, 0, &error))
    _exit (0);
  /* As on a full disk: the file, and how much was wanted. */
  _exit (error->domain == G_IO_ERROR && strstr (error->message, "bytes") != NULL ? 1 : 4);
}

gboolean
sink_rig_run_limited (const char *sink, const char *state, guint64 max_file)
{
  pid_t pid;
  int status;

  fflush (NULL);
  pid = fork ();
  g_assert_cmpint (pid, >=, 0);
  if (pid == 0)
    run_limited (sink, state, max_file);

  g_assert_cmpint (waitpid (pid, &status, 0), ==, pid);
  g_assert_true (WIFEXITED (status));
  g_assert_cmpint (WEXITSTATUS (status), <=, 1);
  return WEXITSTATUS (status) == 0;
}

/* ---- warnings ---- */

static char *last_warning;

static GLogWriterOutput
write_log (GLogLevelFlags level, const GLogField *fields, gsize n, gpointer data)
{
  if (level != G_LOG_LEVEL_WARNING)
    return g_log_writer_default (level, fields, n, data);

  g_free (last_warning);
  last_warning = g_log_writer_format_fields (level, fields, n, FALSE);
  return G_LOG_WRITER_HANDLED;
}

void
sink_rig_catch_warnings (void)
{
  g_log_set_writer_func (write_log, NULL, NULL);
}

char *
sink_rig_take_warning (void)
{
  return g_steal_pointer (&last_warning);
}

/* ---- folders ---- */

/* In memory where that can be: hundreds of runs wait for thousands of syncs otherwise. */
char *
sink_rig_make_folder (void)
{
  g_autoptr (GError) error = NULL;
  char *folder = g_strdup ("/dev/shm/dlpipe-sink-XXXXXX");

  if (g_mkdtemp (folder) != NULL)
    return folder;

  g_free (folder);
  folder = g_dir_make_tmp ("dlpipe-sink-XXXXXX", &error);
  g_assert_no_error (error);
  return folder;
}

static int
compare_strings (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *) a, *(const char *const *) b);
}

static GPtrArray *
list_names (const char *folder)
{
  GPtrArray *names = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GError) error = NULL;
  g_autoptr (GDir) dir = g_dir_open (folder, 0, &error);
  const char *name;

  g_assert_no_error (error);
  while ((name = g_dir_read_name (dir)) != NULL)
    g_ptr_array_add (names, g_strdup (name));
  g_ptr_array_sort (names, compare_strings);
  return names;
}

/* A state folder is the only folder in it. */
static void
empty_folder (const char *folder, gboolean may_have_folders)
{
  g_autoptr (GPtrArray) names = list_names (folder);

  for (guint i = 0; i < names->len; i++)
    {
      g_autofree char *path = g_build_filename (folder, names->pdata[i], NULL);

      if (g_unlink (path) != 0 && may_have_folders)
        {
          empty_folder (path, FALSE);
          g_assert_no_errno (g_rmdir (path));
        }
    }
}

void
sink_rig_remove_folder (char *folder)
{
  empty_folder (folder, TRUE);
  g_assert_no_errno (g_rmdir (folder));
  g_free (folder);
}

char *
sink_rig_list_folder (const char *folder)
{
  g_autoptr (GPtrArray) names = list_names (folder);

  g_ptr_array_add (names, NULL);
  return g_strjoinv (" ", (char **) names->pdata);
}

static void
read_file (const char *folder, const char *name, char **data, gsize *size)
{
  g_autofree char *path = g_build_filename (folder, name, NULL);
  g_autoptr (GError) error = NULL;

  g_file_get_contents (path, data, size, &error);
  g_assert_no_error (error);
}

void
sink_rig_assert_file (const char *folder, const char *name, gconstpointer data, gsize size)
{
  g_autofree char *found = NULL;
  gsize found_size;

  read_file (folder, name, &found, &found_size);
  g_assert_cmpmem (found, found_size, data, size);
}

void
sink_rig_assert_same_file (const char *folder_a, const char *folder_b, const char *name)
{
  g_autofree char *data = NULL;
  gsize size;

  read_file (folder_a, name, &data, &size);
  sink_rig_assert_file (folder_b, name, data, size);
}
