/* SPDX-License-Identifier: MIT */

#include "dlp-megatron-tokens.h"

#include <string.h>

#define BLOCK 64

/* What a whole block has in its favour is found without a branch for each id. */
#define DEFINE_CHECK(type)                                                                         \
  static gsize check_##type (const type *tokens, gsize n, type last)                               \
  {                                                                                                \
    gsize i = 0;                                                                                   \
                                                                                                   \
    for (; n - i >= BLOCK; i += BLOCK)                                                             \
      {                                                                                            \
        guint bad = 0;                                                                             \
                                                                                                   \
        for (guint k = 0; k < BLOCK; k++)                                                          \
          bad |= tokens[i + k] > last;                                                             \
        if (bad)                                                                                   \
          break;                                                                                   \
      }                                                                                            \
    while (i < n && tokens[i] <= last)                                                             \
      i++;                                                                                         \
    return i;                                                                                      \
  }

DEFINE_CHECK (guint16)
DEFINE_CHECK (guint32)

gsize
dlp_megatron_tokens_check (gconstpointer tokens, guint width, gsize n, guint64 limit)
{
  g_assert (limit > 0);

  if (limit > (width == 2 ? G_MAXUINT16 : G_MAXUINT32))
    return n;
  if (width == 2)
    return check_guint16 (tokens, n, (guint16) (limit - 1));
  return check_guint32 (tokens, n, (guint32) (limit - 1));
}

guint32
dlp_megatron_tokens_get (gconstpointer tokens, guint width, gsize index)
{
  return width == 2 ? ((const guint16 *) tokens)[index] : ((const guint32 *) tokens)[index];
}

void
dlp_megatron_tokens_convert (gconstpointer tokens, guint from, gsize n, gpointer out, guint to)
{
  const guint16 *narrow = tokens;
  const guint32 *wide = tokens;

  if (from == to)
    memcpy (out, tokens, n * to);
  else if (to == 4)
    for (gsize i = 0; i < n; i++)
      ((guint32 *) out)[i] = narrow[i];
  else
    for (gsize i = 0; i < n; i++)
      ((guint16 *) out)[i] = (guint16) wide[i];
}
