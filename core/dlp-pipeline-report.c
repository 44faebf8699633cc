/* SPDX-License-Identifier: MIT */

/* What is known of a run: statistics, digests. All of it may be asked from any thread at
 * any time. */

#include <time.h>

#include "dlp-pipeline-private.h"

static guint64
sum_positions (DlpElementPrivate *priv)
{
  guint64 sum = 0;

  for (guint i = 0; i < priv->inputs->len; i++)
    sum += dlp_pad_get_position (g_ptr_array_index (priv->inputs, i));
  return sum;
}

static guint64
sum_emitted (DlpElementPrivate *priv)
{
  guint64 sum = 0;

  for (guint i = 0; i < priv->outputs->len; i++)
    sum += dlp_pad_get_emitted (g_ptr_array_index (priv->outputs, i));
  return sum;
}

/* Records that are made again before the first new one. */
static guint64
max_replay (DlpElementPrivate *priv)
{
  guint64 most = 0;

  for (guint i = 0; i < priv->outputs->len; i++)
    {
      DlpPad *pad = g_ptr_array_index (priv->outputs, i);
      guint64 wanted = dlp_stat_get (&pad->wanted);
      guint64 emitted = dlp_pad_get_emitted (pad);

      most = MAX (most, wanted > emitted ? wanted - emitted : 0);
    }
  return most;
}

static void
add_time (GVariantDict *dict, const char *key, guint64 ns)
{
  g_variant_dict_insert (dict, key, "d", ns / 1e9);
}

static void
add_levels (GVariantDict *dict, DlpElementPrivate *priv)
{
  guint batches = 0;
  gsize bytes = 0;
  guint64 limit = 0;
  guint64 in_bytes = 0, out_bytes = 0, out_batches = 0;

  for (guint i = 0; i < priv->inputs->len; i++)
    {
      DlpPad *pad = g_ptr_array_index (priv->inputs, i);
      guint b = 0;
      gsize n = 0;

      if (pad->link != NULL)
        {
          dlp_queue_get_level (pad->link, &b, &n);
          limit += pad->link->max_bytes;
        }
      if (pad->peer != NULL)
        in_bytes += dlp_stat_get (&pad->peer->bytes);
      batches += b;
      bytes += n;
    }
  for (guint i = 0; i < priv->outputs->len; i++)
    {
      DlpPad *pad = g_ptr_array_index (priv->outputs, i);

      out_bytes += dlp_stat_get (&pad->bytes);
      out_batches += dlp_stat_get (&pad->n_batches);
    }
  g_variant_dict_insert (dict, "queued-batches", "u", batches);
  g_variant_dict_insert (dict, "queued-bytes", "t", (guint64) bytes);
  g_variant_dict_insert (dict, "queue-limit-bytes", "t", limit);
  g_variant_dict_insert (dict, "bytes-in", "t", in_bytes);
  g_variant_dict_insert (dict, "bytes", "t", out_bytes);
  g_variant_dict_insert (dict, "batches", "t", out_batches);
}

static const char *
name_wait (guint turn)
{
  switch ((DlpTurn) turn)
    {
    case DLP_TURN_WAIT_INPUT:
      return "input";
    case DLP_TURN_WAIT_OUTPUT:
      return "output";
    case DLP_TURN_WAIT_WORK:
      return "work";
    case DLP_TURN_MORE:
    case DLP_TURN_END:
    case DLP_TURN_ERROR:
      break;
    }
  return "";
}

/* The wait that goes on now is part of the times. */
static void
add_times (GVariantDict *dict, DlpElementPrivate *priv)
{
  DlpElementStats *stats = &priv->stats;
  guint64 since = __atomic_load_n (&priv->waits_since, __ATOMIC_ACQUIRE);
  guint waits_for = __atomic_load_n (&priv->waits_for, __ATOMIC_RELAXED);
  guint64 *work = __atomic_load_n (&priv->work, __ATOMIC_ACQUIRE);
  guint64 waits = 0;
  struct timespec now;

  if (since != 0)
    {
      clock_gettime (CLOCK_MONOTONIC, &now);
      waits = now.tv_sec * G_GUINT64_CONSTANT (1000000000) + now.tv_nsec;
      waits = waits > since ? waits - since : 0;
    }
  add_time (dict, "busy", dlp_stat_get (&stats->busy));
  add_time (dict, "cpu", dlp_stat_get (&stats->cpu));
  add_time (dict, "work", work != NULL ? dlp_stat_get (work) : 0);
  add_time (dict, "wait-in",
            dlp_stat_get (&stats->wait_in) + (waits_for == DLP_TURN_WAIT_INPUT ? waits : 0));
  add_time (dict, "wait-out",
            dlp_stat_get (&stats->wait_out) + (waits_for == DLP_TURN_WAIT_OUTPUT ? waits : 0));
  add_time (dict, "wait-work",
            dlp_stat_get (&stats->wait_work) + (waits_for == DLP_TURN_WAIT_WORK ? waits : 0));
  add_time (dict, "io-wait", dlp_stat_get (&stats->io_wait));
  add_time (dict, "io-busy", dlp_stat_get (&stats->io_busy));
  add_time (dict, "io-cpu", dlp_stat_get (&stats->io_cpu));
  g_variant_dict_insert (dict, "io-lanes", "u",
                         __atomic_load_n (&priv->io_lanes, __ATOMIC_RELAXED));
  g_variant_dict_insert (dict, "input-bytes", "t", dlp_stat_get (&priv->progress[0]));
  g_variant_dict_insert (dict, "waits-for", "s",
                         dlp_flag_get (priv->has_left) ? "end" :
                         since != 0                    ? name_wait (waits_for) :
                                                         "");
}

static void
add_status (GVariantDict *dict, DlpElementPrivate *priv)
{
  g_autofree char *status = NULL;

  pthread_mutex_lock (&priv->status_lock);
  status = g_strdup (priv->status);
  pthread_mutex_unlock (&priv->status_lock);
  if (status != NULL)
    g_variant_dict_insert (dict, "status", "s", status);
  g_variant_dict_insert (dict, "ended", "b", dlp_flag_get (priv->ended));
}

/* The element's own counters: of a sink those of its last snapshot, of another the state of its
 * last mark. Only when nothing runs are they of this very moment. */
static GVariant *
describe_state (DlpElement *element, DlpElementPrivate *priv, bool quiet)
{
  DlpElementClass *klass = DLP_ELEMENT_GET_CLASS (element);
  g_autoptr (DlpState) state = NULL;
  g_autoptr (GVariant) described = NULL;
  GVariant *said;

  if (quiet)
    state = klass->save (element);
  else if (DLP_IS_SINK (element))
    {
      pthread_mutex_lock (&priv->snapshot_lock);
      state = priv->snapshot_state != NULL ? dlp_state_ref (priv->snapshot_state) : NULL;
      pthread_mutex_unlock (&priv->snapshot_lock);
    }
  if (state == NULL)
    return NULL;
  described = dlp_element_describe_state (element, state, NULL);
  if (described == NULL || klass->report == NULL)
    return g_steal_pointer (&described);
  said = klass->report (element, described);
  return said != NULL ? g_variant_take_ref (said) : NULL;
}

static GVariant *
report_element (DlpElement *element, bool quiet)
{
  DlpElementPrivate *priv = dlp_element_get_private (element);
  g_autoptr (GVariant) state = describe_state (element, priv, quiet);
  GVariantDict dict;
  GVariant *report;

  g_variant_dict_init (&dict, NULL);
  g_variant_dict_insert (&dict, "name", "s", dlp_element_get_name (element));
  g_variant_dict_insert (&dict, "factory", "s", dlp_element_get_factory (element));
  g_variant_dict_insert (&dict, "records-in", "t", sum_positions (priv));
  g_variant_dict_insert (&dict, "records-out", "t", sum_emitted (priv));
  g_variant_dict_insert (&dict, "stateless", "b",
                         (DLP_ELEMENT_GET_CLASS (element)->flags & DLP_ELEMENT_STATELESS) != 0);
  add_levels (&dict, priv);
  g_variant_dict_insert (&dict, "memory-share", "t", (guint64) priv->memory_share);
  g_variant_dict_insert (&dict, "steps", "t", dlp_stat_get (&priv->stats.steps));
  g_variant_dict_insert (&dict, "replay", "t", max_replay (priv));
  add_times (&dict, priv);
  add_status (&dict, priv);
  if (DLP_IS_SINK (element) && quiet)
    {
      DlpDigest digest;
      g_autofree char *text = NULL;

      dlp_sink_get_digest (DLP_SINK (element), &digest);
      text = dlp_digest_to_string (&digest);
      g_variant_dict_insert (&dict, "digest", "s", text);
      g_variant_dict_insert (&dict, "tokens", "t", dlp_sink_get_n_tokens (DLP_SINK (element)));
    }
  if (state != NULL)
    g_variant_dict_insert_value (&dict, "state", state);
  report = g_variant_dict_end (&dict);
  /* As bytes it takes a tenth of the memory. */
  g_variant_get_data (report);
  return report;
}

/* False: it is being prepared. Until end_looking() nobody begins to. */
static bool
begin_looking (DlpPipeline *self)
{
  bool ready;

  pthread_mutex_lock (&self->lock);
  ready = !dlp_flag_get (self->preparing);
  self->reporting += ready;
  pthread_mutex_unlock (&self->lock);
  return ready;
}

static void
end_looking (DlpPipeline *self)
{
  bool last;

  pthread_mutex_lock (&self->lock);
  last = --self->reporting == 0;
  pthread_mutex_unlock (&self->lock);
  if (last)
    pthread_cond_broadcast (&self->cond);
}

/* What is known once it is prepared. */
static void
report_prepared (DlpPipeline *self, GVariantDict *dict)
{
  g_autoptr (GPtrArray) elements = dlp_pipeline_ref_elements (self);
  GVariantBuilder builder;

  g_variant_dict_insert (dict, "run-id", "s", self->run->run_id != NULL ? self->run->run_id : "");
  g_variant_dict_insert (dict, "attempt", "u",
                         __atomic_load_n (&self->run->attempt, __ATOMIC_RELAXED));
  g_variant_dict_insert (dict, "seed", "t", self->run->seed);
  g_variant_dict_insert (dict, "workers", "u", self->workers);
  g_variant_dict_insert (dict, "cpus", "u", dlp_cpu_budget ());
  g_variant_dict_insert (dict, "restored", "b", self->restored);
  g_variant_dict_insert (dict, "finished-early", "b",
                         dlp_flag_get (self->complete) && dlp_flag_get (self->run->cut_short));
  g_variant_dict_insert (dict, "memory", "t", self->memory);

  g_variant_builder_init (&builder, G_VARIANT_TYPE ("aa{sv}"));
  for (guint i = 0; i < elements->len; i++)
    g_variant_builder_add_value (
        &builder, report_element (g_ptr_array_index (elements, i), dlp_flag_get (self->quiet)));
  g_variant_dict_insert_value (dict, "elements", g_variant_builder_end (&builder));
}

/* What is done outside of the elements' steps. */
static void
report_phase (DlpPipeline *self, GVariantDict *dict)
{
  g_autofree char *phase = NULL;

  pthread_mutex_lock (&self->lock);
  if (self->watchdog != NULL)
    phase = dlp_watchdog_describe_phase (self->watchdog);
  pthread_mutex_unlock (&self->lock);
  if (phase != NULL)
    g_variant_dict_insert (dict, "phase", "s", phase);
}

GVariant *
dlp_pipeline_get_report (DlpPipeline *self)
{
  guint64 n_warnings;
  DlpPipelineStatus status = dlp_pipeline_get_status (self);
  g_autoptr (GEnumClass) statuses = g_type_class_ref (DLP_TYPE_PIPELINE_STATUS);
  guint64 totals[5];
  double before, fraction, elapsed = dlp_pipeline_get_elapsed (self, &before);
  guint files_done, files_total;
  GVariantDict dict;

  dlp_pipeline_get_progress (self, totals, &fraction, &files_done, &files_total);
  g_variant_dict_init (&dict, NULL);
  g_variant_dict_insert (&dict, "status", "s", g_enum_get_value (statuses, status)->value_nick);
  report_phase (self, &dict);
  if (begin_looking (self))
    {
      report_prepared (self, &dict);
      end_looking (self);
    }
  g_variant_dict_insert (&dict, "fraction", "d", fraction);
  g_variant_dict_insert (&dict, "files-done", "u", files_done);
  g_variant_dict_insert (&dict, "files-total", "u", files_total);
  g_variant_dict_insert (&dict, "records", "t", totals[0]);
  g_variant_dict_insert (&dict, "tokens", "t", totals[1]);
  g_variant_dict_insert (&dict, "bytes", "t", totals[2]);
  g_variant_dict_insert (&dict, "bytes-total", "t", totals[3]);
  g_variant_dict_insert (&dict, "elapsed", "d", elapsed);
  g_variant_dict_insert (&dict, "attempt-elapsed", "d", elapsed - before);
  g_variant_dict_insert (&dict, "eta", "d", fraction > 0.0 ? elapsed / fraction - elapsed : -1.0);
  if (self->state_path != NULL)
    {
      g_autofree char *path = g_utf8_make_valid (self->state_path, -1);

      g_variant_dict_insert (&dict, "state-dir", "s", path);
    }
  g_variant_dict_insert_value (&dict, "warnings",
                               dlp_context_describe_warnings (self->run, &n_warnings));
  g_variant_dict_insert (&dict, "n-warnings", "t", n_warnings);
  return g_variant_ref_sink (g_variant_dict_end (&dict));
}

char *
dlp_pipeline_get_report_json (DlpPipeline *self)
{
  g_autoptr (GVariant) report = dlp_pipeline_get_report (self);

  return dlp_json_print (report, TRUE);
}

static void
append_dot_name (GString *dot, DlpElement *element)
{
  g_string_append_printf (dot, "\"%s\"", dlp_element_get_name (element));
}

char *
dlp_pipeline_to_dot (DlpPipeline *self)
{
  GString *dot = g_string_new ("digraph dlpipe {\n  rankdir=LR;\n  node [shape=box];\n");

  for (guint i = 0; i < self->elements->len; i++)
    {
      DlpElement *element = g_ptr_array_index (self->elements, i);

      g_string_append (dot, "  ");
      append_dot_name (dot, element);
      g_string_append_printf (dot, " [label=\"%s\\n%s\"];\n", dlp_element_get_factory (element),
                              dlp_element_get_name (element));
    }
  for (guint i = 0; i < self->elements->len; i++)
    {
      DlpElement *element = g_ptr_array_index (self->elements, i);

      for (guint k = 0; k < dlp_element_get_n_inputs (element); k++)
        {
          DlpPad *input = dlp_element_get_input (element, k);
          g_autofree char *schema = NULL;

          if (input->peer == NULL)
            continue;
          if (input->schema != NULL)
            schema = dlp_schema_to_string (input->schema);
          g_string_append (dot, "  ");
          append_dot_name (dot, input->peer->element);
          g_string_append (dot, " -> ");
          append_dot_name (dot, element);
          g_string_append_printf (dot, " [taillabel=\"%s\", headlabel=\"%s\", label=\"%s\"];\n",
                                  input->peer->name, input->name, schema != NULL ? schema : "");
        }
    }
  g_string_append (dot, "}\n");
  return g_string_free (dot, FALSE);
}
