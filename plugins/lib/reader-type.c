/* SPDX-License-Identifier: MIT */

/* Names of the types of fields. */

#include "reader-type.h"

#include <string.h>

#include <dlpipe/dlp-error.h>

/* The items of a list of any type fit into a column. */
#define MAX_LENGTH (DLP_COLUMN_MAX_BYTES / sizeof (guint64))
#define NO_LIST (-1)

typedef struct
{
  const char *name;
  DlpFieldType type;
  ReaderRange range;
  int list; /* the type of a list of them */
} TypeName;

/* Those from "string" on are other names, the same as in schemas. */
static const TypeName type_names[] = {
  { "text", DLP_FIELD_STRING, READER_RANGE_NONE, NO_LIST },
  { "bytes", DLP_FIELD_BINARY, READER_RANGE_NONE, NO_LIST },
  { "bool", DLP_FIELD_BOOLEAN, READER_RANGE_NONE, NO_LIST },
  { "i32", DLP_FIELD_INT64, READER_RANGE_I32, DLP_FIELD_LIST_INT32 },
  { "i64", DLP_FIELD_INT64, READER_RANGE_I64, DLP_FIELD_LIST_INT64 },
  { "u16", DLP_FIELD_UINT64, READER_RANGE_U16, DLP_FIELD_LIST_UINT16 },
  { "u32", DLP_FIELD_UINT64, READER_RANGE_U32, DLP_FIELD_LIST_UINT32 },
  { "u64", DLP_FIELD_UINT64, READER_RANGE_U64, NO_LIST },
  { "f32", DLP_FIELD_DOUBLE, READER_RANGE_F32, DLP_FIELD_LIST_FLOAT },
  { "f64", DLP_FIELD_DOUBLE, READER_RANGE_F64, DLP_FIELD_LIST_DOUBLE },
  { "string", DLP_FIELD_STRING, READER_RANGE_NONE, NO_LIST },
  { "binary", DLP_FIELD_BINARY, READER_RANGE_NONE, NO_LIST },
  { "boolean", DLP_FIELD_BOOLEAN, READER_RANGE_NONE, NO_LIST },
  { "int64", DLP_FIELD_INT64, READER_RANGE_I64, DLP_FIELD_LIST_INT64 },
  { "uint64", DLP_FIELD_UINT64, READER_RANGE_U64, NO_LIST },
  { "double", DLP_FIELD_DOUBLE, READER_RANGE_F64, DLP_FIELD_LIST_DOUBLE },
  { "list<uint16>", DLP_FIELD_LIST_UINT16, READER_RANGE_U16, NO_LIST },
  { "list<uint32>", DLP_FIELD_LIST_UINT32, READER_RANGE_U32, NO_LIST },
  { "list<int32>", DLP_FIELD_LIST_INT32, READER_RANGE_I32, NO_LIST },
  { "list<int64>", DLP_FIELD_LIST_INT64, READER_RANGE_I64, NO_LIST },
  { "list<float>", DLP_FIELD_LIST_FLOAT, READER_RANGE_F32, NO_LIST },
  { "list<double>", DLP_FIELD_LIST_DOUBLE, READER_RANGE_F64, NO_LIST },
};

static const TypeName *
find_name (const char *name)
{
  for (guint i = 0; i < G_N_ELEMENTS (type_names); i++)
    if (strcmp (type_names[i].name, name) == 0)
      return &type_names[i];
  return NULL;
}

static char *
explain_name (const char *name)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new ();
  const char *near;

  for (guint i = 0; i < G_N_ELEMENTS (type_names); i++)
    g_ptr_array_add (names, (gpointer) type_names[i].name);
  g_ptr_array_add (names, NULL);
  near = dlp_suggest (name, (const char *const *) names->pdata);
  return g_strdup_printf ("“%s” is no type%s%s%s; there are text, bytes, bool, i32, i64, u16, u32, "
                          "u64, f32, f64, and lists of numbers such as i32[] and i32[2048], with ? "
                          "behind it where null is taken; a colon in a name is written \\:",
                          name, near != NULL ? ", did you mean “" : "", near != NULL ? near : "",
                          near != NULL ? "”?" : "");
}

/* What is in the brackets. */
static gboolean
read_length (const char *text, guint *length, char **why)
{
  guint64 number = 0;
  gboolean is_any = strcmp (text, "]") == 0;
  g_autofree char *digits = g_strndup (text, strcspn (text, "]"));

  if (is_any || (text[strlen (digits)] == ']' && text[strlen (digits) + 1] == '\0' &&
                 g_ascii_string_to_unsigned (digits, 10, 1, MAX_LENGTH, &number, NULL)))
    {
      *length = (guint) number;
      return TRUE;
    }
  *why = g_strdup_printf ("“[%s” is no length; it is [], or [N] with 1 to %" G_GSIZE_FORMAT, text,
                          MAX_LENGTH);
  return FALSE;
}

static gboolean
read_list (const TypeName *item, const char *bracket, ReaderField *field, char **why)
{
  field->type = (DlpFieldType) item->list;
  field->range = item->range;
  if (item->list != NO_LIST)
    return read_length (bracket + 1, &field->length, why);
  *why = g_strdup_printf ("there are no lists of %s; of numbers there are i32[], i64[], u16[], "
                          "u32[], f32[] and f64[]",
                          item->name);
  return FALSE;
}

gboolean
reader_type_parse (const char *text, ReaderField *field, char **why)
{
  gboolean optional = g_str_has_suffix (text, "?");
  g_autofree char *whole = g_strndup (text, strlen (text) - (optional ? 1 : 0));
  g_autofree char *name = g_strndup (whole, strcspn (whole, "["));
  const char *bracket = strchr (whole, '[');
  const TypeName *found = find_name (name);

  if (found == NULL)
    {
      *why = explain_name (name);
      return FALSE;
    }
  field->optional = optional;
  field->has_type = TRUE;
  field->type = found->type;
  field->range = found->range;
  if (bracket != NULL && !read_list (found, bracket, field, why))
    return FALSE;
  field->type_name = g_steal_pointer (&whole);
  return TRUE;
}
