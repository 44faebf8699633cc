/* SPDX-License-Identifier: MIT */

#include "tokenizer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK (1024 * 1024)

static gboolean
fail (const char *file, const char *what, GError **error)
{
  int code = errno;

  g_set_error (error, G_IO_ERROR, (int) g_io_error_from_errno (code), "%s: %s: %s",
               tokenizer_show_file (file), what, g_strerror (code));
  return FALSE;
}

const char *
tokenizer_show_file (const char *file)
{
  return strcmp (file, "-") == 0 ? "standard input" : file;
}

char *
tokenizer_document_to_string (const TokenizerDocument *self)
{
  if (self->unit == NULL)
    return g_strdup (self->file);
  return g_strdup_printf ("%s: %s %" G_GUINT64_FORMAT, self->file, self->unit, self->number);
}

static FILE *
open_file (const char *file, GError **error)
{
  FILE *stream = strcmp (file, "-") == 0 ? stdin : fopen (file, "re");

  if (stream == NULL)
    fail (file, "cannot open", error);
  return stream;
}

static void
close_file (FILE *stream)
{
  if (stream != stdin)
    fclose (stream);
}

gboolean
tokenizer_read_all (const char *file, GString *content, GError **error)
{
  FILE *stream = open_file (file, error);
  gboolean ok;
  gsize n = 1;

  if (stream == NULL)
    return FALSE;
  while (n > 0)
    {
      gsize len = content->len;

      g_string_set_size (content, len + CHUNK);
      n = fread (content->str + len, 1, CHUNK, stream);
      g_string_truncate (content, len + n);
    }
  ok = !ferror (stream) || fail (file, "cannot read", error);
  close_file (stream);
  return ok;
}

static gboolean
read_whole (const char *file, TokenizerFunc func, gpointer data, GError **error)
{
  g_autoptr (GString) content = g_string_new (NULL);
  TokenizerDocument document = { tokenizer_show_file (file), NULL };

  if (!tokenizer_read_all (file, content, error))
    return FALSE;
  document.text = content->str;
  document.len = content->len;
  return func (&document, data, error);
}

static gboolean
read_lines (const char *file, TokenizerFunc func, gpointer data, GError **error)
{
  TokenizerDocument document = { tokenizer_show_file (file), "line", 1 };
  FILE *stream = open_file (file, error);
  char *line = NULL;
  size_t size = 0;
  gboolean ok = TRUE;
  gssize n;

  if (stream == NULL)
    return FALSE;
  for (; ok && (n = getline (&line, &size, stream)) >= 0; document.number++)
    {
      document.text = line;
      document.len = n > 0 && line[n - 1] == '\n' ? (gsize) n - 1 : (gsize) n;
      ok = func (&document, data, error);
    }
  if (ok && ferror (stream))
    ok = fail (file, "cannot read", error);
  free (line);
  close_file (stream);
  return ok;
}

/* ---- JSON lines, as a run would read them ---- */

typedef struct
{
  DlpPipeline *pipeline;
  DlpAppSink *sink;
  gboolean ended;
} Records;

static void
on_ended (GObject *pipeline, GAsyncResult *result, gpointer data)
{
  Records *self = data;

  dlp_pipeline_run_finish (DLP_PIPELINE (pipeline), result, NULL);
  self->ended = TRUE;
}

static DlpPipeline *
open_records (const char *file, const char *field, GError **error)
{
  g_autoptr (DlpPipeline) pipeline = dlp_pipeline_new_from_string (
      "file-source name=files ! jsonl-reader name=reader on-bad-record=fail ! app-sink name=out",
      error);
  const char *names[] = { file, NULL };

  if (pipeline == NULL)
    return NULL;
  g_object_set (dlp_pipeline_get_element (pipeline, "files"), "location", names, NULL);
  g_object_set (dlp_pipeline_get_element (pipeline, "reader"), "field", field, NULL);
  return dlp_pipeline_prepare (pipeline, NULL, error) ? g_steal_pointer (&pipeline) : NULL;
}

static gboolean
hand_out (const char *file,
          const DlpRecordBatch *batch,
          TokenizerFunc func,
          gpointer data,
          GError **error)
{
  int field = dlp_schema_find (dlp_record_batch_get_schema (batch), "text");

  for (guint i = 0; i < dlp_record_batch_get_length (batch); i++)
    {
      TokenizerDocument document = { tokenizer_show_file (file), "row",
                                     dlp_record_batch_get_coordinate (batch, i)->row };

      document.text =
          (const char *) dlp_record_batch_get_value (batch, (guint) field, i, &document.len);
      if (!func (&document, data, error))
        return FALSE;
    }
  return TRUE;
}

static gboolean
pull_records (Records *self, const char *file, TokenizerFunc func, gpointer data, GError **error)
{
  g_autoptr (GError) local = NULL;

  for (;;)
    {
      g_autoptr (DlpRecordBatch) batch = dlp_app_sink_pull (self->sink, 0, NULL, &local);

      if (batch == NULL)
        break;
      if (!hand_out (file, batch, func, data, error))
        {
          dlp_pipeline_abort (self->pipeline);
          return FALSE;
        }
    }
  if (local == NULL)
    return TRUE;
  g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA, local->message);
  return FALSE;
}

static gboolean
read_records (const char *file,
              const char *field,
              TokenizerFunc func,
              gpointer data,
              GError **error)
{
  g_autoptr (DlpPipeline) pipeline = open_records (file, field, error);
  Records self = { pipeline };
  gboolean ok;

  if (pipeline == NULL)
    return FALSE;
  self.sink = DLP_APP_SINK (dlp_pipeline_get_element (pipeline, "out"));
  dlp_pipeline_run_async (pipeline, NULL, on_ended, &self);
  ok = pull_records (&self, file, func, data, error);
  while (!self.ended)
    g_main_context_iteration (NULL, TRUE);
  return ok;
}

gboolean
tokenizer_read_file (const TokenizerOptions *options,
                     const char *file,
                     TokenizerFunc func,
                     gpointer data,
                     GError **error)
{
  if (options->jsonl != NULL)
    return read_records (file, options->jsonl, func, data, error);
  return options->lines ? read_lines (file, func, data, error) :
                          read_whole (file, func, data, error);
}
