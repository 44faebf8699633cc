/* SPDX-License-Identifier: MIT */

/* Toys that hold records beyond their steps. */

#include <string.h>

#include <dlpipe/dlp-random.h>

#include "toys.h"

/* ---- base: a list of records and a number ---- */

typedef struct
{
  DlpElement parent_instance;

  GPtrArray *records;
  guint64 number;
  DlpCursor begin; /* of a hoard */
} ToyBuffer;

typedef DlpElementClass ToyBufferClass;

GType toy_buffer_get_type (void);

G_DEFINE_ABSTRACT_TYPE (ToyBuffer, toy_buffer, DLP_TYPE_ELEMENT)

static DlpState *
toy_buffer_save (DlpElement *element)
{
  ToyBuffer *self = (ToyBuffer *) element;

  return toy_records_save (self->records, self->number);
}

static GVariant *
toy_buffer_describe (DlpElement *element, const DlpState *state)
{
  return toy_records_describe (state);
}

static gboolean
toy_buffer_load (DlpElement *element, GVariant *described, guint version, GError **error)
{
  ToyBuffer *self = (ToyBuffer *) element;

  return toy_records_load (self->records, &self->number, described, error);
}

static void
toy_buffer_finalize (GObject *object)
{
  g_ptr_array_unref (((ToyBuffer *) object)->records);
  G_OBJECT_CLASS (toy_buffer_parent_class)->finalize (object);
}

static void
toy_buffer_class_init (ToyBufferClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = toy_buffer_finalize;
  klass->save = toy_buffer_save;
  klass->describe = toy_buffer_describe;
  klass->load = toy_buffer_load;
}

static void
toy_buffer_init (ToyBuffer *self)
{
  self->records = g_ptr_array_new_with_free_func ((GDestroyNotify) toy_record_free);
  dlp_element_add_pad (DLP_ELEMENT (self), "in", DLP_PAD_INPUT);
  dlp_element_add_pad (DLP_ELEMENT (self), "out", DLP_PAD_OUTPUT);
}

/* ---- toy-pack ---- */

typedef ToyBuffer ToyPack;
typedef ToyBufferClass ToyPackClass;

G_DEFINE_TYPE (ToyPack, toy_pack, toy_buffer_get_type ())

static void
give_out (ToyPack *self)
{
  g_autoptr (GString) text = g_string_new (NULL);
  ToyRecord *first = g_ptr_array_index (self->records, 0);

  for (guint i = 0; i < self->records->len; i++)
    g_string_append_printf (text, "%s|",
                            ((ToyRecord *) g_ptr_array_index (self->records, i))->text);
  toy_record_emit (&first->at, text->str, dlp_element_get_output (DLP_ELEMENT (self), 0));
  g_ptr_array_set_size (self->records, 0);
  self->number++;
}

static DlpStep
toy_pack_step (DlpElement *element, GCancellable *cancellable, GError **error)
{
  ToyPack *self = (ToyPack *) element;
  DlpPad *in = dlp_element_get_input (element, 0);
  guint row;
  DlpRecordBatch *batch = dlp_pad_peek (in, &row);

  if (batch == NULL)
    {
      if (!dlp_pad_is_over (in))
        return dlp_element_want_input (element, 0);
      if (self->records->len == 0)
        return DLP_STEP_END;
      give_out (self);
      return DLP_STEP_MORE;
    }
  for (guint n = toy_step_length (dlp_pad_get_position (in)); n > 0 && batch != NULL; n--)
    {
      g_ptr_array_add (self->records, toy_record_new (batch, row));
      dlp_pad_consume (in, 1);
      if (self->records->len == 4)
        give_out (self);
      batch = dlp_pad_peek (in, &row);
    }
  return DLP_STEP_MORE;
}

static void
toy_pack_class_init (ToyPackClass *klass)
{
  klass->step = toy_pack_step;
}

static void
toy_pack_init (ToyPack *self)
{
}

/* ---- toy-shuffle ---- */

#define SIZE 6

typedef ToyBuffer ToyShuffle;
typedef ToyBufferClass ToyShuffleClass;

G_DEFINE_TYPE (ToyShuffle, toy_shuffle, toy_buffer_get_type ())

static ToyRecord **
draw (ToyShuffle *self)
{
  DlpRandom random = dlp_random_init (0, 0, "toy", 0);

  return (ToyRecord **) &self->records
      ->pdata[dlp_random_draw (random, self->number++) % self->records->len];
}

static void
emit_drawn (ToyShuffle *self, ToyRecord **slot)
{
  toy_record_emit (&(*slot)->at, (*slot)->text, dlp_element_get_output (DLP_ELEMENT (self), 0));
  toy_record_free (*slot);
}

static DlpStep
toy_shuffle_step (DlpElement *element, GCancellable *cancellable, GError **error)
{
  ToyShuffle *self = (ToyShuffle *) element;
  DlpPad *in = dlp_element_get_input (element, 0);
  guint row;
  DlpRecordBatch *batch = dlp_pad_peek (in, &row);
  ToyRecord **slot;

  if (batch != NULL)
    {
      if (self->records->len < SIZE)
        g_ptr_array_add (self->records, toy_record_new (batch, row));
      else
        {
          slot = draw (self);
          emit_drawn (self, slot);
          *slot = toy_record_new (batch, row);
        }
      dlp_pad_consume (in, 1);
      return DLP_STEP_MORE;
    }
  if (!dlp_pad_is_over (in))
    return dlp_element_want_input (element, 0);
  if (self->records->len == 0)
    return DLP_STEP_END;
  slot = draw (self);
  emit_drawn (self, slot);
  *slot = self->records->pdata[self->records->len - 1];
  self->records->pdata[self->records->len - 1] = NULL;
  g_ptr_array_set_free_func (self->records, NULL);
  g_ptr_array_set_size (self->records, self->records->len - 1);
  g_ptr_array_set_free_func (self->records, (GDestroyNotify) toy_record_free);
  return DLP_STEP_MORE;
}

static void
toy_shuffle_class_init (ToyShuffleClass *klass)
{
  klass->flags = DLP_ELEMENT_LARGE;
  klass->step = toy_shuffle_step;
}

static void
toy_shuffle_init (ToyShuffle *self)
{
}

/* ---- toy-hoard ---- */

typedef ToyBuffer ToyHoard;
typedef ToyBufferClass ToyHoardClass;

G_DEFINE_TYPE (ToyHoard, toy_hoard, toy_buffer_get_type ())

static gboolean
toy_hoard_start (DlpElement *element, GCancellable *cancellable, GError **error)
{
  dlp_pad_get_cursor (dlp_element_get_input (element, 0), &((ToyHoard *) element)->begin);
  return TRUE;
}

static void
toy_hoard_stop (DlpElement *element)
{
  dlp_cursor_clear (&((ToyHoard *) element)->begin);
}

static void
toy_hoard_mark_input (DlpElement *element, guint input, DlpCursor *cursor)
{
  ToyHoard *self = (ToyHoard *) element;

  if (self->begin.mark != NULL)
    dlp_cursor_set (cursor, &self->begin);
  else
    dlp_pad_get_cursor (dlp_element_get_input (element, 0), cursor);
}

static DlpStep
toy_hoard_step (DlpElement *element, GCancellable *cancellable, GError **error)
{
  ToyHoard *self = (ToyHoard *) element;
  DlpPad *in = dlp_element_get_input (element, 0);
  guint row;
  DlpRecordBatch *batch = dlp_pad_peek (in, &row);

  if (batch != NULL)
    {
      g_ptr_array_add (self->records, toy_record_new (batch, row));
      dlp_pad_consume (in, 1);
      return DLP_STEP_MORE;
    }
  if (!dlp_pad_is_over (in))
    return dlp_element_want_input (element, 0);
  if (self->number == self->records->len)
    return DLP_STEP_END;
  for (guint n = 3; n > 0 && self->number < self->records->len; n--)
    {
      ToyRecord *record = g_ptr_array_index (self->records, self->number++);

      toy_record_emit (&record->at, record->text, dlp_element_get_output (element, 0));
    }
  return DLP_STEP_MORE;
}

/* What is held comes again: the state is what was given out. */
static DlpState *
toy_hoard_save (DlpElement *element)
{
  g_autoptr (GPtrArray) none = g_ptr_array_new ();

  return toy_records_save (none, ((ToyHoard *) element)->number);
}

static void
toy_hoard_class_init (ToyHoardClass *klass)
{
  klass->start = toy_hoard_start;
  klass->stop = toy_hoard_stop;
  klass->step = toy_hoard_step;
  klass->save = toy_hoard_save;
  klass->mark_input = toy_hoard_mark_input;
}

static void
toy_hoard_init (ToyHoard *self)
{
}
