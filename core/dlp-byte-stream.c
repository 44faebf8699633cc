/* SPDX-License-Identifier: MIT */

#include <string.h>

#include <dlpipe/dlp-decoder.h>
#include <dlpipe/dlp-error.h>

#include "dlp-border-list-private.h"
#include "dlp-byte-stream-private.h"
#include "dlp-decode-ahead-private.h"
#include "dlp-decoder-private.h"
#include "dlp-file-private.h"

#define DEFAULT_READ_SIZE (256 * 1024)
/* What a codec is recognised by. */
#define HEAD_SIZE 16
#define RAW_ALIGNMENT 4096
/* A part that is decoded in advance is as many units as make so many bytes of the file; with
 * memory for less it is not worth it. */
#define PART_RAW_BYTES ((gsize) 128 * 1024)

typedef struct
{
  guint8 data[HEAD_SIZE];
  gsize start, end;
} Head;

struct _DlpByteStream
{
  gint ref_count; /* only bindings hold more than one */
  DlpFile *file;
  char *name; /* fit to print */
  GInputStream *input;
  DlpDecoder *decoder; /* NULL: plain */
  const char *codec;

  /* Bytes as read from the file, not yet consumed. */
  guint8 *raw;
  gsize raw_start, raw_end, raw_capacity, read_size;
  gboolean at_raw_end;
  GError *read_failure; /* of a read in advance: when what is there has been decoded */

  /* Parts that are decoded in advance, and what new decoders are made with. */
  DlpDecodeAhead *ahead;         /* NULL: decoded in order, here */
  gboolean ahead_ended;          /* no part follows: what is left is decoded in order */
  DlpDecoderBorder ahead_border; /* at raw_start, but for its decoded bytes */
  guint64 ahead_raw;             /* before the part that is being read */
  guint64 ahead_decoded;         /* the same, decoded */
  gsize part_raw_max, alone_raw_max, part_window;
  guint n_parts;
  gboolean is_within_part; /* the decoder: a header said a wrong length */
  guint window_log_max;
  gsize memory_limit;
  char *folder;
  GChecksum *checksum; /* (nullable): of all that was read, where it has to be a certain one */

  /* The first decoded bytes, gathered to see whether they are compressed too. */
  Head decoded_head;

  guint64 raw_position, decoded_position;
  guint64 to_skip;
  DlpBorderList borders;
  guint64 border_base; /* decoded bytes before what the decoder counts */
  gint64 read_time;    /* us, in reads of the file */
  gboolean maybe_more; /* the decoder filled all the room it was given */
  gboolean head_is_checked, finished;
  GError *failure; /* what the next read, and every later one, returns */
  char *warning;
};

static DlpByteStream *
dlp_byte_stream_ref (DlpByteStream *self)
{
  g_atomic_int_inc (&self->ref_count);
  return self;
}

G_DEFINE_BOXED_TYPE (DlpByteStream, dlp_byte_stream, dlp_byte_stream_ref, dlp_byte_stream_free)

static gsize
raw_size (DlpByteStream *self)
{
  return self->raw_end - self->raw_start;
}

static void
consume_raw (DlpByteStream *self, gsize size)
{
  self->raw_start += size;
  self->raw_position += size;
}

/* The length was recorded when the file was listed, and compared when it was opened. */
static gboolean
check_length (DlpByteStream *self, guint64 length, GError **error)
{
  gint64 size = dlp_file_get_size (self->file);

  if (size < 0 || (guint64) size == length)
    return TRUE;

  g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_CHANGED,
               "%s: the file has changed while it was read: it was %" G_GINT64_FORMAT
               " bytes, now it ends at byte %" G_GUINT64_FORMAT,
               self->name, size, length);
  return FALSE;
}

/* One read of the file: the bytes read, 0 at its end, -1 on error. */
static gssize
read_input (DlpByteStream *self,
            guint8 *buffer,
            gsize size,
            GCancellable *cancellable,
            GError **error)
{
  guint64 position = self->raw_position + raw_size (self);
  g_autoptr (GError) local_error = NULL;
  gint64 began;
  gssize n;

  if (self->at_raw_end)
    return 0;

  began = g_get_monotonic_time ();
  n = g_input_stream_read (self->input, buffer, size, cancellable, &local_error);
  self->read_time += g_get_monotonic_time () - began;
  /* Behind the read: what was written into the file before it has moved its time by now. */
  if (n >= 0 && !dlp_file_check_stream (self->file, self->input, error))
    return -1;
  if (n == 0)
    {
      self->at_raw_end = TRUE;
      return check_length (self, position, error) ? 0 : -1;
    }
  if (n > 0 && self->checksum != NULL)
    g_checksum_update (self->checksum, buffer, n);
  if (n > 0)
    return n;

  if (!g_error_matches (local_error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    g_prefix_error (&local_error, "%s: cannot read at byte %" G_GUINT64_FORMAT ": ", self->name,
                    position);
  g_propagate_error (error, g_steal_pointer (&local_error));
  return -1;
}

static gboolean
fill_raw (DlpByteStream *self, GCancellable *cancellable, GError **error)
{
  gssize n = -1;

  if (self->read_failure != NULL)
    g_propagate_error (error, g_steal_pointer (&self->read_failure));
  else
    n = read_input (self, self->raw, self->read_size, cancellable, error);
  if (n < 0)
    return FALSE;

  self->raw_start = 0;
  self->raw_end = (gsize) n;
  return TRUE;
}

/* A short read is not the end: pipes and servers give what they have. */
static gboolean
gather_head (DlpByteStream *self, GCancellable *cancellable, GError **error)
{
  while (self->raw_end < HEAD_SIZE && !self->at_raw_end)
    {
      gsize room = self->read_size < HEAD_SIZE ? MIN (self->read_size, HEAD_SIZE - self->raw_end) :
                                                 self->read_size - self->raw_end;
      gssize n = read_input (self, self->raw + self->raw_end, room, cancellable, error);

      if (n < 0)
        return FALSE;
      self->raw_end += (gsize) n;
    }

  return TRUE;
}

static void
warn_about_name (DlpByteStream *self)
{
  const char *expected = dlp_codec_of_file_name (self->name);

  if (expected == NULL || self->codec != NULL)
    return;

  if (self->raw_end == 0)
    self->warning = g_strdup_printf ("an empty file, though its name says %s", expected);
  else
    self->warning = g_strdup_printf ("not recognised as compressed, though its name says %s: "
                                     "read as it is",
                                     expected);
}

static void
set_window_log_max (DlpDecoder *decoder, guint window_log_max)
{
  GParamSpec *pspec;

  if (window_log_max == 0)
    return;

  pspec = g_object_class_find_property (G_OBJECT_GET_CLASS (decoder), "window-log-max");
  if (pspec != NULL && G_IS_PARAM_SPEC_UINT (pspec))
    g_object_set (decoder, "window-log-max", window_log_max, NULL);
}

/* All of a file that is to have a certain hash is read. */
static gboolean
read_up_to (DlpByteStream *self, guint64 offset, GCancellable *cancellable, GError **error)
{
  while (self->raw_position + raw_size (self) < offset)
    {
      consume_raw (self, raw_size (self));
      if (!fill_raw (self, cancellable, error))
        return FALSE;
      if (!self->at_raw_end)
        continue;
      g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_CHANGED,
                   "%s: the file has changed: it ends at byte %" G_GUINT64_FORMAT
                   ", and was read up to byte %" G_GUINT64_FORMAT " before",
                   self->name, self->raw_position, offset);
      return FALSE;
    }
  consume_raw (self, (gsize) (offset - self->raw_position));
  self->decoded_position = offset;
  return TRUE;
}

/* A plain file is opened again at the offset, which costs less than reading up to it. */
static gboolean
go_to_offset (DlpByteStream *self, guint64 offset, GCancellable *cancellable, GError **error)
{
  if (offset <= self->raw_end)
    {
      self->decoded_position = offset;
      consume_raw (self, (gsize) offset);
      return TRUE;
    }
  if (self->checksum != NULL)
    return read_up_to (self, offset, cancellable, error);

  g_clear_object (&self->input);
  self->input = dlp_file_open (self->file, (gint64) offset, cancellable, error);
  if (self->input == NULL)
    return FALSE;

  self->raw_start = self->raw_end = 0;
  self->at_raw_end = FALSE;
  self->raw_position = self->decoded_position = offset;
  return TRUE;
}

/* What lies before the border was looked at when it was passed for the first time. */
static gboolean
go_to_border (DlpByteStream *self,
              const DlpDecoderBorder *border,
              GCancellable *cancellable,
              GError **error)
{
  DlpDecoderClass *klass = DLP_DECODER_GET_CLASS (self->decoder);

  if (border->raw == 0 || klass->go_to_border == NULL)
    return TRUE;
  if (!go_to_offset (self, border->raw, cancellable, error))
    return FALSE;

  klass->go_to_border (self->decoder, border);
  self->ahead_border = *border;
  dlp_border_list_add (&self->borders, border);
  self->decoded_position = border->decoded;
  self->to_skip -= border->decoded;
  self->head_is_checked = TRUE;
  return TRUE;
}

DlpByteStream *
dlp_byte_stream_open (DlpFile *file,
                      guint64 offset,
                      guint window_log_max,
                      gsize read_size,
                      GCancellable *cancellable,
                      GError **error)
{
  const DlpDecoderBorder start = { 0 };

  return dlp_byte_stream_open_at (file, NULL, offset, &start, window_log_max, read_size,
                                  cancellable, error);
}

DlpByteStream *
dlp_byte_stream_open_at (DlpFile *file,
                         GInputStream *opened,
                         guint64 offset,
                         const DlpDecoderBorder *border,
                         guint window_log_max,
                         gsize read_size,
                         GCancellable *cancellable,
                         GError **error)
{
  g_autoptr (DlpByteStream) self = NULL;

  g_return_val_if_fail (DLP_IS_FILE (file), NULL);
  g_return_val_if_fail (offset <= G_MAXINT64, NULL);
  g_return_val_if_fail (border->raw <= G_MAXINT64 && border->decoded <= offset, NULL);

  self = g_new0 (DlpByteStream, 1);
  self->ref_count = 1;
  self->file = g_object_ref (file);
  self->name = dlp_uri_escape_for_display (dlp_file_get_uri (file));
  self->read_size = read_size == 0 ? DEFAULT_READ_SIZE : read_size;
  self->raw_capacity = MAX (self->read_size, HEAD_SIZE);
  self->raw = g_aligned_alloc (1, self->raw_capacity, RAW_ALIGNMENT);

  if (dlp_file_get_expected_sha256 (file) != NULL)
    self->checksum = g_checksum_new (G_CHECKSUM_SHA256);
  self->input = opened != NULL ? opened : dlp_file_open (file, 0, cancellable, error);
  if (self->input == NULL || !gather_head (self, cancellable, error))
    return NULL;

  self->decoder = dlp_codec_open (self->raw, self->raw_end, &self->codec);
  warn_about_name (self);

  if (self->decoder == NULL)
    {
      if (!go_to_offset (self, offset, cancellable, error))
        return NULL;
    }
  else
    {
      self->window_log_max = window_log_max;
      set_window_log_max (self->decoder, window_log_max);
      self->to_skip = offset;
      if (!go_to_border (self, border, cancellable, error))
        return NULL;
    }

  return g_steal_pointer (&self);
}

void
dlp_byte_stream_free (DlpByteStream *self)
{
  if (self == NULL || !g_atomic_int_dec_and_test (&self->ref_count))
    return;

  dlp_decode_ahead_free (self->ahead);
  g_clear_object (&self->input);
  g_clear_object (&self->decoder);
  g_clear_object (&self->file);
  g_clear_pointer (&self->checksum, g_checksum_free);
  g_clear_error (&self->failure);
  g_clear_error (&self->read_failure);
  g_aligned_free (self->raw);
  g_free (self->folder);
  g_free (self->name);
  g_free (self->warning);
  g_free (self);
}

void
dlp_byte_stream_limit_memory (DlpByteStream *self, gsize bytes, const char *folder)
{
  DlpDecoderClass *klass;

  g_return_if_fail (self != NULL && folder != NULL);

  self->memory_limit = bytes;
  g_free (self->folder);
  self->folder = g_strdup (folder);
  klass = self->decoder != NULL ? DLP_DECODER_GET_CLASS (self->decoder) : NULL;
  if (klass != NULL && klass->limit_memory != NULL)
    klass->limit_memory (self->decoder, bytes, folder);
}

void
dlp_byte_stream_rest (DlpByteStream *self)
{
  DlpDecoderClass *klass;

  g_return_if_fail (self != NULL);

  /* Where there is memory for parts there is for their windows. */
  klass =
      self->decoder != NULL && self->ahead == NULL ? DLP_DECODER_GET_CLASS (self->decoder) : NULL;
  if (klass != NULL && klass->rest != NULL)
    klass->rest (self->decoder);
}

static gssize
read_plain (DlpByteStream *self,
            guint8 *buffer,
            gsize size,
            GCancellable *cancellable,
            GError **error)
{
  gsize n;

  if (raw_size (self) == 0 && size >= self->read_size)
    {
      gssize direct = read_input (self, buffer, self->read_size, cancellable, error);

      self->raw_position += direct > 0 ? (gsize) direct : 0;
      return direct;
    }

  if (raw_size (self) == 0 && !fill_raw (self, cancellable, error))
    return -1;

  n = MIN (size, raw_size (self));
  memcpy (buffer, self->raw + self->raw_start, n);
  consume_raw (self, n);

  return (gssize) n;
}

/* Takes @cause; what is returned from now on also says how far the decoding came. */
static void
set_failure (DlpByteStream *self, GError *cause)
{
  self->failure =
      g_error_new (cause->domain, cause->code, "%s: %s (after %" G_GUINT64_FORMAT " decoded bytes)",
                   self->name, cause->message, self->decoded_position);
  g_error_free (cause);
}

static void
note_border (DlpByteStream *self)
{
  DlpDecoderClass *klass = DLP_DECODER_GET_CLASS (self->decoder);
  DlpDecoderBorder border;

  if (klass->get_border == NULL || !klass->get_border (self->decoder, &border))
    return;
  border.decoded += self->border_base;
  dlp_border_list_add (&self->borders, &border);
}

/* One call of the decoder; sets self->failure or self->finished where nothing will follow. */
static void
decode_once (DlpByteStream *self, guint8 *out, gsize size, gsize *written)
{
  DlpDecoderClass *klass = DLP_DECODER_GET_CLASS (self->decoder);
  gsize available = raw_size (self);
  GError *cause = NULL;
  gboolean ok, moved;
  gsize used = 0;

  ok = klass->decode (self->decoder, self->raw + self->raw_start, available, &used, out, size,
                      written, &cause);
  moved = used > 0 || *written > 0;
  consume_raw (self, used);
  self->decoded_position += *written;
  self->maybe_more = *written == size;
  note_border (self);

  if (ok && !moved && available > 0)
    g_set_error (&cause, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_INTERNAL,
                 "the codec %s (%s) stands still at byte %" G_GUINT64_FORMAT
                 ": it neither took input nor wrote output",
                 self->codec, G_OBJECT_TYPE_NAME (self->decoder), self->raw_position);
  else if (ok && !moved && self->at_raw_end)
    self->finished = klass->finish (self->decoder, &cause);

  if (cause != NULL)
    set_failure (self, cause);
}

/* ---- in parts ---- */

void
dlp_byte_stream_decode_ahead (DlpByteStream *self, DlpElement *element, guint max_parts)
{
  DlpDecoderClass *klass = self->decoder != NULL ? DLP_DECODER_GET_CLASS (self->decoder) : NULL;

  /* A quarter for the file's bytes, here and in the parts, one for what is decoded, half for
   * windows. */
  self->part_raw_max = self->memory_limit / 4 / (max_parts + 1);
  self->alone_raw_max = self->memory_limit / 4;
  self->part_window = self->memory_limit / 2 / MAX (max_parts, 1);
  if (klass == NULL || klass->measure == NULL || max_parts < 2 ||
      self->part_raw_max < PART_RAW_BYTES ||
      dlp_file_get_size (self->file) < (gint64) (2 * PART_RAW_BYTES))
    return;

  self->ahead_raw = self->raw_position;
  self->ahead_decoded = self->decoded_position;
  self->ahead = dlp_decode_ahead_new (element, max_parts, self->memory_limit / 4 / max_parts);
}

guint
dlp_byte_stream_get_n_parts (DlpByteStream *self)
{
  return self->n_parts;
}

/* How many bytes the next part has; 0: more are needed to tell; -1: it is none. */
static gssize
measure_part (DlpByteStream *self, DlpDecoderBorder *end)
{
  DlpDecoderClass *klass = DLP_DECODER_GET_CLASS (self->decoder);
  gsize size = 0;
  gssize n = 1;

  *end = self->ahead_border;
  while (n > 0 && size < PART_RAW_BYTES)
    {
      n = klass->measure (self->decoder, end, self->raw + self->raw_start + size,
                          raw_size (self) - size);
      size += (gsize) MAX (n, 0);
    }
  if (n == 0 && !self->at_raw_end && (size == 0 || raw_size (self) < self->part_raw_max))
    return raw_size (self) < self->alone_raw_max ? 0 : -1;
  return size > 0 ? (gssize) size : -1;
}

static DlpDecoder *
new_decoder (DlpByteStream *self, gsize memory)
{
  DlpDecoder *decoder = g_object_new (G_OBJECT_TYPE (self->decoder), NULL);
  DlpDecoderClass *klass = DLP_DECODER_GET_CLASS (decoder);

  set_window_log_max (decoder, self->window_log_max);
  if (klass->limit_memory != NULL && self->folder != NULL)
    klass->limit_memory (decoder, memory, self->folder);
  return decoder;
}

/* At the border before what is to be read. */
static DlpDecoder *
make_decoder (DlpByteStream *self)
{
  DlpDecoderBorder border = self->ahead_border;
  DlpDecoder *decoder = dlp_decode_ahead_take_decoder (self->ahead);

  border.decoded = 0;
  if (decoder == NULL)
    decoder = new_decoder (self, self->part_window);
  if (border.raw > 0)
    DLP_DECODER_GET_CLASS (decoder)->go_to_border (decoder, &border);
  return decoder;
}

static void
add_part (DlpByteStream *self, gsize size, const DlpDecoderBorder *end)
{
  dlp_decode_ahead_add (self->ahead, make_decoder (self), self->raw + self->raw_start, size, end);
  consume_raw (self, size);
  self->ahead_border = *end;
  self->n_parts++;
}

static void
replace_raw (DlpByteStream *self, gsize capacity)
{
  gsize held = raw_size (self);
  guint8 *raw = g_aligned_alloc (1, capacity, RAW_ALIGNMENT);

  memcpy (raw, self->raw + self->raw_start, held);
  g_aligned_free (self->raw);
  self->raw = raw;
  self->raw_capacity = capacity;
  self->raw_start = 0;
  self->raw_end = held;
}

static gboolean
append_raw (DlpByteStream *self, GCancellable *cancellable, GError **error)
{
  gsize held = raw_size (self);
  gssize n;

  if (self->raw_capacity < held + self->read_size)
    replace_raw (self, MAX (2 * self->raw_capacity, held + self->read_size));
  memmove (self->raw, self->raw + self->raw_start, held);
  self->raw_start = 0;
  self->raw_end = held;
  n = read_input (self, self->raw + held, MIN (self->read_size, self->raw_capacity - held),
                  cancellable, error);
  self->raw_end += (gsize) MAX (n, 0);
  return n >= 0;
}

/* A fault of a read waits until what was read before it is given out. FALSE: cancelled. */
static gboolean
fill_parts (DlpByteStream *self, GCancellable *cancellable, GError **error)
{
  while (!self->ahead_ended && dlp_decode_ahead_has_room (self->ahead))
    {
      g_autoptr (GError) local_error = NULL;
      DlpDecoderBorder end;
      gssize n = measure_part (self, &end);

      if (n > 0)
        add_part (self, (gsize) n, &end);
      else if (n < 0)
        self->ahead_ended = TRUE;
      /* A long one is alone. */
      else if (raw_size (self) >= self->part_raw_max && !dlp_decode_ahead_is_empty (self->ahead))
        break;
      else if (!append_raw (self, cancellable, &local_error))
        {
          if (g_error_matches (local_error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
            {
              g_propagate_error (error, g_steal_pointer (&local_error));
              return FALSE;
            }
          self->read_failure = g_steal_pointer (&local_error);
          self->ahead_ended = TRUE;
        }
    }
  return TRUE;
}

/* The bytes of all parts that are left are the stream's again. */
static void
give_up_parts (DlpByteStream *self)
{
  g_autoptr (GByteArray) parts = dlp_decode_ahead_give_up (self->ahead);
  gsize held = raw_size (self);
  gsize capacity = parts->len + held + self->read_size;
  guint8 *raw = g_aligned_alloc (1, capacity, RAW_ALIGNMENT);

  if (parts->len > 0)
    memcpy (raw, parts->data, parts->len);
  memcpy (raw + parts->len, self->raw + self->raw_start, held);
  g_aligned_free (self->raw);
  self->raw = raw;
  self->raw_capacity = capacity;
  self->raw_start = 0;
  self->raw_end = parts->len + held;
  self->raw_position -= parts->len;
  self->ahead_ended = TRUE;
}

/* Its decoder goes on, if there is anything that was no part, and has its counts. What a header
 * said of a part's length may be wrong: then it ends elsewhere than at a border. */
static void
end_part (DlpByteStream *self)
{
  DlpDecoderBorder end, reached = { 0 };
  DlpDecoder *decoder = dlp_decode_ahead_end_part (self->ahead, &end);

  dlp_decode_ahead_give_decoder (self->ahead, self->decoder);
  self->decoder = decoder;
  self->border_base = self->ahead_decoded;
  if (self->failure != NULL)
    return;

  DLP_DECODER_GET_CLASS (decoder)->get_border (decoder, &reached);
  if (reached.raw != end.raw)
    {
      self->is_within_part = TRUE;
      give_up_parts (self);
      return;
    }
  end.decoded = self->ahead_decoded = self->decoded_position;
  self->ahead_raw = end.raw;
  dlp_border_list_add (&self->borders, &end);
}

/* With all the memory of the stream. A decoder that stands within a part has to go on as it is. */
static void
go_on_in_order (DlpByteStream *self)
{
  DlpDecoderBorder border = self->ahead_border;
  DlpDecoder *decoder;

  if (self->is_within_part)
    return;
  decoder = new_decoder (self, self->memory_limit);
  border.decoded = 0;
  DLP_DECODER_GET_CLASS (decoder)->go_to_border (decoder, &border);
  g_object_unref (self->decoder);
  self->decoder = decoder;
  self->border_base = self->decoded_position;
}

/* As decode_some(); 0 too where no part is left, and the stream goes on in order. */
static gssize
read_parts (DlpByteStream *self, guint8 *out, gsize size, GCancellable *cancellable, GError **error)
{
  while (self->failure == NULL)
    {
      GError *cause = NULL;
      gsize n;

      if (!fill_parts (self, cancellable, error))
        return -1;
      if (dlp_decode_ahead_is_empty (self->ahead))
        break;
      n = dlp_decode_ahead_read (self->ahead, out, size, &cause);
      self->decoded_position += n;
      if (n > 0)
        return (gssize) n;
      if (cause != NULL)
        set_failure (self, cause);
      end_part (self);
    }

  if (self->n_parts > 0 && self->failure == NULL)
    go_on_in_order (self);
  g_clear_pointer (&self->ahead, dlp_decode_ahead_free);
  return 0;
}

/* ---- in order ---- */

/* Some decoded bytes; 0 at the end, or where self->failure is set; -1 if the file cannot be read.
 */
static gssize
decode_some (DlpByteStream *self,
             guint8 *out,
             gsize size,
             GCancellable *cancellable,
             GError **error)
{
  gsize written = 0;

  if (self->ahead != NULL)
    {
      gssize n = read_parts (self, out, size, cancellable, error);

      if (n != 0)
        return n;
    }

  while (written == 0 && !self->finished && self->failure == NULL)
    {
      /* What the decoder holds comes first: a pipe may have nothing more to give for long. */
      if (raw_size (self) == 0 && !self->maybe_more && !fill_raw (self, cancellable, error))
        return -1;
      /* A few bytes may be worth gigabytes. */
      if (g_cancellable_set_error_if_cancelled (cancellable, error))
        return -1;
      decode_once (self, out, size, &written);
    }

  return (gssize) written;
}

/* Gathers the first decoded bytes, whatever pieces they come in: what is compressed twice is
 * refused. Can be called again after it was cancelled. */
static gboolean
check_decoded_head (DlpByteStream *self, GCancellable *cancellable, GError **error)
{
  Head *head = &self->decoded_head;
  const char *inner;

  while (head->end < HEAD_SIZE && !self->finished && self->failure == NULL)
    {
      gssize n =
          decode_some (self, head->data + head->end, HEAD_SIZE - head->end, cancellable, error);

      if (n < 0)
        return FALSE;
      head->end += (gsize) n;
    }

  self->head_is_checked = TRUE;

  inner = dlp_codec_find (head->data, head->end);
  if (inner == NULL)
    return TRUE;

  head->end = 0;
  g_clear_error (&self->failure);
  self->failure = g_error_new (DLP_DATA_ERROR, DLP_DATA_ERROR_DAMAGED,
                               "%s: the bytes decoded from %s are %s: compressed twice?",
                               self->name, self->codec, inner);
  return TRUE;
}

static gssize
read_decoded (DlpByteStream *self,
              guint8 *buffer,
              gsize size,
              GCancellable *cancellable,
              GError **error)
{
  Head *head = &self->decoded_head;

  if (!self->head_is_checked && !check_decoded_head (self, cancellable, error))
    return -1;

  if (head->start < head->end)
    {
      gsize n = MIN (size, head->end - head->start);

      memcpy (buffer, head->data + head->start, n);
      head->start += n;
      return (gssize) n;
    }

  return decode_some (self, buffer, size, cancellable, error);
}

/* Decodes up to the offset that the stream was opened at. The caller's buffer is as good as any. */
static gboolean
skip_decoded (DlpByteStream *self,
              guint8 *buffer,
              gsize size,
              GCancellable *cancellable,
              GError **error)
{
  while (self->to_skip > 0)
    {
      gssize n = read_decoded (self, buffer, MIN (size, self->to_skip), cancellable, error);

      if (n < 0)
        return FALSE;
      if (n == 0)
        break;
      self->to_skip -= (guint64) n;
    }

  if (self->to_skip > 0 && self->failure == NULL)
    self->failure =
        g_error_new (DLP_DATA_ERROR, DLP_DATA_ERROR_CHANGED,
                     "%s: the file has changed: it ends after %" G_GUINT64_FORMAT
                     " decoded bytes, and was read up to %" G_GUINT64_FORMAT " before",
                     self->name, self->decoded_position, self->decoded_position + self->to_skip);
  return TRUE;
}

static gssize
read_any (DlpByteStream *self,
          guint8 *buffer,
          gsize size,
          GCancellable *cancellable,
          GError **error)
{
  gssize n = 0;

  if (self->decoder == NULL)
    return read_plain (self, buffer, size, cancellable, error);

  if (!skip_decoded (self, buffer, size, cancellable, error))
    return -1;
  if (self->to_skip == 0)
    n = read_decoded (self, buffer, size, cancellable, error);

  return n;
}

/* Where all that is in it was given out: whether it is what its manifest says. */
static void
check_expected (DlpByteStream *self)
{
  guint64 length = self->raw_position + raw_size (self);

  if (!self->at_raw_end)
    return;
  /* A size that was known was compared before the file was opened. */
  if ((dlp_file_get_size (self->file) >= 0 ||
       dlp_file_check_expected_size (self->file, (gint64) length, &self->failure)) &&
      self->checksum != NULL)
    dlp_file_check_expected_sha256 (self->file, self->checksum, &self->failure);
}

gssize
dlp_byte_stream_read (DlpByteStream *self,
                      guint8 *buffer,
                      gsize size,
                      GCancellable *cancellable,
                      GError **error)
{
  g_autoptr (GError) local_error = NULL;
  gssize n = 0;

  g_return_val_if_fail (self != NULL, -1);
  g_return_val_if_fail (buffer != NULL && size > 0, -1);

  /* What was decoded before a failure comes first. */
  if (self->failure == NULL || self->decoded_head.start < self->decoded_head.end)
    n = read_any (self, buffer, size, cancellable, &local_error);
  if (n > 0)
    return n;

  if (n < 0 && g_error_matches (local_error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    {
      /* Nothing is lost: the next call goes on. */
      g_propagate_error (error, g_steal_pointer (&local_error));
      return -1;
    }
  if (n < 0)
    self->failure = g_steal_pointer (&local_error);
  if (self->failure == NULL)
    check_expected (self);
  if (self->failure == NULL)
    return 0;

  g_propagate_error (error, g_error_copy (self->failure));
  return -1;
}

void
dlp_byte_stream_find_border (DlpByteStream *self, guint64 offset, DlpDecoderBorder *border)
{
  dlp_border_list_find (&self->borders, offset, border);
}

const char *
dlp_byte_stream_get_codec (DlpByteStream *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  return self->codec;
}

guint64
dlp_byte_stream_get_raw_position (DlpByteStream *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->ahead != NULL ? self->ahead_raw : self->raw_position;
}

const char *
dlp_byte_stream_get_warning (DlpByteStream *self)
{
  DlpDecoderClass *klass;

  g_return_val_if_fail (self != NULL, NULL);

  if (self->decoder == NULL)
    return self->warning;

  klass = DLP_DECODER_GET_CLASS (self->decoder);
  return klass->get_warning == NULL ? NULL : klass->get_warning (self->decoder);
}

gint64
dlp_byte_stream_take_read_time (DlpByteStream *self)
{
  gint64 us;

  g_return_val_if_fail (self != NULL, 0);

  us = self->read_time;
  self->read_time = 0;
  return us;
}

GBytes *
dlp_byte_stream_read_bytes (DlpByteStream *self,
                            gsize size,
                            GCancellable *cancellable,
                            GError **error)
{
  guint8 *buffer;
  gssize n;

  g_return_val_if_fail (self != NULL && size > 0, NULL);

  buffer = g_malloc (size);
  n = dlp_byte_stream_read (self, buffer, size, cancellable, error);
  if (n < 0)
    {
      g_free (buffer);
      return NULL;
    }
  return g_bytes_new_take (buffer, n);
}
