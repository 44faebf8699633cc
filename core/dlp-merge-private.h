/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

#include <dlpipe/dlp-file-hash.h>
#include <dlpipe/dlp-manifest.h>
#include <dlpipe/dlp-merge.h>
#include <dlpipe/dlp-output-file.h>
#include <dlpipe/dlp-sink.h>

G_BEGIN_DECLS

struct _DlpMerge
{
  GObject parent_instance;

  char *location;
  char *run_id;
  char *manifest_path; /* of the whole */
  char **parts;        /* paths of manifests */

  /* While it runs. */
  GPtrArray *manifests; /* of GVariant: of the parts */
  GPtrArray *paths;     /* of char *: of finished files */
  GPtrArray *outputs;   /* of DlpOutputFile: open, so that others see that they are written */
  GArray *files;        /* of DlpManifestFile: of these */
  DlpOutputFile *file;  /* the one that was begun */
  DlpFileHash *hash;    /* of it */
  GCancellable *cancellable;
};

/* Of DlpMerge's unfinished files: one that begins anew replaces them. */
#define DLP_MERGE_ATTEMPT 1

/* Adds the second half of "ORDERED-UNORDERED": the first one depends on where a record is in its
 * part. False: it is no digest. */
bool dlp_merge_add_digest (guint64 sum[2], const char *text);

/* (transfer full): with the manifests of the parts, an array that ends with NULL. Nothing is read
 * before it runs. */
DlpMerge *dlp_merge_new (const char *location, const char *run_id, const char *const *parts);
/* Whether it is for this sink: DLP_GRAPH_ERROR_VALUE. */
bool dlp_merge_check_sink (DlpSink *sink, GError **error);
/* Blocks. True at once where it is done already. @sink: is not run, and has the properties of those
 * that have written the parts. */
bool dlp_merge_run (DlpMerge *self, DlpSink *sink, GCancellable *cancellable, GError **error);

/* ---- dlp-merge-publish.c ---- */

/* Deletes what it has made at its location, finished and unfinished, and nothing else. */
bool dlp_merge_discard (DlpMerge *self, GError **error);

/* Whether the whole is there already. */
bool dlp_merge_is_done (DlpMerge *self, bool *done, GError **error);
/* Whether all of it was durable once: then only names are missing. */
bool dlp_merge_is_written (DlpMerge *self);
/* What the sink has written is all. */
bool dlp_merge_commit (DlpMerge *self, GError **error);
/* Of a written one: gives names. */
bool dlp_merge_publish (DlpMerge *self, GError **error);

G_END_DECLS
