/* SPDX-License-Identifier: MIT */
#include "dlp-value-parser-private.h"

#include <dlpipe/dlp-error.h>

#include <float.h>
#include <math.h>
#include <string.h>

typedef enum
{
  FRUIT_APPLE,
  FRUIT_GREEN_PEAR,
} Fruit;

typedef enum
{
  TASTE_SWEET = 1 << 0,
  TASTE_SOUR = 1 << 1,
  TASTE_SALTY = 1 << 4,
} Taste;

static GType
fruit_get_type (void)
{
  static const GEnumValue values[] = {
    { FRUIT_APPLE, "FRUIT_APPLE", "apple" },
    { FRUIT_GREEN_PEAR, "FRUIT_GREEN_PEAR", "green-pear" },
    { 0, NULL, NULL },
  };
  static GType type;

  if (type == 0)
    type = g_enum_register_static ("Fruit", values);
  return type;
}

static GType
taste_get_type (void)
{
  static const GFlagsValue values[] = {
    { TASTE_SWEET, "TASTE_SWEET", "sweet" },
    { TASTE_SOUR, "TASTE_SOUR", "sour" },
    { TASTE_SALTY, "TASTE_SALTY", "salty" },
    { 0, NULL, NULL },
  };
  static GType type;

  if (type == 0)
    type = g_flags_register_static ("Taste", values);
  return type;
}

static GParamSpec *
spec_uint64 (guint64 min, guint64 max, GParamFlags flags)
{
  return g_param_spec_uint64 ("size", NULL, NULL, min, max, min, flags);
}

static GParamSpec *
spec_int64 (gint64 min, gint64 max)
{
  return g_param_spec_int64 ("size", NULL, NULL, min, max, min, 0);
}

/* Parses text; the canonical text of what comes out is checked, and that it is read back. Takes
 * pspec. */
static void
assert_value (GParamSpec *pspec, const char *text, const char *canonical)
{
  g_auto (GValue) value = G_VALUE_INIT;
  g_auto (GValue) again = G_VALUE_INIT;
  g_autoptr (GError) error = NULL;
  g_autofree char *written = NULL;

  g_param_spec_ref_sink (pspec);
  dlp_value_parse (pspec, text, &value, &error);
  g_assert_no_error (error);
  g_assert_true (G_VALUE_HOLDS (&value, pspec->value_type));
  written = dlp_value_to_text (pspec, &value);
  g_assert_cmpstr (written, ==, canonical);

  g_assert_true (dlp_value_parse (pspec, written, &again, &error));
  if (pspec->value_type != G_TYPE_STRV)
    g_assert_cmpint (g_param_values_cmp (pspec, &value, &again), ==, 0);
  g_param_spec_unref (pspec);
}

/* Takes pspec. */
static void
assert_fails (GParamSpec *pspec, const char *text, const char *message)
{
  g_auto (GValue) value = G_VALUE_INIT;
  g_autoptr (GError) error = NULL;

  g_param_spec_ref_sink (pspec);
  g_assert_false (dlp_value_parse (pspec, text, &value, &error));
  g_assert_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE);
  g_assert_cmpstr (error->message, ==, message);
  g_assert_false (G_IS_VALUE (&value));
  g_param_spec_unref (pspec);
}

static GParamSpec *
spec_epochs (void)
{
  return g_param_spec_uint ("epochs", NULL, NULL, 0, G_MAXUINT, 1, DLP_PARAM_FOREVER);
}

static void
test_forever (void)
{
  assert_value (spec_epochs (), "forever", "forever");
  assert_value (spec_epochs (), "0", "forever");
  assert_value (spec_epochs (), "3", "3");
  assert_fails (spec_epochs (), "for ever",
                "epochs=\"for ever\" is not a number; allowed: 0 or more, forever (0)");
  assert_fails (spec_uint64 (0, 9, 0), "forever",
                "size=\"forever\" is not a number; allowed: 0 to 9");
}

static void
test_counts (void)
{
  assert_value (spec_uint64 (0, G_MAXUINT64, 0), "0", "0");
  assert_value (spec_uint64 (0, G_MAXUINT64, 0), "-0", "0");
  assert_value (spec_uint64 (0, G_MAXUINT64, 0), "+7", "7");
  assert_value (spec_uint64 (0, G_MAXUINT64, 0), "010k", "10000");
  assert_value (spec_uint64 (0, G_MAXUINT64, 0), "10K", "10000");
  assert_value (spec_uint64 (0, G_MAXUINT64, 0), "1.5M", "1500000");
  assert_value (spec_uint64 (0, G_MAXUINT64, 0), ".5G", "500000000");
  assert_value (spec_uint64 (0, G_MAXUINT64, 0), "2.T", "2000000000000");
  assert_value (spec_uint64 (0, G_MAXUINT64, 0), "1e9", "1000000000");
  assert_value (spec_uint64 (0, G_MAXUINT64, 0), "1.8446744073709551615e+19",
                "18446744073709551615");
  assert_value (spec_uint64 (0, G_MAXUINT64, 0), "18446.744073709551615P", "18446744073709551615");
  assert_value (spec_uint64 (0, G_MAXUINT64, 0), "15.00", "15");
}

static void
test_signed (void)
{
  assert_value (spec_int64 (G_MININT64, G_MAXINT64), "-9223372036854775808",
                "-9223372036854775808");
  assert_value (spec_int64 (G_MININT64, G_MAXINT64), "9223372036854775807", "9223372036854775807");
  assert_value (spec_int64 (-10, -5), "-5", "-5");
  assert_value (spec_int64 (-10, -5), "-10", "-10");
  assert_value (g_param_spec_int ("size", NULL, NULL, G_MININT, 5, 0, 0), "-2147483648",
                "-2147483648");
  assert_value (g_param_spec_uint ("size", NULL, NULL, 0, G_MAXUINT, 0, 0), "4294967295",
                "4294967295");
  assert_value (g_param_spec_long ("size", NULL, NULL, -1, 5, 0, 0), "-1", "-1");
  assert_value (g_param_spec_ulong ("size", NULL, NULL, 0, 5, 0, 0), "5", "5");
}

static void
test_bytes (void)
{
  static const char *const cases[][2] = {
    { "0", "0" },           { "1024", "1k" },        { "1000", "1000" },
    { "16M", "16M" },       { "16777216", "16M" },   { "1.5k", "1536" },
    { "2K", "2k" },         { "2KiB", "2k" },        { "2Ki", "2k" },
    { "3MiB", "3M" },       { "3GiB", "3G" },        { "3TiB", "3T" },
    { "1PiB", "1P" },       { "1kB", "1000" },       { "1KB", "1000" },
    { "512MB", "500000k" }, { "1GB", "1000000000" }, { "12B", "12" },
    { "0.5k", "512" },      { "16383P", "16383P" },  { "1e3k", "1000k" },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    assert_value (spec_uint64 (0, G_MAXUINT64, DLP_PARAM_BYTES), cases[i][0], cases[i][1]);
}

static void
test_durations (void)
{
  static const char *const cases[][2] = {
    { "0", "0s" },           { "5", "5s" },        { "5s", "5s" },         { "0.5s", "500ms" },
    { "0.5", "500ms" },      { "90s", "90s" },     { "1.5m", "90s" },      { "2min", "2m" },
    { "60s", "1m" },         { "250us", "250us" }, { "1500us", "1500us" }, { "0.000001", "1us" },
    { "48h", "2d" },         { "36h", "36h" },     { "0.25d", "6h" },      { "7\xc2\xb5s", "7us" },
    { "7\xce\xbcs", "7us" },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    assert_value (spec_uint64 (0, G_MAXUINT64, DLP_PARAM_DURATION), cases[i][0], cases[i][1]);
}

static void
test_doubles (void)
{
  static const char *const cases[][2] = {
    { "0.1", "0.1" },
    { "1%", "0.01" },
    { "0.7%", "0.007" },
    { "1e-3%", "1e-05" },
    { "1e3", "1000" },
    { "-2.5", "-2.5" },
    { "0.30000000000000004", "0.30000000000000004" },
    { "5e-324", "4.94065645841247e-324" },
    { "1.7976931348623157e308", "1.7976931348623157e+308" },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    assert_value (g_param_spec_double ("ratio", NULL, NULL, -DBL_MAX, DBL_MAX, 0, 0), cases[i][0],
                  cases[i][1]);
  assert_value (g_param_spec_float ("ratio", NULL, NULL, 0, 1, 0, 0), "0.1", "0.1");
  assert_value (g_param_spec_double ("grace", NULL, NULL, 0, DBL_MAX, 0, DLP_PARAM_DURATION), "1.1",
                "1.1s");
  assert_value (g_param_spec_double ("grace", NULL, NULL, 0, DBL_MAX, 0, DLP_PARAM_DURATION), "2m",
                "120s");
  assert_value (g_param_spec_double ("grace", NULL, NULL, 0, DBL_MAX, 0, DLP_PARAM_DURATION),
                "250ms", "0.25s");
}

static void
test_words (void)
{
  static const char *const booleans[][2] = {
    { "true", "true" }, { "false", "false" }, { "yes", "true" },
    { "no", "false" },  { "on", "true" },     { "off", "false" },
    { "1", "true" },    { "0", "false" },     { "True", "true" },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (booleans); i++)
    assert_value (g_param_spec_boolean ("shuffle", NULL, NULL, FALSE, 0), booleans[i][0],
                  booleans[i][1]);

  assert_value (g_param_spec_enum ("fruit", NULL, NULL, fruit_get_type (), 0, 0), "green-pear",
                "green-pear");
  assert_value (g_param_spec_flags ("taste", NULL, NULL, taste_get_type (), 0, 0), "sour+sweet",
                "sweet+sour");
  assert_value (g_param_spec_flags ("taste", NULL, NULL, taste_get_type (), 0, 0), "salty|sour",
                "sour+salty");
  assert_value (g_param_spec_flags ("taste", NULL, NULL, taste_get_type (), 0, 0), "none", "none");
  assert_value (g_param_spec_flags ("taste", NULL, NULL, taste_get_type (), 0, 0), "", "none");
  assert_value (g_param_spec_string ("field", NULL, NULL, NULL, 0), "a \xff b", "a \xff b");
  assert_value (g_param_spec_string ("field", NULL, NULL, NULL, 0), "", "");
  assert_value (g_param_spec_boxed ("location", NULL, NULL, G_TYPE_STRV, 0), "a,b", "a,b");
}

static void
test_bad_integers (void)
{
  assert_fails (spec_uint64 (1, 64, 0), "0", "size=\"0\" is out of range; allowed: 1 to 64");
  assert_fails (spec_uint64 (1, 64, 0), "65", "size=\"65\" is out of range; allowed: 1 to 64");
  assert_fails (spec_uint64 (1, 64, 0), "-1", "size=\"-1\" is out of range; allowed: 1 to 64");
  assert_fails (spec_uint64 (1, 64, 0), "", "size=\"\" is not a number; allowed: 1 to 64");
  assert_fails (spec_uint64 (1, 64, 0), " 5", "size=\" 5\" is not a number; allowed: 1 to 64");
  assert_fails (spec_uint64 (1, 64, 0), "ten", "size=\"ten\" is not a number; allowed: 1 to 64");
  assert_fails (spec_uint64 (1, 64, 0), "5q", "size=\"5q\" has an unknown unit; allowed: 1 to 64");
  assert_fails (spec_uint64 (1, 64, 0), "0x10",
                "size=\"0x10\" has an unknown unit; allowed: 1 to 64");
  assert_fails (spec_uint64 (1, 64, 0), "1.5",
                "size=\"1.5\" is not a whole number; allowed: 1 to 64");
  assert_fails (spec_uint64 (1, G_MAXUINT64, 0), "18446744073709551616",
                "size=\"18446744073709551616\" is too large for any integer; allowed: 1 or more");
  assert_fails (spec_uint64 (1, G_MAXUINT64, 0), "18446.744073709551616P",
                "size=\"18446.744073709551616P\" is too large for any integer; allowed: 1 or more");
  assert_fails (spec_uint64 (1, G_MAXUINT64, 0), "1e99999999999999999999",
                "size=\"1e99999999999999999999\" is too large for any integer; allowed: 1 or more");
  assert_fails (spec_int64 (G_MININT64, G_MAXINT64), "9223372036854775808",
                "size=\"9223372036854775808\" is out of range; allowed: any whole number");
  assert_fails (spec_int64 (-10, -5), "5", "size=\"5\" is out of range; allowed: -10 to -5");
  assert_fails (spec_int64 (G_MININT64, -5), "-4",
                "size=\"-4\" is out of range; allowed: -5 or less");
}

static void
test_bad_quantities (void)
{
  assert_fails (
      spec_uint64 (1024, 1024 * 1024, DLP_PARAM_BYTES), "2M",
      "size=\"2M\" is out of range; allowed: 1k to 1M bytes (k, M, G are powers of 1024)");
  assert_fails (spec_uint64 (1, G_MAXUINT64, DLP_PARAM_BYTES), "16384P",
                "size=\"16384P\" is too large for any integer; allowed: 1 or more bytes (k, M, G "
                "are powers of 1024)");
  assert_fails (spec_uint64 (1, G_MAXUINT64, DLP_PARAM_BYTES), "5s",
                "size=\"5s\" has an unknown unit; allowed: 1 or more bytes (k, M, G are powers of "
                "1024)");
  assert_fails (spec_uint64 (0, 3600 * G_GUINT64_CONSTANT (1000000), DLP_PARAM_DURATION), "2h",
                "size=\"2h\" is out of range; allowed: 0s to 1h (us, ms, s, m, h, d)");
  assert_fails (spec_uint64 (0, G_MAXUINT64, DLP_PARAM_DURATION), "0.5us",
                "size=\"0.5us\" is finer than a microsecond; allowed: 0s or more (us, ms, s, m, h, "
                "d)");
  assert_fails (spec_uint64 (0, G_MAXUINT64, DLP_PARAM_DURATION), "5k",
                "size=\"5k\" has an unknown unit; allowed: 0s or more (us, ms, s, m, h, d)");
}

static void
test_bad_doubles (void)
{
  static const char *const cases[][2] = {
    { "x", "is not a number" },       { "", "is not a number" },
    { "nan", "is not a number" },     { "inf", "is not a number" },
    { "-inf", "is out of range" },    { "1e999", "is out of range" },
    { "0x1p3", "is not a number" },   { " 1", "is not a number" },
    { "0,5", "has an unknown unit" }, { "0.5s", "has an unknown unit" },
    { "1.1", "is out of range" },     { "101%", "is out of range" },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *message =
          g_strdup_printf ("ratio=\"%s\" %s; allowed: 0 to 1", cases[i][0], cases[i][1]);

      assert_fails (g_param_spec_double ("ratio", NULL, NULL, 0, 1, 0, 0), cases[i][0], message);
    }
}

static void
test_bad_words (void)
{
  g_autofree char *text = g_strnfill (70, 'x');
  g_autofree char *message =
      g_strdup_printf ("shuffle=\"%.64s...\" is not a boolean; allowed: true, false", text);

  assert_fails (g_param_spec_boolean ("shuffle", NULL, NULL, FALSE, 0), text, message);
  assert_fails (g_param_spec_boolean ("shuffle", NULL, NULL, FALSE, 0), "\xff",
                "shuffle=\"\xef\xbf\xbd\" is not a boolean; allowed: true, false");
  assert_fails (g_param_spec_enum ("fruit", NULL, NULL, fruit_get_type (), 0, 0), "aple",
                "fruit=\"aple\" is unknown; allowed: apple, green-pear; did you mean \"apple\"?");
  assert_fails (g_param_spec_enum ("fruit", NULL, NULL, fruit_get_type (), 0, 0), "0",
                "fruit=\"0\" is unknown; allowed: apple, green-pear");
  assert_fails (g_param_spec_flags ("taste", NULL, NULL, taste_get_type (), 0, 0), "sweet+souer",
                "taste=\"sweet+souer\" is unknown; allowed: sweet, sour, salty, joined by '+'; did "
                "you mean \"sour\"?");
  assert_fails (g_param_spec_object ("file", NULL, NULL, G_TYPE_OBJECT, 0), "x",
                "file has the type GObject, which cannot be given as text");
}

static void
assert_round_trip (GParamSpec *pspec, const GValue *value)
{
  g_auto (GValue) again = G_VALUE_INIT;
  g_autoptr (GError) error = NULL;
  g_autofree char *text = dlp_value_to_text (pspec, value);

  dlp_value_parse (pspec, text, &again, &error);
  g_assert_no_error (error);
  if (G_VALUE_HOLDS_DOUBLE (value))
    g_assert_true (g_value_get_double (value) == g_value_get_double (&again));
  else if (G_VALUE_HOLDS_FLOAT (value))
    g_assert_true (g_value_get_float (value) == g_value_get_float (&again));
  else
    g_assert_cmpint (g_param_values_cmp (pspec, value, &again), ==, 0);
}

static guint64
random_bits (void)
{
  guint64 bits = (guint64) g_test_rand_int () << 32 | (guint32) g_test_rand_int ();

  return bits >> g_test_rand_int_range (0, 64);
}

static void
test_random_integers (void)
{
  static const GParamFlags flags[] = { 0, DLP_PARAM_BYTES, DLP_PARAM_DURATION };

  for (guint i = 0; i < 30000; i++)
    {
      g_autoptr (GParamSpec) pspec =
          g_param_spec_ref_sink (spec_uint64 (0, G_MAXUINT64, flags[i % 3]));
      g_autoptr (GParamSpec) signed_pspec = g_param_spec_ref_sink (
          g_param_spec_int64 ("x", NULL, NULL, G_MININT64, G_MAXINT64, 0, flags[i % 3]));
      g_auto (GValue) value = G_VALUE_INIT;
      g_auto (GValue) signed_value = G_VALUE_INIT;

      g_value_init (&value, G_TYPE_UINT64);
      g_value_set_uint64 (&value, random_bits ());
      assert_round_trip (pspec, &value);
      g_value_init (&signed_value, G_TYPE_INT64);
      g_value_set_int64 (&signed_value, (gint64) random_bits ());
      assert_round_trip (signed_pspec, &signed_value);
    }
}

static void
test_random_doubles (void)
{
  static const GParamFlags flags[] = { 0, DLP_PARAM_DURATION };

  for (guint i = 0; i < 30000; i++)
    {
      g_autoptr (GParamSpec) pspec = g_param_spec_ref_sink (
          g_param_spec_double ("x", NULL, NULL, -DBL_MAX, DBL_MAX, 0, flags[i % 2]));
      g_auto (GValue) value = G_VALUE_INIT;
      guint64 bits = (guint64) g_test_rand_int () << 32 | (guint32) g_test_rand_int ();
      double number;

      memcpy (&number, &bits, sizeof number);
      if (!isfinite (number))
        continue;
      g_value_init (&value, G_TYPE_DOUBLE);
      g_value_set_double (&value, number);
      assert_round_trip (pspec, &value);
    }
}

static void
test_random_floats (void)
{
  g_autoptr (GParamSpec) pspec =
      g_param_spec_ref_sink (g_param_spec_float ("x", NULL, NULL, -FLT_MAX, FLT_MAX, 0, 0));

  for (guint i = 0; i < 30000; i++)
    {
      g_auto (GValue) value = G_VALUE_INIT;
      guint32 bits = g_test_rand_int ();
      float number;

      memcpy (&number, &bits, sizeof number);
      if (!isfinite (number))
        continue;
      g_value_init (&value, G_TYPE_FLOAT);
      g_value_set_float (&value, number);
      assert_round_trip (pspec, &value);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/value/counts", test_counts);
  g_test_add_func ("/value/forever", test_forever);
  g_test_add_func ("/value/signed", test_signed);
  g_test_add_func ("/value/bytes", test_bytes);
  g_test_add_func ("/value/durations", test_durations);
  g_test_add_func ("/value/doubles", test_doubles);
  g_test_add_func ("/value/words", test_words);
  g_test_add_func ("/value/bad-integers", test_bad_integers);
  g_test_add_func ("/value/bad-quantities", test_bad_quantities);
  g_test_add_func ("/value/bad-doubles", test_bad_doubles);
  g_test_add_func ("/value/bad-words", test_bad_words);
  g_test_add_func ("/value/random-integers", test_random_integers);
  g_test_add_func ("/value/random-doubles", test_random_doubles);
  g_test_add_func ("/value/random-floats", test_random_floats);
  return g_test_run ();
}
