/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* An entry of a table of codes, by which a symbol is found from the next bits. The low byte: how
 * many bits to drop, extra ones included. The next one: how many of them are the code. Above: a
 * literal, or the base of a length or distance, or where the table of longer codes begins. */
#define INFLATE_LITERAL 0x80000000u
/* None of a literal, length or distance. */
#define INFLATE_OTHER 0x8000u
/* Which of those. */
#define INFLATE_SUBTABLE 0x4000u
#define INFLATE_END_OF_BLOCK 0x2000u

#define inflate_entry_total(entry) ((entry) &0xffu)
#define inflate_entry_code(entry) ((entry) >> 8 & 0x1fu)
#define inflate_entry_value(entry) ((entry) >> 16 & 0x7fffu)

typedef enum
{
  INFLATE_OF_CODE_LENGTHS,
  INFLATE_OF_LITERALS,
  INFLATE_OF_DISTANCES,
} InflateTableKind;

/* Of the @n symbols with these lengths of codes; @bits are looked up at once. Returns FALSE where
 * the codes are too many, or too few and it is not one of one bit. */
gboolean inflate_table_build (InflateTableKind kind,
                              const guint8 *lengths,
                              guint n,
                              guint bits,
                              guint32 *table);

G_END_DECLS
