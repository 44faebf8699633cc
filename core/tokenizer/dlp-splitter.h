/* SPDX-License-Identifier: MIT */
#pragma once

#include "dlp-json-tree.h"
#include "dlp-pattern.h"

/* How a text is cut into pieces: "pre_tokenizer" of a tokenizer.json. Read-only once made; used by
 * any thread. */
typedef struct _DlpSplitter DlpSplitter;

#define DLP_SPLITTER_MAX_TEXT ((gsize) G_MAXINT32)

typedef struct
{
  guint32 start; /* in bytes of DlpPieces.text */
  guint32 len;   /* > 0 */
} DlpPiece;

/* What a text was cut into, and the room that one thread needs for it; all zero at first. */
typedef struct
{
  const guint8 *text; /* the text that was given, or one of those below */
  gsize text_len;
  DlpPiece *items;
  gsize n;

  /* private */
  DlpPiece *rooms[2];
  gsize capacities[2];
  guint room; /* the one that items is in */
  GByteArray *texts[2];
  GPtrArray *matchers; /* by step, or NULL */
  guint64 serial;      /* of the splitter they are for */
} DlpPieces;

/* @node is the value of "pre_tokenizer": an object, or null or missing for one that leaves every
 * text in one piece. With @byte_level the text has gone through ByteLevel already. */
DlpSplitter *dlp_splitter_new (DlpJsonNode node, gboolean byte_level, GError **error);
void dlp_splitter_free (DlpSplitter *self);

/* Cuts a text of valid UTF-8. @is_first: nothing stands before it (Metaspace "first"). Pieces of a
 * byte-level splitter are the bytes themselves, not the letters that stand for them. @pieces hold
 * until they are used again. Returns FALSE if the engine for regular expressions exceeded its
 * limits, or if the text is longer than DLP_SPLITTER_MAX_TEXT or, where it has to be written anew,
 * than 256 MiB. */
gboolean dlp_splitter_run (const DlpSplitter *self,
                           const guint8 *text,
                           gsize len,
                           gboolean is_first,
                           DlpPieces *pieces);

/* Whether the model's entries are written with the letters of byte-level BPE. */
gboolean dlp_splitter_is_byte_level (const DlpSplitter *self);

/* The pattern that alone decides where a text is cut and for which there is a scanner (its pieces
 * are those of the text as it is), or NULL. */
const DlpPattern *dlp_splitter_get_pattern (const DlpSplitter *self);

/* Adds all that decides what comes out. */
void dlp_splitter_hash (const DlpSplitter *self, GChecksum *checksum);
void dlp_pieces_clear (DlpPieces *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (DlpSplitter, dlp_splitter_free)
