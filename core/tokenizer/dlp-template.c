/* SPDX-License-Identifier: MIT */
#include "dlp-template.h"
#include "dlp-vocabulary.h"

static gboolean
read_id (DlpJsonNode node, GArray *ids, GError **error)
{
  guint64 value;
  guint32 id;

  if (!dlp_json_read_uint (node, DLP_ID_LIMIT - 2, &value, error))
    return FALSE;
  id = value;
  g_array_append_val (ids, id);
  return TRUE;
}

/* {"SpecialToken": {"id": NAME}}: the ids that the map of special tokens gives for NAME. */
static gboolean
read_special (DlpJsonNode token, DlpJsonNode specials, GArray *ids, GError **error)
{
  DlpJsonNode name = dlp_json_get_member (token, "id"), list, at;

  if (!dlp_json_check_type (name, DLP_JSON_STRING, "\"id\" of a special token", error))
    return FALSE;
  list =
      dlp_json_get_member (dlp_json_get_member (specials, dlp_json_get_string (name, NULL)), "ids");
  if (dlp_json_get_type (list) != DLP_JSON_ARRAY)
    return dlp_json_fail (name, error, "\"special_tokens\" has no ids for \"%.60s\"",
                          dlp_json_get_string (name, NULL));
  at = dlp_json_get_first (list);
  for (guint n = dlp_json_get_n_children (list); n > 0; n--)
    {
      if (!read_id (at, ids, error))
        return FALSE;
      at = dlp_json_get_next (at);
    }
  return TRUE;
}

static gboolean
read_single (DlpJsonNode node, GArray *before, GArray *behind, GError **error)
{
  DlpJsonNode list = dlp_json_get_member (node, "single");
  DlpJsonNode specials = dlp_json_get_member (node, "special_tokens");
  DlpJsonNode at = dlp_json_get_first (list);
  gboolean seen = FALSE;

  if (!dlp_json_check_type (list, DLP_JSON_ARRAY, "\"single\"", error))
    return FALSE;
  for (guint n = dlp_json_get_n_children (list); n > 0; n--)
    {
      DlpJsonNode special = dlp_json_get_member (at, "SpecialToken");

      if (dlp_json_get_type (special) == DLP_JSON_OBJECT)
        {
          if (!read_special (special, specials, seen ? behind : before, error))
            return FALSE;
        }
      else if (dlp_json_get_type (dlp_json_get_member (at, "Sequence")) != DLP_JSON_OBJECT || seen)
        return dlp_json_fail (at, error, "\"single\" has to be special tokens around one sequence");
      else
        seen = TRUE;
      at = dlp_json_get_next (at);
    }
  return seen || dlp_json_fail (list, error, "\"single\" has no sequence");
}

/* [NAME, ID] */
static gboolean
read_pair (DlpJsonNode node, const char *key, GArray *ids, GError **error)
{
  DlpJsonNode pair = dlp_json_get_member (node, key);

  if (!dlp_json_check_type (pair, DLP_JSON_ARRAY, key, error))
    return FALSE;
  if (dlp_json_get_n_children (pair) != 2)
    return dlp_json_fail (pair, error, "\"%s\" is not a token and its id", key);
  return read_id (dlp_json_get_next (dlp_json_get_first (pair)), ids, error);
}

static gboolean
read_step (DlpJsonNode node, GArray *before, GArray *behind, GError **error)
{
  DlpJsonNode type = dlp_json_get_member (node, "type");

  if (!dlp_json_check_type (node, DLP_JSON_OBJECT, "a post_processor", error) ||
      !dlp_json_check_type (type, DLP_JSON_STRING, "\"type\" of a post_processor", error))
    return FALSE;
  if (dlp_json_is_string (type, "ByteLevel"))
    return TRUE;
  if (dlp_json_is_string (type, "TemplateProcessing"))
    return read_single (node, before, behind, error);
  if (dlp_json_is_string (type, "RobertaProcessing") || dlp_json_is_string (type, "BertProcessing"))
    return read_pair (node, "cls", before, error) && read_pair (node, "sep", behind, error);
  return dlp_json_fail (type, error,
                        "unknown post_processor \"%.60s\"; known are TemplateProcessing, "
                        "RobertaProcessing, BertProcessing, ByteLevel, Sequence",
                        dlp_json_get_string (type, NULL));
}

/* Each step puts its own around what the one before has made. */
static gboolean
add_step (DlpTemplate *self, DlpJsonNode node, GError **error)
{
  g_autoptr (GArray) before = g_array_new (FALSE, FALSE, sizeof (guint32));
  g_autoptr (GArray) behind = g_array_new (FALSE, FALSE, sizeof (guint32));

  if (!read_step (node, before, behind, error))
    return FALSE;
  g_array_prepend_vals (self->before, before->data, before->len);
  g_array_append_vals (self->behind, behind->data, behind->len);
  return TRUE;
}

static gboolean
add_steps (DlpTemplate *self, DlpJsonNode node, GError **error)
{
  DlpJsonNode list = dlp_json_get_member (node, "processors");
  DlpJsonNode at = dlp_json_get_first (list);

  if (!dlp_json_is_string (dlp_json_get_member (node, "type"), "Sequence"))
    return add_step (self, node, error);
  if (!dlp_json_check_type (list, DLP_JSON_ARRAY, "\"processors\"", error))
    return FALSE;
  for (guint n = dlp_json_get_n_children (list); n > 0; n--)
    {
      if (!add_steps (self, at, error))
        return FALSE;
      at = dlp_json_get_next (at);
    }
  return TRUE;
}

/* @node may be missing or null. */
gboolean
dlp_template_read (DlpTemplate *self, DlpJsonNode node, GError **error)
{
  DlpJsonType type = dlp_json_get_type (node);

  self->before = g_array_new (FALSE, FALSE, sizeof (guint32));
  self->behind = g_array_new (FALSE, FALSE, sizeof (guint32));
  return type == DLP_JSON_NONE || type == DLP_JSON_NULL || add_steps (self, node, error);
}

void
dlp_template_clear (DlpTemplate *self)
{
  g_clear_pointer (&self->before, g_array_unref);
  g_clear_pointer (&self->behind, g_array_unref);
}
