/* SPDX-License-Identifier: MIT */

/* Which files of a reader are brought near in advance, and how much of them. See
 * docs/internals/read-ahead.md. */

#include <dlpipe/dlp-source.h>

#include "dlp-context-private.h"
#include "dlp-element-private.h"
#include "dlp-read-ahead-private.h"
#include "dlp-reader-private.h"

/* Where a source does not say. */
#define DEFAULT_FILES 4
#define DEFAULT_BYTES ((guint64) 256 * 1024 * 1024)
/* Less is not worth asking for, unless the file has no more. */
#define MIN_PIECE_BYTES ((guint64) 4 * 1024)
#define PIECE_BYTES ((guint64) 4 * 1024 * 1024)

typedef struct
{
  guint files;
  guint64 bytes;
  guint64 held; /* of these, at most, in memory */
} Limits;

static Limits
find_limits (DlpReader *self)
{
  DlpPad *peer = dlp_pad_get_peer (dlp_reader_get_private (self)->in);
  Limits limits = { DEFAULT_FILES, DEFAULT_BYTES, 0 };

  if (peer != NULL && DLP_IS_SOURCE (peer->element) &&
      DLP_SOURCE_GET_CLASS (peer->element)->get_read_ahead != NULL)
    DLP_SOURCE_GET_CLASS (peer->element)
        ->get_read_ahead (DLP_SOURCE (peer->element), &limits.files, &limits.bytes, &limits.held);
  return limits;
}

/* All sources have one budget: what is near of one is not taken from the next file of another. */
static guint64
part_of (DlpReader *self, guint64 bytes)
{
  return bytes / MAX (dlp_element_get_context (DLP_ELEMENT (self))->n_sources, 1);
}

gsize
dlp_reader_want_ahead (DlpReader *self)
{
  Limits limits = find_limits (self);

  if (dlp_reader_opens_files (self) || dlp_reader_get_private (self)->head_share < 1)
    return 0;
  return MIN (MIN (limits.held, part_of (self, limits.bytes)), limits.files * PIECE_BYTES);
}

void
dlp_reader_start_ahead (DlpReader *self, gsize memory)
{
  DlpReaderPrivate *priv = dlp_reader_get_private (self);
  Limits limits = find_limits (self);

  priv->ahead_files = priv->head_share < 1 ? 0 : limits.files;
  priv->ahead_near.limit = part_of (self, limits.bytes);
  priv->ahead_held.limit = MIN (memory, priv->ahead_near.limit);
}

/* Whether there is anything to be asked for, and room for it. */
static bool
ask (DlpReader *self, DlpReaderLane *lane, guint rank)
{
  DlpReaderPrivate *priv = dlp_reader_get_private (self);
  DlpReaderAhead *ahead = lane->is_held ? &priv->ahead_held : &priv->ahead_near;
  guint64 limit = ahead->limit;
  guint64 room = limit - MIN (limit, __atomic_load_n (&ahead->used, __ATOMIC_RELAXED));
  gint64 size = dlp_file_get_size (lane->file);
  guint64 bytes = MAX (limit / priv->ahead_files, MIN (limit, PIECE_BYTES));

  /* One without a size may be there only once: it cannot be opened again where it was left. */
  if (size == 0 || (lane->is_held && (size < 0 || dlp_reader_opens_files (self))))
    return true;
  if (size > 0)
    bytes = MIN (bytes, (guint64) size);
  if (bytes > room || (bytes < MIN_PIECE_BYTES && bytes != (guint64) size))
    return false;
  lane->ahead = dlp_read_ahead_ask (dlp_element_get_context (DLP_ELEMENT (self))->read_ahead,
                                    lane->file, bytes, rank, &ahead->used);
  return true;
}

/* What is read from a copy, or from its middle on, has no use for its start. */
static bool
is_wanted_locked (DlpReaderPrivate *priv, DlpReaderLane *lane)
{
  return !lane->opened && !lane->asked && lane->offset == 0 &&
         !dlp_reader_has_copy_locked (priv, lane);
}

void
dlp_reader_ask_ahead (DlpReader *self)
{
  DlpReaderPrivate *priv = dlp_reader_get_private (self);
  guint end = MIN (priv->lanes->len, priv->interleave + priv->ahead_files);

  if (dlp_element_get_context (DLP_ELEMENT (self))->read_ahead == NULL)
    return;

  pthread_mutex_lock (&priv->lock);
  for (guint i = priv->interleave; i < end; i++)
    {
      DlpReaderLane *lane = g_ptr_array_index (priv->lanes, i);

      if (!is_wanted_locked (priv, lane))
        continue;
      if (!ask (self, lane, i - priv->interleave))
        break;
      lane->asked = true;
    }
  pthread_mutex_unlock (&priv->lock);
}

GInputStream *
dlp_reader_take_ahead (DlpReaderLane *lane, GCancellable *cancellable)
{
  DlpReaderPrivate *priv = dlp_reader_get_private (lane->reader);
  DlpAhead *ahead;

  pthread_mutex_lock (&priv->lock);
  ahead = g_steal_pointer (&lane->ahead);
  pthread_mutex_unlock (&priv->lock);
  if (ahead == NULL)
    return NULL;
  if (lane->copy == NULL && lane->offset == 0)
    return dlp_ahead_take (ahead, cancellable);
  dlp_ahead_drop (ahead);
  return NULL;
}

void
dlp_reader_drop_ahead (DlpReaderLane *lane)
{
  if (lane->ahead != NULL)
    dlp_ahead_drop (g_steal_pointer (&lane->ahead));
}
