/* SPDX-License-Identifier: MIT */
#include "dlp-symbols.h"

#include <string.h>

struct _DlpSymbols
{
  char **strings; /* sorted by their bytes */
  gsize starts[257];
};

static int
compare (gconstpointer a, gconstpointer b)
{
  return strcmp (*(char *const *) a, *(char *const *) b);
}

/* Empty strings never match. */
DlpSymbols *
dlp_symbols_new (const char *const *strings)
{
  DlpSymbols *self = g_new0 (DlpSymbols, 1);
  gsize n = g_strv_length ((char **) strings), at = 0;

  self->strings = g_strdupv ((char **) strings);
  qsort (self->strings, n, sizeof *self->strings, compare);
  for (guint byte = 0; byte < 256; byte++)
    {
      while (at < n && (guint8) self->strings[at][0] < byte)
        at++;
      self->starts[byte] = at;
    }
  self->starts[256] = n;
  return self;
}

void
dlp_symbols_free (DlpSymbols *self)
{
  g_strfreev (self->strings);
  g_free (self);
}

/* The first of [@low, @high), which are alike before @depth, that is not below @byte there. */
static gsize
find_bound (const DlpSymbols *self, gsize low, gsize high, gsize depth, guint byte)
{
  while (low < high)
    {
      gsize middle = low + (high - low) / 2;

      if ((guint8) self->strings[middle][depth] < byte)
        low = middle + 1;
      else
        high = middle;
    }
  return low;
}

/* The length of the longest that is at @p, 0 if there is none. */
gsize
dlp_symbols_match (const DlpSymbols *self, const guint8 *p, gsize len)
{
  gsize low, high, longest = 0;

  if (len == 0 || p[0] == 0)
    return 0;
  low = self->starts[p[0]];
  high = self->starts[p[0] + 1];
  for (gsize depth = 1; low < high; depth++)
    {
      /* The shortest of those that are alike so far is the first. */
      if (self->strings[low][depth] == '\0')
        longest = depth;
      if (depth == len || p[depth] == 0)
        break;
      low = find_bound (self, low, high, depth, p[depth]);
      high = find_bound (self, low, high, depth, p[depth] + 1u);
    }
  return longest;
}
