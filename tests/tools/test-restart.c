/* SPDX-License-Identifier: MIT */

/* Everything that may differ when a run is started again, with the outcome that is documented. One
 * state of a run that was stopped serves all cases that are refused: they leave it as it is.
 * Arguments: dlpipe-launch, the folder tests/data. */

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utime.h>

#include <xxhash.h>

#include "launch-rig.h"

#define N_LINES 60000
#define STATE "out.jsonl.dlpipe"
#define GRAPH(weights, model, location)                                                            \
  "file-source location=a*.jsonl ! jsonl-reader ! m.  file-source location=b.jsonl "               \
  "! jsonl-reader ! m.  mix name=m weights=" weights " ! shuffle size=50 ! tokenizer model=" model \
  " ! jsonl-sink location=" location
#define SAME GRAPH ("0.3,0.7", "gpt2", "out.jsonl")

static LaunchRig *rig;
static char *wanted; /* SHA-256 of what an undisturbed run writes */

static void
write_input (const char *name, guint n)
{
  g_autoptr (GString) text = g_string_new (NULL);

  for (guint i = 0; i < n; i++)
    g_string_append_printf (text, "{\"text\": \"%s %u\"}\n", name, i);
  launch_rig_write (rig, name, text->str, (gssize) text->len);
}

/* The number of the newest checkpoint; 0: there is none. */
static guint64
find_newest (void)
{
  g_autofree char *state = launch_rig_path (rig, STATE);
  g_autoptr (GDir) dir = g_dir_open (state, 0, NULL);
  guint64 newest = 0;
  const char *name;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    if (g_str_has_prefix (name, "checkpoint-"))
      newest = MAX (newest, g_ascii_strtoull (name + strlen ("checkpoint-"), NULL, 10));
  return newest;
}

/* The state of a run that was stopped behind its second checkpoint. */
static void
make_state (void)
{
  const char *const arguments[] = { "--checkpoint-every=20ms", "--restart", SAME, NULL };

  for (guint i = 0; i < 20; i++)
    {
      guint64 before = find_newest ();
      gboolean over = FALSE;

      launch_rig_start (rig, arguments, NULL);
      while (find_newest () < before + 2 && !over)
        over = launch_rig_wait (rig, 1000);
      if (!over)
        kill (rig->pid, SIGTERM);
      if (!over)
        g_assert_true (launch_rig_wait (rig, 60 * G_USEC_PER_SEC));
      if (rig->exit_code == 75)
        return;
    }
  g_assert_not_reached ();
}

static void
refuse (const char *graph, const char *option, const char *part)
{
  launch_rig_expect (rig, 3, option, graph, NULL);
  launch_rig_assert_has (rig->err, part);
}

static void
assert_finishes (void)
{
  g_autofree char *hash = NULL;

  launch_rig_expect (rig, 0, "--workers=1", "--memory=64M", "--progress=json", SAME, NULL);
  hash = launch_rig_hash (rig, "out.jsonl");
  g_assert_cmpstr (hash, ==, wanted);
}

static void
test_changed (void)
{
  refuse (SAME, "--seed=1", "the seed was 0 when the run began, is 1");
  refuse (GRAPH ("0.7,0.3", "gpt2", "out.jsonl"), "--progress=none",
          "m: property “weights” was “0.3,0.7” when the run began, is “0.7,0.3”");
  refuse (GRAPH ("0.3,0.7", "cl100k_base", "out.jsonl"), "--progress=none",
          "property “model” was “gpt2” when the run began, is “cl100k_base”");
  refuse ("file-source name=f location=b.jsonl ! jsonl-reader ! null-sink", "--state=" STATE,
          "the graph has an element “f” of kind file-source; the state has none of that name");
}

static void
test_changed_files (void)
{
  g_autofree char *path = launch_rig_path (rig, "a0.jsonl");
  g_autofree char *more = launch_rig_path (rig, "a1.jsonl");
  struct stat st;
  struct timespec before[2];

  write_input ("a1.jsonl", 5);
  refuse (SAME, "--progress=none", "file");
  g_assert_no_errno (unlink (more));

  g_assert_no_errno (stat (path, &st));
  before[0] = st.st_atim;
  before[1] = st.st_mtim;
  g_assert_no_errno (utime (path, &(struct utimbuf){ 1, 1 }));
  refuse (SAME, "--progress=none", "a0.jsonl: changed since it was read: was ");
  g_assert_no_errno (utimensat (AT_FDCWD, path, before, 0));
}

/* A checkpoint of another format, with the right checksum. */
static void
write_version (const char *place, const char *data, gsize size, guint version)
{
  g_autofree char *changed = g_memdup2 (data, size);
  XXH128_canonical_t checksum;

  changed[8] = (char) version;
  XXH128_canonicalFromHash (&checksum, XXH3_128bits (changed, size - sizeof checksum));
  memcpy (changed + size - sizeof checksum, &checksum, sizeof checksum);
  launch_rig_write (rig, place, changed, (gssize) size);
}

/* The newest one counts: a newer program's work is not undone. */
static void
test_versions (void)
{
  const char *place = STATE "/checkpoint-999";
  g_autofree char *path = launch_rig_path (rig, place);
  g_autofree char *newest =
      g_strdup_printf (STATE "/checkpoint-%" G_GUINT64_FORMAT, find_newest ());
  g_autofree char *from = launch_rig_path (rig, newest);
  g_autofree char *data = NULL;
  gsize size;

  g_assert_true (g_file_get_contents (from, &data, &size, NULL));
  write_version (place, data, size, 0);
  refuse (SAME, "--progress=none", "written by an older dlpipe, format 0, this one reads 1");
  write_version (place, data, size, 2);
  refuse (SAME, "--progress=none", "written by a newer dlpipe, format 2, this one reads 1");
  g_assert_no_errno (unlink (path));
}

/* What may change does. */
static void
test_goes_on (void)
{
  assert_finishes ();
}

static void
empty_checkpoints (void)
{
  g_autofree char *state = launch_rig_path (rig, STATE);
  g_autoptr (GDir) dir = g_dir_open (state, 0, NULL);
  const char *name;

  while ((name = g_dir_read_name (dir)) != NULL)
    if (g_str_has_prefix (name, "checkpoint-"))
      {
        g_autofree char *place = g_build_filename (STATE, name, NULL);

        launch_rig_write (rig, place, "", 0);
      }
}

/* The newest is damaged: the one before does; all are: refused. */
static void
test_damaged (void)
{
  make_state ();
  launch_rig_write (rig, STATE "/checkpoint-999", "DLPSTATE", 8);
  assert_finishes ();
  launch_rig_assert_has (rig->err, "checkpoint-999: cut off");
  make_state ();
  empty_checkpoints ();
  refuse (SAME, "--progress=none", "no checkpoint can be used");
}

/* An empty folder is as none. */
static void
test_empty (void)
{
  g_autofree char *path = launch_rig_path (rig, "empty");
  g_autofree char *hash = NULL;

  g_assert_no_errno (mkdir (path, 0777));
  launch_rig_expect (rig, 0, "--state=empty", GRAPH ("0.3,0.7", "gpt2", "other.jsonl"), NULL);
  hash = launch_rig_hash (rig, "other.jsonl");
  g_assert_cmpstr (hash, ==, wanted);
}

int
main (int argc, char **argv)
{
  int code;

  g_test_init (&argc, &argv, NULL);
  launch_rig_init (argc, argv);
  rig = launch_rig_new ();
  write_input ("a0.jsonl", N_LINES);
  write_input ("b.jsonl", N_LINES);
  launch_rig_expect (rig, 0, "--no-state", GRAPH ("0.3,0.7", "gpt2", "wanted.jsonl"), NULL);
  wanted = launch_rig_hash (rig, "wanted.jsonl");
  make_state ();
  g_test_add_func ("/restart/changed", test_changed);
  g_test_add_func ("/restart/changed-files", test_changed_files);
  g_test_add_func ("/restart/versions", test_versions);
  g_test_add_func ("/restart/goes-on", test_goes_on);
  g_test_add_func ("/restart/damaged", test_damaged);
  g_test_add_func ("/restart/empty", test_empty);
  code = g_test_run ();
  launch_rig_free (rig);
  g_free (wanted);
  return code;
}
