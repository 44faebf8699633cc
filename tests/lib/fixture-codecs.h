/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* The codecs that the build has, both ways. */

/* Appends one member, frame or stream. */
typedef void (*FixtureCompress) (GByteArray *out, const char *data, gsize size);

void fixture_codecs_register (void);
/* NULL: a file of such a name is plain, or there is no such codec. */
FixtureCompress fixture_codecs_find (const char *name);

G_END_DECLS
