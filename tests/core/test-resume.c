/* SPDX-License-Identifier: MIT */

#include <string.h>
#include <unistd.h>

#include <linux/magic.h>

#include <dlpipe/dlp-output-file.h>

#include "dlp-state-dir-private.h"

#include "faults.h"
#include "test-step.h"

/* A small run over the durable state: numbered files are "opened", each gives some bytes, which go
 * into shards of a fixed size; a checkpoint every few files. It is ended before each of its system
 * calls, in turn, and gone on with; what comes out must be what an undisturbed run gives. */

#define RUN "0123456789abcdef"
#define N_FILES 23
#define FILES_A_CHECKPOINT 3
#define FILES_A_SHARD 7

typedef struct
{
  const char *folder;
  guint nth;
  FaultsCrash how;
  gboolean moves; /* each run is on another host, of a file system that is shared */
} Crash;

typedef struct
{
  char *folder;
  DlpStateDir *dir;
  DlpOutputFile *shard;
  guint32 file;          /* the next one */
  guint32 n_published;   /* shards before it are */
  guint32 finished[16];  /* attempt of each shard that is finished and not published */
  guint64 length[16];    /* and its length */
  guint32 n_publishable; /* shards before it were finished in the checkpoint before */
} Run;

static char *
shard_path (Run *run, guint32 shard)
{
  g_autofree char *name = g_strdup_printf ("out_%05u.bin", shard);

  return g_build_filename (run->folder, "data", name, NULL);
}

static GVariant *
snapshot (Run *run, guint64 length, guint64 inputs_length, guint64 inputs_hash)
{
  GVariantDict dict;

  g_variant_dict_init (&dict, NULL);
  g_variant_dict_insert (&dict, "file", "u", run->file);
  g_variant_dict_insert (&dict, "attempt", "u", dlp_state_dir_get_attempt (run->dir));
  g_variant_dict_insert (&dict, "open", "b", run->shard != NULL);
  g_variant_dict_insert (&dict, "length", "t", length);
  g_variant_dict_insert (&dict, "published", "u", run->n_published);
  g_variant_dict_insert_value (
      &dict, "attempts", g_variant_new_fixed_array (G_VARIANT_TYPE_UINT32, run->finished, 16, 4));
  g_variant_dict_insert_value (
      &dict, "lengths", g_variant_new_fixed_array (G_VARIANT_TYPE_UINT64, run->length, 16, 8));
  g_variant_dict_insert (&dict, "inputs-length", "t", inputs_length);
  g_variant_dict_insert (&dict, "inputs-hash", "t", inputs_hash);
  return g_variant_dict_end (&dict);
}

static void
publish_up_to (Run *run, guint32 end)
{
  for (; run->n_published < end; run->n_published++)
    {
      g_autofree char *path = shard_path (run, run->n_published);
      g_autoptr (GError) error = NULL;

      dlp_output_file_publish (path, RUN, run->finished[run->n_published],
                               run->length[run->n_published], &error);
      g_assert_no_error (error);
    }
}

static void
checkpoint (Run *run)
{
  guint64 length = 0, inputs_length, inputs_hash;
  guint32 n_finished = run->file / FILES_A_SHARD;

  if (run->shard != NULL)
    {
      g_assert_true (dlp_output_file_flush (run->shard, NULL));
      length = dlp_output_file_get_length (run->shard);
      g_assert_true (dlp_output_file_sync (run->shard, NULL));
    }
  g_assert_true (dlp_state_dir_sync_inputs (run->dir, &inputs_length, &inputs_hash, NULL));
  g_assert_true (
      dlp_state_dir_save (run->dir, snapshot (run, length, inputs_length, inputs_hash), NULL));

  publish_up_to (run, run->n_publishable);
  run->n_publishable = n_finished;
}

static void
finish_shard (Run *run)
{
  guint32 shard = (run->file - 1) / FILES_A_SHARD;

  g_assert_true (dlp_output_file_flush (run->shard, NULL));
  run->finished[shard] = dlp_state_dir_get_attempt (run->dir);
  run->length[shard] = dlp_output_file_get_length (run->shard);
  g_assert_true (dlp_output_file_sync (run->shard, NULL));
  g_clear_pointer (&run->shard, dlp_output_file_free);
}

static void
do_file (Run *run)
{
  g_autofree char *text =
      g_strdup_printf ("file %u: %0*u\n", run->file, (int) (50 + run->file * 37 % 90), 7);
  DlpInputEntry entry = { 0, 0, run->file, (gint64) strlen (text), NULL, text };
  g_autoptr (GError) error = NULL;
  g_autoptr (DlpInputEntry) known = dlp_state_dir_find_input (run->dir, 0, 0, run->file, &error);

  g_assert_no_error (error);
  g_assert_null (known);
  g_assert_true (dlp_state_dir_add_input (run->dir, &entry, NULL));
  if (run->shard == NULL)
    {
      g_autofree char *path = shard_path (run, run->file / FILES_A_SHARD);

      /* Left by an attempt that got here, and whose checkpoint did not. */
      g_assert_true (dlp_output_file_clean (path, RUN, 0, NULL));
      run->shard = dlp_output_file_create (path, RUN, dlp_state_dir_get_attempt (run->dir), &error);
      g_assert_no_error (error);
    }

  g_assert_true (dlp_output_file_write (run->shard, text, strlen (text), NULL));
  if (run->file % 2 == 0)
    g_assert_true (dlp_output_file_flush (run->shard, NULL));
  if (++run->file % FILES_A_SHARD == 0)
    finish_shard (run);
}

static void
check_inputs (Run *run)
{
  for (guint32 i = 0; i < N_FILES; i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (DlpInputEntry) known = dlp_state_dir_find_input (run->dir, 0, 0, i, &error);

      g_assert_no_error (error);
      g_assert_cmpint (known != NULL, ==, i < run->file);
    }
}

static void
restore_shard (Run *run, guint former, guint64 length)
{
  g_autofree char *path = shard_path (run, run->file / FILES_A_SHARD);
  g_autoptr (GError) error = NULL;

  run->shard = dlp_output_file_resume (path, RUN, dlp_state_dir_get_attempt (run->dir), former,
                                       dlp_state_dir_former_is_dead (run->dir), length, &error);
  g_assert_no_error (error);
  g_assert_true (dlp_output_file_clean (path, RUN, dlp_state_dir_get_attempt (run->dir), NULL));
}

static void
restore (Run *run)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GVariant) payload = dlp_state_dir_load (run->dir, NULL, NULL, &error);
  g_autoptr (GVariant) attempts = NULL;
  g_autoptr (GVariant) lengths = NULL;
  guint64 length, inputs_length, inputs_hash;
  guint attempt;
  gboolean is_open;
  gsize n;

  g_assert_no_error (error);
  if (payload == NULL)
    return;

  g_assert_true (g_variant_lookup (payload, "file", "u", &run->file));
  g_assert_true (g_variant_lookup (payload, "attempt", "u", &attempt));
  g_assert_true (g_variant_lookup (payload, "open", "b", &is_open));
  g_assert_true (g_variant_lookup (payload, "length", "t", &length));
  g_assert_true (g_variant_lookup (payload, "published", "u", &run->n_published));
  g_assert_true (g_variant_lookup (payload, "inputs-length", "t", &inputs_length));
  g_assert_true (g_variant_lookup (payload, "inputs-hash", "t", &inputs_hash));
  attempts = g_variant_lookup_value (payload, "attempts", G_VARIANT_TYPE ("au"));
  lengths = g_variant_lookup_value (payload, "lengths", G_VARIANT_TYPE ("at"));
  memcpy (run->finished, g_variant_get_fixed_array (attempts, &n, 4), sizeof run->finished);
  memcpy (run->length, g_variant_get_fixed_array (lengths, &n, 8), sizeof run->length);

  dlp_state_dir_restore_inputs (run->dir, inputs_length, inputs_hash, &error);
  g_assert_no_error (error);
  check_inputs (run);
  run->n_publishable = run->n_published;
  if (is_open)
    restore_shard (run, attempt, length);
}

static void
move_lock (const char *state)
{
  g_autofree char *path = g_build_filename (state, "lock", NULL);
  g_autofree char *text = NULL;
  g_autoptr (GString) moved = NULL;

  faults_set_fs_type (NFS_SUPER_MAGIC);
  if (!g_file_get_contents (path, &text, NULL, NULL))
    return;
  moved = g_string_new (text);
  g_string_replace (moved, "\nboot=", "\nboot=x", 1);
  g_assert_true (g_file_set_contents (path, moved->str, -1, NULL));
}

static void
do_run (gpointer user_data)
{
  const Crash *crash = user_data;
  Run run = { 0 };
  g_autofree char *state = g_build_filename (crash->folder, "state", NULL);

  run.folder = g_strdup (crash->folder);
  if (crash->moves)
    move_lock (state);
  faults_crash_at (crash->nth, crash->how);
  run.dir = dlp_state_dir_open (state, NULL);
  g_assert_nonnull (run.dir);
  restore (&run);
  while (run.file < N_FILES)
    {
      do_file (&run);
      if (run.file % FILES_A_CHECKPOINT == 0)
        checkpoint (&run);
    }
  if (run.shard != NULL)
    finish_shard (&run);
  checkpoint (&run);
  publish_up_to (&run, (N_FILES + FILES_A_SHARD - 1) / FILES_A_SHARD);
  dlp_state_dir_free (run.dir);
  g_free (run.folder);
}

static char *
read_outputs (const char *folder)
{
  g_autofree char *data = g_build_filename (folder, "data", NULL);
  g_autofree char *names = faults_list_folder (data);
  g_auto (GStrv) list = g_strsplit (names, " ", -1);
  GString *all = g_string_new (NULL);

  for (guint i = 0; list[i] != NULL; i++)
    {
      g_autofree char *path = g_build_filename (data, list[i], NULL);
      g_autofree char *contents = NULL;

      g_assert_true (g_file_get_contents (path, &contents, NULL, NULL));
      g_string_append_printf (all, "%s:\n%s", list[i], contents);
    }
  return g_string_free (all, FALSE);
}

static char *
run_undisturbed (void)
{
  g_autofree char *folder = faults_make_folder ();
  Crash crash = { folder, G_MAXUINT / 2, FAULTS_KILL, FALSE };
  char *outputs;

  g_assert_cmpint (faults_run_child (do_run, &crash), ==, 0);
  outputs = read_outputs (folder);
  faults_remove_folder (g_steal_pointer (&folder));
  return outputs;
}

/* Ends a run before call @first, the next one before call @second of its own, if there are as many,
 * and so on every @second calls; then lets it end. How many were ended. */
static guint
run_disturbed (const char *expected, Crash crash, guint second, guint limit)
{
  g_autofree char *folder = faults_make_folder ();
  g_autofree char *outputs = NULL;
  guint first = crash.nth;
  guint n = 0;

  crash.folder = folder;
  while (faults_run_child (do_run, &crash) == FAULTS_CRASHED)
    crash.nth = ++n < limit ? second : G_MAXUINT / 2;

  outputs = read_outputs (folder);
  if (strcmp (outputs, expected) != 0)
    g_error ("ended before call %u, then %u: %s", first, second, outputs);
  faults_remove_folder (g_steal_pointer (&folder));
  return n;
}

static const Crash kinds[] = {
  { NULL, 0, FAULTS_KILL, FALSE },
  { NULL, 0, FAULTS_POWER, FALSE },
  { NULL, 0, FAULTS_KILL, TRUE },
  { NULL, 0, FAULTS_POWER, TRUE },
};

static void
test_once (gconstpointer user_data)
{
  g_autofree char *expected = run_undisturbed ();
  Crash crash = *(const Crash *) user_data;

  g_assert_nonnull (strstr (expected, "out_00003.bin:\nfile 21"));
  while (run_disturbed (expected, crash, 0, 1) > 0)
    crash.nth = test_get_next (crash.nth);
  g_assert_cmpuint (crash.nth, >, 60);
}

static guint
get_step (void)
{
  const char *scale = g_getenv ("DLPIPE_TEST_SCALE");

  return (guint) CLAMP (8 / (scale != NULL ? g_ascii_strtod (scale, NULL) : 1), 1, 30);
}

static void
test_again_and_again (gconstpointer user_data)
{
  g_autofree char *expected = run_undisturbed ();
  Crash crash = *(const Crash *) user_data;

  for (guint first = 0; first < 60; first += get_step ())
    for (guint second = 1 + first % 3; second < 30; second += get_step ())
      {
        crash.nth = first;
        run_disturbed (expected, crash, second, 12);
      }
}

int
main (int argc, char **argv)
{
  static const char *const names[] = { "kill", "power", "kill-and-move", "power-and-move" };

  g_test_init (&argc, &argv, NULL);
  faults_reset ();
  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    {
      g_autofree char *once = g_strconcat ("/resume/once/", names[i], NULL);
      g_autofree char *again = g_strconcat ("/resume/again/", names[i], NULL);

      g_test_add_data_func (once, &kinds[i], test_once);
      g_test_add_data_func (again, &kinds[i], test_again_and_again);
    }
  return g_test_run ();
}
