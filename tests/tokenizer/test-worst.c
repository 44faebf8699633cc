/* SPDX-License-Identifier: MIT */
#include "dlp-context.h"
#include "load.h"
#include "test-step.h"
#include "worst.h"

#include <pthread.h>

/* Texts that are hard to encode: runs of one character, texts without any place to cut them, and
 * patterns. cases/make-worst.py makes the models, and the hashes of the ids of the first 64 KiB.
 *
 * That time does not grow faster than the text is seen by the steps that were taken, and that the
 * stack does not grow by the size of that of the threads that encode. */
#define STORED (1u << 16)
#define LARGE (1u << 20)
/* A sanitizer, or no optimization, gives each array of a function a place of its own. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__OPTIMIZE__)
#define STACK (1u << 19)
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) ||                         \
    __has_feature(memory_sanitizer)
#define STACK (1u << 19)
#endif
#endif
#ifndef STACK
#define STACK (1u << 16)
#endif
#define HASH_LEN 32
#define MAX_STEPS_PER_BYTE 4

typedef struct
{
  DlpTokenizer *tokenizer;
  DlpJsonNode parts; /* of the text */
  gsize size;
  guint64 steps;
  char *hash;
} Job;

static DlpJsonTree *tree;

static gpointer
run (gpointer data)
{
  Job *job = data;
  GString *text = make_worst_text (job->parts, job->size);
  DlpTokenizerContext *context = dlp_tokenizer_context_new (job->tokenizer, 1);
  guint32 *ids = g_new (guint32, text->len);
  gssize n = dlp_tokenizer_encode (job->tokenizer, context, text->str, text->len, ids, text->len);

  g_assert_cmpint (n, >=, 0);
  for (gssize i = 0; i < n; i++)
    ids[i] = GUINT32_TO_LE (ids[i]);
  job->hash = g_compute_checksum_for_data (G_CHECKSUM_SHA256, (guchar *) ids, n * sizeof *ids);
  job->steps = context->scratch.bpe.steps;
  g_free (ids);
  dlp_tokenizer_context_free (context);
  g_string_free (text, TRUE);
  return NULL;
}

static void
run_with_small_stack (Job *job)
{
  pthread_attr_t attr;
  pthread_t thread;

  g_clear_pointer (&job->hash, g_free);
  g_assert_cmpint (pthread_attr_init (&attr), ==, 0);
  g_assert_cmpint (pthread_attr_setstacksize (&attr, STACK), ==, 0);
  g_assert_cmpint (pthread_create (&thread, &attr, run, job), ==, 0);
  g_assert_cmpint (pthread_join (thread, NULL), ==, 0);
  pthread_attr_destroy (&attr);
}

static void
check_text (Job *job, const char *model, const char *name, const char *wanted)
{
  guint64 stored_steps;

  job->size = STORED;
  run_with_small_stack (job);
  if (strncmp (job->hash, wanted, HASH_LEN) != 0)
    g_error ("%s, text %s: the ids have the hash %.32s, not %s", model, name, job->hash, wanted);
  stored_steps = job->steps;

  job->size = LARGE / test_get_step ();
  run_with_small_stack (job);
  g_test_message ("%s, %s: %" G_GUINT64_FORMAT " steps for 64 KiB, %" G_GUINT64_FORMAT
                  " for %" G_GSIZE_FORMAT " bytes",
                  model, name, stored_steps, job->steps, job->size);
  g_assert_cmpuint (stored_steps, <=, MAX_STEPS_PER_BYTE * STORED);
  g_assert_cmpuint (job->steps, <=, MAX_STEPS_PER_BYTE * job->size);
}

static DlpTokenizer *
load (const char *name, DlpJsonNode content)
{
  g_autoptr (GError) error = NULL;
  DlpTokenizer *tokenizer;

  if (dlp_json_get_type (content) == DLP_JSON_STRING)
    {
      gsize len;
      const char *json = dlp_json_get_string (content, &len);

      tokenizer = load_as ("tokenizer.json", json, len, &error);
    }
  else
    {
      tokenizer = dlp_tokenizer_new (name, NULL, &error);
    }
  g_assert_no_error (error);
  return tokenizer;
}

static void
test_model (gconstpointer data)
{
  const DlpJsonNode *model = data;
  const char *name = dlp_json_get_string (dlp_json_get_member (*model, "name"), NULL);
  g_autoptr (DlpTokenizer) tokenizer = load (name, dlp_json_get_member (*model, "tokenizer"));
  DlpJsonNode texts = dlp_json_get_member (dlp_json_tree_get_root (tree), "texts");
  DlpJsonNode text = dlp_json_get_first (texts);
  DlpJsonNode ids = dlp_json_get_member (*model, "ids");
  DlpJsonNode wanted = dlp_json_get_first (ids);
  guint n = dlp_json_get_n_children (texts);

  g_assert_cmpuint (dlp_json_get_n_children (ids), ==, n);
  for (guint i = 0; i < n; i++)
    {
      Job job = { tokenizer, dlp_json_get_member (text, "parts") };

      check_text (&job, name, dlp_json_get_string (dlp_json_get_member (text, "name"), NULL),
                  dlp_json_get_string (wanted, NULL));
      g_free (job.hash);
      if (i + 1 < n)
        {
          text = dlp_json_get_next (text);
          wanted = dlp_json_get_next (wanted);
        }
    }
}

int
main (int argc, char **argv)
{
  g_autofree char *path = NULL;
  g_autofree char *content = NULL;
  g_autofree DlpJsonNode *models = NULL;
  g_autoptr (GError) error = NULL;
  DlpJsonNode list;
  gsize len;
  guint n;
  int status;

  g_test_init (&argc, &argv, NULL);
  path = g_test_build_filename (G_TEST_DIST, "cases", "worst.json", NULL);
  g_file_get_contents (path, &content, &len, &error);
  g_assert_no_error (error);
  tree = dlp_json_tree_new (content, len, path, &error);
  g_assert_no_error (error);

  list = dlp_json_get_member (dlp_json_tree_get_root (tree), "models");
  n = dlp_json_get_n_children (list);
  models = g_new (DlpJsonNode, n);
  for (guint i = 0; i < n; i++)
    {
      g_autofree char *test = NULL;

      models[i] = i == 0 ? dlp_json_get_first (list) : dlp_json_get_next (models[i - 1]);
      test =
          g_strconcat ("/tokenizer/worst/",
                       dlp_json_get_string (dlp_json_get_member (models[i], "name"), NULL), NULL);
      g_test_add_data_func (test, &models[i], test_model);
    }
  status = g_test_run ();
  dlp_json_tree_free (tree);
  return status;
}
