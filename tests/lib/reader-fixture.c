/* SPDX-License-Identifier: MIT */

#include "reader-fixture.h"

#include <string.h>

#include <glib/gstdio.h>

#include "dlp-file-source.h"
#include "dlp-jsonl-reader.h"
#include "fixture-codecs.h"

void
fixture_init (void)
{
  fixture_codecs_register ();
}

Fixture *
fixture_new_at (const char *location)
{
  Fixture *self = g_new0 (Fixture, 1);

  self->source = g_ptr_array_new_with_free_func (g_free);
  self->reader = g_ptr_array_new_with_free_func (g_free);
  self->config.source_type = DLP_TYPE_FILE_SOURCE;
  self->config.reader_type = DLP_TYPE_JSONL_READER;
  fixture_set_source (self, "location=%s", location);
  return self;
}

Fixture *
fixture_new (void)
{
  GError *error = NULL;
  char *folder = g_dir_make_tmp ("dlpipe-reader-XXXXXX", &error);
  g_autofree char *glob = g_strconcat (folder, "/*", NULL);
  Fixture *self = fixture_new_at (glob);

  g_assert_no_error (error);
  self->folder = folder;
  return self;
}

void
fixture_free (Fixture *self)
{
  if (self->folder != NULL)
    {
      g_autoptr (GDir) dir = g_dir_open (self->folder, 0, NULL);
      const char *name;

      while ((name = g_dir_read_name (dir)) != NULL)
        {
          g_autofree char *path = fixture_path (self, name);

          g_assert_cmpint (g_remove (path), ==, 0);
        }
      g_assert_cmpint (g_rmdir (self->folder), ==, 0);
    }
  g_ptr_array_unref (self->source);
  g_ptr_array_unref (self->reader);
  g_free (self->folder);
  g_free (self);
}

void
fixture_write (Fixture *self, const char *name, const char *data, gssize size)
{
  g_autofree char *path = fixture_path (self, name);
  g_autoptr (GByteArray) out = g_byte_array_new ();
  gsize length = size < 0 ? strlen (data) : (gsize) size;
  gsize n = MAX (2, length / 70000);
  GError *error = NULL;
  FixtureCompress compress = fixture_codecs_find (name);

  if (compress != NULL)
    for (gsize i = 0; i < n; i++)
      compress (out, data + length * i / n, length * (i + 1) / n - length * i / n);
  else
    g_byte_array_append (out, (const guint8 *) data, (guint) length);
  g_file_set_contents (path, (const char *) out->data, (gssize) out->len, &error);
  g_assert_no_error (error);
}

static void
set (GPtrArray *settings, const char *format, va_list args)
{
  if (settings->len > 0 && settings->pdata[settings->len - 1] == NULL)
    g_ptr_array_set_size (settings, (gint) settings->len - 1);
  g_ptr_array_add (settings, g_strdup_vprintf (format, args));
}

void
fixture_set_source (Fixture *self, const char *format, ...)
{
  va_list args;

  va_start (args, format);
  set (self->source, format, args);
  va_end (args);
}

void
fixture_set_reader (Fixture *self, const char *format, ...)
{
  va_list args;

  va_start (args, format);
  set (self->reader, format, args);
  va_end (args);
}

static const char *const *
terminated (GPtrArray *settings)
{
  if (settings->len == 0 || settings->pdata[settings->len - 1] != NULL)
    g_ptr_array_add (settings, NULL);
  return (const char *const *) settings->pdata;
}

const RigConfig *
fixture_config (Fixture *self)
{
  self->config.source = terminated (self->source);
  self->config.reader = terminated (self->reader);
  return &self->config;
}

char *
fixture_path (Fixture *self, const char *name)
{
  return g_build_filename (self->folder, name, NULL);
}
