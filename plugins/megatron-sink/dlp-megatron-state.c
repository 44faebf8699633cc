/* SPDX-License-Identifier: MIT */

#include "dlp-megatron-state.h"

#include <dlpipe/dlp-error.h>
#include <dlpipe/dlp-state.h>

static const struct
{
  const char *key;
  gsize offset;
  guint64 max;
} members[] = {
  { "width", G_STRUCT_OFFSET (DlpMegatronState, width), 4 },
  { "attempt", G_STRUCT_OFFSET (DlpMegatronState, attempt), G_MAXUINT32 },
  { "tokens", G_STRUCT_OFFSET (DlpMegatronState, tokens), G_MAXINT64 / 4 },
  { "sequences", G_STRUCT_OFFSET (DlpMegatronState, sequences), G_MAXINT64 / 16 },
  { "documents", G_STRUCT_OFFSET (DlpMegatronState, documents), G_MAXINT64 / 16 },
  { "finished", G_STRUCT_OFFSET (DlpMegatronState, finished), 1 },
  { "bin-hash", G_STRUCT_OFFSET (DlpMegatronState, bin_hash), G_MAXUINT64 },
  { "bin-chain", G_STRUCT_OFFSET (DlpMegatronState, bin_chain), G_MAXUINT64 },
  { "lengths-hash", G_STRUCT_OFFSET (DlpMegatronState, lengths_hash), G_MAXUINT64 },
  { "lengths-chain", G_STRUCT_OFFSET (DlpMegatronState, lengths_chain), G_MAXUINT64 },
  { "documents-hash", G_STRUCT_OFFSET (DlpMegatronState, documents_hash), G_MAXUINT64 },
  { "documents-chain", G_STRUCT_OFFSET (DlpMegatronState, documents_chain), G_MAXUINT64 },
  { "idx-hash", G_STRUCT_OFFSET (DlpMegatronState, idx_hash), G_MAXUINT64 },
};

GVariant *
dlp_megatron_state_describe (const DlpMegatronState *self)
{
  const guint8 *data = (const guint8 *) self;
  GVariantDict dict;

  g_variant_dict_init (&dict, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (members); i++)
    g_variant_dict_insert (&dict, members[i].key, "t",
                           *(const guint64 *) (data + members[i].offset));
  return g_variant_dict_end (&dict);
}

static gboolean
check_loaded (const DlpMegatronState *state, GError **error)
{
  const char *fault = NULL;

  /* Before the first record nothing may have been opened. */
  if (state->width == 0 && state->documents == 0 && state->attempt == 0)
    return TRUE;

  if (state->width != 2 && state->width != 4)
    fault = "“width” is neither 2 nor 4";
  else if (state->attempt == 0)
    fault = "“attempt” is 0";
  else if (state->sequences > state->documents)
    fault = "there are more “sequences” than “documents”";
  else if (state->sequences > state->tokens)
    fault = "there are more “sequences” than “tokens”";
  if (fault != NULL)
    g_set_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CORRUPT, "%s", fault);
  return fault == NULL;
}

gboolean
dlp_megatron_state_load (DlpMegatronState *self, GVariant *described, GError **error)
{
  const char *keys[G_N_ELEMENTS (members) + 1] = { NULL };
  DlpMegatronState state;

  for (guint i = 0; i < G_N_ELEMENTS (members); i++)
    keys[i] = members[i].key;
  if (!dlp_state_check_keys (described, keys, error))
    return FALSE;
  for (guint i = 0; i < G_N_ELEMENTS (members); i++)
    if (!dlp_state_get_uint64 (described, members[i].key, members[i].max,
                               (guint64 *) ((guint8 *) &state + members[i].offset), error))
      return FALSE;
  if (!check_loaded (&state, error))
    return FALSE;

  *self = state;
  return TRUE;
}
