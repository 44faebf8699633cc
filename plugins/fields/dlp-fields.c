/* SPDX-License-Identifier: MIT */

#include "dlp-fields.h"

#include <stdbool.h>
#include <string.h>

#include <dlpipe/dlp-pad-template.h>

#include "field-list.h"

struct _DlpFields
{
  DlpElement parent_instance;

  char *keep;
  char *drop;
  char *rename;

  DlpSchema *schema; /* of the output */
  GArray *fields;    /* of guint: for each of its fields the one of the input */
};

enum
{
  PROP_0,
  PROP_KEEP,
  PROP_DROP,
  PROP_RENAME,
  N_PROPS
};

static GParamSpec *properties[N_PROPS];

G_DEFINE_FINAL_TYPE (DlpFields, dlp_fields, DLP_TYPE_ELEMENT)

/* ---- build ---- */

static bool
is_set (const char *text)
{
  return text != NULL && *text != '\0';
}

/* (transfer full): of names[i], "a, b, c". */
static char *
join_names (const char *const *names)
{
  return names[0] != NULL ? g_strjoinv (", ", (char **) names) : g_strdup ("none");
}

/* (transfer container) */
static const char **
list_names (DlpSchema *schema)
{
  guint n = dlp_schema_get_n_fields (schema);
  const char **names = g_new0 (const char *, n + 1);

  for (guint i = 0; i < n; i++)
    names[i] = dlp_schema_get_field_name (schema, i);
  return names;
}

static bool
find_field (DlpSchema *schema, const char *property, const char *name, guint *field, GError **error)
{
  g_autofree const char **names = list_names (schema);
  g_autofree char *all = NULL;
  const char *near;
  int found = dlp_schema_find (schema, name);

  if (found >= 0)
    {
      *field = (guint) found;
      return true;
    }
  near = dlp_suggest (name, names);
  all = join_names (names);
  g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE,
               "%s: its input has no field “%s”%s%s%s; its fields: %s", property, name,
               near != NULL ? ", did you mean “" : "", near != NULL ? near : "",
               near != NULL ? "”?" : "", all);
  return false;
}

static bool
fail_twice (const char *property, const char *name, GError **error)
{
  g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE, "%s: names the field “%s” twice",
               property, name);
  return false;
}

static int
index_of (GArray *fields, guint field)
{
  for (guint i = 0; i < fields->len; i++)
    if (g_array_index (fields, guint, i) == field)
      return (int) i;
  return -1;
}

/* (transfer full) (nullable): the fields that a list names, in its order. */
static GArray *
find_fields (DlpSchema *schema, const char *property, const char *text, GError **error)
{
  g_autoptr (GPtrArray) names = dlp_field_list_parse (property, text, error);
  g_autoptr (GArray) fields = g_array_new (FALSE, FALSE, sizeof (guint));

  for (guint i = 0; names != NULL && i < names->len; i++)
    {
      const char *name = g_ptr_array_index (names, i);
      guint field;

      if (!find_field (schema, property, name, &field, error))
        return NULL;
      if (index_of (fields, field) >= 0)
        {
          fail_twice (property, name, error);
          return NULL;
        }
      g_array_append_val (fields, field);
    }
  return names != NULL ? g_steal_pointer (&fields) : NULL;
}

static bool
keep_fields (DlpFields *self, DlpSchema *schema, GError **error)
{
  g_clear_pointer (&self->fields, g_array_unref);
  if (is_set (self->keep))
    {
      self->fields = find_fields (schema, "keep", self->keep, error);
      return self->fields != NULL;
    }
  self->fields = g_array_new (FALSE, FALSE, sizeof (guint));
  for (guint i = 0; i < dlp_schema_get_n_fields (schema); i++)
    g_array_append_val (self->fields, i);
  return true;
}

static bool
drop_fields (DlpFields *self, DlpSchema *schema, GError **error)
{
  g_autoptr (GArray) dropped = NULL;

  if (!is_set (self->drop))
    return true;
  dropped = find_fields (schema, "drop", self->drop, error);
  for (guint i = 0; dropped != NULL && i < dropped->len; i++)
    {
      guint field = g_array_index (dropped, guint, i);
      int at = index_of (self->fields, field);

      if (is_set (self->keep) && at >= 0)
        {
          g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE,
                       "keep and drop both name the field “%s”",
                       dlp_schema_get_field_name (schema, field));
          return false;
        }
      if (at >= 0)
        g_array_remove_index (self->fields, at);
    }
  return dropped != NULL;
}

/* Both names of each pair stand for the names before: a:b,b:a exchanges two. */
static bool
rename_fields (DlpFields *self,
               DlpSchema *schema,
               const char **names,
               GPtrArray *pairs,
               GError **error)
{
  g_autoptr (GHashTable) renamed = g_hash_table_new (NULL, NULL);

  for (guint i = 0; i < pairs->len; i += 2)
    {
      const char *old = g_ptr_array_index (pairs, i);
      guint field;
      int at;

      if (!find_field (schema, "rename", old, &field, error))
        return false;
      at = index_of (self->fields, field);
      if (at < 0)
        {
          g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE,
                       "rename: the field “%s” is not kept; take it out of rename, or keep it",
                       old);
          return false;
        }
      if (!g_hash_table_add (renamed, GINT_TO_POINTER (at)))
        return fail_twice ("rename", old, error);
      names[at] = g_ptr_array_index (pairs, i + 1);
    }
  return true;
}

static bool
check_names (const char **names, guint n, GError **error)
{
  g_autoptr (GHashTable) seen = g_hash_table_new (g_str_hash, g_str_equal);

  for (guint i = 0; i < n; i++)
    {
      if (g_hash_table_add (seen, (gpointer) names[i]))
        continue;
      g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE,
                   "rename: two fields would be named “%s”; drop or rename the other one",
                   names[i]);
      return false;
    }
  return true;
}

static bool
make_schema (DlpFields *self, DlpSchema *in, GPtrArray *pairs, GError **error)
{
  guint n = self->fields->len;
  g_autofree const char **names = g_new (const char *, n);
  g_autofree DlpFieldType *types = g_new (DlpFieldType, n);
  g_autofree gboolean *optional = g_new (gboolean, n);

  for (guint i = 0; i < n; i++)
    {
      guint field = g_array_index (self->fields, guint, i);

      names[i] = dlp_schema_get_field_name (in, field);
      types[i] = dlp_schema_get_field_type (in, field);
      optional[i] = dlp_schema_get_field_optional (in, field);
    }
  if (!rename_fields (self, in, names, pairs, error) || !check_names (names, n, error))
    return false;
  g_clear_pointer (&self->schema, dlp_schema_unref);
  self->schema = dlp_schema_new (dlp_schema_get_kind (in), n, names, types, optional);
  return true;
}

static bool
check_input (DlpFields *self, DlpSchema *schema, GError **error)
{
  if (dlp_schema_get_kind (schema) == DLP_SCHEMA_FILES)
    {
      g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_TYPE,
                   "needs records; its input is files: put a reader before it, such as "
                   "jsonl-reader");
      return false;
    }
  if (is_set (self->keep) || is_set (self->drop) || is_set (self->rename))
    return true;
  g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE,
               "set keep=NAME,... or drop=NAME,... or rename=OLD:NEW,...");
  return false;
}

static gboolean
dlp_fields_negotiate (DlpElement *element, GError **error)
{
  DlpFields *self = DLP_FIELDS (element);
  DlpSchema *in = dlp_pad_get_schema (dlp_element_get_input (element, 0));
  g_autoptr (GPtrArray) pairs = NULL;

  if (!check_input (self, in, error) || !keep_fields (self, in, error) ||
      !drop_fields (self, in, error))
    return FALSE;
  if (self->fields->len == 0)
    {
      g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE, "drop: no field is left");
      return FALSE;
    }
  pairs = is_set (self->rename) ? dlp_field_list_parse_pairs ("rename", self->rename, error) :
                                  g_ptr_array_new ();
  if (pairs == NULL || !make_schema (self, in, pairs, error))
    return FALSE;
  dlp_pad_set_schema (dlp_element_get_output (element, 0), self->schema);
  return TRUE;
}

/* ---- run ---- */

static DlpStep
dlp_fields_step (DlpElement *element, GCancellable *cancellable, GError **error)
{
  DlpFields *self = DLP_FIELDS (element);
  DlpPad *in = dlp_element_get_input (element, 0);
  g_autoptr (DlpRecordBatch) batch = dlp_pad_take (in);

  if (batch == NULL)
    return dlp_pad_is_over (in) ? DLP_STEP_END : dlp_element_want_input (element, 0);
  dlp_pad_push (dlp_element_get_output (element, 0),
                dlp_record_batch_select (batch, self->schema, (const guint *) self->fields->data,
                                         self->fields->len));
  return DLP_STEP_MORE;
}

/* ---- properties ---- */

static char **
get_place (DlpFields *self, guint id)
{
  char **places[] = {
    [PROP_KEEP] = &self->keep, [PROP_DROP] = &self->drop, [PROP_RENAME] = &self->rename
  };

  return id < N_PROPS ? places[id] : NULL;
}

static void
dlp_fields_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  char **place = get_place (DLP_FIELDS (object), id);

  if (place == NULL)
    {
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
      return;
    }
  g_free (*place);
  *place = g_value_dup_string (value);
}

static void
dlp_fields_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  char **place = get_place (DLP_FIELDS (object), id);

  if (place != NULL)
    g_value_set_string (value, *place);
  else
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
}

static void
dlp_fields_finalize (GObject *object)
{
  DlpFields *self = DLP_FIELDS (object);

  g_clear_pointer (&self->schema, dlp_schema_unref);
  g_clear_pointer (&self->fields, g_array_unref);
  g_free (self->keep);
  g_free (self->drop);
  g_free (self->rename);
  G_OBJECT_CLASS (dlp_fields_parent_class)->finalize (object);
}

static void
dlp_fields_class_init (DlpFieldsClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  DlpElementClass *element_class = DLP_ELEMENT_CLASS (klass);

  object_class->set_property = dlp_fields_set_property;
  object_class->get_property = dlp_fields_get_property;
  object_class->finalize = dlp_fields_finalize;
  element_class->flags = DLP_ELEMENT_ONE_TO_ONE | DLP_ELEMENT_STATELESS;
  element_class->negotiate = dlp_fields_negotiate;
  element_class->step = dlp_fields_step;
  dlp_element_class_add_pad_template (element_class, "in", DLP_PAD_INPUT, DLP_PAD_ALWAYS,
                                      DLP_CARRIES_RECORDS | DLP_CARRIES_BATCHES, NULL);
  dlp_element_class_add_pad_template (element_class, "out", DLP_PAD_OUTPUT, DLP_PAD_ALWAYS,
                                      DLP_CARRIES_RECORDS | DLP_CARRIES_BATCHES,
                                      "With the fields that are kept");
  dlp_element_class_set_description (element_class, "Keeps, drops and renames fields of records",
                                     "... ! fields keep=text,id rename=id:source-id ! null-sink");

  properties[PROP_KEEP] =
      g_param_spec_string ("keep", NULL, "The fields to keep, NAME,..., in the order of the output",
                           NULL, DLP_PARAM_READWRITE);
  properties[PROP_DROP] = g_param_spec_string ("drop", NULL, "The fields to leave out, NAME,...",
                                               NULL, DLP_PARAM_READWRITE);
  properties[PROP_RENAME] = g_param_spec_string (
      "rename", NULL, "Other names for fields, OLD:NEW,...", NULL, DLP_PARAM_READWRITE);
  g_object_class_install_properties (object_class, N_PROPS, properties);
}

static void
dlp_fields_init (DlpFields *self)
{
  dlp_element_add_pad (DLP_ELEMENT (self), "in", DLP_PAD_INPUT);
  dlp_element_add_pad (DLP_ELEMENT (self), "out", DLP_PAD_OUTPUT);
}
