/* SPDX-License-Identifier: MIT */

/* A program around a pipeline: it prints each record of its app-sink, one a line. Interrupted by
 * Ctrl-C it stops with its state, and the same command goes on behind what was printed. */

#include <dlpipe/dlpipe.h>
#include <glib-unix.h>
#include <locale.h>
#include <stdio.h>

typedef struct
{
  GMainLoop *loop;
  DlpPipeline *pipeline;
  DlpAppSink *out;
  int field; /* of the text */
  gboolean interrupted;
  int status;
} Program;

static void pull (Program *self);

static void
print_records (Program *self, DlpRecordBatch *batch)
{
  for (guint i = 0; i < dlp_record_batch_get_length (batch); i++)
    {
      g_autofree char *line = dlp_record_batch_dup_string (batch, (guint) self->field, i);

      printf ("%" G_GUINT64_FORMAT "\t%s\n", dlp_record_batch_get_position (batch) + i,
              line != NULL ? g_strdelimit (line, "\n\r\t", ' ') : "null");
    }
  /* The next pull says that these are done. */
  fflush (stdout);
}

/* Here, as everywhere below, it is the main thread. */
static void
on_pulled (GObject *out, GAsyncResult *result, gpointer data)
{
  Program *self = data;
  g_autoptr (GError) error = NULL;
  g_autoptr (DlpRecordBatch) batch = dlp_app_sink_pull_finish (self->out, result, &error);

  if (batch == NULL)
    return; /* the end, or an error: on_ended() tells */
  if (self->interrupted)
    return; /* was on its way then, and will come again */
  self->field = dlp_schema_find (dlp_record_batch_get_schema (batch), "text");
  if (self->field < 0)
    {
      g_printerr ("The records have no field “text”.\n");
      dlp_pipeline_abort (self->pipeline);
      return;
    }
  print_records (self, batch);
  pull (self);
}

static void
pull (Program *self)
{
  dlp_app_sink_pull_async (self->out, 0, NULL, on_pulled, self);
}

static void
on_progress (DlpPipeline *pipeline, GParamSpec *pspec, gpointer data)
{
  guint64 records;
  double fraction, elapsed;

  g_object_get (pipeline, "records", &records, "fraction", &fraction, "elapsed", &elapsed, NULL);
  g_printerr ("\r%.1f s, %" G_GUINT64_FORMAT " records", elapsed, records);
  if (fraction >= 0)
    g_printerr (", %.0f %%", fraction * 100);
}

static void
on_ended (GObject *pipeline, GAsyncResult *result, gpointer data)
{
  Program *self = data;
  g_autoptr (GError) error = NULL;

  if (dlp_pipeline_run_finish (self->pipeline, result, &error))
    g_printerr ("\ncomplete\n");
  else
    g_printerr ("\n%s\n", error->message);
  if (g_error_matches (error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_STOPPED))
    self->status = 75; /* the same command goes on */
  else if (error != NULL)
    self->status = 1;
  g_main_loop_quit (self->loop);
}

static gboolean
on_interrupt (gpointer data)
{
  Program *self = data;

  self->interrupted = TRUE;
  dlp_app_sink_commit (self->out); /* what was printed will not */
  dlp_pipeline_stop (self->pipeline);
  return G_SOURCE_CONTINUE;
}

int
main (int argc, char **argv)
{
  Program self = { NULL };
  g_autoptr (GError) error = NULL;
  g_autoptr (GMainLoop) loop = g_main_loop_new (NULL, FALSE);
  g_autoptr (DlpPipeline) pipeline = NULL;
  DlpElement *out = NULL;
  guint interrupt;

  setlocale (LC_CTYPE, "");
  if (argc != 3)
    {
      g_printerr ("usage: %s STATE-FOLDER 'GRAPH ! app-sink name=out'\n", argv[0]);
      return 2;
    }
  pipeline = dlp_pipeline_new_from_string (argv[2], &error);
  if (pipeline != NULL)
    out = dlp_pipeline_get_element (pipeline, "out");
  if (out == NULL || !DLP_IS_APP_SINK (out))
    {
      g_printerr ("%s\n", error != NULL ? error->message : "the graph has no app-sink name=out");
      return 2;
    }

  g_object_set (pipeline, "state-dir", argv[1], NULL);
  g_signal_connect (pipeline, "notify::elapsed", G_CALLBACK (on_progress), NULL);
  self = (Program){ loop, pipeline, DLP_APP_SINK (out) };
  interrupt = g_unix_signal_add (SIGINT, on_interrupt, &self);
  dlp_pipeline_run_async (pipeline, NULL, on_ended, &self);
  pull (&self);
  g_main_loop_run (loop);
  g_source_remove (interrupt);
  return self.status;
}
