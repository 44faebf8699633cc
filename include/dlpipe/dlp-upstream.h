/* SPDX-License-Identifier: MIT */
#pragma once

#include "dlp-element.h"

G_BEGIN_DECLS

/* (transfer container) (element-type DlpElement): on each way that leads to an input of @self, the
 * nearest element that has a readable property @property; without repetition, in the order of the
 * inputs. In negotiate() those have their schemas already: a sink learns from the property
 * `vocab-size` of a tokenizer how large the ids may be. */
DLP_API GPtrArray *dlp_element_list_upstream (DlpElement *self, const char *property);

G_END_DECLS
