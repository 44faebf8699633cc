/* SPDX-License-Identifier: MIT */

#include <string.h>

#include <dlpipe/dlp-error.h>

#include "dlp-http-stream.h"

typedef struct
{
  const char *name;
  gboolean has_range;
  gboolean is_empty; /* nothing at byte 0: to be asked without a range */
  DlpFile *file;
} Identify;

/* A GET of one byte, not a HEAD: signed addresses are signed for one method, and some servers have
 * no HEAD or answer it otherwise. */
static gboolean
take (gpointer data, HttpResponse *response, GCancellable *cancellable, GError **error)
{
  Identify *self = data;
  gint64 size = response->status == 200 && response->range.total < 0 ? response->length :
                                                                       response->range.total;

  self->is_empty = response->status == 416 && self->has_range;
  self->file = dlp_file_new (self->name, size, response->identity);
  return TRUE;
}

/* S3 says of an empty object what it is only where no range is asked for. */
static gboolean
identify (Identify *self,
          const HttpObject *object,
          HttpRetry *retry,
          GCancellable *cancellable,
          GError **error)
{
  HttpExchange exchange = { .uri = object->uri, .range = "bytes=0-0", .access = object->access };

  self->has_range = TRUE;
  if (!http_exchange (&exchange, retry, take, self, cancellable, error))
    return FALSE;
  if (!self->is_empty || object->access == NULL)
    return TRUE;
  g_clear_object (&self->file);
  exchange.range = NULL;
  self->has_range = FALSE;
  return http_exchange (&exchange, retry, take, self, cancellable, error);
}

DlpFile *
http_object_identify (const HttpObject *object,
                      const char *name,
                      const HttpSettings *settings,
                      GCancellable *cancellable,
                      GError **error)
{
  Identify self = { .name = name };
  HttpRetry retry;

  http_retry_init (&retry, settings, object->uri);
  http_retry_set_name (&retry, name);
  if (!identify (&self, object, &retry, cancellable, error) &&
      !g_cancellable_is_cancelled (cancellable))
    g_prefix_error (error, "%s: ", retry.name);
  http_retry_clear (&retry);
  return self.file;
}

DlpFile *
dlp_http_identify (const char *uri,
                   const HttpSettings *settings,
                   GCancellable *cancellable,
                   GError **error)
{
  const HttpObject object = { .uri = uri };

  return http_object_identify (&object, uri, settings, cancellable, error);
}

/* ---- what is listed ---- */

static int
compare_files (gconstpointer a, gconstpointer b)
{
  return strcmp (dlp_file_get_uri (*(DlpFile *const *) a),
                 dlp_file_get_uri (*(DlpFile *const *) b));
}

void
http_files_sort (GPtrArray *files)
{
  guint kept = 0;

  g_ptr_array_sort (files, compare_files);
  for (guint i = 0; i < files->len; i++)
    {
      DlpFile *file = g_ptr_array_index (files, i);

      if (kept > 0 && compare_files (&files->pdata[kept - 1], &file) == 0)
        g_object_unref (file);
      else
        files->pdata[kept++] = file;
    }
  g_ptr_array_set_free_func (files, NULL);
  g_ptr_array_set_size (files, (int) kept);
  g_ptr_array_set_free_func (files, g_object_unref);
}
