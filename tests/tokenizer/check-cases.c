/* SPDX-License-Identifier: MIT */
#include "dlp-json-tree.h"
#include "dlpipe/dlp-tokenizer.h"

#include <string.h>

/* usage: check-cases MODEL CASES ENCODING [PATTERN]
 *
 * Encodes the texts of the lines {"encoding", "text", "ids", "mode"} in CASES whose encoding is
 * ENCODING and compares the ids. "mode" is "ordinary" (special tokens are text) or "special" (they
 * are found). Prints what differs, and how many lines there were. */

static gboolean
check_line (DlpTokenizer *tokenizer, DlpTokenizerContext *context, DlpJsonNode root)
{
  DlpJsonNode list = dlp_json_get_member (root, "ids"), at = dlp_json_get_first (list);
  const char *mode = dlp_json_get_string (dlp_json_get_member (root, "mode"), NULL);
  gboolean ordinary = strcmp (mode, "ordinary") == 0 || g_str_has_prefix (mode, "spm");
  guint n_wanted = dlp_json_get_n_children (list);
  g_autoptr (GString) difference = g_string_new (NULL);
  g_autofree guint32 *ids = NULL;
  gboolean equal;
  gsize len;
  const char *text = dlp_json_get_string (dlp_json_get_member (root, "text"), &len);
  gssize n;

  ids = g_new (guint32, 64 * len + 16);
  n = dlp_tokenizer_encode_full (tokenizer, context, text, len,
                                 ordinary ? DLP_TOKENIZER_FLAGS_NONE : DLP_TOKENIZER_FLAGS_SPECIALS,
                                 ids, 64 * len + 16);
  equal = n == n_wanted;
  for (guint i = 0; i < n_wanted; i++)
    {
      guint64 id;

      g_assert_true (dlp_json_read_uint (at, G_MAXUINT32, &id, NULL));
      equal = equal && ids[i] == id;
      g_string_append_printf (difference, " %u", (guint) id);
      at = dlp_json_get_next (at);
    }
  if (!equal)
    {
      g_print ("# \"%s\" (%s)\n# wanted%s\n# got   ", text,
               dlp_json_get_string (dlp_json_get_member (root, "why"), NULL), difference->str);
      for (gssize i = 0; i < n; i++)
        g_print (" %u", ids[i]);
      g_print ("\n");
    }
  return equal;
}

int
main (int argc, char **argv)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (DlpTokenizer) tokenizer = NULL;
  g_autoptr (DlpTokenizerContext) context = NULL;
  g_autofree char *content = NULL;
  g_auto (GStrv) lines = NULL;
  guint n = 0, n_equal = 0;

  if (argc < 4)
    {
      g_printerr ("usage: check-cases MODEL CASES ENCODING [PATTERN]\n");
      return 2;
    }
  tokenizer = dlp_tokenizer_new (argv[1], argv[4], &error);
  if (tokenizer == NULL || !g_file_get_contents (argv[2], &content, NULL, &error))
    {
      g_printerr ("%s\n", error->message);
      return 2;
    }
  context = dlp_tokenizer_context_new (tokenizer, 0);
  lines = g_strsplit (content, "\n", -1);
  for (guint i = 0; lines[i]; i++)
    {
      g_autoptr (DlpJsonTree) tree = NULL;
      DlpJsonNode root;

      if (*lines[i] == '\0')
        continue;
      tree = dlp_json_tree_new (lines[i], strlen (lines[i]), "line", &error);
      g_assert_no_error (error);
      root = dlp_json_tree_get_root (tree);
      if (!dlp_json_is_string (dlp_json_get_member (root, "encoding"), argv[3]))
        continue;
      n++;
      n_equal += check_line (tokenizer, context, root);
    }
  g_print ("%s: %u of %u equal\n", argv[3], n_equal, n);
  return n == 0 || n_equal < n;
}
