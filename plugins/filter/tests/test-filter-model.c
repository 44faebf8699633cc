/* SPDX-License-Identifier: MIT */

/* Random expressions against what a tree of them comes to, and numbers of all types against a type
 * that holds them all. */

#include <float.h>
#include <math.h>
#include <string.h>

#include "filter-private.h"
#include "filter-rows.h"

static guint
scaled (guint n)
{
  const char *text = g_getenv ("DLPIPE_TEST_SCALE");

  return MAX ((guint) (n * (text != NULL ? g_ascii_strtod (text, NULL) : 1.0)), 1);
}

/* Predicates whose truths are known, for each row. */
static const struct
{
  const char *text;
  const char *truths;
} leaves[] = {
  { "f", "FTFTTN" },         { "i == 0", "TFFFFN" },
  { "s is null", "FFFFFT" }, { "contains(s, 'e')", "FTTFTN" },
  { "d > 0", "FTFTFN" },     { "true", "TTTTTT" },
  { "false", "FFFFFF" },     { "s not in ('hello', 'en')", "TFTTFN" },
};

static int
rank (char truth)
{
  return truth == 'F' ? 0 : truth == 'N' ? 1 : 2;
}

static void
join (char *a, const char *b, bool is_and)
{
  for (guint i = 0; i < FILTER_N_ROWS; i++)
    if (is_and ? rank (b[i]) < rank (a[i]) : rank (b[i]) > rank (a[i]))
      a[i] = b[i];
}

static void
negate (char *a)
{
  for (guint i = 0; i < FILTER_N_ROWS; i++)
    a[i] = a[i] == 'T' ? 'F' : a[i] == 'F' ? 'T' : a[i];
}

/* Appends an expression, and says what it comes to. @level: what binds less than that is put
 * between parentheses: 0 or, 1 and, 2 not. The depth is bounded by the caller. */
static void
make (GRand *rand, GString *text, guint depth, guint level, char *truths)
{
  guint kind = depth == 0 ? 3 : g_rand_int_range (rand, 0, 4);
  bool open = kind < level || g_rand_int_range (rand, 0, 8) == 0;
  char other[FILTER_N_ROWS + 1];
  guint leaf = g_rand_int_range (rand, 0, G_N_ELEMENTS (leaves));

  g_string_append (text, open ? "(" : "");
  if (kind == 3)
    {
      g_string_append (text, leaves[leaf].text);
      strcpy (truths, leaves[leaf].truths);
    }
  else if (kind == 2)
    {
      g_string_append (text, "not ");
      make (rand, text, depth - 1, 2, truths);
      negate (truths);
    }
  else
    {
      make (rand, text, depth - 1, kind, truths);
      g_string_append (text, kind == 1 ? " and " : " or ");
      make (rand, text, depth - 1, kind, other);
      join (truths, other, kind == 1);
    }
  g_string_append (text, open ? ")" : "");
}

static void
test_trees (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (1);
  g_autoptr (DlpRecordBatch) batch = filter_rows_new ();

  for (guint n = 0; n < scaled (20000); n++)
    {
      g_autoptr (GString) text = g_string_new (NULL);
      g_autoptr (FilterExpression) expression = NULL;
      g_autoptr (GError) error = NULL;
      g_autofree char *got = NULL;
      char truths[FILTER_N_ROWS + 1];

      make (rand, text, g_rand_int_range (rand, 0, 6), 0, truths);
      expression = filter_expression_new (text->str, dlp_record_batch_get_schema (batch), &error);
      g_assert_no_error (error);
      got = filter_rows_test (batch, expression);
      if (strcmp (got, truths) != 0)
        g_error ("%s: %s, not %s", text->str, got, truths);
    }
}

/* Around where types end or lose digits. */
static const double borders[] = {
  0.0, 1.0, 9007199254740992.0, 9223372036854775808.0, 18446744073709551616.0, 1e300, INFINITY, NAN
};

static double
random_double (GRand *rand, double border, int step)
{
  if (step == 0)
    return border;
  return g_rand_boolean (rand) ? border + step / 2.0 : nextafter (border, step * INFINITY);
}

static gint64
random_int64 (double border, int step)
{
  if (border == -9223372036854775808.0)
    return G_MININT64 + ABS (step);
  return fabs (border) < 9e18 ? (gint64) border + step : G_MAXINT64 - ABS (step);
}

static guint64
random_uint64 (double border, int step)
{
  border = fabs (border);
  return border < 1.8e19 ? (guint64) border + (guint64) ABS (step) :
                           G_MAXUINT64 - (guint64) ABS (step);
}

static FilterValue
random_number (GRand *rand)
{
  FilterValue value = { .type = g_rand_int_range (rand, FILTER_INT64, FILTER_DOUBLE + 1) };
  double border = borders[g_rand_int_range (rand, 0, G_N_ELEMENTS (borders))];
  int step = g_rand_int_range (rand, -3, 4);

  if (g_rand_boolean (rand))
    border = -border;
  if (value.type == FILTER_DOUBLE)
    value.d = random_double (rand, border, step);
  else if (value.type == FILTER_INT64)
    value.i = random_int64 (border, step);
  else
    value.u = random_uint64 (border, step);
  return value;
}

#if LDBL_MANT_DIG >= 64
static long double
widen (const FilterValue *value)
{
  return value->type == FILTER_INT64  ? (long double) value->i :
         value->type == FILTER_UINT64 ? (long double) value->u :
                                        (long double) value->d;
}

static void
test_numbers (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (2);
  guint n_equal = 0;

  for (guint n = 0; n < scaled (500000); n++)
    {
      FilterValue a = random_number (rand);
      FilterValue b = random_number (rand);
      long double x = widen (&a), y = widen (&b);
      guint expected = x < y  ? FILTER_LESS :
                       x > y  ? FILTER_GREATER :
                       x == y ? FILTER_EQUAL :
                                FILTER_UNORDERED;

      if (filter_value_compare (&a, &b) != expected)
        g_error ("%Lg (type %u) and %Lg (type %u): %u, not %u", x, a.type, y, b.type,
                 filter_value_compare (&a, &b), expected);
      n_equal += a.type != b.type && expected == FILTER_EQUAL;
    }
  g_assert_cmpuint (n_equal, >, 0);
}
#else
static void
test_numbers (void)
{
  g_test_skip ("no type holds all numbers here");
}
#endif

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/filter-model/trees", test_trees);
  g_test_add_func ("/filter-model/numbers", test_numbers);
  return g_test_run ();
}
