/* SPDX-License-Identifier: MIT */
#include "dlp-normalizer-step.h"
#include "dlp-symbols.h"

#define SPACE_SYMBOL "\xe2\x96\x81"

/* What may happen at a character that begins with a byte. */
typedef enum
{
  QUIET,
  QUIET_BEFORE_ASCII,
  LOOK, /* of several bytes: is it among those that strings begin with? */
  SPACE,
  SPACE_BEFORE_ASCII,
  LOUD,
} Kind;

typedef struct
{
  guint8 kinds[256];
  const DlpCharsmap *charsmap; /* may be NULL */
  DlpSymbols *symbols;         /* may be NULL */
} Table;

static Kind
find_kind (const DlpCharsmap *charsmap, guint8 byte)
{
  guint8 pair[2] = { byte };

  if (charsmap == NULL ||
      (byte < 0x80 && !dlp_page_set_has (dlp_charsmap_get_first (charsmap), byte)))
    return byte == ' ' ? SPACE : QUIET;
  if (byte >= 0xc0)
    return LOOK;
  if (byte >= 0x80 || dlp_page_set_has (dlp_charsmap_get_single (charsmap), byte))
    return LOUD;
  for (pair[1] = 1; pair[1] < 0x80; pair[1]++)
    if (dlp_charsmap_has_prefix (charsmap, pair, 2))
      return LOUD;
  return byte == ' ' ? SPACE_BEFORE_ASCII : QUIET_BEFORE_ASCII;
}

gconstpointer
dlp_sentencepiece_table_new (const DlpCharsmap *charsmap, const char *const *symbols)
{
  Table *self = g_new0 (Table, 1);

  self->charsmap = charsmap;
  for (guint i = 0; i < 256; i++)
    self->kinds[i] = find_kind (charsmap, i);
  if (symbols && *symbols)
    {
      self->symbols = dlp_symbols_new (symbols);
      for (; *symbols; symbols++)
        self->kinds[(guint8) * *symbols] = LOUD;
    }
  return self;
}

void
dlp_sentencepiece_table_free (gpointer table)
{
  Table *self = table;

  g_clear_pointer (&self->symbols, dlp_symbols_free);
  g_free (self);
}

/* Behind what stays as it is and has no space in it. */
static const guint8 *
skip_quiet (const Table *self, const guint8 *p, const guint8 *end)
{
  const guint8 *next;
  gunichar c;

  for (; p < end; p = next)
    {
      Kind kind = self->kinds[*p];

      if (kind >= SPACE || (kind == QUIET_BEFORE_ASCII && p + 1 < end && p[1] >= 0x80))
        break;
      next = p + 1;
      if (kind != LOOK)
        continue;
      next = dlp_utf8_read (p, &c);
      if (dlp_page_set_has (dlp_charsmap_get_first (self->charsmap), c))
        break;
    }
  return p;
}

/* Whether all that is at @p is a space. */
static inline gboolean
is_space (const Table *self, const guint8 *p, const guint8 *end)
{
  Kind kind = self->kinds[*p];

  return kind == SPACE || (kind == SPACE_BEFORE_ASCII && (p + 1 == end || p[1] < 0x80));
}

/* What comes of the text at @p: *@part. Returns where it ends. A string of a charsmap may end
 * inside a character, whose other bytes then are not UTF-8. */
static const guint8 *
next_part (const Table *self,
           const guint8 *p,
           const guint8 *end,
           const guint8 **part,
           gsize *part_len)
{
  gsize found = self->symbols ? dlp_symbols_match (self->symbols, p, end - p) : 0;
  const char *string = NULL;
  gunichar c;

  if (found == 0 && self->charsmap)
    string = dlp_charsmap_find_longest (self->charsmap, p, end - p, &found);
  if (found == 0 && (*p & 0xc0) == 0x80)
    {
      string = "\xef\xbf\xbd";
      found = 1;
    }
  if (found == 0)
    found = dlp_utf8_read (p, &c) - p;
  *part = string ? (const guint8 *) string : p;
  *part_len = string ? strlen (string) : found;
  return p + found;
}

static void
append_escaped (DlpNormalizerText *out, const guint8 *part, gsize len, const char *space)
{
  gsize space_len = strlen (space);
  guint8 *to = dlp_text_reserve (out, len * space_len);

  for (gsize i = 0; i < len; i++)
    if (part[i] == ' ')
      {
        memcpy (to, space, space_len);
        to += space_len;
      }
    else
      *to++ = part[i];
  out->len = to - out->bytes;
}

static const guint8 *
skip_spaces (const Table *self, const guint8 *p, const guint8 *end)
{
  const guint8 *part, *next;
  gsize len;

  for (; p < end; p = next)
    {
      next = next_part (self, p, end, &part, &len);
      if (len != 1 || *part != ' ')
        break;
    }
  return p;
}

static void
append_parts (const Table *self,
              DlpNormalizerText *out,
              const guint8 *p,
              const guint8 *end,
              const char *space,
              gboolean trim)
{
  gsize space_len = strlen (space);
  gboolean is_behind_space = trim;
  const guint8 *part, *quiet;
  gsize len;

  while (p < end)
    {
      quiet = skip_quiet (self, p, end);
      if (quiet > p)
        {
          dlp_text_append (out, p, quiet - p);
          is_behind_space = FALSE;
          p = quiet;
          continue;
        }
      if (is_space (self, p, end))
        {
          if (!is_behind_space)
            dlp_text_append (out, space, space_len);
          is_behind_space = trim;
          p++;
          continue;
        }
      p = next_part (self, p, end, &part, &len);
      for (; is_behind_space && len > 0 && *part == ' '; len--)
        part++;
      if (len == 0)
        continue;
      append_escaped (out, part, len, space);
      is_behind_space = trim && part[len - 1] == ' ';
    }
}

gboolean
dlp_normalizer_run_sentencepiece (const DlpNormalizerStep *self,
                                  DlpNormalizerScratch *scratch,
                                  DlpNormalizerText *out,
                                  const guint8 **text,
                                  gsize *len)
{
  const Table *table = self->table;
  const char *space = self->flags & DLP_SENTENCEPIECE_ESCAPE_WHITESPACES ? SPACE_SYMBOL : " ";
  gboolean trim = (self->flags & DLP_SENTENCEPIECE_REMOVE_EXTRA_WHITESPACES) != 0;
  gboolean prefix = (self->flags & DLP_SENTENCEPIECE_ADD_DUMMY_PREFIX) != 0;
  gboolean suffix = (self->flags & DLP_SENTENCEPIECE_TREAT_WHITESPACE_AS_SUFFIX) != 0;
  gsize space_len = strlen (space);
  const guint8 *p = *text, *end = p + *len;

  if (trim)
    p = skip_spaces (table, p, end);
  if (p == end)
    {
      *len = 0;
      return TRUE;
    }
  dlp_text_reserve (out, end - p + (end - p) / 2 + 2 * space_len);
  if (prefix && !suffix)
    dlp_text_append (out, space, space_len);
  /* Symbols stay as they are anyway where nothing else changes. */
  if (table->charsmap == NULL && !trim)
    dlp_text_append_replaced (out, p, end, ' ', space, space_len);
  else
    append_parts (table, out, p, end, space, trim);
  while (trim && out->len >= space_len &&
         memcmp (out->bytes + out->len - space_len, space, space_len) == 0)
    out->len -= space_len;
  if (prefix && suffix)
    dlp_text_append (out, space, space_len);
  *text = out->bytes;
  *len = out->len;
  return TRUE;
}
