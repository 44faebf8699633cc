/* SPDX-License-Identifier: MIT */

/* Both ends of what a dry run needs of file sources: their list, and a part of it in their place.
 */

#include <string.h>

#include "launch-sample.h"

/* ---- the list ---- */

struct _LaunchLister
{
  DlpSink parent_instance;

  GArray *files; /* of LaunchFile */
};

G_DEFINE_FINAL_TYPE (LaunchLister, launch_lister, DLP_TYPE_SINK)

static char *
get_text (DlpRecordBatch *batch, guint field, guint row)
{
  gsize size = 0;
  const guint8 *data = dlp_record_batch_get_value (batch, field, row, &size);

  return g_strndup (data != NULL ? (const char *) data : "", size);
}

static gboolean
launch_lister_consume (DlpSink *sink,
                       DlpRecordBatch *batch,
                       guint row,
                       guint n,
                       GCancellable *cancellable,
                       GError **error)
{
  LaunchLister *self = LAUNCH_LISTER (sink);

  for (guint i = row; i < row + n; i++)
    {
      LaunchFile file = { .uri = get_text (batch, 0, i),
                          .size = dlp_record_batch_get_int64 (batch, 1, i),
                          .identity = get_text (batch, 2, i) };

      g_array_append_val (self->files, file);
    }
  return TRUE;
}

static void
clear_file (gpointer data)
{
  LaunchFile *file = data;

  g_free (file->uri);
  g_free (file->identity);
}

static void
launch_lister_finalize (GObject *object)
{
  g_array_unref (LAUNCH_LISTER (object)->files);

  G_OBJECT_CLASS (launch_lister_parent_class)->finalize (object);
}

static void
launch_lister_class_init (LaunchListerClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = launch_lister_finalize;
  DLP_SINK_CLASS (klass)->consume = launch_lister_consume;
}

static void
launch_lister_init (LaunchLister *self)
{
  self->files = g_array_new (FALSE, TRUE, sizeof (LaunchFile));
  g_array_set_clear_func (self->files, clear_file);
}

GArray *
launch_lister_get_files (LaunchLister *self)
{
  return self->files;
}

/* ---- a part of it ---- */

struct _LaunchSampler
{
  DlpSource parent_instance;

  LaunchSample *sample;
  guint source;
  guint next; /* in the list */
  guint epoch;
};

G_DEFINE_FINAL_TYPE (LaunchSampler, launch_sampler, DLP_TYPE_SOURCE)

static gboolean
launch_sampler_negotiate (DlpElement *element, GError **error)
{
  g_autoptr (DlpSchema) schema = dlp_schema_files ();

  dlp_pad_set_schema (dlp_element_get_output (element, 0), schema);
  return TRUE;
}

static void
emit (LaunchSampler *self, DlpPad *out, guint index)
{
  LaunchSource *source = g_ptr_array_index (self->sample->sources, self->source);
  const LaunchFile *file = &g_array_index (source->files, LaunchFile, index);
  DlpRecordBatchBuilder *builder = dlp_pad_get_builder (out);
  DlpCoordinate at = { .source = self->source, .file = index, .epoch = self->epoch };

  dlp_record_batch_builder_append_value (builder, 0, file->uri, strlen (file->uri));
  dlp_record_batch_builder_append_int64 (builder, 1, file->size);
  dlp_record_batch_builder_append_value (builder, 2, file->identity, strlen (file->identity));
  dlp_pad_end_record (out, &at);
}

/* As a file source does where all is read; else each file once. */
static DlpStep
launch_sampler_produce (DlpSource *element, DlpPad *out, GCancellable *cancellable, GError **error)
{
  LaunchSampler *self = LAUNCH_SAMPLER (element);
  LaunchSource *source = g_ptr_array_index (self->sample->sources, self->source);
  guint epochs = self->sample->whole ? source->epochs : 1;

  while (source->files->len > 0 && (epochs == 0 || self->epoch < epochs))
    {
      for (; self->next < source->files->len; self->next++)
        if (g_array_index (source->files, LaunchFile, self->next).taken)
          {
            emit (self, out, self->next++);
            return DLP_STEP_MORE;
          }
      self->next = 0;
      self->epoch++;
    }
  return DLP_STEP_END;
}

static void
launch_sampler_class_init (LaunchSamplerClass *klass)
{
  DLP_ELEMENT_CLASS (klass)->negotiate = launch_sampler_negotiate;
  DLP_SOURCE_CLASS (klass)->produce = launch_sampler_produce;
}

static void
launch_sampler_init (LaunchSampler *self)
{
}

void
launch_sampler_set_sample (LaunchSampler *self, LaunchSample *sample, guint source)
{
  self->sample = sample;
  self->source = source;
}
