/* SPDX-License-Identifier: MIT */
#pragma once

#include <dlpipe/dlp-reader.h>

#include "dlp-pipeline-private.h"

G_BEGIN_DECLS

#define DLP_TYPE_AUTO_READER (dlp_auto_reader_get_type ())
/* Stands in a graph for the reader of the files that come in: when the graph is built, and its
 * sources know their files, that one takes its place. So it never runs, and no state has it. */
G_DECLARE_FINAL_TYPE (DlpAutoReader, dlp_auto_reader, DLP, AUTO_READER, DlpReader)

/* Keeps a property that only the reader in its place knows. */
void dlp_auto_reader_add_setting (DlpAutoReader *self, const char *key, const char *value);
/* As text of a graph. */
void dlp_auto_reader_append_settings (DlpAutoReader *self, GString *text);
/* (transfer full): the reader for the files of the sources before it, with its properties. */
DlpElement *dlp_auto_reader_make_chosen (DlpAutoReader *self, GError **error);

/* dlp-pipeline-graph.c: sets a property from its text; @fresh: of a list, the first one. */
bool dlp_element_set_property_text (DlpElement *self,
                                    const char *key,
                                    const char *text,
                                    bool fresh,
                                    GError **error);

/* (transfer full) (nullable): the name of the reader that @files (of DlpFile) are for, of those
 * that the registry knows. *why: what it was known by. */
char *
dlp_auto_reader_choose (GPtrArray *files, GCancellable *cancellable, char **why, GError **error);

G_END_DECLS
