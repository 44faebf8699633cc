/* SPDX-License-Identifier: MIT */

#include "dlp-partial-private.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <dlpipe/dlp-error.h>
#include <dlpipe/dlp-output-file.h>

#include "dlp-durable-private.h"

#define COPY_SIZE ((gsize) 1024 * 1024)
#define SUFFIX ".partial"

gboolean
dlp_partial_place_open (DlpPartialPlace *self, const char *path, GError **error)
{
  self->path = g_path_get_dirname (path);
  self->name = g_path_get_basename (path);
  self->fd = dlp_durable_open_folder (self->path, error);
  return self->fd >= 0;
}

void
dlp_partial_place_close (DlpPartialPlace *self)
{
  if (self->fd >= 0)
    close (self->fd);
  g_free (self->path);
  g_free (self->name);
}

gboolean
dlp_partial_get_size (const DlpPartialPlace *place, const char *name, guint64 *size)
{
  struct stat st;

  if (fstatat (place->fd, name, &st, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG (st.st_mode))
    return FALSE;

  *size = (guint64) st.st_size;
  return TRUE;
}

/* ---- names ---- */

static gsize
measure_run_id (const char *text)
{
  gsize n = strspn (text, "0123456789abcdef");

  return n <= 64 ? n : 0;
}

gboolean
dlp_partial_is_run_id (const char *text)
{
  return text != NULL && text[0] != '\0' && text[measure_run_id (text)] == '\0';
}

char *
dlp_partial_stem (const char *final, const char *run_id)
{
  return g_strdup_printf ("%s.%s", final, run_id);
}

char *
dlp_partial_name (const char *final, const char *run_id, guint attempt)
{
  return g_strdup_printf (".%s.%s.%u" SUFFIX, final, run_id, attempt);
}

char *
dlp_partial_path (const char *path, const char *run_id, guint attempt)
{
  g_autofree char *folder = g_path_get_dirname (path);
  g_autofree char *final = g_path_get_basename (path);
  g_autofree char *name = dlp_partial_name (final, run_id, attempt);

  return g_build_filename (folder, name, NULL);
}

gboolean
dlp_partial_parse (const char *name, const char *final, const char *run_id, guint *attempt)
{
  gsize n = strlen (final);
  g_autofree char *digits = NULL;
  const char *run;
  gsize run_size;
  guint64 value;

  if (name[0] != '.' || strncmp (name + 1, final, n) != 0 || name[n + 1] != '.')
    return FALSE;

  run = name + n + 2;
  run_size = measure_run_id (run);
  if (run_size == 0 || run[run_size] != '.' || !g_str_has_suffix (run + run_size + 1, SUFFIX) ||
      (run_id != NULL && (strlen (run_id) != run_size || strncmp (run_id, run, run_size) != 0)))
    return FALSE;

  run += run_size + 1;
  digits = g_strndup (run, strlen (run) - strlen (SUFFIX));
  if (!g_ascii_isdigit (digits[0]) ||
      !g_ascii_string_to_unsigned (digits, 10, 0, G_MAXUINT, &value, NULL))
    return FALSE;

  *attempt = (guint) value;
  return TRUE;
}

/* ---- creating ---- */

void
dlp_partial_set_taken (GError **error, const char *path)
{
  g_set_error (
      error, DLP_STATE_ERROR, DLP_STATE_ERROR_FOREIGN_OUTPUT,
      "%s is there, and was not written by this run: it is not replaced; move it away, and "
      "a run that has a state goes on with the same command",
      path);
}

static gboolean
check_final (const DlpPartialPlace *place, const char *path, GError **error)
{
  struct stat st;

  if (fstatat (place->fd, place->name, &st, AT_SYMLINK_NOFOLLOW) != 0)
    return TRUE;

  dlp_partial_set_taken (error, path);
  return FALSE;
}

/* FALSE: another process has it. Where there are no locks nobody is kept out. */
static gboolean
take_lock (int fd)
{
  for (guint i = 0;; i++)
    {
      if (TEMP_FAILURE_RETRY (flock (fd, LOCK_EX | LOCK_NB)) == 0 || errno != EWOULDBLOCK)
        return TRUE;
      /* Somebody who only looks has it for a moment. */
      if (i == 20)
        return FALSE;
      g_usleep (1000);
    }
}

int
dlp_partial_create (const char *path, const char *run_id, guint attempt, GError **error)
{
  g_auto (DlpPartialPlace) place = DLP_PARTIAL_PLACE_INIT;
  g_autofree char *folder = g_path_get_dirname (path);
  g_autofree char *name = NULL;

  if (!dlp_durable_make_folder (folder, error) || !dlp_partial_place_open (&place, path, error) ||
      !check_final (&place, path, error))
    return -1;

  name = dlp_partial_name (place.name, run_id, attempt);
  for (guint i = 0;; i++)
    {
      int fd;

      /* Not truncated: a run that is not known to be dead may still write to the one that is there.
       */
      if (!dlp_durable_remove (place.fd, place.path, name, error))
        return -1;
      fd =
          TEMP_FAILURE_RETRY (openat (place.fd, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
      if (fd >= 0)
        {
          take_lock (fd);
          return fd;
        }
      if (errno != EEXIST || i == 100)
        {
          dlp_durable_set_error (error, errno, "%s/%s: cannot create", place.path, name);
          return -1;
        }
    }
}

/* ---- going on ---- */

/* The unfinished file to go on with: that of @former_attempt. If it is gone, an attempt after it
 * had taken it over, but died before a checkpoint could say so. */
static char *
find_former (const DlpPartialPlace *place,
             const char *path,
             const char *run_id,
             guint former_attempt,
             guint64 length,
             GError **error)
{
  g_autofree char *found = dlp_partial_name (place->name, run_id, former_attempt);
  g_autoptr (GPtrArray) names = NULL;
  guint64 size = 0;
  guint best = former_attempt;

  if (!dlp_partial_get_size (place, found, &size))
    {
      names = dlp_durable_list (place->fd, place->path, error);
      if (names == NULL)
        return NULL;
    }

  for (guint i = 0; names != NULL && i < names->len; i++)
    {
      guint attempt;

      if (dlp_partial_parse (names->pdata[i], place->name, run_id, &attempt) && attempt > best &&
          dlp_partial_get_size (place, names->pdata[i], &size))
        {
          best = attempt;
          g_free (found);
          found = g_strdup (names->pdata[i]);
        }
    }

  if (names != NULL && best == former_attempt)
    g_set_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CHANGED,
                 "%s: its unfinished file %s is missing; put it back, or begin anew with --restart",
                 path, found);
  else if (size < length)
    g_set_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CHANGED,
                 "%s: its unfinished file %s has %" G_GUINT64_FORMAT
                 " bytes, the checkpoint says %" G_GUINT64_FORMAT
                 "; put it back, or begin anew with --restart",
                 path, found, size, length);
  else
    return g_steal_pointer (&found);
  return NULL;
}

/* How much of the first @length bytes the kernel copied. */
static guint64
copy_by_kernel (int from, int to, guint64 length)
{
  guint64 done = 0;

  while (done < length)
    {
      loff_t in = (loff_t) done;
      loff_t out = (loff_t) done;
      gsize size = (gsize) MIN (length - done, (guint64) 1 << 30);
      gssize n = TEMP_FAILURE_RETRY (copy_file_range (from, &in, to, &out, size, 0));

      /* Whether it cannot, or cannot here, or there is an error: reading and writing will tell. */
      if (n <= 0)
        break;
      done += (guint64) n;
    }

  return done;
}

static gboolean
copy_prefix (int from,
             const char *from_name,
             int to,
             const char *path,
             guint64 length,
             GError **error)
{
  guint64 done = copy_by_kernel (from, to, length);
  g_autofree char *buffer = done < length ? g_malloc (COPY_SIZE) : NULL;

  while (done < length)
    {
      gssize n = dlp_durable_read (from, from_name, buffer, (gsize) MIN (length - done, COPY_SIZE),
                                   done, error);

      if (n < 0)
        return FALSE;
      if (n == 0)
        {
          g_set_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CHANGED,
                       "%s: its unfinished file %s shrank to %" G_GUINT64_FORMAT
                       " bytes while it was read",
                       path, from_name, done);
          return FALSE;
        }
      if (!dlp_durable_write (to, path, buffer, (gsize) n, done, error))
        return FALSE;
      done += (guint64) n;
    }

  return TRUE;
}

static int
open_former (const DlpPartialPlace *place, const char *name, int flags, GError **error)
{
  int fd =
      TEMP_FAILURE_RETRY (openat (place->fd, name, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));

  if (fd < 0)
    dlp_durable_set_error (error, errno, "%s/%s: cannot open", place->path, name);
  return fd;
}

/* The file gets its name when all is on disk, see dlp-partial-private.h. */
static int
resume_copy (const DlpPartialPlace *place,
             const char *path,
             const char *former,
             const char *name,
             const char *stem,
             guint64 length,
             GError **error)
{
  g_autofree char *temporary = NULL;
  gboolean ok;
  int from = open_former (place, former, O_RDONLY, error);
  int to;

  if (from < 0)
    return -1;

  to = dlp_durable_create_temporary (place->fd, place->path, stem, &temporary, error);
  if (to >= 0)
    take_lock (to);
  ok = to >= 0 && copy_prefix (from, former, to, path, length, error) &&
       dlp_durable_sync_data (to, path, error) &&
       dlp_durable_rename (place->fd, place->path, temporary, name, error);
  close (from);
  if (ok && dlp_durable_sync_folder (place->fd, place->path, error))
    return to;

  if (to >= 0)
    {
      close (to);
      if (!ok)
        dlp_durable_remove (place->fd, place->path, temporary, NULL);
    }
  return -1;
}

/* -1 without an error: somebody has it open all the same, such as a child of the former run. */
static int
resume_in_place (const DlpPartialPlace *place,
                 const char *former,
                 const char *name,
                 guint64 length,
                 GError **error)
{
  int fd = open_former (place, former, O_RDWR, error);
  gboolean ok;

  if (fd < 0)
    return -1;
  if (!take_lock (fd))
    {
      close (fd);
      return -1;
    }

  ok = strcmp (former, name) == 0 ||
       dlp_durable_rename (place->fd, place->path, former, name, error);
  if (ok && TEMP_FAILURE_RETRY (ftruncate (fd, (off_t) length)) == 0)
    return fd;

  if (ok)
    dlp_durable_set_error (error, errno, "%s/%s: cannot cut to %" G_GUINT64_FORMAT " bytes",
                           place->path, name, length);
  close (fd);
  return -1;
}

int
dlp_partial_resume (const char *path,
                    const char *run_id,
                    guint attempt,
                    guint former_attempt,
                    gboolean former_is_dead,
                    guint64 length,
                    GError **error)
{
  g_auto (DlpPartialPlace) place = DLP_PARTIAL_PLACE_INIT;
  g_autoptr (GError) local = NULL;
  g_autofree char *former = NULL;
  g_autofree char *name = NULL;
  g_autofree char *stem = NULL;

  if (!dlp_partial_place_open (&place, path, error) || !check_final (&place, path, error))
    return -1;
  former = find_former (&place, path, run_id, former_attempt, length, error);
  if (former == NULL)
    return -1;

  name = dlp_partial_name (place.name, run_id, attempt);
  stem = dlp_partial_stem (place.name, run_id);
  if (former_is_dead)
    {
      int fd = resume_in_place (&place, former, name, length, &local);

      if (local != NULL)
        g_propagate_error (error, g_steal_pointer (&local));
      else if (fd < 0)
        fd = resume_copy (&place, path, former, name, stem, length, error);
      return fd;
    }
  return resume_copy (&place, path, former, name, stem, length, error);
}

gboolean
dlp_partial_sync_folder (const char *path, GError **error)
{
  g_auto (DlpPartialPlace) place = DLP_PARTIAL_PLACE_INIT;

  return dlp_partial_place_open (&place, path, error) &&
         dlp_durable_sync_folder (place.fd, place.path, error);
}
