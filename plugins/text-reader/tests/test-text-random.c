/* SPDX-License-Identifier: MIT */

/* Random text, compared with what splitting it plainly gives; and gone on with after each record.
 */

#include <string.h>

#include "dlp-text-reader.h"
#include "reader-fixture.h"

static const char *const units[] = { "file", "line", "paragraph" };

/* Pieces that borders are made of. */
static char *
make_text (guint n)
{
  static const char *const pieces[] = { "\n",       "\n",  "\r\n", "a",         " ",    "\t",
                                        "\xc3\xa9", "b\n", "\n\n", "word word", "\r\na" };
  GString *text = g_string_new ("t");

  for (guint i = 0; i < n; i++)
    g_string_append (text, pieces[g_test_rand_int_range (0, G_N_ELEMENTS (pieces))]);
  g_string_append (text, "z");
  return g_string_free (text, FALSE);
}

static gboolean
is_blank (const char *line)
{
  return line[strspn (line, " \t")] == '\0';
}

static char *
escape (const char *text)
{
  GString *out = g_string_new (NULL);

  for (; *text != '\0'; text++)
    if ((guint8) *text < ' ')
      g_string_append_printf (out, "\\x%02x", (guint) *text);
    else
      g_string_append_c (out, *text);
  return g_string_free (out, FALSE);
}

static void
add (GPtrArray *records, GString *text)
{
  g_ptr_array_add (records, escape (text->str));
  g_string_truncate (text, 0);
}

/* (transfer full): the texts, escaped. */
static GPtrArray *
split (const char *text, const char *unit)
{
  GPtrArray *records = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GString) open = g_string_new (NULL);
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);

  if (strcmp (unit, "file") == 0)
    {
      g_ptr_array_add (records, escape (text));
      return records;
    }
  for (guint i = 0; lines[i] != NULL; i++)
    {
      while (g_str_has_suffix (lines[i], "\r"))
        lines[i][strlen (lines[i]) - 1] = '\0';
      if (is_blank (lines[i]))
        {
          if (open->len > 0)
            add (records, open);
          continue;
        }
      g_string_append_printf (open, "%s%s", open->len > 0 ? "\n" : "", lines[i]);
      if (strcmp (unit, "line") == 0)
        add (records, open);
    }
  if (open->len > 0)
    add (records, open);
  return records;
}

static Fixture *
make_fixture (const char *unit, guint interleave)
{
  Fixture *fixture = fixture_new ();

  fixture->config.reader_type = DLP_TYPE_TEXT_READER;
  fixture_set_reader (fixture, "unit=%s", unit);
  fixture_set_reader (fixture, "max-bad-ratio=1");
  fixture_set_reader (fixture, "interleave=%u", interleave);
  return fixture;
}

static void
test_random (gconstpointer data)
{
  const char *unit = data;

  for (guint i = 0; i < rig_scaled (60); i++)
    {
      g_autofree char *text = make_text ((guint) g_test_rand_int_range (1, 300));
      g_autoptr (GPtrArray) expected = split (text, unit);
      g_autoptr (Fixture) fixture = make_fixture (unit, 1);
      g_autoptr (RigOutput) output = NULL;

      fixture_write (fixture, i % 3 == 0 ? "a.txt.gz" : "a.txt", text, -1);
      fixture_set_reader (fixture, "read-size=%d", g_test_rand_int_range (1, 40));
      fixture_set_reader (fixture, "chunk-bytes=%d", g_test_rand_int_range (1, 90));
      fixture->config.workers = i % 3;
      output = rig_run (fixture_config (fixture));
      g_assert_no_error (output->error);
      g_assert_cmpuint (output->good->len, ==, expected->len);
      for (guint k = 0; k < expected->len; k++)
        g_assert_cmpstr (strchr (output->good->pdata[k], '\t') + 1, ==, expected->pdata[k]);
    }
}

/* With bad records among them. */
static void
write_files (Fixture *fixture)
{
  static const char *const names[] = { "a.txt", "b.txt.gz", "c.txt", "d.txt.zst", "e.txt" };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autofree char *one = make_text (30);
      g_autofree char *two = make_text (20);
      g_autofree char *text =
          g_strconcat (one, "\n\nx\xff\n\r\n", two, i % 2 == 0 ? "\xe9" : "", NULL);

      fixture_write (fixture, names[i], i == 2 ? "" : text, -1);
    }
}

static void
test_resume (gconstpointer data)
{
  const char *unit = data;
  static const guint interleaves[] = { 1, 3 };

  for (guint i = 0; i < G_N_ELEMENTS (interleaves); i++)
    for (guint workers = 0; workers < 3; workers += 2)
      {
        g_autoptr (Fixture) fixture = make_fixture (unit, interleaves[i]);
        g_autoptr (RigOutput) whole = NULL;
        g_autoptr (RigOutput) pieces = NULL;

        write_files (fixture);
        fixture_set_source (fixture, "epochs=2");
        fixture_set_reader (fixture, "chunk-bytes=50");
        if (strcmp (unit, "file") == 0)
          fixture_set_reader (fixture, "invalid-utf8=replace");
        fixture->config.workers = workers;
        whole = rig_run (fixture_config (fixture));
        g_assert_no_error (whole->error);
        g_assert_cmpuint (whole->good->len, >=, 8);
        pieces = rig_run_in_pieces (fixture_config (fixture));
        rig_assert_equal (pieces, whole);
        rig_assert_resumable (fixture_config (fixture), fixture_config (fixture));
      }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  fixture_init ();
  g_log_set_always_fatal (G_LOG_FATAL_MASK | G_LOG_LEVEL_CRITICAL);
  for (guint i = 0; i < G_N_ELEMENTS (units); i++)
    {
      g_autofree char *random = g_strconcat ("/text-reader/random/", units[i], NULL);
      g_autofree char *resume = g_strconcat ("/text-reader/resume/", units[i], NULL);

      g_test_add_data_func (random, units[i], test_random);
      g_test_add_data_func (resume, units[i], test_resume);
    }
  return g_test_run ();
}
