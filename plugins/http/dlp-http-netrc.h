/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* What $NETRC, else ~/.netrc, has for a host (an entry "default" is not used: it would send a
 * password to whoever is asked). Read anew at each request: it may be changed in a long run. */
gboolean http_netrc_find (const char *host, char **login, char **password);
gboolean http_netrc_parse (const char *text, const char *host, char **login, char **password);

G_END_DECLS
