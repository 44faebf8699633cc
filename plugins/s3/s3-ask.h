/* SPDX-License-Identifier: MIT */
#pragma once

#include "dlp-http-document.h"

G_BEGIN_DECLS

/* Of whom requests are signed. */
typedef struct
{
  char *access_key;
  char *secret_key;
  char *token;    /* (nullable): of a session */
  gint64 expires; /* Unix; 0: not said */
} S3Credentials;

void s3_credentials_clear (S3Credentials *self);
void s3_credentials_copy (S3Credentials *self, const S3Credentials *from);
gboolean s3_credentials_equal (const S3Credentials *a, const S3Credentials *b);

/* A request to one of the services that give credentials. */
typedef struct
{
  const char *uri;
  const char *name;               /* of the service, for messages */
  const char *method;             /* (nullable): GET */
  const char *const *headers;     /* (nullable): NAME, VALUE, ..., NULL */
  const char *form;               /* (nullable): the body */
  const char *ending;             /* (nullable): of a whole answer */
  const S3Credentials *signed_by; /* (nullable): as service sts */
  const char *region;             /* for the signature */
  guint timeout;                  /* seconds */
  gint64 budget;                  /* microseconds; 0: one attempt */
  gboolean is_direct;             /* never by a proxy */
} S3Ask;

/* @document is to be cleared in any case. */
gboolean
s3_ask (const S3Ask *self, HttpDocument *document, GCancellable *cancellable, GError **error);

/* Puts URI's signature and what goes with it into @message, which goes to the URI it has.
 * @requester_pays: the caller pays for what is read. */
void s3_sign_message (SoupMessage *message,
                      const S3Credentials *credentials,
                      const char *region,
                      const char *service,
                      const char *payload_hash,
                      gboolean requester_pays,
                      gint64 time);
/* (transfer full) (nullable): "CODE: MESSAGE" of an XML answer; @code: (out) (transfer full)
 * (nullable). */
char *s3_describe_error (const char *text, gsize size, char **code);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (S3Credentials, s3_credentials_clear)

G_END_DECLS
