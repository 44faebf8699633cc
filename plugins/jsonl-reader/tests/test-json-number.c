/* SPDX-License-Identifier: MIT */

/* Numbers, exactly: at the borders of each type, and made-up ones against a reference. */

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "json-compare.h"
#include "json-number.h"

typedef struct
{
  JsonPlan *plan;
  JsonScratch *scratch;
  GString *line;
  JsonValue value;
} Fixture;

static void
set_up (Fixture *self, gconstpointer data)
{
  const char *path = "v";

  self->plan = json_plan_new (&path, 1, JSON_FLAGS_ALLOW_NON_FINITE, NULL);
  self->scratch = json_scratch_new ();
  self->line = g_string_new (NULL);
}

static void
tear_down (Fixture *self, gconstpointer data)
{
  json_plan_unref (self->plan);
  json_scratch_free (self->scratch);
  g_string_free (self->line, TRUE);
}

/* Digits lie behind the line. */
static const JsonValue *
parse (Fixture *self, const char *number)
{
  JsonCounts counts = { 0 };
  JsonError error;
  gsize len;

  g_string_printf (self->line, "{\"v\":%s}", number);
  len = self->line->len;
  for (guint i = 0; i < JSON_PADDING; i++)
    g_string_append_c (self->line, '9');
  g_assert_true (json_parse_record (self->plan, self->scratch, (const guint8 *) self->line->str,
                                    len, &self->value, &counts, &error));
  g_assert_cmpint (self->value.kind, ==, JSON_VALUE_NUMBER);
  return &self->value;
}

#define OK NUMBER_OK
#define FRACTION NUMBER_FRACTION
#define RANGE NUMBER_RANGE
#define NON_FINITE NUMBER_NON_FINITE

static void
test_integers (Fixture *self, gconstpointer data)
{
  static const struct
  {
    const char *text;
    NumberResult signed_result;
    gint64 i;
    NumberResult unsigned_result;
    guint64 u;
  } cases[] = {
    { "0", OK, 0, OK, 0 },
    { "-0", OK, 0, OK, 0 },
    { "-0.0e5", OK, 0, OK, 0 },
    { "0e999999999999999999999", OK, 0, OK, 0 },
    { "0.000e-999999999999999999999", OK, 0, OK, 0 },
    { "1e3", OK, 1000, OK, 1000 },
    { "1.0", OK, 1, OK, 1 },
    { "12.50e1", OK, 125, OK, 125 },
    { "1.5", FRACTION, 0, FRACTION, 0 },
    { "-1.5", FRACTION, 0, FRACTION, 0 },
    { "1e-1", FRACTION, 0, FRACTION, 0 },
    { "10e-1", OK, 1, OK, 1 },
    { "1e-999999999999999999999", FRACTION, 0, FRACTION, 0 },
    { "1e999999999999999999999", RANGE, 0, RANGE, 0 },
    { "9007199254740993", OK, 9007199254740993, OK, 9007199254740993 },
    { "-9007199254740993", OK, -9007199254740993, RANGE, 0 },
    { "9223372036854775807", OK, G_MAXINT64, OK, G_MAXINT64 },
    { "9223372036854775808", RANGE, 0, OK, G_GUINT64_CONSTANT (9223372036854775808) },
    { "-9223372036854775808", OK, G_MININT64, RANGE, 0 },
    { "-9223372036854775809", RANGE, 0, RANGE, 0 },
    { "-92233720368547758.080e2", OK, G_MININT64, RANGE, 0 },
    { "18446744073709551615", RANGE, 0, OK, G_MAXUINT64 },
    { "18446744073709551615.000", RANGE, 0, OK, G_MAXUINT64 },
    { "1844674407370955161500000e-5", RANGE, 0, OK, G_MAXUINT64 },
    { "18446744073709551616", RANGE, 0, RANGE, 0 },
    { "99999999999999999999", RANGE, 0, RANGE, 0 },
    { "184467440737095516160", RANGE, 0, RANGE, 0 },
    { "18446744073709551616.5", FRACTION, 0, FRACTION, 0 },
    { "-1", OK, -1, RANGE, 0 },
    { "1e18", OK, 1000000000000000000, OK, 1000000000000000000 },
    { "1e19", RANGE, 0, OK, G_GUINT64_CONSTANT (10000000000000000000) },
    { "1e20", RANGE, 0, RANGE, 0 },
    { "0.00000000000000000000000000001e29", OK, 1, OK, 1 },
    { "100000000000000000000000000000e-29", OK, 1, OK, 1 },
    { "NaN", NON_FINITE, 0, NON_FINITE, 0 },
    { "-Infinity", NON_FINITE, 0, NON_FINITE, 0 },
  };

  for (guint k = 0; k < G_N_ELEMENTS (cases); k++)
    {
      gint64 i = 0;
      guint64 u = 0;

      g_test_message ("%s", cases[k].text);
      parse (self, cases[k].text);
      g_assert_cmpint (json_value_get_int64 (&self->value, &i), ==, cases[k].signed_result);
      g_assert_cmpint (i, ==, cases[k].i);
      g_assert_cmpint (json_value_get_uint64 (&self->value, &u), ==, cases[k].unsigned_result);
      g_assert_cmpuint (u, ==, cases[k].u);
      json_compare_number (&self->value);
    }
}

static void
test_doubles (Fixture *self, gconstpointer data)
{
  static const struct
  {
    const char *text;
    double d;
  } cases[] = {
    { "0", 0.0 },
    { "-0.0", -0.0 },
    { "-0", -0.0 },
    { "0.1", 0.1 },
    { "-0.5", -0.5 },
    { "9007199254740992", 9007199254740992.0 },
    { "9007199254740993", 9007199254740992.0 }, /* between two; to even */
    { "9007199254740995", 9007199254740996.0 },
    { "9007199254740993.0000000000000000000000001", 9007199254740994.0 },
    { "18446744073709551615", 18446744073709551616.0 },
    { "1e22", 1e22 },
    { "1e23", 1e23 },
    { "8.5e-23", 8.5e-23 },
    { "0.3e-22", 0.3e-22 },
    { "1.7976931348623157e308", DBL_MAX },
    { "2.2250738585072014e-308", DBL_MIN },
    { "2.2250738585072011e-308", 0x0.fffffffffffffp-1022 },
    { "4.9406564584124654e-324", 0x0.0000000000001p-1022 },
    { "2.4703282292062328e-324", 0x0.0000000000001p-1022 },
    { "2.4703282292062327e-324", 0.0 },
    { "-1e-400", -0.0 },
    { "0e999", 0.0 },
    { "Infinity", INFINITY },
    { "-Infinity", -INFINITY },
  };
  static const char *const too_large[] = { "1e400", "-1e400", "1.7976931348623159e308", "1e309" };
  double d = 0;

  for (guint k = 0; k < G_N_ELEMENTS (cases); k++)
    {
      g_test_message ("%s", cases[k].text);
      g_assert_cmpint (json_value_get_double (parse (self, cases[k].text), &d), ==, OK);
      g_assert_cmpmem (&d, sizeof d, &cases[k].d, sizeof d);
      json_compare_number (&self->value);
    }
  for (guint k = 0; k < G_N_ELEMENTS (too_large); k++)
    g_assert_cmpint (json_value_get_double (parse (self, too_large[k]), &d), ==, RANGE);
  g_assert_cmpint (json_value_get_double (parse (self, "NaN"), &d), ==, OK);
  g_assert_true (isnan (d));
}

static void
append_digits (GString *text, GRand *rand, guint n)
{
  gboolean zeros = g_rand_int_range (rand, 0, 4) == 0;

  for (guint i = 0; i < n; i++)
    g_string_append_c (text, zeros ? '0' : (char) ('0' + g_rand_int_range (rand, 0, 10)));
}

static void
make_number (GString *text, GRand *rand)
{
  g_string_assign (text, g_rand_boolean (rand) ? "-" : "");
  if (g_rand_int_range (rand, 0, 4) == 0)
    g_string_append_c (text, '0');
  else
    {
      g_string_append_c (text, (char) ('1' + g_rand_int_range (rand, 0, 9)));
      append_digits (text, rand, (guint) g_rand_int_range (rand, 0, 22));
    }
  if (g_rand_boolean (rand))
    {
      g_string_append_c (text, '.');
      append_digits (text, rand, (guint) g_rand_int_range (rand, 1, 25));
      append_digits (text, rand, (guint) g_rand_int_range (rand, 0, 5));
    }
  if (g_rand_int_range (rand, 0, 3) == 0)
    g_string_append_printf (text, "%c%d", g_rand_boolean (rand) ? 'e' : 'E',
                            g_rand_boolean (rand) ? g_rand_int_range (rand, -25, 26) :
                                                    g_rand_int_range (rand, -400, 400));
}

static void
test_random (Fixture *self, gconstpointer data)
{
  const char *scale = g_getenv ("DLPIPE_TEST_SCALE");
  guint n = (guint) (200000 * (scale != NULL ? g_ascii_strtod (scale, NULL) : 1)) + 1000;
  g_autoptr (GRand) rand = g_rand_new_with_seed (17);
  g_autoptr (GString) text = g_string_new (NULL);

  for (guint i = 0; i < n; i++)
    {
      make_number (text, rand);
      json_compare_number (parse (self, text->str));
    }
}

/* What is printed of a double is read as that double. */
static void
test_printed (Fixture *self, gconstpointer data)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (18);

  for (guint i = 0; i < 20000; i++)
    {
      guint64 bits = (guint64) g_rand_int (rand) << 32 | g_rand_int (rand);
      char text[G_ASCII_DTOSTR_BUF_SIZE];
      double wanted, got = 0;

      memcpy (&wanted, &bits, sizeof wanted);
      if (!isfinite (wanted))
        continue;
      g_assert_cmpint (
          json_value_get_double (parse (self, g_ascii_dtostr (text, sizeof text, wanted)), &got),
          ==, OK);
      g_assert_cmpmem (&got, sizeof got, &wanted, sizeof wanted);
    }
}

/* A million digits, and an exponent that makes up for them. */
static void
test_long (Fixture *self, gconstpointer data)
{
  const guint n = 1000000;
  g_autofree char *zeros = g_strnfill (n, '0');
  g_autofree char *nines = g_strnfill (n, '9');
  g_autofree char *whole = g_strdup_printf ("7%se-%u", zeros, n);
  g_autofree char *fraction = g_strdup_printf ("0.%s7e%u", zeros, n + 1);
  g_autofree char *near = g_strdup_printf ("0.%s", nines);
  g_autofree char *large = g_strdup_printf ("%se-%u", nines, n - 3);
  gint64 i = 0;
  double d = 0;

  g_assert_cmpint (json_value_get_int64 (parse (self, whole), &i), ==, OK);
  g_assert_cmpint (i, ==, 7);
  g_assert_cmpint (json_value_get_double (&self->value, &d), ==, OK);
  g_assert_cmpfloat (d, ==, 7);
  g_assert_cmpint (json_value_get_int64 (parse (self, fraction), &i), ==, OK);
  g_assert_cmpint (i, ==, 7);
  g_assert_cmpint (json_value_get_double (&self->value, &d), ==, OK);
  g_assert_cmpfloat (d, ==, 7);
  g_assert_cmpint (json_value_get_int64 (parse (self, near), &i), ==, FRACTION);
  g_assert_cmpint (json_value_get_double (&self->value, &d), ==, OK);
  g_assert_cmpfloat (d, ==, 1);
  g_assert_cmpint (json_value_get_int64 (parse (self, large), &i), ==, FRACTION);
  g_assert_cmpint (json_value_get_double (&self->value, &d), ==, OK);
  g_assert_cmpfloat (d, ==, 1000);
  g_assert_cmpint (json_value_get_int64 (parse (self, nines), &i), ==, RANGE);
  g_assert_cmpint (json_value_get_double (&self->value, &d), ==, RANGE);
}

int
main (int argc, char **argv)
{
  static const struct
  {
    const char *path;
    void (*test) (Fixture *, gconstpointer);
  } tests[] = {
    { "/json/number/integers", test_integers }, { "/json/number/doubles", test_doubles },
    { "/json/number/random", test_random },     { "/json/number/printed", test_printed },
    { "/json/number/long", test_long },
  };

  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (tests); i++)
    g_test_add (tests[i].path, Fixture, NULL, set_up, tests[i].test, tear_down);
  return g_test_run ();
}
