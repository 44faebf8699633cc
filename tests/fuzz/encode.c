/* SPDX-License-Identifier: MIT */
#include "dlp-context.h"
#include "dlp-encode.h"

#include <string.h>

int LLVMFuzzerTestOneInput (const guint8 *data, gsize size);

/* A text by each of the loops, against the scanner piece by piece and without a cache that
 * remembers: the first byte says which pattern, the second how the text is made out of the rest.
 * What is not UTF-8 has only to be harmless. */
static const char *const patterns[] = { "gpt2",   "cl100k",  "o200k",    "qwen2", "qwen3.5",
                                        "tekken", "kimi-k2", "deepseek", "digits" };

typedef gsize (*EncodeFunc) (DlpTokenizerContext *self,
                             const guint8 *text,
                             gsize len,
                             gpointer ids,
                             gboolean wide);

static EncodeFunc
get_loop (guint i)
{
#ifdef __x86_64__
  if (i == 1 && dlp_cpu_has_avx2 ())
    return dlp_encode_avx2;
  if (i == 2 && dlp_cpu_has_avx512 ())
    return dlp_encode_avx512;
#endif
  return dlp_encode_base;
}

static DlpTokenizer *
get_tokenizer (guint i)
{
  static DlpTokenizer *tokenizers[G_N_ELEMENTS (patterns)];

  if (tokenizers[i] == NULL)
    tokenizers[i] = dlp_tokenizer_new ("gpt2", patterns[i], NULL);
  g_assert_nonnull (tokenizers[i]);
  return tokenizers[i];
}

static gsize
encode_plainly (DlpTokenizer *tokenizer, const guint8 *text, gsize len, guint32 *ids)
{
  g_autoptr (DlpTokenizerContext) context = dlp_tokenizer_context_new (tokenizer, 1);
  const guint8 *end = text + len;
  gsize n = 0;

  while (text < end)
    {
      const guint8 *stop = context->scan (text, end);

      n += tokenizer->model->klass->encode (tokenizer->model, &context->scratch, text, stop - text,
                                            ids + n);
      text = stop;
    }
  return n;
}

static void
check (DlpTokenizer *tokenizer, const guint8 *text, gsize len, gboolean is_valid)
{
  static DlpTokenizerContext *kept[G_N_ELEMENTS (patterns)]; /* by loop */
  g_autofree guint32 *wanted = g_new (guint32, len + 1), *got = g_new (guint32, len + 1);
  g_autofree guint16 *narrow = g_new (guint16, len + 1);
  gsize n = encode_plainly (tokenizer, text, len, wanted), count;

  for (guint i = 0; i < 3; i++)
    {
      if (kept[i] == NULL || kept[i]->tokenizer != tokenizer)
        {
          g_clear_pointer (&kept[i], dlp_tokenizer_context_free);
          kept[i] = dlp_tokenizer_context_new (tokenizer, 1 << 17);
        }
      count = get_loop (i) (kept[i], text, len, got, TRUE);
      if (is_valid)
        g_assert_cmpmem (got, count * sizeof *got, wanted, n * sizeof *wanted);
      count = get_loop (i) (kept[i], text, len, narrow, FALSE);
      g_assert_cmpuint (count, <=, len);
      for (gsize k = 0; is_valid && k < n; k++)
        g_assert_cmpuint (narrow[k], ==, wanted[k]);
    }
}

/* Each byte is one of a few strings, so that runs and borders come up often. */
static GString *
make_text (const guint8 *data, gsize size)
{
  static const char *const atoms[] = {
    " ",    "\n", "a",        "B",  "'",  "s",  "1",        "/",   ".",        "\r",
    "\t",   "中", "\xcc\x81", "é",  "É",  "७",  "\xc2\xa0", "ſ",   "ʰ",        "ǅ",
    "—",    "　", "😀",        "ll", "re", "ve", "T",        "the", "\xc2\x85", "\xe2\x80\x8b",
    "\x01", "  ",
  };
  GString *text = g_string_new (NULL);

  for (gsize i = 0; i < size; i++)
    for (guint n = 1 + (data[i] >> 5); n > 0; n--)
      g_string_append (text, atoms[data[i] % G_N_ELEMENTS (atoms)]);
  return text;
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  DlpTokenizer *tokenizer;
  g_autoptr (GString) made = NULL;
  g_autofree guint8 *exact = NULL;

  if (size < 3 || size > 4096)
    return 0;
  tokenizer = get_tokenizer (data[0] % G_N_ELEMENTS (patterns));
  if (data[1] & 1)
    made = make_text (data + 2, size - 2);
  else
    made = g_string_new_len ((const char *) data + 2, size - 2);

  /* So that AddressSanitizer sees what is read behind the end. */
  exact = g_memdup2 (made->str, made->len);
  check (tokenizer, exact, made->len, g_utf8_validate_len ((char *) exact, made->len, NULL));
  return 0;
}
