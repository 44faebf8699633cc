/* SPDX-License-Identifier: MIT */

#include <dlpipe/dlp-arrow.h>
#include <dlpipe/dlp-digest.h>

#include <string.h>

/* Nanoseconds a record of building, copying, reading, hashing; for records of a text and a number.
 */

typedef struct
{
  DlpRecordBatch *batch;
  DlpRecordBatchBuilder *builder;
  const char *text;
  gsize size;
  guint n;
  gsize sum; /* so that nothing is optimized away */
} Bench;

static void
build (Bench *self)
{
  for (guint i = 0; i < self->n; i++)
    {
      const DlpCoordinate coordinate = { .row = i };

      dlp_record_batch_builder_append_value (self->builder, 0, self->text, self->size);
      dlp_record_batch_builder_append_int64 (self->builder, 1, i);
      dlp_record_batch_builder_end_record (self->builder, &coordinate);
    }
  dlp_record_batch_unref (dlp_record_batch_builder_finish (self->builder, NULL));
}

static void
append_all (Bench *self)
{
  dlp_record_batch_builder_append_rows (self->builder, self->batch, 0, self->n);
  dlp_record_batch_unref (dlp_record_batch_builder_finish (self->builder, NULL));
}

static void
append_each (Bench *self)
{
  for (guint i = 0; i < self->n; i++)
    dlp_record_batch_builder_append_rows (self->builder, self->batch, i, 1);
  dlp_record_batch_unref (dlp_record_batch_builder_finish (self->builder, NULL));
}

static void
read_values (Bench *self)
{
  for (guint i = 0; i < self->n; i++)
    {
      gsize size;

      self->sum += dlp_record_batch_get_value (self->batch, 0, i, &size)[0] + size;
      self->sum += (gsize) dlp_record_batch_get_int64 (self->batch, 1, i);
    }
}

static void
slice (Bench *self)
{
  for (guint i = 0; i < self->n; i++)
    dlp_record_batch_unref (dlp_record_batch_slice (self->batch, i, 0));
}

static void
digest (Bench *self)
{
  DlpDigest sum = { 0 };

  dlp_digest_add (&sum, self->batch, 0, self->n, self->sum);
  self->sum += sum.ordered[0];
}

static void
export_import (Bench *self)
{
  struct ArrowArray array;

  dlp_record_batch_export (self->batch, &array);
  dlp_record_batch_unref (
      dlp_record_batch_import (dlp_record_batch_get_schema (self->batch), &array, NULL, NULL));
}

/* The best of several rounds: others use the machine too. */
static void
measure (Bench *self, const char *name, gboolean is_all_bytes, void (*function) (Bench *))
{
  const guint rounds = 7;
  const guint repeats = 100;
  double best = G_MAXDOUBLE;

  for (guint i = 0; i < rounds; i++)
    {
      gint64 begin = g_get_monotonic_time ();

      for (guint j = 0; j < repeats; j++)
        function (self);
      best = MIN (best, (double) (g_get_monotonic_time () - begin));
    }
  best *= 1000.0 / repeats / self->n;
  g_print ("%-16s %7" G_GSIZE_FORMAT " bytes %9.1f ns a record", name, self->size, best);
  if (is_all_bytes)
    g_print (" %7.2f GB/s", (double) self->size / best);
  g_print ("\n");
}

static void
run (gsize size)
{
  const char *const names[] = { "text", "id" };
  const DlpFieldType types[] = { DLP_FIELD_STRING, DLP_FIELD_INT64 };
  g_autoptr (DlpSchema) schema = dlp_schema_new (DLP_SCHEMA_RECORDS, 2, names, types, NULL);
  g_autoptr (DlpRecordBatchBuilder) builder = dlp_record_batch_builder_new (schema);
  g_autofree char *text = g_strnfill (size, 'x');
  Bench self = { .builder = builder, .text = text, .size = size };

  self.n = CLAMP (DLP_RECORD_BATCH_MAX_BYTES / size, 1, DLP_RECORD_BATCH_MAX_RECORDS);
  for (guint i = 0; i < self.n; i++)
    {
      dlp_record_batch_builder_append_value (builder, 0, text, size);
      dlp_record_batch_builder_append_int64 (builder, 1, i);
      dlp_record_batch_builder_end_record (builder, &(DlpCoordinate){ .row = i });
    }
  self.batch = dlp_record_batch_builder_finish (builder, NULL);

  measure (&self, "build", TRUE, build);
  measure (&self, "append_rows, all", TRUE, append_all);
  measure (&self, "append_rows, 1", TRUE, append_each);
  measure (&self, "get, two values", FALSE, read_values);
  measure (&self, "slice, unref", FALSE, slice);
  measure (&self, "digest", TRUE, digest);
  measure (&self, "export, import", TRUE, export_import);
  dlp_record_batch_unref (self.batch);
}

int
main (void)
{
  const gsize sizes[] = { 16, 100, 300, 1000, 4000, 100 * 1000 };

  for (gsize i = 0; i < G_N_ELEMENTS (sizes); i++)
    run (sizes[i]);
  return 0;
}
