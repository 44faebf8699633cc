/* SPDX-License-Identifier: MIT */

#include "dlp-durable-private.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <dlpipe/dlp-output-file.h>

void
dlp_durable_set_error (GError **error, int code, const char *format, ...)
{
  g_autofree char *what = NULL;
  int io_code = code == EDQUOT ? G_IO_ERROR_NO_SPACE : (int) g_io_error_from_errno (code);
  va_list args;

  va_start (args, format);
  what = g_strdup_vprintf (format, args);
  va_end (args);

  g_set_error (error, G_IO_ERROR, io_code, "%s: %s", what, g_strerror (code));
}

gboolean
dlp_durable_write (int fd,
                   const char *path,
                   gconstpointer data,
                   gsize size,
                   guint64 offset,
                   GError **error)
{
  gsize done = 0;

  while (done < size)
    {
      gssize n = pwrite (fd, (const char *) data + done, size - done, (off_t) (offset + done));

      if (n < 0 && errno == EINTR)
        continue;
      if (n <= 0)
        {
          dlp_durable_set_error (error, n < 0 ? errno : EIO,
                                 "%s: cannot write %" G_GSIZE_FORMAT
                                 " bytes at byte %" G_GUINT64_FORMAT,
                                 path, size - done, offset + done);
          return FALSE;
        }
      done += (gsize) n;
    }

  return TRUE;
}

gssize
dlp_durable_read (int fd,
                  const char *path,
                  gpointer data,
                  gsize size,
                  guint64 offset,
                  GError **error)
{
  gsize done = 0;

  while (done < size)
    {
      gssize n = pread (fd, (char *) data + done, size - done, (off_t) (offset + done));

      if (n < 0 && errno == EINTR)
        continue;
      if (n < 0)
        {
          dlp_durable_set_error (
              error, errno, "%s: cannot read %" G_GSIZE_FORMAT " bytes at byte %" G_GUINT64_FORMAT,
              path, size - done, offset + done);
          return -1;
        }
      if (n == 0)
        break;
      done += (gsize) n;
    }

  return (gssize) done;
}

gboolean
dlp_durable_sync_data (int fd, const char *path, GError **error)
{
  if (TEMP_FAILURE_RETRY (fdatasync (fd)) == 0)
    return TRUE;

  dlp_durable_set_error (error, errno, "%s: cannot be made durable (fdatasync)", path);
  return FALSE;
}

gboolean
dlp_durable_sync_folder (int fd, const char *path, GError **error)
{
  if (TEMP_FAILURE_RETRY (fsync (fd)) == 0)
    return TRUE;

  /* What a file system without a sync of folders answers; there is nothing else that could be done.
   */
  if (errno == EINVAL || errno == EOPNOTSUPP)
    return TRUE;

  dlp_durable_set_error (error, errno, "%s: the folder cannot be made durable (fsync)", path);
  return FALSE;
}

int
dlp_durable_open_folder (const char *path, GError **error)
{
  int fd = TEMP_FAILURE_RETRY (open (path, O_RDONLY | O_DIRECTORY | O_CLOEXEC));

  if (fd < 0)
    dlp_durable_set_error (error, errno, "%s: cannot open the folder", path);

  return fd;
}

static gboolean
sync_folder_of (const char *path, GError **error)
{
  g_autofree char *parent = g_path_get_dirname (path);
  int fd = dlp_durable_open_folder (parent, error);
  gboolean ok;

  if (fd < 0)
    return FALSE;

  ok = dlp_durable_sync_folder (fd, parent, error);
  close (fd);
  return ok;
}

static gboolean
make_one_folder (const char *path, GError **error)
{
  if (mkdir (path, 0777) == 0)
    return sync_folder_of (path, error);
  if (errno == EEXIST && g_file_test (path, G_FILE_TEST_IS_DIR))
    return TRUE;

  dlp_durable_set_error (error, errno == EEXIST ? ENOTDIR : errno, "%s: cannot make the folder",
                         path);
  return FALSE;
}

/* One that was there may have been made by a run that died before it synced the one above. Where
 * that may not be opened, no run of this user has made it. */
static gboolean
sync_found_folder (const char *path, GError **error)
{
  g_autofree char *parent = g_path_get_dirname (path);
  g_autoptr (GError) failure = NULL;

  if (strcmp (parent, path) == 0 || sync_folder_of (path, &failure) ||
      g_error_matches (failure, G_IO_ERROR, G_IO_ERROR_PERMISSION_DENIED))
    return TRUE;

  g_propagate_error (error, g_steal_pointer (&failure));
  return FALSE;
}

gboolean
dlp_durable_make_folder (const char *path, GError **error)
{
  g_autofree char *prefix = g_strdup (path);
  g_autofree char *found = NULL;

  if (g_file_test (path, G_FILE_TEST_IS_DIR))
    return sync_found_folder (path, error);
  for (char *p = prefix; *p != '\0'; p++)
    {
      if (*p != '/' || p == prefix)
        continue;

      *p = '\0';
      if (g_file_test (prefix, G_FILE_TEST_IS_DIR))
        {
          g_free (found);
          found = g_strdup (prefix);
        }
      else if (!make_one_folder (prefix, error))
        return FALSE;
      *p = '/';
    }

  return make_one_folder (path, error) && (found == NULL || sync_found_folder (found, error));
}

GPtrArray *
dlp_durable_list (int folder, const char *path, GError **error)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  int fd = TEMP_FAILURE_RETRY (openat (folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  DIR *dir = fd < 0 ? NULL : fdopendir (fd);
  struct dirent *entry;
  int code;

  if (dir == NULL)
    {
      dlp_durable_set_error (error, errno, "%s: cannot list the folder", path);
      if (fd >= 0)
        close (fd);
      return NULL;
    }

  errno = 0;
  while ((entry = readdir (dir)) != NULL)
    g_ptr_array_add (names, g_strdup (entry->d_name));
  code = errno;
  closedir (dir);

  if (code != 0)
    {
      dlp_durable_set_error (error, code, "%s: cannot list the folder", path);
      return NULL;
    }
  return g_steal_pointer (&names);
}

GBytes *
dlp_durable_load_file (int fd, const char *path, gboolean *damaged, GError **error)
{
  g_autofree char *data = NULL;
  struct stat st;
  gssize n;

  *damaged = FALSE;
  if (fstat (fd, &st) != 0)
    {
      dlp_durable_set_error (error, errno, "%s: cannot read", path);
      return NULL;
    }
  if (!S_ISREG (st.st_mode))
    {
      *damaged = TRUE;
      g_set_error (error, G_IO_ERROR, G_IO_ERROR_NOT_REGULAR_FILE, "%s: is not a regular file",
                   path);
      return NULL;
    }

  data = g_try_malloc ((gsize) st.st_size + 1);
  if (data == NULL)
    {
      dlp_durable_set_error (error, ENOMEM, "%s: cannot read %" G_GINT64_FORMAT " bytes", path,
                             (gint64) st.st_size);
      return NULL;
    }

  n = dlp_durable_read (fd, path, data, (gsize) st.st_size, 0, error);
  *damaged = n < 0;
  if (n < 0)
    return NULL;
  return g_bytes_new_take (g_steal_pointer (&data), (gsize) n);
}

GBytes *
dlp_durable_load (int folder, const char *path, const char *name, gboolean *damaged, GError **error)
{
  g_autofree char *full = g_build_filename (path, name, NULL);
  /* Not blocking: a pipe of that name must not hang the start. */
  int fd = TEMP_FAILURE_RETRY (openat (folder, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  GBytes *bytes;

  *damaged = FALSE;
  if (fd < 0)
    {
      dlp_durable_set_error (error, errno, "%s: cannot open", full);
      return NULL;
    }

  bytes = dlp_durable_load_file (fd, full, damaged, error);
  close (fd);
  return bytes;
}

/* Skips 1 to 10 decimal digits and the dot behind them. */
static const char *
skip_pid (const char *text)
{
  gsize n = strspn (text, "0123456789");

  return n >= 1 && n <= 10 && text[n] == '.' ? text + n + 1 : NULL;
}

static gboolean
is_temporary_tail (const char *text)
{
  const char *rest = skip_pid (text);

  return rest != NULL && strspn (rest, "0123456789abcdef") == 8 && strcmp (rest + 8, ".tmp") == 0;
}

gboolean
dlp_durable_is_temporary (const char *candidate, const char *name)
{
  if (candidate[0] != '.')
    return FALSE;

  if (name != NULL)
    {
      gsize n = strlen (name);

      return strncmp (candidate + 1, name, n) == 0 && candidate[n + 1] == '.' &&
             is_temporary_tail (candidate + n + 2);
    }

  for (const char *dot = strchr (candidate + 1, '.'); dot != NULL; dot = strchr (dot + 1, '.'))
    if (dot > candidate + 1 && is_temporary_tail (dot + 1))
      return TRUE;
  return FALSE;
}

int
dlp_durable_create_temporary (int folder,
                              const char *path,
                              const char *name,
                              char **temporary,
                              GError **error)
{
  for (guint i = 0;; i++)
    {
      g_autofree char *candidate =
          g_strdup_printf (".%s.%u.%08x.tmp", name, (guint) getpid (), g_random_int ());
      int fd = TEMP_FAILURE_RETRY (
          openat (folder, candidate, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666));

      if (fd >= 0)
        {
          *temporary = g_steal_pointer (&candidate);
          return fd;
        }
      if (errno != EEXIST || i == 100)
        {
          dlp_durable_set_error (error, errno, "%s/%s: cannot create", path, candidate);
          return -1;
        }
    }
}

int
dlp_durable_open_scratch (const char *path, GError **error)
{
  int fd = TEMP_FAILURE_RETRY (open (path, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  g_autofree char *temporary = NULL;
  int folder;

  if (fd >= 0)
    return fd;
  /* What file systems and kernels say that have no such thing. */
  if (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL)
    {
      dlp_durable_set_error (error, errno, "%s: cannot make a scratch file", path);
      return -1;
    }
  folder = dlp_durable_open_folder (path, error);
  if (folder < 0)
    return -1;
  fd = dlp_durable_create_temporary (folder, path, "scratch", &temporary, error);
  if (fd >= 0)
    unlinkat (folder, temporary, 0);
  close (folder);
  return fd;
}

gboolean
dlp_durable_rename (int folder, const char *path, const char *from, const char *to, GError **error)
{
  if (renameat (folder, from, folder, to) == 0)
    return TRUE;

  dlp_durable_set_error (error, errno, "%s: cannot rename %s to %s", path, from, to);
  return FALSE;
}

/* As dlp_durable_sync_folder(), with errno. */
static int
sync_names (int folder)
{
  int result = TEMP_FAILURE_RETRY (fsync (folder));

  return result != 0 && (errno == EINVAL || errno == EOPNOTSUPP) ? 0 : result;
}

/* File systems that cannot do it in one call: a second name, and if there is no such thing either,
 * a look before. The first name goes when the second is on disk: a power cut could leave neither.
 */
static int
rename_in_steps (int folder, const char *from, const char *to)
{
  struct stat st;

  if (linkat (folder, from, folder, to, 0) == 0)
    {
      if (sync_names (folder) != 0)
        return -1;
      /* A request that was sent twice finds nothing the second time. */
      return unlinkat (folder, from, 0) == 0 || errno == ENOENT ? 0 : -1;
    }
  if (errno != EPERM && errno != EOPNOTSUPP && errno != ENOSYS && errno != EMLINK)
    return -1;
  if (fstatat (folder, to, &st, AT_SYMLINK_NOFOLLOW) == 0)
    {
      errno = EEXIST;
      return -1;
    }
  return renameat (folder, from, folder, to);
}

gboolean
dlp_durable_rename_new (int folder,
                        const char *path,
                        const char *from,
                        const char *to,
                        GError **error)
{
  int result = renameat2 (folder, from, folder, to, RENAME_NOREPLACE);

  if (result != 0 && (errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP))
    result = rename_in_steps (folder, from, to);
  if (result == 0)
    return TRUE;

  dlp_durable_set_error (error, errno, "%s: cannot rename %s to %s", path, from, to);
  return FALSE;
}

gboolean
dlp_durable_remove (int folder, const char *path, const char *name, GError **error)
{
  if (unlinkat (folder, name, 0) == 0 || errno == ENOENT)
    return TRUE;

  dlp_durable_set_error (error, errno, "%s/%s: cannot remove", path, name);
  return FALSE;
}

static gboolean
write_temporary (int fd,
                 const char *path,
                 gconstpointer data,
                 gsize size,
                 DlpDurability durability,
                 gboolean *sync_failed,
                 GError **error)
{
  if (!dlp_durable_write (fd, path, data, size, 0, error))
    return FALSE;

  if (durability == DLP_DURABLE_FULL && !dlp_durable_sync_data (fd, path, error))
    {
      *sync_failed = TRUE;
      return FALSE;
    }
  return TRUE;
}

gboolean
dlp_durable_replace (int folder,
                     const char *path,
                     const char *name,
                     gconstpointer data,
                     gsize size,
                     DlpDurability durability,
                     gboolean *sync_failed,
                     GError **error)
{
  return dlp_durable_replace_as (folder, path, name, name, data, size, durability, sync_failed,
                                 error);
}

gboolean
dlp_durable_replace_as (int folder,
                        const char *path,
                        const char *stem,
                        const char *name,
                        gconstpointer data,
                        gsize size,
                        DlpDurability durability,
                        gboolean *sync_failed,
                        GError **error)
{
  g_autofree char *temporary = NULL;
  g_autofree char *full = g_build_filename (path, name, NULL);
  gboolean ignored = FALSE;
  gboolean ok;
  int fd = dlp_durable_create_temporary (folder, path, stem, &temporary, error);

  if (sync_failed == NULL)
    sync_failed = &ignored;
  *sync_failed = FALSE;
  if (fd < 0)
    return FALSE;

  ok = write_temporary (fd, full, data, size, durability, sync_failed, error);
  /* Network file systems may tell of a full quota only here. */
  if (close (fd) != 0 && errno != EINTR && ok)
    {
      dlp_durable_set_error (error, errno, "%s: cannot close %" G_GSIZE_FORMAT " bytes written",
                             full, size);
      ok = FALSE;
    }

  if (!ok || !dlp_durable_rename (folder, path, temporary, name, error))
    {
      dlp_durable_remove (folder, path, temporary, NULL);
      return FALSE;
    }

  if (durability == DLP_DURABLE_FULL && !dlp_durable_sync_folder (folder, path, error))
    {
      *sync_failed = TRUE;
      return FALSE;
    }
  return TRUE;
}

gboolean
dlp_write_file_durably (const char *path, gconstpointer data, gsize size, GError **error)
{
  g_autofree char *folder_path = g_path_get_dirname (path);
  g_autofree char *name = g_path_get_basename (path);
  int folder = dlp_durable_open_folder (folder_path, error);
  gboolean ok;

  if (folder < 0)
    return FALSE;

  ok = dlp_durable_replace (folder, folder_path, name, data, size, DLP_DURABLE_FULL, NULL, error);
  close (folder);
  return ok;
}
