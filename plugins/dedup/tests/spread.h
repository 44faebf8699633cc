/* SPDX-License-Identifier: MIT */
#pragma once

#include "dedup-table.h"

G_BEGIN_DECLS

/* The key of a number, as a good hash would give it. */
static inline DedupKey
spread (guint64 number)
{
  guint64 words[2];

  for (guint i = 0; i < 2; i++)
    {
      guint64 z = (number * 2 + i + 1) * G_GUINT64_CONSTANT (0x9e3779b97f4a7c15);

      z = (z ^ (z >> 30)) * G_GUINT64_CONSTANT (0xbf58476d1ce4e5b9);
      z = (z ^ (z >> 27)) * G_GUINT64_CONSTANT (0x94d049bb133111eb);
      words[i] = z ^ (z >> 31);
    }
  return dedup_key (words[0], words[1]);
}

G_END_DECLS
