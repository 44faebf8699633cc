/* SPDX-License-Identifier: MIT */
#pragma once

#include <dlpipe/dlp-file-hash.h>
#include <dlpipe/dlp-output-file.h>

G_BEGIN_DECLS

#define DLP_MEGATRON_HEADER_SIZE 34

/* Of the .idx; @documents without the closing entry. */
void dlp_megatron_index_fill_header (guint8 header[DLP_MEGATRON_HEADER_SIZE],
                                     guint width,
                                     guint64 sequences,
                                     guint64 documents);
/* The size of the .idx. FALSE: it, or the .bin, would not fit 63 bits. */
gboolean dlp_megatron_index_get_length (guint width,
                                        guint64 tokens,
                                        guint64 sequences,
                                        guint64 documents,
                                        guint64 *length);
/* The byte offsets of @n sequences, the first at *next, which is moved behind the last. */
gboolean dlp_megatron_index_fill_pointers (const gint32 *lengths,
                                           gsize n,
                                           guint width,
                                           gint64 *next,
                                           gint64 *pointers,
                                           GError **error);

/* The two streams from which an index is made, and what must be in them. */
typedef struct
{
  const char *lengths;   /* path: an i32 a sequence */
  const char *documents; /* path: an i64 a document, the number of sequences up to its end */
  guint width;
  guint64 tokens;
  guint64 n_sequences;
  guint64 n_documents;
} DlpMegatronStreams;

/* Writes the .idx to @out in pieces, and gives its DlpFileHash. What contradicts itself is
 * DLP_DATA_ERROR_DAMAGED. */
gboolean dlp_megatron_index_write (DlpOutputFile *out,
                                   const DlpMegatronStreams *streams,
                                   guint64 *hash,
                                   GCancellable *cancellable,
                                   GError **error);

G_END_DECLS
