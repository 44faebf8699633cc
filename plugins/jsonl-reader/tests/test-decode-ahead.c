/* SPDX-License-Identifier: MIT */

/* Parts of a compressed file that are decoded at once: what comes out of the stream is what comes
 * out of it in order, also where the file is damaged or its headers lie. */

#include <malloc.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include <glib/gstdio.h>

#include <dlpipe/dlp-error.h>

#include "dlp-byte-stream-private.h"
#include "dlp-context-private.h"
#include "dlp-element-private.h"
#include "dlp-file-source.h"
#include "fixture-codecs.h"
#include "reader-rig.h"
#ifdef HAVE_XZ
#include <lzma.h>
#endif

#define BGZF_MAX 60000

/* ---- what writes the files ---- */

typedef void (*Append) (GByteArray *out, GRand *rand, const char *data, gsize size);

static void
append_zst (GByteArray *out, GRand *rand, const char *data, gsize size)
{
  g_autofree guint8 *buffer = g_malloc (ZSTD_compressBound (size));
  ZSTD_CCtx *context = ZSTD_createCCtx ();
  gsize n;

  ZSTD_CCtx_setParameter (context, ZSTD_c_compressionLevel, g_rand_int_range (rand, -3, 4));
  ZSTD_CCtx_setParameter (context, ZSTD_c_checksumFlag, g_rand_int_range (rand, 0, 4) > 0);
  n = ZSTD_compress2 (context, buffer, ZSTD_compressBound (size), data, size);
  g_assert_false (ZSTD_isError (n));
  g_byte_array_append (out, buffer, (guint) n);
  ZSTD_freeCCtx (context);

  if (g_rand_int_range (rand, 0, 8) == 0)
    g_byte_array_append (out, (const guint8 *) "\x53\x2a\x4d\x18\3\0\0\0abc", 11);
}

static void
put_le (guint8 *to, guint64 value, guint n)
{
  for (guint i = 0; i < n; i++)
    to[i] = (guint8) (value >> (8 * i));
}

static void
append_member (GByteArray *out, GRand *rand, const char *data, gsize size)
{
  guint8 header[18] = { 0x1f, 0x8b, 8, 4, 0, 0, 0, 0, 0, 0xff, 6, 0, 'B', 'C', 2, 0 };
  guint8 trailer[8];
  guint8 body[BGZF_MAX + 1000];
  z_stream stream = { 0 };

  g_assert_cmpint (deflateInit2 (&stream, g_rand_int_range (rand, 0, 7), Z_DEFLATED, -15, 8, 0), ==,
                   Z_OK);
  stream.next_in = (Bytef *) data;
  stream.avail_in = (uInt) size;
  stream.next_out = body;
  stream.avail_out = sizeof body;
  g_assert_cmpint (deflate (&stream, Z_FINISH), ==, Z_STREAM_END);
  put_le (header + 16, sizeof header + stream.total_out + sizeof trailer - 1, 2);
  put_le (trailer, crc32 (crc32 (0, NULL, 0), (const Bytef *) data, (uInt) size), 4);
  put_le (trailer + 4, size, 4);
  g_byte_array_append (out, header, sizeof header);
  g_byte_array_append (out, body, (guint) stream.total_out);
  g_byte_array_append (out, trailer, sizeof trailer);
  deflateEnd (&stream);
}

static void
append_bgzf (GByteArray *out, GRand *rand, const char *data, gsize size)
{
  for (gsize at = 0; at < size; at += BGZF_MAX)
    append_member (out, rand, data + at, MIN (BGZF_MAX, size - at));
}

#ifdef HAVE_LZ4
static void
append_lz4 (GByteArray *out, GRand *rand, const char *data, gsize size)
{
  fixture_codecs_find (".lz4") (out, data, size);
}
#endif

#ifdef HAVE_XZ
/* Of several blocks, as its threads write them. */
static void
append_xz (GByteArray *out, GRand *rand, const char *data, gsize size)
{
  lzma_mt options = { .threads = 1,
                      .block_size = (guint64) g_rand_int_range (rand, 20000, 200000),
                      .preset = 0,
                      .check = LZMA_CHECK_CRC32 };
  lzma_stream stream = LZMA_STREAM_INIT;
  gsize room = size + size / 2 + 10000;
  g_autofree guint8 *buffer = g_malloc (room);

  g_assert_cmpint (lzma_stream_encoder_mt (&stream, &options), ==, LZMA_OK);
  stream.next_in = (const guint8 *) data;
  stream.avail_in = size;
  stream.next_out = buffer;
  stream.avail_out = room;
  g_assert_cmpint (lzma_code (&stream, LZMA_FINISH), ==, LZMA_STREAM_END);
  g_byte_array_append (out, buffer, (guint) stream.total_out);
  lzma_end (&stream);
}
#endif

/* Words, so that it becomes about a third. */
static char *
make_text (GRand *rand, gsize size)
{
  static const char *const words[] = { "alpha", "beta",  "gamma", "delta", "epsilon", "zeta",
                                       "eta",   "theta", "iota",  "kappa", "lambda",  "mu" };
  GString *text = g_string_sized_new (size + 20);

  while (text->len < size)
    g_string_append_printf (text, "%s%c%u ",
                            words[g_rand_int_range (rand, 0, G_N_ELEMENTS (words))],
                            "\n,.-"[g_rand_int_range (rand, 0, 4)], g_rand_int (rand) % 10000);
  g_string_set_size (text, size);
  return g_string_free (text, FALSE);
}

/* @ends: (nullable): where pieces begin and end. */
static GByteArray *
make_file (GRand *rand, const char *text, gsize size, gsize longest, Append append, GArray *ends)
{
  GByteArray *out = g_byte_array_new ();
  gsize at = 0;

  while (at < size)
    {
      gsize n = (gsize) g_rand_int_range (rand, 1, (gint32) longest);

      n = MIN (n, size - at);
      append (out, rand, text + at, n);
      at += n;
      if (ends != NULL)
        g_array_append_val (ends, out->len);
    }
  return out;
}

/* ---- what reads them ---- */

typedef struct
{
  DlpContext *context;
  DlpElement *element;
  char *folder;
  char *path;
} Fixture;

static void
fixture_set_up (Fixture *self, gconstpointer data)
{
  self->context = dlp_context_new ();
  self->context->pool = dlp_work_pool_new (3);
  self->element = g_object_new (DLP_TYPE_FILE_SOURCE, NULL);
  dlp_element_set_name (self->element, "source");
  dlp_element_set_context (self->element, self->context);
  self->folder = g_dir_make_tmp ("dlpipe-parts-XXXXXX", NULL);
  self->path = g_build_filename (self->folder, "file", NULL);
}

static void
fixture_tear_down (Fixture *self, gconstpointer data)
{
  g_clear_object (&self->element);
  dlp_context_free (self->context);
  g_remove (self->path);
  g_assert_cmpint (g_rmdir (self->folder), ==, 0);
  g_free (self->folder);
  g_free (self->path);
}

typedef struct
{
  GByteArray *data;
  GError *error;
  char *warning;
  guint n_parts;
} Result;

static void
result_clear (Result *self)
{
  g_byte_array_unref (self->data);
  g_clear_error (&self->error);
  g_free (self->warning);
}

static void
read_rest (DlpByteStream *stream, GRand *rand, Result *result)
{
  g_autofree guint8 *buffer = g_malloc (300000);
  gssize n;

  while ((n = dlp_byte_stream_read (stream, buffer, (gsize) g_rand_int_range (rand, 1, 300000),
                                    NULL, &result->error)) > 0)
    g_byte_array_append (result->data, buffer, (guint) n);
  result->warning = g_strdup (dlp_byte_stream_get_warning (stream));
  result->n_parts = dlp_byte_stream_get_n_parts (stream);
}

/* @parts: 0: in order. */
static Result
run (Fixture *self, GRand *rand, guint64 offset, const DlpDecoderBorder *border, guint parts)
{
  static const gsize limits[] = { 2, 4, 9, 30 };
  GStatBuf st;
  g_autoptr (DlpFile) file = NULL;
  g_autoptr (DlpByteStream) stream = NULL;
  Result result = { .data = g_byte_array_new () };

  g_assert_cmpint (g_stat (self->path, &st), ==, 0);
  file = dlp_file_new (self->path, st.st_size, NULL);
  stream =
      dlp_byte_stream_open_at (file, NULL, offset, border, 0,
                               (gsize) g_rand_int_range (rand, 1000, 300000), NULL, &result.error);
  g_assert_no_error (result.error);
  dlp_byte_stream_limit_memory (
      stream, limits[g_rand_int_range (rand, 0, G_N_ELEMENTS (limits))] * 1024 * 1024,
      self->folder);
  if (parts > 0)
    dlp_byte_stream_decode_ahead (stream, self->element, parts);
  read_rest (stream, rand, &result);
  return result;
}

static void
assert_equal (const Result *a, const Result *b)
{
  g_assert_cmpmem (a->data->data, a->data->len, b->data->data, b->data->len);
  g_assert_cmpstr (a->error != NULL ? a->error->message : NULL, ==,
                   b->error != NULL ? b->error->message : NULL);
  g_assert_cmpstr (a->warning, ==, b->warning);
}

static void
write_file (Fixture *self, const GByteArray *bytes)
{
  g_assert_true (
      g_file_set_contents (self->path, (const char *) bytes->data, (gssize) bytes->len, NULL));
}

/* Returns how many parts there were. */
static guint
compare (Fixture *self, GRand *rand, const GByteArray *bytes)
{
  static const DlpDecoderBorder start;
  Result whole, parts;
  guint n;

  write_file (self, bytes);
  whole = run (self, rand, 0, &start, 0);
  parts = run (self, rand, 0, &start, (guint) g_rand_int_range (rand, 2, 6));
  assert_equal (&parts, &whole);
  g_assert_cmpuint (whole.n_parts, ==, 0);
  n = parts.n_parts;
  result_clear (&whole);
  result_clear (&parts);
  return n;
}

static void
flip_bit (GRand *rand, GByteArray *bytes)
{
  guint bit = (guint) g_rand_int_range (rand, 0, (gint32) bytes->len * 8);

  bytes->data[bit / 8] ^= (guint8) (1u << bit % 8);
}

static GByteArray *
copy (const GByteArray *bytes)
{
  GByteArray *made = g_byte_array_new ();

  g_byte_array_append (made, bytes->data, bytes->len);
  return made;
}

typedef struct
{
  const char *name;
  Append append;
  gboolean in_many; /* pieces, one behind the other; else all is one */
} Kind;

static void
test_equal (Fixture *self, gconstpointer data)
{
  const Kind *kind = data;
  g_autoptr (GRand) rand = g_rand_new_with_seed (11);
  const guint rounds = rig_scaled (5);
  guint n_parts = 0;

  for (guint i = 0; i < rounds; i++)
    {
      gsize size = (gsize) g_rand_int_range (rand, 1000000, 4000000);
      gsize longest = kind->in_many ? (gsize) g_rand_int_range (rand, 100, 900000) : size;
      g_autofree char *text = make_text (rand, size);
      g_autoptr (GByteArray) bytes = make_file (rand, text, size, longest, kind->append, NULL);

      if (i % 3 == 1)
        g_byte_array_append (bytes, (const guint8 *) "\0\0\0\0\0\0\0", (guint) (1 + i % 7));
      if (i % 5 == 4)
        g_byte_array_append (bytes, (const guint8 *) "junk at the end", 15);
      n_parts += compare (self, rand, bytes);
    }
  /* One alone may have no parts. */
  if (rounds > 2)
    g_assert_cmpuint (n_parts, >, rounds / 2);
}

static void
test_damaged (Fixture *self, gconstpointer data)
{
  const Kind *kind = data;
  g_autoptr (GRand) rand = g_rand_new_with_seed (12);

  for (guint i = 0; i < rig_scaled (3); i++)
    {
      gsize size = (gsize) g_rand_int_range (rand, 1000000, 2500000);
      gsize longest = kind->in_many ? (gsize) g_rand_int_range (rand, 5000, 300000) : size;
      g_autofree char *text = make_text (rand, size);
      g_autoptr (GArray) ends = g_array_new (FALSE, FALSE, sizeof (guint));
      g_autoptr (GByteArray) bytes = make_file (rand, text, size, longest, kind->append, ends);

      for (guint j = 0; j < 12; j++)
        {
          g_autoptr (GByteArray) damaged = copy (bytes);
          guint at = g_array_index (ends, guint, (guint) g_rand_int_range (rand, 0, ends->len));

          if (j % 3 == 0)
            flip_bit (rand, damaged);
          else if (j % 3 == 1)
            g_byte_array_set_size (damaged, (guint) g_rand_int_range (rand, 300000, damaged->len));
          else if (at + 40 < damaged->len)
            /* In a header, which says how long the part is. */
            damaged->data[at + g_rand_int_range (rand, 0, 40)] ^=
                (guint8) g_rand_int_range (rand, 1, 256);
          compare (self, rand, damaged);
        }
    }
}

/* The sizes in headers of BGZF count for nothing but for where parts are cut. */
static void
test_wrong_sizes (Fixture *self, gconstpointer data)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (13);
  g_autofree char *text = make_text (rand, 2000000);

  for (guint i = 0; i < rig_scaled (20); i++)
    {
      g_autoptr (GArray) ends = g_array_new (FALSE, FALSE, sizeof (guint));
      g_autoptr (GByteArray) bytes =
          make_file (rand, text, strlen (text), 20000, append_bgzf, ends);
      guint at = g_array_index (ends, guint, (guint) g_rand_int_range (rand, 0, ends->len - 1));
      Result result;
      static const DlpDecoderBorder start;

      put_le (bytes->data + at + 16, (guint64) g_rand_int_range (rand, 0, 65536), 2);
      compare (self, rand, bytes);
      result = run (self, rand, 0, &start, 3);
      g_assert_no_error (result.error);
      g_assert_cmpmem (result.data->data, result.data->len, text, strlen (text));
      result_clear (&result);
    }
}

/* From each border that is noted on the way the rest comes out, with and without parts. */
static void
test_borders (Fixture *self, gconstpointer data)
{
  const Kind *kind = data;
  g_autoptr (GRand) rand = g_rand_new_with_seed (14);
  g_autofree char *text = make_text (rand, 2500000);
  g_autoptr (GByteArray) bytes = make_file (
      rand, text, strlen (text), kind->in_many ? 60000 : strlen (text), kind->append, NULL);
  static const DlpDecoderBorder start;
  GStatBuf st;
  g_autoptr (DlpFile) file = NULL;
  g_autoptr (DlpByteStream) stream = NULL;
  g_autofree guint8 *buffer = g_malloc (100000);
  GError *error = NULL;
  guint64 decoded = 0;
  guint n_borders = 0;
  gssize n;

  write_file (self, bytes);
  g_assert_cmpint (g_stat (self->path, &st), ==, 0);
  file = dlp_file_new (self->path, st.st_size, NULL);
  stream = dlp_byte_stream_open_at (file, NULL, 0, &start, 0, 0, NULL, &error);
  g_assert_no_error (error);
  dlp_byte_stream_limit_memory (stream, 9 * 1024 * 1024, self->folder);
  dlp_byte_stream_decode_ahead (stream, self->element, 4);
  while ((n = dlp_byte_stream_read (stream, buffer, 100000, NULL, &error)) > 0)
    {
      DlpDecoderBorder border;
      Result rest;

      decoded += (guint64) n;
      dlp_byte_stream_find_border (stream, decoded, &border);
      g_assert_cmpuint (border.decoded, <=, decoded);
      n_borders += border.raw > 0;
      rest = run (self, rand, decoded, &border, n_borders % 2 == 0 ? 0 : 3);
      g_assert_no_error (rest.error);
      g_assert_cmpmem (rest.data->data, rest.data->len, text + decoded, strlen (text) - decoded);
      result_clear (&rest);
    }
  g_assert_no_error (error);
  g_assert_cmpuint (decoded, ==, strlen (text));
  g_assert_cmpuint (n_borders, >, 3);
}

/* Freed in the middle, while parts are being decoded. */
static void
test_free (Fixture *self, gconstpointer data)
{
  const Kind *kind = data;
  static const DlpDecoderBorder start;
  g_autoptr (GRand) rand = g_rand_new_with_seed (15);
  g_autofree char *text = make_text (rand, 3000000);
  g_autoptr (GByteArray) bytes = make_file (
      rand, text, strlen (text), kind->in_many ? 200000 : strlen (text), kind->append, NULL);
  guint8 buffer[1000];

  write_file (self, bytes);
  for (guint i = 0; i < rig_scaled (20); i++)
    {
      g_autoptr (DlpFile) file = dlp_file_new (self->path, bytes->len, NULL);
      g_autoptr (DlpByteStream) stream = NULL;
      GError *error = NULL;

      stream = dlp_byte_stream_open_at (file, NULL, 0, &start, 0, 0, NULL, &error);
      g_assert_no_error (error);
      dlp_byte_stream_limit_memory (stream, 20 * 1024 * 1024, self->folder);
      dlp_byte_stream_decode_ahead (stream, self->element, 5);
      for (guint j = 0; j < i % 4; j++)
        g_assert_cmpint (dlp_byte_stream_read (stream, buffer, sizeof buffer, NULL, &error), >, 0);
    }
}

/* 0 where another allocator is in place of the C library's. */
static gsize
count_heap (void)
{
  struct mallinfo2 info = mallinfo2 ();

  return info.uordblks + info.hblkhd;
}

/* Long units that are alone, between short ones: only one of the parts has room for such at a time.
 */
static void
test_long_units (Fixture *self, gconstpointer data)
{
  static const DlpDecoderBorder start;
  const gsize limit = 12 * 1024 * 1024;
  g_autoptr (GRand) rand = g_rand_new_with_seed (16);
  g_autoptr (GByteArray) bytes = g_byte_array_new ();
  g_autofree guint8 *noise = g_malloc (2600000);
  g_autofree guint8 *buffer = g_malloc (100000);
  g_autoptr (DlpFile) file = NULL;
  g_autoptr (DlpByteStream) stream = NULL;
  g_autoptr (GError) error = NULL;
  gsize before, most = 0;
  gssize n;

  for (gsize i = 0; i < 2600000; i++)
    noise[i] = (guint8) g_rand_int (rand);
  for (guint i = 0; i < 10; i++)
    {
      append_zst (bytes, rand, (const char *) noise, 2600000);
      for (guint j = 0; j < 7 + i; j++)
        append_zst (bytes, rand, (const char *) noise + j * 1000, 140000);
    }
  write_file (self, bytes);
  file = dlp_file_new (self->path, bytes->len, NULL);
  before = count_heap ();
  stream = dlp_byte_stream_open_at (file, NULL, 0, &start, 0, 0, NULL, &error);
  g_assert_no_error (error);
  dlp_byte_stream_limit_memory (stream, limit, self->folder);
  dlp_byte_stream_decode_ahead (stream, self->element, 8);
  while ((n = dlp_byte_stream_read (stream, buffer, 100000, NULL, &error)) > 0)
    most = MAX (most, count_heap () - before);
  g_assert_no_error (error);
  g_assert_cmpuint (dlp_byte_stream_get_n_parts (stream), >=, 80);
  g_test_message ("at most %zu bytes", most);
  g_assert_cmpuint (most, <, 2 * limit);
}

int
main (int argc, char **argv)
{
  static const Kind kinds[] = {
    { "zstd", append_zst, TRUE },
    { "bgzf", append_bgzf, TRUE },
#ifdef HAVE_LZ4
    { "lz4", append_lz4, TRUE },
#endif
#ifdef HAVE_XZ
    { "xz", append_xz, FALSE },
#endif
  };
  static const struct
  {
    const char *name;
    void (*test) (Fixture *, gconstpointer);
  } tests[] = {
    { "equal", test_equal },
    { "damaged", test_damaged },
    { "borders", test_borders },
    { "free", test_free },
  };

  g_test_init (&argc, &argv, NULL);
  fixture_codecs_register ();
  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    for (guint j = 0; j < G_N_ELEMENTS (tests); j++)
      {
        g_autofree char *path =
            g_strdup_printf ("/decode-ahead/%s/%s", kinds[i].name, tests[j].name);

        g_test_add (path, Fixture, &kinds[i], fixture_set_up, tests[j].test, fixture_tear_down);
      }
  g_test_add ("/decode-ahead/wrong-sizes", Fixture, NULL, fixture_set_up, test_wrong_sizes,
              fixture_tear_down);
  g_test_add ("/decode-ahead/long-units", Fixture, NULL, fixture_set_up, test_long_units,
              fixture_tear_down);
  return g_test_run ();
}
