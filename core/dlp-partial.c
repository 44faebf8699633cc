/* SPDX-License-Identifier: MIT */

#include "dlp-partial-private.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <dlpipe/dlp-error.h>
#include <dlpipe/dlp-output-file.h>

#include "dlp-durable-private.h"

#define COPY_SIZE ((gsize) 1024 * 1024)
#define SUFFIX ".partial"

/* An output's folder, and its name in it. */
typedef struct
{
  int fd;
  char *path;
  char *name;
} Place;

static gboolean
place_open (Place *place, const char *path, GError **error)
{
  place->path = g_path_get_dirname (path);
  place->name = g_path_get_basename (path);
  place->fd = dlp_durable_open_folder (place->path, error);
  return place->fd >= 0;
}

static void
place_close (Place *place)
{
  if (place->fd >= 0)
    close (place->fd);
  g_free (place->path);
  g_free (place->name);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Place, place_close)
#define PLACE_INIT                                                                                 \
  {                                                                                                \
    -1, NULL, NULL                                                                                 \
  }

static char *
partial_name (const char *final, guint attempt)
{
  return g_strdup_printf (".%s.%u" SUFFIX, final, attempt);
}

char *
dlp_partial_path (const char *path, guint attempt)
{
  g_autofree char *folder = g_path_get_dirname (path);
  g_autofree char *final = g_path_get_basename (path);
  g_autofree char *name = partial_name (final, attempt);

  return g_build_filename (folder, name, NULL);
}

gboolean
dlp_partial_parse (const char *name, const char *final, guint *attempt)
{
  gsize n = strlen (final);
  g_autofree char *digits = NULL;
  guint64 value;

  if (name[0] != '.' || strncmp (name + 1, final, n) != 0 || name[n + 1] != '.' ||
      !g_str_has_suffix (name + n + 2, SUFFIX))
    return FALSE;

  digits = g_strndup (name + n + 2, strlen (name + n + 2) - strlen (SUFFIX));
  if (!g_ascii_isdigit (digits[0]) ||
      !g_ascii_string_to_unsigned (digits, 10, 0, G_MAXUINT, &value, NULL))
    return FALSE;

  *attempt = (guint) value;
  return TRUE;
}

int
dlp_partial_create (const char *path, guint attempt, GError **error)
{
  g_auto (Place) place = PLACE_INIT;
  g_autofree char *folder = g_path_get_dirname (path);
  g_autofree char *name = NULL;

  if (!dlp_durable_make_folder (folder, error) || !place_open (&place, path, error))
    return -1;

  name = partial_name (place.name, attempt);
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
        return fd;
      if (errno != EEXIST || i == 100)
        {
          dlp_durable_set_error (error, errno, "%s/%s: cannot create", place.path, name);
          return -1;
        }
    }
}

static gboolean
size_at (const Place *place, const char *name, guint64 *size)
{
  struct stat st;

  if (fstatat (place->fd, name, &st, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG (st.st_mode))
    return FALSE;

  *size = (guint64) st.st_size;
  return TRUE;
}

/* The unfinished file to go on with: that of @former_attempt. If it is gone, an attempt after it
 * had taken it over, but died before a checkpoint could say so. */
static char *
find_former (const Place *place,
             const char *path,
             guint former_attempt,
             guint64 length,
             GError **error)
{
  g_autofree char *found = partial_name (place->name, former_attempt);
  g_autoptr (GPtrArray) names = NULL;
  guint64 size = 0;
  guint best = former_attempt;

  if (!size_at (place, found, &size))
    {
      names = dlp_durable_list (place->fd, place->path, error);
      if (names == NULL)
        return NULL;
    }

  for (guint i = 0; names != NULL && i < names->len; i++)
    {
      guint attempt;

      if (dlp_partial_parse (names->pdata[i], place->name, &attempt) && attempt > best &&
          size_at (place, names->pdata[i], &size))
        {
          best = attempt;
          g_free (found);
          found = g_strdup (names->pdata[i]);
        }
    }

  if (names != NULL && best == former_attempt)
    g_set_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CHANGED,
                 "%s: its unfinished file %s is missing", path, found);
  else if (size < length)
    g_set_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CHANGED,
                 "%s: its unfinished file %s has %" G_GUINT64_FORMAT
                 " bytes, the checkpoint says %" G_GUINT64_FORMAT,
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
open_former (const Place *place, const char *name, int flags, GError **error)
{
  int fd =
      TEMP_FAILURE_RETRY (openat (place->fd, name, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));

  if (fd < 0)
    dlp_durable_set_error (error, errno, "%s/%s: cannot open", place->path, name);
  return fd;
}

/* The file gets its name when all is on disk, see dlp-partial-private.h. */
static int
resume_copy (const Place *place,
             const char *path,
             const char *former,
             const char *name,
             guint64 length,
             GError **error)
{
  g_autofree char *temporary = NULL;
  gboolean ok;
  int from = open_former (place, former, O_RDONLY, error);
  int to;

  if (from < 0)
    return -1;

  to = dlp_durable_create_temporary (place->fd, place->path, place->name, &temporary, error);
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

static int
resume_in_place (const Place *place,
                 const char *former,
                 const char *name,
                 guint64 length,
                 GError **error)
{
  int fd;

  if (strcmp (former, name) != 0 &&
      !dlp_durable_rename (place->fd, place->path, former, name, error))
    return -1;
  fd = open_former (place, name, O_RDWR, error);
  if (fd < 0)
    return -1;
  if (TEMP_FAILURE_RETRY (ftruncate (fd, (off_t) length)) == 0)
    return fd;

  dlp_durable_set_error (error, errno, "%s/%s: cannot cut to %" G_GUINT64_FORMAT " bytes",
                         place->path, name, length);
  close (fd);
  return -1;
}

int
dlp_partial_resume (const char *path,
                    guint attempt,
                    guint former_attempt,
                    gboolean former_is_dead,
                    guint64 length,
                    GError **error)
{
  g_auto (Place) place = PLACE_INIT;
  g_autofree char *former = NULL;
  g_autofree char *name = NULL;

  if (!place_open (&place, path, error))
    return -1;
  former = find_former (&place, path, former_attempt, length, error);
  if (former == NULL)
    return -1;

  name = partial_name (place.name, attempt);
  if (former_is_dead)
    return resume_in_place (&place, former, name, length, error);
  return resume_copy (&place, path, former, name, length, error);
}

gboolean
dlp_partial_sync_folder (const char *path, GError **error)
{
  g_auto (Place) place = PLACE_INIT;

  return place_open (&place, path, error) && dlp_durable_sync_folder (place.fd, place.path, error);
}

gboolean
dlp_output_file_publish (const char *path, guint attempt, guint64 length, GError **error)
{
  g_auto (Place) place = PLACE_INIT;
  g_autofree char *name = NULL;
  guint64 size = 0;
  gboolean is_unfinished;

  if (!place_open (&place, path, error))
    return FALSE;

  name = partial_name (place.name, attempt);
  is_unfinished = size_at (&place, name, &size);
  if (!is_unfinished && !size_at (&place, place.name, &size))
    {
      g_set_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CHANGED,
                   "%s: neither it nor its unfinished file %s is there", path, name);
      return FALSE;
    }
  if (size != length)
    {
      g_set_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CHANGED,
                   "%s: %s has %" G_GUINT64_FORMAT " bytes, the checkpoint says %" G_GUINT64_FORMAT,
                   path, is_unfinished ? name : "it", size, length);
      return FALSE;
    }

  /* The folder also if it was renamed before: that run may have died before its sync. */
  return (!is_unfinished || dlp_durable_rename (place.fd, place.path, name, place.name, error)) &&
         dlp_durable_sync_folder (place.fd, place.path, error);
}

gboolean
dlp_output_file_clean (const char *path, guint keep_attempt, GError **error)
{
  g_auto (Place) place = PLACE_INIT;
  g_autoptr (GPtrArray) names = NULL;
  g_autofree char *folder = g_path_get_dirname (path);

  if (!g_file_test (folder, G_FILE_TEST_EXISTS))
    return TRUE;
  if (!place_open (&place, path, error))
    return FALSE;
  names = dlp_durable_list (place.fd, place.path, error);
  if (names == NULL)
    return FALSE;

  for (guint i = 0; i < names->len; i++)
    {
      const char *name = names->pdata[i];
      guint attempt = 0;
      gboolean is_partial = dlp_partial_parse (name, place.name, &attempt);

      if (((is_partial && (keep_attempt == 0 || attempt != keep_attempt)) ||
           dlp_durable_is_temporary (name, place.name)) &&
          !dlp_durable_remove (place.fd, place.path, name, error))
        return FALSE;
    }

  return TRUE;
}
