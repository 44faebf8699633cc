/* SPDX-License-Identifier: MIT */
#pragma once

#include "dlp-block.h"

/* Cuts 64 bytes at once. A block begins where a piece begins; as no pattern looks back, nothing
 * else has to be known of the text before. The result is the set of places in the block at which a
 * piece begins, its first byte left out, up to the beginning of the last run of characters of one
 * class: where that run ends is not known. No place at all means that the first piece is to be cut
 * by the scanner: it is long, or one of the rare cases that are not worked out here (see
 * dlp_cut_words()). */

typedef struct
{
  gboolean cased;       /* a word ends where an upper case letter follows a lower case one */
  gboolean marks;       /* marks are letters */
  gboolean slash;       /* [\r\n/]* behind punctuation, not [\r\n]* */
  gboolean contraction; /* '(?i:[sdmt]|ll|ve|re): at the end of a word if cased, else as a piece */
  guint digits;         /* in a piece: 1 or 3 */
} DlpCutRules;

/* How many bytes of "'s" and the like begin at @p; 0: none. */
static inline guint
dlp_contraction_len (const guint8 *p, gboolean fold)
{
  guint8 a = fold ? g_ascii_tolower (p[1]) : p[1], b;

  if (a == 's' || a == 'd' || a == 'm' || a == 't')
    return 2;
  if (fold && p[1] == 0xc5 && p[2] == 0xbf)
    return 3;
  b = fold ? g_ascii_tolower (p[2]) : p[2];
  return (a == 'l' && b == 'l') || (b == 'e' && (a == 'v' || a == 'r')) ? 3 : 0;
}

static DLP_INLINE guint64
dlp_run_starts (guint64 run)
{
  return run & ~(run << 1);
}

/* The characters that begin at @starts, as the places behind them. */
static DLP_INLINE guint64
dlp_block_behind (const DlpBlock *block, guint64 starts)
{
  if (block->is_ascii)
    return starts << 1;
  return (starts & block->lead[1]) << 1 | (starts & block->lead[2]) << 2 |
         (starts & block->lead[3]) << 3 | (starts & block->lead[4]) << 4;
}

/* The beginnings of the characters that end at @ends. */
static DLP_INLINE guint64
dlp_block_beginnings (const DlpBlock *block, guint64 ends)
{
  if (block->is_ascii)
    return ends;
  return (ends & block->lead[1]) | (ends >> 1 & block->lead[2]) | (ends >> 2 & block->lead[3]) |
         (ends >> 3 & block->lead[4]);
}

static DLP_INLINE guint64
dlp_bits_up_to (guint place)
{
  return G_MAXUINT64 >> (63 - place);
}

static DLP_INLINE guint
dlp_last_bit (guint64 bits)
{
  return 63 - __builtin_clzll (bits);
}

/* '(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+ */
static DLP_INLINE guint64
dlp_cut_gpt2 (const guint8 *p)
{
  DlpBlock block = dlp_block_load (p);
  guint64 letter = block.upper | block.lower | block.caseless;
  guint64 other = block.other | block.mark;
  guint64 spaces = dlp_run_starts (block.space);
  guint64 runs = dlp_run_starts (letter) | dlp_run_starts (other) | dlp_run_starts (block.number);
  guint64 last_spaces = dlp_block_beginnings (&block, block.space & ~(block.space >> 1));
  guint64 starts = (runs & ~(block.blank << 1)) | spaces | last_spaces;
  guint last = dlp_last_bit (runs | spaces | 1);

  for (guint64 bits = block.apostrophe & starts & (letter >> 1); bits; bits &= bits - 1)
    {
      guint i = __builtin_ctzll (bits), len = dlp_contraction_len (p + i, FALSE);

      if (len > 0)
        starts = (starts & ~((guint64) 2 << i)) | (i + len < 64 ? (guint64) 1 << (i + len) : 0);
    }
  return starts & dlp_bits_up_to (last) & ~(guint64) 1;
}

/* The newlines, and with @slash the slashes behind them, that punctuation takes with it. Slashes
 * that are not taken may themselves take newlines: that is @unsure. */
static DLP_INLINE guint64
dlp_cut_taken (const DlpBlock *block, guint64 other, gboolean slash, guint64 *unsure)
{
  guint64 run = block->newline, slashes = 0, taken;

  if (slash && G_UNLIKELY (block->slash & (block->newline << 1)))
    slashes = block->slash & ~(block->slash + (block->slash & (block->newline << 1)));
  run |= slashes;
  taken = run & ~(run + (block->newline & ((other & ~slashes) << 1)));
  *unsure = slash ? block->newline & ((slashes & ~taken) << 1) : 0;
  return taken;
}

/* Where pieces of white space begin. A run goes up to its last newline, then up to its last
 * character, which is left for what follows. */
static DLP_INLINE guint64
dlp_cut_spaces (const DlpBlock *block, guint64 space)
{
  guint64 newline = block->newline & space;
  guint64 blank = space & ~newline;
  guint64 runs = dlp_run_starts (space);
  guint64 behind_newline = blank & (newline << 1);
  guint64 ends = dlp_block_beginnings (block, blank & ~(space >> 1));

  if (G_UNLIKELY (behind_newline))
    {
      guint64 blanks = dlp_run_starts (blank);

      for (guint64 more = (blank + blanks) & newline; more; more &= more - 1)
        {
          guint i = __builtin_ctzll (more);

          behind_newline &= ~((guint64) 1 << dlp_last_bit (blanks & dlp_bits_up_to (i)));
        }
    }
  return runs | behind_newline | ends;
}

static DLP_INLINE guint64
dlp_cut_numbers (guint64 number, guint digits)
{
  guint64 starts = dlp_run_starts (number), more = starts;

  if (digits == 1)
    return number;
  while ((more = more << 3 & number & number << 1 & number << 2))
    starts |= more;
  return starts;
}

/* If @cased, what follows a word directly is part of it, but not behind another one. Else it is a
 * piece, and so is what follows. */
static DLP_INLINE guint64
dlp_cut_contractions (const guint8 *p,
                      guint64 starts,
                      guint64 apostrophes,
                      guint64 letter,
                      gboolean cased)
{
  guint64 bits = apostrophes & (cased ? letter << 1 : letter >> 1);
  guint end = 0;

  for (; bits; bits &= bits - 1)
    {
      guint i = __builtin_ctzll (bits), len = dlp_contraction_len (p + i, TRUE);

      if (len == 0 || (cased && i == end))
        continue;
      starts &= ~((((guint64) 1 << len) - (cased ? 1 : 2)) << i);
      end = i + len;
      starts |= end < 64 ? (guint64) 1 << end : 0;
    }
  return starts;
}

/* Patterns of the kind of cl100k and o200k. Not worked out, so that the piece is left to the
 * scanner: numbers that are not ASCII (their digits are counted); where case matters, a mark behind
 * punctuation (it may belong to either) and an upper case letter behind one that has no case (what
 * it belongs to depends on all that follows). */
static DLP_INLINE guint64
dlp_cut_words (const guint8 *p, const DlpCutRules rules)
{
  DlpBlock block = dlp_block_load (p);
  guint64 letter = block.upper | block.lower | block.caseless | (rules.marks ? block.mark : 0);
  guint64 other = block.other | (rules.marks ? 0 : block.mark);
  guint64 classes = dlp_run_starts (letter) | dlp_run_starts (other) |
                    dlp_run_starts (block.number) | dlp_run_starts (block.space);
  guint64 unsure, taken = dlp_cut_taken (&block, other, rules.slash, &unsure);
  guint64 rest = other & ~taken;
  guint64 punctuation = dlp_run_starts (rest) & ~(block.blank << 1);
  guint64 words = dlp_run_starts (letter);
  guint64 spaces = dlp_cut_spaces (&block, block.space & ~taken);
  guint64 before = punctuation | (block.space & ~block.newline);
  guint64 starts;
  guint last = dlp_last_bit (classes | 1);

  words &= ~dlp_block_behind (&block, before);
  if (rules.cased)
    words |= block.upper & (block.lower << 1);
  starts = words | punctuation | spaces | dlp_cut_numbers (block.number, rules.digits);

  if (!block.is_ascii)
    {
      unsure |= block.number & ~block.lead[1];
      if (rules.cased)
        unsure |= (block.mark & (block.other << 1)) |
                  (block.upper & ((block.caseless | block.mark) << 1));
    }
  if (G_UNLIKELY (unsure))
    {
      guint64 earlier = classes & (((guint64) 1 << __builtin_ctzll (unsure)) - 1);

      last = MIN (last, dlp_last_bit (earlier | 1));
    }
  if (rules.contraction)
    starts = dlp_cut_contractions (p, starts, block.apostrophe & punctuation, letter, rules.cased);
  return starts & dlp_bits_up_to (last) & ~(guint64) 1;
}

static DLP_INLINE guint64
dlp_cut_cl100k (const guint8 *p)
{
  return dlp_cut_words (p, (DlpCutRules){ .contraction = TRUE, .digits = 3 });
}

static DLP_INLINE guint64
dlp_cut_o200k (const guint8 *p)
{
  return dlp_cut_words (
      p, (DlpCutRules){
             .cased = TRUE, .marks = TRUE, .slash = TRUE, .contraction = TRUE, .digits = 3 });
}

static DLP_INLINE guint64
dlp_cut_qwen2 (const guint8 *p)
{
  return dlp_cut_words (p, (DlpCutRules){ .contraction = TRUE, .digits = 1 });
}

static DLP_INLINE guint64
dlp_cut_qwen35 (const guint8 *p)
{
  return dlp_cut_words (p, (DlpCutRules){ .contraction = TRUE, .marks = TRUE, .digits = 1 });
}

static DLP_INLINE guint64
dlp_cut_tekken (const guint8 *p)
{
  return dlp_cut_words (p,
                        (DlpCutRules){ .cased = TRUE, .marks = TRUE, .slash = TRUE, .digits = 1 });
}
