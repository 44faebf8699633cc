/* SPDX-License-Identifier: MIT */

#include "dlp-dedup.h"

#include <dlpipe/dlp-pad-template.h>
#include <dlpipe/dlp-source.h>
#include <dlpipe/dlp-upstream.h>

#include "check-records.h"
#include "dedup-hash.h"
#include "dedup-log.h"
#include "dedup-set.h"

/* As much as there is: see docs/internals/memory.md. */
#define WANTED_MEMORY ((gsize) 64 << 30)

enum
{
  PAD_OUT,
  PAD_REJECTED,
};

/* How many records were what. */
typedef struct
{
  guint64 kept;
  guint64 dropped;
  guint64 null; /* of those that were kept: they have no value */
} Counts;

typedef struct
{
  Counts counts;
  DedupLogMark log;
} State;

struct _DlpDedup
{
  DlpElement parent_instance;

  char *field_name;

  /* From negotiate() on. */
  guint field;
  DlpFieldType type;

  DedupLog *log;
  DedupSet *set; /* (nullable): from start() to stop() */
  Counts counts;

  /* Of the rows of one step. */
  GArray *keys;     /* of DedupKey; an empty one: the record has no value */
  GArray *new_keys; /* of DedupKey */
};

enum
{
  PROP_0,
  PROP_FIELD,
  N_PROPS
};

static GParamSpec *properties[N_PROPS];

G_DEFINE_FINAL_TYPE (DlpDedup, dlp_dedup, DLP_TYPE_ELEMENT)

/* ---- build ---- */

static gboolean
find_field (DlpDedup *self, DlpSchema *schema, GError **error)
{
  g_autofree char *text = NULL;
  int field = dlp_schema_find (schema, self->field_name);

  if (field >= 0)
    {
      self->field = (guint) field;
      self->type = dlp_schema_get_field_type (schema, field);
      return TRUE;
    }
  text = dlp_schema_to_string (schema);
  g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_TYPE,
               "field=%s: its input has no field of that name; it is %s", self->field_name, text);
  return FALSE;
}

/* What is read again would be dropped as a whole, for ever where it is read for ever. */
static gboolean
check_epochs (DlpDedup *self, GError **error)
{
  g_autoptr (GPtrArray) sources = dlp_element_list_upstream (DLP_ELEMENT (self), "epochs");

  for (guint i = 0; i < sources->len; i++)
    {
      DlpElement *source = sources->pdata[i];
      guint epochs = DLP_IS_SOURCE (source) ? dlp_source_get_epochs (DLP_SOURCE (source)) : 1;
      g_autofree char *number = NULL;

      if (epochs == 1)
        continue;
      number = epochs == 0 ? g_strdup ("for ever") : g_strdup_printf ("%u times", epochs);
      g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE,
                   "%s is read %s, and all records behind its first epoch are duplicates; write "
                   "the records that are kept to a file, and read that several times",
                   dlp_element_get_name (source), number);
      return FALSE;
    }
  return TRUE;
}

static gboolean
dlp_dedup_negotiate (DlpElement *element, GError **error)
{
  DlpDedup *self = DLP_DEDUP (element);
  DlpSchema *schema = dlp_pad_get_schema (dlp_element_get_input (element, 0));

  if (!check_records (schema, error) || !find_field (self, schema, error) ||
      !check_epochs (self, error))
    return FALSE;
  dlp_pad_set_schema (dlp_element_get_output (element, PAD_OUT), schema);
  dlp_pad_set_schema (dlp_element_get_output (element, PAD_REJECTED), schema);
  return TRUE;
}

static gsize
dlp_dedup_want_memory (DlpElement *element, guint n_workers)
{
  return WANTED_MEMORY;
}

/* ---- start and stop ---- */

static int
open_scratch (gpointer data, GError **error)
{
  return dlp_element_open_scratch (DLP_ELEMENT (data), error);
}

static gboolean
take_logged (const DedupKey *keys, gsize n, gpointer data, GError **error)
{
  DlpDedup *self = data;

  for (gsize i = 0; i < n; i++)
    if (!dedup_set_add_new (self->set, &keys[i], error))
      return FALSE;
  return dedup_set_maintain (self->set, error);
}

static gboolean
dlp_dedup_start (DlpElement *element, GCancellable *cancellable, GError **error)
{
  DlpDedup *self = DLP_DEDUP (element);
  guint64 expected = self->counts.kept - self->counts.null;
  gboolean ok;

  self->set = dedup_set_new (dlp_element_get_memory_share (element), open_scratch, self);
  if (expected > 0)
    dlp_element_set_status (element, "reading the hashes of the records that were kept");
  ok = dedup_log_begin (self->log, take_logged, self, cancellable, error);
  dlp_element_set_status (element, NULL);
  if (!ok || dedup_set_get_length (self->set) == expected)
    return ok;
  g_set_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CORRUPT,
               "the state has %" G_GUINT64_FORMAT " different hashes for %" G_GUINT64_FORMAT
               " records that were kept",
               dedup_set_get_length (self->set), expected);
  return FALSE;
}

static void
dlp_dedup_stop (DlpElement *element)
{
  g_clear_pointer (&DLP_DEDUP (element)->set, dedup_set_free);
}

/* ---- run ---- */

static void
hash_rows (DlpDedup *self, const DlpRecordBatch *batch, guint first, guint n)
{
  g_array_set_size (self->keys, n);
  for (guint i = 0; i < n; i++)
    g_array_index (self->keys, DedupKey, i) =
        dedup_hash (batch, self->field, self->type, first + i);
  dedup_set_look_ahead (self->set, (const DedupKey *) (gpointer) self->keys->data, n);
}

/* A record without a value is not known to be equal to another one. */
static gboolean
judge (DlpDedup *self, const DedupKey *key, gboolean *keep, GError **error)
{
  *keep = TRUE;
  if (dedup_key_is_empty (key))
    {
      self->counts.null++;
      return TRUE;
    }
  if (!dedup_set_add (self->set, key, keep, error))
    return FALSE;
  if (*keep)
    g_array_append_val (self->new_keys, *key);
  return TRUE;
}

/* A record batch that goes one way as a whole is passed on; else its records are copied, so that
 * what is left of many is dense. */
static void
deliver (DlpDedup *self, gboolean kept, DlpRecordBatch *batch, guint row, guint n)
{
  DlpPad *pad = dlp_element_get_output (DLP_ELEMENT (self), kept ? PAD_OUT : PAD_REJECTED);

  *(kept ? &self->counts.kept : &self->counts.dropped) += n;
  if (n == dlp_record_batch_get_length (batch))
    dlp_pad_push_rows (pad, batch, row, n);
  else
    dlp_pad_append_rows (pad, batch, row, n);
}

/* Hashes are logged before what they let through goes out: a mark that has the records has them. */
static gboolean
take_rows (DlpDedup *self, DlpRecordBatch *batch, guint first, guint n, GError **error)
{
  g_autofree gboolean *keep = g_new (gboolean, n);
  guint begin = 0;

  hash_rows (self, batch, first, n);
  g_array_set_size (self->new_keys, 0);
  for (guint i = 0; i < n; i++)
    if (!judge (self, &g_array_index (self->keys, DedupKey, i), &keep[i], error))
      return FALSE;
  if (!dedup_log_append (self->log, (const DedupKey *) (gpointer) self->new_keys->data,
                         self->new_keys->len, error))
    return FALSE;
  for (guint i = 1; i <= n; i++)
    if (i == n || keep[i] != keep[begin])
      {
        deliver (self, keep[begin], batch, first + begin, i - begin);
        begin = i;
      }
  return dedup_set_maintain (self->set, error);
}

static DlpStep
dlp_dedup_step (DlpElement *element, GCancellable *cancellable, GError **error)
{
  DlpDedup *self = DLP_DEDUP (element);
  DlpPad *in = dlp_element_get_input (element, 0);
  DlpRecordBatch *batch;
  guint first, n;

  batch = dlp_pad_peek (in, &first);
  if (batch == NULL)
    return dlp_pad_is_over (in) ? DLP_STEP_END : dlp_element_want_input (element, 0);
  n = dlp_record_batch_get_length (batch) - first;
  if (!take_rows (self, batch, first, n, error))
    {
      g_prefix_error (error, "%s: ", dlp_element_get_name (element));
      return DLP_STEP_ERROR;
    }
  dlp_pad_consume (in, n);
  return DLP_STEP_MORE;
}

/* ---- state ---- */

static DlpState *
dlp_dedup_save (DlpElement *element)
{
  DlpDedup *self = DLP_DEDUP (element);
  State state = { .counts = self->counts };

  dedup_log_get_mark (self->log, &state.log);
  return dlp_state_new (&state, sizeof state);
}

static GVariant *
dlp_dedup_describe (DlpElement *element, const DlpState *data)
{
  DlpDedup *self = DLP_DEDUP (element);
  const State *state = dlp_state_get_data (data);
  GVariantDict dict;

  g_variant_dict_init (&dict, NULL);
  g_variant_dict_insert (&dict, "kept", "t", state->counts.kept);
  g_variant_dict_insert (&dict, "dropped", "t", state->counts.dropped);
  g_variant_dict_insert (&dict, "null", "t", state->counts.null);
  g_variant_dict_insert_value (&dict, "state-files", dedup_log_describe (self->log, &state->log));
  return g_variant_dict_end (&dict);
}

static GVariant *
dlp_dedup_report (DlpElement *element, GVariant *described)
{
  GVariantDict dict;

  g_variant_dict_init (&dict, described);
  g_variant_dict_remove (&dict, "state-files");
  return g_variant_dict_end (&dict);
}

/* One that has ended has counts alone. */
static gboolean
load_log (DlpDedup *self, GVariant *described, GError **error)
{
  g_autoptr (GVariant) known = g_variant_lookup_value (described, "state-files", NULL);
  g_autoptr (GVariant) files = NULL;

  if (known == NULL)
    return TRUE;
  files = dlp_state_get_value (described, "state-files", G_VARIANT_TYPE ("a(sts)"), error);
  return files != NULL &&
         dedup_log_load (self->log, files, self->counts.kept - self->counts.null, error);
}

static gboolean
dlp_dedup_load (DlpElement *element, GVariant *described, guint version, GError **error)
{
  static const char *const keys[] = { "kept", "dropped", "null", "state-files", NULL };
  DlpDedup *self = DLP_DEDUP (element);

  return dlp_state_check_keys (described, keys, error) &&
         dlp_state_get_uint64 (described, "kept", G_MAXUINT64, &self->counts.kept, error) &&
         dlp_state_get_uint64 (described, "dropped", G_MAXUINT64, &self->counts.dropped, error) &&
         dlp_state_get_uint64 (described, "null", self->counts.kept, &self->counts.null, error) &&
         dlp_pad_check_emitted (dlp_element_get_output (element, PAD_OUT), "kept",
                                self->counts.kept, error) &&
         dlp_pad_check_emitted (dlp_element_get_output (element, PAD_REJECTED), "dropped",
                                self->counts.dropped, error) &&
         load_log (self, described, error);
}

/* ---- properties ---- */

static void
dlp_dedup_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  DlpDedup *self = DLP_DEDUP (object);

  if (id != PROP_FIELD)
    {
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
      return;
    }
  g_free (self->field_name);
  self->field_name = g_value_dup_string (value);
}

static void
dlp_dedup_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  if (id == PROP_FIELD)
    g_value_set_string (value, DLP_DEDUP (object)->field_name);
  else
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
}

static void
dlp_dedup_finalize (GObject *object)
{
  DlpDedup *self = DLP_DEDUP (object);

  g_clear_pointer (&self->set, dedup_set_free);
  g_clear_pointer (&self->log, dedup_log_free);
  g_array_unref (self->keys);
  g_array_unref (self->new_keys);
  g_free (self->field_name);
  G_OBJECT_CLASS (dlp_dedup_parent_class)->finalize (object);
}

static void
dlp_dedup_class_init (DlpDedupClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  DlpElementClass *element_class = DLP_ELEMENT_CLASS (klass);

  object_class->set_property = dlp_dedup_set_property;
  object_class->get_property = dlp_dedup_get_property;
  object_class->finalize = dlp_dedup_finalize;
  element_class->flags = DLP_ELEMENT_LOG;
  element_class->negotiate = dlp_dedup_negotiate;
  element_class->want_memory = dlp_dedup_want_memory;
  element_class->start = dlp_dedup_start;
  element_class->stop = dlp_dedup_stop;
  element_class->step = dlp_dedup_step;
  element_class->save = dlp_dedup_save;
  element_class->describe = dlp_dedup_describe;
  element_class->load = dlp_dedup_load;
  element_class->report = dlp_dedup_report;
  dlp_element_class_add_pad_template (element_class, "in", DLP_PAD_INPUT, DLP_PAD_ALWAYS,
                                      DLP_CARRIES_RECORDS, NULL);
  dlp_element_class_add_pad_template (element_class, "out", DLP_PAD_OUTPUT, DLP_PAD_ALWAYS,
                                      DLP_CARRIES_RECORDS, NULL);
  dlp_element_class_add_pad_template (element_class, "rejected", DLP_PAD_OUTPUT, DLP_PAD_OPTIONAL,
                                      DLP_CARRIES_RECORDS, "Records that were there before");
  dlp_element_class_set_description (
      element_class, "Keeps the first of all records with the same value in a field",
      "... ! dedup field=text ! null-sink");

  properties[PROP_FIELD] = g_param_spec_string (
      "field", NULL, "Field whose values are compared, of any type", "text", DLP_PARAM_READWRITE);
  g_object_class_install_properties (object_class, N_PROPS, properties);
}

static void
dlp_dedup_init (DlpDedup *self)
{
  DlpElement *element = DLP_ELEMENT (self);

  self->field_name = g_strdup ("text");
  self->keys = g_array_new (FALSE, FALSE, sizeof (DedupKey));
  self->new_keys = g_array_new (FALSE, FALSE, sizeof (DedupKey));
  self->log = dedup_log_new (element);
  dlp_element_add_pad (element, "in", DLP_PAD_INPUT);
  dlp_element_add_pad (element, "out", DLP_PAD_OUTPUT);
  dlp_element_add_optional_pad (element, "rejected", DLP_PAD_OUTPUT);
}
