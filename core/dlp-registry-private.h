/* SPDX-License-Identifier: MIT */
#pragma once

#include <dlpipe/dlp-plugin.h>

G_BEGIN_DECLS

/* (transfer full): a hint for a factory name that is not known. */
char *dlp_registry_suggest (const char *factory);

G_END_DECLS
