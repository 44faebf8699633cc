/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

#include <dlpipe/dlp-transform.h>

G_BEGIN_DECLS

/* Sums by the source that records come from. */
typedef struct
{
  guint32 stage;
  guint32 source;
  guint64 n[DLP_TRANSFORM_MAX_SOURCE_COUNTERS];
} DlpSourceTally;

/* In the order of stage and source; all zero: empty. */
typedef struct
{
  DlpSourceTally *items; /* owned */
  guint n;
  guint capacity;
  guint last; /* that was asked for: mostly the next one too */
} DlpSourceTallies;

void dlp_source_tallies_clear (DlpSourceTallies *self);
/* (transfer none): made where it is new; valid until the next one is. */
DlpSourceTally *dlp_source_tallies_get (DlpSourceTallies *self, guint32 stage, guint32 source);
void dlp_source_tallies_add (DlpSourceTallies *self, const DlpSourceTallies *other);

/* (floating): aa{st}: stage, source, and by @names. */
GVariant *
dlp_source_tallies_describe (const DlpSourceTally *items, gsize n, const char *const *names);
/* Replaces what is there. */
bool dlp_source_tallies_load (DlpSourceTallies *self,
                              GVariant *described,
                              const char *const *names,
                              GError **error);

G_END_DECLS
