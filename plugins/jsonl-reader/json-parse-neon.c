/* SPDX-License-Identifier: MIT */

#include "json-string.h"

#if defined(__aarch64__)

#include <arm_neon.h>

#define JSON_TARGET
#define JSON_PARSE json_parse_neon
#define BLOCK 16
/* Four bits a byte: what vshrn can make of a comparison. */
#define MASK_SHIFT 2

typedef uint8x16_t Vector;

JSON_INLINE Vector
vector_load (const guint8 *p)
{
  return vld1q_u8 (p);
}

JSON_INLINE void
vector_store (guint8 *p, Vector v)
{
  vst1q_u8 (p, v);
}

JSON_INLINE guint64
to_mask (Vector bytes)
{
  return vget_lane_u64 (vreinterpret_u64_u8 (vshrn_n_u16 (vreinterpretq_u16_u8 (bytes), 4)), 0);
}

JSON_INLINE Vector
quotes_and_backslashes (Vector v)
{
  return vorrq_u8 (vceqq_u8 (v, vdupq_n_u8 ('"')), vceqq_u8 (v, vdupq_n_u8 ('\\')));
}

JSON_INLINE guint64
stop_mask (Vector v)
{
  return to_mask (vorrq_u8 (quotes_and_backslashes (v), vcltq_u8 (v, vdupq_n_u8 (0x20))));
}

JSON_INLINE guint64
high_mask (Vector v)
{
  return to_mask (vcgeq_u8 (v, vdupq_n_u8 (0x80)));
}

/* Signed: below 0x20 is a control character or not ASCII. */
JSON_INLINE guint64
event_mask (Vector v)
{
  Vector low = vcltq_s8 (vreinterpretq_s8_u8 (v), vdupq_n_s8 (0x20));

  return to_mask (vorrq_u8 (quotes_and_backslashes (v), low));
}

JSON_INLINE guint64
utf8_errors (const guint8 *p, Vector v)
{
  Vector one = vld1q_u8 (p - 1);
  Vector classes = vandq_u8 (
      vandq_u8 (vqtbl1q_u8 (vld1q_u8 (json_utf8_tables[0]), vshrq_n_u8 (one, 4)),
                vqtbl1q_u8 (vld1q_u8 (json_utf8_tables[1]), vandq_u8 (one, vdupq_n_u8 (0x0f)))),
      vqtbl1q_u8 (vld1q_u8 (json_utf8_tables[2]), vshrq_n_u8 (v, 4)));
  Vector third = vqsubq_u8 (vld1q_u8 (p - 2), vdupq_n_u8 (0xe0 - 0x80));
  Vector fourth = vqsubq_u8 (vld1q_u8 (p - 3), vdupq_n_u8 (0xf0 - 0x80));
  Vector due = vandq_u8 (vorrq_u8 (third, fourth), vdupq_n_u8 (0x80));
  Vector errors = veorq_u8 (classes, due);

  return to_mask (vtstq_u8 (errors, errors));
}

#include "json-vector-template.h"
#include "json-walk-template.h"

#endif
