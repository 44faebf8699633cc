/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>
#include <string.h>

/* A piece of at most 15 bytes as one 128-bit number: its bytes, zeros, and its length on top. Two
 * pieces are equal if and only if their keys are, and no key of a piece is 0. */
typedef struct
{
  guint64 lo;
  guint64 hi;
} DlpKey;

#define DLP_KEY_MAX_LEN 15

extern const guint64 dlp_key_masks[16][2];

static inline guint64
dlp_load64 (const guint8 *p)
{
  guint64 v;

  memcpy (&v, p, sizeof v);
  return GUINT64_FROM_LE (v);
}

/* 16 bytes at @p can be read, whatever @len is */
static inline DlpKey
dlp_key_load (const guint8 *p, gsize len)
{
  return (DlpKey){
    dlp_load64 (p) & dlp_key_masks[len][0],
    (dlp_load64 (p + 8) & dlp_key_masks[len][1]) | (guint64) len << 56,
  };
}

static inline DlpKey
dlp_key_load_short (const guint8 *p, gsize len)
{
  guint8 buffer[16] = { 0 };

  memcpy (buffer, p, len);
  return dlp_key_load (buffer, len);
}

static inline gboolean
dlp_key_equal (DlpKey a, DlpKey b)
{
  return ((a.lo ^ b.lo) | (a.hi ^ b.hi)) == 0;
}

static inline guint64
dlp_mix64 (guint64 a, guint64 b)
{
  unsigned __int128 product = (unsigned __int128) a * b;

  return (guint64) product ^ (guint64) (product >> 64);
}

static inline guint64
dlp_key_hash (DlpKey key)
{
  return dlp_mix64 (key.lo ^ 0x9e3779b97f4a7c15u, key.hi ^ 0xd1b54a32d192ed03u);
}

guint64 dlp_hash_bytes (const guint8 *p, gsize len);
