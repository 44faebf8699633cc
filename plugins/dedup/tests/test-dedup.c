/* SPDX-License-Identifier: MIT */

#include <string.h>

#include <dlp-harness.h>

/* The same records come several times, near and far: each source gives what the others do. */
#define INPUT(n)                                                                                   \
  "check-source records=" n " ! m.  check-source records=" n " ! m.  check-source records=" n      \
  " ! m.  mix name=m ! shuffle size=50 ! "
#define TOKENS(n)                                                                                  \
  "check-source records=" n " tokens=true ! m.  check-source records=" n                           \
  " tokens=true ! m.  mix name=m ! "

static GPtrArray *
lines_of (GHashTable *got, const char *name)
{
  return g_hash_table_lookup (got, name);
}

/* (transfer full): the value of a field as a line has it. */
static char *
get_value (const char *line, const char *field)
{
  g_autofree char *key = g_strconcat (" ", field, "=", NULL);
  const char *start = strstr (line, key);
  const char *end;

  g_assert_nonnull (start);
  start += strlen (key);
  /* Ids have blanks between them. */
  end = strcmp (field, "tokens") == 0 ? strstr (start, " id=") : strchr (start, ' ');
  return end != NULL ? g_strndup (start, (gsize) (end - start)) : g_strdup (start);
}

/* What comes is the first of each value, in order, and what has none; the rest is rejected. */
static void
check_against_set (const char *input, const char *field)
{
  g_autofree char *whole = g_strconcat (input, "check-sink name=k", NULL);
  g_autofree char *graph = g_strdup_printf (
      "%sdedup name=d field=%s ! check-sink name=k  d.rejected ! check-sink name=j", input, field);
  g_autoptr (GHashTable) all = dlp_harness_expect (whole);
  g_autoptr (GHashTable) got = dlp_harness_expect (graph);
  g_autoptr (GHashTable) seen = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  GPtrArray *kept = lines_of (got, "k"), *rejected = lines_of (got, "j");
  guint at = 0, at_rejected = 0;

  for (guint i = 0; i < lines_of (all, "k")->len; i++)
    {
      const char *line = g_ptr_array_index (lines_of (all, "k"), i);
      char *value = get_value (line, field);
      gboolean keeps = strcmp (value, "null") == 0 || !g_hash_table_contains (seen, value);

      g_hash_table_add (seen, value);
      g_assert_cmpuint (keeps ? at : at_rejected, <, keeps ? kept->len : rejected->len);
      g_assert_cmpstr (line, ==,
                       keeps ? g_ptr_array_index (kept, at++) :
                               g_ptr_array_index (rejected, at_rejected++));
    }
  g_assert_cmpuint (at, ==, kept->len);
  g_assert_cmpuint (at_rejected, ==, rejected->len);
  g_assert_cmpuint (at_rejected, >, 20);
}

static void
test_model (void)
{
  check_against_set (INPUT ("300"), "text");
  check_against_set (INPUT ("300"), "id");
  check_against_set (INPUT ("300"), "score");
  check_against_set (TOKENS ("200"), "tokens");
}

/* Nothing twice: all are passed on. */
static void
test_different (void)
{
  g_autoptr (GHashTable) got =
      dlp_harness_expect ("check-source records=500 ! dedup field=id name=d ! check-sink name=k  "
                          "d.rejected ! check-sink name=j");
  g_autoptr (GHashTable) none = dlp_harness_expect ("check-source records=0 ! dedup ! "
                                                    "check-sink name=k");

  g_assert_cmpuint (lines_of (got, "k")->len, ==, 500);
  g_assert_cmpuint (lines_of (got, "j")->len, ==, 0);
  g_assert_cmpuint (lines_of (none, "k")->len, ==, 0);
}

static void
test_resume (void)
{
  static const char *const graphs[] = {
    INPUT ("40") "dedup name=d ! check-sink name=k  d.rejected ! check-sink name=j",
    INPUT ("60") "dedup field=id ! check-sink name=k",
    TOKENS ("60") "dedup field=tokens ! limit records=50 ! check-sink name=k",
    INPUT ("60") "dedup ! shuffle size=20 ! dedup field=score ! check-sink name=k",
  };

  for (guint i = 0; i < G_N_ELEMENTS (graphs); i++)
    {
      dlp_harness_check_resume (graphs[i], 1);
      dlp_harness_check_resume (graphs[i], 0);
    }
}

static void
test_all (void)
{
  dlp_check_all (INPUT ("100") "dedup name=d ! check-sink name=k  d.rejected ! check-sink name=j");
  dlp_check_kill (INPUT ("3000") "dedup ! check-sink name=k", dlp_harness_scale (20));
}

static void
test_golden (void)
{
  dlp_harness_check_golden ("check-source records=9 ! m.  check-source records=12 ! m.  "
                            "mix name=m ! dedup ! check-sink name=k",
                            GOLDEN);
}

static void
test_errors (void)
{
  static const struct
  {
    const char *graph, *message;
    int code;
  } cases[] = {
    { "check-source ! dedup field=body ! null-sink", "field=body", DLP_GRAPH_ERROR_TYPE },
    { "check-source ! batch size=2 ! dedup ! null-sink", "batches", DLP_GRAPH_ERROR_TYPE },
    { "file-source location=" GOLDEN " ! dedup ! null-sink", "put a reader before it",
      DLP_GRAPH_ERROR_TYPE },
    { "file-source location=" GOLDEN " epochs=2 ! text-reader ! dedup ! null-sink",
      "file-source0 is read 2 times", DLP_GRAPH_ERROR_VALUE },
    { "file-source location=" GOLDEN " epochs=forever ! text-reader ! dedup ! null-sink",
      "file-source0 is read for ever", DLP_GRAPH_ERROR_VALUE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GError) error = NULL;

      g_assert_false (dlp_harness_run (cases[i].graph, NULL, &error));
      g_assert_error (error, DLP_GRAPH_ERROR, cases[i].code);
      if (strstr (error->message, cases[i].message) == NULL)
        g_error ("“%s” is not in “%s”", cases[i].message, error->message);
    }
}

/* ---- states ---- */

static void
test_bad_states (void)
{
  static const struct
  {
    const char *state, *message;
  } cases[] = {
    { "{'kept': <uint64 5>, 'dropped': <uint64 1>}", "key “null” is missing" },
    { "{'kept': <uint64 5>, 'dropped': <uint64 1>, 'null': <uint64 6>}",
      "key “null” is 6, above the 5 allowed" },
    { "{'kept': <uint64 0>, 'dropped': <uint64 0>, 'null': <uint64 0>, 'more': <0>}",
      "unknown key “more”" },
    { "{'kept': <uint64 1>, 'dropped': <uint64 0>, 'null': <uint64 0>, "
      "'state-files': <@a(sts) []>}",
      "the files have 0 hashes; 1 records were kept that have one" },
    { "{'kept': <uint64 1>, 'dropped': <uint64 0>, 'null': <uint64 0>, "
      "'state-files': <[('state-d-1-1', uint64 15, 'a')]>}",
      "state-d-1-1 has 15 bytes, which are no whole hashes of 16 bytes" },
    { "{'kept': <uint64 1>, 'dropped': <uint64 0>, 'null': <uint64 0>, "
      "'state-files': <[('state-x-1-1', uint64 16, 'a')]>}",
      "“state-x-1-1” is no name of a file of d" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (DlpPipeline) pipeline = NULL;
      g_autoptr (GVariant) state =
          g_variant_parse (G_VARIANT_TYPE_VARDICT, cases[i].state, NULL, NULL, NULL);
      g_autoptr (GError) error = NULL;
      DlpElement *element;

      pipeline = dlp_pipeline_new_from_string ("check-source ! dedup name=d ! null-sink", &error);
      g_assert_no_error (error);
      g_assert_nonnull (state);
      dlp_pipeline_check (pipeline, NULL, &error);
      g_assert_no_error (error);
      element = dlp_pipeline_get_element (pipeline, "d");
      g_assert_false (DLP_ELEMENT_GET_CLASS (element)->load (element, state, 1, &error));
      g_assert_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CORRUPT);
      if (strstr (error->message, cases[i].message) == NULL)
        g_error ("“%s” is not in “%s”", cases[i].message, error->message);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  dlp_harness_init ();
  g_test_add_func ("/dedup/model", test_model);
  g_test_add_func ("/dedup/different", test_different);
  g_test_add_func ("/dedup/golden", test_golden);
  g_test_add_func ("/dedup/errors", test_errors);
  g_test_add_func ("/dedup/bad-states", test_bad_states);
  g_test_add_func ("/dedup/resume", test_resume);
  g_test_add_func ("/dedup/all", test_all);
  return g_test_run ();
}
