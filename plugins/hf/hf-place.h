/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* hf://datasets/OWNER/NAME[@REVISION][/PATH] or [?config=CONFIG][&split=SPLIT]. Pure functions. */
typedef struct
{
  char *owner;
  char *name;
  char *revision; /* (nullable) */
  char *path;     /* (nullable): NULL: the card says which files */
  char *config;   /* (nullable) */
  char *split;    /* (nullable) */
} HfPlace;

/* FALSE and DLP_DATA_ERROR_NO_INPUT. @self is to be cleared in any case. */
gboolean hf_place_parse (HfPlace *self, const char *uri, GError **error);
void hf_place_clear (HfPlace *self);

/* A revision that cannot come to mean something else. */
gboolean hf_is_commit (const char *revision);
/* (transfer full): the same at a commit. @path: (nullable): instead of what it has behind that. */
char *hf_place_make_uri (const HfPlace *self, const char *commit, const char *path);
/* (transfer full) (nullable): the URI with rel=next of a header Link. */
char *hf_link_find_next (const char *header);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (HfPlace, hf_place_clear)

G_END_DECLS
