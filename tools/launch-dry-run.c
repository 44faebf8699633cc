/* SPDX-License-Identifier: MIT */

/* --dry-run: the graph is checked as it is, then a copy of it, with a sample of the files for
 * sources and with probes for sinks, is run. */

#include <stdio.h>
#include <string.h>

#include <dlpipe/dlp-plugin.h>
#include <dlpipe/dlp-reader.h>

#include "launch-project.h"
#include "launch.h"

/* Of each file that is not read to its end. */
#define MIN_HEAD (1024 * 1024)
/* From so many records on readers judge the share of bad ones. */
#define FIRST_JUDGED 1000

/* ---- the copy ---- */

static bool
is_hidden (DlpElement *element)
{
  return strchr (dlp_element_get_name (element), '.') != NULL;
}

static const char *
choose_factory (LaunchProjection *self, DlpElement *element)
{
  guint index;

  if (DLP_IS_SINK (element))
    return LAUNCH_PROBE_FACTORY;
  return launch_sample_find_source (self->sample, dlp_element_get_name (element), &index) != NULL ?
             LAUNCH_SAMPLER_FACTORY :
             dlp_element_get_factory (element);
}

/* Of the source that a reader reads; NULL: it is not sampled. */
static LaunchSource *
find_source_of (LaunchProjection *self, DlpElement *reader, guint *index)
{
  g_autoptr (GPtrArray) before = launch_list_before (self->pipeline, reader);

  for (guint i = 0; i < before->len; i++)
    {
      LaunchSource *source =
          launch_sample_find_source (self->sample, dlp_element_get_name (before->pdata[i]), index);

      if (source != NULL)
        return source;
    }
  return NULL;
}

/* What a fault would do to the run is judged from the counts. */
static bool
make_tolerant (LaunchProjection *self, DlpElement *element, DlpElement *made, GError **error)
{
  const char *name = dlp_element_get_name (made);
  guint index;
  LaunchSource *source = find_source_of (self, element, &index);

  if (source != NULL)
    dlp_reader_set_head (DLP_READER (made), source->head_share, MIN_HEAD);
  return dlp_pipeline_set_property_text (self->copy, name, "on-bad-record", "skip", error) &&
         dlp_pipeline_set_property_text (self->copy, name, "on-damaged-file", "keep", error) &&
         dlp_pipeline_set_property_text (self->copy, name, "max-bad-ratio", "1", error);
}

/* What ends its inputs early would end those of a sample elsewhere: that is computed. */
static bool
keep_open (LaunchProjection *self, DlpElement *made, GError **error)
{
  const char *name = dlp_element_get_name (made);

  if (strcmp (dlp_element_get_factory (made), "mix") == 0)
    return dlp_pipeline_set_property_text (self->copy, name, "exhausted", "renormalize", error);
  g_object_set (made, "records", G_MAXUINT64, "tokens", (guint64) 0, NULL);
  return true;
}

static bool
copy_element (LaunchProjection *self, DlpElement *element, GError **error)
{
  g_autoptr (DlpElement) made =
      dlp_element_make (choose_factory (self, element), dlp_element_get_name (element), error);
  guint index;

  if (made == NULL || !dlp_pipeline_add (self->copy, made, error))
    return false;
  if (LAUNCH_IS_PROBE (made))
    launch_probe_set_sample (LAUNCH_PROBE (made), self->sample);
  else if (LAUNCH_IS_SAMPLER (made))
    {
      launch_sample_find_source (self->sample, dlp_element_get_name (element), &index);
      launch_sampler_set_sample (LAUNCH_SAMPLER (made), self->sample, index);
    }
  else
    launch_copy_properties (element, made);
  if (DLP_IS_SOURCE (made) &&
      !launch_copy_schemes (self->pipeline, self->copy, dlp_element_get_name (made), error))
    return false;
  if (DLP_IS_READER (made))
    return make_tolerant (self, element, made, error);
  if (!self->sample->whole && g_ptr_array_find (self->closers, element, NULL))
    return keep_open (self, made, error);
  return true;
}

static bool
copy_links (LaunchProjection *self, DlpElement *element, GError **error)
{
  const char *name = dlp_element_get_name (element);

  for (guint i = 0; i < dlp_element_get_n_inputs (element); i++)
    {
      DlpPad *input = dlp_element_get_input (element, i);
      DlpPad *output = dlp_pad_get_peer (input);
      const char *from = dlp_element_get_name (launch_find_owner (self->pipeline, output));

      if (!dlp_pipeline_link (
              self->copy, dlp_pipeline_get_element (self->copy, from), dlp_pad_get_name (output),
              dlp_pipeline_get_element (self->copy, name), dlp_pad_get_name (input), error))
        return false;
    }
  return true;
}

static bool
make_copy (LaunchProjection *self, GError **error)
{
  GListModel *elements = G_LIST_MODEL (self->pipeline);
  guint64 seed, memory;
  guint workers;

  for (guint pass = 0; pass < 2; pass++)
    for (guint i = 0; i < g_list_model_get_n_items (elements); i++)
      {
        g_autoptr (DlpElement) element = g_list_model_get_item (elements, i);

        if (is_hidden (element))
          continue;
        if (pass == 0 ? !copy_element (self, element, error) : !copy_links (self, element, error))
          return false;
      }
  g_object_get (self->pipeline, "seed", &seed, "memory", &memory, "workers", &workers, NULL);
  g_object_set (self->copy, "seed", seed, "memory", memory, "workers", workers, NULL);
  return true;
}

/* ---- what was read ---- */

static void
learn_read (LaunchProjection *self, GVariant *report)
{
  g_autoptr (GVariant) elements =
      g_variant_lookup_value (report, "elements", G_VARIANT_TYPE ("aa{sv}"));

  for (gsize i = 0; i < g_variant_n_children (elements); i++)
    {
      g_autoptr (GVariant) entry = g_variant_get_child_value (elements, i);
      g_autoptr (GVariant) state = g_variant_lookup_value (entry, "state", G_VARIANT_TYPE_VARDICT);
      g_autoptr (GVariant) read = NULL;
      const char *name;
      guint index;

      if (state == NULL || !g_variant_lookup (entry, "name", "&s", &name))
        continue;
      read = g_variant_lookup_value (state, "read-by-codec", G_VARIANT_TYPE ("a{st}"));
      if (read != NULL &&
          find_source_of (self, dlp_pipeline_get_element (self->pipeline, name), &index) != NULL)
        launch_sample_set_read (self->sample, read, index);
    }
}

/* ---- what is said ---- */

static LaunchGroup
sum_groups (const LaunchProjection *self)
{
  LaunchGroup all = { 0 };

  for (guint i = 0; i < self->sample->groups->len; i++)
    {
      const LaunchGroup *group = &g_array_index (self->sample->groups, LaunchGroup, i);

      all.total += group->total;
      all.read += group->read;
      all.files += group->files;
      all.taken += group->taken;
    }
  return all;
}

/* What the numbers are not. */
static void
print_notes (const LaunchProjection *self)
{
  GListModel *elements = G_LIST_MODEL (self->pipeline);

  if (self->sample->has_stream)
    printf ("note: the size of a stream is not known: what was read of it is not projected\n");
  if (self->closers->len > 0 && !self->sample->whole)
    printf ("note: what limit, or mix exhausted=stop, lets through is computed from averages\n");
  for (guint i = 0; i < g_list_model_get_n_items (elements); i++)
    {
      g_autoptr (DlpElement) element = g_list_model_get_item (elements, i);

      if (dlp_element_get_n_inputs (element) == 0 &&
          launch_is_endless (self->pipeline, self->closers, element))
        printf ("note: %s goes on for ever (epochs=0): numbers are those of one epoch\n",
                dlp_element_get_name (element));
    }
}

static bool
writes (DlpElement *sink)
{
  return DLP_SINK_GET_CLASS (sink)->get_location != NULL;
}

static void
print_sink (const LaunchProjection *self, DlpElement *sink, bool alone)
{
  const char *name = dlp_element_get_name (sink);
  LaunchProbe *probe = LAUNCH_PROBE (dlp_pipeline_get_element (self->copy, name));
  LaunchTally whole = launch_project_sink (self, sink);
  LaunchTally sample = launch_sum_probe (self->sample, probe);
  g_autofree char *bytes = launch_format_bytes (whole.bytes);

  if (writes (sink))
    printf ("projected output of %s: %s%s", name, bytes,
            launch_probe_has_tokens (probe) ? ", and its index" : "");
  else
    printf ("projected output of %s: nothing is written", name);
  if (alone)
    printf ("\n");
  else if (sample.tokens > 0)
    printf ("; %.0f records, %.0f tokens\n", whole.records, whole.tokens);
  else
    printf ("; %.0f records\n", whole.records);
  if (launch_probe_get_text_bytes (probe) > 0)
    printf ("bytes of text per token: %.3f\n",
            (double) launch_probe_get_text_bytes (probe) / sample.tokens);
}

/* (transfer container) (element-type DlpElement) */
static GPtrArray *
list_sinks (const LaunchProjection *self)
{
  GPtrArray *sinks = g_ptr_array_new ();
  GListModel *elements = G_LIST_MODEL (self->pipeline);

  for (guint i = 0; i < g_list_model_get_n_items (elements); i++)
    {
      g_autoptr (DlpElement) element = g_list_model_get_item (elements, i);

      if (DLP_IS_SINK (element) && !is_hidden (element))
        g_ptr_array_add (sinks, element);
    }
  return sinks;
}

/* How many times as much the whole is. The sinks of a tee have the same records: what the report
 * counts grows as their sum does. */
static LaunchTally
get_growth (const LaunchProjection *self, GPtrArray *sinks)
{
  LaunchTally whole = { 0 }, sample = { 0 };

  for (guint i = 0; i < sinks->len; i++)
    {
      DlpElement *sink = sinks->pdata[i];
      DlpElement *probe = dlp_pipeline_get_element (self->copy, dlp_element_get_name (sink));
      LaunchTally one = launch_project_sink (self, sink);
      LaunchTally counted = launch_sum_probe (self->sample, LAUNCH_PROBE (probe));

      if (launch_is_reject_sink (self->pipeline, sink))
        continue;
      whole.records += one.records;
      whole.tokens += one.tokens;
      sample.records += counted.records;
      sample.tokens += counted.tokens;
    }
  return (LaunchTally){ .records = sample.records > 0 ? whole.records / sample.records : 1,
                        .tokens = sample.tokens > 0 ? whole.tokens / sample.tokens : 1 };
}

/* What comes before the first record, such as a vocabulary, comes once. */
static double
project_seconds (const LaunchProjection *self, GPtrArray *sinks, double growth)
{
  gint64 first = self->ended;

  for (guint i = 0; i < sinks->len; i++)
    {
      DlpElement *probe =
          dlp_pipeline_get_element (self->copy, dlp_element_get_name (sinks->pdata[i]));
      gint64 time = launch_probe_get_first_time (LAUNCH_PROBE (probe));

      if (time > 0)
        first = MIN (first, time);
    }
  return ((double) (first - self->began) + (double) (self->ended - first) * growth) /
         G_USEC_PER_SEC;
}

static void
print_projection (const LaunchProjection *self, GVariant *report)
{
  g_autoptr (GPtrArray) sinks = list_sinks (self);
  LaunchTally growth = get_growth (self, sinks);
  LaunchGroup all = sum_groups (self);
  double records = (double) launch_get_number (report, "records");
  double tokens = (double) launch_get_number (report, "tokens");
  g_autofree char *read = launch_format_bytes ((double) all.read);
  g_autofree char *time = launch_format_seconds (project_seconds (self, sinks, growth.records));

  printf ("sample: %u of %u files, %s", all.taken, all.files, read);
  if (all.total > 0)
    printf (" (%.2f %% of the bytes)", MIN (100.0 * (double) all.read / (double) all.total, 100));
  printf (", %.0f records\n", records);
  print_notes (self);
  printf ("projected records: %.0f\n", records * growth.records);
  if (tokens > 0)
    printf ("projected tokens: %.0f\n", tokens * growth.tokens);
  for (guint i = 0; i < sinks->len; i++)
    print_sink (self, sinks->pdata[i], sinks->len == 1);
  printf ("projected time: %s\n", time);
}

static void
print_faults (GVariant *report)
{
  LaunchFaults faults;
  GHashTableIter iter;
  gpointer kind, n;

  launch_faults_collect (&faults, report);
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

/* ---- what the run would come to ---- */

static bool
is_set_to (DlpElement *element, const char *property, const char *nick)
{
  GParamSpec *pspec = g_object_class_find_property (G_OBJECT_GET_CLASS (element), property);
  g_auto (GValue) value = G_VALUE_INIT;

  g_value_init (&value, pspec->value_type);
  g_object_get_property (G_OBJECT (element), property, &value);
  return strcmp (g_enum_get_value (G_PARAM_SPEC_ENUM (pspec)->enum_class, g_value_get_enum (&value))
                     ->value_nick,
                 nick) == 0;
}

/* (nullable) (transfer full): what would end the run. */
static char *
judge_reader (DlpElement *reader, GVariant *entry, double growth, bool strict)
{
  g_autoptr (GVariant) state = g_variant_lookup_value (entry, "state", G_VARIANT_TYPE_VARDICT);
  g_autoptr (GVariant) list = g_variant_new_array (G_VARIANT_TYPE_VARDICT, &entry, 1);
  const char *name = dlp_element_get_name (reader);
  double good = state != NULL ? (double) launch_get_number (state, "records") : 0;
  double ratio = 1, bad;
  GVariantDict dict;
  g_autoptr (GVariant) report = NULL;
  LaunchFaults faults;

  g_variant_ref_sink (list);
  g_variant_dict_init (&dict, NULL);
  g_variant_dict_insert_value (&dict, "elements", list);
  report = g_variant_ref_sink (g_variant_dict_end (&dict));
  launch_faults_collect (&faults, report);
  bad = (double) faults.bad;
  launch_faults_clear (&faults);

  g_object_get (reader, "max-bad-ratio", &ratio, NULL);
  if (faults.damaged > 0 && is_set_to (reader, "on-damaged-file", "fail"))
    return g_strdup_printf ("%s: a file is damaged, and on-damaged-file=fail", name);
  if (bad > 0 && (strict || is_set_to (reader, "on-bad-record", "fail")))
    return g_strdup_printf ("%s: the first bad record ends it", name);
  if (bad > 0 && good <= 0)
    return g_strdup_printf ("%s: no record is good", name);
  if ((bad + good) * growth >= FIRST_JUDGED && bad > ratio * (bad + good))
    return g_strdup_printf ("%s: %.0f of %.0f records are bad, above the share max-bad-ratio=%g "
                            "allows",
                            name, bad, bad + good, ratio);
  return NULL;
}

/* Whether it would fail; says why. */
static bool
print_verdict (const LaunchProjection *self, GVariant *report, bool strict)
{
  g_autoptr (GVariant) elements =
      g_variant_lookup_value (report, "elements", G_VARIANT_TYPE ("aa{sv}"));
  LaunchGroup all = sum_groups (self);
  double growth = all.read > 0 ? MAX ((double) all.total / (double) all.read, 1) : 1;
  bool fails = false;

  for (gsize i = 0; i < g_variant_n_children (elements); i++)
    {
      g_autoptr (GVariant) entry = g_variant_get_child_value (elements, i);
      g_autofree char *reason = NULL;
      g_autofree char *message = NULL;
      DlpElement *reader;
      const char *name;

      if (!g_variant_lookup (entry, "name", "&s", &name))
        continue;
      reader = dlp_pipeline_get_element (self->pipeline, name);
      if (reader == NULL || !DLP_IS_READER (reader) ||
          (reason = judge_reader (reader, entry, growth, strict)) == NULL)
        continue;
      message = g_strconcat ("the run would fail: ", reason, NULL);
      launch_error (message);
      fails = true;
    }
  return fails;
}

static int
run_copy (LaunchProjection *self, const LaunchOptions *options)
{
  g_autoptr (GVariant) report = NULL;
  g_autoptr (GError) error = NULL;
  bool ran, fails;

  self->began = g_get_monotonic_time ();
  ran = dlp_pipeline_run (self->copy, NULL, &error);
  self->ended = g_get_monotonic_time ();
  /* Also of one that failed: that is what it is made for. */
  report = dlp_pipeline_get_report (self->copy);
  learn_read (self, report);
  if (ran)
    print_projection (self, report);
  print_faults (report);
  print_samples (self->copy);
  fflush (stdout);
  if (!ran)
    {
      launch_report_error (error, false);
      return launch_exit_for_run (self->copy, error, 0);
    }
  fails = print_verdict (self, report, options->strict);
  return fails ? LAUNCH_EXIT_FAILED : launch_exit_for_run (self->copy, NULL, 0);
}

/* Everything is read, and as a run reads it, where all was asked for and that has an end. What has
 * no early end is the same in each epoch. */
static bool
may_read_whole (LaunchProjection *self, const LaunchOptions *options)
{
  GListModel *elements = G_LIST_MODEL (self->pipeline);

  if (options->dry_run < 1 || self->closers->len == 0)
    return false;
  for (guint i = 0; i < g_list_model_get_n_items (elements); i++)
    {
      g_autoptr (DlpElement) element = g_list_model_get_item (elements, i);

      if (dlp_element_get_n_inputs (element) == 0 &&
          launch_is_endless (self->pipeline, self->closers, element))
        return false;
    }
  return true;
}

static bool
prepare (LaunchProjection *self, const LaunchOptions *options, GError **error)
{
  if (!dlp_registry_add_element (LAUNCH_PROBE_FACTORY, LAUNCH_TYPE_PROBE, error) ||
      !dlp_registry_add_element (LAUNCH_LISTER_FACTORY, LAUNCH_TYPE_LISTER, error) ||
      !dlp_registry_add_element (LAUNCH_SAMPLER_FACTORY, LAUNCH_TYPE_SAMPLER, error) ||
      !dlp_pipeline_check (self->pipeline, NULL, error) ||
      !launch_write_dot (self->pipeline, options, error))
    return false;
  self->closers = launch_list_closers (self->pipeline);
  self->sample =
      launch_sample_new (self->pipeline, options->dry_run, may_read_whole (self, options), error);
  if (self->sample == NULL)
    return false;
  self->copy = dlp_pipeline_new ();
  return make_copy (self, error);
}

int
launch_dry_run (DlpPipeline *pipeline, const LaunchOptions *options)
{
  LaunchProjection self = { .pipeline = pipeline };
  g_autoptr (GError) error = NULL;
  int code;

  g_object_set (pipeline, "state-dir", NULL, "quarantine", NULL, NULL);
  if (prepare (&self, options, &error))
    code = run_copy (&self, options);
  else
    {
      launch_report_error (error, false);
      code = launch_exit_for_prepare (error, false);
    }
  g_clear_object (&self.copy);
  g_clear_pointer (&self.sample, launch_sample_free);
  g_clear_pointer (&self.closers, g_ptr_array_unref);
  return code;
}
