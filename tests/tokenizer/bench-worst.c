/* SPDX-License-Identifier: MIT */
#include "dlpipe/dlp-tokenizer.h"
#include "worst.h"

#include <gio/gio.h>
#include <stdlib.h>
#include <time.h>

/* usage: bench-worst [MODEL...]
 *
 * A megabyte of each of the texts of cases/worst.json, as one document, beside ordinary text with
 * the same model: English prose in documents, the first time that a context sees it (a text that is
 * hard is none that was seen before either), and once the context has seen it all. Prints MB/s of
 * CPU time of each, and fails where a byte takes more than 10 times as long as one of ordinary text
 * that is seen for the first time. Without MODEL: those that are built in, and those in the folders
 * in $DLPIPE_WORST_MODELS. The prose is that of en.jsonl in $DLPIPE_PEERS_CORPUS or
 * $DLPIPE_WORST_CORPUS, else a book of tests/data. */
#define BAR 10.0
#define SIZE (1u << 20)
#define PASSES 3

typedef struct
{
  double first; /* seconds a byte */
  double later;
} Cost;

static GPtrArray *documents; /* GString */
static DlpJsonTree *tree;
static guint n_slow;

static double
cpu_seconds (void)
{
  struct timespec now;

  clock_gettime (CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec + now.tv_nsec * 1e-9;
}

static void
free_string (gpointer data)
{
  g_string_free (data, TRUE);
}

/* ---- texts ---- */

static GBytes *
read_book (void)
{
  g_autofree char *path =
      g_build_filename (g_getenv ("DLPIPE_TEST_DATA"), "sample", "en-alice.jsonl.gz", NULL);
  g_autoptr (GFile) file = g_file_new_for_path (path);
  g_autoptr (GZlibDecompressor) gzip = g_zlib_decompressor_new (G_ZLIB_COMPRESSOR_FORMAT_GZIP);
  g_autoptr (GError) error = NULL;
  g_autoptr (GFileInputStream) in = g_file_read (file, NULL, &error);
  g_autoptr (GInputStream) text = NULL;
  g_autoptr (GOutputStream) out = g_memory_output_stream_new_resizable ();

  g_assert_no_error (error);
  text = g_converter_input_stream_new (G_INPUT_STREAM (in), G_CONVERTER (gzip));
  g_output_stream_splice (out, text, G_OUTPUT_STREAM_SPLICE_CLOSE_TARGET, NULL, &error);
  g_assert_no_error (error);
  return g_memory_output_stream_steal_as_bytes (G_MEMORY_OUTPUT_STREAM (out));
}

static GBytes *
read_prose (void)
{
  const char *const folders[] = { g_getenv ("DLPIPE_PEERS_CORPUS"),
                                  g_getenv ("DLPIPE_WORST_CORPUS") };

  for (guint i = 0; i < G_N_ELEMENTS (folders); i++)
    {
      g_autofree char *path = folders[i] ? g_build_filename (folders[i], "en.jsonl", NULL) : NULL;
      char *content;
      gsize len;

      if (path && g_file_get_contents (path, &content, &len, NULL))
        {
          g_print ("ordinary text: %s\n", path);
          return g_bytes_new_take (content, len);
        }
    }
  g_print ("ordinary text: a book of tests/data, for want of en.jsonl\n");
  return read_book ();
}

static void
read_documents (void)
{
  g_autoptr (GBytes) bytes = read_prose ();
  gsize size;
  const char *p = g_bytes_get_data (bytes, &size), *end = p + size, *stop;

  documents = g_ptr_array_new_with_free_func (free_string);
  for (; p < end; p = stop + 1)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (DlpJsonTree) line = NULL;
      const char *text;
      gsize len;

      stop = memchr (p, '\n', end - p);
      stop = stop ? stop : end;
      line = dlp_json_tree_new (p, stop - p, "document", &error);
      g_assert_no_error (error);
      text =
          dlp_json_get_string (dlp_json_get_member (dlp_json_tree_get_root (line), "text"), &len);
      g_ptr_array_add (documents, g_string_new_len (text, len));
    }
}

/* ---- measuring ---- */

static Cost
measure (DlpTokenizer *tokenizer, GPtrArray *texts)
{
  g_autoptr (DlpTokenizerContext) context = dlp_tokenizer_context_new (tokenizer, 0);
  g_autofree guint32 *ids = NULL;
  gsize longest = 0, total = 0;
  Cost cost = { 0, G_MAXDOUBLE };

  for (guint i = 0; i < texts->len; i++)
    {
      const GString *text = g_ptr_array_index (texts, i);

      longest = MAX (longest, text->len);
      total += text->len;
    }
  ids = g_new (guint32, longest + 16);
  memset (ids, 1, (longest + 16) * sizeof *ids);
  for (guint pass = 0; pass < PASSES; pass++)
    {
      double start = cpu_seconds ();

      for (guint i = 0; i < texts->len; i++)
        {
          const GString *text = g_ptr_array_index (texts, i);

          g_assert_cmpint (
              dlp_tokenizer_encode (tokenizer, context, text->str, text->len, ids, longest + 16),
              >=, 0);
        }
      start = (cpu_seconds () - start) / total;
      if (pass == 0)
        cost.first = start;
      else
        cost.later = MIN (cost.later, start);
    }
  return cost;
}

/* Another chance before it is called slow: this may be a machine that has other things to do. */
static double
measure_text (DlpTokenizer *tokenizer, GString *text, double allowed)
{
  g_autoptr (GPtrArray) texts = g_ptr_array_new ();
  double best = G_MAXDOUBLE;

  g_ptr_array_add (texts, text);
  for (guint i = 0; i < 3 && best > allowed; i++)
    best = MIN (best, measure (tokenizer, texts).first);
  return best;
}

static void
measure_model (const char *name, DlpTokenizer *tokenizer)
{
  Cost ordinary = measure (tokenizer, documents);
  DlpJsonNode texts = dlp_json_get_member (dlp_json_tree_get_root (tree), "texts");
  DlpJsonNode at = dlp_json_get_first (texts);

  g_print ("\n%s: ordinary text %.1f MB/s, %.1f once seen\n", name, 1e-6 / ordinary.first,
           1e-6 / ordinary.later);
  for (guint n = dlp_json_get_n_children (texts); n > 0; n--)
    {
      GString *text = make_worst_text (dlp_json_get_member (at, "parts"), SIZE);
      double cost = measure_text (tokenizer, text, BAR * ordinary.first);
      gboolean is_slow = cost > BAR * ordinary.first;

      g_print ("  %-12s %7.1f MB/s, %5.2f times as long a byte, %5.2f of text once seen%s\n",
               dlp_json_get_string (dlp_json_get_member (at, "name"), NULL), 1e-6 / cost,
               cost / ordinary.first, cost / ordinary.later, is_slow ? " FAIL" : "");
      n_slow += is_slow;
      g_string_free (text, TRUE);
      if (n > 1)
        at = dlp_json_get_next (at);
    }
}

static void
run (const char *name, const char *model)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (DlpTokenizer) tokenizer = dlp_tokenizer_new (model, NULL, &error);

  if (tokenizer)
    measure_model (name, tokenizer);
  else
    g_print ("\n%s: skipped: %s\n", name, error->message);
}

static int
compare_names (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *) a, *(const char *const *) b);
}

static void
run_folders (const char *path)
{
  static const char *const files[] = { "tokenizer.json", "tokenizer.model", "tekken.json" };
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GDir) folder = path ? g_dir_open (path, 0, NULL) : NULL;
  const char *name;

  if (folder == NULL)
    g_print ("\nno other models: no folder \"%s\"\n", path ? path : "");
  while (folder && (name = g_dir_read_name (folder)))
    g_ptr_array_add (names, g_strdup (name));
  g_ptr_array_sort (names, compare_names);
  for (guint i = 0; i < names->len; i++)
    for (guint k = 0; k < G_N_ELEMENTS (files); k++)
      {
        g_autofree char *model = NULL;

        name = g_ptr_array_index (names, i);
        model = g_build_filename (path, name, files[k], NULL);
        if (g_file_test (model, G_FILE_TEST_IS_REGULAR))
          run (name, model);
      }
}

int
main (int argc, char **argv)
{
  static const char *const built_in[] = { "gpt2", "cl100k_base", "o200k_base" };
  const char *source = g_getenv ("G_TEST_SRCDIR");
  g_autofree char *path = g_build_filename (source ? source : ".", "cases", "worst.json", NULL);
  g_autofree char *content = NULL;
  g_autoptr (GError) error = NULL;
  gsize len;

  if (!g_file_get_contents (path, &content, &len, &error))
    {
      g_printerr ("%s; run by `meson test --benchmark worst`\n", error->message);
      return 77;
    }
  tree = dlp_json_tree_new (content, len, path, &error);
  g_assert_no_error (error);
  read_documents ();

  for (int i = 1; i < argc; i++)
    run (argv[i], argv[i]);
  for (guint i = 0; argc == 1 && i < G_N_ELEMENTS (built_in); i++)
    run (built_in[i], built_in[i]);
  if (argc == 1)
    run_folders (g_getenv ("DLPIPE_WORST_MODELS"));

  g_print ("\n%s: %u texts take more than %.0f times as long\n", n_slow ? "FAIL" : "PASS", n_slow,
           BAR);
  g_ptr_array_unref (documents);
  dlp_json_tree_free (tree);
  return n_slow ? EXIT_FAILURE : EXIT_SUCCESS;
}
