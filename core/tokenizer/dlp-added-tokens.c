/* SPDX-License-Identifier: MIT */
#include "dlp-added-tokens.h"
#include "dlp-unicode.h"

#include <stdlib.h>
#include <string.h>

static int
compare_ids (const void *a, const void *b)
{
  guint32 x = ((const DlpAddedToken *) a)->id, y = ((const DlpAddedToken *) b)->id;

  return (x > y) - (x < y);
}

static void
make_set (DlpAddedTokens *self, gboolean normalized, DlpNormalizeFunc normalize, gpointer data)
{
  g_autofree DlpTokenString *strings = g_new (DlpTokenString, self->n);
  g_autoptr (GPtrArray) contents = g_ptr_array_new_with_free_func (g_free);
  guint n = 0;

  for (guint i = 0; i < self->n; i++)
    {
      const DlpAddedToken *token = &self->items[i];
      DlpTokenString string = { token->content, token->len, i };

      if (token->normalized != normalized)
        continue;
      if (normalized && normalize)
        {
          string.bytes = normalize (data, token->content, token->len, &string.len);
          g_ptr_array_add (contents, (char *) string.bytes);
        }
      if (string.len == 0)
        continue;
      strings[n++] = string;
      self->has_plain[normalized] |= !token->special;
    }
  dlp_token_set_init (&self->sets[normalized], strings, n);
}

static void
make_set_of_specials (DlpAddedTokens *self)
{
  g_autofree DlpTokenString *strings = g_new (DlpTokenString, self->n);
  guint n = 0;

  for (guint i = 0; i < self->n; i++)
    if (self->items[i].special)
      strings[n++] = (DlpTokenString){ self->items[i].content, self->items[i].len, i };
  dlp_token_set_init (&self->specials, strings, n);
}

/* Copies @items. @normalize (nullable) is what is done to a text. */
void
dlp_added_tokens_init (DlpAddedTokens *self,
                       const DlpAddedToken *items,
                       guint n,
                       DlpNormalizeFunc normalize,
                       gpointer data)
{
  memset (self, 0, sizeof *self);
  self->items = g_memdup2 (items, n * sizeof *items);
  self->n = n;
  for (guint i = 0; i < n; i++)
    {
      self->items[i].content = g_malloc (items[i].len + 1);
      memcpy (self->items[i].content, items[i].content, items[i].len);
      self->items[i].content[items[i].len] = '\0';
    }
  if (n > 0)
    qsort (self->items, n, sizeof *self->items, compare_ids);

  make_set (self, FALSE, normalize, data);
  make_set (self, TRUE, normalize, data);
  make_set_of_specials (self);
}

void
dlp_added_tokens_clear (DlpAddedTokens *self)
{
  for (guint i = 0; i < self->n; i++)
    g_free (self->items[i].content);
  g_clear_pointer (&self->items, g_free);
  dlp_token_set_clear (&self->sets[FALSE]);
  dlp_token_set_clear (&self->sets[TRUE]);
  dlp_token_set_clear (&self->specials);
  self->n = 0;
}

static void
hash_uint32 (GChecksum *checksum, guint32 value)
{
  guint32 bytes = GUINT32_TO_LE (value);

  g_checksum_update (checksum, (const guchar *) &bytes, sizeof bytes);
}

/* Adds all that decides what comes out. */
void
dlp_added_tokens_hash (const DlpAddedTokens *self, GChecksum *checksum)
{
  hash_uint32 (checksum, self->n);
  for (guint i = 0; i < self->n; i++)
    {
      const DlpAddedToken *token = &self->items[i];

      hash_uint32 (checksum, token->id);
      hash_uint32 (checksum, token->special | token->single_word << 1 | token->lstrip << 2 |
                                 token->rstrip << 3 | token->normalized << 4);
      hash_uint32 (checksum, token->len);
      g_checksum_update (checksum, (const guchar *) token->content, token->len);
    }
}

const DlpAddedToken *
dlp_added_tokens_lookup (const DlpAddedTokens *self, const char *content, gsize len)
{
  for (guint i = 0; i < self->n; i++)
    if (self->items[i].len == len && memcmp (self->items[i].content, content, len) == 0)
      return &self->items[i];
  return NULL;
}

const DlpAddedToken *
dlp_added_tokens_lookup_id (const DlpAddedTokens *self, guint32 id)
{
  DlpAddedToken key = { .id = id };

  return self->n > 0 ? bsearch (&key, self->items, self->n, sizeof key, compare_ids) : NULL;
}

/* ---- finding them ---- */

/* The start of the character that ends before @p. */
static const guint8 *
step_back (const guint8 *text, const guint8 *p)
{
  const guint8 *start = p - 1;

  while (start > text && p - start < 4 && (*start & 0xc0) == 0x80)
    start--;
  return start;
}

/* What \w means to Rust's regex: letters, marks, decimal and letter numbers, connectors, what
 * joins, and the circled letters (Other_Alphabetic). */
static gboolean
is_word (gunichar c)
{
  guint category = dlp_unicode_category (c);

  return (category >= DLP_CATEGORY_LU && category <= DLP_CATEGORY_NL) ||
         category == DLP_CATEGORY_PC || c == 0x200c || c == 0x200d ||
         (c >= 0x24b6 && c <= 0x24e9) || (c >= 0x1f130 && c <= 0x1f149) ||
         (c >= 0x1f150 && c <= 0x1f169) || (c >= 0x1f170 && c <= 0x1f189);
}

static gboolean
is_word_at (const guint8 *p, const guint8 *end)
{
  guint len;

  dlp_unicode_next (p, end, &len);
  if (len == 1 && *p >= 0x80)
    return FALSE;
  return is_word (g_utf8_get_char ((const char *) p));
}

static gboolean
is_space_at (const guint8 *p, const guint8 *end, guint *len)
{
  return dlp_unicode_next (p, end, len) == DLP_CLASS_SPACE;
}

static gboolean
is_in_word (const DlpSegmenter *self, gsize start, gsize end)
{
  const guint8 *text = (const guint8 *) self->text, *stop = text + self->len;

  return (start > 0 && is_word_at (step_back (text, text + start), stop)) ||
         (end < self->len && is_word_at (text + end, stop));
}

/* Takes the white space beside the token with it; what an earlier one has taken is not given back.
 */
static void
strip (const DlpSegmenter *self, DlpSegment *found)
{
  const guint8 *text = (const guint8 *) self->text, *stop = text + self->len;
  guint len;

  while (found->token->lstrip && found->start > self->at)
    {
      const guint8 *before = step_back (text, text + found->start);

      if (!is_space_at (before, stop, &len))
        break;
      found->start = MAX ((gsize) (before - text), self->at);
    }
  while (found->token->rstrip && found->end < self->len &&
         is_space_at (text + found->end, stop, &len))
    found->end += len;
}

void
dlp_segmenter_init (DlpSegmenter *self,
                    const DlpAddedTokens *tokens,
                    gboolean normalized,
                    gboolean allow_special,
                    const char *text,
                    gsize len)
{
  *self = (DlpSegmenter){ .tokens = tokens,
                          .set = &tokens->sets[normalized],
                          .allow_special = allow_special,
                          .text = text,
                          .len = len };
}

/* A match that is not wanted uses up its stretch of text all the same: what is inside is not looked
 * at again, as in the programs that these files were made for. */
static gboolean
find_next (DlpSegmenter *self)
{
  const char *end = self->text + self->len, *p;
  guint32 index;
  gsize len;

  while ((p = dlp_token_set_find (self->set, self->text + self->searched, end, &len, &index)))
    {
      const DlpAddedToken *token = &self->tokens->items[index];
      gsize start = p - self->text;

      self->searched = start + len;
      if (token->special && !self->allow_special)
        continue;
      if (token->single_word && is_in_word (self, start, start + len))
        continue;
      self->found = (DlpSegment){ start, start + len, token };
      strip (self, &self->found);
      return TRUE;
    }
  self->searched = self->len;
  return FALSE;
}

/* Segments of text are not empty. Where a token has taken white space that another one begins with,
 * both are handed out. */
gboolean
dlp_segmenter_next (DlpSegmenter *self, DlpSegment *segment)
{
  if (self->found.token == NULL && !find_next (self))
    {
      *segment = (DlpSegment){ self->at, self->len, NULL };
      self->at = self->len;
      return segment->start < segment->end;
    }
  if (self->found.start > self->at)
    {
      *segment = (DlpSegment){ self->at, self->found.start, NULL };
      self->at = self->found.start;
      return TRUE;
    }
  *segment = self->found;
  self->at = self->found.end;
  self->found.token = NULL;
  return TRUE;
}
