/* SPDX-License-Identifier: MIT */

#include "dlp-http-stream.h"

#include <string.h>

#include <dlpipe/dlp-error.h>

#include "dlp-http-settings.h"

/* As much as tells a codec. */
#define HEAD_SIZE 6
#define SKIP_SIZE (64 * 1024)

struct _DlpHttpStream
{
  GInputStream parent_instance;

  DlpFile *file;
  char *uri;          /* by which it is asked for */
  char *identity;     /* (nullable) */
  HttpAccess *access; /* (nullable) */
  HttpSettings settings;
  HttpRetry retry;
  HttpSession *session;
  HttpResponse *response; /* (nullable): the one being read */
  gint64 size;            /* -1: unknown */
  gint64 position;        /* of the next byte to be given out, the head apart */
  gint64 to_skip;         /* of the response's body, before that */
  gint64 body_left;       /* -1: unknown */
  gboolean ended;

  HttpCacheReader *kept;   /* (nullable): in the place of a server */
  HttpCacheWriter *keeper; /* (nullable): gets a copy of what is read */

  guint8 head[HEAD_SIZE];
  gsize head_start, head_end;
};

static void dlp_http_stream_class_init (DlpHttpStreamClass *klass);
static void dlp_http_stream_init (DlpHttpStream *self);

static const char *type_name = "DlpHttpStream";
static gpointer dlp_http_stream_parent_class;

GType
dlp_http_stream_get_type (void)
{
  static gsize type;

  if (g_once_init_enter (&type))
    {
      GType made = g_type_register_static_simple (
          G_TYPE_INPUT_STREAM, type_name, sizeof (DlpHttpStreamClass),
          (GClassInitFunc) dlp_http_stream_class_init, sizeof (DlpHttpStream),
          (GInstanceInitFunc) dlp_http_stream_init, G_TYPE_FLAG_FINAL);

      g_once_init_leave (&type, made);
    }
  return type;
}

void
dlp_http_stream_set_type_name (const char *name)
{
  type_name = name;
}

/* ---- connections ---- */

static void
drop_connection (DlpHttpStream *self)
{
  gboolean clean = self->response == NULL || self->body_left == 0;

  if (self->session == NULL)
    return;
  http_session_enter (self->session);
  g_clear_pointer (&self->response, http_response_free);
  http_session_leave (self->session);
  http_session_give (g_steal_pointer (&self->session), clean);
}

static gboolean fail (GError **error, gint code, const char *format, ...) G_GNUC_PRINTF (3, 4);

/* An error that no further attempt mends. */
static gboolean
fail (GError **error, gint code, const char *format, ...)
{
  g_autofree char *what = NULL;
  va_list args;

  va_start (args, format);
  what = g_strdup_vprintf (format, args);
  va_end (args);
  g_set_error_literal (error, DLP_DATA_ERROR, code, what);
  return FALSE;
}

static gboolean fault (DlpHttpStream *self, GError **error, const char *format, ...)
    G_GNUC_PRINTF (3, 4);

/* The server contradicts itself or breaks off: again; damage once the budget is spent. */
static gboolean
fault (DlpHttpStream *self, GError **error, const char *format, ...)
{
  g_autofree char *what = NULL;
  va_list args;

  va_start (args, format);
  what = g_strdup_vprintf (format, args);
  va_end (args);
  drop_connection (self);
  return http_retry_note_fault (
      &self->retry, -1, g_error_new (DLP_DATA_ERROR, DLP_DATA_ERROR_DAMAGED, "%s", what), error);
}

static gboolean
check_identity (DlpHttpStream *self, const HttpResponse *response, GError **error)
{
  const char *before = self->identity;
  g_autofree char *was = NULL;
  g_autofree char *is = NULL;

  if (before == NULL || g_strcmp0 (before, response->identity) == 0)
    return TRUE;
  was = dlp_uri_escape_for_display (before);
  is = dlp_uri_escape_for_display (response->identity != NULL ? response->identity :
                                                                "without an ETag or time");
  return fail (error, DLP_DATA_ERROR_CHANGED, "the source changed: it was %s, now it is %s", was,
               is);
}

/* @total: of the object, as this response has it; -1: it does not say. */
static gboolean
check_total (DlpHttpStream *self, gint64 total, GError **error)
{
  if (total < 0 || self->size == total)
    return TRUE;
  if (self->size < 0 && self->position == 0)
    {
      self->size = total;
      return TRUE;
    }
  if (self->identity == NULL)
    return fail (error, DLP_DATA_ERROR_CHANGED,
                 "the source changed: it was %" G_GINT64_FORMAT
                 " bytes, now it is %" G_GINT64_FORMAT,
                 self->size, total);
  return fault (self, error,
                "the server says %" G_GINT64_FORMAT " bytes of what is %" G_GINT64_FORMAT
                " bytes by the same ETag or time",
                total, self->size);
}

/* 200 or 206. The position comes from what the server says, not from what it was asked. */
static gboolean
accept_body (DlpHttpStream *self, HttpResponse *response, GError **error)
{
  const HttpRange *range = &response->range;
  gint64 start = MAX (range->start, 0);
  gint64 total = range->total;

  if (total < 0 && range->start < 0 && response->status == 200)
    total = response->length;
  if (!check_identity (self, response, error) || !check_total (self, total, error))
    return FALSE;
  if (self->response == NULL)
    return TRUE;
  if (range->start < 0 && response->status == 206)
    return fault (self, error, "the server answers 206 and does not say which bytes it sends");
  if (start > self->position)
    return fault (self, error,
                  "the server sends what begins at byte %" G_GINT64_FORMAT
                  ", where %" G_GINT64_FORMAT " was asked for",
                  start, self->position);
  if (range->start >= 0 && response->length >= 0 && response->length != range->end - start + 1)
    return fault (self, error,
                  "the server says %" G_GINT64_FORMAT
                  " bytes, and that they are bytes %" G_GINT64_FORMAT " to %" G_GINT64_FORMAT,
                  response->length, start, range->end);
  self->to_skip = self->position - start;
  self->body_left = range->start >= 0 ? range->end - start + 1 : response->length;
  return TRUE;
}

static gboolean
accept_end (DlpHttpStream *self, const HttpResponse *response, GError **error)
{
  gint64 total = response->range.total;
  gint64 end = self->size >= 0 ? self->size : total;

  if (self->position == end && (total < 0 || total == end))
    {
      self->ended = TRUE;
      drop_connection (self);
      return TRUE;
    }
  if (total >= 0 && total != end)
    return fail (error, DLP_DATA_ERROR_CHANGED,
                 "the source changed: it was %" G_GINT64_FORMAT
                 " bytes, now it is %" G_GINT64_FORMAT,
                 end, total);
  return fault (self, error, "the server has nothing at byte %" G_GINT64_FORMAT, self->position);
}

/* Up to there it could be read, by this stream or one before. */
static GError *
make_refusal (DlpHttpStream *self, const HttpResponse *response)
{
  g_autofree char *reason = NULL;

  if (self->position == 0 || self->access != NULL ||
      (response->status != 401 && response->status != 403))
    return http_response_make_error (response, self->retry.name);
  reason = dlp_uri_escape_for_display (response->reason != NULL ? response->reason : "");
  return g_error_new (DLP_DATA_ERROR, DLP_DATA_ERROR_NO_INPUT,
                      "the server answers %u %s at byte %" G_GINT64_FORMAT
                      ", and has answered before: has a signed address or a login run out? The "
                      "same command with a new one goes on there",
                      response->status, reason, self->position);
}

static gboolean
accept_response (DlpHttpStream *self, HttpResponse *response, GError **error)
{
  g_autoptr (GError) cause = NULL;
  gint64 retry_after = response->retry_after;

  if (response->status == 200 || response->status == 206)
    return accept_body (self, response, error);
  if (response->status == 416 && self->position > 0)
    return accept_end (self, response, error);

  cause = make_refusal (self, response);
  if (http_response_is_transient (response))
    {
      drop_connection (self);
      return http_retry_note_fault (&self->retry, retry_after, g_steal_pointer (&cause), error);
    }
  g_propagate_error (error, g_steal_pointer (&cause));
  return FALSE;
}

/* One attempt: TRUE also where another one has to follow. */
static gboolean
connect_once (DlpHttpStream *self, GCancellable *cancellable, GError **error)
{
  const char *etag = http_identity_get_strong_etag (self->identity);
  g_autofree char *range =
      self->position > 0 ? g_strdup_printf ("bytes=%" G_GINT64_FORMAT "-", self->position) : NULL;
  g_autoptr (GError) cause = NULL;

  if (!http_retry_wait (&self->retry, cancellable, error))
    return FALSE;
  self->session = http_session_take_trusting (self->settings.timeout, self->settings.ca_file);
  self->body_left = -1;
  self->response =
      http_request_send (self->session, self->uri, self->access, range, etag, cancellable, &cause);
  if (self->response != NULL)
    return accept_response (self, self->response, error);

  http_session_give (g_steal_pointer (&self->session), FALSE);
  if (g_cancellable_set_error_if_cancelled (cancellable, error))
    return FALSE;
  if (cause->domain == DLP_DATA_ERROR)
    {
      g_propagate_error (error, g_steal_pointer (&cause));
      return FALSE;
    }
  return http_retry_note_fault (&self->retry, -1, g_steal_pointer (&cause), error);
}

/* ---- reading ---- */

/* What another attempt goes on from: with no length and no identity it would be a guess. */
static gboolean
break_off (DlpHttpStream *self, const char *why, GError **error)
{
  if (self->size < 0 && self->position > 0 && self->identity == NULL)
    return fail (error, DLP_DATA_ERROR_DAMAGED,
                 "broken off after %" G_GINT64_FORMAT
                 " bytes (%s); the server says neither a length nor an ETag, so that reading "
                 "cannot go on there",
                 self->position, why);
  return fault (self, error, "broken off at byte %" G_GINT64_FORMAT " of %" G_GINT64_FORMAT ": %s",
                self->position, self->size, why);
}

/* -1: @error; 0: the end, or another attempt has to follow. */
static gssize
read_body (DlpHttpStream *self,
           guint8 *buffer,
           gsize count,
           GCancellable *cancellable,
           GError **error)
{
  g_autoptr (GError) cause = NULL;
  gssize n;

  http_session_enter (self->session);
  n = g_input_stream_read (self->response->body, buffer, count, cancellable, &cause);
  http_session_leave (self->session);
  if (n > 0)
    {
      if (self->body_left >= 0)
        self->body_left -= MIN (n, self->body_left);
      return n;
    }
  if (g_cancellable_set_error_if_cancelled (cancellable, error))
    return -1;
  if (n == 0 && self->size < 0 && self->body_left <= 0)
    {
      self->ended = TRUE;
      drop_connection (self);
      return 0;
    }
  return break_off (self, cause != NULL ? cause->message : "the connection ended", error) ? 0 : -1;
}

/* What the server sends before the position asked for. */
static gboolean
skip (DlpHttpStream *self, GCancellable *cancellable, GError **error)
{
  g_autofree guint8 *buffer = g_malloc (SKIP_SIZE);

  while (self->to_skip > 0 && self->response != NULL && !self->ended)
    {
      gssize n =
          read_body (self, buffer, (gsize) MIN (self->to_skip, SKIP_SIZE), cancellable, error);

      if (n < 0)
        return FALSE;
      self->to_skip -= n;
    }
  if (self->ended)
    return fail (error, DLP_DATA_ERROR_CHANGED,
                 "the source changed: it ends before byte %" G_GINT64_FORMAT, self->position);
  return TRUE;
}

/* ---- the cache ---- */

static void
drop_keeper (DlpHttpStream *self)
{
  g_clear_pointer (&self->keeper, http_cache_writer_abort);
}

/* @n bytes that end at the position now. Only who reads a file from its start keeps it. */
static void
keep (DlpHttpStream *self, const guint8 *data, gsize n)
{
  if (self->position == (gint64) n && self->settings.cache != NULL && self->keeper == NULL)
    self->keeper = http_cache_begin (self->settings.cache, self->file);
  if (self->keeper == NULL)
    return;
  http_cache_writer_add (self->keeper, data, n);
  if (self->position == self->size)
    http_cache_writer_finish (g_steal_pointer (&self->keeper));
}

/* -1: damaged; the server goes on from here. */
static gssize
read_kept (DlpHttpStream *self, guint8 *buffer, gsize count)
{
  gssize n = http_cache_reader_read (self->kept, buffer, count);

  if (n < 0)
    g_clear_pointer (&self->kept, http_cache_reader_free);
  else
    self->position += n;
  return n;
}

/* ---- reading on ---- */

static gssize
read_some (DlpHttpStream *self,
           guint8 *buffer,
           gsize count,
           GCancellable *cancellable,
           GError **error)
{
  gssize n = 0;

  while (n == 0 && !self->ended && (self->size < 0 || self->position < self->size))
    {
      if (self->response == NULL)
        {
          if (!connect_once (self, cancellable, error))
            return -1;
          continue;
        }
      if (self->to_skip > 0)
        {
          if (!skip (self, cancellable, error))
            return -1;
          continue;
        }
      if (self->size >= 0)
        count = MIN (count, (guint64) (self->size - self->position));
      n = read_body (self, buffer, count, cancellable, error);
    }
  if (n > 0)
    {
      self->position += n;
      http_retry_note_progress (&self->retry);
      keep (self, buffer, (gsize) n);
    }
  if (n == 0 || self->position == self->size)
    drop_connection (self);
  return n;
}

static gssize
dlp_http_stream_read (GInputStream *stream,
                      void *buffer,
                      gsize count,
                      GCancellable *cancellable,
                      GError **error)
{
  DlpHttpStream *self = DLP_HTTP_STREAM (stream);
  gsize n = MIN (count, self->head_end - self->head_start);
  gssize kept = self->kept != NULL ? read_kept (self, buffer, count) : -1;

  if (kept >= 0)
    return kept;
  if (n == 0)
    return read_some (self, buffer, count, cancellable, error);
  memcpy (buffer, self->head + self->head_start, n);
  self->head_start += n;
  return (gssize) n;
}

static gboolean
dlp_http_stream_close (GInputStream *stream, GCancellable *cancellable, GError **error)
{
  drop_connection (DLP_HTTP_STREAM (stream));
  drop_keeper (DLP_HTTP_STREAM (stream));
  return TRUE;
}

/* ---- opening ---- */

static gboolean
gather_head (DlpHttpStream *self, GCancellable *cancellable, GError **error)
{
  gssize n = 1;

  while (self->head_end < HEAD_SIZE && n > 0)
    {
      n = read_some (self, self->head + self->head_end, HEAD_SIZE - self->head_end, cancellable,
                     error);
      self->head_end += n > 0 ? (gsize) n : 0;
    }
  return n >= 0;
}

static gboolean
is_named_html (const char *uri)
{
  gsize length = strcspn (uri, "?");

  return (length > 5 && g_ascii_strncasecmp (uri + length - 5, ".html", 5) == 0) ||
         (length > 4 && g_ascii_strncasecmp (uri + length - 4, ".htm", 4) == 0);
}

/* What only the first bytes tell. */
static gboolean
check_head (DlpHttpStream *self, gboolean is_html, GError **error)
{
  if (is_html && self->head_end > 0 && self->head[0] == '<')
    return fail (
        error, DLP_DATA_ERROR_DAMAGED,
        "the server sends a page (text/html) where data were expected; is a login needed?");
  if (self->size < 0 && !http_is_self_delimiting (self->head, self->head_end))
    return fail (error, DLP_DATA_ERROR_DAMAGED,
                 "the server does not say how long it is, so that a cut could not be seen; only "
                 "compressed files (gzip, zstd, xz, lz4, bzip2) are read so");
  return TRUE;
}

static gboolean
open_first (DlpHttpStream *self, GCancellable *cancellable, GError **error)
{
  gboolean is_html;

  if (self->settings.cache != NULL)
    self->kept = http_cache_open (self->settings.cache, self->file, self->position);
  if (self->kept != NULL)
    return TRUE;
  while (self->response == NULL && !self->ended)
    if (!connect_once (self, cancellable, error))
      return FALSE;
  if (self->position > 0 || self->ended)
    return TRUE;
  /* Who has an access has nothing else to log in at. */
  is_html = self->response->is_html && self->access == NULL && !is_named_html (self->uri);
  if (!is_html && self->size >= 0)
    return TRUE;
  return gather_head (self, cancellable, error) && check_head (self, is_html, error);
}

GInputStream *
http_object_open (const HttpObject *object,
                  DlpFile *file,
                  const HttpSettings *settings,
                  gint64 offset,
                  GCancellable *cancellable,
                  GError **error)
{
  g_autoptr (DlpHttpStream) self = g_object_new (DLP_TYPE_HTTP_STREAM, NULL);

  self->file = g_object_ref (file);
  self->uri = g_strdup (object->uri);
  self->identity = g_strdup (object->identity);
  self->access = object->access;
  http_settings_copy (&self->settings, settings);
  self->size = dlp_file_get_size (file);
  self->position = offset;
  http_retry_init (&self->retry, &self->settings, object->uri);
  http_retry_set_name (&self->retry, dlp_file_get_uri (file));
  if (self->size >= 0 && offset > self->size)
    fail (error, DLP_DATA_ERROR_CHANGED,
          "the source changed: it is %" G_GINT64_FORMAT
          " bytes, and was read up to byte %" G_GINT64_FORMAT " before",
          self->size, offset);
  else if (open_first (self, cancellable, error))
    return G_INPUT_STREAM (g_steal_pointer (&self));

  /* What a read says is named by whoever reads. */
  if (!g_cancellable_is_cancelled (cancellable))
    g_prefix_error (error, "%s: ", self->retry.name);
  return NULL;
}

GInputStream *
dlp_http_stream_open (DlpFile *file,
                      const HttpSettings *settings,
                      gint64 offset,
                      GCancellable *cancellable,
                      GError **error)
{
  const HttpObject object = { dlp_file_get_uri (file), dlp_file_get_identity (file), NULL };

  return http_object_open (&object, file, settings, offset, cancellable, error);
}

static void
dlp_http_stream_finalize (GObject *object)
{
  DlpHttpStream *self = DLP_HTTP_STREAM (object);

  drop_connection (self);
  drop_keeper (self);
  g_clear_pointer (&self->kept, http_cache_reader_free);
  http_retry_clear (&self->retry);
  http_settings_clear (&self->settings);
  g_clear_object (&self->file);
  g_free (self->uri);
  g_free (self->identity);
  if (self->access != NULL)
    self->access->free (self->access);

  G_OBJECT_CLASS (dlp_http_stream_parent_class)->finalize (object);
}

static void
dlp_http_stream_class_init (DlpHttpStreamClass *klass)
{
  dlp_http_stream_parent_class = g_type_class_peek_parent (klass);
  G_OBJECT_CLASS (klass)->finalize = dlp_http_stream_finalize;
  G_INPUT_STREAM_CLASS (klass)->read_fn = dlp_http_stream_read;
  G_INPUT_STREAM_CLASS (klass)->close_fn = dlp_http_stream_close;
}

static void
dlp_http_stream_init (DlpHttpStream *self)
{
  self->size = self->body_left = -1;
}
