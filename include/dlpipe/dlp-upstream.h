/* SPDX-License-Identifier: MIT */
#pragma once

#include "dlp-element.h"

G_BEGIN_DECLS

/* What an element can learn of those before it, in negotiate(). */

/**
 * dlp_element_list_upstream:
 * @self: an element
 * @property: the name of a property
 *
 * Finds, on each way that leads to an input of @self, the nearest element that has a readable
 * property @property; without repetition, in the order of the inputs.
 *
 * Threads: the one that builds the pipeline, in negotiate().
 *
 * Returns: (transfer container) (element-type DlpElement): elements
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
GPtrArray *dlp_element_list_upstream (DlpElement *self, const char *property);

/**
 * dlp_element_repeat_input:
 * @self: an element
 * @input: the number of an input
 * @epochs: (out) (optional): how many epochs there were to be; 0: for ever anyhow
 * @error: return location for an error
 *
 * Has the source behind an input begin again for ever, so that the input never ends; the
 * coordinates of its records tell the epochs. That cannot be where an element on the way may end
 * before its input does, or feeds others too, or where the source cannot be read again:
 * %DLP_GRAPH_ERROR_VALUE, which says why.
 *
 * Threads: the one that builds the pipeline, in negotiate().
 *
 * Returns: %FALSE with an error
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
gboolean dlp_element_repeat_input (DlpElement *self, guint input, guint *epochs, GError **error);

#define DLP_TYPE_UPSTREAM_MODEL (dlp_upstream_model_get_type ())
/**
 * DlpUpstreamModel:
 * @name: (nullable): its name
 * @fingerprint: (nullable): by which equal ones are known
 * @file: (nullable): what it was made of, where that has no known name
 * @pattern: (nullable): what has to be said beside the file
 * @vocab_size: the largest id + 1; 0: unknown
 *
 * The model behind ids: the properties `model-name`, `model-fingerprint`, `model-file`,
 * `model-pattern` and `vocab-size` of a tokenizer, known once it has negotiated.
 *
 * Since: 0.1
 */
typedef struct
{
  char *name;
  char *fingerprint;
  char *file;
  char *pattern;
  guint64 vocab_size;
} DlpUpstreamModel;

DLP_AVAILABLE_IN_0_2
GType dlp_upstream_model_get_type (void) G_GNUC_CONST;

/**
 * dlp_upstream_model_clear:
 * @self: a model
 *
 * Frees what it holds and zeroes it.
 *
 * Threads: the one that builds the pipeline, in negotiate().
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
void dlp_upstream_model_clear (DlpUpstreamModel *self);

/**
 * dlp_upstream_model_describe:
 * @self: a model
 * @builder: of type a{sv}
 *
 * Adds what there is of it to the members of a manifest: `vocab-size`, `tokenizer`,
 * `tokenizer-fingerprint`, `tokenizer-file`, `tokenizer-pattern`.
 *
 * Threads: the one that builds the pipeline, in negotiate().
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
void dlp_upstream_model_describe (const DlpUpstreamModel *self, GVariantBuilder *builder);

/**
 * dlp_element_find_upstream_model:
 * @self: an element
 * @model: (out caller-allocates): the model; empty where there is none
 * @error: return location for an error
 *
 * Finds the model behind the ids that come in. Several that differ are %DLP_GRAPH_ERROR_VALUE: ids
 * of two vocabularies in one dataset could never be told apart again.
 *
 * Threads: the one that builds the pipeline, in negotiate().
 *
 * Returns: %FALSE with an error
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
gboolean
dlp_element_find_upstream_model (DlpElement *self, DlpUpstreamModel *model, GError **error);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (DlpUpstreamModel, dlp_upstream_model_clear)

G_END_DECLS
