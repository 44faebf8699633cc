/* SPDX-License-Identifier: MIT */

#include <string.h>

#include "dlp-utf8-private.h"

#define FFFD "\xef\xbf\xbd"

/* The Unicode Standard 16.0, 3.9.6, tables 3-8 to 3-11, and ends of texts. */
static void
test_subparts (void)
{
  static const struct
  {
    const char *bytes, *wanted;
    gsize n;
  } cases[] = {
    { "", "", 0 },
    { "ascii", "ascii", 0 },
    { "\xe7\x8b\x90\xf0\x9f\x98\x80", "\xe7\x8b\x90\xf0\x9f\x98\x80", 0 },
    { "\xc0\xaf\xe0\x80\xbf\xf0\x81\x82\x41", FFFD FFFD FFFD FFFD FFFD FFFD FFFD FFFD "A", 8 },
    { "\xed\xa0\x80\xed\xbf\xbf\xed\xaf\x41", FFFD FFFD FFFD FFFD FFFD FFFD FFFD FFFD "A", 8 },
    { "\xf4\x91\x92\x93\xff\x41\x80\xbf\x42", FFFD FFFD FFFD FFFD FFFD "A" FFFD FFFD "B", 7 },
    { "\xe1\x80\xe2\xf0\x91\x92\xf1\xbf\x41", FFFD FFFD FFFD FFFD "A", 4 },
    { "a\xf1\x80\x80\xe1\x80\xc2"
      "b\x80"
      "c\x80\xbf"
      "d",
      "a" FFFD FFFD FFFD "b" FFFD "c" FFFD FFFD "d", 6 },
    { "12345678\xe7\x8b", "12345678" FFFD, 1 },
    { "\xf0\x9f\x98", FFFD, 1 },
    { "\xc3", FFFD, 1 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GString) found = g_string_new (NULL);
      const guint8 *bytes = (const guint8 *) cases[i].bytes;
      gsize size = strlen (cases[i].bytes);

      g_assert_cmpuint (dlp_utf8_append_repaired (found, bytes, size), ==, cases[i].n);
      g_assert_cmpstr (found->str, ==, cases[i].wanted);
      g_assert_cmpint (dlp_utf8_is_valid (bytes, size), ==, cases[i].n == 0);
    }
}

/* As GLib has it, but for U+0000: all of three bytes, and of four around the borders. */
static void
test_all (void)
{
  static const guint8 edges[] = { 0x01, 0x41, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf,
                                  0xc0, 0xc1, 0xc2, 0xdf, 0xe0, 0xe1, 0xec, 0xed, 0xee,
                                  0xef, 0xf0, 0xf1, 0xf3, 0xf4, 0xf5, 0xff };
  const guint n = G_N_ELEMENTS (edges);

  for (guint i = 0; i < 1 << 24; i++)
    {
      const guint8 bytes[] = { (guint8) (i >> 16), (guint8) (i >> 8), (guint8) i };

      if (memchr (bytes, 0, sizeof bytes) == NULL)
        g_assert_cmpint (dlp_utf8_is_valid (bytes, sizeof bytes), ==,
                         g_utf8_validate_len ((const char *) bytes, sizeof bytes, NULL));
    }
  for (guint i = 0; i < n * n * n * n; i++)
    {
      const guint8 bytes[] = { edges[i % n], edges[i / n % n], edges[i / n / n % n],
                               edges[i / n / n / n] };
      g_autoptr (GString) repaired = g_string_new (NULL);

      g_assert_cmpint (dlp_utf8_is_valid (bytes, sizeof bytes), ==,
                       g_utf8_validate_len ((const char *) bytes, sizeof bytes, NULL));
      dlp_utf8_append_repaired (repaired, bytes, sizeof bytes);
      g_assert_true (dlp_utf8_is_valid ((const guint8 *) repaired->str, repaired->len));
    }
  g_assert_true (dlp_utf8_is_valid ((const guint8 *) "\0a\0", 3));
}

/* Wherever it lies in a text that is otherwise ASCII, or not. */
static void
test_places (void)
{
  static const char *const pieces[] = {
    "\xc3\xa9", "\xe6\xbc\xa2", "\xf0\x9f\x98\x80", "\xff", "\xc3",
    "\xe6\xbc", "\xed\xa0\x80", "\xe0\x80\x80",     "\x80", "\xf4\x90\x80\x80"
  };
  static const char *const fills[] = { "a", "\xe4\xb8\xad" };

  for (guint i = 0; i < G_N_ELEMENTS (pieces); i++)
    for (guint before = 0; before < 70; before++)
      for (guint after = 0; after < 70; after += 3)
        {
          g_autoptr (GString) text = g_string_new (NULL);
          const char *end;

          for (guint k = 0; k < before; k++)
            g_string_append (text, fills[(before + after) % 7 == 0]);
          g_string_append (text, pieces[i]);
          for (guint k = 0; k < after; k++)
            g_string_append_c (text, 'b');
          g_utf8_validate_len (text->str, text->len, &end);
          g_assert_cmpuint (dlp_utf8_measure_valid ((const guint8 *) text->str, text->len), ==,
                            end - text->str);
        }
}

/* Fields of all kinds stay; a batch that is well is given back. */
static void
test_batch (void)
{
  static const char *const names[] = { "text", "n", "other" };
  static const DlpFieldType types[] = { DLP_FIELD_STRING, DLP_FIELD_INT64, DLP_FIELD_STRING };
  static const gboolean optional[] = { FALSE, FALSE, TRUE };
  g_autoptr (DlpSchema) schema = dlp_schema_new (DLP_SCHEMA_RECORDS, 3, names, types, optional);
  static const char *const texts[] = { "good", "b\377d", "" };
  static const char *const wanted[] = { "good", "b\357\277\275d", "" };

  for (guint n = 1; n <= 3; n++)
    {
      g_autoptr (DlpRecordBatchBuilder) builder = dlp_record_batch_builder_new (schema);
      g_autoptr (DlpRecordBatch) batch = NULL;
      g_autoptr (DlpRecordBatch) repaired = NULL;
      g_autoptr (GError) error = NULL;
      guint64 n_repaired = 99;

      for (guint i = 0; i < n; i++)
        {
          const DlpCoordinate at = { .row = i };

          dlp_record_batch_builder_append_value (builder, 0, texts[i], strlen (texts[i]));
          dlp_record_batch_builder_append_int64 (builder, 1, i);
          if (i == 1)
            dlp_record_batch_builder_append_null (builder, 2);
          else
            dlp_record_batch_builder_append_value (builder, 2, i == 0 ? "x" : "\xc3", 1);
          dlp_record_batch_builder_end_record (builder, &at);
        }
      batch = dlp_record_batch_builder_finish (builder, &error);
      g_assert_no_error (error);
      repaired = dlp_utf8_repair_batch (batch, &n_repaired, &error);
      g_assert_no_error (error);
      g_assert_cmpuint (n_repaired, ==, n - 1);
      g_assert_cmpint (repaired == batch, ==, n == 1);
      g_assert_cmpuint (dlp_record_batch_get_length (repaired), ==, n);
      for (guint i = 0; i < n; i++)
        {
          gsize size;
          const char *text = (const char *) dlp_record_batch_get_value (repaired, 0, i, &size);

          g_assert_cmpmem (text, size, wanted[i], strlen (wanted[i]));
          g_assert_cmpint (dlp_record_batch_get_int64 (repaired, 1, i), ==, i);
          g_assert_cmpint (dlp_record_batch_is_null (repaired, 2, i), ==, i == 1);
          g_assert_cmpuint (dlp_record_batch_get_coordinate (repaired, i)->row, ==, i);
        }
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/utf8/subparts", test_subparts);
  g_test_add_func ("/utf8/all", test_all);
  g_test_add_func ("/utf8/places", test_places);
  g_test_add_func ("/utf8/batch", test_batch);
  return g_test_run ();
}
