/* SPDX-License-Identifier: MIT */

#include <dlpipe/dlp-output-file.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <dlpipe/dlp-error.h>

#include "dlp-durable-private.h"
#include "dlp-element-private.h"
#include "dlp-partial-private.h"

#define BUFFER_SIZE ((gsize) 1024 * 1024)

struct _DlpOutputFile
{
  gint ref_count; /* only bindings hold more than one */
  char *path;
  char *partial;
  int fd;

  /* Of the streaming thread. */
  guint8 *buffer;
  gsize filled;

  atomic_uint_fast64_t written; /* bytes handed to the system */
  atomic_bool failed;           /* error is set */
  pthread_mutex_t mutex;        /* guards what follows */
  GError *error;                /* the first one, which every later call gets */
  gboolean folder_synced;
};

static DlpOutputFile *
dlp_output_file_ref (DlpOutputFile *self)
{
  g_atomic_int_inc (&self->ref_count);
  return self;
}

G_DEFINE_BOXED_TYPE (DlpOutputFile, dlp_output_file, dlp_output_file_ref, dlp_output_file_free)

static gpointer
dlp_output_claim_copy (gpointer from)
{
  DlpOutputClaim *copy = g_memdup2 (from, sizeof *copy);

  copy->run_id = g_strdup (copy->run_id);
  copy->discarded_run_id = g_strdup (copy->discarded_run_id);
  return copy;
}

static void
dlp_output_claim_free (gpointer from)
{
  DlpOutputClaim *self = from;

  g_free ((char *) self->run_id);
  g_free ((char *) self->discarded_run_id);
  g_free (self);
}

G_DEFINE_BOXED_TYPE (DlpOutputClaim, dlp_output_claim, dlp_output_claim_copy, dlp_output_claim_free)

static DlpOutputFile *
output_file_new (const char *path, const char *run_id, guint attempt, int fd, guint64 length)
{
  DlpOutputFile *self = g_new0 (DlpOutputFile, 1);

  self->ref_count = 1;
  self->path = g_strdup (path);
  self->partial = dlp_partial_path (path, run_id, attempt);
  self->fd = fd;
  atomic_init (&self->written, length);
  atomic_init (&self->failed, false);
  pthread_mutex_init (&self->mutex, NULL);

  return self;
}

/* Two runs that begin at the same time see each other here at the latest: first each has its lock,
 * then it looks for others'. It may be that both give way. */
static gboolean
check_alone (DlpOutputFile *self, const char *run_id, GError **error)
{
  const DlpOutputClaim claim = { .run_id = run_id };
  g_autofree char *left = NULL;

  if (dlp_output_file_check_others (self->path, &claim, &left, error))
    return TRUE;
  unlink (self->partial);
  return FALSE;
}

DlpOutputFile *
dlp_output_file_create (const char *path, const char *run_id, guint attempt, GError **error)
{
  g_autoptr (DlpOutputFile) self = NULL;
  int fd;

  g_return_val_if_fail (path != NULL && attempt > 0, NULL);
  g_return_val_if_fail (dlp_partial_is_run_id (run_id), NULL);

  fd = dlp_partial_create (path, run_id, attempt, error);
  if (fd < 0)
    return NULL;
  self = output_file_new (path, run_id, attempt, fd, 0);
  return check_alone (self, run_id, error) ? g_steal_pointer (&self) : NULL;
}

DlpOutputFile *
dlp_output_file_resume (const char *path,
                        const char *run_id,
                        guint attempt,
                        guint former_attempt,
                        gboolean former_is_dead,
                        guint64 length,
                        GError **error)
{
  int fd;

  g_return_val_if_fail (path != NULL && attempt > 0 && former_attempt > 0, NULL);
  g_return_val_if_fail (dlp_partial_is_run_id (run_id), NULL);

  fd = dlp_partial_resume (path, run_id, attempt, former_attempt, former_is_dead, length, error);
  return fd < 0 ? NULL : output_file_new (path, run_id, attempt, fd, length);
}

void
dlp_output_file_free (DlpOutputFile *self)
{
  if (self == NULL || !g_atomic_int_dec_and_test (&self->ref_count))
    return;

  close (self->fd);
  pthread_mutex_destroy (&self->mutex);
  g_clear_error (&self->error);
  g_free (self->buffer);
  g_free (self->partial);
  g_free (self->path);
  g_free (self);
}

/* Takes @failure. */
static gboolean
fail (DlpOutputFile *self, GError *failure, GError **error)
{
  pthread_mutex_lock (&self->mutex);
  if (self->error == NULL)
    self->error = failure;
  else
    g_error_free (failure);
  g_propagate_error (error, g_error_copy (self->error));
  atomic_store_explicit (&self->failed, true, memory_order_release);
  pthread_mutex_unlock (&self->mutex);

  return FALSE;
}

static gboolean
check (DlpOutputFile *self, GError **error)
{
  if (!atomic_load_explicit (&self->failed, memory_order_acquire))
    return TRUE;

  pthread_mutex_lock (&self->mutex);
  g_propagate_error (error, g_error_copy (self->error));
  pthread_mutex_unlock (&self->mutex);
  return FALSE;
}

static gboolean
hand_over (DlpOutputFile *self, gconstpointer data, gsize size, GError **error)
{
  guint64 offset = atomic_load_explicit (&self->written, memory_order_relaxed);
  GError *failure = NULL;

  if (!dlp_durable_write (self->fd, self->path, data, size, offset, &failure))
    return fail (self, failure, error);

  atomic_store_explicit (&self->written, offset + size, memory_order_release);
  dlp_element_note_block ();
  return TRUE;
}

static gboolean
hand_over_buffer (DlpOutputFile *self, GError **error)
{
  gsize size = self->filled;

  self->filled = 0;
  return size == 0 || hand_over (self, self->buffer, size, error);
}

gpointer
dlp_output_file_reserve (DlpOutputFile *self, gsize size, GError **error)
{
  g_return_val_if_fail (size <= BUFFER_SIZE, NULL);

  if (!check (self, error))
    return NULL;
  if (size > BUFFER_SIZE - self->filled && !hand_over_buffer (self, error))
    return NULL;
  if (self->buffer == NULL)
    self->buffer = g_malloc (BUFFER_SIZE);

  return self->buffer + self->filled;
}

void
dlp_output_file_commit (DlpOutputFile *self, gsize used)
{
  g_return_if_fail (used <= BUFFER_SIZE - self->filled);

  self->filled += used;
}

gboolean
dlp_output_file_write (DlpOutputFile *self, gconstpointer data, gsize size, GError **error)
{
  gpointer room;

  if (size >= BUFFER_SIZE)
    return dlp_output_file_flush (self, error) && hand_over (self, data, size, error);

  room = dlp_output_file_reserve (self, size, error);
  if (room == NULL)
    return FALSE;
  if (size > 0)
    memcpy (room, data, size);
  self->filled += size;
  return TRUE;
}

gboolean
dlp_output_file_flush (DlpOutputFile *self, GError **error)
{
  return check (self, error) && hand_over_buffer (self, error);
}

guint64
dlp_output_file_get_length (DlpOutputFile *self)
{
  return atomic_load_explicit (&self->written, memory_order_relaxed) + self->filled;
}

const char *
dlp_output_file_get_path (DlpOutputFile *self)
{
  return self->path;
}

const char *
dlp_output_file_get_partial_path (DlpOutputFile *self)
{
  return self->partial;
}

/* The entry of the file in its folder. */
static gboolean
sync_entry (DlpOutputFile *self, GError **error)
{
  gboolean wanted;

  pthread_mutex_lock (&self->mutex);
  wanted = !self->folder_synced;
  pthread_mutex_unlock (&self->mutex);

  if (wanted && !dlp_partial_sync_folder (self->path, error))
    return FALSE;

  pthread_mutex_lock (&self->mutex);
  self->folder_synced = TRUE;
  pthread_mutex_unlock (&self->mutex);
  return TRUE;
}

/* A checkpoint must not speak of a file that nobody finds again. */
static gboolean
check_in_place (DlpOutputFile *self, GError **error)
{
  struct stat own, named;

  if (fstat (self->fd, &own) == 0 && lstat (self->partial, &named) == 0 &&
      own.st_dev == named.st_dev && own.st_ino == named.st_ino)
    return TRUE;
  g_set_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CHANGED,
               "%s: its unfinished file %s was deleted, moved or replaced while the run wrote to "
               "it; begin anew with --restart",
               self->path, self->partial);
  return FALSE;
}

gboolean
dlp_output_file_sync (DlpOutputFile *self, GError **error)
{
  GError *failure = NULL;

  if (!check (self, error))
    return FALSE;
  if (!check_in_place (self, &failure) || !dlp_durable_sync_data (self->fd, self->path, &failure) ||
      !sync_entry (self, &failure))
    return fail (self, failure, error);

  /* One that failed at the same time may have taken the system's only report of lost data. */
  return check (self, error);
}
