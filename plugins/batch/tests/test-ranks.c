/* SPDX-License-Identifier: MIT */

/* Ranks of several world sizes, each a pipeline of its own, and what they deliver together. */

#include <string.h>

#include <glib/gstdio.h>

#include <dlp-harness.h>
#include <dlpipe/dlp-app-sink.h>

/* 103 records, 26 batches. */
#define GRAPH                                                                                      \
  "check-source records=60 ! m.a  check-source records=43 tokens=false variant=1 ! m.b  "          \
  "mix name=m weights=a:2,b:1 ! shuffle size=16 ! batch name=b size=4 ! "
#define N_BATCHES 26

/* What is in between has marks of its own, which lie before what the sink had. */
static const char *const graphs[] = { GRAPH "app-sink name=out",
                                      GRAPH "limit batches=1000 ! fields keep=id ! "
                                            "app-sink name=out" };
static const char *graph; /* one of them */

#define STATE_HEADER 24
#define STATE_CHECKSUM 16

static void
set_rank (DlpPipeline *pipeline, guint rank, guint world_size)
{
  DlpElement *batch = dlp_pipeline_get_element (pipeline, "b");

  g_object_set (batch, "rank", rank, "world-size", world_size, NULL);
}

/* One line says all of a batch. */
static char *
print_batch (DlpRecordBatch *batch)
{
  GString *line = g_string_new (NULL);

  g_string_append_printf (
      line, "%" G_GINT64_FORMAT " stage %u epoch %u:", dlp_record_batch_get_index (batch),
      dlp_record_batch_get_stage (batch), dlp_record_batch_get_epoch (batch));
  for (guint i = 0; i < dlp_record_batch_get_length (batch); i++)
    {
      g_autofree char *record = dlp_check_record_to_text (batch, i);

      g_string_append_printf (line, " %s", record);
    }
  return g_string_free (line, FALSE);
}

/* Whatever is asked for, a batch comes whole. */
static gboolean
pull (DlpAppSink *out, GPtrArray *lines)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (DlpRecordBatch) batch = dlp_app_sink_pull (out, 1, NULL, &error);

  g_assert_no_error (error);
  if (batch == NULL)
    return FALSE;
  g_ptr_array_set_size (lines, MAX (lines->len, dlp_record_batch_get_index (batch) + 1));
  g_assert_null (g_ptr_array_index (lines, dlp_record_batch_get_index (batch)));
  g_ptr_array_index (lines, dlp_record_batch_get_index (batch)) = print_batch (batch);
  return TRUE;
}

/* (transfer full): it may not have begun to run yet. */
static GBytes *
save (DlpPipeline *pipeline)
{
  GBytes *state = NULL;

  while (state == NULL)
    {
      g_autoptr (GError) error = NULL;

      g_assert_cmpint (dlp_pipeline_get_status (pipeline), !=, DLP_PIPELINE_FINISHED);
      state = dlp_pipeline_save_state (pipeline, NULL, &error);
      if (state == NULL)
        g_assert_error (error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_STATE);
    }
  return state;
}

/* One rank, from @state or from the beginning: @steps batches (to the end: G_MAXUINT), each to its
 * place in @lines. (transfer full): the state behind them. */
static GBytes *
run (GBytes *state, guint rank, guint world_size, guint steps, GPtrArray *lines)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (DlpPipeline) pipeline = state != NULL ?
                                         dlp_pipeline_new_from_state_bytes (state, &error) :
                                         dlp_pipeline_new_from_string (graph, &error);
  DlpAppSink *out;

  g_assert_no_error (error);
  out = DLP_APP_SINK (dlp_pipeline_get_element (pipeline, "out"));
  set_rank (pipeline, rank, world_size);
  dlp_pipeline_prepare (pipeline, NULL, &error);
  g_assert_no_error (error);
  dlp_pipeline_run_async (pipeline, NULL, NULL, NULL);
  for (guint i = 0; i < steps; i++)
    if (!pull (out, lines))
      return NULL;
  dlp_app_sink_commit (out);
  return save (pipeline);
}

/* (transfer full): what a state says of an element. */
static GVariant *
look_at (GBytes *state, const char *wanted, const char *key)
{
  gsize size = g_bytes_get_size (state);
  g_autoptr (GBytes) bytes =
      g_bytes_new_from_bytes (state, STATE_HEADER, size - STATE_HEADER - STATE_CHECKSUM);
  g_autoptr (GVariant) payload =
      g_variant_ref_sink (g_variant_new_from_bytes (G_VARIANT_TYPE_VARDICT, bytes, FALSE));
  g_autoptr (GVariant) elements =
      g_variant_lookup_value (payload, "elements", G_VARIANT_TYPE ("aa{sv}"));

  for (gsize i = 0; i < g_variant_n_children (elements); i++)
    {
      g_autoptr (GVariant) element = g_variant_get_child_value (elements, i);
      const char *name;

      if (g_variant_lookup (element, "name", "&s", &name) && strcmp (name, wanted) == 0)
        return g_variant_lookup_value (element, key, NULL);
    }
  g_assert_not_reached ();
}

/* Position, records, tokens, digest. */
static void
assert_equal_states (GBytes *a, GBytes *b)
{
  static const char *const keys[] = { "inputs", "sink", "state" };

  for (guint i = 0; i < G_N_ELEMENTS (keys); i++)
    {
      g_autoptr (GVariant) one = look_at (a, "out", keys[i]);
      g_autoptr (GVariant) other = look_at (b, "out", keys[i]);
      g_autofree char *one_text = g_variant_print (one, FALSE);
      g_autofree char *other_text = g_variant_print (other, FALSE);

      g_assert_cmpstr (one_text, ==, other_text);
    }
}

static GPtrArray *
lines_new (void)
{
  return g_ptr_array_new_with_free_func (g_free);
}

static GPtrArray *expected; /* of graph */

static void
use_graph (guint i)
{
  if (graph == graphs[i])
    return;
  graph = graphs[i];
  g_clear_pointer (&expected, g_ptr_array_unref);
  expected = lines_new ();
  run (NULL, 0, 1, G_MAXUINT, expected);
  g_assert_cmpuint (expected->len, ==, N_BATCHES);
}

/* @lines has what was expected from batch @first on, and no more than an incomplete step is
 * missing.
 */
static void
assert_delivered (GPtrArray *lines, guint first, guint world_size)
{
  guint n = first + (N_BATCHES - first) / world_size * world_size;

  g_assert_cmpuint (lines->len, ==, n > first ? n : 0);
  for (guint i = first; i < n; i++)
    g_assert_cmpstr (g_ptr_array_index (lines, i), ==, g_ptr_array_index (expected, i));
}

/* (transfer full): that of rank @keep, which is that of all. */
static GBytes *
run_all (GBytes *state, guint world_size, guint steps, guint keep, GPtrArray *lines)
{
  GBytes *kept = NULL;
  g_autoptr (GBytes) first = NULL;

  for (guint rank = 0; rank < world_size; rank++)
    {
      g_autoptr (GBytes) saved = run (state, rank, world_size, steps, lines);

      if (saved == NULL)
        continue;
      if (first == NULL)
        first = g_bytes_ref (saved);
      assert_equal_states (first, saved);
      if (rank == keep)
        kept = g_steal_pointer (&saved);
    }
  return kept;
}

static void
test_worlds (void)
{
  use_graph (0);
  for (guint world_size = 1; world_size <= 8; world_size++)
    {
      g_autoptr (GPtrArray) lines = lines_new ();

      run_all (NULL, world_size, G_MAXUINT, 0, lines);
      assert_delivered (lines, 0, world_size);
    }
  {
    g_autoptr (GPtrArray) lines = lines_new ();

    run_all (NULL, N_BATCHES + 1, G_MAXUINT, 0, lines);
    g_assert_cmpuint (lines->len, ==, 0);
  }
}

static void
go_on (guint before, guint after)
{
  guint steps = (guint) g_test_rand_int_range (0, N_BATCHES / (int) before);
  guint keep = (guint) g_test_rand_int_range (0, (int) before);
  guint more = (guint) g_test_rand_int_range (0, 4);
  guint first = steps * before;
  g_autoptr (GPtrArray) begun = lines_new ();
  g_autoptr (GPtrArray) alone = lines_new ();
  g_autoptr (GPtrArray) again = lines_new ();
  g_autoptr (GPtrArray) twice = lines_new ();
  g_autoptr (GBytes) state = run_all (NULL, before, steps, keep, begun);
  g_autoptr (GBytes) of_one = run (NULL, 0, 1, first, alone);
  g_autoptr (GBytes) next = NULL;

  g_test_message ("%u ranks, %u steps, then %u ranks", before, steps, after);
  assert_equal_states (state, of_one);
  run_all (state, after, G_MAXUINT, 0, again);
  assert_delivered (again, first, after);

  /* Not to the end, where nothing could be saved, and at the former world size again: also where
   * nothing new was made. */
  if (first + (more + 1) * after > N_BATCHES)
    return;
  g_ptr_array_set_size (begun, 0);
  next = run_all (state, after, more, 0, begun);
  run_all (next, before, G_MAXUINT, 0, twice);
  assert_delivered (twice, first + more * after, before);
}

static void
test_elastic (gconstpointer data)
{
  const guint *worlds = data;

  use_graph (0);
  for (guint n = 0; n < dlp_harness_scale (34); n++)
    go_on (worlds[0], worlds[1]);
  use_graph (1);
  for (guint n = 0; n < dlp_harness_scale (10); n++)
    go_on (worlds[0], worlds[1]);
}

/* Branches may be unequally far; a step of another world size need not meet both places. */
static void
test_torn (void)
{
  g_autofree char *dir = g_dir_make_tmp ("dlpipe-ranks-XXXXXX", NULL);
  static const char *const branches =
      "check-source records=40 ! batch name=b size=2 rank=0 world-size=%u ! tee name=t ! app-sink "
      "name=near max-batches=1  t. ! app-sink name=far max-batches=1";
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) state = NULL;

  for (guint world_size = 4; world_size >= 3; world_size--)
    {
      g_autofree char *text = g_strdup_printf (branches, world_size);
      g_autoptr (DlpPipeline) pipeline = state != NULL ?
                                             dlp_pipeline_new_from_state_bytes (state, &error) :
                                             dlp_pipeline_new_from_string (text, &error);
      DlpAppSink *far = DLP_APP_SINK (dlp_pipeline_get_element (pipeline, "far"));
      DlpRecordBatch *batch;

      g_assert_no_error (error);
      set_rank (pipeline, 0, world_size);
      dlp_pipeline_prepare (pipeline, NULL, &error);
      g_assert_no_error (error);
      dlp_pipeline_run_async (pipeline, NULL, NULL, NULL);
      batch = dlp_app_sink_pull (far, 0, NULL, &error);
      if (world_size == 3)
        {
          g_assert_null (batch);
          g_assert_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CHANGED);
          g_assert_nonnull (strstr (error->message, "within a step of this world size"));
          break;
        }
      g_assert_no_error (error);
      dlp_record_batch_unref (batch);
      dlp_app_sink_commit (far);
      state = dlp_pipeline_save_state (pipeline, NULL, &error);
      g_assert_no_error (error);
    }
}

/* ---- without some of them ---- */

/* (transfer full): @state, which goes on without some batches. */
static GBytes *
skip (GBytes *state, guint first, guint last)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (DlpCheckpoint) checkpoint = dlp_checkpoint_new_from_bytes (state, &error);
  g_autoptr (DlpCheckpoint) skipping = NULL;

  g_assert_no_error (error);
  skipping = dlp_checkpoint_skip_batches (checkpoint, NULL, first, last, &error);
  g_assert_no_error (error);
  return dlp_checkpoint_to_bytes (skipping);
}

static gboolean
is_left_out (guint index)
{
  return (index >= 7 && index <= 10) || index == 12 || index >= 25;
}

/* Of those from @first on that are not skipped, whole steps; all as if nothing was skipped. */
static void
assert_but_skipped (GPtrArray *lines, guint first, guint world_size)
{
  guint n = 0;

  for (guint i = first; i < N_BATCHES; i++)
    n += !is_left_out (i);
  n -= n % world_size;
  for (guint i = first; i < N_BATCHES; i++)
    {
      const char *line = i < lines->len ? g_ptr_array_index (lines, i) : NULL;
      gboolean delivered = !is_left_out (i) && n > 0;

      g_assert_cmpstr (line, ==, delivered ? g_ptr_array_index (expected, i) : NULL);
      n -= delivered;
    }
}

static guint64
count_skipped (GBytes *state, const char *key)
{
  g_autoptr (GVariant) batch = look_at (state, "b", "state");
  guint64 n;

  g_assert_true (g_variant_lookup (batch, key, "t", &n));
  return n;
}

/* (transfer full) */
static GBytes *
skip_some (void)
{
  g_autoptr (GPtrArray) begun = lines_new ();
  g_autoptr (GBytes) state = run (NULL, 0, 1, 5, begun);
  g_autoptr (GBytes) one = skip (state, 12, 12);
  g_autoptr (GBytes) two = skip (one, 7, 8);
  g_autoptr (GBytes) three = skip (two, 8, 10);

  return skip (three, 25, 1000);
}

static void
test_skip (void)
{
  g_autoptr (GBytes) four = NULL;

  use_graph (0);
  four = skip_some ();

  for (guint world_size = 1; world_size <= 5; world_size++)
    {
      g_autoptr (GPtrArray) lines = lines_new ();
      g_autoptr (GPtrArray) more = lines_new ();
      g_autoptr (GPtrArray) rest = lines_new ();
      g_autoptr (GBytes) next = NULL;

      run_all (four, world_size, G_MAXUINT, 0, lines);
      assert_but_skipped (lines, 5, world_size);
      if (world_size > 2)
        continue;
      /* Again from within what was skipped, and at another world size. */
      next = run_all (four, world_size, 6 / world_size, 0, more);
      run_all (next, 3 - world_size, G_MAXUINT, 0, rest);
      assert_but_skipped (rest, 16, 3 - world_size);
    }
}

static void
assert_not_skipped (DlpCheckpoint *checkpoint,
                    const char *element,
                    guint64 first,
                    guint64 last,
                    const char *part)
{
  g_autoptr (GError) error = NULL;

  g_assert_null (dlp_checkpoint_skip_batches (checkpoint, element, first, last, &error));
  g_assert_error (error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_STATE);
  if (strstr (error->message, part) == NULL)
    g_error ("“%s” is not in: %s", part, error->message);
}

static void
assert_ranges (GBytes *state, const char *wanted)
{
  g_autoptr (GVariant) described = look_at (state, "b", "state");
  g_autoptr (GVariant) ranges = g_variant_lookup_value (described, "skip", NULL);
  g_autofree char *text = g_variant_print (ranges, FALSE);

  g_assert_cmpstr (text, ==, wanted);
}

/* ---- in a folder ---- */

static DlpPipeline *
open_folder (const char *folder, guint world_size)
{
  g_autoptr (GError) error = NULL;
  DlpPipeline *pipeline;

  if (g_file_test (folder, G_FILE_TEST_IS_DIR))
    pipeline = dlp_pipeline_new_from_state (folder, &error);
  else
    pipeline = dlp_pipeline_new_from_string (graph, &error);
  g_assert_no_error (error);
  g_object_set (pipeline, "state-dir", folder, NULL);
  set_rank (pipeline, 0, world_size);
  dlp_pipeline_prepare (pipeline, NULL, &error);
  g_assert_no_error (error);
  return pipeline;
}

static void
ran (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (GError) error = NULL;

  if (!dlp_pipeline_run_finish (DLP_PIPELINE (source), result, &error))
    g_assert_error (error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_STOPPED);
  *(gboolean *) data = TRUE;
}

/* @steps batches, or to the end; what ran has left its checkpoint. */
static void
run_in_folder (const char *folder, guint world_size, guint steps, GPtrArray *lines)
{
  g_autoptr (DlpPipeline) pipeline = open_folder (folder, world_size);
  DlpAppSink *out = DLP_APP_SINK (dlp_pipeline_get_element (pipeline, "out"));
  gboolean over = FALSE;

  dlp_pipeline_run_async (pipeline, NULL, ran, &over);
  for (guint i = 0; i < steps && pull (out, lines); i++)
    ;
  dlp_app_sink_commit (out);
  if (steps != G_MAXUINT)
    dlp_pipeline_stop (pipeline);
  while (!over)
    g_main_context_iteration (NULL, TRUE);
}

static void
skip_in_folder (const char *folder, guint64 first, guint64 last)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (DlpCheckpoint) before = dlp_checkpoint_new_from_folder (folder, NULL, &error);
  g_autoptr (DlpCheckpoint) skipping = NULL;

  g_assert_no_error (error);
  skipping = dlp_checkpoint_skip_batches (before, "b", first, last, &error);
  g_assert_no_error (error);
  dlp_checkpoint_save_to_folder (skipping, folder, &error);
  g_assert_no_error (error);
}

static void
assert_not_saved (DlpCheckpoint *checkpoint, const char *folder, int code, const char *part)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (DlpCheckpoint) before = dlp_checkpoint_new_from_folder (folder, NULL, &error);
  g_autoptr (DlpCheckpoint) after = NULL;
  g_autoptr (GBytes) was = dlp_checkpoint_to_bytes (before);
  g_autoptr (GBytes) is = NULL;

  g_assert_false (dlp_checkpoint_save_to_folder (checkpoint, folder, &error));
  g_assert_error (error, DLP_STATE_ERROR, code);
  if (strstr (error->message, part) == NULL)
    g_error ("“%s” is not in: %s", part, error->message);
  g_clear_error (&error);
  after = dlp_checkpoint_new_from_folder (folder, NULL, &error);
  g_assert_no_error (error);
  is = dlp_checkpoint_to_bytes (after);
  g_assert_true (g_bytes_equal (was, is));
  g_assert_cmpstr (dlp_checkpoint_get_path (before), ==, dlp_checkpoint_get_path (after));
}

static void
remove_folder (const char *folder)
{
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  const char *name;

  while ((name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *path = g_build_filename (folder, name, NULL);

      g_assert_no_errno (g_unlink (path));
    }
  g_assert_no_errno (g_rmdir (folder));
}

/* The state behind the end is loaded, too; also where a step is not whole. */
static void
test_skip_end (void)
{
  use_graph (0);
  for (guint world_size = 1; world_size <= 3; world_size++)
    {
      g_autofree char *dir = g_dir_make_tmp ("dlpipe-ranks-XXXXXX", NULL);
      g_autofree char *folder = g_build_filename (dir, "s", NULL);
      g_autoptr (GPtrArray) lines = lines_new ();
      g_autoptr (GPtrArray) none = lines_new ();

      run_in_folder (folder, world_size, 1, lines);
      g_assert_cmpuint (lines->len, ==, 1);
      /* At least one batch is left, which is no whole step of three. */
      skip_in_folder (folder, world_size + 1, 1000000);
      run_in_folder (folder, world_size, G_MAXUINT, none);
      g_assert_cmpuint (none->len, ==, world_size == 1 ? 2 : 0);
      run_in_folder (folder, world_size, G_MAXUINT, none);
      g_assert_cmpuint (none->len, ==, world_size == 1 ? 2 : 0);
      remove_folder (folder);
      g_assert_no_errno (g_rmdir (dir));
    }
}

/* Only what is the newest state there goes on with a change. */
static void
test_skip_older (void)
{
  g_autofree char *dir = g_dir_make_tmp ("dlpipe-ranks-XXXXXX", NULL);
  g_autofree char *folder = g_build_filename (dir, "s", NULL);
  g_autofree char *other = g_build_filename (dir, "other", NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) lines = lines_new ();
  g_autoptr (GPtrArray) others = lines_new ();
  g_autoptr (DlpCheckpoint) old = NULL;
  g_autoptr (DlpCheckpoint) skipping = NULL;
  g_autoptr (DlpCheckpoint) complete = NULL;

  use_graph (0);
  run_in_folder (folder, 1, 1, lines);
  run_in_folder (other, 1, 1, others);
  old = dlp_checkpoint_new_from_folder (folder, NULL, &error);
  g_assert_no_error (error);
  skipping = dlp_checkpoint_skip_batches (old, NULL, 20, 21, &error);
  g_assert_no_error (error);
  assert_not_saved (skipping, other, DLP_STATE_ERROR_FOREIGN_OUTPUT, "and is of run ");
  run_in_folder (folder, 1, 1, lines);
  assert_not_saved (old, folder, DLP_STATE_ERROR_CHANGED, "the run has gone on since");
  assert_not_saved (skipping, folder, DLP_STATE_ERROR_CHANGED, "the run has gone on since");

  skip_in_folder (folder, 3, 3);
  assert_not_saved (skipping, folder, DLP_STATE_ERROR_CHANGED, "the run has gone on since");
  run_in_folder (folder, 1, G_MAXUINT, lines);
  assert_not_saved (skipping, folder, DLP_STATE_ERROR_CHANGED, "the run is complete");
  complete = dlp_checkpoint_new_from_folder (folder, NULL, &error);
  g_assert_no_error (error);
  assert_not_saved (complete, folder, DLP_STATE_ERROR_CHANGED, "the run is complete");
  assert_not_skipped (complete, NULL, 30, 40, "no element of the state has batches to be skipped");
  assert_not_skipped (complete, "b", 30, 40, "“b” of the state has no batches to be skipped");
  remove_folder (folder);
  remove_folder (other);
  g_assert_no_errno (g_rmdir (dir));
}

/* Also where the newest of the two that are kept is damaged. */
static void
test_skip_damaged (void)
{
  g_autofree char *dir = g_dir_make_tmp ("dlpipe-ranks-XXXXXX", NULL);
  g_autofree char *folder = g_build_filename (dir, "s", NULL);
  g_autofree char *fell_back = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) lines = lines_new ();
  g_autoptr (DlpCheckpoint) newest = NULL;
  g_autoptr (DlpCheckpoint) older = NULL;
  g_autoptr (GBytes) state = NULL;

  use_graph (0);
  run_in_folder (folder, 1, 1, lines);
  skip_in_folder (folder, 7, 8);
  newest = dlp_checkpoint_new_from_folder (folder, NULL, &error);
  g_assert_no_error (error);
  g_file_set_contents (dlp_checkpoint_get_path (newest), "?", 1, &error);
  g_assert_no_error (error);
  older = dlp_checkpoint_new_from_folder (folder, &fell_back, &error);
  g_assert_no_error (error);
  g_assert_nonnull (fell_back);
  state = dlp_checkpoint_to_bytes (older);
  assert_ranges (state, "[(7, 8, 1)]");
  remove_folder (folder);
  g_assert_no_errno (g_rmdir (dir));
}

/* Nothing comes out for long, and the state moves on all the same. */
static void
test_skip_moves (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) state = NULL;
  g_autoptr (GBytes) skipping = NULL;
  g_autoptr (DlpPipeline) pipeline = dlp_pipeline_new_from_string (
      "check-source records=100000000 ! batch name=b size=4 ! app-sink name=out", &error);
  g_autoptr (DlpPipeline) again = NULL;
  g_autoptr (GPtrArray) few = lines_new ();
  guint64 batches = 0;

  g_assert_no_error (error);
  dlp_pipeline_prepare (pipeline, NULL, &error);
  g_assert_no_error (error);
  dlp_pipeline_run_async (pipeline, NULL, NULL, NULL);
  state = save (pipeline);
  dlp_pipeline_abort (pipeline);
  skipping = skip (state, 5, 1000000000);
  again = dlp_pipeline_new_from_state_bytes (skipping, &error);
  g_assert_no_error (error);
  dlp_pipeline_prepare (again, NULL, &error);
  g_assert_no_error (error);
  dlp_pipeline_run_async (again, NULL, NULL, NULL);
  for (guint i = 0; i < 5; i++)
    g_assert_true (pull (DLP_APP_SINK (dlp_pipeline_get_element (again, "out")), few));
  dlp_app_sink_commit (DLP_APP_SINK (dlp_pipeline_get_element (again, "out")));
  for (guint i = 0; i < 500 && batches < 1000; i++)
    {
      g_autoptr (GBytes) now = save (again);

      batches = count_skipped (now, "batches");
      g_assert_cmpuint (batches - count_skipped (now, "skipped-batches"), <=, 5);
      g_usleep (2000);
    }
  g_assert_cmpuint (batches, >=, 1000);
  dlp_pipeline_abort (again);
}

/* (transfer full): behind one batch that one of two consumers has had. */
static GBytes *
save_behind_one (const char *text, const char *element)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (DlpPipeline) pipeline = dlp_pipeline_new_from_string (text, &error);
  g_autoptr (DlpRecordBatch) batch = NULL;
  DlpAppSink *sink;

  g_assert_no_error (error);
  dlp_pipeline_prepare (pipeline, NULL, &error);
  g_assert_no_error (error);
  dlp_pipeline_run_async (pipeline, NULL, NULL, NULL);
  sink = DLP_APP_SINK (dlp_pipeline_get_element (pipeline, element));
  batch = dlp_app_sink_pull (sink, 0, NULL, &error);
  g_assert_no_error (error);
  dlp_app_sink_commit (sink);
  return save (pipeline);
}

#define TEE "check-source records=40 ! batch name=b size=2 ! tee name=t ! app-sink name=near "
#define BRANCHES TEE "max-batches=1  t. ! app-sink name=far max-batches=1"

/* (floating): @value, of whose element @wanted @key is replaced. */
static GVariant *
replace_key (GVariant *value, const char *wanted, const char *key, GVariant *with)
{
  g_autoptr (GVariant) elements =
      g_variant_lookup_value (value, "elements", G_VARIANT_TYPE ("aa{sv}"));
  GVariantBuilder builder;
  GVariantDict all;

  g_variant_builder_init (&builder, G_VARIANT_TYPE ("aa{sv}"));
  for (gsize i = 0; i < g_variant_n_children (elements); i++)
    {
      g_autoptr (GVariant) element = g_variant_get_child_value (elements, i);
      GVariantDict changed;
      const char *name;

      g_variant_dict_init (&changed, element);
      g_assert_true (g_variant_lookup (element, "name", "&s", &name));
      if (strcmp (name, wanted) == 0)
        g_variant_dict_insert_value (&changed, key, with);
      g_variant_builder_add_value (&builder, g_variant_dict_end (&changed));
    }
  g_variant_dict_init (&all, value);
  g_variant_dict_insert_value (&all, "elements", g_variant_builder_end (&builder));
  return g_variant_dict_end (&all);
}

/* (transfer full): @state, changed by whoever may. */
static DlpCheckpoint *
forge_key (GBytes *state, const char *wanted, const char *key, GVariant *with)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (DlpCheckpoint) checkpoint = dlp_checkpoint_new_from_bytes (state, &error);
  g_autoptr (GVariant) value = dlp_checkpoint_to_variant (checkpoint);
  DlpCheckpoint *forged;

  forged = dlp_checkpoint_new_from_variant (replace_key (value, wanted, key, with), &error);
  g_assert_no_error (error);
  return forged;
}

/* (transfer full): @state with ranges that nothing has looked at. */
static DlpCheckpoint *
forge (GBytes *state, const char *ranges)
{
  g_autoptr (GVariant) before = look_at (state, "b", "state");
  GVariantDict changed;

  g_variant_dict_init (&changed, before);
  g_variant_dict_insert_value (&changed, "skip", g_variant_new_parsed (ranges));
  return forge_key (state, "b", "state", g_variant_dict_end (&changed));
}

static void
assert_not_loaded (DlpCheckpoint *checkpoint, int code, const char *part)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (DlpPipeline) pipeline = dlp_pipeline_new_from_checkpoint (checkpoint, &error);

  g_assert_no_error (error);
  g_assert_false (dlp_pipeline_prepare (pipeline, NULL, &error));
  g_assert_error (error, DLP_STATE_ERROR, code);
  if (strstr (error->message, part) == NULL)
    g_error ("“%s” is not in: %s", part, error->message);
}

/* What was skipped by then stays so, what was not comes. */
static void
test_skip_clear (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) few = lines_new ();
  g_autoptr (GPtrArray) rest = lines_new ();
  g_autoptr (GBytes) skipping = NULL;
  g_autoptr (GBytes) state = NULL;
  g_autoptr (GBytes) plain = NULL;
  g_autoptr (DlpCheckpoint) checkpoint = NULL;
  g_autoptr (DlpCheckpoint) cleared = NULL;

  use_graph (0);
  skipping = skip_some ();
  state = run (skipping, 0, 1, 3, few);
  g_assert_cmpuint (few->len, ==, 12);
  checkpoint = dlp_checkpoint_new_from_bytes (state, &error);
  cleared = dlp_checkpoint_clear_skipped (checkpoint, NULL, &error);
  g_assert_no_error (error);
  plain = dlp_checkpoint_to_bytes (cleared);
  run (plain, 0, 1, G_MAXUINT, rest);
  assert_delivered (rest, 12, 1);
}

/* Of two consumers one has had the batch: it is made again for the other, and cannot be left out.
 */
static void
test_skip_delivered (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) state = save_behind_one (BRANCHES, "near");
  g_autoptr (DlpCheckpoint) checkpoint = dlp_checkpoint_new_from_bytes (state, &error);
  g_autoptr (DlpCheckpoint) forged = forge (state, "@a(ttt) [(0, 0, 1), (5, 6, 1)]");
  g_autoptr (DlpCheckpoint) cleared = dlp_checkpoint_clear_skipped (forged, NULL, &error);
  g_autoptr (GBytes) plain = dlp_checkpoint_to_bytes (cleared);

  g_assert_cmpuint (count_skipped (state, "batches"), ==, 0);
  assert_not_skipped (checkpoint, NULL, 0, 0, "batch 0 of b has gone out");
  assert_not_skipped (checkpoint, NULL, 0, 20, "or skip from batch 1 on");
  /* What another program wrote: it is seen before anything runs, and can be taken back. */
  assert_not_loaded (forged, DLP_STATE_ERROR_CHANGED,
                     "batch 0 is to be skipped, but was delivered");
  assert_ranges (plain, "[]");
}

/* By what an element promises, of whatever kind it is. */
static void
test_skip_behind (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) state = save_behind_one (BRANCHES, "near");
  g_autoptr (DlpCheckpoint) renamed =
      forge_key (state, "t", "factory", g_variant_new_string ("example-tee"));
  g_autoptr (DlpCheckpoint) unknown =
      forge_key (state, "t", "passes-on", g_variant_new_boolean (FALSE));
  g_autoptr (DlpCheckpoint) skipping = NULL;

  assert_not_skipped (renamed, NULL, 0, 0, "batch 0 of b has gone out");
  skipping = dlp_checkpoint_skip_batches (renamed, NULL, 1, 2, &error);
  g_assert_no_error (error);
  assert_not_skipped (unknown, NULL, 1, 2, "how far the batches of b went is not known");
}

/* One consumer is at its end: it has had everything. */
static void
test_skip_drained (void)
{
  const char *text = "check-source records=40 ! batch name=b size=4 ! tee name=t ! app-sink "
                     "name=near confirm=pull  t. ! app-sink name=far confirm=pull";
  g_autoptr (GError) error = NULL;
  g_autoptr (DlpPipeline) pipeline = dlp_pipeline_new_from_string (text, &error);
  g_autoptr (GPtrArray) lines = lines_new ();
  g_autoptr (GPtrArray) one = lines_new ();
  g_autoptr (GBytes) state = NULL;
  g_autoptr (DlpCheckpoint) checkpoint = NULL;

  g_assert_no_error (error);
  dlp_pipeline_prepare (pipeline, NULL, &error);
  g_assert_no_error (error);
  dlp_pipeline_run_async (pipeline, NULL, NULL, NULL);
  while (pull (DLP_APP_SINK (dlp_pipeline_get_element (pipeline, "near")), lines))
    ;
  g_assert_cmpuint (lines->len, ==, 10);
  g_assert_true (pull (DLP_APP_SINK (dlp_pipeline_get_element (pipeline, "far")), one));
  state = save (pipeline);
  checkpoint = dlp_checkpoint_new_from_bytes (state, &error);
  g_assert_no_error (error);
  /* As all of them have; or as the state says where the element has not looked at the end yet. */
  assert_not_skipped (checkpoint, NULL, 5, 6, "batch 5 of b has gone out");
}

/* (transfer full): a state in which @name is at its end: it looks at that when it is asked for the
 * next record, a moment after its consumer saw it. */
static DlpCheckpoint *
save_behind_end (DlpPipeline *pipeline, const char *name)
{
  for (;;)
    {
      g_autoptr (GBytes) state = save (pipeline);
      g_autoptr (GVariant) needed = look_at (state, name, "needed");

      if (!g_variant_get_boolean (needed))
        return dlp_checkpoint_new_from_bytes (state, NULL);
      g_usleep (1000);
    }
}

/* Of two that make batches one is at its end. */
static void
test_skip_ended (void)
{
  const char *text = "check-source records=8 ! batch name=b size=4 ! app-sink name=near "
                     "confirm=pull  check-source records=400 ! batch name=c size=4 ! app-sink "
                     "name=far confirm=pull max-batches=1";
  g_autoptr (GError) error = NULL;
  g_autoptr (DlpPipeline) pipeline = dlp_pipeline_new_from_string (text, &error);
  g_autoptr (GPtrArray) lines = lines_new ();
  g_autoptr (DlpCheckpoint) checkpoint = NULL;
  g_autoptr (DlpCheckpoint) skipping = NULL;

  g_assert_no_error (error);
  dlp_pipeline_prepare (pipeline, NULL, &error);
  g_assert_no_error (error);
  dlp_pipeline_run_async (pipeline, NULL, NULL, NULL);
  while (pull (DLP_APP_SINK (dlp_pipeline_get_element (pipeline, "near")), lines))
    ;
  checkpoint = save_behind_end (pipeline, "b");
  assert_not_skipped (checkpoint, "b", 5, 6, "which has something left to do");
  skipping = dlp_checkpoint_skip_batches (checkpoint, NULL, 5, 6, &error);
  g_assert_no_error (error);
}

/* (transfer full): behind @n batches of many. */
static GBytes *
save_behind (guint n)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (DlpPipeline) pipeline = dlp_pipeline_new_from_string (
      "check-source records=4000 ! mix name=m ! batch name=b size=4 ! app-sink name=out", &error);
  DlpAppSink *out = DLP_APP_SINK (dlp_pipeline_get_element (pipeline, "out"));

  g_assert_no_error (error);
  dlp_pipeline_prepare (pipeline, NULL, &error);
  g_assert_no_error (error);
  dlp_pipeline_run_async (pipeline, NULL, NULL, NULL);
  for (guint i = 0; i < n; i++)
    {
      g_autoptr (DlpRecordBatch) batch = dlp_app_sink_pull (out, 1, NULL, &error);

      g_assert_no_error (error);
    }
  dlp_app_sink_commit (out);
  return save (pipeline);
}

/* Wherever the mark lies, the sink has had 900. */
static void
test_skip_refused (void)
{
  g_autoptr (GBytes) state = save_behind (900);
  guint64 batches = count_skipped (state, "batches");
  g_autofree char *before =
      g_strdup_printf ("batch %" G_GUINT64_FORMAT " of b was given out before this state, which "
                       "goes on with batch %" G_GUINT64_FORMAT,
                       batches - 1, batches);
  g_autoptr (GError) error = NULL;
  g_autoptr (DlpCheckpoint) checkpoint = dlp_checkpoint_new_from_bytes (state, &error);
  g_autoptr (DlpCheckpoint) skipping = NULL;

  g_assert_no_error (error);
  g_assert_cmpuint (batches, >, 0);
  g_assert_cmpuint (batches, <=, 900);
  assert_not_skipped (checkpoint, NULL, batches - 1, 950, before);
  assert_not_skipped (checkpoint, NULL, 899, 950, "batch 899 of b ");
  assert_not_skipped (checkpoint, NULL, 951, 950, "batches 951 to 950 are no range");
  assert_not_skipped (checkpoint, NULL, 950, G_MAXUINT64, "are no range");
  assert_not_skipped (checkpoint, "m", 950, 950, "element “m” of the state has no batches");
  assert_not_skipped (checkpoint, "none", 950, 950, "element “none” of the state has no batches");
  skipping = dlp_checkpoint_skip_batches (checkpoint, NULL, 900, 910, &error);
  g_assert_no_error (error);
}

/* What went out is counted without what was skipped in between. */
static void
test_skip_ranges (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) state = save_behind_one (BRANCHES, "near");
  g_autoptr (GBytes) some = skip (state, 3, 4);
  g_autoptr (GBytes) more = skip (some, 1, 8);
  g_autoptr (DlpCheckpoint) loaded = dlp_checkpoint_new_from_bytes (more, &error);
  g_autoptr (DlpCheckpoint) cleared = dlp_checkpoint_clear_skipped (loaded, "b", &error);
  g_autoptr (GBytes) plain = dlp_checkpoint_to_bytes (cleared);
  g_autoptr (DlpCheckpoint) forged = NULL;
  g_autoptr (DlpCheckpoint) kept = NULL;

  assert_ranges (more, "[(1, 8, 1)]");
  assert_ranges (plain, "[]");

  /* One went out, which was the first, and then, as if that had been skipped, the second. */
  forged = forge (state, "@a(ttt) [(1, 2, 0), (5, 6, 0), (9, 9, 1), (12, 20, 1)]");
  assert_not_skipped (forged, NULL, 0, 0, "or skip from batch 3 on");
  kept = dlp_checkpoint_skip_batches (forged, NULL, 3, 3, &error);
  g_assert_no_error (error);

  /* Without it the second would come again. */
  g_clear_pointer (&forged, dlp_checkpoint_unref);
  g_clear_pointer (&kept, dlp_checkpoint_unref);
  g_clear_pointer (&plain, g_bytes_unref);
  forged = forge (state, "@a(ttt) [(0, 0, 0), (5, 6, 1)]");
  kept = dlp_checkpoint_clear_skipped (forged, NULL, &error);
  g_assert_no_error (error);
  plain = dlp_checkpoint_to_bytes (kept);
  assert_ranges (plain, "[(0, 0, 0)]");

  g_clear_pointer (&forged, dlp_checkpoint_unref);
  forged = forge (state, "@a(ttt) [(5, 6, 1), (5, 6, 1)]");
  assert_not_loaded (forged, DLP_STATE_ERROR_CORRUPT, "key “skip”: range 1 is 5 to 6");
  g_assert_null (dlp_checkpoint_clear_skipped (forged, NULL, &error));
  g_assert_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CORRUPT);
}

int
main (int argc, char **argv)
{
  static const guint worlds[][2] = { { 1, 3 }, { 4, 2 }, { 8, 5 }, { 3, 3 } };
  int code;

  g_test_init (&argc, &argv, NULL);
  dlp_harness_init ();
  g_test_add_func ("/ranks/worlds", test_worlds);
  for (guint i = 0; i < G_N_ELEMENTS (worlds); i++)
    {
      g_autofree char *path = g_strdup_printf ("/ranks/%u-to-%u", worlds[i][0], worlds[i][1]);

      g_test_add_data_func (path, worlds[i], test_elastic);
    }
  g_test_add_func ("/ranks/torn", test_torn);
  g_test_add_func ("/ranks/skip", test_skip);
  g_test_add_func ("/ranks/skip-clear", test_skip_clear);
  g_test_add_func ("/ranks/skip-end", test_skip_end);
  g_test_add_func ("/ranks/skip-older", test_skip_older);
  g_test_add_func ("/ranks/skip-damaged", test_skip_damaged);
  g_test_add_func ("/ranks/skip-behind", test_skip_behind);
  g_test_add_func ("/ranks/skip-ended", test_skip_ended);
  g_test_add_func ("/ranks/skip-moves", test_skip_moves);
  g_test_add_func ("/ranks/skip-refused", test_skip_refused);
  g_test_add_func ("/ranks/skip-delivered", test_skip_delivered);
  g_test_add_func ("/ranks/skip-drained", test_skip_drained);
  g_test_add_func ("/ranks/skip-ranges", test_skip_ranges);
  code = g_test_run ();
  g_clear_pointer (&expected, g_ptr_array_unref);
  return code;
}
