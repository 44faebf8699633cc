/* SPDX-License-Identifier: MIT */
#include "dlp-detokenizer-step.h"
#include "dlp-letters.h"

#include <string.h>

/* Tokens that are bytes. */

gsize
dlp_utf8_measure (const guint8 *p, const guint8 *end, gboolean *is_valid)
{
  guint8 low = 0x80, high = 0xbf;
  gsize n = *p < 0xe0 ? 2 : *p < 0xf0 ? 3 : 4;

  *is_valid = *p < 0x80;
  if (*p < 0xc2 || *p > 0xf4)
    return 1;
  if (*p == 0xe0)
    low = 0xa0;
  else if (*p == 0xed)
    high = 0x9f;
  else if (*p == 0xf0)
    low = 0x90;
  else if (*p == 0xf4)
    high = 0x8f;
  for (gsize i = 1; i < n; i++)
    {
      if (p + i == end || p[i] < low || p[i] > high)
        return i;
      low = 0x80;
      high = 0xbf;
    }
  *is_valid = TRUE;
  return n;
}

/* GLib does not take a nul for text. */
static const guint8 *
find_invalid (const guint8 *p, const guint8 *end)
{
  const char *stop;

  while (!g_utf8_validate_len ((const char *) p, end - p, &stop) && *stop == '\0')
    p = (const guint8 *) stop + 1;
  return (const guint8 *) stop;
}

/* What is no UTF-8 becomes U+FFFD, as much of it at once as could begin a character. */
static void
append_valid (GString *out, const guint8 *p, gsize len)
{
  const guint8 *end = p + len;

  while (p < end)
    {
      const guint8 *stop = find_invalid (p, end);
      gboolean is_valid;

      g_string_append_len (out, (const char *) p, stop - p);
      p = stop;
      if (p == end)
        break;
      p += dlp_utf8_measure (p, end, &is_valid);
      g_string_append (out, DLP_REPLACEMENT);
    }
}

void
dlp_token_list_append_letters (DlpTokenList *self, const guint8 *p, gsize len)
{
  gsize start = self->text->len;
  gssize n;

  g_string_set_size (self->text, start + len);
  n = dlp_letters_decode ((const char *) p, len, (guint8 *) self->text->str + start);
  if (n < 0)
    memcpy (self->text->str + start, p, len);
  else
    g_string_truncate (self->text, start + n);
}

/* Becomes one token. */
gboolean
dlp_detokenizer_run_byte_level (const DlpDetokenizerStep *self,
                                const DlpTokenList *in,
                                DlpTokenList *out,
                                DlpNormalizerScratch *scratch)
{
  g_auto (DlpTokenList) bytes = { NULL };

  /* The first step has bytes already. */
  if (in->ids == NULL)
    {
      dlp_token_list_init (&bytes);
      for (guint i = 0; i < in->ends->len; i++)
        {
          gsize len;
          const guint8 *token = dlp_token_list_get (in, i, &len);

          dlp_token_list_append_letters (&bytes, token, len);
        }
      in = &bytes;
    }
  append_valid (out->text, (const guint8 *) in->text->str, in->text->len);
  dlp_token_list_end (out);
  return TRUE;
}

static int
get_digit (guint8 c)
{
  return g_ascii_xdigit_value ((char) c);
}

/* A plus sign in place of the first digit counts too. */
int
dlp_token_get_byte (const guint8 *token, gsize len)
{
  int high, low;

  if (len != 6 || memcmp (token, "<0x", 3) != 0 || token[5] != '>')
    return -1;
  high = token[3] == '+' ? 0 : get_digit (token[3]);
  low = get_digit (token[4]);
  return high < 0 || low < 0 ? -1 : high << 4 | low;
}

/* Bytes that are UTF-8 together are one token; else U+FFFD stands for each of them. */
static void
flush_bytes (DlpTokenList *out, GByteArray *bytes)
{
  gboolean is_text;

  if (bytes->len == 0)
    return;
  is_text = find_invalid (bytes->data, bytes->data + bytes->len) == bytes->data + bytes->len;
  if (is_text)
    {
      g_string_append_len (out->text, (const char *) bytes->data, bytes->len);
      dlp_token_list_end (out);
    }
  for (guint i = 0; !is_text && i < bytes->len; i++)
    {
      g_string_append (out->text, DLP_REPLACEMENT);
      dlp_token_list_end (out);
    }
  g_byte_array_set_size (bytes, 0);
}

gboolean
dlp_detokenizer_run_byte_fallback (const DlpDetokenizerStep *self,
                                   const DlpTokenList *in,
                                   DlpTokenList *out,
                                   DlpNormalizerScratch *scratch)
{
  g_autoptr (GByteArray) bytes = g_byte_array_new ();

  for (guint i = 0; i < in->ends->len; i++)
    {
      gsize len;
      const guint8 *token = dlp_token_list_get (in, i, &len);
      int value = dlp_token_get_byte (token, len);
      guint8 byte = (guint8) value;

      if (value >= 0)
        {
          g_byte_array_append (bytes, &byte, 1);
          continue;
        }
      flush_bytes (out, bytes);
      g_string_append_len (out->text, (const char *) token, len);
      dlp_token_list_end (out);
    }
  flush_bytes (out, bytes);
  return TRUE;
}
