/* SPDX-License-Identifier: MIT */

/* Checks of the whole graph, and schemas from the sources down. */

#include <string.h>

#include <dlpipe/dlp-plugin.h>
#include <dlpipe/dlp-reader.h>
#include <dlpipe/dlp-source.h>

#include "dlp-auto-reader-private.h"
#include "dlp-pipeline-private.h"
#include "dlp-registry-private.h"

#define MIN_MEMORY (1024 * 1024)
/* Files that are being read in advance at a time. */
#define READ_AHEAD_THREADS 8

/* Of a tee, say, that nothing is linked behind. */
static bool
makes_outputs (DlpElement *element)
{
  DlpElementClass *base = g_type_class_peek (DLP_TYPE_ELEMENT);

  return DLP_ELEMENT_GET_CLASS (element)->request_pad != base->request_pad &&
         dlp_element_get_n_outputs (element) == 0 && !DLP_IS_SINK (element);
}

static bool
check_links (DlpPipeline *self, DlpElement *element, GError **error)
{
  DlpElementPrivate *priv = dlp_element_get_private (element);
  GPtrArray *lists[] = { priv->inputs, priv->outputs };

  if (priv->inputs->len == 0 && priv->outputs->len == 0)
    {
      g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_LINK, "is linked to nothing");
      return false;
    }
  if (makes_outputs (element))
    {
      g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_LINK,
                   "none of its outputs is linked; put “!” and an element behind it");
      return false;
    }
  if (DLP_IS_SINK (element) ? priv->inputs->len != 1 || priv->outputs->len != 0 :
                              priv->outputs->len == 0)
    {
      g_set_error (
          error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_INTERNAL,
          "%s has %u inputs and %u outputs: an element without outputs must be a DlpSink, and a "
          "DlpSink has one input and no output",
          dlp_element_get_factory (element), priv->inputs->len, priv->outputs->len);
      return false;
    }
  for (guint k = 0; k < G_N_ELEMENTS (lists); k++)
    for (guint i = 0; i < lists[k]->len; i++)
      {
        DlpPad *pad = g_ptr_array_index (lists[k], i);

        if (pad->optional || dlp_pad_is_linked (pad))
          continue;
        g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_LINK,
                     "its %s pad “%s” is not linked; %s", k == 0 ? "input" : "output", pad->name,
                     k == 0 ? "put an element and “!” before it" :
                              "put “!” and an element behind it");
        return false;
      }
  return true;
}

/* Kahn's order: producers before consumers. */
static bool
sort_elements (DlpPipeline *self, GError **error)
{
  g_autoptr (GHashTable) missing = g_hash_table_new (NULL, NULL);

  g_ptr_array_set_size (self->order, 0);
  for (guint i = 0; i < self->elements->len; i++)
    {
      DlpElement *element = g_ptr_array_index (self->elements, i);
      guint n = dlp_element_get_n_inputs (element);

      g_hash_table_insert (missing, element, GUINT_TO_POINTER (n));
      if (n == 0)
        g_ptr_array_add (self->order, element);
    }
  for (guint i = 0; i < self->order->len; i++)
    {
      DlpElement *element = g_ptr_array_index (self->order, i);

      for (guint k = 0; k < dlp_element_get_n_outputs (element); k++)
        {
          DlpPad *peer = dlp_pad_get_peer (dlp_element_get_output (element, k));
          guint left;

          if (peer == NULL)
            continue;
          left = GPOINTER_TO_UINT (g_hash_table_lookup (missing, peer->element)) - 1;
          g_hash_table_insert (missing, peer->element, GUINT_TO_POINTER (left));
          if (left == 0)
            g_ptr_array_add (self->order, peer->element);
        }
    }
  if (self->order->len == self->elements->len)
    return true;
  g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_LINK, "the graph has a cycle");
  return false;
}

/* Branches that meet again could block each other for ever on bounded links. */
static bool
check_branches (DlpElement *element, GError **error)
{
  g_autoptr (GHashTable) seen = g_hash_table_new (NULL, NULL);
  g_autoptr (GPtrArray) stack = g_ptr_array_new ();

  for (guint i = 0; i < dlp_element_get_n_inputs (element); i++)
    {
      DlpPad *peer = dlp_pad_get_peer (dlp_element_get_input (element, i));

      if (peer != NULL)
        g_ptr_array_add (stack, peer->element);
      while (stack->len > 0)
        {
          DlpElement *above = g_ptr_array_remove_index_fast (stack, stack->len - 1);

          if (!g_hash_table_add (seen, above))
            {
              g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_LINK,
                           "two of its inputs come from %s: branches that meet again can block "
                           "each other for ever; "
                           "read the input twice, or write the branches to separate outputs",
                           dlp_element_get_name (above));
              return false;
            }
          for (guint k = 0; k < dlp_element_get_n_inputs (above); k++)
            {
              peer = dlp_pad_get_peer (dlp_element_get_input (above, k));
              if (peer != NULL)
                g_ptr_array_add (stack, peer->element);
            }
        }
    }
  return true;
}

void
dlp_pipeline_replace_elements (DlpPipeline *self, GPtrArray *elements)
{
  GPtrArray *old;

  pthread_mutex_lock (&self->lock);
  old = self->elements;
  self->elements = g_ptr_array_ref (elements);
  pthread_mutex_unlock (&self->lock);
  g_ptr_array_unref (old);
}

/* "q.jsonl" is "q-READER.jsonl" where each of several readers needs a file of its own. */
static char *
name_quarantine (const char *path, const char *reader)
{
  const char *slash = strrchr (path, '/');
  const char *name = slash != NULL ? slash + 1 : path;
  const char *dot = strrchr (name, '.');
  int length = (int) (dot != NULL && dot > name ? dot - path : (gssize) strlen (path));

  return g_strdup_printf ("%.*s-%s%s", length, path, reader, path + length);
}

/* Bad records of readers whose pad `rejected` is not linked go to a file. */
static bool
add_quarantine (DlpPipeline *self, GError **error)
{
  g_autoptr (GPtrArray) elements = g_ptr_array_new_with_free_func (g_object_unref);
  guint n = 0;
  guint n_elements = self->elements->len;

  if (self->state_path == NULL && self->quarantine_path == NULL)
    return true;
  for (guint i = 0; i < n_elements; i++)
    {
      g_ptr_array_add (elements, g_object_ref (g_ptr_array_index (self->elements, i)));
      n += DLP_IS_READER (g_ptr_array_index (self->elements, i));
    }

  for (guint i = 0; i < n_elements; i++)
    {
      DlpElement *reader = g_ptr_array_index (self->elements, i);
      DlpPad *rejected = DLP_IS_READER (reader) ? dlp_element_find_pad (reader, "rejected") : NULL;
      g_autofree char *name = NULL;
      g_autofree char *file = NULL;
      g_autofree char *location = NULL;
      DlpElement *sink;

      if (rejected == NULL || dlp_pad_is_linked (rejected))
        continue;
      name = g_strconcat (dlp_element_get_name (reader), ".rejected", NULL);
      sink = dlp_element_make ("quarantine-sink", name, error);
      if (sink == NULL)
        return false;
      g_ptr_array_add (elements, sink);
      file = n == 1 ? g_strdup ("quarantine.jsonl") :
                      g_strdup_printf ("quarantine-%s.jsonl", dlp_element_get_name (reader));
      if (self->quarantine_path != NULL)
        location = n == 1 ? g_strdup (self->quarantine_path) :
                            name_quarantine (self->quarantine_path, dlp_element_get_name (reader));
      else
        location = g_build_filename (self->state_path, file, NULL);
      g_object_set (sink, "location", location, NULL);
      dlp_pad_link (rejected, dlp_element_get_input (sink, 0));
    }
  dlp_pipeline_replace_elements (self, elements);
  return true;
}

static const DlpPadTemplate *
find_template (GPtrArray *templates, DlpPad *pad)
{
  const DlpPadTemplate *on_request = NULL;

  for (guint i = 0; i < templates->len; i++)
    {
      const DlpPadTemplate *found = g_ptr_array_index (templates, i);

      if (found->direction != pad->direction)
        continue;
      if (strcmp (found->name, pad->name) == 0)
        return found;
      if (found->presence == DLP_PAD_ON_REQUEST)
        on_request = found;
    }
  return on_request;
}

/* Who knows nothing of training batches would cut or merge them. */
static bool
check_takes_batches (DlpElement *element, DlpPad *input, GError **error)
{
  g_autoptr (GPtrArray) templates = dlp_element_type_list_pad_templates (G_OBJECT_TYPE (element));
  const DlpPadTemplate *found = find_template (templates, input);

  if (!input->whole || (found != NULL && (found->carries & DLP_CARRIES_BATCHES)))
    return true;
  g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_TYPE,
               "takes records, not the batches that %s gives; put it before the element that makes "
               "batches",
               dlp_element_get_name (input->peer->element));
  return false;
}

/* A source lists its files here, by the schemes as they are set for it. */
static bool
call_negotiate (DlpElement *element, GError **error)
{
  DlpElementClass *klass = DLP_ELEMENT_GET_CLASS (element);
  DlpElement *before = dlp_element_set_reads_for (element);
  bool ok = klass->negotiate == NULL || klass->negotiate (element, error);

  dlp_element_set_reads_for (before);
  return ok || dlp_element_failed (element, "negotiate", error);
}

static bool
negotiate (DlpElement *element, GError **error)
{
  DlpElementClass *klass = DLP_ELEMENT_GET_CLASS (element);

  for (guint i = 0; i < dlp_element_get_n_inputs (element); i++)
    {
      DlpPad *input = dlp_element_get_input (element, i);

      if (dlp_pad_get_peer (input) == NULL)
        continue;
      dlp_pad_set_schema (input, dlp_pad_get_schema (dlp_pad_get_peer (input)));
      if (!check_takes_batches (element, input, error))
        return false;
    }
  if (!call_negotiate (element, error))
    return false;
  for (guint i = 0; i < dlp_element_get_n_outputs (element); i++)
    {
      DlpPad *output = dlp_element_get_output (element, i);

      if (dlp_pad_get_schema (output) == NULL && klass->negotiate == NULL &&
          dlp_element_get_n_inputs (element) > 0)
        dlp_pad_set_schema (output, dlp_pad_get_schema (dlp_element_get_input (element, 0)));
      if (dlp_pad_get_schema (output) == NULL)
        {
          g_set_error (error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_INTERNAL,
                       "it set no schema on its pad “%s”", dlp_pad_get_name (output));
          return false;
        }
    }
  return true;
}

static guint
count_workers (DlpPipeline *self)
{
  return self->workers != 0 ? self->workers : dlp_cpu_budget ();
}

static guint
count_sources (DlpPipeline *self)
{
  guint n = 0;

  for (guint i = 0; i < self->elements->len; i++)
    n += DLP_IS_SOURCE (g_ptr_array_index (self->elements, i));
  return n;
}

static bool
claim_files (DlpPipeline *self, DlpElement *element, GError **error)
{
  DlpSinkClass *klass = DLP_IS_SINK (element) ? DLP_SINK_GET_CLASS (element) : NULL;
  const char *name = dlp_element_get_name (element);
  g_auto (GStrv) files = NULL;

  if (klass == NULL || klass->list_files == NULL)
    return true;
  dlp_watchdog_enter (self->watchdog, element, "is naming its files");
  files = klass->list_files (DLP_SINK (element));
  dlp_watchdog_leave (self->watchdog);
  for (guint i = 0; files != NULL && files[i] != NULL; i++)
    {
      const char *other = dlp_output_names_add (self->run->output_names, files[i], name);

      if (other == NULL)
        continue;
      g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE,
                   "location: it would write %s, as %s does; each sink needs a name of its own",
                   files[i], other);
      return false;
    }
  return true;
}

/* What has no place in the text, such as a quarantine, is named at least. */
static void
fail_element (DlpPipeline *self, DlpElement *element, GError **error)
{
  dlp_element_name_error (element, error);
  dlp_pipeline_place_error (self, element, error);
}

/* With less each part would have its floor, and all of them more than the budget. */
static bool
check_memory (DlpPipeline *self, GError **error)
{
  if (self->memory == 0 || self->memory >= MIN_MEMORY)
    return true;
  g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE,
               "memory: %" G_GUINT64_FORMAT
               " byte%s cannot work; the least is 1M (%d bytes), and 0 "
               "takes the default: set a larger --memory, or none",
               self->memory, self->memory == 1 ? "" : "s", MIN_MEMORY);
  return false;
}

bool
dlp_pipeline_build (DlpPipeline *self, GError **error)
{
  if (self->elements->len == 0)
    {
      g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_SYNTAX, "the graph is empty");
      return false;
    }
  if (!check_memory (self, error) || !add_quarantine (self, error))
    return false;

  for (guint i = 0; i < self->elements->len; i++)
    {
      DlpElement *element = g_ptr_array_index (self->elements, i);

      dlp_element_set_context (element, self->run);
      self->run->has_own_schemes |= dlp_element_get_private (element)->schemes != NULL;
      if (!check_links (self, element, error) || !check_branches (element, error))
        {
          dlp_pipeline_place_error (self, element, error);
          return false;
        }
    }
  if (!sort_elements (self, error) || !dlp_pipeline_check_loops (self, error) ||
      !dlp_pipeline_count_stages (self, error))
    return false;

  if (self->state_path != NULL)
    dlp_output_names_set_state (self->run->output_names, self->state_path);
  for (guint i = 0; i < self->elements->len; i++)
    if (!claim_files (self, g_ptr_array_index (self->elements, i), error))
      {
        fail_element (self, g_ptr_array_index (self->elements, i), error);
        return false;
      }
  for (guint i = 0; i < self->order->len; i++)
    {
      g_autoptr (DlpElement) element = g_object_ref (g_ptr_array_index (self->order, i));
      bool ok;

      if (g_cancellable_set_error_if_cancelled (self->run->cancellable, error))
        return false;
      dlp_watchdog_enter (self->watchdog, element, "is negotiating");
      ok = (!DLP_IS_AUTO_READER (element) || dlp_pipeline_choose_reader (self, i, error)) &&
           negotiate (g_ptr_array_index (self->order, i), error);
      dlp_watchdog_leave (self->watchdog);
      if (!ok)
        {
          fail_element (self, g_ptr_array_index (self->order, i), error);
          return false;
        }
    }
  self->workers = count_workers (self);
  self->run->n_sources = count_sources (self);
  dlp_pipeline_deal_memory (self);
  self->run->pool =
      dlp_work_pool_new (self->runner_kind == DLP_RUNNER_SEQUENTIAL ? 0 : self->workers);
  if (self->runner_kind != DLP_RUNNER_SEQUENTIAL)
    self->run->read_ahead = dlp_read_ahead_new (READ_AHEAD_THREADS);
  return true;
}
