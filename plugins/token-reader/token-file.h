/* SPDX-License-Identifier: MIT */
#pragma once

#include <dlpipe/dlp-file.h>

G_BEGIN_DECLS

/* A file that is read at offsets, mostly one behind the other. Its bytes come by calls of read, not
 * by a map: a file that shrinks meanwhile is an error, and no signal; and any scheme will do. */
typedef struct
{
  DlpFile *file;
  guint64 size;
  char *name; /* fit to print */
  GInputStream *stream;
  guint64 position; /* of the stream */
} TokenFile;

/* FALSE with an error: its size is not known, so that it cannot be read at offsets. */
gboolean token_file_init (TokenFile *self, DlpFile *file, GError **error);
void token_file_clear (TokenFile *self);

/* FALSE with an error: DLP_DATA_ERROR_DAMAGED where the file ends before. */
gboolean token_file_read (TokenFile *self,
                          guint64 offset,
                          gpointer to,
                          gsize size,
                          GCancellable *cancellable,
                          GError **error);

/* Sets DLP_DATA_ERROR_DAMAGED with the file's name and @why (transfer full). Returns FALSE. */
gboolean token_file_damaged (const TokenFile *self, char *why, GError **error);

/* Numbers in a row somewhere in a file, of 4 or 8 bytes, little-endian and signed; read a block at
 * a time. */
typedef struct
{
  TokenFile file;
  guint64 start; /* in bytes */
  guint width;
  guint64 n;
  guint8 *block;
  guint64 first; /* the first number of the block */
  guint64 count; /* how many it has */
} TokenColumn;

gboolean token_column_init (TokenColumn *self,
                            DlpFile *file,
                            guint64 start,
                            guint width,
                            guint64 n,
                            GError **error);
void token_column_clear (TokenColumn *self);
gboolean token_column_get (TokenColumn *self,
                           guint64 index,
                           gint64 *number,
                           GCancellable *cancellable,
                           GError **error);

G_END_DECLS
