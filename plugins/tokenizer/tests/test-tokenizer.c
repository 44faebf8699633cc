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
  for (guint i = 0; i < 40; i++)
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
  g_test_add_func ("/tokenizer/bytes", test_bytes);
  g_test_add_func ("/tokenizer/resume", test_resume);
  g_test_add_func ("/tokenizer/settings", test_settings);
  return g_test_run ();
}
