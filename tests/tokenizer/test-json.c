/* SPDX-License-Identifier: MIT */
#include "load.h"

#include <string.h>

/* Small tokenizers with the ids that the library which their files were made for gives: see
 * cases/convert-json.py. */
static char *
ids_to_string (const guint32 *ids, gsize n)
{
  g_autoptr (GString) list = g_string_new (NULL);

  for (gsize i = 0; i < n; i++)
    g_string_append_printf (list, "%s%u", i ? " " : "", ids[i]);
  return g_string_free (g_steal_pointer (&list), FALSE);
}

static char *
list_to_string (DlpJsonNode list)
{
  g_autoptr (GArray) ids = read_ids (list);

  return ids_to_string ((guint32 *) (gpointer) ids->data, ids->len);
}

/* As a text of its own, and with a context that is kept. */
static void
check_case (DlpTokenizer *tokenizer,
            DlpTokenizerContext *context,
            DlpTokenizerFlags flags,
            const char *name,
            DlpJsonNode node)
{
  DlpJsonNode text = dlp_json_get_first (node);
  g_autofree char *wanted = list_to_string (dlp_json_get_next (text));
  g_autofree char *got = NULL, *again = NULL;
  g_autofree guint32 *ids = NULL;
  guint32 room[4096];
  gsize len, n_ids;
  const char *string = dlp_json_get_string (text, &len);
  gssize n;

  ids = dlp_tokenizer_encode_text (tokenizer, string, len, flags, &n_ids);
  got = ids_to_string (ids, n_ids);
  if (strcmp (got, wanted) != 0)
    g_error ("%s: \"%s\": %s, not %s", name, string, got, wanted);

  n = dlp_tokenizer_encode_full (tokenizer, context, string, len, flags, room, G_N_ELEMENTS (room));
  g_assert_cmpint (n, ==, n_ids);
  again = ids_to_string (room, n);
  g_assert_cmpstr (again, ==, wanted);
  if (n_ids > 0)
    g_assert_cmpint (
        dlp_tokenizer_encode_full (tokenizer, context, string, len, flags, room, n_ids - 1), ==,
        -1);
}

static void
check_tokenizer (const char *line, gsize len)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (DlpJsonTree) tree = dlp_json_tree_new (line, len, "line", &error);
  g_autoptr (DlpTokenizer) tokenizer = NULL;
  g_autoptr (DlpTokenizerContext) context = NULL;
  DlpTokenizerFlags flags = DLP_TOKENIZER_FLAGS_SPECIALS;
  DlpJsonNode root, cases, at;
  const char *name, *json;

  g_assert_no_error (error);
  root = dlp_json_tree_get_root (tree);
  name = dlp_json_get_string (dlp_json_get_member (root, "name"), NULL);
  json = dlp_json_get_string (dlp_json_get_member (root, "tokenizer"), &len);
  if (dlp_json_get_type (dlp_json_get_member (root, "post_processor")) == DLP_JSON_TRUE)
    flags |= DLP_TOKENIZER_FLAGS_POST_PROCESSOR;
  tokenizer = load_as ("tokenizer.json", json, len, &error);
  if (tokenizer == NULL)
    g_error ("%s: %s", name, error->message);

  context = dlp_tokenizer_context_new (tokenizer, 0);
  cases = dlp_json_get_member (root, "cases");
  at = dlp_json_get_first (cases);
  for (guint n = dlp_json_get_n_children (cases); n > 0; n--)
    {
      check_case (tokenizer, context, flags, name, at);
      at = dlp_json_get_next (at);
    }
}

static void
test_cases (void)
{
  g_autofree char *path = g_test_build_filename (G_TEST_DIST, "cases", "tokenizers.jsonl", NULL);
  g_autofree char *content = NULL;
  g_auto (GStrv) lines = NULL;
  guint n = 0;

  g_assert_true (g_file_get_contents (path, &content, NULL, NULL));
  lines = g_strsplit (content, "\n", -1);
  for (guint i = 0; lines[i]; i++)
    if (*lines[i])
      {
        check_tokenizer (lines[i], strlen (lines[i]));
        n++;
      }
  g_assert_cmpuint (n, ==, 63);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/json/cases", test_cases);
  return g_test_run ();
}
