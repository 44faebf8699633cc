/* SPDX-License-Identifier: MIT */

#include "faults.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_FILES 256
#define MAX_RENAMES 64

typedef struct
{
  int fd; /* a copy of its own */
  dev_t dev;
  ino_t ino;
  off_t synced;
} File;

typedef struct
{
  int folder;
  ino_t folder_ino;
  char from[256], to[256];
} Rename;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static GString *trace;
static char last_call[32];
static guint count;
static guint crash_at = G_MAXUINT;
static FaultsCrash crash_how;
static char fail_call[32];
static int fail_code;
static gboolean fail_always;
static guint rename_limit;
static gsize short_size;
static gboolean interrupted;
static long fs_type;
static File files[MAX_FILES];
static guint n_files;
static Rename renames[MAX_RENAMES];
static guint n_renames;

static void
forget_files (void)
{
  for (guint i = 0; i < n_files; i++)
    close (files[i].fd);
  for (guint i = 0; i < n_renames; i++)
    close (renames[i].folder);
  n_files = 0;
  n_renames = 0;
}

void
faults_reset (void)
{
  if (trace == NULL)
    trace = g_string_new (NULL);
  g_string_truncate (trace, 0);
  last_call[0] = '\0';
  count = 0;
  crash_at = G_MAXUINT;
  fail_call[0] = '\0';
  fail_code = 0;
  short_size = 0;
  rename_limit = 0;
  fs_type = 0;
  forget_files ();
}

const char *
faults_get_trace (void)
{
  return trace->str;
}

guint
faults_get_count (void)
{
  return count;
}

void
faults_crash_at (guint nth, FaultsCrash how)
{
  crash_at = count + nth;
  crash_how = how;
}

static void
set_failure (const char *call, int code, gboolean always)
{
  g_strlcpy (fail_call, call, sizeof fail_call);
  fail_code = code;
  fail_always = always;
}

void
faults_fail_next (const char *call, int code)
{
  set_failure (call, code, FALSE);
}

void
faults_fail_all (const char *call, int code)
{
  set_failure (call, code, TRUE);
}

void
faults_shorten_writes (gsize size)
{
  short_size = size;
  interrupted = FALSE;
}

void
faults_limit_renames (guint limit)
{
  rename_limit = limit;
}

void
faults_set_fs_type (long type)
{
  fs_type = type;
}

static void
lose_power (void)
{
  for (guint i = n_renames; i-- > 0;)
    syscall (SYS_renameat, renames[i].folder, renames[i].to, renames[i].folder, renames[i].from);
  for (guint i = 0; i < n_files; i++)
    {
      struct stat st;

      if (fstat (files[i].fd, &st) == 0 && st.st_size > files[i].synced)
        syscall (SYS_ftruncate, files[i].fd, files[i].synced);
    }
}

/* Under the mutex, also what the caller does then: whether the call shall fail, errno is set. */
static gboolean
enter (const char *call)
{
  if (count++ == crash_at)
    {
      if (crash_how == FAULTS_POWER)
        lose_power ();
      _exit (FAULTS_CRASHED);
    }

  if (trace != NULL && strcmp (last_call, call) != 0)
    {
      g_string_append_printf (trace, "%s%s", trace->len > 0 ? " " : "", call);
      g_strlcpy (last_call, call, sizeof last_call);
    }

  if (fail_code == 0 || strcmp (fail_call, call) != 0)
    return FALSE;
  errno = fail_code;
  if (!fail_always)
    fail_code = 0;
  return TRUE;
}

static File *
find_file (int fd)
{
  struct stat st;

  if (crash_at == G_MAXUINT || fstat (fd, &st) != 0)
    return NULL;

  for (guint i = 0; i < n_files; i++)
    if (files[i].dev == st.st_dev && files[i].ino == st.st_ino)
      return &files[i];

  g_assert_cmpuint (n_files, <, MAX_FILES);
  files[n_files].fd = fcntl (fd, F_DUPFD_CLOEXEC, 500);
  files[n_files].dev = st.st_dev;
  files[n_files].ino = st.st_ino;
  /* Whatever was there when it is first seen was there when the child began. */
  files[n_files].synced = st.st_size;
  return &files[n_files++];
}

static int
note_sync (int fd)
{
  File *file = find_file (fd);
  struct stat st;

  if (file != NULL && fstat (fd, &st) == 0)
    file->synced = st.st_size;
  return 0;
}

static void
note_folder_sync (int fd)
{
  struct stat st;
  guint kept = 0;

  if (fstat (fd, &st) != 0)
    return;

  for (guint i = 0; i < n_renames; i++)
    if (renames[i].folder_ino == st.st_ino)
      close (renames[i].folder);
    else
      renames[kept++] = renames[i];
  n_renames = kept;
}

static void
note_rename (int folder, const char *from, const char *to, gboolean was_free)
{
  struct stat st;
  Rename *entry = &renames[n_renames];

  if (crash_at == G_MAXUINT || !was_free || fstat (folder, &st) != 0)
    return;

  g_assert_cmpuint (n_renames, <, MAX_RENAMES);
  entry->folder = fcntl (folder, F_DUPFD_CLOEXEC, 500);
  entry->folder_ino = st.st_ino;
  g_strlcpy (entry->from, from, sizeof entry->from);
  g_strlcpy (entry->to, to, sizeof entry->to);
  n_renames++;
}

ssize_t
pwrite (int fd, const void *data, size_t size, off_t offset)
{
  ssize_t n = -1;

  pthread_mutex_lock (&mutex);
  if (!enter ("pwrite"))
    {
      interrupted = short_size > 0 && !interrupted;
      if (interrupted)
        {
          errno = EINTR;
        }
      else
        {
          find_file (fd);
          n = syscall (SYS_pwrite64, fd, data, short_size > 0 ? MIN (size, short_size) : size,
                       offset);
        }
    }
  pthread_mutex_unlock (&mutex);
  return n;
}

ssize_t
copy_file_range (int from, loff_t *in, int to, loff_t *out, size_t size, unsigned flags)
{
  ssize_t n = -1;

  pthread_mutex_lock (&mutex);
  if (!enter ("copy_file_range"))
    {
      find_file (to);
      n = syscall (SYS_copy_file_range, from, in, to, out, size, flags);
    }
  pthread_mutex_unlock (&mutex);
  return n;
}

int
ftruncate (int fd, off_t length)
{
  int result = -1;

  pthread_mutex_lock (&mutex);
  if (!enter ("ftruncate"))
    {
      File *file = find_file (fd);

      result = (int) syscall (SYS_ftruncate, fd, length);
      if (file != NULL && result == 0)
        file->synced = MIN (file->synced, length);
    }
  pthread_mutex_unlock (&mutex);
  return result;
}

int
fdatasync (int fd)
{
  int result;

  pthread_mutex_lock (&mutex);
  result = enter ("fdatasync") ? -1 : note_sync (fd);
  pthread_mutex_unlock (&mutex);
  return result;
}

int
fsync (int fd)
{
  int result = -1;

  pthread_mutex_lock (&mutex);
  if (!enter ("fsync"))
    {
      note_folder_sync (fd);
      result = 0;
    }
  pthread_mutex_unlock (&mutex);
  return result;
}

int
renameat (int from_folder, const char *from, int to_folder, const char *to)
{
  int result = -1;
  struct stat st;

  pthread_mutex_lock (&mutex);
  if (!enter ("renameat"))
    {
      gboolean was_free = fstatat (to_folder, to, &st, AT_SYMLINK_NOFOLLOW) != 0;

      result = (int) syscall (SYS_renameat, from_folder, from, to_folder, to);
      if (result == 0)
        note_rename (to_folder, from, to, was_free);
    }
  pthread_mutex_unlock (&mutex);
  return result;
}

int
renameat2 (int from_folder, const char *from, int to_folder, const char *to, unsigned flags)
{
  int result = -1;

  pthread_mutex_lock (&mutex);
  if (!enter ("renameat2"))
    {
      errno = EINVAL;
      if (rename_limit == 0)
        result = (int) syscall (SYS_renameat2, from_folder, from, to_folder, to, flags);
      if (result == 0)
        note_rename (to_folder, from, to, TRUE);
    }
  pthread_mutex_unlock (&mutex);
  return result;
}

int
linkat (int from_folder, const char *from, int to_folder, const char *to, int flags)
{
  int result = -1;

  pthread_mutex_lock (&mutex);
  errno = EPERM;
  if (!enter ("linkat") && rename_limit < 2)
    result = (int) syscall (SYS_linkat, from_folder, from, to_folder, to, flags);
  pthread_mutex_unlock (&mutex);
  return result;
}

int
unlinkat (int folder, const char *name, int flags)
{
  int result = -1;

  pthread_mutex_lock (&mutex);
  if (!enter ("unlinkat"))
    result = (int) syscall (SYS_unlinkat, folder, name, flags);
  pthread_mutex_unlock (&mutex);
  return result;
}

int
flock (int fd, int operation)
{
  if (fail_code != 0 && strcmp (fail_call, "flock") == 0)
    {
      errno = fail_code;
      return -1;
    }
  return (int) syscall (SYS_flock, fd, operation);
}

int
fstatfs (int fd, struct statfs *st)
{
  int result = (int) syscall (SYS_fstatfs, fd, st);

  if (result == 0 && fs_type != 0)
    st->f_type = fs_type;
  return result;
}

char *
faults_make_folder (void)
{
  g_autoptr (GError) error = NULL;
  char *path = g_dir_make_tmp ("dlpipe-test-XXXXXX", &error);

  g_assert_no_error (error);
  return path;
}

void
faults_remove_folder (char *path)
{
  char *argv[] = { (char *) "rm", (char *) "-rf", (char *) "--", path, NULL };
  g_autoptr (GError) error = NULL;

  g_spawn_sync (NULL, argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL, NULL, NULL, &error);
  g_assert_no_error (error);
  g_free (path);
}

static int
compare_names (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *) a, *(const char *const *) b);
}

char *
faults_list_folder (const char *path)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GError) error = NULL;
  g_autoptr (GDir) dir = g_dir_open (path, 0, &error);
  const char *name;

  g_assert_no_error (error);
  while ((name = g_dir_read_name (dir)) != NULL)
    g_ptr_array_add (names, g_strdup (name));
  g_ptr_array_sort (names, compare_names);
  g_ptr_array_add (names, NULL);

  return g_strjoinv (" ", (char **) names->pdata);
}

int
faults_run_child (void (*func) (gpointer data), gpointer data)
{
  int status = 0;
  pid_t pid;

  fflush (NULL);
  pid = fork ();
  g_assert_cmpint (pid, >=, 0);
  if (pid == 0)
    {
      func (data);
      _exit (0);
    }

  g_assert_cmpint (TEMP_FAILURE_RETRY (waitpid (pid, &status, 0)), ==, pid);
  g_assert_true (WIFEXITED (status));
  return WEXITSTATUS (status);
}
