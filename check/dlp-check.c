/* SPDX-License-Identifier: MIT */

#include <string.h>

#include "dlp-check-private.h"
#include "dlp-check-sink.h"
#include "dlp-check-source.h"

/* What an element says of its data, as of bad records that a test gave it. */
static gboolean
is_of_data (const GLogField *fields, gsize n_fields)
{
  for (gsize i = 0; i < n_fields; i++)
    if (strcmp (fields[i].key, "DLP_FILE") == 0)
      return TRUE;
  return FALSE;
}

/* Replays and stops are announced a thousand times; what is worse than a message is shown, and a
 * warning ends the test. */
static GLogWriterOutput
write_log (GLogLevelFlags level, const GLogField *fields, gsize n_fields, gpointer data)
{
  if ((level & (G_LOG_LEVEL_MESSAGE | G_LOG_LEVEL_INFO | G_LOG_LEVEL_DEBUG)) ||
      ((level & G_LOG_LEVEL_WARNING) && is_of_data (fields, n_fields)))
    return G_LOG_WRITER_HANDLED;
  return g_log_writer_default (level, fields, n_fields, data);
}

static void
add_element (const char *name, GType type)
{
  g_autoptr (GError) error = NULL;

  dlp_registry_add_element (name, type, &error);
  g_assert_no_error (error);
}

void
dlp_check_init (void)
{
  g_log_set_writer_func (write_log, NULL, NULL);
  add_element ("check-source", DLP_TYPE_CHECK_SOURCE);
  add_element ("check-sink", DLP_TYPE_CHECK_SINK);
  add_element ("check-input", dlp_check_input_get_type ());
  add_element ("check-pull", dlp_check_pull_get_type ());
}

guint
dlp_check_scale (guint n)
{
  const char *text = g_getenv ("DLPIPE_TEST_SCALE");
  double scale = text != NULL ? g_ascii_strtod (text, NULL) : 1.0;

  return MAX ((guint) (n * scale), 1);
}

void
dlp_check_golden (const char *graph, const char *path)
{
  g_autoptr (GHashTable) got = dlp_check_expect (graph);
  GPtrArray *lines = g_hash_table_lookup (got, "k");
  g_autoptr (GString) text = g_string_new (NULL);
  g_autofree char *want = NULL;
  g_autoptr (GError) error = NULL;

  g_assert_nonnull (lines);
  for (guint i = 0; i < lines->len; i++)
    g_string_append_printf (text, "%s\n", (char *) g_ptr_array_index (lines, i));
  if (g_getenv ("DLPIPE_UPDATE_GOLDEN") != NULL)
    {
      g_file_set_contents (path, text->str, text->len, &error);
      g_assert_no_error (error);
      return;
    }
  g_file_get_contents (path, &want, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (text->str, ==, want);
}
