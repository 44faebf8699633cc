/* SPDX-License-Identifier: MIT */

/* What became of a task, as it is recorded, and of all of them together. */

#include <string.h>

#include <dlpipe/dlp-digest.h>

#include "dlp-fanout-private.h"

const char *
dlp_fanout_name_status (DlpTaskStatus status)
{
  switch (status)
    {
    case DLP_TASK_WAITING:
      return "waiting";
    case DLP_TASK_RUNNING:
      return "running";
    case DLP_TASK_DONE:
      return "done";
    case DLP_TASK_FAILED:
      return "failed";
    case DLP_TASK_STOPPED:
      return "stopped";
    }
  return "";
}

/* Of this process, or of JSON, where numbers that fit are int64. */
guint64
dlp_fanout_get_count (GVariant *outcome, const char *key)
{
  g_autoptr (GVariant) value = g_variant_lookup_value (outcome, key, NULL);

  if (value == NULL)
    return 0;
  if (g_variant_is_of_type (value, G_VARIANT_TYPE_UINT64))
    return g_variant_get_uint64 (value);
  if (g_variant_is_of_type (value, G_VARIANT_TYPE_UINT32))
    return g_variant_get_uint32 (value);
  if (g_variant_is_of_type (value, G_VARIANT_TYPE_INT64))
    return (guint64) MAX (g_variant_get_int64 (value), 0);
  return 0;
}

/* ---- of a report ---- */

/* A dictionary of counts, summed up. */
static guint64
sum_counts (GVariant *state, const char *key)
{
  g_autoptr (GVariant) counts = g_variant_lookup_value (state, key, NULL);
  GVariantIter iter;
  guint64 n, sum = 0;

  if (counts == NULL || !g_variant_is_of_type (counts, G_VARIANT_TYPE ("a{st}")))
    return 0;
  g_variant_iter_init (&iter, counts);
  while (g_variant_iter_next (&iter, "{st}", NULL, &n))
    sum += n;
  return sum;
}

static void
add_damaged_files (GVariantBuilder *names, GVariant *state)
{
  g_autoptr (GVariant) files =
      g_variant_lookup_value (state, "damaged-files", G_VARIANT_TYPE_STRING_ARRAY);

  for (gsize i = 0; files != NULL && i < g_variant_n_children (files); i++)
    {
      g_autoptr (GVariant) name = g_variant_get_child_value (files, i);

      g_variant_builder_add_value (names, name);
    }
}

typedef struct
{
  guint64 bad, damaged;
  GVariantBuilder names;   /* of damaged files */
  GVariantBuilder digests; /* of sinks */
} Faults;

static void
collect_element (Faults *self, GVariant *element)
{
  g_autoptr (GVariant) state = g_variant_lookup_value (element, "state", G_VARIANT_TYPE_VARDICT);
  const char *name, *digest;

  if (g_variant_lookup (element, "name", "&s", &name) &&
      g_variant_lookup (element, "digest", "&s", &digest))
    g_variant_builder_add (&self->digests, "{ss}", name, digest);
  if (state == NULL)
    return;
  self->bad += sum_counts (state, "bad");
  self->damaged += dlp_fanout_get_count (state, "damaged");
  add_damaged_files (&self->names, state);
}

static void
collect (Faults *self, GVariant *report)
{
  g_autoptr (GVariant) elements =
      report != NULL ? g_variant_lookup_value (report, "elements", G_VARIANT_TYPE ("aa{sv}")) :
                       NULL;

  g_variant_builder_init (&self->names, G_VARIANT_TYPE_STRING_ARRAY);
  g_variant_builder_init (&self->digests, G_VARIANT_TYPE ("a{ss}"));
  for (gsize i = 0; elements != NULL && i < g_variant_n_children (elements); i++)
    {
      g_autoptr (GVariant) element = g_variant_get_child_value (elements, i);

      collect_element (self, element);
    }
}

static void
copy_value (GVariantDict *dict, GVariant *report, const char *key)
{
  g_autoptr (GVariant) value = report != NULL ? g_variant_lookup_value (report, key, NULL) : NULL;

  if (value != NULL)
    g_variant_dict_insert_value (dict, key, value);
}

void
dlp_fanout_add_strings (GVariantDict *dict, const char *key, GPtrArray *strings)
{
  GVariantBuilder builder;

  g_variant_builder_init (&builder, G_VARIANT_TYPE_STRING_ARRAY);
  for (guint i = 0; i < strings->len; i++)
    {
      g_autofree char *valid = g_utf8_make_valid (strings->pdata[i], -1);

      g_variant_builder_add (&builder, "s", valid);
    }
  g_variant_dict_insert_value (dict, key, g_variant_builder_end (&builder));
}

GVariant *
dlp_fanout_make_outcome (const DlpFanoutTask *task, GVariant *report)
{
  Faults faults = { 0 };
  GVariantDict dict;

  collect (&faults, report);
  g_variant_dict_init (&dict, NULL);
  g_variant_dict_insert (&dict, "task", "t", (guint64) task->number);
  g_variant_dict_insert (&dict, "status", "s", dlp_fanout_name_status (task->status));
  g_variant_dict_insert (&dict, "files", "t", (guint64) task->n_files);
  g_variant_dict_insert (&dict, "stored-bytes", "t", task->planned);
  g_variant_dict_insert (&dict, "records", "t", task->records);
  g_variant_dict_insert (&dict, "tokens", "t", task->tokens);
  g_variant_dict_insert (&dict, "bytes", "t", task->bytes);
  g_variant_dict_insert (&dict, "bad-records", "t", faults.bad);
  g_variant_dict_insert (&dict, "damaged", "t", faults.damaged);
  g_variant_dict_insert_value (&dict, "damaged-files", g_variant_builder_end (&faults.names));
  g_variant_dict_insert_value (&dict, "digests", g_variant_builder_end (&faults.digests));
  copy_value (&dict, report, "run-id");
  copy_value (&dict, report, "attempt");
  copy_value (&dict, report, "elapsed");
  copy_value (&dict, report, "warnings");
  copy_value (&dict, report, "n-warnings");
  dlp_fanout_add_strings (&dict, "verdicts", task->verdicts);
  if (task->error != NULL)
    {
      g_autofree char *message = g_utf8_make_valid (task->error->message, -1);

      g_variant_dict_insert (&dict, "error", "s", message);
    }
  return g_variant_ref_sink (g_variant_dict_end (&dict));
}

/* ---- of all tasks ---- */

/* Each task weighs what it has to read; where nothing is known of that, all alike. */
static double
get_weight (const DlpFanout *self, const DlpFanoutTask *task)
{
  if (self->own_bytes > 0)
    return (double) task->planned / (double) self->own_bytes;
  return 1.0 / MAX (self->own_tasks, 1);
}

void
dlp_fanout_sum_up (DlpFanout *self, DlpFanoutSums *sums)
{
  *sums = (DlpFanoutSums){ 0 };
  for (guint i = 0; i < self->tasks->len; i++)
    {
      const DlpFanoutTask *task = g_ptr_array_index (self->tasks, i);

      if (!dlp_fanout_is_own (self, i))
        continue;
      sums->records += task->records;
      sums->tokens += task->tokens;
      sums->bytes += task->bytes;
      sums->files += task->files_done;
      sums->done += task->status == DLP_TASK_DONE;
      sums->failed += task->status == DLP_TASK_FAILED;
      sums->running += task->status == DLP_TASK_RUNNING;
      sums->fraction += get_weight (self, task) * MAX (task->fraction, 0);
    }
  if (sums->done == self->own_tasks && self->own_tasks > 0)
    sums->fraction = 1;
  self->fraction = MAX (self->fraction, MIN (sums->fraction, 1));
  sums->fraction = self->fraction;
}
