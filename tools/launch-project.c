/* SPDX-License-Identifier: MIT */

/* From a sample to the whole: each group of files by its own share of stored bytes, then what
 * elements that end their inputs early let through. */

#include "launch-project.h"

#include <math.h>
#include <string.h>

/* Stands for epochs without an end, where something ends them. */
#define MANY_EPOCHS 1e9

DlpElement *
launch_find_owner (DlpPipeline *pipeline, DlpPad *pad)
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

GPtrArray *
launch_list_before (DlpPipeline *pipeline, DlpElement *element)
{
  GPtrArray *found = g_ptr_array_new ();

  g_ptr_array_add (found, element);
  /* It grows while it is read. */
  for (guint i = 0; i < found->len; i++)
    for (guint k = 0; k < dlp_element_get_n_inputs (found->pdata[i]); k++)
      {
        DlpPad *peer = dlp_pad_get_peer (dlp_element_get_input (found->pdata[i], k));
        DlpElement *owner = peer != NULL ? launch_find_owner (pipeline, peer) : NULL;

        if (owner != NULL && !g_ptr_array_find (found, owner, NULL))
          g_ptr_array_add (found, owner);
      }
  return found;
}

bool
launch_is_reject_sink (DlpPipeline *pipeline, DlpElement *sink)
{
  DlpElement *element = sink;

  while (element != NULL && dlp_element_get_n_inputs (element) > 0)
    {
      DlpPad *peer = dlp_pad_get_peer (dlp_element_get_input (element, 0));

      if (peer == NULL || strcmp (dlp_pad_get_name (peer), "rejected") == 0)
        return peer != NULL;
      element = launch_find_owner (pipeline, peer);
    }
  return false;
}

static bool
is_stopping_mix (DlpElement *element)
{
  g_auto (GValue) value = G_VALUE_INIT;
  g_auto (GValue) text = G_VALUE_INIT;
  GParamSpec *pspec = g_object_class_find_property (G_OBJECT_GET_CLASS (element), "exhausted");

  if (strcmp (dlp_element_get_factory (element), "mix") != 0 || pspec == NULL ||
      !G_IS_PARAM_SPEC_ENUM (pspec))
    return false;
  g_value_init (&value, pspec->value_type);
  g_object_get_property (G_OBJECT (element), "exhausted", &value);
  return strcmp (g_enum_get_value (G_PARAM_SPEC_ENUM (pspec)->enum_class, g_value_get_enum (&value))
                     ->value_nick,
                 "stop") == 0;
}

GPtrArray *
launch_list_closers (DlpPipeline *pipeline)
{
  GPtrArray *closers = g_ptr_array_new ();
  GListModel *elements = G_LIST_MODEL (pipeline);

  for (guint i = 0; i < g_list_model_get_n_items (elements); i++)
    {
      g_autoptr (DlpElement) element = g_list_model_get_item (elements, i);
      g_autoptr (GPtrArray) before = NULL;
      guint place = 0;

      if (strcmp (dlp_element_get_factory (element), "limit") != 0 && !is_stopping_mix (element))
        continue;
      /* In front of the first that it is before. */
      for (; place < closers->len; place++)
        {
          g_autoptr (GPtrArray) of = launch_list_before (pipeline, closers->pdata[place]);

          if (g_ptr_array_find (of, element, NULL))
            break;
        }
      g_ptr_array_insert (closers, (int) place, element);
    }
  return closers;
}

bool
launch_is_endless (DlpPipeline *pipeline, GPtrArray *closers, DlpElement *source)
{
  guint epochs = 1;

  if (launch_is_file_source (source))
    g_object_get (source, "epochs", &epochs, NULL);
  for (guint i = 0; epochs == 0 && i < closers->len; i++)
    {
      g_autoptr (GPtrArray) before = launch_list_before (pipeline, closers->pdata[i]);

      if (g_ptr_array_find (before, source, NULL))
        return false;
    }
  return epochs == 0;
}

static double
get_factor (const LaunchProjection *self, guint index)
{
  const LaunchGroup *group = &g_array_index (self->sample->groups, LaunchGroup, index);
  LaunchSource *source = g_ptr_array_index (self->sample->sources, group->source);
  DlpElement *element = dlp_pipeline_get_element (self->pipeline, source->name);
  double share = group->read > 0 && group->total > 0 ?
                     MIN ((double) group->read / (double) group->total, 1) :
                     1;
  double epochs = source->epochs;

  if (self->sample->whole)
    return 1;
  if (epochs == 0)
    epochs = launch_is_endless (self->pipeline, self->closers, element) ? 1 : MANY_EPOCHS;
  return epochs / share;
}

/* ---- early ends ---- */

static LaunchTally
sum (const LaunchTally *tallies, const bool *chosen, guint n)
{
  LaunchTally all = { 0 };

  for (guint i = 0; i < n; i++)
    if (chosen == NULL || chosen[i])
      {
        all.records += tallies[i].records;
        all.tokens += tallies[i].tokens;
        all.bytes += tallies[i].bytes;
      }
  return all;
}

static void
scale (LaunchTally *tallies, const bool *chosen, guint n, double factor)
{
  for (guint i = 0; i < n; i++)
    if (chosen[i])
      {
        tallies[i].records *= factor;
        tallies[i].tokens *= factor;
        tallies[i].bytes *= factor;
      }
}

/* The groups whose records come by @element. */
static bool *
choose (const LaunchProjection *self, DlpElement *element, guint n)
{
  g_autoptr (GPtrArray) before = launch_list_before (self->pipeline, element);
  bool *chosen = g_new0 (bool, n);

  for (guint i = 0; i < self->sample->groups->len; i++)
    {
      guint source = g_array_index (self->sample->groups, LaunchGroup, i).source;
      LaunchSource *of = g_ptr_array_index (self->sample->sources, source);

      chosen[i] =
          g_ptr_array_find (before, dlp_pipeline_get_element (self->pipeline, of->name), NULL);
    }
  return chosen;
}

static void
apply_limit (const LaunchProjection *self, DlpElement *limit, LaunchTally *tallies, guint n)
{
  g_autofree bool *chosen = choose (self, limit, n);
  LaunchTally all = sum (tallies, chosen, n);
  guint64 records = 0, tokens = 0;
  double factor = 1;

  g_object_get (limit, "records", &records, "tokens", &tokens, NULL);
  if (records > 0 && all.records > (double) records)
    factor = (double) records / all.records;
  if (tokens > 0 && all.tokens > (double) tokens)
    factor = MIN (factor, (double) tokens / all.tokens);
  scale (tallies, chosen, n, factor);
}

/* They were checked: in the order of the inputs, or by name; none: all alike. */
static double
get_weight (DlpElement *mix, guint input)
{
  const char *name = dlp_pad_get_name (dlp_element_get_input (mix, input));
  g_autofree char *text = NULL;
  g_auto (GStrv) parts = NULL;

  g_object_get (mix, "weights", &text, NULL);
  if (text == NULL || text[0] == '\0')
    return 1;
  parts = g_strsplit (text, ",", -1);
  if (strchr (text, ':') == NULL)
    return input < g_strv_length (parts) ? g_ascii_strtod (g_strstrip (parts[input]), NULL) : 1;
  for (char **part = parts; *part != NULL; part++)
    {
      char *colon = strrchr (*part, ':');

      if (colon == NULL)
        continue;
      *colon = '\0';
      if (strcmp (g_strstrip (*part), name) == 0)
        return g_ascii_strtod (g_strstrip (colon + 1), NULL);
    }
  return 0;
}

/* It ends when an input that is drawn from has no more. */
static void
apply_mix (const LaunchProjection *self, DlpElement *mix, LaunchTally *tallies, guint n)
{
  guint n_inputs = dlp_element_get_n_inputs (mix);
  g_autofree double *records = g_new0 (double, n_inputs);
  double total = INFINITY;

  for (guint pass = 0; pass < 2; pass++)
    for (guint i = 0; i < n_inputs; i++)
      {
        DlpPad *peer = dlp_pad_get_peer (dlp_element_get_input (mix, i));
        g_autofree bool *chosen = choose (self, launch_find_owner (self->pipeline, peer), n);
        double weight = get_weight (mix, i);

        if (pass == 0)
          {
            records[i] = sum (tallies, chosen, n).records;
            if (weight > 0)
              total = MIN (total, records[i] / weight);
          }
        else if (records[i] > 0)
          scale (tallies, chosen, n, MIN (total * weight / records[i], 1));
      }
}

LaunchTally
launch_project_sink (const LaunchProjection *self, DlpElement *sink)
{
  DlpElement *probe = dlp_pipeline_get_element (self->copy, dlp_element_get_name (sink));
  g_autoptr (GPtrArray) before = launch_list_before (self->pipeline, sink);
  guint n = self->sample->groups->len + 1;
  g_autofree LaunchTally *tallies = g_new0 (LaunchTally, n);

  for (guint i = 0; i < n; i++)
    {
      g_autofree bool *one = g_new0 (bool, n);

      one[i] = true;
      tallies[i] = launch_probe_get_tally (LAUNCH_PROBE (probe), i);
      if (i + 1 < n)
        scale (tallies, one, n, get_factor (self, i));
    }
  /* A whole was ended as a run is. */
  for (guint i = 0; i < self->closers->len && !self->sample->whole; i++)
    {
      DlpElement *closer = self->closers->pdata[i];

      if (!g_ptr_array_find (before, closer, NULL))
        continue;
      if (strcmp (dlp_element_get_factory (closer), "limit") == 0)
        apply_limit (self, closer, tallies, n);
      else
        apply_mix (self, closer, tallies, n);
    }
  return sum (tallies, NULL, n);
}

LaunchTally
launch_sum_probe (LaunchSample *sample, LaunchProbe *probe)
{
  LaunchTally all = { 0 };

  for (guint i = 0; i <= sample->groups->len; i++)
    {
      LaunchTally tally = launch_probe_get_tally (probe, i);

      all.records += tally.records;
      all.tokens += tally.tokens;
      all.bytes += tally.bytes;
    }
  return all;
}
