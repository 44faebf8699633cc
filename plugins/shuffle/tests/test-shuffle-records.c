/* SPDX-License-Identifier: MIT */

/* checkpoint=records: what a program saves, the files of a state folder, and what is wrong with
 * them; and with a state of positions. */

#include <glib/gstdio.h>
#include <string.h>

#include <dlp-harness.h>

#define GRAPH(records, size)                                                                       \
  "check-source records=" records " ! shuffle name=sh size=" size                                  \
  " checkpoint=records ! app-sink name=out"

typedef struct
{
  DlpPipeline *pipeline;
  DlpAppSink *out;
  guint position; /* where it goes on */
  GThread *thread;
  GError *error;
} Run;

static gpointer
run_thread (gpointer data)
{
  Run *self = data;

  dlp_pipeline_run (self->pipeline, NULL, &self->error);
  return NULL;
}

/* Takes @pipeline. */
static void
run_start (Run *self, DlpPipeline *pipeline)
{
  *self = (Run){ .pipeline = pipeline };
  dlp_pipeline_prepare (pipeline, NULL, &self->error);
  g_assert_no_error (self->error);
  self->out = DLP_APP_SINK (dlp_pipeline_get_element (pipeline, "out"));
  self->position =
      (guint) dlp_pad_get_position (dlp_element_get_input (DLP_ELEMENT (self->out), 0));
  self->thread = g_thread_new ("run", run_thread, self);
  while (dlp_pipeline_get_status (pipeline) == DLP_PIPELINE_READY)
    g_usleep (100);
}

static void
run_end (Run *self)
{
  g_clear_pointer (&self->thread, g_thread_join);
  g_clear_error (&self->error);
  g_clear_object (&self->pipeline);
}

/* At most @n records more; fewer at the end. */
static void
pull (Run *self, guint n, GPtrArray *lines)
{
  for (guint i = 0; i < n; i++)
    {
      g_autoptr (DlpRecordBatch) batch = dlp_app_sink_pull (self->out, 1, NULL, NULL);

      if (batch == NULL)
        return;
      g_assert_cmpuint (dlp_record_batch_get_position (batch), ==, lines->len);
      g_ptr_array_add (lines, dlp_check_record_to_text (batch, 0));
    }
}

static DlpPipeline *
make (const char *graph, const char *state_dir, guint64 memory)
{
  g_autoptr (GError) error = NULL;
  DlpPipeline *pipeline = dlp_pipeline_new_from_string (graph, &error);

  g_assert_no_error (error);
  g_object_set (pipeline, "state-dir", state_dir, "memory", memory, NULL);
  if (state_dir != NULL)
    g_object_set (pipeline, "checkpoint-interval", G_GINT64_CONSTANT (2000), NULL);
  return pipeline;
}

static GPtrArray *
expect (const char *graph)
{
  GPtrArray *lines = g_ptr_array_new_with_free_func (g_free);
  Run run;

  run_start (&run, make (graph, NULL, 0));
  pull (&run, G_MAXUINT, lines);
  run_end (&run);
  return lines;
}

static void
assert_equal (GPtrArray *lines, GPtrArray *expected)
{
  g_assert_cmpuint (lines->len, ==, expected->len);
  for (guint i = 0; i < lines->len; i++)
    g_assert_cmpstr (lines->pdata[i], ==, expected->pdata[i]);
}

/* ---- with the program's own state ---- */

static GBytes *
save (Run *self)
{
  g_autoptr (GError) error = NULL;
  GBytes *state;

  dlp_app_sink_commit (self->out);
  state = dlp_pipeline_save_state (self->pipeline, NULL, &error);
  g_assert_no_error (error);
  return state;
}

static DlpPipeline *
from_bytes (GBytes *state)
{
  g_autoptr (GError) error = NULL;
  DlpPipeline *pipeline = dlp_pipeline_new_from_state_bytes (state, &error);

  g_assert_no_error (error);
  return pipeline;
}

/* Saved behind each record, and gone on from twice; the second goes on from what the first saved.
 */
static void
test_bytes (void)
{
  static const char graph[] = GRAPH ("90", "17");
  g_autoptr (GPtrArray) expected = expect (graph);
  g_autoptr (GPtrArray) lines = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GBytes) state = NULL;
  Run run;

  run_start (&run, make (graph, NULL, 0));
  state = save (&run);
  dlp_pipeline_abort (run.pipeline);
  run_end (&run);
  while (lines->len < expected->len)
    {
      guint saved = lines->len;

      for (guint i = 0; i < 2; i++)
        {
          run_start (&run, from_bytes (state));
          g_ptr_array_set_size (lines, (int) saved);
          pull (&run, i == 0 ? 5 : 1, lines);
          if (i == 1)
            {
              g_bytes_unref (state);
              state = save (&run);
            }
          dlp_pipeline_abort (run.pipeline);
          run_end (&run);
        }
    }
  assert_equal (lines, expected);
}

/* While it reads its records back it can be cancelled. */
static void
test_cancelled (void)
{
  g_autoptr (GPtrArray) lines = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (GBytes) state = NULL;
  g_autoptr (DlpPipeline) pipeline = NULL;
  g_autoptr (GError) error = NULL;
  DlpElement *element;
  Run run;

  run_start (&run, make (GRAPH ("5000", "300"), NULL, 0));
  pull (&run, 4000, lines);
  state = save (&run);
  dlp_pipeline_abort (run.pipeline);
  run_end (&run);

  pipeline = from_bytes (state);
  dlp_pipeline_prepare (pipeline, NULL, &error);
  g_assert_no_error (error);
  element = dlp_pipeline_get_element (pipeline, "sh");
  g_cancellable_cancel (cancellable);
  g_assert_false (DLP_ELEMENT_GET_CLASS (element)->start (element, cancellable, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  DLP_ELEMENT_GET_CLASS (element)->stop (element);
}

/* ---- with a state folder ---- */

static guint
count_state_files (const char *folder, char **last)
{
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  const char *name;
  guint n = 0;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    if (g_str_has_prefix (name, "state-"))
      {
        if (last != NULL)
          {
            g_free (*last);
            *last = g_build_filename (folder, name, NULL);
          }
        n++;
      }
  return n;
}

static void
remove_folder (const char *folder)
{
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  const char *name;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *path = g_build_filename (folder, name, NULL);

      g_assert_cmpint (g_remove (path), ==, 0);
    }
  g_assert_cmpint (g_rmdir (folder), ==, 0);
}

/* A counter of the last run, of the shuffle in it. */
static guint64
get_counter (DlpPipeline *pipeline, const char *key)
{
  g_autoptr (GVariant) report = dlp_pipeline_get_report (pipeline);
  g_autoptr (GVariant) elements =
      g_variant_lookup_value (report, "elements", G_VARIANT_TYPE ("aa{sv}"));
  guint64 count = 0;

  for (gsize i = 0; i < g_variant_n_children (elements); i++)
    {
      g_autoptr (GVariant) element = g_variant_get_child_value (elements, i);
      g_autoptr (GVariant) state = g_variant_lookup_value (element, "state", NULL);
      const char *factory;

      g_assert_true (g_variant_lookup (element, "factory", "&s", &factory));
      if (state != NULL && strcmp (factory, "shuffle") == 0)
        g_variant_lookup (state, key, "t", &count);
    }
  return count;
}

/* Aborted at random, also while files are written; few files are there at any time, none at the
 * end. Returns how many records went to a scratch file. */
static guint64
check_folder (const char *graph, guint64 memory, guint step, guint seed)
{
  g_autoptr (GPtrArray) expected = expect (graph);
  g_autoptr (GPtrArray) lines = g_ptr_array_new_with_free_func (g_free);
  g_autofree char *folder = g_dir_make_tmp ("dlpipe-shuffle-XXXXXX", NULL);
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  gboolean complete = FALSE;
  guint64 spilled = 0;

  while (!complete)
    {
      Run run;

      run_start (&run, make (graph, folder, memory));
      g_assert_cmpuint (run.position, <=, lines->len);
      g_ptr_array_set_size (lines, (int) run.position);
      pull (&run, g_rand_int_range (rand, 1, step), lines);
      if (g_rand_boolean (rand))
        g_usleep (g_rand_int_range (rand, 0, 10000));
      g_assert_cmpuint (count_state_files (folder, NULL), <=, 6);
      complete = lines->len == expected->len;
      if (complete)
        pull (&run, 1, lines);
      else if (g_rand_boolean (rand))
        dlp_pipeline_abort (run.pipeline);
      else
        dlp_pipeline_stop (run.pipeline);
      g_clear_pointer (&run.thread, g_thread_join);
      spilled += get_counter (run.pipeline, "spilled");
      run_end (&run);
    }
  assert_equal (lines, expected);
  g_assert_cmpuint (count_state_files (folder, NULL), ==, 0);
  remove_folder (folder);
  return spilled;
}

static void
test_folder (void)
{
  for (guint i = 0; i < dlp_harness_scale (5); i++)
    g_assert_cmpuint (check_folder (GRAPH ("3000", "300"), 0, 600, i), ==, 0);
}

/* A buffer larger than its share of the memory. */
static void
test_spilled (void)
{
  for (guint i = 0; i < dlp_harness_scale (2); i++)
    g_assert_cmpuint (check_folder (GRAPH ("20k", "5k"), 1024 * 1024, 6000, i), >, 1000);
}

/* ---- what is wrong ---- */

static void
assert_prepare_fails (const char *graph, const char *folder, const char *message)
{
  g_autoptr (DlpPipeline) pipeline = make (graph, folder, 0);
  g_autoptr (GError) error = NULL;

  g_assert_false (dlp_pipeline_prepare (pipeline, NULL, &error));
  g_assert_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CORRUPT);
  if (strstr (error->message, message) == NULL)
    g_error ("“%s” is not in “%s”", message, error->message);
}

static void
set_contents (const char *path, const char *data, gsize size)
{
  g_autoptr (GError) error = NULL;

  g_file_set_contents (path, data, (gssize) size, &error);
  g_assert_no_error (error);
}

static guint64
find_newest (const char *folder)
{
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  guint64 newest = 0;
  const char *name;

  while ((name = g_dir_read_name (dir)) != NULL)
    if (g_str_has_prefix (name, "checkpoint-"))
      newest = MAX (newest, g_ascii_strtoull (name + strlen ("checkpoint-"), NULL, 10));
  return newest;
}

/* A file may also be that of the checkpoint before. */
static gboolean
is_of_newest (const char *folder, const char *path)
{
  g_autofree char *name = g_path_get_basename (path);
  g_autofree char *checkpoint =
      g_strdup_printf ("%s/checkpoint-%" G_GUINT64_FORMAT, folder, find_newest (folder));
  g_autofree char *data = NULL;
  gsize size;

  return g_file_get_contents (checkpoint, &data, &size, NULL) &&
         memmem (data, size, name, strlen (name)) != NULL;
}

/* The generation before may name no file, and would be gone on with. */
static void
remove_former_generation (const char *folder)
{
  guint64 newest = find_newest (folder);

  for (guint64 i = 1; i < newest; i++)
    {
      g_autofree char *path = g_strdup_printf ("%s/checkpoint-%" G_GUINT64_FORMAT, folder, i);

      g_remove (path);
    }
}

static void
test_damaged (void)
{
  static const char graph[] = GRAPH ("500", "100");
  g_autoptr (GPtrArray) expected = expect (graph);
  g_autoptr (GPtrArray) lines = g_ptr_array_new_with_free_func (g_free);
  g_autofree char *folder = g_dir_make_tmp ("dlpipe-shuffle-XXXXXX", NULL);
  g_autofree char *path = NULL, *data = NULL, *wrong = NULL;
  gsize size;
  Run run;

  /* Until the newest checkpoint names a file. */
  while (count_state_files (folder, &path) != 1 || !is_of_newest (folder, path))
    {
      run_start (&run, make (graph, folder, 0));
      g_ptr_array_set_size (lines, (int) run.position);
      pull (&run, 2, lines);
      g_usleep (5000);
      pull (&run, 2, lines);
      g_usleep (5000);
      dlp_pipeline_stop (run.pipeline);
      run_end (&run);
    }
  remove_former_generation (folder);
  g_assert_true (g_file_get_contents (path, &data, &size, NULL));
  wrong = g_memdup2 (data, size);
  wrong[size / 2] ^= 1;

  g_assert_cmpint (g_remove (path), ==, 0);
  assert_prepare_fails (graph, folder, "is missing, which the checkpoint names");
  set_contents (path, data, size - 1);
  assert_prepare_fails (graph, folder, "bytes, but the checkpoint that names it says");
  set_contents (path, "", 0);
  assert_prepare_fails (graph, folder, "is 0 bytes, but the checkpoint");
  set_contents (path, wrong, size);
  assert_prepare_fails (graph, folder, "its content has the hash ");
  g_assert_cmpint (g_remove (path), ==, 0);
  g_assert_cmpint (g_mkdir (path, 0700), ==, 0);
  assert_prepare_fails (graph, folder, "is not a regular file");
  g_assert_cmpint (g_rmdir (path), ==, 0);

  set_contents (path, data, size);
  run_start (&run, make (graph, folder, 0));
  g_ptr_array_set_size (lines, (int) run.position);
  pull (&run, G_MAXUINT, lines);
  run_end (&run);
  assert_equal (lines, expected);
  remove_folder (folder);
}

static void
test_bad_states (void)
{
  static const struct
  {
    const char *state, *message;
  } cases[] = {
    { "{'taken': <uint64 5>}", "key “drawn” is missing" },
    { "{'taken': <uint64 5>, 'drawn': <uint64 6>}", "key “drawn” is 6, above the 5 allowed" },
    { "{'taken': <uint64 120>, 'drawn': <uint64 3>}", "key “drawn” is 3, below the 20 " },
    { "{'taken': <uint64 5>, 'drawn': <uint64 0>, 'state-files': <'a'>}",
      "key “state-files” has type s, not a(sts)" },
    { "{'taken': <uint64 5>, 'drawn': <uint64 0>, 'state-files': <@a(sts) []>}",
      "key “state-files” names 0 files; with checkpoint=records there is one" },
    { "{'taken': <uint64 5>, 'drawn': <uint64 0>, 'state-files': <[('../x', uint64 1, 'a')]>}",
      "“../x” is no name of a file of sh, such as state-sh-1-1" },
    { "{'taken': <uint64 5>, 'drawn': <uint64 0>, 'state-files': <[('state-other-1-1', uint64 1, "
      "'a')]>}",
      "“state-other-1-1” is no name of a file of sh" },
    { "{'taken': <uint64 5>, 'drawn': <uint64 0>, 'state-files': <[('state-sh-1-1', uint64 1, "
      "'a')]>}",
      "state-sh-1-1: the state names this file, and does not hold it" },
    { "{'taken': <uint64 5>, 'drawn': <uint64 0>, 'other': <0>}", "unknown key “other”" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (DlpPipeline) pipeline = make (GRAPH ("10", "100"), NULL, 0);
      g_autoptr (GVariant) state =
          g_variant_parse (G_VARIANT_TYPE_VARDICT, cases[i].state, NULL, NULL, NULL);
      g_autoptr (GError) error = NULL;
      DlpElement *element;

      g_assert_nonnull (state);
      dlp_pipeline_check (pipeline, NULL, &error);
      g_assert_no_error (error);
      element = dlp_pipeline_get_element (pipeline, "sh");
      g_assert_false (DLP_ELEMENT_GET_CLASS (element)->load (element, state, 1, &error));
      g_assert_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CORRUPT);
      if (strstr (error->message, cases[i].message) == NULL)
        g_error ("“%s” is not in “%s”", cases[i].message, error->message);
    }
}

/* (transfer full): the state with another position of the shuffle's input. */
static GBytes *
set_input (GBytes *state, gint64 position)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (DlpCheckpoint) checkpoint = dlp_checkpoint_new_from_bytes (state, &error);
  g_autoptr (GVariant) value = dlp_checkpoint_to_variant (checkpoint);
  g_auto (GVariantDict) dict = G_VARIANT_DICT_INIT (value);
  g_autoptr (GVariant) elements =
      g_variant_dict_lookup_value (&dict, "elements", G_VARIANT_TYPE ("aa{sv}"));
  g_autoptr (DlpCheckpoint) made = NULL;
  g_autoptr (GVariant) changed = NULL;
  GVariantBuilder builder;

  g_variant_builder_init (&builder, G_VARIANT_TYPE ("aa{sv}"));
  for (gsize i = 0; i < g_variant_n_children (elements); i++)
    {
      g_autoptr (GVariant) element = g_variant_get_child_value (elements, i);
      g_auto (GVariantDict) with = G_VARIANT_DICT_INIT (element);
      const char *factory;

      g_assert_true (g_variant_lookup (element, "factory", "&s", &factory));
      if (strcmp (factory, "shuffle") == 0)
        g_variant_dict_insert_value (
            &with, "inputs",
            g_variant_new_fixed_array (G_VARIANT_TYPE_INT64, &position, 1, sizeof position));
      g_variant_builder_add_value (&builder, g_variant_dict_end (&with));
    }
  g_variant_dict_insert_value (&dict, "elements", g_variant_builder_end (&builder));
  changed = g_variant_ref_sink (g_variant_dict_end (&dict));
  made = dlp_checkpoint_new_from_variant (changed, &error);
  g_assert_no_error (error);
  return dlp_checkpoint_to_bytes (made);
}

static void
assert_not_reached (GBytes *state, gint64 position, const char *message)
{
  g_autoptr (GBytes) changed = set_input (state, position);
  g_autoptr (DlpPipeline) pipeline = from_bytes (changed);
  g_autoptr (GError) error = NULL;

  g_assert_false (dlp_pipeline_run (pipeline, NULL, &error));
  g_assert_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CORRUPT);
  if (strstr (error->message, message) == NULL)
    g_error ("“%s” is not in “%s”", message, error->message);
}

/* An input that is further on than the oldest record held: it would be missing. */
static void
test_not_reached (void)
{
  static const char graph[] =
      "check-source records=200 ! shuffle name=sh size=10 ! app-sink name=out";
  g_autoptr (GPtrArray) lines = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GBytes) first = NULL;
  g_autoptr (GBytes) later = NULL;
  DlpPipeline *pipeline = make (graph, NULL, 0);
  Run run;

  /* A mark for each record. */
  g_object_set (pipeline, "batch-records", 1, "link-batches", 1, NULL);
  run_start (&run, pipeline);
  first = save (&run);
  pull (&run, 100, lines);
  later = save (&run);
  dlp_pipeline_abort (run.pipeline);
  run_end (&run);

  assert_not_reached (first, 5,
                      "key “inputs” has the position 5, above the 0 allowed: that record is the "
                      "next one wanted by a buffer that took 0 and drew 0");
  assert_not_reached (later, 109, "allowed: that record is held by a buffer that took ");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  dlp_harness_init ();
  g_test_add_func ("/shuffle/records/bytes", test_bytes);
  g_test_add_func ("/shuffle/records/cancelled", test_cancelled);
  g_test_add_func ("/shuffle/records/folder", test_folder);
  g_test_add_func ("/shuffle/records/spilled", test_spilled);
  g_test_add_func ("/shuffle/records/damaged", test_damaged);
  g_test_add_func ("/shuffle/records/bad-states", test_bad_states);
  g_test_add_func ("/shuffle/records/not-reached", test_not_reached);
  return g_test_run ();
}
