/* SPDX-License-Identifier: MIT */
#pragma once

#include <dlpipe/dlp-tokenizer.h>
#include <dlpipe/dlpipe.h>

G_BEGIN_DECLS

#define DATASET_EXIT_OK 0
#define DATASET_EXIT_FAULTS 1
#define DATASET_EXIT_USAGE 2

/* ---- options (dlpipe-dataset.c) ---- */

typedef struct
{
  char *command;
  char *location;
  gint64 n; /* -1: the default */
  gint64 seed;
  gint64 bytes; /* shown of each document; 0: all */
  char *model;
  char *pattern;
  gboolean ids;
  gboolean json;
} DatasetOptions;

/* ---- files that may be cut or hostile (dataset-file.c) ---- */

/* A file whose bytes are read where they are wanted. It is not mapped: a file that is cut meanwhile
 * would end the program. */
typedef struct
{
  char *path;
  int fd;
  guint64 size;
} DatasetFile;

gboolean dataset_file_open (DatasetFile *self, const char *path, GError **error);
void dataset_file_clear (DatasetFile *self);
/* Exactly @n bytes. */
gboolean
dataset_file_read (const DatasetFile *self, guint64 offset, gpointer data, gsize n, GError **error);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (DatasetFile, dataset_file_clear)
#define DATASET_FILE_INIT                                                                          \
  {                                                                                                \
    NULL, -1, 0                                                                                    \
  }

/* ---- what is at a location (dataset-location.c) ---- */

typedef enum
{
  DATASET_EMPTY, /* a manifest that lists no files */
  DATASET_MEGATRON,
  DATASET_JSONL,
} DatasetFormat;

typedef struct
{
  DatasetFormat format;
  char *location;      /* as a sink has it */
  char *manifest_path; /* where it would be */
  GVariant *manifest;  /* nullable */
  char *data_path;     /* .bin, or the lines */
  char *index_path;    /* nullable: .idx */
} DatasetLocation;

/* @text may be a location, or one of its files. Nothing there: G_IO_ERROR_NOT_FOUND. */
gboolean dataset_location_find (DatasetLocation *self, const char *text, GError **error);
void dataset_location_clear (DatasetLocation *self);
const char *dataset_format_to_string (DatasetFormat format);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (DatasetLocation, dataset_location_clear)

/* ---- .bin and .idx (dataset-megatron.c) ---- */

typedef struct
{
  DatasetFile bin;
  DatasetFile idx;
  guint code;  /* of the dtype */
  guint width; /* bytes of a token */
  guint64 sequences;
  guint64 documents;                             /* without the closing entry */
  guint64 lengths_at, pointers_at, documents_at; /* in the .idx */
} DatasetMegatron;

/* A header that cannot be is G_IO_ERROR_INVALID_DATA; what lies behind it is looked at when it is
 * used. */
gboolean
dataset_megatron_open (DatasetMegatron *self, const DatasetLocation *location, GError **error);
void dataset_megatron_clear (DatasetMegatron *self);
const char *dataset_megatron_get_dtype (const DatasetMegatron *self);
/* (transfer full) (element-type guint32): the tokens of a document, at most @limit; *n: how many it
 * has. */
GArray *dataset_megatron_read_document (DatasetMegatron *self,
                                        guint64 document,
                                        guint64 limit,
                                        guint64 *n,
                                        GError **error);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (DatasetMegatron, dataset_megatron_clear)

/* ---- lines (dataset-lines.c) ---- */

#define DATASET_MAX_LINE ((gsize) 1024 * 1024 * 1024)

typedef struct
{
  DatasetFile file;
  guint8 *buffer;
  gsize begin, end;
  guint64 offset; /* in the file, of what is read next */
  GString *line;
  guint64 number; /* of the line, from 1 */
  gboolean has_end;
  DlpFileHash *hash; /* of all that was read */
} DatasetLines;

gboolean dataset_lines_open (DatasetLines *self, const char *path, GError **error);
void dataset_lines_clear (DatasetLines *self);
/* The next line, without its LF, in self->line; has_end: there was one. FALSE without an error: the
 * end. */
gboolean dataset_lines_next (DatasetLines *self, GError **error);
guint64 dataset_lines_get_hash (DatasetLines *self);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (DatasetLines, dataset_lines_clear)

/* ---- the commands; each gives the exit code ---- */

int dataset_info (const DatasetLocation *location, const DatasetOptions *options, GError **error);
/* head and sample */
int dataset_show (const DatasetLocation *location, const DatasetOptions *options, GError **error);
int dataset_verify (const DatasetLocation *location, const DatasetOptions *options, GError **error);

/* ---- faults (dataset-verify.c) ---- */

typedef struct
{
  GPtrArray *faults; /* of char *: the first hundred */
  guint64 n_faults;
  GVariantDict facts; /* what was looked at, for --json */
  guint64 vocabulary; /* ids are below it; 0: unknown */
} DatasetReport;

void dataset_report_add (DatasetReport *self, const char *format, ...) G_GNUC_PRINTF (2, 3);
void dataset_verify_megatron (const DatasetLocation *location, DatasetReport *report);
void dataset_verify_jsonl (const DatasetLocation *location, DatasetReport *report);
/* Compares a file with what the manifest has of it, if there is one. */
void dataset_verify_file (const DatasetLocation *location,
                          DatasetReport *report,
                          const char *path,
                          guint64 bytes,
                          guint64 hash);
void dataset_verify_count (const DatasetLocation *location,
                           DatasetReport *report,
                           const char *key,
                           guint64 found);

/* ---- tokenizers (dataset-model.c) ---- */

/* (transfer full) (nullable): the one of --tokenizer, or of the manifest; NULL without an error:
 * none is named. */
DlpTokenizer *
dataset_open_model (const DatasetLocation *location, const DatasetOptions *options, GError **error);

G_END_DECLS
