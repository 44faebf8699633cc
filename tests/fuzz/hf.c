/* SPDX-License-Identifier: MIT */

/* What a card, a header Link and a URI may have in them. */

#include <string.h>

#include <dlpipe/dlp-error.h>

#include "hf-card.h"
#include "hf-place.h"
#include "hf-yaml.h"

#define COMMIT "0123456789abcdef0123456789abcdef01234567"

int LLVMFuzzerTestOneInput (const guint8 *data, gsize size);

static void
check_node (const HfNode *node)
{
  if (node->kind == HF_TEXT)
    {
      g_assert_nonnull (node->text);
      return;
    }
  if (node->kind == HF_MAP)
    g_assert_cmpuint (node->keys->len, ==, node->items->len);
  for (guint i = 0; i < node->items->len; i++)
    check_node (g_ptr_array_index (node->items, i));
}

static void
check_card (const char *text, gsize size)
{
  g_autoptr (HfNode) node = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (GError) other = NULL;
  g_auto (GStrv) patterns = NULL;

  if (hf_yaml_find (text, size, "configs", &node, &error))
    g_assert_no_error (error);
  else
    g_assert_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_NO_INPUT);
  if (node != NULL)
    check_node (node);
  patterns = hf_card_find_files (text, size, NULL, NULL, &other);
  g_assert_true ((patterns == NULL) == (other != NULL));
  g_assert_true (patterns == NULL || patterns[0] != NULL);
}

/* Pinned, a place is the same place. */
static void
check_place (const char *text)
{
  g_autofree char *uri = g_strconcat ("hf://", text, NULL);
  g_auto (HfPlace) place = { NULL };
  g_auto (HfPlace) again = { NULL };
  g_autofree char *pinned = NULL;

  if (!hf_place_parse (&place, uri, NULL))
    return;
  pinned = hf_place_make_uri (&place, COMMIT, NULL);
  g_assert_true (hf_place_parse (&again, pinned, NULL));
  g_assert_cmpstr (again.name, ==, place.name);
  g_assert_cmpstr (again.revision, ==, COMMIT);
  g_assert_cmpstr (again.path, ==, place.path);
  g_assert_cmpstr (again.config, ==, place.config);
  g_assert_cmpstr (again.split, ==, place.split);
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  g_autofree char *text = g_strndup ((const char *) data, size);
  g_autofree char *next = hf_link_find_next (text);

  check_card ((const char *) data, size);
  check_place (text);
  return 0;
}
