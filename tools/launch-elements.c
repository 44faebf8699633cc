/* SPDX-License-Identifier: MIT */

/* Reports as they are read: one of a pipeline, or a stored one, which is the same as JSON and so
 * has other types. */

#include "launch.h"

static GVariant *
lookup (GVariant *dict, const char *key)
{
  GVariant *value = g_variant_lookup_value (dict, key, NULL);

  while (value != NULL && g_variant_is_of_type (value, G_VARIANT_TYPE_VARIANT))
    {
      GVariant *boxed = value;

      value = g_variant_get_variant (boxed);
      g_variant_unref (boxed);
    }
  return value;
}

static double
to_double (GVariant *value)
{
  switch (g_variant_classify (value))
    {
    case G_VARIANT_CLASS_UINT64:
      return (double) g_variant_get_uint64 (value);
    case G_VARIANT_CLASS_INT64:
      return (double) g_variant_get_int64 (value);
    case G_VARIANT_CLASS_UINT32:
      return g_variant_get_uint32 (value);
    case G_VARIANT_CLASS_DOUBLE:
      return g_variant_get_double (value);
    default:
      return 0;
    }
}

static guint64
to_number (GVariant *value)
{
  if (g_variant_is_of_type (value, G_VARIANT_TYPE_UINT64))
    return g_variant_get_uint64 (value);
  return (guint64) MAX (to_double (value), 0);
}

guint64
launch_get_number (GVariant *dict, const char *key)
{
  g_autoptr (GVariant) value = lookup (dict, key);

  return value != NULL ? to_number (value) : 0;
}

double
launch_get_double (GVariant *dict, const char *key, double unknown)
{
  g_autoptr (GVariant) value = lookup (dict, key);

  return value != NULL ? to_double (value) : unknown;
}

bool
launch_get_flag (GVariant *dict, const char *key)
{
  gboolean flag = FALSE;

  g_variant_lookup (dict, key, "b", &flag);
  return flag;
}

/* (transfer container) (element-type GVariant): objects; in their serialised form, so that strings
 * of the report stay where they are. */
static GPtrArray *
list_elements (GVariant *report)
{
  GPtrArray *list = g_ptr_array_new_with_free_func ((GDestroyNotify) g_variant_unref);
  g_autoptr (GVariant) entries = NULL;

  g_variant_get_data (report);
  entries = lookup (report, "elements");
  for (gsize i = 0; entries != NULL && i < g_variant_n_children (entries); i++)
    {
      GVariant *entry = g_variant_get_child_value (entries, i);

      if (g_variant_is_of_type (entry, G_VARIANT_TYPE_VARIANT))
        {
          GVariant *boxed = entry;

          entry = g_variant_get_variant (boxed);
          g_variant_unref (boxed);
        }
      g_ptr_array_add (list, entry);
    }
  return list;
}

/* ---- faults ---- */

static void
add_tally (GHashTable *sums, const char *name, guint64 n)
{
  guint64 *sum = g_hash_table_lookup (sums, name);

  if (sum == NULL)
    {
      sum = g_new0 (guint64, 1);
      g_hash_table_insert (sums, g_strdup (name), sum);
    }
  *sum += n;
}

static void
add_tallies (GHashTable *sums, GVariant *state, const char *key, guint64 *total)
{
  g_autoptr (GVariant) tallies = lookup (state, key);

  for (gsize i = 0; tallies != NULL && i < g_variant_n_children (tallies); i++)
    {
      g_autoptr (GVariant) entry = g_variant_get_child_value (tallies, i);
      g_autoptr (GVariant) key_of = NULL;
      const char *name;
      guint64 n;

      if (!g_variant_is_of_type (entry, G_VARIANT_TYPE_DICT_ENTRY))
        return;
      key_of = g_variant_get_child_value (entry, 0);
      name = g_variant_get_string (key_of, NULL);
      n = launch_get_number (tallies, name);
      add_tally (sums, name, n);
      if (total != NULL)
        *total += n;
    }
}

/* Good records that an element left out, as batches that are not full: whatever it calls
 * "dropped-...-records" in its state. */
static guint64
count_dropped (GVariant *state)
{
  GVariantIter iter;
  const char *key;
  guint64 n = 0;

  g_variant_iter_init (&iter, state);
  while (g_variant_iter_next (&iter, "{&s@v}", &key, NULL))
    if (g_str_has_prefix (key, "dropped-") && g_str_has_suffix (key, "-records"))
      n += launch_get_number (state, key);
  return n;
}

void
launch_faults_collect (LaunchFaults *self, GVariant *report)
{
  g_autoptr (GPtrArray) elements = list_elements (report);

  *self = (LaunchFaults){ 0 };
  self->kinds = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  self->files = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  for (guint i = 0; i < elements->len; i++)
    {
      g_autoptr (GVariant) state = lookup (g_ptr_array_index (elements, i), "state");

      if (state == NULL)
        continue;
      add_tallies (self->kinds, state, "bad", &self->bad);
      add_tallies (self->files, state, "bad-files", NULL);
      self->damaged += launch_get_number (state, "damaged");
      self->dropped += count_dropped (state);
      self->skipped += launch_get_number (state, "skipped-batches");
    }
}

void
launch_faults_clear (LaunchFaults *self)
{
  g_clear_pointer (&self->kinds, g_hash_table_unref);
  g_clear_pointer (&self->files, g_hash_table_unref);
}

/* Those that have not come yet. */
static void
append_skips (GString *text, GVariant *element, GVariant *state)
{
  g_autoptr (GVariant) ranges = g_variant_lookup_value (state, "skip", G_VARIANT_TYPE ("a(ttt)"));
  guint64 first, last, next = launch_get_number (state, "batches");
  const char *name = "";
  GVariantIter iter;

  if (ranges == NULL)
    return;
  g_variant_lookup (element, "name", "&s", &name);
  g_variant_iter_init (&iter, ranges);
  while (g_variant_iter_next (&iter, "(ttt)", &first, &last, NULL))
    if (last >= next)
      g_string_append_printf (text,
                              "%sbatches %" G_GUINT64_FORMAT " to %" G_GUINT64_FORMAT " of %s",
                              text->len > 0 ? ", " : "", MAX (first, next), last, name);
}

/* What has not begun to run reports no states. */
char *
launch_describe_skips (DlpPipeline *pipeline)
{
  g_autofree char *folder = NULL;
  g_autofree char *fell_back = NULL;
  g_autoptr (DlpCheckpoint) checkpoint = NULL;
  g_autoptr (GVariant) payload = NULL;
  g_autoptr (GPtrArray) elements = NULL;
  g_autoptr (GString) text = g_string_new (NULL);
  g_autoptr (GError) error = NULL;

  g_object_get (pipeline, "state-dir", &folder, NULL);
  checkpoint = folder != NULL ? dlp_checkpoint_new_from_folder (folder, &fell_back, &error) : NULL;
  if (error != NULL && !g_error_matches (error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND))
    g_warning ("what batches are left out is not said: %s", error->message);
  if (fell_back != NULL)
    g_warning ("what batches are left out is said by an older checkpoint: %s", fell_back);
  if (checkpoint == NULL)
    return NULL;
  payload = dlp_checkpoint_to_variant (checkpoint);
  elements = list_elements (payload);
  for (guint i = 0; i < elements->len; i++)
    {
      g_autoptr (GVariant) state = lookup (g_ptr_array_index (elements, i), "state");

      if (state != NULL)
        append_skips (text, g_ptr_array_index (elements, i), state);
    }
  return text->len > 0 ? g_string_free (g_steal_pointer (&text), FALSE) : NULL;
}

/* Of the source that has most. */
guint64
launch_count_listed_files (GVariant *report)
{
  g_autoptr (GPtrArray) elements = list_elements (report);
  guint64 most = 0;

  for (guint i = 0; i < elements->len; i++)
    {
      GVariant *element = g_ptr_array_index (elements, i);
      g_autoptr (GVariant) state = lookup (element, "state");
      const char *factory;

      if (state != NULL && g_variant_lookup (element, "factory", "&s", &factory) &&
          g_str_equal (factory, "file-source"))
        most = MAX (most, launch_get_number (state, "files"));
    }
  return most;
}

/* ---- elements ---- */

static void
read_element (LaunchElement *self, GVariant *entry)
{
  g_variant_lookup (entry, "name", "&s", &self->name);
  g_variant_lookup (entry, "factory", "&s", &self->factory);
  g_variant_lookup (entry, "waits-for", "&s", &self->waits_for);
  g_variant_lookup (entry, "status", "&s", &self->status);
  self->ended = launch_get_flag (entry, "ended");
  self->stateless = launch_get_flag (entry, "stateless");
  self->records_in = launch_get_number (entry, "records-in");
  self->records_out = launch_get_number (entry, "records-out");
  self->bytes_in = launch_get_number (entry, "bytes-in");
  self->bytes_out = launch_get_number (entry, "bytes");
  self->input_bytes = launch_get_number (entry, "input-bytes");
  self->replay = launch_get_number (entry, "replay");
  self->queued_bytes = launch_get_number (entry, "queued-bytes");
  self->queued_batches = (guint) launch_get_number (entry, "queued-batches");
  self->busy = launch_get_double (entry, "busy", 0);
  self->cpu = launch_get_double (entry, "cpu", 0);
  self->work = launch_get_double (entry, "work", 0);
  self->wait_in = launch_get_double (entry, "wait-in", 0);
  self->wait_out = launch_get_double (entry, "wait-out", 0);
  self->wait_work = launch_get_double (entry, "wait-work", 0);
  self->io_wait = launch_get_double (entry, "io-wait", 0);
  self->io_busy = launch_get_double (entry, "io-busy", 0);
  self->io_cpu = launch_get_double (entry, "io-cpu", 0);
  self->io_lanes = (guint) launch_get_number (entry, "io-lanes");
}

GArray *
launch_get_elements (GVariant *report)
{
  GArray *elements = g_array_new (FALSE, TRUE, sizeof (LaunchElement));
  g_autoptr (GPtrArray) entries = list_elements (report);

  for (guint i = 0; i < entries->len; i++)
    {
      LaunchElement element = { .name = "", .factory = "", .waits_for = "" };

      read_element (&element, g_ptr_array_index (entries, i));
      g_array_append_val (elements, element);
    }
  return elements;
}

GArray *
launch_subtract_elements (GArray *now, GArray *before)
{
  GArray *since = g_array_copy (now);

  for (guint i = 0; i < since->len && i < before->len; i++)
    {
      LaunchElement *element = &g_array_index (since, LaunchElement, i);
      const LaunchElement *old = &g_array_index (before, LaunchElement, i);

      element->records_in -= old->records_in;
      element->records_out -= old->records_out;
      element->busy -= old->busy;
      element->cpu -= old->cpu;
      element->work -= old->work;
      element->wait_in -= old->wait_in;
      element->wait_out -= old->wait_out;
      element->wait_work -= old->wait_work;
      element->io_wait -= old->io_wait;
      element->io_busy -= old->io_busy;
      element->io_cpu -= old->io_cpu;
    }
  return since;
}

double
launch_get_seconds (GVariant *report)
{
  return MAX (launch_get_double (report, "attempt-elapsed", 0), 1e-6);
}

char *
launch_describe_waits (GArray *elements)
{
  GString *text = g_string_new (NULL);

  for (guint pass = 0; pass < 2 && text->len == 0; pass++)
    for (guint i = 0; i < elements->len; i++)
      {
        const LaunchElement *element = &g_array_index (elements, LaunchElement, i);
        bool on_link =
            g_str_equal (element->waits_for, "input") || g_str_equal (element->waits_for, "output");

        if (element->ended || g_str_equal (element->waits_for, "end") || on_link != (pass == 1))
          continue;
        g_string_append_printf (
            text, "%s%s %s", text->len > 0 ? "; " : "", element->name,
            element->waits_for[0] == '\0'              ? "is in a step that does not return" :
            g_str_equal (element->waits_for, "work")   ? "waits for its work" :
            g_str_equal (element->waits_for, "output") ? "waits for room on its output pad" :
                                                         "waits for records on its input pad");
      }
  return g_string_free (text, FALSE);
}
