/* SPDX-License-Identifier: MIT */
#include "dlp-value-parser-private.h"

#include "dlp-graph-parser-private.h"
#include "dlp-quantity-private.h"
#include "dlp-suggest-private.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define MAX_SHOWN 64

/* The range of an integer type: min is the magnitude of the least value if that is negative. */
typedef struct
{
  gboolean is_negative_min;
  gboolean is_negative_max;
  guint64 min;
  guint64 max;
  gboolean is_type_min;
  gboolean is_type_max;
} Range;

static guint64
get_magnitude (gint64 value)
{
  return value < 0 ? -(guint64) value : (guint64) value;
}

static void
set_signed (Range *range, gint64 min, gint64 max, gint64 type_min, gint64 type_max)
{
  range->is_negative_min = min < 0;
  range->is_negative_max = max < 0;
  range->min = get_magnitude (min);
  range->max = get_magnitude (max);
  range->is_type_min = min == type_min;
  range->is_type_max = max == type_max;
}

static void
set_unsigned (Range *range, guint64 min, guint64 max, guint64 type_max)
{
  *range = (Range){ FALSE, FALSE, min, max, FALSE, max == type_max };
}

/* FALSE if pspec is not of an integer type. */
static gboolean
get_range (GParamSpec *pspec, Range *range)
{
  switch (G_TYPE_FUNDAMENTAL (pspec->value_type))
    {
    case G_TYPE_INT:
      set_signed (range, G_PARAM_SPEC_INT (pspec)->minimum, G_PARAM_SPEC_INT (pspec)->maximum,
                  G_MININT, G_MAXINT);
      return TRUE;
    case G_TYPE_LONG:
      set_signed (range, G_PARAM_SPEC_LONG (pspec)->minimum, G_PARAM_SPEC_LONG (pspec)->maximum,
                  G_MINLONG, G_MAXLONG);
      return TRUE;
    case G_TYPE_INT64:
      set_signed (range, G_PARAM_SPEC_INT64 (pspec)->minimum, G_PARAM_SPEC_INT64 (pspec)->maximum,
                  G_MININT64, G_MAXINT64);
      return TRUE;
    case G_TYPE_UINT:
      set_unsigned (range, G_PARAM_SPEC_UINT (pspec)->minimum, G_PARAM_SPEC_UINT (pspec)->maximum,
                    G_MAXUINT);
      return TRUE;
    case G_TYPE_ULONG:
      set_unsigned (range, G_PARAM_SPEC_ULONG (pspec)->minimum, G_PARAM_SPEC_ULONG (pspec)->maximum,
                    G_MAXULONG);
      return TRUE;
    case G_TYPE_UINT64:
      set_unsigned (range, G_PARAM_SPEC_UINT64 (pspec)->minimum,
                    G_PARAM_SPEC_UINT64 (pspec)->maximum, G_MAXUINT64);
      return TRUE;
    default:
      return FALSE;
    }
}

/* Whether the number (negative, magnitude) is below the other one. */
static gboolean
is_below (gboolean negative, guint64 magnitude, gboolean other_negative, guint64 other)
{
  if (negative != other_negative)
    return negative;
  return negative ? magnitude > other : magnitude < other;
}

static DlpQuantity
get_quantity (GParamSpec *pspec)
{
  if (pspec->flags & DLP_PARAM_BYTES)
    return DLP_QUANTITY_BYTES;
  if (pspec->flags & DLP_PARAM_DURATION)
    return DLP_QUANTITY_DURATION;
  return DLP_QUANTITY_COUNT;
}

static const char *
get_units_text (GParamSpec *pspec)
{
  switch (get_quantity (pspec))
    {
    case DLP_QUANTITY_BYTES:
      return " bytes (k, M, G are powers of 1024)";
    case DLP_QUANTITY_DURATION:
      return " (us, ms, s, m, h, d)";
    case DLP_QUANTITY_COUNT:
    default:
      return "";
    }
}

static char *
describe_integers (GParamSpec *pspec, const Range *range)
{
  DlpQuantity quantity = get_quantity (pspec);
  const char *units = get_units_text (pspec);
  g_autofree char *min = dlp_quantity_format (quantity, range->is_negative_min, range->min);
  g_autofree char *max = dlp_quantity_format (quantity, range->is_negative_max, range->max);

  if (range->is_type_max && range->is_type_min)
    return g_strdup_printf ("any whole number%s", units);
  if (range->is_type_max)
    return g_strdup_printf ("%s or more%s", min, units);
  if (range->is_type_min)
    return g_strdup_printf ("%s or less%s", max, units);
  return g_strdup_printf ("%s to %s%s", min, max, units);
}

/* The fewest digits that are read back to the same value. */
static char *
format_double (double value, gboolean is_float)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE];
  char format[] = "%.00g";

  for (guint digits = is_float ? 6 : 15; digits <= 17; digits++)
    {
      double back;

      format[2] = '0' + digits / 10;
      format[3] = '0' + digits % 10;
      g_ascii_formatd (text, sizeof text, format, value);
      back = g_ascii_strtod (text, NULL);
      if (is_float ? (float) back == (float) value : back == value)
        break;
    }
  return g_strdup (text);
}

static void
get_double_range (GParamSpec *pspec, double *min, double *max, double *type_max)
{
  if (G_IS_PARAM_SPEC_FLOAT (pspec))
    {
      *min = G_PARAM_SPEC_FLOAT (pspec)->minimum;
      *max = G_PARAM_SPEC_FLOAT (pspec)->maximum;
      *type_max = FLT_MAX;
    }
  else
    {
      *min = G_PARAM_SPEC_DOUBLE (pspec)->minimum;
      *max = G_PARAM_SPEC_DOUBLE (pspec)->maximum;
      *type_max = DBL_MAX;
    }
}

static char *
describe_doubles (GParamSpec *pspec)
{
  gboolean is_float = G_IS_PARAM_SPEC_FLOAT (pspec);
  gboolean is_duration = (pspec->flags & DLP_PARAM_DURATION) != 0;
  const char *unit = is_duration ? "s" : "";
  const char *units = is_duration ? get_units_text (pspec) : "";
  double min, max, type_max;
  g_autofree char *min_text = NULL;
  g_autofree char *max_text = NULL;

  get_double_range (pspec, &min, &max, &type_max);
  min_text = format_double (min, is_float);
  max_text = format_double (max, is_float);
  if (max >= type_max && min <= -type_max)
    return g_strdup_printf ("any number%s", units);
  if (max >= type_max)
    return g_strdup_printf ("%s%s or more%s", min_text, unit, units);
  if (min <= -type_max)
    return g_strdup_printf ("%s%s or less%s", max_text, unit, units);
  return g_strdup_printf ("%s%s to %s%s%s", min_text, unit, max_text, unit, units);
}

/* The nicks of an enum or flags class, in its order. */
static char **
list_nicks (gpointer type_class)
{
  g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();

  if (G_IS_ENUM_CLASS (type_class))
    {
      for (guint i = 0; i < G_ENUM_CLASS (type_class)->n_values; i++)
        g_strv_builder_add (builder, G_ENUM_CLASS (type_class)->values[i].value_nick);
    }
  else
    {
      for (guint i = 0; i < G_FLAGS_CLASS (type_class)->n_values; i++)
        g_strv_builder_add (builder, G_FLAGS_CLASS (type_class)->values[i].value_nick);
    }
  return g_strv_builder_end (builder);
}

static char *
describe_nicks (GParamSpec *pspec)
{
  g_autoptr (GTypeClass) type_class = g_type_class_ref (pspec->value_type);
  g_auto (GStrv) nicks = list_nicks (type_class);
  g_autofree char *joined = g_strjoinv (", ", nicks);

  if (G_IS_PARAM_SPEC_FLAGS (pspec))
    return g_strdup_printf ("%s, joined by '+'", joined);
  return g_steal_pointer (&joined);
}

static gboolean
knows_forever (GParamSpec *pspec)
{
  return (pspec->flags & DLP_PARAM_FOREVER) != 0;
}

char *
dlp_value_describe_allowed (GParamSpec *pspec)
{
  Range range;

  g_return_val_if_fail (G_IS_PARAM_SPEC (pspec), NULL);

  if (get_range (pspec, &range))
    {
      g_autofree char *numbers = describe_integers (pspec, &range);

      return knows_forever (pspec) ? g_strconcat (numbers, ", forever (0)", NULL) :
                                     g_steal_pointer (&numbers);
    }
  if (G_IS_PARAM_SPEC_DOUBLE (pspec) || G_IS_PARAM_SPEC_FLOAT (pspec))
    return describe_doubles (pspec);
  if (G_IS_PARAM_SPEC_ENUM (pspec) || G_IS_PARAM_SPEC_FLAGS (pspec))
    return describe_nicks (pspec);
  if (G_IS_PARAM_SPEC_BOOLEAN (pspec))
    return g_strdup ("true, false");
  return g_strdup ("any text");
}

static gboolean
fail (GParamSpec *pspec, const char *text, const char *why, const char *hint, GError **error)
{
  g_autofree char *allowed = dlp_value_describe_allowed (pspec);
  gsize length = strlen (text);
  g_autofree char *shown = g_utf8_make_valid (text, MIN (length, MAX_SHOWN));

  g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE, "%s=\"%s%s\" %s; allowed: %s%s%s",
               pspec->name, shown, length > MAX_SHOWN ? "..." : "", why, allowed,
               hint != NULL ? "; " : "", hint != NULL ? hint : "");
  return FALSE;
}

static gboolean
parse_integer (GParamSpec *pspec, const Range *range, const char *text, GValue *out, GError **error)
{
  const char *why = NULL;
  gboolean negative;
  guint64 magnitude;
  gint64 value;

  if (!dlp_quantity_parse (get_quantity (pspec), text, &negative, &magnitude, &why))
    return fail (pspec, text, why, NULL, error);
  negative = negative && magnitude != 0;
  if (is_below (negative, magnitude, range->is_negative_min, range->min) ||
      is_below (range->is_negative_max, range->max, negative, magnitude))
    return fail (pspec, text, "is out of range", NULL, error);

  value = negative ? (gint64) -magnitude : (gint64) magnitude;
  g_value_init (out, pspec->value_type);
  switch (G_TYPE_FUNDAMENTAL (pspec->value_type))
    {
    case G_TYPE_INT:
      g_value_set_int (out, value);
      break;
    case G_TYPE_LONG:
      g_value_set_long (out, value);
      break;
    case G_TYPE_INT64:
      g_value_set_int64 (out, value);
      break;
    case G_TYPE_UINT:
      g_value_set_uint (out, magnitude);
      break;
    case G_TYPE_ULONG:
      g_value_set_ulong (out, magnitude);
      break;
    case G_TYPE_UINT64:
    default:
      g_value_set_uint64 (out, magnitude);
      break;
    }
  return TRUE;
}

/* "0.7%" is read as 0.7e-2, which rounds once; dividing would round twice. */
static double
read_percent (const char *text, gsize length)
{
  g_autofree char *digits = g_strndup (text, length);
  g_autofree char *scaled = g_strconcat (digits, "e-2", NULL);

  if (strpbrk (digits, "eE") != NULL)
    return g_ascii_strtod (digits, NULL) / 100;
  return g_ascii_strtod (scaled, NULL);
}

static gboolean
read_double (GParamSpec *pspec, const char *text, double *value, const char **why)
{
  guint64 factor;
  char *end;

  *why = "is not a number";
  if (strchr ("+-.0123456789", *text) == NULL)
    return FALSE;
  *value = g_ascii_strtod (text, &end);
  if (end == text || memchr (text, 'x', end - text) != NULL ||
      memchr (text, 'X', end - text) != NULL)
    return FALSE;
  if (*end == '\0')
    return TRUE;

  *why = "has an unknown unit";
  if (strcmp (end, "%") == 0)
    *value = read_percent (text, end - text);
  else if ((pspec->flags & DLP_PARAM_DURATION) &&
           dlp_quantity_get_factor (DLP_QUANTITY_DURATION, end, &factor))
    *value = factor < G_USEC_PER_SEC ? *value / (G_USEC_PER_SEC / factor) :
                                       *value * (factor / G_USEC_PER_SEC);
  else
    return FALSE;
  return TRUE;
}

static gboolean
parse_double (GParamSpec *pspec, const char *text, GValue *out, GError **error)
{
  double value, min, max, type_max;
  const char *why = NULL;

  if (!read_double (pspec, text, &value, &why))
    return fail (pspec, text, why, NULL, error);
  get_double_range (pspec, &min, &max, &type_max);
  if (!isfinite (value) || value < min || value > max)
    return fail (pspec, text, "is out of range", NULL, error);

  g_value_init (out, pspec->value_type);
  if (G_IS_PARAM_SPEC_FLOAT (pspec))
    g_value_set_float (out, value);
  else
    g_value_set_double (out, value);
  return TRUE;
}

static gboolean
parse_boolean (GParamSpec *pspec, const char *text, GValue *out, GError **error)
{
  static const char *const words[] = { "false", "true", "no", "yes", "off", "on", "0", "1" };

  for (guint i = 0; i < G_N_ELEMENTS (words); i++)
    {
      if (g_ascii_strcasecmp (text, words[i]) != 0)
        continue;
      g_value_init (out, pspec->value_type);
      g_value_set_boolean (out, i % 2 == 1);
      return TRUE;
    }
  return fail (pspec, text, "is not a boolean", NULL, error);
}

static gboolean
fail_nick (GParamSpec *pspec, const char *text, const char *nick, GError **error)
{
  g_autoptr (GTypeClass) type_class = g_type_class_ref (pspec->value_type);
  g_auto (GStrv) nicks = list_nicks (type_class);
  g_autofree char *hint = dlp_suggest_hint (nick, (const char *const *) nicks);

  return fail (pspec, text, "is unknown", hint, error);
}

static gboolean
parse_enum (GParamSpec *pspec, const char *text, GValue *out, GError **error)
{
  g_autoptr (GTypeClass) type_class = g_type_class_ref (pspec->value_type);
  GEnumValue *value = g_enum_get_value_by_nick (G_ENUM_CLASS (type_class), text);

  if (value == NULL)
    return fail_nick (pspec, text, text, error);
  g_value_init (out, pspec->value_type);
  g_value_set_enum (out, value->value);
  return TRUE;
}

static gboolean
parse_flags (GParamSpec *pspec, const char *text, GValue *out, GError **error)
{
  g_autoptr (GTypeClass) type_class = g_type_class_ref (pspec->value_type);
  g_auto (GStrv) nicks = g_strsplit_set (text, "+,|", -1);
  guint flags = 0;

  for (guint i = 0; nicks[i] != NULL; i++)
    {
      GFlagsValue *value = g_flags_get_value_by_nick (G_FLAGS_CLASS (type_class), nicks[i]);

      if (value != NULL)
        flags |= value->value;
      else if (nicks[1] != NULL || strcmp (nicks[0], "none") != 0)
        return fail_nick (pspec, text, nicks[i], error);
    }
  g_value_init (out, pspec->value_type);
  g_value_set_flags (out, flags);
  return TRUE;
}

gboolean
dlp_value_parse (GParamSpec *pspec, const char *text, GValue *out, GError **error)
{
  Range range;

  g_return_val_if_fail (G_IS_PARAM_SPEC (pspec), FALSE);
  g_return_val_if_fail (text != NULL && out != NULL && !G_IS_VALUE (out), FALSE);

  if (get_range (pspec, &range))
    return parse_integer (pspec, &range,
                          knows_forever (pspec) && strcmp (text, "forever") == 0 ? "0" : text, out,
                          error);
  if (G_IS_PARAM_SPEC_DOUBLE (pspec) || G_IS_PARAM_SPEC_FLOAT (pspec))
    return parse_double (pspec, text, out, error);
  if (G_IS_PARAM_SPEC_BOOLEAN (pspec))
    return parse_boolean (pspec, text, out, error);
  if (G_IS_PARAM_SPEC_ENUM (pspec))
    return parse_enum (pspec, text, out, error);
  if (G_IS_PARAM_SPEC_FLAGS (pspec))
    return parse_flags (pspec, text, out, error);
  if (pspec->value_type == G_TYPE_STRING || pspec->value_type == G_TYPE_STRV)
    {
      const char *const element[] = { text, NULL };

      g_value_init (out, pspec->value_type);
      if (pspec->value_type == G_TYPE_STRING)
        g_value_set_string (out, text);
      else
        g_value_set_boxed (out, element);
      return TRUE;
    }
  g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE,
               "%s has the type %s, which cannot be given as text", pspec->name,
               g_type_name (pspec->value_type));
  return FALSE;
}

static char *
flags_to_text (const GValue *value)
{
  g_autoptr (GTypeClass) type_class = g_type_class_ref (G_VALUE_TYPE (value));
  guint flags = g_value_get_flags (value);
  g_autoptr (GString) text = g_string_new (NULL);
  GFlagsValue *flag = g_flags_get_first_value (G_FLAGS_CLASS (type_class), flags);

  if (flags == 0)
    return g_strdup (flag != NULL ? flag->value_nick : "none");
  while (flag != NULL && flag->value != 0)
    {
      g_string_append_printf (text, "%s%s", text->len > 0 ? "+" : "", flag->value_nick);
      flags &= ~flag->value;
      flag = g_flags_get_first_value (G_FLAGS_CLASS (type_class), flags);
    }
  return flags == 0 ? g_strdup (text->str) : NULL;
}

static char *
enum_to_text (const GValue *value)
{
  g_autoptr (GTypeClass) type_class = g_type_class_ref (G_VALUE_TYPE (value));
  GEnumValue *found = g_enum_get_value (G_ENUM_CLASS (type_class), g_value_get_enum (value));

  return found != NULL ? g_strdup (found->value_nick) : NULL;
}

static char *
double_to_text (GParamSpec *pspec, double value, gboolean is_float)
{
  g_autofree char *number = format_double (value, is_float);

  if (!isfinite (value))
    return NULL;
  return g_strconcat (number, pspec->flags & DLP_PARAM_DURATION ? "s" : "", NULL);
}

static char *
signed_to_text (GParamSpec *pspec, gint64 value)
{
  return dlp_quantity_format (get_quantity (pspec), value < 0, get_magnitude (value));
}

static char *
uint_to_text (GParamSpec *pspec, guint value)
{
  if (value == 0 && knows_forever (pspec))
    return g_strdup ("forever");
  return dlp_quantity_format (get_quantity (pspec), FALSE, value);
}

char *
dlp_value_to_text (GParamSpec *pspec, const GValue *value)
{
  g_return_val_if_fail (G_IS_PARAM_SPEC (pspec), NULL);
  g_return_val_if_fail (G_VALUE_HOLDS (value, pspec->value_type), NULL);

  switch (G_TYPE_FUNDAMENTAL (pspec->value_type))
    {
    case G_TYPE_BOOLEAN:
      return g_strdup (g_value_get_boolean (value) ? "true" : "false");
    case G_TYPE_INT:
      return signed_to_text (pspec, g_value_get_int (value));
    case G_TYPE_LONG:
      return signed_to_text (pspec, g_value_get_long (value));
    case G_TYPE_INT64:
      return signed_to_text (pspec, g_value_get_int64 (value));
    case G_TYPE_UINT:
      return uint_to_text (pspec, g_value_get_uint (value));
    case G_TYPE_ULONG:
      return dlp_quantity_format (get_quantity (pspec), FALSE, g_value_get_ulong (value));
    case G_TYPE_UINT64:
      return dlp_quantity_format (get_quantity (pspec), FALSE, g_value_get_uint64 (value));
    case G_TYPE_FLOAT:
      return double_to_text (pspec, g_value_get_float (value), TRUE);
    case G_TYPE_DOUBLE:
      return double_to_text (pspec, g_value_get_double (value), FALSE);
    case G_TYPE_ENUM:
      return enum_to_text (value);
    case G_TYPE_FLAGS:
      return flags_to_text (value);
    case G_TYPE_STRING:
      return g_value_dup_string (value);
    default:
      if (pspec->value_type == G_TYPE_STRV && g_value_get_boxed (value) != NULL &&
          g_strv_length (g_value_get_boxed (value)) == 1)
        return g_strdup (((char **) g_value_get_boxed (value))[0]);
      return NULL;
    }
}
