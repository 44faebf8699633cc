/* SPDX-License-Identifier: MIT */

#include "dlp-input-list-private.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include <xxhash.h>

#include "dlp-durable-private.h"
#include "dlp-input-index-private.h"

#define FILE_NAME "inputs"
#define FIRST_LINE "dlpipe inputs 1\n"
#define FIRST_LINE_SIZE (sizeof FIRST_LINE - 1)
#define WRITE_SIZE (64 * 1024)
#define READ_SIZE (1024 * 1024)
#define LINE_SIZE 512

struct _DlpInputList
{
  int folder;
  char *folder_path;
  char *path;

  pthread_mutex_t mutex; /* guards what follows */
  int fd;                /* -1: no file yet */
  gboolean read_only;
  gboolean folder_synced;
  guint64 written; /* bytes of the list in the file */
  guint64 synced;  /* of those, on disk */
  GString *pending;
  XXH64_state_t *hash; /* over the file and what is pending */
  DlpInputIndex index;
  GError *error; /* the first one, which every later call gets */
};

DlpInputList *
dlp_input_list_new (int folder, const char *path)
{
  DlpInputList *self = g_new0 (DlpInputList, 1);

  self->folder = folder;
  self->folder_path = g_strdup (path);
  self->path = g_build_filename (path, FILE_NAME, NULL);
  self->fd = -1;
  self->pending = g_string_new (NULL);
  self->hash = XXH64_createState ();
  XXH64_reset (self->hash, 0);
  pthread_mutex_init (&self->mutex, NULL);

  return self;
}

static void
reset_locked (DlpInputList *self)
{
  if (self->fd >= 0)
    close (self->fd);
  self->fd = -1;
  self->read_only = FALSE;
  self->folder_synced = FALSE;
  self->written = 0;
  self->synced = 0;
  g_string_truncate (self->pending, 0);
  XXH64_reset (self->hash, 0);
  dlp_input_index_clear (&self->index);
  g_clear_error (&self->error);
}

void
dlp_input_list_reset (DlpInputList *self)
{
  pthread_mutex_lock (&self->mutex);
  reset_locked (self);
  pthread_mutex_unlock (&self->mutex);
}

void
dlp_input_list_free (DlpInputList *self)
{
  if (self == NULL)
    return;

  reset_locked (self);
  pthread_mutex_destroy (&self->mutex);
  XXH64_freeState (self->hash);
  g_string_free (self->pending, TRUE);
  g_free (self->path);
  g_free (self->folder_path);
  g_free (self);
}

static guint32
hash_key (guint32 stage, guint32 source, guint32 file)
{
  guint32 key[3] = { stage, source, file };

  return (guint32) XXH64 (key, sizeof key, 0);
}

static gboolean set_corrupt (DlpInputList *self, GError **error, const char *format, ...)
    G_GNUC_PRINTF (3, 4);

static gboolean
set_corrupt (DlpInputList *self, GError **error, const char *format, ...)
{
  g_autofree char *what = NULL;
  va_list args;

  va_start (args, format);
  what = g_strdup_vprintf (format, args);
  va_end (args);

  g_set_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CORRUPT, "%s: %s", self->path, what);
  return FALSE;
}

/* Indexes the whole lines of @data, whose first byte is at @offset; how much that was. -1:
 * malformed. */
static gssize
index_lines (DlpInputList *self, const char *data, gsize size, guint64 offset, GError **error)
{
  gsize done = 0;
  const char *lf;

  while ((lf = memchr (data + done, '\n', size - done)) != NULL)
    {
      gsize line_size = (gsize) (lf - (data + done));
      guint64 line_offset = offset + done;
      guint32 key[3];

      if (line_offset == 0)
        {
          if (line_size + 1 != FIRST_LINE_SIZE || memcmp (data, FIRST_LINE, FIRST_LINE_SIZE) != 0)
            {
              set_corrupt (self, error, "its first line is not “%.*s”", (int) FIRST_LINE_SIZE - 1,
                           FIRST_LINE);
              return -1;
            }
        }
      else if (dlp_input_entry_parse_key (data + done, line_size, key))
        {
          dlp_input_index_add (&self->index, hash_key (key[0], key[1], key[2]), line_offset);
        }
      else
        {
          set_corrupt (self, error, "malformed entry at byte %" G_GUINT64_FORMAT, line_offset);
          return -1;
        }
      done += line_size + 1;
    }

  return (gssize) done;
}

/* Reads, hashes and indexes the first @length bytes of @fd, and copies them to @copy unless that is
 * -1. */
static gboolean
scan (DlpInputList *self, int fd, int copy, guint64 length, GError **error)
{
  gsize capacity = READ_SIZE;
  g_autofree char *buffer = g_malloc (capacity);
  gsize held = 0;
  guint64 offset = 0;

  while (offset < length)
    {
      gssize n, used;

      if (held == capacity)
        buffer = g_realloc (buffer, capacity *= 2);
      n = dlp_durable_read (fd, self->path, buffer + held, MIN (capacity - held, length - offset),
                            offset, error);
      if (n < 0)
        return FALSE;
      if (n == 0)
        return set_corrupt (self, error,
                            "cut off: %" G_GUINT64_FORMAT
                            " bytes, the checkpoint says %" G_GUINT64_FORMAT,
                            offset, length);
      if (copy >= 0 &&
          !dlp_durable_write (copy, self->path, buffer + held, (gsize) n, offset, error))
        return FALSE;

      XXH64_update (self->hash, buffer + held, (gsize) n);
      held += (gsize) n;
      offset += (guint64) n;
      used = index_lines (self, buffer, held, offset - held, error);
      if (used < 0)
        return FALSE;
      held -= (gsize) used;
      memmove (buffer, buffer + used, held);
    }

  return held == 0 ||
         set_corrupt (self, error,
                      "its first %" G_GUINT64_FORMAT " bytes do not end with a whole entry",
                      length);
}

static gboolean
scan_and_check (DlpInputList *self, int fd, int copy, guint64 length, guint64 hash, GError **error)
{
  if (!scan (self, fd, copy, length, error))
    return FALSE;

  if (XXH64_digest (self->hash) != hash)
    return set_corrupt (self, error,
                        "its first %" G_GUINT64_FORMAT
                        " bytes are not those of the checkpoint: their "
                        "hash is %016" G_GINT64_MODIFIER "x, not %016" G_GINT64_MODIFIER "x",
                        length, (guint64) XXH64_digest (self->hash), hash);
  return TRUE;
}

static int
open_file (DlpInputList *self, int flags, GError **error)
{
  int fd = TEMP_FAILURE_RETRY (openat (self->folder, FILE_NAME, flags | O_CLOEXEC | O_NONBLOCK));

  if (fd < 0 && errno == ENOENT)
    set_corrupt (self, error, "missing, the checkpoint needs it");
  else if (fd < 0)
    dlp_durable_set_error (error, errno, "%s: cannot open", self->path);
  return fd;
}

/* Begins @self->fd under a temporary name; take_place() gives it the name. */
static gboolean
restore_copy (DlpInputList *self, guint64 length, guint64 hash, GError **error)
{
  g_autofree char *temporary = NULL;
  gboolean ok;
  int fd = open_file (self, O_RDONLY, error);
  int copy;

  if (fd < 0)
    return FALSE;

  copy =
      dlp_durable_create_temporary (self->folder, self->folder_path, FILE_NAME, &temporary, error);
  ok = copy >= 0 && scan_and_check (self, fd, copy, length, hash, error) &&
       dlp_durable_sync_data (copy, self->path, error) &&
       dlp_durable_rename (self->folder, self->folder_path, temporary, FILE_NAME, error);
  close (fd);
  if (ok)
    {
      self->fd = copy;
      return TRUE;
    }

  if (copy >= 0)
    {
      close (copy);
      dlp_durable_remove (self->folder, self->folder_path, temporary, NULL);
    }
  return FALSE;
}

static gboolean
restore_in_place (DlpInputList *self, guint64 length, guint64 hash, GError **error)
{
  self->fd = open_file (self, self->read_only ? O_RDONLY : O_RDWR, error);
  if (self->fd < 0 || !scan_and_check (self, self->fd, -1, length, hash, error))
    return FALSE;

  if (self->read_only || TEMP_FAILURE_RETRY (ftruncate (self->fd, (off_t) length)) == 0)
    return TRUE;

  dlp_durable_set_error (error, errno, "%s: cannot cut to %" G_GUINT64_FORMAT " bytes", self->path,
                         length);
  return FALSE;
}

gboolean
dlp_input_list_restore (DlpInputList *self,
                        DlpInputListMode mode,
                        guint64 length,
                        guint64 hash,
                        GError **error)
{
  gboolean ok;

  pthread_mutex_lock (&self->mutex);
  reset_locked (self);
  self->read_only = mode == DLP_INPUT_LIST_READ_ONLY;
  if (length < FIRST_LINE_SIZE)
    ok = set_corrupt (self, error, "%" G_GUINT64_FORMAT " bytes are less than its first line",
                      length);
  else if (mode == DLP_INPUT_LIST_COPY)
    ok = restore_copy (self, length, hash, error);
  else
    ok = restore_in_place (self, length, hash, error);

  if (ok)
    self->written = self->synced = length;
  else
    reset_locked (self);
  pthread_mutex_unlock (&self->mutex);

  return ok;
}

static gboolean
fail_locked (DlpInputList *self, GError *failure, GError **error)
{
  if (self->error == NULL)
    self->error = failure;
  else
    g_error_free (failure);

  if (error != NULL && *error == NULL)
    *error = g_error_copy (self->error);
  return FALSE;
}

/* A new file of its own, so that a run that is not known to be dead cannot write into it. */
static gboolean
begin_locked (DlpInputList *self, GError **error)
{
  g_autofree char *temporary = NULL;
  int fd =
      dlp_durable_create_temporary (self->folder, self->folder_path, FILE_NAME, &temporary, error);

  if (fd < 0)
    return FALSE;
  if (!dlp_durable_rename (self->folder, self->folder_path, temporary, FILE_NAME, error))
    {
      close (fd);
      dlp_durable_remove (self->folder, self->folder_path, temporary, NULL);
      return FALSE;
    }

  self->fd = fd;
  g_string_append (self->pending, FIRST_LINE);
  XXH64_update (self->hash, FIRST_LINE, FIRST_LINE_SIZE);
  return TRUE;
}

static gboolean
prepare_locked (DlpInputList *self, GError **error)
{
  GError *failure = NULL;

  if (self->error != NULL)
    {
      g_propagate_error (error, g_error_copy (self->error));
      return FALSE;
    }
  if (self->read_only)
    {
      g_set_error (error, G_IO_ERROR, G_IO_ERROR_READ_ONLY, "%s: opened read-only", self->path);
      return FALSE;
    }

  return self->fd >= 0 || begin_locked (self, &failure) || fail_locked (self, failure, error);
}

static gboolean
flush_locked (DlpInputList *self, GError **error)
{
  GError *failure = NULL;

  if (!dlp_durable_write (self->fd, self->path, self->pending->str, self->pending->len,
                          self->written, &failure))
    return fail_locked (self, failure, error);

  self->written += self->pending->len;
  g_string_truncate (self->pending, 0);
  return TRUE;
}

gboolean
dlp_input_list_add (DlpInputList *self, const DlpInputEntry *entry, GError **error)
{
  gboolean ok;

  g_return_val_if_fail (entry->uri != NULL && entry->size >= -1, FALSE);

  pthread_mutex_lock (&self->mutex);
  ok = prepare_locked (self, error);
  if (ok)
    {
      gsize start = self->pending->len;

      dlp_input_entry_append (entry, self->pending);
      XXH64_update (self->hash, self->pending->str + start, self->pending->len - start);
      dlp_input_index_add (&self->index, hash_key (entry->stage, entry->source, entry->file),
                           self->written + start);
      ok = self->pending->len < WRITE_SIZE || flush_locked (self, error);
    }
  pthread_mutex_unlock (&self->mutex);

  return ok;
}

/* The line at @offset of the file, without its line feed. */
static char *
read_line_locked (DlpInputList *self, guint64 offset, gsize *size, GError **error)
{
  g_autofree char *line = NULL;
  gsize capacity = LINE_SIZE;

  for (;;)
    {
      gssize n;
      const char *lf;

      line = g_realloc (line, capacity);
      n = dlp_durable_read (self->fd, self->path, line, MIN (capacity, self->written - offset),
                            offset, error);
      if (n < 0)
        return NULL;
      lf = memchr (line, '\n', (gsize) n);
      if (lf != NULL)
        {
          *size = (gsize) (lf - line);
          return g_steal_pointer (&line);
        }
      if ((gsize) n < capacity)
        {
          set_corrupt (self, error, "the entry at byte %" G_GUINT64_FORMAT " is gone", offset);
          return NULL;
        }
      capacity *= 2;
    }
}

static DlpInputEntry *
entry_at_locked (DlpInputList *self, guint64 offset, GError **error)
{
  g_autofree char *line = NULL;
  DlpInputEntry *entry;
  gsize size = 0;

  if (offset >= self->written)
    {
      const char *pending = self->pending->str + (offset - self->written);

      return dlp_input_entry_parse (pending, (gsize) (strchr (pending, '\n') - pending));
    }

  line = read_line_locked (self, offset, &size, error);
  if (line == NULL)
    return NULL;

  entry = dlp_input_entry_parse (line, size);
  if (entry == NULL)
    set_corrupt (self, error, "malformed entry at byte %" G_GUINT64_FORMAT, offset);
  return entry;
}

/* Of several entries of a file the last one counts. */
static gboolean
find_locked (DlpInputList *self, const guint32 key[3], DlpInputEntry **found, GError **error)
{
  guint32 hash = hash_key (key[0], key[1], key[2]);
  gsize position = 0;
  guint64 offset;

  while ((offset = dlp_input_index_next (&self->index, hash, &position)) != 0)
    {
      g_autoptr (DlpInputEntry) entry = entry_at_locked (self, offset, error);

      if (entry == NULL)
        return FALSE;
      if (entry->stage == key[0] && entry->source == key[1] && entry->file == key[2])
        {
          dlp_input_entry_free (*found);
          *found = g_steal_pointer (&entry);
        }
    }

  return TRUE;
}

DlpInputEntry *
dlp_input_list_find (DlpInputList *self,
                     guint32 stage,
                     guint32 source,
                     guint32 file,
                     GError **error)
{
  guint32 key[3] = { stage, source, file };
  g_autoptr (DlpInputEntry) found = NULL;
  gboolean ok;

  pthread_mutex_lock (&self->mutex);
  ok = find_locked (self, key, &found, error);
  pthread_mutex_unlock (&self->mutex);

  return ok ? g_steal_pointer (&found) : NULL;
}

static gboolean
make_durable (DlpInputList *self, int fd, gboolean folder_synced, GError **error)
{
  return dlp_durable_sync_data (fd, self->path, error) &&
         (folder_synced || dlp_durable_sync_folder (self->folder, self->folder_path, error));
}

gboolean
dlp_input_list_sync (DlpInputList *self, guint64 *length, guint64 *hash, GError **error)
{
  GError *failure = NULL;
  gboolean ok, wanted, folder_synced;
  guint64 end;
  int fd;

  pthread_mutex_lock (&self->mutex);
  ok = prepare_locked (self, error) && flush_locked (self, error);
  end = self->written;
  fd = self->fd;
  wanted = end > self->synced || !self->folder_synced;
  folder_synced = self->folder_synced;
  *length = end;
  *hash = XXH64_digest (self->hash);
  pthread_mutex_unlock (&self->mutex);

  if (!ok || !wanted)
    return ok;

  /* Not under the mutex: files are opened meanwhile. */
  ok = make_durable (self, fd, folder_synced, &failure);

  pthread_mutex_lock (&self->mutex);
  if (ok)
    {
      self->synced = MAX (self->synced, end);
      self->folder_synced = TRUE;
    }
  else
    {
      ok = fail_locked (self, failure, error);
    }
  pthread_mutex_unlock (&self->mutex);

  return ok;
}
