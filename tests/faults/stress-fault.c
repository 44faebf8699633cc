/* SPDX-License-Identifier: MIT */

#include "stress-fault.h"

#include "toys.h"

typedef struct
{
  DlpElement parent_instance;

  guint64 after;
} StressFault;

typedef DlpElementClass StressFaultClass;

G_DEFINE_TYPE (StressFault, stress_fault, DLP_TYPE_ELEMENT)

static gboolean
stress_fault_negotiate (DlpElement *element, GError **error)
{
  for (guint i = 0; i < dlp_element_get_n_outputs (element); i++)
    dlp_pad_set_schema (dlp_element_get_output (element, i),
                        dlp_pad_get_schema (dlp_element_get_input (element, 0)));
  return TRUE;
}

static DlpStep
stress_fault_step (DlpElement *element, GCancellable *cancellable, GError **error)
{
  StressFault *self = (StressFault *) element;
  DlpPad *in = dlp_element_get_input (element, 0);
  guint64 position = dlp_pad_get_position (in);
  guint row;
  DlpRecordBatch *batch = dlp_pad_peek (in, &row);
  ToyRecord *record;

  if (batch == NULL)
    return dlp_pad_is_over (in) ? DLP_STEP_END : dlp_element_want_input (element, 0);
  if (self->after > 0 && position >= self->after)
    {
      g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_DAMAGED, "record %" G_GUINT64_FORMAT,
                   position);
      return DLP_STEP_ERROR;
    }
  record = toy_record_new (batch, row);
  toy_record_emit (&record->at, record->text, dlp_element_get_output (element, position % 3 == 2));
  toy_record_free (record);
  dlp_pad_consume (in, 1);
  return DLP_STEP_MORE;
}

static void
stress_fault_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  ((StressFault *) object)->after = g_value_get_uint64 (value);
}

static void
stress_fault_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  g_value_set_uint64 (value, ((StressFault *) object)->after);
}

static void
stress_fault_class_init (StressFaultClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);

  object_class->set_property = stress_fault_set_property;
  object_class->get_property = stress_fault_get_property;
  klass->negotiate = stress_fault_negotiate;
  klass->step = stress_fault_step;
  g_object_class_install_property (object_class, 1,
                                   g_param_spec_uint64 ("after", NULL, "Records before it fails", 0,
                                                        G_MAXUINT64, 0,
                                                        DLP_PARAM_READWRITE | DLP_PARAM_FREE));
}

static void
stress_fault_init (StressFault *self)
{
  DlpElement *element = DLP_ELEMENT (self);

  dlp_element_add_pad (element, "in", DLP_PAD_INPUT);
  dlp_element_add_pad (element, "out", DLP_PAD_OUTPUT);
  dlp_element_add_optional_pad (element, "rejected", DLP_PAD_OUTPUT);
}
