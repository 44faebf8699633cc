/* SPDX-License-Identifier: MIT */

/* Who may write to a state folder: one run at a time, and what is known of the former ones. */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/magic.h>

#include "state-dir-rig.h"

static void
assert_locked (const char *path, pid_t holder)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (DlpStateDir) dir = dlp_state_dir_open (path, &error);
  g_autofree char *text = g_strdup_printf ("process %d on %s", (int) holder, g_get_host_name ());

  g_assert_null (dir);
  g_assert_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_LOCKED);
  assert_says (error, text);
}

static void
test_locked_in_process (Fixture *fixture, gconstpointer unused)
{
  g_autoptr (DlpStateDir) dir = open_dir (fixture->path);

  assert_locked (fixture->path, getpid ());
  assert_locked (fixture->path, getpid ());
  g_clear_pointer (&dir, dlp_state_dir_free);
  dir = open_dir (fixture->path);
  g_assert_true (dlp_state_dir_former_is_dead (dir));
  g_assert_cmpuint (dlp_state_dir_get_attempt (dir), ==, 2);
}

/* Until it is killed, or its parent dies. */
static void
wait_for_ever (void)
{
  prctl (PR_SET_PDEATHSIG, SIGKILL);
  for (;;)
    pause ();
}

/* A child that holds the lock. */
static pid_t
fork_holder (const char *path)
{
  int ready[2];
  char byte = 0;
  pid_t pid;

  g_assert_cmpint (pipe (ready), ==, 0);
  pid = fork ();
  if (pid == 0)
    {
      DlpStateDir *dir = open_dir (path);

      g_assert_nonnull (dir);
      if (write (ready[1], "r", 1) != 1)
        _exit (1);
      wait_for_ever ();
    }

  close (ready[1]);
  g_assert_cmpint (read (ready[0], &byte, 1), ==, 1);
  close (ready[0]);
  return pid;
}

static void
test_locked_by_process (Fixture *fixture, gconstpointer unused)
{
  pid_t pid = fork_holder (fixture->path);
  g_autoptr (DlpStateDir) dir = NULL;

  assert_locked (fixture->path, pid);
  kill (pid, SIGKILL);
  g_assert_cmpint (waitpid (pid, NULL, 0), ==, pid);
  dir = open_dir (fixture->path);
  g_assert_true (dlp_state_dir_former_is_dead (dir));
}

/* A child of fork() that outlives its parent's run must not keep its lock, nor give it up by its
 * own end. */
static void
test_fork (Fixture *fixture, gconstpointer unused)
{
  g_autoptr (DlpStateDir) dir = open_dir (fixture->path);
  pid_t pid = fork ();
  int status;

  if (pid == 0)
    wait_for_ever ();

  assert_locked (fixture->path, getpid ());
  g_clear_pointer (&dir, dlp_state_dir_free);
  dir = open_dir (fixture->path);
  kill (pid, SIGKILL);
  g_assert_cmpint (waitpid (pid, NULL, 0), ==, pid);

  pid = fork ();
  if (pid == 0)
    {
      /* Most likely under the number that the lock had. */
      int fd = open ("/dev/null", O_RDONLY | O_CLOEXEC);

      dlp_state_dir_free (g_steal_pointer (&dir));
      _exit (fcntl (fd, F_GETFD) >= 0 ? 0 : 1);
    }
  g_assert_cmpint (waitpid (pid, &status, 0), ==, pid);
  g_assert_cmpint (status, ==, 0);
  assert_locked (fixture->path, getpid ());
}

static void
assert_fenced (DlpStateDir *dir, const char *what)
{
  g_autoptr (GError) error = NULL;

  g_assert_false (dlp_state_dir_save (dir, make_payload (99), &error));
  g_assert_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_FENCED);
  assert_says (error, what);
}

static void
test_fenced (Fixture *fixture, gconstpointer unused)
{
  g_autoptr (DlpStateDir) first = open_dir (fixture->path);
  g_autoptr (DlpStateDir) second = NULL;
  g_autofree char *lock = g_build_filename (fixture->path, "lock", NULL);

  save (first, 1);
  g_assert_cmpint (unlink (lock), ==, 0);
  assert_fenced (first, "removed while this run held it");
  second = open_dir (fixture->path);
  assert_fenced (first, "taken over by another run");
  save (second, 2);
  g_assert_cmpuint (load (second, NULL), ==, 2);

  put_file (fixture, "checkpoint-5", "?", 1);
  assert_fenced (second, "checkpoint-5, this one is at 2");
}

static void
test_remote_file_system (Fixture *fixture, gconstpointer unused)
{
  g_autoptr (DlpStateDir) dir = NULL;

  faults_set_fs_type (NFS_SUPER_MAGIC);
  dlp_state_dir_free (open_dir (fixture->path));
  dir = open_dir (fixture->path);
  g_assert_true (dlp_state_dir_former_is_dead (dir));
  g_clear_pointer (&dir, dlp_state_dir_free);

  /* Of another host nothing is known; nor of whoever came between it and us, until two checkpoints
   * of ours have replaced those that name its files. */
  put_file (fixture, "lock", "dlpipe lock 1\npid=12\nhost=elsewhere\nboot=1-2\nattempt=7\n", -1);
  for (guint i = 0; i < 3; i++)
    {
      dir = open_dir (fixture->path);
      g_assert_false (dlp_state_dir_former_is_dead (dir));
      g_assert_cmpuint (dlp_state_dir_get_attempt (dir), ==, 8 + i);
      if (i > 0)
        save (dir, i);
      if (i == 2)
        save (dir, 3);
      g_clear_pointer (&dir, dlp_state_dir_free);
    }
  dir = open_dir (fixture->path);
  g_assert_true (dlp_state_dir_former_is_dead (dir));
  g_clear_pointer (&dir, dlp_state_dir_free);

  put_file (fixture, "lock", "", 0);
  dir = open_dir (fixture->path);
  g_assert_false (dlp_state_dir_former_is_dead (dir));
}

static void
save_of_attempt (DlpStateDir *dir, guint attempt)
{
  g_autoptr (GError) error = NULL;
  GVariantDict dict;

  g_variant_dict_init (&dict, NULL);
  g_variant_dict_insert (&dict, "attempt", "u", attempt);
  dlp_state_dir_save (dir, g_variant_dict_end (&dict), &error);
  g_assert_no_error (error);
}

/* Checkpoints that a tool puts there name the files of the run that may still live. */
static void
test_changed_by_tool (Fixture *fixture, gconstpointer unused)
{
  g_autoptr (DlpStateDir) dir = NULL;

  faults_set_fs_type (NFS_SUPER_MAGIC);
  dlp_state_dir_free (open_dir (fixture->path));
  put_file (fixture, "lock", "dlpipe lock 1\npid=12\nhost=elsewhere\nboot=1-2\nattempt=7\n", -1);
  for (guint attempt = 7; attempt <= 9; attempt += 2)
    {
      dir = open_dir (fixture->path);
      g_assert_cmpuint (dlp_state_dir_get_attempt (dir), ==, attempt == 7 ? 8 : 9);
      g_assert_false (dlp_state_dir_former_is_dead (dir));
      save_of_attempt (dir, attempt);
      save_of_attempt (dir, attempt);
      g_clear_pointer (&dir, dlp_state_dir_free);
    }
  dir = open_dir (fixture->path);
  g_assert_true (dlp_state_dir_former_is_dead (dir));
}

static gboolean counts_warnings;
static guint n_warnings;

static GLogWriterOutput
count_warning (GLogLevelFlags level, const GLogField *fields, gsize n_fields, gpointer unused)
{
  if (!counts_warnings)
    return g_log_writer_default (level, fields, n_fields, NULL);

  n_warnings++;
  return G_LOG_WRITER_HANDLED;
}

static void
test_no_locks (Fixture *fixture, gconstpointer unused)
{
  g_autoptr (DlpStateDir) first = NULL;
  g_autoptr (DlpStateDir) second = NULL;

  counts_warnings = TRUE;
  faults_fail_all ("flock", ENOLCK);
  first = open_dir (fixture->path);
  save (first, 1);
  second = open_dir (fixture->path);
  counts_warnings = FALSE;
  g_assert_cmpuint (n_warnings, ==, 2);

  g_assert_false (dlp_state_dir_former_is_dead (second));
  g_assert_cmpuint (load (second, NULL), ==, 1);
  assert_fenced (first, "taken over");
  save (second, 2);
}

#define ADD(name, func, data)                                                                      \
  g_test_add ("/state-dir-lock/" name, Fixture, data, set_up, func, tear_down)

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_log_set_writer_func (count_warning, NULL, NULL);
  ADD ("locked-in-process", test_locked_in_process, NULL);
  ADD ("locked-by-process", test_locked_by_process, NULL);
  ADD ("fork", test_fork, NULL);
  ADD ("fenced", test_fenced, NULL);
  ADD ("remote-file-system", test_remote_file_system, NULL);
  ADD ("changed-by-tool", test_changed_by_tool, NULL);
  ADD ("no-locks", test_no_locks, NULL);
  return g_test_run ();
}
