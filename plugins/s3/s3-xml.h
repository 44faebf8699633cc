/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* The XML that S3 and STS answer with, as far as it is looked at. */

typedef struct
{
  char *key;
  char *etag; /* (nullable): with its quotes */
  gint64 size;
} S3Entry;

typedef struct
{
  GPtrArray *entries; /* of S3Entry */
  char *next;         /* (nullable): the token of the page that follows */
} S3Page;

/* A page of ListObjectsV2. Errors: DLP_DATA_ERROR_DAMAGED. @page is to be cleared in any case. */
gboolean s3_page_parse (S3Page *page, const char *text, gsize size, GError **error);
void s3_page_clear (S3Page *page);

/* (transfer full) (nullable): the text of the first element of that name, without white space
 * around it; NULL: there is none, or the document cannot be read so far. */
char *s3_xml_find (const char *text, gsize size, const char *name);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (S3Page, s3_page_clear)

G_END_DECLS
