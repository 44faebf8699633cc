/* SPDX-License-Identifier: MIT */

#include "toys.h"

#define NOT_INSIDE G_MAXUINT64

typedef struct
{
  guint64 row; /* of the file it is in, or NOT_INSIDE */
  guint64 bad;
} ToyReaderState;

typedef struct
{
  DlpElement parent_instance;

  ToyReaderState state;
  gboolean open;
  DlpCoordinate at;
  guint n_rows;
  DlpCursor hold; /* before the file it is in */
} ToyReader;

typedef DlpElementClass ToyReaderClass;

G_DEFINE_TYPE (ToyReader, toy_reader, DLP_TYPE_ELEMENT)

static gboolean
toy_reader_negotiate (DlpElement *element, GError **error)
{
  for (guint i = 0; i < 2; i++)
    dlp_pad_set_schema (dlp_element_get_output (element, i),
                        dlp_pad_get_schema (dlp_element_get_input (element, 0)));
  return TRUE;
}

static void
toy_reader_mark_input (DlpElement *element, guint input, DlpCursor *cursor)
{
  ToyReader *self = (ToyReader *) element;

  if (self->open)
    dlp_cursor_set (cursor, &self->hold);
  else
    dlp_pad_get_cursor (dlp_element_get_input (element, 0), cursor);
}

static DlpStep
open_next (ToyReader *self)
{
  DlpElement *element = DLP_ELEMENT (self);
  DlpPad *in = dlp_element_get_input (element, 0);
  guint row;
  DlpRecordBatch *batch = dlp_pad_peek (in, &row);

  if (batch == NULL)
    return dlp_pad_is_over (in) ? DLP_STEP_END : dlp_element_want_input (element, 0);
  dlp_pad_get_cursor (in, &self->hold);
  self->at = *dlp_record_batch_get_coordinate (batch, row);
  self->n_rows = toy_hash (batch, row, "reader") % 23;
  self->open = TRUE;
  if (self->state.row == NOT_INSIDE)
    self->state.row = 0;
  dlp_pad_consume (in, 1);
  return DLP_STEP_MORE;
}

static DlpStep
toy_reader_step (DlpElement *element, GCancellable *cancellable, GError **error)
{
  ToyReader *self = (ToyReader *) element;

  if (!self->open)
    return open_next (self);
  for (guint n = 3; n > 0 && self->state.row < self->n_rows; n--)
    {
      DlpCoordinate at = self->at;
      gboolean bad = (at.row * 31 + self->state.row * 7) % 5 == 0;
      g_autofree char *text = NULL;

      self->state.bad += bad;
      text = bad ? g_strdup_printf ("bad %" G_GUINT64_FORMAT, self->state.bad) :
                   g_strdup_printf ("row %" G_GUINT64_FORMAT, self->state.row);
      at.part = (guint32) self->state.row++;
      toy_record_emit (&at, text, dlp_element_get_output (element, bad));
    }
  if (self->state.row >= self->n_rows)
    {
      self->open = FALSE;
      self->state.row = NOT_INSIDE;
      dlp_cursor_clear (&self->hold);
    }
  return DLP_STEP_MORE;
}

static void
toy_reader_stop (DlpElement *element)
{
  dlp_cursor_clear (&((ToyReader *) element)->hold);
}

static DlpState *
toy_reader_save (DlpElement *element)
{
  return dlp_state_new (&((ToyReader *) element)->state, sizeof (ToyReaderState));
}

static GVariant *
toy_reader_describe (DlpElement *element, const DlpState *state)
{
  const ToyReaderState *data = dlp_state_get_data (state);
  GVariantDict dict;

  g_variant_dict_init (&dict, NULL);
  g_variant_dict_insert (&dict, "row", "t", data->row);
  g_variant_dict_insert (&dict, "bad", "t", data->bad);
  return g_variant_dict_end (&dict);
}

static gboolean
toy_reader_load (DlpElement *element, GVariant *described, guint version, GError **error)
{
  static const char *const keys[] = { "row", "bad", NULL };
  ToyReader *self = (ToyReader *) element;

  return dlp_state_check_keys (described, keys, error) &&
         dlp_state_get_uint64 (described, "row", G_MAXUINT64, &self->state.row, error) &&
         dlp_state_get_uint64 (described, "bad", G_MAXUINT64, &self->state.bad, error);
}

static void
toy_reader_class_init (ToyReaderClass *klass)
{
  klass->negotiate = toy_reader_negotiate;
  klass->mark_input = toy_reader_mark_input;
  klass->step = toy_reader_step;
  klass->stop = toy_reader_stop;
  klass->save = toy_reader_save;
  klass->describe = toy_reader_describe;
  klass->load = toy_reader_load;
}

static void
toy_reader_init (ToyReader *self)
{
  self->state.row = NOT_INSIDE;
  dlp_element_add_pad (DLP_ELEMENT (self), "in", DLP_PAD_INPUT);
  dlp_element_add_pad (DLP_ELEMENT (self), "out", DLP_PAD_OUTPUT);
  dlp_element_add_optional_pad (DLP_ELEMENT (self), "rejected", DLP_PAD_OUTPUT);
}
