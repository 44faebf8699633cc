/* SPDX-License-Identifier: MIT */

#include "tar-compare.h"

#include <string.h>

/* In front of which something ends, as plainly as can be; the last one is where nothing more is
 * known. */
static GArray *
list_borders (const guint8 *data, gsize size, gboolean *has_fault)
{
  GArray *borders = g_array_new (FALSE, FALSE, sizeof (gsize));
  g_autoptr (GString) name = g_string_new (NULL);
  g_autofree char *key = NULL;
  TarMember member = { .name = name };
  guint64 at = 0;

  *has_fault = FALSE;
  while (at < size)
    {
      gsize border = (gsize) at;
      gsize key_size;
      TarResult result = tar_member_read (&member, data + at, (gsize) (size - at));

      if (result == TAR_MORE)
        break;
      *has_fault = result == TAR_FAULT;
      if (result == TAR_FAULT)
        {
          g_assert_cmpuint (member.fault_at, <=, size - at);
          g_free (member.fault);
          break;
        }
      if (result == TAR_ZERO)
        {
          g_clear_pointer (&key, g_free);
          at += TAR_BLOCK_BYTES;
          border = (gsize) at;
          g_array_append_val (borders, border);
          continue;
        }
      g_assert_cmpuint (member.data, <=, size - at);
      g_assert_cmpuint (member.next, >=, member.data);
      if (tar_member_has_key (&member, &key_size))
        {
          g_autofree char *other = g_strndup (name->str, key_size);

          g_assert_cmpuint (key_size, <, name->len);
          if (g_strcmp0 (key, other) != 0)
            g_array_append_val (borders, border);
          g_free (key);
          key = g_steal_pointer (&other);
        }
      at += member.next;
    }
  return borders;
}

static gboolean
has_border (const GArray *borders, gsize at)
{
  for (guint i = 0; i < borders->len; i++)
    if (g_array_index (borders, gsize, i) == at)
      return TRUE;
  return at == 0;
}

static gsize
skip (const guint8 *data, gsize size, gsize piece)
{
  guint64 state[4] = { 0 };
  gboolean ended = FALSE;
  gsize taken = 0;

  for (gsize seen = MIN (piece, size); !ended; seen = MIN (seen + piece, size))
    {
      gsize n = tar_skip (state, data + taken, seen - taken, &ended);

      g_assert_cmpuint (n, <=, seen - taken);
      taken += n;
      if (!ended && seen == size)
        return size;
    }
  return taken;
}

/* The end of the first sample is where the whole has it. */
static void
compare_skip (const guint8 *data,
              gsize size,
              const GArray *borders,
              gboolean has_fault,
              gsize piece)
{
  gsize whole = skip (data, size, MAX (size, 1));

  g_assert_cmpuint (skip (data, size, piece), ==, whole);
  if (!has_fault && whole > 0 && whole < size && memchr (data, 0, size) != NULL)
    g_assert_true (has_border (borders, whole) || has_border (borders, whole + TAR_BLOCK_BYTES));
}

void
tar_compare (const guint8 *data, gsize size, gsize piece)
{
  gboolean has_fault;
  g_autoptr (GArray) borders = list_borders (data, size, &has_fault);
  gsize last = 0;

  piece = MAX (piece, 1);
  for (gsize n = 0; n <= size; n += MAX (piece, size / 64))
    {
      gsize border = tar_cut (data, n);

      g_assert_cmpuint (border, <=, n);
      g_assert_cmpuint (border, >=, last);
      if (!has_fault || border < n)
        g_assert_true (has_border (borders, border));
      last = border;
    }
  compare_skip (data, size, borders, has_fault, piece);
}
