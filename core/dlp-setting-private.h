/* SPDX-License-Identifier: MIT */
#pragma once

#include <dlpipe/dlp-file.h>

#include "dlp-context-private.h"

G_BEGIN_DECLS

/* What graph text sets by KEY=VALUE behind an element: a property of the element itself, or, as
 * "http.timeout", of a scheme by which a source reads. A source has an object of its own of each
 * scheme that anything is set of; a scheme with several names (http, https) is one. See
 * docs/internals/registry.md. */
typedef struct
{
  GObject *object; /* the element, or its scheme */
  GParamSpec *pspec;
  char *key;
} DlpSetting;

/* (transfer none) (nullable): the property that may be set by the key. */
GParamSpec *dlp_element_find_setting (DlpElement *self, const char *key);
/* (transfer full): what is wrong with a key that is not found, of what is called @whose; *hint:
 * what would be right. */
char *
dlp_element_explain_setting (DlpElement *self, const char *whose, const char *key, char **hint);
/* (transfer none): whose property the key is, once it is found. */
GObject *dlp_element_get_setting_object (DlpElement *self, const char *key);
/* (transfer full): "ELEMENT.KEY", whichever name of the scheme it was set by. */
char *dlp_element_name_setting (DlpElement *self, const DlpSetting *setting);
/* (transfer full): what it is set to; a list with its entries in lines. */
char *dlp_setting_get_text (const DlpSetting *self);
/* (transfer full): of DlpSetting: those of the element, then those of its schemes. */
GPtrArray *dlp_element_list_settings (DlpElement *self);

/* (transfer none) (nullable): its own object of a scheme. */
DlpScheme *dlp_element_find_own_scheme (DlpElement *self, GType type);
/* (transfer none) (nullable): by which a reader reads a file of that place, if the source that it
 * comes from has schemes of its own. */
DlpScheme *
dlp_element_find_file_scheme (DlpElement *self, const DlpCoordinate *of, const char *uri);

G_END_DECLS
