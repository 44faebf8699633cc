/* SPDX-License-Identifier: MIT */

#include "json-string.h"

#define JSON_TARGET
#define JSON_PARSE json_parse_scalar

JSON_INLINE const guint8 *
scan_plain (const guint8 *p, const guint8 *end, const guint8 *line)
{
  return json_scan_plain_scalar (p, end);
}

static const guint8 *
read_escaped (JsonWalk *walk, const guint8 *p, guint8 **dst)
{
  gboolean strict = (walk->plan->flags & JSON_FLAGS_STRICT) != 0;

  while (p < walk->end)
    {
      const guint8 *start = p;
      guint8 unused[4];
      guint8 *to = dst != NULL ? *dst : unused;

      if (*p == '"')
        return p + 1;

      if (*p == '\\')
        {
          p = json_read_escape (p, &to, strict, &walk->lone_surrogates);
          if (p == NULL)
            return NULL;
          if (dst != NULL)
            *dst = to;
          continue;
        }

      p = json_scan_plain_scalar (p, walk->end);
      if (p == NULL || *p < 0x20)
        return NULL;
      if (dst != NULL)
        *dst = (guint8 *) memcpy (to, start, p - start) + (p - start);
    }

  return NULL;
}

#include "json-walk-template.h"
