/* SPDX-License-Identifier: MIT */

#include <string.h>
#include <unistd.h>

#include "dlp-pipeline-private.h"

enum
{
  PROP_0,
  PROP_SEED,
  PROP_STATE_DIR,
  PROP_QUARANTINE,
  PROP_MEMORY,
  PROP_WORKERS,
  PROP_RUNNER,
  PROP_CHECKPOINT_INTERVAL,
  PROP_LINK_BATCHES,
  PROP_BATCH_RECORDS,
  PROP_RANDOM_YIELDS,
  PROP_STRICT,
  PROP_OVERWRITE,
  PROP_RESTART,
  PROP_STALL_ACTION,
  PROP_STALL_TIMEOUT,
  PROP_STATUS,
  PROP_FRACTION,
  PROP_FILES_DONE,
  PROP_FILES_TOTAL,
  PROP_RECORDS,
  PROP_TOKENS,
  PROP_BYTES,
  PROP_ELAPSED,
  PROP_ETA,
  N_PROPS
};

static GParamSpec *properties[N_PROPS];

static GType
dlp_pipeline_get_item_type (GListModel *model)
{
  return DLP_TYPE_ELEMENT;
}

static guint
dlp_pipeline_get_n_items (GListModel *model)
{
  return DLP_PIPELINE (model)->n_listed;
}

static gpointer
dlp_pipeline_get_item (GListModel *model, guint position)
{
  DlpPipeline *self = DLP_PIPELINE (model);
  g_autoptr (GPtrArray) elements = dlp_pipeline_ref_elements (self);

  return position < self->n_listed ? g_object_ref (g_ptr_array_index (elements, position)) : NULL;
}

static void
list_model_init (GListModelInterface *iface)
{
  iface->get_item_type = dlp_pipeline_get_item_type;
  iface->get_n_items = dlp_pipeline_get_n_items;
  iface->get_item = dlp_pipeline_get_item;
}

G_DEFINE_FINAL_TYPE_WITH_CODE (DlpPipeline,
                               dlp_pipeline,
                               G_TYPE_OBJECT,
                               G_IMPLEMENT_INTERFACE (G_TYPE_LIST_MODEL, list_model_init))

G_DEFINE_ENUM_TYPE (DlpRunnerKind,
                    dlp_runner_kind,
                    G_DEFINE_ENUM_VALUE (DLP_RUNNER_AUTO, "auto"),
                    G_DEFINE_ENUM_VALUE (DLP_RUNNER_THREADS, "threads"),
                    G_DEFINE_ENUM_VALUE (DLP_RUNNER_POOL, "pool"),
                    G_DEFINE_ENUM_VALUE (DLP_RUNNER_SEQUENTIAL, "sequential"))

G_DEFINE_ENUM_TYPE (DlpPipelineStatus,
                    dlp_pipeline_status,
                    G_DEFINE_ENUM_VALUE (DLP_PIPELINE_NEW, "new"),
                    G_DEFINE_ENUM_VALUE (DLP_PIPELINE_READY, "ready"),
                    G_DEFINE_ENUM_VALUE (DLP_PIPELINE_RUNNING, "running"),
                    G_DEFINE_ENUM_VALUE (DLP_PIPELINE_PAUSED, "paused"),
                    G_DEFINE_ENUM_VALUE (DLP_PIPELINE_FINISHED, "finished"),
                    G_DEFINE_ENUM_VALUE (DLP_PIPELINE_STOPPED, "stopped"),
                    G_DEFINE_ENUM_VALUE (DLP_PIPELINE_FAILED, "failed"),
                    G_DEFINE_ENUM_VALUE (DLP_PIPELINE_ABORTED, "aborted"))

G_DEFINE_ENUM_TYPE (DlpStallAction,
                    dlp_stall_action,
                    G_DEFINE_ENUM_VALUE (DLP_STALL_ACTION_REPORT, "report"),
                    G_DEFINE_ENUM_VALUE (DLP_STALL_ACTION_FAIL, "fail"))

static void
set_setting (DlpPipeline *self, guint id, const GValue *value, GParamSpec *pspec)
{
  switch (id)
    {
    case PROP_SEED:
      self->run->seed = g_value_get_uint64 (value);
      self->seed_given = TRUE;
      break;
    case PROP_STATE_DIR:
      g_free (self->state_path);
      self->state_path = g_value_dup_string (value);
      break;
    case PROP_QUARANTINE:
      g_free (self->quarantine_path);
      self->quarantine_path = g_value_dup_string (value);
      break;
    case PROP_MEMORY:
      self->memory = g_value_get_uint64 (value);
      break;
    case PROP_WORKERS:
      self->workers = g_value_get_uint (value);
      break;
    case PROP_RUNNER:
      self->runner_kind = g_value_get_enum (value);
      break;
    case PROP_CHECKPOINT_INTERVAL:
      self->checkpoint_interval = g_value_get_int64 (value);
      break;
    case PROP_LINK_BATCHES:
      self->link_batches = g_value_get_uint (value);
      break;
    case PROP_BATCH_RECORDS:
      self->run->batch_records = g_value_get_uint (value);
      break;
    case PROP_RANDOM_YIELDS:
      self->run->random_yields = g_value_get_boolean (value);
      break;
    case PROP_STRICT:
      self->run->strict = g_value_get_boolean (value);
      break;
    case PROP_OVERWRITE:
      self->overwrite = g_value_get_boolean (value);
      break;
    case PROP_RESTART:
      self->restart = g_value_get_boolean (value);
      break;
    case PROP_STALL_ACTION:
      self->stall_action = g_value_get_enum (value);
      break;
    case PROP_STALL_TIMEOUT:
      self->stall_timeout = g_value_get_int64 (value);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (self, id, pspec);
    }
}

static void
dlp_pipeline_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  DlpPipeline *self = DLP_PIPELINE (object);

  if (self->prepared)
    {
      g_critical ("property “%s” of a pipeline is set before it is prepared", pspec->name);
      return;
    }
  set_setting (self, id, value, pspec);
}

static void
get_progress_property (DlpPipeline *self, guint id, GValue *value, GParamSpec *pspec)
{
  guint64 totals[5];
  double before, fraction, elapsed = dlp_pipeline_get_elapsed (self, &before);
  guint files_done, files_total;

  dlp_pipeline_get_progress (self, totals, &fraction, &files_done, &files_total);
  switch (id)
    {
    case PROP_FRACTION:
      g_value_set_double (value, fraction);
      break;
    case PROP_FILES_DONE:
      g_value_set_uint (value, files_done);
      break;
    case PROP_FILES_TOTAL:
      g_value_set_uint (value, files_total);
      break;
    case PROP_RECORDS:
      g_value_set_uint64 (value, totals[0]);
      break;
    case PROP_TOKENS:
      g_value_set_uint64 (value, totals[1]);
      break;
    case PROP_BYTES:
      g_value_set_uint64 (value, totals[2]);
      break;
    case PROP_ELAPSED:
      g_value_set_double (value, elapsed);
      break;
    case PROP_ETA:
      g_value_set_double (value, fraction > 0.0 ? elapsed / fraction - elapsed : -1.0);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (self, id, pspec);
    }
}

static void
dlp_pipeline_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  DlpPipeline *self = DLP_PIPELINE (object);

  switch (id)
    {
    case PROP_SEED:
      g_value_set_uint64 (value, self->run->seed);
      break;
    case PROP_STATE_DIR:
      g_value_set_string (value, self->state_path);
      break;
    case PROP_QUARANTINE:
      g_value_set_string (value, self->quarantine_path);
      break;
    case PROP_MEMORY:
      g_value_set_uint64 (value, self->memory);
      break;
    case PROP_WORKERS:
      g_value_set_uint (value, self->workers);
      break;
    case PROP_RUNNER:
      g_value_set_enum (value, self->runner_kind);
      break;
    case PROP_CHECKPOINT_INTERVAL:
      g_value_set_int64 (value, self->checkpoint_interval);
      break;
    case PROP_LINK_BATCHES:
      g_value_set_uint (value, self->link_batches);
      break;
    case PROP_BATCH_RECORDS:
      g_value_set_uint (value, self->run->batch_records);
      break;
    case PROP_RANDOM_YIELDS:
      g_value_set_boolean (value, self->run->random_yields);
      break;
    case PROP_STRICT:
      g_value_set_boolean (value, self->run->strict);
      break;
    case PROP_OVERWRITE:
      g_value_set_boolean (value, self->overwrite);
      break;
    case PROP_RESTART:
      g_value_set_boolean (value, self->restart);
      break;
    case PROP_STALL_ACTION:
      g_value_set_enum (value, self->stall_action);
      break;
    case PROP_STALL_TIMEOUT:
      g_value_set_int64 (value, self->stall_timeout);
      break;
    case PROP_STATUS:
      g_value_set_enum (value, dlp_pipeline_get_status (self));
      break;
    default:
      get_progress_property (self, id, value, pspec);
    }
}

static void
dlp_pipeline_dispose (GObject *object)
{
  DlpPipeline *self = DLP_PIPELINE (object);
  g_autoptr (GError) error = NULL;

  if (getpid () == self->pid)
    {
      if (dlp_pipeline_keep_for_run (self))
        return;
      error = g_error_new (DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_STATE,
                           "the pipeline is there no more");
      dlp_pipeline_tell_over (self, error);
    }

  G_OBJECT_CLASS (dlp_pipeline_parent_class)->dispose (object);
}

static void
dlp_pipeline_finalize (GObject *object)
{
  DlpPipeline *self = DLP_PIPELINE (object);

  /* Its threads and locks are the parent's: in a child of fork() nothing of them can be taken down.
   */
  if (getpid () != self->pid)
    {
      G_OBJECT_CLASS (dlp_pipeline_parent_class)->finalize (object);
      return;
    }
  g_clear_pointer (&self->captured, dlp_checkpointer_free);
  g_clear_pointer (&self->order, g_ptr_array_unref);
  g_clear_pointer (&self->elements, g_ptr_array_unref);
  g_clear_pointer (&self->graph, dlp_graph_free);
  g_clear_pointer (&self->options, g_hash_table_unref);
  g_clear_pointer (&self->saved, g_variant_unref);
  g_clear_pointer (&self->run, dlp_context_free);
  g_clear_pointer (&self->dir, dlp_state_dir_free);
  g_clear_pointer (&self->main_context, g_main_context_unref);
  g_clear_error (&self->error);
  g_free (self->failed_element);
  g_free (self->state_path);
  g_free (self->quarantine_path);
  pthread_cond_destroy (&self->cond);
  pthread_mutex_destroy (&self->lock);

  G_OBJECT_CLASS (dlp_pipeline_parent_class)->finalize (object);
}

static void
install_settings (void)
{
  const GParamFlags rw = DLP_PARAM_READWRITE;

  properties[PROP_SEED] =
      g_param_spec_uint64 ("seed", NULL, "Seed of all random draws", 0, G_MAXUINT64, 0, rw);
  properties[PROP_STATE_DIR] = g_param_spec_string (
      "state-dir", NULL, "Folder of the checkpoints, from which a run goes on; none: it cannot",
      NULL, rw);
  properties[PROP_QUARANTINE] = g_param_spec_string (
      "quarantine", NULL, "File for bad records; none: one in the state folder", NULL, rw);
  properties[PROP_MEMORY] = g_param_spec_uint64 (
      "memory", NULL,
      "Memory for queues, buffers and caches; 0: 64 MiB + 48 MiB a worker, at most a quarter", 0,
      G_MAXUINT64, 0, rw | DLP_PARAM_BYTES);
  properties[PROP_WORKERS] = g_param_spec_uint (
      "workers", NULL, "Threads for stateless work; 0: the CPU budget", 0, 1024, 0, rw);
  properties[PROP_RUNNER] = g_param_spec_enum ("runner", NULL, "How elements get their turns",
                                               DLP_TYPE_RUNNER_KIND, DLP_RUNNER_AUTO, rw);
  properties[PROP_CHECKPOINT_INTERVAL] = g_param_spec_int64 (
      "checkpoint-interval", NULL, "Time between checkpoints; 0: 10 s, and at most 1 % of the time",
      0, G_MAXINT64, 0, rw | DLP_PARAM_DURATION);
  properties[PROP_LINK_BATCHES] = g_param_spec_uint (
      "link-batches", NULL, "Record batches that a link holds", 1, 65536, 16, rw);
  properties[PROP_BATCH_RECORDS] =
      g_param_spec_uint ("batch-records", NULL,
                         "Records in a record batch at most; 0: as many as fit", 0, 65536, 0, rw);
  properties[PROP_RANDOM_YIELDS] = g_param_spec_boolean (
      "random-yields", NULL, "For tests: threads give way at random", FALSE, rw);
  properties[PROP_STRICT] =
      g_param_spec_boolean ("strict", NULL, "The first fault ends the run", FALSE, rw);
  properties[PROP_OVERWRITE] = g_param_spec_boolean (
      "overwrite", NULL, "Replace the output of another run, as its manifest lists it", FALSE, rw);
  properties[PROP_RESTART] = g_param_spec_boolean (
      "restart", NULL, "Discard this run's state and outputs first", FALSE, rw);
  properties[PROP_STALL_ACTION] =
      g_param_spec_enum ("stall-action", NULL, "What happens where nothing moves any more",
                         DLP_TYPE_STALL_ACTION, DLP_STALL_ACTION_REPORT, rw);
  properties[PROP_STALL_TIMEOUT] = g_param_spec_int64 (
      "stall-timeout", NULL, "How long nothing may move before that is a stall; 0: for ever", 0,
      G_MAXINT64, DLP_WATCHDOG_LIMIT, rw | DLP_PARAM_DURATION);
}

static void
install_progress (void)
{
  const GParamFlags r = G_PARAM_READABLE | G_PARAM_STATIC_STRINGS;

  properties[PROP_STATUS] = g_param_spec_enum ("status", NULL, "Where its life it is",
                                               DLP_TYPE_PIPELINE_STATUS, DLP_PIPELINE_NEW, r);
  properties[PROP_FRACTION] = g_param_spec_double (
      "fraction", NULL, "Share of the input that has passed through; -1: unknown", -1.0, 1.0, -1.0,
      r);
  properties[PROP_FILES_DONE] =
      g_param_spec_uint ("files-done", NULL, "Files read", 0, G_MAXUINT, 0, r);
  properties[PROP_FILES_TOTAL] =
      g_param_spec_uint ("files-total", NULL, "Files to read", 0, G_MAXUINT, 0, r);
  properties[PROP_RECORDS] = g_param_spec_uint64 (
      "records", NULL,
      "Records that reached the sinks; copies made by a tee count once, bad records do not", 0,
      G_MAXUINT64, 0, r);
  properties[PROP_TOKENS] =
      g_param_spec_uint64 ("tokens", NULL, "Tokens that reached the sinks", 0, G_MAXUINT64, 0, r);
  properties[PROP_BYTES] = g_param_spec_uint64 ("bytes", NULL, "Bytes of input files that are read",
                                                0, G_MAXUINT64, 0, r);
  properties[PROP_ELAPSED] =
      g_param_spec_double ("elapsed", NULL, "Seconds, over all attempts", 0.0, G_MAXDOUBLE, 0.0, r);
  properties[PROP_ETA] = g_param_spec_double (
      "eta", NULL, "Seconds to the end, estimated; -1: unknown", -1.0, G_MAXDOUBLE, -1.0, r);
}

static void
dlp_pipeline_class_init (DlpPipelineClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);

  object_class->set_property = dlp_pipeline_set_property;
  object_class->get_property = dlp_pipeline_get_property;
  object_class->dispose = dlp_pipeline_dispose;
  object_class->finalize = dlp_pipeline_finalize;
  install_settings ();
  install_progress ();
  g_object_class_install_properties (object_class, N_PROPS, properties);
}

static void
context_failed (DlpContext *context, DlpElement *element, GError *error)
{
  dlp_pipeline_fail (context->owner, element, error);
}

static void
context_snapshot_taken (DlpContext *context, DlpElement *element)
{
  DlpPipeline *self = context->owner;

  /* Of a run that has ended nobody waits for it. */
  if (self->checkpointer != NULL)
    dlp_checkpointer_snapshot_taken (self->checkpointer);
}

static void
dlp_pipeline_init (DlpPipeline *self)
{
  self->main_context = g_main_context_ref_thread_default ();
  self->pid = getpid ();
  self->elements = g_ptr_array_new_with_free_func (g_object_unref);
  self->order = g_ptr_array_new ();
  self->options = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  self->run = dlp_context_new ();
  self->run->main_context = self->main_context;
  self->run->owner = self;
  self->run->fail = context_failed;
  self->run->snapshot_taken = context_snapshot_taken;
  self->link_batches = 16;
  self->stall_timeout = dlp_watchdog_get_default_limit ();
  pthread_mutex_init (&self->lock, NULL);
  pthread_cond_init (&self->cond, NULL);
}

DlpPipeline *
dlp_pipeline_new (void)
{
  return g_object_new (DLP_TYPE_PIPELINE, NULL);
}

DlpPipeline *
dlp_pipeline_new_from_string (const char *text, GError **error)
{
  g_autoptr (DlpPipeline) self = dlp_pipeline_new ();

  self->graph = dlp_graph_parse (text, error);
  if (self->graph == NULL || !dlp_pipeline_build_graph (self, error))
    return NULL;
  return g_steal_pointer (&self);
}

GVariant *
dlp_pipeline_read_state (const char *state_dir, GError **error)
{
  g_autoptr (DlpStateDir) dir = dlp_state_dir_open_read_only (state_dir, error);
  g_autofree char *fell_back = NULL;
  GError *local = NULL;
  GVariant *payload;
  guint64 generation;

  if (dir == NULL)
    return NULL;
  payload = dlp_state_dir_load (dir, &generation, &fell_back, &local);
  if (payload == NULL && local == NULL)
    local = g_error_new (DLP_STATE_ERROR, DLP_STATE_ERROR_CORRUPT,
                         "%s: there is no checkpoint to go on from", state_dir);
  if (local != NULL)
    g_propagate_error (error, local);
  return payload;
}

DlpPipeline *
dlp_pipeline_make_from_state (const char *state_dir, GVariant *payload, GError **error)
{
  g_autoptr (DlpPipeline) self = NULL;
  const char *graph;

  if (!g_variant_lookup (payload, "graph", "^&ay", &graph))
    {
      g_set_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CORRUPT,
                   "%s: there is no checkpoint to go on from", state_dir);
      return NULL;
    }
  self = dlp_pipeline_new_from_string (graph, error);
  if (self == NULL)
    return NULL;
  self->from_state = true;
  self->state_path = g_strdup (state_dir);
  g_variant_lookup (payload, "quarantine", "^ay", &self->quarantine_path);
  return g_steal_pointer (&self);
}

DlpPipeline *
dlp_pipeline_new_from_state (const char *state_dir, GError **error)
{
  g_autoptr (GVariant) payload = dlp_pipeline_read_state (state_dir, error);

  return payload != NULL ? dlp_pipeline_make_from_state (state_dir, payload, error) : NULL;
}

gboolean
dlp_pipeline_add (DlpPipeline *self, DlpElement *element, GError **error)
{
  if (self->prepared)
    {
      g_set_error (error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_STATE,
                   "the pipeline is built already");
      return FALSE;
    }
  if (dlp_element_get_private (element)->name == NULL)
    {
      guint n = 0;
      g_autofree char *name = NULL;

      do
        {
          g_free (name);
          name = g_strdup_printf ("%s%u", dlp_element_get_factory (element), n++);
        }
      while (dlp_pipeline_get_element (self, name) != NULL);
      dlp_element_set_name (element, name);
    }
  if (dlp_pipeline_get_element (self, dlp_element_get_name (element)) != NULL)
    {
      g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_LINK,
                   "an element named “%s” is there already", dlp_element_get_name (element));
      return FALSE;
    }
  g_ptr_array_add (self->elements, g_object_ref (element));
  self->n_listed++;
  g_list_model_items_changed (G_LIST_MODEL (self), self->n_listed - 1, 0, 1);
  return TRUE;
}

/* The pipeline goes on owning the element, also where prepare() takes another list. */
DlpElement *
dlp_pipeline_get_element (DlpPipeline *self, const char *name)
{
  g_autoptr (GPtrArray) elements = dlp_pipeline_ref_elements (self);

  for (guint i = 0; i < elements->len; i++)
    if (strcmp (dlp_element_get_name (g_ptr_array_index (elements, i)), name) == 0)
      return g_ptr_array_index (elements, i);
  return NULL;
}

GPtrArray *
dlp_pipeline_ref_elements (DlpPipeline *self)
{
  GPtrArray *elements;

  pthread_mutex_lock (&self->lock);
  elements = g_ptr_array_ref (self->elements);
  pthread_mutex_unlock (&self->lock);
  return elements;
}

DlpPipelineStatus
dlp_pipeline_get_status (DlpPipeline *self)
{
  DlpPipelineStatus status;

  pthread_mutex_lock (&self->lock);
  status = self->status;
  pthread_mutex_unlock (&self->lock);
  return status;
}

void
dlp_pipeline_set_status (DlpPipeline *self, DlpPipelineStatus status)
{
  pthread_mutex_lock (&self->lock);
  self->status = status;
  pthread_mutex_unlock (&self->lock);
}

GError *
dlp_pipeline_get_error (DlpPipeline *self)
{
  GError *error;

  pthread_mutex_lock (&self->lock);
  error = self->error != NULL ? g_error_copy (self->error) : NULL;
  pthread_mutex_unlock (&self->lock);
  return error;
}

gboolean
dlp_pipeline_is_complete (DlpPipeline *self)
{
  return dlp_flag_get (self->complete);
}

char *
dlp_pipeline_get_default_state_dir (DlpPipeline *self)
{
  g_autoptr (GPtrArray) elements = dlp_pipeline_ref_elements (self);

  for (guint i = 0; i < elements->len; i++)
    {
      DlpElement *element = g_ptr_array_index (elements, i);
      g_autofree char *location = NULL;

      if (!DLP_IS_SINK (element) || DLP_SINK_GET_CLASS (element)->get_location == NULL)
        continue;
      location = DLP_SINK_GET_CLASS (element)->get_location (DLP_SINK (element));
      if (location != NULL)
        return g_strconcat (location, ".dlpipe", NULL);
    }
  return NULL;
}
