/* SPDX-License-Identifier: MIT */
#include "dlp-graph-parser-private.h"
#include "dlp-value-parser-private.h"

#include <string.h>

/* What parses must have a canonical text that parses to the same graph; what does not must be
 * refused with a message that a terminal can show. Values are read as each kind of number. */

int LLVMFuzzerTestOneInput (const guint8 *data, gsize size);

static void
check_graph (const char *text)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (DlpGraph) graph = dlp_graph_parse (text, &error);
  g_autoptr (DlpGraph) again = NULL;
  g_autofree char *canonical = NULL;
  g_autofree char *second = NULL;

  if (graph == NULL)
    {
      g_assert_nonnull (error);
      g_assert_true (g_utf8_validate (error->message, -1, NULL));
      g_assert_null (strpbrk (error->message, "\x1b\r\t\x7f"));
      return;
    }

  g_assert_no_error (error);
  canonical = dlp_graph_to_text (graph);
  again = dlp_graph_parse (canonical, &error);
  g_assert_no_error (error);
  g_assert_true (dlp_graph_equal (graph, again));
  second = dlp_graph_to_text (again);
  g_assert_cmpstr (canonical, ==, second);
}

static void
check_value (GParamSpec *pspec, const char *text)
{
  g_auto (GValue) value = G_VALUE_INIT;
  g_auto (GValue) again = G_VALUE_INIT;
  g_autoptr (GError) error = NULL;
  g_autofree char *canonical = NULL;

  g_param_spec_ref_sink (pspec);
  if (dlp_value_parse (pspec, text, &value, &error))
    {
      canonical = dlp_value_to_text (pspec, &value);
      dlp_value_parse (pspec, canonical, &again, &error);
      g_assert_no_error (error);
      g_assert_cmpint (g_param_values_cmp (pspec, &value, &again), ==, 0);
      g_assert_false (g_param_value_validate (pspec, &value));
    }
  else
    {
      g_assert_nonnull (error);
      g_assert_false (G_IS_VALUE (&value));
      g_assert_true (g_utf8_validate (error->message, -1, NULL));
    }
  g_param_spec_unref (pspec);
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  g_autofree char *text = g_strndup ((const char *) data, size);

  check_graph (text);
  check_value (g_param_spec_int64 ("x", NULL, NULL, -1000, G_MAXINT64, 0, 0), text);
  check_value (g_param_spec_uint64 ("x", NULL, NULL, 0, G_MAXUINT64, 0, DLP_PARAM_BYTES), text);
  check_value (g_param_spec_uint64 ("x", NULL, NULL, 0, G_MAXUINT64, 0, DLP_PARAM_DURATION), text);
  check_value (g_param_spec_double ("x", NULL, NULL, -G_MAXDOUBLE, G_MAXDOUBLE, 0, 0), text);
  return 0;
}
