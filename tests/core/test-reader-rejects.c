/* SPDX-License-Identifier: MIT */

#include <string.h>

#include "dlp-reader-private.h"

#define N_ROUNDS 300

static const char *const kinds[] = { "syntax", "utf-8", "missing" };
static const char *const messages[] = { "", "expected a value", "expected a value, found 'x'" };

typedef struct
{
  DlpReaderReject rejects[200];
  guint n;
  guint8 chunk[4096];
  guint8 others[256];
} Model;

static void
make (Model *model, GRand *random)
{
  gsize at = 0;

  model->n = (guint) g_rand_int_range (random, 0, G_N_ELEMENTS (model->rejects) + 1);
  for (gsize i = 0; i < sizeof model->chunk; i++)
    model->chunk[i] = (guint8) g_rand_int (random);
  for (guint i = 0; i < model->n; i++)
    {
      const DlpReaderReject *before = i > 0 ? &model->rejects[i - 1] : NULL;
      DlpReaderReject *reject = &model->rejects[i];
      guint far = 1u << g_rand_int_range (random, 0, 28);

      reject->row = (before != NULL ? before->row + 1 : 0) + g_rand_int (random) % far;
      reject->line = (before != NULL ? before->line : 0) + 1 + g_rand_int (random) % far;
      reject->kind = kinds[g_rand_int (random) % G_N_ELEMENTS (kinds)];
      reject->message = messages[g_rand_int (random) % G_N_ELEMENTS (messages)];
      /* In either direction. */
      reject->offset = g_rand_int (random) % far;
      reject->size = g_rand_int (random) % 40;
      at = g_rand_boolean (random) ? at : 0;
      at = (at + g_rand_int (random) % 100) % (sizeof model->chunk - 40);
      reject->data = g_rand_int (random) % 8 == 0 ? model->others : model->chunk + at;
    }
}

static void
check (Model *model, bool may_refer)
{
  DlpReaderRejects rejects = { 0 };
  const guint8 *chunk = may_refer ? model->chunk : NULL;
  const DlpReaderReject *found;

  for (guint i = 0; i < model->n; i++)
    dlp_reader_rejects_add (&rejects, &model->rejects[i], chunk, sizeof model->chunk);
  dlp_reader_rejects_finish (&rejects);
  g_assert_cmpuint (rejects.capacity, ==, rejects.size);
  g_assert_true (may_refer || !rejects.refers);

  for (guint i = 0; i < model->n; i++)
    {
      const DlpReaderReject *wanted = &model->rejects[i];

      found = dlp_reader_rejects_peek (&rejects, chunk);
      g_assert_true (found != NULL && found == dlp_reader_rejects_peek (&rejects, chunk));
      g_assert_cmpuint (found->row, ==, wanted->row);
      g_assert_cmpuint (found->line, ==, wanted->line);
      g_assert_true (found->kind == wanted->kind);
      g_assert_cmpstr (found->message, ==, wanted->message);
      g_assert_cmpuint (found->offset, ==, wanted->offset);
      g_assert_cmpmem (found->data, found->size, wanted->data, wanted->size);
      dlp_reader_rejects_pass (&rejects);
    }
  g_assert_null (dlp_reader_rejects_peek (&rejects, chunk));
  dlp_reader_rejects_clear (&rejects);
}

static void
test_round_trip (void)
{
  g_autoptr (GRand) random = g_rand_new_with_seed (11);
  g_autofree Model *model = g_new0 (Model, 1);

  for (guint i = 0; i < N_ROUNDS; i++)
    {
      make (model, random);
      check (model, i % 2 == 0);
    }
}

/* Half a million in a chunk take a few of its own size. */
static void
test_size (void)
{
  const gsize size = 1024 * 1024;
  g_autofree guint8 *chunk = g_malloc (size);
  DlpReaderRejects rejects = { 0 };

  memset (chunk, 'x', size);
  for (gsize at = 0; at < size; at += 2)
    {
      const DlpReaderReject reject = {
        at / 2, at / 2 + 1, kinds[0], messages[2], at, chunk + at, 1
      };

      dlp_reader_rejects_add (&rejects, &reject, chunk, size);
    }
  dlp_reader_rejects_finish (&rejects);
  g_assert_true (rejects.refers);
  g_assert_cmpuint (rejects.capacity, <, 4 * size);
  dlp_reader_rejects_clear (&rejects);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/reader-rejects/round-trip", test_round_trip);
  g_test_add_func ("/reader-rejects/size", test_size);
  return g_test_run ();
}
