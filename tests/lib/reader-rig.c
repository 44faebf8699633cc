/* SPDX-License-Identifier: MIT */

#include "reader-rig.h"

#include <string.h>

#include <dlpipe/dlp-reader.h>

#include "dlp-element-private.h"
#include "dlp-value-parser-private.h"

#include "test-step.h"

/* ---- a sink without a will of its own ---- */

#define RIG_TYPE_SINK (rig_sink_get_type ())
G_DECLARE_FINAL_TYPE (RigSink, rig_sink, RIG, SINK, DlpElement)

struct _RigSink
{
  DlpElement parent_instance;
};

G_DEFINE_FINAL_TYPE (RigSink, rig_sink, DLP_TYPE_ELEMENT)

static void
rig_sink_class_init (RigSinkClass *klass)
{
}

static void
rig_sink_init (RigSink *self)
{
  dlp_element_add_pad (DLP_ELEMENT (self), "in", DLP_PAD_INPUT);
  dlp_element_add_pad (DLP_ELEMENT (self), "rejected", DLP_PAD_INPUT);
}

struct _Rig
{
  DlpContext *context;
  DlpElement *source;
  DlpElement *reader; /* NULL: none */
  DlpElement *sink;
  GRand *rand;
  gboolean source_ended, reader_ended;
  GError *error; /* what an element failed with */
};

/* ---- building ---- */

static void
set_property (DlpElement *element, const char *setting)
{
  const char *equals = strchr (setting, '=');
  g_autofree char *name = g_strndup (setting, equals - setting);
  GParamSpec *pspec = g_object_class_find_property (G_OBJECT_GET_CLASS (element), name);
  GValue value = G_VALUE_INIT;
  GError *error = NULL;

  g_assert_nonnull (pspec);
  dlp_value_parse (pspec, equals + 1, &value, &error);
  g_assert_no_error (error);
  if (pspec->value_type == G_TYPE_STRV)
    {
      g_auto (GStrv) before = NULL;
      g_autoptr (GStrvBuilder) all = g_strv_builder_new ();
      g_auto (GStrv) after = NULL;

      g_object_get (element, name, &before, NULL);
      if (before != NULL)
        g_strv_builder_addv (all, (const char **) before);
      g_strv_builder_addv (all, g_value_get_boxed (&value));
      after = g_strv_builder_end (all);
      g_object_set (element, name, after, NULL);
    }
  else
    g_object_set_property (G_OBJECT (element), name, &value);
  g_value_unset (&value);
}

static DlpElement *
make_element (Rig *self, GType type, const char *name, const char *const *settings)
{
  DlpElement *element = g_object_new (type, NULL);

  dlp_element_set_name (element, name);
  dlp_element_set_factory (element, name);
  dlp_element_set_context (element, self->context);
  for (guint i = 0; settings != NULL && settings[i] != NULL; i++)
    set_property (element, settings[i]);
  return element;
}

static gboolean
negotiate (DlpElement *element, GError **error)
{
  for (guint i = 0; i < dlp_element_get_n_inputs (element); i++)
    {
      DlpPad *pad = dlp_element_get_input (element, i);

      if (pad->peer != NULL)
        dlp_pad_set_schema (pad, pad->peer->schema);
    }
  return DLP_ELEMENT_GET_CLASS (element)->negotiate == NULL ||
         DLP_ELEMENT_GET_CLASS (element)->negotiate (element, error);
}

static gboolean
restore (DlpElement *element, GVariant *state, const guint64 *emitted, GError **error)
{
  DlpElementClass *klass = DLP_ELEMENT_GET_CLASS (element);

  if (state != NULL && !klass->load (element, state, klass->state_version, error))
    return FALSE;
  for (guint i = 0; i < dlp_element_get_n_outputs (element); i++)
    {
      DlpPad *pad = dlp_element_get_output (element, i);

      pad->emitted = pad->known = emitted[i];
    }
  dlp_element_make_first_mark (element);
  return TRUE;
}

static DlpMark *
first_mark (DlpElement *element)
{
  return dlp_element_get_private (element)->mark;
}

static gboolean
go_on (Rig *self, const RigState *from, GError **error)
{
  static const RigState zero;
  DlpElement *last = self->reader != NULL ? self->reader : self->source;

  if (from == NULL)
    from = &zero;
  if (!restore (self->source, from->source, &from->source_emitted, error))
    return FALSE;
  if (self->reader != NULL)
    {
      dlp_pad_restore_input (dlp_element_get_input (self->reader, 0), first_mark (self->source),
                             from->reader_input);
      if (!restore (self->reader, from->reader, from->reader_emitted, error))
        return FALSE;
    }
  for (guint i = 0; i < dlp_element_get_n_outputs (last); i++)
    dlp_pad_restore_input (dlp_element_get_input (self->sink, i), first_mark (last),
                           from->consumed[i]);

  return dlp_element_start (self->source, error) &&
         (self->reader == NULL || dlp_element_start (self->reader, error));
}

Rig *
rig_new (const RigConfig *config, const RigState *from, GError **error)
{
  g_autoptr (Rig) self = g_new0 (Rig, 1);

  self->rand = g_rand_new_with_seed (1);
  self->context = dlp_context_new ();
  self->context->seed = config->seed;
  self->context->strict = config->strict;
  self->context->pool = dlp_work_pool_new (config->workers);
  self->context->n_sources = 1;
  if (config->workers > 0)
    self->context->read_ahead = dlp_read_ahead_new (3);
  if (config->memory != 0)
    self->context->memory_share = config->memory;

  self->source = make_element (self, config->source_type, "file-source0", config->source);
  self->sink = make_element (self, RIG_TYPE_SINK, "sink0", NULL);
  if (config->reader_type != 0)
    {
      self->reader = make_element (self, config->reader_type, "jsonl-reader0", config->reader);
      dlp_pad_link (dlp_element_get_output (self->source, 0),
                    dlp_element_get_input (self->reader, 0));
      dlp_pad_link (dlp_element_get_output (self->reader, 0),
                    dlp_element_get_input (self->sink, 0));
      dlp_pad_link (dlp_element_find_pad (self->reader, "rejected"),
                    dlp_element_get_input (self->sink, 1));
      /* As a pipeline does; so that the source is not far ahead. */
      dlp_element_get_output (self->source, 0)->link->max_batches = 4;
    }
  else
    dlp_pad_link (dlp_element_get_output (self->source, 0), dlp_element_get_input (self->sink, 0));

  if (!negotiate (self->source, error) ||
      (self->reader != NULL && !negotiate (self->reader, error)) ||
      !negotiate (self->sink, error) || !go_on (self, from, error))
    return NULL;
  return g_steal_pointer (&self);
}

void
rig_free (Rig *self)
{
  dlp_element_stop (self->source);
  if (self->reader != NULL)
    dlp_element_stop (self->reader);
  g_clear_object (&self->sink);
  g_clear_object (&self->reader);
  g_clear_object (&self->source);
  g_clear_pointer (&self->context, dlp_context_free);
  g_rand_free (self->rand);
  g_clear_error (&self->error);
  g_free (self);
}

void
rig_finish (Rig *self)
{
  dlp_flag_set (self->context->finishing);
}

gboolean
rig_is_cut_short (Rig *self)
{
  return dlp_flag_get (self->context->cut_short);
}

/* ---- running ---- */

static void
append_list (GString *line, DlpRecordBatch *batch, guint field, guint row)
{
  DlpFieldType type = dlp_schema_get_field_type (dlp_record_batch_get_schema (batch), field);
  gsize n;
  gconstpointer values = dlp_record_batch_get_list (batch, field, row, &n);

  g_string_append_c (line, '[');
  for (gsize i = 0; i < n; i++)
    {
      g_string_append (line, i > 0 ? "," : "");
      if (type == DLP_FIELD_LIST_UINT16)
        g_string_append_printf (line, "%u", ((const guint16 *) values)[i]);
      else if (type == DLP_FIELD_LIST_UINT32)
        g_string_append_printf (line, "%u", ((const guint32 *) values)[i]);
      else if (type == DLP_FIELD_LIST_INT32)
        g_string_append_printf (line, "%d", ((const gint32 *) values)[i]);
      else if (type == DLP_FIELD_LIST_INT64)
        g_string_append_printf (line, "%" G_GINT64_FORMAT, ((const gint64 *) values)[i]);
      else if (type == DLP_FIELD_LIST_FLOAT)
        g_string_append_printf (line, "%.9g", (double) ((const float *) values)[i]);
      else
        g_string_append_printf (line, "%.17g", ((const double *) values)[i]);
    }
  g_string_append_c (line, ']');
}

static void
append_value (GString *line, DlpRecordBatch *batch, guint field, guint row)
{
  DlpSchema *schema = dlp_record_batch_get_schema (batch);
  gsize size;

  g_string_append_c (line, '\t');
  if (dlp_record_batch_is_null (batch, field, row))
    {
      g_string_append (line, "(null)");
      return;
    }
  switch (dlp_schema_get_field_type (schema, field))
    {
    case DLP_FIELD_STRING:
    case DLP_FIELD_BINARY:
      {
        const guint8 *data = dlp_record_batch_get_value (batch, field, row, &size);

        for (gsize i = 0; i < size; i++)
          if (data[i] < ' ')
            g_string_append_printf (line, "\\x%02x", data[i]);
          else
            g_string_append_c (line, (char) data[i]);
        break;
      }
    case DLP_FIELD_INT64:
      g_string_append_printf (line, "%" G_GINT64_FORMAT,
                              dlp_record_batch_get_int64 (batch, field, row));
      break;
    case DLP_FIELD_UINT64:
      g_string_append_printf (line, "%" G_GUINT64_FORMAT,
                              dlp_record_batch_get_uint64 (batch, field, row));
      break;
    case DLP_FIELD_DOUBLE:
      g_string_append_printf (line, "%.17g", dlp_record_batch_get_double (batch, field, row));
      break;
    case DLP_FIELD_BOOLEAN:
      g_string_append (line, dlp_record_batch_get_boolean (batch, field, row) ? "true" : "false");
      break;
    case DLP_FIELD_LIST_UINT16:
    case DLP_FIELD_LIST_UINT32:
    case DLP_FIELD_LIST_INT32:
    case DLP_FIELD_LIST_INT64:
    case DLP_FIELD_LIST_FLOAT:
    case DLP_FIELD_LIST_DOUBLE:
      append_list (line, batch, field, row);
      break;
    default:
      g_assert_not_reached ();
    }
}

static char *
take_record (DlpPad *pad)
{
  guint row = 0;
  DlpRecordBatch *batch = dlp_pad_peek (pad, &row);
  DlpSchema *schema = dlp_record_batch_get_schema (batch);
  const DlpCoordinate *at = dlp_record_batch_get_coordinate (batch, row);
  GString *line = g_string_new (NULL);

  g_string_append_printf (line, "%u %u %u %" G_GUINT64_FORMAT " %u", at->stage, at->source,
                          at->file, at->row, at->epoch);
  for (guint i = 0; i < dlp_schema_get_n_fields (schema); i++)
    append_value (line, batch, i, row);
  dlp_pad_consume (pad, 1);
  return g_string_free (line, FALSE);
}

/* Its streams broke off. A reader tells what its source told it, behind what came before. */
static void
find_failure (DlpElement *element, GError **error)
{
  for (guint i = 0; i < dlp_element_get_n_outputs (element); i++)
    {
      DlpPad *pad = dlp_element_get_output (element, i);

      if (pad->link != NULL && pad->link->failure != NULL && error != NULL && *error == NULL &&
          !DLP_IS_READER (pad->peer->element))
        *error = g_error_copy (pad->link->failure);
    }
}

/* One turn; TRUE: something may have moved. */
static gboolean
turn (DlpElement *element, gboolean *ended, GError **error)
{
  if (element == NULL || *ended)
    return FALSE;
  switch (dlp_element_turn (element, NULL))
    {
    case DLP_TURN_MORE:
      return TRUE;
    case DLP_TURN_WAIT_OUTPUT:
      /* One that broke off stays until its consumers have closed: here they only read. */
      if (dlp_element_get_private (element)->broken == NULL)
        return FALSE;
      G_GNUC_FALLTHROUGH;
    case DLP_TURN_END:
      *ended = TRUE;
      find_failure (element, error);
      return TRUE;
    default:
      return FALSE;
    }
}

/* What was emitted before an element failed is consumed first. */
gboolean
rig_move (Rig *self)
{
  DlpElement *last = self->reader != NULL ? self->reader : self->source;
  gboolean moved = FALSE;

  if (self->error == NULL && turn (self->source, &self->source_ended, &self->error))
    moved = TRUE;
  if (self->error == NULL && turn (self->reader, &self->reader_ended, &self->error))
    moved = TRUE;
  if (!moved)
    for (guint i = 0; i < dlp_element_get_n_outputs (last); i++)
      {
        DlpPad *pad = dlp_element_get_output (last, i);

        if (pad->open_mark != NULL)
          {
            dlp_pad_flush (pad);
            moved = TRUE;
          }
      }
  return moved;
}

char *
rig_next_within (Rig *self, double seconds, gboolean *is_rejected, GError **error)
{
  gint64 until = g_get_monotonic_time () + (gint64) (seconds * G_USEC_PER_SEC);
  guint n_pads = self->reader != NULL ? 2 : 1;
  guint row;

  for (;;)
    {
      gboolean has[2] = { FALSE, FALSE };
      guint over = 0;

      for (guint i = 0; i < n_pads; i++)
        {
          DlpPad *pad = dlp_element_get_input (self->sink, i);

          has[i] = dlp_pad_peek (pad, &row) != NULL;
          over += !has[i] && dlp_pad_is_over (pad);
        }
      if (has[0] || has[1])
        {
          gint pad = has[0] && has[1] ? g_rand_int_range (self->rand, 0, 2) : has[1];

          *is_rejected = pad == 1;
          return take_record (dlp_element_get_input (self->sink, pad));
        }
      if (over == n_pads)
        return NULL;
      if (rig_move (self))
        continue;
      if (self->error != NULL)
        {
          g_propagate_error (error, g_error_copy (self->error));
          return NULL;
        }
      if (g_get_monotonic_time () > until)
        return NULL;
      g_usleep (100);
    }
}

char *
rig_next (Rig *self, gboolean *is_rejected, GError **error)
{
  return rig_next_within (self, 60, is_rejected, error);
}

guint64
rig_drain (Rig *self, GError **error)
{
  guint64 n = 0;
  gboolean over = FALSE;

  while (!over)
    {
      gboolean moved = FALSE;

      over = TRUE;
      for (guint i = 0; i < 2; i++)
        {
          DlpPad *pad = dlp_element_get_input (self->sink, i);
          g_autoptr (DlpRecordBatch) batch = dlp_pad_take (pad);

          if (batch != NULL && i == 0)
            n += dlp_record_batch_get_length (batch);
          moved = moved || batch != NULL;
          over = over && batch == NULL && dlp_pad_is_over (pad);
        }
      if (over || moved || rig_move (self))
        continue;
      if (self->error != NULL)
        {
          g_propagate_error (error, g_error_copy (self->error));
          return n;
        }
      g_usleep (100);
    }
  return n;
}

/* ---- checkpoints ---- */

static GVariant *
describe (DlpElement *element, DlpMark *mark)
{
  GVariant *state = DLP_ELEMENT_GET_CLASS (element)->describe (element, mark->state);

  return g_variant_ref_sink (state);
}

RigState *
rig_save (Rig *self)
{
  RigState *state = g_new0 (RigState, 1);
  guint n_pads = self->reader != NULL ? 2 : 1;
  DlpMark *oldest = NULL;

  for (guint i = 0; i < n_pads; i++)
    {
      DlpPad *pad = dlp_element_get_input (self->sink, i);
      DlpMark *mark = pad->cursor.mark;

      state->consumed[i] = pad->cursor.position;
      if (oldest == NULL || mark->serial < oldest->serial)
        oldest = mark;
    }
  for (guint i = 0; i < n_pads; i++)
    g_assert_cmpuint (oldest->emitted[i], <=, state->consumed[i]);

  if (self->reader != NULL)
    {
      state->reader = describe (self->reader, oldest);
      memcpy (state->reader_emitted, oldest->emitted, sizeof state->reader_emitted);
      state->reader_input = oldest->inputs[0].position;
      oldest = oldest->inputs[0].mark;
      g_assert_cmpuint (oldest->emitted[0], <=, state->reader_input);
    }
  state->source = describe (self->source, oldest);
  state->source_emitted = oldest->emitted[0];
  return state;
}

void
rig_state_free (RigState *self)
{
  g_clear_pointer (&self->source, g_variant_unref);
  g_clear_pointer (&self->reader, g_variant_unref);
  g_free (self);
}

GVariant *
rig_report (Rig *self)
{
  DlpElementClass *klass = DLP_ELEMENT_GET_CLASS (self->reader);
  g_autoptr (DlpState) state = klass->save (self->reader);
  g_autoptr (GVariant) described = g_variant_ref_sink (klass->describe (self->reader, state));

  return g_variant_ref_sink (klass->report (self->reader, described));
}

/* ---- whole runs ---- */

static RigOutput *
rig_output_new (void)
{
  RigOutput *self = g_new0 (RigOutput, 1);

  self->good = g_ptr_array_new_with_free_func (g_free);
  self->rejected = g_ptr_array_new_with_free_func (g_free);
  return self;
}

void
rig_output_free (RigOutput *self)
{
  g_ptr_array_unref (self->good);
  g_ptr_array_unref (self->rejected);
  g_clear_pointer (&self->report, g_variant_unref);
  g_clear_error (&self->error);
  g_free (self);
}

/* FALSE at the end. */
static gboolean
take_one (Rig *rig, RigOutput *output)
{
  gboolean is_rejected;
  char *line = rig_next (rig, &is_rejected, &output->error);

  if (line == NULL)
    return FALSE;
  g_ptr_array_add (is_rejected ? output->rejected : output->good, line);
  return TRUE;
}

static void
finish (Rig *rig, RigOutput *output)
{
  g_assert_true (output->error != NULL || rig->source_ended);
  if (rig->reader != NULL)
    {
      g_assert_true (rig->reader_ended);
      output->report = rig_report (rig);
    }
}

RigOutput *
rig_run (const RigConfig *config)
{
  g_autoptr (RigOutput) output = rig_output_new ();
  g_autoptr (Rig) rig = rig_new (config, NULL, &output->error);

  if (rig == NULL)
    return g_steal_pointer (&output);
  while (take_one (rig, output))
    ;
  finish (rig, output);
  return g_steal_pointer (&output);
}

RigOutput *
rig_run_in_pieces (const RigConfig *config)
{
  g_autoptr (RigOutput) output = rig_output_new ();
  g_autoptr (RigState) state = NULL;
  gboolean more = TRUE;

  while (more)
    {
      g_autoptr (Rig) rig = rig_new (config, state, &output->error);

      g_assert_no_error (output->error);
      more = take_one (rig, output);
      g_clear_pointer (&state, rig_state_free);
      state = rig_save (rig);
      if (!more)
        finish (rig, output);
    }
  return g_steal_pointer (&output);
}

static void
assert_tail (GPtrArray *all, guint from, GPtrArray *tail)
{
  g_assert_cmpuint (tail->len, ==, all->len - from);
  for (guint i = 0; i < tail->len; i++)
    g_assert_cmpstr (tail->pdata[i], ==, all->pdata[from + i]);
}

static void
assert_rest (const RigConfig *config, const RigOutput *whole, const RigState *state)
{
  g_autoptr (RigOutput) rest = rig_output_new ();
  g_autoptr (Rig) rig = rig_new (config, state, &rest->error);

  g_assert_no_error (rest->error);
  while (take_one (rig, rest))
    ;
  finish (rig, rest);
  assert_tail (whole->good, (guint) state->consumed[0], rest->good);
  assert_tail (whole->rejected, (guint) state->consumed[1], rest->rejected);
  g_assert_cmpstr (rest->error != NULL ? rest->error->message : NULL, ==,
                   whole->error != NULL ? whole->error->message : NULL);
  if (whole->report != NULL)
    g_assert_cmpvariant (rest->report, whole->report);
}

void
rig_assert_resumable (const RigConfig *config, const RigConfig *later)
{
  g_autoptr (RigOutput) whole = rig_run (config);
  g_autoptr (RigOutput) output = rig_output_new ();
  g_autoptr (Rig) rig = rig_new (config, NULL, &output->error);
  const guint stride = MAX (config->stride, 1);
  const guint n_records = whole->good->len + whole->rejected->len;

  for (guint n = 0; n == 0 || take_one (rig, output); n++)
    if (n % stride == 0 && test_takes (n / stride, n_records / stride + 1))
      {
        g_autoptr (RigState) state = rig_save (rig);

        assert_rest (later, whole, state);
      }
  finish (rig, output);
  rig_assert_equal (output, whole);
}

/* Whatever the reader emitted is taken, and its marks are moved up to where it stands now. */
static void
take_all (Rig *self, RigOutput *output)
{
  guint row;

  if (!self->reader_ended)
    dlp_element_make_first_mark (self->reader);
  for (guint i = 0; i < 2; i++)
    {
      DlpPad *output_pad = dlp_element_get_output (self->reader, i);
      DlpPad *pad = dlp_element_get_input (self->sink, i);

      if (!self->reader_ended)
        {
          dlp_pad_flush (output_pad);
          dlp_pad_push_mark (output_pad, first_mark (self->reader));
        }
      while (dlp_pad_peek (pad, &row) != NULL)
        g_ptr_array_add (i == 1 ? output->rejected : output->good, take_record (pad));
    }
}

void
rig_assert_resumable_at_steps (const RigConfig *config, const RigConfig *later)
{
  g_autoptr (RigOutput) whole = rig_run (config);
  g_autoptr (RigOutput) output = rig_output_new ();
  g_autoptr (Rig) rig = rig_new (config, NULL, &output->error);

  g_assert_no_error (output->error);
  for (guint n = 0; !rig->reader_ended; n++)
    {
      g_autoptr (RigState) state = NULL;

      if (!turn (rig->reader, &rig->reader_ended, &output->error) &&
          !turn (rig->source, &rig->source_ended, &output->error))
        g_usleep (100);
      take_all (rig, output);
      if (!test_takes (n, G_MAXUINT) && !rig->reader_ended)
        continue;
      state = rig_save (rig);
      assert_rest (later, whole, state);
    }
  finish (rig, output);
  rig_assert_equal (output, whole);
}

void
rig_assert_equal (const RigOutput *a, const RigOutput *b)
{
  assert_tail (a->good, 0, b->good);
  assert_tail (a->rejected, 0, b->rejected);
  g_assert_cmpstr (a->error != NULL ? a->error->message : NULL, ==,
                   b->error != NULL ? b->error->message : NULL);
  if (a->report != NULL && b->report != NULL)
    g_assert_cmpvariant (a->report, b->report);
}

guint
rig_scaled (guint n)
{
  const char *scale = g_getenv ("DLPIPE_TEST_SCALE");
  double scaled = scale != NULL ? n * g_ascii_strtod (scale, NULL) : n;

  return scaled < 1 ? 1 : (guint) scaled;
}
