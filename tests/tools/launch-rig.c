/* SPDX-License-Identifier: MIT */

#include "launch-rig.h"

#include <stdarg.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define LONGEST (120 * G_USEC_PER_SEC)
#define POLL_US 500

static char *program;
static const char *data_dir;

void
launch_rig_init (int argc, char **argv)
{
  if (argc != 3)
    g_error ("usage: %s PROGRAM DATA", argv[0]);
  /* Runs have another working directory. */
  program = g_canonicalize_filename (argv[1], NULL);
  data_dir = g_canonicalize_filename (argv[2], NULL);
}

void
launch_rig_set_program (const char *path)
{
  g_free (program);
  program = g_canonicalize_filename (path, NULL);
}

const char *
launch_rig_get_program (void)
{
  return program;
}

const char *
launch_rig_get_data (void)
{
  return data_dir;
}

LaunchRig *
launch_rig_new (void)
{
  LaunchRig *self = g_new0 (LaunchRig, 1);
  g_autoptr (GError) error = NULL;

  self->dir = g_dir_make_tmp ("dlpipe-launch-XXXXXX", &error);
  g_assert_no_error (error);
  return self;
}

void
launch_rig_remove (const char *path)
{
  g_autoptr (GDir) dir = g_dir_open (path, 0, NULL);
  const char *name;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *child = g_build_filename (path, name, NULL);

      /* Never through a link: what it leads to is not ours. Runs write no deep trees. */
      if (!g_file_test (child, G_FILE_TEST_IS_SYMLINK) && g_file_test (child, G_FILE_TEST_IS_DIR))
        launch_rig_remove (child);
      else
        remove (child);
    }
  remove (path);
}

void
launch_rig_clear (LaunchRig *self)
{
  launch_rig_remove (self->dir);
  g_assert_cmpint (g_mkdir_with_parents (self->dir, 0700), ==, 0);
}

void
launch_rig_free (LaunchRig *self)
{
  if (self->pid != 0)
    {
      kill (self->pid, SIGKILL);
      waitpid (self->pid, NULL, 0);
    }
  launch_rig_remove (self->dir);
  g_free (self->dir);
  g_free (self->out);
  g_free (self->err);
  g_free (self);
}

char *
launch_rig_path (LaunchRig *self, const char *name)
{
  return g_build_filename (self->dir, name, NULL);
}

void
launch_rig_write (LaunchRig *self, const char *name, const char *text, gssize size)
{
  g_autofree char *path = launch_rig_path (self, name);
  g_autoptr (GError) error = NULL;

  g_file_set_contents (path, text, size, &error);
  g_assert_no_error (error);
}

void
launch_rig_write_records (LaunchRig *self, const char *name, guint n)
{
  g_autoptr (GString) text = g_string_new (NULL);

  for (guint i = 0; i < n; i++)
    g_string_append_printf (text, "{\"text\": \"record %u\"}\n", i);
  launch_rig_write (self, name, text->str, -1);
}

char *
launch_rig_hash (LaunchRig *self, const char *name)
{
  g_autofree char *path = launch_rig_path (self, name);
  g_autofree char *text = NULL;
  g_autoptr (GError) error = NULL;
  gsize size;

  g_file_get_contents (path, &text, &size, &error);
  g_assert_no_error (error);
  return g_compute_checksum_for_data (G_CHECKSUM_SHA256, (const guint8 *) text, size);
}

static int
compare_names (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *) a, *(const char *const *) b);
}

char *
launch_rig_list (LaunchRig *self, const char *name)
{
  g_autofree char *path = name != NULL ? launch_rig_path (self, name) : g_strdup (self->dir);
  g_autoptr (GDir) dir = g_dir_open (path, 0, NULL);
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  const char *entry;

  g_assert_nonnull (dir);
  while ((entry = g_dir_read_name (dir)) != NULL)
    g_ptr_array_add (names, g_strdup (entry));
  g_ptr_array_sort (names, compare_names);
  g_ptr_array_add (names, NULL);
  return g_strjoinv (" ", (char **) names->pdata);
}

/* ---- runs ---- */

/* A file without a name, beside the folder: no pipe fills up, and no listing shows it. */
static int
open_output (LaunchRig *self, const char *suffix)
{
  g_autofree char *path = g_strconcat (self->dir, suffix, NULL);
  int fd = open (path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

  g_assert_cmpint (fd, >=, 0);
  unlink (path);
  return fd;
}

/* In the child: one whose test was killed is not left behind. */
static void
begin_child (gpointer data)
{
  GSpawnChildSetupFunc *setup = data;

  prctl (PR_SET_PDEATHSIG, SIGKILL);
  if (*setup != NULL)
    (*setup) (NULL);
}

void
launch_rig_start (LaunchRig *self, const char *const *arguments, GSpawnChildSetupFunc setup)
{
  g_autoptr (GPtrArray) argv = g_ptr_array_new ();
  g_autoptr (GError) error = NULL;
  GPid pid;

  g_assert_cmpint (self->pid, ==, 0);
  g_ptr_array_add (argv, (gpointer) program);
  for (guint i = 0; arguments[i] != NULL; i++)
    g_ptr_array_add (argv, (gpointer) arguments[i]);
  g_ptr_array_add (argv, NULL);

  self->fd_out = open_output (self, ".out");
  self->fd_err = open_output (self, ".err");
  g_spawn_async_with_fds (self->dir, (char **) argv->pdata, NULL, G_SPAWN_DO_NOT_REAP_CHILD,
                          begin_child, &setup, &pid, -1, self->fd_out, self->fd_err, &error);
  g_assert_no_error (error);
  self->pid = pid;
}

static char *
read_output (int *fd)
{
  GString *text = g_string_new (NULL);
  char buffer[4096];
  gssize n;

  lseek (*fd, 0, SEEK_SET);
  while ((n = read (*fd, buffer, sizeof buffer)) > 0)
    g_string_append_len (text, buffer, n);
  close (*fd);
  *fd = -1;
  return g_string_free (text, FALSE);
}

gboolean
launch_rig_wait (LaunchRig *self, gint64 us)
{
  gint64 until = g_get_monotonic_time () + us;
  int status;

  while (waitpid (self->pid, &status, WNOHANG) == 0)
    {
      if (g_get_monotonic_time () >= until)
        return FALSE;
      g_usleep (POLL_US);
    }
  self->pid = 0;
  self->exit_code = WIFEXITED (status) ? WEXITSTATUS (status) : -1;
  self->killed_by = WIFSIGNALED (status) ? WTERMSIG (status) : 0;
  g_free (self->out);
  g_free (self->err);
  self->out = read_output (&self->fd_out);
  self->err = read_output (&self->fd_err);
  return TRUE;
}

void
launch_rig_run (LaunchRig *self, const char *const *arguments)
{
  launch_rig_start (self, arguments, NULL);
  if (!launch_rig_wait (self, LONGEST))
    g_error ("the run hangs");
}

void
launch_rig_expect (LaunchRig *self, int code, ...)
{
  g_autoptr (GPtrArray) arguments = g_ptr_array_new ();
  const char *argument;
  va_list args;

  va_start (args, code);
  while ((argument = va_arg (args, const char *)) != NULL)
    g_ptr_array_add (arguments, (gpointer) argument);
  va_end (args);
  g_ptr_array_add (arguments, NULL);
  launch_rig_run (self, (const char *const *) arguments->pdata);
  if (self->exit_code != code)
    g_error ("exit code %d, not %d, signal %d:\n%s%s", self->exit_code, code, self->killed_by,
             self->out, self->err);
}

void
launch_rig_assert_has (const char *text, const char *part)
{
  if (strstr (text, part) == NULL)
    g_error ("“%s” is not in:\n%s", part, text);
}

void
launch_rig_assert_has_not (const char *text, const char *part)
{
  if (strstr (text, part) != NULL)
    g_error ("“%s” is in:\n%s", part, text);
}

guint
launch_rig_scale (guint n)
{
  const char *scale = g_getenv ("DLPIPE_TEST_SCALE");
  double scaled = scale != NULL ? n * g_ascii_strtod (scale, NULL) : n;

  return MAX ((guint) scaled, 1);
}
