/* SPDX-License-Identifier: MIT */

/* Tokenizing in a pipeline with one worker, and with the same tokenizer in a loop over the same
 * texts, which lie in record batches in memory. The loop keeps the ids of all texts, one behind
 * another, as the pipeline does; or it writes those of each text over those of the one before,
 * which then never leave the processor's caches. */

#include <stdio.h>

#include <dlpipe/dlp-tokenizer.h>

#include "bench-sink.h"
#include "bench-source.h"
#include "bench.h"

/* Less than what the pipeline may have in memory. */
#define MAX_TEXT_BYTES (16 * 1024 * 1024)
/* So that what is done once, such as filling the cache, is a small part of it. */
#define ROUNDS 16

typedef struct
{
  GPtrArray *batches;
  guint64 bytes;
  gsize longest;
  gboolean keeps;
} Texts;

static void
tokenize_ours (gpointer data)
{
  Texts *texts = data;

  dlp_bench_source_set_batches (texts->batches, ROUNDS, G_MAXUINT);
  bench_run_graph ("bench-source ! tokenizer model=gpt2 eod=none ! null-sink digest=false");
}

static void
tokenize_loop (gpointer data)
{
  Texts *texts = data;
  g_autoptr (GError) error = NULL;
  g_autoptr (DlpTokenizer) tokenizer = dlp_tokenizer_new ("gpt2", NULL, &error);
  g_autoptr (DlpTokenizerContext) context = dlp_tokenizer_context_new (tokenizer, 0);
  /* There are no more ids than bytes. */
  g_autofree guint16 *ids = g_new (guint16, (texts->keeps ? texts->bytes : 0) + texts->longest);
  gssize filled = 0;

  g_assert_no_error (error);
  for (guint i = 0; i < ROUNDS * texts->batches->len; i++)
    {
      DlpRecordBatch *batch = g_ptr_array_index (texts->batches, i % texts->batches->len);

      if (i % texts->batches->len == 0)
        filled = 0;
      for (guint row = 0; row < dlp_record_batch_get_length (batch); row++)
        {
          gsize size;
          const guint8 *text = dlp_record_batch_get_value (batch, 0, row, &size);

          gssize n = dlp_tokenizer_encode16 (tokenizer, context, (const char *) text, size,
                                             ids + filled, texts->longest);

          if (texts->keeps)
            filled += n;
        }
    }
}

static void
measure_texts (Texts *texts)
{
  for (guint i = 0; i < texts->batches->len; i++)
    {
      DlpRecordBatch *batch = g_ptr_array_index (texts->batches, i);

      for (guint row = 0; row < dlp_record_batch_get_length (batch); row++)
        {
          gsize size;

          dlp_record_batch_get_value (batch, 0, row, &size);
          texts->bytes += size;
          texts->longest = MAX (texts->longest, size);
        }
    }
}

int
main (void)
{
  g_autofree char *path = bench_make_file ();
  Texts texts = { .batches = bench_read_batches (path, MAX_TEXT_BYTES) };
  Bench bench = { .name = "tokenize, ids kept",
                  .ours = tokenize_ours,
                  .reference = tokenize_loop,
                  .data = &texts,
                  .unit = "MB",
                  .bar = 1.05 };
  gboolean passed;

  measure_texts (&texts);
  bench.amount = (double) texts.bytes * ROUNDS * 1e-6;
  texts.keeps = TRUE;
  passed = bench_run (&bench);
  bench.name = "tokenize, ids written over";
  bench.bar = 1.2;
  texts.keeps = FALSE;
  passed = bench_run (&bench) && passed;
  g_ptr_array_unref (texts.batches);
  bench_remove_file (path);
  return passed ? 0 : 1;
}
