/* SPDX-License-Identifier: MIT */

/* What hangs while a run comes to its end: the sink that finishes its file, its flush, the last
 * checkpoint, stop(). It is named, and makes the run fail only where that is still possible. */

#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include <dlpipe/dlp-output-file.h>
#include <dlpipe/dlp-plugin.h>
#include <dlpipe/dlp-sink.h>

#include "dlp-registry-private.h"
#include "script-element.h"

#define STALL "0.5"
#define BLOCK ((gsize) 1024 * 1024)

typedef enum
{
  NOWHERE,
  IN_DRAIN,
  IN_BLOCKS, /* of drain, which writes them slowly */
  IN_FLUSH,
  IN_SYNC,
  IN_CHECKPOINT,
  IN_PUBLISH,
  IN_STOP,
} Where;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static GString *said;  /* lock */
static gboolean hold;  /* atomic: what hangs goes on hanging */
static gboolean hangs; /* atomic: it does */
static gboolean
    is_late; /* atomic: the elements have left; before that a checkpoint does not hang */
static Where where;
static char *dir;

static GLogWriterOutput
write_log (GLogLevelFlags level, const GLogField *fields, gsize n_fields, gpointer data)
{
  if (!(level & G_LOG_LEVEL_WARNING))
    return g_log_writer_default (level, fields, n_fields, data);
  for (gsize i = 0; i < n_fields; i++)
    if (strcmp (fields[i].key, "MESSAGE") == 0)
      {
        pthread_mutex_lock (&lock);
        g_string_append_printf (said, "%s\n", (const char *) fields[i].value);
        pthread_mutex_unlock (&lock);
      }
  return G_LOG_WRITER_HANDLED;
}

static bool
was_said (const char *text)
{
  bool found;

  pthread_mutex_lock (&lock);
  found = strstr (said->str, text) != NULL;
  pthread_mutex_unlock (&lock);
  return found;
}

static void
wait_for (const char *text)
{
  for (guint i = 0; i < 1000 && !was_said (text); i++)
    usleep (10000);
  if (!was_said (text))
    g_error ("“%s” was not said, but: %s", text, said->str);
}

/* ---- a sink that hangs ---- */

typedef DlpSink Slow;
typedef DlpSinkClass SlowClass;

GType slow_get_type (void);

G_DEFINE_TYPE (Slow, slow, DLP_TYPE_SINK)

static void
hang_if (Where here)
{
  if (where != here)
    return;
  g_atomic_int_set (&hangs, TRUE);
  for (guint i = 0; i < 4000 && g_atomic_int_get (&hold); i++)
    usleep (5000);
}

static gboolean
slow_consume (DlpSink *sink,
              DlpRecordBatch *batch,
              guint row,
              guint n,
              GCancellable *cancellable,
              GError **error)
{
  return TRUE;
}

static gboolean
write_blocks (GError **error)
{
  g_autofree char *path = g_build_filename (dir, "blocks", NULL);
  g_autofree char *block = g_malloc0 (BLOCK);
  g_autoptr (DlpOutputFile) file =
      dlp_output_file_create (path, "00112233445566778899aabbccddeeff", 1, error);
  gboolean ok = file != NULL;

  for (guint i = 0; i < 7 && ok; i++)
    {
      usleep (200000);
      ok = dlp_output_file_write (file, block, BLOCK, error);
    }
  if (file != NULL)
    g_assert_cmpint (g_unlink (dlp_output_file_get_partial_path (file)), ==, 0);
  return ok;
}

static gboolean
slow_drain (DlpSink *sink, GCancellable *cancellable, GError **error)
{
  hang_if (IN_DRAIN);
  return where != IN_BLOCKS || write_blocks (error);
}

static gboolean
slow_flush (DlpSink *sink, GCancellable *cancellable, GError **error)
{
  if (g_atomic_int_get (&is_late))
    hang_if (IN_FLUSH);
  return TRUE;
}

static gboolean
slow_sync (DlpSink *sink, const DlpState *state, GCancellable *cancellable, GError **error)
{
  if (g_atomic_int_get (&is_late))
    hang_if (IN_SYNC);
  return TRUE;
}

static GVariant *
slow_describe (DlpElement *element, const DlpState *state)
{
  GVariantDict dict;

  g_variant_dict_init (&dict, NULL);
  return g_variant_dict_end (&dict);
}

static gboolean
slow_make_durable (DlpElement *element, const DlpState *state, GError **error)
{
  if (g_atomic_int_get (&is_late))
    hang_if (IN_CHECKPOINT);
  return TRUE;
}

static DlpState *
slow_save (DlpElement *element)
{
  return dlp_state_new (&where, sizeof where);
}

static gboolean
slow_publish (DlpSink *sink,
              const DlpState *state,
              gboolean complete,
              GCancellable *cancellable,
              GError **error)
{
  hang_if (IN_PUBLISH);
  return TRUE;
}

static void
slow_stop (DlpElement *element)
{
  hang_if (IN_STOP);
}

static void
slow_class_init (SlowClass *klass)
{
  klass->consume = slow_consume;
  klass->drain = slow_drain;
  klass->flush = slow_flush;
  klass->sync = slow_sync;
  klass->publish = slow_publish;
  DLP_ELEMENT_CLASS (klass)->save = slow_save;
  DLP_ELEMENT_CLASS (klass)->describe = slow_describe;
  DLP_ELEMENT_CLASS (klass)->make_durable = slow_make_durable;
  DLP_ELEMENT_CLASS (klass)->flags = DLP_ELEMENT_LOG;
  DLP_ELEMENT_CLASS (klass)->stop = slow_stop;
}

static void
slow_init (Slow *self)
{
}

/* ---- a source ---- */

/* The first one is written at once, and is not to hang. */
static void
wait_for_checkpoint (void)
{
  g_autofree char *path = g_build_filename (dir, "checkpoint-1", NULL);

  for (guint i = 0; i < 4000 && !g_file_test (path, G_FILE_TEST_EXISTS); i++)
    usleep (5000);
  g_assert_true (g_file_test (path, G_FILE_TEST_EXISTS));
}

static DlpStep
emit_and_end (DlpElement *self, gpointer data, GError **error)
{
  wait_for_checkpoint ();
  script_emit (self, "x");
  g_atomic_int_set (&is_late, TRUE);
  return DLP_STEP_END;
}

/* Until it is stopped. */
static DlpStep
emit_on (DlpElement *self, gpointer data, GError **error)
{
  usleep (10000);
  script_emit (self, "x");
  return DLP_STEP_MORE;
}

/* ---- runs ---- */

typedef struct
{
  DlpPipeline *pipeline;
  GThread *thread;
  GError *error;
} Run;

static gpointer
run_in_thread (gpointer data)
{
  Run *self = data;

  dlp_pipeline_run (self->pipeline, NULL, &self->error);
  return NULL;
}

static void
run_start (Run *self, Where hanging, DlpStallAction action, ScriptStep source)
{
  DlpElement *first, *last;

  pthread_mutex_lock (&lock);
  g_string_truncate (said, 0);
  pthread_mutex_unlock (&lock);
  where = hanging;
  g_atomic_int_set (&hold, TRUE);
  g_atomic_int_set (&hangs, FALSE);
  g_atomic_int_set (&is_late, FALSE);
  self->error = NULL;
  dir = g_dir_make_tmp ("dlp-watchdog-XXXXXX", NULL);
  self->pipeline = dlp_pipeline_new ();
  g_object_set (self->pipeline, "stall-action", action, "state-dir", dir, "checkpoint-interval",
                G_GINT64_CONSTANT (3600) * G_USEC_PER_SEC, NULL);
  first = script_add (self->pipeline, "script-source", "first", source, NULL);
  last = dlp_element_make ("slow", "last", NULL);
  g_assert_true (dlp_pipeline_add (self->pipeline, last, NULL));
  script_link (self->pipeline, first, last);
  g_object_unref (last);
  self->thread = g_thread_new ("run", run_in_thread, self);
}

static void
remove_state (void)
{
  g_autoptr (GDir) list = g_dir_open (dir, 0, NULL);
  const char *name;

  while ((name = g_dir_read_name (list)) != NULL)
    {
      g_autofree char *path = g_build_filename (dir, name, NULL);

      g_assert_cmpint (g_unlink (path), ==, 0);
    }
  g_assert_cmpint (g_rmdir (dir), ==, 0);
  g_clear_pointer (&dir, g_free);
}

static void
run_clear (Run *self)
{
  g_clear_error (&self->error);
  g_object_unref (self->pipeline);
  remove_state ();
}

static void
stop_it (Run *self)
{
  wait_for_checkpoint ();
  g_atomic_int_set (&is_late, TRUE);
  dlp_pipeline_stop (self->pipeline);
}

static void
let_go (void)
{
  g_assert_true (g_atomic_int_get (&hangs));
  g_atomic_int_set (&hold, FALSE);
}

/* It is named, and nobody else, and the run fails. */
static void
expect_failure (Run *self, const char *text)
{
  g_autofree char *fails = g_strconcat (text, "; the run fails\n", NULL);
  g_autoptr (GError) error = NULL;

  wait_for (fails);
  for (guint i = 0; i < 1000 && error == NULL; i++)
    {
      usleep (10000);
      error = dlp_pipeline_get_error (self->pipeline);
    }
  g_assert_error (error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_STALLED);
  let_go ();
  g_thread_join (self->thread);
  g_assert_error (self->error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_STALLED);
  g_assert_nonnull (strstr (self->error->message, text));
  g_assert_cmpint (dlp_pipeline_get_status (self->pipeline), ==, DLP_PIPELINE_FAILED);
  run_clear (self);
}

/* It is named, and the run has the result that it had. @code: (-1: none). */
static void
expect_report (Run *self, const char *text, int code)
{
  g_autofree char *line = g_strconcat (text, "\n", NULL);
  g_autoptr (GError) error = NULL;

  wait_for (line);
  usleep (100000);
  g_assert_false (was_said ("the run fails"));
  error = dlp_pipeline_get_error (self->pipeline);
  g_assert_no_error (error);
  let_go ();
  g_thread_join (self->thread);
  if (code >= 0)
    g_assert_error (self->error, DLP_PIPELINE_ERROR, code);
  else
    g_assert_no_error (self->error);
  run_clear (self);
}

/* ---- */

static void
test_drain (void)
{
  Run run;

  run_start (&run, IN_DRAIN, DLP_STALL_ACTION_REPORT, emit_and_end);
  expect_report (&run, "; last is in a step that does not return", -1);
  run_start (&run, IN_DRAIN, DLP_STALL_ACTION_FAIL, emit_and_end);
  expect_failure (&run, "; last is in a step that does not return");
}

/* What it writes is movement. */
static void
test_blocks (void)
{
  Run run;

  run_start (&run, IN_BLOCKS, DLP_STALL_ACTION_FAIL, emit_and_end);
  g_thread_join (run.thread);
  g_assert_no_error (run.error);
  g_assert_false (was_said ("nothing has moved"));
  run_clear (&run);
}

static void
test_flush (void)
{
  Run run;

  run_start (&run, IN_FLUSH, DLP_STALL_ACTION_REPORT, emit_on);
  stop_it (&run);
  expect_report (&run, "; last is flushing", DLP_PIPELINE_ERROR_STOPPED);
  run_start (&run, IN_FLUSH, DLP_STALL_ACTION_FAIL, emit_on);
  stop_it (&run);
  expect_failure (&run, "; last is flushing");
}

static void
test_sync (void)
{
  Run run;

  run_start (&run, IN_SYNC, DLP_STALL_ACTION_FAIL, emit_and_end);
  expect_failure (&run, "; last is syncing");
}

/* Once it is being written the run has its result. */
static void
test_checkpoint (void)
{
  Run run;

  run_start (&run, IN_CHECKPOINT, DLP_STALL_ACTION_FAIL, emit_and_end);
  expect_report (&run, "; the last checkpoint is being written", -1);
  run_start (&run, IN_CHECKPOINT, DLP_STALL_ACTION_FAIL, emit_on);
  stop_it (&run);
  expect_report (&run, "; the last checkpoint is being written", DLP_PIPELINE_ERROR_STOPPED);
}

/* One that began while the elements still ran keeps the run from its end. */
static void
test_running_checkpoint (void)
{
  Run run;

  run_start (&run, IN_CHECKPOINT, DLP_STALL_ACTION_FAIL, emit_on);
  wait_for_checkpoint ();
  g_atomic_int_set (&is_late, TRUE);
  dlp_pipeline_checkpoint (run.pipeline);
  while (!g_atomic_int_get (&hangs))
    usleep (1000);
  dlp_pipeline_stop (run.pipeline);
  expect_failure (&run, "; a checkpoint is being written");
}

static void
test_publish (void)
{
  Run run;

  run_start (&run, IN_PUBLISH, DLP_STALL_ACTION_FAIL, emit_and_end);
  expect_report (&run, "; last is publishing", -1);
}

/* All is written, whatever does not come back then. */
static void
test_stop (void)
{
  Run run;

  run_start (&run, IN_STOP, DLP_STALL_ACTION_FAIL, emit_and_end);
  expect_report (&run, "; last is stopping", -1);
  run_start (&run, IN_STOP, DLP_STALL_ACTION_FAIL, emit_on);
  stop_it (&run);
  expect_report (&run, "; last is stopping", DLP_PIPELINE_ERROR_STOPPED);
}

int
main (int argc, char **argv)
{
  int code;

  g_test_init (&argc, &argv, NULL);
  g_setenv ("DLPIPE_STALL_SECONDS", STALL, TRUE);
  g_log_set_writer_func (write_log, NULL, NULL);
  said = g_string_new (NULL);
  script_register ();
  g_assert_true (dlp_registry_add_element ("slow", slow_get_type (), NULL));
  g_test_add_func ("/watchdog/ends/drain", test_drain);
  g_test_add_func ("/watchdog/ends/blocks", test_blocks);
  g_test_add_func ("/watchdog/ends/flush", test_flush);
  g_test_add_func ("/watchdog/ends/sync", test_sync);
  g_test_add_func ("/watchdog/ends/checkpoint", test_checkpoint);
  g_test_add_func ("/watchdog/ends/running-checkpoint", test_running_checkpoint);
  g_test_add_func ("/watchdog/ends/publish", test_publish);
  g_test_add_func ("/watchdog/ends/stop", test_stop);
  code = g_test_run ();
  g_string_free (said, TRUE);
  return code;
}
