/* SPDX-License-Identifier: MIT */

/*
 * Strings by vectors of BLOCK bytes. No #pragma once. The including file defines, beside what
 * json-walk-template.h wants:
 *
 *   Vector, vector_load (p), vector_store (p, v)
 *   BLOCK        bytes in a vector
 *   MASK_SHIFT   log2 of the bits a byte has in a mask
 *   stop_mask (v)   the quotes, backslashes and bytes below 0x20
 *   high_mask (v)   the bytes from 0x80 on
 *   event_mask (v)  both
 *   utf8_errors (p, v)  where v, the vector at p, shows with the three bytes before it that UTF-8
 * is ill-formed. The mark is on a byte of the bad sequence or on the one after it.
 */

#define MASK_INDEX(mask) (__builtin_ctzll (mask) >> MASK_SHIFT)
/* Up to and with the lowest set bit; all, if none is set. */
#define MASK_THROUGH(mask) ((mask) ^ ((mask) -1))

/*
 * Checks the vector at @p up to its first stop. @open: the sequence in the bytes before may go on
 * here. FALSE: ill-formed.
 */
JSON_INLINE JSON_TARGET gboolean
check_utf8 (const guint8 *p, Vector v, guint64 stops, gboolean *open)
{
  guint64 high = high_mask (v) & MASK_THROUGH (stops);

  if (high == 0 && !*open)
    return TRUE;
  *open = stops == 0 && (high >> ((BLOCK - 3) << MASK_SHIFT)) != 0;
  return (utf8_errors (p, v) & MASK_THROUGH (stops)) == 0;
}

JSON_INLINE JSON_TARGET const guint8 *
scan_plain (const guint8 *p, const guint8 *end, const guint8 *line)
{
  gboolean open = FALSE;

  while (p < end)
    {
      Vector v = vector_load (p);
      guint64 events = event_mask (v);
      guint64 stops;

      if (!open)
        {
          if (events == 0)
            {
              p += BLOCK;
              continue;
            }
          if (p[MASK_INDEX (events)] == '"')
            return p + MASK_INDEX (events);
        }

      stops = stop_mask (v);
      /* A first key has but two bytes before it in the line. */
      if (G_UNLIKELY (p < line + 3) && (high_mask (v) & MASK_THROUGH (stops)) != 0)
        return json_scan_plain_scalar (p, end);
      if (!check_utf8 (p, v, stops, &open))
        return NULL;
      if (stops != 0)
        return p + MASK_INDEX (stops);
      p += BLOCK;
    }

  return NULL;
}

#ifndef JSON_OWN_READ_ESCAPED

/* Escape by escape, with the plain text between them copied by vectors. */
JSON_INLINE JSON_TARGET const guint8 *
read_escaped_into (JsonWalk *walk, const guint8 *p, guint8 **out, gboolean store)
{
  const guint8 *end = walk->end;
  gboolean strict = (walk->plan->flags & JSON_FLAGS_STRICT) != 0;
  guint8 *dst = store ? *out : NULL;
  gboolean open = FALSE;

  while (p < end)
    {
      Vector v;
      guint64 stops;
      guint n;

      /* A sequence that is open must first be found to be cut. */
      if (*p == '\\' && !open)
        {
          guint8 unused[4];
          guint8 *to = store ? dst : unused;

          p = json_read_escape (p, &to, strict, &walk->lone_surrogates);
          if (p == NULL)
            return NULL;
          dst = to;
          continue;
        }

      v = vector_load (p);
      stops = stop_mask (v);
      if (store)
        vector_store (dst, v);
      if (!check_utf8 (p, v, stops, &open))
        return NULL;
      n = stops != 0 ? MASK_INDEX (stops) : BLOCK;
      p += n;
      if (store)
        dst += n;
      if (stops == 0)
        continue;

      if (p >= end)
        return NULL;
      if (*p == '"')
        {
          if (store)
            *out = dst;
          return p + 1;
        }
      if (*p != '\\')
        return NULL;
    }

  return NULL;
}

static JSON_TARGET const guint8 *
read_escaped (JsonWalk *walk, const guint8 *p, guint8 **dst)
{
  return dst != NULL ? read_escaped_into (walk, p, dst, TRUE) :
                       read_escaped_into (walk, p, NULL, FALSE);
}

#endif
