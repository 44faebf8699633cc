/* SPDX-License-Identifier: MIT */
#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/* Names that are kept one by one; the rest is counted as "(others)". */
#define QUARANTINE_MAX_NAMES 10000
#define QUARANTINE_OTHERS "(others)"

/**
 * QuarantineCounts:
 *
 * How many bad records there were, by name of whatever they are counted by.
 */
typedef struct _QuarantineCounts QuarantineCounts;

QuarantineCounts *quarantine_counts_new (void);
void quarantine_counts_free (QuarantineCounts *self);
void quarantine_counts_add (QuarantineCounts *self, const char *name, gsize size, guint64 n);

/* In one piece of memory. */
gsize quarantine_counts_get_packed_size (QuarantineCounts *self);
void quarantine_counts_pack (QuarantineCounts *self, gpointer out);
/* Of what was packed: floating a{st}, sorted by name. *size: of the piece. */
GVariant *quarantine_counts_describe (gconstpointer packed, gsize *size);
/* Adds what was described. */
gboolean quarantine_counts_load (QuarantineCounts *self, GVariant *described, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuarantineCounts, quarantine_counts_free)

G_END_DECLS
