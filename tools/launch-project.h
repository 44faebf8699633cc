/* SPDX-License-Identifier: MIT */
#pragma once

#include "launch-probe.h"
#include "launch-sample.h"

G_BEGIN_DECLS

/* What a run would deliver, by what a run of a sample did. */
typedef struct
{
  DlpPipeline *pipeline; /* the whole; was checked */
  DlpPipeline *copy;     /* of the sample; was run */
  LaunchSample *sample;
  GPtrArray *closers;  /* of DlpElement of the whole, those upstream first: may end their inputs */
  gint64 began, ended; /* the copy, monotonic */
} LaunchProjection;

/* (transfer container): elements of @pipeline that end their inputs early, in the order of the
 * stream. */
GPtrArray *launch_list_closers (DlpPipeline *pipeline);
/* (transfer container): @element and all that is before it. */
GPtrArray *launch_list_before (DlpPipeline *pipeline, DlpElement *element);
/* (transfer none): the element that an output pad belongs to. */
DlpElement *launch_find_owner (DlpPipeline *pipeline, DlpPad *pad);
/* Whether a source goes on for ever, and nothing behind it ends it. */
bool launch_is_endless (DlpPipeline *pipeline, GPtrArray *closers, DlpElement *source);

/* Of a sink of the whole. */
LaunchTally launch_project_sink (const LaunchProjection *self, DlpElement *sink);
/* Of its probe, as counted. */
LaunchTally launch_sum_probe (LaunchSample *sample, LaunchProbe *probe);
/* Whether it is fed by a pad “rejected”. */
bool launch_is_reject_sink (DlpPipeline *pipeline, DlpElement *sink);

G_END_DECLS
