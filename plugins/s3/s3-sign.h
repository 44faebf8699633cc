/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Signature Version 4 of AWS, in the header Authorization. Pure functions. */

/* The SHA-256 of an empty body. */
#define S3_EMPTY_HASH "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

typedef struct
{
  const char *method;
  const char *path;  /* encoded, as it is sent */
  const char *query; /* of s3_make_query(); "": none */
  const char *const
      *headers; /* those that are signed: NAME, VALUE, ..., NULL; sorted, lower case */
  const char *payload_hash;
  const char *region;
  const char *service;
  gint64 time; /* Unix */
} S3Request;

/* (transfer full): the value of Authorization. */
char *s3_sign (const S3Request *request, const char *access_key, const char *secret_key);
/* (transfer full): 20130524T000000Z, the value of X-Amz-Date. */
char *s3_format_time (gint64 time);
/* (transfer full): NAME, VALUE, ..., NULL as a query, encoded, in the order that is signed. */
char *s3_make_query (const char *const *pairs);

G_END_DECLS
