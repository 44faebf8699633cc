/* SPDX-License-Identifier: MIT */

#include <errno.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "dlp-async-private.h"
#include "dlp-fanout-deal-private.h"
#include "dlp-fanout-private.h"

#define DEFAULT_GRACE (20 * G_USEC_PER_SEC)
#define DEFAULT_TIMEOUT (60 * G_USEC_PER_SEC)
#define DEFAULT_PLAN_TIMEOUT (600 * G_USEC_PER_SEC)
#define DEFAULT_DEVICE_ENV "CUDA_VISIBLE_DEVICES"
#define MAX_WORKERS 1024

enum
{
  PROP_0,
  PROP_WORKERS,
  PROP_TASKS,
  PROP_RETRIES,
  PROP_STATE_DIR,
  PROP_SEED,
  PROP_MEMORY,
  PROP_THREADS,
  PROP_CHECKPOINT_INTERVAL,
  PROP_STRICT,
  PROP_OVERWRITE,
  PROP_RESTART,
  PROP_MERGE,
  PROP_REMOVE_PARTS,
  PROP_UPDATE,
  PROP_ACCEPT_CHANGED,
  PROP_RETRY_FAILED,
  PROP_STALL_TIMEOUT,
  PROP_ANSWER_TIMEOUT,
  PROP_PLAN_TIMEOUT,
  PROP_GRACE,
  PROP_DEVICES,
  PROP_DEVICE_ENV,
  PROP_RANK,
  PROP_WORLD_SIZE,
  PROP_WAIT_FOR_LOCK,
  PROP_STATUS,
  PROP_FRACTION,
  PROP_TASKS_DONE,
  PROP_TASKS_FAILED,
  PROP_TASKS_TOTAL,
  PROP_FILES_TOTAL,
  PROP_RECORDS,
  PROP_TOKENS,
  PROP_BYTES,
  PROP_ELAPSED,
  N_PROPS
};

static GParamSpec *properties[N_PROPS];

/* ---- the list of workers ---- */

static GType
dlp_fanout_get_item_type (GListModel *model)
{
  return DLP_TYPE_FANOUT_WORKER;
}

static guint
dlp_fanout_get_n_items (GListModel *model)
{
  return DLP_FANOUT (model)->workers->len;
}

static gpointer
dlp_fanout_get_item (GListModel *model, guint position)
{
  DlpFanout *self = DLP_FANOUT (model);

  return position < self->workers->len ? g_object_ref (self->workers->pdata[position]) : NULL;
}

static void
list_model_init (GListModelInterface *iface)
{
  iface->get_item_type = dlp_fanout_get_item_type;
  iface->get_n_items = dlp_fanout_get_n_items;
  iface->get_item = dlp_fanout_get_item;
}

G_DEFINE_FINAL_TYPE_WITH_CODE (DlpFanout,
                               dlp_fanout,
                               G_TYPE_OBJECT,
                               G_IMPLEMENT_INTERFACE (G_TYPE_LIST_MODEL, list_model_init))

/* ---- properties ---- */

static guint *
find_number (DlpFanoutSettings *settings, guint id)
{
  switch (id)
    {
    case PROP_WORKERS:
      return &settings->workers;
    case PROP_TASKS:
      return &settings->tasks;
    case PROP_RETRIES:
      return &settings->retries;
    case PROP_THREADS:
      return &settings->threads;
    case PROP_RANK:
      return &settings->rank;
    case PROP_WORLD_SIZE:
      return &settings->world_size;
    default:
      return NULL;
    }
}

static gint64 *
find_time (DlpFanoutSettings *settings, guint id)
{
  switch (id)
    {
    case PROP_CHECKPOINT_INTERVAL:
      return &settings->checkpoint_interval;
    case PROP_STALL_TIMEOUT:
      return &settings->stall_timeout;
    case PROP_ANSWER_TIMEOUT:
      return &settings->answer_timeout;
    case PROP_PLAN_TIMEOUT:
      return &settings->plan_timeout;
    case PROP_GRACE:
      return &settings->grace;
    default:
      return NULL;
    }
}

static gboolean *
find_flag (DlpFanoutSettings *settings, guint id)
{
  switch (id)
    {
    case PROP_STRICT:
      return &settings->strict;
    case PROP_OVERWRITE:
      return &settings->overwrite;
    case PROP_RESTART:
      return &settings->restart;
    case PROP_WAIT_FOR_LOCK:
      return &settings->wait_for_lock;
    case PROP_MERGE:
      return &settings->merge;
    case PROP_REMOVE_PARTS:
      return &settings->remove_parts;
    case PROP_UPDATE:
      return &settings->update;
    case PROP_ACCEPT_CHANGED:
      return &settings->accept_changed;
    case PROP_RETRY_FAILED:
      return &settings->retry_failed;
    default:
      return NULL;
    }
}

static void
set_other (DlpFanout *self, guint id, const GValue *value, GParamSpec *pspec)
{
  switch (id)
    {
    case PROP_STATE_DIR:
      g_free (self->settings.state_dir);
      self->settings.state_dir = g_value_dup_string (value);
      break;
    case PROP_SEED:
      g_object_set_property (G_OBJECT (self->pattern), "seed", value);
      break;
    case PROP_MEMORY:
      self->settings.memory = g_value_get_uint64 (value);
      break;
    case PROP_DEVICES:
      g_strfreev (self->settings.devices);
      self->settings.devices = g_value_dup_boxed (value);
      break;
    case PROP_DEVICE_ENV:
      g_free (self->settings.device_env);
      self->settings.device_env = g_value_dup_string (value);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (self, id, pspec);
    }
}

static void
dlp_fanout_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  DlpFanout *self = DLP_FANOUT (object);
  guint *number = find_number (&self->settings, id);
  gint64 *time = find_time (&self->settings, id);
  gboolean *flag = find_flag (&self->settings, id);

  if (self->claimed || self->pattern == NULL)
    g_critical ("property “%s” of a fan-out is set before it is prepared", pspec->name);
  else if (number != NULL)
    *number = g_value_get_uint (value);
  else if (time != NULL)
    *time = g_value_get_int64 (value);
  else if (flag != NULL)
    *flag = g_value_get_boolean (value);
  else
    set_other (self, id, value, pspec);
}

static double
get_elapsed (DlpFanout *self)
{
  gint64 end = self->ended != 0 ? self->ended : g_get_monotonic_time ();

  return self->began != 0 ? (double) (end - self->began) / G_USEC_PER_SEC : 0;
}

static void
get_progress (DlpFanout *self, guint id, GValue *value, GParamSpec *pspec)
{
  bool prepared = __atomic_load_n (&self->prepared, __ATOMIC_ACQUIRE);
  DlpFanoutSums sums = { .fraction = -1 };
  double elapsed;

  pthread_mutex_lock (&self->lock);
  if (prepared)
    dlp_fanout_sum_up (self, &sums);
  elapsed = get_elapsed (self);
  pthread_mutex_unlock (&self->lock);
  switch (id)
    {
    case PROP_FRACTION:
      g_value_set_double (value, sums.fraction);
      break;
    case PROP_TASKS_DONE:
      g_value_set_uint (value, sums.done);
      break;
    case PROP_TASKS_FAILED:
      g_value_set_uint (value, sums.failed);
      break;
    case PROP_TASKS_TOTAL:
      g_value_set_uint (value, prepared ? self->own_tasks : 0);
      break;
    case PROP_FILES_TOTAL:
      g_value_set_uint (value, prepared ? self->own_files : 0);
      break;
    case PROP_RECORDS:
      g_value_set_uint64 (value, sums.records);
      break;
    case PROP_TOKENS:
      g_value_set_uint64 (value, sums.tokens);
      break;
    case PROP_BYTES:
      g_value_set_uint64 (value, sums.bytes);
      break;
    case PROP_ELAPSED:
      g_value_set_double (value, elapsed);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (self, id, pspec);
    }
}

/* Until it is prepared, on whatever thread, the pattern has it. */
static void
get_seed (DlpFanout *self, GValue *value)
{
  g_autoptr (DlpPipeline) pattern = NULL;

  pthread_mutex_lock (&self->lock);
  pattern = self->pattern != NULL ? g_object_ref (self->pattern) : NULL;
  pthread_mutex_unlock (&self->lock);
  if (pattern != NULL)
    g_object_get_property (G_OBJECT (pattern), "seed", value);
  else
    g_value_set_uint64 (value, self->seed);
}

static void
get_other (DlpFanout *self, guint id, GValue *value, GParamSpec *pspec)
{
  switch (id)
    {
    case PROP_STATE_DIR:
      g_value_set_string (value, self->settings.state_dir);
      break;
    case PROP_SEED:
      get_seed (self, value);
      break;
    case PROP_MEMORY:
      g_value_set_uint64 (value, self->settings.memory);
      break;
    case PROP_DEVICES:
      g_value_set_boxed (value, self->settings.devices);
      break;
    case PROP_DEVICE_ENV:
      g_value_set_string (value, self->settings.device_env);
      break;
    case PROP_STATUS:
      g_value_set_enum (value, dlp_fanout_get_status (self));
      break;
    default:
      get_progress (self, id, value, pspec);
    }
}

static void
dlp_fanout_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  DlpFanout *self = DLP_FANOUT (object);
  guint *number = find_number (&self->settings, id);
  gint64 *time = find_time (&self->settings, id);
  gboolean *flag = find_flag (&self->settings, id);

  if (number != NULL)
    g_value_set_uint (value, *number);
  else if (time != NULL)
    g_value_set_int64 (value, *time);
  else if (flag != NULL)
    g_value_set_boolean (value, *flag);
  else
    get_other (self, id, value, pspec);
}

static void
install_numbers (void)
{
  const GParamFlags rw = DLP_PARAM_READWRITE;

  properties[PROP_WORKERS] = g_param_spec_uint (
      "workers", NULL, "Processes that run tasks; 0: one for each device, or for four CPUs", 0,
      MAX_WORKERS, 0, rw);
  properties[PROP_TASKS] =
      g_param_spec_uint ("tasks", NULL, "Tasks that the files are dealt to; 0: one for each 16 GiB",
                         0, DLP_FANOUT_MOST_TASKS, 0, rw);
  properties[PROP_RETRIES] = g_param_spec_uint (
      "retries", NULL, "How often a task is begun again from its checkpoint", 0, 1000, 2, rw);
  properties[PROP_SEED] =
      g_param_spec_uint64 ("seed", NULL, "Seed of all random draws", 0, G_MAXUINT64, 0, rw);
  properties[PROP_MEMORY] = g_param_spec_uint64 (
      "memory", NULL,
      "Memory of all workers together for queues, buffers and caches; 0: of each what a pipeline "
      "has, together at most a quarter",
      0, G_MAXUINT64, 0, rw | DLP_PARAM_BYTES);
  properties[PROP_THREADS] = g_param_spec_uint (
      "threads", NULL, "Threads for stateless work of all workers together; 0: the CPU budget", 0,
      MAX_WORKERS, 0, rw);
  properties[PROP_RANK] =
      g_param_spec_uint ("rank", NULL, "Of several fan-outs that share the job, this one's number",
                         0, G_MAXINT, 0, rw);
  properties[PROP_WORLD_SIZE] =
      g_param_spec_uint ("world-size", NULL, "How many fan-outs share the job", 1, G_MAXINT, 1, rw);
}

static void
install_others (void)
{
  const GParamFlags rw = DLP_PARAM_READWRITE;

  properties[PROP_STATE_DIR] = g_param_spec_string (
      "state-dir", NULL, "Folder of the job; none: LOCATION.fanout of the first sink", NULL, rw);
  properties[PROP_CHECKPOINT_INTERVAL] = g_param_spec_int64 (
      "checkpoint-interval", NULL,
      "Time between checkpoints of a task; 0: 10 s, and at most 1 % of the time", 0, G_MAXINT64, 0,
      rw | DLP_PARAM_DURATION);
  properties[PROP_STRICT] =
      g_param_spec_boolean ("strict", NULL, "The first fault of a task ends it", FALSE, rw);
  properties[PROP_OVERWRITE] = g_param_spec_boolean (
      "overwrite", NULL, "Replace the output of another run, as its manifest lists it", FALSE, rw);
  properties[PROP_RESTART] = g_param_spec_boolean (
      "restart", NULL, "Discard the states and outputs of the job first", FALSE, rw);
  properties[PROP_WAIT_FOR_LOCK] = g_param_spec_boolean (
      "wait-for-lock", NULL, "Wait for the end of another fan-out that holds the job or the rank",
      FALSE, rw);
  properties[PROP_MERGE] = g_param_spec_boolean (
      "merge", NULL, "Make one output of the parts when all tasks are done", FALSE, rw);
  properties[PROP_REMOVE_PARTS] = g_param_spec_boolean (
      "remove-parts", NULL, "Remove the parts once they are merged", FALSE, rw);
  properties[PROP_UPDATE] = g_param_spec_boolean (
      "update", NULL, "Add tasks for files that are new since the job was planned", FALSE, rw);
  properties[PROP_ACCEPT_CHANGED] = g_param_spec_boolean (
      "accept-changed", NULL,
      "With update: files may be gone or have changed; what was made of them stays", FALSE, rw);
  properties[PROP_RETRY_FAILED] =
      g_param_spec_boolean ("retry-failed", NULL, "Run the failed tasks of a job again", FALSE, rw);
  properties[PROP_STALL_TIMEOUT] = g_param_spec_int64 (
      "stall-timeout", NULL,
      "How long nothing may move in a task before it is begun again; 0: for ever", 0, G_MAXINT64,
      DEFAULT_TIMEOUT, rw | DLP_PARAM_DURATION);
  properties[PROP_ANSWER_TIMEOUT] = g_param_spec_int64 (
      "answer-timeout", NULL, "How long a worker may say nothing before it is killed; 0: for ever",
      0, G_MAXINT64, DEFAULT_TIMEOUT, rw | DLP_PARAM_DURATION);
  properties[PROP_PLAN_TIMEOUT] = g_param_spec_int64 (
      "plan-timeout", NULL, "How long other ranks wait for the plan of rank 0; 0: for ever", 0,
      G_MAXINT64, DEFAULT_PLAN_TIMEOUT, rw | DLP_PARAM_DURATION);
  properties[PROP_GRACE] = g_param_spec_int64 (
      "grace", NULL, "How long all tasks together have for their checkpoints after a stop", 0,
      G_MAXINT64, DEFAULT_GRACE, rw | DLP_PARAM_DURATION);
  properties[PROP_DEVICES] = g_param_spec_boxed (
      "devices", NULL, "Devices that are dealt to the workers in turn", G_TYPE_STRV, rw);
  properties[PROP_DEVICE_ENV] = g_param_spec_string (
      "device-env", NULL, "Environment variable that tells a worker its device", DEFAULT_DEVICE_ENV,
      rw);
}

static void
install_progress (void)
{
  const GParamFlags r = G_PARAM_READABLE | G_PARAM_STATIC_STRINGS;

  properties[PROP_STATUS] = g_param_spec_enum ("status", NULL, "Where in its life it is",
                                               DLP_TYPE_PIPELINE_STATUS, DLP_PIPELINE_NEW, r);
  properties[PROP_FRACTION] = g_param_spec_double (
      "fraction", NULL, "Share of the input that has passed through; -1: not planned yet", -1, 1,
      -1, r);
  properties[PROP_TASKS_DONE] =
      g_param_spec_uint ("tasks-done", NULL, "Tasks that are complete", 0, G_MAXUINT, 0, r);
  properties[PROP_TASKS_FAILED] =
      g_param_spec_uint ("tasks-failed", NULL, "Tasks that are given up", 0, G_MAXUINT, 0, r);
  properties[PROP_TASKS_TOTAL] = g_param_spec_uint (
      "tasks-total", NULL, "Tasks that it runs; 0: not planned yet", 0, G_MAXUINT, 0, r);
  properties[PROP_FILES_TOTAL] =
      g_param_spec_uint ("files-total", NULL, "Input files of these tasks", 0, G_MAXUINT, 0, r);
  properties[PROP_RECORDS] =
      g_param_spec_uint64 ("records", NULL, "Records that reached the sinks", 0, G_MAXUINT64, 0, r);
  properties[PROP_TOKENS] =
      g_param_spec_uint64 ("tokens", NULL, "Tokens that reached the sinks", 0, G_MAXUINT64, 0, r);
  properties[PROP_BYTES] = g_param_spec_uint64 ("bytes", NULL, "Bytes of input files that are read",
                                                0, G_MAXUINT64, 0, r);
  properties[PROP_ELAPSED] =
      g_param_spec_double ("elapsed", NULL, "Seconds of this run", 0, G_MAXDOUBLE, 0, r);
}

/* ---- life ---- */

static void
dlp_fanout_finalize (GObject *object)
{
  DlpFanout *self = DLP_FANOUT (object);

  g_ptr_array_unref (self->places);
  g_ptr_array_unref (self->tasks);
  g_ptr_array_unref (self->folders);
  g_ptr_array_unref (self->said);
  g_ptr_array_unref (self->merged);
  g_object_unref (self->merging);
  g_ptr_array_unref (self->workers);
  g_clear_object (&self->pattern);
  g_clear_pointer (&self->plan, dlp_fanout_plan_free);
  g_clear_pointer (&self->job, dlp_fanout_job_free);
  g_clear_pointer (&self->main_context, g_main_context_unref);
  g_clear_error (&self->fatal);
  if (self->worker_log >= 0)
    close (self->worker_log);
  if (self->wake_fd >= 0)
    close (self->wake_fd);
  g_free (self->graph);
  g_free (self->job_id);
  g_free (self->program);
  g_free (self->settings.state_dir);
  g_free (self->settings.device_env);
  g_strfreev (self->settings.devices);
  pthread_mutex_destroy (&self->lock);

  G_OBJECT_CLASS (dlp_fanout_parent_class)->finalize (object);
}

static void
dlp_fanout_class_init (DlpFanoutClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);

  object_class->set_property = dlp_fanout_set_property;
  object_class->get_property = dlp_fanout_get_property;
  object_class->finalize = dlp_fanout_finalize;
  install_numbers ();
  install_others ();
  install_progress ();
  g_object_class_install_properties (object_class, N_PROPS, properties);
}

static void
dlp_fanout_init (DlpFanout *self)
{
  self->main_context = g_main_context_ref_thread_default ();
  self->tasks = g_ptr_array_new_with_free_func (dlp_fanout_task_free);
  self->places = g_ptr_array_new_with_free_func (dlp_fanout_place_free);
  self->folders = g_ptr_array_new_with_free_func (g_free);
  self->merged = g_ptr_array_new_with_free_func (g_free);
  self->merging = g_cancellable_new ();
  self->said = g_ptr_array_new_with_free_func (g_free);
  self->workers = g_ptr_array_new_with_free_func (g_object_unref);
  self->worker_log = -1;
  self->wake_fd = eventfd (0, EFD_CLOEXEC | EFD_NONBLOCK);
  self->settings = (DlpFanoutSettings){ .retries = 2,
                                        .world_size = 1,
                                        .stall_timeout = DEFAULT_TIMEOUT,
                                        .answer_timeout = DEFAULT_TIMEOUT,
                                        .plan_timeout = DEFAULT_PLAN_TIMEOUT,
                                        .grace = DEFAULT_GRACE };
  self->settings.device_env = g_strdup (DEFAULT_DEVICE_ENV);
  pthread_mutex_init (&self->lock, NULL);
}

DlpFanout *
dlp_fanout_new_from_string (const char *text, GError **error)
{
  g_autoptr (DlpPipeline) pattern = dlp_pipeline_new_from_string (text, error);
  DlpFanout *self;

  if (pattern == NULL)
    return NULL;
  self = g_object_new (DLP_TYPE_FANOUT, NULL);
  self->pattern = g_steal_pointer (&pattern);
  return self;
}

gboolean
dlp_fanout_set_property_text (DlpFanout *self,
                              const char *element,
                              const char *property,
                              const char *value,
                              GError **error)
{
  g_return_val_if_fail (DLP_IS_FANOUT (self) && self->pattern != NULL, FALSE);

  return dlp_pipeline_set_property_text (self->pattern, element, property, value, error);
}

/* ---- the run ---- */

static void
set_status (DlpFanout *self, DlpPipelineStatus status)
{
  pthread_mutex_lock (&self->lock);
  self->status = status;
  pthread_mutex_unlock (&self->lock);
}

static DlpPipelineStatus
get_end (const GError *error)
{
  if (error == NULL)
    return DLP_PIPELINE_FINISHED;
  if (g_error_matches (error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_STOPPED))
    return DLP_PIPELINE_STOPPED;
  if (g_error_matches (error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_ABORTED) ||
      g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    return DLP_PIPELINE_ABORTED;
  return DLP_PIPELINE_FAILED;
}

/* False: it was tried before. */
static bool
claim (DlpFanout *self, bool *claimed, GError **error)
{
  bool first;

  pthread_mutex_lock (&self->lock);
  first = !*claimed;
  *claimed = true;
  pthread_mutex_unlock (&self->lock);
  if (!first)
    g_set_error (error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_STATE,
                 "a fan-out runs once; make another one from its graph");
  return first;
}

gboolean
dlp_fanout_prepare (DlpFanout *self, GCancellable *cancellable, GError **error)
{
  g_return_val_if_fail (DLP_IS_FANOUT (self), FALSE);
  g_return_val_if_fail (self->claimed || self->pattern != NULL, FALSE);

  if (__atomic_load_n (&self->prepared, __ATOMIC_ACQUIRE))
    return TRUE;
  if (!claim (self, &self->claimed, error))
    return FALSE;
  if (!dlp_fanout_make_ready (self, cancellable, error))
    {
      set_status (self, DLP_PIPELINE_FAILED);
      return FALSE;
    }
  set_status (self, DLP_PIPELINE_READY);
  __atomic_store_n (&self->prepared, true, __ATOMIC_RELEASE);
  return TRUE;
}

static void
begin (DlpFanout *self)
{
  pthread_mutex_lock (&self->lock);
  self->status = DLP_PIPELINE_RUNNING;
  self->began = g_get_monotonic_time ();
  pthread_mutex_unlock (&self->lock);
}

static void
end (DlpFanout *self, const GError *error)
{
  pthread_mutex_lock (&self->lock);
  self->status = get_end (error);
  self->ended = g_get_monotonic_time ();
  pthread_mutex_unlock (&self->lock);
}

static bool
run (DlpFanout *self, GCancellable *cancellable, GError **error)
{
  GError *failure = NULL;

  if (dlp_fanout_prepare (self, cancellable, &failure))
    {
      begin (self);
      dlp_fanout_supervise (self, cancellable, &failure);
    }
  end (self, failure);
  if (self->job != NULL)
    dlp_fanout_job_unlock (self->job);
  if (failure == NULL)
    return true;
  g_propagate_error (error, failure);
  return false;
}

gboolean
dlp_fanout_run (DlpFanout *self, GCancellable *cancellable, GError **error)
{
  g_return_val_if_fail (DLP_IS_FANOUT (self), FALSE);

  return claim (self, &self->was_run, error) && run (self, cancellable, error);
}

static bool
run_in_thread (gpointer source, GCancellable *cancellable, GError **error)
{
  return run (source, cancellable, error);
}

static void
end_notifies (gpointer source)
{
  dlp_fanout_end_notifies (source);
}

void
dlp_fanout_run_async (DlpFanout *self,
                      GCancellable *cancellable,
                      GAsyncReadyCallback callback,
                      gpointer user_data)
{
  DlpAsyncCall *call;
  GError *error = NULL;

  g_return_if_fail (DLP_IS_FANOUT (self));

  call = dlp_async_call_new (g_object_ref (self), self->main_context, cancellable,
                             dlp_fanout_run_async, callback, user_data);
  if (!claim (self, &self->was_run, &error))
    {
      dlp_async_call_return_boolean (call, error);
      return;
    }
  dlp_async_call_set_before (call, end_notifies);
  dlp_fanout_start_notifies (self);
  dlp_async_call_run (call, "dlp-fanout", run_in_thread);
}

gboolean
dlp_fanout_run_finish (DlpFanout *self, GAsyncResult *result, GError **error)
{
  g_return_val_if_fail (g_task_is_valid (result, self), FALSE);

  return g_task_propagate_boolean (G_TASK (result), error);
}

static void
ask (DlpFanout *self, bool *flag)
{
  guint64 one = 1;

  __atomic_store_n (flag, true, __ATOMIC_RELEASE);
  while (write (self->wake_fd, &one, sizeof one) < 0 && errno == EINTR)
    ;
  g_cancellable_cancel (self->merging);
}

static bool
check_asked (DlpFanout *self, GCancellable *cancellable, const char *until, GError **error)
{
  if (g_cancellable_set_error_if_cancelled (cancellable, error))
    return false;
  if (__atomic_load_n (&self->aborting, __ATOMIC_ACQUIRE))
    g_set_error (error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_ABORTED, "aborted before %s", until);
  else if (__atomic_load_n (&self->stopping, __ATOMIC_ACQUIRE))
    g_set_error (error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_STOPPED, "stopped before %s", until);
  else
    return true;
  return false;
}

bool
dlp_fanout_pause (DlpFanout *self,
                  GCancellable *cancellable,
                  gint64 us,
                  const char *until,
                  GError **error)
{
  GPollFD cancel = { .fd = -1 };
  struct pollfd fds[2] = { { self->wake_fd, POLLIN, 0 }, { -1, POLLIN, 0 } };
  bool can_poll;

  if (!check_asked (self, cancellable, until, error))
    return false;
  can_poll = cancellable != NULL && g_cancellable_make_pollfd (cancellable, &cancel);
  fds[1].fd = cancel.fd;
  poll (fds, G_N_ELEMENTS (fds), (int) (us / 1000));
  if (can_poll)
    g_cancellable_release_fd (cancellable);
  return check_asked (self, cancellable, until, error);
}

void
dlp_fanout_stop (DlpFanout *self)
{
  g_return_if_fail (DLP_IS_FANOUT (self));

  ask (self, &self->stopping);
}

void
dlp_fanout_abort (DlpFanout *self)
{
  g_return_if_fail (DLP_IS_FANOUT (self));

  ask (self, &self->aborting);
}

DlpPipelineStatus
dlp_fanout_get_status (DlpFanout *self)
{
  DlpPipelineStatus status;

  g_return_val_if_fail (DLP_IS_FANOUT (self), DLP_PIPELINE_NEW);

  pthread_mutex_lock (&self->lock);
  status = self->status;
  pthread_mutex_unlock (&self->lock);
  return status;
}
