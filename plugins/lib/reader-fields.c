/* SPDX-License-Identifier: MIT */

/* The property fields: what is wanted besides the text, and of what types. */

#include "reader-fields.h"

#include <string.h>

#include <dlpipe/dlp-element.h>
#include <dlpipe/dlp-error.h>

#include "reader-type.h"
#include "value-message.h"

/* Names of columns that a message lists. */
#define MAX_NAMES 20

/* A value of the property that is being read. */
typedef struct
{
  const char *text;
  const char *format;
  ReaderFieldsFlags flags;
  GPtrArray *fields; /* of ReaderField */
  GError **error;
} Parser;

static void
field_free (gpointer data)
{
  ReaderField *field = data;

  g_free (field->entry);
  g_free (field->path);
  g_free (field->name);
  g_free (field->type_name);
  g_free (field);
}

/* The first of @marks at or behind @p that no backslash stands before; or the end. */
static const char *
find_mark (const char *p, const char *end, const char *marks)
{
  for (; p < end && strchr (marks, *p) == NULL; p++)
    if (*p == '\\' && p + 1 < end)
      p++;
  return p;
}

/* The last colon that no backslash stands before, or NULL. */
static const char *
find_type (const char *start, const char *end)
{
  const char *last = NULL;

  for (const char *p = find_mark (start, end, ":"); p < end; p = find_mark (p + 1, end, ":"))
    last = p;
  return last;
}

static const char *
skip_blanks (const char *p, const char *end)
{
  while (p < end && g_ascii_isspace (*p))
    p++;
  return p;
}

static const char *
trim_blanks (const char *start, const char *end)
{
  while (end > start && g_ascii_isspace (end[-1]))
    end--;
  return end;
}

static gboolean
fail (const Parser *self, const char *start, const char *end, const char *message)
{
  return value_fail ("fields", self->text, (gsize) (start - self->text), (gsize) (end - self->text),
                     DLP_GRAPH_ERROR_VALUE, self->error, message);
}

/* ---- the type and what follows it ---- */

/* What the format does not have. */
static gboolean
check_type (const Parser *self, const ReaderField *field, char **why)
{
  gboolean has_binary = self->flags & READER_FIELDS_BINARY;
  gboolean has_lists = self->flags & READER_FIELDS_LISTS;

  if ((field->type != DLP_FIELD_BINARY || has_binary) &&
      (!reader_field_is_list (field) || has_lists))
    return TRUE;
  *why = g_strdup_printf ("%s is read as string, number, boolean%s%s, not as %s", self->format,
                          has_binary ? ", binary" : "", has_lists ? ", list of numbers" : "",
                          field->type_name);
  return FALSE;
}

static gboolean
read_type (const Parser *self, ReaderField *field, const char *start, const char *end)
{
  g_autofree char *text = g_strndup (start, (gsize) (end - start));
  g_autofree char *why = NULL;

  return (reader_type_parse (text, field, &why) && check_type (self, field, &why)) ||
         fail (self, start, end, why);
}

static gboolean
read_pad (const Parser *self, ReaderField *field, const char *start, const char *end)
{
  g_autofree char *text = g_strndup (start, (gsize) (end - start));
  g_autofree char *why = NULL;
  gsize size = strlen (text);

  field->has_pad = TRUE;
  if (number_is_well_formed ((const guint8 *) text, size) &&
      reader_number_read (&field->pad, field->range, (const guint8 *) text, size) == NUMBER_OK)
    return TRUE;
  why = g_strdup_printf ("pad: “%s” is no value of %s; allowed are %s, %s", text, field->type_name,
                         reader_range_get_limits (field->range),
                         field->range >= READER_RANGE_F32 ? "decimal numbers" : "whole numbers");
  return fail (self, start, end, why);
}

/* "pad=0" or "cut=true". */
static gboolean
read_option (const Parser *self, ReaderField *field, const char *start, const char *end)
{
  g_autofree char *text = g_strndup (start, (gsize) (end - start));
  gboolean is_pad = g_str_has_prefix (text, "pad=");
  g_autofree char *why = NULL;

  if (!is_pad && strcmp (text, "cut=true") != 0 && strcmp (text, "cut=false") != 0)
    {
      why = g_strdup_printf ("“%s” is neither pad=NUMBER nor cut=true or cut=false", text);
      return fail (self, start, end, why);
    }
  if (field->length == 0)
    return fail (self, start, end, "pad and cut need a list of a length, such as i32[2048]");
  if (is_pad)
    return read_pad (self, field, start + strlen ("pad="), end);
  field->cut = strcmp (text, "cut=true") == 0;
  return TRUE;
}

static gboolean
read_type_and_options (const Parser *self, ReaderField *field, const char *start, const char *end)
{
  const char *stop;

  for (gboolean first = TRUE; first || start < end; first = FALSE)
    {
      for (stop = start; stop < end && !g_ascii_isspace (*stop);)
        stop++;
      if (!(first ? read_type : read_option) (self, field, start, stop))
        return FALSE;
      start = skip_blanks (stop, end);
    }
  return TRUE;
}

/* ---- names ---- */

/* An equals sign needs its backslash here alone. */
static char *
dup_path (const char *start, const char *end)
{
  GString *path = g_string_new_len (start, end - start);

  g_string_replace (path, "\\=", "=", 0);
  return g_string_free (path, FALSE);
}

static gboolean
read_name (const Parser *self, ReaderField *field, const char *start, const char *end)
{
  const char *equals = find_mark (start, end, "=");

  field->entry = g_strndup (start, (gsize) (end - start));
  field->has_name = equals < end;
  if (field->has_name)
    {
      g_autofree char *name = g_strndup (start, (gsize) (trim_blanks (start, equals) - start));
      const char *behind = skip_blanks (equals + 1, end);

      field->name = reader_field_unescape (g_strchug (name));
      field->path = dup_path (behind, end);
    }
  else
    {
      field->path = dup_path (start, end);
      field->name = g_strdup (field->path);
    }
  return (*field->name != '\0' && *field->path != '\0') ||
         fail (self, start, end, "a field has no name");
}

static gboolean
check_name (const Parser *self,
            const ReaderField *field,
            const char *text_field,
            const char *start,
            const char *end)
{
  g_autofree char *why = NULL;

  if (reader_fields_has_text (text_field) && strcmp (field->name, "text") == 0)
    why = g_strdup_printf ("\"text\" is the name of the field that field=%s becomes", text_field);
  for (guint i = 0; i < self->fields->len && why == NULL; i++)
    if (strcmp (field->name, ((ReaderField *) self->fields->pdata[i])->name) == 0)
      why = g_strdup_printf ("\"%s\" is given twice", field->name);
  return why == NULL || fail (self, start, end, why);
}

/* ---- entries ---- */

static gboolean
add_entry (Parser *self, const char *text_field, const char *start, const char *end)
{
  const char *colon = find_type (start, end);
  const char *name_end = colon != NULL ? trim_blanks (start, colon) : end;
  ReaderField *field = g_new0 (ReaderField, 1);
  gboolean is_good;

  field->type = DLP_FIELD_STRING;
  field->optional = TRUE;
  is_good = read_name (self, field, start, name_end);
  if (is_good && colon != NULL)
    is_good = read_type_and_options (self, field, skip_blanks (colon + 1, end), end);
  if (is_good)
    is_good = check_name (self, field, text_field, start, name_end);
  if (is_good)
    g_ptr_array_add (self->fields, field);
  else
    field_free (field);
  return is_good;
}

/* Blanks beside a comma do not count; others did before there were commas. */
static gboolean
add_entries (Parser *self, const char *text_field)
{
  const char *end = self->text + strlen (self->text);

  for (const char *p = self->text;;)
    {
      const char *comma = find_mark (p, end, ",");
      const char *start = p == self->text ? p : skip_blanks (p, comma);
      const char *stop = comma == end ? end : trim_blanks (start, comma);

      if (!add_entry (self, text_field, start, stop))
        return FALSE;
      if (comma == end)
        return TRUE;
      p = comma + 1;
    }
}

GPtrArray *
reader_fields_parse (const char *const *texts,
                     const char *field,
                     const char *format,
                     ReaderFieldsFlags flags,
                     GError **error)
{
  g_autoptr (GPtrArray) fields = g_ptr_array_new_with_free_func (field_free);

  for (guint i = 0; texts != NULL && texts[i] != NULL; i++)
    {
      Parser parser = { texts[i], format, flags, fields, error };

      if (!g_utf8_validate (texts[i], -1, NULL))
        {
          g_set_error_literal (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE,
                               "fields: it is not valid UTF-8");
          return NULL;
        }
      if (!add_entries (&parser, field))
        return NULL;
    }
  return g_steal_pointer (&fields);
}

gboolean
reader_fields_has_text (const char *field)
{
  return field != NULL && *field != '\0';
}

void
reader_fields_refuse_none (GError **error)
{
  g_set_error_literal (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE,
                       "field is empty and there are no fields; one of them has to name what is "
                       "read");
}

gboolean
reader_field_is_list (const ReaderField *field)
{
  return field->type >= DLP_FIELD_LIST_UINT16;
}

char *
reader_field_unescape (const char *path)
{
  GString *name = g_string_new (NULL);

  for (; *path != '\0'; path++)
    {
      if (*path == '\\' && path[1] != '\0')
        path++;
      g_string_append_c (name, *path);
    }
  return g_string_free (name, FALSE);
}

GPtrArray *
reader_field_split_path (const char *path)
{
  GPtrArray *names = g_ptr_array_new_with_free_func (g_free);
  const char *start = path;

  for (const char *p = path;; p++)
    {
      if (*p == '\\' && p[1] != '\0')
        {
          p++;
          continue;
        }
      if (*p != '.' && *p != '\0')
        continue;

      g_autofree char *name = g_strndup (start, (gsize) (p - start));

      g_ptr_array_add (names, reader_field_unescape (name));
      if (*p == '\0')
        return names;
      start = p + 1;
    }
}

GPtrArray *
reader_fields_split_names (const char *const *texts)
{
  GPtrArray *names = g_ptr_array_new_with_free_func (g_free);

  for (guint i = 0; texts != NULL && texts[i] != NULL; i++)
    for (const char *p = texts[i];; p++)
      {
        const char *end = find_mark (p, p + strlen (p), ",");
        g_autofree char *name = g_strndup (p, end - p);

        g_ptr_array_add (names, reader_field_unescape (g_strstrip (name)));
        p = end;
        if (*end == '\0')
          break;
      }
  return names;
}

char *
reader_fields_list_names (const char *const *names, guint n_names, const char *wanted)
{
  g_autoptr (GString) text = g_string_new (NULL);
  const char *near = dlp_suggest (wanted, names);

  for (guint i = 0; i < MIN (n_names, MAX_NAMES); i++)
    g_string_append_printf (text, "%s\"%s\"", i > 0 ? ", " : "", names[i]);
  if (n_names > MAX_NAMES)
    g_string_append (text, ", ...");
  if (near != NULL)
    g_string_append_printf (text, "; did you mean \"%s\"?", near);
  return g_string_free (g_steal_pointer (&text), FALSE);
}

const char *
reader_field_get_wanted (const ReaderField *field)
{
  if (reader_field_is_list (field))
    return field->range >= READER_RANGE_F32 ? "a list of numbers" : "a list of whole numbers";
  if (field->range != READER_RANGE_NONE)
    return reader_range_get_wanted (field->range);
  return field->type == DLP_FIELD_BOOLEAN ? "true or false" :
         field->type == DLP_FIELD_BINARY  ? "bytes" :
                                            "a string";
}

const char *
reader_field_get_type_name (const ReaderField *field)
{
  return field->type_name != NULL ? field->type_name : dlp_field_type_to_string (field->type);
}

/* ---- the properties ---- */

#define OWN_BLURB (DLP_PARAM_READWRITE & ~G_PARAM_STATIC_BLURB)

GParamSpec *
reader_field_new_pspec (const char *what, const char *path)
{
  g_autofree char *blurb =
      g_strdup_printf ("%s that becomes the field text%s%s; empty: no text, only fields", what,
                       path != NULL ? "; " : "", path != NULL ? path : "");

  return g_param_spec_string ("field", NULL, blurb, "text", OWN_BLURB);
}

GParamSpec *
reader_fields_new_pspec (const char *what, ReaderFieldsFlags flags)
{
  gboolean has_lists = flags & READER_FIELDS_LISTS;
  g_autofree char *blurb = g_strdup_printf (
      "%s, [OUT=]IN[:TYPE[?]] with commas between (score:f32?,n:i64,lang%s): text, bool, i32, i64, "
      "u16, u32, u64, f32, f64%s%s, with ? also null; without a type a string",
      what, has_lists ? ",tokens=input_ids:i32[2048] pad=0 cut=true" : "",
      flags & READER_FIELDS_BINARY ? ", bytes" : "",
      has_lists ? ", lists of numbers TYPE[] and TYPE[LENGTH]" : "");

  return g_param_spec_boxed ("fields", NULL, blurb, G_TYPE_STRV, OWN_BLURB);
}
