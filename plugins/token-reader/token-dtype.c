/* SPDX-License-Identifier: MIT */

#include "token-dtype.h"

#include <string.h>

static const struct
{
  const char *name;
  guint width;
} dtypes[] = {
  [TOKEN_AUTO] = { "auto", 1 }, [TOKEN_U8] = { "u8", 1 },   [TOKEN_I8] = { "i8", 1 },
  [TOKEN_U16] = { "u16", 2 },   [TOKEN_I16] = { "i16", 2 }, [TOKEN_U32] = { "u32", 4 },
  [TOKEN_I32] = { "i32", 4 },   [TOKEN_U64] = { "u64", 8 }, [TOKEN_I64] = { "i64", 8 },
};

guint
token_dtype_get_width (TokenDtype dtype)
{
  return dtypes[dtype].width;
}

const char *
token_dtype_get_name (TokenDtype dtype)
{
  return dtypes[dtype].name;
}

guint64
token_dtype_get_max (TokenDtype dtype)
{
  gboolean is_signed =
      dtype == TOKEN_I8 || dtype == TOKEN_I16 || dtype == TOKEN_I32 || dtype == TOKEN_I64;

  return G_MAXUINT64 >> (64 - 8 * dtypes[dtype].width + is_signed);
}

DlpFieldType
token_dtype_get_field_type (TokenDtype dtype)
{
  return dtype == TOKEN_U8 || dtype == TOKEN_U16 ? DLP_FIELD_LIST_UINT16 : DLP_FIELD_LIST_UINT32;
}

/* A block is converted without a look, and looked at as a whole: only where one of it does not fit
 * is it looked for. */
#define BLOCK 4096

#define DEFINE_CONVERT(name, from, to, is_bad)                                                     \
  static gsize name (const from *ids, gsize n, to *out)                                            \
  {                                                                                                \
    for (gsize start = 0; start < n; start += BLOCK)                                               \
      {                                                                                            \
        gsize end = MIN (n, start + BLOCK);                                                        \
        guint bad = 0;                                                                             \
                                                                                                   \
        for (gsize i = start; i < end; i++)                                                        \
          {                                                                                        \
            from v = ids[i];                                                                       \
                                                                                                   \
            bad |= (guint) (is_bad);                                                               \
            out[i] = (to) v;                                                                       \
          }                                                                                        \
        for (gsize i = start; i < end && bad != 0; i++)                                            \
          {                                                                                        \
            from v = ids[i];                                                                       \
                                                                                                   \
            if (is_bad)                                                                            \
              return i;                                                                            \
          }                                                                                        \
      }                                                                                            \
    return n;                                                                                      \
  }

DEFINE_CONVERT (convert_u8_narrow, guint8, guint16, FALSE &&v)
DEFINE_CONVERT (convert_u8, guint8, guint32, FALSE &&v)
DEFINE_CONVERT (convert_i8, gint8, guint32, v < 0)
DEFINE_CONVERT (convert_u16, guint16, guint32, FALSE &&v)
DEFINE_CONVERT (convert_i16, gint16, guint32, v < 0)
DEFINE_CONVERT (convert_i32, gint32, guint32, v < 0)
DEFINE_CONVERT (convert_u64, guint64, guint32, v > G_MAXUINT32)
DEFINE_CONVERT (convert_i64, gint64, guint32, v<0 || v> (gint64) G_MAXUINT32)

static gsize
copy (gconstpointer ids, gsize n, guint width, gpointer out)
{
  if (n > 0)
    memcpy (out, ids, n * width);
  return n;
}

gsize
token_dtype_convert (TokenDtype dtype, gconstpointer ids, gsize n, DlpFieldType to, gpointer out)
{
  gboolean is_narrow = to == DLP_FIELD_LIST_UINT16;

  switch (dtype)
    {
    case TOKEN_U8:
      return is_narrow ? convert_u8_narrow (ids, n, out) : convert_u8 (ids, n, out);
    case TOKEN_I8:
      return convert_i8 (ids, n, out);
    case TOKEN_U16:
      return is_narrow ? copy (ids, n, sizeof (guint16), out) : convert_u16 (ids, n, out);
    case TOKEN_I16:
      return convert_i16 (ids, n, out);
    case TOKEN_U32:
      return copy (ids, n, sizeof (guint32), out);
    case TOKEN_I32:
      return convert_i32 (ids, n, out);
    case TOKEN_U64:
      return convert_u64 (ids, n, out);
    case TOKEN_I64:
      return convert_i64 (ids, n, out);
    case TOKEN_AUTO:
      break;
    }
  g_assert_not_reached ();
}

char *
token_dtype_show (TokenDtype dtype, gconstpointer ids, gsize index)
{
  switch (dtype)
    {
    case TOKEN_U8:
      return g_strdup_printf ("%u", ((const guint8 *) ids)[index]);
    case TOKEN_I8:
      return g_strdup_printf ("%d", ((const gint8 *) ids)[index]);
    case TOKEN_U16:
      return g_strdup_printf ("%u", ((const guint16 *) ids)[index]);
    case TOKEN_I16:
      return g_strdup_printf ("%d", ((const gint16 *) ids)[index]);
    case TOKEN_U32:
      return g_strdup_printf ("%u", ((const guint32 *) ids)[index]);
    case TOKEN_I32:
      return g_strdup_printf ("%d", ((const gint32 *) ids)[index]);
    case TOKEN_U64:
      return g_strdup_printf ("%" G_GUINT64_FORMAT, ((const guint64 *) ids)[index]);
    case TOKEN_I64:
      return g_strdup_printf ("%" G_GINT64_FORMAT, ((const gint64 *) ids)[index]);
    case TOKEN_AUTO:
      break;
    }
  g_assert_not_reached ();
}

#define DEFINE_FIND(name, type)                                                                    \
  static gsize name (const type *ids, gsize n, guint64 wanted)                                     \
  {                                                                                                \
    type id = (type) wanted;                                                                       \
    gsize i = 0;                                                                                   \
                                                                                                   \
    for (; i + BLOCK / 16 <= n; i += BLOCK / 16)                                                   \
      {                                                                                            \
        guint found = 0;                                                                           \
                                                                                                   \
        for (gsize k = 0; k < BLOCK / 16; k++)                                                     \
          found |= (guint) (ids[i + k] == id);                                                     \
        if (found != 0)                                                                            \
          break;                                                                                   \
      }                                                                                            \
    while (i < n && ids[i] != id)                                                                  \
      i++;                                                                                         \
    return i;                                                                                      \
  }

DEFINE_FIND (find_8, guint8)
DEFINE_FIND (find_16, guint16)
DEFINE_FIND (find_32, guint32)
DEFINE_FIND (find_64, guint64)

gsize
token_dtype_find (TokenDtype dtype, gconstpointer ids, gsize n, guint64 wanted)
{
  switch (token_dtype_get_width (dtype))
    {
    case 1:
      return find_8 (ids, n, wanted);
    case 2:
      return find_16 (ids, n, wanted);
    case 4:
      return find_32 (ids, n, wanted);
    default:
      return find_64 (ids, n, wanted);
    }
}
