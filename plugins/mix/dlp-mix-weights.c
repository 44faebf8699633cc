/* SPDX-License-Identifier: MIT */

#include "dlp-mix-weights.h"

#include <math.h>
#include <string.h>

#include <dlpipe/dlp-value.h>

static void
period_free (gpointer data)
{
  MixPeriod *self = data;

  g_free (self->weights);
  g_free (self);
}

static gboolean
parse_weight (const char *key, const char *text, double *weight, GError **error)
{
  char *end;
  double value = g_ascii_strtod (text, &end);

  if (end == text || *end != '\0' || !isfinite (value) || value < 0.0)
    {
      g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE,
                   "%s: “%s” is not a number of at least 0", key, text);
      return FALSE;
    }
  *weight = value;
  return TRUE;
}

static const char *
name_input (DlpElement *mix, guint input)
{
  return dlp_pad_get_name (dlp_element_get_input (mix, input));
}

static gboolean
find_input (const char *key, DlpElement *mix, const char *name, guint *input, GError **error)
{
  g_autoptr (GString) names = g_string_new (NULL);

  for (guint i = 0; i < dlp_element_get_n_inputs (mix); i++)
    {
      if (strcmp (name_input (mix, i), name) == 0)
        {
          *input = i;
          return TRUE;
        }
      g_string_append_printf (names, "%s%s", i > 0 ? ", " : "", name_input (mix, i));
    }
  g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE,
               "%s: no input is named “%s”; there are: %s", key, name, names->str);
  return FALSE;
}

static gboolean
parse_named (const char *key, char **parts, DlpElement *mix, double *weights, GError **error)
{
  guint n = dlp_element_get_n_inputs (mix);

  for (guint i = 0; i < n; i++)
    weights[i] = -1.0;
  for (guint i = 0; parts[i] != NULL; i++)
    {
      char *colon = strrchr (parts[i], ':');
      guint input;

      if (colon == NULL)
        {
          g_set_error (
              error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE,
              "%s: “%s” has no name while others have one; write NAME:WEIGHT for each input", key,
              parts[i]);
          return FALSE;
        }
      *colon = '\0';
      if (!find_input (key, mix, g_strstrip (parts[i]), &input, error))
        return FALSE;
      if (weights[input] >= 0.0)
        {
          g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE, "%s: input “%s” has two", key,
                       name_input (mix, input));
          return FALSE;
        }
      if (!parse_weight (key, g_strstrip (colon + 1), &weights[input], error))
        return FALSE;
    }
  for (guint i = 0; i < n; i++)
    if (weights[i] < 0.0)
      {
        g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE, "%s: input “%s” has none", key,
                     name_input (mix, i));
        return FALSE;
      }
  return TRUE;
}

static gboolean
parse_in_order (const char *key,
                const char *text,
                char **parts,
                DlpElement *mix,
                double *weights,
                GError **error)
{
  guint n = g_strv_length (parts);

  if (n != dlp_element_get_n_inputs (mix))
    {
      g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE,
                   "%s=%s has %u weights for %u inputs", key, text, n,
                   dlp_element_get_n_inputs (mix));
      return FALSE;
    }
  for (guint i = 0; i < n; i++)
    if (!parse_weight (key, g_strstrip (parts[i]), &weights[i], error))
      return FALSE;
  return TRUE;
}

static gboolean
parse_weights (const char *key, const char *text, DlpElement *mix, double *weights, GError **error)
{
  g_auto (GStrv) parts = g_strsplit (text, ",", -1);
  double sum = 0.0;

  if (!(strchr (text, ':') != NULL ? parse_named (key, parts, mix, weights, error) :
                                     parse_in_order (key, text, parts, mix, weights, error)))
    return FALSE;
  for (guint i = 0; i < dlp_element_get_n_inputs (mix); i++)
    sum += weights[i];
  if (sum > 0.0 && isfinite (sum))
    return TRUE;
  g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE, "%s=%s: %s", key, text,
               sum > 0.0 ? "the weights add up to more than a double can be" : "every weight is 0");
  return FALSE;
}

/* "10M", or "5k records". */
static gboolean
parse_position (MixPeriod *self, const char *text, GError **error)
{
  g_autoptr (GParamSpec) pspec = g_param_spec_ref_sink (
      g_param_spec_uint64 ("weights-at", NULL, NULL, 1, G_MAXINT64, 1, DLP_PARAM_READWRITE));
  g_autofree char *number = g_strdup (text);
  g_auto (GValue) value = G_VALUE_INIT;

  g_strstrip (number);
  self->in_records = g_str_has_suffix (number, " records");
  if (self->in_records)
    number[strlen (number) - strlen (" records")] = '\0';
  if (!dlp_value_parse (pspec, number, &value, error))
    return FALSE;
  self->at = g_value_get_uint64 (&value);
  return TRUE;
}

static gboolean
add_period (GPtrArray *self, const char *text, DlpElement *mix, GError **error)
{
  const MixPeriod *before = g_ptr_array_index (self, self->len - 1);
  const char *colon = strchr (text, ':');
  MixPeriod *period = g_new0 (MixPeriod, 1);
  g_autofree char *position = NULL;

  period->weights = g_new0 (double, dlp_element_get_n_inputs (mix));
  g_ptr_array_add (self, period);
  if (colon == NULL)
    {
      g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE,
                   "weights-at=%s: write POSITION:WEIGHTS, such as 10M:web:0.5,code:0.5", text);
      return FALSE;
    }
  position = g_strndup (text, (gsize) (colon - text));
  if (!parse_position (period, position, error) ||
      !parse_weights ("weights-at", colon + 1, mix, period->weights, error))
    return FALSE;
  if (self->len == 2 || (before->in_records == period->in_records && before->at < period->at))
    return TRUE;
  g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE,
               "weights-at=%s: positions ascend, all in tokens or all in records", text);
  return FALSE;
}

GPtrArray *
mix_periods_new (const char *weights, const char *const *later, DlpElement *mix, GError **error)
{
  g_autoptr (GPtrArray) self = g_ptr_array_new_with_free_func (period_free);
  guint n = dlp_element_get_n_inputs (mix);
  MixPeriod *first = g_new0 (MixPeriod, 1);

  first->weights = g_new (double, n);
  g_ptr_array_add (self, first);
  for (guint i = 0; i < n; i++)
    first->weights[i] = 1.0;
  if (weights != NULL && weights[0] != '\0' &&
      !parse_weights ("weights", weights, mix, first->weights, error))
    return NULL;
  for (guint i = 0; later != NULL && later[i] != NULL; i++)
    if (!add_period (self, later[i], mix, error))
      return NULL;
  return g_steal_pointer (&self);
}

gboolean
mix_periods_use (const GPtrArray *self, guint from, guint input)
{
  for (guint i = from; i < self->len; i++)
    if (((const MixPeriod *) g_ptr_array_index (self, i))->weights[input] > 0.0)
      return TRUE;
  return FALSE;
}
