/* SPDX-License-Identifier: MIT */

/* A file's bytes, cut into chunks at record borders. One thread at a time fills a lane. */

#include <string.h>
#include <time.h>

#include "dlp-byte-stream-private.h"
#include "dlp-element-private.h"
#include "dlp-file-private.h"
#include "dlp-reader-private.h"

DlpReaderLane *
dlp_reader_lane_new (DlpReader *reader,
                     guint64 position,
                     DlpFile *file,
                     const DlpCoordinate *coordinate)
{
  DlpReaderLane *self = g_new0 (DlpReaderLane, 1);

  self->reader = reader;
  self->position = position;
  self->file = g_object_ref (file);
  self->uri = dlp_uri_redact (dlp_file_get_uri (file));
  self->name = dlp_uri_escape_for_display (self->uri);
  self->coordinate = *coordinate;
  self->cancellable = g_cancellable_new ();
  g_queue_init (&self->chunks);
  return self;
}

void
dlp_reader_lane_free (DlpReaderLane *self)
{
  GList *link;

  while ((link = g_queue_pop_head_link (&self->chunks)) != NULL)
    dlp_reader_chunk_free (link->data);
  dlp_reader_close_copy (self);
  dlp_reader_drop_ahead (self);
  g_clear_pointer (&self->stream, dlp_byte_stream_free);
  dlp_reader_close_file (self);
  dlp_reader_give_buffer (self->reader, self->data, self->capacity);
  dlp_cursor_clear (&self->hold);
  g_clear_pointer (&self->header, g_bytes_unref);
  g_clear_object (&self->file);
  g_clear_object (&self->cancellable);
  g_clear_error (&self->failure);
  g_clear_error (&self->failed);
  g_clear_error (&self->damage);
  g_free (self->warning);
  g_free (self->name);
  g_free (self->uri);
  g_free (self);
}

bool
dlp_reader_check_file (DlpReaderLane *self, GError **error)
{
  const char *identity = dlp_file_get_identity (self->file);

  return dlp_element_check_input_file (
             DLP_ELEMENT (self->reader), &self->coordinate, dlp_file_get_uri (self->file),
             dlp_file_get_size (self->file), identity != NULL ? identity : "", error) &&
         dlp_file_check_expected_size (self->file, dlp_file_get_size (self->file), error);
}

static bool
open_stream (DlpReaderLane *self, GCancellable *cancellable)
{
  DlpReaderPrivate *priv = dlp_reader_get_private (self->reader);
  bool is_copy = dlp_reader_open_copy (self);
  g_autoptr (GInputStream) ahead = dlp_reader_take_ahead (self, cancellable);

  self->is_open = true;
  self->is_slow = dlp_file_get_size (self->file) < 0;
  if (is_copy)
    return dlp_reader_load_header (self, cancellable, &self->failed);
  if ((!self->is_probe && !dlp_reader_check_file (self, &self->failed)) ||
      !dlp_reader_load_header (self, cancellable, &self->failed))
    return false;

  self->stream = dlp_byte_stream_open_at (self->file, g_steal_pointer (&ahead), self->offset,
                                          &self->border, priv->window_log_max,
                                          priv->effective_read_size, cancellable, &self->failed);
  if (self->stream == NULL)
    return false;
  if (g_log_get_debug_enabled ())
    g_debug ("%s: opens %s, %" G_GINT64_FORMAT " bytes",
             dlp_element_get_name (DLP_ELEMENT (self->reader)), self->name,
             dlp_file_get_size (self->file));
  dlp_byte_stream_limit_memory (self->stream, priv->stream_memory,
                                dlp_element_get_scratch_folder (DLP_ELEMENT (self->reader)));
  if (priv->threaded && priv->head_share >= 1)
    dlp_byte_stream_decode_ahead (self->stream, DLP_ELEMENT (self->reader), priv->max_parts);
  return true;
}

/* The next bytes: 0 at the end, -1 with the lane's error. */
static gssize
read_bytes (DlpReaderLane *self, guint8 *buffer, gsize size, GCancellable *cancellable)
{
  gssize n;

  if (self->copy != NULL)
    return (gssize) dlp_reader_read_copy (self, buffer, size);
  n = dlp_byte_stream_read (self->stream, buffer, size, cancellable, &self->failed);
  if (n > 0)
    dlp_reader_add_to_copy (self, buffer, (gsize) n);
  else
    dlp_reader_end_copy (self, n == 0, dlp_byte_stream_get_raw_position (self->stream));
  return n;
}

/* Behind @chunk, as far as the stored file was read. */
static void
note_position (DlpReaderLane *self, DlpReaderChunk *chunk)
{
  if (self->copy != NULL)
    {
      chunk->raw_position = dlp_reader_get_copy_position (self);
      return;
    }
  chunk->raw_position = dlp_byte_stream_get_raw_position (self->stream);
  dlp_byte_stream_find_border (self->stream, self->offset, &chunk->border);
}

static DlpReaderChunk *
make_chunk (DlpReaderLane *self, gsize size, bool is_last)
{
  DlpReaderPrivate *priv = dlp_reader_get_private (self->reader);
  gsize rest = self->size - size;
  gsize capacity = priv->chunk_size;
  guint8 *next = NULL;
  DlpReaderChunk *chunk;

  if (rest > capacity)
    {
      capacity = rest;
      next = g_malloc (capacity + DLP_READER_PADDING);
    }
  else if (!is_last)
    next = dlp_reader_take_buffer (self->reader, &capacity);
  if (rest > 0)
    memcpy (next, self->data + size, rest);

  memset (self->data + size, 0, DLP_READER_PADDING);
  chunk = dlp_reader_chunk_new (self, self->data, size, self->capacity, self->offset, is_last);

  if (self->header != NULL)
    chunk->header = g_bytes_ref (self->header);

  self->data = next;
  self->size = rest;
  self->capacity = next != NULL ? capacity : 0;
  self->offset += size;
  self->cut = self->looked_at = self->scan = 0;
  note_position (self, chunk);
  return chunk;
}

static gsize
find_border (DlpReaderLane *self, const guint8 *data, gsize size, bool first)
{
  DlpReaderClass *klass = DLP_READER_GET_CLASS (self->reader);

  return size > 0 ? klass->find_border (self->reader, dlp_file_get_uri (self->file), &self->scan,
                                        data, size, first) :
                    0;
}

/* The default cut and find_border look at new bytes only; a cut of the class may have to begin at
 * the start, so that it is asked each time a long record has doubled. */
static gsize
find_cut (DlpReaderLane *self, bool must_look)
{
  DlpReaderClass *klass = DLP_READER_GET_CLASS (self->reader);
  DlpReaderPrivate *priv = dlp_reader_get_private (self->reader);

  if (!dlp_reader_find_header (self))
    return 0;
  if (klass->find_border != NULL)
    {
      gsize end =
          find_border (self, self->data + self->looked_at, self->size - self->looked_at, false);

      if (end > 0)
        self->cut = self->looked_at + end;
      self->looked_at = self->size;
      return self->cut;
    }

  if (klass->cut == NULL)
    {
      const guint8 *end =
          memrchr (self->data + self->looked_at, '\n', self->size - self->looked_at);

      if (end != NULL)
        self->cut = end + 1 - self->data;
      self->looked_at = self->size;
      return self->cut;
    }

  if (must_look || self->size <= priv->chunk_size || self->size >= 2 * self->looked_at)
    {
      self->cut = klass->cut (self->reader, self->data, self->size);
      self->looked_at = self->size;
    }
  return self->cut;
}

static gsize
find_end (DlpReaderLane *self, const guint8 *data, gsize size)
{
  DlpReaderClass *klass = DLP_READER_GET_CLASS (self->reader);
  const guint8 *end;

  if (klass->find_border != NULL)
    return find_border (self, data, size, true);
  if (klass->find_end != NULL)
    return klass->find_end (self->reader, data, size);

  end = memchr (data, '\n', size);
  return end != NULL ? (gsize) (end + 1 - data) : 0;
}

/* Nobody has anything of this lane to do: a small chunk now is better than a large one later. */
static bool
is_starving (DlpReaderLane *self)
{
  DlpReaderPrivate *priv = dlp_reader_get_private (self->reader);
  bool starving;

  pthread_mutex_lock (&priv->lock);
  starving = self->active && self->chunks.length == 0;
  pthread_mutex_unlock (&priv->lock);
  return starving;
}

static DlpReaderChunk *
end_lane (DlpReaderLane *self, DlpReaderChunk *last)
{
  self->ended = true;
  return last;
}

/* Behind a fault only whole records count; at the end the rest is a record too. */
static DlpReaderChunk *
finish (DlpReaderLane *self, bool failed)
{
  gsize size = failed ? find_cut (self, true) : self->size;

  if (failed)
    self->size = size;
  else
    dlp_reader_end_header (self);
  return end_lane (self, size > 0 ? make_chunk (self, size, !failed) : NULL);
}

/* Of a file of which only the beginning is wanted that is read: the rest of the buffer is dropped,
 * and counts as not read. NULL: it holds no whole record yet. */
static DlpReaderChunk *
end_head (DlpReaderLane *self)
{
  guint64 decoded = self->offset + self->size;
  gsize cut = find_cut (self, true);
  DlpReaderChunk *chunk;

  if (cut == 0)
    return NULL;
  self->is_head = true;
  self->size = cut;
  chunk = make_chunk (self, cut, true);
  chunk->raw_position =
      (guint64) ((double) chunk->raw_position * (double) self->offset / (double) decoded);
  return end_lane (self, chunk);
}

static bool
is_past_head (DlpReaderLane *self)
{
  DlpReaderPrivate *priv = dlp_reader_get_private (self->reader);
  gint64 size = dlp_file_get_size (self->file);
  guint64 share;

  if (priv->head_share >= 1 || self->copy != NULL)
    return false;
  share = size >= 0 ? (guint64) ((double) size * priv->head_share) : 0;
  return dlp_byte_stream_get_raw_position (self->stream) >= MAX (share, priv->head_bytes);
}

static guint64
count_newlines (const guint8 *data, gsize size)
{
  guint64 n = 0;

  for (gsize i = 0; i < size; i++)
    n += data[i] == '\n';
  return n;
}

/* Takes @first, the first bytes of a record that is too long; the lane's own are those behind it.
 */
static DlpReaderChunk *
make_too_long (DlpReaderLane *self,
               guint8 *first,
               gsize kept,
               guint64 record_size,
               guint64 lines,
               bool is_last)
{
  DlpReaderPrivate *priv = dlp_reader_get_private (self->reader);
  guint64 start = self->offset;
  DlpReaderChunk *chunk = dlp_reader_chunk_new (self, first, kept, kept, start, is_last);

  dlp_reader_chunk_set_too_long (chunk, record_size, lines, priv->max_record_bytes);
  dlp_reader_give_buffer (self->reader, g_steal_pointer (&chunk->data), kept);
  chunk->size = record_size;
  self->offset = start + record_size;
  note_position (self, chunk);
  self->cut = self->looked_at = self->scan = 0;
  return is_last ? end_lane (self, chunk) : chunk;
}

static guint8 *
copy_start (DlpReaderLane *self, gsize *kept)
{
  guint8 *first;

  *kept = MIN (self->size, DLP_READER_MAX_REJECTED);
  first = g_malloc (*kept + DLP_READER_PADDING);
  memcpy (first, self->data, *kept);
  return first;
}

/* Room for more, behind what skip() did not take yet, without keeping the record's large buffer. */
static void
make_room (DlpReaderLane *self)
{
  gsize capacity;
  guint8 *data;

  if (self->size < self->capacity &&
      self->capacity <= dlp_reader_get_private (self->reader)->chunk_size)
    return;
  data = dlp_reader_take_buffer (self->reader, &capacity);
  if (self->size >= capacity)
    {
      dlp_reader_give_buffer (self->reader, data, capacity);
      if (self->size < self->capacity)
        return;
      capacity = self->capacity * 2;
      data = g_malloc (capacity + DLP_READER_PADDING);
    }
  memcpy (data, self->data, self->size);
  dlp_reader_give_buffer (self->reader, self->data, self->capacity);
  self->data = data;
  self->capacity = capacity;
}

/* By skip() of the class: what it takes is the record, what is left in the buffer is behind it. */
static DlpReaderChunk *
skip_by_class (DlpReaderLane *self, guint8 next, GCancellable *cancellable)
{
  DlpReaderClass *klass = DLP_READER_GET_CLASS (self->reader);
  guint64 state[4] = { 0 };
  guint64 record_size = 0;
  gboolean ended = FALSE;
  gssize n = 1;
  gsize kept;
  guint8 *first = copy_start (self, &kept);

  /* The padding has room for it. */
  self->data[self->size++] = next;
  while (n > 0 && !ended)
    {
      gsize taken = klass->skip (self->reader, state, self->data, self->size, &ended);

      record_size += taken;
      self->size -= taken;
      memmove (self->data, self->data + taken, self->size);
      if (ended)
        break;
      make_room (self);
      n = read_bytes (self, self->data + self->size, self->capacity - self->size, cancellable);
      self->size += MAX (n, 0);
    }

  if (n < 0)
    {
      g_free (first);
      self->size = 0;
      return end_lane (self, NULL);
    }
  if (!ended)
    {
      record_size += self->size;
      self->size = 0;
    }
  return make_too_long (self, first, kept, record_size, 0, !ended);
}

/* The record in the buffer is as long as may be, and goes on with @size bytes at @next: its first
 * bytes are kept, the others passed over. */
static DlpReaderChunk *
skip_record (DlpReaderLane *self, guint8 next, GCancellable *cancellable)
{
  guint64 record_size = self->size;
  guint64 newlines = count_newlines (self->data, self->size);
  guint8 last = next;
  gssize n = 1;
  gsize end, kept;
  guint8 *first = copy_start (self, &kept);

  dlp_reader_give_buffer (self->reader, self->data, self->capacity);
  self->data = dlp_reader_take_buffer (self->reader, &self->capacity);
  self->data[0] = next;
  while ((end = find_end (self, self->data, n)) == 0)
    {
      record_size += n;
      newlines += count_newlines (self->data, n);
      last = self->data[n - 1];
      n = read_bytes (self, self->data, self->capacity, cancellable);
      if (n <= 0)
        break;
    }

  if (n < 0)
    {
      g_free (first);
      self->size = 0;
      return end_lane (self, NULL);
    }

  record_size += end;
  if (end > 0)
    {
      newlines += count_newlines (self->data, end);
      last = self->data[end - 1];
    }
  self->size = n - end;
  memmove (self->data, self->data + end, self->size);
  return make_too_long (self, first, kept, record_size, newlines + (last != '\n'), n == 0);
}

/* So many bytes of one record are held. Where a class tells the end of a record by what follows,
 * that is in sight as well; what is too long all the same is for parse() to see. */
static guint64
get_limit (DlpReaderLane *self)
{
  guint64 ahead = DLP_READER_GET_CLASS (self->reader)->skip != NULL ? DLP_READER_LOOK_AHEAD : 0;

  return dlp_reader_get_private (self->reader)->max_record_bytes + ahead;
}

/* The buffer is full and holds no whole record. */
static DlpReaderChunk *
grow (DlpReaderLane *self, bool may_grow, GCancellable *cancellable)
{
  DlpReaderPrivate *priv = dlp_reader_get_private (self->reader);
  guint8 next;
  gssize n;

  if (self->size < get_limit (self))
    {
      if (!may_grow && self->capacity >= 4 * priv->chunk_size)
        {
          self->paused = true;
          return NULL;
        }
      self->capacity = MIN (self->capacity * 2, get_limit (self));
      self->data = g_realloc (self->data, self->capacity + DLP_READER_PADDING);
      return NULL;
    }

  n = read_bytes (self, &next, 1, cancellable);
  if (n <= 0)
    return finish (self, n < 0);
  if (!dlp_reader_find_header (self))
    {
      dlp_reader_set_header_error (self, &self->failed);
      self->size = 0;
      return end_lane (self, NULL);
    }
  return DLP_READER_GET_CLASS (self->reader)->skip != NULL ?
             skip_by_class (self, next, cancellable) :
             skip_record (self, next, cancellable);
}

static DlpReaderChunk *
fill (DlpReaderLane *self, bool may_grow, GCancellable *cancellable)
{
  DlpReaderPrivate *priv = dlp_reader_get_private (self->reader);
  DlpReaderChunk *chunk = NULL;
  gssize n;

  if (!self->is_open && !open_stream (self, cancellable))
    return end_lane (self, NULL);
  if (self->data == NULL)
    self->data = dlp_reader_take_buffer (self->reader, &self->capacity);

  while (chunk == NULL && !self->ended && !self->paused)
    {
      if (self->size == self->capacity)
        {
          gsize cut = find_cut (self, true);

          chunk = cut > 0 ? make_chunk (self, cut, false) : grow (self, may_grow, cancellable);
          continue;
        }

      n = read_bytes (self, self->data + self->size, self->capacity - self->size, cancellable);
      if (n <= 0)
        return finish (self, n < 0);

      self->size += n;
      if (is_past_head (self) && (chunk = end_head (self)) != NULL)
        return chunk;
      if ((self->is_slow || self->size > priv->chunk_size || is_starving (self)) &&
          find_cut (self, false) > 0)
        chunk = make_chunk (self, self->cut, false);
    }
  return chunk;
}

static gint64
elapsed_us (clockid_t clock, const struct timespec *since)
{
  struct timespec now;

  clock_gettime (clock, &now);
  return (now.tv_sec - since->tv_sec) * 1000000 + (now.tv_nsec - since->tv_nsec) / 1000;
}

/* What a thread of the reader's own spent; on the element's thread it is part of the step. Waits
 * are those of reads: a thread that decodes and gets no CPU does not wait for its file. */
static void
account (DlpReaderLane *self, gint64 wall, gint64 cpu)
{
  DlpElement *element = DLP_ELEMENT (self->reader);
  DlpElementStats *stats = &dlp_element_get_private (element)->stats;
  gint64 reads = wall;

  if (self->copy != NULL)
    reads = 0;
  else if (self->stream != NULL)
    reads = dlp_byte_stream_take_read_time (self->stream);

  if (dlp_reader_get_private (self->reader)->threaded)
    {
      __atomic_fetch_add (&stats->io_busy, wall * 1000, __ATOMIC_RELAXED);
      __atomic_fetch_add (&stats->io_cpu, cpu * 1000, __ATOMIC_RELAXED);
    }
  if (wall > cpu && reads > 0)
    dlp_element_add_io_wait (element, MIN (reads, wall - cpu));
}

DlpReaderChunk *
dlp_reader_lane_fill (DlpReaderLane *self, bool may_grow, GCancellable *cancellable)
{
  DlpElement *before = dlp_element_set_reads_for (DLP_ELEMENT (self->reader));
  struct timespec wall, cpu;
  DlpReaderChunk *chunk;

  clock_gettime (CLOCK_MONOTONIC, &wall);
  clock_gettime (CLOCK_THREAD_CPUTIME_ID, &cpu);
  self->paused = false;
  chunk = dlp_reader_opens_files (self->reader) ? dlp_reader_fill_from_file (self, cancellable) :
                                                  fill (self, may_grow, cancellable);
  if (self->stream != NULL)
    dlp_byte_stream_rest (self->stream);
  account (self, elapsed_us (CLOCK_MONOTONIC, &wall), elapsed_us (CLOCK_THREAD_CPUTIME_ID, &cpu));
  dlp_element_set_reads_for (before);
  return chunk;
}
