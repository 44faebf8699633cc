/* SPDX-License-Identifier: MIT */

#include <string.h>

#include <dlpipe/dlp-json.h>

/* What is read is written and read again as the same; checking says the same as reading, but for
 * U+0000, which has no place in a GVariant. */

int LLVMFuzzerTestOneInput (const guint8 *data, gsize size);

static void
check_print (GVariant *value, gboolean pretty)
{
  g_autofree char *text = dlp_json_print (value, pretty);
  g_autoptr (GError) error = NULL;
  g_autoptr (GVariant) again = NULL;
  g_autofree char *second = NULL;

  g_assert_true (g_utf8_validate (text, -1, NULL));
  again = dlp_json_parse (text, strlen (text), &error);
  g_assert_no_error (error);
  /* Not the values: a number too large for a double is written as null. */
  second = dlp_json_print (again, pretty);
  g_assert_cmpstr (second, ==, text);
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GVariant) value = dlp_json_parse ((const char *) data, size, &error);
  gboolean ok = dlp_json_check ((const char *) data, size, NULL);

  if (value == NULL)
    {
      gboolean deep = g_error_matches (error, DLP_JSON_ERROR, DLP_JSON_ERROR_DEPTH);

      g_assert_true (deep || g_error_matches (error, DLP_JSON_ERROR, DLP_JSON_ERROR_SYNTAX));
      g_assert_true (g_utf8_validate (error->message, -1, NULL));
      g_assert_true (!ok || deep || strstr (error->message, "U+0000") != NULL);
      return 0;
    }
  g_assert_true (ok);
  check_print (value, FALSE);
  check_print (value, TRUE);
  return 0;
}
