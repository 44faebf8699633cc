/* SPDX-License-Identifier: MIT */

#include <math.h>

#include <string.h>

#include <dlpipe/dlp-pad-template.h>

#include "dlp-file-private.h"
#include "dlp-read-ahead-private.h"
#include "dlp-reader-private.h"
#include "dlp-setting-private.h"

/* Files taken beyond those in the rotation, so that many small ones are opened and read in advance.
 */
#define LOOK_AHEAD 16
/* A part of a compressed file that is decoded by itself: its bytes, decoded and not, and what its
 * decoder holds. */
#define PART_BYTES (3 * 1024 * 1024)
#define MIN_CHUNK_BYTES (16 * 1024)
/* A piece of a file that the class opens is at most so many times chunk-bytes. */
#define MAX_PIECE_CHUNKS 16
/* For each file open at once, of which there are two beyond those in the rotation. */
#define WANTED_BYTES (12 * 1024 * 1024)
/* Streams open beyond those in the rotation, where a reader's share of memory is at least so much.
 */
#define SHARE_FOR_ONE_MORE (2 * 1024 * 1024)
#define SHARE_FOR_TWO_MORE (8 * 1024 * 1024)

enum
{
  PROP_0,
  PROP_INTERLEAVE,
  PROP_ON_BAD_RECORD,
  PROP_MAX_BAD_RATIO,
  PROP_MAX_RECORD_BYTES,
  PROP_ON_DAMAGED_FILE,
  PROP_WINDOW_LOG_MAX,
  PROP_READ_SIZE,
  PROP_CHUNK_BYTES,
  PROP_CACHE_BYTES,
  N_PROPS
};

static GParamSpec *properties[N_PROPS];

/* clang-format off */
static G_DEFINE_QUARK (dlp-reader-counters, counters)
    /* clang-format on */

    G_DEFINE_ENUM_TYPE (DlpBadRecordAction,
                        dlp_bad_record_action,
                        G_DEFINE_ENUM_VALUE (DLP_BAD_RECORD_SKIP, "skip"),
                        G_DEFINE_ENUM_VALUE (DLP_BAD_RECORD_FAIL, "fail"))

        G_DEFINE_ENUM_TYPE (DlpDamagedFileAction,
                            dlp_damaged_file_action,
                            G_DEFINE_ENUM_VALUE (DLP_DAMAGED_FILE_FAIL, "fail"),
                            G_DEFINE_ENUM_VALUE (DLP_DAMAGED_FILE_KEEP, "keep"))

            G_DEFINE_ABSTRACT_TYPE_WITH_PRIVATE (DlpReader, dlp_reader, DLP_TYPE_ELEMENT)

                DlpReaderPrivate *dlp_reader_get_private (DlpReader *self)
{
  return dlp_reader_get_instance_private (self);
}

void
dlp_reader_class_set_counters (DlpReaderClass *klass, const char *const *names)
{
  g_return_if_fail (g_strv_length ((char **) names) <= DLP_READER_MAX_COUNTERS);

  g_type_set_qdata (G_TYPE_FROM_CLASS (klass), counters_quark (), g_strdupv ((char **) names));
}

static const char *const *
find_counters (DlpReader *self)
{
  for (GType type = G_OBJECT_TYPE (self); type != 0; type = g_type_parent (type))
    {
      const char *const *names = g_type_get_qdata (type, counters_quark ());

      if (names != NULL)
        return names;
    }
  return NULL;
}

/* ---- negotiation ---- */

static gboolean
dlp_reader_negotiate (DlpElement *element, GError **error)
{
  DlpReader *self = DLP_READER (element);
  DlpReaderPrivate *priv = dlp_reader_get_private (self);
  g_autoptr (DlpSchema) rejected = dlp_reader_rejected_schema ();
  DlpSchema *given = dlp_pad_get_schema (priv->in);

  if (given != NULL && dlp_schema_get_kind (given) != DLP_SCHEMA_FILES)
    {
      g_autofree char *text = dlp_schema_to_string (given);

      g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_TYPE,
                   "reads files, but its input gives %s; a file-source belongs before it", text);
      return FALSE;
    }

  g_clear_pointer (&priv->schema, dlp_schema_unref);
  priv->schema = DLP_READER_GET_CLASS (self)->get_schema (self, error);
  if (priv->schema == NULL)
    return FALSE;

  dlp_pad_set_schema (priv->out, priv->schema);
  dlp_pad_set_schema (priv->rejected, rejected);
  return TRUE;
}

/* ---- state ---- */

static DlpReaderState *
get_state (DlpReader *self)
{
  DlpReaderPrivate *priv = dlp_reader_get_private (self);

  if (priv->state == NULL)
    {
      priv->state = dlp_reader_state_new (priv->interleave);
      priv->counters = find_counters (self);
    }
  return priv->state;
}

static DlpState *
dlp_reader_save (DlpElement *element)
{
  DlpReader *self = DLP_READER (element);
  DlpReaderPrivate *priv = dlp_reader_get_private (self);

  return dlp_state_new (get_state (self), dlp_reader_state_size (priv->interleave));
}

static GVariant *
dlp_reader_describe (DlpElement *element, const DlpState *state)
{
  return dlp_reader_state_describe (dlp_state_get_data (state),
                                    find_counters (DLP_READER (element)));
}

static gboolean
dlp_reader_load (DlpElement *element, GVariant *described, guint version, GError **error)
{
  DlpReader *self = DLP_READER (element);
  DlpReaderPrivate *priv = dlp_reader_get_private (self);
  DlpReaderState *state = get_state (self);

  return dlp_reader_state_load (state, described, priv->interleave, priv->counters, error);
}

static GVariant *
dlp_reader_report (DlpElement *element, GVariant *described)
{
  DlpReaderPrivate *priv = dlp_reader_get_private (DLP_READER (element));
  g_autoptr (GVariant) report = g_variant_ref_sink (dlp_reader_state_report (described));
  g_auto (GVariantDict) dict = G_VARIANT_DICT_INIT (report);
  GVariantBuilder builder;
  GHashTableIter iter;
  gpointer codec, bytes;

  if (priv->read_by_codec == NULL)
    return g_variant_dict_end (&dict);
  g_variant_builder_init (&builder, G_VARIANT_TYPE ("a{st}"));
  pthread_mutex_lock (&priv->lock);
  g_hash_table_iter_init (&iter, priv->read_by_codec);
  while (g_hash_table_iter_next (&iter, &codec, &bytes))
    g_variant_builder_add (&builder, "{st}", codec, *(guint64 *) bytes);
  pthread_mutex_unlock (&priv->lock);
  g_variant_dict_insert_value (&dict, "read-by-codec", g_variant_builder_end (&builder));
  return g_variant_dict_end (&dict);
}

void
dlp_reader_set_has_header (DlpReader *self, gboolean has_header)
{
  g_return_if_fail (DLP_IS_READER (self));
  g_return_if_fail (!has_header || DLP_READER_GET_CLASS (self)->find_border != NULL);

  dlp_reader_get_private (self)->has_header = has_header;
}

void
dlp_reader_set_head (DlpReader *self, double share, guint64 min_bytes)
{
  DlpReaderPrivate *priv;

  g_return_if_fail (DLP_IS_READER (self) && share >= 0);

  priv = dlp_reader_get_private (self);
  priv->head_share = MIN (share, 1);
  priv->head_bytes = min_bytes;
  g_clear_pointer (&priv->read_by_codec, g_hash_table_unref);
  priv->read_by_codec = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
}

/* Lanes are in the order of the link, and none that was finished is among them. A file of a place
 * that was not met again yet lies behind what was consumed. */
static void
dlp_reader_mark_input (DlpElement *element, guint input, DlpCursor *cursor)
{
  DlpReaderPrivate *priv = dlp_reader_get_private (DLP_READER (element));

  if (priv->lanes->len > 0)
    dlp_cursor_set (cursor, &((DlpReaderLane *) g_ptr_array_index (priv->lanes, 0))->hold);
  else
    dlp_pad_get_cursor (priv->in, cursor);
}

/* ---- start and stop ---- */

static gsize
want_for_files (DlpReader *self)
{
  return (dlp_reader_get_private (self)->interleave + 2) * (gsize) WANTED_BYTES;
}

static gsize
dlp_reader_want_memory (DlpElement *element, guint n_workers)
{
  DlpReader *self = DLP_READER (element);

  return want_for_files (self) + dlp_reader_want_copies (self) + dlp_reader_want_ahead (self);
}

/* No decoder holds a window beside the pieces, which are therefore larger. */
static void
deal_to_pieces (DlpReaderPrivate *priv, gsize share)
{
  priv->share = share / 4 * 3;
  priv->piece_size = MIN (MAX (priv->share / (2 * ((gsize) priv->interleave + 1)), MIN_CHUNK_BYTES),
                          MAX_PIECE_CHUNKS * (gsize) priv->chunk_bytes);
}

/* Copies of what is read again get their part, and so does what is read ahead; of the rest a
 * quarter is for chunks, the others for what decoders hold, such as windows. */
static void
deal_memory (DlpReader *self)
{
  DlpReaderPrivate *priv = dlp_reader_get_private (self);
  gsize share = dlp_element_get_memory_share (DLP_ELEMENT (self));
  gsize for_copies = dlp_reader_want_copies (self);
  gsize for_ahead = dlp_reader_want_ahead (self);
  double part = (double) share / (double) (for_copies + for_ahead + want_for_files (self));
  gsize copies = (gsize) ((double) for_copies * MIN (part, 1));
  gsize ahead = MAX ((gsize) ((double) for_ahead * MIN (part, 1)), MIN (for_ahead, share / 4));
  guint k = priv->interleave;
  guint more;

  share -= copies + ahead;
  dlp_reader_start_copies (self, copies);
  dlp_reader_start_ahead (self, ahead);
  priv->share = share / 4;
  priv->chunk_size =
      MIN (priv->chunk_bytes, MAX (priv->share / (4 * ((gsize) k + 1)), MIN_CHUNK_BYTES));
  /* A record in a chunk is at most as long as the chunk: what is too long is found by its being
   * full. */
  priv->chunk_size = MIN (priv->chunk_size, priv->max_record_bytes);
  if (dlp_reader_opens_files (self))
    deal_to_pieces (priv, share);
  priv->effective_read_size = MIN (priv->read_size, MAX (priv->chunk_size, MIN_CHUNK_BYTES));

  more = share >= SHARE_FOR_TWO_MORE ? 2 : share >= SHARE_FOR_ONE_MORE ? 1 : 0;
  more = MIN (more, priv->ahead_files);
  priv->threaded = dlp_element_get_n_workers (DLP_ELEMENT (self)) > 0;
  priv->max_open = k + more;
  priv->stream_memory = (share - priv->share) / priv->max_open;
  priv->stream_memory -= MIN (priv->effective_read_size, priv->stream_memory);
  priv->max_parts = MIN (priv->n_workers + 1, (guint) (priv->stream_memory / PART_BYTES));
  priv->look_ahead = priv->threaded ? MAX (LOOK_AHEAD, priv->ahead_files) : 0;
  priv->window = k == 1 ? 2 + priv->n_workers : 3;
}

static gboolean
dlp_reader_start (DlpElement *element, GCancellable *cancellable, GError **error)
{
  DlpReader *self = DLP_READER (element);
  DlpReaderPrivate *priv = dlp_reader_get_private (self);

  get_state (self);
  priv->in_place = g_new0 (DlpReaderLane *, priv->interleave);
  priv->n_workers = MAX (dlp_element_get_n_workers (element), 1);
  priv->workers = g_new0 (DlpReaderWorker, priv->n_workers);
  priv->stopping = false;
  deal_memory (self);
  return dlp_reader_start_io (self, error);
}

static void
free_workers (DlpReader *self)
{
  DlpReaderPrivate *priv = dlp_reader_get_private (self);
  DlpReaderClass *klass = DLP_READER_GET_CLASS (self);

  for (guint i = 0; i < priv->n_workers; i++)
    {
      DlpReaderWorker *worker = &priv->workers[i];

      g_clear_pointer (&worker->builder, dlp_record_batch_builder_unref);
      if (worker->ready && klass->worker_free != NULL)
        klass->worker_free (self, worker->user);
    }
  g_clear_pointer (&priv->workers, g_free);
  priv->n_workers = 0;
}

static void
free_lanes (GPtrArray *lanes)
{
  for (guint i = 0; i < lanes->len; i++)
    dlp_reader_lane_free (g_ptr_array_index (lanes, i));
  g_ptr_array_set_size (lanes, 0);
}

static void
dlp_reader_stop (DlpElement *element)
{
  DlpReader *self = DLP_READER (element);
  DlpReaderPrivate *priv = dlp_reader_get_private (self);

  dlp_reader_stop_io (self);
  free_lanes (priv->lanes);
  free_lanes (priv->removed);
  dlp_reader_stop_copies (self);
  free_workers (self);
  g_ptr_array_set_size (priv->spare, 0);
  g_clear_pointer (&priv->in_place, g_free);
}

/* ---- the input ---- */

bool
dlp_reader_has_room (DlpReaderPrivate *priv)
{
  return priv->lanes->len < priv->interleave + priv->look_ahead;
}

static bool
is_removable (DlpReaderPrivate *priv, DlpReaderLane *lane)
{
  bool removable;

  pthread_mutex_lock (&priv->lock);
  lane->removed = true;
  removable = !lane->busy;
  for (GList *link = lane->chunks.head; link != NULL; link = link->next)
    removable = removable && ((DlpReaderChunk *) link->data)->done;
  pthread_mutex_unlock (&priv->lock);
  return removable;
}

static void
forget_lane (DlpReaderPrivate *priv, DlpReaderLane *lane)
{
  pthread_mutex_lock (&priv->lock);
  for (GList *link = lane->chunks.head; link != NULL; link = link->next)
    priv->held -= ((DlpReaderChunk *) link->data)->held;
  if (lane->opened)
    priv->n_open--;
  pthread_mutex_unlock (&priv->lock);
  dlp_reader_lane_free (lane);
}

void
dlp_reader_remove_lane (DlpReader *self, DlpReaderLane *lane)
{
  DlpReaderPrivate *priv = dlp_reader_get_private (self);

  pthread_mutex_lock (&priv->lock);
  g_ptr_array_remove (priv->lanes, lane);
  pthread_mutex_unlock (&priv->lock);
  dlp_reader_ask_ahead (self);

  dlp_cursor_clear (&lane->hold);
  if (is_removable (priv, lane))
    {
      forget_lane (priv, lane);
      return;
    }
  /* A pipe may say nothing for as long as it likes. */
  g_cancellable_cancel (lane->cancellable);
  g_ptr_array_add (priv->removed, lane);
}

static void
sweep_removed (DlpReaderPrivate *priv)
{
  for (guint i = priv->removed->len; i-- > 0;)
    if (is_removable (priv, g_ptr_array_index (priv->removed, i)))
      forget_lane (priv, g_ptr_array_steal_index_fast (priv->removed, i));
}

/* After a restore: the place that the file is in. */
static DlpReaderPlace *
find_place (DlpReaderPrivate *priv, guint64 position, guint *index)
{
  for (*index = 0; *index < priv->state->n_places; ++*index)
    if (priv->state->places[*index].file == position)
      return &priv->state->places[*index];
  return NULL;
}

static char *
get_text (DlpRecordBatch *batch, guint field, guint row)
{
  gsize size;
  const guint8 *data = dlp_record_batch_get_value (batch, field, row, &size);

  return data != NULL ? g_strndup ((const char *) data, size) : NULL;
}

/* -1: it is not there. */
static gint64
get_expected (DlpRecordBatch *batch, const char *name, guint row)
{
  int field = dlp_schema_find (dlp_record_batch_get_schema (batch), name);

  return field >= 0 && !dlp_record_batch_is_null (batch, field, row) ?
             dlp_record_batch_get_int64 (batch, field, row) :
             -1;
}

static DlpFile *
make_file (DlpReader *self, DlpRecordBatch *batch, guint row)
{
  const DlpCoordinate *coordinate = dlp_record_batch_get_coordinate (batch, row);
  g_autofree char *uri = get_text (batch, 0, row);
  g_autofree char *identity = get_text (batch, 2, row);
  gint64 size = dlp_record_batch_get_int64 (batch, 1, row);
  DlpFile *file =
      dlp_file_new (uri, MAX (size, -1), identity != NULL && *identity != '\0' ? identity : NULL);
  int field = dlp_schema_find (dlp_record_batch_get_schema (batch), "sha256");
  g_autofree char *sha256 = field >= 0 && !dlp_record_batch_is_null (batch, field, row) ?
                                get_text (batch, field, row) :
                                NULL;

  dlp_file_set_expected (file, get_expected (batch, "expected-size", row),
                         get_expected (batch, "expected-rows", row), sha256);
  dlp_file_set_scheme (file, dlp_element_find_file_scheme (DLP_ELEMENT (self), coordinate, uri));
  return file;
}

static void
add_lane (DlpReader *self, DlpRecordBatch *batch, guint row, guint64 position)
{
  DlpReaderPrivate *priv = dlp_reader_get_private (self);
  g_autoptr (DlpFile) file = make_file (self, batch, row);
  DlpReaderLane *lane =
      dlp_reader_lane_new (self, position, file, dlp_record_batch_get_coordinate (batch, row));
  guint index;
  DlpReaderPlace *place = find_place (priv, position, &index);

  /* Not under the lock: the plugin of a scheme may have to be loaded for it. */
  lane->is_held = dlp_read_ahead_is_held (file);
  dlp_pad_get_cursor (priv->in, &lane->hold);
  if (place != NULL)
    {
      lane->offset = place->offset;
      lane->border = place->border;
      lane->active = true;
      priv->in_place[index] = lane;
    }

  pthread_mutex_lock (&priv->lock);
  g_ptr_array_add (priv->lanes, lane);
  pthread_mutex_unlock (&priv->lock);
}

/* A file before the next one that has no place was finished before the restore. */
static bool
is_finished (DlpReaderPrivate *priv, guint64 position)
{
  guint index;

  return position < priv->state->next && find_place (priv, position, &index) == NULL;
}

static void
take_files (DlpReader *self)
{
  DlpReaderPrivate *priv = dlp_reader_get_private (self);
  bool added = false;
  DlpRecordBatch *batch;
  guint row;

  while (dlp_reader_has_room (priv) && (batch = dlp_pad_peek (priv->in, &row)) != NULL)
    {
      guint64 position = dlp_pad_get_position (priv->in);

      if (!is_finished (priv, position))
        {
          add_lane (self, batch, row, position);
          added = true;
        }
      dlp_pad_consume (priv->in, 1);
    }
  if (!added)
    return;
  dlp_reader_wake_io (self);
  dlp_reader_ask_ahead (self);
}

static DlpStep
dlp_reader_step (DlpElement *element, GCancellable *cancellable, GError **error)
{
  DlpReader *self = DLP_READER (element);
  DlpReaderPrivate *priv = dlp_reader_get_private (self);

  if (priv->removed->len > 0)
    sweep_removed (priv);
  take_files (self);
  if (dlp_element_is_finishing (element))
    return dlp_reader_finish (self, cancellable, error);
  return dlp_reader_release (self, cancellable, error);
}

/* ---- object ---- */

static void
dlp_reader_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  DlpReaderPrivate *priv = dlp_reader_get_private (DLP_READER (object));

  switch (id)
    {
    case PROP_INTERLEAVE:
      g_value_set_uint (value, priv->interleave);
      break;
    case PROP_ON_BAD_RECORD:
      g_value_set_enum (value, priv->on_bad_record);
      break;
    case PROP_MAX_BAD_RATIO:
      g_value_set_double (value, priv->max_bad_ratio);
      break;
    case PROP_MAX_RECORD_BYTES:
      g_value_set_uint64 (value, priv->max_record_bytes);
      break;
    case PROP_ON_DAMAGED_FILE:
      g_value_set_enum (value, priv->on_damaged_file);
      break;
    case PROP_WINDOW_LOG_MAX:
      g_value_set_uint (value, priv->window_log_max);
      break;
    case PROP_READ_SIZE:
      g_value_set_uint64 (value, priv->read_size);
      break;
    case PROP_CHUNK_BYTES:
      g_value_set_uint64 (value, priv->chunk_bytes);
      break;
    case PROP_CACHE_BYTES:
      g_value_set_uint64 (value, priv->cache_bytes);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    }
}

static void
dlp_reader_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  DlpReaderPrivate *priv = dlp_reader_get_private (DLP_READER (object));

  switch (id)
    {
    case PROP_INTERLEAVE:
      priv->interleave = g_value_get_uint (value);
      break;
    case PROP_ON_BAD_RECORD:
      priv->on_bad_record = g_value_get_enum (value);
      break;
    case PROP_MAX_BAD_RATIO:
      priv->max_bad_ratio = g_value_get_double (value);
      break;
    case PROP_MAX_RECORD_BYTES:
      priv->max_record_bytes = g_value_get_uint64 (value);
      break;
    case PROP_ON_DAMAGED_FILE:
      priv->on_damaged_file = g_value_get_enum (value);
      break;
    case PROP_WINDOW_LOG_MAX:
      priv->window_log_max = g_value_get_uint (value);
      break;
    case PROP_READ_SIZE:
      priv->read_size = g_value_get_uint64 (value);
      break;
    case PROP_CHUNK_BYTES:
      priv->chunk_bytes = g_value_get_uint64 (value);
      break;
    case PROP_CACHE_BYTES:
      priv->cache_bytes = g_value_get_uint64 (value);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    }
}

static void
dlp_reader_finalize (GObject *object)
{
  DlpReaderPrivate *priv = dlp_reader_get_private (DLP_READER (object));

  g_clear_pointer (&priv->schema, dlp_schema_unref);
  g_clear_pointer (&priv->state, g_free);
  g_clear_pointer (&priv->read_by_codec, g_hash_table_unref);
  g_ptr_array_unref (priv->lanes);
  g_ptr_array_unref (priv->removed);
  g_ptr_array_unref (priv->spare);
  pthread_mutex_destroy (&priv->lock);
  pthread_cond_destroy (&priv->io_cond);
  pthread_cond_destroy (&priv->idle_cond);

  G_OBJECT_CLASS (dlp_reader_parent_class)->finalize (object);
}

/* What is tolerated says whether a run goes on, and never what comes out before: it may be another
 * on a resume. A larger window is not of these: a file that was damaged without it, and kept, would
 * have records now. */
static void
install_properties (GObjectClass *klass)
{
  properties[PROP_INTERLEAVE] =
      g_param_spec_uint ("interleave", NULL, "Files read at once, one record of each in rotation",
                         1, DLP_READER_MAX_INTERLEAVE, 1, DLP_PARAM_READWRITE);
  properties[PROP_ON_BAD_RECORD] = g_param_spec_enum (
      "on-bad-record", NULL,
      "skip: counted, warned of, handed to the pad rejected; fail: the first one ends the run",
      dlp_bad_record_action_get_type (), DLP_BAD_RECORD_SKIP, DLP_PARAM_READWRITE | DLP_PARAM_FREE);
  properties[PROP_MAX_BAD_RATIO] = g_param_spec_double (
      "max-bad-ratio", NULL,
      "Share of bad records above which the run fails, judged from record 1,000 on; below 1, "
      "100 bad records in a row fail too",
      0, 1, 0.001, DLP_PARAM_READWRITE | DLP_PARAM_FREE);
  properties[PROP_MAX_RECORD_BYTES] = g_param_spec_uint64 (
      "max-record-bytes", NULL,
      "Longest record, its line end included; a longer one is bad and passed over", 1,
      G_GUINT64_CONSTANT (1) << 30, 256 * 1024 * 1024, DLP_PARAM_READWRITE | DLP_PARAM_BYTES);
  properties[PROP_ON_DAMAGED_FILE] = g_param_spec_enum (
      "on-damaged-file", NULL,
      "A file that is cut or corrupt: fail, or keep the records before the damage and go on",
      dlp_damaged_file_action_get_type (), DLP_DAMAGED_FILE_FAIL,
      DLP_PARAM_READWRITE | DLP_PARAM_FREE);
  properties[PROP_WINDOW_LOG_MAX] = g_param_spec_uint (
      "window-log-max", NULL,
      "Largest window of a compressed file that is accepted, as a power of two (27: 128 MiB)", 10,
      31, 27, DLP_PARAM_READWRITE);
  properties[PROP_READ_SIZE] =
      g_param_spec_uint64 ("read-size", NULL, "Bytes asked of a file at once", 1, 64 * 1024 * 1024,
                           256 * 1024, DLP_PARAM_READWRITE | DLP_PARAM_BYTES | DLP_PARAM_FREE);
  properties[PROP_CHUNK_BYTES] = g_param_spec_uint64 (
      "chunk-bytes", NULL, "Decoded bytes parsed as one piece of work; less where memory is short",
      1, 64 * 1024 * 1024, 1024 * 1024, DLP_PARAM_READWRITE | DLP_PARAM_BYTES | DLP_PARAM_FREE);
  properties[PROP_CACHE_BYTES] = g_param_spec_uint64 (
      "cache-bytes", NULL,
      "Of a source that is read more than once: if its files have at most so many bytes, decoded, "
      "they are read once; less where memory is short",
      0, G_MAXINT64, 64 * 1024 * 1024, DLP_PARAM_READWRITE | DLP_PARAM_BYTES | DLP_PARAM_FREE);
  g_object_class_install_properties (klass, N_PROPS, properties);
}

static void
dlp_reader_class_init (DlpReaderClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  DlpElementClass *element_class = DLP_ELEMENT_CLASS (klass);

  object_class->get_property = dlp_reader_get_property;
  object_class->set_property = dlp_reader_set_property;
  object_class->finalize = dlp_reader_finalize;
  element_class->negotiate = dlp_reader_negotiate;
  element_class->start = dlp_reader_start;
  element_class->step = dlp_reader_step;
  element_class->stop = dlp_reader_stop;
  element_class->save = dlp_reader_save;
  element_class->describe = dlp_reader_describe;
  element_class->load = dlp_reader_load;
  element_class->report = dlp_reader_report;
  element_class->mark_input = dlp_reader_mark_input;
  element_class->want_memory = dlp_reader_want_memory;
  dlp_element_class_add_pad_template (element_class, "in", DLP_PAD_INPUT, DLP_PAD_ALWAYS,
                                      DLP_CARRIES_FILES, NULL);
  dlp_element_class_add_pad_template (element_class, "out", DLP_PAD_OUTPUT, DLP_PAD_ALWAYS,
                                      DLP_CARRIES_RECORDS, NULL);
  dlp_element_class_add_pad_template (element_class, "rejected", DLP_PAD_OUTPUT, DLP_PAD_OPTIONAL,
                                      DLP_CARRIES_RECORDS,
                                      "Bad records, with their place and what is wrong");
  install_properties (object_class);
}

static void
dlp_reader_init (DlpReader *self)
{
  DlpReaderPrivate *priv = dlp_reader_get_private (self);

  priv->in = dlp_element_add_pad (DLP_ELEMENT (self), "in", DLP_PAD_INPUT);
  priv->out = dlp_element_add_pad (DLP_ELEMENT (self), "out", DLP_PAD_OUTPUT);
  priv->rejected = dlp_element_add_optional_pad (DLP_ELEMENT (self), "rejected", DLP_PAD_OUTPUT);
  priv->interleave = 1;
  priv->max_bad_ratio = 0.001;
  priv->max_record_bytes = 256 * 1024 * 1024;
  priv->window_log_max = 27;
  priv->read_size = 256 * 1024;
  priv->chunk_bytes = 1024 * 1024;
  priv->cache_bytes = 64 * 1024 * 1024;
  priv->head_share = 1;
  priv->lanes = g_ptr_array_new ();
  priv->removed = g_ptr_array_new ();
  priv->spare = g_ptr_array_new_with_free_func (g_free);
  pthread_mutex_init (&priv->lock, NULL);
  pthread_cond_init (&priv->io_cond, NULL);
  pthread_cond_init (&priv->idle_cond, NULL);
}
