/* SPDX-License-Identifier: MIT */

#include "wrong-elements.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static GType wrong_get_type (void);
static GType wrong_heir_get_type (void);
static GType wrong_flags_get_type (void);
static GType wrong_transform_get_type (void);
static GType wrong_sink_get_type (void);

static DlpElementFlags wrong_flags;

typedef enum
{
  FAULT_NONE,
  FAULT_FORGETS, /* its count is not in the state */
  FAULT_LATE,    /* emits in the step after the one that consumed */
  FAULT_CUTS,    /* the number is that in the record batch */
  FAULT_HOLDS,   /* keeps a record batch for ever */
  FAULT_AHEAD,   /* its mark names a record that it has not consumed */
  FAULT_HANGS,   /* does not mind being cancelled */
  FAULT_FILE,    /* opens a file that it never closes */
  FAULT_REFERS,  /* holds a reference to itself */
  FAULT_WAITS,   /* none: waits while it starts, and minds being cancelled there */
  FAULT_DROPS,   /* none: every third record */
  FAULT_DOUBLES, /* none: every third record comes twice */
} Fault;

static GType
fault_get_type (void)
{
  static const GEnumValue values[] = {
    { FAULT_NONE, "FAULT_NONE", "none" },
    { FAULT_FORGETS, "FAULT_FORGETS", "forgets" },
    { FAULT_LATE, "FAULT_LATE", "late" },
    { FAULT_CUTS, "FAULT_CUTS", "cuts" },
    { FAULT_HOLDS, "FAULT_HOLDS", "holds" },
    { FAULT_AHEAD, "FAULT_AHEAD", "ahead" },
    { FAULT_HANGS, "FAULT_HANGS", "hangs" },
    { FAULT_FILE, "FAULT_FILE", "file" },
    { FAULT_REFERS, "FAULT_REFERS", "refers" },
    { FAULT_WAITS, "FAULT_WAITS", "waits" },
    { FAULT_DROPS, "FAULT_DROPS", "drops" },
    { FAULT_DOUBLES, "FAULT_DOUBLES", "doubles" },
    { 0, NULL, NULL },
  };
  static gsize type;

  if (g_once_init_enter (&type))
    g_once_init_leave (&type, g_enum_register_static ("WrongFault", values));
  return type;
}

typedef struct
{
  DlpElement parent_instance;

  Fault fault;
  guint64 count;       /* the state */
  DlpRecordBatch *due; /* of FAULT_LATE */
} Wrong;

typedef DlpElementClass WrongClass;

G_DEFINE_TYPE (Wrong, wrong, DLP_TYPE_ELEMENT)

static void
emit (DlpPad *out, DlpRecordBatch *batch, guint row, guint64 number)
{
  DlpRecordBatchBuilder *builder = dlp_pad_get_builder (out);
  gsize size;
  const char *text = (const char *) dlp_record_batch_get_value (batch, 0, row, &size);
  g_autofree char *changed =
      g_strdup_printf ("%" G_GUINT64_FORMAT ": %.*s", number, (int) size, text);

  dlp_record_batch_builder_append_value (builder, 0, changed, strlen (changed));
  dlp_pad_end_record (out, dlp_record_batch_get_coordinate (batch, row));
}

static void
emit_some (Wrong *self, DlpPad *out, DlpRecordBatch *batch, guint row)
{
  gboolean third = self->count % 3 == 2;

  if (self->fault != FAULT_DROPS || !third)
    emit (out, batch, row, self->count);
  if (self->fault == FAULT_DOUBLES && third)
    emit (out, batch, row, self->count);
  self->count++;
}

static DlpStep
wrong_step (DlpElement *element, GCancellable *cancellable, GError **error)
{
  Wrong *self = (Wrong *) element;
  DlpPad *in = dlp_element_get_input (element, 0);
  DlpPad *out = dlp_element_get_output (element, 0);
  DlpRecordBatch *batch;
  guint row;

  while (self->fault == FAULT_HANGS && g_cancellable_is_cancelled (cancellable))
    g_usleep (1000);
  if (self->due != NULL)
    {
      emit (out, self->due, 0, self->count++);
      g_clear_pointer (&self->due, dlp_record_batch_unref);
      return DLP_STEP_MORE;
    }
  batch = dlp_pad_peek (in, &row);
  if (batch == NULL)
    return dlp_pad_is_over (in) ? DLP_STEP_END : dlp_element_want_input (element, 0);
  if (self->fault == FAULT_HOLDS && self->count == 3)
    dlp_record_batch_ref (batch);
  if (self->fault == FAULT_LATE)
    self->due = dlp_record_batch_slice (batch, row, 1);
  else if (self->fault == FAULT_CUTS)
    emit (out, batch, row, row);
  else
    emit_some (self, out, batch, row);
  dlp_pad_consume (in, 1);
  return DLP_STEP_MORE;
}

static guint n_interrupted; /* atomic */

guint
wrong_elements_get_n_interrupted (void)
{
  return __atomic_load_n (&n_interrupted, __ATOMIC_RELAXED);
}

static gboolean
wait_a_little (GCancellable *cancellable, GError **error)
{
  for (guint i = 0; i < 20 && !g_cancellable_is_cancelled (cancellable); i++)
    g_usleep (1000);
  if (!g_cancellable_set_error_if_cancelled (cancellable, error))
    return TRUE;
  __atomic_add_fetch (&n_interrupted, 1, __ATOMIC_RELAXED);
  return FALSE;
}

static gboolean
wrong_start (DlpElement *element, GCancellable *cancellable, GError **error)
{
  Wrong *self = (Wrong *) element;

  if (self->fault == FAULT_FILE)
    return open ("/dev/null", O_RDONLY | O_CLOEXEC) >= 0;
  if (self->fault == FAULT_WAITS)
    return wait_a_little (cancellable, error);
  if (self->fault == FAULT_REFERS)
    g_object_ref (self);
  return TRUE;
}

static void
wrong_stop (DlpElement *element)
{
  g_clear_pointer (&((Wrong *) element)->due, dlp_record_batch_unref);
}

static void
wrong_mark_input (DlpElement *element, guint input, DlpCursor *cursor)
{
  dlp_pad_get_cursor (dlp_element_get_input (element, input), cursor);
  if (((Wrong *) element)->fault == FAULT_AHEAD)
    cursor->position++;
}

static DlpState *
wrong_save (DlpElement *element)
{
  Wrong *self = (Wrong *) element;
  guint64 count = self->fault == FAULT_FORGETS ? 0 : self->count;

  return dlp_state_new (&count, sizeof count);
}

static GVariant *
wrong_describe (DlpElement *element, const DlpState *state)
{
  GVariantDict dict;

  g_variant_dict_init (&dict, NULL);
  g_variant_dict_insert (&dict, "count", "t", *(const guint64 *) dlp_state_get_data (state));
  return g_variant_dict_end (&dict);
}

static gboolean
wrong_load (DlpElement *element, GVariant *described, guint version, GError **error)
{
  return dlp_state_get_uint64 (described, "count", G_MAXUINT64, &((Wrong *) element)->count, error);
}

static gboolean
wrong_negotiate (DlpElement *element, GError **error)
{
  dlp_pad_set_schema (dlp_element_get_output (element, 0),
                      dlp_pad_get_schema (dlp_element_get_input (element, 0)));
  return TRUE;
}

static void
wrong_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  ((Wrong *) object)->fault = (Fault) g_value_get_enum (value);
}

static void
wrong_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  g_value_set_enum (value, (int) ((Wrong *) object)->fault);
}

static void
wrong_class_init (WrongClass *klass)
{
  G_OBJECT_CLASS (klass)->set_property = wrong_set_property;
  G_OBJECT_CLASS (klass)->get_property = wrong_get_property;
  klass->negotiate = wrong_negotiate;
  klass->start = wrong_start;
  klass->step = wrong_step;
  klass->stop = wrong_stop;
  klass->save = wrong_save;
  klass->describe = wrong_describe;
  klass->load = wrong_load;
  klass->mark_input = wrong_mark_input;
  g_object_class_install_property (G_OBJECT_CLASS (klass), 1,
                                   g_param_spec_enum ("fault", NULL, "What is wrong with it",
                                                      fault_get_type (), FAULT_NONE,
                                                      DLP_PARAM_READWRITE));
}

static void
wrong_init (Wrong *self)
{
  dlp_element_add_pad (DLP_ELEMENT (self), "in", DLP_PAD_INPUT);
  dlp_element_add_pad (DLP_ELEMENT (self), "out", DLP_PAD_OUTPUT);
}

/* ---- wrong-heir: none; calls its parent's functions ---- */

typedef Wrong WrongHeir;
typedef WrongClass WrongHeirClass;

G_DEFINE_TYPE (WrongHeir, wrong_heir, wrong_get_type ())

static DlpStep
wrong_heir_step (DlpElement *element, GCancellable *cancellable, GError **error)
{
  return DLP_ELEMENT_CLASS (wrong_heir_parent_class)->step (element, cancellable, error);
}

static void
wrong_heir_mark_input (DlpElement *element, guint input, DlpCursor *cursor)
{
  DLP_ELEMENT_CLASS (wrong_heir_parent_class)->mark_input (element, input, cursor);
}

static gboolean
wrong_heir_load (DlpElement *element, GVariant *described, guint version, GError **error)
{
  return DLP_ELEMENT_CLASS (wrong_heir_parent_class)->load (element, described, version, error);
}

static void
wrong_heir_class_init (WrongHeirClass *klass)
{
  klass->step = wrong_heir_step;
  klass->mark_input = wrong_heir_mark_input;
  klass->load = wrong_heir_load;
}

static void
wrong_heir_init (WrongHeir *self)
{
}

/* ---- wrong-flags: its class promises what it does not keep ---- */

typedef Wrong WrongFlags;
typedef WrongClass WrongFlagsClass;

G_DEFINE_TYPE (WrongFlags, wrong_flags, wrong_get_type ())

static void
wrong_flags_class_init (WrongFlagsClass *klass)
{
  klass->flags = wrong_flags;
}

static void
wrong_flags_init (WrongFlags *self)
{
}

void
wrong_elements_set_flags (DlpElementFlags flags)
{
  wrong_flags = flags;
}

/* ---- wrong-transform ---- */

typedef struct
{
  DlpTransform parent_instance;
} WrongTransform;

typedef DlpTransformClass WrongTransformClass;

G_DEFINE_TYPE (WrongTransform, wrong_transform, DLP_TYPE_TRANSFORM)

static gpointer
wrong_transform_worker_new (DlpTransform *transform)
{
  return g_new0 (guint64, 1);
}

static void
wrong_transform_worker_free (DlpTransform *transform, gpointer worker)
{
  g_free (worker);
}

static gboolean
wrong_transform_process (DlpTransform *transform,
                         gpointer worker,
                         DlpRecordBatch *batch,
                         guint64 first,
                         DlpTransformOutput *output,
                         GError **error)
{
  guint64 *seen = worker;

  for (guint row = 0; row < dlp_record_batch_get_length (batch); row++)
    {
      DlpRecordBatchBuilder *builder = dlp_transform_output_get_builder (output, 0);
      g_autofree char *text = g_strdup_printf ("%" G_GUINT64_FORMAT, (*seen)++);

      dlp_record_batch_builder_append_value (builder, 0, text, strlen (text));
      dlp_transform_output_end_record (output, 0, dlp_record_batch_get_coordinate (batch, row));
    }
  return TRUE;
}

static void
wrong_transform_class_init (WrongTransformClass *klass)
{
  klass->worker_new = wrong_transform_worker_new;
  klass->worker_free = wrong_transform_worker_free;
  klass->process = wrong_transform_process;
}

static void
wrong_transform_init (WrongTransform *self)
{
}

/* ---- wrong-sink ---- */

typedef struct
{
  DlpSink parent_instance;

  char *location;
  FILE *file;
} WrongSink;

typedef DlpSinkClass WrongSinkClass;

G_DEFINE_TYPE (WrongSink, wrong_sink, DLP_TYPE_SINK)

static gboolean
wrong_sink_start (DlpElement *element, GCancellable *cancellable, GError **error)
{
  WrongSink *self = (WrongSink *) element;

  self->file = fopen (self->location, "ae");
  g_assert_nonnull (self->file);
  return TRUE;
}

static gboolean
wrong_sink_consume (DlpSink *sink,
                    DlpRecordBatch *batch,
                    guint row,
                    guint n,
                    GCancellable *cancellable,
                    GError **error)
{
  for (guint i = 0; i < n; i++)
    {
      gsize size;
      const char *text = (const char *) dlp_record_batch_get_value (batch, 0, row + i, &size);

      fprintf (((WrongSink *) sink)->file, "%.*s\n", (int) size, text);
    }
  fflush (((WrongSink *) sink)->file);
  return TRUE;
}

static void
wrong_sink_stop (DlpElement *element)
{
  g_clear_pointer (&((WrongSink *) element)->file, fclose);
}

static void
wrong_sink_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  g_free (((WrongSink *) object)->location);
  ((WrongSink *) object)->location = g_value_dup_string (value);
}

static void
wrong_sink_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  g_value_set_string (value, ((WrongSink *) object)->location);
}

static void
wrong_sink_finalize (GObject *object)
{
  g_free (((WrongSink *) object)->location);
  G_OBJECT_CLASS (wrong_sink_parent_class)->finalize (object);
}

static void
wrong_sink_class_init (WrongSinkClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);

  object_class->set_property = wrong_sink_set_property;
  object_class->get_property = wrong_sink_get_property;
  object_class->finalize = wrong_sink_finalize;
  DLP_ELEMENT_CLASS (klass)->start = wrong_sink_start;
  DLP_ELEMENT_CLASS (klass)->stop = wrong_sink_stop;
  klass->consume = wrong_sink_consume;
  g_object_class_install_property (
      object_class, 1,
      g_param_spec_string ("location", NULL, "Name of the file", NULL, DLP_PARAM_READWRITE));
}

static void
wrong_sink_init (WrongSink *self)
{
}

void
wrong_elements_register (void)
{
  g_autoptr (GError) error = NULL;

  dlp_registry_add_element ("wrong", wrong_get_type (), &error);
  g_assert_no_error (error);
  dlp_registry_add_element ("wrong-heir", wrong_heir_get_type (), &error);
  g_assert_no_error (error);
  dlp_registry_add_element ("wrong-flags", wrong_flags_get_type (), &error);
  g_assert_no_error (error);
  dlp_registry_add_element ("wrong-transform", wrong_transform_get_type (), &error);
  g_assert_no_error (error);
  dlp_registry_add_element ("wrong-sink", wrong_sink_get_type (), &error);
  g_assert_no_error (error);
}
