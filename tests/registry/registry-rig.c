/* SPDX-License-Identifier: MIT */

#include "registry-rig.h"

#include <string.h>

#include <glib/gstdio.h>

#include <dlpipe/dlp-json.h>

LaunchRig *
registry_rig_new (void)
{
  LaunchRig *rig = launch_rig_new ();
  g_autofree char *plugins = launch_rig_path (rig, "plugins");
  g_autofree char *cache = launch_rig_path (rig, "registry.cache");

  g_setenv ("DLPIPE_PLUGIN_PATH", plugins, TRUE);
  g_setenv ("DLPIPE_REGISTRY", cache, TRUE);
  g_setenv ("DLPIPE_PLUGIN_SCANNER", g_getenv ("DLPIPE_SCANNER"), TRUE);
  g_unsetenv ("DLPIPE_SCANNER_TIMEOUT");
  return rig;
}

void
registry_rig_add (LaunchRig *rig, const char *folder, const char *fixture)
{
  g_autofree char *to_folder = launch_rig_path (rig, folder != NULL ? folder : "plugins");
  g_autofree char *name = g_strdup_printf ("dlp-%s.so", fixture);
  g_autofree char *from = g_build_filename (launch_rig_get_data (), name, NULL);
  g_autofree char *to = g_build_filename (to_folder, name, NULL);
  g_autofree char *data = NULL;
  g_autoptr (GError) error = NULL;
  gsize size;

  g_assert_cmpint (g_mkdir_with_parents (to_folder, 0700), ==, 0);
  g_file_get_contents (from, &data, &size, &error);
  g_assert_no_error (error);
  g_file_set_contents (to, data, (gssize) size, &error);
  g_assert_no_error (error);
}

char *
registry_rig_path (LaunchRig *rig, const char *fixture)
{
  g_autofree char *name = g_strdup_printf ("plugins/dlp-%s.so", fixture);

  return launch_rig_path (rig, name);
}

GVariant *
registry_rig_list (LaunchRig *rig, const char *argument)
{
  g_autoptr (GError) error = NULL;
  GVariant *all;

  launch_rig_expect (rig, 0, "--json", argument, NULL);
  all = dlp_json_parse (rig->out, strlen (rig->out), &error);
  g_assert_no_error (error);
  return all;
}

GVariant *
registry_rig_find (GVariant *all, const char *list, const char *name)
{
  g_autoptr (GVariant) entries = g_variant_lookup_value (all, list, G_VARIANT_TYPE ("av"));

  g_assert_nonnull (entries);
  for (gsize i = 0; i < g_variant_n_children (entries); i++)
    {
      g_autoptr (GVariant) boxed = g_variant_get_child_value (entries, i);
      g_autoptr (GVariant) entry = g_variant_get_variant (boxed);
      const char *own;

      if (g_variant_lookup (entry, "name", "&s", &own) && strcmp (own, name) == 0)
        return g_steal_pointer (&entry);
    }
  return NULL;
}

static int
compare_texts (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *) a, *(const char *const *) b);
}

char *
registry_rig_get_problems (GVariant *all)
{
  g_autoptr (GVariant) problems = g_variant_lookup_value (all, "problems", G_VARIANT_TYPE ("av"));
  g_autoptr (GPtrArray) texts = g_ptr_array_new_with_free_func (g_free);

  for (gsize i = 0; i < g_variant_n_children (problems); i++)
    {
      g_autoptr (GVariant) boxed = g_variant_get_child_value (problems, i);
      g_autoptr (GVariant) problem = g_variant_get_variant (boxed);
      const char *file, *reason, *remedy;

      g_assert_true (g_variant_lookup (problem, "file", "&s", &file));
      g_assert_true (g_variant_lookup (problem, "reason", "&s", &reason));
      g_assert_true (g_variant_lookup (problem, "remedy", "&s", &remedy));
      g_assert_cmpstr (remedy, !=, "");
      g_ptr_array_add (texts, g_strdup_printf ("%s: %s; %s", file, reason, remedy));
    }
  g_ptr_array_sort (texts, compare_texts);
  g_ptr_array_add (texts, NULL);
  return g_strjoinv ("\n", (char **) texts->pdata);
}

void
registry_rig_count_scans (LaunchRig *rig)
{
  g_autofree char *log = launch_rig_path (rig, "scans");
  g_autofree char *path = launch_rig_path (rig, "scanner");
  g_autofree char *script = g_strdup_printf ("#!/bin/sh\necho \"$1\" >> '%s'\nexec '%s' \"$@\"\n",
                                             log, g_getenv ("DLPIPE_SCANNER"));

  launch_rig_write (rig, "scanner", script, -1);
  g_assert_cmpint (g_chmod (path, 0700), ==, 0);
  g_setenv ("DLPIPE_PLUGIN_SCANNER", path, TRUE);
}

guint
registry_rig_take_scans (LaunchRig *rig)
{
  g_autofree char *log = launch_rig_path (rig, "scans");
  g_autofree char *text = NULL;
  guint n = 0;

  if (!g_file_get_contents (log, &text, NULL, NULL))
    return 0;
  for (const char *c = text; *c != '\0'; c++)
    n += *c == '\n';
  g_remove (log);
  return n;
}
