/* SPDX-License-Identifier: MIT */

/* --check: what a run would be, without one. */

#include <stdio.h>
#include <string.h>

#include <dlpipe/dlp-file.h>

#include "launch.h"

static void
print_setting (const char *name, const char *value, const char *origin)
{
  printf ("  %-24s %-40s %s\n", name, value, origin);
}

static bool
needs_quotes (const char *value)
{
  for (const char *p = value; *p != '\0'; p++)
    if ((guchar) *p <= ' ' || *p == 0x7f || strchr ("!\"'\\", *p) != NULL)
      return true;
  return false;
}

/* (transfer full): as graph text has it, but on one line: what a terminal would obey is shown as in
 * messages. */
static char *
quote (const char *value)
{
  g_autoptr (GString) text = g_string_new ("\"");

  if (!needs_quotes (value))
    return dlp_uri_escape_for_display (value);
  for (const char *p = value; *p != '\0'; p++)
    {
      if (*p == '"' || *p == '\\')
        g_string_append_c (text, '\\');
      g_string_append_c (text, *p);
    }
  g_string_append_c (text, '"');
  return dlp_uri_escape_for_display (text->str);
}

static void
print_stall_settings (DlpPipeline *pipeline, const LaunchOptions *options)
{
  DlpStallAction action;
  gint64 timeout;
  g_autofree char *text = NULL;

  g_object_get (pipeline, "stall-action", &action, "stall-timeout", &timeout, NULL);
  text = timeout > 0 ? launch_format_seconds ((double) timeout / 1e6) : g_strdup ("none");
  print_setting ("stall-action", action == DLP_STALL_ACTION_FAIL ? "fail" : "report",
                 options->stall_action != NULL ? "option" : "default");
  print_setting ("stall-timeout", text, options->stall_timeout != NULL ? "option" : "default");
}

static void
print_run_settings (DlpPipeline *pipeline, GVariant *report, const LaunchOptions *options)
{
  g_autofree char *dir = NULL;
  g_autofree char *place = NULL;
  g_autofree char *default_dir = dlp_pipeline_get_default_state_dir (pipeline);
  g_autofree char *seed = NULL;
  g_autofree char *workers = NULL;
  g_autofree char *memory = NULL;
  guint64 number = 0;
  guint count = 0;

  g_object_get (pipeline, "state-dir", &dir, NULL);
  place = dir != NULL ? quote (dir) : g_strdup ("none");
  g_variant_lookup (report, "seed", "t", &number);
  seed = g_strdup_printf ("%" G_GUINT64_FORMAT, number);
  g_variant_lookup (report, "workers", "u", &count);
  workers = g_strdup_printf ("%u", count);
  g_variant_lookup (report, "memory", "t", &number);
  memory = g_strdup_printf ("%" G_GUINT64_FORMAT " MiB", number >> 20);

  printf ("run\n");
  print_setting ("state", place,
                 options->state != NULL || options->no_state ? "option" : "default");
  print_setting ("seed", seed,
                 options->seed != NULL                ? "option" :
                 launch_get_flag (report, "restored") ? "state" :
                                                        "default");
  print_setting ("workers", workers, options->workers != NULL ? "option" : "default");
  print_setting ("memory", memory, options->memory != NULL ? "option" : "default");
  print_setting ("checkpoint-every",
                 options->checkpoint_every != NULL ? options->checkpoint_every : "10s",
                 options->checkpoint_every != NULL ? "option" : "default");
  print_stall_settings (pipeline, options);
  print_setting ("strict", options->strict ? "true" : "false",
                 options->strict ? "option" : "default");
  print_setting ("sequential", options->sequential ? "true" : "false",
                 options->sequential ? "option" : "default");
}

static void
print_property (DlpElement *element, const char *property, const char *value, const char *origin)
{
  DlpElementClass *klass = DLP_ELEMENT_GET_CLASS (element);
  g_autofree char *result = klass->comes_to != NULL ? klass->comes_to (element, property) : NULL;
  g_autofree char *shown = quote (value);
  g_autofree char *text =
      result != NULL ? g_strdup_printf ("%s: %s", shown, result) : g_strdup (shown);

  print_setting (property, text, origin);
}

static void
print_element_settings (DlpPipeline *pipeline)
{
  g_autoptr (GVariant) settings = dlp_pipeline_get_settings (pipeline);
  GVariantIter iter;
  const char *element, *property, *value, *origin;
  const char *shown = "";

  /* In its serialised form its strings stay where they are. */
  g_variant_get_data (settings);
  g_variant_iter_init (&iter, settings);
  while (g_variant_iter_next (&iter, "(&s&s&s&s)", &element, &property, &value, &origin))
    {
      if (strcmp (element, shown) != 0)
        {
          printf ("%s (%s)\n", element,
                  dlp_element_get_factory (dlp_pipeline_get_element (pipeline, element)));
          shown = element;
        }
      print_property (dlp_pipeline_get_element (pipeline, element), property, value, origin);
    }
}

/* What links, shares and the graph's own threads may hold at once. */
static void
print_memory (GVariant *report)
{
  g_autoptr (GVariant) elements =
      g_variant_lookup_value (report, "elements", G_VARIANT_TYPE ("aa{sv}"));
  guint64 links = 0, shares = 0, number;
  gsize n = g_variant_n_children (elements);

  for (gsize i = 0; i < n; i++)
    {
      g_autoptr (GVariant) element = g_variant_get_child_value (elements, i);

      if (g_variant_lookup (element, "queue-limit-bytes", "t", &number))
        links += number;
      if (g_variant_lookup (element, "memory-share", "t", &number))
        shares += number;
    }
  printf ("memory at worst: %" G_GUINT64_FORMAT " MiB in links, %" G_GUINT64_FORMAT
          " MiB in elements: %" G_GUINT64_FORMAT
          " MiB; a record larger than its share counts once more\n",
          links >> 20, shares >> 20, (links + shares) >> 20);
}

static void
print_verdict (DlpPipeline *pipeline, GVariant *report)
{
  guint64 records = launch_get_number (report, "records");

  if (dlp_pipeline_is_complete (pipeline))
    printf ("the graph is good; a run finds that it is finished %s: %" G_GUINT64_FORMAT
            " records\n",
            launch_get_flag (report, "finished-early") ? "early" : "already", records);
  else if (launch_get_flag (report, "restored"))
    printf ("the graph is good; a run goes on behind record %" G_GUINT64_FORMAT "\n", records);
  else
    printf ("the graph is good\n");
}

int
launch_check (DlpPipeline *pipeline, const LaunchOptions *options)
{
  g_autoptr (GVariant) report = NULL;
  g_autoptr (GError) error = NULL;

  if (!dlp_pipeline_check (pipeline, NULL, &error) ||
      !dlp_pipeline_check_state (pipeline, NULL, &error) ||
      !launch_write_dot (pipeline, options, &error))
    {
      launch_report_error (error, false);
      return launch_exit_for_prepare (error, false);
    }
  report = dlp_pipeline_get_report (pipeline);
  print_run_settings (pipeline, report, options);
  print_element_settings (pipeline);
  print_memory (report);
  print_verdict (pipeline, report);
  return LAUNCH_EXIT_FINISHED;
}
