/* SPDX-License-Identifier: MIT */

/* A state as JSON that can be read back. JSON has fewer types than GVariant: a value whose type is
 * not known from where it stands is an object of one member, named by its type. */

#include <math.h>
#include <string.h>

#include "dlp-checkpoint-private.h"

#include <dlpipe/dlp-error.h>

/* States are a few levels deep. What is deeper is none; so the calls are bounded too. */
#define MAX_DEPTH 48
#define BASE64 "base64"

static GVariant *print_value (GVariant *value, guint depth);
static GVariant *
parse_value (GVariant *json, const GVariantType *type, guint depth, GError **error);

/* What is added is owned here or floating: what was there already is not copied. */
static void
add (GVariantBuilder *builder, GVariant *value)
{
  g_autoptr (GVariant) owned = g_variant_take_ref (value);

  g_variant_builder_add_value (builder, owned);
}

static void
add_entry (GVariantBuilder *builder, const char *key, GVariant *value)
{
  g_autoptr (GVariant) owned = g_variant_take_ref (value);

  g_variant_builder_add_value (builder,
                               g_variant_new_dict_entry (g_variant_new_string (key), owned));
}

static GVariant *
box (GVariant *value)
{
  g_autoptr (GVariant) owned = g_variant_take_ref (value);

  return g_variant_new_variant (owned);
}

static GVariant *
name_value (const char *name, GVariant *value)
{
  GVariantBuilder builder;

  g_variant_builder_init (&builder, G_VARIANT_TYPE_VARDICT);
  add_entry (&builder, name, box (value));
  return g_variant_builder_end (&builder);
}

/* ---- printing ---- */

/* Bytes that are a text are shown as one. */
static GVariant *
print_bytes (GVariant *value)
{
  gsize n;
  const char *data = g_variant_get_fixed_array (value, &n, 1);
  g_autofree char *text = NULL;

  if (n > 0 && data[n - 1] == '\0' && strlen (data) == n - 1 && g_utf8_validate (data, -1, NULL))
    return g_variant_new_string (data);
  text = g_base64_encode ((const guchar *) data, n);
  return name_value (BASE64, g_variant_new_string (text));
}

static GVariant *
print_dict (GVariant *value, guint depth)
{
  GVariantBuilder builder;

  g_variant_builder_init (&builder, G_VARIANT_TYPE_VARDICT);
  for (gsize i = 0; i < g_variant_n_children (value); i++)
    {
      g_autoptr (GVariant) entry = g_variant_get_child_value (value, i);
      g_autoptr (GVariant) key = g_variant_get_child_value (entry, 0);
      g_autoptr (GVariant) child = g_variant_get_child_value (entry, 1);

      add_entry (&builder, g_variant_get_string (key, NULL), box (print_value (child, depth)));
    }
  return g_variant_builder_end (&builder);
}

static GVariant *
print_list (GVariant *value, guint depth)
{
  GVariantBuilder builder;

  g_variant_builder_init (&builder, G_VARIANT_TYPE ("av"));
  for (gsize i = 0; i < g_variant_n_children (value); i++)
    {
      g_autoptr (GVariant) child = g_variant_get_child_value (value, i);

      add (&builder, box (print_value (child, depth)));
    }
  return g_variant_builder_end (&builder);
}

static GVariant *
print_double (GVariant *value)
{
  double number = g_variant_get_double (value);

  if (isfinite (number))
    return g_variant_ref (value);
  return g_variant_new_string (isnan (number) ? "nan" : number > 0 ? "inf" : "-inf");
}

static bool
is_dict (const GVariantType *type)
{
  return g_variant_type_is_subtype_of (type, G_VARIANT_TYPE ("a{s*}"));
}

static GVariant *
print_value (GVariant *value, guint depth)
{
  const GVariantType *type = g_variant_get_type (value);
  g_autoptr (GVariant) inner = NULL;

  if (depth == 0)
    return g_variant_new_string ("too deep");
  if (g_variant_type_equal (type, G_VARIANT_TYPE_BYTESTRING))
    return print_bytes (value);
  if (is_dict (type))
    return print_dict (value, depth - 1);
  if (g_variant_type_is_variant (type))
    {
      inner = g_variant_get_variant (value);
      return name_value (g_variant_get_type_string (inner), print_value (inner, depth - 1));
    }
  if (g_variant_type_is_container (type))
    return print_list (value, depth - 1);
  return g_variant_type_equal (type, G_VARIANT_TYPE_DOUBLE) ? print_double (value) :
                                                              g_variant_ref (value);
}

GVariant *
dlp_checkpoint_print_value (GVariant *value)
{
  return print_value (value, MAX_DEPTH);
}

/* ---- reading ---- */

static GVariant *
mismatch (GVariant *json, const GVariantType *type, GError **error)
{
  g_autofree char *name = g_variant_type_dup_string (type);
  g_autofree char *shown = g_variant_print (json, FALSE);

  if (strlen (shown) > 80)
    shown[g_utf8_find_prev_char (shown, shown + 80) - shown] = '\0';
  g_set_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CORRUPT,
               "malformed: %s is no value of type %s", shown, name);
  return NULL;
}

/* The one member of an object; NULL: it is none. */
static GVariant *
unbox (GVariant *json, char **name)
{
  GVariant *value = NULL;

  if (!g_variant_is_of_type (json, G_VARIANT_TYPE_VARDICT) || g_variant_n_children (json) != 1)
    return NULL;
  g_variant_get_child (json, 0, "{sv}", name, &value);
  return value;
}

static GVariant *
parse_bytes (GVariant *json, const GVariantType *type, GError **error)
{
  g_autofree char *name = NULL;
  g_autoptr (GVariant) inner = NULL;
  guchar *data;
  gsize n;

  if (g_variant_is_of_type (json, G_VARIANT_TYPE_STRING))
    return g_variant_new_bytestring (g_variant_get_string (json, NULL));
  inner = unbox (json, &name);
  if (inner == NULL || strcmp (name, BASE64) != 0 ||
      !g_variant_is_of_type (inner, G_VARIANT_TYPE_STRING))
    return mismatch (json, type, error);
  data = g_base64_decode (g_variant_get_string (inner, NULL), &n);
  return g_variant_new_from_data (G_VARIANT_TYPE_BYTESTRING, data, n, TRUE, g_free, data);
}

static GVariant *
parse_variant (GVariant *json, const GVariantType *type, guint depth, GError **error)
{
  g_autofree char *name = NULL;
  g_autoptr (GVariant) inner = unbox (json, &name);
  GVariant *value;

  if (inner == NULL || !g_variant_type_string_is_valid (name) ||
      !g_variant_type_is_definite (G_VARIANT_TYPE (name)))
    return mismatch (json, type, error);
  value = parse_value (inner, G_VARIANT_TYPE (name), depth, error);
  return value != NULL ? box (value) : NULL;
}

static GVariant *
parse_dict (GVariant *json, const GVariantType *type, guint depth, GError **error)
{
  const GVariantType *entry_type = g_variant_type_element (type);
  GVariantBuilder builder;

  if (!g_variant_is_of_type (json, G_VARIANT_TYPE_VARDICT))
    return mismatch (json, type, error);
  g_variant_builder_init (&builder, type);
  for (gsize i = 0; i < g_variant_n_children (json); i++)
    {
      g_autofree char *key = NULL;
      g_autoptr (GVariant) child = NULL;
      GVariant *value;

      g_variant_get_child (json, i, "{sv}", &key, &child);
      value = parse_value (child, g_variant_type_value (entry_type), depth, error);
      if (value == NULL)
        {
          g_variant_builder_clear (&builder);
          return NULL;
        }
      add_entry (&builder, key, value);
    }
  return g_variant_builder_end (&builder);
}

/* The type of the first child of a list of @type; NULL: there is none. */
static const GVariantType *
first_type (const GVariantType *type)
{
  if (g_variant_type_is_array (type) || g_variant_type_is_maybe (type))
    return g_variant_type_element (type);
  return g_variant_type_first (type);
}

static bool
fits (const GVariantType *type, gsize n)
{
  return g_variant_type_is_array (type) || (g_variant_type_is_maybe (type) && n <= 1) ||
         ((g_variant_type_is_tuple (type) || g_variant_type_is_dict_entry (type)) &&
          g_variant_type_n_items (type) == n);
}

static GVariant *
parse_list (GVariant *json, const GVariantType *type, guint depth, GError **error)
{
  const GVariantType *child_type = first_type (type);
  GVariantBuilder builder;

  if (!g_variant_is_of_type (json, G_VARIANT_TYPE ("av")) ||
      !fits (type, g_variant_n_children (json)))
    return mismatch (json, type, error);
  g_variant_builder_init (&builder, type);
  for (gsize i = 0; i < g_variant_n_children (json); i++)
    {
      g_autoptr (GVariant) child = NULL;
      GVariant *value;

      g_variant_get_child (json, i, "v", &child);
      value = parse_value (child, child_type, depth, error);
      if (value == NULL)
        {
          g_variant_builder_clear (&builder);
          return NULL;
        }
      add (&builder, value);
      if (!g_variant_type_is_array (type) && !g_variant_type_is_maybe (type))
        child_type = g_variant_type_next (child_type);
    }
  return g_variant_builder_end (&builder);
}

static GVariant *
parse_double (GVariant *json, const GVariantType *type, GError **error)
{
  const char *text;

  if (g_variant_is_of_type (json, G_VARIANT_TYPE_DOUBLE))
    return g_variant_ref (json);
  if (g_variant_is_of_type (json, G_VARIANT_TYPE_INT64))
    return g_variant_new_double ((double) g_variant_get_int64 (json));
  if (g_variant_is_of_type (json, G_VARIANT_TYPE_UINT64))
    return g_variant_new_double ((double) g_variant_get_uint64 (json));
  if (!g_variant_is_of_type (json, G_VARIANT_TYPE_STRING))
    return mismatch (json, type, error);
  text = g_variant_get_string (json, NULL);
  if (strcmp (text, "nan") == 0)
    return g_variant_new_double ((double) NAN);
  if (strcmp (text, "inf") == 0 || strcmp (text, "-inf") == 0)
    return g_variant_new_double (text[0] == '-' ? -(double) INFINITY : (double) INFINITY);
  return mismatch (json, type, error);
}

/* Numbers of the types y, n, q, i, u and x. */
static GVariant *
parse_integer (GVariant *json, const GVariantType *type, GError **error)
{
  gint64 number;

  if (!g_variant_is_of_type (json, G_VARIANT_TYPE_INT64))
    return mismatch (json, type, error);
  number = g_variant_get_int64 (json);
  switch (g_variant_type_peek_string (type)[0])
    {
    case 'y':
      return number == (guint8) number ? g_variant_new_byte ((guint8) number) :
                                         mismatch (json, type, error);
    case 'n':
      return number == (gint16) number ? g_variant_new_int16 ((gint16) number) :
                                         mismatch (json, type, error);
    case 'q':
      return number == (guint16) number ? g_variant_new_uint16 ((guint16) number) :
                                          mismatch (json, type, error);
    case 'i':
      return number == (gint32) number ? g_variant_new_int32 ((gint32) number) :
                                         mismatch (json, type, error);
    case 'u':
      return number == (guint32) number ? g_variant_new_uint32 ((guint32) number) :
                                          mismatch (json, type, error);
    case 'x':
      return g_variant_new_int64 (number);
    default:
      return mismatch (json, type, error);
    }
}

static GVariant *
parse_basic (GVariant *json, const GVariantType *type, GError **error)
{
  switch (g_variant_type_peek_string (type)[0])
    {
    case 'b':
    case 's':
      return g_variant_is_of_type (json, type) ? g_variant_ref (json) :
                                                 mismatch (json, type, error);
    case 'd':
      return parse_double (json, type, error);
    case 't':
      if (g_variant_is_of_type (json, G_VARIANT_TYPE_UINT64))
        return g_variant_ref (json);
      if (!g_variant_is_of_type (json, G_VARIANT_TYPE_INT64) || g_variant_get_int64 (json) < 0)
        return mismatch (json, type, error);
      return g_variant_new_uint64 ((guint64) g_variant_get_int64 (json));
    default:
      return parse_integer (json, type, error);
    }
}

static GVariant *
parse_value (GVariant *json, const GVariantType *type, guint depth, GError **error)
{
  if (depth == 0 || type == NULL)
    {
      g_set_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CORRUPT,
                   "malformed: a value is nested deeper than %d", MAX_DEPTH);
      return NULL;
    }
  if (g_variant_type_equal (type, G_VARIANT_TYPE_BYTESTRING))
    return parse_bytes (json, type, error);
  if (is_dict (type))
    return parse_dict (json, type, depth - 1, error);
  if (g_variant_type_is_variant (type))
    return parse_variant (json, type, depth - 1, error);
  if (g_variant_type_is_container (type))
    return parse_list (json, type, depth - 1, error);
  return parse_basic (json, type, error);
}

GVariant *
dlp_checkpoint_parse_value (GVariant *json, const GVariantType *type, GError **error)
{
  GVariant *value = parse_value (json, type, MAX_DEPTH, error);

  return value != NULL ? g_variant_take_ref (value) : NULL;
}
