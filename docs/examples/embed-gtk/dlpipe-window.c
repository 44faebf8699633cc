/* SPDX-License-Identifier: MIT */

/* A window on a pipeline. All of this runs on the main thread: the pipeline works on threads of its
 * own, and its notifies and results come to the main context that it was made in. */

#include <dlpipe/dlpipe.h>
#include <gtk/gtk.h>
#include <locale.h>

typedef struct
{
  GtkApplication *application;
  DlpPipeline *pipeline;
  GCancellable *cancellable;
  GtkBuilder *builder; /* keeps the widgets also when the window is closed */
} Window;

typedef struct
{
  DlpElement *element;
  guint64 records;
  gint64 time;
} Rate;

static gboolean
update_rate (GtkLabel *label)
{
  Rate *rate = g_object_get_data (G_OBJECT (label), "rate");
  gint64 now = g_get_monotonic_time ();
  double seconds = (double) (now - rate->time) / G_USEC_PER_SEC;
  g_autofree char *text = NULL;
  guint64 in, out;

  g_object_get (rate->element, "records-in", &in, "records-out", &out, NULL);
  text = g_strdup_printf ("%'.0f records/s", (double) (MAX (in, out) - rate->records) / seconds);
  gtk_label_set_text (label, text);
  rate->records = MAX (in, out);
  rate->time = now;
  return G_SOURCE_CONTINUE;
}

static GtkWidget *
create_row (gpointer element, gpointer data)
{
  g_autoptr (GtkBuilder) builder = gtk_builder_new_from_resource ("/org/dlpipe/Window/row.ui");
  GObject *label = gtk_builder_get_object (builder, "rate");
  Rate *rate = g_new0 (Rate, 1);

  g_object_bind_property (element, "name", gtk_builder_get_object (builder, "name"), "label",
                          G_BINDING_SYNC_CREATE);
  g_object_bind_property (element, "input-level", gtk_builder_get_object (builder, "level"),
                          "value", G_BINDING_SYNC_CREATE);
  rate->element = element;
  g_object_set_data_full (label, "rate", rate, g_free);
  g_timeout_add (500, G_SOURCE_FUNC (update_rate), label); /* both stay until the program ends */
  return g_object_ref (GTK_WIDGET (gtk_builder_get_object (builder, "row")));
}

static gpointer
get (Window *self, const char *id)
{
  return gtk_builder_get_object (self->builder, id);
}

static void
update_window (Window *self)
{
  DlpPipelineStatus status = dlp_pipeline_get_status (self->pipeline);
  gboolean runs = status == DLP_PIPELINE_RUNNING || status == DLP_PIPELINE_PAUSED;
  g_autofree char *text = NULL;
  guint64 records;
  double fraction, elapsed;

  g_object_get (self->pipeline, "fraction", &fraction, "elapsed", &elapsed, "records", &records,
                NULL);
  text = g_strdup_printf ("%'" G_GUINT64_FORMAT " records, %.0f s", records, elapsed);
  gtk_progress_bar_set_text (get (self, "progress"), text);
  gtk_progress_bar_set_fraction (get (self, "progress"), MAX (fraction, 0));
  gtk_button_set_label (get (self, "pause"), status == DLP_PIPELINE_PAUSED ? "_Resume" : "_Pause");
  gtk_widget_set_sensitive (get (self, "start"), status == DLP_PIPELINE_NEW);
  gtk_widget_set_sensitive (get (self, "pause"), runs);
  gtk_widget_set_sensitive (get (self, "cancel"), runs);
}

static void
on_ended (GObject *pipeline, GAsyncResult *result, gpointer data)
{
  Window *self = data;
  g_autoptr (GError) error = NULL;

  dlp_pipeline_run_finish (self->pipeline, result, &error);
  gtk_label_set_text (get (self, "message"), error == NULL ? "Complete." : error->message);
  update_window (self);
  g_application_release (G_APPLICATION (self->application));
}

static void
on_start (Window *self)
{
  gtk_widget_set_sensitive (get (self, "start"), FALSE);
  g_application_hold (G_APPLICATION (self->application));
  dlp_pipeline_run_async (self->pipeline, self->cancellable, on_ended, self);
}

static void
on_pause (Window *self)
{
  gboolean paused = dlp_pipeline_get_status (self->pipeline) == DLP_PIPELINE_PAUSED;

  (paused ? dlp_pipeline_resume : dlp_pipeline_pause) (self->pipeline);
}

static void
on_activate (Window *self)
{
  self->builder = gtk_builder_new_from_resource ("/org/dlpipe/Window/window.ui");
  g_signal_connect_swapped (get (self, "start"), "clicked", G_CALLBACK (on_start), self);
  g_signal_connect_swapped (get (self, "pause"), "clicked", G_CALLBACK (on_pause), self);
  g_signal_connect_swapped (get (self, "cancel"), "clicked", G_CALLBACK (g_cancellable_cancel),
                            self->cancellable);
  g_signal_connect_swapped (get (self, "window"), "unmap", G_CALLBACK (g_cancellable_cancel),
                            self->cancellable);
  gtk_list_box_bind_model (get (self, "elements"), G_LIST_MODEL (self->pipeline), create_row, NULL,
                           NULL);
  g_signal_connect_swapped (self->pipeline, "notify", G_CALLBACK (update_window), self);
  update_window (self);
  gtk_window_set_application (get (self, "window"), self->application);
  gtk_window_present (get (self, "window"));
}

int
main (int argc, char **argv)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (DlpPipeline) pipeline = dlp_pipeline_new_from_string (argc > 1 ? argv[1] : "", &error);
  g_autoptr (GtkApplication) application = gtk_application_new (NULL, G_APPLICATION_NON_UNIQUE);
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  Window self = { application, pipeline, cancellable, NULL };
  int status;

  if (pipeline == NULL)
    {
      /* GTK does it later. */
      setlocale (LC_CTYPE, "");
      g_printerr ("%s\n", error->message);
      return 2;
    }
  g_signal_connect_swapped (application, "activate", G_CALLBACK (on_activate), &self);
  status = g_application_run (G_APPLICATION (application), 1, argv);
  g_clear_object (&self.builder);
  return status;
}
