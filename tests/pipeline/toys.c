/* SPDX-License-Identifier: MIT */

#include "toys.h"

#include <string.h>
#include <unistd.h>

#include <dlpipe/dlp-plugin.h>
#include <dlpipe/dlp-random.h>

void
toys_register (void)
{
  const struct
  {
    const char *name;
    GType type;
  } toys[] = {
    { "toy-filter", toy_filter_get_type () },   { "toy-expand", toy_expand_get_type () },
    { "toy-pack", toy_pack_get_type () },       { "toy-split", toy_split_get_type () },
    { "toy-reader", toy_reader_get_type () },   { "toy-parallel", toy_parallel_get_type () },
    { "toy-shuffle", toy_shuffle_get_type () }, { "toy-hoard", toy_hoard_get_type () },
    { "toy-dedup", toy_dedup_get_type () },     { "toy-sink", toy_sink_get_type () },
  };

  for (guint i = 0; i < G_N_ELEMENTS (toys); i++)
    {
      g_autoptr (GError) error = NULL;

      dlp_registry_add_element (toys[i].name, toys[i].type, &error);
      g_assert_no_error (error);
    }
}

guint64
toy_hash (const DlpRecordBatch *batch, guint row, const char *what)
{
  const DlpCoordinate *at = dlp_record_batch_get_coordinate (batch, row);

  return dlp_random_draw (dlp_random_init (at->file, at->part, what, at->source), at->row) >> 20;
}

guint
toy_step_length (guint64 position)
{
  return 1 + (position * 7 + position / 5) % 4;
}

/* ---- files that survive a crash up to where they were synced ---- */

void
toy_set_synced (const char *location, guint64 length)
{
  g_autofree char *name = g_strconcat (location, ".synced", NULL);
  g_autofree char *text = g_strdup_printf ("%" G_GUINT64_FORMAT, length);

  g_assert_true (
      g_file_set_contents_full (name, text, -1, G_FILE_SET_CONTENTS_CONSISTENT, 0600, NULL));
}

guint64
toy_get_synced (const char *location)
{
  g_autofree char *name = g_strconcat (location, ".synced", NULL);
  g_autofree char *text = NULL;

  return g_file_get_contents (name, &text, NULL, NULL) ? g_ascii_strtoull (text, NULL, 10) : 0;
}

void
toys_crash (const char *location)
{
  g_autofree char *text = NULL;
  guint64 synced = toy_get_synced (location);
  gsize length;

  if (!g_file_get_contents (location, &text, &length, NULL))
    return;
  g_assert_cmpuint (length, >=, synced);
  length = synced + (length > synced ? g_test_rand_int () % (length - synced + 1) : 0);
  g_assert_cmpint (truncate (location, length), ==, 0);
}

/* ---- records that outlive their batch ---- */

ToyRecord *
toy_record_new (const DlpRecordBatch *batch, guint row)
{
  ToyRecord *self = g_new0 (ToyRecord, 1);
  gsize size;
  const guint8 *text = dlp_record_batch_get_value (batch, 0, row, &size);

  self->at = *dlp_record_batch_get_coordinate (batch, row);
  self->text = g_strndup ((const char *) text, size);
  return self;
}

void
toy_record_free (ToyRecord *self)
{
  g_free (self->text);
  g_free (self);
}

void
toy_record_emit (const DlpCoordinate *at, const char *text, DlpPad *pad)
{
  DlpRecordBatchBuilder *builder = dlp_pad_get_builder (pad);

  dlp_record_batch_builder_append_value (builder, 0, text, strlen (text));
  dlp_record_batch_builder_append_null (builder, 1);
  dlp_record_batch_builder_append_null (builder, 2);
  dlp_pad_end_record (pad, at);
}

/* The number, then each record: coordinate, text, NUL. */
DlpState *
toy_records_save (GPtrArray *records, guint64 number)
{
  g_autoptr (GByteArray) bytes = g_byte_array_new ();

  g_byte_array_append (bytes, (const guint8 *) &number, sizeof number);
  for (guint i = 0; i < records->len; i++)
    {
      ToyRecord *record = g_ptr_array_index (records, i);

      g_byte_array_append (bytes, (const guint8 *) &record->at, sizeof record->at);
      g_byte_array_append (bytes, (const guint8 *) record->text, strlen (record->text) + 1);
    }
  return dlp_state_new (bytes->data, bytes->len);
}

GVariant *
toy_records_describe (const DlpState *state)
{
  GVariantDict dict;

  g_variant_dict_init (&dict, NULL);
  g_variant_dict_insert_value (&dict, "records",
                               g_variant_new_fixed_array (G_VARIANT_TYPE_BYTE,
                                                          dlp_state_get_data (state),
                                                          dlp_state_get_size (state), 1));
  return g_variant_dict_end (&dict);
}

gboolean
toy_records_load (GPtrArray *records, guint64 *number, GVariant *described, GError **error)
{
  static const char *const keys[] = { "records", NULL };
  g_autoptr (GVariant) value = NULL;
  const char *at, *end;
  gsize size;

  if (!dlp_state_check_keys (described, keys, error))
    return FALSE;
  value = dlp_state_get_value (described, "records", G_VARIANT_TYPE_BYTESTRING, error);
  if (value == NULL)
    return FALSE;
  at = g_variant_get_fixed_array (value, &size, 1);
  end = at + size;
  memcpy (number, at, sizeof *number);
  for (at += sizeof *number; at < end; at += strlen (at) + 1)
    {
      ToyRecord *record = g_new0 (ToyRecord, 1);

      memcpy (&record->at, at, sizeof record->at);
      at += sizeof record->at;
      record->text = g_strdup (at);
      g_ptr_array_add (records, record);
    }
  return TRUE;
}
