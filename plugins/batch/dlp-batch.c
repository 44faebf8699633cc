/* SPDX-License-Identifier: MIT */

/* What is saved is always the place behind a whole step of all ranks, so it is the same on each of
 * them: what was taken since then is read again by whoever goes on. */

#include "dlp-batch.h"

#include <dlpipe/dlp-batcher.h>
#include <dlpipe/dlp-fanout.h>
#include <dlpipe/dlp-pad-template.h>
#include <dlpipe/dlp-upstream.h>
#include <dlpipe/dlp-value.h>

#include <string.h>

#include "batch-skip.h"
#include "dlp-batch-scope.h"

typedef struct
{
  guint64 batches;       /* of whole steps, of all ranks, and those skipped around them */
  guint64 short_records; /* dropped by drop-last */
  guint64 left_batches;  /* dropped: of the last step, which is not whole */
  guint64 left_records;  /* in these */
  guint64 skipped_batches;
  guint64 skipped_records;
} DlpBatchState;

struct _DlpBatch
{
  DlpElement parent_instance;

  char *size;
  gboolean drop_last;
  DlpBatchCut cut_at_epoch;
  guint rank;
  guint world_size;
  gboolean per_task;

  /* From negotiate() on. */
  GArray *sizes; /* of guint; empty: batches come in */
  BatchScope *scope;
  DlpSchema *schema;
  guint *fields; /* each is itself */
  DlpRecordBatchBuilder *builder;

  GArray *skip;        /* of BatchRange: what is not given out; from load() on */
  DlpBatchState state; /* behind the last whole step */
  DlpCursor border;    /* of the input, there; no mark: nothing was taken */

  /* The step being made. */
  DlpBatchInfo step;
  guint n_ranks;
  guint own_rank;
  DlpRecordBatch *own; /* (nullable): this rank's batch */

  /* The batch being made. */
  DlpBatchInfo batch;
  gboolean skipping;
  DlpCoordinate first; /* of its first record */
  guint n_short;       /* ends of epochs since the last batch */

  /* Since the last whole step. */
  guint64 short_records;
  guint64 skipped_batches;
  guint64 skipped_records;
};

enum
{
  PROP_0,
  PROP_SIZE,
  PROP_DROP_LAST,
  PROP_CUT_AT_EPOCH,
  PROP_RANK,
  PROP_WORLD_SIZE,
  PROP_PER_TASK,
  N_PROPS
};

static GParamSpec *properties[N_PROPS];

G_DEFINE_ENUM_TYPE (DlpBatchCut,
                    dlp_batch_cut,
                    G_DEFINE_ENUM_VALUE (DLP_BATCH_CUT_AUTO, "auto"),
                    G_DEFINE_ENUM_VALUE (DLP_BATCH_CUT_TRUE, "true"),
                    G_DEFINE_ENUM_VALUE (DLP_BATCH_CUT_FALSE, "false"))

static void dlp_batch_init_iface (DlpBatcherInterface *iface);

G_DEFINE_FINAL_TYPE_WITH_CODE (DlpBatch,
                               dlp_batch,
                               DLP_TYPE_ELEMENT,
                               G_IMPLEMENT_INTERFACE (DLP_TYPE_BATCHER, dlp_batch_init_iface))

/* ---- settings ---- */

static gboolean
parse_sizes (const char *text, GArray *sizes, GError **error)
{
  g_autoptr (GParamSpec) one = g_param_spec_ref_sink (
      g_param_spec_uint ("size", NULL, NULL, 1, 1 << 26, 1, DLP_PARAM_READWRITE));
  g_auto (GStrv) parts = g_strsplit (text, ",", -1);

  for (guint i = 0; parts[i] != NULL; i++)
    {
      g_auto (GValue) value = G_VALUE_INIT;
      guint size;

      if (!dlp_value_parse (one, g_strstrip (parts[i]), &value, error))
        return FALSE;
      size = g_value_get_uint (&value);
      g_array_append_val (sizes, size);
    }
  return TRUE;
}

/* Those that come in as they are are dealt to ranks once. */
static gboolean
check_batches (DlpBatch *self, GError **error)
{
  g_autoptr (GPtrArray) dealers = dlp_element_list_upstream (DLP_ELEMENT (self), "world-size");

  if (self->sizes->len > 0)
    {
      g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE,
                   "size=%s: its input has batches already, which are dealt to ranks as they are; "
                   "leave it out",
                   self->size);
      return FALSE;
    }
  for (guint i = 0; i < dealers->len; i++)
    {
      guint world_size;

      g_object_get (dealers->pdata[i], "world-size", &world_size, NULL);
      if (world_size == 1)
        continue;
      g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE,
                   "the batches of %s are dealt to %u ranks there already; set rank and world-size "
                   "here only",
                   dlp_element_get_name (dealers->pdata[i]), world_size);
      return FALSE;
    }
  return TRUE;
}

static gboolean
check_sizes (DlpBatch *self, const GArray *sizes, const BatchScope *scope, GError **error)
{
  guint n_stages = scope->n_stages;

  if (sizes->len <= 1 || (sizes->len == n_stages && !scope->mingled))
    return TRUE;
  g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE,
               "size=%s has %u sizes for %u stage%s%s; give one for each stage, or one for all",
               self->size, sizes->len, n_stages, n_stages == 1 ? "" : "s",
               scope->mingled ? " that a shuffle mingles" : "");
  return FALSE;
}

static gboolean
check_records (DlpBatch *self, DlpSchema *schema, GError **error)
{
  if (dlp_schema_get_kind (schema) == DLP_SCHEMA_FILES)
    {
      g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_TYPE,
                   "takes records, not files; put a reader before it");
      return FALSE;
    }
  if (self->sizes->len == 0)
    {
      g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE,
                   "set size=N, the records of a batch");
      return FALSE;
    }
  return check_sizes (self, self->sizes, self->scope, error);
}

static gboolean
check_settings (DlpBatch *self, DlpSchema *schema, GError **error)
{
  if (self->rank >= self->world_size)
    {
      g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE,
                   "rank=%u, but world-size=%u allows 0 to %u", self->rank, self->world_size,
                   self->world_size - 1);
      return FALSE;
    }
  if (self->size != NULL && !parse_sizes (self->size, self->sizes, error))
    return FALSE;
  return dlp_schema_get_kind (schema) == DLP_SCHEMA_BATCHES ? check_batches (self, error) :
                                                              check_records (self, schema, error);
}

/* The same fields, but of batches. */
static void
make_schema (DlpBatch *self, DlpSchema *from)
{
  guint n = dlp_schema_get_n_fields (from);
  g_autofree const char **names = g_new (const char *, n + 1);
  g_autofree DlpFieldType *types = g_new (DlpFieldType, n + 1);
  g_autofree gboolean *optional = g_new (gboolean, n + 1);

  self->fields = g_new (guint, n + 1);
  for (guint i = 0; i < n; i++)
    {
      names[i] = dlp_schema_get_field_name (from, i);
      types[i] = dlp_schema_get_field_type (from, i);
      optional[i] = dlp_schema_get_field_optional (from, i);
      self->fields[i] = i;
    }
  self->schema = dlp_schema_new (DLP_SCHEMA_BATCHES, n, names, types, optional);
  self->builder = dlp_record_batch_builder_new (from);
}

static void
clear_settings (DlpBatch *self)
{
  g_array_set_size (self->sizes, 0);
  g_clear_pointer (&self->scope, batch_scope_free);
  g_clear_pointer (&self->schema, dlp_schema_unref);
  g_clear_pointer (&self->fields, g_free);
  g_clear_pointer (&self->builder, dlp_record_batch_builder_unref);
}

static gboolean
dlp_batch_negotiate (DlpElement *element, GError **error)
{
  DlpBatch *self = DLP_BATCH (element);
  DlpSchema *schema = dlp_pad_get_schema (dlp_element_get_input (element, 0));

  clear_settings (self);
  self->scope = batch_scope_new (element);
  if (!check_settings (self, schema, error))
    return FALSE;
  make_schema (self, schema);
  dlp_pad_set_schema (dlp_element_get_output (element, 0), self->schema);
  return TRUE;
}

/* A batch of one source has records of one epoch, as the files give them. */
static gboolean
cuts_at_epoch (DlpBatch *self, const BatchScope *scope, guint stage)
{
  if (self->cut_at_epoch != DLP_BATCH_CUT_AUTO)
    return self->cut_at_epoch == DLP_BATCH_CUT_TRUE;
  return stage < scope->n_stages && scope->n_sources[stage] == 1 && !scope->is_shuffled[stage];
}

/* Of all stages there is one, if it is not one for each. */
static guint
get_size (const GArray *sizes, guint stage)
{
  return g_array_index (sizes, guint, stage < sizes->len ? stage : 0);
}

/* Asked for before negotiate(), and by whoever wants to know: nothing of what runs is touched. */
static gboolean
dlp_batch_get_rule (DlpBatcher *batcher, guint stage, DlpBatchRule *rule, GError **error)
{
  DlpBatch *self = DLP_BATCH (batcher);
  g_autoptr (BatchScope) scope = batch_scope_new (DLP_ELEMENT (self));
  g_autoptr (GArray) sizes = g_array_new (FALSE, FALSE, sizeof (guint));

  if ((self->size != NULL && !parse_sizes (self->size, sizes, error)) ||
      !check_sizes (self, sizes, scope, error))
    return FALSE;
  rule->size = sizes->len > 0 ? get_size (sizes, stage) : 0;
  rule->drop_last = self->drop_last;
  rule->cut_at_epoch = cuts_at_epoch (self, scope, stage);
  rule->across_stages = scope->mingled;
  return TRUE;
}

static void
dlp_batch_init_iface (DlpBatcherInterface *iface)
{
  iface->get_rule = dlp_batch_get_rule;
}

static char *
dlp_batch_comes_to (DlpElement *element, const char *property)
{
  DlpBatch *self = DLP_BATCH (element);
  g_autoptr (GString) text = g_string_new (NULL);

  if (strcmp (property, "cut-at-epoch") != 0 || self->scope == NULL)
    return NULL;
  for (guint stage = 0; stage < self->scope->n_stages; stage++)
    g_string_append_printf (text, "%s%s", stage > 0 ? "," : "",
                            cuts_at_epoch (self, self->scope, stage) ? "true" : "false");
  return g_string_free (g_steal_pointer (&text), FALSE);
}

/* ---- steps ---- */

static void
begin_batch (DlpBatch *self, guint64 index)
{
  self->batch = (DlpBatchInfo){ .index = index };
  self->skipping = batch_skip_has (self->skip, index);
}

/* What was delivered before a restore needs no ranks: the steps of this world size begin behind it.
 */
static void
begin_step (DlpBatch *self)
{
  gboolean again = dlp_element_is_replaying (DLP_ELEMENT (self));

  self->n_ranks = again ? 1 : self->world_size;
  self->own_rank = again ? 0 : self->rank;
  self->step = (DlpBatchInfo){ 0 };
}

static void
count_dropped (DlpBatch *self)
{
  self->state.short_records += self->short_records;
  self->state.skipped_batches += self->skipped_batches;
  self->state.skipped_records += self->skipped_records;
  self->short_records = self->skipped_batches = self->skipped_records = 0;
}

/* All that was taken has gone out or is not to. */
static void
move_border (DlpBatch *self)
{
  self->state.batches = self->batch.index;
  count_dropped (self);
  dlp_pad_get_cursor (dlp_element_get_input (DLP_ELEMENT (self), 0), &self->border);
}

static void
end_step (DlpBatch *self)
{
  dlp_pad_push_batch (dlp_element_get_output (DLP_ELEMENT (self), 0), g_steal_pointer (&self->own),
                      &self->step);
  move_border (self);
  begin_step (self);
}

/* ---- batches ---- */

static gboolean
is_own (DlpBatch *self)
{
  return self->step.n_batches == self->own_rank && !self->skipping;
}

/* Takes the rows: the same, but of the kind that batches are. */
static void
keep_own (DlpBatch *self, DlpRecordBatch *rows)
{
  self->own = dlp_record_batch_select (rows, self->schema, self->fields,
                                       dlp_schema_get_n_fields (self->schema));
  dlp_record_batch_unref (rows);
}

static void
skip_batch (DlpBatch *self)
{
  self->skipped_batches++;
  self->skipped_records += self->batch.records;
  begin_batch (self, self->batch.index + 1);
  self->n_short = 0;
  if (self->step.n_batches == 0)
    move_border (self);
}

static gboolean
end_batch (DlpBatch *self, GError **error)
{
  if (self->skipping)
    {
      skip_batch (self);
      return TRUE;
    }
  self->batch.n_batches = 1;
  if (is_own (self))
    {
      self->step.index = self->batch.index;
      if (self->own == NULL)
        {
          DlpRecordBatch *rows = dlp_record_batch_builder_finish (self->builder, error);

          if (rows == NULL)
            return FALSE;
          keep_own (self, rows);
        }
    }
  dlp_batch_info_add_batch (&self->step, &self->batch);
  begin_batch (self, self->batch.index + 1);
  self->n_short = 0;
  if (self->step.n_batches == self->n_ranks)
    end_step (self);
  return TRUE;
}

/* It is not full, so of its rows there is nothing but what was copied. */
static gboolean
drop_batch (DlpBatch *self, GError **error)
{
  g_autoptr (DlpRecordBatch) dropped = dlp_record_batch_builder_finish (self->builder, error);

  self->short_records += self->batch.records;
  begin_batch (self, self->batch.index);
  return dropped != NULL;
}

/* Its records end here, for good or for this epoch. */
static gboolean
end_short_batch (DlpBatch *self, GError **error)
{
  if (self->batch.records == 0)
    return TRUE;
  return self->drop_last ? drop_batch (self, error) : end_batch (self, error);
}

/* What comes next is of another epoch, or of another stage, which begins anew. */
static gboolean
pass_border (DlpBatch *self, const DlpCoordinate *next, GError **error)
{
  guint64 records = self->batch.records;

  self->n_short = next->stage == self->first.stage && self->drop_last ? self->n_short + 1 : 0;
  if (self->n_short < 2)
    return end_short_batch (self, error);
  g_set_error (
      error, DLP_DATA_ERROR, DLP_DATA_ERROR_NO_INPUT,
      "drop-last discards every batch: epoch %u of stage %u source %u has %" G_GUINT64_FORMAT
      " records, and a batch has size=%u; make it smaller, or set drop-last=false or "
      "cut-at-epoch=false",
      self->first.epoch, self->first.stage, self->first.source, records,
      get_size (self->sizes, self->first.stage));
  return FALSE;
}

/* Records that a program brings may say of themselves what they like. */
static gboolean
check_stage (DlpBatch *self, const DlpCoordinate *at, GError **error)
{
  if (self->sizes->len <= 1 || at->stage < self->sizes->len)
    return TRUE;
  g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_RANGE,
               "source %u file %u row %" G_GUINT64_FORMAT
               " says that it is of stage %u, and size=%s is for stages 0 to %u; give it the stage "
               "that it comes in, or set one size for all",
               at->source, at->file, (guint64) at->row, at->stage, self->size,
               self->sizes->len - 1);
  return FALSE;
}

/* How many of the rows belong to the batch being made; 0: it ends before them. */
static guint
count_rows (DlpBatch *self, DlpRecordBatch *rows, guint row, guint n)
{
  gboolean cut;
  guint i;

  if (self->sizes->len == 0)
    return n;
  if (self->batch.records == 0)
    self->first = *dlp_record_batch_get_coordinate (rows, row);
  n = (guint) MIN (n, get_size (self->sizes, self->first.stage) - self->batch.records);
  cut = cuts_at_epoch (self, self->scope, self->first.stage);
  if (!cut && self->scope->n_stages == 1)
    return n;
  for (i = 0; i < n; i++)
    {
      const DlpCoordinate *at = dlp_record_batch_get_coordinate (rows, row + i);

      if ((cut && at->epoch != self->first.epoch) ||
          (!self->scope->mingled && at->stage != self->first.stage))
        break;
    }
  return i;
}

static gboolean
is_full (DlpBatch *self)
{
  return self->sizes->len == 0 || self->batch.records == get_size (self->sizes, self->first.stage);
}

static gboolean
check_bytes (DlpBatch *self, DlpRecordBatch *rows, GError **error)
{
  gsize bytes = dlp_record_batch_builder_get_bytes (self->builder);

  if (bytes + dlp_record_batch_get_bytes (rows) <= DLP_COLUMN_MAX_BYTES)
    return TRUE;
  g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_RANGE,
               "batch %" G_GUINT64_FORMAT " has %zu bytes with its first %" G_GUINT64_FORMAT
               " records, and may have %d; make size=%s smaller",
               self->batch.index, bytes, self->batch.records, DLP_COLUMN_MAX_BYTES, self->size);
  return FALSE;
}

/* A whole batch that lies in one record batch is not copied. */
static gboolean
add_rows (DlpBatch *self, DlpRecordBatch *rows, guint row, guint n, GError **error)
{
  gboolean first = self->batch.records == 0;

  dlp_batch_info_add_rows (&self->batch, rows, row, n);
  if (!is_own (self))
    return TRUE;
  if (first && is_full (self))
    {
      keep_own (self, dlp_record_batch_slice (rows, row, n));
      return TRUE;
    }
  if (!check_bytes (self, rows, error))
    return FALSE;
  dlp_record_batch_builder_append_rows (self->builder, rows, row, n);
  return TRUE;
}

/* ---- streaming ---- */

static gboolean
dlp_batch_start (DlpElement *element, GCancellable *cancellable, GError **error)
{
  begin_step (DLP_BATCH (element));
  begin_batch (DLP_BATCH (element), DLP_BATCH (element)->state.batches);
  return TRUE;
}

static DlpStep
end (DlpBatch *self, GError **error)
{
  if (!end_short_batch (self, error))
    return DLP_STEP_ERROR;
  /* Nothing goes on from here: the number is no index, but counts what went out or was skipped. */
  self->state.batches = self->batch.index - self->step.n_batches;
  count_dropped (self);
  self->state.left_batches = self->step.n_batches;
  self->state.left_records = self->step.records;
  g_clear_pointer (&self->own, dlp_record_batch_unref);
  return DLP_STEP_END;
}

static DlpStep
dlp_batch_step (DlpElement *element, GCancellable *cancellable, GError **error)
{
  DlpBatch *self = DLP_BATCH (element);
  DlpPad *in = dlp_element_get_input (element, 0);
  g_autoptr (DlpRecordBatch) rows = NULL;
  DlpRecordBatch *next;
  guint row, length;

  next = dlp_pad_peek (in, &row);
  if (next == NULL)
    return dlp_pad_is_over (in) ? end (self, error) : dlp_element_want_input (element, 0);

  rows = dlp_record_batch_ref (next);
  length = dlp_record_batch_get_length (rows);
  while (row < length)
    {
      guint n;

      if (!check_stage (self, dlp_record_batch_get_coordinate (rows, row), error))
        return DLP_STEP_ERROR;
      n = count_rows (self, rows, row, length - row);
      if (n == 0)
        {
          if (!pass_border (self, dlp_record_batch_get_coordinate (rows, row), error))
            return DLP_STEP_ERROR;
          continue;
        }
      if (!add_rows (self, rows, row, n, error))
        return DLP_STEP_ERROR;
      dlp_pad_consume (in, n);
      row += n;
      if (is_full (self) && !end_batch (self, error))
        return DLP_STEP_ERROR;
    }
  return DLP_STEP_MORE;
}

/* ---- state ---- */

static void
dlp_batch_mark_input (DlpElement *element, guint input, DlpCursor *cursor)
{
  DlpBatch *self = DLP_BATCH (element);
  DlpCursor now = { NULL };

  /* Where nothing was taken since, a newer mark may stand for the same place. */
  dlp_pad_get_cursor (dlp_element_get_input (element, input), &now);
  if (self->border.mark == NULL || self->border.position == now.position)
    dlp_cursor_set (&self->border, &now);
  dlp_cursor_clear (&now);
  dlp_cursor_set (cursor, &self->border);
}

static DlpState *
dlp_batch_save (DlpElement *element)
{
  return dlp_state_new (&DLP_BATCH (element)->state, sizeof (DlpBatchState));
}

static GVariant *
dlp_batch_describe (DlpElement *element, const DlpState *state)
{
  const DlpBatchState *data = dlp_state_get_data (state);
  GVariantDict dict;

  g_variant_dict_init (&dict, NULL);
  g_variant_dict_insert (&dict, "batches", "t", data->batches);
  g_variant_dict_insert (&dict, "dropped-short-records", "t", data->short_records);
  g_variant_dict_insert (&dict, "dropped-step-batches", "t", data->left_batches);
  g_variant_dict_insert (&dict, "dropped-step-records", "t", data->left_records);
  g_variant_dict_insert (&dict, "skipped-batches", "t", data->skipped_batches);
  g_variant_dict_insert (&dict, "skipped-records", "t", data->skipped_records);
  g_variant_dict_insert_value (&dict, "skip", batch_skip_describe (DLP_BATCH (element)->skip));
  return g_variant_dict_end (&dict);
}

static gboolean
dlp_batch_load (DlpElement *element, GVariant *described, guint version, GError **error)
{
  static const char *const keys[] = { "batches",
                                      "dropped-short-records",
                                      "dropped-step-batches",
                                      "dropped-step-records",
                                      "skipped-batches",
                                      "skipped-records",
                                      "skip",
                                      NULL };
  DlpBatchState *state = &DLP_BATCH (element)->state;
  static const char *const given_out = "batches” less “skipped-batches";

  return dlp_state_check_keys (described, keys, error) &&
         dlp_state_get_uint64 (described, keys[0], G_MAXINT64, &state->batches, error) &&
         dlp_state_get_uint64 (described, keys[1], G_MAXUINT64, &state->short_records, error) &&
         dlp_state_get_uint64 (described, keys[2], G_MAXUINT64, &state->left_batches, error) &&
         dlp_state_get_uint64 (described, keys[3], G_MAXUINT64, &state->left_records, error) &&
         dlp_state_get_uint64 (described, keys[4], state->batches, &state->skipped_batches,
                               error) &&
         dlp_state_get_uint64 (described, keys[5], G_MAXUINT64, &state->skipped_records, error) &&
         batch_skip_load (DLP_BATCH (element)->skip, described, error) &&
         batch_skip_check (DLP_BATCH (element)->skip, state->batches,
                           state->batches - state->skipped_batches, error) &&
         dlp_pad_check_emitted (dlp_element_get_output (element, 0), given_out,
                                state->batches - state->skipped_batches, error);
}

static gboolean
dlp_batch_check_tasks (DlpElement *element, guint n_tasks, GError **error)
{
  return DLP_BATCH (element)->per_task ||
         dlp_fanout_refuse_element (element, "makes and counts batches of all records", n_tasks,
                                    error);
}

/* ---- life ---- */

static void
dlp_batch_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  DlpBatch *self = DLP_BATCH (object);

  switch (id)
    {
    case PROP_SIZE:
      g_free (self->size);
      self->size = g_value_dup_string (value);
      break;
    case PROP_DROP_LAST:
      self->drop_last = g_value_get_boolean (value);
      break;
    case PROP_CUT_AT_EPOCH:
      self->cut_at_epoch = g_value_get_enum (value);
      break;
    case PROP_RANK:
      self->rank = g_value_get_uint (value);
      break;
    case PROP_WORLD_SIZE:
      self->world_size = g_value_get_uint (value);
      break;
    case PROP_PER_TASK:
      self->per_task = g_value_get_boolean (value);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    }
}

static void
dlp_batch_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  DlpBatch *self = DLP_BATCH (object);

  switch (id)
    {
    case PROP_SIZE:
      g_value_set_string (value, self->size);
      break;
    case PROP_DROP_LAST:
      g_value_set_boolean (value, self->drop_last);
      break;
    case PROP_CUT_AT_EPOCH:
      g_value_set_enum (value, self->cut_at_epoch);
      break;
    case PROP_RANK:
      g_value_set_uint (value, self->rank);
      break;
    case PROP_WORLD_SIZE:
      g_value_set_uint (value, self->world_size);
      break;
    case PROP_PER_TASK:
      g_value_set_boolean (value, self->per_task);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    }
}

static void
dlp_batch_finalize (GObject *object)
{
  DlpBatch *self = DLP_BATCH (object);

  clear_settings (self);
  g_array_unref (self->sizes);
  g_array_unref (self->skip);
  g_clear_pointer (&self->own, dlp_record_batch_unref);
  dlp_cursor_clear (&self->border);
  g_free (self->size);
  G_OBJECT_CLASS (dlp_batch_parent_class)->finalize (object);
}

static void
install_properties (GObjectClass *klass)
{
  const GParamFlags rw = DLP_PARAM_READWRITE;

  properties[PROP_SIZE] = g_param_spec_string (
      "size", NULL, "Records of a batch: one number, or one for each stage (8,16)", NULL, rw);
  properties[PROP_DROP_LAST] = g_param_spec_boolean (
      "drop-last", NULL, "Drop a batch that is not full: the last one, or the last of an epoch",
      FALSE, rw);
  properties[PROP_CUT_AT_EPOCH] = g_param_spec_enum (
      "cut-at-epoch", NULL,
      "Whether a batch ends where an epoch does; auto: where there is one source and no shuffle",
      DLP_TYPE_BATCH_CUT, DLP_BATCH_CUT_AUTO, rw);
  properties[PROP_RANK] =
      g_param_spec_uint ("rank", NULL, "Of each step this rank's batch is given out", 0,
                         G_MAXUINT16, 0, rw | DLP_PARAM_ELASTIC);
  properties[PROP_WORLD_SIZE] =
      g_param_spec_uint ("world-size", NULL, "How many ranks share the batches; a step is one each",
                         1, G_MAXUINT16, 1, rw | DLP_PARAM_ELASTIC);
  properties[PROP_PER_TASK] = g_param_spec_boolean (
      "per-task", NULL, "In a fan-out: each task makes batches of its own records", FALSE, rw);
  g_object_class_install_properties (klass, N_PROPS, properties);
}

static void
dlp_batch_class_init (DlpBatchClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  DlpElementClass *element_class = DLP_ELEMENT_CLASS (klass);

  object_class->set_property = dlp_batch_set_property;
  object_class->get_property = dlp_batch_get_property;
  object_class->finalize = dlp_batch_finalize;
  element_class->negotiate = dlp_batch_negotiate;
  element_class->start = dlp_batch_start;
  element_class->step = dlp_batch_step;
  element_class->save = dlp_batch_save;
  element_class->describe = dlp_batch_describe;
  element_class->load = dlp_batch_load;
  element_class->mark_input = dlp_batch_mark_input;
  element_class->comes_to = dlp_batch_comes_to;
  element_class->check_tasks = dlp_batch_check_tasks;
  dlp_element_class_add_pad_template (element_class, "in", DLP_PAD_INPUT, DLP_PAD_ALWAYS,
                                      DLP_CARRIES_RECORDS | DLP_CARRIES_BATCHES, NULL);
  dlp_element_class_add_pad_template (element_class, "out", DLP_PAD_OUTPUT, DLP_PAD_ALWAYS,
                                      DLP_CARRIES_BATCHES, NULL);
  dlp_element_class_set_description (
      element_class, "Training batches, dealt to ranks",
      "... ! tokenizer ! batch size=8 rank=0 world-size=4 ! app-sink");
  install_properties (object_class);
}

static void
dlp_batch_init (DlpBatch *self)
{
  self->sizes = g_array_new (FALSE, FALSE, sizeof (guint));
  self->skip = batch_skip_new ();
  self->world_size = 1;
  dlp_element_add_pad (DLP_ELEMENT (self), "in", DLP_PAD_INPUT);
  dlp_element_add_pad (DLP_ELEMENT (self), "out", DLP_PAD_OUTPUT);
}
