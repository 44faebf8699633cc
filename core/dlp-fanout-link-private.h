/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

#include <gio/gio.h>

G_BEGIN_DECLS

/* What a fan-out and one of its workers say to each other, over a socket: messages of type a{sv},
 * each a size of 8 bytes and a GVariant, both of the machine's byte order. Texts that need not be
 * UTF-8 are byte strings. One thread at a time. */
typedef struct
{
  int fd; /* owned; -1: closed */
  GByteArray *in;
  GByteArray *out; /* what the socket has not taken as a whole */
  guint sent;      /* of that */
} DlpFanoutLink;

void dlp_fanout_link_init (DlpFanoutLink *self, int fd);
void dlp_fanout_link_clear (DlpFanoutLink *self);

/* @message: sunk if floating. With @wait until the other side takes it; else what does not fit the
 * socket at once is sent by dlp_fanout_link_flush(). False: the other side is gone, or there is no
 * end to what it has not taken. */
bool dlp_fanout_link_send (DlpFanoutLink *self, GVariant *message, bool wait);
/* Sends what is left, as far as that goes without waiting. False: the other side is gone. */
bool dlp_fanout_link_flush (DlpFanoutLink *self);
static inline bool
dlp_fanout_link_has_unsent (const DlpFanoutLink *self)
{
  return self->out != NULL && self->out->len > self->sent;
}
/* Reads what is there, without waiting; false: the other side is gone, or says nonsense. What came
 * before is still there to be taken. */
bool dlp_fanout_link_receive (DlpFanoutLink *self);
/* (transfer full) (nullable): the next message that is whole. */
GVariant *dlp_fanout_link_take (DlpFanoutLink *self);

/* (transfer none): a byte string of a message, "" where there is none. */
const char *dlp_fanout_get_text (GVariant *message, const char *key);
guint64 dlp_fanout_get_number (GVariant *message, const char *key);
void dlp_fanout_add_text (GVariantDict *dict, const char *key, const char *text);

G_END_DECLS
