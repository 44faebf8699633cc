/* SPDX-License-Identifier: MIT */

/* The order of records out of sources, mix and shuffle is that of the model:
 * tests/data/order/mixes.txt, made by make-mixes.py. */

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <dlp-harness.h>

typedef struct
{
  char *name;
  guint64 seed;
  char *graph;
  GPtrArray *expected; /* of "[0 SOURCE FILE ROW 0]" */
} Case;

static GPtrArray *cases;

static void
case_free (gpointer data)
{
  Case *self = data;

  g_free (self->name);
  g_free (self->graph);
  g_ptr_array_unref (self->expected);
  g_free (self);
}

static char *
make_graph (const char *shuffle, const char *weights, const char *sources)
{
  g_auto (GStrv) list = g_strsplit (sources, ",", -1);
  GString *text = g_string_new (NULL);
  guint n = g_strv_length (list);

  for (guint i = 0; i < n; i++)
    {
      guint64 records;
      guint rows;

      g_assert_cmpint (sscanf (list[i], "%" G_GUINT64_FORMAT "/%u", &records, &rows), ==, 2);
      g_string_append_printf (
          text, "check-source records=%" G_GUINT64_FORMAT " rows-a-file=%u variant=%u ! %s",
          records, rows, i, n > 1 ? "m.  " : "");
    }
  if (n > 1)
    g_string_append_printf (text, "mix name=m weights=%s ! ", weights);
  if (strcmp (shuffle, "0") != 0)
    g_string_append_printf (text, "shuffle size=%s ! ", shuffle);
  g_string_append (text, "check-sink name=k");
  return g_string_free (text, FALSE);
}

static Case *
read_case (const char *line)
{
  g_auto (GStrv) words = g_strsplit (line, " ", -1);
  Case *self = g_new0 (Case, 1);

  g_assert_cmpuint (g_strv_length (words), ==, 6);
  self->name = g_strdup (words[1]);
  self->seed = g_ascii_strtoull (words[2] + strlen ("seed="), NULL, 10);
  self->graph = make_graph (words[3] + strlen ("shuffle="), words[4] + strlen ("weights="),
                            words[5] + strlen ("sources="));
  self->expected = g_ptr_array_new_with_free_func (g_free);
  return self;
}

static void
read_cases (void)
{
  g_autofree char *path = g_test_build_filename (G_TEST_DIST, "data", "order", "mixes.txt", NULL);
  g_autofree char *text = NULL;
  g_auto (GStrv) lines = NULL;
  g_autoptr (GError) error = NULL;

  g_file_get_contents (path, &text, NULL, &error);
  g_assert_no_error (error);
  lines = g_strsplit (text, "\n", -1);
  cases = g_ptr_array_new_with_free_func (case_free);
  for (guint i = 0; lines[i][0] != '\0'; i++)
    if (g_str_has_prefix (lines[i], "case "))
      g_ptr_array_add (cases, read_case (lines[i]));
    else
      {
        Case *last = g_ptr_array_index (cases, cases->len - 1);

        g_ptr_array_add (last->expected, g_strdup_printf ("[0 %s 0]", lines[i]));
      }
  g_assert_cmpuint (cases->len, >=, 30);
}

static void
check (Case *self, const DlpHarnessSettings *settings)
{
  g_autoptr (GError) error = NULL;
  GPtrArray *got;

  dlp_harness_run (self->graph, settings, &error);
  g_assert_no_error (error);
  got = dlp_check_sink_get_lines ("k");
  for (guint i = 0; i < MIN (got->len, self->expected->len); i++)
    if (!g_str_has_prefix (g_ptr_array_index (got, i), g_ptr_array_index (self->expected, i)))
      g_error ("%s: record %u is %.40s, the model says %s\n%s", self->name, i,
               (char *) g_ptr_array_index (got, i), (char *) g_ptr_array_index (self->expected, i),
               self->graph);
  g_assert_cmpuint (got->len, ==, self->expected->len);
}

static void
test_case (gconstpointer data)
{
  Case *self = (Case *) data;
  static const DlpHarnessSettings settings[] = {
    { .runner = DLP_RUNNER_THREADS },
    { .runner = DLP_RUNNER_SEQUENTIAL, .batch_records = 1 },
    { .runner = DLP_RUNNER_POOL, .batch_records = 3, .link_batches = 1, .random_yields = TRUE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (settings); i++)
    {
      DlpHarnessSettings with = settings[i];

      with.seed = self->seed;
      check (self, &with);
    }
}

int
main (int argc, char **argv)
{
  int code;

  g_test_init (&argc, &argv, NULL);
  dlp_harness_init ();
  read_cases ();
  for (guint i = 0; i < cases->len; i++)
    {
      Case *self = g_ptr_array_index (cases, i);
      g_autofree char *path = g_strconcat ("/order/", self->name, NULL);

      g_test_add_data_func (path, self, test_case);
    }
  code = g_test_run ();
  g_ptr_array_unref (cases);
  dlp_check_sink_clear ();
  return code;
}
