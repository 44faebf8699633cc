/* SPDX-License-Identifier: MIT */

/* A schema as a value in graph text. */

#include "dlp-schema-text-private.h"

#include <stdbool.h>
#include <string.h>

#include <dlpipe/dlp-error.h>

#include "dlp-schema-private.h"

static const char *const kinds[] = { "records", "files", "batches" };

typedef struct
{
  GPtrArray *names; /* of char * */
  GArray *types;    /* of DlpFieldType */
  GArray *optional; /* of gboolean */
} Fields;

static void
fail (GError **error, const char *text, const char *part, const char *why)
{
  g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE,
               "schema “%s”: “%s” %s; it is a list such as text:string,score:double?", text, part,
               why);
}

static bool
find_type (const char *name, DlpFieldType *type)
{
  for (*type = DLP_FIELD_STRING; *type <= DLP_FIELD_LIST_UINT32; (*type)++)
    if (strcmp (dlp_field_type_to_string (*type), name) == 0)
      return true;
  return false;
}

static bool
add_field (Fields *fields, const char *text, const char *part, GError **error)
{
  g_auto (GStrv) sides = g_strsplit (part, ":", 2);
  DlpFieldType type;
  gboolean optional;

  if (sides[0] == NULL || sides[1] == NULL)
    {
      fail (error, text, part, "is no NAME:TYPE");
      return false;
    }
  g_strstrip (sides[0]);
  g_strstrip (sides[1]);
  optional = g_str_has_suffix (sides[1], "?");
  if (optional)
    sides[1][strlen (sides[1]) - 1] = '\0';
  if (sides[0][0] == '\0' ||
      g_ptr_array_find_with_equal_func (fields->names, sides[0], g_str_equal, NULL))
    {
      fail (error, text, part, sides[0][0] == '\0' ? "has no name" : "is there twice");
      return false;
    }
  if (!find_type (sides[1], &type))
    {
      fail (error, text, part,
            "has no type of string, binary, boolean, int64, uint64, double, list<uint16>, "
            "list<uint32>, with ? if it may be null");
      return false;
    }
  g_ptr_array_add (fields->names, g_strdup (sides[0]));
  g_array_append_val (fields->types, type);
  g_array_append_val (fields->optional, optional);
  return true;
}

/* What is between the braces, if there are any. */
static char *
split_kind (const char *text, DlpSchemaKind *kind)
{
  const char *brace = strchr (text, '{');
  gsize length = strlen (text);
  g_autofree char *name = NULL;

  *kind = DLP_SCHEMA_RECORDS;
  if (brace == NULL)
    return g_strdup (text);
  name = g_strstrip (g_strndup (text, brace - text));
  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    if (strcmp (kinds[i], name) == 0 && text[length - 1] == '}')
      {
        *kind = i;
        return g_strndup (brace + 1, text + length - 1 - (brace + 1));
      }
  return NULL;
}

DlpSchema *
dlp_schema_parse (const char *text, GError **error)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GArray) types = g_array_new (FALSE, FALSE, sizeof (DlpFieldType));
  g_autoptr (GArray) optional = g_array_new (FALSE, FALSE, sizeof (gboolean));
  Fields fields = { names, types, optional };
  DlpSchemaKind kind;
  g_autofree char *list = split_kind (text, &kind);
  g_auto (GStrv) parts = NULL;

  if (list == NULL)
    {
      fail (error, text, text,
            "has braces, but not as in records {NAME:TYPE, ...} or batches {...}");
      return NULL;
    }
  parts = g_strsplit (g_strstrip (list), ",", -1);
  if (parts[0] == NULL)
    {
      fail (error, text, "", "names no field");
      return NULL;
    }
  for (guint i = 0; parts[i] != NULL; i++)
    if (!add_field (&fields, text, g_strstrip (parts[i]), error))
      return NULL;
  return dlp_schema_new (kind, names->len, (const char *const *) names->pdata,
                         (const DlpFieldType *) types->data, (const gboolean *) optional->data);
}

char *
dlp_schema_to_text (const DlpSchema *self)
{
  GString *text = g_string_new (NULL);

  if (self->kind != DLP_SCHEMA_RECORDS)
    g_string_append_printf (text, "%s{", kinds[self->kind]);
  for (guint i = 0; i < self->n_fields; i++)
    g_string_append_printf (text, "%s%s:%s%s", i > 0 ? "," : "", self->fields[i].name,
                            dlp_field_type_to_string (self->fields[i].type),
                            self->fields[i].optional ? "?" : "");
  if (self->kind != DLP_SCHEMA_RECORDS)
    g_string_append_c (text, '}');
  return g_string_free (text, FALSE);
}
