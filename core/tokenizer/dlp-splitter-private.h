/* SPDX-License-Identifier: MIT */
#pragma once

#include "dlp-char-set.h"
#include "dlp-scan-known.h"
#include "dlp-splitter.h"

/* What is done with the matches of a step and with what is between them. */
typedef enum
{
  DLP_CUT_REMOVED,
  DLP_CUT_ISOLATED,
  DLP_CUT_MERGED_WITH_PREVIOUS,
  DLP_CUT_MERGED_WITH_NEXT,
  DLP_CUT_CONTIGUOUS,
} DlpCut;

typedef enum
{
  DLP_STEP_SCAN,    /* by a known pattern, which matches everything */
  DLP_STEP_REGEX,   /* matches of text */
  DLP_STEP_STRING,  /* matches of text */
  DLP_STEP_SET,     /* each character of a set is a match */
  DLP_STEP_SCRIPTS, /* where the script changes */
  DLP_STEP_LENGTH,  /* a number of characters */
  DLP_STEP_PREFIX,  /* a space before each piece that has none */
  DLP_STEP_REPLACE, /* of spaces by text, and text in front, as Metaspace does */
  DLP_STEP_MAP,     /* bytes to their letters */
  DLP_STEP_UNMAP,   /* and back */
} DlpStepType;

typedef enum
{
  DLP_PREPEND_NEVER,
  DLP_PREPEND_FIRST,
  DLP_PREPEND_ALWAYS,
} DlpPrepend;

/* One pass over all pieces. */
typedef struct
{
  DlpStepType type;
  DlpCut cut;
  gboolean invert; /* what is between the matches counts as the matches */
  char *text;
  gsize text_len;
  DlpPattern *pattern; /* of SCAN and REGEX */
  DlpScanFunc scan;
  DlpCharSet *set;
  guint64 length;
  DlpPrepend prepend;
} DlpStep;

struct _DlpSplitter
{
  GPtrArray *steps;
  gboolean byte_level;
  const DlpPattern *pattern; /* see dlp_splitter_get_pattern() */
  guint64 serial;            /* no two splitters of a process have the same one */
};

/* While a "pre_tokenizer" is read. */
typedef struct
{
  GPtrArray *steps;
  gboolean byte_level; /* there was a ByteLevel, here or before */
  gboolean mapped;     /* the text is written with its letters */
  gboolean inserts;    /* there was a step that adds characters */
} DlpSplitterParser;

gboolean dlp_splitter_parse (DlpSplitterParser *self, DlpJsonNode node, GError **error);
void dlp_splitter_simplify (GPtrArray *steps);

DlpStep *dlp_step_new (DlpStepType type, DlpCut cut);
void dlp_step_free (DlpStep *self);
void dlp_step_hash (const DlpStep *self, GChecksum *checksum);
gboolean dlp_step_cut (const DlpStep *self, guint index, DlpPieces *pieces);
gboolean dlp_step_rewrites (const DlpStep *self);
void dlp_step_rewrite (const DlpStep *self, DlpPieces *pieces, gboolean is_first);

DlpPiece *dlp_pieces_reserve (DlpPieces *self, guint room, gsize n);

/* Characters as Hugging Face's pre-tokenizers have them. */
DlpCharSet *dlp_splitter_spaces (void);
DlpCharSet *dlp_splitter_words (void);
DlpCharSet *dlp_splitter_punctuation (void);
DlpCharSet *dlp_splitter_numbers (void);

#define DLP_SCRIPT_ANY 0

extern const guint16 dlp_script_index[];
extern const guint8 dlp_script_blocks[];

static inline guint
dlp_splitter_script (gunichar c)
{
  return dlp_script_blocks[dlp_script_index[c >> 7] * 128u + (c & 127)];
}
