/* SPDX-License-Identifier: MIT */
#pragma once

#include "dlp-element.h"

G_BEGIN_DECLS

/* What an element can learn of those before it, in negotiate(). */

/* (transfer container) (element-type DlpElement): on each way that leads to an input of @self, the
 * nearest element that has a readable property @property; without repetition, in the order of the
 * inputs. */
DLP_API GPtrArray *dlp_element_list_upstream (DlpElement *self, const char *property);

/* The model behind ids: the properties `model-name`, `model-fingerprint`, `model-file`,
 * `model-pattern` and `vocab-size` of a tokenizer, known once it has negotiated. */
typedef struct
{
  char *name;         /* nullable */
  char *fingerprint;  /* nullable */
  char *file;         /* nullable: what it was made of, where that has no known name */
  char *pattern;      /* nullable: what has to be said beside the file */
  guint64 vocab_size; /* the largest id + 1; 0: unknown */
} DlpUpstreamModel;

DLP_API void dlp_upstream_model_clear (DlpUpstreamModel *self);
/* Adds what there is of it to the members of a manifest: `vocab-size`, `tokenizer`,
 * `tokenizer-fingerprint`, `tokenizer-file`, `tokenizer-pattern`. */
DLP_API void dlp_upstream_model_describe (const DlpUpstreamModel *self, GVariantBuilder *builder);
/* @model is empty where there is none. Several that differ are DLP_GRAPH_ERROR_VALUE: ids of two
 * vocabularies in one dataset could never be told apart again. */
DLP_API gboolean dlp_element_find_upstream_model (DlpElement *self,
                                                  DlpUpstreamModel *model,
                                                  GError **error);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (DlpUpstreamModel, dlp_upstream_model_clear)

G_END_DECLS
