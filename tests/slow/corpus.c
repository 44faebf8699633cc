/* SPDX-License-Identifier: MIT */

#include "corpus.h"

#include <stdio.h>
#include <string.h>

#include <zlib.h>
#include <zstd.h>

#define FLUSH_AT (256 * 1024)
#define MAX_SAMPLE_BYTES (4 * 1024 * 1024)

struct _Corpus
{
  GString *text; /* of all documents, escaped as in JSON; each ends with a blank */
  guint64 random;
};

/* ---- the sample ---- */

/* Up to the closing quote; a backslash and what follows it belong together. */
static gsize
escaped_length (const char *text, const char *end)
{
  const char *p = text;

  while (p < end && *p != '"')
    p += *p == '\\' ? 2 : 1;
  return (gsize) (MIN (p, end) - text);
}

static void
take_texts (Corpus *self, const char *lines, gsize size)
{
  static const char key[] = "\"text\": \"";
  const char *end = lines + size;
  const char *p = lines;

  while ((p = memmem (p, (gsize) (end - p), key, sizeof key - 1)) != NULL)
    {
      gsize n;

      p += sizeof key - 1;
      n = escaped_length (p, end);
      g_string_append_len (self->text, p, (gssize) n);
      g_string_append_c (self->text, ' ');
      p += n;
    }
}

Corpus *
corpus_new (const char *data_dir)
{
  g_autofree char *folder = g_build_filename (data_dir, "sample", NULL);
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  g_autofree char *lines = g_malloc (MAX_SAMPLE_BYTES);
  Corpus *self = g_new0 (Corpus, 1);
  const char *name;

  g_assert_nonnull (dir);
  self->text = g_string_new (NULL);
  while ((name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *path = g_build_filename (folder, name, NULL);
      g_autofree char *packed = NULL;
      gsize size;

      if (!g_str_has_suffix (name, ".zst"))
        continue;
      g_assert_true (g_file_get_contents (path, &packed, &size, NULL));
      size = ZSTD_decompress (lines, MAX_SAMPLE_BYTES, packed, size);
      g_assert_false (ZSTD_isError (size));
      take_texts (self, lines, size);
    }
  g_assert_cmpuint (self->text->len, >, 1024 * 1024);
  return self;
}

void
corpus_free (Corpus *self)
{
  g_string_free (self->text, TRUE);
  g_free (self);
}

/* ---- random text ---- */

static guint64
draw (Corpus *self)
{
  self->random ^= self->random << 13;
  self->random ^= self->random >> 7;
  self->random ^= self->random << 17;
  return self->random;
}

static void
begin (Corpus *self, guint64 seed)
{
  self->random = seed * G_GUINT64_CONSTANT (0x9e3779b97f4a7c15) + 1;
}

static void
append_word (Corpus *self, GString *out)
{
  guint64 bits = draw (self);
  guint n = 3 + bits % 8;

  for (bits >>= 3; n > 0; n--, bits >>= 5)
    g_string_append_c (out, (char) ('a' + (bits & 31) % 26));
  g_string_append_c (out, ' ');
}

/* Letters in the order of their code points. */
static const struct
{
  gunichar first;
  guint n;
} scripts[] = {
  { 'a', 26 },     { 'A', 26 },        { '0', 10 },       { 0x3b1, 25 },   { 0x430, 32 },
  { 0x5d0, 27 },   { 0x628, 19 },      { 0x905, 48 },     { 0xe01, 46 },   { 0x10d0, 33 },
  { 0x3042, 80 },  { 0x30a2, 80 },     { 0x4e00, 20000 }, { 0x4e00, 400 }, { 0xac00, 11172 },
  { 0x1f600, 64 }, { 0x20000, 40000 },
};

static void
append_foreign_word (Corpus *self, GString *out)
{
  guint64 bits = draw (self);
  guint script = bits % G_N_ELEMENTS (scripts);
  guint n = 1 + (bits >> 8) % 10;

  for (; n > 0; n--)
    g_string_append_unichar (out, scripts[script].first + draw (self) % scripts[script].n);
  if (bits >> 60 != 0)
    g_string_append_c (out, ' ');
}

/* About @n bytes of the sample, cut at blanks, so in no character and no escape. */
static void
append_piece (Corpus *self, GString *out, gsize n)
{
  const char *start = self->text->str + draw (self) % (self->text->len - n - 1);
  const char *end;

  start = strchr (start, ' ') + 1;
  end = strchr (start + n > self->text->str + self->text->len ? start : start + n, ' ');
  if (end != NULL)
    g_string_append_len (out, start, end + 1 - start);
}

static void
append_text (Corpus *self, GString *out, gsize n)
{
  gsize at = out->len;

  while (out->len - at < n)
    {
      append_piece (self, out, 64 + draw (self) % 512);
      append_word (self, out);
    }
}

/* ---- files ---- */

typedef struct
{
  FILE *file;
  gzFile gz;
  ZSTD_CCtx *zstd;
  GString *pending;
  GByteArray *packed;
  guint64 bytes;
} Output;

static void
output_open (Output *self, const char *path)
{
  self->pending = g_string_new (NULL);
  if (g_str_has_suffix (path, ".gz"))
    {
      self->gz = gzopen (path, "wb1");
      g_assert_nonnull (self->gz);
      return;
    }
  self->file = fopen (path, "wb");
  g_assert_nonnull (self->file);
  if (!g_str_has_suffix (path, ".zst"))
    return;
  self->zstd = ZSTD_createCCtx ();
  ZSTD_CCtx_setParameter (self->zstd, ZSTD_c_compressionLevel, 1);
  self->packed = g_byte_array_new ();
  g_byte_array_set_size (self->packed, (guint) ZSTD_CStreamOutSize ());
}

static void
write_zstd (Output *self, ZSTD_EndDirective directive)
{
  ZSTD_inBuffer in = { self->pending->str, self->pending->len, 0 };
  gsize left;

  do
    {
      ZSTD_outBuffer out = { self->packed->data, self->packed->len, 0 };

      left = ZSTD_compressStream2 (self->zstd, &out, &in, directive);
      g_assert_false (ZSTD_isError (left));
      g_assert_cmpuint (fwrite (out.dst, 1, out.pos, self->file), ==, out.pos);
    }
  while (in.pos < in.size || (directive == ZSTD_e_end && left > 0));
}

static void
output_flush (Output *self, gboolean end)
{
  gsize n = self->pending->len;

  if (self->gz != NULL)
    g_assert_cmpint (n == 0 ? 0 : gzwrite (self->gz, self->pending->str, (unsigned) n), ==, n);
  else if (self->zstd != NULL)
    write_zstd (self, end ? ZSTD_e_end : ZSTD_e_continue);
  else
    g_assert_cmpuint (fwrite (self->pending->str, 1, n, self->file), ==, n);
  self->bytes += n;
  g_string_set_size (self->pending, 0);
}

static void
output_close (Output *self)
{
  output_flush (self, TRUE);
  if (self->gz != NULL)
    g_assert_cmpint (gzclose (self->gz), ==, Z_OK);
  if (self->file != NULL)
    g_assert_cmpint (fclose (self->file), ==, 0);
  ZSTD_freeCCtx (self->zstd);
  g_clear_pointer (&self->packed, g_byte_array_unref);
  g_string_free (self->pending, TRUE);
}

/* Most documents are of a kilobyte or two, some much longer, as on the web. */
static gsize
draw_length (Corpus *self)
{
  guint64 kind = draw (self) % 100;

  if (kind < 90)
    return 100 + draw (self) % 3900;
  return kind < 99 ? 4000 + draw (self) % 16000 : 20000 + draw (self) % 180000;
}

guint64
corpus_write_documents (Corpus *self, const char *path, guint64 bytes, guint64 seed)
{
  Output output = { 0 };
  guint64 n = 0;

  begin (self, seed);
  output_open (&output, path);
  for (; output.bytes + output.pending->len < bytes; n++)
    {
      g_string_append_printf (output.pending, "{\"id\": \"%" G_GUINT64_FORMAT "\", \"text\": \"",
                              n);
      append_text (self, output.pending, draw_length (self));
      g_string_append (output.pending, "\"}\n");
      if (output.pending->len >= FLUSH_AT)
        output_flush (&output, FALSE);
    }
  output_close (&output);
  return n;
}

guint64
corpus_write_scripts (Corpus *self, const char *path, guint64 bytes, guint64 seed)
{
  Output output = { 0 };
  guint64 n = 0;

  begin (self, seed);
  output_open (&output, path);
  for (; output.bytes + output.pending->len < bytes; n++)
    {
      gsize end;

      g_string_append (output.pending, "{\"text\": \"");
      end = output.pending->len + draw_length (self);
      while (output.pending->len < end)
        append_foreign_word (self, output.pending);
      g_string_append (output.pending, "\"}\n");
      if (output.pending->len >= FLUSH_AT)
        output_flush (&output, FALSE);
    }
  output_close (&output);
  return n;
}

guint64
corpus_write_tiny (Corpus *self, const char *path, guint64 n, guint64 seed)
{
  Output output = { 0 };

  begin (self, seed);
  output_open (&output, path);
  for (guint64 i = 0; i < n; i++)
    {
      g_string_append (output.pending, "{\"text\":\"");
      append_word (self, output.pending);
      g_string_append (output.pending, "\"}\n");
      if (output.pending->len >= FLUSH_AT)
        output_flush (&output, FALSE);
    }
  output_close (&output);
  return n;
}

guint64
corpus_write_line (Corpus *self, const char *path, guint64 bytes, guint64 seed)
{
  Output output = { 0 };

  begin (self, seed);
  output_open (&output, path);
  g_string_append (output.pending, "{\"text\": \"");
  while (output.bytes + output.pending->len < bytes)
    {
      append_text (self, output.pending, FLUSH_AT);
      output_flush (&output, FALSE);
    }
  g_string_append (output.pending, "\"}\n");
  output_close (&output);
  return 1;
}
