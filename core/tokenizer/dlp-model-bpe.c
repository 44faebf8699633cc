/* SPDX-License-Identifier: MIT */
#include "dlp-bpe-table.h"
#include "dlp-model-bpe.h"

#define BIT(bits, i) ((bits)[(i) / 64] >> ((i) % 64) & 1)

/* The symbols of a piece, as they are found. */
typedef struct
{
  guint32 *ids;
  gsize n;
  guint32 pending; /* for what is unknown; more of it may become one with it */
} Symbols;

static inline gsize
char_len (guint8 lead)
{
  return lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
}

static inline gunichar
decode (const guint8 *p, gsize len)
{
  switch (len)
    {
    case 1:
      return p[0];
    case 2:
      return (p[0] & 0x1f) << 6 | (p[1] & 0x3f);
    case 3:
      return (p[0] & 0x0f) << 12 | (p[1] & 0x3f) << 6 | (p[2] & 0x3f);
    default:
      return (p[0] & 0x07) << 18 | (p[1] & 0x3f) << 12 | (p[2] & 0x3f) << 6 | (p[3] & 0x3f);
    }
}

static inline gsize
symbol_len (const DlpBpeModel *self, const guint8 *p, gsize len)
{
  return self->char_ids ? MIN (char_len (*p), len) : 1;
}

static inline guint32
lookup_char (const DlpBpeModel *self, const guint8 *p, gsize len)
{
  if (len == 1)
    return self->parent.vocabulary->byte_ids[*p];
  if (len < 4)
    return self->char_ids[decode (p, len)];
  return dlp_vocabulary_lookup (self->parent.vocabulary, p, len);
}

static guint32
lookup_affixed (const DlpBpeModel *self,
                const guint8 *p,
                gsize len,
                gboolean is_first,
                gboolean is_last)
{
  guint8 room[2 * DLP_BPE_AFFIX_MAX + 4];
  gsize n = 0;

  if (!is_first && self->prefix_len > 0)
    {
      memcpy (room, self->prefix, self->prefix_len);
      n = self->prefix_len;
    }
  memcpy (room + n, p, len);
  n += len;
  if (is_last && self->suffix_len > 0)
    {
      memcpy (room + n, self->suffix, self->suffix_len);
      n += self->suffix_len;
    }
  return dlp_vocabulary_lookup (self->parent.vocabulary, room, n);
}

static inline void
add_pending (Symbols *symbols)
{
  if (symbols->pending != DLP_ID_NONE)
    symbols->ids[symbols->n++] = symbols->pending;
  symbols->pending = DLP_ID_NONE;
}

static inline void
add_known (Symbols *symbols, guint32 id)
{
  add_pending (symbols);
  symbols->ids[symbols->n++] = id;
}

/* The bytes of a character go before what is unknown and still pending: so it is done where the
 * files come from. */
static void
add_unknown (const DlpBpeModel *self, Symbols *symbols, const guint8 *p, gsize len)
{
  gsize known = 0;

  while (self->byte_fallback && known < len && self->byte_tokens[p[known]] != DLP_ID_NONE)
    known++;
  if (known == len)
    {
      for (gsize i = 0; i < len; i++)
        symbols->ids[symbols->n++] = self->byte_tokens[p[i]];
      return;
    }
  if (symbols->pending != DLP_ID_NONE && !self->fuse_unknown)
    symbols->ids[symbols->n++] = symbols->pending;
  symbols->pending = self->parent.unknown_id;
}

/* The longest user-defined entry that begins at @p; returns its length, or 0. */
static gsize
find_user_defined (const DlpBpeModel *self, const guint8 *p, gsize len, guint32 *id)
{
  guint64 node = dlp_trie_root (self->user_defined);
  gsize found = 0;

  for (gsize i = 0; i < len && dlp_trie_step (self->user_defined, &node, p[i]); i++)
    if (dlp_trie_value (node) != DLP_TRIE_NONE)
      {
        *id = dlp_trie_value (node);
        found = i + 1;
      }
  return found;
}

gsize
dlp_bpe_model_split (const DlpBpeModel *self, const guint8 *p, gsize len, guint32 *ids)
{
  gboolean has_affix = self->prefix_len + self->suffix_len > 0;
  Symbols symbols = { ids, 0, DLP_ID_NONE };

  for (gsize i = 0, next; i < len; i = next)
    {
      gsize n = symbol_len (self, p + i, len - i);
      gsize found = 0;
      guint32 id;

      if (self->user_defined)
        found = find_user_defined (self, p + i, len - i, &id);
      if (found > 0)
        {
          add_known (&symbols, id);
          next = i + found;
          continue;
        }
      next = i + n;
      id = has_affix ? lookup_affixed (self, p + i, n, i == 0, next == len) :
                       lookup_char (self, p + i, n);
      if (id != DLP_ID_NONE)
        add_known (&symbols, id);
      else
        add_unknown (self, &symbols, p + i, n);
    }
  add_pending (&symbols);
  return symbols.n;
}

/* The id of a piece that is an entry, where its merges make it or are not asked. */
static inline guint32
lookup_whole (const DlpBpeModel *self, const guint8 *p, gsize len)
{
  const DlpVocabulary *vocabulary = self->parent.vocabulary;
  guint32 id;

  if (vocabulary->table)
    {
      id = dlp_trie_lookup (vocabulary->table->trie, p, len);
      if (id != DLP_TRIE_NONE)
        return id;
      if (!self->ignore_merges || vocabulary->table->is_complete)
        return DLP_ID_NONE;
    }
  else if (self->whole == NULL && !self->ignore_merges)
    return DLP_ID_NONE;

  id = dlp_vocabulary_lookup (vocabulary, p, len);
  if (id == DLP_ID_NONE || self->ignore_merges)
    return id;
  return id < self->parent.n_ids && BIT (self->whole, id) ? id : DLP_ID_NONE;
}

/* By the table, but for what is unknown or user-defined: that does not merge. */
static gsize
encode_between (const DlpBpeModel *self,
                DlpModelScratch *scratch,
                const guint8 *p,
                gsize len,
                guint32 *ids)
{
  const DlpVocabulary *vocabulary = self->parent.vocabulary;
  Symbols symbols = { ids, 0, DLP_ID_NONE };

  for (gsize i = 0, start = 0, size, found;; i += size)
    {
      gboolean is_end = i == len;
      guint32 id = DLP_ID_NONE;

      found = self->user_defined && !is_end ? find_user_defined (self, p + i, len - i, &id) : 0;
      size = found > 0 ? found : is_end ? 0 : symbol_len (self, p + i, len - i);
      if (found == 0 && !is_end && lookup_char (self, p + i, size) != DLP_ID_NONE)
        continue;

      if (i > start)
        {
          add_pending (&symbols);
          symbols.n += dlp_bpe_table_encode (vocabulary->table, vocabulary, &scratch->bpe,
                                             p + start, i - start, ids + symbols.n);
        }
      start = i + size;
      if (found > 0)
        add_known (&symbols, id);
      else if (!is_end)
        add_unknown (self, &symbols, p + i, size);
      else
        break;
    }
  add_pending (&symbols);
  return symbols.n;
}

gsize
dlp_bpe_model_encode (const DlpModel *model,
                      DlpModelScratch *scratch,
                      const guint8 *p,
                      gsize len,
                      guint32 *ids)
{
  const DlpBpeModel *self = (const DlpBpeModel *) model;
  guint32 id = lookup_whole (self, p, len);

  if (id != DLP_ID_NONE)
    {
      ids[0] = id;
      return 1;
    }
  if (self->char_ids == NULL && self->all_bytes)
    return dlp_bpe_encode (model->vocabulary, &scratch->bpe, p, len, ids);
  if (model->vocabulary->table && len > DLP_BPE_FEW_BYTES)
    return encode_between (self, scratch, p, len, ids);
  return dlp_bpe_merge (model->vocabulary, &scratch->bpe, ids,
                        dlp_bpe_model_split (self, p, len, ids));
}

gsize
dlp_bpe_model_find_cut (const DlpModel *model, const guint8 *p, gsize len, gsize from)
{
  const DlpBpeModel *self = (const DlpBpeModel *) model;
  gsize i = from, before = from - 1, n;
  gunichar left, right;

  while (i < len && (p[i] & 0xc0) == 0x80)
    i++;
  while (before > 0 && (p[before] & 0xc0) == 0x80)
    before--;
  left = decode (p + before, char_len (p[before]));

  for (; i < len; i += n, left = right)
    {
      for (; left < 0x80 && i < len && p[i] < 0x80; left = p[i++])
        if (!dlp_joints_has_ascii (&self->joints, left, p[i]))
          return i;
      if (i == len)
        break;
      n = MIN (char_len (p[i]), len - i);
      right = decode (p + i, n);
      if (!dlp_joints_has (&self->joints, left, right))
        return i;
    }
  return len;
}

static gsize
count_listed (const DlpBpeModel *self, const guint32 *ids, gsize n)
{
  gsize count = 0;

  for (gsize i = 0; i < n; i++)
    count += ids[i] < self->parent.n_ids || !self->byte_fallback ?
                 1 :
                 self->parent.vocabulary->lengths[ids[i]];
  return count;
}

/* Bytes are more than the symbol was: from the last one on, so that nothing is written over. */
static gsize
replace_by_bytes (const DlpBpeModel *self, guint32 *ids, gsize n)
{
  const DlpVocabulary *vocabulary = self->parent.vocabulary;
  gsize count = count_listed (self, ids, n), to = count;

  for (gsize i = n; i-- > 0;)
    {
      guint32 id = ids[i];

      if (id < self->parent.n_ids)
        ids[--to] = id;
      else
        for (gsize k = vocabulary->lengths[id]; k-- > 0;)
          ids[--to] = self->byte_tokens[vocabulary->bytes[vocabulary->starts[id] + k]];
    }
  return count;
}

gsize
dlp_bpe_model_replace_unlisted (const DlpBpeModel *self, guint32 *ids, gsize n)
{
  gsize count = 0;

  if (self->parent.n_ids == self->parent.vocabulary->n_ids)
    return n;
  if (self->byte_fallback)
    return replace_by_bytes (self, ids, n);
  for (gsize i = 0; i < n; i++)
    {
      guint32 id = ids[i] < self->parent.n_ids ? ids[i] : self->parent.unknown_id;

      if (id != self->parent.unknown_id || count == 0 || ids[count - 1] != id)
        ids[count++] = id;
    }
  return count;
}

void
dlp_bpe_model_free (DlpModel *model)
{
  DlpBpeModel *self = (DlpBpeModel *) model;

  g_free (self->prefix);
  g_free (self->suffix);
  g_free (self->char_ids);
  g_free (self->whole);
  g_clear_pointer (&self->user_defined, dlp_trie_free);
  dlp_joints_clear (&self->joints);
  g_free (self);
}
