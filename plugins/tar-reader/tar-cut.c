/* SPDX-License-Identifier: MIT */

#include "tar-cut.h"

#include <string.h>

/* Of the state of tar_skip(). */
enum
{
  HAS_KEY,
  KEY,  /* its hash */
  LEFT, /* bytes of a member to be passed over */
};

/* FALSE: @key was another one, or none, and is this one now. */
static gboolean
goes_on (GString *key, const TarMember *member, gsize key_size)
{
  if (key->len == key_size && memcmp (key->str, member->name->str, key_size) == 0)
    return TRUE;
  g_string_truncate (key, 0);
  g_string_append_len (key, member->name->str, (gssize) key_size);
  return FALSE;
}

gsize
tar_cut (const guint8 *data, gsize size)
{
  g_autoptr (GString) name = g_string_new (NULL);
  g_autoptr (GString) key = g_string_new (NULL);
  TarMember member = { .name = name };
  gsize border = 0;
  guint64 at = 0;

  while (at < size)
    {
      gsize key_size;
      TarResult result = tar_member_read (&member, data + at, (gsize) (size - at));

      if (result == TAR_MORE)
        break;
      if (result == TAR_FAULT)
        {
          g_free (member.fault);
          return size;
        }
      if (result == TAR_ZERO)
        {
          g_string_truncate (key, 0);
          border = (gsize) at + TAR_BLOCK_BYTES;
          at = border;
          continue;
        }
      if (tar_member_has_key (&member, &key_size) && !goes_on (key, &member, key_size))
        border = (gsize) at;
      at += member.next;
    }
  return border;
}

/* FNV-1a */
static guint64
hash_key (const char *key, gsize size)
{
  guint64 hash = G_GUINT64_CONSTANT (0xcbf29ce484222325);

  for (gsize i = 0; i < size; i++)
    hash = (hash ^ (guint8) key[i]) * G_GUINT64_CONSTANT (0x100000001b3);
  return hash;
}

/* Whether the member belongs to another sample than what is passed over. */
static gboolean
begins_another (guint64 *state, const TarMember *member)
{
  gsize key_size;
  guint64 hash;

  if (!tar_member_has_key (member, &key_size))
    return FALSE;
  hash = hash_key (member->name->str, key_size);
  if (state[HAS_KEY] != 0)
    return state[KEY] != hash;
  state[HAS_KEY] = TRUE;
  state[KEY] = hash;
  return FALSE;
}

gsize
tar_skip (guint64 *state, const guint8 *data, gsize size, gboolean *ended)
{
  g_autoptr (GString) name = g_string_new (NULL);
  TarMember member = { .name = name };
  gsize taken = 0;

  *ended = FALSE;
  for (;;)
    {
      gsize n = (gsize) MIN (state[LEFT], size - taken);
      TarResult result;

      taken += n;
      state[LEFT] -= n;
      if (taken == size)
        return taken;
      result = tar_member_read (&member, data + taken, size - taken);
      if (result == TAR_MORE)
        return taken;
      if (result == TAR_FAULT)
        g_free (member.fault);
      *ended = result != TAR_MEMBER || begins_another (state, &member);
      if (*ended)
        return taken;
      state[LEFT] = member.next;
    }
}
