/* SPDX-License-Identifier: MIT */

/* --dry-run: the graph is checked as it is, then a copy of it, with a sample of the files and with
 * probes for sinks, is run. */

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <dlpipe/dlp-plugin.h>

#include "launch-probe.h"
#include "launch.h"

/* ---- the copy ---- */

static void
copy_properties (DlpElement *from, DlpElement *to)
{
  const guint rw = G_PARAM_READABLE | G_PARAM_WRITABLE;
  guint n;
  g_autofree GParamSpec **pspecs = g_object_class_list_properties (G_OBJECT_GET_CLASS (from), &n);

  for (guint i = 0; i < n; i++)
    {
      g_auto (GValue) value = G_VALUE_INIT;

      if ((pspecs[i]->flags & rw) != rw)
        continue;
      g_value_init (&value, pspecs[i]->value_type);
      g_object_get_property (G_OBJECT (from), pspecs[i]->name, &value);
      g_object_set_property (G_OBJECT (to), pspecs[i]->name, &value);
    }
}

/* Every k-th of the files that it would read. */
static void
take_sample (DlpElement *source, double share)
{
  guint64 k = (guint64) MAX (floor (1 / share + 0.5), 1);
  guint64 index = 0, count = 1;
  g_autofree char *shard = NULL;
  g_autofree char *sampled = NULL;

  if (strcmp (dlp_element_get_factory (source), "file-source") != 0 || k == 1)
    return;
  g_object_get (source, "shard", &shard, NULL);
  if (shard != NULL && shard[0] != '\0' &&
      sscanf (shard, "%" G_GUINT64_FORMAT "/%" G_GUINT64_FORMAT, &index, &count) != 2)
    return;
  sampled = g_strdup_printf ("%" G_GUINT64_FORMAT "/%" G_GUINT64_FORMAT, index,
                             MIN (count * k, G_MAXUINT32));
  g_object_set (source, "shard", sampled, NULL);
}

static bool
is_hidden (DlpElement *element)
{
  return strchr (dlp_element_get_name (element), '.') != NULL;
}

static bool
copy_element (DlpPipeline *copy, DlpElement *element, double share, GError **error)
{
  bool is_sink = DLP_IS_SINK (element);
  g_autoptr (DlpElement) made =
      dlp_element_new (is_sink ? LAUNCH_PROBE_FACTORY : dlp_element_get_factory (element),
                       dlp_element_get_name (element), error);

  if (made == NULL)
    return false;
  if (!is_sink)
    copy_properties (element, made);
  if (dlp_element_get_n_inputs (element) == 0)
    take_sample (made, share);
  return dlp_pipeline_add (copy, made, error);
}

/* The element that an output pad belongs to. */
static DlpElement *
find_owner (DlpPipeline *pipeline, DlpPad *pad)
{
  GListModel *elements = G_LIST_MODEL (pipeline);

  for (guint i = 0; i < g_list_model_get_n_items (elements); i++)
    {
      g_autoptr (DlpElement) element = g_list_model_get_item (elements, i);

      for (guint k = 0; k < dlp_element_get_n_outputs (element); k++)
        if (dlp_element_get_output (element, k) == pad)
          return element;
    }
  return NULL;
}

static bool
copy_links (DlpPipeline *copy, DlpPipeline *pipeline, DlpElement *element, GError **error)
{
  const char *name = dlp_element_get_name (element);

  for (guint i = 0; i < dlp_element_get_n_inputs (element); i++)
    {
      DlpPad *input = dlp_element_get_input (element, i);
      DlpPad *output = dlp_pad_get_peer (input);
      const char *from = dlp_element_get_name (find_owner (pipeline, output));

      if (!dlp_pipeline_link (copy, dlp_pipeline_get_element (copy, from),
                              dlp_pad_get_name (output), dlp_pipeline_get_element (copy, name),
                              dlp_pad_get_name (input), error))
        return false;
    }
  return true;
}

static DlpPipeline *
make_copy (DlpPipeline *pipeline, const LaunchOptions *options, GError **error)
{
  g_autoptr (DlpPipeline) copy = dlp_pipeline_new ();
  GListModel *elements = G_LIST_MODEL (pipeline);
  guint64 seed;

  for (guint pass = 0; pass < 2; pass++)
    for (guint i = 0; i < g_list_model_get_n_items (elements); i++)
      {
        g_autoptr (DlpElement) element = g_list_model_get_item (elements, i);

        if (is_hidden (element))
          continue;
        if (pass == 0 ? !copy_element (copy, element, options->dry_run, error) :
                        !copy_links (copy, pipeline, element, error))
          return NULL;
      }
  g_object_get (pipeline, "seed", &seed, NULL);
  g_object_set (copy, "seed", seed, "strict", options->strict, NULL);
  return g_steal_pointer (&copy);
}

/* ---- what is said ---- */

static guint64
get_number (GVariant *report, const char *key)
{
  guint64 number = 0;
  guint small = 0;

  if (!g_variant_lookup (report, key, "t", &number) && g_variant_lookup (report, key, "u", &small))
    number = small;
  return number;
}

/* By bytes where sizes are known, else by files. */
static double
get_share (GVariant *whole, GVariant *sample)
{
  guint64 bytes = get_number (whole, "bytes-total");
  guint64 read = get_number (sample, "bytes");
  guint64 files = get_number (whole, "files-total");

  if (bytes > 0 && read > 0)
    return MIN ((double) read / (double) bytes, 1);
  if (files > 0)
    return MIN ((double) get_number (sample, "files-total") / (double) files, 1);
  return 1;
}

static void
print_projection (GVariant *whole, GVariant *sample, DlpPipeline *copy)
{
  double share = get_share (whole, sample);
  double tokens = (double) get_number (sample, "tokens");
  g_autofree char *read = launch_format_bytes ((double) get_number (sample, "bytes"));
  g_autofree char *time = launch_format_seconds (launch_get_seconds (sample) / share);
  GListModel *elements = G_LIST_MODEL (copy);

  printf ("sample: %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT " files, %s (%.2f %% of the "
          "bytes), %" G_GUINT64_FORMAT " records\n",
          get_number (sample, "files-total"), get_number (whole, "files-total"), read, share * 100,
          get_number (sample, "records"));
  printf ("projected records: %.0f\n", (double) get_number (sample, "records") / share);
  if (tokens > 0)
    printf ("projected tokens: %.0f\n", tokens / share);
  for (guint i = 0; i < g_list_model_get_n_items (elements); i++)
    {
      g_autoptr (DlpElement) element = g_list_model_get_item (elements, i);
      g_autofree char *bytes = NULL;

      if (!LAUNCH_IS_PROBE (element))
        continue;
      bytes =
          launch_format_bytes ((double) launch_probe_get_bytes (LAUNCH_PROBE (element)) / share);
      printf ("projected output of %s: %s%s\n", dlp_element_get_name (element), bytes,
              launch_probe_has_tokens (LAUNCH_PROBE (element)) ? ", and its index" : "");
      if (launch_probe_get_text_bytes (LAUNCH_PROBE (element)) > 0)
        printf ("bytes of text per token: %.3f\n",
                (double) launch_probe_get_text_bytes (LAUNCH_PROBE (element)) / tokens);
    }
  printf ("projected time: %s\n", time);
}

static void
print_faults (GVariant *sample)
{
  LaunchFaults faults;
  GHashTableIter iter;
  gpointer kind, n;

  launch_faults_collect (&faults, sample);
  printf ("bad records: %" G_GUINT64_FORMAT "\n", faults.bad);
  g_hash_table_iter_init (&iter, faults.kinds);
  while (g_hash_table_iter_next (&iter, &kind, &n))
    printf ("  %s: %" G_GUINT64_FORMAT "\n", (char *) kind, *(guint64 *) n);
  if (faults.damaged > 0)
    printf ("damaged files: %" G_GUINT64_FORMAT "\n", faults.damaged);
  launch_faults_clear (&faults);
}

static void
print_samples (DlpPipeline *copy)
{
  GListModel *elements = G_LIST_MODEL (copy);

  for (guint i = 0; i < g_list_model_get_n_items (elements); i++)
    {
      g_autoptr (DlpElement) element = g_list_model_get_item (elements, i);

      if (!LAUNCH_IS_PROBE (element))
        continue;
      for (guint k = 0; k < LAUNCH_PROBE_SAMPLES; k++)
        {
          gsize n_tokens = 0;
          g_autofree char *text = launch_probe_get_sample (LAUNCH_PROBE (element), k, &n_tokens);

          if (text == NULL)
            break;
          printf ("---- sample %u of %s", k + 1, dlp_element_get_name (element));
          if (n_tokens > 0)
            printf (", %zu tokens", n_tokens);
          printf ("\n%s\n", text);
        }
    }
}

static int
run_copy (DlpPipeline *pipeline, DlpPipeline *copy, GVariant *whole)
{
  g_autoptr (GVariant) sample = NULL;
  g_autoptr (GError) error = NULL;

  if (!dlp_pipeline_run (copy, NULL, &error))
    {
      launch_report_error (error, false);
      return launch_exit_for_run (copy, error, 0);
    }
  sample = dlp_pipeline_get_report (copy);
  print_projection (whole, sample, copy);
  print_faults (sample);
  print_samples (copy);
  return launch_exit_for_run (copy, NULL, 0);
}

int
launch_dry_run (DlpPipeline *pipeline, const LaunchOptions *options)
{
  g_autoptr (DlpPipeline) copy = NULL;
  g_autoptr (GVariant) whole = NULL;
  g_autoptr (GError) error = NULL;

  g_object_set (pipeline, "state-dir", NULL, "quarantine", NULL, NULL);
  if (!dlp_registry_add_element (LAUNCH_PROBE_FACTORY, LAUNCH_TYPE_PROBE, &error) ||
      !dlp_pipeline_check (pipeline, &error) ||
      (copy = make_copy (pipeline, options, &error)) == NULL)
    {
      launch_report_error (error, false);
      return launch_exit_for_prepare (error);
    }
  whole = dlp_pipeline_get_report (pipeline);
  return run_copy (pipeline, copy, whole);
}
