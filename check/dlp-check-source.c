/* SPDX-License-Identifier: MIT */

#include "dlp-check-source.h"

#include <dlpipe/dlp-random.h>

struct _DlpCheckSource
{
  DlpSource parent_instance;

  guint64 records;
  guint64 variant;
  guint rows_a_file; /* 0: all in one */
  guint epochs;      /* 0: for ever */
  gboolean tokens;
  gboolean repeats;

  DlpRandom random;
  guint64 next; /* the state */
};

enum
{
  PROP_0,
  PROP_RECORDS,
  PROP_VARIANT,
  PROP_TOKENS,
  PROP_ROWS_A_FILE,
  PROP_EPOCHS,
  N_PROPS
};

static GParamSpec *properties[N_PROPS];

G_DEFINE_FINAL_TYPE (DlpCheckSource, dlp_check_source, DLP_TYPE_SOURCE)

static const char *const words[] = { "the ",  "quick ",   "Füchse ", "прыгает ", "狐狸",
                                     "\n",    "  ",       "2026 ",   "don't ",   "<|endoftext|>",
                                     "🦊 ", "\t{x: 1}", "över ",   "lazy ",    "dog. ",
                                     "ﬁn" };

static gboolean
dlp_check_source_negotiate (DlpElement *element, GError **error)
{
  DlpCheckSource *self = DLP_CHECK_SOURCE (element);
  const char *names[] = { self->tokens ? "tokens" : "text", "id", "score" };
  DlpFieldType types[] = { self->tokens ? DLP_FIELD_LIST_UINT16 : DLP_FIELD_STRING,
                           DLP_FIELD_STRING, DLP_FIELD_DOUBLE };
  gboolean optional[] = { FALSE, TRUE, TRUE };
  g_autoptr (DlpSchema) schema = dlp_schema_new (DLP_SCHEMA_RECORDS, 3, names, types, optional);

  dlp_pad_set_schema (dlp_element_get_output (element, 0), schema);
  self->random = dlp_random_init (self->variant, 0, "check", 0);
  return TRUE;
}

static void
append_text (DlpCheckSource *self, guint64 index, DlpRecordBatchBuilder *builder)
{
  g_autoptr (GString) text = g_string_new (NULL);
  guint64 draw = dlp_random_draw (self->random, index);
  guint n = draw % 7 == 0 ? 0 : draw % 40;

  for (guint i = 0; i < n; i++)
    g_string_append (text,
                     words[dlp_random_draw (self->random, index * 64 + i) % G_N_ELEMENTS (words)]);
  dlp_record_batch_builder_append_value (builder, 0, text->str, text->len);
}

static void
append_tokens (DlpCheckSource *self, guint64 index, DlpRecordBatchBuilder *builder)
{
  guint16 tokens[64];
  guint64 draw = dlp_random_draw (self->random, index);
  guint n = draw % 7 == 0 ? 0 : draw % 40;

  for (guint i = 0; i < n; i++)
    tokens[i] = dlp_random_draw (self->random, index * 64 + i) % 50257;
  dlp_record_batch_builder_append_list (builder, 0, tokens, n);
}

static guint
dlp_check_source_get_epochs (DlpSource *source)
{
  return DLP_CHECK_SOURCE (source)->repeats ? 0 : DLP_CHECK_SOURCE (source)->epochs;
}

static gboolean
dlp_check_source_repeat (DlpSource *source, GError **error)
{
  DLP_CHECK_SOURCE (source)->repeats = TRUE;
  return TRUE;
}

static gboolean
is_over (DlpCheckSource *self)
{
  guint epochs = dlp_check_source_get_epochs (DLP_SOURCE (self));

  return self->records == 0 || (epochs > 0 && self->next / self->records >= epochs);
}

static DlpStep
dlp_check_source_produce (DlpSource *source, DlpPad *out, GCancellable *cancellable, GError **error)
{
  DlpCheckSource *self = DLP_CHECK_SOURCE (source);
  DlpRecordBatchBuilder *builder = dlp_pad_get_builder (out);
  guint n = 1 + self->next % 5;

  if (is_over (self))
    return DLP_STEP_END;
  for (guint i = 0; i < n && !is_over (self); i++)
    {
      guint64 epoch = self->next / self->records;
      guint64 index = self->next++ % self->records;
      guint rows = self->rows_a_file;
      DlpCoordinate at = { .stage = dlp_element_get_stage (DLP_ELEMENT (self)),
                           .source = dlp_element_get_ordinal (DLP_ELEMENT (self)),
                           .epoch = (guint32) epoch,
                           .file = rows > 0 ? index / rows : 0,
                           .row = rows > 0 ? index % rows : index };
      g_autofree char *id =
          g_strdup_printf ("%" G_GUINT64_FORMAT "-%" G_GUINT64_FORMAT, self->variant, index);

      if (self->tokens)
        append_tokens (self, index, builder);
      else
        append_text (self, index, builder);
      if (index % 3 == 0)
        dlp_record_batch_builder_append_null (builder, 1);
      else
        dlp_record_batch_builder_append_value (builder, 1, id, strlen (id));
      if (index % 4 == 0)
        dlp_record_batch_builder_append_null (builder, 2);
      else
        dlp_record_batch_builder_append_double (builder, 2, index / 8.0);
      dlp_pad_end_record (out, &at);
    }
  return DLP_STEP_MORE;
}

static DlpState *
dlp_check_source_save (DlpElement *element)
{
  return dlp_state_new (&DLP_CHECK_SOURCE (element)->next, sizeof (guint64));
}

static GVariant *
dlp_check_source_describe (DlpElement *element, const DlpState *state)
{
  GVariantDict dict;

  g_variant_dict_init (&dict, NULL);
  g_variant_dict_insert (&dict, "next", "t", *(const guint64 *) dlp_state_get_data (state));
  return g_variant_dict_end (&dict);
}

static gboolean
dlp_check_source_load (DlpElement *element, GVariant *described, guint version, GError **error)
{
  static const char *const keys[] = { "next", NULL };
  DlpCheckSource *self = DLP_CHECK_SOURCE (element);

  return dlp_state_check_keys (described, keys, error) &&
         dlp_state_get_uint64 (described, "next", G_MAXUINT64, &self->next, error);
}

static void
dlp_check_source_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  DlpCheckSource *self = DLP_CHECK_SOURCE (object);

  if (id == PROP_RECORDS)
    self->records = g_value_get_uint64 (value);
  else if (id == PROP_VARIANT)
    self->variant = g_value_get_uint64 (value);
  else if (id == PROP_TOKENS)
    self->tokens = g_value_get_boolean (value);
  else if (id == PROP_ROWS_A_FILE)
    self->rows_a_file = g_value_get_uint (value);
  else if (id == PROP_EPOCHS)
    self->epochs = g_value_get_uint (value);
  else
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
}

static void
dlp_check_source_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  DlpCheckSource *self = DLP_CHECK_SOURCE (object);

  if (id == PROP_RECORDS)
    g_value_set_uint64 (value, self->records);
  else if (id == PROP_VARIANT)
    g_value_set_uint64 (value, self->variant);
  else if (id == PROP_TOKENS)
    g_value_set_boolean (value, self->tokens);
  else if (id == PROP_ROWS_A_FILE)
    g_value_set_uint (value, self->rows_a_file);
  else if (id == PROP_EPOCHS)
    g_value_set_uint (value, self->epochs);
  else
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
}

static void
dlp_check_source_class_init (DlpCheckSourceClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  DlpElementClass *element_class = DLP_ELEMENT_CLASS (klass);

  object_class->set_property = dlp_check_source_set_property;
  object_class->get_property = dlp_check_source_get_property;
  element_class->negotiate = dlp_check_source_negotiate;
  element_class->save = dlp_check_source_save;
  element_class->describe = dlp_check_source_describe;
  element_class->load = dlp_check_source_load;
  DLP_SOURCE_CLASS (klass)->produce = dlp_check_source_produce;
  DLP_SOURCE_CLASS (klass)->get_epochs = dlp_check_source_get_epochs;
  DLP_SOURCE_CLASS (klass)->repeat = dlp_check_source_repeat;

  properties[PROP_RECORDS] =
      g_param_spec_uint64 ("records", NULL, "How many", 0, G_MAXUINT64, 100, DLP_PARAM_READWRITE);
  properties[PROP_VARIANT] =
      g_param_spec_uint64 ("variant", NULL, "Which ones", 0, G_MAXUINT64, 0, DLP_PARAM_READWRITE);
  properties[PROP_TOKENS] =
      g_param_spec_boolean ("tokens", NULL, "Tokens, not text", FALSE, DLP_PARAM_READWRITE);
  properties[PROP_ROWS_A_FILE] =
      g_param_spec_uint ("rows-a-file", NULL, "How coordinates count; 0: one file", 0, G_MAXUINT, 0,
                         DLP_PARAM_READWRITE);
  properties[PROP_EPOCHS] =
      g_param_spec_uint ("epochs", NULL, "How often; 0: for ever", 0, G_MAXUINT, 1,
                         DLP_PARAM_READWRITE | DLP_PARAM_FOREVER);
  g_object_class_install_properties (object_class, N_PROPS, properties);
}

static void
dlp_check_source_init (DlpCheckSource *self)
{
  self->records = 100;
  self->epochs = 1;
}
