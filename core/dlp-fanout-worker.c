/* SPDX-License-Identifier: MIT */

/* A worker as others see it; all of it in the main context of the fan-out. */

#include "dlp-fanout-private.h"

struct _DlpFanoutWorker
{
  GObject parent_instance;

  guint number;
  int pid;
  int task;
  char *device;
  guint restarts;
  double fraction;
  guint64 records;
  guint64 bytes;
};

enum
{
  PROP_0,
  PROP_NUMBER,
  PROP_PID,
  PROP_TASK,
  PROP_DEVICE,
  PROP_RESTARTS,
  PROP_FRACTION,
  PROP_RECORDS,
  PROP_BYTES,
  N_PROPS
};

static GParamSpec *properties[N_PROPS];

G_DEFINE_FINAL_TYPE (DlpFanoutWorker, dlp_fanout_worker, G_TYPE_OBJECT)

DlpFanoutWorker *
dlp_fanout_worker_new (const DlpFanoutPlace *place)
{
  DlpFanoutWorker *self = g_object_new (DLP_TYPE_FANOUT_WORKER, NULL);

  self->number = place->number;
  self->device = g_strdup (place->device);
  return self;
}

#define UPDATE(member, value, id)                                                                  \
  G_STMT_START                                                                                     \
  {                                                                                                \
    if (self->member != (value))                                                                   \
      {                                                                                            \
        self->member = (value);                                                                    \
        g_object_notify_by_pspec (G_OBJECT (self), properties[id]);                                \
      }                                                                                            \
  }                                                                                                \
  G_STMT_END

void
dlp_fanout_worker_update (DlpFanoutWorker *self, const DlpFanoutSight *sight)
{
  g_object_freeze_notify (G_OBJECT (self));
  UPDATE (pid, sight->pid, PROP_PID);
  UPDATE (task, sight->task, PROP_TASK);
  UPDATE (restarts, sight->restarts, PROP_RESTARTS);
  UPDATE (fraction, sight->fraction, PROP_FRACTION);
  UPDATE (records, sight->records, PROP_RECORDS);
  UPDATE (bytes, sight->bytes, PROP_BYTES);
  g_object_thaw_notify (G_OBJECT (self));
}

static void
dlp_fanout_worker_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  DlpFanoutWorker *self = DLP_FANOUT_WORKER (object);

  switch (id)
    {
    case PROP_NUMBER:
      g_value_set_uint (value, self->number);
      break;
    case PROP_PID:
      g_value_set_int (value, self->pid);
      break;
    case PROP_TASK:
      g_value_set_int (value, self->task);
      break;
    case PROP_DEVICE:
      g_value_set_string (value, self->device);
      break;
    case PROP_RESTARTS:
      g_value_set_uint (value, self->restarts);
      break;
    case PROP_FRACTION:
      g_value_set_double (value, self->fraction);
      break;
    case PROP_RECORDS:
      g_value_set_uint64 (value, self->records);
      break;
    case PROP_BYTES:
      g_value_set_uint64 (value, self->bytes);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    }
}

static void
dlp_fanout_worker_finalize (GObject *object)
{
  g_free (DLP_FANOUT_WORKER (object)->device);

  G_OBJECT_CLASS (dlp_fanout_worker_parent_class)->finalize (object);
}

static void
dlp_fanout_worker_class_init (DlpFanoutWorkerClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  const GParamFlags r = G_PARAM_READABLE | G_PARAM_STATIC_STRINGS | G_PARAM_EXPLICIT_NOTIFY;

  object_class->get_property = dlp_fanout_worker_get_property;
  object_class->finalize = dlp_fanout_worker_finalize;
  properties[PROP_NUMBER] =
      g_param_spec_uint ("number", NULL, "Its number, from 0", 0, G_MAXUINT, 0, r);
  properties[PROP_PID] = g_param_spec_int (
      "pid", NULL, "The process; 0: none, or the fan-out's own", 0, G_MAXINT, 0, r);
  properties[PROP_TASK] =
      g_param_spec_int ("task", NULL, "The task that it runs; -1: none", -1, G_MAXINT, -1, r);
  properties[PROP_DEVICE] = g_param_spec_string ("device", NULL, "Its device", NULL, r);
  properties[PROP_RESTARTS] = g_param_spec_uint (
      "restarts", NULL, "How many of its processes have died", 0, G_MAXUINT, 0, r);
  properties[PROP_FRACTION] = g_param_spec_double (
      "fraction", NULL, "How much of its task has passed through; -1: unknown", -1, 1, -1, r);
  properties[PROP_RECORDS] = g_param_spec_uint64 (
      "records", NULL, "Records of its task that reached the sinks", 0, G_MAXUINT64, 0, r);
  properties[PROP_BYTES] = g_param_spec_uint64 (
      "bytes", NULL, "Bytes of input files of its task that are read", 0, G_MAXUINT64, 0, r);
  g_object_class_install_properties (object_class, N_PROPS, properties);
}

static void
dlp_fanout_worker_init (DlpFanoutWorker *self)
{
  self->task = -1;
  self->fraction = -1;
}
