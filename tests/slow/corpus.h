/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Inputs of any size, made of the sample corpus: each document is put together from pieces of it
 * taken at random, with a made-up word between two of them, so that neither a compressor's window
 * nor a tokenizer's cache has seen everything after a few megabytes. The same seed gives the same
 * bytes. */
typedef struct _Corpus Corpus;

/* @data_dir: the tests/data of the tree. */
Corpus *corpus_new (const char *data_dir);
void corpus_free (Corpus *self);

/* Each makes a file of JSON lines, compressed as the end of @path says (.zst, .gz), and returns how
 * many there are. */
guint64 corpus_write_documents (Corpus *self, const char *path, guint64 bytes, guint64 seed);
guint64 corpus_write_tiny (Corpus *self, const char *path, guint64 n, guint64 seed);
/* Documents of words that are made up of letters of many scripts: nearly every one is new. */
guint64 corpus_write_scripts (Corpus *self, const char *path, guint64 bytes, guint64 seed);
/* One document, in a line of @bytes. */
guint64 corpus_write_line (Corpus *self, const char *path, guint64 bytes, guint64 seed);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (Corpus, corpus_free)

G_END_DECLS
