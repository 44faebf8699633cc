/* SPDX-License-Identifier: MIT */

/* All that there is, by plugin. */

#include <stdio.h>
#include <string.h>

#include "inspect.h"

#define NAME_COLUMN 2
#define TEXT_COLUMN 24

static void
print_entry (const char *name, const char *kind, const char *text)
{
  g_autofree char *all = *text != '\0' && *kind != '\0' ? g_strdup_printf ("%s: %s", kind, text) :
                                                          g_strconcat (kind, text, NULL);

  printf ("%*s%s%-*s%s", NAME_COLUMN, "", inspect_bold (), TEXT_COLUMN - NAME_COLUMN - 1, name,
          inspect_plain ());
  if (strlen (name) >= TEXT_COLUMN - NAME_COLUMN)
    printf ("\n%*s", TEXT_COLUMN, "");
  else
    putchar (' ');
  inspect_print_wrapped (all, TEXT_COLUMN);
}

static void
print_entries (GVariant *plugin, const char *key, InspectKind kind, const char *word)
{
  g_autofree const char **names = NULL;

  if (!g_variant_lookup (plugin, key, "^a&s", &names))
    return;
  for (guint i = 0; names[i] != NULL; i++)
    {
      g_autoptr (GVariant) item = inspect_describe (kind, names[i]);

      print_entry (names[i], word, inspect_get (item, "description"));
    }
}

static bool
is_empty (GVariant *plugin)
{
  static const char *const keys[] = { "elements", "codecs", "schemes" };

  for (guint i = 0; i < G_N_ELEMENTS (keys); i++)
    {
      g_autofree const char **names = NULL;

      if (g_variant_lookup (plugin, keys[i], "^a&s", &names) && names[0] != NULL)
        return false;
    }
  return true;
}

static void
print_plugin (const char *name)
{
  g_autoptr (GVariant) plugin = inspect_describe (INSPECT_PLUGIN, name);
  g_autofree char *version = inspect_escape (inspect_get (plugin, "version"));

  printf ("%s %s", name, version);
  if (is_empty (plugin))
    printf (" (brings nothing)");
  putchar ('\n');
  print_entries (plugin, "elements", INSPECT_ELEMENT, "");
  print_entries (plugin, "codecs", INSPECT_CODEC, "codec");
  print_entries (plugin, "schemes", INSPECT_SCHEME, "URI scheme");
}

static void
print_number (const char *separator, guint n, const char *thing)
{
  printf ("%s%u %s%s", separator, n, thing, n == 1 ? "" : "s");
}

static void
print_count (void)
{
  g_auto (GStrv) plugins = dlp_registry_list_plugins ();
  g_auto (GStrv) elements = dlp_registry_list_elements ();
  g_auto (GStrv) codecs = dlp_registry_list_codecs ();
  g_auto (GStrv) schemes = dlp_registry_list_schemes ();

  print_number ("\n", g_strv_length (plugins), "plugin");
  print_number (": ", g_strv_length (elements), "element");
  print_number (", ", g_strv_length (codecs), "codec");
  print_number (", ", g_strv_length (schemes), "URI scheme");
  putchar ('\n');
}

void
inspect_print_problems (void)
{
  g_autoptr (GVariant) problems = dlp_registry_list_problems ();
  gsize n = g_variant_n_children (problems);

  if (n > 0)
    printf ("\n%sNot used%s\n", inspect_bold (), inspect_plain ());
  for (gsize i = 0; i < n; i++)
    {
      g_autoptr (GVariant) problem = g_variant_get_child_value (problems, i);
      g_autofree char *text = g_strdup_printf ("%s; %s", inspect_get (problem, "reason"),
                                               inspect_get (problem, "remedy"));

      printf ("%*s%s\n%*s", NAME_COLUMN, "", inspect_get (problem, "file"), 2 * NAME_COLUMN, "");
      inspect_print_wrapped (text, 2 * NAME_COLUMN);
    }
}

void
inspect_print_list (void)
{
  g_auto (GStrv) plugins = dlp_registry_list_plugins ();

  for (guint i = 0; plugins[i] != NULL; i++)
    print_plugin (plugins[i]);
  print_count ();
  inspect_print_problems ();
}
