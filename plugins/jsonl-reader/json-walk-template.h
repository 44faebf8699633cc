/* SPDX-License-Identifier: MIT */

/*
 * The walk over one record, compiled once for each instruction set. No #pragma once. The including
 * file defines JSON_TARGET, the function attribute that permits its instructions; JSON_PARSE, the
 * name of the function made here; and two functions on strings, both with JSON_TARGET:
 *
 *   scan_plain (p, end, line): the first quote, backslash or control character at or behind p. The
 *     bytes before it are well-formed UTF-8, or NULL is returned. May be behind end.
 *   read_escaped (walk, p, dst): from the backslash at p to behind the closing quote. What it
 * stands for is written to *dst, which moves; or dst is NULL. NULL is returned for any fault.
 *
 * The first fault of a string is looked for again by json_fail_string(), which is not in a hurry.
 */

#define TEMPLATE_INLINE static inline __attribute__ ((always_inline)) JSON_TARGET

TEMPLATE_INLINE const guint8 *
skip_space (const guint8 *p, const guint8 *end)
{
  if (G_LIKELY (*p > ' '))
    return p;

  while (p < end && (*p == ' ' || *p == '\t' || *p == '\r' || *p == '\n'))
    p++;
  return p;
}

/* The byte at @p; behind the end 0, which nothing accepts. */
TEMPLATE_INLINE guint8
token_at (const JsonWalk *walk, const guint8 *p)
{
  return p < walk->end ? *p : 0;
}

TEMPLATE_INLINE const guint8 *
skip_string (JsonWalk *walk, const guint8 *p)
{
  p = scan_plain (p, walk->end, walk->line);
  if (p == NULL || p >= walk->end)
    return NULL;
  if (*p == '"')
    return p + 1;
  return *p == '\\' ? read_escaped (walk, p, NULL) : NULL;
}

static JSON_TARGET const guint8 *
copy_string (JsonWalk *walk, const guint8 *start, const guint8 *p, JsonValue *value)
{
  JsonScratch *scratch = walk->scratch;
  guint8 *begin, *dst;

  /* All decoded strings of a line together are no longer than the line: they never move. */
  if (scratch->used == 0)
    json_scratch_reserve (scratch, walk->end - walk->line);

  begin = scratch->data + scratch->used;
  memcpy (begin, start, p - start);
  dst = begin + (p - start);
  p = read_escaped (walk, p, &dst);

  value->data = begin;
  value->len = dst - begin;
  value->start = (guint32) (start - walk->line);
  scratch->used = dst - scratch->data;
  return p;
}

TEMPLATE_INLINE const guint8 *
read_string (JsonWalk *walk, const guint8 *start, JsonValue *value)
{
  const guint8 *p = scan_plain (start, walk->end, walk->line);

  value->kind = JSON_VALUE_STRING;
  if (p == NULL || p >= walk->end)
    return NULL;
  if (G_LIKELY (*p == '"'))
    {
      value->data = start;
      value->len = p - start;
      return p + 1;
    }
  return *p == '\\' ? copy_string (walk, start, p, value) : NULL;
}

TEMPLATE_INLINE const guint8 *
skip_digits (const guint8 *p, const guint8 *end)
{
  while (p < end && (guint8) (*p - '0') < 10)
    p++;
  return p;
}

/* NULL: no number. What follows it is looked at by the caller. */
TEMPLATE_INLINE const guint8 *
skip_number (const guint8 *p, const guint8 *end)
{
  const guint8 *start;

  if (*p == '-')
    p++;

  start = p;
  p = skip_digits (p, end);
  if (p == start || (*start == '0' && p > start + 1))
    return NULL;

  if (p < end && *p == '.')
    {
      start = p + 1;
      p = skip_digits (start, end);
      if (p == start)
        return NULL;
    }

  if (p < end && (*p | 0x20) == 'e')
    {
      p++;
      if (p < end && (*p == '+' || *p == '-'))
        p++;
      start = p;
      p = skip_digits (start, end);
      if (p == start)
        return NULL;
    }

  return p;
}

/* The key met again counts, and what its former value gave is forgotten. */
static JSON_TARGET gboolean
note_duplicate (JsonWalk *walk, const JsonPlanNode *node)
{
  for (guint i = 0; i < node->size; i++)
    if (node[i].value >= 0)
      walk->values[node[i].value] = (JsonValue){ NULL, 0, JSON_VALUE_MISSING, 0 };

  walk->duplicate_keys++;
  return (walk->plan->flags & JSON_FLAGS_STRICT) == 0;
}

/* Behind the key that begins at @p. NULL: a fault, in the string if @child was set to NULL. */
TEMPLATE_INLINE const guint8 *
read_key (JsonWalk *walk, const guint8 *p, const JsonPlanNode **child)
{
  const JsonPlanNode *match = walk->match;
  const guint8 *start = p;
  guint64 word;

  *child = NULL;
  if (match == NULL)
    return skip_string (walk, p);

  memcpy (&word, p, sizeof word);
  for (const JsonPlanNode *node = match + 1; node < match + match->size; node += node->size)
    if ((word & node->mask) == node->word && node->verbatim &&
        (gsize) (walk->end - p) > node->key_len &&
        (node->key_len < 8 || memcmp (p, node->needle, node->key_len + 1) == 0))
      {
        *child = node;
        p += node->key_len + 1;
        break;
      }

  if (*child == NULL)
    {
      const guint8 *stop = scan_plain (p, walk->end, walk->line);

      if (stop == NULL || stop >= walk->end)
        return NULL;
      if (*stop == '"')
        return stop + 1;
      if (*stop != '\\' || (p = read_escaped (walk, stop, NULL)) == NULL)
        return NULL;
      for (const JsonPlanNode *node = match + 1; node < match + match->size; node += node->size)
        if (json_key_equals (start, p - 1, node))
          *child = node;
      if (*child == NULL)
        return p;
    }

  if (G_UNLIKELY (walk->scratch->seen[*child - walk->plan->nodes]++ != 0))
    {
      walk->scratch->seen[*child - walk->plan->nodes] = 1;
      if (!note_duplicate (walk, *child))
        return NULL;
    }
  return p;
}

/* @open: the bracket. @node: whose value it is, or NULL. */
TEMPLATE_INLINE gboolean
push (JsonWalk *walk, const guint8 *open, const JsonPlanNode *node)
{
  gboolean is_object = *open == '{';
  guint d = walk->depth++;
  guint64 bit = G_GUINT64_CONSTANT (1) << (d & 63);

  if (G_UNLIKELY (d >= JSON_MAX_DEPTH))
    return json_fail_depth (walk, open);

  if (is_object)
    walk->nesting[d >> 6] |= bit;
  else
    walk->nesting[d >> 6] &= ~bit;

  walk->match = NULL;
  if (node != NULL)
    {
      JsonFrame *frame = &walk->frames[++walk->top];

      if (is_object && node->size > 1)
        {
          walk->match = node;
          memset (walk->scratch->seen + (node - walk->plan->nodes) + 1, 0, node->size - 1);
        }
      *frame = (JsonFrame){ node, walk->match, d + 1 };
      if (node->value >= 0)
        walk->values[node->value] =
            (JsonValue){ open, 0, is_object ? JSON_VALUE_OBJECT : JSON_VALUE_ARRAY, 0 };
    }

  return TRUE;
}

/* @close: behind the bracket. */
TEMPLATE_INLINE void
pop (JsonWalk *walk, const guint8 *close)
{
  const JsonFrame *frame = &walk->frames[walk->top];

  if (frame->depth == walk->depth)
    {
      if (frame->node->value >= 0)
        {
          JsonValue *value = &walk->values[frame->node->value];

          value->len = close - value->data;
        }
      frame--;
      walk->top--;
    }

  walk->depth--;
  walk->match = frame->depth == walk->depth ? frame->match : NULL;
}

TEMPLATE_INLINE void
set_value (JsonWalk *walk,
           const JsonPlanNode *node,
           JsonValueKind kind,
           const guint8 *from,
           const guint8 *to)
{
  if (node != NULL && node->value >= 0)
    walk->values[node->value] = (JsonValue){ from, to - from, kind, 0 };
}

/* true, false, null and, where allowed, NaN. NULL: something else. */
static JSON_TARGET const guint8 *
read_word (JsonWalk *walk, const guint8 *p, const JsonPlanNode *node)
{
  gsize left = walk->end - p;
  JsonValueKind kind = JSON_VALUE_NUMBER;
  const guint8 *to = NULL;

  if (left >= 4 && memcmp (p, "null", 4) == 0)
    {
      kind = JSON_VALUE_NULL;
      to = p + 4;
    }
  else if (left >= 4 && memcmp (p, "true", 4) == 0)
    {
      kind = JSON_VALUE_TRUE;
      to = p + 4;
    }
  else if (left >= 5 && memcmp (p, "false", 5) == 0)
    {
      kind = JSON_VALUE_FALSE;
      to = p + 5;
    }
  else if (walk->plan->flags & JSON_FLAGS_ALLOW_NON_FINITE)
    to = json_match_non_finite (p, walk->end);

  if (to != NULL)
    set_value (walk, node, kind, p, to);
  return to;
}

TEMPLATE_INLINE gboolean
in_object (const JsonWalk *walk)
{
  guint d = walk->depth - 1;

  return (walk->nesting[d >> 6] >> (d & 63)) & 1;
}

/* From the record's opening brace to behind its closing one; NULL: the error is filled. */
static JSON_TARGET const guint8 *
walk_record (JsonWalk *walk, const guint8 *p)
{
  const JsonPlanNode *node = walk->plan->nodes;
  JsonExpect expect;
  const guint8 *start = p;
  const guint8 *end = walk->end;
  guint8 token;

open:
  if (!push (walk, p, node))
    return NULL;
  token = *p;
  p = skip_space (p + 1, end);
  if (token == '[')
    {
      if (token_at (walk, p) == ']')
        goto close;
      expect = JSON_EXPECT_VALUE_OR_CLOSE;
      node = NULL;
      goto value;
    }
  if (token_at (walk, p) == '}')
    goto close;
  expect = JSON_EXPECT_KEY_OR_CLOSE;

key:
  if (G_UNLIKELY (token_at (walk, p) != '"'))
    goto fail;
  start = p;
  p = read_key (walk, p + 1, &node);
  if (G_UNLIKELY (p == NULL))
    {
      if (node != NULL)
        json_fail_duplicate (walk, start, node);
      else
        json_fail_string (walk, start + 1);
      return NULL;
    }
  if (G_UNLIKELY (*p != ':'))
    p = skip_space (p, end);
  expect = JSON_EXPECT_COLON;
  if (G_UNLIKELY (token_at (walk, p) != ':'))
    goto fail;
  p++;
  if (*p == ' ')
    p++;
  p = skip_space (p, end);
  expect = JSON_EXPECT_VALUE;

value:
  token = token_at (walk, p);
  start = p;
  if (G_LIKELY (token == '"'))
    {
      if (node != NULL && node->value >= 0)
        p = read_string (walk, start + 1, &walk->values[node->value]);
      else
        p = skip_string (walk, start + 1);
      if (G_UNLIKELY (p == NULL))
        {
          json_fail_string (walk, start + 1);
          return NULL;
        }
    }
  else if ((guint8) (token - '0') < 10 || token == '-')
    {
      p = skip_number (p, end);
      if (G_UNLIKELY (p == NULL))
        {
          if (token == '-')
            p = read_word (walk, start, node);
          if (p == NULL)
            {
              json_fail_number (walk, start);
              return NULL;
            }
        }
      set_value (walk, node, JSON_VALUE_NUMBER, start, p);
    }
  else if (token == '{' || token == '[')
    goto open;
  else
    {
      p = read_word (walk, start, node);
      if (p == NULL)
        {
          p = start;
          goto fail;
        }
    }

next:
  p = skip_space (p, end);
  token = token_at (walk, p);
  if (in_object (walk))
    {
      if (G_LIKELY (token == ','))
        {
          p++;
          if (*p == ' ')
            p++;
          p = skip_space (p, end);
          expect = JSON_EXPECT_KEY;
          goto key;
        }
      expect = JSON_EXPECT_COMMA_OR_BRACE;
      if (token != '}')
        goto fail;
    }
  else
    {
      if (G_LIKELY (token == ','))
        {
          p = skip_space (p + 1, end);
          expect = JSON_EXPECT_VALUE;
          node = NULL;
          goto value;
        }
      expect = JSON_EXPECT_COMMA_OR_BRACKET;
      if (token != ']')
        goto fail;
    }

close:
  p++;
  pop (walk, p);
  if (walk->depth > 0)
    goto next;
  return p;

fail:
  json_fail_expect (walk, p, expect);
  return NULL;
}

JSON_TARGET gboolean
JSON_PARSE (const JsonPlan *plan,
            JsonScratch *scratch,
            const guint8 *line,
            gsize len,
            JsonValue *values,
            JsonCounts *counts,
            JsonError *error)
{
  const guint8 *p = line;
  JsonWalk walk;

  if (len > 0 && line[len - 1] == '\r')
    len--;
  if (len >= 3 && G_UNLIKELY (memcmp (p, "\xef\xbb\xbf", 3) == 0))
    p += 3;

  walk.plan = plan;
  walk.scratch = scratch;
  walk.values = values;
  walk.error = error;
  walk.line = line;
  walk.end = line + len;
  walk.depth = 0;
  walk.top = 0;
  walk.lone_surrogates = 0;
  walk.duplicate_keys = 0;
  walk.frames[0].depth = 0;
  walk.frames[0].match = NULL;

  scratch->used = 0;
  if (G_UNLIKELY (scratch->n_seen < plan->n_nodes))
    json_scratch_prepare (scratch, plan->n_nodes);
  for (guint i = 0; i < plan->n_paths; i++)
    values[i] = (JsonValue){ NULL, 0, JSON_VALUE_MISSING, 0 };

  p = skip_space (p, walk.end);
  if (G_UNLIKELY (token_at (&walk, p) != '{'))
    return json_fail_start (&walk, p);
  if ((p = walk_record (&walk, p)) == NULL)
    return FALSE;
  p = skip_space (p, walk.end);
  if (G_UNLIKELY (p < walk.end))
    return json_fail_trailing (&walk, p);

  if (G_UNLIKELY (plan->has_aliases))
    for (guint i = 0; i < plan->n_paths; i++)
      values[i] = values[plan->same_as[i]];
  counts->lone_surrogates += walk.lone_surrogates;
  counts->duplicate_keys += walk.duplicate_keys;
  return TRUE;
}
