/* SPDX-License-Identifier: MIT */

/* `check-input`: the records that an author gave, from a store of the process that outlives the
 * pipeline. Each record batch goes out as an Arrow array whose release is counted, so that one that
 * an element never gives back is seen. */

#include <pthread.h>

#include "dlp-check-private.h"

struct _CheckInput
{
  guint64 number;
  DlpSchema *schema;
  pthread_mutex_t lock;
  GPtrArray *records;  /* lock: of DlpRecordBatch, of one record each */
  gboolean ended;      /* lock */
  DlpElement *waiting; /* lock: to be woken */
  gint n_held;         /* atomic */
};

typedef struct
{
  DlpSource parent_instance;

  guint64 data;
  gboolean live;
  CheckInput *store;
  guint64 next; /* the state */
} DlpCheckInput;

typedef DlpSourceClass DlpCheckInputClass;

enum
{
  PROP_0,
  PROP_DATA,
  PROP_LIVE,
  N_PROPS
};

static GParamSpec *properties[N_PROPS];
static GPtrArray *stores; /* the main thread, between runs */

G_DEFINE_TYPE (DlpCheckInput, dlp_check_input, DLP_TYPE_SOURCE)

/* ---- the store ---- */

CheckInput *
dlp_check_input_store_new (void)
{
  CheckInput *self = g_new0 (CheckInput, 1);

  if (stores == NULL)
    stores = g_ptr_array_new ();
  self->number = stores->len;
  g_ptr_array_add (stores, self);
  pthread_mutex_init (&self->lock, NULL);
  self->records = g_ptr_array_new_with_free_func ((GDestroyNotify) dlp_record_batch_unref);
  return self;
}

void
dlp_check_input_store_free (CheckInput *self)
{
  g_ptr_array_index (stores, self->number) = NULL;
  g_ptr_array_unref (self->records);
  g_clear_pointer (&self->schema, dlp_schema_unref);
  pthread_mutex_destroy (&self->lock);
  g_free (self);
}

guint64
dlp_check_input_store_get_number (CheckInput *self)
{
  return self->number;
}

void
dlp_check_input_store_set_schema (CheckInput *self, DlpSchema *schema)
{
  DlpSchema *old = self->schema;

  self->schema = dlp_schema_ref (schema);
  g_clear_pointer (&old, dlp_schema_unref);
}

DlpSchema *
dlp_check_input_store_get_schema (CheckInput *self)
{
  return self->schema;
}

static void
wake (CheckInput *self)
{
  if (self->waiting != NULL)
    dlp_element_wake (self->waiting);
}

void
dlp_check_input_store_push (CheckInput *self, DlpRecordBatch *batch)
{
  pthread_mutex_lock (&self->lock);
  g_assert_false (self->ended);
  for (guint i = 0; i < dlp_record_batch_get_length (batch); i++)
    g_ptr_array_add (self->records, dlp_record_batch_slice (batch, i, 1));
  wake (self);
  pthread_mutex_unlock (&self->lock);
}

guint
dlp_check_input_store_get_length (CheckInput *self)
{
  return self->records->len;
}

void
dlp_check_input_store_end (CheckInput *self)
{
  pthread_mutex_lock (&self->lock);
  self->ended = TRUE;
  wake (self);
  pthread_mutex_unlock (&self->lock);
}

guint
dlp_check_input_store_get_n_held (CheckInput *self)
{
  return (guint) g_atomic_int_get (&self->n_held);
}

/* ---- what is counted ---- */

typedef struct
{
  struct ArrowArray array;
  CheckInput *store;
} Held;

static void
release (struct ArrowArray *array)
{
  Held *held = array->private_data;

  held->array.release (&held->array);
  g_atomic_int_add (&held->store->n_held, -1);
  array->release = NULL;
  g_free (held);
}

static DlpRecordBatch *
count_batch (CheckInput *self, DlpRecordBatch *batch)
{
  Held *held = g_new0 (Held, 1);
  struct ArrowArray array;
  g_autoptr (GError) error = NULL;
  DlpRecordBatch *counted;

  dlp_record_batch_export (batch, &held->array);
  held->store = self;
  array = held->array;
  array.release = release;
  array.private_data = held;
  g_atomic_int_inc (&self->n_held);
  counted = dlp_record_batch_import (self->schema, &array,
                                     dlp_record_batch_get_coordinate (batch, 0), &error);
  g_assert_no_error (error);
  return counted;
}

/* ---- the element ---- */

static gboolean
dlp_check_input_negotiate (DlpElement *element, GError **error)
{
  DlpCheckInput *self = (DlpCheckInput *) element;

  self->store = self->data < stores->len ? g_ptr_array_index (stores, self->data) : NULL;
  g_assert_nonnull (self->store);
  g_assert_nonnull (self->store->schema);
  dlp_pad_set_schema (dlp_element_get_output (element, 0), self->store->schema);
  return TRUE;
}

static gboolean
dlp_check_input_start (DlpElement *element, GCancellable *cancellable, GError **error)
{
  DlpCheckInput *self = (DlpCheckInput *) element;

  pthread_mutex_lock (&self->store->lock);
  if (self->live)
    self->store->waiting = element;
  pthread_mutex_unlock (&self->store->lock);
  return TRUE;
}

static void
dlp_check_input_stop (DlpElement *element)
{
  DlpCheckInput *self = (DlpCheckInput *) element;

  if (self->store == NULL)
    return;
  pthread_mutex_lock (&self->store->lock);
  if (self->store->waiting == element)
    self->store->waiting = NULL;
  pthread_mutex_unlock (&self->store->lock);
}

static DlpStep
dlp_check_input_produce (DlpSource *source, DlpPad *out, GCancellable *cancellable, GError **error)
{
  DlpCheckInput *self = (DlpCheckInput *) source;
  g_autoptr (DlpRecordBatchBuilder) builder = dlp_record_batch_builder_new (self->store->schema);
  g_autoptr (DlpRecordBatch) batch = NULL;
  guint n = 1 + (guint) (self->next % 5);
  gboolean ended;

  pthread_mutex_lock (&self->store->lock);
  for (; n > 0 && self->next < self->store->records->len; n--)
    dlp_record_batch_builder_append_rows (
        builder, g_ptr_array_index (self->store->records, self->next++), 0, 1);
  ended = self->store->ended || !self->live;
  pthread_mutex_unlock (&self->store->lock);

  batch = dlp_record_batch_builder_finish (builder, NULL);
  if (dlp_record_batch_get_length (batch) == 0)
    return ended ? DLP_STEP_END : DLP_STEP_WANT_WORK;
  dlp_pad_push (out, count_batch (self->store, batch));
  return DLP_STEP_MORE;
}

static DlpState *
dlp_check_input_save (DlpElement *element)
{
  return dlp_state_new (&((DlpCheckInput *) element)->next, sizeof (guint64));
}

static GVariant *
dlp_check_input_describe (DlpElement *element, const DlpState *state)
{
  GVariantDict dict;

  g_variant_dict_init (&dict, NULL);
  g_variant_dict_insert (&dict, "next", "t", *(const guint64 *) dlp_state_get_data (state));
  return g_variant_dict_end (&dict);
}

static gboolean
dlp_check_input_load (DlpElement *element, GVariant *described, guint version, GError **error)
{
  static const char *const keys[] = { "next", NULL };
  DlpCheckInput *self = (DlpCheckInput *) element;

  return dlp_state_check_keys (described, keys, error) &&
         dlp_state_get_uint64 (described, "next", G_MAXUINT64, &self->next, error);
}

static void
dlp_check_input_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  DlpCheckInput *self = (DlpCheckInput *) object;

  if (id == PROP_DATA)
    self->data = g_value_get_uint64 (value);
  else if (id == PROP_LIVE)
    self->live = g_value_get_boolean (value);
  else
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
}

static void
dlp_check_input_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  DlpCheckInput *self = (DlpCheckInput *) object;

  if (id == PROP_DATA)
    g_value_set_uint64 (value, self->data);
  else if (id == PROP_LIVE)
    g_value_set_boolean (value, self->live);
  else
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
}

static void
dlp_check_input_class_init (DlpCheckInputClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  DlpElementClass *element_class = DLP_ELEMENT_CLASS (klass);

  object_class->set_property = dlp_check_input_set_property;
  object_class->get_property = dlp_check_input_get_property;
  element_class->negotiate = dlp_check_input_negotiate;
  element_class->start = dlp_check_input_start;
  element_class->stop = dlp_check_input_stop;
  element_class->save = dlp_check_input_save;
  element_class->describe = dlp_check_input_describe;
  element_class->load = dlp_check_input_load;
  klass->produce = dlp_check_input_produce;

  properties[PROP_DATA] = g_param_spec_uint64 ("data", NULL, "Number of what was pushed", 0,
                                               G_MAXUINT64, 0, DLP_PARAM_READWRITE);
  properties[PROP_LIVE] = g_param_spec_boolean ("live", NULL, "More may be pushed while it runs",
                                                FALSE, DLP_PARAM_READWRITE | DLP_PARAM_FREE);
  g_object_class_install_properties (object_class, N_PROPS, properties);
}

static void
dlp_check_input_init (DlpCheckInput *self)
{
}
