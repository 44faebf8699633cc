/* SPDX-License-Identifier: MIT */

/* One attempt at a graph, and what came of it. */

#include <string.h>

#include <glib/gstdio.h>

#include "dlp-check-private.h"
#include "dlp-check-sink.h"

/* Who feeds a check-sink, and how its lines are read. */
typedef struct
{
  char *text; /* "shout, pad out" */
  DlpSchema *schema;
} Feed;

static void
feed_free (gpointer data)
{
  Feed *self = data;

  g_clear_pointer (&self->schema, dlp_schema_unref);
  g_free (self->text);
  g_free (self);
}

void
dlp_check_result_free (CheckResult *self)
{
  g_clear_pointer (&self->lines, g_hash_table_unref);
  g_clear_pointer (&self->pads, g_hash_table_unref);
  g_clear_pointer (&self->files, g_hash_table_unref);
  g_clear_pointer (&self->states, g_variant_unref);
  g_clear_pointer (&self->compared, g_variant_unref);
  g_free (self->stateless);
  g_free (self->sink);
  g_free (self);
}

static DlpElement *
get_element (DlpPipeline *pipeline, guint i)
{
  g_autoptr (DlpElement) element = g_list_model_get_item (G_LIST_MODEL (pipeline), i);

  /* The pipeline keeps it. */
  return element;
}

static guint
count_elements (DlpPipeline *pipeline)
{
  return g_list_model_get_n_items (G_LIST_MODEL (pipeline));
}

static DlpPipeline *
make (const char *graph, const DlpCheckSettings *settings, GError **error)
{
  DlpPipeline *pipeline = dlp_pipeline_new_from_string (graph, error);

  if (pipeline == NULL)
    return NULL;
  if (settings != NULL)
    g_object_set (pipeline, "runner", settings->runner, "workers", settings->workers,
                  "batch-records", settings->batch_records, "random-yields",
                  settings->random_yields, "seed", settings->seed, NULL);
  if (settings != NULL && settings->link_batches > 0)
    g_object_set (pipeline, "link-batches", settings->link_batches, NULL);
  dlp_check_sink_set_pipeline (pipeline);
  return pipeline;
}

gboolean
dlp_check_run (const char *graph, const DlpCheckSettings *settings, GError **error)
{
  g_autoptr (CheckFolder) folder = dlp_check_folder_new ();
  g_autofree char *text = dlp_check_folder_expand (folder, graph);
  g_autoptr (DlpPipeline) pipeline = NULL;

  dlp_check_sink_clear ();
  pipeline = make (text, settings, error);
  return pipeline != NULL && dlp_pipeline_run (pipeline, NULL, error);
}

/* ---- what came of it ---- */

static DlpElement *
find_peer (DlpPipeline *pipeline, DlpPad *pad, DlpPadDirection direction)
{
  for (guint i = 0; i < count_elements (pipeline); i++)
    {
      DlpElement *element = get_element (pipeline, i);
      gboolean input = direction == DLP_PAD_INPUT;
      guint n = input ? dlp_element_get_n_inputs (element) : dlp_element_get_n_outputs (element);

      for (guint k = 0; k < n; k++)
        if ((input ? dlp_element_get_input (element, k) : dlp_element_get_output (element, k)) ==
            dlp_pad_get_peer (pad))
          return element;
    }
  return NULL;
}

static gboolean
is_ahead (DlpPipeline *pipeline, DlpElement *element, GHashTable *ahead)
{
  for (guint i = 0; i < dlp_element_get_n_outputs (element); i++)
    {
      DlpPad *pad = dlp_element_get_output (element, i);

      if (dlp_pad_is_linked (pad) &&
          (dlp_pad_is_unwanted (pad) ||
           g_hash_table_contains (ahead, find_peer (pipeline, pad, DLP_PAD_INPUT))))
        return TRUE;
    }
  return FALSE;
}

/* (transfer full): set of the elements before one that closed its input early. How far they ran
 * ahead of it by then is a matter of time. */
static GHashTable *
find_ahead (DlpPipeline *pipeline)
{
  GHashTable *ahead = g_hash_table_new (NULL, NULL);
  guint n;

  do
    {
      n = g_hash_table_size (ahead);
      for (guint i = 0; i < count_elements (pipeline); i++)
        if (is_ahead (pipeline, get_element (pipeline, i), ahead))
          g_hash_table_add (ahead, get_element (pipeline, i));
    }
  while (g_hash_table_size (ahead) > n);
  return ahead;
}

/* A file sink's state tells of its attempts; its files are compared instead. */
static gboolean
is_compared (DlpElement *element, GHashTable *ahead)
{
  return !g_hash_table_contains (ahead, element) &&
         (!DLP_IS_SINK (element) || DLP_IS_CHECK_SINK (element));
}

/* (transfer full), floating: how many records went out, and what is counted. Of what had ended
 * before the run was continued, nothing goes out any more. */
static GVariant *
make_state (GVariant *said, GVariant *state)
{
  GVariantDict dict;
  guint64 steps = 0, out = 0;

  g_variant_lookup (said, "steps", "t", &steps);
  g_variant_lookup (said, "records-out", "t", &out);
  g_variant_dict_init (&dict, NULL);
  if (steps > 0)
    g_variant_dict_insert (&dict, "records-out", "t", out);
  if (state != NULL)
    g_variant_dict_insert_value (&dict, "state", state);
  return g_variant_dict_end (&dict);
}

/* (transfer full): a{sv}, by name, what each element says of itself in a report. @ahead:
 * (nullable): those left out; NULL: none. */
static GVariant *
get_states (DlpPipeline *pipeline, GVariant *report, GHashTable *ahead)
{
  g_autoptr (GVariant) elements =
      g_variant_lookup_value (report, "elements", G_VARIANT_TYPE ("aa{sv}"));
  g_auto (GVariantDict) states = G_VARIANT_DICT_INIT (NULL);

  g_assert_nonnull (elements);
  for (gsize i = 0; i < g_variant_n_children (elements); i++)
    {
      g_autoptr (GVariant) said = g_variant_get_child_value (elements, i);
      g_autoptr (GVariant) state = g_variant_lookup_value (said, "state", NULL);
      DlpElement *element;
      const char *name;

      g_assert_true (g_variant_lookup (said, "name", "&s", &name));
      element = dlp_pipeline_get_element (pipeline, name);
      if (element != NULL && (ahead == NULL || is_compared (element, ahead)))
        g_variant_dict_insert_value (&states, name, make_state (said, state));
    }
  return g_variant_ref_sink (g_variant_dict_end (&states));
}

static Feed *
make_feed (DlpPipeline *pipeline, DlpElement *sink)
{
  DlpPad *pad = dlp_element_get_input (sink, 0);
  DlpElement *element = find_peer (pipeline, pad, DLP_PAD_OUTPUT);
  Feed *feed = g_new0 (Feed, 1);

  feed->text = g_strdup_printf ("%s (%s), pad %s", dlp_element_get_name (element),
                                dlp_element_get_factory (element),
                                dlp_pad_get_name (dlp_pad_get_peer (pad)));
  if (dlp_pad_get_schema (pad) != NULL)
    feed->schema = dlp_schema_ref (dlp_pad_get_schema (pad));
  return feed;
}

static GPtrArray *
copy_lines (const char *name)
{
  GPtrArray *lines = dlp_check_sink_get_lines (name);
  GPtrArray *copy = g_ptr_array_new_with_free_func (g_free);

  for (guint i = 0; i < lines->len; i++)
    g_ptr_array_add (copy, g_strdup (g_ptr_array_index (lines, i)));
  return copy;
}

/* The sink that is named "k", or the first. */
static DlpElement *
find_sink (DlpPipeline *pipeline)
{
  DlpElement *k = dlp_pipeline_get_element (pipeline, "k");

  if (k != NULL && DLP_IS_SINK (k))
    return k;
  for (guint i = 0; i < count_elements (pipeline); i++)
    if (DLP_IS_SINK (get_element (pipeline, i)))
      return get_element (pipeline, i);
  return NULL;
}

static char *
name_stateless (DlpPipeline *pipeline)
{
  GString *names = g_string_new (NULL);

  for (guint i = 0; i < count_elements (pipeline); i++)
    {
      DlpElement *element = get_element (pipeline, i);
      DlpElementClass *klass = DLP_ELEMENT_GET_CLASS (element);

      if ((klass->flags & DLP_ELEMENT_STATELESS) && klass->load != NULL)
        g_string_append_printf (names, "%s%s (%s)", names->len > 0 ? ", " : "",
                                dlp_element_get_name (element), dlp_element_get_factory (element));
    }
  return g_string_free (names, names->len == 0);
}

static CheckResult *
collect (DlpPipeline *pipeline, CheckFolder *folder, const char *sink)
{
  CheckResult *self = g_new0 (CheckResult, 1);
  g_autoptr (GVariant) report = dlp_pipeline_get_report (pipeline);
  g_autoptr (GHashTable) ahead = find_ahead (pipeline);
  const char *run_id = NULL;

  self->lines =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, (GDestroyNotify) g_ptr_array_unref);
  self->pads = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, feed_free);
  for (guint i = 0; i < count_elements (pipeline); i++)
    {
      DlpElement *element = get_element (pipeline, i);
      const char *name = dlp_element_get_name (element);

      if (!DLP_IS_CHECK_SINK (element))
        continue;
      g_hash_table_insert (self->lines, g_strdup (name), copy_lines (name));
      g_hash_table_insert (self->pads, g_strdup (name), make_feed (pipeline, element));
    }
  g_variant_lookup (report, "run-id", "&s", &run_id);
  self->files = dlp_check_folder_read (folder, run_id);
  self->states = get_states (pipeline, report, NULL);
  self->compared = get_states (pipeline, report, ahead);
  self->stateless = name_stateless (pipeline);
  self->sink = g_strdup (sink);
  self->n_records = dlp_sink_get_n_records (DLP_SINK (dlp_pipeline_get_element (pipeline, sink)));
  return self;
}

/* ---- what the elements promise ---- */

static gboolean
is_one_to_one (DlpElement *element)
{
  guint64 in = dlp_pad_get_position (dlp_element_get_input (element, 0));
  guint n_outputs = dlp_element_get_n_outputs (element);
  guint64 sum = 0;
  gboolean each = TRUE;

  for (guint i = 0; i < n_outputs; i++)
    {
      guint64 out = dlp_pad_get_emitted (dlp_element_get_output (element, i));

      sum += out;
      each = each && out == in;
    }
  return each || sum == in;
}

/* Where somebody had enough it need not have come to the end of its input. */
static gboolean
is_judged (DlpElement *element)
{
  if (!(DLP_ELEMENT_GET_CLASS (element)->flags & DLP_ELEMENT_ONE_TO_ONE) ||
      dlp_element_get_n_inputs (element) != 1 || dlp_element_get_n_outputs (element) == 0)
    return FALSE;
  for (guint i = 0; i < dlp_element_get_n_outputs (element); i++)
    {
      DlpPad *pad = dlp_element_get_output (element, i);

      if (dlp_pad_is_linked (pad) && dlp_pad_is_unwanted (pad))
        return FALSE;
    }
  return TRUE;
}

void
dlp_check_one_to_one (const CheckCase *self, DlpPipeline *pipeline)
{
  for (guint i = 0; i < count_elements (pipeline); i++)
    {
      DlpElement *element = get_element (pipeline, i);
      g_autoptr (GString) lines = NULL;

      if (!is_judged (element) || is_one_to_one (element))
        continue;
      lines = g_string_new (NULL);
      g_string_append_printf (lines,
                              "  element:  %s (%s)\n"
                              "  expected: one record out for each of %" G_GUINT64_FORMAT
                              " in, as DLP_ELEMENT_ONE_TO_ONE in the flags of its class says\n"
                              "  got:      ",
                              dlp_element_get_name (element), dlp_element_get_factory (element),
                              dlp_pad_get_position (dlp_element_get_input (element, 0)));
      for (guint k = 0; k < dlp_element_get_n_outputs (element); k++)
        {
          DlpPad *pad = dlp_element_get_output (element, k);

          g_string_append_printf (lines, "%s%" G_GUINT64_FORMAT " on %s", k > 0 ? ", " : "",
                                  dlp_pad_get_emitted (pad), dlp_pad_get_name (pad));
        }
      g_string_append (lines, "\n  remedy:   remove the flag, if records may be dropped or "
                              "several be made of one\n");
      dlp_check_fail (self, "undisturbed", lines->str);
    }
}

/* ---- an attempt ---- */

typedef struct
{
  guint n;
  GWeakRef *refs;
  char **names;
} Elements;

static Elements *
elements_new (DlpPipeline *pipeline)
{
  Elements *self = g_new0 (Elements, 1);

  self->n = count_elements (pipeline);
  self->refs = g_new0 (GWeakRef, self->n);
  self->names = g_new0 (char *, self->n + 1);
  for (guint i = 0; i < self->n; i++)
    {
      g_weak_ref_init (&self->refs[i], get_element (pipeline, i));
      self->names[i] = g_strdup (dlp_element_get_name (get_element (pipeline, i)));
    }
  return self;
}

/* Fails where one of them is still there. */
static void
elements_free (Elements *self, const CheckCase *check, const char *when)
{
  for (guint i = 0; i < self->n; i++)
    {
      g_autoptr (GObject) left = g_weak_ref_get (&self->refs[i]);

      if (left != NULL)
        {
          g_autofree char *lines =
              g_strdup_printf ("  element:  %s\n"
                               "  expected: it is finalized with its pipeline\n"
                               "  got:      somebody holds a reference to it\n",
                               self->names[i]);

          dlp_check_fail (check, when, lines);
        }
      g_weak_ref_clear (&self->refs[i]);
    }
  g_strfreev (self->names);
  g_free (self->refs);
  g_free (self);
}

static gboolean
is_wanted_end (const CheckAttempt *attempt, const GError *error)
{
  return ((attempt->stop_after > 0 || attempt->stop_at > 0) &&
          g_error_matches (error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_STOPPED)) ||
         ((attempt->cancel_at > 0 || attempt->cancel_after > 0) &&
          g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED));
}

static CheckResult *
run (const CheckCase *self,
     DlpPipeline *pipeline,
     CheckFolder *folder,
     const CheckAttempt *attempt,
     const char *when,
     guint64 *n_calls,
     GError **error)
{
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (GError) failure = NULL;
  CheckProbe probe = { .check = self,
                       .pipeline = pipeline,
                       .cancellable = cancellable,
                       .stop_after = attempt->stop_after,
                       .kill_after = attempt->kill_after,
                       .cancel_at = attempt->cancel_at,
                       .stop_at = attempt->stop_at,
                       .forget = attempt->forget };
  g_autofree char *sink = NULL;
  gboolean ok;

  if (find_sink (pipeline) == NULL)
    dlp_check_fail (self, NULL, "  the graph has no sink\n");
  sink = g_strdup (dlp_element_get_name (find_sink (pipeline)));
  probe.sink = sink;

  dlp_check_watch_begin (self, pipeline, when);
  if (attempt->cancel_after > 0)
    dlp_check_watch_cancel (cancellable, attempt->cancel_after);
  dlp_check_probe_begin (&probe);
  ok = dlp_pipeline_run (pipeline, cancellable, &failure);
  dlp_check_probe_end (&probe);
  dlp_check_watch_end ();

  if (n_calls != NULL)
    *n_calls = probe.n_calls;
  if (ok && attempt->judge)
    dlp_check_one_to_one (self, pipeline);
  if (ok)
    return collect (pipeline, folder, sink);
  if (!is_wanted_end (attempt, failure))
    g_propagate_error (error, g_steal_pointer (&failure));
  return NULL;
}

CheckResult *
dlp_check_attempt (const CheckCase *self,
                   CheckFolder *folder,
                   const CheckAttempt *attempt,
                   const char *when,
                   guint64 *n_calls,
                   GError **error)
{
  g_autofree char *text = dlp_check_folder_expand (folder, self->graph);
  DlpPipeline *pipeline = make (text, &attempt->settings, error);
  CheckResult *result;
  Elements *elements;

  if (pipeline == NULL)
    return NULL;
  g_object_set (pipeline, "state-dir", folder->state, NULL);
  if (attempt->checkpoint_interval > 0)
    g_object_set (pipeline, "checkpoint-interval", attempt->checkpoint_interval, NULL);
  elements = elements_new (pipeline);
  result = run (self, pipeline, folder, attempt, when, n_calls, error);
  dlp_check_sink_set_pipeline (NULL);
  g_object_unref (pipeline);
  elements_free (elements, self, when);
  return result;
}

static void
fail_with_error (const CheckCase *self, const char *when, const GError *error)
{
  g_autofree char *lines = g_strdup_printf ("  expected: the run ends well\n"
                                            "  got:      %s\n",
                                            error->message);

  dlp_check_fail (self, when, lines);
}

static CheckResult *
complete (const CheckCase *self, CheckFolder *folder, const CheckAttempt *attempt, const char *when)
{
  g_autoptr (GError) error = NULL;
  CheckResult *result = dlp_check_attempt (self, folder, attempt, when, NULL, &error);

  if (result == NULL)
    fail_with_error (self, when, error);
  return result;
}

CheckResult *
dlp_check_go_on (const CheckCase *self, CheckFolder *folder, const char *when)
{
  const CheckAttempt attempt = { .settings = { .workers = 2 } };

  return complete (self, folder, &attempt, when);
}

CheckResult *
dlp_check_undisturbed (const CheckCase *self)
{
  const CheckAttempt attempt = { .settings = { .workers = 2 }, .judge = TRUE };
  g_autoptr (CheckFolder) folder = dlp_check_folder_new ();
  g_autofree char *partial = NULL;
  CheckResult *result;

  dlp_check_sink_clear ();
  result = complete (self, folder, &attempt, "undisturbed");
  partial = dlp_check_folder_find_partial (folder);
  if (partial != NULL)
    {
      g_autofree char *lines =
          g_strdup_printf ("  expected: no unfinished file when it is complete\n"
                           "  got:      %s\n",
                           partial);

      dlp_check_fail (self, "undisturbed", lines);
    }
  return result;
}

GHashTable *
dlp_check_expect (const char *graph)
{
  const CheckCase check = { "run", graph };
  g_autoptr (CheckResult) result = dlp_check_undisturbed (&check);

  return g_steal_pointer (&result->lines);
}

/* ---- comparison ---- */

static char *
read_line (GPtrArray *lines, guint i, const Feed *feed)
{
  return i < lines->len ? dlp_check_line_to_string (g_ptr_array_index (lines, i), feed->schema) :
                          g_strdup_printf ("no record: the stream ends after %u", lines->len);
}

static void
compare_lines (const CheckCase *self,
               const Feed *feed,
               GPtrArray *want,
               GPtrArray *got,
               const char *when)
{
  g_autofree char *lines = NULL;
  g_autofree char *expected = NULL;
  g_autofree char *found = NULL;
  guint i = 0;

  while (i < want->len && i < got->len &&
         strcmp (g_ptr_array_index (want, i), g_ptr_array_index (got, i)) == 0)
    i++;
  if (i == want->len && i == got->len)
    return;
  expected = read_line (want, i, feed);
  found = read_line (got, i, feed);
  lines = g_strdup_printf ("  element:  %s\n"
                           "  record:   %u of %u expected, %u came (counted from 0)\n"
                           "  expected: %s\n"
                           "  got:      %s\n",
                           feed->text, i, want->len, got->len, expected, found);
  dlp_check_fail (self, when, lines);
}

static gsize
find_difference (GBytes *a, GBytes *b)
{
  gsize size_a, size_b, i = 0;
  const guint8 *data_a = g_bytes_get_data (a, &size_a);
  const guint8 *data_b = g_bytes_get_data (b, &size_b);

  while (i < size_a && i < size_b && data_a[i] == data_b[i])
    i++;
  return i;
}

static char *
quote_from (GBytes *bytes, gsize at)
{
  gsize size;
  const char *data = g_bytes_get_data (bytes, &size);
  g_autofree char *part = g_strndup (data + at, MIN (size - at, 60));

  return g_strescape (part, NULL);
}

static void
compare_file (const CheckCase *self, const char *name, GBytes *want, GBytes *got, const char *when)
{
  g_autofree char *lines = NULL;
  g_autofree char *expected = NULL;
  g_autofree char *found = NULL;
  gsize at;

  if (got != NULL && g_bytes_equal (want, got))
    return;
  if (got == NULL)
    lines = g_strdup_printf ("  file:     %s\n  expected: %zu bytes\n  got:      no such file\n",
                             name, g_bytes_get_size (want));
  else
    {
      at = find_difference (want, got);
      expected = quote_from (want, at);
      found = quote_from (got, at);
      lines = g_strdup_printf ("  file:     %s, %zu bytes, not %zu; they differ from byte %zu on\n"
                               "  expected: \"%s\"\n"
                               "  got:      \"%s\"\n",
                               name, g_bytes_get_size (got), g_bytes_get_size (want), at, expected,
                               found);
    }
  dlp_check_fail (self, when, lines);
}

static void
compare_files (const CheckCase *self, GHashTable *want, GHashTable *got, const char *when)
{
  GHashTableIter iter;
  gpointer name, bytes;

  g_hash_table_iter_init (&iter, want);
  while (g_hash_table_iter_next (&iter, &name, &bytes))
    compare_file (self, name, bytes, g_hash_table_lookup (got, name), when);
  g_hash_table_iter_init (&iter, got);
  while (g_hash_table_iter_next (&iter, &name, NULL))
    if (!g_hash_table_contains (want, name))
      {
        g_autofree char *lines =
            g_strdup_printf ("  file:     %s\n  expected: no such file\n", (char *) name);

        dlp_check_fail (self, when, lines);
      }
}

/* Of each of what both say. */
static gboolean
is_same_state (GVariant *want, GVariant *have)
{
  static const char *const keys[] = { "records-out", "state" };

  for (guint i = 0; i < G_N_ELEMENTS (keys); i++)
    {
      g_autoptr (GVariant) a = g_variant_lookup_value (want, keys[i], NULL);
      g_autoptr (GVariant) b = g_variant_lookup_value (have, keys[i], NULL);

      if (a != NULL && b != NULL && !g_variant_equal (a, b))
        return FALSE;
    }
  return TRUE;
}

/* What is counted is part of the result: that of a run in pieces is that of an undisturbed one. */
static void
compare_states (const CheckCase *self, GVariant *expected, GVariant *got, const char *when)
{
  GVariantIter iter;
  const char *name;
  GVariant *want;

  g_variant_iter_init (&iter, expected);
  while (g_variant_iter_next (&iter, "{&sv}", &name, &want))
    {
      g_autoptr (GVariant) have = g_variant_lookup_value (got, name, NULL);

      if (have == NULL || !is_same_state (want, have))
        {
          g_autofree char *before = g_variant_print (want, FALSE);
          g_autofree char *after = have != NULL ? g_variant_print (have, FALSE) : g_strdup ("none");
          g_autofree char *lines =
              g_strdup_printf ("  element:  %s, its records and state at the end\n"
                               "  expected: %s\n"
                               "  got:      %s\n",
                               name, before, after);

          dlp_check_fail (self, when, lines);
        }
      g_variant_unref (want);
    }
}

void
dlp_check_compare_output (const CheckCase *self,
                          const CheckResult *expected,
                          const CheckResult *got,
                          const char *when)
{
  GHashTableIter iter;
  gpointer name, lines;

  g_hash_table_iter_init (&iter, expected->lines);
  while (g_hash_table_iter_next (&iter, &name, &lines))
    compare_lines (self, g_hash_table_lookup (expected->pads, name), lines,
                   g_hash_table_lookup (got->lines, name), when);
  compare_files (self, expected->files, got->files, when);
}

void
dlp_check_compare (const CheckCase *self,
                   const CheckResult *expected,
                   const CheckResult *got,
                   const char *when)
{
  dlp_check_compare_output (self, expected, got, when);
  compare_states (self, expected->compared, got->states, when);
}
