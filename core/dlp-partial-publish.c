/* SPDX-License-Identifier: MIT */

/* What becomes of unfinished files: a final name, or nothing. */

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <dlpipe/dlp-error.h>
#include <dlpipe/dlp-output-file.h>

#include "dlp-durable-private.h"
#include "dlp-partial-private.h"

#define COMPARED (256 * 1024)

static gboolean
have_same_bytes (int x, int y)
{
  g_autofree char *a = g_malloc (2 * COMPARED);
  char *b = a + COMPARED;

  for (guint64 offset = 0;;)
    {
      gssize n = dlp_durable_read (x, "", a, COMPARED, offset, NULL);

      if (n < 0 || dlp_durable_read (y, "", b, COMPARED, offset, NULL) != n ||
          memcmp (a, b, (gsize) n) != 0)
        return FALSE;
      if (n < COMPARED)
        return TRUE;
      offset += (guint64) n;
    }
}

static int
open_regular (const DlpPartialPlace *place, const char *name, struct stat *st)
{
  int fd =
      TEMP_FAILURE_RETRY (openat (place->fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));

  if (fd < 0 || (fstat (fd, st) == 0 && S_ISREG (st->st_mode)))
    return fd;
  close (fd);
  return -1;
}

/* Two names of one file. There are file systems that give each name a number of its own (in user
 * space): what has the same bytes is as good. */
static gboolean
is_same_file (const DlpPartialPlace *place, const char *a, const char *b)
{
  struct stat x, y;
  int at_a = open_regular (place, a, &x);
  int at_b = open_regular (place, b, &y);
  gboolean same = at_a >= 0 && at_b >= 0 &&
                  ((x.st_dev == y.st_dev && x.st_ino == y.st_ino) ||
                   (x.st_size == y.st_size && have_same_bytes (at_a, at_b)));

  if (at_a >= 0)
    close (at_a);
  if (at_b >= 0)
    close (at_b);
  return same;
}

static gboolean
give_name (const DlpPartialPlace *place, const char *name, const char *path, GError **error)
{
  g_autoptr (GError) failure = NULL;

  if (dlp_durable_rename_new (place->fd, place->path, name, place->name, &failure))
    return TRUE;
  if (!g_error_matches (failure, G_IO_ERROR, G_IO_ERROR_EXISTS))
    {
      g_propagate_error (error, g_steal_pointer (&failure));
      return FALSE;
    }

  /* Where a rename that replaces nothing takes two calls, it was ended between them. */
  if (is_same_file (place, name, place->name))
    return dlp_durable_sync_folder (place->fd, place->path, error) &&
           dlp_durable_remove (place->fd, place->path, name, error);
  dlp_partial_set_taken (error, path);
  return FALSE;
}

gboolean
dlp_output_file_publish (const char *path,
                         const char *run_id,
                         guint attempt,
                         guint64 length,
                         GError **error)
{
  g_auto (DlpPartialPlace) place = DLP_PARTIAL_PLACE_INIT;
  g_autofree char *name = NULL;
  guint64 size = 0;
  gboolean is_unfinished;

  g_return_val_if_fail (dlp_partial_is_run_id (run_id), FALSE);

  if (!dlp_partial_place_open (&place, path, error))
    return FALSE;

  name = dlp_partial_name (place.name, run_id, attempt);
  is_unfinished = dlp_partial_get_size (&place, name, &size);
  if (!is_unfinished && !dlp_partial_get_size (&place, place.name, &size))
    {
      g_set_error (
          error, DLP_STATE_ERROR, DLP_STATE_ERROR_CHANGED,
          "%s: neither it nor its unfinished file %s is there, and the run that wrote it was "
          "finished: put it back, or make it again with --restart",
          path, name);
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
  return (!is_unfinished || give_name (&place, name, path, error)) &&
         dlp_durable_sync_folder (place.fd, place.path, error);
}

/* (transfer full) (nullable): names in the folder of @path. No folder: none. */
static GPtrArray *
list_place (DlpPartialPlace *place, const char *path, GError **error)
{
  g_autofree char *folder = g_path_get_dirname (path);

  if (!g_file_test (folder, G_FILE_TEST_EXISTS))
    return g_ptr_array_new ();
  return dlp_partial_place_open (place, path, error) ?
             dlp_durable_list (place->fd, place->path, error) :
             NULL;
}

gboolean
dlp_output_file_clean (const char *path, const char *run_id, guint keep_attempt, GError **error)
{
  g_auto (DlpPartialPlace) place = DLP_PARTIAL_PLACE_INIT;
  g_autoptr (GPtrArray) names = NULL;
  g_autofree char *stem = NULL;
  gboolean removed = FALSE;

  g_return_val_if_fail (run_id == NULL || dlp_partial_is_run_id (run_id), FALSE);

  names = list_place (&place, path, error);
  if (names == NULL)
    return FALSE;

  stem = run_id != NULL && names->len > 0 ? dlp_partial_stem (place.name, run_id) :
                                            g_strdup (place.name);
  for (guint i = 0; i < names->len; i++)
    {
      const char *name = names->pdata[i];
      guint attempt = 0;
      gboolean is_partial =
          run_id != NULL && dlp_partial_parse (name, place.name, run_id, &attempt);

      if (!(is_partial && (keep_attempt == 0 || attempt != keep_attempt)) &&
          !dlp_durable_is_temporary (name, stem))
        continue;
      if (!dlp_durable_remove (place.fd, place.path, name, error))
        return FALSE;
      removed = TRUE;
    }

  /* Nobody looks again once the run is over: a power cut must not bring them back. */
  return !removed || dlp_durable_sync_folder (place.fd, place.path, error);
}

gboolean
dlp_output_file_is_unfinished (const char *name, const char *path, const char *run_id)
{
  g_autofree char *final = g_path_get_basename (path);
  guint attempt;

  return dlp_partial_parse (name, final, run_id, &attempt);
}

gboolean
dlp_partial_exists (const char *path, const char *run_id)
{
  g_auto (DlpPartialPlace) place = DLP_PARTIAL_PLACE_INIT;
  g_autoptr (GPtrArray) names = list_place (&place, path, NULL);
  guint attempt;

  for (guint i = 0; names != NULL && i < names->len; i++)
    if (dlp_partial_parse (names->pdata[i], place.name, run_id, &attempt))
      return TRUE;
  return FALSE;
}

/* ---- of others ---- */

static gboolean
is_locked (const DlpPartialPlace *place, const char *name)
{
  int fd =
      TEMP_FAILURE_RETRY (openat (place->fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  gboolean held;

  if (fd < 0)
    return FALSE;
  held = TEMP_FAILURE_RETRY (flock (fd, LOCK_SH | LOCK_NB)) != 0 && errno == EWOULDBLOCK;
  close (fd);
  return held;
}

static gboolean
is_of_other (const char *name, const DlpPartialPlace *place, const DlpOutputClaim *claim)
{
  guint attempt;

  return dlp_partial_parse (name, place->name, NULL, &attempt) &&
         (claim->run_id == NULL ||
          !dlp_partial_parse (name, place->name, claim->run_id, &attempt)) &&
         (claim->discarded_run_id == NULL ||
          !dlp_partial_parse (name, place->name, claim->discarded_run_id, &attempt));
}

gboolean
dlp_output_file_check_others (const char *path,
                              const DlpOutputClaim *claim,
                              char **left,
                              GError **error)
{
  g_auto (DlpPartialPlace) place = DLP_PARTIAL_PLACE_INIT;
  g_autoptr (GPtrArray) names = list_place (&place, path, error);
  g_autoptr (GString) dead = g_string_new (NULL);

  *left = NULL;
  if (names == NULL)
    return FALSE;

  for (guint i = 0; i < names->len; i++)
    {
      const char *name = names->pdata[i];

      if (!is_of_other (name, &place, claim))
        continue;
      if (is_locked (&place, name))
        {
          g_set_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_FOREIGN_OUTPUT,
                       "%s is being written by another run now (%s): choose another location, or "
                       "wait for its end",
                       path, name);
          return FALSE;
        }
      g_string_append_printf (dead, "%s%s", dead->len > 0 ? ", " : "", name);
    }

  if (dead->len > 0)
    *left =
        g_strdup_printf ("%s: another run was writing it, and has not finished: %s; delete what "
                         "is not to be continued",
                         path, dead->str);
  return TRUE;
}
