/* SPDX-License-Identifier: MIT */
#pragma once

#include "dlp-macros.h"

G_BEGIN_DECLS

/**
 * DlpState:
 *
 * What an element needs to go on from a mark: a copy of its own plain struct, immutable and
 * reference counted. It becomes a GVariant only when a checkpoint is written. It must hold no open
 * file, no record batch and no pointer to the element.
 */
#define DLP_TYPE_STATE (dlp_state_get_type ())
typedef struct _DlpState DlpState;

DLP_API GType dlp_state_get_type (void);
/* Copies @size bytes. */
DLP_API DlpState *dlp_state_new (gconstpointer data, gsize size);
/* Room for @size bytes, zeroed, to be filled by the caller before anyone else sees it. */
DLP_API DlpState *dlp_state_alloc (gsize size, gpointer *data);
DLP_API DlpState *dlp_state_ref (DlpState *self);
DLP_API void dlp_state_unref (DlpState *self);
DLP_API gconstpointer dlp_state_get_data (const DlpState *self);
DLP_API gsize dlp_state_get_size (const DlpState *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (DlpState, dlp_state_unref)

/* Reading of a described state (type a{sv}) in load(). A missing key, a wrong type or a value above
 * @max is DLP_STATE_ERROR_CORRUPT naming the key; so is, in check_keys, one that is not in @allowed
 * (NULL-terminated). */
DLP_API gboolean dlp_state_check_keys (GVariant *described,
                                       const char *const *allowed,
                                       GError **error);
DLP_API gboolean dlp_state_get_uint64 (GVariant *described,
                                       const char *key,
                                       guint64 max,
                                       guint64 *value,
                                       GError **error);
/* (transfer full): of exactly @type. */
DLP_API GVariant *dlp_state_get_value (GVariant *described,
                                       const char *key,
                                       const GVariantType *type,
                                       GError **error);

G_END_DECLS
