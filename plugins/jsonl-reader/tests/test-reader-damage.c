/* SPDX-License-Identifier: MIT */

/* Damaged files, and runs continued before, within and behind them: the same comes out, and the
 * same is counted. */

#include <string.h>

#include <dlpipe/dlp-reader.h>

#include "reader-fixture.h"

/* ---- a reader that finds damage anywhere ---- */

#define TOY_TYPE_READER (toy_reader_get_type ())
G_DECLARE_FINAL_TYPE (ToyReader, toy_reader, TOY, READER, DlpReader)

struct _ToyReader
{
  DlpReader parent_instance;
};

G_DEFINE_FINAL_TYPE (ToyReader, toy_reader, DLP_TYPE_READER)

static DlpSchema *
toy_reader_get_schema (DlpReader *reader, GError **error)
{
  static const char *const names[] = { "text" };
  static const DlpFieldType types[] = { DLP_FIELD_STRING };

  return dlp_schema_new (DLP_SCHEMA_RECORDS, 1, names, types, NULL);
}

/* "!..." is damage, "?..." a bad record, anything else a good one; each is counted. */
static void
toy_reader_parse (DlpReader *reader, gpointer worker, DlpReaderChunk *chunk)
{
  gsize size;
  const guint8 *data = dlp_reader_chunk_get_data (chunk, &size);

  for (gsize at = 0; at < size;)
    {
      const guint8 *end = memchr (data + at, '\n', size - at);
      gsize length = end != NULL ? (gsize) (end - data) - at : size - at;

      dlp_reader_chunk_count (chunk, 0, 1);
      if (data[at] == '!')
        dlp_reader_chunk_damage (chunk, at, g_strdup ("an exclamation mark"));
      else if (data[at] == '?')
        dlp_reader_chunk_reject (chunk, 1, "question", at, data + at, length, g_strdup ("asked"));
      else
        {
          dlp_record_batch_builder_append_value (dlp_reader_chunk_get_builder (chunk), 0, data + at,
                                                 length);
          dlp_reader_chunk_end_record (chunk, 1);
        }
      at += length + 1;
    }
}

static void
toy_reader_class_init (ToyReaderClass *klass)
{
  static const char *const counters[] = { "lines", NULL };
  DlpReaderClass *reader_class = DLP_READER_CLASS (klass);

  reader_class->get_schema = toy_reader_get_schema;
  reader_class->parse = toy_reader_parse;
  dlp_reader_class_set_counters (reader_class, counters);
}

static void
toy_reader_init (ToyReader *self)
{
}

/* ---- files ---- */

static void
write_rows (Fixture *fixture, const char *name, guint n, guint bad)
{
  g_autoptr (GString) text = g_string_new (NULL);

  for (guint i = 0; i < n; i++)
    if (i == bad)
      g_string_append (text, "{\"text\":\n");
    else
      g_string_append_printf (text, "{\"text\":\"%s %08x\"}\n", name, i * 0x9e3779b9u);
  fixture_write (fixture, name, text->str, (gssize) text->len);
}

static void
cut (Fixture *fixture, const char *name, gsize bytes)
{
  g_autofree char *path = fixture_path (fixture, name);
  g_autofree char *data = NULL;
  gsize size;
  GError *error = NULL;

  g_file_get_contents (path, &data, &size, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (size, >, bytes);
  g_file_set_contents (path, data, (gssize) (size - bytes), &error);
  g_assert_no_error (error);
}

static void
write_files (Fixture *fixture)
{
  static const char utf_16[] = "\xff\xfe{\0}\0\n\0{\0}\0\n";

  fixture_write (fixture, "a.jsonl", utf_16, sizeof utf_16);
  write_rows (fixture, "b.jsonl", 10, 4);
  fixture_write (fixture, "c.json", "[\n{\"text\":\"in an array\"}\n]\n", -1);
  write_rows (fixture, "d.jsonl.gz", 24, 20);
  cut (fixture, "d.jsonl.gz", 40);
  fixture_write (fixture, "e.jsonl", "[1, 2]\n", -1);
  write_rows (fixture, "f.jsonl.zst", 24, 3);
  cut (fixture, "f.jsonl.zst", 30);
  write_rows (fixture, "g.jsonl", 14, 13);
  fixture_write (fixture, "h.jsonl", utf_16, sizeof utf_16);
}

static Fixture *
make_fixture (const char *glob, guint interleave, guint64 chunk_bytes, guint workers)
{
  Fixture *fixture = fixture_new_at (glob);

  fixture_set_reader (fixture, "max-bad-ratio=1");
  fixture_set_reader (fixture, "interleave=%u", interleave);
  fixture_set_reader (fixture, "chunk-bytes=%" G_GUINT64_FORMAT, chunk_bytes);
  fixture->config.workers = workers;
  return fixture;
}

static guint64
get_count (const RigOutput *output, const char *key)
{
  guint64 count = 0;

  g_assert_true (g_variant_lookup (output->report, key, "t", &count));
  return count;
}

static void
assert_resumable (Fixture *now, Fixture *later)
{
  const RigConfig *config = fixture_config (now);
  const RigConfig *then = fixture_config (later);

  rig_assert_resumable (config, then);
  rig_assert_resumable_at_steps (config, then);
}

/* Sizes of chunks and the number of threads may be others in the continued run. */
static void
check (const char *glob, GType type, const char *action, guint interleave)
{
  static const guint64 sizes[][2] = { { 1 << 20, 1 << 20 }, { 100, 100 }, { 1 << 20, 1 } };

  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    {
      g_autoptr (Fixture) now = make_fixture (glob, interleave, sizes[i][0], 0);
      g_autoptr (Fixture) later = make_fixture (glob, interleave, sizes[i][1], i == 1 ? 2 : 0);

      fixture_set_reader (now, "on-damaged-file=%s", action);
      fixture_set_reader (later, "on-damaged-file=%s", action);
      now->config.reader_type = later->config.reader_type = type;
      assert_resumable (now, later);
      if (i == 0)
        {
          g_autoptr (RigOutput) whole = rig_run (fixture_config (now));
          g_autoptr (RigOutput) pieces = rig_run_in_pieces (fixture_config (now));

          rig_assert_equal (pieces, whole);
        }
    }
}

static void
test_keep (gconstpointer data)
{
  guint interleave = GPOINTER_TO_UINT (data);
  g_autoptr (Fixture) folder = fixture_new ();
  g_autofree char *glob = fixture_path (folder, "*");
  g_autoptr (Fixture) fixture = make_fixture (glob, interleave, 1 << 20, 0);
  g_autoptr (RigOutput) whole = NULL;

  write_files (folder);
  fixture_set_reader (fixture, "on-damaged-file=keep");
  whole = rig_run (fixture_config (fixture));
  g_assert_no_error (whole->error);
  g_assert_cmpuint (get_count (whole, "damaged"), ==, 6);
  g_assert_cmpuint (get_count (whole, "files"), ==, 8);
  g_assert_cmpuint (whole->good->len, >, 22 + 12);
  check (glob, fixture->config.reader_type, "keep", interleave);
}

/* A damaged file ends every attempt that comes to it. */
static void
test_fail (gconstpointer data)
{
  static const char *const damaged[] = { "a.jsonl", "c.json", "d.jsonl.gz", "f.jsonl.zst" };
  guint interleave = GPOINTER_TO_UINT (data);

  for (guint i = 0; i < G_N_ELEMENTS (damaged); i++)
    {
      g_autoptr (Fixture) folder = fixture_new ();
      g_autoptr (RigOutput) whole = NULL;
      g_autofree char *glob = fixture_path (folder, "*");
      g_autofree char *first = fixture_path (folder, damaged[i]);
      g_autofree char *second = fixture_path (folder, "g.jsonl");
      g_autoptr (Fixture) fixture = make_fixture (first, interleave, 1 << 20, 0);

      write_files (folder);
      fixture_set_source (fixture, "location=%s", second);
      whole = rig_run (fixture_config (fixture));
      g_assert_error (whole->error, DLP_DATA_ERROR, DLP_DATA_ERROR_DAMAGED);
      g_assert_nonnull (strstr (whole->error->message, damaged[i]));
      assert_resumable (fixture, fixture);
    }
}

/* Rows before the damage, bad ones among them, counters, lines behind it. */
static void
test_within (gconstpointer data)
{
  guint interleave = GPOINTER_TO_UINT (data);
  g_autoptr (Fixture) folder = fixture_new ();
  g_autofree char *glob = fixture_path (folder, "*");
  g_autoptr (Fixture) fixture = make_fixture (glob, interleave, 1 << 20, 0);
  g_autoptr (RigOutput) whole = NULL;
  g_autoptr (GVariant) counters = NULL;
  guint64 lines;

  fixture_write (folder, "1", "a\nb\n?\nc\n!\nd\ne\n", -1);
  fixture_write (folder, "2", "f\ng\n?\n!\n", -1);
  fixture_write (folder, "3", "?\n!\n", -1);
  fixture_write (folder, "4", "h\n?\ni\nj\nk\nl", -1);
  fixture_write (folder, "5", "!\n!\n", -1);
  fixture->config.reader_type = TOY_TYPE_READER;
  fixture_set_reader (fixture, "on-damaged-file=keep");

  whole = rig_run (fixture_config (fixture));
  g_assert_no_error (whole->error);
  g_assert_cmpuint (whole->good->len, ==, 3 + 2 + 5);
  g_assert_cmpuint (whole->rejected->len, ==, 4);
  g_assert_cmpuint (get_count (whole, "damaged"), ==, 4);
  counters = g_variant_lookup_value (whole->report, "counters", NULL);
  g_assert_true (g_variant_lookup (counters, "lines", "t", &lines));
  g_assert_cmpuint (lines, ==, 14);
  check (glob, TOY_TYPE_READER, "keep", interleave);
  check (glob, TOY_TYPE_READER, "fail", interleave);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  fixture_init ();
  g_log_set_always_fatal (G_LOG_FATAL_MASK | G_LOG_LEVEL_CRITICAL);
  for (guint interleave = 1; interleave <= 3; interleave++)
    {
      g_autofree char *keep = g_strdup_printf ("/reader/damage/keep/%u", interleave);
      g_autofree char *fail = g_strdup_printf ("/reader/damage/fail/%u", interleave);
      g_autofree char *within = g_strdup_printf ("/reader/damage/within/%u", interleave);

      g_test_add_data_func (keep, GUINT_TO_POINTER (interleave), test_keep);
      g_test_add_data_func (fail, GUINT_TO_POINTER (interleave), test_fail);
      g_test_add_data_func (within, GUINT_TO_POINTER (interleave), test_within);
    }
  return g_test_run ();
}
