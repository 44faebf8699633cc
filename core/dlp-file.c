/* SPDX-License-Identifier: MIT */

#include "dlp-file-private.h"
#include "dlp-read-ahead-private.h"

#include <string.h>

#include <dlpipe/dlp-error.h>

struct _DlpFile
{
  GObject parent_instance;

  char *uri;
  gint64 size;
  char *identity;
  DlpScheme *scheme; /* (nullable): that of the name, else the one of its source */

  /* Set before anybody else sees it. */
  gint64 expected_size;
  gint64 expected_rows;
  char *expected_sha256;
};

G_DEFINE_FINAL_TYPE (DlpFile, dlp_file, G_TYPE_OBJECT)

static void
dlp_file_finalize (GObject *object)
{
  DlpFile *self = DLP_FILE (object);

  g_free (self->uri);
  g_free (self->identity);
  g_clear_object (&self->scheme);
  g_free (self->expected_sha256);

  G_OBJECT_CLASS (dlp_file_parent_class)->finalize (object);
}

static void
dlp_file_class_init (DlpFileClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = dlp_file_finalize;
}

static void
dlp_file_init (DlpFile *self)
{
  self->size = self->expected_size = self->expected_rows = -1;
}

DlpFile *
dlp_file_new (const char *uri, gint64 size, const char *identity)
{
  DlpFile *self;

  g_return_val_if_fail (uri != NULL, NULL);
  g_return_val_if_fail (size >= -1, NULL);

  self = g_object_new (DLP_TYPE_FILE, NULL);
  self->uri = g_strdup (uri);
  self->size = size;
  self->identity = g_strdup (identity);

  return self;
}

void
dlp_file_set_scheme (DlpFile *self, DlpScheme *scheme)
{
  g_set_object (&self->scheme, scheme);
}

DlpScheme *
dlp_file_find_scheme (DlpFile *self, GError **error)
{
  return self->scheme != NULL ? self->scheme : dlp_scheme_for_uri (self->uri, error);
}

const char *
dlp_file_get_uri (DlpFile *self)
{
  g_return_val_if_fail (DLP_IS_FILE (self), NULL);

  return self->uri;
}

gint64
dlp_file_get_size (DlpFile *self)
{
  g_return_val_if_fail (DLP_IS_FILE (self), -1);

  return self->size;
}

const char *
dlp_file_get_identity (DlpFile *self)
{
  g_return_val_if_fail (DLP_IS_FILE (self), NULL);

  return self->identity;
}

void
dlp_file_set_expected (DlpFile *self, gint64 size, gint64 rows, const char *sha256)
{
  self->expected_size = size;
  self->expected_rows = rows;
  g_free (self->expected_sha256);
  self->expected_sha256 = sha256 != NULL ? g_ascii_strdown (sha256, -1) : NULL;
}

const char *
dlp_file_get_expected_sha256 (DlpFile *self)
{
  return self->expected_sha256;
}

static gboolean fail_damaged (DlpFile *self, GError **error, const char *format, ...)
    G_GNUC_PRINTF (3, 4);

static gboolean
fail_damaged (DlpFile *self, GError **error, const char *format, ...)
{
  g_autofree char *name = dlp_uri_escape_for_display (self->uri);
  g_autofree char *what = NULL;
  va_list args;

  va_start (args, format);
  what = g_strdup_vprintf (format, args);
  va_end (args);
  g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_DAMAGED, "%s: %s", name, what);
  return FALSE;
}

gboolean
dlp_file_check_expected_size (DlpFile *self, gint64 size, GError **error)
{
  if (self->expected_size < 0 || size < 0 || size == self->expected_size)
    return TRUE;
  return fail_damaged (
      self, error, "the file has %" G_GINT64_FORMAT " bytes; its manifest says %" G_GINT64_FORMAT,
      size, self->expected_size);
}

gboolean
dlp_file_check_expected_sha256 (DlpFile *self, GChecksum *checksum, GError **error)
{
  const char *sha256 = g_checksum_get_string (checksum);

  if (strcmp (sha256, self->expected_sha256) == 0)
    return TRUE;
  return fail_damaged (self, error, "the SHA-256 of the file is %s; its manifest says %s", sha256,
                       self->expected_sha256);
}

gboolean
dlp_file_check_expected_rows (DlpFile *self, guint64 rows, GError **error)
{
  if (self->expected_rows < 0 || rows == (guint64) self->expected_rows)
    return TRUE;
  return fail_damaged (self, error,
                       "the file has %" G_GUINT64_FORMAT
                       " rows, good and bad; its manifest says %" G_GINT64_FORMAT,
                       rows, self->expected_rows);
}

gboolean
dlp_file_check (DlpFile *self, gint64 size, const char *identity, GError **error)
{
  gboolean size_differs = self->size >= 0 && size >= 0 && self->size != size;
  gboolean identity_differs =
      self->identity != NULL && identity != NULL && strcmp (self->identity, identity) != 0;
  g_autoptr (GString) message = NULL;
  g_autofree char *name = NULL;

  if (!size_differs && !identity_differs)
    return TRUE;

  name = dlp_uri_escape_for_display (self->uri);
  message = g_string_new (NULL);
  g_string_append_printf (message, "%s: the file has changed:", name);

  if (size_differs)
    g_string_append_printf (message,
                            " it was %" G_GINT64_FORMAT " bytes, now it is %" G_GINT64_FORMAT,
                            self->size, size);
  if (size_differs && identity_differs)
    g_string_append_c (message, ';');
  if (identity_differs)
    {
      g_autofree char *before = dlp_uri_escape_for_display (self->identity);
      g_autofree char *now = dlp_uri_escape_for_display (identity);

      g_string_append_printf (message, " it was %s, now it is %s", before, now);
    }

  g_set_error_literal (error, DLP_DATA_ERROR, DLP_DATA_ERROR_CHANGED, message->str);
  return FALSE;
}

GInputStream *
dlp_file_open (DlpFile *self, gint64 offset, GCancellable *cancellable, GError **error)
{
  DlpScheme *scheme;

  g_return_val_if_fail (DLP_IS_FILE (self), NULL);
  g_return_val_if_fail (offset >= 0, NULL);

  if (g_cancellable_set_error_if_cancelled (cancellable, error))
    return NULL;

  scheme = dlp_file_find_scheme (self, error);
  if (scheme == NULL)
    return NULL;

  if (DLP_SCHEME_GET_CLASS (scheme)->open == NULL)
    {
      g_autofree char *name = dlp_uri_escape_for_display (self->uri);

      g_set_error (error, G_IO_ERROR, G_IO_ERROR_NOT_SUPPORTED, "%s: %s cannot open files", name,
                   G_OBJECT_TYPE_NAME (scheme));
      return NULL;
    }

  return DLP_SCHEME_GET_CLASS (scheme)->open (scheme, self, offset, cancellable, error);
}

gboolean
dlp_file_check_stream (DlpFile *self, GInputStream *stream, GError **error)
{
  DlpScheme *scheme = dlp_file_find_scheme (self, error);
  GInputStream *opened = dlp_ahead_get_inner (stream);

  if (scheme == NULL)
    return FALSE;

  return opened == NULL || DLP_SCHEME_GET_CLASS (scheme)->check == NULL ||
         DLP_SCHEME_GET_CLASS (scheme)->check (scheme, self, opened, error);
}

#define PIECE ((gsize) 256 * 1024)

static gboolean
hash_all (DlpFile *self, GChecksum *checksum, GCancellable *cancellable, GError **error)
{
  g_autoptr (GInputStream) stream = dlp_file_open (self, 0, cancellable, error);
  g_autofree guint8 *piece = g_malloc (PIECE);
  gssize n = 0;

  if (stream == NULL)
    return FALSE;
  while ((n = g_input_stream_read (stream, piece, PIECE, cancellable, error)) > 0)
    g_checksum_update (checksum, piece, n);
  return n == 0 && dlp_file_check_stream (self, stream, error);
}

gboolean
dlp_file_verify (DlpFile *self, GCancellable *cancellable, GError **error)
{
  g_autoptr (GChecksum) checksum = NULL;

  if (self->expected_sha256 == NULL)
    return TRUE;
  checksum = g_checksum_new (G_CHECKSUM_SHA256);
  return hash_all (self, checksum, cancellable, error) &&
         dlp_file_check_expected_sha256 (self, checksum, error);
}
