/* SPDX-License-Identifier: MIT */

/* What core keeps of a sink (records, tokens, digest, whether the end was consumed) is saved beside
 * the state of the subclass, so that the subclass needs to know nothing of it. */

#include <string.h>

#include <dlpipe/dlp-pad-template.h>
#include <sys/stat.h>

#include <dlpipe/dlp-manifest.h>
#include <dlpipe/dlp-sink.h>

#include "dlp-element-private.h"
#include "dlp-record-batch-private.h"

typedef struct
{
  DlpSinkState state;
  gboolean use_digest;
} DlpSinkPrivate;

enum
{
  PROP_0,
  PROP_DIGEST,
  N_PROPS
};

static GParamSpec *properties[N_PROPS];

static gpointer
dlp_sink_attempt_copy (gpointer self)
{
  return g_memdup2 (self, sizeof (DlpSinkAttempt));
}

G_DEFINE_BOXED_TYPE (DlpSinkAttempt, dlp_sink_attempt, dlp_sink_attempt_copy, g_free)

G_DEFINE_ABSTRACT_TYPE_WITH_PRIVATE (DlpSink, dlp_sink, DLP_TYPE_ELEMENT)

/* One that a stop interrupts is done again by whoever goes on: all is consumed already. */
static DlpStep
drain (DlpSink *self, DlpSinkPrivate *priv, GCancellable *cancellable, GError **error)
{
  DlpSinkClass *klass = DLP_SINK_GET_CLASS (self);
  GError *failure = NULL;
  gboolean ok = TRUE;

  if (!priv->state.drained && klass->drain != NULL)
    {
      dlp_element_count_blocks (DLP_ELEMENT (self));
      ok = klass->drain (self, cancellable, &failure);
      dlp_element_count_blocks (NULL);
    }
  if (!ok)
    {
      if (dlp_flag_get (dlp_element_get_context (DLP_ELEMENT (self))->stopping) &&
          g_error_matches (failure, G_IO_ERROR, G_IO_ERROR_CANCELLED))
        {
          g_error_free (failure);
          return DLP_STEP_MORE;
        }
      if (failure != NULL)
        g_propagate_error (error, failure);
      return DLP_STEP_ERROR;
    }
  priv->state.drained = TRUE;
  return DLP_STEP_END;
}

/* What a training batch says of the whole step, all ranks of it, is counted, so that the state is
 * the same on each of them. A sink that writes files counts what is in them. */
static bool
counts_steps (DlpSink *self, const DlpRecordBatch *batch)
{
  return batch->training != NULL && DLP_SINK_GET_CLASS (self)->get_location == NULL;
}

static void
add_digest (DlpSink *self,
            DlpDigest *digest,
            const DlpRecordBatch *batch,
            guint row,
            guint n,
            guint64 position)
{
  if (batch->training == NULL)
    dlp_digest_add (digest, batch, row, n, position);
  else if (counts_steps (self, batch))
    dlp_digest_combine (digest, &batch->training->digest);
  else
    {
      DlpBatchInfo info = { .index = batch->training->index };

      dlp_batch_info_add_rows (&info, batch, row, n);
      dlp_digest_combine (digest, &info.digest);
    }
}

void
dlp_sink_count (DlpSink *self,
                DlpSinkState *state,
                const DlpRecordBatch *batch,
                guint row,
                guint n,
                guint64 position)
{
  DlpSinkPrivate *priv = dlp_sink_get_instance_private (self);

  if (priv->use_digest)
    add_digest (self, &state->digest, batch, row, n, position);
  dlp_stat_add (&state->records, counts_steps (self, batch) ? batch->training->records : n);
}

void
dlp_sink_get_state (DlpSink *self, DlpSinkState *state)
{
  DlpSinkPrivate *priv = dlp_sink_get_instance_private (self);

  *state = priv->state;
}

void
dlp_sink_set_state (DlpSink *self, const DlpSinkState *state)
{
  DlpSinkPrivate *priv = dlp_sink_get_instance_private (self);

  __atomic_store_n (&priv->state.records, state->records, __ATOMIC_RELAXED);
  __atomic_store_n (&priv->state.tokens, state->tokens, __ATOMIC_RELAXED);
  priv->state.digest = state->digest;
}

void
dlp_sink_set_drained (DlpSink *self)
{
  DlpSinkPrivate *priv = dlp_sink_get_instance_private (self);

  priv->state.drained = TRUE;
}

static DlpStep
dlp_sink_step (DlpElement *element, GCancellable *cancellable, GError **error)
{
  DlpSink *self = DLP_SINK (element);
  DlpSinkPrivate *priv = dlp_sink_get_instance_private (self);
  DlpPad *in = dlp_element_get_input (element, 0);
  DlpRecordBatch *batch;
  guint64 tokens;
  guint row, n;

  batch = dlp_pad_peek (in, &row);
  if (batch == NULL)
    return dlp_pad_is_over (in) ? drain (self, priv, cancellable, error) :
                                  dlp_element_want_input (element, 0);

  n = dlp_record_batch_get_length (batch) - row;
  tokens = priv->state.tokens;
  dlp_sink_count (self, &priv->state, batch, row, n, dlp_pad_get_position (in));
  if (!DLP_SINK_GET_CLASS (self)->consume (self, batch, row, n, cancellable, error))
    return DLP_STEP_ERROR;
  if (counts_steps (self, batch))
    __atomic_store_n (&priv->state.tokens, tokens + batch->training->tokens, __ATOMIC_RELAXED);
  dlp_pad_consume (in, n);
  return DLP_STEP_MORE;
}

/* ---- state ---- */

DlpState *
dlp_sink_save_base (DlpSink *self)
{
  DlpSinkPrivate *priv = dlp_sink_get_instance_private (self);

  return dlp_state_new (&priv->state, sizeof priv->state);
}

GVariant *
dlp_sink_describe_base (const DlpState *base)
{
  const DlpSinkState *state = dlp_state_get_data (base);
  const guint64 digest[] = { state->digest.ordered[0], state->digest.ordered[1],
                             state->digest.unordered[0], state->digest.unordered[1] };
  GVariantDict dict;

  g_variant_dict_init (&dict, NULL);
  g_variant_dict_insert (&dict, "records", "t", state->records);
  g_variant_dict_insert (&dict, "tokens", "t", state->tokens);
  g_variant_dict_insert (&dict, "drained", "t", state->drained);
  g_variant_dict_insert_value (
      &dict, "digest",
      g_variant_new_fixed_array (G_VARIANT_TYPE_UINT64, digest, 4, sizeof (guint64)));
  return g_variant_dict_end (&dict);
}

gboolean
dlp_sink_load_base (DlpSink *self, GVariant *base, GError **error)
{
  DlpSinkPrivate *priv = dlp_sink_get_instance_private (self);
  static const char *const keys[] = { "records", "tokens", "digest", "drained", NULL };
  g_autoptr (GVariant) digest = NULL;
  gsize n;
  const guint64 *parts;
  guint64 drained;

  if (!dlp_state_check_keys (base, keys, error) ||
      !dlp_state_get_uint64 (base, "records", G_MAXUINT64, &priv->state.records, error) ||
      !dlp_state_get_uint64 (base, "tokens", G_MAXUINT64, &priv->state.tokens, error) ||
      !dlp_state_get_uint64 (base, "drained", 1, &drained, error))
    return FALSE;
  digest = dlp_state_get_value (base, "digest", G_VARIANT_TYPE ("at"), error);
  if (digest == NULL)
    return FALSE;
  parts = g_variant_get_fixed_array (digest, &n, sizeof (guint64));
  if (n != 4)
    {
      g_set_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CORRUPT,
                   "key “digest” has %zu numbers, not 4", n);
      return FALSE;
    }
  memcpy (&priv->state.digest, parts, sizeof priv->state.digest);
  priv->state.drained = drained;
  return TRUE;
}

/* ---- what subclasses ask ---- */

void
dlp_sink_get_attempt (DlpSink *self, DlpSinkAttempt *attempt)
{
  DlpContext *context = dlp_element_get_context (DLP_ELEMENT (self));

  *attempt = (DlpSinkAttempt){ context->attempt, context->former_attempt, context->former_is_dead };
}

const char *
dlp_sink_get_run_id (DlpSink *self)
{
  return dlp_element_get_context (DLP_ELEMENT (self))->run_id;
}

gboolean
dlp_sink_is_finished_early (DlpSink *self)
{
  return dlp_flag_get (dlp_element_get_context (DLP_ELEMENT (self))->cut_short);
}

gboolean
dlp_sink_is_in_state_dir (DlpSink *self, const char *path)
{
  DlpContext *context = dlp_element_get_context (DLP_ELEMENT (self));
  g_autofree char *folder = g_path_get_dirname (path);
  struct stat a, b;

  return context->state_dir != NULL && stat (folder, &a) == 0 &&
         stat (dlp_state_dir_get_path (context->state_dir), &b) == 0 && a.st_dev == b.st_dev &&
         a.st_ino == b.st_ino;
}

DlpOutputClaim
dlp_sink_get_claim (DlpSink *self, gboolean overwrite)
{
  DlpContext *context = dlp_element_get_context (DLP_ELEMENT (self));

  return (DlpOutputClaim){ context->run_id, context->discarded_run_id, context->discarded_complete,
                           overwrite };
}

gboolean
dlp_sink_check_files (DlpSink *self,
                      const char *manifest,
                      const char *const *files,
                      gboolean overwrite,
                      GError **error)
{
  const DlpOutputClaim claim = dlp_sink_get_claim (self, overwrite);
  g_autofree char *left = NULL;

  if (!dlp_manifest_check_location (manifest, files, &claim, &left, error))
    return FALSE;
  if (left != NULL)
    dlp_element_warn (DLP_ELEMENT (self), NULL, -1, left);
  return TRUE;
}

gboolean
dlp_sink_discard_files (DlpSink *self,
                        const char *manifest,
                        const char *const *files,
                        gboolean overwrite,
                        GError **error)
{
  const DlpOutputClaim claim = dlp_sink_get_claim (self, overwrite);

  return dlp_manifest_discard (manifest, files, &claim, error);
}

void
dlp_sink_get_digest (DlpSink *self, DlpDigest *digest)
{
  DlpSinkPrivate *priv = dlp_sink_get_instance_private (self);

  *digest = priv->state.digest;
}

guint64
dlp_sink_get_n_records (DlpSink *self)
{
  DlpSinkPrivate *priv = dlp_sink_get_instance_private (self);

  return dlp_stat_get (&priv->state.records);
}

void
dlp_sink_add_tokens (DlpSink *self, guint64 n)
{
  DlpSinkPrivate *priv = dlp_sink_get_instance_private (self);

  dlp_stat_add (&priv->state.tokens, n);
}

guint64
dlp_sink_get_n_tokens (DlpSink *self)
{
  DlpSinkPrivate *priv = dlp_sink_get_instance_private (self);

  return dlp_stat_get (&priv->state.tokens);
}

/* ---- */

static void
dlp_sink_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  DlpSinkPrivate *priv = dlp_sink_get_instance_private (DLP_SINK (object));

  if (id == PROP_DIGEST)
    priv->use_digest = g_value_get_boolean (value);
  else
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
}

static void
dlp_sink_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  DlpSinkPrivate *priv = dlp_sink_get_instance_private (DLP_SINK (object));

  if (id == PROP_DIGEST)
    g_value_set_boolean (value, priv->use_digest);
  else
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
}

static gboolean
dlp_sink_negotiate (DlpElement *element, GError **error)
{
  return TRUE;
}

static void
dlp_sink_class_init (DlpSinkClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);

  object_class->set_property = dlp_sink_set_property;
  object_class->get_property = dlp_sink_get_property;
  DLP_ELEMENT_CLASS (klass)->step = dlp_sink_step;
  DLP_ELEMENT_CLASS (klass)->negotiate = dlp_sink_negotiate;
  dlp_element_class_add_pad_template (DLP_ELEMENT_CLASS (klass), "in", DLP_PAD_INPUT,
                                      DLP_PAD_ALWAYS, DLP_CARRIES_ALL, NULL);

  properties[PROP_DIGEST] = g_param_spec_boolean (
      "digest", NULL, "Keep a digest of the records, by which two runs are compared", TRUE,
      DLP_PARAM_READWRITE);
  g_object_class_install_properties (object_class, N_PROPS, properties);
}

static void
dlp_sink_init (DlpSink *self)
{
  DlpSinkPrivate *priv = dlp_sink_get_instance_private (self);

  priv->use_digest = TRUE;
  dlp_element_add_pad (DLP_ELEMENT (self), "in", DLP_PAD_INPUT);
}
