/* SPDX-License-Identifier: MIT */
#pragma once

#include <dlpipe/dlp-pipeline.h>

G_BEGIN_DECLS

/* Elements whose step is a function of the test: factories `script-source` (a pad out),
 * `script-pipe` (in and out) and `script-end` (a sink). Their one field is `text`. */
typedef DlpStep (*ScriptStep) (DlpElement *self, gpointer data, GError **error);
typedef gboolean (*ScriptStart) (DlpElement *self, gpointer data, GError **error);

void script_register (void);
/* (transfer none): made and added. */
DlpElement *script_add (DlpPipeline *pipeline,
                        const char *factory,
                        const char *name,
                        ScriptStep step,
                        gpointer data);
void script_set_start (DlpElement *self, ScriptStart start);
void script_set_negotiate (DlpElement *self, ScriptStart negotiate);
void script_link (DlpPipeline *pipeline, DlpElement *from, DlpElement *to);

/* Appends a record to the open record batch of the output. */
void script_emit (DlpElement *self, const char *text);
/* Consumes one record: FALSE: none is there. */
gboolean script_take (DlpElement *self);

G_END_DECLS
