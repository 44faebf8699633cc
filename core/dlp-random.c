/* SPDX-License-Identifier: MIT */

#include <dlpipe/dlp-random.h>

#define GOLDEN G_GUINT64_CONSTANT (0x9e3779b97f4a7c15)

static gpointer
dlp_random_copy (gpointer self)
{
  return g_memdup2 (self, sizeof (DlpRandom));
}

G_DEFINE_BOXED_TYPE (DlpRandom, dlp_random, dlp_random_copy, g_free)

static inline guint64
mix64 (guint64 x)
{
  x = (x ^ (x >> 30)) * G_GUINT64_CONSTANT (0xbf58476d1ce4e5b9);
  x = (x ^ (x >> 27)) * G_GUINT64_CONSTANT (0x94d049bb133111eb);
  return x ^ (x >> 31);
}

static guint64
fnv1a (const char *text)
{
  guint64 hash = G_GUINT64_CONSTANT (14695981039346656037);

  for (const guchar *p = (const guchar *) text; *p != 0; p++)
    hash = (hash ^ *p) * G_GUINT64_CONSTANT (1099511628211);
  return hash;
}

DlpRandom
dlp_random_init (guint64 seed, guint64 stage, const char *name, guint64 source)
{
  DlpRandom self = { 0 };

  g_return_val_if_fail (name != NULL, self);

  self.key = (fnv1a (name) + seed) ^ mix64 ((stage + 1) * GOLDEN) ^ mix64 (source * GOLDEN);
  return self;
}

guint64
dlp_random_draw (DlpRandom self, guint64 counter)
{
  return mix64 (self.key + (counter + 1) * GOLDEN);
}

double
dlp_random_draw_double (DlpRandom self, guint64 counter)
{
  return (double) (dlp_random_draw (self, counter) >> 11) * 0x1p-53;
}

DlpRandom *
dlp_random_new (guint64 seed, guint64 stage, const char *name, guint64 source)
{
  DlpRandom self = dlp_random_init (seed, stage, name, source);

  return g_memdup2 (&self, sizeof self);
}

guint64
dlp_random_draw_at (const DlpRandom *self, guint64 counter)
{
  return dlp_random_draw (*self, counter);
}

double
dlp_random_draw_double_at (const DlpRandom *self, guint64 counter)
{
  return dlp_random_draw_double (*self, counter);
}
