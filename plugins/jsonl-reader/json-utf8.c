/* SPDX-License-Identifier: MIT */

#include "json-string.h"

/*
 * UTF-8 by table lookup: J. Keiser, D. Lemire, "Validating UTF-8 In Less Than One Instruction Per
 * Byte", Software: Practice and Experience 51(5), 2021.
 *
 * Two bytes that follow each other, a and b, are a fault of some class if the entries of all three
 * tables (for the high and low half of a and the high half of b) have the bit of that class. The
 * one class that is no fault by itself is two continuations, right only where a third or fourth
 * byte of a sequence is due: its bit is compared with that.
 */

#define SHORT 0x01      /* c0..ff, then no continuation */
#define STRAY 0x02      /* ASCII, then a continuation */
#define OVERLONG_2 0x04 /* c0, c1 */
#define OVERLONG_3 0x08 /* e0 80..9f */
#define SURROGATE 0x10  /* ed a0..bf */
#define EDGE_80 0x20    /* f0 80..8f is overlong, f5..ff 80..8f too large */
#define LARGE 0x40      /* f4..ff 90..bf */
#define TWO 0x80        /* two continuations */

#define A_HIGH                                                                                     \
  STRAY, STRAY, STRAY, STRAY, STRAY, STRAY, STRAY, STRAY, TWO, TWO, TWO, TWO, SHORT | OVERLONG_2,  \
      SHORT, SHORT | OVERLONG_3 | SURROGATE, SHORT | EDGE_80 | LARGE

#define ANY_LOW (SHORT | STRAY | TWO)
#define BEYOND (ANY_LOW | EDGE_80 | LARGE)

#define A_LOW                                                                                      \
  ANY_LOW | OVERLONG_2 | OVERLONG_3 | EDGE_80, ANY_LOW | OVERLONG_2, ANY_LOW, ANY_LOW,             \
      ANY_LOW | LARGE, BEYOND, BEYOND, BEYOND, BEYOND, BEYOND, BEYOND, BEYOND, BEYOND,             \
      BEYOND | SURROGATE, BEYOND, BEYOND

#define CONTINUED (STRAY | OVERLONG_2 | TWO)

#define B_HIGH                                                                                     \
  SHORT, SHORT, SHORT, SHORT, SHORT, SHORT, SHORT, SHORT, CONTINUED | OVERLONG_3 | EDGE_80,        \
      CONTINUED | OVERLONG_3 | LARGE, CONTINUED | SURROGATE | LARGE,                               \
      CONTINUED | SURROGATE | LARGE, SHORT, SHORT, SHORT, SHORT

const guint8 json_utf8_tables[3][16] = { { A_HIGH }, { A_LOW }, { B_HIGH } };
