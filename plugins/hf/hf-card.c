/* SPDX-License-Identifier: MIT */

#include "hf-card.h"

#include <string.h>

#include <dlpipe/dlp-error.h>
#include <dlpipe/dlp-file.h>

#include "hf-yaml.h"

/* Of a config whose files are one list. */
#define USUAL_SPLIT "train"

G_GNUC_PRINTF (3, 4)
static gpointer
fail (GError **error, guint line, const char *format, ...)
{
  g_autofree char *what = NULL;
  g_autofree char *shown = NULL;
  va_list args;

  va_start (args, format);
  what = g_strdup_vprintf (format, args);
  va_end (args);
  shown = dlp_uri_escape_for_display (what);
  if (line > 0)
    g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_NO_INPUT, "line %u: %s", line, shown);
  else
    g_set_error_literal (error, DLP_DATA_ERROR, DLP_DATA_ERROR_NO_INPUT, shown);
  return NULL;
}

/* (nullable) */
static const char *
get_text (const HfNode *node, const char *key)
{
  const HfNode *value = hf_node_get (node, key);

  return value != NULL && value->kind == HF_TEXT && *value->text != '\0' ? value->text : NULL;
}

/* ---- the config ---- */

static char *
join_configs (const HfNode *configs)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new ();

  for (guint i = 0; i < configs->items->len; i++)
    g_ptr_array_add (names,
                     (gpointer) get_text (g_ptr_array_index (configs->items, i), "config_name"));
  g_ptr_array_add (names, NULL);
  return g_strjoinv (", ", (char **) names->pdata);
}

static gboolean
check_configs (const HfNode *configs, GError **error)
{
  if (configs->kind != HF_LIST || configs->items->len == 0)
    {
      fail (error, configs->line, "configs is to be a list");
      return FALSE;
    }
  for (guint i = 0; i < configs->items->len; i++)
    {
      const HfNode *item = g_ptr_array_index (configs->items, i);

      if (get_text (item, "config_name") == NULL)
        {
          fail (error, item->line, "a config without a config_name");
          return FALSE;
        }
    }
  return TRUE;
}

static gboolean
is_default (const HfNode *config)
{
  const char *text = get_text (config, "default");

  return text != NULL && g_ascii_strcasecmp (text, "true") == 0;
}

/* The one with "default: true", else the only one, else the one of that name. */
static const HfNode *
find_default (const HfNode *configs)
{
  for (guint i = 0; i < configs->items->len; i++)
    if (is_default (g_ptr_array_index (configs->items, i)))
      return g_ptr_array_index (configs->items, i);
  if (configs->items->len == 1)
    return g_ptr_array_index (configs->items, 0);
  for (guint i = 0; i < configs->items->len; i++)
    if (strcmp (get_text (g_ptr_array_index (configs->items, i), "config_name"), "default") == 0)
      return g_ptr_array_index (configs->items, i);
  return NULL;
}

static const HfNode *
find_config (const HfNode *configs, const char *name, GError **error)
{
  g_autofree char *names = NULL;
  const HfNode *found = name == NULL ? find_default (configs) : NULL;

  for (guint i = 0; name != NULL && found == NULL && i < configs->items->len; i++)
    if (strcmp (get_text (g_ptr_array_index (configs->items, i), "config_name"), name) == 0)
      found = g_ptr_array_index (configs->items, i);
  if (found != NULL)
    return found;
  names = join_configs (configs);
  if (name == NULL)
    return fail (error, configs->line, "none of the configs is the default; config= is one of %s",
                 names);
  return fail (error, configs->line, "there is no config \"%s\"; there are %s", name, names);
}

/* ---- its files ---- */

typedef struct
{
  const char *data_dir; /* (nullable) */
  const char *split;    /* (nullable): wanted */
  GPtrArray *splits;    /* of char *: that there are */
  GPtrArray *patterns;  /* of char *: of the wanted one */
} Files;

static gboolean
add_pattern (Files *self, const HfNode *node, GError **error)
{
  const char *text = node->text;

  if (node->kind != HF_TEXT || *text == '\0')
    {
      fail (error, node->line, "a path is to be one text");
      return FALSE;
    }
  if (strstr (text, "://") != NULL || *text == '/' || g_str_has_prefix (text, "../") ||
      strstr (text, "/../") != NULL || strchr (text, '{') != NULL)
    {
      fail (error, node->line,
            "path %s: only files of the dataset itself are read, by *, ?, [] and **", text);
      return FALSE;
    }
  while (g_str_has_prefix (text, "./"))
    text += 2;
  if (self->data_dir == NULL)
    g_ptr_array_add (self->patterns, g_strdup (text));
  else
    g_ptr_array_add (self->patterns, g_build_filename (self->data_dir, text, NULL));
  return TRUE;
}

static gboolean
add_patterns (Files *self, const HfNode *node, GError **error)
{
  if (node->kind != HF_LIST)
    return add_pattern (self, node, error);
  for (guint i = 0; i < node->items->len; i++)
    if (!add_pattern (self, g_ptr_array_index (node->items, i), error))
      return FALSE;
  return TRUE;
}

static void
add_split (Files *self, const char *name)
{
  if (!g_ptr_array_find_with_equal_func (self->splits, name, g_str_equal, NULL))
    g_ptr_array_add (self->splits, (gpointer) name);
}

static gboolean
is_wanted (const Files *self, const char *split)
{
  return self->split == NULL || strcmp (self->split, split) == 0;
}

/* "- split: train", "  path: ..." */
static gboolean
take_split (Files *self, const HfNode *node, GError **error)
{
  const char *split = get_text (node, "split");
  const HfNode *path = hf_node_get (node, "path");

  if (split == NULL || path == NULL)
    {
      fail (error, node->line, "what is in data_files is to be a path, or to have split and path");
      return FALSE;
    }
  add_split (self, split);
  return !is_wanted (self, split) || add_patterns (self, path, error);
}

static gboolean
take_files (Files *self, const HfNode *node, GError **error)
{
  const HfNode *first =
      node->kind == HF_LIST && node->items->len > 0 ? g_ptr_array_index (node->items, 0) : NULL;

  if (first == NULL || first->kind != HF_MAP)
    {
      add_split (self, USUAL_SPLIT);
      return !is_wanted (self, USUAL_SPLIT) || add_patterns (self, node, error);
    }
  for (guint i = 0; i < node->items->len; i++)
    if (!take_split (self, g_ptr_array_index (node->items, i), error))
      return FALSE;
  return TRUE;
}

static char *
join_splits (const Files *self)
{
  GString *names = g_string_new (NULL);

  for (guint i = 0; i < self->splits->len; i++)
    g_string_append_printf (names, "%s%s", i > 0 ? ", " : "",
                            (const char *) g_ptr_array_index (self->splits, i));
  return g_string_free (names, FALSE);
}

static char **
find_in_config (Files *self, const HfNode *config, GError **error)
{
  const char *name = get_text (config, "config_name");
  const HfNode *data = hf_node_get (config, "data_files");
  g_autofree char *names = NULL;

  self->data_dir = get_text (config, "data_dir");
  if (data == NULL)
    return fail (
        error, config->line,
        "config \"%s\" has no data_files; which files are meant is not guessed: name them, "
        "hf://datasets/OWNER/NAME/FILE",
        name);
  if (!take_files (self, data, error))
    return NULL;
  names = join_splits (self);
  if (self->split == NULL && self->splits->len > 1)
    return fail (error, data->line, "config \"%s\": split= is one of %s", name, names);
  if (self->patterns->len == 0)
    return fail (error, data->line, "config \"%s\" has no split \"%s\"; there are %s", name,
                 self->split, names);
  g_ptr_array_add (self->patterns, NULL);
  return g_strdupv ((char **) self->patterns->pdata);
}

char **
hf_card_find_files (const char *text,
                    gsize size,
                    const char *config,
                    const char *split,
                    GError **error)
{
  g_autoptr (HfNode) configs = NULL;
  g_autoptr (GPtrArray) splits = g_ptr_array_new ();
  g_autoptr (GPtrArray) patterns = g_ptr_array_new_with_free_func (g_free);
  Files files = { .split = split, .splits = splits, .patterns = patterns };
  const HfNode *chosen;

  if (!hf_yaml_find (text, size, "configs", &configs, error))
    return NULL;
  if (configs == NULL)
    return fail (error, 0,
                 "the card names no configs; which files are meant is not guessed: name them, "
                 "hf://datasets/OWNER/NAME/FILE");
  if (!check_configs (configs, error))
    return NULL;
  chosen = find_config (configs, config, error);
  return chosen != NULL ? find_in_config (&files, chosen, error) : NULL;
}
