/* SPDX-License-Identifier: MIT */

/* What becomes a record of files of ids, and what is damage, in pieces of any size; and what is
 * gone on with after each record. */

#include <string.h>
#include <unistd.h>

#include <dlpipe/dlp-error.h>
#include <glib/gstdio.h>

#include "dlp-token-reader.h"
#include "reader-fixture.h"
#include "token-files.h"

static const char *const chunk_sizes[] = { "1M", "1", "24" };

/* A folder with one dataset in it. */
typedef struct
{
  char *folder;
  char *ids;
  char *index;
} Files;

static Files *
files_new (const char *name, const GByteArray *ids, const GByteArray *index)
{
  Files *self = g_new0 (Files, 1);
  GError *error = NULL;

  self->folder = g_dir_make_tmp ("dlpipe-tokens-XXXXXX", &error);
  g_assert_no_error (error);
  self->ids = g_build_filename (self->folder, name, NULL);
  g_assert_true (g_file_set_contents (self->ids, (const char *) ids->data, ids->len, NULL));
  if (index == NULL)
    return self;
  self->index = g_build_filename (self->folder, "a.idx", NULL);
  g_assert_true (g_file_set_contents (self->index, (const char *) index->data, index->len, NULL));
  return self;
}

static void
files_free (Files *self)
{
  g_assert_cmpint (g_remove (self->ids), ==, 0);
  if (self->index != NULL)
    g_assert_cmpint (g_remove (self->index), ==, 0);
  g_assert_cmpint (g_rmdir (self->folder), ==, 0);
  g_free (self->folder);
  g_free (self->ids);
  g_free (self->index);
  g_free (self);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC (Files, files_free)

static Fixture *
make_fixture (const char *path, const char *settings, const char *chunk_bytes, guint workers)
{
  Fixture *fixture = fixture_new_at (path);
  g_auto (GStrv) parts = g_strsplit (settings, " ", -1);

  fixture->config.reader_type = DLP_TYPE_TOKEN_READER;
  fixture->config.workers = workers;
  fixture_set_reader (fixture, "max-bad-ratio=1");
  fixture_set_reader (fixture, "chunk-bytes=%s", chunk_bytes);
  for (guint i = 0; parts[i] != NULL; i++)
    if (*parts[i] != '\0')
      fixture_set_reader (fixture, "%s", parts[i]);
  return fixture;
}

/* (transfer full): the ids of records, or the kinds and rows of bad ones, with | between. */
static char *
join (GPtrArray *lines, gboolean is_bad)
{
  GString *joined = g_string_new (NULL);

  for (guint i = 0; i < lines->len; i++)
    {
      g_auto (GStrv) fields = g_strsplit (lines->pdata[i], "\t", -1);
      g_auto (GStrv) place = g_strsplit (fields[0], " ", -1);

      g_string_append_printf (joined, "%s%s", i > 0 ? "|" : "", fields[1]);
      if (is_bad)
        g_string_append_printf (joined, " %s", place[3]);
    }
  return g_string_free (joined, FALSE);
}

static void
check_path (const char *path, const char *settings, const char *good, const char *bad)
{
  for (guint i = 0; i < G_N_ELEMENTS (chunk_sizes); i++)
    for (guint workers = 0; workers <= 2; workers += 2)
      {
        g_autoptr (Fixture) fixture = make_fixture (path, settings, chunk_sizes[i], workers);
        g_autoptr (RigOutput) output = NULL;
        g_autofree char *got_good = NULL;
        g_autofree char *got_bad = NULL;

        fixture_set_reader (fixture, "on-damaged-file=keep");
        output = rig_run (fixture_config (fixture));
        g_assert_no_error (output->error);
        got_good = join (output->good, FALSE);
        got_bad = join (output->rejected, TRUE);
        g_assert_cmpstr (got_good, ==, good);
        g_assert_cmpstr (got_bad, ==, bad);
      }
}

/* Takes the arrays. */
static void
check (const char *name,
       GByteArray *ids,
       GByteArray *index,
       const char *settings,
       const char *good,
       const char *bad)
{
  g_autoptr (Files) files = files_new (name, ids, index);

  check_path (files->ids, settings, good, bad);
  g_byte_array_unref (ids);
  g_clear_pointer (&index, g_byte_array_unref);
}

/* The run ends with an error of that kind that has @part; damage lets what is before it be. */
static void
check_error (const char *name,
             const GByteArray *ids,
             const GByteArray *index,
             const char *settings,
             GQuark domain,
             int code,
             const char *part)
{
  g_autoptr (Files) files = files_new (name, ids, index);
  g_autoptr (Fixture) fixture = make_fixture (files->ids, settings, "1M", 0);
  g_autoptr (RigOutput) output = rig_run (fixture_config (fixture));

  g_assert_error (output->error, domain, code);
  g_test_message ("%s", output->error->message);
  g_assert_nonnull (strstr (output->error->message, part));
  g_assert_nonnull (strstr (output->error->message, files->folder));
}

static GByteArray *
make_flat (guint width, const char *numbers)
{
  GByteArray *bytes = g_byte_array_new ();

  token_files_append (bytes, width, numbers);
  return bytes;
}

/* ---- what is in the tree ---- */

static void
test_golden (void)
{
  static const char good[] = "[1,2,3,50256]|[7,8,50256]|[9,10,11,12,13,50256]";
  static const char *const settings[] = { "", "format=megatron", "unit=document" };
  const char *folder = g_getenv ("DLPIPE_TEST_DATA");
  g_autofree char *narrow = g_build_filename (folder, "formats", "meg16.bin", NULL);
  g_autofree char *wide = g_build_filename (folder, "formats", "meg32.bin", NULL);

  for (guint i = 0; i < G_N_ELEMENTS (settings); i++)
    {
      check_path (narrow, settings[i], good, "");
      check_path (wide, settings[i], good, "");
    }
  check_path (narrow, "dtype=u16", good, "");
  check_path (wide, "dtype=i32", good, "");
}

/* Written by NumPy; see make-data.py. */
static void
test_numpy (void)
{
  static const char *const names[] = { "u1", "i1", "u2", "i2",        "u4",
                                       "i4", "u8", "i8", "version-2", "version-3" };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autofree char *name = g_strconcat (names[i], ".npy", NULL);
      g_autofree char *path = g_test_build_filename (G_TEST_DIST, "data", name, NULL);
      g_autofree char *matrix = g_test_build_filename (G_TEST_DIST, "data", "matrix.npy", NULL);

      check_path (path, "", "[1,2,3,100,127,0,5]", "");
      check_path (path, "length=3", "[1,2,3]|[100,127,0]|[5]", "");
      check_path (path, "length=3 tail=drop", "[1,2,3]|[100,127,0]", "");
      check_path (path, "separator=127", "[1,2,3,100,127]|[0,5]", "");
      if (i == 0)
        check_path (matrix, "", "[0,1,2,3]|[4,5,6,7]|[8,9,10,11]", "");
    }
}

/* ---- each format ---- */

static void
test_flat (void)
{
  check ("a.bin", make_flat (2, "1 2 65535 4"), NULL, "dtype=u16", "[1,2,65535,4]", "");
  check ("a.bin", make_flat (4, "1 2 4294967295 4"), NULL, "dtype=u32 length=2",
         "[1,2]|[4294967295,4]", "");
  check ("a.npy", make_flat (2, "1 2 3"), NULL, "dtype=u16 length=2", "[1,2]|[3]", "");
  check ("a.bin", make_flat (2, "1 2 3"), NULL, "dtype=u16 length=2 tail=drop", "[1,2]", "");
  check ("a.bin", make_flat (2, ""), NULL, "dtype=u16", "", "");
  check ("a.bin", make_flat (2, ""), NULL, "dtype=u16 separator=1", "", "");
  check ("a.bin", make_flat (2, "1 0 2 3 0 0 4"), NULL, "dtype=u16 separator=0",
         "[1,0]|[2,3,0]|[0]|[4]", "");
  check ("a.bin", make_flat (2, "1 0 2 3 0 0"), NULL, "dtype=u16 separator=0 separator-at=start",
         "[1]|[0,2,3]|[0]|[0]", "");
  check ("a.bin", make_flat (4, "1 0 2"), NULL, "dtype=u32 separator=0 separator-at=end",
         "[1,0]|[2]", "");
}

static void
test_llmc (void)
{
  check ("a.bin", token_files_make_llmc (20240520, 1, 5, 2, "50256 1 2 50256 3"), NULL, "",
         "[50256,1,2,50256,3]", "");
  check ("a.bin", token_files_make_llmc (20240520, 1, 5, 2, "50256 1 2 50256 3"), NULL,
         "separator=50256", "[50256,1,2]|[50256,3]", "");
  check ("a.bin", token_files_make_llmc (20240520, 1, 5, 2, "50256 1 2 50256 3"), NULL,
         "separator=50256 separator-at=end", "[50256]|[1,2,50256]|[3]", "");
  check ("a.bin", token_files_make_llmc (20240801, 7, 3, 4, "128000 1 2"), NULL, "length=2",
         "[128000,1]|[2]", "");
  check ("a.bin", token_files_make_llmc (20240520, 1, 0, 2, ""), NULL, "separator=1", "", "");
}

#define BINARY_OF_3 make_flat (2, "1 2 3 4 5 6")

static void
test_megatron (void)
{
  static const struct
  {
    guint code, width;
  } codes[] = { { 1, 1 }, { 2, 1 }, { 3, 2 }, { 4, 4 }, { 5, 8 }, { 8, 2 } };

  for (guint i = 0; i < G_N_ELEMENTS (codes); i++)
    {
      g_autofree char *offsets = g_strdup_printf ("0 %u", 2 * codes[i].width);

      check ("a.bin", make_flat (codes[i].width, "1 2 3 127 0"),
             token_files_make_index ((guint8) codes[i].code, "2 3", offsets, "0 1 2"), "",
             "[1,2]|[3,127,0]", "");
    }
  /* Documents of several sequences, and of none. */
  check ("a.bin", BINARY_OF_3, token_files_make_index (8, "1 2 3", "0 2 6", "0 2 2 3"), "",
         "[1]|[2,3]|[4,5,6]", "");
  check ("a.bin", BINARY_OF_3, token_files_make_index (8, "1 2 3", "0 2 6", "0 2 2 3"),
         "unit=document", "[1,2,3]|[]|[4,5,6]", "");
  /* In another order than they lie, over each other, with gaps, without an id. */
  check ("a.bin", BINARY_OF_3, token_files_make_index (8, "2 1 4 0", "8 0 2 12", "0 4"), "",
         "[5,6]|[1]|[2,3,4,5]|[]", "");
  check ("a.bin", BINARY_OF_3, token_files_make_index (8, "2 1 4 0", "8 0 2 12", "0 4"),
         "unit=document", "[5,6,1,2,3,4,5]", "");
  check ("a.bin", make_flat (2, ""), token_files_make_index (8, "", "", ""), "", "", "");
  check ("a.bin", make_flat (2, ""), token_files_make_index (8, "", "", "0"), "unit=document", "",
         "");
}

/* With the modes of multimodal datasets behind it. */
static void
test_modes (void)
{
  GByteArray *index = token_files_make_index (8, "1 2", "0 2", "0 1 2");

  token_files_append (index, 1, "0 1");
  check ("a.bin", make_flat (2, "1 2 3"), index, "", "[1]|[2,3]", "");
}

/* ---- bad records ---- */

static void
test_bad (void)
{
  check ("a.bin", make_flat (4, "1 -1 2"), NULL, "dtype=i32 length=1", "[1]|[2]", "range 1");
  check ("a.bin", make_flat (8, "1 4294967295 4294967296 5"), NULL, "dtype=u64 length=2",
         "[1,4294967295]", "range 1");
  check ("a.bin", make_flat (8, "1 -4294967295 3 5"), NULL, "dtype=i64 length=2", "[3,5]",
         "range 0");
  check ("a.bin", make_flat (1, "1 -128 3 127"), NULL, "dtype=i8 length=2", "[3,127]", "range 0");
  check ("a.bin", make_flat (2, "1 -32768 3 32767"), NULL, "dtype=i16 length=2", "[3,32767]",
         "range 0");
  for (guint i = 0; i < 2; i++)
    {
      GByteArray *ids = g_byte_array_new ();

      for (guint k = 0; k < 32769; k++)
        token_files_append_number (ids, 2, 7);
      token_files_append (ids, 2, "0 1 2");
      if (i == 0)
        check ("a.bin", ids, NULL, "dtype=u16 separator=0 max-record-bytes=64k", "[1,2]",
               "too-long 0");
      else
        check ("a.bin", ids, token_files_make_index (8, "32770 2", "0 65540", "0 1 2"),
               "max-record-bytes=64k dtype=u16", "[1,2]", "too-long 0");
    }
}

static void
test_message (void)
{
  g_autoptr (GByteArray) ids = make_flat (4, "1 -1 2 3");
  g_autoptr (Files) files = files_new ("a.bin", ids, NULL);
  g_autoptr (Fixture) fixture = make_fixture (files->ids, "dtype=i32", "1M", 0);
  g_autoptr (RigOutput) output = rig_run (fixture_config (fixture));
  g_auto (GStrv) parts = g_strsplit (output->rejected->pdata[0], "\t", -1);

  g_assert_cmpstr (parts[2], ==,
                   "id -1, number 1 of the record, does not fit; allowed are 0 to 4294967295");
  g_assert_cmpstr (parts[7], ==, "[1,-1,2,3]");
}

/* ---- damage ---- */

#define DAMAGED DLP_DATA_ERROR, DLP_DATA_ERROR_DAMAGED
#define REFUSED DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE

static void
test_damaged (void)
{
  g_autoptr (GByteArray) ids = make_flat (2, "1 2 3 4 5 6");
  g_autoptr (GByteArray) odd = make_flat (1, "1 2 3");
  static const struct
  {
    const char *lengths, *offsets, *borders, *good, *part;
  } cases[] = {
    { "1 -2", "0 2", "0 1 2", "[1]", "sequence 1 has -2 ids from byte 2 on" },
    { "1 2", "0 -2", "0 1 2", "[1]", "sequence 1 has 2 ids from byte -2 on" },
    { "1 6", "0 2", "0 1 2", "[1]", "not within the 12 bytes of" },
    { "1 1 1", "0 9223372036854775807 0", "0 1 2 3", "[1]", "sequence 1 has" },
    { "1 2", "0 2", "1 1 2", "", "its documents are sequences 1 to 2" },
    { "1 2", "0 2", "0 1 3", "", "its documents are sequences 0 to 3" },
    { "1 2", "0 2", "0 2 1 2", "[1,2,3]", "document 1 has sequences 2 to 1" },
    { "1 2", "0 2", "0 7 2", "", "document 0 has sequences 0 to 7" },
    { "1 2", "0 2", "", "", "it has 2 sequences, and does not say" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      const char *settings = i < 4 ? "" : "unit=document";
      GByteArray *index =
          token_files_make_index (8, cases[i].lengths, cases[i].offsets, cases[i].borders);

      check_error ("a.bin", ids, index, settings, DAMAGED, cases[i].part);
      check ("a.bin", g_byte_array_ref (ids), index, settings, cases[i].good, "");
    }
  check_error ("a.bin", odd, NULL, "dtype=u16", DAMAGED, "1 are left over");
}

/* Of each header, every beginning of the file. */
static void
test_cut (void)
{
  g_autoptr (GByteArray) ids = make_flat (2, "1 2 3");
  g_autoptr (GByteArray) index = token_files_make_index (8, "1 2", "0 2", "0 1 2");
  g_autoptr (GByteArray) llmc = token_files_make_llmc (20240520, 1, 3, 2, "1 2 3");
  g_autoptr (GByteArray) npy = token_files_make_npy (
      1, "{'descr': '<u2', 'fortran_order': False, 'shape': (3,), }", 2, "1 2 3");

  for (guint size = 0; size < index->len; size++)
    {
      GByteArray cut = { index->data, size };

      check_error ("a.bin", ids, &cut, "", DAMAGED, size < 9 ? "MMIDIDX" : "a.idx");
    }
  for (guint size = 12; size < llmc->len; size++)
    {
      GByteArray cut = { llmc->data, size };

      check_error ("a.bin", &cut, NULL, "", DAMAGED, "it is cut");
    }
  for (guint size = 0; size < npy->len; size++)
    {
      GByteArray cut = { npy->data, size };

      check_error ("a.npy", &cut, NULL, "format=npy", DAMAGED, "a.npy");
    }
  /* Where ids are cut off, the records before are kept. */
  for (guint size = 2; size < 6; size++)
    {
      GByteArray *cut = g_byte_array_new ();

      g_byte_array_append (cut, ids->data, size);
      check ("a.bin", cut, g_byte_array_ref (index), "", "[1]", "");
    }
}

static void
test_headers (void)
{
  static const struct
  {
    guint version;
    const char *header, *part;
  } cases[] = {
    { 1, "{'descr': '>u2', 'fortran_order': False, 'shape': (3,), }", "its type is '>u2'" },
    { 1, "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }", "its type is '<f4'" },
    { 1, "{'descr': [('a', '<u2')], 'fortran_order': False, 'shape': (3,), }", "no record of" },
    { 1, "{'descr': '<u2', 'fortran_order': True, 'shape': (3,), }", "Fortran's order" },
    { 1, "{'descr': '<u2', 'fortran_order': False, 'shape': (), }", "a single number" },
    { 1, "{'descr': '<u2', 'fortran_order': False, 'shape': (1, 1, 3), }", "two dimensions" },
    { 1, "{'descr': '<u2', 'fortran_order': False, 'shape': (9, 0), }", "no ids" },
    { 1, "{'descr': '<u2', 'fortran_order': False, 'shape': (4,), }", "it is cut" },
    { 1, "{'descr': '<u2', 'fortran_order': False, 'shape': (2,), }", "has 6 bytes there" },
    { 1, "{'descr': '<u2', 'fortran_order': False, 'shape': (4294967296, 4294967296), }",
      "larger than any file" },
    { 1, "{'descr': '<u2', 'fortran_order': False, 'shape': (18446744073709551616,), }",
      "a number in the shape" },
    { 1, "{'descr': '<u2', 'fortran_order': False, }", "descr, fortran_order and shape" },
    { 1, "{'descr': '<u2', 'order': False, 'shape': (3,), }", "descr, fortran_order or shape" },
    { 1, "{'descr': '<u2' 'fortran_order': False, 'shape': (3,), }", "a comma or a brace" },
    { 1, "{'descr': '<u2', 'fortran_order': False, 'shape': (3,), } x", "nothing else" },
    { 4, "{'descr': '<u2', 'fortran_order': False, 'shape': (3,), }", "version 4.0" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GByteArray) npy =
          token_files_make_npy (cases[i].version, cases[i].header, 2, "1 2 3");

      check_error ("a.npy", npy, NULL, "", DAMAGED, cases[i].part);
    }
}

static void
test_codes (void)
{
  g_autoptr (GByteArray) ids = make_flat (2, "1 2 3");
  static const struct
  {
    guint at, value;
    const char *part;
  } cases[] = {
    { 0, 'm', "MMIDIDX" },     { 9, 2, "version 2" },   { 17, 6, "a floating-point number" },
    { 17, 7, "the code 7" },   { 17, 0, "the code 0" }, { 17, 9, "the code 9" },
    { 25, 0x80, "it is cut" }, { 33, 1, "it is cut" },  { 18, 1, "sequences" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GByteArray) index = token_files_make_index (8, "1 2", "0 2", "0 1 2");

      index->data[cases[i].at] = (guint8) cases[i].value;
      check_error ("a.bin", ids, index, "", DAMAGED, cases[i].part);
    }
}

/* ---- what cannot be ---- */

static void
test_refused (void)
{
  g_autoptr (GByteArray) ids = make_flat (2, "1 2 3");
  g_autoptr (GByteArray) index = token_files_make_index (8, "1 2", "0 2", "0 1 2");
  g_autoptr (GByteArray) matrix = token_files_make_npy (
      3, "{'descr': '<u2', 'fortran_order': False, 'shape': (1, 3), }", 2, "1 2 3");

  check_error ("a.bin", ids, NULL, "", REFUSED, "dtype=u16 (nanoGPT)");
  check_error ("a.bin", ids, NULL, "format=megatron", REFUSED, "there is no index");
  check_error ("a.bin", ids, index, "dtype=i32", REFUSED, "its ids are u16, but dtype=i32");
  check_error ("a.idx", index, NULL, "", REFUSED, "has to name the .bin");
  check_error ("a.bin.zst", ids, NULL, "dtype=u16", REFUSED, "compressed");
  check_error ("a.bin", ids, NULL, "dtype=u16 separator=65536", REFUSED, "at most 65535");
  check_error ("a.npy", matrix, NULL, "length=2", REFUSED, "two dimensions");
  check_error ("a.npy", matrix, NULL, "separator=2", REFUSED, "two dimensions");
  check_error ("a.npy", ids, NULL, "format=npy", DAMAGED, "does not begin as NumPy");
  check_error ("a.npy", ids, NULL, "format=llmc", DAMAGED, "does not begin as llm.c");
}

static void
test_settings (void)
{
  static const char *const settings[][2] = {
    { "field=", "field: empty" },      { "separator=1 length=2", "set one" },
    { "tail=drop", "without length" }, { "separator-at=end", "no separator" },
    { "format=flat", "dtype=u16" },
  };

  g_autoptr (GByteArray) ids = make_flat (2, "1 2 3");
  g_autoptr (Files) files = files_new ("a.bin", ids, NULL);

  for (guint i = 0; i < G_N_ELEMENTS (settings); i++)
    {
      g_autoptr (Fixture) fixture = make_fixture (files->ids, settings[i][0], "1M", 0);
      g_autoptr (GError) error = NULL;

      g_assert_null (rig_new (fixture_config (fixture), NULL, &error));
      g_assert_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE);
      g_assert_nonnull (strstr (error->message, settings[i][1]));
    }
}

/* ---- going on ---- */

static GByteArray *
make_many (GString *lengths, GString *offsets, GString *borders)
{
  GByteArray *ids = g_byte_array_new ();
  guint at = 0;

  for (guint i = 0; i < 40; i++)
    {
      guint n = i * 7 % 11;

      g_string_append_printf (lengths, "%s%u", i > 0 ? " " : "", n);
      g_string_append_printf (offsets, "%s%u", i > 0 ? " " : "", at * 4);
      if (i % 3 == 0)
        g_string_append_printf (borders, "%s%u", i > 0 ? " " : "", i);
      for (guint k = 0; k < n; k++)
        token_files_append_number (ids, 4, i % 9 == 8 && k == 1 ? -5 : (gint64) (i + k) % 5);
      at += n;
    }
  g_string_append (borders, " 40");
  return ids;
}

static void
test_resume (gconstpointer settings)
{
  static const char *const sizes[] = { "1", "64", "1M" };
  g_autoptr (GString) lengths = g_string_new (NULL);
  g_autoptr (GString) offsets = g_string_new (NULL);
  g_autoptr (GString) borders = g_string_new (NULL);
  g_autoptr (GByteArray) ids = make_many (lengths, offsets, borders);
  g_autoptr (GByteArray) index =
      token_files_make_index (4, lengths->str, offsets->str, borders->str);
  gboolean has_index = strstr (settings, "dtype") == NULL;
  g_autoptr (Files) files = files_new ("a.bin", ids, has_index ? index : NULL);

  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    for (guint k = 0; k < G_N_ELEMENTS (sizes); k++)
      {
        g_autoptr (Fixture) fixture = make_fixture (files->ids, settings, sizes[i], 0);
        g_autoptr (Fixture) later = make_fixture (files->ids, settings, sizes[k], 2 * (i % 2));

        fixture_set_source (fixture, "epochs=2");
        fixture_set_source (later, "epochs=2");
        rig_assert_resumable (fixture_config (fixture), fixture_config (later));
      }
}

/* Several files at once, one of which is damaged. */
static void
test_interleave (void)
{
  g_autoptr (GByteArray) first = token_files_make_llmc (20240520, 1, 5, 2, "1 2 3 4 5");
  g_autoptr (Files) files = files_new ("a.bin", first, NULL);
  g_autoptr (GByteArray) second = token_files_make_npy (
      1, "{'descr': '<u2', 'fortran_order': False, 'shape': (4,), }", 2, "11 12 13 14");
  g_autofree char *path = g_build_filename (files->folder, "b.npy", NULL);
  g_autofree char *glob = g_build_filename (files->folder, "*", NULL);

  g_assert_true (g_file_set_contents (path, (const char *) second->data, second->len, NULL));
  check_path (glob, "length=2 interleave=2", "[1,2]|[11,12]|[3,4]|[13,14]|[5]", "");
  g_assert_cmpint (g_remove (path), ==, 0);
}

/* ---- a file that shrinks while it is read ---- */

static void
test_shrinks (void)
{
  g_autoptr (GByteArray) ids = g_byte_array_new ();
  g_autoptr (Files) files = NULL;
  g_autoptr (Fixture) fixture = NULL;
  g_autoptr (Rig) rig = NULL;
  g_autoptr (GError) error = NULL;
  g_autofree char *line = NULL;
  gboolean is_rejected;

  g_byte_array_set_size (ids, 32 * 1024 * 1024);
  memset (ids->data, 1, ids->len);
  files = files_new ("a.bin", ids, NULL);
  fixture = make_fixture (files->ids, "dtype=u16 length=512", "64k", 0);
  fixture->config.memory = 1024 * 1024;
  rig = rig_new (fixture_config (fixture), NULL, &error);
  g_assert_no_error (error);
  line = rig_next (rig, &is_rejected, &error);
  g_assert_no_error (error);
  g_assert_nonnull (line);
  g_assert_cmpint (truncate (files->ids, 1000), ==, 0);
  rig_drain (rig, &error);
  g_assert_nonnull (error);
  g_assert_true (error->domain == DLP_DATA_ERROR);
  g_assert_nonnull (strstr (error->message, "a.bin"));
}

int
main (int argc, char **argv)
{
  static const char *const resumed[][2] = {
    { "sequences", "" },
    { "documents", "unit=document" },
    { "length", "dtype=i32 length=3" },
    { "tail", "dtype=i32 length=7 tail=drop" },
    { "separator", "dtype=i32 separator=2" },
    { "separator-at-start", "dtype=i32 separator=2 separator-at=start" },
  };

  g_test_init (&argc, &argv, NULL);
  g_log_set_always_fatal (G_LOG_FATAL_MASK | G_LOG_LEVEL_CRITICAL);
  fixture_init ();
  g_test_add_func ("/token-reader/golden", test_golden);
  g_test_add_func ("/token-reader/numpy", test_numpy);
  g_test_add_func ("/token-reader/flat", test_flat);
  g_test_add_func ("/token-reader/llmc", test_llmc);
  g_test_add_func ("/token-reader/megatron", test_megatron);
  g_test_add_func ("/token-reader/modes", test_modes);
  g_test_add_func ("/token-reader/bad", test_bad);
  g_test_add_func ("/token-reader/message", test_message);
  g_test_add_func ("/token-reader/damaged", test_damaged);
  g_test_add_func ("/token-reader/cut", test_cut);
  g_test_add_func ("/token-reader/headers", test_headers);
  g_test_add_func ("/token-reader/codes", test_codes);
  g_test_add_func ("/token-reader/refused", test_refused);
  g_test_add_func ("/token-reader/settings", test_settings);
  g_test_add_func ("/token-reader/interleave", test_interleave);
  g_test_add_func ("/token-reader/shrinks", test_shrinks);
  for (guint i = 0; i < G_N_ELEMENTS (resumed); i++)
    {
      g_autofree char *path = g_strconcat ("/token-reader/resume/", resumed[i][0], NULL);

      g_test_add_data_func (path, resumed[i][1], test_resume);
    }
  return g_test_run ();
}
