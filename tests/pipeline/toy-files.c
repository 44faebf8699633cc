/* SPDX-License-Identifier: MIT */

/* Toys whose state is the length of a file. */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <dlp-harness.h>

#include "toys.h"

static DlpPipeline *pipeline;

void
toys_set_pipeline (DlpPipeline *to)
{
  pipeline = to;
}

/* What lies behind @length was never part of a checkpoint. */
static int
open_cut (const char *location, guint64 length)
{
  int fd = open (location, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  struct stat status;

  g_assert_cmpint (fd, >=, 0);
  g_assert_cmpint (fstat (fd, &status), ==, 0);
  g_assert_cmpuint (status.st_size, >=, length);
  if (length > 0)
    g_assert_cmpuint (toy_get_synced (location), >=, length);
  g_assert_cmpint (ftruncate (fd, length), ==, 0);
  toy_set_synced (location, length);
  g_assert_cmpint (lseek (fd, 0, SEEK_END), ==, length);
  return fd;
}

static void
write_all (int fd, gconstpointer data, gsize size)
{
  g_assert_cmpint (write (fd, data, size), ==, (gssize) size);
}

static GVariant *
describe_length (DlpElement *element, const DlpState *state)
{
  GVariantDict dict;

  g_variant_dict_init (&dict, NULL);
  g_variant_dict_insert (&dict, "length", "t", *(const guint64 *) dlp_state_get_data (state));
  return g_variant_dict_end (&dict);
}

static gboolean
load_length (GVariant *described, guint64 *length, GError **error)
{
  static const char *const keys[] = { "length", NULL };

  return dlp_state_check_keys (described, keys, error) &&
         dlp_state_get_uint64 (described, "length", G_MAXUINT64, length, error);
}

/* ---- toy-dedup ---- */

typedef struct
{
  DlpElement parent_instance;

  char *location;
  int fd;
  guint64 length; /* the state: bytes of the log */
  guint64 keys;   /* a bit each */
} ToyDedup;

typedef DlpElementClass ToyDedupClass;

G_DEFINE_TYPE (ToyDedup, toy_dedup, DLP_TYPE_ELEMENT)

static gboolean
toy_dedup_start (DlpElement *element, GCancellable *cancellable, GError **error)
{
  ToyDedup *self = (ToyDedup *) element;
  guint8 key;

  self->fd = open_cut (self->location, self->length);
  for (guint64 i = 0; i < self->length; i++)
    {
      g_assert_cmpint (pread (self->fd, &key, 1, i), ==, 1);
      self->keys |= G_GUINT64_CONSTANT (1) << key;
    }
  return TRUE;
}

static void
toy_dedup_stop (DlpElement *element)
{
  ToyDedup *self = (ToyDedup *) element;

  if (self->fd >= 0)
    close (self->fd);
  self->fd = -1;
}

static DlpStep
toy_dedup_step (DlpElement *element, GCancellable *cancellable, GError **error)
{
  ToyDedup *self = (ToyDedup *) element;
  DlpPad *in = dlp_element_get_input (element, 0);
  guint row;
  DlpRecordBatch *batch = dlp_pad_peek (in, &row);
  guint8 key;

  if (batch == NULL)
    return dlp_pad_is_over (in) ? DLP_STEP_END : dlp_element_want_input (element, 0);
  key = toy_hash (batch, row, "dedup") % 50;
  if (!(self->keys & (G_GUINT64_CONSTANT (1) << key)))
    {
      self->keys |= G_GUINT64_CONSTANT (1) << key;
      write_all (self->fd, &key, 1);
      self->length++;
      dlp_pad_push_rows (dlp_element_get_output (element, 0), batch, row, 1);
    }
  dlp_pad_consume (in, 1);
  return DLP_STEP_MORE;
}

static DlpState *
toy_dedup_save (DlpElement *element)
{
  return dlp_state_new (&((ToyDedup *) element)->length, sizeof (guint64));
}

static gboolean
toy_dedup_load (DlpElement *element, GVariant *described, guint version, GError **error)
{
  return load_length (described, &((ToyDedup *) element)->length, error);
}

static gboolean
toy_dedup_make_durable (DlpElement *element, const DlpState *state, GError **error)
{
  guint64 length = *(const guint64 *) dlp_state_get_data (state);
  ToyDedup *self = (ToyDedup *) element;

  if (length > toy_get_synced (self->location))
    toy_set_synced (self->location, length);
  return TRUE;
}

static void
toy_dedup_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  ((ToyDedup *) object)->location = g_value_dup_string (value);
}

static void
toy_dedup_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  g_value_set_string (value, ((ToyDedup *) object)->location);
}

static void
toy_dedup_finalize (GObject *object)
{
  g_free (((ToyDedup *) object)->location);
  G_OBJECT_CLASS (toy_dedup_parent_class)->finalize (object);
}

static void
toy_dedup_class_init (ToyDedupClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);

  object_class->set_property = toy_dedup_set_property;
  object_class->get_property = toy_dedup_get_property;
  object_class->finalize = toy_dedup_finalize;
  klass->flags = DLP_ELEMENT_LOG;
  klass->start = toy_dedup_start;
  klass->stop = toy_dedup_stop;
  klass->step = toy_dedup_step;
  klass->save = toy_dedup_save;
  klass->describe = describe_length;
  klass->load = toy_dedup_load;
  klass->make_durable = toy_dedup_make_durable;
  g_object_class_install_property (
      object_class, 1,
      g_param_spec_string ("location", NULL, NULL, NULL, DLP_PARAM_READWRITE | DLP_PARAM_FREE));
}

static void
toy_dedup_init (ToyDedup *self)
{
  self->fd = -1;
  dlp_element_add_pad (DLP_ELEMENT (self), "in", DLP_PAD_INPUT);
  dlp_element_add_pad (DLP_ELEMENT (self), "out", DLP_PAD_OUTPUT);
}

/* ---- toy-sink ---- */

typedef struct
{
  DlpSink parent_instance;

  char *location;
  guint64 end_after; /* records of this attempt */
  char *end_how;     /* stop, abort, kill, finish, checkpoint */

  int fd;
  GString *buffer;
  guint64 length; /* the state: bytes, written or in the buffer */
  guint64 consumed;
} ToySink;

typedef DlpSinkClass ToySinkClass;

G_DEFINE_TYPE (ToySink, toy_sink, DLP_TYPE_SINK)

static gboolean
toy_sink_start (DlpElement *element, GCancellable *cancellable, GError **error)
{
  ToySink *self = (ToySink *) element;

  self->fd = open_cut (self->location, self->length);
  return TRUE;
}

static void
toy_sink_stop (DlpElement *element)
{
  ToySink *self = (ToySink *) element;

  if (self->fd >= 0)
    close (self->fd);
  self->fd = -1;
}

static void
end_it (ToySink *self)
{
  switch (self->end_how[0])
    {
    case 's':
      dlp_pipeline_stop (pipeline);
      break;
    case 'a':
      dlp_pipeline_abort (pipeline);
      break;
    case 'f':
      dlp_pipeline_finish (pipeline);
      break;
    case 'c':
      dlp_pipeline_checkpoint (pipeline);
      break;
    default:
      kill (getpid (), SIGKILL);
    }
}

static gboolean
toy_sink_flush (DlpSink *sink, GCancellable *cancellable, GError **error)
{
  ToySink *self = (ToySink *) sink;

  if (self->buffer->len > 0)
    write_all (self->fd, self->buffer->str, self->buffer->len);
  g_string_truncate (self->buffer, 0);
  return TRUE;
}

static gboolean
toy_sink_consume (DlpSink *sink,
                  DlpRecordBatch *batch,
                  guint row,
                  guint n,
                  GCancellable *cancellable,
                  GError **error)
{
  ToySink *self = (ToySink *) sink;

  for (guint i = 0; i < n; i++)
    {
      g_autofree char *line = dlp_check_record_to_text (batch, row + i);
      gsize before = self->buffer->len;

      g_string_append_printf (self->buffer, "%s\n", line);
      self->length += self->buffer->len - before;
      if (++self->consumed == self->end_after)
        end_it (self);
    }
  return self->buffer->len < 2000 || toy_sink_flush (sink, cancellable, error);
}

static gboolean
toy_sink_sync (DlpSink *sink, const DlpState *state, GCancellable *cancellable, GError **error)
{
  ToySink *self = (ToySink *) sink;
  guint64 length = *(const guint64 *) dlp_state_get_data (state);

  if (length > toy_get_synced (self->location))
    toy_set_synced (self->location, length);
  return TRUE;
}

static DlpState *
toy_sink_save (DlpElement *element)
{
  return dlp_state_new (&((ToySink *) element)->length, sizeof (guint64));
}

static gboolean
toy_sink_load (DlpElement *element, GVariant *described, guint version, GError **error)
{
  return load_length (described, &((ToySink *) element)->length, error);
}

static void
toy_sink_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  ToySink *self = (ToySink *) object;

  if (id == 2)
    self->end_after = g_value_get_uint64 (value);
  else
    {
      char **to = id == 1 ? &self->location : &self->end_how;

      g_free (*to);
      *to = g_value_dup_string (value);
    }
}

static void
toy_sink_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  ToySink *self = (ToySink *) object;

  if (id == 2)
    g_value_set_uint64 (value, self->end_after);
  else
    g_value_set_string (value, id == 1 ? self->location : self->end_how);
}

static void
toy_sink_finalize (GObject *object)
{
  ToySink *self = (ToySink *) object;

  g_free (self->location);
  g_free (self->end_how);
  g_string_free (self->buffer, TRUE);
  G_OBJECT_CLASS (toy_sink_parent_class)->finalize (object);
}

static void
toy_sink_class_init (ToySinkClass *klass)
{
  const GParamFlags flags = DLP_PARAM_READWRITE | DLP_PARAM_FREE;
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  DlpElementClass *element_class = DLP_ELEMENT_CLASS (klass);

  object_class->set_property = toy_sink_set_property;
  object_class->get_property = toy_sink_get_property;
  object_class->finalize = toy_sink_finalize;
  element_class->start = toy_sink_start;
  element_class->stop = toy_sink_stop;
  element_class->save = toy_sink_save;
  element_class->describe = describe_length;
  element_class->load = toy_sink_load;
  klass->consume = toy_sink_consume;
  klass->drain = toy_sink_flush;
  klass->flush = toy_sink_flush;
  klass->sync = toy_sink_sync;
  g_object_class_install_property (object_class, 1,
                                   g_param_spec_string ("location", NULL, NULL, NULL, flags));
  g_object_class_install_property (
      object_class, 2, g_param_spec_uint64 ("end-after", NULL, NULL, 0, G_MAXUINT64, 0, flags));
  g_object_class_install_property (object_class, 3,
                                   g_param_spec_string ("end-how", NULL, NULL, "stop", flags));
}

static void
toy_sink_init (ToySink *self)
{
  self->fd = -1;
  self->end_how = g_strdup ("stop");
  self->buffer = g_string_new (NULL);
}
