/* SPDX-License-Identifier: MIT */
#pragma once

#include "dlp-model-file.h"
#include "dlpipe/dlp-tokenizer.h"

#define DLP_MAX_SPECIALS 6

/* The special tokens of a tokenizer; points to static tables. */
typedef struct
{
  const DlpSpecial *items;
  guint n;
  gsize lengths[DLP_MAX_SPECIALS];
  gsize prefix; /* so many bytes all of them begin with */
  gsize rare;   /* which of these is seldom in text */
} DlpSpecials;

void dlp_specials_init (DlpSpecials *self, const DlpSpecial *items);
const char *
dlp_specials_find (const DlpSpecials *self, const char *text, const char *end, guint *index);

const DlpSpecials *dlp_tokenizer_peek_specials (DlpTokenizer *self);
