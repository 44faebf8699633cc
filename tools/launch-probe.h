/* SPDX-License-Identifier: MIT */
#pragma once

#include <dlpipe/dlp-sink.h>
#include <dlpipe/dlp-tokenizer.h>

G_BEGIN_DECLS

#define LAUNCH_PROBE_FACTORY "launch-probe"
#define LAUNCH_PROBE_SAMPLES 5

/* Stands for a sink in a dry run: measures what would be written, and keeps some records. */
#define LAUNCH_TYPE_PROBE (launch_probe_get_type ())
G_DECLARE_FINAL_TYPE (LaunchProbe, launch_probe, LAUNCH, PROBE, DlpSink)

/* Of tokens where there are some, else of all fields. */
guint64 launch_probe_get_bytes (LaunchProbe *self);
/* Text that the tokens stand for; 0: there is no tokenizer before it. */
guint64 launch_probe_get_text_bytes (LaunchProbe *self);
gboolean launch_probe_has_tokens (LaunchProbe *self);
/* (transfer full): text of a kept record, and how many tokens it had; NULL: there are fewer. */
char *launch_probe_get_sample (LaunchProbe *self, guint index, gsize *n_tokens);

G_END_DECLS
