/* SPDX-License-Identifier: MIT */

/* Stopped after every record, saved, and gone on from in new elements: the same comes out. */

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fixture-codecs.h"
#include "reader-fixture.h"

static void
append_line (GString *text, guint file, guint i)
{
  switch (i % 7)
    {
    case 2:
      g_string_append (text, "\n  \n");
      break;
    case 3:
      g_string_append_printf (text, "{\"text\":\"bad %u %u\n", file, i);
      break;
    case 5:
      g_string_append_printf (text, "{\"id\":\"\\udfff %u\",\"text\":null}\r\n", i);
      break;
    case 6:
      g_string_append_printf (text, "{\"text\":\"\\ud800 %u %u\",\"text\":\"again %u\"}\n", file, i,
                              i);
      break;
    default:
      g_string_append_printf (text, "{\"id\":\"%u\",\"text\":\"good %u %u\"}\n", i, file, i);
    }
}

static void
write_files (Fixture *fixture)
{
  static const struct
  {
    const char *name;
    guint n;
    gboolean cut;
  } files[] = {
    { "a.jsonl", 23, FALSE },    { "b-empty.jsonl", 0, FALSE }, { "c.jsonl.gz", 17, TRUE },
    { "d.jsonl.zst", 1, FALSE }, { "e.jsonl.zst", 30, FALSE },  { "f-bad.jsonl", 0, FALSE },
    { "g.jsonl", 9, TRUE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (files); i++)
    {
      g_autoptr (GString) text = g_string_new (NULL);

      for (guint k = 0; k < files[i].n; k++)
        append_line (text, i, k);
      if (strcmp (files[i].name, "f-bad.jsonl") == 0)
        g_string_append (text, "nothing\n\n[]\n");
      if (files[i].cut)
        g_string_append (text, "{\"text\":\"the last one\"}");
      fixture_write (fixture, files[i].name, text->str, (gssize) text->len);
    }
}

static Fixture *
make_fixture (guint interleave, guint64 chunk_bytes, guint workers)
{
  Fixture *fixture = fixture_new ();

  write_files (fixture);
  fixture_set_source (fixture, "epochs=2");
  fixture_set_reader (fixture, "max-bad-ratio=1");
  fixture_set_reader (fixture, "fields=id");
  fixture_set_reader (fixture, "interleave=%u", interleave);
  fixture_set_reader (fixture, "chunk-bytes=%" G_GUINT64_FORMAT, chunk_bytes);
  fixture->config.workers = workers;
  return fixture;
}

/* Files lie in folders of other names: all but those is the same. */
static void
assert_same_records (const RigOutput *a, const RigOutput *b)
{
  g_assert_cmpuint (a->good->len, ==, b->good->len);
  for (guint i = 0; i < a->good->len; i++)
    g_assert_cmpstr (a->good->pdata[i], ==, b->good->pdata[i]);
  g_assert_cmpuint (a->rejected->len, ==, b->rejected->len);
  for (guint i = 0; i < a->rejected->len; i++)
    {
      const char *at = strchr (a->rejected->pdata[i], '\t');

      g_assert_true (strncmp (a->rejected->pdata[i], b->rejected->pdata[i],
                              at - (const char *) a->rejected->pdata[i]) == 0);
    }
}

static void
test_every_record (gconstpointer data)
{
  guint interleave = GPOINTER_TO_UINT (data);
  static const struct
  {
    guint64 chunk_bytes;
    guint workers;
  } ways[] = { { 1024 * 1024, 0 }, { 1, 0 }, { 100, 2 } };
  g_autoptr (RigOutput) first = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (ways); i++)
    {
      g_autoptr (Fixture) fixture = make_fixture (interleave, ways[i].chunk_bytes, ways[i].workers);
      const RigConfig *config = fixture_config (fixture);
      g_autoptr (RigOutput) whole = rig_run (config);
      g_autoptr (RigOutput) pieces = rig_run_in_pieces (config);

      g_assert_no_error (whole->error);
      g_assert_cmpuint (whole->good->len, ==, 2 * 51);
      g_assert_cmpuint (whole->rejected->len, ==, 2 * 22);
      rig_assert_equal (pieces, whole);
      if (i == 0)
        rig_assert_resumable (config, config);
      if (first == NULL)
        first = g_steal_pointer (&whole);
      else
        assert_same_records (whole, first);
    }
}

/* More than fits one step, so that marks lie within chunks; the size of chunks may be another one
 * in each run. */
static void
test_large_chunks (gconstpointer data)
{
  static const char *const sizes[][2] = { { "1M", "1M" }, { "1M", "2k" }, { "9k", "300" } };
  g_autoptr (Fixture) folder = fixture_new ();
  g_autofree char *glob = fixture_path (folder, "*");

  for (guint file = 0; file < 3; file++)
    {
      g_autofree char *name = g_strdup_printf ("%u.jsonl%s", file, file == 1 ? ".gz" : "");
      g_autoptr (GString) text = g_string_new (NULL);

      for (guint i = 0; i < 1500 + 1000 * file; i++)
        append_line (text, file, i);
      for (guint i = 0; file == 0 && i < 900; i++)
        append_line (text, file, 5);
      fixture_write (folder, name, text->str, (gssize) text->len);
    }

  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    {
      g_autoptr (Fixture) before = fixture_new_at (glob);
      g_autoptr (Fixture) after = fixture_new_at (glob);
      Fixture *fixtures[] = { before, after };

      for (guint k = 0; k < 2; k++)
        {
          fixture_set_reader (fixtures[k], "max-bad-ratio=1");
          fixture_set_reader (fixtures[k], "fields=id");
          fixture_set_reader (fixtures[k], "interleave=%u", GPOINTER_TO_UINT (data));
          fixture_set_reader (fixtures[k], "chunk-bytes=%s", sizes[i][k]);
          fixtures[k]->config.stride = 211;
        }
      rig_assert_resumable (fixture_config (before), fixture_config (after));
    }
}

/* Where the run ends in an error, each part of it ends in the same. */
static void
test_failure (void)
{
  for (guint interleave = 1; interleave <= 3; interleave += 2)
    {
      g_autoptr (Fixture) fixture = fixture_new ();
      g_autoptr (RigOutput) whole = NULL;
      g_autoptr (GString) text = g_string_new (NULL);

      write_files (fixture);
      for (guint i = 0; i < 1200; i++)
        g_string_append_printf (text, "{\"text\":\"%u\"}\n", i);
      fixture_write (fixture, "0.jsonl.gz", text->str, -1);
      fixture_set_reader (fixture, "interleave=%u", interleave);
      fixture_set_reader (fixture, "max-bad-ratio=0.015");
      fixture_set_reader (fixture, "chunk-bytes=500");
      whole = rig_run (fixture_config (fixture));
      g_assert_error (whole->error, DLP_DATA_ERROR, DLP_DATA_ERROR_BAD_RATIO);
      if (interleave == 3)
        {
          g_autoptr (RigOutput) pieces = rig_run_in_pieces (fixture_config (fixture));

          rig_assert_equal (pieces, whole);
        }
    }
}

static void
test_damage (void)
{
  g_autofree char *path = g_build_filename (g_getenv ("DLPIPE_TEST_DATA"), "cases", "g0*", NULL);
  g_autofree char *more = g_build_filename (g_getenv ("DLPIPE_TEST_DATA"), "cases", "j03*", NULL);
  g_autoptr (Fixture) fixture = fixture_new_at (path);
  g_autoptr (RigOutput) whole = NULL;
  g_autoptr (RigOutput) pieces = NULL;
  guint64 damaged;

  fixture_set_source (fixture, "location=%s", more);
  fixture_set_reader (fixture, "on-damaged-file=keep");
  fixture_set_reader (fixture, "interleave=2");
  fixture->config.workers = 1;
  whole = rig_run (fixture_config (fixture));
  g_assert_no_error (whole->error);
  g_assert_true (g_variant_lookup (whole->report, "damaged", "t", &damaged));
  g_assert_cmpuint (damaged, ==, 3);
  if (whole->good->len < 1000)
    {
      pieces = rig_run_in_pieces (fixture_config (fixture));
      rig_assert_equal (pieces, whole);
    }
}

/* A state is checked to its last key. */
static void
test_bad_states (void)
{
  static const char *const changes[] = {
    "{'next': <'0'>}",
    "{'next': <uint64 18446744073709551615>}",
    "{'nothing': <uint64 1>}",
    "{'places': <[(uint64 99, uint64 0, uint64 0, uint64 0, uint64 0)]>}",
    "{'places': <[(uint64 0, uint64 0, uint64 5, uint64 0, uint64 4)]>}",
    "{'places': <[(uint64 0, uint64 0, uint64 0, uint64 0, uint64 0), (uint64 0, uint64 0, uint64 "
    "0, "
    "uint64 0, uint64 0)]>}",
    "{'borders': <[(uint64 1, uint64 0, uint64 0, uint64 0)]>}",
    "{'borders': <[(uint64 1, uint64 99999, uint64 0, uint64 0), (uint64 0, uint64 0, uint64 0, "
    "uint64 0)]>}",
    "{'borders': <[(uint64 18446744073709551615, uint64 0, uint64 0, uint64 0), (uint64 0, uint64 "
    "0, uint64 0, uint64 0)]>}",
    "{'borders': <uint64 1>}",
    "{'turn': <uint64 7>}",
    "{'bad': <{'utf-8': uint64 0}>}",
    "{'bad-in-a-row': <uint64 1000>}",
    "{'damaged': <uint64 3>}",
    "{'counters': <{'lone-surrogates': uint64 0}>}",
    "{'counters': <{'lone-surrogates': uint64 0, 'other': uint64 0}>}",
    "{'rotation': <uint64 0>}",
  };
  g_autoptr (Fixture) fixture = make_fixture (2, 100, 0);
  const RigConfig *config = fixture_config (fixture);
  GError *error = NULL;
  g_autoptr (Rig) rig = rig_new (config, NULL, &error);
  g_autoptr (RigState) state = NULL;
  g_autoptr (GVariant) good = NULL;
  gboolean rejected;

  for (guint i = 0; i < 10; i++)
    g_free (rig_next (rig, &rejected, &error));
  g_assert_no_error (error);
  state = rig_save (rig);
  good = g_variant_ref (state->reader);

  for (guint i = 0; i < G_N_ELEMENTS (changes); i++)
    {
      g_autoptr (GVariant) change =
          g_variant_parse (G_VARIANT_TYPE_VARDICT, changes[i], NULL, NULL, &error);
      g_auto (GVariantDict) dict = G_VARIANT_DICT_INIT (good);
      GVariantIter iter;
      const char *key;
      GVariant *value;
      g_autoptr (Rig) refused = NULL;

      g_assert_no_error (error);
      g_variant_iter_init (&iter, change);
      while (g_variant_iter_next (&iter, "{&sv}", &key, &value))
        {
          g_variant_dict_insert_value (&dict, key, value);
          g_variant_unref (value);
        }
      g_clear_pointer (&state->reader, g_variant_unref);
      state->reader = g_variant_ref_sink (g_variant_dict_end (&dict));
      refused = rig_new (config, state, &error);
      g_assert_null (refused);
      g_assert_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CORRUPT);
      g_clear_error (&error);
    }
}

static void
test_finish (void)
{
  g_autoptr (Fixture) fixture = make_fixture (3, 100, 2);
  GError *error = NULL;
  g_autoptr (Rig) rig = rig_new (fixture_config (fixture), NULL, &error);
  gboolean rejected;
  guint n = 0;
  char *line;

  g_assert_no_error (error);
  g_free (rig_next (rig, &rejected, &error));
  rig_finish (rig);
  while ((line = rig_next (rig, &rejected, &error)) != NULL)
    {
      g_free (line);
      n++;
    }
  g_assert_no_error (error);
  g_assert_cmpuint (n, <, 2 * 73);
}

/* Makes all but the first bytes of a file unreadable, up to @size, and hides that it did. */
static void
spoil (const char *path, gsize size)
{
  g_autofree char *noise = g_strnfill (size, 'x');
  int fd = open (path, O_WRONLY | O_CLOEXEC);
  struct timespec times[2];
  struct stat status;

  g_assert_cmpint (fstat (fd, &status), ==, 0);
  times[0] = status.st_atim;
  times[1] = status.st_mtim;
  g_assert_cmpint (pwrite (fd, noise, size, 64), ==, (gssize) size);
  g_assert_cmpint (futimens (fd, times), ==, 0);
  close (fd);
}

static gboolean
has_codec (const char *name)
{
  if (fixture_codecs_find (name) != NULL)
    return TRUE;
  g_test_skip ("the build has no such codec");
  return FALSE;
}

/* A file of two streams or frames that ends within a record, and a plain one. */
static void
test_codec (gconstpointer name)
{
  for (guint interleave = 1; interleave < 3 && has_codec (name); interleave++)
    {
      g_autoptr (Fixture) fixture = fixture_new ();
      g_autoptr (GString) text = g_string_new (NULL);
      g_autoptr (RigOutput) whole = NULL, pieces = NULL;

      for (guint k = 0; k < 40; k++)
        append_line (text, 0, k);
      g_string_append (text, "{\"text\":\"the last one\"}");
      fixture_write (fixture, name, text->str, (gssize) text->len);
      fixture_write (fixture, "b.jsonl", text->str, (gssize) text->len);
      fixture_set_reader (fixture, "max-bad-ratio=1");
      fixture_set_reader (fixture, "interleave=%u", interleave);
      fixture_set_reader (fixture, "chunk-bytes=100");
      whole = rig_run (fixture_config (fixture));
      pieces = rig_run_in_pieces (fixture_config (fixture));

      g_assert_no_error (whole->error);
      g_assert_cmpuint (whole->good->len, ==, 2 * 24);
      g_assert_cmpuint (whole->rejected->len, ==, 2 * 11);
      rig_assert_equal (pieces, whole);
      rig_assert_resumable (fixture_config (fixture), fixture_config (fixture));
    }
}

/* What lies before the border is not even read: it may be damaged. The warning counts it. */
static void
test_borders (gconstpointer data)
{
  g_autoptr (Fixture) fixture = fixture_new ();
  g_autofree char *path = fixture_path (fixture, data);
  g_autoptr (GString) text = g_string_new (NULL);
  g_autoptr (RigOutput) whole = NULL;
  g_autoptr (GVariant) borders = NULL;
  guint64 raw, decoded, counts[2];
  GError *error = NULL;
  g_autoptr (Rig) rig = NULL;
  g_autoptr (Rig) later = NULL;
  g_autoptr (RigState) state = NULL;
  gboolean rejected;
  guint n = 9000;

  if (!has_codec (data))
    return;
  for (guint i = 0; i < 10000; i++)
    g_string_append_printf (text, "{\"text\":\"%u %u\"}\n", i, i * 2654435761u);
  fixture_write (fixture, data, text->str, (gssize) text->len);
  fixture_set_reader (fixture, "chunk-bytes=1000");
  whole = rig_run (fixture_config (fixture));
  g_assert_no_error (whole->error);

  rig = rig_new (fixture_config (fixture), NULL, &error);
  for (guint i = 0; i < n; i++)
    g_free (rig_next (rig, &rejected, &error));
  g_assert_no_error (error);
  state = rig_save (rig);
  borders = g_variant_lookup_value (state->reader, "borders", G_VARIANT_TYPE ("a(tttt)"));
  g_assert_nonnull (borders);
  g_variant_get_child (borders, 0, "(tttt)", &raw, &decoded, &counts[0], &counts[1]);
  g_assert_cmpuint (decoded, >, 140000);
  g_assert_cmpuint (counts[0] | counts[1], >, 1);

  spoil (path, raw - 64);
  later = rig_new (fixture_config (fixture), state, &error);
  g_assert_no_error (error);
  for (; n < whole->good->len; n++)
    {
      g_autofree char *line = rig_next (later, &rejected, &error);

      g_assert_cmpstr (line, ==, whole->good->pdata[n]);
    }
  g_assert_null (rig_next (later, &rejected, &error));
  g_assert_no_error (error);
}

/* Files of 100 records, which are handed on at once; a sink asks to finish when it has so many. */
static void
check_finish (guint workers, const char *suffix, const char *tail, guint n, gboolean cut_short)
{
  g_autoptr (Fixture) fixture = fixture_new ();
  g_autoptr (GString) text = g_string_new (NULL);
  GError *error = NULL;
  g_autoptr (Rig) rig = NULL;
  gboolean rejected;

  for (guint i = 0; i < 100; i++)
    g_string_append (text, "{\"text\":\"x\"}\n");
  g_string_append (text, tail);
  for (guint i = 0; i < 3; i++)
    {
      g_autofree char *name = g_strdup_printf ("%u.jsonl%s", i, suffix);

      fixture_write (fixture, name, text->str, (gssize) text->len);
    }
  fixture->config.workers = workers;
  rig = rig_new (fixture_config (fixture), NULL, &error);
  g_assert_no_error (error);
  for (guint i = 0; i < n; i++)
    {
      g_autofree char *line = rig_next (rig, &rejected, &error);

      g_assert_no_error (error);
      g_assert_nonnull (line);
    }
  rig_finish (rig);
  for (;;)
    {
      g_autofree char *line = rig_next (rig, &rejected, &error);

      g_assert_no_error (error);
      if (line == NULL)
        break;
    }
  g_assert_cmpint (rig_is_cut_short (rig), ==, cut_short);
}

static void
test_finish_at_end (void)
{
  static const char *const suffixes[] = { "", ".gz", ".zst" };

  for (guint i = 0; i < G_N_ELEMENTS (suffixes); i++)
    for (guint workers = 0; workers < 3; workers++)
      {
        check_finish (workers, suffixes[i], "", 300, FALSE);
        check_finish (workers, suffixes[i], "\n \n", 300, FALSE);
        check_finish (workers, suffixes[i], "", 1, TRUE);
        check_finish (workers, suffixes[i], "", 100, TRUE);
      }
}

/* One that says nothing more, and does not end. */
static void
test_finish_stream (void)
{
  g_autoptr (Fixture) fixture = fixture_new ();
  g_autofree char *path = fixture_path (fixture, "pipe.jsonl");
  /* As long as what formats are known by. */
  g_autofree char *pad = g_strnfill (80, ' ');
  g_autofree char *first = g_strdup_printf ("{\"text\":\"x\"}%s\n", pad);

  g_assert_cmpint (mkfifo (path, 0600), ==, 0);
  for (guint workers = 0; workers < 2; workers++)
    {
      int fd = open (path, O_RDWR | O_CLOEXEC);
      GError *error = NULL;
      g_autoptr (Rig) rig = NULL;
      gint64 began;
      gboolean rejected;

      g_assert_cmpint (write (fd, first, strlen (first)), ==, (gssize) strlen (first));
      fixture->config.workers = workers;
      rig = rig_new (fixture_config (fixture), NULL, &error);
      g_assert_no_error (error);
      /* Without threads the element would read on at once. */
      if (workers > 0)
        {
          g_autofree char *line = rig_next (rig, &rejected, &error);

          g_assert_nonnull (line);
        }
      rig_finish (rig);
      began = g_get_monotonic_time ();
      g_assert_null (rig_next_within (rig, 10, &rejected, &error));
      g_assert_no_error (error);
      g_assert_cmpint (g_get_monotonic_time () - began, <, 5 * G_USEC_PER_SEC);
      g_assert_true (rig_is_cut_short (rig));
      close (fd);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  fixture_init ();
  g_log_set_always_fatal (G_LOG_FATAL_MASK | G_LOG_LEVEL_CRITICAL);
  g_test_add_data_func ("/reader/resume/1", GUINT_TO_POINTER (1), test_every_record);
  g_test_add_data_func ("/reader/resume/3", GUINT_TO_POINTER (3), test_every_record);
  g_test_add_data_func ("/reader/resume/large-chunks/1", GUINT_TO_POINTER (1), test_large_chunks);
  g_test_add_data_func ("/reader/resume/large-chunks/2", GUINT_TO_POINTER (2), test_large_chunks);
  g_test_add_data_func ("/reader/resume/borders/gzip", "a.jsonl.gz", test_borders);
  g_test_add_data_func ("/reader/resume/borders/zstd", "a.jsonl.zst", test_borders);
  g_test_add_data_func ("/reader/resume/borders/xz", "a.jsonl.xz", test_borders);
  g_test_add_data_func ("/reader/resume/borders/lz4", "a.jsonl.lz4", test_borders);
  g_test_add_data_func ("/reader/resume/borders/bzip2", "a.jsonl.bz2", test_borders);
  g_test_add_data_func ("/reader/resume/codec/xz", "a.jsonl.xz", test_codec);
  g_test_add_data_func ("/reader/resume/codec/lz4", "a.jsonl.lz4", test_codec);
  g_test_add_data_func ("/reader/resume/codec/bzip2", "a.jsonl.bz2", test_codec);
  g_test_add_func ("/reader/resume/failure", test_failure);
  g_test_add_func ("/reader/resume/damage", test_damage);
  g_test_add_func ("/reader/resume/finish-at-end", test_finish_at_end);
  g_test_add_func ("/reader/resume/finish-stream", test_finish_stream);
  g_test_add_func ("/reader/resume/bad-states", test_bad_states);
  g_test_add_func ("/reader/resume/finish", test_finish);
  return g_test_run ();
}
