/* SPDX-License-Identifier: MIT */

#include "dlp-fanout-link-private.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* The report of a task with many files is the largest. */
#define MAX_MESSAGE (64 * 1024 * 1024)
#define CHUNK (64 * 1024)

void
dlp_fanout_link_init (DlpFanoutLink *self, int fd)
{
  self->fd = fd;
  self->in = g_byte_array_new ();
  self->out = g_byte_array_new ();
  self->sent = 0;
}

void
dlp_fanout_link_clear (DlpFanoutLink *self)
{
  if (self->in == NULL)
    return;
  if (self->fd >= 0)
    close (self->fd);
  self->fd = -1;
  g_clear_pointer (&self->in, g_byte_array_unref);
  g_clear_pointer (&self->out, g_byte_array_unref);
}

static bool
wait_for_room (int fd)
{
  struct pollfd poll_fd = { fd, POLLOUT, 0 };

  return TEMP_FAILURE_RETRY (poll (&poll_fd, 1, -1)) >= 0;
}

/* False: the other side is gone. */
static bool
send_out (DlpFanoutLink *self, bool wait)
{
  while (self->sent < self->out->len)
    {
      gssize n = send (self->fd, self->out->data + self->sent, self->out->len - self->sent,
                       MSG_NOSIGNAL | MSG_DONTWAIT);

      if (n > 0)
        self->sent += (guint) n;
      else if (errno == EINTR)
        continue;
      else if (errno != EAGAIN)
        return false;
      else if (!wait)
        return true;
      else if (!wait_for_room (self->fd))
        return false;
    }
  g_byte_array_set_size (self->out, 0);
  self->sent = 0;
  return true;
}

bool
dlp_fanout_link_flush (DlpFanoutLink *self)
{
  return self->fd >= 0 && send_out (self, false);
}

/* The graph of an order may be larger than what a socket takes at once; half of a message would be
 * all that was ever understood. */
bool
dlp_fanout_link_send (DlpFanoutLink *self, GVariant *message, bool wait)
{
  g_autoptr (GVariant) held = g_variant_ref_sink (message);
  gsize size = g_variant_get_size (held);
  guint64 head = size;
  g_autofree guint8 *bytes = NULL;

  if (self->fd < 0 || size > MAX_MESSAGE || self->out->len > MAX_MESSAGE)
    return false;
  bytes = g_malloc (size);
  g_variant_store (held, bytes);
  g_byte_array_append (self->out, (const guint8 *) &head, sizeof head);
  g_byte_array_append (self->out, bytes, (guint) size);
  return send_out (self, wait);
}

static bool
get_size (DlpFanoutLink *self, guint64 *size)
{
  if (self->in->len < sizeof *size)
    return false;
  memcpy (size, self->in->data, sizeof *size);
  return true;
}

bool
dlp_fanout_link_receive (DlpFanoutLink *self)
{
  g_autofree guint8 *buffer = g_malloc (CHUNK);
  guint64 size;

  for (;;)
    {
      gssize n = recv (self->fd, buffer, CHUNK, MSG_DONTWAIT);

      if (n < 0 && errno == EINTR)
        continue;
      if (n < 0 && errno == EAGAIN)
        return true;
      if (n <= 0)
        return false;
      g_byte_array_append (self->in, buffer, (guint) n);
      if (get_size (self, &size) && size > MAX_MESSAGE)
        return false;
    }
}

GVariant *
dlp_fanout_link_take (DlpFanoutLink *self)
{
  g_autoptr (GVariant) message = NULL;
  gpointer copy;
  guint64 size;

  if (!get_size (self, &size) || self->in->len - sizeof size < size)
    return NULL;
  copy = g_memdup2 (self->in->data + sizeof size, (gsize) size);
  g_byte_array_remove_range (self->in, 0, (guint) (sizeof size + size));
  message = g_variant_ref_sink (
      g_variant_new_from_data (G_VARIANT_TYPE_VARDICT, copy, (gsize) size, FALSE, g_free, copy));
  return g_variant_get_normal_form (message);
}

const char *
dlp_fanout_get_text (GVariant *message, const char *key)
{
  const char *text;

  return g_variant_lookup (message, key, "^&ay", &text) ? text : "";
}

guint64
dlp_fanout_get_number (GVariant *message, const char *key)
{
  guint64 number;

  return g_variant_lookup (message, key, "t", &number) ? number : 0;
}

void
dlp_fanout_add_text (GVariantDict *dict, const char *key, const char *text)
{
  g_variant_dict_insert_value (dict, key, g_variant_new_bytestring (text != NULL ? text : ""));
}
