/* SPDX-License-Identifier: MIT */

#include "reader-cases.h"

#include <string.h>

#include <dlpipe/dlp-error.h>

/* Of the good and of the rejected records of a file, in golden.txt: the first so many, and the
 * last.
 */
#define MAX_SHOWN 6

const guint reader_read_sizes[N_READ_SIZES] = { 1, 7, 4096, 65536 };

static GType reader_type;
static const char *suite;
static const char *ending;

void
reader_cases_init (GType type, const char *suite_name, const char *file_ending)
{
  fixture_init ();
  reader_type = type;
  suite = suite_name;
  ending = file_ending;
}

static void
set_all (Fixture *fixture, const char *settings)
{
  g_auto (GStrv) parts = g_strsplit (settings, " ", -1);

  fixture->config.reader_type = reader_type;
  for (guint i = 0; parts[i] != NULL; i++)
    if (*parts[i] != '\0')
      fixture_set_reader (fixture, "%s", parts[i]);
}

Fixture *
reader_cases_fixture (const char *settings, guint read_size)
{
  Fixture *fixture = fixture_new ();

  set_all (fixture, settings);
  fixture_set_reader (fixture, "max-bad-ratio=1");
  fixture_set_reader (fixture, "read-size=%u", read_size);
  fixture_set_reader (fixture, "chunk-bytes=%u", read_size);
  return fixture;
}

/* ---- what came out ---- */

/* Without the place. */
char *
reader_cases_join_good (const RigOutput *output)
{
  GString *all = g_string_new (NULL);

  for (guint i = 0; i < output->good->len; i++)
    g_string_append_printf (all, "%s%s", i > 0 ? "|" : "",
                            strchr (output->good->pdata[i], '\t') + 1);
  return g_string_free (all, FALSE);
}

char *
reader_cases_join_rejected (const RigOutput *output)
{
  GString *all = g_string_new (NULL);

  for (guint i = 0; i < output->rejected->len; i++)
    {
      g_auto (GStrv) parts = g_strsplit (output->rejected->pdata[i], "\t", -1);

      g_string_append_printf (all, "%s%s %s %s %s", i > 0 ? "|" : "", parts[1], parts[4], parts[5],
                              parts[6]);
    }
  return g_string_free (all, FALSE);
}

/* ---- cases ---- */

/* A reader that meets bad records alone fails. */
static gboolean
is_all_bad (const ReaderCase *c)
{
  return *c->rejected != '\0' && *c->good == '\0';
}

static void
check (const ReaderCase *c, guint read_size, const char *compressed, guint workers)
{
  g_autoptr (Fixture) fixture = reader_cases_fixture (c->settings, read_size);
  g_autofree char *name = g_strconcat ("a", ending, compressed, NULL);
  g_autoptr (RigOutput) output = NULL;
  g_autofree char *good = NULL;
  g_autofree char *rejected = NULL;

  fixture_write (fixture, name, c->input, (gssize) c->size);
  fixture->config.workers = workers;
  output = rig_run (fixture_config (fixture));
  if (is_all_bad (c))
    g_assert_error (output->error, DLP_DATA_ERROR, DLP_DATA_ERROR_BAD_RATIO);
  else
    g_assert_no_error (output->error);
  good = reader_cases_join_good (output);
  rejected = reader_cases_join_rejected (output);
  g_assert_cmpstr (good, ==, c->good);
  g_assert_cmpstr (rejected, ==, c->rejected);
}

static void
test_case (gconstpointer data)
{
  static const char *const compressed[] = { "", "", ".gz", ".zst" };

  for (guint i = 0; i < N_READ_SIZES; i++)
    for (guint way = 0; way < G_N_ELEMENTS (compressed); way++)
      check (data, reader_read_sizes[i], compressed[way], way % 2 == 0 ? 0 : 2);
}

void
reader_cases_add (const ReaderCase *cases, guint n)
{
  for (guint i = 0; i < n; i++)
    {
      g_autofree char *path = g_strdup_printf ("/%s/%s", suite, cases[i].name);

      g_test_add_data_func (path, &cases[i], test_case);
    }
}

/* ---- what another program reads ---- */

static const char *expected_settings;

static char *
find_expected_file (guint n)
{
  g_autofree char *name = g_strdup_printf ("%02u%s", n, ending);
  g_autofree char *path = g_test_build_filename (G_TEST_DIST, "random", name, NULL);

  return g_file_test (path, G_FILE_TEST_EXISTS) ? g_steal_pointer (&path) :
                                                  g_strconcat (path, ".gz", NULL);
}

static char **
read_expected_lines (guint n)
{
  g_autofree char *name = g_strdup_printf ("%02u.txt", n);
  g_autofree char *path = g_test_build_filename (G_TEST_DIST, "random", name, NULL);
  g_autofree char *text = NULL;
  GError *error = NULL;

  g_file_get_contents (path, &text, NULL, &error);
  g_assert_no_error (error);
  text[strlen (text) - 1] = '\0';
  return g_strsplit (text, "\n", -1);
}

static void
check_expected (const char *path, char **lines, guint read_size, guint workers)
{
  g_autoptr (Fixture) fixture = fixture_new_at (path);
  g_auto (GStrv) settings = g_strsplit (lines[0], "\t", -1);
  g_autofree char *all = g_strjoinv (" ", settings);
  g_autoptr (RigOutput) output = NULL;

  set_all (fixture, all);
  set_all (fixture, expected_settings);
  fixture->config.workers = workers;
  fixture_set_reader (fixture, "read-size=%u", read_size);
  fixture_set_reader (fixture, "chunk-bytes=%u", read_size);
  output = rig_run (fixture_config (fixture));
  g_assert_no_error (output->error);
  g_assert_cmpuint (output->rejected->len, ==, 0);
  for (guint k = 0; k < output->good->len && lines[k + 1] != NULL; k++)
    g_assert_cmpstr (strchr (output->good->pdata[k], '\t') + 1, ==, lines[k + 1]);
  g_assert_cmpuint (output->good->len, ==, g_strv_length (lines) - 1);
}

static void
test_expected (gconstpointer data)
{
  static const guint read_sizes[] = { 1, 7, 100, 4096, 65536 };
  g_autofree char *path = find_expected_file (GPOINTER_TO_UINT (data));
  g_auto (GStrv) lines = read_expected_lines (GPOINTER_TO_UINT (data));

  for (guint i = 0; i < G_N_ELEMENTS (read_sizes); i++)
    check_expected (path, lines, read_sizes[i], i % 3);
}

void
reader_cases_add_expected (guint n, const char *settings)
{
  expected_settings = settings;
  for (guint i = 0; i < n; i++)
    {
      g_autofree char *path = g_strdup_printf ("/%s/expected/%02u", suite, i);

      g_test_add_data_func (path, GUINT_TO_POINTER (i), test_expected);
    }
}

/* ---- what is refused, and what is damaged ---- */

static guint64
get_damaged (const RigOutput *output)
{
  guint64 damaged = 0;

  g_assert_nonnull (output->report);
  g_assert_true (g_variant_lookup (output->report, "damaged", "t", &damaged));
  return damaged;
}

void
reader_cases_assert_damaged (const char *settings,
                             const char *bytes,
                             gsize size,
                             guint read_size,
                             const char *part)
{
  for (guint workers = 0; workers < 3; workers += 2)
    {
      g_autoptr (Fixture) fixture = reader_cases_fixture (settings, read_size);
      g_autofree char *name = g_strconcat ("a", ending, NULL);
      g_autoptr (RigOutput) output = NULL;

      fixture->config.workers = workers;
      fixture_write (fixture, name, bytes, (gssize) size);
      output = rig_run (fixture_config (fixture));
      g_assert_error (output->error, DLP_DATA_ERROR, DLP_DATA_ERROR_DAMAGED);
      g_test_message ("%s", output->error->message);
      g_assert_nonnull (strstr (output->error->message, part));
      g_assert_cmpuint (output->good->len, ==, 0);

      fixture_set_reader (fixture, "on-damaged-file=keep");
      g_clear_pointer (&output, rig_output_free);
      output = rig_run (fixture_config (fixture));
      g_assert_no_error (output->error);
      g_assert_cmpuint (get_damaged (output), ==, 1);
      g_assert_cmpuint (output->good->len + output->rejected->len, ==, 0);
    }
}

void
reader_cases_assert_refused (const char *settings, const char *part)
{
  g_autoptr (Fixture) fixture = reader_cases_fixture (settings, 4096);
  g_autofree char *name = g_strconcat ("a", ending, NULL);
  g_autoptr (GError) error = NULL;

  fixture_write (fixture, name, "x\n", -1);
  g_assert_null (rig_new (fixture_config (fixture), NULL, &error));
  g_assert_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE);
  g_test_message ("%s", error->message);
  g_assert_nonnull (strstr (error->message, part));
}

/* ---- gone on with ---- */

static void
check_resumable (Fixture *fixture, guint good, guint rejected)
{
  g_autoptr (RigOutput) whole = rig_run (fixture_config (fixture));
  g_autoptr (RigOutput) pieces = rig_run_in_pieces (fixture_config (fixture));

  g_assert_no_error (whole->error);
  g_assert_cmpuint (whole->good->len, ==, good);
  g_assert_cmpuint (whole->rejected->len, ==, rejected);
  rig_assert_equal (pieces, whole);
  fixture->config.stride = 3;
  rig_assert_resumable (fixture_config (fixture), fixture_config (fixture));
}

void
reader_cases_check_resume (const char *settings,
                           void (*write) (Fixture *),
                           guint interleave,
                           guint good,
                           guint rejected)
{
  for (guint workers = 0; workers < 3; workers += 2)
    for (guint chunk = 1; chunk < 2000000; chunk *= 40)
      {
        g_autoptr (Fixture) fixture = reader_cases_fixture (settings, 65536);

        write (fixture);
        fixture_set_source (fixture, "epochs=2");
        fixture_set_reader (fixture, "chunk-bytes=%u", chunk);
        fixture_set_reader (fixture, "interleave=%u", interleave);
        fixture->config.workers = workers;
        check_resumable (fixture, good, rejected);
      }
}

/* ---- what was looked through ---- */

static RigOutput *
run_file (const char *path, const char *settings, guint read_size, guint workers)
{
  g_autoptr (Fixture) fixture = fixture_new_at (path);

  set_all (fixture, settings);
  fixture->config.workers = workers;
  fixture_set_reader (fixture, "on-damaged-file=keep");
  fixture_set_reader (fixture, "max-bad-ratio=1");
  fixture_set_reader (fixture, "window-log-max=31");
  fixture_set_reader (fixture, "read-size=%u", read_size);
  return rig_run (fixture_config (fixture));
}

static void
append_lines (GString *all, const char *folder, const char *word, GPtrArray *lines)
{
  for (guint i = 0; i < lines->len; i++)
    {
      g_auto (GStrv) parts = g_strsplit (lines->pdata[i], folder, -1);
      g_autofree char *line = g_strjoinv ("", parts);

      if (i < MAX_SHOWN || i + 1 == lines->len)
        g_string_append_printf (all, "  %s %.120s\n", word, line);
    }
}

void
reader_cases_append_outcome (GString *all,
                             const char *folder,
                             const char *name,
                             const char *settings)
{
  g_autofree char *path = g_build_filename (folder, name, NULL);
  g_autoptr (RigOutput) first = run_file (path, settings, reader_read_sizes[N_READ_SIZES - 1], 0);

  g_string_append_printf (all, "%s%s%s\n", name, *settings != '\0' ? " " : "", settings);
  append_lines (all, folder, "good", first->good);
  append_lines (all, folder, "bad ", first->rejected);
  g_string_append_printf (all, "  damaged %" G_GUINT64_FORMAT "%s\n", get_damaged (first),
                          first->error != NULL ? ", an error" : "");
  for (guint i = 0; i + 1 < N_READ_SIZES; i++)
    {
      g_autoptr (RigOutput) output = run_file (path, settings, reader_read_sizes[i], i);

      rig_assert_equal (output, first);
    }
}

void
reader_cases_assert_golden (const GString *all)
{
  g_autofree char *golden = g_test_build_filename (G_TEST_DIST, "golden.txt", NULL);
  const char *made = g_getenv ("DLPIPE_WRITE_GOLDEN");
  g_autofree char *expected = NULL;
  GError *error = NULL;

  if (made != NULL)
    g_file_set_contents (made, all->str, (gssize) all->len, &error);
  g_assert_no_error (error);
  g_file_get_contents (golden, &expected, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (all->str, ==, expected);
}
