/* SPDX-License-Identifier: MIT */

#include "dlp-held-file.h"

#include <string.h>
#include <zstd.h>

#include <dlpipe/dlp-error.h>

#include "dlp-record-block.h"

#define MAGIC "DLPHELD\n"
#define VERSION 1
#define ORDER 0x01020304u
#define LEVEL 1
#define BUFFER (256 * 1024)
#define MAX_SCHEMA (1024 * 1024)

/* Little-endian but for the order, which is the machine's, as the blocks are. */
typedef struct
{
  char magic[8];
  guint32 version;
  guint32 order;
  guint64 records;
  guint64 taken;
  guint64 drawn;
  guint32 schema_size;
  guint32 reserved;
} FileHeader;

G_STATIC_ASSERT (sizeof (FileHeader) == 48);

/* ---- writing ---- */

typedef struct
{
  DlpStateFile *file;
  ZSTD_CCtx *context;
  guint8 *in, *out;
  gsize n_in;
} Writer;

static gboolean
compress (Writer *self, gconstpointer data, gsize size, ZSTD_EndDirective end, GError **error)
{
  ZSTD_inBuffer in = { data, size, 0 };
  gsize left;

  do
    {
      ZSTD_outBuffer out = { self->out, BUFFER, 0 };

      left = ZSTD_compressStream2 (self->context, &out, &in, end);
      if (ZSTD_isError (left))
        {
          g_set_error (error, G_IO_ERROR, G_IO_ERROR_FAILED, "%s: cannot be compressed: %s",
                       dlp_state_file_get_name (self->file), ZSTD_getErrorName (left));
          return FALSE;
        }
      if (out.pos > 0 && !dlp_state_file_append (self->file, self->out, out.pos, error))
        return FALSE;
    }
  while (end == ZSTD_e_end ? left > 0 : in.pos < in.size);
  return TRUE;
}

/* Small pieces are gathered: a call of the library for each takes longer than to compress it. */
static gboolean
put (Writer *self, gconstpointer data, gsize size, GError **error)
{
  if (self->n_in + size > BUFFER)
    {
      if (!compress (self, self->in, self->n_in, ZSTD_e_continue, error))
        return FALSE;
      self->n_in = 0;
    }
  if (size > BUFFER)
    return compress (self, data, size, ZSTD_e_continue, error);
  memcpy (self->in + self->n_in, data, size);
  self->n_in += size;
  return TRUE;
}

static gboolean
write_header (DlpStateFile *file, const DlpHeldHeader *header, DlpSchema *schema, GError **error)
{
  g_autofree char *text = dlp_schema_to_string (schema);
  FileHeader data = {
    .version = GUINT32_TO_LE (VERSION),
    .order = ORDER,
    .records = GUINT64_TO_LE (header->records),
    .taken = GUINT64_TO_LE (header->taken),
    .drawn = GUINT64_TO_LE (header->drawn),
    .schema_size = GUINT32_TO_LE ((guint32) strlen (text)),
  };

  memcpy (data.magic, MAGIC, sizeof data.magic);
  return dlp_state_file_append (file, &data, sizeof data, error) &&
         dlp_state_file_append (file, text, strlen (text), error);
}

static gboolean
write_records (Writer *self, DlpRecordSnapshot *records, GError **error)
{
  for (gsize i = 0; i < dlp_record_snapshot_get_n (records); i++)
    {
      gsize size;
      const guint8 *block = dlp_record_snapshot_read (records, i, &size, error);
      guint64 size_le = GUINT64_TO_LE ((guint64) size);

      if (block == NULL || !put (self, &size_le, sizeof size_le, error) ||
          !put (self, block, size, error))
        return FALSE;
    }
  return compress (self, self->in, self->n_in, ZSTD_e_end, error);
}

gboolean
dlp_held_file_write (DlpStateFile *file,
                     const DlpHeldHeader *header,
                     DlpRecordSnapshot *records,
                     GError **error)
{
  Writer writer = { .file = file, .context = ZSTD_createCCtx () };
  gboolean ok;

  if (writer.context == NULL)
    g_error ("not enough memory to compress a buffer");
  ZSTD_CCtx_setParameter (writer.context, ZSTD_c_compressionLevel, LEVEL);
  ZSTD_CCtx_setParameter (writer.context, ZSTD_c_checksumFlag, 1);
  writer.in = g_malloc (BUFFER);
  writer.out = g_malloc (BUFFER);
  ok = write_header (file, header, dlp_record_snapshot_get_schema (records), error) &&
       write_records (&writer, records, error);
  g_free (writer.in);
  g_free (writer.out);
  ZSTD_freeCCtx (writer.context);
  return ok;
}

/* ---- reading ---- */

struct _DlpHeldReader
{
  DlpHeldSource read;
  gpointer source;
  char *name;
  DlpSchema *schema;
  ZSTD_DCtx *context;

  guint64 offset; /* of what is read next */
  guint8 *raw;
  gsize raw_at, raw_end;
  guint8 *plain;
  gsize plain_at, plain_end;
  gboolean frame_ended;
  guint8 *block; /* of a record that is in several pieces */
  gsize block_room;
  guint64 record; /* the next one */
  guint64 records;
};

static gboolean G_GNUC_PRINTF (3, 4)
    fail (DlpHeldReader *self, GError **error, const char *format, ...)
{
  g_autofree char *what = NULL;
  va_list args;

  va_start (args, format);
  what = g_strdup_vprintf (format, args);
  va_end (args);
  g_set_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CORRUPT, "%s: %s", self->name, what);
  return FALSE;
}

static gboolean
check_number (DlpHeldReader *self,
              const char *what,
              guint64 in_file,
              guint64 expected,
              GError **error)
{
  guint64 value = GUINT64_FROM_LE (in_file);

  return value == expected ||
         fail (self, error,
               "says %" G_GUINT64_FORMAT " records %s, but the state says %" G_GUINT64_FORMAT,
               value, what, expected);
}

static gboolean
check_schema (DlpHeldReader *self, gsize size, GError **error)
{
  g_autofree char *expected = dlp_schema_to_string (self->schema);
  g_autofree char *text = NULL;
  gssize n;

  if (size > MAX_SCHEMA)
    return fail (self, error, "says that its schema takes %zu bytes, at most %d can be", size,
                 MAX_SCHEMA);
  text = g_malloc0 (size + 1);
  n = self->read (self->source, self->offset, text, size, error);
  if (n < 0)
    return FALSE;
  self->offset += size;
  if ((gsize) n == size && strcmp (text, expected) == 0)
    return TRUE;
  if (!g_utf8_validate (text, -1, NULL))
    text[0] = '\0';
  return fail (self, error, "holds records of %s, but the records here are %s", text, expected);
}

static gboolean
check_header (DlpHeldReader *self, const DlpHeldHeader *header, GError **error)
{
  FileHeader data;
  gssize n = self->read (self->source, 0, &data, sizeof data, error);

  if (n < 0)
    return FALSE;
  if (n < (gssize) sizeof data || memcmp (data.magic, MAGIC, sizeof data.magic) != 0)
    return fail (self, error, "is not a file of held records");
  if (GUINT32_FROM_LE (data.version) != VERSION)
    {
      g_set_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_VERSION,
                   "%s: has version %u; this shuffle reads %u", self->name,
                   GUINT32_FROM_LE (data.version), VERSION);
      return FALSE;
    }
  if (data.order != ORDER)
    return fail (self, error, "was written on a machine of another byte order");
  if (data.reserved != 0)
    return fail (self, error, "has something where nothing is to be, at byte 44");
  self->offset = sizeof data;
  return check_number (self, "held", data.records, header->records, error) &&
         check_number (self, "taken", data.taken, header->taken, error) &&
         check_number (self, "drawn", data.drawn, header->drawn, error) &&
         check_schema (self, GUINT32_FROM_LE (data.schema_size), error);
}

DlpHeldReader *
dlp_held_reader_new (DlpHeldSource read,
                     gpointer source,
                     const char *name,
                     const DlpHeldHeader *header,
                     DlpSchema *schema,
                     GError **error)
{
  g_autoptr (DlpHeldReader) self = g_new0 (DlpHeldReader, 1);

  self->read = read;
  self->source = source;
  self->name = g_strdup (name);
  self->schema = dlp_schema_ref (schema);
  self->records = header->records;
  if (!check_header (self, header, error))
    return NULL;
  self->context = ZSTD_createDCtx ();
  if (self->context == NULL)
    g_error ("not enough memory to decompress a buffer");
  self->raw = g_malloc (BUFFER);
  self->plain = g_malloc (BUFFER);
  return g_steal_pointer (&self);
}

void
dlp_held_reader_free (DlpHeldReader *self)
{
  ZSTD_freeDCtx (self->context);
  g_free (self->block);
  dlp_schema_unref (self->schema);
  g_free (self->raw);
  g_free (self->plain);
  g_free (self->name);
  g_free (self);
}

static gboolean
fill_raw (DlpHeldReader *self, GError **error)
{
  gssize n;

  if (self->raw_at < self->raw_end)
    return TRUE;
  n = self->read (self->source, self->offset, self->raw, BUFFER, error);
  if (n < 0)
    return FALSE;
  if (n == 0)
    return fail (self, error,
                 "ends at byte %" G_GUINT64_FORMAT ", in record %" G_GUINT64_FORMAT
                 " of %" G_GUINT64_FORMAT,
                 self->offset, self->record, self->records);
  self->offset += (guint64) n;
  self->raw_at = 0;
  self->raw_end = (gsize) n;
  return TRUE;
}

/* Decoded bytes, at least one; or the end of the frame. */
static gboolean
fill_plain (DlpHeldReader *self, GError **error)
{
  self->plain_at = self->plain_end = 0;
  while (self->plain_end == 0 && !self->frame_ended)
    {
      ZSTD_outBuffer out = { self->plain, BUFFER, 0 };
      ZSTD_inBuffer in;
      gsize left;

      if (!fill_raw (self, error))
        return FALSE;
      in = (ZSTD_inBuffer){ self->raw, self->raw_end, self->raw_at };
      left = ZSTD_decompressStream (self->context, &out, &in);
      if (ZSTD_isError (left))
        return fail (self, error,
                     "is damaged in record %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT ": %s",
                     self->record, self->records, ZSTD_getErrorName (left));
      self->raw_at = in.pos;
      self->plain_end = out.pos;
      self->frame_ended = left == 0;
    }
  return TRUE;
}

static gboolean
has_plain (DlpHeldReader *self, GError **error)
{
  if (self->plain_at == self->plain_end && !fill_plain (self, error))
    return FALSE;
  return self->plain_at < self->plain_end ||
         fail (self, error, "its records end in record %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT,
               self->record, self->records);
}

static void
make_room (DlpHeldReader *self, gsize size)
{
  if (size <= self->block_room)
    return;
  self->block_room = MAX (size, 2 * self->block_room);
  self->block = g_realloc (self->block, self->block_room);
}

/* (transfer none): @size decoded bytes. They are gathered as they come, so that a size that is none
 * takes no memory. */
static const guint8 *
take (DlpHeldReader *self, gsize size, GError **error)
{
  const guint8 *at = self->plain + self->plain_at;
  gsize got = 0;

  if (self->plain_end - self->plain_at >= size)
    {
      self->plain_at += size;
      return at;
    }
  while (got < size)
    {
      gsize n;

      if (!has_plain (self, error))
        return NULL;
      n = MIN (size - got, self->plain_end - self->plain_at);
      make_room (self, got + n);
      memcpy (self->block + got, self->plain + self->plain_at, n);
      self->plain_at += n;
      got += n;
    }
  return self->block;
}

const guint8 *
dlp_held_reader_next (DlpHeldReader *self, gsize *size, GError **error)
{
  const guint8 *data = take (self, sizeof (guint64), error);
  guint64 max = dlp_record_block_get_max_size (self->schema);
  guint64 length;

  if (data == NULL)
    return NULL;
  memcpy (&length, data, sizeof length);
  length = GUINT64_FROM_LE (length);
  if (length > max)
    {
      fail (self, error,
            "record %" G_GUINT64_FORMAT " takes %" G_GUINT64_FORMAT
            " bytes, at most %" G_GUINT64_FORMAT " can be",
            self->record, length, max);
      return NULL;
    }
  *size = (gsize) length;
  data = take (self, *size, error);
  if (data == NULL)
    return NULL;
  if (!dlp_record_block_check (self->schema, data, *size, error))
    {
      g_prefix_error (error, "%s: record %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT ": ",
                      self->name, self->record, self->records);
      return NULL;
    }
  self->record++;
  return data;
}

gboolean
dlp_held_reader_finish (DlpHeldReader *self, GError **error)
{
  guint8 more;
  gssize n;

  if (self->plain_at == self->plain_end && !fill_plain (self, error))
    return FALSE;
  if (self->plain_at < self->plain_end)
    return fail (self, error, "holds more than the %" G_GUINT64_FORMAT " records of its header",
                 self->records);
  n = self->raw_at < self->raw_end ? 1 : self->read (self->source, self->offset, &more, 1, error);
  if (n < 0)
    return FALSE;
  return n == 0 || fail (self, error, "goes on behind its last record");
}
