/* SPDX-License-Identifier: MIT */
#pragma once

#include <dlpipe/dlp-tokenizer.h>
#include <dlpipe/dlpipe.h>

G_BEGIN_DECLS

#define TOKENIZER_EXIT_OK 0
#define TOKENIZER_EXIT_FAULTS 1
#define TOKENIZER_EXIT_USAGE 2

/* ---- options (dlpipe-tokenizer.c) ---- */

typedef enum
{
  TOKENIZER_SPECIALS_TEXT,
  TOKENIZER_SPECIALS_ALLOW,
  TOKENIZER_SPECIALS_ERROR,
} TokenizerSpecials;

typedef struct
{
  char *command;
  char *model;
  char *other;  /* of compare */
  char **files; /* one at least; "-": the standard input */
  char *pattern;
  char *other_pattern;
  char *jsonl; /* nullable: the field */
  char *specials_text;
  TokenizerSpecials specials;
  gint width; /* 0: the default */
  gboolean lines;
  gboolean pieces;
  gboolean count;
  gboolean binary;
  gboolean post_processor;
  gboolean stats;
  gboolean json;
} TokenizerOptions;

/* ---- documents (tokenizer-input.c) ---- */

typedef struct
{
  const char *file; /* as it is shown */
  const char *unit; /* "line", "row"; NULL: the file is the document */
  guint64 number;   /* of the line from 1, of the row from 0 */
  const char *text;
  gsize len;
} TokenizerDocument;

typedef gboolean (*TokenizerFunc) (const TokenizerDocument *document,
                                   gpointer data,
                                   GError **error);

/* Calls @func for each document of @file. What is wrong in a file is G_IO_ERROR_INVALID_DATA. */
gboolean tokenizer_read_file (const TokenizerOptions *options,
                              const char *file,
                              TokenizerFunc func,
                              gpointer data,
                              GError **error);
/* All of it; its number of bytes is below what is behind the end. */
gboolean tokenizer_read_all (const char *file, GString *content, GError **error);
const char *tokenizer_show_file (const char *file);
/* (transfer full): where it is, for messages. */
char *tokenizer_document_to_string (const TokenizerDocument *self);

/* ---- encoding (tokenizer-encoder.c) ---- */

typedef struct
{
  DlpTokenizer *tokenizer;
  DlpTokenizerContext *context;
  guint32 *ids;
  gsize n;
  gsize capacity;
  gint64 time; /* microseconds spent on encoding */
} TokenizerEncoder;

gboolean tokenizer_encoder_open (TokenizerEncoder *self,
                                 const char *model,
                                 const char *pattern,
                                 GError **error);
void tokenizer_encoder_clear (TokenizerEncoder *self);
gboolean tokenizer_encoder_run (TokenizerEncoder *self,
                                const TokenizerOptions *options,
                                const TokenizerDocument *document,
                                GError **error);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (TokenizerEncoder, tokenizer_encoder_clear)

/* ---- what is printed (tokenizer-text.c) ---- */

/* In quotes; what is no UTF-8, and what could play with a terminal, as an escape. */
void tokenizer_append_quoted (GString *out, gconstpointer bytes, gsize len);
void tokenizer_append_uint (GString *out, guint64 value);
gboolean tokenizer_write (const char *text, gsize len, GError **error);

/* ---- the commands; each gives the exit code ---- */

int tokenizer_encode (const TokenizerOptions *options, GError **error);
int tokenizer_decode (const TokenizerOptions *options, GError **error);
int tokenizer_compare (const TokenizerOptions *options, GError **error);
int tokenizer_info (const TokenizerOptions *options, GError **error);

/* The exit code of an error. */
int tokenizer_exit_code (const GError *error);

G_END_DECLS
