/* SPDX-License-Identifier: MIT */

/* How far a run is, and what it has delivered. It may be asked from any thread at any time. */

#include "dlp-pipeline-private.h"

/* Of a run that goes on, whose sinks may have everything and still write it. */
#define MOST_WHILE_RUNNING 0.999

/* What came to sinks: records on the way from a pad “rejected” are bad, no output; of the copies
 * that an element makes, the ones on the fullest of its outputs count. */
typedef struct
{
  DlpElement *copier; /* the nearest one before; NULL: none is */
  DlpPad *copy;       /* the output of the copier */
  guint depth;        /* how many copiers are before */
  guint64 records, tokens;
} Delivery;

static bool
is_copier (DlpElement *element)
{
  return dlp_element_get_n_outputs (element) > 1 &&
         (DLP_ELEMENT_GET_CLASS (element)->flags & DLP_ELEMENT_ONE_TO_ONE);
}

/* Where several inputs meet, the first is followed. False: it is no output. */
static bool
trace (DlpElement *from, guint n_elements, Delivery *delivery)
{
  DlpElement *element = from;

  for (guint i = 0; i < n_elements && dlp_element_get_n_inputs (element) > 0; i++)
    {
      DlpPad *output = dlp_element_get_input (element, 0)->peer;

      if (output == NULL)
        break;
      if (g_str_equal (output->name, "rejected"))
        return false;
      element = output->element;
      if (is_copier (element) && delivery->depth++ == 0)
        {
          delivery->copier = element;
          delivery->copy = output;
        }
    }
  return true;
}

static void
add_delivery (GArray *deliveries, const Delivery *delivery)
{
  for (guint i = 0; i < deliveries->len; i++)
    {
      Delivery *other = &g_array_index (deliveries, Delivery, i);

      if (other->copy != delivery->copy)
        continue;
      other->records += delivery->records;
      other->tokens += delivery->tokens;
      return;
    }
  g_array_append_vals (deliveries, delivery, 1);
}

/* What all outputs of a copier come to. False: an output before this one has said it. */
static bool
get_most (GArray *deliveries, guint index, Delivery *most)
{
  DlpElement *copier = g_array_index (deliveries, Delivery, index).copier;

  for (guint i = 0; i < deliveries->len; i++)
    {
      const Delivery *other = &g_array_index (deliveries, Delivery, i);

      if (other->copier != copier)
        continue;
      if (i < index)
        return false;
      most->records = MAX (most->records, other->records);
      most->tokens = MAX (most->tokens, other->tokens);
    }
  return true;
}

/* The copiers that have so many others before them become one delivery each, to where they are. */
static void
fold (GArray *deliveries, guint depth, guint n_elements)
{
  guint n = deliveries->len;

  for (guint i = 0; i < n; i++)
    {
      const Delivery *delivery = &g_array_index (deliveries, Delivery, i);
      Delivery most = { NULL };

      if (delivery->depth == depth && get_most (deliveries, i, &most) &&
          trace (delivery->copier, n_elements, &most))
        add_delivery (deliveries, &most);
    }
}

static GArray *
list_deliveries (GPtrArray *elements)
{
  GArray *deliveries = g_array_new (FALSE, FALSE, sizeof (Delivery));

  for (guint i = 0; i < elements->len; i++)
    {
      DlpElement *element = g_ptr_array_index (elements, i);
      Delivery delivery = { NULL };

      if (!DLP_IS_SINK (element) || !trace (element, elements->len, &delivery))
        continue;
      delivery.records = dlp_sink_get_n_records (DLP_SINK (element));
      delivery.tokens = dlp_sink_get_n_tokens (DLP_SINK (element));
      add_delivery (deliveries, &delivery);
    }
  return deliveries;
}

/* From the sinks upward: what is behind a copier is known before the copier is looked at. */
static void
sum_deliveries (GPtrArray *elements, guint64 *records, guint64 *tokens)
{
  g_autoptr (GArray) deliveries = list_deliveries (elements);
  guint deepest = 0;

  for (guint i = 0; i < deliveries->len; i++)
    deepest = MAX (deepest, g_array_index (deliveries, Delivery, i).depth);
  for (guint depth = deepest; depth > 0; depth--)
    fold (deliveries, depth, elements->len);
  *records = *tokens = 0;
  for (guint i = 0; i < deliveries->len; i++)
    {
      const Delivery *delivery = &g_array_index (deliveries, Delivery, i);

      if (delivery->depth > 0)
        continue;
      *records += delivery->records;
      *tokens += delivery->tokens;
    }
}

/* ---- on the way ---- */

static guint64
count_queued (DlpPad *input)
{
  guint64 emitted, position;

  if (input->peer == NULL || input->schema == NULL ||
      dlp_schema_get_kind (input->schema) == DLP_SCHEMA_FILES || dlp_flag_get (input->drained))
    return 0;
  emitted = dlp_pad_get_emitted (input->peer);
  position = dlp_pad_get_position (input);
  return emitted > position ? emitted - position : 0;
}

static guint64
count_inside (DlpElement *element)
{
  guint64 in = 0, out = 0;

  if (!(DLP_ELEMENT_GET_CLASS (element)->flags & DLP_ELEMENT_KEEPS_ALL))
    return 0;
  for (guint i = 0; i < dlp_element_get_n_inputs (element); i++)
    in += dlp_pad_get_position (dlp_element_get_input (element, i));
  for (guint i = 0; i < dlp_element_get_n_outputs (element); i++)
    out += dlp_pad_get_emitted (dlp_element_get_output (element, i));
  return in > out ? in - out : 0;
}

/* Of the records that the readers gave, the share that has come to the sinks. */
static double
get_delivered_share (GPtrArray *elements)
{
  guint64 held = 0, delivered = 0;

  for (guint i = 0; i < elements->len; i++)
    {
      DlpElement *element = g_ptr_array_index (elements, i);

      for (guint k = 0; k < dlp_element_get_n_inputs (element); k++)
        held += count_queued (dlp_element_get_input (element, k));
      held += count_inside (element);
      if (DLP_IS_SINK (element))
        delivered += dlp_sink_get_n_records (DLP_SINK (element));
    }
  return held > 0 ? (double) delivered / (double) (delivered + held) : 1.0;
}

static double
get_fraction (DlpPipeline *self, GPtrArray *elements, guint64 done, guint64 total)
{
  double share;

  if (dlp_flag_get (self->complete) && !dlp_flag_get (self->run->cut_short))
    return 1.0;
  if (total == 0)
    return -1.0;
  share = MIN ((double) done / (double) total, 1.0);
  if (dlp_flag_get (self->complete))
    return share;
  return MIN (share * get_delivered_share (elements), MOST_WHILE_RUNNING);
}

void
dlp_pipeline_get_progress (DlpPipeline *self,
                           guint64 totals[5],
                           double *fraction,
                           guint *files_done,
                           guint *files_total)
{
  g_autoptr (GPtrArray) elements = NULL;
  guint64 done = 0, total = 0, files = 0, of_files = 0;

  for (guint i = 0; i < 5; i++)
    totals[i] = 0;
  elements = dlp_flag_get (self->preparing) ? g_ptr_array_new () : dlp_pipeline_ref_elements (self);
  for (guint i = 0; i < elements->len; i++)
    {
      DlpElementPrivate *priv = dlp_element_get_private (g_ptr_array_index (elements, i));

      done += dlp_stat_get (&priv->progress[0]);
      total += dlp_stat_get (&priv->progress[1]);
      files += dlp_stat_get (&priv->progress[2]);
      of_files += dlp_stat_get (&priv->progress[3]);
    }
  sum_deliveries (elements, &totals[0], &totals[1]);
  totals[2] = done;
  totals[3] = total;
  *fraction = get_fraction (self, elements, done, total);
  *files_done = files;
  *files_total = of_files;
}
