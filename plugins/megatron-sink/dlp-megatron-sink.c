/* SPDX-License-Identifier: MIT */

#include "dlp-megatron-sink.h"

#include <dlpipe/dlp-pad-template.h>

#include <string.h>

#include <dlpipe/dlp-manifest.h>
#include <dlpipe/dlp-upstream.h>

#include "dlp-megatron-merge.h"
#include "dlp-megatron-tokens.h"
#include "dlp-megatron-writer.h"

/* Megatron's own limit, a little below what two bytes hold. */
#define UINT16_VOCABULARY 65500
#define BLOCK 1024

struct _DlpMegatronSink
{
  DlpSink parent_instance;

  /* Properties. */
  char *location;
  char *field_name;
  DlpMegatronDtype dtype;
  guint64 vocab_size; /* 0: what upstream says */

  /* Negotiated. */
  guint field;
  guint source_width;
  gboolean is_signed; /* of the source */
  guint width;
  DlpUpstreamModel model;
  guint64 vocabulary; /* 0: unknown */
  guint64 limit;      /* ids are below it */

  DlpMegatronWriter *writer; /* between start() and stop() */
  gboolean is_loaded;
  DlpMegatronState loaded;
};

enum
{
  PROP_0,
  PROP_LOCATION,
  PROP_FIELD,
  PROP_DTYPE,
  PROP_VOCAB_SIZE,
  N_PROPS
};

static GParamSpec *properties[N_PROPS];

G_DEFINE_ENUM_TYPE (DlpMegatronDtype,
                    dlp_megatron_dtype,
                    G_DEFINE_ENUM_VALUE (DLP_MEGATRON_DTYPE_AUTO, "auto"),
                    G_DEFINE_ENUM_VALUE (DLP_MEGATRON_DTYPE_UINT16, "uint16"),
                    G_DEFINE_ENUM_VALUE (DLP_MEGATRON_DTYPE_INT32, "int32"))

G_DEFINE_FINAL_TYPE (DlpMegatronSink, dlp_megatron_sink, DLP_TYPE_SINK)

static const char *
dtype_name (guint width)
{
  return width == 2 ? "uint16" : "int32";
}

/* ---- negotiation ---- */

static gboolean
find_field (DlpMegatronSink *self, GError **error)
{
  DlpSchema *schema = dlp_pad_get_schema (dlp_element_get_input (DLP_ELEMENT (self), 0));
  g_autofree char *shown = dlp_schema_to_string (schema);
  int field = dlp_schema_find (schema, self->field_name);

  if (dlp_schema_get_kind (schema) != DLP_SCHEMA_RECORDS)
    g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_TYPE,
                 "takes records with a list of ids, not %s", shown);
  else if (field < 0)
    g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_TYPE,
                 "there is no field “%s” in %s; is a tokenizer missing before it?",
                 self->field_name, shown);
  else if (dlp_schema_get_field_type (schema, (guint) field) == DLP_FIELD_LIST_UINT16)
    self->source_width = 2;
  else if (dlp_schema_get_field_type (schema, (guint) field) == DLP_FIELD_LIST_UINT32 ||
           dlp_schema_get_field_type (schema, (guint) field) == DLP_FIELD_LIST_INT32)
    self->source_width = 4;
  else
    g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_TYPE,
                 "field “%s” is %s; list<uint16>, list<uint32> and list<int32> can be written",
                 self->field_name,
                 dlp_field_type_to_string (dlp_schema_get_field_type (schema, (guint) field)));

  self->field = (guint) MAX (field, 0);
  self->is_signed = self->source_width == 4 &&
                    dlp_schema_get_field_type (schema, self->field) == DLP_FIELD_LIST_INT32;
  return self->source_width != 0;
}

static gboolean
choose_width (DlpMegatronSink *self, GError **error)
{
  if (self->dtype != DLP_MEGATRON_DTYPE_AUTO)
    self->width = self->dtype == DLP_MEGATRON_DTYPE_UINT16 ? 2 : 4;
  else if (self->vocabulary > 0)
    self->width = self->vocabulary < UINT16_VOCABULARY ? 2 : 4;
  else
    self->width = self->source_width;

  self->limit = self->width == 2 ? G_MAXUINT16 + 1 : (guint64) G_MAXINT32 + 1;
  if (self->vocabulary > self->limit)
    {
      g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE,
                   "dtype=%s holds ids up to %" G_GUINT64_FORMAT
                   ", the vocabulary has %" G_GUINT64_FORMAT " ids; use dtype=auto",
                   dtype_name (self->width), self->limit - 1, self->vocabulary);
      return FALSE;
    }
  if (self->vocabulary > 0)
    self->limit = self->vocabulary;
  return TRUE;
}

static gboolean
check_property (DlpMegatronSink *self, GError **error)
{
  if (self->location != NULL && self->location[0] != '\0' &&
      !g_str_has_suffix (self->location, "/"))
    return dlp_manifest_check_name (self->location, error);

  g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE,
               "location=%s: a prefix such as out/corpus is wanted, for out/corpus.bin and "
               "out/corpus.idx",
               self->location != NULL ? self->location : "");
  return FALSE;
}

static gboolean
dlp_megatron_sink_negotiate (DlpElement *element, GError **error)
{
  DlpMegatronSink *self = DLP_MEGATRON_SINK (element);

  if (!check_property (self, error) || !find_field (self, error) ||
      !dlp_element_find_upstream_model (element, &self->model, error))
    return FALSE;

  self->vocabulary = self->vocab_size > 0 ? self->vocab_size : self->model.vocab_size;
  return choose_width (self, error);
}

static char *
dlp_megatron_sink_comes_to (DlpElement *element, const char *property)
{
  DlpMegatronSink *self = DLP_MEGATRON_SINK (element);

  if (strcmp (property, "dtype") == 0 && self->dtype == DLP_MEGATRON_DTYPE_AUTO)
    return g_strdup (dtype_name (self->width));
  if (strcmp (property, "vocab-size") == 0 && self->vocab_size == 0 && self->vocabulary > 0)
    return g_strdup_printf ("%" G_GUINT64_FORMAT, self->vocabulary);
  return NULL;
}

/* ---- streaming ---- */

static gboolean
dlp_megatron_sink_start (DlpElement *element, GCancellable *cancellable, GError **error)
{
  DlpMegatronSink *self = DLP_MEGATRON_SINK (element);
  DlpSinkAttempt attempt;

  dlp_sink_get_attempt (DLP_SINK (self), &attempt);
  if (!self->is_loaded)
    self->writer = dlp_megatron_writer_create (
        self->location, dlp_sink_get_run_id (DLP_SINK (self)), self->width, attempt.attempt, error);
  else if (self->loaded.width != self->width)
    g_set_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CHANGED,
                 "dtype was %s, and is %s now; --restart begins anew",
                 dtype_name ((guint) self->loaded.width), dtype_name (self->width));
  else if (self->loaded.finished)
    return TRUE;
  else
    self->writer = dlp_megatron_writer_resume (
        self->location, dlp_sink_get_run_id (DLP_SINK (self)), &self->loaded, attempt.attempt,
        attempt.former_is_dead, cancellable, error);
  return self->writer != NULL;
}

static void
dlp_megatron_sink_stop (DlpElement *element)
{
  DlpMegatronSink *self = DLP_MEGATRON_SINK (element);

  if (self->writer == NULL)
    return;

  dlp_megatron_writer_get_state (self->writer, &self->loaded);
  self->is_loaded = TRUE;
  g_clear_pointer (&self->writer, dlp_megatron_writer_free);
}

static gboolean
fail_range (DlpMegatronSink *self,
            DlpRecordBatch *batch,
            guint row,
            gsize index,
            gint64 id,
            GError **error)
{
  const DlpCoordinate *at = dlp_record_batch_get_coordinate (batch, row);
  g_autofree char *origin = NULL;

  if (self->vocabulary > 0)
    origin = g_strdup_printf ("the vocabulary has %" G_GUINT64_FORMAT " ids", self->vocabulary);
  else
    origin = g_strdup_printf ("the dtype is %s", dtype_name (self->width));
  g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_RANGE,
               "record %" G_GUINT64_FORMAT " (stage %u, source %u, file %u, row %" G_GUINT64_FORMAT
               ", epoch %u, part %u): “%s” has id %" G_GINT64_FORMAT " at index %" G_GSIZE_FORMAT
               "; allowed are 0 to %" G_GUINT64_FORMAT ", for %s",
               dlp_record_batch_get_position (batch) + row, at->stage, at->source, at->file,
               at->row, at->epoch, at->part, self->field_name, id, index, self->limit - 1, origin);
  return FALSE;
}

/* Ids of rows that lie one behind the other in memory; @row: the first of them. */
static gboolean
write_run (DlpMegatronSink *self,
           DlpRecordBatch *batch,
           guint row,
           gconstpointer tokens,
           gsize n,
           GError **error)
{
  gsize bad = dlp_megatron_tokens_check (tokens, self->source_width, n, self->limit);
  gsize length;
  guint32 id;

  if (G_LIKELY (bad == n))
    return dlp_megatron_writer_add_tokens (self->writer, tokens, self->source_width, n, error);

  for (dlp_record_batch_get_list (batch, self->field, row, &length); bad >= length;
       dlp_record_batch_get_list (batch, self->field, row, &length))
    {
      bad -= length;
      row++;
    }
  tokens = dlp_record_batch_get_list (batch, self->field, row, &length);
  id = dlp_megatron_tokens_get (tokens, self->source_width, bad);
  return fail_range (self, batch, row, bad, self->is_signed ? (gint32) id : (gint64) id, error);
}

/* At most BLOCK rows. */
static gboolean
write_block (DlpMegatronSink *self, DlpRecordBatch *batch, guint row, guint n, GError **error)
{
  guint32 lengths[BLOCK];
  const guint8 *run = NULL;
  gsize run_length = 0;
  guint run_row = row;

  for (guint i = 0; i < n; i++)
    {
      gsize length;
      const guint8 *tokens = dlp_record_batch_get_list (batch, self->field, row + i, &length);

      lengths[i] = (guint32) MIN (length, G_MAXUINT32);
      if (length == 0)
        continue;
      if (run_length > 0 && tokens != run + run_length * self->source_width)
        {
          if (!write_run (self, batch, run_row, run, run_length, error))
            return FALSE;
          run_length = 0;
        }
      if (run_length == 0)
        {
          run = tokens;
          run_row = row + i;
        }
      run_length += length;
    }

  return (run_length == 0 || write_run (self, batch, run_row, run, run_length, error)) &&
         dlp_megatron_writer_add_documents (self->writer, lengths, n, error);
}

static gboolean
dlp_megatron_sink_consume (DlpSink *sink,
                           DlpRecordBatch *batch,
                           guint row,
                           guint n,
                           GCancellable *cancellable,
                           GError **error)
{
  DlpMegatronSink *self = DLP_MEGATRON_SINK (sink);
  DlpMegatronState before, after;

  if (self->writer == NULL)
    {
      g_set_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CORRUPT,
                   "its state says that it was finished, but there are more records");
      return FALSE;
    }

  dlp_megatron_writer_get_state (self->writer, &before);
  for (guint i = 0; i < n; i += BLOCK)
    if (!write_block (self, batch, row + i, MIN (n - i, BLOCK), error))
      return FALSE;
  dlp_megatron_writer_get_state (self->writer, &after);
  dlp_sink_add_tokens (sink, after.tokens - before.tokens);
  return TRUE;
}

static gboolean
dlp_megatron_sink_drain (DlpSink *sink, GCancellable *cancellable, GError **error)
{
  DlpMegatronSink *self = DLP_MEGATRON_SINK (sink);

  return self->writer == NULL || dlp_megatron_writer_finish (self->writer, cancellable, error);
}

static gboolean
dlp_megatron_sink_flush (DlpSink *sink, GCancellable *cancellable, GError **error)
{
  DlpMegatronSink *self = DLP_MEGATRON_SINK (sink);

  return self->writer == NULL || dlp_megatron_writer_flush (self->writer, error);
}

static gboolean
dlp_megatron_sink_sync (DlpSink *sink,
                        const DlpState *state,
                        GCancellable *cancellable,
                        GError **error)
{
  DlpMegatronSink *self = DLP_MEGATRON_SINK (sink);

  /* Without a writer the state is the one that was restored. */
  return self->writer == NULL ||
         dlp_megatron_writer_sync (self->writer, dlp_state_get_data (state), error);
}

/* ---- state ---- */

static DlpState *
dlp_megatron_sink_save (DlpElement *element)
{
  DlpMegatronSink *self = DLP_MEGATRON_SINK (element);
  DlpMegatronState state = self->loaded;

  if (self->writer != NULL)
    dlp_megatron_writer_get_state (self->writer, &state);
  return dlp_state_new (&state, sizeof state);
}

static GVariant *
dlp_megatron_sink_describe (DlpElement *element, const DlpState *state)
{
  return dlp_megatron_state_describe (dlp_state_get_data (state));
}

static gboolean
dlp_megatron_sink_load (DlpElement *element, GVariant *described, guint version, GError **error)
{
  DlpMegatronSink *self = DLP_MEGATRON_SINK (element);

  if (!dlp_megatron_state_load (&self->loaded, described, error))
    return FALSE;
  self->is_loaded = self->loaded.attempt > 0;
  return TRUE;
}

/* ---- output ---- */

static GVariant *
make_manifest (DlpMegatronSink *self, const DlpMegatronState *state, const DlpMegatronPaths *paths)
{
  const guint64 index_length = 34 + 12 * state->sequences + 8 * (state->documents + 1);
  const DlpManifestFile files[] = {
    { paths->bin, state->tokens * state->width, state->bin_hash },
    { paths->idx, index_length, state->idx_hash },
  };
  DlpUpstreamModel model = self->model; /* borrowed */
  GVariantBuilder builder;
  gboolean use_digest;

  g_variant_builder_init (&builder, G_VARIANT_TYPE_VARDICT);
  g_variant_builder_add (&builder, "{sv}", "documents", g_variant_new_uint64 (state->documents));
  g_variant_builder_add (&builder, "{sv}", "sequences", g_variant_new_uint64 (state->sequences));
  g_variant_builder_add (&builder, "{sv}", "tokens", g_variant_new_uint64 (state->tokens));
  g_variant_builder_add (&builder, "{sv}", "dtype",
                         g_variant_new_string (dtype_name ((guint) state->width)));
  model.vocab_size = self->vocabulary;
  dlp_upstream_model_describe (&model, &builder);

  if (dlp_sink_is_finished_early (DLP_SINK (self)))
    g_variant_builder_add (&builder, "{sv}", "finished-early", g_variant_new_boolean (TRUE));

  g_object_get (self, "digest", &use_digest, NULL);
  if (use_digest)
    {
      DlpDigest digest;

      dlp_sink_get_digest (DLP_SINK (self), &digest);
      g_variant_builder_add (&builder, "{sv}", "digest",
                             g_variant_new_take_string (dlp_digest_to_string (&digest)));
    }
  return dlp_manifest_new ("megatron", dlp_sink_get_run_id (DLP_SINK (self)), files,
                           state->sequences > 0 ? G_N_ELEMENTS (files) : 0,
                           g_variant_builder_end (&builder));
}

static gboolean
dlp_megatron_sink_publish (DlpSink *sink,
                           const DlpState *saved,
                           gboolean complete,
                           GCancellable *cancellable,
                           GError **error)
{
  DlpMegatronSink *self = DLP_MEGATRON_SINK (sink);
  const DlpMegatronState *state = dlp_state_get_data (saved);
  const char *run_id = dlp_sink_get_run_id (sink);
  g_auto (DlpMegatronPaths) paths = { NULL };
  g_autoptr (GVariant) manifest = NULL;
  gboolean is_new;

  if (!complete || !state->finished)
    return TRUE;

  dlp_megatron_paths_init (&paths, self->location);
  is_new = !g_file_test (paths.manifest, G_FILE_TEST_EXISTS);
  if (!dlp_manifest_check_run (paths.manifest, run_id, error) ||
      !dlp_megatron_publish (self->location, run_id, state, error))
    return FALSE;
  manifest = make_manifest (self, state, &paths);
  if (!dlp_manifest_write (paths.manifest, manifest, error))
    return FALSE;

  if (state->sequences == 0 && is_new)
    dlp_element_warn (DLP_ELEMENT (self), NULL, -1,
                      "no tokens came: no .bin and no .idx were written");
  return TRUE;
}

static char *
dlp_megatron_sink_get_location (DlpSink *sink)
{
  return g_strdup (DLP_MEGATRON_SINK (sink)->location);
}

static char **
dlp_megatron_sink_list_files (DlpSink *sink)
{
  const char *location = DLP_MEGATRON_SINK (sink)->location;
  g_auto (DlpMegatronPaths) paths = { NULL };

  if (location == NULL)
    return NULL;
  dlp_megatron_paths_init (&paths, location);
  return g_strdupv ((char *[]){ paths.bin, paths.idx, paths.manifest, NULL });
}

static gboolean
dlp_megatron_sink_check_location (DlpSink *sink, gboolean overwrite, GError **error)
{
  g_auto (DlpMegatronPaths) paths = { NULL };

  dlp_megatron_paths_init (&paths, DLP_MEGATRON_SINK (sink)->location);
  return dlp_sink_check_files (
      sink, paths.manifest, (const char *const[]){ paths.bin, paths.idx, NULL }, overwrite, error);
}

static gboolean
dlp_megatron_sink_discard (DlpSink *sink, gboolean overwrite, GError **error)
{
  const char *location = DLP_MEGATRON_SINK (sink)->location;
  const char *discarded = dlp_sink_get_claim (sink, overwrite).discarded_run_id;
  g_auto (DlpMegatronPaths) paths = { NULL };

  dlp_megatron_paths_init (&paths, location);
  /* What is deleted last makes all of it durable. */
  return (discarded == NULL || dlp_megatron_clean (location, discarded, error)) &&
         dlp_sink_discard_files (sink, paths.manifest,
                                 (const char *const[]){ paths.bin, paths.idx, NULL }, overwrite,
                                 error);
}

static gboolean
dlp_megatron_sink_merge (DlpSink *sink, DlpMerge *merge, GError **error)
{
  return dlp_megatron_merge (merge, error);
}

/* ---- */

static void
dlp_megatron_sink_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  DlpMegatronSink *self = DLP_MEGATRON_SINK (object);

  switch (id)
    {
    case PROP_LOCATION:
      g_free (self->location);
      self->location = g_value_dup_string (value);
      break;
    case PROP_FIELD:
      g_free (self->field_name);
      self->field_name = g_value_dup_string (value);
      break;
    case PROP_DTYPE:
      self->dtype = g_value_get_enum (value);
      break;
    case PROP_VOCAB_SIZE:
      self->vocab_size = g_value_get_uint64 (value);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    }
}

static void
dlp_megatron_sink_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  DlpMegatronSink *self = DLP_MEGATRON_SINK (object);

  switch (id)
    {
    case PROP_LOCATION:
      g_value_set_string (value, self->location);
      break;
    case PROP_FIELD:
      g_value_set_string (value, self->field_name);
      break;
    case PROP_DTYPE:
      g_value_set_enum (value, self->dtype);
      break;
    case PROP_VOCAB_SIZE:
      g_value_set_uint64 (value, self->vocab_size);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    }
}

static void
dlp_megatron_sink_finalize (GObject *object)
{
  DlpMegatronSink *self = DLP_MEGATRON_SINK (object);

  g_clear_pointer (&self->writer, dlp_megatron_writer_free);
  g_free (self->location);
  g_free (self->field_name);
  dlp_upstream_model_clear (&self->model);

  G_OBJECT_CLASS (dlp_megatron_sink_parent_class)->finalize (object);
}

static void
install_properties (GObjectClass *object_class)
{
  properties[PROP_LOCATION] =
      g_param_spec_string ("location", NULL, "Prefix of the output: LOCATION.bin and LOCATION.idx",
                           NULL, DLP_PARAM_READWRITE);
  properties[PROP_FIELD] =
      g_param_spec_string ("field", NULL, "Field with the ids", "tokens", DLP_PARAM_READWRITE);
  properties[PROP_DTYPE] = g_param_spec_enum (
      "dtype", NULL, "How ids are stored; auto: uint16 for a vocabulary below 65500, else int32",
      DLP_TYPE_MEGATRON_DTYPE, DLP_MEGATRON_DTYPE_AUTO, DLP_PARAM_READWRITE);
  properties[PROP_VOCAB_SIZE] = g_param_spec_uint64 (
      "vocab-size", NULL, "Ids are below it; 0: what the tokenizer before it says", 0,
      (guint64) G_MAXINT32 + 1, 0, DLP_PARAM_READWRITE);
  g_object_class_install_properties (object_class, N_PROPS, properties);
}

static void
dlp_megatron_sink_class_init (DlpMegatronSinkClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  DlpElementClass *element_class = DLP_ELEMENT_CLASS (klass);
  DlpSinkClass *sink_class = DLP_SINK_CLASS (klass);

  object_class->set_property = dlp_megatron_sink_set_property;
  object_class->get_property = dlp_megatron_sink_get_property;
  object_class->finalize = dlp_megatron_sink_finalize;

  element_class->negotiate = dlp_megatron_sink_negotiate;
  element_class->comes_to = dlp_megatron_sink_comes_to;
  element_class->start = dlp_megatron_sink_start;
  element_class->stop = dlp_megatron_sink_stop;
  element_class->save = dlp_megatron_sink_save;
  element_class->describe = dlp_megatron_sink_describe;
  element_class->load = dlp_megatron_sink_load;
  element_class->state_version = element_class->state_oldest_version = 2;

  sink_class->consume = dlp_megatron_sink_consume;
  sink_class->drain = dlp_megatron_sink_drain;
  sink_class->flush = dlp_megatron_sink_flush;
  sink_class->sync = dlp_megatron_sink_sync;
  sink_class->publish = dlp_megatron_sink_publish;
  sink_class->get_location = dlp_megatron_sink_get_location;
  sink_class->list_files = dlp_megatron_sink_list_files;
  sink_class->check_location = dlp_megatron_sink_check_location;
  sink_class->discard = dlp_megatron_sink_discard;
  sink_class->merge = dlp_megatron_sink_merge;

  install_properties (object_class);
  dlp_element_class_add_pad_template (element_class, "in", DLP_PAD_INPUT, DLP_PAD_ALWAYS,
                                      DLP_CARRIES_RECORDS, "Has the token ids in field");
  dlp_element_class_set_description (
      element_class, "Writes ids as a dataset of Megatron-LM (.bin and .idx)",
      "file-source location=data/*.jsonl ! jsonl-reader ! tokenizer model=gpt2 "
      "! megatron-sink location=out/corpus");
}

static void
dlp_megatron_sink_init (DlpMegatronSink *self)
{
  self->field_name = g_strdup ("tokens");
}
