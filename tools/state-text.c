/* SPDX-License-Identifier: MIT */

#include "state.h"

#include <stdio.h>
#include <string.h>

#define SHOWN_CHILDREN 8
#define SHOWN_BYTES 400
#define MAX_DEPTH 8

static void append_value (GString *out, GVariant *value, guint depth);

static void
append_children (GString *out, GVariant *value, guint depth)
{
  gsize n = g_variant_n_children (value);
  gsize shown =
      g_variant_is_of_type (value, G_VARIANT_TYPE_DICTIONARY) ? n : MIN (n, SHOWN_CHILDREN);

  for (gsize i = 0; i < shown; i++)
    {
      g_autoptr (GVariant) child = g_variant_get_child_value (value, i);

      g_string_append (out, i > 0 ? ", " : "");
      append_value (out, child, depth);
    }
  if (shown < n)
    g_string_append_printf (out, ", … %" G_GSIZE_FORMAT " in all", n);
}

static void
append_container (GString *out, GVariant *value, guint depth)
{
  const GVariantType *type = g_variant_get_type (value);
  g_autoptr (GVariant) key = NULL;
  g_autoptr (GVariant) inner = NULL;

  if (g_variant_type_is_variant (type))
    {
      inner = g_variant_get_variant (value);
      append_value (out, inner, depth);
      return;
    }
  if (g_variant_type_is_dict_entry (type))
    {
      key = g_variant_get_child_value (value, 0);
      inner = g_variant_get_child_value (value, 1);
      append_value (out, key, depth);
      g_string_append (out, " ");
      append_value (out, inner, depth);
      return;
    }
  g_string_append_c (out, '[');
  append_children (out, value, depth);
  g_string_append_c (out, ']');
}

static void
append_value (GString *out, GVariant *value, guint depth)
{
  const GVariantType *type = g_variant_get_type (value);
  g_autofree char *text = NULL;

  if (depth == 0)
    {
      g_string_append (out, "…");
      return;
    }
  if (g_variant_type_is_container (type) && !g_variant_type_equal (type, G_VARIANT_TYPE_BYTESTRING))
    {
      append_container (out, value, depth - 1);
      return;
    }
  /* Strings are quoted and escaped, so that nothing plays with a terminal. */
  text = g_variant_print (value, FALSE);
  if (g_variant_is_of_type (value, G_VARIANT_TYPE_STRING) &&
      strspn (g_variant_get_string (value, NULL),
              "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./") ==
          strlen (g_variant_get_string (value, NULL)) &&
      g_variant_get_size (value) > 1)
    g_string_append (out, g_variant_get_string (value, NULL));
  else
    g_string_append (out, text);
}

char *
state_print_value (GVariant *value)
{
  GString *out = g_string_new (NULL);

  if (g_variant_is_of_type (value, G_VARIANT_TYPE_VARDICT))
    append_children (out, value, MAX_DEPTH);
  else
    append_value (out, value, MAX_DEPTH);
  if (out->len > SHOWN_BYTES)
    {
      char *end = g_utf8_find_prev_char (out->str, out->str + SHOWN_BYTES);

      g_string_truncate (out, (gsize) (end - out->str));
      g_string_append (out, "…");
    }
  return g_string_free (out, FALSE);
}

char *
state_print_digest (GVariant *sink)
{
  g_autoptr (GVariant) digest = g_variant_lookup_value (sink, "digest", G_VARIANT_TYPE ("at"));
  const guint64 *parts;
  DlpDigest sums;
  gsize n = 0;

  if (digest == NULL)
    return g_strdup ("none");
  parts = g_variant_get_fixed_array (digest, &n, sizeof *parts);
  if (n != 4)
    return g_strdup ("none");
  sums = (DlpDigest){ { parts[0], parts[1] }, { parts[2], parts[3] } };
  return dlp_digest_to_string (&sums);
}

char *
state_print_duration (double seconds)
{
  guint64 whole = seconds > 0 ? (guint64) seconds : 0;

  if (seconds < 60)
    return g_strdup_printf ("%.1f s", seconds);
  if (whole < 3600)
    return g_strdup_printf ("%" G_GUINT64_FORMAT " min %02" G_GUINT64_FORMAT " s", whole / 60,
                            whole % 60);
  return g_strdup_printf ("%" G_GUINT64_FORMAT " h %02" G_GUINT64_FORMAT " min", whole / 3600,
                          whole / 60 % 60);
}

char *
state_print_time (gint64 unix_time)
{
  g_autoptr (GDateTime) time = g_date_time_new_from_unix_utc (unix_time);

  return time != NULL ? g_date_time_format (time, "%Y-%m-%dT%H:%M:%SZ") : g_strdup ("?");
}

void
state_print_json (GVariant *value)
{
  g_autofree char *text = dlp_json_print (value, TRUE);

  fputs (text, stdout);
}
