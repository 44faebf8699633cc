/* SPDX-License-Identifier: MIT */
#pragma once

#include <dlpipe/dlp-element.h>

G_BEGIN_DECLS

/* What is before an element, by stage: found in negotiate(). */
typedef struct
{
  guint n_stages;
  guint *n_sources;      /* of each stage */
  gboolean *is_shuffled; /* of each stage: its records do not come as the files have them */
  gboolean mingled;      /* records of several stages come in one another's midst */
} BatchScope;

BatchScope *batch_scope_new (DlpElement *element);
void batch_scope_free (BatchScope *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (BatchScope, batch_scope_free)

G_END_DECLS
