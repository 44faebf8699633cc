/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

#include <glib-object.h>

G_BEGIN_DECLS

/* What the options of dlpipe-launch and dlpipe-fanout say of what they run. */

/* A property that is set from text. */
typedef struct
{
  const char *property;
  const char *option; /* for messages */
  const char *text;   /* NULL: not given */
} Setting;

bool settings_apply (GObject *object, const Setting *settings, guint n, GError **error);
/* NAME.PROP=VALUE; *value is in it. */
bool settings_split (const char *setting,
                     char **element,
                     char **property,
                     const char **value,
                     GError **error);
/* (transfer full): @graph, or, where @file is not NULL, what is in that file; - is the standard
 * input. */
char *settings_read_graph (const char *graph, const char *file, GError **error);

G_END_DECLS
