/* SPDX-License-Identifier: MIT */

/* The order of records is that of the model: tests/data/order/orders.txt, made by make-orders.py.
 */

#include <stdio.h>
#include <string.h>

#include "reader-fixture.h"

typedef struct
{
  char name[64];
  guint64 seed;
  guint epochs, interleave, shuffle, reshuffle;
  guint rows[32];
  guint n_files;
  GPtrArray *expected; /* of char *: "FILE ROW EPOCH" */
} Order;

static void
order_free (gpointer data)
{
  Order *order = data;

  g_ptr_array_unref (order->expected);
  g_free (order);
}

static Order *
parse_case (const char *line)
{
  Order *order = g_new0 (Order, 1);
  const char *rows = strstr (line, "rows=") + strlen ("rows=");
  g_auto (GStrv) numbers = g_strsplit (rows, ",", -1);
  int n = sscanf (
      line, "case %63s seed=%" G_GUINT64_FORMAT " epochs=%u interleave=%u shuffle=%u reshuffle=%u",
      order->name, &order->seed, &order->epochs, &order->interleave, &order->shuffle,
      &order->reshuffle);

  g_assert_cmpint (n, ==, 6);
  order->n_files = g_strv_length (numbers);
  g_assert_cmpuint (order->n_files, <=, G_N_ELEMENTS (order->rows));
  for (guint i = 0; i < order->n_files; i++)
    order->rows[i] = (guint) g_ascii_strtoull (numbers[i], NULL, 10);
  order->expected = g_ptr_array_new_with_free_func (g_free);
  return order;
}

/* With @spoilt, bad rows and blank lines are strewn in; then the k-th good row of a file is row
 * spoilt_row (k). */
static guint64
spoilt_row (guint k)
{
  return k + (k + 2) / 2;
}

static void
write_file (Fixture *fixture, const Order *order, guint file, gboolean spoilt)
{
  static const char *const endings[] = { "jsonl", "jsonl.gz", "jsonl.zst" };
  g_autofree char *name = g_strdup_printf ("%02u.%s", file, endings[file % 3]);
  g_autoptr (GString) text = g_string_new (NULL);
  guint row = 0;

  for (guint k = 0; k < order->rows[file]; k++, row++)
    {
      for (; spoilt && row < spoilt_row (k); row++)
        g_string_append (text, "{\"text\":0}\n\n");
      g_string_append_printf (text, "{\"text\":\"%u\"}\n", k);
    }
  if (spoilt)
    g_string_append (text, "bad\n  \nbad\n");
  fixture_write (fixture, name, text->str, (gssize) text->len);
}

static void
check (const Order *order, gboolean spoilt, guint64 chunk_bytes, guint workers)
{
  g_autoptr (Fixture) fixture = fixture_new ();
  g_autoptr (RigOutput) output = NULL;

  for (guint i = 0; i < order->n_files; i++)
    write_file (fixture, order, i, spoilt);
  fixture_set_source (fixture, "epochs=%u", order->epochs);
  fixture_set_source (fixture, "shuffle=%s", order->shuffle ? "true" : "false");
  fixture_set_source (fixture, "reshuffle=%s",
                      order->shuffle && order->reshuffle ? "true" : "false");
  fixture_set_reader (fixture, "interleave=%u", order->interleave);
  fixture_set_reader (fixture, "max-bad-ratio=1");
  fixture_set_reader (fixture, "chunk-bytes=%" G_GUINT64_FORMAT, chunk_bytes);
  fixture->config.seed = order->seed;
  fixture->config.workers = workers;

  output = rig_run (fixture_config (fixture));
  if (spoilt && order->expected->len == 0)
    {
      g_assert_error (output->error, DLP_DATA_ERROR, DLP_DATA_ERROR_BAD_RATIO);
      return;
    }
  g_assert_no_error (output->error);
  g_assert_cmpuint (output->good->len, ==, order->expected->len);
  for (guint i = 0; i < output->good->len; i++)
    {
      guint file, k, epoch;
      g_autofree char *line = NULL;

      g_assert_cmpint (sscanf (order->expected->pdata[i], "%u %u %u", &file, &k, &epoch), ==, 3);
      line = g_strdup_printf ("0 0 %u %" G_GUINT64_FORMAT " %u\t%u", file,
                              spoilt ? spoilt_row (k) : k, epoch, k);
      g_assert_cmpstr (output->good->pdata[i], ==, line);
    }
}

static void
test_order (gconstpointer data)
{
  check (data, FALSE, 1024 * 1024, 0);
  check (data, TRUE, 30, 0);
  check (data, TRUE, 1024 * 1024, 2);
  check (data, FALSE, 1, 3);
}

static void
add_orders (void)
{
  g_autofree char *path =
      g_build_filename (g_getenv ("DLPIPE_TEST_DATA"), "order", "orders.txt", NULL);
  g_autofree char *text = NULL;
  g_auto (GStrv) lines = NULL;
  GError *error = NULL;
  Order *order = NULL;
  guint n = 0;

  g_file_get_contents (path, &text, NULL, &error);
  g_assert_no_error (error);
  lines = g_strsplit (text, "\n", -1);
  for (guint i = 0; lines[i] != NULL; i++)
    if (g_str_has_prefix (lines[i], "case "))
      {
        g_autofree char *name = NULL;

        order = parse_case (lines[i]);
        name = g_strconcat ("/reader/order/", order->name, NULL);
        g_test_add_data_func_full (name, order, test_order, order_free);
        n++;
      }
    else if (lines[i][0] != '\0')
      g_ptr_array_add (order->expected, g_strdup (lines[i]));
  g_assert_cmpuint (n, >=, 40);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  fixture_init ();
  g_log_set_always_fatal (G_LOG_FATAL_MASK | G_LOG_LEVEL_CRITICAL);
  add_orders ();
  return g_test_run ();
}
