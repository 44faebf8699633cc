/* SPDX-License-Identifier: MIT */

#include <dlpipe/dlp-tokenizer.h>

#include <dlp-harness.h>
#include <glib/gstdio.h>

static GPtrArray *
lines_of (GHashTable *got)
{
  return g_hash_table_lookup (got, "k");
}

static void
assert_all (const char *graph, gboolean (*check) (const char *line))
{
  g_autoptr (GHashTable) got = dlp_harness_expect (graph);

  g_assert_cmpuint (lines_of (got)->len, ==, 100);
  for (guint i = 0; i < lines_of (got)->len; i++)
    if (!check (g_ptr_array_index (lines_of (got), i)))
      g_error ("%s: %s", graph, (char *) g_ptr_array_index (lines_of (got), i));
}

static gboolean
is_empty (const char *line)
{
  return g_str_has_suffix (line, "tokens=");
}

static gboolean
ends_with_eod (const char *line)
{
  return is_empty (line) || g_str_has_suffix (line, " 50256");
}

static gboolean
begins_with_eod (const char *line)
{
  return is_empty (line) || strstr (line, "tokens= 50256 ") != NULL ||
         g_str_has_suffix (line, "tokens= 50256");
}

static gboolean
has_no_eod (const char *line)
{
  return strstr (line, " 50256") == NULL;
}

static void
test_eod (void)
{
  assert_all ("check-source ! tokenizer cache-bytes=256k ! check-sink name=k", ends_with_eod);
  assert_all ("check-source ! tokenizer eod=prepend ! check-sink name=k", begins_with_eod);
  assert_all ("check-source ! tokenizer eod=none ! check-sink name=k", has_no_eod);
  assert_all ("check-source ! tokenizer eod-token=50256 ! check-sink name=k", ends_with_eod);
  assert_all ("check-source ! tokenizer eod-token=<|endoftext|> ! check-sink name=k",
              ends_with_eod);
}

static void
assert_refused (const char *graph, const char *part)
{
  g_autoptr (GError) error = NULL;

  g_assert_false (dlp_harness_run (graph, NULL, &error));
  g_assert_nonnull (error);
  if (strstr (error->message, part) == NULL)
    g_error ("“%s” is not in: %s", part, error->message);
}

static void
test_errors (void)
{
  assert_refused ("check-source ! tokenizer eod-token=<eos> ! check-sink name=k",
                  "there are: <|endoftext|> (50256)");
  assert_refused ("check-source ! tokenizer eod-token=50257 ! check-sink name=k",
                  "ids of gpt2 are below 50257");
  assert_refused ("check-source ! tokenizer field=body ! check-sink name=k",
                  "a string field “body”");
  assert_refused ("check-source tokens=true ! tokenizer field=tokens ! check-sink name=k",
                  "a string field “tokens”");
  assert_refused ("check-source ! tokenizer output-field=id ! check-sink name=k",
                  "has a field “id” already");
  assert_refused ("check-source ! tokenizer model=/nonexistent ! check-sink name=k",
                  "/nonexistent");
}

/* What is in the documents of check-source as text must not become a special id, unless it is asked
 * for. */
static void
test_specials (void)
{
  g_autoptr (GHashTable) text =
      dlp_harness_expect ("check-source ! tokenizer eod=none ! check-sink name=k");
  g_autoptr (GHashTable) allow = dlp_harness_expect (
      "check-source ! tokenizer eod=none special-tokens=allow ! check-sink name=k");
  g_autoptr (GHashTable) drop = dlp_harness_expect (
      "check-source ! tokenizer name=t eod=none special-tokens=skip-record ! check-sink name=k  "
      "t.rejected ! check-sink name=j");
  guint with = 0;

  for (guint i = 0; i < lines_of (allow)->len; i++)
    with += strstr (g_ptr_array_index (lines_of (allow), i), " 50256") != NULL;
  g_assert_cmpuint (with, >, 10);
  for (guint i = 0; i < lines_of (text)->len; i++)
    g_assert_null (strstr (g_ptr_array_index (lines_of (text), i), " 50256"));
  g_assert_cmpuint (lines_of (drop)->len, ==, 100 - with);
  g_assert_cmpuint (((GPtrArray *) g_hash_table_lookup (drop, "j"))->len, ==, with);
  assert_refused ("check-source ! tokenizer special-tokens=error ! check-sink name=k", "row ");
}

/* Whether a run fails does not depend on how far the tokenizer runs ahead of a limit. */
static void
test_error_in_band (void)
{
  g_autoptr (GHashTable) text = dlp_harness_expect ("check-source records=60 ! check-sink name=k");
  guint first;

  for (first = 0; first < 60; first++)
    {
      const char *encoded = strstr (g_ptr_array_index (lines_of (text), first), "text=") + 5;
      g_autofree char *base64 = g_strndup (encoded, strcspn (encoded, " "));
      gsize size;
      g_autofree guchar *decoded = g_base64_decode (base64, &size);

      if (g_strstr_len ((char *) decoded, size, "<|endoftext|>") != NULL)
        break;
    }
  g_assert_cmpuint (first, <, 59);
  for (guint i = 0; i < MAX (dlp_harness_scale (40), 6); i++)
    {
      DlpHarnessSettings settings = { .workers = 1 + i % 3,
                                      .batch_records = i % 5,
                                      .random_yields = TRUE };
      gboolean reaches = i % 2 == 1;
      g_autofree char *graph =
          g_strdup_printf ("check-source records=60 ! tokenizer cache-bytes=256k "
                           "special-tokens=error ! limit records=%u ! check-sink name=k",
                           reaches ? first + 1 : MAX (first, 1));
      g_autoptr (GError) error = NULL;

      if (first == 0 && !reaches)
        continue;
      g_assert_true (dlp_harness_run (graph, &settings, &error) == !reaches);
      if (reaches)
        g_assert_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_BAD_RECORD);
      g_assert_cmpuint (dlp_check_sink_get_lines ("k")->len, ==, first);
    }
}

/* A file with a template, a beginning and an end, and one piece for whatever there is. */
static const char small_json[] = "{\"added_tokens\": ["
                                 "{\"id\": 0, \"content\": \"<s>\", \"special\": true}, "
                                 "{\"id\": 1, \"content\": \"</s>\", \"special\": true}], "
                                 "\"normalizer\": {\"type\": \"NFKC\"}, "
                                 "\"post_processor\": {\"type\": \"BertProcessing\", \"cls\": "
                                 "[\"<s>\", 0], \"sep\": [\"</s>\", 1]}, "
                                 "\"model\": {\"type\": \"WordLevel\", \"unk_token\": \"?\", "
                                 "\"vocab\": {\"<s>\": 0, \"</s>\": 1, \"?\": 2}}}";

static gboolean
has_both_ends (const char *line)
{
  return is_empty (line) || g_str_has_suffix (line, "tokens= 0 2 1");
}

static gboolean
has_both_ends_twice (const char *line)
{
  return is_empty (line) || g_str_has_suffix (line, "tokens= 1 0 2");
}

static void
test_file (void)
{
  g_autofree char *folder = g_dir_make_tmp ("dlp-tokenizer-XXXXXX", NULL);
  g_autofree char *path = g_build_filename (folder, "tokenizer.json", NULL);
  g_autofree char *add = NULL, *prepend = NULL, *file = NULL, *both = NULL, *offset = NULL;

  g_assert_true (g_file_set_contents (path, small_json, -1, NULL));
  add = g_strdup_printf ("check-source ! tokenizer model=%s bos=add ! check-sink name=k", folder);
  assert_all (add, has_both_ends);
  prepend = g_strdup_printf (
      "check-source ! tokenizer model=%s bos=add eod=prepend ! check-sink name=k", path);
  assert_all (prepend, has_both_ends_twice);
  file = g_strdup_printf (
      "check-source ! tokenizer model=%s post-processor=file eod=none ! check-sink name=k", folder);
  assert_all (file, has_both_ends);
  both = g_strdup_printf (
      "check-source ! tokenizer model=%s post-processor=file bos=add ! check-sink name=k", folder);
  assert_refused (both, "choose one of them");
  offset = g_strdup_printf ("check-source ! tokenizer model=%s byte-offset=3 ! check-sink name=k",
                            folder);
  assert_refused (offset, "is for model=bytes");
  g_assert_no_errno (g_unlink (path));
  g_assert_no_errno (g_rmdir (folder));
}

/* ---- max-tokens ---- */

#define MAX_TOKENS 7

static const char *
tokens_of (const char *line)
{
  return strstr (line, "tokens=") + strlen ("tokens=");
}

static guint
count_tokens (const char *line)
{
  guint n = 0;

  for (const char *at = tokens_of (line); *at != '\0'; at++)
    n += *at == ' ';
  return n;
}

/* (transfer full): a line, cut behind so many tokens, and then the end of a document. */
static char *
cut_line (const char *line, guint n)
{
  const char *at = tokens_of (line);
  g_autofree char *cut = NULL;

  for (; n > 0; n--)
    at += 1 + strcspn (at + 1, " ");
  cut = g_strndup (line, at - line);
  return g_strconcat (cut, " 50256", NULL);
}

static void
test_cut (void)
{
  g_autoptr (GHashTable) all = dlp_harness_expect ("check-source ! tokenizer ! check-sink name=k");
  g_autoptr (GHashTable) cut =
      dlp_harness_expect ("check-source ! tokenizer max-tokens=7 overflow=cut ! check-sink name=k");
  guint n_cut = 0;

  g_assert_cmpuint (lines_of (cut)->len, ==, lines_of (all)->len);
  for (guint i = 0; i < lines_of (all)->len; i++)
    {
      const char *line = g_ptr_array_index (lines_of (all), i);
      gboolean over = count_tokens (line) > MAX_TOKENS;
      g_autofree char *wanted = over ? cut_line (line, MAX_TOKENS - 1) : g_strdup (line);

      g_assert_cmpstr (g_ptr_array_index (lines_of (cut), i), ==, wanted);
      n_cut += over;
    }
  g_assert_cmpuint (n_cut, >, 10);
  g_assert_cmpuint (n_cut, <, lines_of (all)->len);
}

/* The records of a document, one after the other, are the document. */
static void
test_split (void)
{
  g_autoptr (GHashTable) all = dlp_harness_expect ("check-source ! tokenizer ! check-sink name=k");
  g_autoptr (GHashTable) split =
      dlp_harness_expect ("check-source ! tokenizer max-tokens=7 ! check-sink name=k");
  guint at = 0;

  for (guint i = 0; i < lines_of (all)->len; i++)
    {
      const char *line = g_ptr_array_index (lines_of (all), i);
      guint n = count_tokens (line);
      g_autoptr (GString) joined = g_string_new (NULL);
      guint part = 0;

      do
        {
          const char *of_part = g_ptr_array_index (lines_of (split), at++);
          gsize fields = tokens_of (line) - line;

          g_assert_cmpuint (count_tokens (of_part), ==,
                            MIN (n - part * MAX_TOKENS, (guint) MAX_TOKENS));
          g_assert_cmpmem (of_part, tokens_of (of_part) - of_part, line, fields);
          g_string_append (joined, tokens_of (of_part));
          part++;
        }
      while (part * MAX_TOKENS < n);
      g_assert_cmpstr (joined->str, ==, tokens_of (line));
    }
  g_assert_cmpuint (at, ==, lines_of (split)->len);
  g_assert_cmpuint (at, >, lines_of (all)->len + 10);
}

static void
test_max_tokens_refused (void)
{
  assert_refused ("check-source ! tokenizer max-tokens=1 ! check-sink name=k",
                  "max-tokens=1: 1 of them are put around each document; allowed are 2 or more");
  assert_refused ("check-source ! tokenizer max-tokens=9 keep-text=true ! check-sink name=k",
                  "overflow=split and keep-text=true");
  assert_refused ("check-source ! tokenizer max-tokens=9 overflow=cut post-processor=file ! "
                  "check-sink name=k",
                  "overflow=cut and post-processor=file");
}

static void
test_max_tokens_resume (void)
{
  dlp_harness_check_resume (
      "check-source records=16 ! tokenizer cache-bytes=256k max-tokens=9 ! check-sink name=k", 1);
  dlp_harness_check_resume ("check-source records=30 ! tokenizer cache-bytes=256k max-tokens=5 "
                            "overflow=cut ! shuffle size=7 ! check-sink name=k",
                            1);
}

/* ---- what the sources gave ---- */

/* (transfer full): of the tokenizer, in the report of the run. */
static GVariant *
get_state (DlpPipeline *pipeline)
{
  g_autoptr (GVariant) report = dlp_pipeline_get_report (pipeline);
  g_autoptr (GVariant) elements =
      g_variant_lookup_value (report, "elements", G_VARIANT_TYPE ("aa{sv}"));

  for (gsize i = 0; i < g_variant_n_children (elements); i++)
    {
      g_autoptr (GVariant) element = g_variant_get_child_value (elements, i);
      const char *factory;

      g_assert_true (g_variant_lookup (element, "factory", "&s", &factory));
      if (strcmp (factory, "tokenizer") == 0)
        return g_variant_lookup_value (element, "state", G_VARIANT_TYPE_VARDICT);
    }
  return NULL;
}

static guint64
get_value (GVariant *dict, const char *key)
{
  guint64 value = 0;

  g_assert_true (g_variant_lookup (dict, key, "t", &value));
  return value;
}

/* Of two sources, each of which gives what it gives alone. */
static void
test_by_source (void)
{
  static const char *const graphs[] = {
    "check-source records=40 ! tokenizer ! check-sink name=k",
    "check-source records=90 variant=3 ! tokenizer ! check-sink name=k",
    "mix name=m weights=in-0:1,in-1:3 ! tokenizer ! check-sink name=k  check-source records=40 ! "
    "m.  "
    "check-source records=90 variant=3 ! m.",
  };
  guint64 n[2][5] = { { 0 } };
  static const char *const keys[] = { "documents", "bytes", "tokens", "single-byte-ids",
                                      "unknown-ids" };
  g_autoptr (GError) error = NULL;

  for (guint run = 0; run < G_N_ELEMENTS (graphs); run++)
    {
      g_autoptr (DlpPipeline) pipeline = dlp_pipeline_new_from_string (graphs[run], &error);
      g_autoptr (GVariant) state = NULL;
      g_autoptr (GVariant) sources = NULL;
      double ratio = 0;

      g_assert_no_error (error);
      dlp_check_sink_clear ();
      dlp_pipeline_run (pipeline, NULL, &error);
      g_assert_no_error (error);
      state = get_state (pipeline);
      g_assert_true (g_variant_lookup (state, "bytes-per-token", "d", &ratio));
      g_assert_cmpfloat (ratio, >, 1);
      sources = g_variant_lookup_value (state, "by-source", G_VARIANT_TYPE ("aa{sv}"));
      g_assert_cmpuint (g_variant_n_children (sources), ==, run < 2 ? 1 : 2);
      for (gsize i = 0; i < g_variant_n_children (sources); i++)
        {
          g_autoptr (GVariant) source = g_variant_get_child_value (sources, i);

          g_assert_cmpuint (get_value (source, "source"), ==, i);
          for (guint k = 0; k < G_N_ELEMENTS (keys); k++)
            if (run < 2)
              n[run][k] = get_value (source, keys[k]);
            else
              g_assert_cmpuint (get_value (source, keys[k]), ==, n[i][k]);
        }
    }
  g_assert_cmpuint (n[0][0], ==, 40);
  g_assert_cmpuint (n[1][0], ==, 90);
  for (guint i = 0; i < 2; i++)
    {
      g_assert_cmpuint (n[i][1], >, n[i][2]);
      g_assert_cmpuint (n[i][3], >, 0);
      g_assert_cmpuint (n[i][3], <, n[i][2]);
    }
}

static void
test_bytes (void)
{
  g_autoptr (GHashTable) text =
      dlp_harness_expect ("check-source records=30 ! tokenizer model=bytes byte-offset=3 "
                          "eod-token=1 keep-text=true ! check-sink name=k");

  for (guint i = 0; i < lines_of (text)->len; i++)
    {
      const char *line = g_ptr_array_index (lines_of (text), i);
      const char *encoded = strstr (line, "text=") + 5, *tokens = strstr (line, "tokens=");
      g_autofree char *base64 = g_strndup (encoded, strcspn (encoded, " "));
      g_autoptr (GString) wanted = g_string_new ("tokens=");
      gsize size = 0;
      g_autofree guchar *bytes = *base64 ? g_base64_decode (base64, &size) : NULL;

      for (gsize k = 0; k < size; k++)
        g_string_append_printf (wanted, " %u", bytes[k] + 3u);
      if (size > 0)
        g_string_append (wanted, " 1");
      g_assert_true (g_str_has_prefix (tokens, wanted->str));
    }
}

static void
test_resume (void)
{
  dlp_harness_check_resume (
      "check-source records=70 ! tokenizer cache-bytes=256k ! check-sink name=k", 1);
  dlp_harness_check_resume ("check-source records=70 ! tokenizer name=t cache-bytes=256k "
                            "special-tokens=skip-record keep-text=true ! check-sink "
                            "name=k  t.rejected ! check-sink name=j",
                            1);
  for (guint n = 0; n < dlp_harness_scale (20); n++)
    dlp_harness_check_resume ("check-source records=150 ! tokenizer cache-bytes=256k ! shuffle "
                              "size=9 ! check-sink name=k",
                              0);
}

/* What version 1 had goes on; in one of this version a counter that is missing is a fault. */
static void
test_old_state (void)
{
  static const char *const keys[] = {
    "documents",           "empty-documents",   "tokens",
    "special-token-texts", "dropped-documents", "unmatched-bytes"
  };

  for (guint version = 1; version <= 2; version++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (DlpPipeline) pipeline = dlp_pipeline_new_from_string (
          "check-source ! tokenizer name=t ! check-sink name=k", &error);
      DlpElement *element = dlp_pipeline_get_element (pipeline, "t");
      g_autoptr (GVariant) described = NULL;
      GVariantDict dict;

      g_assert_no_error (error);
      g_variant_dict_init (&dict, NULL);
      for (guint i = 0; i < G_N_ELEMENTS (keys); i++)
        g_variant_dict_insert (&dict, keys[i], "t", (guint64) i + 7);
      described = g_variant_ref_sink (g_variant_dict_end (&dict));
      g_assert_cmpint (DLP_ELEMENT_GET_CLASS (element)->load (element, described, version, &error),
                       ==, version == 1);
      if (version == 1)
        g_assert_cmpuint (dlp_transform_get_counter (DLP_TRANSFORM (element), 2), ==, 9);
      else
        g_assert_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CORRUPT);
    }
}

static void
test_settings (void)
{
  dlp_harness_check_settings (
      "check-source records=300 ! tokenizer model=o200k_base cache-bytes=256k ! check-sink name=k");
}

static void
test_golden (void)
{
  dlp_harness_check_golden (
      "check-source records=15 ! tokenizer model=cl100k_base keep-text=true ! check-sink name=k",
      GOLDEN);
}

int
main (int argc, char **argv)
{
  /* Keeps the tables that each of many pipelines would load again. */
  g_autoptr (DlpTokenizer) gpt2 = dlp_tokenizer_new ("gpt2", NULL, NULL);
  g_autoptr (DlpTokenizer) o200k = dlp_tokenizer_new ("o200k_base", NULL, NULL);

  g_test_init (&argc, &argv, NULL);
  dlp_harness_init ();
  /* The texts of special tokens are warned of; that is no fault of the test. */
  g_log_set_always_fatal (G_LOG_FATAL_MASK | G_LOG_LEVEL_CRITICAL);
  g_test_add_func ("/tokenizer/golden", test_golden);
  g_test_add_func ("/tokenizer/eod", test_eod);
  g_test_add_func ("/tokenizer/errors", test_errors);
  g_test_add_func ("/tokenizer/specials", test_specials);
  g_test_add_func ("/tokenizer/error-in-band", test_error_in_band);
  g_test_add_func ("/tokenizer/file", test_file);
  g_test_add_func ("/tokenizer/cut", test_cut);
  g_test_add_func ("/tokenizer/split", test_split);
  g_test_add_func ("/tokenizer/max-tokens-refused", test_max_tokens_refused);
  g_test_add_func ("/tokenizer/max-tokens-resume", test_max_tokens_resume);
  g_test_add_func ("/tokenizer/by-source", test_by_source);
  g_test_add_func ("/tokenizer/bytes", test_bytes);
  g_test_add_func ("/tokenizer/resume", test_resume);
  g_test_add_func ("/tokenizer/old-state", test_old_state);
  g_test_add_func ("/tokenizer/settings", test_settings);
  return g_test_run ();
}
