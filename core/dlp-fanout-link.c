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
}

static bool
wait_for_room (int fd)
{
  struct pollfd poll_fd = { fd, POLLOUT, 0 };

  return TEMP_FAILURE_RETRY (poll (&poll_fd, 1, -1)) >= 0;
}

/* A message that has begun is sent to its end: half of one would be all that was ever understood.
 */
static bool
send_all (int fd, const guint8 *data, gsize size, bool wait)
{
  gsize sent = 0;

  while (sent < size)
    {
      gssize n = send (fd, data + sent, size - sent, MSG_NOSIGNAL | MSG_DONTWAIT);

      if (n > 0)
        sent += (gsize) n;
      else if (errno == EINTR)
        continue;
      else if (errno != EAGAIN || !wait || !wait_for_room (fd))
        return false;
    }
  return true;
}

bool
dlp_fanout_link_send (DlpFanoutLink *self, GVariant *message, bool wait)
{
  g_autoptr (GVariant) held = g_variant_ref_sink (message);
  gsize size = g_variant_get_size (held);
  g_autofree guint8 *bytes = NULL;
  guint64 head = size;

  if (self->fd < 0 || size > MAX_MESSAGE)
    return false;
  /* Behind a head of 8 bytes the value lies as GVariant wants it. */
  bytes = g_malloc (sizeof head + size);
  memcpy (bytes, &head, sizeof head);
  g_variant_store (held, bytes + sizeof head);
  return send_all (self->fd, bytes, sizeof head + size, wait);
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
