/* SPDX-License-Identifier: MIT */
#pragma once

#include "dlp-macros.h"

G_BEGIN_DECLS

#define DLP_TYPE_STATE (dlp_state_get_type ())
/**
 * DlpState:
 *
 * What an element needs to go on from a mark: a copy of its own plain struct, immutable and
 * reference counted. It becomes a GVariant only when a checkpoint is written. It must hold no open
 * file, no record batch and no pointer to the element.
 *
 * Since: 0.1
 */
typedef struct _DlpState DlpState;

DLP_AVAILABLE_IN_0_1
GType dlp_state_get_type (void) G_GNUC_CONST;

/**
 * dlp_state_new:
 * @data: (array length=size) (element-type guint8) (nullable): bytes
 * @size: how many
 *
 * Makes a state: copies @size bytes.
 *
 * Threads: any.
 *
 * Returns: (transfer full): a state
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
DlpState *dlp_state_new (gconstpointer data, gsize size);

/**
 * dlp_state_alloc: (skip)
 * @size: how many bytes
 * @data: (out): where they are
 *
 * Makes a state with room for @size bytes, zeroed, to be filled by the caller before anyone else
 * sees it.
 *
 * Threads: any.
 *
 * Returns: (transfer full): a state
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
DlpState *dlp_state_alloc (gsize size, gpointer *data);

/**
 * dlp_state_new_full: (skip)
 * @data: (nullable): bytes
 * @size: how many
 * @clear: called with the state's copy of @data when nobody needs the state any more, on any
 * thread, also when the element is gone
 *
 * Makes a state: copies @size bytes. For a large state (dlp_element_set_large()), which refers to
 * something that is made only when the state is described.
 *
 * Threads: any.
 *
 * Returns: (transfer full): a state
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
DlpState *dlp_state_new_full (gconstpointer data, gsize size, GDestroyNotify clear);

/**
 * dlp_state_ref:
 * @self: a state
 *
 * Adds a reference.
 *
 * Threads: any.
 *
 * Returns: (transfer full): @self
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
DlpState *dlp_state_ref (DlpState *self);

/**
 * dlp_state_unref:
 * @self: (transfer full): a state
 *
 * Drops a reference.
 *
 * Threads: any.
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
void dlp_state_unref (DlpState *self);

/**
 * dlp_state_get_data: (skip)
 * @self: a state
 *
 * Gets the bytes of a state.
 *
 * Threads: any.
 *
 * Returns: (transfer none): the bytes
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
gconstpointer dlp_state_get_data (const DlpState *self);

/**
 * dlp_state_get_size:
 * @self: a state
 *
 * Gets the number of bytes of a state.
 *
 * Threads: any.
 *
 * Returns: how many
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
gsize dlp_state_get_size (const DlpState *self);

/**
 * dlp_state_dup_bytes: (rename-to dlp_state_get_data)
 * @self: a state
 *
 * Copies the bytes of a state.
 *
 * Threads: any.
 *
 * Returns: (transfer full): the bytes
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
GBytes *dlp_state_dup_bytes (const DlpState *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (DlpState, dlp_state_unref)

/* ---- reading of a described state (type a{sv}) in load() ---- */

/**
 * dlp_state_check_keys:
 * @described: a described state
 * @allowed: (array zero-terminated=1): the known keys
 * @error: return location for an error
 *
 * Looks whether a described state has none but known keys.
 *
 * Threads: any.
 *
 * Returns: %FALSE with %DLP_STATE_ERROR_CORRUPT naming the key
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
gboolean dlp_state_check_keys (GVariant *described, const char *const *allowed, GError **error);

/**
 * dlp_state_get_uint64:
 * @described: a described state
 * @key: its name
 * @max: the largest that is allowed
 * @value: (out): the number
 * @error: return location for an error
 *
 * Gets a number of a described state. A missing key, a wrong type or a value above @max is
 * %DLP_STATE_ERROR_CORRUPT naming the key.
 *
 * Threads: any.
 *
 * Returns: %FALSE with an error
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
gboolean dlp_state_get_uint64 (GVariant *described,
                               const char *key,
                               guint64 max,
                               guint64 *value,
                               GError **error);

/**
 * dlp_state_get_value:
 * @described: a described state
 * @key: its name
 * @type: its exact type
 * @error: return location for an error
 *
 * Gets a value of a described state. A missing key or a wrong type is %DLP_STATE_ERROR_CORRUPT
 * naming the key.
 *
 * Threads: any.
 *
 * Returns: (transfer full): the value
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
GVariant *dlp_state_get_value (GVariant *described,
                               const char *key,
                               const GVariantType *type,
                               GError **error);

G_END_DECLS
