/* SPDX-License-Identifier: MIT */

/* Which columns of a file are wanted, and how their values lie in memory. */

#include "arrow-plan.h"

#include <string.h>

#include "reader-fields.h"

/* ---- types ---- */

typedef struct
{
  const char *format;
  const char *name;
  ArrowValueType type;
} Format;

/* As the C data interface writes them. */
static const Format formats[] = {
  { "n", "null", { ARROW_VALUE_NULL } },
  { "b", "bool", { ARROW_VALUE_BOOLEAN } },
  { "c", "int8", { ARROW_VALUE_INTEGER, 1, TRUE } },
  { "C", "uint8", { ARROW_VALUE_INTEGER, 1, FALSE } },
  { "s", "int16", { ARROW_VALUE_INTEGER, 2, TRUE } },
  { "S", "uint16", { ARROW_VALUE_INTEGER, 2, FALSE } },
  { "i", "int32", { ARROW_VALUE_INTEGER, 4, TRUE } },
  { "I", "uint32", { ARROW_VALUE_INTEGER, 4, FALSE } },
  { "l", "int64", { ARROW_VALUE_INTEGER, 8, TRUE } },
  { "L", "uint64", { ARROW_VALUE_INTEGER, 8, FALSE } },
  { "e", "float16", { ARROW_VALUE_REAL, 2, TRUE } },
  { "f", "float", { ARROW_VALUE_REAL, 4, TRUE } },
  { "g", "double", { ARROW_VALUE_REAL, 8, TRUE } },
  { "u", "string", { ARROW_VALUE_BYTES_32 } },
  { "z", "binary", { ARROW_VALUE_BYTES_32 } },
  { "U", "large_string", { ARROW_VALUE_BYTES_64 } },
  { "Z", "large_binary", { ARROW_VALUE_BYTES_64 } },
  { "vu", "string_view", { ARROW_VALUE_BYTES_VIEW } },
  { "vz", "binary_view", { ARROW_VALUE_BYTES_VIEW } },
  { "+l", "list", { ARROW_VALUE_LIST_32 } },
  { "+L", "large_list", { ARROW_VALUE_LIST_64 } },
  { "+s", "struct", { ARROW_VALUE_OTHER } },
  { "+m", "map", { ARROW_VALUE_OTHER } },
};

static const Format *
find_format (const char *text)
{
  for (guint i = 0; i < G_N_ELEMENTS (formats); i++)
    if (strcmp (formats[i].format, text) == 0)
      return &formats[i];
  return NULL;
}

/* "w:16" and "+w:16". */
static gboolean
read_fixed (const char *text, ArrowValueType *type)
{
  gboolean is_list = *text == '+';
  guint64 width;

  if (strncmp (text + is_list, "w:", 2) != 0)
    return FALSE;
  if (!g_ascii_string_to_unsigned (text + is_list + 2, 10, 0, G_MAXINT32, &width, NULL))
    return FALSE;
  type->kind = is_list ? ARROW_VALUE_LIST_FIXED : ARROW_VALUE_BYTES_FIXED;
  type->width = (guint) width;
  return TRUE;
}

static ArrowValueType
read_type (const struct ArrowSchema *schema)
{
  const Format *format = find_format (schema->format);
  ArrowValueType type = { ARROW_VALUE_OTHER };

  if (format != NULL)
    return format->type;
  read_fixed (schema->format, &type);
  return type;
}

static gboolean
is_list (ArrowValueKind kind)
{
  return kind == ARROW_VALUE_LIST_32 || kind == ARROW_VALUE_LIST_64 ||
         kind == ARROW_VALUE_LIST_FIXED;
}

static gboolean
is_bytes (ArrowValueKind kind)
{
  return kind >= ARROW_VALUE_BYTES_32 && kind <= ARROW_VALUE_BYTES_FIXED;
}

static void
append_type (GString *to, const struct ArrowSchema *schema)
{
  const Format *format = find_format (schema->format);
  ArrowValueType type = read_type (schema);

  if (schema->dictionary != NULL)
    {
      g_string_append (to, "a dictionary of ");
      append_type (to, schema->dictionary);
      return;
    }
  if (format != NULL)
    g_string_append (to, format->name);
  else if (type.kind == ARROW_VALUE_OTHER)
    g_string_append_printf (to, "of a type that is not read (Arrow's \"%s\")", schema->format);
  else
    g_string_append (to,
                     type.kind == ARROW_VALUE_LIST_FIXED ? "fixed_size_list" : "fixed_size_binary");
  if (is_list (type.kind) && schema->n_children == 1)
    {
      g_string_append (to, " of ");
      append_type (to, schema->children[0]);
    }
}

/* ---- names ---- */

static gboolean
is_named (const struct ArrowSchema *field, const char *name)
{
  return strcmp (field->name != NULL ? field->name : "", name) == 0;
}

/* -1: none, -2: several. */
static gint64
find_child (const struct ArrowSchema *schema, const char *name)
{
  gint64 found = -1;

  for (gint64 i = 0; i < schema->n_children; i++)
    if (is_named (schema->children[i], name))
      found = found == -1 ? i : -2;
  return found;
}

static char *
list_names (const struct ArrowSchema *schema, const char *wanted)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new ();

  for (gint64 i = 0; i < schema->n_children; i++)
    {
      const char *name = schema->children[i]->name;

      g_ptr_array_add (names, (gpointer) (name != NULL ? name : ""));
    }
  g_ptr_array_add (names, NULL);
  return reader_fields_list_names ((const char *const *) names->pdata, names->len - 1, wanted);
}

static gboolean
is_struct (const struct ArrowSchema *schema)
{
  return schema->dictionary == NULL && strcmp (schema->format, "+s") == 0;
}

static const struct ArrowSchema *
fail_to_find (const char *name, gint64 found, const struct ArrowSchema *within, char **why)
{
  g_autofree char *names = list_names (within, name);

  *why = found == -2 ? g_strdup_printf ("several columns are called \"%s\"", name) :
                       g_strdup_printf ("no column \"%s\"; there are %s", name,
                                        *names != '\0' ? names : "none");
  return NULL;
}

/* A column whose whole name it is comes first. NULL without @why: there is none. */
static const struct ArrowSchema *
find_field (const struct ArrowSchema *schema, ArrowColumn *column, char **why)
{
  g_autofree char *whole = reader_field_unescape (column->wish->path);
  g_autoptr (GPtrArray) names = reader_field_split_path (column->wish->path);
  gint64 found = find_child (schema, whole);
  const struct ArrowSchema *field = schema;

  if (found != -1)
    {
      g_ptr_array_set_size (names, 0);
      g_ptr_array_add (names, g_steal_pointer (&whole));
    }
  column->steps = g_new (guint, names->len);
  for (guint i = 0; i < names->len; i++)
    {
      const char *name = g_ptr_array_index (names, i);

      if (i > 0 && !is_struct (field))
        return fail_to_find (column->wish->name, -1, schema, why);
      found = find_child (field, name);
      if (found < 0)
        return fail_to_find (i == 0 ? column->wish->name : name, found, field, why);
      column->steps[i] = (guint) found;
      column->n_steps = i + 1;
      field = field->children[found];
    }
  return field;
}

/* ---- what fits what ---- */

/* Fractions become no whole numbers, and are not looked for where a column says that it has such.
 */
static gboolean
fits_list (const ArrowColumn *column)
{
  gboolean is_real = column->wish->field->range >= READER_RANGE_F32;

  return is_list (column->value.kind) &&
         (column->item.kind == ARROW_VALUE_INTEGER || column->item.kind == ARROW_VALUE_NULL ||
          (column->item.kind == ARROW_VALUE_REAL && is_real));
}

static gboolean
fits (const ArrowColumn *column)
{
  ArrowValueKind kind = column->value.kind;

  if (kind == ARROW_VALUE_OTHER)
    return FALSE;
  if (kind == ARROW_VALUE_NULL)
    return TRUE;
  if (column->wish->type >= DLP_FIELD_LIST_UINT16)
    return fits_list (column);
  switch ((guint) column->wish->type)
    {
    case DLP_FIELD_INT64:
    case DLP_FIELD_UINT64:
    case DLP_FIELD_DOUBLE:
      return kind == ARROW_VALUE_INTEGER || kind == ARROW_VALUE_REAL;
    case DLP_FIELD_BOOLEAN:
      return kind == ARROW_VALUE_BOOLEAN;
    case DLP_FIELD_BINARY:
      return is_bytes (kind);
    default:
      return is_bytes (kind) || (!column->wish->is_text && !is_list (kind));
    }
}

static gboolean
fail_to_fit (const ArrowColumn *column, const struct ArrowSchema *field, char **why)
{
  g_autoptr (GString) type = g_string_new (NULL);

  append_type (type, field);
  *why = g_strdup_printf (
      "the column \"%s\" is %s, which cannot be read as %s", column->wish->name, type->str,
      column->wish->is_text ? "text" : reader_field_get_type_name (column->wish->field));
  return FALSE;
}

static gboolean
read_layout (ArrowColumn *column, const struct ArrowSchema *field, char **why)
{
  const struct ArrowSchema *values = field->dictionary != NULL ? field->dictionary : field;

  column->has_dictionary = field->dictionary != NULL;
  column->value = read_type (values);
  if (column->has_dictionary)
    {
      column->index = read_type (field);
      if (column->index.kind != ARROW_VALUE_INTEGER || values->dictionary != NULL)
        return fail_to_fit (column, field, why);
    }
  if (is_list (column->value.kind))
    {
      if (values->n_children != 1 || values->children[0]->dictionary != NULL)
        return fail_to_fit (column, field, why);
      column->item = read_type (values->children[0]);
    }
  return fits (column) || fail_to_fit (column, field, why);
}

static gboolean
find_column (ArrowColumn *column, const struct ArrowSchema *schema, char **why)
{
  g_autofree char *missing = NULL;
  const struct ArrowSchema *field = find_field (schema, column, &missing);

  if (field != NULL)
    return read_layout (column, field, why);
  column->is_absent = column->wish->has_type && column->wish->optional;
  if (!column->is_absent)
    *why = g_steal_pointer (&missing);
  return column->is_absent;
}

ArrowPlan *
arrow_plan_new (const ArrowWish *wishes,
                guint n_wishes,
                const struct ArrowSchema *schema,
                char **why)
{
  ArrowPlan *self = g_malloc0 (sizeof (ArrowPlan) + n_wishes * sizeof (ArrowColumn));

  g_atomic_ref_count_init (&self->ref_count);
  self->n_columns = n_wishes;
  for (guint i = 0; i < n_wishes; i++)
    {
      self->columns[i].wish = &wishes[i];
      if (!find_column (&self->columns[i], schema, why))
        {
          arrow_plan_unref (self);
          return NULL;
        }
    }
  return self;
}

ArrowPlan *
arrow_plan_ref (ArrowPlan *self)
{
  g_atomic_ref_count_inc (&self->ref_count);
  return self;
}

void
arrow_plan_unref (ArrowPlan *self)
{
  if (!g_atomic_ref_count_dec (&self->ref_count))
    return;
  for (guint i = 0; i < self->n_columns; i++)
    g_free (self->columns[i].steps);
  g_free (self);
}
