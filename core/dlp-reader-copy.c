/* SPDX-License-Identifier: MIT */

/* What files of a source that comes again hold, decoded: if all of it fits into its share of the
 * memory, each is read once. The first lane of a file makes its copy, those behind it wait for it.
 */

#include <string.h>

#include "dlp-element-private.h"
#include "dlp-reader-private.h"

#define MIN_GROWTH (64 * 1024)

struct _DlpReaderCopy
{
  gint ref_count;
  guint8 *data;
  gsize size;
  gsize capacity; /* counted in copied */
  guint64 raw_size;
  bool is_whole; /* lock */
};

static void
copy_unref (gpointer data)
{
  DlpReaderCopy *self = data;

  if (!g_atomic_int_dec_and_test (&self->ref_count))
    return;
  g_free (self->data);
  g_free (self);
}

static DlpReaderCopy *
copy_ref (DlpReaderCopy *self)
{
  g_atomic_int_inc (&self->ref_count);
  return self;
}

static guint
hash_file (gconstpointer key)
{
  const DlpCoordinate *at = key;

  return (at->stage * 31 + at->source) * 1000003 + at->file;
}

static gboolean
is_same_file (gconstpointer a, gconstpointer b)
{
  const DlpCoordinate *x = a, *y = b;

  return x->stage == y->stage && x->source == y->source && x->file == y->file;
}

gsize
dlp_reader_want_copies (DlpReader *self)
{
  DlpReaderPrivate *priv = dlp_reader_get_private (self);
  bool again = dlp_element_find_repeated (DLP_ELEMENT (self)) != NULL;

  return again && priv->head_share >= 1 && !dlp_reader_opens_files (self) ? priv->cache_bytes : 0;
}

void
dlp_reader_start_copies (DlpReader *self, gsize limit)
{
  DlpReaderPrivate *priv = dlp_reader_get_private (self);

  priv->copied = 0;
  priv->max_copied = limit;
  if (limit > 0)
    priv->copies = g_hash_table_new_full (hash_file, is_same_file, g_free, copy_unref);
}

void
dlp_reader_stop_copies (DlpReader *self)
{
  g_clear_pointer (&dlp_reader_get_private (self)->copies, g_hash_table_unref);
}

bool
dlp_reader_waits_for_copy (DlpReaderPrivate *priv, const DlpReaderLane *lane)
{
  const DlpReaderCopy *copy =
      priv->copies != NULL ? g_hash_table_lookup (priv->copies, &lane->coordinate) : NULL;

  return copy != NULL && !copy->is_whole && !lane->is_open;
}

bool
dlp_reader_has_copy_locked (DlpReaderPrivate *priv, const DlpReaderLane *lane)
{
  return priv->copies != NULL && g_hash_table_contains (priv->copies, &lane->coordinate);
}

bool
dlp_reader_open_copy (DlpReaderLane *lane)
{
  DlpReaderPrivate *priv = dlp_reader_get_private (lane->reader);
  DlpReaderCopy *copy;

  pthread_mutex_lock (&priv->lock);
  copy = priv->copies != NULL ? g_hash_table_lookup (priv->copies, &lane->coordinate) : NULL;
  if (copy != NULL && copy->is_whole)
    {
      lane->copy = copy_ref (copy);
      lane->copied_to = MIN (lane->offset, copy->size);
    }
  else if (copy == NULL && priv->copies != NULL && lane->offset == 0 &&
           dlp_file_get_size (lane->file) >= 0)
    {
      lane->making = g_new0 (DlpReaderCopy, 1);
      lane->making->ref_count = 2;
      g_hash_table_insert (priv->copies, g_memdup2 (&lane->coordinate, sizeof lane->coordinate),
                           lane->making);
    }
  pthread_mutex_unlock (&priv->lock);
  return lane->copy != NULL;
}

/* They do not all fit: none is kept. */
static void
give_up (DlpReader *self, DlpReaderPrivate *priv)
{
  GHashTable *copies;

  pthread_mutex_lock (&priv->lock);
  copies = g_steal_pointer (&priv->copies);
  pthread_mutex_unlock (&priv->lock);
  if (copies == NULL)
    return;
  g_debug ("%s: its source has more than %zu bytes, so files are read in each epoch",
           dlp_element_get_name (DLP_ELEMENT (self)), priv->max_copied);
  g_hash_table_unref (copies);
  dlp_reader_wake_io (self);
}

/* Whether there may be so many bytes more. */
static bool
claim (DlpReaderPrivate *priv, gsize more)
{
  bool fits;

  pthread_mutex_lock (&priv->lock);
  fits = priv->copies != NULL && priv->copied + more <= priv->max_copied;
  priv->copied += fits ? more : 0;
  pthread_mutex_unlock (&priv->lock);
  return fits;
}

/* FALSE: it does not fit. */
static bool
grow (DlpReaderPrivate *priv, DlpReaderCopy *copy, gsize size)
{
  gsize capacity = copy->capacity;

  if (size <= capacity)
    return true;
  capacity = MAX (size, capacity + MAX (capacity / 8, MIN_GROWTH));
  if (!claim (priv, capacity - copy->capacity))
    return false;
  copy->capacity = capacity;
  copy->data = g_realloc (copy->data, capacity);
  return true;
}

void
dlp_reader_add_to_copy (DlpReaderLane *lane, const guint8 *data, gsize n)
{
  DlpReaderPrivate *priv = dlp_reader_get_private (lane->reader);
  DlpReaderCopy *copy = lane->making;

  if (copy == NULL)
    return;
  if (!grow (priv, copy, copy->size + n))
    {
      g_clear_pointer (&lane->making, copy_unref);
      give_up (lane->reader, priv);
      return;
    }
  memcpy (copy->data + copy->size, data, n);
  copy->size += n;
}

gsize
dlp_reader_read_copy (DlpReaderLane *lane, guint8 *buffer, gsize size)
{
  gsize n = MIN (size, lane->copy->size - lane->copied_to);

  if (n > 0)
    memcpy (buffer, lane->copy->data + lane->copied_to, n);
  lane->copied_to += n;
  return n;
}

guint64
dlp_reader_get_copy_position (const DlpReaderLane *lane)
{
  const DlpReaderCopy *copy = lane->copy;

  if (lane->copied_to == copy->size)
    return copy->raw_size;
  return (guint64) ((double) copy->raw_size * (double) lane->copied_to / (double) copy->size);
}

/* What was claimed and is not needed is given back. */
static void
trim (DlpReaderCopy *copy)
{
  copy->data = g_realloc (copy->data, MAX (copy->size, 1));
  copy->capacity = copy->size;
}

void
dlp_reader_end_copy (DlpReaderLane *lane, bool is_whole, guint64 raw_size)
{
  DlpReaderPrivate *priv = dlp_reader_get_private (lane->reader);
  DlpReaderCopy *copy = g_steal_pointer (&lane->making);
  gsize before;

  if (copy == NULL)
    return;
  before = copy->capacity;
  if (is_whole)
    trim (copy);
  pthread_mutex_lock (&priv->lock);
  copy->raw_size = raw_size;
  copy->is_whole = is_whole;
  priv->copied -= is_whole ? before - copy->capacity : before;
  if (!is_whole && priv->copies != NULL)
    g_hash_table_remove (priv->copies, &lane->coordinate);
  pthread_mutex_unlock (&priv->lock);
  copy_unref (copy);
}

void
dlp_reader_close_copy (DlpReaderLane *lane)
{
  dlp_reader_end_copy (lane, false, 0);
  g_clear_pointer (&lane->copy, copy_unref);
}
