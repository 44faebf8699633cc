/* SPDX-License-Identifier: MIT */

#include "dlp-mix-state.h"

static const struct
{
  const char *key;
  gsize offset;
} fields[] = {
  { "records-of", G_STRUCT_OFFSET (MixCount, records) },
  { "tokens-of", G_STRUCT_OFFSET (MixCount, tokens) },
  { "epochs-of", G_STRUCT_OFFSET (MixCount, epochs) },
  { "tokens-before", G_STRUCT_OFFSET (MixCount, before) },
};

gsize
mix_state_get_size (guint n_inputs)
{
  return sizeof (MixState) + n_inputs * sizeof (MixCount);
}

static const char *
name_input (DlpElement *mix, guint input)
{
  return dlp_pad_get_name (dlp_element_get_input (mix, input));
}

static GVariant *
describe_field (const MixState *self, DlpElement *mix, gsize offset)
{
  GVariantBuilder builder;

  g_variant_builder_init (&builder, G_VARIANT_TYPE ("a{st}"));
  for (guint i = 0; i < dlp_element_get_n_inputs (mix); i++)
    g_variant_builder_add (&builder, "{st}", name_input (mix, i),
                           G_STRUCT_MEMBER (guint64, &self->counts[i], offset));
  return g_variant_builder_end (&builder);
}

GVariant *
mix_state_describe (const MixState *self, DlpElement *mix)
{
  GVariantDict dict;

  g_variant_dict_init (&dict, NULL);
  g_variant_dict_insert (&dict, "draws", "t", self->draws);
  g_variant_dict_insert (&dict, "records", "t", self->records);
  g_variant_dict_insert (&dict, "tokens", "t", self->tokens);
  g_variant_dict_insert (&dict, "period", "t", self->period);
  for (guint k = 0; k < G_N_ELEMENTS (fields); k++)
    g_variant_dict_insert_value (&dict, fields[k].key,
                                 describe_field (self, mix, fields[k].offset));
  return g_variant_dict_end (&dict);
}

static gboolean
load_field (MixState *self,
            GVariant *described,
            DlpElement *mix,
            const char *key,
            gsize offset,
            GError **error)
{
  g_autoptr (GVariant) values =
      dlp_state_get_value (described, key, G_VARIANT_TYPE ("a{st}"), error);
  guint n = dlp_element_get_n_inputs (mix);

  if (values == NULL)
    return FALSE;
  for (guint i = 0; i < n; i++)
    if (g_variant_n_children (values) != n ||
        !g_variant_lookup (values, name_input (mix, i), "t",
                           &G_STRUCT_MEMBER (guint64, &self->counts[i], offset)))
      {
        g_set_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CORRUPT,
                     "key “%s” has %zu inputs, not %u, or none that is named “%s”", key,
                     g_variant_n_children (values), n, name_input (mix, i));
        return FALSE;
      }
  return TRUE;
}

static gboolean
check_sum (const char *key, guint64 sum, const char *total_key, guint64 total, GError **error)
{
  if (sum == total)
    return TRUE;
  g_set_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CORRUPT,
               "key “%s” adds up to %" G_GUINT64_FORMAT ", but key “%s” is %" G_GUINT64_FORMAT, key,
               sum, total_key, total);
  return FALSE;
}

static gboolean
check_sums (const MixState *self, DlpElement *mix, GError **error)
{
  guint64 records = 0, tokens = 0;

  for (guint i = 0; i < dlp_element_get_n_inputs (mix); i++)
    {
      const MixCount *count = &self->counts[i];

      records += count->records;
      tokens += count->tokens;
      if (count->before <= count->tokens)
        continue;
      g_set_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CORRUPT,
                   "key “tokens-before” is %" G_GUINT64_FORMAT
                   " of input “%s”, above the %" G_GUINT64_FORMAT " of key “tokens-of”",
                   count->before, name_input (mix, i), count->tokens);
      return FALSE;
    }
  return check_sum ("records-of", records, "records", self->records, error) &&
         check_sum ("tokens-of", tokens, "tokens", self->tokens, error);
}

gboolean
mix_state_load (MixState *self,
                GVariant *described,
                guint version,
                DlpElement *mix,
                guint n_periods,
                GError **error)
{
  static const char *const keys[] = { "draws",     "records",       "tokens",
                                      "period",    "records-of",    "tokens-of",
                                      "epochs-of", "tokens-before", NULL };

  if (!dlp_state_check_keys (described, keys, error) ||
      !dlp_state_get_uint64 (described, "draws", G_MAXUINT64, &self->draws, error))
    return FALSE;
  /* Version 1 counted nothing else. */
  if (version < 2)
    return TRUE;
  if (!dlp_state_get_uint64 (described, "records", G_MAXUINT64, &self->records, error) ||
      !dlp_state_get_uint64 (described, "tokens", G_MAXUINT64, &self->tokens, error) ||
      !dlp_state_get_uint64 (described, "period", n_periods - 1, &self->period, error))
    return FALSE;
  for (guint k = 0; k < G_N_ELEMENTS (fields); k++)
    if (!load_field (self, described, mix, fields[k].key, fields[k].offset, error))
      return FALSE;
  return check_sums (self, mix, error);
}

/* ---- report ---- */

static GVariant *
report_input (const MixCount *count, const char *name, double asked, double got)
{
  GVariantDict dict;

  g_variant_dict_init (&dict, NULL);
  g_variant_dict_insert (&dict, "name", "s", name);
  g_variant_dict_insert (&dict, "asked", "d", asked);
  g_variant_dict_insert (&dict, "got", "d", got);
  g_variant_dict_insert (&dict, "records", "t", count->records);
  g_variant_dict_insert (&dict, "tokens", "t", count->tokens);
  g_variant_dict_insert (&dict, "epochs", "t", count->epochs);
  return g_variant_dict_end (&dict);
}

static double
divide (double part, double whole)
{
  return whole > 0.0 ? part / whole : 0.0;
}

GVariant *
mix_state_report (const MixState *self, DlpElement *mix, const double *weights, gboolean by_tokens)
{
  double all = (double) (by_tokens ? self->tokens : self->records);
  double sum = 0.0;
  GVariantBuilder inputs;
  GVariantDict dict;

  for (guint i = 0; i < dlp_element_get_n_inputs (mix); i++)
    sum += weights[i];
  g_variant_builder_init (&inputs, G_VARIANT_TYPE ("aa{sv}"));
  for (guint i = 0; i < dlp_element_get_n_inputs (mix); i++)
    {
      const MixCount *count = &self->counts[i];

      g_variant_builder_add_value (
          &inputs,
          report_input (count, name_input (mix, i), divide (weights[i], sum),
                        divide ((double) (by_tokens ? count->tokens : count->records), all)));
    }
  g_variant_dict_init (&dict, NULL);
  g_variant_dict_insert (&dict, "draws", "t", self->draws);
  g_variant_dict_insert (&dict, "records", "t", self->records);
  g_variant_dict_insert (&dict, "tokens", "t", self->tokens);
  g_variant_dict_insert (&dict, "period", "t", self->period);
  g_variant_dict_insert_value (&dict, "inputs", g_variant_builder_end (&inputs));
  return g_variant_dict_end (&dict);
}
