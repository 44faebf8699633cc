/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* (transfer full) (nullable): HF_TOKEN, else what is in the file HF_TOKEN_PATH, else HF_HOME/token,
 * else ~/.cache/huggingface/token. Read anew each time: it may change in a long run. */
char *hf_token_find (void);
/* (transfer full): HF_ENDPOINT, else that of the hub; without a '/' at its end. */
char *hf_endpoint_get (void);

G_END_DECLS
