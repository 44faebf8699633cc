/* SPDX-License-Identifier: MIT */

#include <string.h>

#include <dlpipe/dlp-error.h>
#include <dlpipe/dlp-state.h>

struct _DlpState
{
  gint ref_count;
  gsize size;
  GDestroyNotify clear; /* (nullable) */
  gint64 data[];
};

G_DEFINE_BOXED_TYPE (DlpState, dlp_state, dlp_state_ref, dlp_state_unref)

DlpState *
dlp_state_alloc (gsize size, gpointer *data)
{
  DlpState *self = g_malloc0 (sizeof (DlpState) + size);

  self->ref_count = 1;
  self->size = size;
  if (data != NULL)
    *data = self->data;
  return self;
}

DlpState *
dlp_state_new (gconstpointer data, gsize size)
{
  gpointer to;
  DlpState *self = dlp_state_alloc (size, &to);

  if (size > 0)
    memcpy (to, data, size);
  return self;
}

DlpState *
dlp_state_new_full (gconstpointer data, gsize size, GDestroyNotify clear)
{
  DlpState *self = dlp_state_new (data, size);

  self->clear = clear;
  return self;
}

DlpState *
dlp_state_ref (DlpState *self)
{
  g_atomic_int_inc (&self->ref_count);
  return self;
}

void
dlp_state_unref (DlpState *self)
{
  if (!g_atomic_int_dec_and_test (&self->ref_count))
    return;
  if (self->clear != NULL)
    self->clear (self->data);
  g_free (self);
}

gconstpointer
dlp_state_get_data (const DlpState *self)
{
  return self->data;
}

gsize
dlp_state_get_size (const DlpState *self)
{
  return self->size;
}

gboolean
dlp_state_check_keys (GVariant *described, const char *const *allowed, GError **error)
{
  GVariantIter iter;
  const char *key;

  g_variant_iter_init (&iter, described);
  while (g_variant_iter_next (&iter, "{&sv}", &key, NULL))
    {
      if (!g_strv_contains (allowed, key))
        {
          g_autofree char *list = g_strjoinv (", ", (char **) allowed);
          g_set_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CORRUPT,
                       "unknown key “%s”; known are: %s", key, list);
          return FALSE;
        }
    }
  return TRUE;
}

GVariant *
dlp_state_get_value (GVariant *described, const char *key, const GVariantType *type, GError **error)
{
  g_autoptr (GVariant) value = g_variant_lookup_value (described, key, NULL);

  if (value == NULL)
    {
      g_set_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CORRUPT, "key “%s” is missing", key);
      return NULL;
    }
  if (!g_variant_is_of_type (value, type))
    {
      g_set_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CORRUPT,
                   "key “%s” has type %s, not %.*s", key, g_variant_get_type_string (value),
                   (int) g_variant_type_get_string_length (type),
                   g_variant_type_peek_string (type));
      return NULL;
    }
  return g_steal_pointer (&value);
}

gboolean
dlp_state_get_uint64 (GVariant *described,
                      const char *key,
                      guint64 max,
                      guint64 *value,
                      GError **error)
{
  g_autoptr (GVariant) v = dlp_state_get_value (described, key, G_VARIANT_TYPE_UINT64, error);

  if (v == NULL)
    return FALSE;
  *value = g_variant_get_uint64 (v);
  if (*value > max)
    {
      g_set_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CORRUPT,
                   "key “%s” is %" G_GUINT64_FORMAT ", above the %" G_GUINT64_FORMAT " allowed",
                   key, *value, max);
      return FALSE;
    }
  return TRUE;
}

GBytes *
dlp_state_dup_bytes (const DlpState *self)
{
  return g_bytes_new (self->data, self->size);
}
