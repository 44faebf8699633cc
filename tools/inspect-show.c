/* SPDX-License-Identifier: MIT */

/* All about one thing. */

#include <stdio.h>
#include <string.h>

#include <dlpipe/dlp-file.h>

#include "inspect.h"

#define LABEL_COLUMN 12
#define PAD_COLUMN 14
#define PROPERTY_COLUMN 34
#define INDENT 6

static void
print_title (const char *title)
{
  printf ("\n%s%s%s\n", inspect_bold (), title, inspect_plain ());
}

static void
print_label (const char *label, const char *text)
{
  if (*text == '\0')
    return;
  printf ("  %-*s", LABEL_COLUMN - 2, label);
  inspect_print_wrapped (text, LABEL_COLUMN);
}

static void
print_head (GVariant *item)
{
  const char *name = inspect_get (item, "name");
  const char *description = inspect_get (item, "description");

  printf ("%s%s%s", inspect_bold (), name, inspect_plain ());
  if (*description != '\0')
    {
      printf (": ");
      inspect_print_wrapped (description, (guint) strlen (name) + 2);
    }
  else
    putchar ('\n');
  putchar ('\n');
}

/* What else the plugin brings, whose name may be that of the element. */
static char *
list_companions (GVariant *plugin, const char *name)
{
  static const char *const keys[] = { "elements", "codecs", "schemes" };
  GString *others = g_string_new (NULL);

  for (guint k = 0; k < G_N_ELEMENTS (keys); k++)
    {
      g_autofree const char **names = NULL;

      if (!g_variant_lookup (plugin, keys[k], "^a&s", &names))
        continue;
      for (guint i = 0; names[i] != NULL; i++)
        if (strcmp (names[i], name) != 0)
          g_string_append_printf (others, "%s%s", others->len > 0 ? ", " : "", names[i]);
    }
  return g_string_free (others, FALSE);
}

static void
print_plugin_of (GVariant *item)
{
  const char *plugin_name = inspect_get (item, "plugin");
  g_autoptr (GVariant) plugin =
      *plugin_name != '\0' ? dlp_registry_describe_plugin (plugin_name) : NULL;
  g_autofree char *text = NULL;
  g_autofree char *others = NULL;

  if (plugin == NULL)
    return;
  others = list_companions (plugin, inspect_get (item, "name"));
  text = g_strdup_printf ("%s %s, %s%s%s", plugin_name, inspect_get (plugin, "version"),
                          inspect_get (plugin, "license"),
                          *others != '\0' ? "; it also brings " : "", others);
  print_label ("plugin", text);
  print_label ("file", inspect_get (item, "file"));
}

static const char *
get_threads_text (const char *threads)
{
  if (strcmp (threads, "shared-pool") == 0)
    return "record batches in parallel on the shared pool";
  if (strcmp (threads, "own-threads-and-pool") == 0)
    return "files on threads of its own, parsing on the shared pool";
  return "a thread of its own";
}

static char *
get_state_text (GVariant *element)
{
  guint32 version = 0, oldest = 0;

  g_variant_lookup (element, "state-version", "u", &version);
  g_variant_lookup (element, "state-oldest-version", "u", &oldest);
  if (oldest == version)
    return g_strdup_printf ("version %u", version);
  return g_strdup_printf ("version %u; reads %u and later", version, oldest);
}

/* ---- pads ---- */

static void
print_pad (GVariant *pad)
{
  g_autofree char *carries = inspect_join (pad, "carries", ", ");
  const char *presence = inspect_get (pad, "presence");
  const char *description = inspect_get (pad, "description");
  const char *when = strcmp (presence, "optional") == 0   ? "; optional" :
                     strcmp (presence, "on-request") == 0 ? "; one for each link" :
                                                            "";
  g_autofree char *text = g_strdup_printf ("%-8s%s%s", inspect_get (pad, "direction"),
                                           *carries != '\0' ? carries : "not said what", when);
  g_autofree char *name = inspect_escape (inspect_get (pad, "name"));

  printf ("  %-*s%s\n", PAD_COLUMN - 2, name, text);
  if (*description == '\0')
    return;
  printf ("%*s", PAD_COLUMN + 8, "");
  inspect_print_wrapped (description, PAD_COLUMN + 8);
}

static void
print_pads (GVariant *element)
{
  g_autoptr (GVariant) pads = g_variant_lookup_value (element, "pads", G_VARIANT_TYPE ("aa{sv}"));
  gsize n = pads != NULL ? g_variant_n_children (pads) : 0;

  if (n > 0)
    print_title ("Pads");
  for (gsize i = 0; i < n; i++)
    {
      g_autoptr (GVariant) pad = g_variant_get_child_value (pads, i);

      print_pad (pad);
    }
}

/* ---- properties ---- */

static bool
get_flag (GVariant *property, const char *key)
{
  gboolean set = FALSE;

  return g_variant_lookup (property, key, "b", &set) && set;
}

/* Empty where graph text needs quotes for it. */
static char *
quote_default (GVariant *property)
{
  g_autofree char *shown = NULL;
  const char *text;

  if (!g_variant_lookup (property, "default", "&s", &text))
    return g_strdup ("");
  shown = dlp_uri_escape_for_display (text);
  if (*text == '\0' || strpbrk (text, " \t!#'\"\\") != NULL)
    return g_strdup_printf ("\"%s\"", shown);
  return g_steal_pointer (&shown);
}

/* @prefix: "http.", or nothing. */
static void
print_property (GVariant *property, const char *prefix)
{
  g_autofree char *value = quote_default (property);
  g_autofree char *setting =
      g_strdup_printf ("%s%s=%s", prefix, inspect_get (property, "name"), value);
  const char *unit = inspect_get (property, "unit");
  const char *allowed = inspect_get (property, "allowed");
  g_autofree char *kind =
      g_strdup_printf ("%s%s%s, %s%s", inspect_get (property, "type"), *unit != '\0' ? ", " : "",
                       unit, inspect_get (property, "between-runs"),
                       get_flag (property, "while-running") ? ", mutable" : "");

  printf ("  %s%s%s", inspect_bold (), setting, inspect_plain ());
  if (g_utf8_strlen (setting, -1) + 2 < PROPERTY_COLUMN)
    printf ("%*s%s\n", PROPERTY_COLUMN - 2 - (int) g_utf8_strlen (setting, -1), "", kind);
  else
    printf ("\n%*s%s\n", PROPERTY_COLUMN, "", kind);
  if (*inspect_get (property, "description") != '\0')
    {
      printf ("%*s", INDENT, "");
      inspect_print_wrapped (inspect_get (property, "description"), INDENT);
    }
  if (strcmp (allowed, "any text") != 0 && strcmp (allowed, "true, false") != 0)
    {
      printf ("%*sallowed: ", INDENT, "");
      inspect_print_wrapped (allowed, INDENT + 9);
    }
}

static void
print_read_only (GVariant *property)
{
  const char *name = inspect_get (property, "name");

  printf ("  %-*s", 18, name);
  inspect_print_wrapped (inspect_get (property, "description"), 20);
}

static void
print_properties (GVariant *element)
{
  g_autoptr (GVariant) properties =
      g_variant_lookup_value (element, "properties", G_VARIANT_TYPE ("aa{sv}"));
  gsize n = properties != NULL ? g_variant_n_children (properties) : 0;
  gsize i;

  for (i = 0; i < n; i++)
    {
      g_autoptr (GVariant) property = g_variant_get_child_value (properties, i);

      if (!get_flag (property, "writable"))
        break;
      if (i == 0)
        {
          print_title ("Properties");
          printf ("  ");
          inspect_print_wrapped ("fixed: the same in each attempt of a run; free, elastic: may "
                                 "differ; mutable: may be changed while it runs",
                                 2);
          putchar ('\n');
        }
      print_property (property, "");
    }
  for (gsize first = i; i < n; i++)
    {
      g_autoptr (GVariant) property = g_variant_get_child_value (properties, i);

      if (i == first)
        print_title ("To be read");
      print_read_only (property);
    }
}

/* ---- what sources read by ---- */

static void
print_scheme_properties (GVariant *scheme)
{
  g_autoptr (GVariant) properties =
      g_variant_lookup_value (scheme, "properties", G_VARIANT_TYPE ("aa{sv}"));
  g_autofree char *prefix = g_strconcat (inspect_get (scheme, "name"), ".", NULL);

  for (gsize i = 0; properties != NULL && i < g_variant_n_children (properties); i++)
    {
      g_autoptr (GVariant) property = g_variant_get_child_value (properties, i);

      if (get_flag (property, "writable"))
        print_property (property, prefix);
    }
}

static bool
has_properties (GVariant *scheme)
{
  g_autoptr (GVariant) properties =
      g_variant_lookup_value (scheme, "properties", G_VARIANT_TYPE ("aa{sv}"));

  return properties != NULL && g_variant_n_children (properties) > 0;
}

static bool
is_same_type (GVariant *a, GVariant *b)
{
  return strcmp (inspect_get (a, "type-name"), inspect_get (b, "type-name")) == 0;
}

/* Those of schemes: "http.timeout=30s"; of https, which is the same, only that it is so. */
static void
print_schemes_of_source (void)
{
  g_auto (GStrv) names = dlp_registry_list_schemes ();
  bool any = false;

  for (guint i = 0; names[i] != NULL; i++)
    {
      g_autoptr (GVariant) scheme = inspect_describe (INSPECT_SCHEME, names[i]);
      bool is_new = has_properties (scheme);

      for (guint k = 0; k < i && is_new; k++)
        {
          g_autoptr (GVariant) before = inspect_describe (INSPECT_SCHEME, names[k]);

          is_new = !is_same_type (scheme, before);
          if (!is_new)
            printf ("  %s. is %s.\n", names[i], names[k]);
        }
      if (!is_new)
        continue;
      if (!any)
        print_title ("Properties of schemes, for this source alone");
      any = true;
      print_scheme_properties (scheme);
    }
}

static bool
reads_by_schemes (GVariant *element)
{
  return strcmp (inspect_get (element, "base"), "source") == 0;
}

static void
print_element (const char *name)
{
  g_autoptr (GVariant) element = dlp_registry_describe_element (name);
  g_autofree char *flags = inspect_join (element, "flags", ", ");
  g_autofree char *names = inspect_join (element, "file-names", " ");
  g_autofree char *magics = inspect_join (element, "file-magic", " ");
  g_autofree char *state = get_state_text (element);
  const char *example = inspect_get (element, "example");

  print_head (element);
  print_plugin_of (element);
  print_label ("kind", inspect_get (element, "base"));
  print_label ("type", inspect_get (element, "type-name"));
  print_label ("threads", get_threads_text (inspect_get (element, "threads")));
  print_label ("state", state);
  print_label ("flags", flags);
  print_label ("names", names);
  print_label ("magic", magics);
  print_pads (element);
  print_properties (element);
  if (reads_by_schemes (element))
    print_schemes_of_source ();
  if (*example == '\0')
    return;
  print_title ("Example");
  printf ("  ");
  inspect_print_wrapped (example, 2);
}

/* ---- others ---- */

static void
print_plugin (const char *name)
{
  g_autoptr (GVariant) plugin = dlp_registry_describe_plugin (name);
  g_autofree char *elements = inspect_join (plugin, "elements", ", ");
  g_autofree char *codecs = inspect_join (plugin, "codecs", ", ");
  g_autofree char *schemes = inspect_join (plugin, "schemes", ", ");

  print_head (plugin);
  print_label ("version", inspect_get (plugin, "version"));
  print_label ("licence", inspect_get (plugin, "license"));
  print_label ("file", inspect_get (plugin, "file"));
  print_label ("elements", elements);
  print_label ("codecs", codecs);
  print_label ("schemes", schemes);
}

static void
print_codec (const char *name)
{
  g_autoptr (GVariant) codec = inspect_describe (INSPECT_CODEC, name);
  g_auto (GStrv) magics = inspect_format_magics (codec);
  g_autofree char *magic = g_strjoinv (", ", magics);

  print_head (codec);
  print_plugin_of (codec);
  print_label ("type", inspect_get (codec, "type-name"));
  print_label ("magic", magic);
  print_label ("used by", "every reader, by the first bytes of a file whatever its name");
}

static void
print_scheme (const char *name)
{
  g_autoptr (GVariant) scheme = inspect_describe (INSPECT_SCHEME, name);
  g_autofree char *can = inspect_join (scheme, "can", ", ");
  g_autofree char *used = g_strdup_printf ("file-source location=%s://...", name);

  print_head (scheme);
  print_plugin_of (scheme);
  print_label ("type", inspect_get (scheme, "type-name"));
  print_label ("can", can);
  print_label ("used by", used);
  if (!has_properties (scheme))
    return;
  print_title ("Properties, of each source that reads by it");
  print_scheme_properties (scheme);
}

void
inspect_print_description (InspectKind kind, const char *name)
{
  switch (kind)
    {
    case INSPECT_ELEMENT:
      print_element (name);
      break;
    case INSPECT_PLUGIN:
      print_plugin (name);
      break;
    case INSPECT_CODEC:
      print_codec (name);
      break;
    case INSPECT_SCHEME:
      print_scheme (name);
      break;
    case INSPECT_NOTHING:
    default:
      break;
    }
}
