/* SPDX-License-Identifier: MIT */

#include "app-rig.h"

#include <glib/gstdio.h>

void
app_rig_init (AppRig *self, const char *graph, DlpRunnerKind runner, const char *state_dir)
{
  g_autoptr (GError) error = NULL;

  *self = (AppRig){ NULL };
  self->pipeline = dlp_pipeline_new_from_string (graph, &error);
  g_assert_no_error (error);
  g_object_set (self->pipeline, "runner", runner, "state-dir", state_dir, "checkpoint-interval",
                G_GINT64_CONSTANT (2000), NULL);
  dlp_pipeline_prepare (self->pipeline, NULL, &error);
  g_assert_no_error (error);
  self->in = (DlpAppSource *) dlp_pipeline_get_element (self->pipeline, "in");
  self->out = (DlpAppSink *) dlp_pipeline_get_element (self->pipeline, "out");
}

static gpointer
run (gpointer data)
{
  AppRig *self = data;

  dlp_pipeline_run (self->pipeline, NULL, &self->error);
  return NULL;
}

void
app_rig_start (AppRig *self)
{
  self->thread = g_thread_new ("run", run, self);
  /* An end that is asked for before the run was called is not meant for it. */
  while (dlp_pipeline_get_status (self->pipeline) == DLP_PIPELINE_READY)
    g_usleep (100);
}

void
app_rig_join (AppRig *self)
{
  if (self->thread != NULL)
    g_thread_join (g_steal_pointer (&self->thread));
}

void
app_rig_clear (AppRig *self)
{
  app_rig_join (self);
  g_clear_object (&self->pipeline);
  g_clear_error (&self->error);
}

void
app_rig_stop (AppRig *self)
{
  dlp_pipeline_stop (self->pipeline);
  app_rig_join (self);
  g_assert_error (self->error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_STOPPED);
}

void
app_rig_finish (AppRig *self)
{
  app_rig_join (self);
  g_assert_no_error (self->error);
  g_assert_cmpint (dlp_pipeline_get_status (self->pipeline), ==, DLP_PIPELINE_FINISHED);
  app_rig_clear (self);
}

DlpRecordBatch *
app_make_batch (guint64 first, guint n)
{
  const char *name = "text";
  DlpFieldType type = DLP_FIELD_STRING;
  g_autoptr (DlpSchema) schema = dlp_schema_new (DLP_SCHEMA_RECORDS, 1, &name, &type, NULL);
  g_autoptr (DlpRecordBatchBuilder) builder = dlp_record_batch_builder_new (schema);

  for (guint i = 0; i < n; i++)
    {
      DlpCoordinate at = { .file = 7, .row = first + i };
      g_autofree char *text = g_strdup_printf ("record %" G_GUINT64_FORMAT, first + i);

      dlp_record_batch_builder_append_value (builder, 0, text, strlen (text));
      dlp_record_batch_builder_end_record (builder, &at);
    }
  return dlp_record_batch_builder_finish (builder, NULL);
}

void
app_add_lines (GPtrArray *lines, DlpRecordBatch *batch)
{
  for (guint i = 0; i < dlp_record_batch_get_length (batch); i++)
    g_ptr_array_add (lines, dlp_check_record_to_text (batch, i));
}

void
app_pull_all (DlpAppSink *sink, guint max, GPtrArray *lines)
{
  g_autoptr (GError) error = NULL;
  DlpRecordBatch *batch;

  while ((batch = dlp_app_sink_pull (sink, max, NULL, &error)) != NULL)
    {
      g_assert_cmpuint (dlp_record_batch_get_length (batch), >=, 1);
      g_assert_cmpuint (dlp_record_batch_get_length (batch), <=, max != 0 ? max : 1024);
      g_assert_cmpuint (dlp_record_batch_get_position (batch), ==, lines->len);
      app_add_lines (lines, batch);
      dlp_record_batch_unref (batch);
    }
  g_assert_no_error (error);
}

void
app_assert_equal (GPtrArray *lines, GPtrArray *expected)
{
  for (guint i = 0; i < MIN (lines->len, expected->len); i++)
    g_assert_cmpstr (g_ptr_array_index (lines, i), ==, g_ptr_array_index (expected, i));
  g_assert_cmpuint (lines->len, ==, expected->len);
}

GPtrArray *
app_expect (const char *graph)
{
  GPtrArray *lines = app_lines_new ();
  AppRig rig;

  app_rig_init (&rig, graph, DLP_RUNNER_AUTO, NULL);
  app_rig_start (&rig);
  app_pull_all (rig.out, 0, lines);
  app_rig_finish (&rig);
  return lines;
}

GPtrArray *
app_lines_new (void)
{
  return g_ptr_array_new_with_free_func (g_free);
}

char *
app_make_folder (void)
{
  g_autoptr (GError) error = NULL;
  char *path = g_dir_make_tmp ("dlpipe-app-XXXXXX", &error);

  g_assert_no_error (error);
  return path;
}

void
app_remove_folder (char *path)
{
  g_autoptr (GDir) dir = g_dir_open (path, 0, NULL);
  const char *name;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *file = g_build_filename (path, name, NULL);

      if (g_file_test (file, G_FILE_TEST_IS_DIR))
        app_remove_folder (g_steal_pointer (&file));
      else
        g_unlink (file);
    }
  g_rmdir (path);
  g_free (path);
}
