/* SPDX-License-Identifier: MIT */

/* What a checkpoint holds of a pipeline, and a pipeline made from it. reference:
 * docs/internals/checkpoint.md.
 *
 *   format        u    1
 *   graph         ay   text that makes this graph
 *   quarantine    ay   (optional): where bad records go, if not into the state folder
 *   seed          t
 *   run-id        s
 *   attempt       u    of whoever wrote it; whose unfinished files the sinks' states speak of
 *   complete      b
 *   finished-early b   (optional): complete, though not all of the input was read
 *   elapsed       d    s, over all attempts
 *   inputs-length t    of the list of input files, and its hash
 *   inputs-hash   t
 *   files         a{say}    (of a state without a folder only): those that states name
 *   opened        a(ayayay)  (of a state without a folder only): of each input file that was
 *                            opened: stage/source/file, size and identity, URI
 *   warnings      as   the first hundred of all attempts; n-warnings t: how many there were
 *   elements      aa{sv}, producers first:
 *     name s, factory s, plugin s and plugin-version s (optional: of its plugin, in at most 128
 * bytes each; not of one that the program brings), passes-on b (optional: true where what it gives
 * out is what it took, from the first record on, one for one), needed b, version u, oldest u, fixed
 * a{ss}, links as, emitted a{st} (by output pad), inputs ax (in the order of the links: a position,
 * or -1: seen to its end, or below: closed early at -2 - it), state a{sv}, sink a{sv} (sinks only);
 * where it is not needed any more, no emitted, and of its state only the counters matter, and
 * progress at: bytes read, their sum, files read, their number
 */

#include <string.h>

#include "dlp-app-private.h"
#include "dlp-checkpoint-private.h"
#include "dlp-partial-private.h"
#include "dlp-pipeline-private.h"
#include "dlp-value-parser-private.h"

/* ---- writing ---- */

static GVariant *
describe_links (DlpElement *element)
{
  GVariantBuilder builder;

  g_variant_builder_init (&builder, G_VARIANT_TYPE ("as"));
  for (guint i = 0; i < dlp_element_get_n_inputs (element); i++)
    {
      DlpPad *input = dlp_element_get_input (element, i);

      g_variant_builder_add_value (
          &builder, g_variant_new_take_string (g_strdup_printf (
                        "%s.%s", dlp_element_get_name (input->peer->element), input->peer->name)));
    }
  return g_variant_builder_end (&builder);
}

typedef struct
{
  DlpState *state;
  DlpState *base;
  guint64 *emitted; /* NULL: none */
  DlpCursor *inputs;
  DlpCursor own_input; /* storage for a sink's */
  bool needed;
} DlpElementPlace;

/* By name: a graph made from its own text may have its output pads in another order. */
static GVariant *
describe_emitted (DlpElement *element, const guint64 *emitted)
{
  GVariantBuilder builder;

  g_variant_builder_init (&builder, G_VARIANT_TYPE ("a{st}"));
  for (guint i = 0; i < dlp_element_get_n_outputs (element); i++)
    g_variant_builder_add (&builder, "{st}", dlp_pad_get_name (dlp_element_get_output (element, i)),
                           emitted[i]);
  return g_variant_builder_end (&builder);
}

static gint64
describe_closed (DlpPad *input)
{
  return dlp_flag_get (input->drained) ? DLP_CHECKPOINT_DRAINED :
                                         DLP_CHECKPOINT_CLOSED_AT (dlp_pad_get_position (input));
}

static GVariant *
describe_progress (DlpElement *element)
{
  const guint64 *progress = dlp_element_get_private (element)->progress;
  guint64 values[4];

  for (guint i = 0; i < G_N_ELEMENTS (values); i++)
    values[i] = dlp_stat_get (&progress[i]);
  return g_variant_new_fixed_array (G_VARIANT_TYPE_UINT64, values, G_N_ELEMENTS (values),
                                    sizeof *values);
}

static GVariant *
describe_element (DlpElement *element, const DlpElementPlace *place, GError **error)
{
  DlpElementClass *klass = DLP_ELEMENT_GET_CLASS (element);
  guint n_inputs = dlp_element_get_n_inputs (element);
  g_autofree gint64 *positions = g_new (gint64, n_inputs + 1);
  g_autoptr (GVariant) state = NULL;
  GVariantDict dict;
  GVariant *described;

  if (place->state != NULL)
    {
      state = dlp_element_describe_state (element, place->state, error);
      if (state == NULL)
        return NULL;
      if (!place->needed)
        state = dlp_state_file_drop (g_steal_pointer (&state));
    }
  g_variant_dict_init (&dict, NULL);
  g_variant_dict_insert (&dict, "name", "s", dlp_element_get_name (element));
  g_variant_dict_insert (&dict, "factory", "s", dlp_element_get_factory (element));
  dlp_element_describe_plugin (element, &dict);
  if (klass->flags & (DLP_ELEMENT_ONE_TO_ONE | DLP_ELEMENT_FIRST_ONES))
    g_variant_dict_insert (&dict, "passes-on", "b", TRUE);
  g_variant_dict_insert (&dict, "needed", "b", place->needed);
  g_variant_dict_insert (&dict, "version", "u", klass->state_version);
  g_variant_dict_insert (&dict, "oldest", "u", klass->state_oldest_version);
  g_variant_dict_insert_value (&dict, "fixed", dlp_element_describe_fixed (element));
  g_variant_dict_insert_value (&dict, "links", describe_links (element));

  for (guint i = 0; i < n_inputs; i++)
    if (place->needed && place->inputs[i].mark != NULL)
      positions[i] = (gint64) place->inputs[i].position;
    else
      positions[i] = describe_closed (dlp_element_get_input (element, i));
  g_variant_dict_insert_value (
      &dict, "inputs",
      g_variant_new_fixed_array (G_VARIANT_TYPE_INT64, positions, n_inputs, sizeof (gint64)));
  if (place->needed && dlp_element_get_n_outputs (element) > 0)
    g_variant_dict_insert_value (&dict, "emitted", describe_emitted (element, place->emitted));
  if (!place->needed)
    g_variant_dict_insert_value (&dict, "progress", describe_progress (element));
  if (state != NULL)
    g_variant_dict_insert_value (&dict, "state", state);
  if (place->base != NULL)
    g_variant_dict_insert_value (&dict, "sink", dlp_sink_describe_base (place->base));
  described = g_variant_dict_end (&dict);
  /* As bytes it takes a tenth of the memory, which matters where there are a thousand of them. */
  g_variant_get_data (described);
  return described;
}

/* The oldest of the marks that open consumers refer to. */
static void
need (DlpMark **oldest, DlpCursor *cursor)
{
  if (cursor->mark != NULL && (*oldest == NULL || cursor->mark->serial < (*oldest)->serial))
    *oldest = cursor->mark;
}

static guint
find_order (DlpPipeline *self, GHashTable *index, DlpElement *element)
{
  return GPOINTER_TO_UINT (g_hash_table_lookup (index, element));
}

/* Consumers first: sinks by their snapshots, the others by the oldest mark. False: a log could not
 * be made durable. */
static bool
place_elements (DlpPipeline *self,
                DlpSnapshot *snapshots,
                guint n,
                DlpElementPlace *places,
                GError **error)
{
  g_autoptr (GHashTable) index = g_hash_table_new (NULL, NULL);
  g_autofree DlpMark **oldest = g_new0 (DlpMark *, self->order->len);

  for (guint i = 0; i < self->order->len; i++)
    g_hash_table_insert (index, g_ptr_array_index (self->order, i), GUINT_TO_POINTER (i));
  for (guint i = 0; i < n; i++)
    {
      DlpElementPlace *place = &places[find_order (self, index, snapshots[i].element)];

      place->needed = true;
      place->state = snapshots[i].state;
      place->base = snapshots[i].base;
      place->own_input = snapshots[i].cursor;
      place->inputs = &place->own_input;
    }

  for (guint k = self->order->len; k-- > 0;)
    {
      DlpElement *element = g_ptr_array_index (self->order, k);
      DlpElementClass *klass = DLP_ELEMENT_GET_CLASS (element);
      DlpElementPlace *place = &places[k];

      if (oldest[k] != NULL)
        {
          place->needed = true;
          place->state = oldest[k]->state;
          place->emitted = oldest[k]->emitted;
          place->inputs = oldest[k]->inputs;
        }
      else if (!place->needed)
        {
          /* Its consumers have closed, and it has not noticed yet: its counters are not settled. */
          if (!dlp_flag_get (dlp_element_get_private (element)->settled))
            {
              g_set_error (error, G_IO_ERROR, G_IO_ERROR_PENDING, "%s is about to end",
                           dlp_element_get_name (element));
              return false;
            }
          place->state =
              __atomic_load_n (&dlp_element_get_private (element)->final_state, __ATOMIC_ACQUIRE);
        }
      if (dlp_element_needs_durable (element) && place->state != NULL &&
          !klass->make_durable (element, place->state, error))
        return dlp_element_failed (element, "make_durable", error);
      if (!place->needed)
        continue;
      for (guint i = 0; i < dlp_element_get_n_inputs (element); i++)
        need (&oldest[find_order (self, index, dlp_element_get_input (element, i)->peer->element)],
              &place->inputs[i]);
    }
  return true;
}

/* Sinks for bad records that are not in the graph. */
static bool
has_quarantine (DlpPipeline *self)
{
  return self->elements->len > self->n_listed;
}

double
dlp_pipeline_get_elapsed (DlpPipeline *self, double *before)
{
  double now;
  gint64 until;

  pthread_mutex_lock (&self->lock);
  until = self->ended != 0 ? self->ended : g_get_monotonic_time ();
  now = self->began != 0 ? (until - self->began) / 1e6 : 0.0;
  *before = self->elapsed_before;
  pthread_mutex_unlock (&self->lock);
  return *before + now;
}

GVariant *
dlp_pipeline_make_checkpoint (DlpPipeline *self,
                              DlpSnapshot *snapshots,
                              guint n,
                              bool complete,
                              GError **error)
{
  g_autofree DlpElementPlace *places = g_new0 (DlpElementPlace, self->order->len);
  g_autofree char *text = dlp_pipeline_to_string (self);
  g_autofree char *graph = dlp_uri_redact (text);
  double before, elapsed = dlp_pipeline_get_elapsed (self, &before);
  guint64 inputs_length = 0, inputs_hash = 0, n_warnings;
  GVariantBuilder elements;
  GVariantDict dict;

  if (!place_elements (self, snapshots, n, places, error))
    return NULL;
  /* After the marks were taken: what they speak of is in the list. */
  if (self->dir != NULL &&
      !dlp_state_dir_sync_inputs (self->dir, &inputs_length, &inputs_hash, error))
    return NULL;

  g_variant_builder_init (&elements, G_VARIANT_TYPE ("aa{sv}"));
  for (guint i = 0; i < self->order->len; i++)
    {
      GVariant *element = describe_element (g_ptr_array_index (self->order, i), &places[i], error);

      if (element == NULL)
        {
          g_variant_builder_clear (&elements);
          return NULL;
        }
      g_variant_builder_add_value (&elements, element);
    }

  g_variant_dict_init (&dict, NULL);
  g_variant_dict_insert (&dict, "format", "u", DLP_CHECKPOINT_FORMAT);
  g_variant_dict_insert_value (&dict, "graph", g_variant_new_bytestring (graph));
  if (has_quarantine (self) && self->quarantine_path != NULL)
    g_variant_dict_insert_value (&dict, "quarantine",
                                 g_variant_new_bytestring (self->quarantine_path));
  g_variant_dict_insert (&dict, "seed", "t", self->run->seed);
  g_variant_dict_insert (&dict, "run-id", "s", self->run->run_id);
  g_variant_dict_insert (&dict, "attempt", "u", self->run->attempt);
  g_variant_dict_insert (&dict, "complete", "b", complete);
  if (complete && dlp_flag_get (self->run->cut_short))
    g_variant_dict_insert (&dict, "finished-early", "b", TRUE);
  g_variant_dict_insert (&dict, "elapsed", "d", elapsed);
  g_variant_dict_insert (&dict, "inputs-length", "t", inputs_length);
  g_variant_dict_insert (&dict, "inputs-hash", "t", inputs_hash);
  if (self->dir == NULL)
    g_variant_dict_insert_value (&dict, "opened", dlp_context_describe_inputs (self->run));
  g_variant_dict_insert_value (&dict, "warnings",
                               dlp_context_describe_warnings (self->run, &n_warnings));
  g_variant_dict_insert (&dict, "n-warnings", "t", n_warnings);
  g_variant_dict_insert_value (&dict, "elements", g_variant_builder_end (&elements));
  return dlp_state_files_settle (self->run->state_files, g_variant_dict_end (&dict),
                                 self->dir != NULL, error);
}

/* ---- reading ---- */

static bool
compare_links (DlpElement *element, GVariant *recorded, GError **error)
{
  g_autoptr (GVariant) now = g_variant_ref_sink (describe_links (element));
  g_autoptr (GVariant) before =
      dlp_state_get_value (recorded, "links", G_VARIANT_TYPE ("as"), error);
  g_autofree char *a = NULL;
  g_autofree char *b = NULL;

  if (before == NULL)
    return false;
  if (g_variant_equal (now, before))
    return true;
  a = g_variant_print (before, FALSE);
  b = g_variant_print (now, FALSE);
  dlp_state_set_changed (error, "%s: its inputs came from %s when the run began, now from %s",
                         dlp_element_get_name (element), a, b);
  return false;
}

/* An older state may be read where this version says so, a newer one where that one said so. */
static bool
check_version (DlpElement *element, GVariant *recorded, guint *version, GError **error)
{
  DlpElementClass *klass = DLP_ELEMENT_GET_CLASS (element);
  guint oldest;

  g_variant_lookup (recorded, "version", "u", version);
  g_variant_lookup (recorded, "oldest", "u", &oldest);
  if (*version >= klass->state_oldest_version &&
      (*version <= klass->state_version || oldest <= klass->state_version))
    return true;
  g_set_error (
      error, DLP_STATE_ERROR, DLP_STATE_ERROR_VERSION,
      "state of %s has version %u, which needs a %s that reads version %u; this one reads %u to %u",
      dlp_element_get_name (element), *version, dlp_element_get_factory (element), oldest,
      klass->state_oldest_version, klass->state_version);
  return false;
}

static bool
restore_outputs (DlpElement *element, GVariant *recorded, GError **error)
{
  g_autoptr (GVariant) emitted = NULL;
  guint n = dlp_element_get_n_outputs (element);

  if (n == 0)
    return true;
  emitted = dlp_state_get_value (recorded, "emitted", G_VARIANT_TYPE ("a{st}"), error);
  if (emitted == NULL)
    return false;
  for (guint i = 0; i < n; i++)
    {
      DlpPad *pad = dlp_element_get_output (element, i);
      guint64 value;

      if (g_variant_n_children (emitted) != n ||
          !g_variant_lookup (emitted, pad->name, "t", &value))
        {
          g_set_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CORRUPT,
                       "key “emitted” has %zu pads, the element %u; output pad “%s” is %s",
                       g_variant_n_children (emitted), n, pad->name,
                       g_variant_lookup (emitted, pad->name, "t", &value) ? "there" : "missing");
          return false;
        }
      pad->emitted = value;
      pad->restored = true;
      pad->known = MAX (pad->known, value);
    }
  return true;
}

static bool
restore_inputs (DlpElement *element, GVariant *recorded, GError **error)
{
  g_autoptr (GVariant) inputs =
      dlp_state_get_value (recorded, "inputs", G_VARIANT_TYPE ("ax"), error);
  const gint64 *values;
  gsize n;

  if (inputs == NULL)
    return false;
  values = g_variant_get_fixed_array (inputs, &n, sizeof (gint64));
  if (n != dlp_element_get_n_inputs (element))
    {
      g_set_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CORRUPT,
                   "key “inputs” has %zu numbers, not %u", n, dlp_element_get_n_inputs (element));
      return false;
    }
  for (guint i = 0; i < n; i++)
    {
      DlpPad *pad = dlp_element_get_input (element, i);
      DlpElementPrivate *producer = dlp_element_get_private (pad->peer->element);

      if (values[i] < 0)
        {
          dlp_pad_restore_closed (pad, values[i] == DLP_CHECKPOINT_DRAINED,
                                  values[i] == DLP_CHECKPOINT_DRAINED ?
                                      0 :
                                      (guint64) DLP_CHECKPOINT_CLOSED_AT (values[i]));
          continue;
        }
      if (producer->mark == NULL || (guint64) values[i] < pad->peer->emitted)
        {
          g_set_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CORRUPT,
                       "key “inputs”: %s is to go on at record %" G_GINT64_FORMAT
                       ", which %s cannot make again",
                       dlp_element_get_name (element), values[i],
                       dlp_element_get_name (pad->peer->element));
          return false;
        }
      dlp_pad_restore_input (pad, producer->mark, values[i]);
      pad->peer->known = MAX (pad->peer->known, (guint64) values[i]);
    }
  return true;
}

static bool
load_state (DlpElement *element, GVariant *recorded, guint version, GError **error)
{
  g_autoptr (GVariant) state = g_variant_lookup_value (recorded, "state", G_VARIANT_TYPE_VARDICT);

  return state == NULL || DLP_ELEMENT_GET_CLASS (element)->load (element, state, version, error) ||
         dlp_element_failed (element, "load", error);
}

static bool
load_states (DlpElement *element, GVariant *recorded, guint version, GError **error)
{
  g_autoptr (GVariant) base = NULL;

  if (!load_state (element, recorded, version, error))
    return false;
  if (!DLP_IS_SINK (element))
    return true;
  base = dlp_state_get_value (recorded, "sink", G_VARIANT_TYPE_VARDICT, error);
  return base != NULL && dlp_sink_load_base (DLP_SINK (element), base, error);
}

/* One that goes on shows it by itself. */
static void
restore_progress (DlpElement *element, GVariant *recorded)
{
  g_autoptr (GVariant) value = g_variant_lookup_value (recorded, "progress", G_VARIANT_TYPE ("at"));
  const guint64 *values;
  gsize n = 0;

  if (value == NULL)
    return;
  values = g_variant_get_fixed_array (value, &n, sizeof *values);
  if (n == 4)
    dlp_element_set_progress (element, values[0], values[1], (guint) MIN (values[2], G_MAXUINT),
                              (guint) MIN (values[3], G_MAXUINT));
}

static bool
restore_ended (DlpElement *element, GVariant *recorded, guint version, GError **error)
{
  if (!load_state (element, recorded, version, error) || !restore_inputs (element, recorded, error))
    return false;
  restore_progress (element, recorded);
  dlp_element_restore_ended (element);
  return true;
}

static bool
restore_needed (DlpElement *element, GVariant *recorded, guint version, GError **error)
{
  if (!restore_inputs (element, recorded, error) || !restore_outputs (element, recorded, error) ||
      !load_states (element, recorded, version, error))
    return false;
  dlp_element_make_first_mark (element);
  return true;
}

static bool
restore_element (DlpPipeline *self, DlpElement *element, GVariant *recorded, GError **error)
{
  gboolean needed;
  guint version;

  g_variant_lookup (recorded, "needed", "b", &needed);
  /* Where all is made already, nothing can be mixed. */
  if (!check_version (element, recorded, &version, error) ||
      !compare_links (element, recorded, error) ||
      !dlp_element_compare_fixed (element, recorded, error) ||
      (needed && !dlp_flag_get (self->complete) &&
       !dlp_pipeline_compare_plugin (self, element, recorded, error)))
    return false;
  if ((needed ? restore_needed : restore_ended) (element, recorded, version, error))
    return true;
  /* Elements speak of keys; which element it is they need not say. */
  dlp_element_name_error (element, error);
  return false;
}

/* (element-type utf8 GVariant): by name. */
static GHashTable *
index_recorded (GVariant *elements)
{
  GHashTable *index =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, (GDestroyNotify) g_variant_unref);
  GVariantIter iter;
  GVariant *entry;

  g_variant_iter_init (&iter, elements);
  while ((entry = g_variant_iter_next_value (&iter)) != NULL)
    {
      char *name = NULL;

      g_variant_lookup (entry, "name", "s", &name);
      g_hash_table_replace (index, name, entry);
    }
  return index;
}

static const char *
name_state (DlpPipeline *self)
{
  return self->dir != NULL ? dlp_state_dir_get_path (self->dir) : "the saved state";
}

static bool
restore_elements (DlpPipeline *self, GVariant *elements, GError **error)
{
  g_autoptr (GHashTable) index = index_recorded (elements);

  for (guint i = 0; i < self->order->len; i++)
    {
      DlpElement *element = g_ptr_array_index (self->order, i);
      GVariant *recorded = g_hash_table_lookup (index, dlp_element_get_name (element));
      const char *factory = NULL;
      bool ok;

      if (recorded == NULL || !g_variant_lookup (recorded, "factory", "&s", &factory) ||
          strcmp (factory, dlp_element_get_factory (element)) != 0)
        {
          dlp_state_set_changed (error,
                                 "the graph has an element “%s” of kind %s; the state has %s%s",
                                 dlp_element_get_name (element), dlp_element_get_factory (element),
                                 factory != NULL ? "one of kind " : "none of that name",
                                 factory != NULL ? factory : "");
          return false;
        }
      dlp_watchdog_enter (self->watchdog, element, "is loading its state");
      ok = restore_element (self, element, recorded, error);
      dlp_watchdog_leave (self->watchdog);
      if (!ok)
        {
          g_prefix_error (error, "%s: ", name_state (self));
          return false;
        }
    }
  if (g_variant_n_children (elements) != self->order->len)
    {
      dlp_state_set_changed (error, "the graph has %u elements; the state has %zu",
                             self->order->len, g_variant_n_children (elements));
      return false;
    }
  return true;
}

static bool
compare_quarantine (DlpPipeline *self, GVariant *payload, GError **error)
{
  const char *was = NULL;

  g_variant_lookup (payload, "quarantine", "^&ay", &was);
  if (!has_quarantine (self) || g_strcmp0 (was, self->quarantine_path) == 0)
    return true;
  dlp_state_set_changed (error, "bad records went %s%s when the run began, now %s%s",
                         was != NULL ? "to " : "into the state folder", was != NULL ? was : "",
                         self->quarantine_path != NULL ? "to " : "into the state folder",
                         self->quarantine_path != NULL ? self->quarantine_path : "");
  return false;
}

static bool
restore_opened (DlpPipeline *self, GVariant *payload, guint64 length, guint64 hash, GError **error)
{
  g_autoptr (GVariant) opened = NULL;
  g_autoptr (GVariant) files = NULL;

  if (self->dir != NULL)
    return dlp_state_dir_restore_inputs (self->dir, length, hash, error);
  opened = dlp_state_get_value (payload, "opened", G_VARIANT_TYPE ("a(ayayay)"), error);
  if (opened == NULL)
    return false;
  dlp_context_restore_inputs (self->run, opened);
  self->run->attempt = self->run->former_attempt + 1;
  files = g_variant_lookup_value (payload, "files", G_VARIANT_TYPE ("a{say}"));
  return files == NULL || dlp_state_files_restore (self->run->state_files, files, error);
}

/* @check: nothing will go on from it. */
static bool
restore_run (DlpPipeline *self, GVariant *payload, bool check, GError **error)
{
  g_autoptr (GVariant) elements = NULL;
  g_autoptr (GVariant) warnings = NULL;
  const char *run_id;
  guint attempt;
  guint64 seed, inputs_length, inputs_hash, n_warnings;
  gboolean complete, early = FALSE;
  double elapsed;

  if (!dlp_checkpoint_check (payload, error))
    {
      g_prefix_error (error, "%s: ", name_state (self));
      return false;
    }
  g_variant_lookup (payload, "seed", "t", &seed);
  g_variant_lookup (payload, "run-id", "&s", &run_id);
  g_variant_lookup (payload, "attempt", "u", &attempt);
  g_variant_lookup (payload, "complete", "b", &complete);
  g_variant_lookup (payload, "elapsed", "d", &elapsed);
  g_variant_lookup (payload, "inputs-length", "t", &inputs_length);
  g_variant_lookup (payload, "inputs-hash", "t", &inputs_hash);
  g_variant_lookup (payload, "n-warnings", "t", &n_warnings);
  if (seed != self->run->seed && self->seed_given)
    {
      dlp_state_set_changed (
          error, "the seed was %" G_GUINT64_FORMAT " when the run began, is %" G_GUINT64_FORMAT,
          seed, self->run->seed);
      return false;
    }
  if (!compare_quarantine (self, payload, error))
    return false;
  self->run->seed = seed;
  self->run->run_id = g_strdup (run_id);
  self->run->former_attempt = attempt;
  pthread_mutex_lock (&self->lock);
  self->elapsed_before = elapsed;
  pthread_mutex_unlock (&self->lock);
  if (complete)
    dlp_flag_set (self->complete);
  g_variant_lookup (payload, "finished-early", "b", &early);
  if (early)
    dlp_flag_set (self->run->cut_short);
  self->restored = true;
  warnings = g_variant_lookup_value (payload, "warnings", G_VARIANT_TYPE_STRING_ARRAY);
  dlp_context_restore_warnings (self->run, warnings, n_warnings);
  elements = g_variant_lookup_value (payload, "elements", G_VARIANT_TYPE ("aa{sv}"));
  if ((!check && !restore_opened (self, payload, inputs_length, inputs_hash, error)) ||
      !restore_elements (self, elements, error))
    return false;
  dlp_pipeline_find_seen (self);
  dlp_state_files_forget_restored (self->run->state_files);
  return true;
}

static char *
make_run_id (void)
{
  return g_strdup_printf ("%08x%08x", g_random_int (), g_random_int ());
}

static void
begin_fresh (DlpPipeline *self)
{
  self->fresh = true;
  self->run->run_id = make_run_id ();
  for (guint i = 0; i < self->order->len; i++)
    {
      DlpElement *element = g_ptr_array_index (self->order, i);

      for (guint k = 0; k < dlp_element_get_n_inputs (element); k++)
        {
          DlpPad *input = dlp_element_get_input (element, k);

          dlp_pad_restore_input (input, dlp_element_get_private (input->peer->element)->mark, 0);
        }
      dlp_element_make_first_mark (element);
    }
}

static bool
each_sink (DlpPipeline *self, bool discard, GError **error)
{
  for (guint i = 0; i < self->order->len; i++)
    {
      DlpElement *element = g_ptr_array_index (self->order, i);
      DlpSinkClass *klass;
      bool ok = true;

      if (!DLP_IS_SINK (element))
        continue;
      klass = DLP_SINK_GET_CLASS (element);
      dlp_watchdog_enter (self->watchdog, element,
                          discard ? "is deleting its former output" : "is looking at its output");
      if (discard && klass->discard != NULL)
        ok = klass->discard (DLP_SINK (element), self->overwrite, error);
      if (!discard && klass->check_location != NULL)
        ok = klass->check_location (DLP_SINK (element), self->overwrite, error);
      dlp_watchdog_leave (self->watchdog);
      if (!ok)
        return dlp_element_failed (element, discard ? "discard" : "check_location", error);
    }
  return true;
}

/* A sink without a location of its own, such as a quarantine, wrote for whoever wants to know why.
 */
void
dlp_pipeline_discard_unfinished (DlpPipeline *self)
{
  g_free (self->run->discarded_run_id);
  self->run->discarded_run_id = g_strdup (self->run->run_id);
  self->run->discarded_complete = false;
  for (guint i = 0; i < self->order->len; i++)
    {
      DlpElement *element = g_ptr_array_index (self->order, i);
      DlpSinkClass *klass = DLP_IS_SINK (element) ? DLP_SINK_GET_CLASS (element) : NULL;
      g_autoptr (GError) error = NULL;

      if (klass != NULL && klass->get_location != NULL && klass->discard != NULL &&
          !klass->discard (DLP_SINK (element), FALSE, &error) &&
          !dlp_element_failed (element, "discard", &error))
        g_warning ("%s", error->message);
    }
}

bool
dlp_pipeline_check_resumable (DlpPipeline *self, GError **error)
{
  for (guint i = 0; i < self->order->len; i++)
    {
      DlpElement *element = g_ptr_array_index (self->order, i);
      const DlpAppHooks *app = dlp_element_get_private (element)->app;

      if (app != NULL && app->check_resumable != NULL && !app->check_resumable (element, error))
        {
          dlp_pipeline_place_error (self, element, error);
          return false;
        }
      if (DLP_IS_SINK (element) && DLP_SINK_GET_CLASS (element)->is_resumable != NULL &&
          !DLP_SINK_GET_CLASS (element)->is_resumable (DLP_SINK (element)))
        {
          g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE,
                       "%s writes where it cannot go back, so the run cannot be continued; run it "
                       "without a state folder",
                       dlp_element_get_name (element));
          return false;
        }
    }
  return true;
}

static GVariant *
load_payload (DlpPipeline *self, GError **error)
{
  g_autofree char *fell_back = NULL;
  guint64 generation;
  GVariant *payload;

  dlp_watchdog_enter (self->watchdog, NULL, "the newest checkpoint is being read");
  payload = dlp_state_dir_load (self->dir, &generation, &fell_back, error);
  dlp_watchdog_leave (self->watchdog);
  if (fell_back != NULL)
    {
      dlp_context_warn (self->run, fell_back);
      g_warning ("%s", fell_back);
    }
  return payload;
}

/* Whose outputs --restart discards. Of a state that is damaged the identity may still be known. */
static void
learn_discarded (DlpPipeline *self)
{
  g_autoptr (GVariant) payload = dlp_state_dir_load (self->dir, NULL, NULL, NULL);
  const char *run_id;
  gboolean complete;

  self->run->discarded_run_id = dlp_state_dir_load_run_id (self->dir, NULL);
  if (payload == NULL || !g_variant_lookup (payload, "run-id", "&s", &run_id) ||
      !dlp_partial_is_run_id (run_id) || !g_variant_lookup (payload, "complete", "b", &complete))
    return;
  g_free (self->run->discarded_run_id);
  self->run->discarded_run_id = g_strdup (run_id);
  self->run->discarded_complete = complete;
}

static bool
begin_with_identity (DlpPipeline *self, GError **error)
{
  g_autoptr (GError) failure = NULL;
  char *run_id;

  begin_fresh (self);
  if (self->dir == NULL)
    return true;
  if (self->restart)
    {
      learn_discarded (self);
      return true;
    }

  /* An attempt that died before its first checkpoint was one of this run. */
  run_id = dlp_state_dir_load_run_id (self->dir, &failure);
  if (failure != NULL)
    {
      g_propagate_error (error, g_steal_pointer (&failure));
      return false;
    }
  if (run_id != NULL)
    {
      g_free (self->run->run_id);
      self->run->run_id = run_id;
    }
  return true;
}

/* Nothing is deleted before nothing is in the way of any sink, and the state last: until then it
 * tells whose the outputs are. */
static bool
begin_anew (DlpPipeline *self, GError **error)
{
  if (!begin_with_identity (self, error) || !each_sink (self, false, error) ||
      !dlp_pipeline_probe (self, error) || !each_sink (self, true, error))
    return false;
  return self->dir == NULL || ((!self->restart || dlp_state_dir_clear (self->dir, error)) &&
                               dlp_state_dir_save_run_id (self->dir, self->run->run_id, error));
}

static bool
restore_saved (DlpPipeline *self, GError **error)
{
  if (self->state_path == NULL && !self->restart)
    return dlp_pipeline_check_resumable (self, error) &&
           restore_run (self, self->saved, false, error);
  g_set_error (error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_STATE,
               "a pipeline that goes on from a saved state has no state folder, and does not begin "
               "anew; make it from its string for that");
  return false;
}

bool
dlp_pipeline_restore (DlpPipeline *self, GError **error)
{
  g_autoptr (GVariant) payload = NULL;
  g_autoptr (GError) local = NULL;

  if (self->saved != NULL)
    return restore_saved (self, error);
  if (self->state_path == NULL)
    return begin_anew (self, error);

  if (!dlp_pipeline_check_resumable (self, error))
    return false;
  dlp_watchdog_enter (self->watchdog, NULL, "the state folder is being opened");
  self->dir = dlp_state_dir_open (self->state_path, error);
  dlp_watchdog_leave (self->watchdog);
  if (self->dir == NULL)
    return false;
  self->run->state_dir = self->dir;
  payload = self->restart ? NULL : load_payload (self, &local);
  if (local != NULL)
    {
      g_propagate_error (error, g_steal_pointer (&local));
      return false;
    }
  if (!dlp_state_files_set_dir (self->run->state_files, self->dir,
                                dlp_state_dir_get_attempt (self->dir), error))
    return false;
  self->run->attempt = dlp_state_dir_get_attempt (self->dir);
  self->run->former_is_dead = dlp_state_dir_former_is_dead (self->dir);
  if (payload != NULL)
    return restore_run (self, payload, false, error);

  return begin_anew (self, error);
}

/* As restore does, but by a look that changes nothing: neither a lock nor an attempt. */
bool
dlp_pipeline_look_at_state (DlpPipeline *self, GError **error)
{
  g_autoptr (GVariant) payload = NULL;
  g_autoptr (GError) local = NULL;

  if (self->state_path != NULL && !dlp_pipeline_check_resumable (self, error))
    return FALSE;
  if (self->state_path != NULL && g_file_test (self->state_path, G_FILE_TEST_EXISTS))
    {
      self->dir = dlp_state_dir_open_read_only (self->state_path, error);
      if (self->dir == NULL ||
          !dlp_state_files_set_dir (self->run->state_files, self->dir, 0, error))
        return FALSE;
    }
  if (self->dir != NULL && !self->restart)
    payload = load_payload (self, &local);
  if (local != NULL)
    {
      g_propagate_error (error, g_steal_pointer (&local));
      return FALSE;
    }
  if (payload != NULL)
    return restore_run (self, payload, true, error);
  return begin_with_identity (self, error) && each_sink (self, false, error);
}
