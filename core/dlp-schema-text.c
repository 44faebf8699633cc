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

/* (transfer full): why @name is no type. */
static char *
explain_type (const char *name)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new ();
  g_autofree char *list = NULL;
  const char *near;

  for (DlpFieldType type = DLP_FIELD_STRING; type <= DLP_FIELD_LAST; type++)
    g_ptr_array_add (names, (gpointer) dlp_field_type_to_string (type));
  g_ptr_array_add (names, NULL);
  list = g_strjoinv (", ", (char **) names->pdata);
  near = dlp_suggest (name, (const char *const *) names->pdata);
  return g_strdup_printf ("“%s” is no type%s%s%s; there are %s, with ? behind it if it may be null",
                          name, near != NULL ? ", did you mean “" : "", near != NULL ? near : "",
                          near != NULL ? "”?" : "", list);
}

gboolean
dlp_field_type_from_string (const char *text,
                            DlpFieldType *type,
                            gboolean *optional,
                            GError **error)
{
  gboolean is_optional;
  g_autofree char *name = NULL;
  g_autofree char *why = NULL;

  g_return_val_if_fail (text != NULL && type != NULL, FALSE);

  is_optional = g_str_has_suffix (text, "?");
  name = g_strndup (text, strlen (text) - (is_optional ? 1 : 0));
  for (DlpFieldType known = DLP_FIELD_STRING; known <= DLP_FIELD_LAST; known++)
    if (strcmp (dlp_field_type_to_string (known), name) == 0)
      {
        *type = known;
        if (optional != NULL)
          *optional = is_optional;
        return TRUE;
      }

  why = explain_type (name);
  g_set_error_literal (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE, why);
  return FALSE;
}

static bool
add_field (Fields *fields, const char *text, const char *part, GError **error)
{
  g_auto (GStrv) sides = g_strsplit (part, ":", 2);
  g_autoptr (GError) local_error = NULL;
  DlpFieldType type;
  gboolean optional;

  if (sides[0] == NULL || sides[1] == NULL)
    {
      fail (error, text, part, "is no NAME:TYPE");
      return false;
    }
  g_strstrip (sides[0]);
  g_strstrip (sides[1]);
  if (sides[0][0] == '\0' ||
      g_ptr_array_find_with_equal_func (fields->names, sides[0], g_str_equal, NULL))
    {
      fail (error, text, part, sides[0][0] == '\0' ? "has no name" : "is there twice");
      return false;
    }
  if (!dlp_field_type_from_string (sides[1], &type, &optional, &local_error))
    {
      g_autofree char *why = g_strconcat ("has no type: ", local_error->message, NULL);

      fail (error, text, part, why);
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
