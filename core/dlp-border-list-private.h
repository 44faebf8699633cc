/* SPDX-License-Identifier: MIT */
#pragma once

#include <dlpipe/dlp-decoder.h>

G_BEGIN_DECLS

#define DLP_BORDER_LIST_MAX 64

/* Places of a compressed file from which it can be decoded, ascending; as many as fit, kept
 * thinned. Plain: zeroed it is empty. */
typedef struct
{
  DlpDecoderBorder borders[DLP_BORDER_LIST_MAX];
  guint n;
  guint64 gap; /* decoded bytes between two at least */
} DlpBorderList;

void dlp_border_list_add (DlpBorderList *self, const DlpDecoderBorder *border);
/* The last one at or before @decoded, all zero if there is none; those before it are dropped. */
void dlp_border_list_find (DlpBorderList *self, guint64 decoded, DlpDecoderBorder *border);

G_END_DECLS
