/* SPDX-License-Identifier: MIT */

#include "json-private.h"

static const char *const level_names[JSON_N_LEVELS] = {
  [JSON_LEVEL_SCALAR] = "scalar", [JSON_LEVEL_SSE2] = "sse2", [JSON_LEVEL_AVX2] = "avx2",
  [JSON_LEVEL_AVX512] = "avx512", [JSON_LEVEL_NEON] = "neon",
};

static JsonParseFunc
level_function (JsonLevel level)
{
  switch (level)
    {
#if defined(__x86_64__)
    case JSON_LEVEL_SSE2:
      return json_parse_sse2;
    case JSON_LEVEL_AVX2:
      return __builtin_cpu_supports ("avx2") && __builtin_cpu_supports ("bmi2") ? json_parse_avx2 :
                                                                                  NULL;
    case JSON_LEVEL_AVX512:
      return __builtin_cpu_supports ("avx512bw") && __builtin_cpu_supports ("avx512vl") &&
                     __builtin_cpu_supports ("avx512vbmi") &&
                     __builtin_cpu_supports ("avx512vbmi2") && __builtin_cpu_supports ("bmi2") ?
                 json_parse_avx512 :
                 NULL;
#elif defined(__aarch64__)
    case JSON_LEVEL_NEON:
      return json_parse_neon;
#endif
    case JSON_LEVEL_SCALAR:
      return json_parse_scalar;
    default:
      return NULL;
    }
}

static void
node_set_key (JsonPlanNode *node, GString *key)
{
  gsize needle_len = key->len + 1;

  node->key_len = key->len;
  node->needle = g_malloc (needle_len);
  memcpy (node->needle, key->str, key->len);
  node->needle[key->len] = '"';
  memset (&node->mask, 0xff, MIN (needle_len, 8));
  memcpy (&node->word, node->needle, MIN (needle_len, 8));

  node->verbatim = TRUE;
  for (gsize i = 0; i < key->len; i++)
    if ((guint8) key->str[i] < 0x20 || key->str[i] == '"' || key->str[i] == '\\')
      node->verbatim = FALSE;
}

/* The child of @nodes[@parent] with that key, made if there is none. */
static guint
get_child (GArray *nodes, const guint *ancestors, guint n_ancestors, GString *key)
{
  guint parent = ancestors[n_ancestors - 1];
  guint end = parent + g_array_index (nodes, JsonPlanNode, parent).size;
  JsonPlanNode made = { .size = 1, .value = -1 };

  for (guint i = parent + 1; i < end; i += g_array_index (nodes, JsonPlanNode, i).size)
    {
      const JsonPlanNode *child = &g_array_index (nodes, JsonPlanNode, i);

      if (child->key_len == key->len && memcmp (child->needle, key->str, key->len) == 0)
        return i;
    }

  node_set_key (&made, key);
  g_array_insert_val (nodes, end, made);
  for (guint i = 0; i < n_ancestors; i++)
    g_array_index (nodes, JsonPlanNode, ancestors[i]).size++;
  return end;
}

/* Moves @path behind its first component, decoded into @key. */
static gboolean
next_component (const char **path, GString *key, const char **fault)
{
  const char *p = *path;

  g_string_truncate (key, 0);
  for (; *p != '\0' && *p != '.'; p++)
    {
      if (*p == '\\')
        {
          p++;
          if (*p == '\0' || strchr (".,:\\", *p) == NULL)
            {
              *fault = "a backslash may only stand before a dot, a comma, a colon or a backslash";
              return FALSE;
            }
        }
      else if (*p == ',')
        {
          *fault = "a comma separates nothing here; write \\, for a comma in a key; fields=a,b is "
                   "for further fields";
          return FALSE;
        }
      g_string_append_c (key, *p);
    }

  if (key->len == 0)
    {
      *fault = "a component is empty";
      return FALSE;
    }

  *path = p;
  return TRUE;
}

/* Returns the node of @path, or 0. */
static guint
add_path (GArray *nodes, const char *path, GError **error)
{
  g_autoptr (GString) key = g_string_new (NULL);
  guint ancestors[JSON_MAX_PATH_DEPTH + 1] = { 0 };
  guint n_ancestors = 1;
  const char *rest = path;
  const char *fault = NULL;

  if (!g_utf8_validate (path, -1, NULL))
    fault = "it is not valid UTF-8";

  while (fault == NULL && next_component (&rest, key, &fault))
    {
      if (n_ancestors > JSON_MAX_PATH_DEPTH)
        {
          fault = "it has more than " G_STRINGIFY (JSON_MAX_PATH_DEPTH) " components";
          break;
        }
      ancestors[n_ancestors] = get_child (nodes, ancestors, n_ancestors, key);
      n_ancestors++;
      if (*rest++ == '\0')
        return ancestors[n_ancestors - 1];
    }

  g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, "Bad field path \"%s\": %s", path,
               fault);
  return 0;
}

static void
clear_node (gpointer data)
{
  g_free (((JsonPlanNode *) data)->needle);
}

JsonPlan *
json_plan_new (const char *const *paths, guint n_paths, JsonFlags flags, GError **error)
{
  g_autoptr (JsonPlan) self = g_new0 (JsonPlan, 1);
  g_autoptr (GArray) nodes = g_array_new (FALSE, TRUE, sizeof (JsonPlanNode));
  JsonPlanNode root = { .size = 1, .value = -1 };

  g_return_val_if_fail (n_paths == 0 || paths != NULL, NULL);

  self->ref_count = 1;
  self->flags = flags;
  self->n_paths = n_paths;
  self->same_as = g_new0 (guint, MAX (n_paths, 1));
  g_array_set_clear_func (nodes, clear_node);
  g_array_append_val (nodes, root);

  for (guint i = 0; i < n_paths; i++)
    {
      guint at = add_path (nodes, paths[i], error);
      JsonPlanNode *node = &g_array_index (nodes, JsonPlanNode, at);

      if (at == 0)
        return NULL;
      if (node->value < 0)
        node->value = (int) i;
      self->same_as[i] = node->value;
      self->has_aliases |= self->same_as[i] != i;
    }

  self->n_nodes = nodes->len;
  g_array_set_clear_func (nodes, NULL);
  self->nodes = (JsonPlanNode *) g_array_free (g_steal_pointer (&nodes), FALSE);

  for (int level = JSON_N_LEVELS - 1; level >= 0; level--)
    if (json_plan_set_level (self, level))
      break;

  return g_steal_pointer (&self);
}

JsonPlan *
json_plan_ref (JsonPlan *self)
{
  g_atomic_int_inc (&self->ref_count);
  return self;
}

void
json_plan_unref (JsonPlan *self)
{
  if (!g_atomic_int_dec_and_test (&self->ref_count))
    return;

  for (guint i = 0; i < self->n_nodes; i++)
    g_free (self->nodes[i].needle);
  g_free (self->nodes);
  g_free (self->same_as);
  g_free (self);
}

gboolean
json_plan_set_level (JsonPlan *self, JsonLevel level)
{
  JsonParseFunc parse = level_function (level);

  if (parse == NULL)
    return FALSE;

  self->parse = parse;
  self->level = level;
  return TRUE;
}

JsonLevel
json_plan_get_level (const JsonPlan *self)
{
  return self->level;
}

const char *
json_level_get_name (JsonLevel level)
{
  g_return_val_if_fail (level < JSON_N_LEVELS, NULL);

  return level_names[level];
}
