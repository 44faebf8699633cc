/* SPDX-License-Identifier: MIT */

#include <math.h>
#include <string.h>

#include "json-compare.h"
#include "json-number.h"
#include "json-reference.h"

typedef struct
{
  gboolean accepted;
  JsonValue *values;
  JsonCounts counts;
  JsonError error;
} Outcome;

struct _JsonComparer
{
  char **paths;
  guint n_paths;
  JsonPlan *plans[JSON_N_LEVELS];
  JsonPlan *strict[JSON_N_LEVELS];
  JsonPlan *lax[JSON_N_LEVELS];
  guint n_levels;
  JsonScratch *scratch;
  Outcome outcome;
};

/* What must not be mistaken for a part of the line in front of it. */
static const char *const paddings[] = {
  "\n{\"text\":\"next\"}\n",
  "\"}",
  "}}}}]]]]",
  "\\u0041\\u0042\\u0043\\u0044\\u0045\\u0046\\u0047\\u0048\\u0049\\u004a\\u004b",
  "0000000000000000000000000000000000000000000000000000000000000000",
  "                                                                ",
  "\x80\x80\x80\"}",
  "alse}ull}rue}",
  ":1}",
};

JsonComparer *
json_comparer_new (const char *const *paths, guint n_paths)
{
  JsonComparer *self = g_new0 (JsonComparer, 1);

  self->paths = g_new0 (char *, n_paths + 1);
  self->n_paths = n_paths;
  self->scratch = json_scratch_new ();
  self->outcome.values = g_new0 (JsonValue, n_paths + 1);
  for (guint i = 0; i < n_paths; i++)
    self->paths[i] = g_strdup (paths[i]);

  for (guint level = 0; level < JSON_N_LEVELS; level++)
    {
      g_autoptr (JsonPlan) plan = json_plan_new (paths, n_paths, JSON_FLAGS_NONE, NULL);

      if (!json_plan_set_level (plan, level))
        continue;
      self->plans[self->n_levels] = g_steal_pointer (&plan);
      self->strict[self->n_levels] = json_plan_new (paths, n_paths, JSON_FLAGS_STRICT, NULL);
      self->lax[self->n_levels] = json_plan_new (paths, n_paths, JSON_FLAGS_ALLOW_NON_FINITE, NULL);
      g_assert_true (json_plan_set_level (self->strict[self->n_levels], level));
      g_assert_true (json_plan_set_level (self->lax[self->n_levels], level));
      self->n_levels++;
    }

  return self;
}

void
json_comparer_free (JsonComparer *self)
{
  for (guint i = 0; i < self->n_levels; i++)
    {
      json_plan_unref (self->plans[i]);
      json_plan_unref (self->strict[i]);
      json_plan_unref (self->lax[i]);
    }
  json_scratch_free (self->scratch);
  g_strfreev (self->paths);
  g_free (self->outcome.values);
  g_free (self);
}

guint
json_comparer_get_n_levels (JsonComparer *self)
{
  return self->n_levels;
}

/* The line in a block of its own, its padding full of bait. */
static guint8 *
copy_padded (const guint8 *line, gsize len)
{
  const char *bait = paddings[len % G_N_ELEMENTS (paddings)];
  gsize bait_len = MIN (strlen (bait), JSON_PADDING);
  guint8 *copy = g_malloc (len + JSON_PADDING);

  if (len > 0)
    memcpy (copy, line, len);
  memset (copy + len, '"', JSON_PADDING);
  memcpy (copy + len, bait, bait_len);
  return copy;
}

/* *digits: those before the point, without zeros in front; at most 21 of them. */
static NumberResult
ref_move_point (const char *text, char **digits)
{
  g_autoptr (GString) all = g_string_new (NULL);
  const char *p = text + (*text == '-');
  gint64 point = -1;
  gsize zeros;

  for (; *p == '.' || g_ascii_isdigit (*p); p++)
    if (*p == '.')
      point = (gint64) all->len;
    else
      g_string_append_c (all, *p);
  if (point < 0)
    point = (gint64) all->len;
  if (*p != '\0')
    point += CLAMP (g_ascii_strtoll (p + 1, NULL, 10), -G_MAXINT32, G_MAXINT32);

  zeros = strspn (all->str, "0");
  g_string_erase (all, 0, (gssize) zeros);
  point -= (gint64) zeros;
  if (all->len > 0 && point < (gint64) all->len)
    {
      const char *rest = all->str + MAX (point, 0);

      if (rest[strspn (rest, "0")] != '\0')
        return NUMBER_FRACTION;
      g_string_truncate (all, (gsize) MAX (point, 0));
    }
  while (all->len > 0 && (gint64) all->len < MIN (point, 21))
    g_string_append_c (all, '0');
  *digits = g_strdup (all->len > 0 ? all->str : "0");
  return all->len <= 20 ? NUMBER_OK : NUMBER_RANGE;
}

static NumberResult
ref_get_integer (const char *text, const char *limit, guint64 *size)
{
  g_autofree char *digits = NULL;
  NumberResult result = ref_move_point (text, &digits);
  gsize n = strlen (limit);

  if (result != NUMBER_OK)
    return result;
  if (strlen (digits) > n || (strlen (digits) == n && strcmp (digits, limit) > 0))
    return NUMBER_RANGE;
  *size = g_ascii_strtoull (digits, NULL, 10);
  return NUMBER_OK;
}

static void
compare_double (const JsonValue *value, const char *text)
{
  double expected = g_ascii_strtod (text, NULL);
  double got = 0;
  NumberResult result = json_value_get_double (value, &got);

  if (g_ascii_isalpha (text[strlen (text) - 1]))
    {
      g_assert_cmpint (result, ==, NUMBER_OK);
      g_assert_true (isnan (expected) ? isnan (got) : got == expected);
      return;
    }
  g_assert_cmpint (result, ==, isinf (expected) ? NUMBER_RANGE : NUMBER_OK);
  if (result == NUMBER_OK)
    g_assert_cmpmem (&got, sizeof got, &expected, sizeof expected);
}

void
json_compare_number (const JsonValue *value)
{
  g_autofree char *text = g_strndup ((const char *) value->data, value->len);
  gboolean negative = *text == '-';
  gint64 i = 0;
  guint64 u = 0, size = 0;
  NumberResult result;

  compare_double (value, text);
  if (g_ascii_isalpha (text[value->len - 1]))
    {
      g_assert_cmpint (json_value_get_int64 (value, &i), ==, NUMBER_NON_FINITE);
      g_assert_cmpint (json_value_get_uint64 (value, &u), ==, NUMBER_NON_FINITE);
      return;
    }

  result = ref_get_integer (text, negative ? "9223372036854775808" : "9223372036854775807", &size);
  g_assert_cmpint (json_value_get_int64 (value, &i), ==, result);
  if (result == NUMBER_OK)
    g_assert_cmpint (i, ==, (gint64) (negative ? -size : size));

  result = ref_get_integer (text, negative ? "0" : "18446744073709551615", &size);
  g_assert_cmpint (json_value_get_uint64 (value, &u), ==, result);
  if (result == NUMBER_OK)
    g_assert_cmpuint (u, ==, size);
}

/* @line: where the line stood that the values may lie in. */
static void
check_value (const JsonValue *value, const RefNode *expected, const guint8 *line)
{
  if (expected == NULL)
    {
      g_assert_cmpint (value->kind, ==, JSON_VALUE_MISSING);
      g_assert_null (value->data);
      g_assert_cmpuint (value->len, ==, 0);
      return;
    }

  g_assert_cmpint (value->kind, ==, expected->kind);
  if (expected->kind == JSON_VALUE_STRING)
    g_assert_cmpmem (value->data, value->len, expected->string->data, expected->string->len);
  else
    g_assert_cmpmem (value->data, value->len, line + expected->start,
                     expected->end - expected->start);
  if (expected->kind == JSON_VALUE_NUMBER)
    json_compare_number (value);
}

/* What to try by hand, before the assertion that ends the test. */
static void
print_difference (const Outcome *got, const RefResult *expected, const guint8 *line, gsize len)
{
  g_autofree char *terminated = g_strndup ((const char *) line, len);
  g_autofree char *escaped = g_strescape (terminated, NULL);

  if (got->accepted != (expected->root != NULL) ||
      (!got->accepted &&
       (got->error.kind != expected->kind || got->error.offset != expected->offset)))
    g_printerr ("%s\n  parser: %d %s, reference: %s at %" G_GSIZE_FORMAT "\n", escaped,
                got->accepted, got->accepted ? "" : got->error.message,
                json_error_kind_get_name (expected->kind), expected->offset);
}

static void
check_outcome (JsonComparer *self,
               const RefResult *expected,
               guint64 duplicates,
               const guint8 *line,
               gsize len)
{
  const Outcome *got = &self->outcome;

  print_difference (got, expected, line, len);
  g_assert_cmpint (got->accepted, ==, expected->root != NULL);
  if (!got->accepted)
    {
      g_assert_cmpstr (json_error_kind_get_name (got->error.kind), ==,
                       json_error_kind_get_name (expected->kind));
      g_assert_cmpuint (got->error.offset, ==, expected->offset);
      g_assert_cmpint (got->error.message[0], !=, '\0');
      g_assert_true (g_str_is_ascii (got->error.message));
      g_assert_cmpuint (got->counts.lone_surrogates + got->counts.duplicate_keys, ==, 0);
      return;
    }

  for (guint i = 0; i < self->n_paths; i++)
    check_value (&got->values[i], ref_find (expected->root, self->paths[i]), line);
  g_assert_cmpuint (got->counts.lone_surrogates, ==, expected->lone_surrogates);
  g_assert_cmpuint (got->counts.duplicate_keys, ==, duplicates);
}

static void
parse (JsonComparer *self, const JsonPlan *plan, const guint8 *line, gsize len)
{
  Outcome *got = &self->outcome;

  got->counts = (JsonCounts){ 0 };
  got->error.message[0] = '\0';
  got->accepted =
      json_parse_record (plan, self->scratch, line, len, got->values, &got->counts, &got->error);
}

static void
check_strict (JsonComparer *self,
              guint level,
              const guint8 *padded,
              gsize len,
              gboolean clean,
              JsonError *first)
{
  parse (self, self->strict[level], padded, len);
  g_assert_cmpint (self->outcome.accepted, ==, clean);
  if (self->outcome.accepted)
    return;

  if (level == 0)
    *first = self->outcome.error;
  g_assert_cmpint (self->outcome.error.kind, ==, first->kind);
  g_assert_cmpuint (self->outcome.error.offset, ==, first->offset);
  g_assert_cmpstr (self->outcome.error.message, ==, first->message);
}

gboolean
json_comparer_check (JsonComparer *self, const guint8 *line, gsize len)
{
  const char *const *paths = (const char *const *) self->paths;
  RefResult expected = ref_parse (line, len, FALSE);
  RefResult lax = ref_parse (line, len, TRUE);
  gboolean accepted = expected.root != NULL;
  guint64 duplicates = accepted ? ref_count_duplicates (expected.root, paths, self->n_paths) : 0;
  guint64 lax_duplicates =
      lax.root != NULL ? ref_count_duplicates (lax.root, paths, self->n_paths) : 0;
  g_autofree guint8 *padded = copy_padded (line, len);
  JsonError first = { 0 };

  for (guint i = 0; i < self->n_levels; i++)
    {
      Outcome *got = &self->outcome;

      parse (self, self->plans[i], padded, len);
      check_outcome (self, &expected, duplicates, padded, len);
      parse (self, self->lax[i], padded, len);
      check_outcome (self, &lax, lax_duplicates, padded, len);
      check_strict (self, i, padded, len,
                    accepted && expected.lone_surrogates == 0 && duplicates == 0, &first);

      got->counts = (JsonCounts){ 0 };
      got->accepted = json_parse_record_unpadded (self->plans[i], self->scratch, line, len,
                                                  got->values, &got->counts, &got->error);
      check_outcome (self, &expected, duplicates, line, len);
    }

  ref_node_free (expected.root);
  ref_node_free (lax.root);
  return accepted;
}
