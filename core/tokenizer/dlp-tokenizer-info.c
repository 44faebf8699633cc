/* SPDX-License-Identifier: MIT */
#include "dlp-model-private.h"
#include "dlp-tokenizer-private.h"

#include <string.h>

/* What can be asked about a tokenizer and its ids. */

/* A Sequence is told by what is in it. */
static void
append_types (GString *out, DlpJsonNode node)
{
  static const char *const lists[] = { "normalizers", "pretokenizers", "processors", "decoders" };
  DlpJsonNode type = dlp_json_get_member (node, "type");

  for (guint i = 0; i < G_N_ELEMENTS (lists); i++)
    {
      DlpJsonNode list = dlp_json_get_member (node, lists[i]);
      DlpJsonNode at = dlp_json_get_first (list);

      if (dlp_json_get_type (list) != DLP_JSON_ARRAY)
        continue;
      for (guint n = dlp_json_get_n_children (list); n > 0; n--)
        {
          append_types (out, at);
          at = dlp_json_get_next (at);
        }
      return;
    }
  if (dlp_json_get_type (type) == DLP_JSON_STRING)
    g_string_append_printf (out, "%s%s", out->len > 0 ? ", " : "",
                            dlp_json_get_string (type, NULL));
}

char **
dlp_tokenizer_describe_json (DlpJsonNode root)
{
  static const char *const stages[] = { "normalizer", "pre_tokenizer", "model", "post_processor",
                                        "decoder" };
  g_autoptr (GPtrArray) lines = g_ptr_array_new ();

  for (guint i = 0; i < G_N_ELEMENTS (stages); i++)
    {
      g_autoptr (GString) types = g_string_new (NULL);

      append_types (types, dlp_json_get_member (root, stages[i]));
      if (types->len > 0)
        g_ptr_array_add (lines, g_strdup_printf ("%s: %s", stages[i], types->str));
    }
  g_ptr_array_add (lines, NULL);
  return (char **) g_ptr_array_steal (lines, NULL);
}

char **
dlp_tokenizer_describe_sentencepiece (const DlpSentencePiece *file)
{
  g_autoptr (GPtrArray) lines = g_ptr_array_new ();
  g_autoptr (GString) steps = g_string_new (NULL);

  if (file->normalizer.charsmap_size > 0)
    g_string_append (steps, ", precompiled_charsmap");
  if (file->normalizer.remove_extra_whitespaces)
    g_string_append (steps, ", remove_extra_whitespaces");
  if (file->normalizer.add_dummy_prefix)
    g_string_append (steps, ", add_dummy_prefix");
  if (file->normalizer.escape_whitespaces)
    g_string_append (steps, ", escape_whitespaces");
  if (steps->len > 0)
    g_ptr_array_add (lines, g_strdup_printf ("normalizer_spec: %s", steps->str + 2));
  g_ptr_array_add (lines, g_strdup_printf ("model_type: %s%s",
                                           file->kind == DLP_SENTENCEPIECE_BPE ? "BPE" : "UNIGRAM",
                                           file->byte_fallback ? ", byte_fallback" : ""));
  if (file->denormalizer.charsmap_size > 0)
    g_ptr_array_add (lines, g_strdup ("denormalizer_spec: precompiled_charsmap"));
  g_ptr_array_add (lines, NULL);
  return (char **) g_ptr_array_steal (lines, NULL);
}

DlpTokenizerKind
dlp_tokenizer_get_kind (DlpTokenizer *self)
{
  g_return_val_if_fail (DLP_IS_TOKENIZER (self), DLP_TOKENIZER_KIND_RANKS);

  return self->kind;
}

char **
dlp_tokenizer_list_steps (DlpTokenizer *self)
{
  static const char *const of_ranks[] = { "model: BPE", NULL };
  static const char *const of_bytes[] = { "model: bytes", NULL };

  g_return_val_if_fail (DLP_IS_TOKENIZER (self), NULL);

  if (self->steps)
    return g_strdupv (self->steps);
  return g_strdupv ((char **) (self->kind == DLP_TOKENIZER_KIND_BYTES ? of_bytes : of_ranks));
}

gboolean
dlp_tokenizer_get_unknown (DlpTokenizer *self, guint32 *id)
{
  g_return_val_if_fail (DLP_IS_TOKENIZER (self), FALSE);

  if (self->model->unknown_id == DLP_ID_NONE)
    return FALSE;
  if (id)
    *id = self->model->unknown_id;
  return TRUE;
}

/* Of an entry "<0x41>" it is known that it stands for a byte where there are all 256. */
static void
find_byte_tokens (DlpTokenizer *self)
{
  guint32 ids[256];

  if (self->kind == DLP_TOKENIZER_KIND_RANKS || self->kind == DLP_TOKENIZER_KIND_TEKKEN ||
      !dlp_model_find_byte_tokens (self->model, ids))
    return;
  for (guint i = 0; i < G_N_ELEMENTS (ids); i++)
    self->traits[ids[i]] |= DLP_TRAIT_SINGLE_BYTE;
}

/* What is counted in each document is counted by comparisons where that can be. */
static void
find_single_range (DlpTokenizer *self)
{
  guint32 begin = 0, end = 0;

  for (guint32 id = 0; id < self->vocab_size; id++)
    {
      if (self->traits[id] == 0)
        continue;
      if (self->traits[id] != DLP_TRAIT_SINGLE_BYTE || (end > 0 && id != end))
        return;
      begin = end > 0 ? begin : id;
      end = id + 1;
    }
  self->single_begin = begin;
  self->single_end = end;
}

void
dlp_tokenizer_find_traits (DlpTokenizer *self)
{
  self->traits = g_malloc0 (self->vocab_size);
  for (guint32 id = 0; id < self->model->n_ids; id++)
    {
      gsize len = 0;

      if (self->model->klass->get_token (self->model, id, &len) != NULL && len == 1)
        self->traits[id] = DLP_TRAIT_SINGLE_BYTE;
    }
  for (guint i = 0; i < self->added.n; i++)
    if (self->added.items[i].len > 1)
      self->traits[self->added.items[i].id] = 0;
  if (self->model->vocabulary)
    find_byte_tokens (self);
  if (self->model->unknown_id != DLP_ID_NONE)
    self->traits[self->model->unknown_id] |= DLP_TRAIT_UNKNOWN;
  find_single_range (self);
}

/* Ids of @begin up to @end, for 16 and 32 bits: as many at once as 16 bytes hold, with a sum for
 * each of the places, which is added up before it can be full. */
#define VECTOR_LEN 16
#define MAX_STEPS 0xffff
#define DEFINE_COUNT(suffix, type)                                                                 \
  typedef type Vector##suffix __attribute__ ((vector_size (VECTOR_LEN)));                          \
                                                                                                   \
  static guint64 count_range##suffix (const type *ids, gsize n, guint32 begin, guint32 end)        \
  {                                                                                                \
    const gsize lanes = VECTOR_LEN / sizeof (type);                                                \
    type first = (type) begin, size = (type) (end - begin);                                        \
    guint64 sum = 0;                                                                               \
                                                                                                   \
    while (n >= lanes)                                                                             \
      {                                                                                            \
        Vector##suffix found = { 0 };                                                              \
                                                                                                   \
        for (guint i = 0; i < MAX_STEPS && n >= lanes; i++, n -= lanes, ids += lanes)              \
          {                                                                                        \
            Vector##suffix some;                                                                   \
                                                                                                   \
            memcpy (&some, ids, sizeof some);                                                      \
            found -= (Vector##suffix) (some - first < size);                                       \
          }                                                                                        \
        for (gsize i = 0; i < lanes; i++)                                                          \
          sum += found[i];                                                                         \
      }                                                                                            \
    for (gsize i = 0; i < n; i++)                                                                  \
      sum += (type) (ids[i] - first) < size;                                                       \
    return sum;                                                                                    \
  }                                                                                                \
                                                                                                   \
  static void count##suffix (const DlpTokenizer *self, const type *ids, gsize n_ids, guint64 n[4]) \
  {                                                                                                \
    if (self->single_end > 0)                                                                      \
      n[DLP_TRAIT_SINGLE_BYTE] =                                                                   \
          count_range##suffix (ids, n_ids, self->single_begin, self->single_end);                  \
    else                                                                                           \
      for (gsize i = 0; i < n_ids; i++)                                                            \
        if (ids[i] < self->vocab_size)                                                             \
          n[self->traits[ids[i]]]++;                                                               \
  }

DEFINE_COUNT (16, guint16)
DEFINE_COUNT (32, guint32)

static void
set_counts (const guint64 n[4], guint64 *n_unknown, guint64 *n_single_bytes)
{
  guint64 both = n[DLP_TRAIT_UNKNOWN | DLP_TRAIT_SINGLE_BYTE];

  if (n_unknown)
    *n_unknown = n[DLP_TRAIT_UNKNOWN] + both;
  if (n_single_bytes)
    *n_single_bytes = n[DLP_TRAIT_SINGLE_BYTE] + both;
}

void
dlp_tokenizer_count_ids (DlpTokenizer *self,
                         const guint32 *ids,
                         gsize n_ids,
                         guint64 *n_unknown,
                         guint64 *n_single_bytes)
{
  guint64 n[4] = { 0 };

  g_return_if_fail (DLP_IS_TOKENIZER (self));

  count32 (self, ids, n_ids, n);
  set_counts (n, n_unknown, n_single_bytes);
}

void
dlp_tokenizer_count_ids16 (DlpTokenizer *self,
                           const guint16 *ids,
                           gsize n_ids,
                           guint64 *n_unknown,
                           guint64 *n_single_bytes)
{
  guint64 n[4] = { 0 };

  g_return_if_fail (DLP_IS_TOKENIZER (self));

  count16 (self, ids, n_ids, n);
  set_counts (n, n_unknown, n_single_bytes);
}
