/* SPDX-License-Identifier: MIT */
#pragma once

#include <dlpipe/dlp-sink.h>
#include <dlpipe/dlp-tokenizer.h>

#include "launch-sample.h"

G_BEGIN_DECLS

#define LAUNCH_PROBE_FACTORY "launch-probe"
#define LAUNCH_PROBE_SAMPLES 5

/* Stands for a sink in a dry run: measures what would be written, and keeps some records. */
#define LAUNCH_TYPE_PROBE (launch_probe_get_type ())
G_DECLARE_FINAL_TYPE (LaunchProbe, launch_probe, LAUNCH, PROBE, DlpSink)

typedef struct
{
  double records, tokens;
  double bytes; /* of tokens where there are some, else of all fields */
} LaunchTally;

/* What is counted by group of the sample. @sample lives as long as the probe. */
void launch_probe_set_sample (LaunchProbe *self, LaunchSample *sample);
/* @group: one of the sample, or their number: of records that are of none. */
LaunchTally launch_probe_get_tally (LaunchProbe *self, guint group);
/* When its first record came, monotonic; 0: none did. */
gint64 launch_probe_get_first_time (LaunchProbe *self);
/* Text that the tokens stand for; 0: there is no tokenizer before it. */
guint64 launch_probe_get_text_bytes (LaunchProbe *self);
gboolean launch_probe_has_tokens (LaunchProbe *self);
/* (transfer full): text of a kept record, and how many tokens it had; NULL: there are fewer. */
char *launch_probe_get_sample (LaunchProbe *self, guint index, gsize *n_tokens);

G_END_DECLS
