/* SPDX-License-Identifier: MIT */
#pragma once

#include "dlp-json-tree.h"

/* What is put around the ids of one text: "post_processor" of a tokenizer.json. */
typedef struct
{
  GArray *before; /* guint32; NULL: none */
  GArray *behind;
} DlpTemplate;

gboolean dlp_template_read (DlpTemplate *self, DlpJsonNode node, GError **error);
void dlp_template_clear (DlpTemplate *self);
