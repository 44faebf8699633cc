/* SPDX-License-Identifier: MIT */
#pragma once

#include "dlp-http-retry.h"

G_BEGIN_DECLS

/* The properties that all schemes on http have; their own begin at HTTP_N_PROPS. */
enum
{
  HTTP_PROP_0,
  HTTP_PROP_TIMEOUT,
  HTTP_PROP_RETRY_TIME,
  HTTP_PROP_FIRST_WAIT,
  HTTP_PROP_RETRIES,
  HTTP_PROP_CA_FILE,
  HTTP_PROP_CACHE,
  HTTP_PROP_CACHE_BYTES,
  HTTP_N_PROPS
};

/* The defaults. */
void http_settings_init (HttpSettings *self);
void http_settings_clear (HttpSettings *self);
/* @self has nothing yet. */
void http_settings_copy (HttpSettings *self, const HttpSettings *from);

void http_settings_install_properties (GObjectClass *klass);
/* FALSE: none of these. */
gboolean http_settings_get_property (const HttpSettings *self, guint id, GValue *value);
gboolean http_settings_set_property (HttpSettings *self, guint id, const GValue *value);

G_END_DECLS
