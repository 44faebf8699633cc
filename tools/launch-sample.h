/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

#include <dlpipe/dlp-pipeline.h>
#include <dlpipe/dlp-sink.h>
#include <dlpipe/dlp-source.h>

G_BEGIN_DECLS

#define LAUNCH_LISTER_FACTORY "launch-lister"
#define LAUNCH_SAMPLER_FACTORY "launch-sampler"

/* A file that a source would read. */
typedef struct
{
  char *uri;
  gint64 size; /* -1: not known */
  char *identity;
  guint group; /* of LaunchSample.groups */
  bool taken;  /* into the sample */
} LaunchFile;

/* Files of one source and one codec: stored bytes stand for the same there. */
typedef struct
{
  guint source;
  const char *codec; /* static; "none" */
  guint64 total;     /* stored bytes, of one epoch */
  guint64 read;      /* of them, by the sample */
  guint files, taken;
} LaunchGroup;

typedef struct
{
  char *name; /* of the element */
  guint epochs;
  GArray *files;     /* of LaunchFile, in their order */
  double head_share; /* of each file that is taken */
} LaunchSource;

/* What is read instead of all. */
typedef struct
{
  GPtrArray *sources; /* of LaunchSource */
  GArray *groups;     /* of LaunchGroup */
  bool whole;         /* everything is read, as a run would */
  bool has_stream;    /* a file of unknown size is among them */
} LaunchSample;

/* (transfer full): lists what the file sources of @pipeline, which was checked, would read, and
 * takes @share of each group. */
LaunchSample *launch_sample_new (DlpPipeline *pipeline, double share, bool whole, GError **error);
void launch_sample_free (LaunchSample *self);
/* Another plugin may bring an element that is called so. */
bool launch_is_file_source (DlpElement *element);
/* (nullable) */
LaunchSource *launch_sample_find_source (LaunchSample *self, const char *name, guint *index);
/* The group of the records of a file; groups->len: none. */
guint launch_sample_get_group (LaunchSample *self, guint source, guint file);
/* Takes over what a reader in a run of the sample says that it has read of a source. Of several
 * readers of one source, who read the same, the one that has read most counts. */
void launch_sample_set_read (LaunchSample *self, GVariant *read_by_codec, guint source);

/* Collects the files of a source. */
#define LAUNCH_TYPE_LISTER (launch_lister_get_type ())
G_DECLARE_FINAL_TYPE (LaunchLister, launch_lister, LAUNCH, LISTER, DlpSink)

/* (transfer none): of LaunchFile. */
GArray *launch_lister_get_files (LaunchLister *self);

/* Stands for a file source: gives the files that were taken. */
#define LAUNCH_TYPE_SAMPLER (launch_sampler_get_type ())
G_DECLARE_FINAL_TYPE (LaunchSampler, launch_sampler, LAUNCH, SAMPLER, DlpSource)

/* Both live as long as the element. */
void launch_sampler_set_sample (LaunchSampler *self, LaunchSample *sample, guint source);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (LaunchSample, launch_sample_free)

/* Gives one element the properties of another of its kind. */
void launch_copy_properties (DlpElement *from, DlpElement *to);
/* What is set of the schemes that a source reads by, to the element of that name. */
bool launch_copy_schemes (DlpPipeline *from, DlpPipeline *to, const char *element, GError **error);

G_END_DECLS
