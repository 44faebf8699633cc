/* SPDX-License-Identifier: MIT */

#include "quarantine-counts.h"

#include <string.h>

#include <dlpipe/dlp-error.h>

struct _QuarantineCounts
{
  GHashTable *table; /* of char * to guint64 * */
  guint n_names;     /* without the others */
  gsize packed_size;
};

/* Packed: the number of entries, then for each of them this and the name, NUL-terminated and padded
 * to eight bytes. */
typedef struct
{
  guint64 n;
  guint64 size; /* of name and padding */
} Packed;

QuarantineCounts *
quarantine_counts_new (void)
{
  QuarantineCounts *self = g_new (QuarantineCounts, 1);

  self->table = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  self->n_names = 0;
  self->packed_size = sizeof (guint64);
  return self;
}

void
quarantine_counts_free (QuarantineCounts *self)
{
  if (self == NULL)
    return;

  g_hash_table_unref (self->table);
  g_free (self);
}

static gsize
padded_size (const char *name)
{
  return (strlen (name) + 8) & ~(gsize) 7;
}

static guint64 *
find_or_add (QuarantineCounts *self, const char *name)
{
  guint64 *n = g_hash_table_lookup (self->table, name);
  gboolean is_others = strcmp (name, QUARANTINE_OTHERS) == 0;

  if (n != NULL)
    return n;
  if (!is_others && self->n_names == QUARANTINE_MAX_NAMES)
    return NULL;

  self->n_names += !is_others;
  n = g_new0 (guint64, 1);
  g_hash_table_insert (self->table, g_strdup (name), n);
  self->packed_size += sizeof (Packed) + padded_size (name);
  return n;
}

void
quarantine_counts_add (QuarantineCounts *self, const char *name, gsize size, guint64 n)
{
  g_autofree char *copy = g_utf8_make_valid (name, (gssize) size);
  guint64 *found = find_or_add (self, copy);

  if (found == NULL)
    found = find_or_add (self, QUARANTINE_OTHERS);
  *found += n;
}

gsize
quarantine_counts_get_packed_size (QuarantineCounts *self)
{
  return self->packed_size;
}

void
quarantine_counts_pack (QuarantineCounts *self, gpointer out)
{
  guint8 *at = out;
  GHashTableIter iter;
  gpointer name, n;

  *(guint64 *) at = g_hash_table_size (self->table);
  at += sizeof (guint64);
  g_hash_table_iter_init (&iter, self->table);
  while (g_hash_table_iter_next (&iter, &name, &n))
    {
      Packed *packed = (Packed *) at;

      packed->n = *(guint64 *) n;
      packed->size = padded_size (name);
      memset (at + sizeof *packed + packed->size - 8, 0, 8);
      memcpy (at + sizeof *packed, name, strlen (name));
      at += sizeof *packed + packed->size;
    }
}

static int
compare_names (gconstpointer a, gconstpointer b)
{
  const Packed *const *x = a;
  const Packed *const *y = b;

  return strcmp ((const char *) (*x + 1), (const char *) (*y + 1));
}

GVariant *
quarantine_counts_describe (gconstpointer packed, gsize *size)
{
  const guint8 *at = packed;
  guint64 n = *(const guint64 *) at;
  g_autoptr (GPtrArray) sorted = g_ptr_array_new ();
  GVariantBuilder builder;

  at += sizeof (guint64);
  for (guint64 i = 0; i < n; i++)
    {
      g_ptr_array_add (sorted, (gpointer) at);
      at += sizeof (Packed) + ((const Packed *) at)->size;
    }
  *size = (gsize) (at - (const guint8 *) packed);
  g_ptr_array_sort (sorted, compare_names);

  g_variant_builder_init (&builder, G_VARIANT_TYPE ("a{st}"));
  for (guint i = 0; i < sorted->len; i++)
    {
      const Packed *entry = sorted->pdata[i];

      g_variant_builder_add (&builder, "{st}", (const char *) (entry + 1), entry->n);
    }
  return g_variant_builder_end (&builder);
}

gboolean
quarantine_counts_load (QuarantineCounts *self, GVariant *described, GError **error)
{
  GVariantIter iter;
  const char *name;
  guint64 n;

  if (g_variant_n_children (described) > QUARANTINE_MAX_NAMES + 1)
    {
      g_set_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CORRUPT,
                   "%" G_GSIZE_FORMAT " names are counted, at most %d are allowed",
                   g_variant_n_children (described), QUARANTINE_MAX_NAMES + 1);
      return FALSE;
    }

  g_variant_iter_init (&iter, described);
  while (g_variant_iter_next (&iter, "{&st}", &name, &n))
    quarantine_counts_add (self, name, strlen (name), n);
  return TRUE;
}
