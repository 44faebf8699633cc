/* SPDX-License-Identifier: MIT */

#include "dlp-check-sink.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include <dlpipe/dlp-check.h>

struct _DlpCheckSink
{
  DlpSink parent_instance;

  guint64 stop_after;
  guint64 delay;
  guint64 consumed; /* of this attempt */
  int file;         /* -1: none */
  guint64 count;    /* the state */
};

enum
{
  PROP_0,
  PROP_STOP_AFTER,
  PROP_DELAY,
  N_PROPS
};

static GParamSpec *properties[N_PROPS];

static GMutex lock;
static GHashTable *stores; /* lock */
static DlpPipeline *stopped;
static char *lines_folder; /* between runs */

G_DEFINE_FINAL_TYPE (DlpCheckSink, dlp_check_sink, DLP_TYPE_SINK)

GPtrArray *
dlp_check_sink_get_lines (const char *name)
{
  GPtrArray *lines;

  g_mutex_lock (&lock);
  if (stores == NULL)
    stores =
        g_hash_table_new_full (g_str_hash, g_str_equal, g_free, (GDestroyNotify) g_ptr_array_unref);
  lines = g_hash_table_lookup (stores, name);
  if (lines == NULL)
    {
      lines = g_ptr_array_new_with_free_func (g_free);
      g_hash_table_insert (stores, g_strdup (name), lines);
    }
  g_mutex_unlock (&lock);
  return lines;
}

void
dlp_check_sink_clear (void)
{
  g_mutex_lock (&lock);
  g_clear_pointer (&stores, g_hash_table_unref);
  g_mutex_unlock (&lock);
}

void
dlp_check_sink_set_pipeline (DlpPipeline *pipeline)
{
  stopped = pipeline;
}

void
dlp_check_sink_set_folder (const char *folder)
{
  g_free (lines_folder);
  lines_folder = g_strdup (folder);
}

static gboolean
set_errno (GError **error, const char *path)
{
  g_set_error (error, G_IO_ERROR, g_io_error_from_errno (errno), "%s: %s", path,
               g_strerror (errno));
  return FALSE;
}

/* Where the process may die: its lines are those of the file, cut to what the state says. */
static gboolean
open_file (DlpCheckSink *self, GPtrArray *lines, GError **error)
{
  g_autofree char *path =
      g_build_filename (lines_folder, dlp_element_get_name (DLP_ELEMENT (self)), NULL);
  g_autofree char *text = NULL;
  gsize length = 0;
  char *at;

  self->file = open (path, O_RDWR | O_CREAT | O_CLOEXEC | O_APPEND, 0600);
  if (self->file < 0)
    return set_errno (error, path);
  if (!g_file_get_contents (path, &text, NULL, error))
    return FALSE;
  g_ptr_array_set_size (lines, 0);
  at = text;
  for (guint64 i = 0; i < self->count; i++)
    {
      char *end = strchr (at, '\n');

      g_assert_nonnull (end);
      g_ptr_array_add (lines, g_strndup (at, end - at));
      at = end + 1;
    }
  length = at - text;
  return ftruncate (self->file, (off_t) length) == 0 || set_errno (error, path);
}

void
dlp_check_sink_read_folder (void)
{
  g_autoptr (GDir) dir = g_dir_open (lines_folder, 0, NULL);
  const char *name;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *path = g_build_filename (lines_folder, name, NULL);
      g_autofree char *text = NULL;
      g_auto (GStrv) all = NULL;
      GPtrArray *lines = dlp_check_sink_get_lines (name);

      g_assert_true (g_file_get_contents (path, &text, NULL, NULL));
      all = g_strsplit (text, "\n", -1);
      g_ptr_array_set_size (lines, 0);
      for (guint i = 0; all[i] != NULL && all[i + 1] != NULL; i++)
        g_ptr_array_add (lines, g_strdup (all[i]));
    }
}

static gboolean
write_line (DlpCheckSink *self, const char *line, GError **error)
{
  g_autofree char *text = g_strconcat (line, "\n", NULL);
  gssize size = (gssize) strlen (text);

  return write (self->file, text, size) == size ||
         set_errno (error, dlp_element_get_name (DLP_ELEMENT (self)));
}

static gboolean
dlp_check_sink_start (DlpElement *element, GCancellable *cancellable, GError **error)
{
  DlpCheckSink *self = DLP_CHECK_SINK (element);
  GPtrArray *lines = dlp_check_sink_get_lines (dlp_element_get_name (element));

  if (lines_folder != NULL && !open_file (self, lines, error))
    return FALSE;
  g_assert_cmpuint (lines->len, >=, self->count);
  g_ptr_array_set_size (lines, self->count);
  return TRUE;
}

static void
dlp_check_sink_stop (DlpElement *element)
{
  DlpCheckSink *self = DLP_CHECK_SINK (element);

  if (self->file >= 0)
    close (self->file);
  self->file = -1;
}

static gboolean
dlp_check_sink_consume (DlpSink *sink,
                        DlpRecordBatch *batch,
                        guint row,
                        guint n,
                        GCancellable *cancellable,
                        GError **error)
{
  DlpCheckSink *self = DLP_CHECK_SINK (sink);
  GPtrArray *lines = dlp_check_sink_get_lines (dlp_element_get_name (DLP_ELEMENT (sink)));

  if (self->delay > 0)
    g_usleep (n * self->delay);
  for (guint i = 0; i < n; i++)
    {
      g_ptr_array_add (lines, dlp_check_record_to_text (batch, row + i));
      if (self->file >= 0 && !write_line (self, g_ptr_array_index (lines, lines->len - 1), error))
        return FALSE;
    }
  self->count += n;
  self->consumed += n;
  if (self->stop_after > 0 && self->consumed >= self->stop_after)
    dlp_pipeline_stop (stopped);
  return TRUE;
}

static DlpState *
dlp_check_sink_save (DlpElement *element)
{
  return dlp_state_new (&DLP_CHECK_SINK (element)->count, sizeof (guint64));
}

static GVariant *
dlp_check_sink_describe (DlpElement *element, const DlpState *state)
{
  GVariantDict dict;

  g_variant_dict_init (&dict, NULL);
  g_variant_dict_insert (&dict, "count", "t", *(const guint64 *) dlp_state_get_data (state));
  return g_variant_dict_end (&dict);
}

static gboolean
dlp_check_sink_load (DlpElement *element, GVariant *described, guint version, GError **error)
{
  static const char *const keys[] = { "count", NULL };

  return dlp_state_check_keys (described, keys, error) &&
         dlp_state_get_uint64 (described, "count", G_MAXUINT64, &DLP_CHECK_SINK (element)->count,
                               error);
}

static void
dlp_check_sink_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  if (id == PROP_STOP_AFTER)
    DLP_CHECK_SINK (object)->stop_after = g_value_get_uint64 (value);
  else if (id == PROP_DELAY)
    DLP_CHECK_SINK (object)->delay = g_value_get_uint64 (value);
  else
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
}

static void
dlp_check_sink_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  if (id == PROP_STOP_AFTER)
    g_value_set_uint64 (value, DLP_CHECK_SINK (object)->stop_after);
  else if (id == PROP_DELAY)
    g_value_set_uint64 (value, DLP_CHECK_SINK (object)->delay);
  else
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
}

static void
dlp_check_sink_class_init (DlpCheckSinkClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  DlpElementClass *element_class = DLP_ELEMENT_CLASS (klass);

  object_class->set_property = dlp_check_sink_set_property;
  object_class->get_property = dlp_check_sink_get_property;
  element_class->start = dlp_check_sink_start;
  element_class->stop = dlp_check_sink_stop;
  element_class->save = dlp_check_sink_save;
  element_class->describe = dlp_check_sink_describe;
  element_class->load = dlp_check_sink_load;
  DLP_SINK_CLASS (klass)->consume = dlp_check_sink_consume;

  properties[PROP_STOP_AFTER] =
      g_param_spec_uint64 ("stop-after", NULL, "Stop behind so many records; 0: do not", 0,
                           G_MAXUINT64, 0, DLP_PARAM_READWRITE | DLP_PARAM_FREE);
  properties[PROP_DELAY] =
      g_param_spec_uint64 ("delay", NULL, "Time taken for each record, in microseconds", 0,
                           G_USEC_PER_SEC, 0, DLP_PARAM_READWRITE | DLP_PARAM_FREE);
  g_object_class_install_properties (object_class, N_PROPS, properties);
}

static void
dlp_check_sink_init (DlpCheckSink *self)
{
  self->file = -1;
}
