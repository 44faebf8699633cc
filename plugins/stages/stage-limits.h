/* SPDX-License-Identifier: MIT */
#pragma once

#include <dlpipe/dlp-element.h>

G_BEGIN_DECLS

/* Limits of the stages, a number for each input, from a text such as "web:10k,code:0" or, in the
 * order of the links, "10k,0"; 0, and no text at all: no limit. @property: for messages. */
gboolean stage_limits_parse (DlpElement *element,
                             const char *property,
                             const char *text,
                             guint64 *limits,
                             GError **error);

G_END_DECLS
