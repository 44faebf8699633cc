/* SPDX-License-Identifier: MIT */

#include "warc-charset.h"

#include <errno.h>
#include <string.h>

/* As far as browsers look for a <meta>. */
#define PRESCAN_BYTES 1024
#define PIECE_BYTES 4096
#define MAX_LABEL 40

typedef struct
{
  const char *name;   /* as iconv calls it */
  const char *labels; /* as pages call it, with blanks around each */
} Encoding;

/* The labels in use of the Encoding Standard of the WHATWG, which says that Latin 1 and ASCII are
 * windows-1252. */
static const Encoding encodings[] = {
  { "UTF-8", " utf-8 utf8 unicode-1-1-utf-8 x-unicode20utf8 " },
  { "CP1252", " windows-1252 cp1252 x-cp1252 iso-8859-1 iso8859-1 iso_8859-1 iso88591 latin1 l1 "
              "ascii us-ascii ansi_x3.4-1968 cp819 ibm819 iso-ir-100 csisolatin1 " },
  { "CP1250", " windows-1250 cp1250 x-cp1250 " },
  { "CP1251", " windows-1251 cp1251 x-cp1251 " },
  { "CP1253", " windows-1253 cp1253 x-cp1253 " },
  { "CP1254", " windows-1254 cp1254 x-cp1254 iso-8859-9 iso8859-9 iso_8859-9 latin5 l5 " },
  { "CP1255", " windows-1255 cp1255 x-cp1255 " },
  { "CP1256", " windows-1256 cp1256 x-cp1256 " },
  { "CP1257", " windows-1257 cp1257 x-cp1257 " },
  { "CP1258", " windows-1258 cp1258 x-cp1258 " },
  { "ISO-8859-2", " iso-8859-2 iso8859-2 iso_8859-2 latin2 l2 " },
  { "ISO-8859-3", " iso-8859-3 iso8859-3 iso_8859-3 latin3 l3 " },
  { "ISO-8859-4", " iso-8859-4 iso8859-4 iso_8859-4 latin4 l4 " },
  { "ISO-8859-5", " iso-8859-5 iso8859-5 iso_8859-5 cyrillic " },
  { "ISO-8859-6", " iso-8859-6 iso8859-6 iso_8859-6 arabic " },
  { "ISO-8859-7", " iso-8859-7 iso8859-7 iso_8859-7 greek greek8 " },
  { "ISO-8859-8", " iso-8859-8 iso8859-8 iso_8859-8 iso-8859-8-i hebrew logical visual " },
  { "ISO-8859-10", " iso-8859-10 iso8859-10 latin6 l6 " },
  { "ISO-8859-13", " iso-8859-13 iso8859-13 " },
  { "ISO-8859-14", " iso-8859-14 iso8859-14 " },
  { "ISO-8859-15", " iso-8859-15 iso8859-15 iso_8859-15 latin9 l9 " },
  { "ISO-8859-16", " iso-8859-16 " },
  { "CP874", " windows-874 iso-8859-11 iso8859-11 tis-620 dos-874 " },
  { "IBM866", " ibm866 cp866 866 csibm866 " },
  { "KOI8-R", " koi8-r koi8 koi koi8_r cskoi8r " },
  { "KOI8-U", " koi8-u koi8-ru " },
  { "MACINTOSH", " macintosh mac x-mac-roman csmacintosh " },
  { "GB18030", " gb18030 gbk gb2312 gb_2312 gb_2312-80 x-gbk chinese csgb2312 " },
  { "BIG5-HKSCS", " big5 big5-hkscs x-x-big5 cn-big5 csbig5 " },
  { "EUC-JP", " euc-jp x-euc-jp cseucpkdfmtjapanese " },
  { "ISO-2022-JP", " iso-2022-jp csiso2022jp " },
  { "CP932", " shift_jis shift-jis sjis x-sjis windows-31j ms_kanji ms932 csshiftjis " },
  { "UHC", " euc-kr windows-949 korean ks_c_5601-1987 ks_c_5601-1989 ksc5601 ksc_5601 cseuckr " },
  { "UTF-16LE", " utf-16le utf-16 unicode ucs-2 iso-10646-ucs-2 csunicode unicodefeff " },
  { "UTF-16BE", " utf-16be unicodefffe " },
};

/* ---- which one ---- */

static const char *
find_encoding (const char *label, gsize size)
{
  g_autofree char *lower = g_ascii_strdown (label, (gssize) size);
  g_autofree char *wanted = g_strconcat (" ", lower, " ", NULL);

  if (size == 0 || strchr (lower, ' ') != NULL)
    return NULL;
  for (guint i = 0; i < G_N_ELEMENTS (encodings); i++)
    if (strstr (encodings[i].labels, wanted) != NULL)
      return encodings[i].name;
  return NULL;
}

static const char *
find_mark (const guint8 *body, gsize size, gsize *mark)
{
  static const struct
  {
    const char *bytes;
    gsize size;
    const char *name;
  } marks[] = { { "\xef\xbb\xbf", 3, "UTF-8" },
                { "\xff\xfe", 2, "UTF-16LE" },
                { "\xfe\xff", 2, "UTF-16BE" } };

  for (guint i = 0; i < G_N_ELEMENTS (marks); i++)
    if (size >= marks[i].size && memcmp (body, marks[i].bytes, marks[i].size) == 0)
      {
        *mark = marks[i].size;
        return marks[i].name;
      }
  *mark = 0;
  return NULL;
}

static const char *
find_nocase (const char *text, const char *end, const char *part)
{
  gsize n = strlen (part);

  for (; (gsize) (end - text) >= n; text++)
    if (g_ascii_strncasecmp (text, part, n) == 0)
      return text;
  return NULL;
}

static const char *
skip_blanks (const char *p, const char *end)
{
  while (p < end && g_ascii_isspace (*p))
    p++;
  return p;
}

/* What is behind "charset=", without quotes. */
static const char *
find_label (const char *text, const char *end, gsize *size)
{
  for (const char *p = text; (p = find_nocase (p, end, "charset")) != NULL;)
    {
      const char *label;

      p = skip_blanks (p + strlen ("charset"), end);
      if (p == end || *p != '=')
        continue;
      p = skip_blanks (p + 1, end);
      if (p < end && (*p == '"' || *p == '\''))
        p++;
      for (label = p; p < end && !g_ascii_isspace (*p) && strchr ("\"';,>/", *p) == NULL;)
        p++;
      *size = (gsize) (p - label);
      return *size > 0 ? label : NULL;
    }
  return NULL;
}

static const char *
find_in_meta (const char *html, gsize size, gsize *label_size)
{
  const char *end = html + MIN (size, PRESCAN_BYTES);

  for (const char *p = html; (p = find_nocase (p, end, "<meta")) != NULL;)
    {
      const char *close = memchr (p, '>', (gsize) (end - p));
      const char *label = close != NULL ? find_label (p, close, label_size) : NULL;

      if (label != NULL || close == NULL)
        return label;
      p = close;
    }
  return NULL;
}

const char *
warc_charset_find (const guint8 *body,
                   gsize size,
                   const char *content_type,
                   gsize content_type_size,
                   gsize *mark,
                   char **unknown)
{
  const char *end = content_type != NULL ? content_type + content_type_size : NULL;
  const char *name = find_mark (body, size, mark);
  const char *label = NULL;
  gboolean in_meta = FALSE;
  gsize n = 0;

  if (name != NULL || content_type == NULL)
    return name;
  label = find_label (content_type, end, &n);
  if (label == NULL && find_nocase (content_type, end, "html") != NULL)
    {
      label = find_in_meta ((const char *) body, size, &n);
      in_meta = TRUE;
    }
  if (label == NULL)
    return NULL;

  name = find_encoding (label, n);
  if (name == NULL)
    *unknown = g_utf8_make_valid (label, (gssize) MIN (n, MAX_LABEL));
  /* Whoever could read that in ASCII does not read UTF-16. */
  else if (in_meta && g_str_has_prefix (name, "UTF-16"))
    name = "UTF-8";
  return name;
}

/* ---- conversion ---- */

/* The byte at *in does not fit. */
static void
replace (GString *to, char **in, gsize *left, guint64 *replaced)
{
  g_string_append (to, "\xef\xbf\xbd");
  ++*in;
  --*left;
  ++*replaced;
}

gboolean
warc_charset_convert (GString *to,
                      const char *encoding,
                      const guint8 *data,
                      gsize size,
                      guint64 *replaced,
                      gsize *fault)
{
  GIConv converter = g_iconv_open ("UTF-8", encoding);
  char *in = (char *) data;
  gsize left = size;
  gboolean done = converter != (GIConv) -1;

  *fault = 0;
  /* Once more at the end, for what the converter keeps until it has seen what follows. */
  for (gboolean at_end = FALSE; done && !at_end;)
    {
      char piece[PIECE_BYTES];
      char *out = piece;
      gsize room = sizeof piece;
      gsize result;

      at_end = left == 0;
      result = g_iconv (converter, at_end ? NULL : &in, &left, &out, &room);
      gboolean fits = result != (gsize) -1 || errno == E2BIG;

      g_string_append_len (to, piece, out - piece);
      if (!fits && replaced != NULL && left > 0)
        replace (to, &in, &left, replaced);
      else
        done = fits;
    }
  if (!done)
    *fault = size - left;
  if (converter != (GIConv) -1)
    g_iconv_close (converter);
  return done;
}
