/* SPDX-License-Identifier: MIT */

#include "stage-state.h"

StageState *
stage_state_new (guint n_stages)
{
  StageState *self = g_malloc0 (stage_state_get_size (n_stages));

  self->n_stages = n_stages;
  return self;
}

gsize
stage_state_get_size (guint n_stages)
{
  return sizeof (StageState) + n_stages * sizeof (StageTally);
}

static guint64
get_places (const StageState *self, guint stage)
{
  return self->whole ? self->tallies[stage].batches : self->tallies[stage].records;
}

guint64
stage_state_count_places (const StageState *self)
{
  return self->start + (self->stage < self->n_stages ? get_places (self, self->stage) : 0);
}

/* ---- borders ---- */

static void
close_batch (StageState *self, const StagePlan *plan)
{
  if (self->open > 0 && (self->open == plan->rule.size || !plan->rule.drop_last))
    self->tallies[self->stage].batches++;
  self->open = 0;
}

static gboolean
is_of_next_epoch (const StageState *self, const StagePlan *plan, DlpRecordBatch *batch, guint row)
{
  return plan->rule.cut_at_epoch && self->open > 0 &&
         dlp_record_batch_get_coordinate (batch, row)->epoch != self->epoch;
}

/* The rows before the first one of another epoch. */
static guint64
count_epoch (StageState *self, DlpRecordBatch *batch, guint row, guint64 most)
{
  guint64 n = 1;

  self->epoch = dlp_record_batch_get_coordinate (batch, row)->epoch;
  while (n < most && dlp_record_batch_get_coordinate (batch, row + n)->epoch == self->epoch)
    n++;
  return n;
}

gboolean
stage_state_is_over (const StageState *self, const StagePlan *plan, guint64 leave_at)
{
  const StageTally *tally = &self->tallies[self->stage];

  if (plan->records > 0 && tally->records >= plan->records)
    return TRUE;
  if (plan->rule.size > 0 && self->open > 0)
    return FALSE;
  return (plan->batches > 0 && tally->batches >= plan->batches) ||
         stage_state_count_places (self) >= leave_at;
}

/* ---- records ---- */

/* The rows whose tokens fit; less than all: the next one would exceed the limit. */
static guint64
count_tokens (const StageState *self,
              const StagePlan *plan,
              int field,
              DlpRecordBatch *batch,
              guint row,
              guint64 most,
              guint64 *tokens)
{
  guint64 before = self->tallies[self->stage].tokens;

  *tokens = 0;
  if (field < 0)
    return most;
  for (guint64 i = 0; i < most; i++)
    {
      gsize length;

      dlp_record_batch_get_list (batch, field, row + (guint) i, &length);
      if (plan->tokens > 0 && length > plan->tokens - before - *tokens)
        return i;
      *tokens += length;
    }
  return most;
}

/* How many of @n rows come before the next border. */
static guint64
find_border (StageState *self,
             const StagePlan *plan,
             guint64 leave_at,
             DlpRecordBatch *batch,
             guint row,
             guint64 n)
{
  const StageTally *tally = &self->tallies[self->stage];
  guint64 places = stage_state_count_places (self);

  if (plan->records > 0)
    n = MIN (n, plan->records - tally->records);
  if (plan->rule.size > 0)
    n = MIN (n, plan->rule.size - self->open);
  else if (leave_at > places)
    n = MIN (n, leave_at - places);
  return plan->rule.cut_at_epoch ? count_epoch (self, batch, row, n) : n;
}

/* All rows of a batch, or none. */
static guint
take_whole (StageState *self,
            const StagePlan *plan,
            int tokens_field,
            guint64 leave_at,
            DlpRecordBatch *batch,
            gboolean *leave)
{
  StageTally *tally = &self->tallies[self->stage];
  guint n = dlp_record_batch_get_length (batch);
  guint64 tokens;

  *leave = (plan->records > 0 && n > plan->records - tally->records) ||
           count_tokens (self, plan, tokens_field, batch, 0, n, &tokens) < n;
  if (*leave)
    return 0;
  tally->records += n;
  tally->tokens += tokens;
  tally->batches++;
  *leave = stage_state_is_over (self, plan, leave_at);
  return n;
}

guint
stage_state_take (StageState *self,
                  const StagePlan *plan,
                  int tokens_field,
                  guint64 leave_at,
                  DlpRecordBatch *batch,
                  guint row,
                  guint n,
                  gboolean *leave)
{
  StageTally *tally = &self->tallies[self->stage];
  guint taken = 0;

  if (self->whole)
    return take_whole (self, plan, tokens_field, leave_at, batch, leave);

  *leave = FALSE;
  while (taken < n)
    {
      guint64 most, fit, tokens;

      if (is_of_next_epoch (self, plan, batch, row + taken))
        close_batch (self, plan);
      *leave = stage_state_is_over (self, plan, leave_at);
      if (*leave)
        return taken;

      most = find_border (self, plan, leave_at, batch, row + taken, n - taken);
      fit = count_tokens (self, plan, tokens_field, batch, row + taken, most, &tokens);
      tally->records += fit;
      tally->tokens += tokens;
      taken += (guint) fit;
      if (plan->rule.size > 0)
        self->open += fit;
      if (plan->rule.size > 0 && self->open == plan->rule.size)
        close_batch (self, plan);
      if (fit < most)
        {
          *leave = TRUE;
          return taken;
        }
    }
  *leave = stage_state_is_over (self, plan, leave_at);
  return taken;
}

void
stage_state_leave (StageState *self, const StagePlan *plan)
{
  if (!plan->rule.across_stages)
    close_batch (self, plan);
  self->start += get_places (self, self->stage);
  self->stage++;
}

/* ---- as a value ---- */

#define N_COUNTS (sizeof (StageTally) / sizeof (guint64))

static guint64 *
get_counts (StageTally *tally)
{
  return (guint64 *) tally;
}

static const char *const count_names[N_COUNTS] = { "records", "tokens", "batches" };

void
stage_state_describe (const StageState *self, GVariantDict *dict)
{
  g_autofree guint64 *values = g_new (guint64, self->n_stages);

  g_variant_dict_insert (dict, "stage", "t", (guint64) self->stage);
  g_variant_dict_insert (dict, "open", "t", self->open);
  g_variant_dict_insert (dict, "epoch", "t", (guint64) self->epoch);
  for (guint k = 0; k < N_COUNTS; k++)
    {
      for (guint i = 0; i < self->n_stages; i++)
        values[i] = get_counts ((StageTally *) &self->tallies[i])[k];
      g_variant_dict_insert_value (dict, count_names[k],
                                   g_variant_new_fixed_array (G_VARIANT_TYPE_UINT64, values,
                                                              self->n_stages, sizeof *values));
    }
}

static guint64
get_count (GVariant *described, const char *key, gsize stage)
{
  g_autoptr (GVariant) value = g_variant_lookup_value (described, key, G_VARIANT_TYPE ("at"));
  const guint64 *values;
  gsize n = 0;

  if (value == NULL)
    return 0;
  values = g_variant_get_fixed_array (value, &n, sizeof *values);
  return stage < n ? values[stage] : 0;
}

GVariant *
stage_state_report (GVariant *described, DlpElement *element)
{
  g_auto (GVariantDict) dict = G_VARIANT_DICT_INIT (NULL);
  g_autoptr (GVariant) stage = g_variant_lookup_value (described, "stage", NULL);
  GVariantBuilder stages;

  g_variant_builder_init (&stages, G_VARIANT_TYPE ("aa{sv}"));
  for (guint i = 0; i < dlp_element_get_n_inputs (element); i++)
    {
      g_auto (GVariantDict) one = G_VARIANT_DICT_INIT (NULL);

      g_variant_dict_insert (&one, "name", "s",
                             dlp_pad_get_name (dlp_element_get_input (element, i)));
      for (guint k = 0; k < N_COUNTS; k++)
        g_variant_dict_insert (&one, count_names[k], "t", get_count (described, count_names[k], i));
      g_variant_builder_add_value (&stages, g_variant_dict_end (&one));
    }
  if (stage != NULL)
    g_variant_dict_insert_value (&dict, "stage", stage);
  g_variant_dict_insert_value (&dict, "stages", g_variant_builder_end (&stages));
  return g_variant_dict_end (&dict);
}

static gboolean
check_count (StageState *self, const StagePlan *plan, guint k, guint i, GError **error)
{
  const guint64 limits[N_COUNTS] = { plan->records, plan->tokens, plan->batches };
  guint64 value = get_counts (&self->tallies[i])[k];
  guint64 max = i > self->stage ? 0 : limits[k] > 0 ? limits[k] : G_MAXUINT64 / self->n_stages;

  if (value <= max)
    return TRUE;
  g_set_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CORRUPT,
               "key “%s”: %" G_GUINT64_FORMAT " of stage %u, above the %" G_GUINT64_FORMAT
               " allowed",
               count_names[k], value, i, max);
  return FALSE;
}

static gboolean
load_counts (StageState *self, const StagePlan *plans, guint k, GVariant *described, GError **error)
{
  g_autoptr (GVariant) value =
      dlp_state_get_value (described, count_names[k], G_VARIANT_TYPE ("at"), error);
  const guint64 *values;
  gsize n;

  if (value == NULL)
    return FALSE;
  values = g_variant_get_fixed_array (value, &n, sizeof *values);
  if (n != self->n_stages)
    {
      g_set_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CORRUPT,
                   "key “%s” has %zu numbers, not one for each of the %u stages", count_names[k], n,
                   self->n_stages);
      return FALSE;
    }
  for (guint i = 0; i < n; i++)
    {
      get_counts (&self->tallies[i])[k] = values[i];
      if (!check_count (self, &plans[i], k, i, error))
        return FALSE;
    }
  return TRUE;
}

gboolean
stage_state_load (StageState *self, const StagePlan *plans, GVariant *described, GError **error)
{
  guint64 stage, epoch, size;

  if (!dlp_state_get_uint64 (described, "stage", self->n_stages, &stage, error))
    return FALSE;
  self->stage = (guint) stage;
  size = plans[MIN (self->stage, self->n_stages - 1)].rule.size;
  if (!dlp_state_get_uint64 (described, "open", size > 0 ? size - 1 : 0, &self->open, error) ||
      !dlp_state_get_uint64 (described, "epoch", G_MAXUINT32, &epoch, error))
    return FALSE;
  self->epoch = (guint32) epoch;
  for (guint k = 0; k < N_COUNTS; k++)
    if (!load_counts (self, plans, k, described, error))
      return FALSE;
  self->start = 0;
  for (guint i = 0; i < self->stage; i++)
    self->start += get_places (self, i);
  return TRUE;
}
