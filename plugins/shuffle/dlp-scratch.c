/* SPDX-License-Identifier: MIT */

#include "dlp-scratch.h"

#include <errno.h>
#include <unistd.h>

#define GATHERED (256 * 1024)

struct _DlpScratch
{
  gint ref_count;
  char *name; /* of the element */
  int fd;
  guint64 written;      /* the appending thread's, as is what follows */
  GByteArray *gathered; /* behind it */
};

DlpScratch *
dlp_scratch_new (DlpElement *element, GError **error)
{
  int fd = dlp_element_open_scratch (element, error);
  DlpScratch *self;

  if (fd < 0)
    return NULL;
  self = g_new0 (DlpScratch, 1);
  self->ref_count = 1;
  self->name = g_strdup (dlp_element_get_name (element));
  self->fd = fd;
  self->gathered = g_byte_array_new ();
  return self;
}

DlpScratch *
dlp_scratch_ref (DlpScratch *self)
{
  g_atomic_int_inc (&self->ref_count);
  return self;
}

void
dlp_scratch_unref (DlpScratch *self)
{
  if (!g_atomic_int_dec_and_test (&self->ref_count))
    return;
  close (self->fd);
  g_byte_array_unref (self->gathered);
  g_free (self->name);
  g_free (self);
}

guint64
dlp_scratch_get_end (const DlpScratch *self)
{
  return self->written + self->gathered->len;
}

static gboolean
fail (DlpScratch *self, const char *what, int code, gsize size, GError **error)
{
  g_set_error (error, G_IO_ERROR, g_io_error_from_errno (code),
               "%s: cannot %s %zu bytes of the scratch file: %s; a smaller buffer or a larger "
               "--memory needs none",
               self->name, what, size, g_strerror (code));
  return FALSE;
}

gboolean
dlp_scratch_flush (DlpScratch *self, GError **error)
{
  gsize done = 0;

  while (done < self->gathered->len)
    {
      gsize left = self->gathered->len - done;
      gssize n = pwrite (self->fd, self->gathered->data + done, left, (off_t) self->written);

      if (n < 0 && errno == EINTR)
        continue;
      if (n <= 0)
        {
          g_byte_array_remove_range (self->gathered, 0, (guint) done);
          return fail (self, "write", n < 0 ? errno : ENOSPC, left, error);
        }
      done += (gsize) n;
      self->written += (guint64) n;
    }
  dlp_scratch_trim (&self->gathered);
  g_byte_array_set_size (self->gathered, 0);
  return TRUE;
}

gboolean
dlp_scratch_settle (DlpScratch *self, GError **error)
{
  return self->gathered->len <= GATHERED || dlp_scratch_flush (self, error);
}

void
dlp_scratch_trim (GByteArray **buffer)
{
  if ((*buffer)->len <= GATHERED)
    return;
  g_byte_array_unref (*buffer);
  *buffer = g_byte_array_new ();
}

guint8 *
dlp_scratch_append (DlpScratch *self, gsize size, GError **error)
{
  guint at = self->gathered->len;

  if (size > G_MAXUINT - GATHERED)
    {
      fail (self, "write", EFBIG, size, error);
      return NULL;
    }
  if (at > 0 && at + size > GATHERED)
    {
      if (!dlp_scratch_flush (self, error))
        return NULL;
      at = 0;
    }
  g_byte_array_set_size (self->gathered, (guint) (at + size));
  return self->gathered->data + at;
}

const guint8 *
dlp_scratch_read (DlpScratch *self,
                  guint64 offset,
                  gsize size,
                  GByteArray *buffer,
                  gboolean appender,
                  GError **error)
{
  gsize got = 0;

  if (appender && offset >= self->written)
    return self->gathered->data + (offset - self->written);
  g_byte_array_set_size (buffer, (guint) size);
  while (got < size)
    {
      gssize n = pread (self->fd, buffer->data + got, size - got, (off_t) (offset + got));

      if (n < 0 && errno == EINTR)
        continue;
      if (n <= 0)
        {
          fail (self, "read", n < 0 ? errno : EIO, size - got, error);
          return NULL;
        }
      got += (gsize) n;
    }
  return buffer->data;
}
