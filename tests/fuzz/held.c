/* SPDX-License-Identifier: MIT */

#include <string.h>

#include <zstd.h>

#include <dlpipe/dlp-error.h>

#include "dlp-held-file.h"
#include "dlp-record-block.h"

/* The saved buffer of a shuffle. By the first byte the rest is the file as it is; or what is in its
 * frame, behind a header that is right. */

int LLVMFuzzerTestOneInput (const guint8 *data, gsize size);

#define MAX_RECORDS 64

typedef struct
{
  const guint8 *data;
  gsize size;
} Input;

static gssize
read_input (gpointer source, guint64 offset, gpointer data, gsize size, GError **error)
{
  const Input *input = source;
  gsize n = offset < input->size ? MIN (size, input->size - (gsize) offset) : 0;

  if (n > 0)
    memcpy (data, input->data + offset, n);
  return (gssize) n;
}

static DlpSchema *
make_schema (void)
{
  static const char *const names[] = { "text", "ids", "n", "flag" };
  static const DlpFieldType types[] = { DLP_FIELD_STRING, DLP_FIELD_LIST_UINT16, DLP_FIELD_INT64,
                                        DLP_FIELD_BOOLEAN };
  static const gboolean optional[] = { TRUE, FALSE, TRUE, FALSE };

  return dlp_schema_new (DLP_SCHEMA_RECORDS, 4, names, types, optional);
}

static void
run (const guint8 *data, gsize size, guint64 records)
{
  Input input = { data, size };
  DlpHeldHeader header = { records, 100, 90 };
  g_autoptr (DlpSchema) schema = make_schema ();
  g_autoptr (GError) error = NULL;
  g_autoptr (DlpHeldReader) reader =
      dlp_held_reader_new (read_input, &input, "input", &header, schema, &error);
  const guint8 *block = NULL;

  for (guint64 i = 0; reader != NULL && i < records && error == NULL; i++)
    {
      gsize n;

      block = dlp_held_reader_next (reader, &n, &error);
      g_assert_true ((block == NULL) == (error != NULL));
      if (block != NULL)
        g_assert_true (dlp_record_block_check (schema, block, n, NULL));
    }
  if (error == NULL)
    dlp_held_reader_finish (reader, &error);
  g_assert_true (error == NULL || error->domain == DLP_STATE_ERROR);
}

static void
append_number (GByteArray *file, guint64 value, guint bytes)
{
  guint64 le = GUINT64_TO_LE (value);

  g_byte_array_append (file, (const guint8 *) &le, bytes);
}

/* As the header of a file is laid out in plugins/shuffle/README.md. */
static void
run_framed (const guint8 *data, gsize size, guint64 records)
{
  g_autoptr (GByteArray) file = g_byte_array_new ();
  g_autoptr (DlpSchema) schema = make_schema ();
  g_autofree char *text = dlp_schema_to_string (schema);
  gsize bound = ZSTD_compressBound (size);
  g_autofree guint8 *frame = g_malloc (bound);
  gsize n = ZSTD_compress (frame, bound, data, size, 1);
  const guint32 order = 0x01020304u;

  g_assert_false (ZSTD_isError (n));
  g_byte_array_append (file, (const guint8 *) "DLPHELD\n", 8);
  append_number (file, 1, 4);
  g_byte_array_append (file, (const guint8 *) &order, 4);
  append_number (file, records, 8);
  append_number (file, 100, 8);
  append_number (file, 90, 8);
  append_number (file, strlen (text), 4);
  append_number (file, 0, 4);
  g_byte_array_append (file, (const guint8 *) text, (guint) strlen (text));
  g_byte_array_append (file, frame, (guint) n);
  run (file->data, file->len, records);
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  if (size == 0)
    return 0;
  if (data[0] & 0x80)
    run_framed (data + 1, size - 1, data[0] % MAX_RECORDS);
  else
    run (data + 1, size - 1, data[0] % MAX_RECORDS);
  return 0;
}
