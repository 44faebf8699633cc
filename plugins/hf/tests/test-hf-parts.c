/* SPDX-License-Identifier: MIT */

#include <string.h>

#include <dlpipe/dlp-error.h>

#include "hf-card.h"
#include "hf-place.h"
#include "hf-yaml.h"

#define COMMIT "0123456789abcdef0123456789abcdef01234567"

/* ---- places ---- */

static void
test_places (void)
{
  static const struct
  {
    const char *uri, *name, *revision, *path, *config, *split, *pinned;
  } cases[] = {
    { "hf://datasets/o/n/a b/*.jsonl", "n", NULL, "a b/*.jsonl", NULL, NULL,
      "hf://datasets/o/n@" COMMIT "/a b/*.jsonl" },
    { "hf://datasets/o/n.x-y_1@v1.0/a@b?c", "n.x-y_1", "v1.0", "a@b?c", NULL, NULL,
      "hf://datasets/o/n.x-y_1@" COMMIT "/a@b?c" },
    { "hf://datasets/o/n@refs%2Fpr%2F1/a", "n", "refs/pr/1", "a", NULL, NULL,
      "hf://datasets/o/n@" COMMIT "/a" },
    { "hf://datasets/o/n@refs/convert/parquet/d/0.parquet", "n", "refs/convert/parquet",
      "d/0.parquet", NULL, NULL, "hf://datasets/o/n@" COMMIT "/d/0.parquet" },
    { "hf://datasets/o/n/", "n", NULL, "", NULL, NULL, "hf://datasets/o/n@" COMMIT "/" },
    { "hf://datasets/o/n", "n", NULL, NULL, NULL, NULL, "hf://datasets/o/n@" COMMIT },
    { "hf://datasets/o/n?config=a%26b&split=train", "n", NULL, NULL, "a&b", "train",
      "hf://datasets/o/n@" COMMIT "?config=a%26b&split=train" },
    { "hf://datasets/o/n@x?split=train", "n", "x", NULL, NULL, "train",
      "hf://datasets/o/n@" COMMIT "?split=train" },
    { "hf://datasets/o/n?config=c", "n", NULL, NULL, "c", NULL,
      "hf://datasets/o/n@" COMMIT "?config=c" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_auto (HfPlace) place = { NULL };
      g_auto (HfPlace) again = { NULL };
      g_autoptr (GError) error = NULL;
      g_autofree char *pinned = NULL;

      g_assert_true (hf_place_parse (&place, cases[i].uri, &error));
      g_assert_no_error (error);
      g_assert_cmpstr (place.owner, ==, "o");
      g_assert_cmpstr (place.name, ==, cases[i].name);
      g_assert_cmpstr (place.revision, ==, cases[i].revision);
      g_assert_cmpstr (place.path, ==, cases[i].path);
      g_assert_cmpstr (place.config, ==, cases[i].config);
      g_assert_cmpstr (place.split, ==, cases[i].split);
      pinned = hf_place_make_uri (&place, COMMIT, NULL);
      g_assert_cmpstr (pinned, ==, cases[i].pinned);
      g_assert_true (hf_place_parse (&again, pinned, NULL));
      g_assert_true (hf_is_commit (again.revision));
      g_assert_cmpstr (again.path, ==, place.path);
      g_assert_cmpstr (again.config, ==, place.config);
    }
}

static void
test_places_wrong (void)
{
  static const struct
  {
    const char *uri, *said;
  } cases[] = {
    { "hf://o/n/a", "only datasets" },
    { "hf://models/o/n/a", "only datasets" },
    { "hf://spaces/o/n/a", "only datasets" },
    { "hf://datasets/", "OWNER/NAME" },
    { "hf://datasets/squad", "OWNER/NAME" },
    { "hf://datasets/squad/", "OWNER/NAME" },
    { "hf://datasets//n/a", "OWNER/NAME" },
    { "hf://datasets/o/n@/a", "behind the @" },
    { "hf://datasets/o/n@%zz/a", "behind the @" },
    { "hf://datasets/o/n#a", "letters" },
    { "hf://datasets/o/n?split=a&split=b", "config=NAME" },
    { "hf://datasets/o/n?split=", "config=NAME" },
    { "hf://datasets/o/n?revision=x", "config=NAME" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_auto (HfPlace) place = { NULL };
      g_autoptr (GError) error = NULL;

      g_assert_false (hf_place_parse (&place, cases[i].uri, &error));
      g_assert_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_NO_INPUT);
      if (strstr (error->message, cases[i].said) == NULL)
        g_error ("%s: \"%s\" says nothing of \"%s\"", cases[i].uri, error->message, cases[i].said);
    }
}

static void
test_link (void)
{
  /* RFC 8288 has several links in one field, quotes, and relations in a row. */
  static const char *const cases[][2] = {
    { "<https://h/a?cursor=x>; rel=\"next\"", "https://h/a?cursor=x" },
    { "<https://h/p>; rel=\"prev\", <https://h/n>; rel=\"next\"", "https://h/n" },
    { "<https://h/a,b;c>; title=\"x, <y>; rel=next\"; rel=prev", NULL },
    { "<https://h/n>;title=\"a \\\" ; b\" ;REL = next", "https://h/n" },
    { "<https://h/n>; rel=\"first next\"", "https://h/n" },
    { "<https://h/n>; rel=nextone", NULL },
    { "<https://h/n>", NULL },
    { "<https://h/n", NULL },
    { "", NULL },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *next = hf_link_find_next (cases[i][0]);

      g_assert_cmpstr (next, ==, cases[i][1]);
    }
}

/* ---- cards ---- */

static const char card[] = "---\n"
                           "license: mit\n"
                           "# a comment\n"
                           "task_categories:\n"
                           "- text-generation\n"
                           "description: |\n"
                           "  configs: not these\n"
                           "  - config_name: x\n"
                           "tags: [a, b]\n"
                           "configs:\n"
                           "- config_name: first\n"
                           "  default: true   # yes\n"
                           "  data_files:\n"
                           "  - split: train\n"
                           "    path:\n"
                           "    - \"data/train-*.jsonl\"\n"
                           "    - 'it''s.jsonl'\n"
                           "\n"
                           "  - split: test\n"
                           "    path: data/test-[0-9].jsonl # here\n"
                           "- config_name: \"two words\"\n"
                           "  data_dir: two\n"
                           "  data_files: \"*.csv\"\n"
                           "-   config_name: third\n"
                           "    data_files:\n"
                           "      - a.csv\n"
                           "      - ./b.csv\n"
                           "- config_name: flow\n"
                           "  data_files:\n"
                           "  - split: train\n"
                           "    path: [a.csv, \"b, c.csv\"]\n"
                           "- config_name: bare\n"
                           "dataset_info:\n"
                           "  features: {name: x}\n"
                           "---\n"
                           "# Text\n"
                           "configs: none\n";

static void
test_card (void)
{
  static const struct
  {
    const char *config, *split, *patterns;
  } cases[] = {
    { NULL, "train", "data/train-*.jsonl|it's.jsonl" },
    { "first", "test", "data/test-[0-9].jsonl" },
    { "two words", NULL, "two/*.csv" },
    { "two words", "train", "two/*.csv" },
    { "third", NULL, "a.csv|b.csv" },
    { "flow", "train", "a.csv|b, c.csv" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GError) error = NULL;
      g_auto (GStrv) patterns =
          hf_card_find_files (card, strlen (card), cases[i].config, cases[i].split, &error);
      g_autofree char *joined = NULL;

      g_assert_no_error (error);
      joined = g_strjoinv ("|", patterns);
      g_assert_cmpstr (joined, ==, cases[i].patterns);
    }
}

static void
check_refused (const char *text, const char *config, const char *split, const char *said)
{
  g_autoptr (GError) error = NULL;
  g_auto (GStrv) patterns = hf_card_find_files (text, strlen (text), config, split, &error);

  g_assert_null (patterns);
  g_assert_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_NO_INPUT);
  if (strstr (error->message, said) == NULL)
    g_error ("\"%s\" says nothing of \"%s\"", error->message, said);
}

static void
test_card_choice (void)
{
  check_refused (card, "none", NULL, "there are first, two words, third, flow, bare");
  check_refused (card, NULL, NULL, "split= is one of train, test");
  check_refused (card, "first", "dev", "there are train, test");
  check_refused (card, "bare", NULL, "line 32: config \"bare\" has no data_files");
  check_refused ("", NULL, NULL, "names no configs");
  check_refused ("# no front matter\nconfigs:\n- config_name: a\n", NULL, NULL, "names no configs");
  check_refused ("---\nconfigs:\n- config_name: a\n- config_name: b\n---\n", NULL, NULL,
                 "config= is one of a, b");
}

#define WITH(files) "---\nconfigs:\n- config_name: a\n  data_files:\n" files "---\n"

/* What is not read is refused, with its line. */
static void
test_card_refused (void)
{
  static const char *const cases[][2] = {
    { "---\nconfigs:\n- config_name: a\n", "has to end" },
    { "---\nconfigs: [a\n---\n", "line 2: a list in []" },
    { "---\nconfigs: {}\n---\n", "line 2: maps in {}" },
    { "---\nconfigs: a\n---\n", "line 2: configs is to be a list" },
    { "---\nconfigs:\n---\n", "line 2: configs is to be a list" },
    { "---\nconfigs:\n- a\n---\n", "line 3: a config without a config_name" },
    { "---\nconfigs:\n- config_name: a\nconfigs:\n- config_name: b\n---\n", "line 4: a key" },
    { "---\nconfigs:\n- config_name: a\n  config_name: b\n---\n", "line 4: a key" },
    { "---\nconfigs:\n- config_name: a\n   x: b\n---\n", "line 4: it is indented" },
    { "---\nconfigs:\n- config_name: a\n\tx: b\n---\n", "line 4: lines are indented" },
    { "---\nconfigs:\n- config_name: &x a\n---\n", "line 3: maps in {}" },
    { "---\nconfigs:\n- config_name: >\n    a\n---\n", "line 3: maps in {}" },
    { "---\nconfigs:\n- config_name: \"a\n    b\"\n---\n", "line 3: a text in quotes" },
    { "---\nconfigs:\n- config_name: \"\\x41\"\n---\n", "line 3: a text in quotes" },
    { "---\nconfigs:\n- config_name: \"a\" b\n---\n", "line 3: there is something behind" },
    { "---\nconfigs:\n- config_name: a\n    b\n---\n", "line 4: it is indented" },
    { "---\nconfigs:\n- config_name: a\n  b\n---\n", "line 4: \"KEY: VALUE\"" },
    { "---\nconfigs:\n  - config_name: a\n - config_name: b\n---\n", "line 4: it does not belong" },
    { "---\nconfigs: \"\xff\"\n---\n", "not UTF-8" },
    { WITH ("  - *.csv\n"), "line 5: maps in {}" },
    { WITH ("  - https://h/a.csv\n"), "only files of the dataset" },
    { WITH ("  - ../a.csv\n"), "only files of the dataset" },
    { WITH ("  - a{b,c}.csv\n"), "only files of the dataset" },
    { WITH ("  - split: train\n"), "split and path" },
    { WITH ("  - split: train\n    path: a\n  - b\n"), "split and path" },
    { WITH ("    train: a.csv\n"), "a path is to be one text" },
    { WITH ("  - - a\n"), "a path is to be one text" },
  };
  g_autoptr (GString) deep = g_string_new ("---\nconfigs:\n");

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    check_refused (cases[i][0], NULL, NULL, cases[i][1]);
  for (guint i = 0; i < 100000; i++)
    g_string_append (deep, "- ");
  g_string_append (deep, "a\n---\n");
  check_refused (deep->str, NULL, NULL, "more in one another");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/hf/places", test_places);
  g_test_add_func ("/hf/places-wrong", test_places_wrong);
  g_test_add_func ("/hf/link", test_link);
  g_test_add_func ("/hf/card", test_card);
  g_test_add_func ("/hf/card-choice", test_card_choice);
  g_test_add_func ("/hf/card-refused", test_card_refused);
  return g_test_run ();
}
