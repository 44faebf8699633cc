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
};

G_DEFINE_FINAL_TYPE (DlpFile, dlp_file, G_TYPE_OBJECT)

static void
dlp_file_finalize (GObject *object)
{
  DlpFile *self = DLP_FILE (object);

  g_free (self->uri);
  g_free (self->identity);
  g_clear_object (&self->scheme);

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
  self->size = -1;
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

static DlpScheme *
get_scheme (DlpFile *self, GError **error)
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

  scheme = get_scheme (self, error);
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
  DlpScheme *scheme = get_scheme (self, error);
  GInputStream *opened = dlp_ahead_get_inner (stream);

  if (scheme == NULL)
    return FALSE;

  return opened == NULL || DLP_SCHEME_GET_CLASS (scheme)->check == NULL ||
         DLP_SCHEME_GET_CLASS (scheme)->check (scheme, self, opened, error);
}
