/* SPDX-License-Identifier: MIT */

/* Marks and checkpoints by themselves: what only shows from inside. */

#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include <dlpipe/dlp-plugin.h>

#include "dlp-pipeline-private.h"
#include "dlp-record-batch-private.h"
#include "script-element.h"

static char *
make_folder (void)
{
  char *folder = g_build_filename (g_get_tmp_dir (), "dlpipe-checkpointer-XXXXXX", NULL);

  g_assert_nonnull (g_mkdtemp (folder));
  return folder;
}

static void
remove_folder (const char *path)
{
  g_autoptr (GDir) dir = g_dir_open (path, 0, NULL);
  const char *name;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *file = g_build_filename (path, name, NULL);

      unlink (file);
    }
  rmdir (path);
}

/* ---- a checkpoint that is being collected when the inputs are ended ---- */

typedef struct
{
  DlpPipeline *pipeline;
  DlpElement *other; /* the sink that ends early */
  guint n_steps;
  guint count;
} Race;

static DlpStep
emit_until_finish (DlpElement *self, gpointer data, GError **error)
{
  if (dlp_element_is_finishing (self))
    return DLP_STEP_END;
  script_emit (self, "x");
  return DLP_STEP_MORE;
}

static DlpStep
take_all (DlpElement *self, gpointer data, GError **error)
{
  if (script_take (self))
    return DLP_STEP_MORE;
  return dlp_pad_is_over (dlp_element_get_input (self, 0)) ? DLP_STEP_END :
                                                             dlp_element_want_input (self, 0);
}

static guint
get_wish (Race *self)
{
  return __atomic_load_n (&self->pipeline->run->checkpoint_wish, __ATOMIC_ACQUIRE);
}

/* Keeps the checkpoint thread waiting for its snapshot while the inputs are ended and the other
 * sink leaves its final one. */
static DlpStep
take_slowly (DlpElement *self, gpointer data, GError **error)
{
  Race *race = data;

  /* The first checkpoint comes by itself. */
  if (dlp_checkpointer_get_count (race->pipeline->checkpointer) == 0)
    {
      usleep (500);
      return DLP_STEP_MORE;
    }
  if (++race->n_steps == 3)
    {
      guint wish = get_wish (race);

      race->count = dlp_checkpointer_get_count (race->pipeline->checkpointer);
      dlp_pipeline_checkpoint (race->pipeline);
      while (get_wish (race) == wish)
        usleep (500);
      dlp_pipeline_finish (race->pipeline);
      while (!dlp_flag_get (dlp_element_get_private (race->other)->ended))
        usleep (500);
    }
  if (race->n_steps == 20)
    {
      /* Time enough to write it. */
      usleep (100000);
      g_assert_cmpuint (dlp_checkpointer_get_count (race->pipeline->checkpointer), ==, race->count);
    }
  if (race->n_steps < 30)
    {
      script_take (self);
      return DLP_STEP_MORE;
    }
  return take_all (self, data, error);
}

static void
test_finish_while_collecting (void)
{
  g_autofree char *folder = make_folder ();
  g_autoptr (DlpPipeline) pipeline = dlp_pipeline_new ();
  g_autoptr (GError) error = NULL;
  Race race = { .pipeline = pipeline };
  DlpElement *a = script_add (pipeline, "script-source", "a", emit_until_finish, NULL);
  DlpElement *b = script_add (pipeline, "script-source", "b", emit_until_finish, NULL);
  DlpElement *slow = script_add (pipeline, "script-end", "slow", take_slowly, &race);

  race.other = script_add (pipeline, "script-end", "other", take_all, NULL);
  script_link (pipeline, a, slow);
  script_link (pipeline, b, race.other);
  g_object_set (pipeline, "state-dir", folder, "batch-records", 1, "checkpoint-interval",
                G_GINT64_CONSTANT (3600) * G_USEC_PER_SEC, NULL);
  dlp_pipeline_run (pipeline, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (race.n_steps, >, 20);
  remove_folder (folder);
}

/* ---- errors ---- */

static void
test_first_error (void)
{
  g_autoptr (DlpPipeline) pipeline = dlp_pipeline_new ();
  g_autoptr (GError) error = NULL;

  script_link (pipeline, script_add (pipeline, "script-source", "s", emit_until_finish, NULL),
               script_add (pipeline, "script-end", "e", take_all, NULL));
  g_assert_true (dlp_pipeline_prepare (pipeline, NULL, NULL));
  dlp_pipeline_fail (pipeline, dlp_pipeline_get_element (pipeline, "s"),
                     g_error_new (DLP_DATA_ERROR, DLP_DATA_ERROR_RANGE, "the first"));
  dlp_pipeline_fail (pipeline, NULL, g_error_new (DLP_DATA_ERROR, DLP_DATA_ERROR_RANGE, "second"));
  g_assert_false (dlp_pipeline_run (pipeline, NULL, &error));
  g_assert_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_RANGE);
  g_assert_cmpstr (error->message, ==, "s: the first");
}

/* ---- large states ---- */

static guint n_saved;

typedef DlpElement LargeSource;
typedef DlpElementClass LargeSourceClass;

GType large_source_get_type (void);

G_DEFINE_TYPE (LargeSource, large_source, DLP_TYPE_ELEMENT)

static gboolean
large_source_negotiate (DlpElement *element, GError **error)
{
  const char *names[] = { "text" };
  const DlpFieldType types[] = { DLP_FIELD_STRING };
  g_autoptr (DlpSchema) schema = dlp_schema_new (DLP_SCHEMA_RECORDS, 1, names, types, NULL);

  dlp_pad_set_schema (dlp_element_get_output (element, 0), schema);
  return TRUE;
}

static DlpStep
large_source_step (DlpElement *element, GCancellable *cancellable, GError **error)
{
  script_emit (element, "x");
  return DLP_STEP_MORE;
}

static DlpState *
large_source_save (DlpElement *element)
{
  n_saved++;
  return dlp_state_new (&n_saved, sizeof n_saved);
}

static void
large_source_class_init (LargeSourceClass *klass)
{
  klass->flags = DLP_ELEMENT_LARGE;
  klass->negotiate = large_source_negotiate;
  klass->step = large_source_step;
  klass->save = large_source_save;
}

static void
large_source_init (LargeSource *self)
{
  dlp_element_add_pad (self, "out", DLP_PAD_OUTPUT);
}

/* Beside the one of the beginning at most three are alive, and without a wish none is made. */
static void
test_large (void)
{
  g_autoptr (DlpPipeline) pipeline = dlp_pipeline_new ();
  g_autoptr (GHashTable) marks = g_hash_table_new (NULL, NULL);
  g_autoptr (GPtrArray) batches =
      g_ptr_array_new_with_free_func ((GDestroyNotify) dlp_record_batch_unref);
  g_autoptr (GError) error = NULL;
  g_autoptr (DlpElement) source = dlp_element_make ("large-source", "s", &error);
  DlpElement *end = script_add (pipeline, "script-end", "e", take_all, NULL);
  DlpQueue *link;
  guint64 position = 0;

  g_assert_no_error (error);
  g_assert_true (dlp_pipeline_add (pipeline, source, NULL));
  script_link (pipeline, source, end);
  g_object_set (pipeline, "batch-records", 1, "link-batches", 10000, NULL);
  g_assert_true (dlp_pipeline_prepare (pipeline, NULL, NULL));
  link = dlp_element_get_output (source, 0)->link;

  n_saved = 0;
  for (guint i = 0; i < 50; i++)
    g_assert_cmpint (dlp_element_turn (source, &error), ==, DLP_TURN_MORE);
  g_assert_cmpuint (n_saved, ==, 0);

  for (guint i = 0; i < 200; i++)
    {
      DlpRecordBatch *batch;
      bool ended;

      if (i % 5 == 0)
        __atomic_fetch_add (&pipeline->run->checkpoint_wish, 1, __ATOMIC_RELAXED);
      g_assert_cmpint (dlp_element_turn (source, &error), ==, DLP_TURN_MORE);
      while ((batch = dlp_queue_pop (link, &ended)) != NULL)
        {
          DlpMark *mark = dlp_record_batch_get_mark (batch);

          g_assert_cmpuint (dlp_record_batch_get_position (batch), ==, position++);
          g_assert_cmpuint (mark->emitted[0], <=, dlp_record_batch_get_position (batch));
          g_hash_table_add (marks, mark);
          g_ptr_array_add (batches, batch);
        }
    }
  g_assert_cmpuint (g_hash_table_size (marks), ==, 1 + DLP_LARGE_MARKS_ALIVE);
  g_assert_cmpuint (n_saved, ==, DLP_LARGE_MARKS_ALIVE);

  /* Once they are gone, there is room. */
  g_ptr_array_set_size (batches, 0);
  for (guint i = 0; i < 10; i++)
    {
      __atomic_fetch_add (&pipeline->run->checkpoint_wish, 1, __ATOMIC_RELAXED);
      g_assert_cmpint (dlp_element_turn (source, &error), ==, DLP_TURN_MORE);
    }
  g_assert_cmpuint (n_saved, >, DLP_LARGE_MARKS_ALIVE);
  g_assert_cmpuint (n_saved, <=, 2 * DLP_LARGE_MARKS_ALIVE);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  script_register ();
  g_assert_true (dlp_registry_add_element ("large-source", large_source_get_type (), NULL));
  g_test_add_func ("/checkpointer/finish-while-collecting", test_finish_while_collecting);
  g_test_add_func ("/checkpointer/first-error", test_first_error);
  g_test_add_func ("/checkpointer/large", test_large);
  return g_test_run ();
}
