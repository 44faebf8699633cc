/* SPDX-License-Identifier: MIT */
#pragma once

#include <gio/gio.h>

#include "dlp-macros.h"

G_BEGIN_DECLS

#define DLP_TYPE_TOKENIZER (dlp_tokenizer_get_type ())
#define DLP_TOKENIZER_ERROR (dlp_tokenizer_error_quark ())

/**
 * DlpTokenizerError:
 * @DLP_TOKENIZER_ERROR_NOT_FOUND: no such model, or its file cannot be read
 * @DLP_TOKENIZER_ERROR_BAD_VOCABULARY: the vocabulary file is not valid
 * @DLP_TOKENIZER_ERROR_BAD_PATTERN: the pattern is missing, malformed or cannot be honoured exactly
 * @DLP_TOKENIZER_ERROR_NO_EOD: no end-of-document token is known, or more than one
 * @DLP_TOKENIZER_ERROR_BAD_ID: an id that is not in the vocabulary
 * @DLP_TOKENIZER_ERROR_NO_BOS: no token for the beginning of a document is known, or more than one;
 *   since 0.2
 *
 * Errors of a tokenizer.
 *
 * Since: 0.1
 */
typedef enum
{
  DLP_TOKENIZER_ERROR_NOT_FOUND,
  DLP_TOKENIZER_ERROR_BAD_VOCABULARY,
  DLP_TOKENIZER_ERROR_BAD_PATTERN,
  DLP_TOKENIZER_ERROR_NO_EOD,
  DLP_TOKENIZER_ERROR_BAD_ID,
  DLP_TOKENIZER_ERROR_NO_BOS,
} DlpTokenizerError;

#define DLP_TYPE_TOKENIZER_ERROR (dlp_tokenizer_error_get_type ())
DLP_AVAILABLE_IN_0_2
GType dlp_tokenizer_error_get_type (void) G_GNUC_CONST;

/**
 * DlpTokenizerFlags:
 * @DLP_TOKENIZER_FLAGS_NONE: the text of a special token is ordinary text
 * @DLP_TOKENIZER_FLAGS_SPECIALS: the text of a special token becomes its id; what lies between is
 *   encoded as if each segment were a text of its own
 * @DLP_TOKENIZER_FLAGS_POST_PROCESSOR: the ids that the file of the model wants around a text
 *   (its post_processor) are added, such as a token for its beginning; since 0.2
 *
 * What special tokens in a text become.
 *
 * Since: 0.1
 */
typedef enum
{
  DLP_TOKENIZER_FLAGS_NONE = 0,
  DLP_TOKENIZER_FLAGS_SPECIALS = 1 << 0,
  DLP_TOKENIZER_FLAGS_POST_PROCESSOR = 1 << 1,
} DlpTokenizerFlags;

#define DLP_TYPE_TOKENIZER_FLAGS (dlp_tokenizer_flags_get_type ())
DLP_AVAILABLE_IN_0_2
GType dlp_tokenizer_flags_get_type (void) G_GNUC_CONST;

/**
 * DlpTokenizerKind:
 * @DLP_TOKENIZER_KIND_RANKS: lines of base64 and rank, as tiktoken has them
 * @DLP_TOKENIZER_KIND_JSON: the tokenizer.json of Hugging Face
 * @DLP_TOKENIZER_KIND_TEKKEN: the tekken.json of Mistral
 * @DLP_TOKENIZER_KIND_SENTENCEPIECE: a model of SentencePiece
 * @DLP_TOKENIZER_KIND_BYTES: none: the ids are bytes
 *
 * What kind of file a tokenizer is made of.
 *
 * Since: 0.2
 */
typedef enum
{
  DLP_TOKENIZER_KIND_RANKS,
  DLP_TOKENIZER_KIND_JSON,
  DLP_TOKENIZER_KIND_TEKKEN,
  DLP_TOKENIZER_KIND_SENTENCEPIECE,
  DLP_TOKENIZER_KIND_BYTES,
} DlpTokenizerKind;

#define DLP_TYPE_TOKENIZER_KIND (dlp_tokenizer_kind_get_type ())
DLP_AVAILABLE_IN_0_2
GType dlp_tokenizer_kind_get_type (void) G_GNUC_CONST;

/**
 * DlpTokenizer:
 *
 * Turns text into ids, exactly as the library that its vocabulary was made for does, and back.
 *
 * A tokenizer never changes once it is made, and all of its methods may be called on any thread,
 * also at the same time. The tables of a vocabulary exist once in a process, however many
 * tokenizers are made from it. What encoding needs besides is in a #DlpTokenizerContext, one for
 * each thread.
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
G_DECLARE_FINAL_TYPE (DlpTokenizer, dlp_tokenizer, DLP, TOKENIZER, GObject)

/**
 * DlpTokenizerContext: (skip)
 *
 * What one thread needs to encode: a cache of pieces, bounded in bytes, and scratch space. Keep one
 * per thread for the whole run. What is encoded never depends on what the context has seen before.
 *
 * Since: 0.1
 */
typedef struct _DlpTokenizerContext DlpTokenizerContext;

/**
 * dlp_tokenizer_error_quark:
 *
 * Gets the domain of #DlpTokenizerError.
 *
 * Threads: any.
 *
 * Returns: the domain
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
GQuark dlp_tokenizer_error_quark (void);

/**
 * dlp_tokenizer_new:
 * @model: what to load, see below
 * @pattern: (nullable): how text is cut into pieces: one of gpt2, r50k, p50k, cl100k, o200k, qwen2,
 *   qwen3.5, tekken, kimi-k2, deepseek, digits (each digit by itself, the rest as gpt2), or a
 * regular expression as tiktoken takes it; only for a rank file, and needed for one that is not
 * recognised by its content or its name
 * @error: return location for an error
 *
 * Loads a tokenizer. @model is
 *
 * - the name of a known one: gpt2 (r50k_base), cl100k_base or o200k_base. gpt2 is part of the
 *   library; the files of the others are looked for in the folders of the environment variable
 *   `DLPIPE_VOCAB_PATH` and where the library is installed;
 * - the path of a file: a tokenizer.json of Hugging Face's tokenizers library, a tekken.json of
 *   Mistral's, a SentencePiece model, or a rank file with a line of base64 and rank for each token,
 *   as tiktoken has them. What it is is told by its content;
 * - the path of a folder with a tokenizer.json, tekken.json or tokenizer.model;
 * - `hf:OWNER/NAME` or `hf:OWNER/NAME@REVISION`: what the local cache of Hugging Face's hub has
 *   of that repository. Nothing is fetched;
 * - `bytes`, for dlp_tokenizer_new_bytes() without an offset.
 *
 * An unknown field of a file that could change the ids is an error that names it. Truncation and
 * padding, which a tokenizer.json may ask for, are not applied.
 *
 * A rank file that is recognised by its name alone has the special tokens of that model only if
 * @pattern is %NULL.
 *
 * Threads: any. Takes some tenths of a second for a large vocabulary the first time.
 *
 * Returns: (transfer full): a tokenizer, or %NULL with an error in %DLP_TOKENIZER_ERROR
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
DlpTokenizer *dlp_tokenizer_new (const char *model, const char *pattern, GError **error);

/**
 * dlp_tokenizer_new_bytes:
 * @offset: how many ids there are before those of the bytes, such as for special tokens
 *
 * Makes a tokenizer whose ids are the bytes of a text, each @offset more than its value: 3 for
 * ByT5, 4 for BLT. It has no special tokens.
 *
 * Threads: any.
 *
 * Returns: (transfer full): a tokenizer
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
DlpTokenizer *dlp_tokenizer_new_bytes (guint32 offset);

/**
 * dlp_tokenizer_load_async:
 * @model: as for dlp_tokenizer_new()
 * @pattern: (nullable): likewise
 * @cancellable: (nullable): a cancellable; who waits has %G_IO_ERROR_CANCELLED at once
 * @callback: (scope async) (nullable): called in the thread-default main context of the caller
 * @user_data: (closure): for @callback
 *
 * As dlp_tokenizer_new(), on a thread of its own.
 *
 * Threads: any.
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
void dlp_tokenizer_load_async (const char *model,
                               const char *pattern,
                               GCancellable *cancellable,
                               GAsyncReadyCallback callback,
                               gpointer user_data);

/**
 * dlp_tokenizer_load_finish:
 * @result: what the callback was given
 * @error: return location for an error
 *
 * Ends dlp_tokenizer_load_async().
 *
 * Returns: (transfer full): as dlp_tokenizer_new()
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
DlpTokenizer *dlp_tokenizer_load_finish (GAsyncResult *result, GError **error);

/**
 * dlp_tokenizer_get_name:
 * @self: a tokenizer
 *
 * Gets what the tokenizer is called: the name of the model, or of its file without `.tiktoken`.
 *
 * Threads: any.
 *
 * Returns: (transfer none): a name
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
const char *dlp_tokenizer_get_name (DlpTokenizer *self);

/**
 * dlp_tokenizer_get_file:
 * @self: a tokenizer
 *
 * Gets the absolute path of the rank file that it was made of, if it was not made by the name of a
 * known model.
 *
 * Threads: any.
 *
 * Returns: (transfer none) (nullable): a path
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
const char *dlp_tokenizer_get_file (DlpTokenizer *self);

/**
 * dlp_tokenizer_get_kind:
 * @self: a tokenizer
 *
 * Gets what kind of file it is made of.
 *
 * Threads: any.
 *
 * Returns: a kind
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
DlpTokenizerKind dlp_tokenizer_get_kind (DlpTokenizer *self);

/**
 * dlp_tokenizer_list_steps:
 * @self: a tokenizer
 *
 * Lists what is done to a text and to its ids, for people to read: a stage as its file calls it,
 * and the types of its steps, such as `normalizer: Prepend, Replace`. Stages without steps are left
 * out.
 *
 * Threads: any.
 *
 * Returns: (transfer full) (array zero-terminated=1): a line for each stage
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
char **dlp_tokenizer_list_steps (DlpTokenizer *self);

/**
 * dlp_tokenizer_get_pattern:
 * @self: a tokenizer
 *
 * Gets the regular expression by which text is cut into pieces. Spellings of a known pattern that
 * cut every text alike are given as one of them.
 *
 * Threads: any.
 *
 * Returns: (transfer none) (nullable): a regular expression, or %NULL if there is more to it than
 *   one that is known: dlp_tokenizer_list_steps()
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
const char *dlp_tokenizer_get_pattern (DlpTokenizer *self);

/**
 * dlp_tokenizer_get_fingerprint:
 * @self: a tokenizer
 *
 * Gets a sha256 over the vocabulary, the pattern and the special tokens. Tokenizers with equal
 * fingerprints encode every text alike, whatever they are called.
 *
 * Threads: any.
 *
 * Returns: (transfer none): 64 hexadecimal digits
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
const char *dlp_tokenizer_get_fingerprint (DlpTokenizer *self);

/**
 * dlp_tokenizer_get_vocab_size:
 * @self: a tokenizer
 *
 * Gets the largest id + 1, special tokens included. Not every id below it need be in use.
 *
 * Threads: any.
 *
 * Returns: the size of the vocabulary
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
guint32 dlp_tokenizer_get_vocab_size (DlpTokenizer *self);

/**
 * dlp_tokenizer_get_eod:
 * @self: a tokenizer
 * @id: (out) (optional): its id
 * @error: return location for an error
 *
 * Gets the token that ends a document, if the model leaves no doubt which one it is.
 *
 * Threads: any.
 *
 * Returns: %FALSE with %DLP_TOKENIZER_ERROR_NO_EOD if none is known or if there are several, which
 *   the message lists
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
gboolean dlp_tokenizer_get_eod (DlpTokenizer *self, guint32 *id, GError **error);

/**
 * dlp_tokenizer_get_bos:
 * @self: a tokenizer
 * @id: (out) (optional): its id
 * @error: return location for an error
 *
 * Gets the token that begins a document, if the model leaves no doubt which one it is.
 *
 * Threads: any.
 *
 * Returns: %FALSE with %DLP_TOKENIZER_ERROR_NO_BOS if none is known or if there are several, which
 *   the message lists
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
gboolean dlp_tokenizer_get_bos (DlpTokenizer *self, guint32 *id, GError **error);

/**
 * dlp_tokenizer_get_unknown:
 * @self: a tokenizer
 * @id: (out) (optional): its id
 *
 * Gets the token that stands for what the vocabulary cannot express. Vocabularies of bytes have
 * none.
 *
 * Threads: any.
 *
 * Returns: %FALSE if there is none
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
gboolean dlp_tokenizer_get_unknown (DlpTokenizer *self, guint32 *id);

/**
 * dlp_tokenizer_count_ids:
 * @self: a tokenizer
 * @ids: (array length=n_ids): ids
 * @n_ids: how many
 * @n_unknown: (out) (optional): how many of them are that of dlp_tokenizer_get_unknown()
 * @n_single_bytes: (out) (optional): how many of them stand for a single byte, be it a character of
 *   its own or, as `<0xE4>`, part of one
 *
 * Counts the ids that tell how well a vocabulary fits a text.
 *
 * Threads: any.
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
void dlp_tokenizer_count_ids (DlpTokenizer *self,
                              const guint32 *ids,
                              gsize n_ids,
                              guint64 *n_unknown,
                              guint64 *n_single_bytes);

/**
 * dlp_tokenizer_count_ids16:
 * @self: a tokenizer
 * @ids: (array length=n_ids): ids
 * @n_ids: how many
 * @n_unknown: (out) (optional): as for dlp_tokenizer_count_ids()
 * @n_single_bytes: (out) (optional): likewise
 *
 * dlp_tokenizer_count_ids() of ids of 16 bits.
 *
 * Threads: any.
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
void dlp_tokenizer_count_ids16 (DlpTokenizer *self,
                                const guint16 *ids,
                                gsize n_ids,
                                guint64 *n_unknown,
                                guint64 *n_single_bytes);

/**
 * dlp_tokenizer_get_n_specials:
 * @self: a tokenizer
 *
 * Gets the number of special tokens.
 *
 * Threads: any.
 *
 * Returns: a number
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
guint dlp_tokenizer_get_n_specials (DlpTokenizer *self);

/**
 * dlp_tokenizer_get_special:
 * @self: a tokenizer
 * @index: less than dlp_tokenizer_get_n_specials()
 * @id: (out) (optional): its id
 *
 * Gets one special token, in the order of their ids.
 *
 * Threads: any.
 *
 * Returns: (transfer none): its content
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
const char *dlp_tokenizer_get_special (DlpTokenizer *self, guint index, guint32 *id);

/**
 * dlp_tokenizer_lookup_special:
 * @self: a tokenizer
 * @content: the content of a special token, such as `<|endoftext|>`
 * @id: (out) (optional): its id
 *
 * Looks up a special token by its content.
 *
 * Threads: any.
 *
 * Returns: %FALSE if there is no such special token
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
gboolean dlp_tokenizer_lookup_special (DlpTokenizer *self, const char *content, guint32 *id);

/**
 * dlp_tokenizer_count_specials:
 * @self: a tokenizer
 * @text: (array length=len) (element-type guint8): a text
 * @len: its number of bytes
 *
 * Counts how often the content of a special token stands in a text.
 *
 * Threads: any.
 *
 * Returns: a number
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
guint dlp_tokenizer_count_specials (DlpTokenizer *self, const char *text, gsize len);

/**
 * dlp_tokenizer_context_new: (skip)
 * @tokenizer: a tokenizer
 * @cache_bytes: how many bytes the cache of pieces may take, or 0 for 32 MiB; rounded down to a
 *   power of two, and at least 64 KiB
 *
 * Makes what one thread needs to encode with @tokenizer, which it keeps alive.
 *
 * Threads: any; a context is used by one thread at a time.
 *
 * Returns: (transfer full): a context, to be freed with dlp_tokenizer_context_free()
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
DlpTokenizerContext *dlp_tokenizer_context_new (DlpTokenizer *tokenizer, gsize cache_bytes);

/**
 * dlp_tokenizer_context_free: (skip)
 * @context: (transfer full) (nullable): a context
 *
 * Frees @context and lets go of its tokenizer.
 *
 * Threads: any.
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
void dlp_tokenizer_context_free (DlpTokenizerContext *context);

/**
 * dlp_tokenizer_context_get_dropped: (skip)
 * @context: a context
 *
 * Gets how many bytes of text so far belonged to no match of the pattern. Like tiktoken, the
 * tokenizer makes no ids of them. The known patterns match every text and drop nothing.
 *
 * Threads: any.
 *
 * Returns: a number of bytes
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
guint64 dlp_tokenizer_context_get_dropped (DlpTokenizerContext *context);

/**
 * dlp_tokenizer_context_get_stats: (skip)
 * @context: a context
 * @n_pieces: (out) (optional): into how many pieces the texts so far were cut
 * @n_misses: (out) (optional): how many of them were not in the cache, and so were encoded
 *
 * Gets what the cache of pieces was good for.
 *
 * Threads: the context's.
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
void dlp_tokenizer_context_get_stats (DlpTokenizerContext *context,
                                      guint64 *n_pieces,
                                      guint64 *n_misses);

/**
 * dlp_tokenizer_encode: (skip)
 * @self: a tokenizer
 * @context: a context that was made for @self
 * @text: a text in UTF-8
 * @len: its number of bytes
 * @ids: where the ids go
 * @capacity: how many ids there is room for; @len is enough if nothing is done to a text before it
 *   is cut, as for all rank files
 *
 * dlp_tokenizer_encode_full() with special tokens as ordinary text.
 *
 * Threads: any.
 *
 * Returns: as dlp_tokenizer_encode_full()
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
gssize dlp_tokenizer_encode (DlpTokenizer *self,
                             DlpTokenizerContext *context,
                             const char *text,
                             gsize len,
                             guint32 *ids,
                             gsize capacity);

/**
 * dlp_tokenizer_encode16: (skip)
 * @self: a tokenizer with a vocabulary size of at most 65,536
 * @context: a context that was made for @self
 * @text: a text in UTF-8
 * @len: its number of bytes
 * @ids: where the ids go
 * @capacity: how many ids there is room for; @len is enough if nothing is done to a text before it
 *   is cut, as for all rank files
 *
 * dlp_tokenizer_encode16_full() with special tokens as ordinary text.
 *
 * Threads: any.
 *
 * Returns: as dlp_tokenizer_encode_full()
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
gssize dlp_tokenizer_encode16 (DlpTokenizer *self,
                               DlpTokenizerContext *context,
                               const char *text,
                               gsize len,
                               guint16 *ids,
                               gsize capacity);

/**
 * dlp_tokenizer_encode_full: (skip)
 * @self: a tokenizer
 * @context: a context that was made for @self
 * @text: a text in UTF-8
 * @len: its number of bytes
 * @flags: what special tokens in the text become
 * @ids: where the ids go
 * @capacity: how many ids there is room for; @len is enough if nothing is done to a text before it
 *   is cut, as for all rank files
 *
 * Encodes a text. A text that is not valid UTF-8 is safe, but what it is encoded to is not
 * specified: check it first. The places of @ids behind the last id, up to @capacity, may be
 * overwritten.
 *
 * Threads: any, but @context is used by one at a time.
 *
 * Returns: the number of ids; -1 if they are more than @capacity; -2 if the pattern is none of the
 *   known ones and the engine for regular expressions exceeded its limits on this text
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
gssize dlp_tokenizer_encode_full (DlpTokenizer *self,
                                  DlpTokenizerContext *context,
                                  const char *text,
                                  gsize len,
                                  DlpTokenizerFlags flags,
                                  guint32 *ids,
                                  gsize capacity);

/**
 * dlp_tokenizer_encode16_full: (skip)
 * @self: a tokenizer with a vocabulary size of at most 65,536
 * @context: a context that was made for @self
 * @text: a text in UTF-8
 * @len: its number of bytes
 * @flags: what special tokens in the text become
 * @ids: where the ids go
 * @capacity: how many ids there is room for; @len is enough if nothing is done to a text before it
 *   is cut, as for all rank files
 *
 * dlp_tokenizer_encode_full() into ids of 16 bits.
 *
 * Threads: any.
 *
 * Returns: as dlp_tokenizer_encode_full()
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
gssize dlp_tokenizer_encode16_full (DlpTokenizer *self,
                                    DlpTokenizerContext *context,
                                    const char *text,
                                    gsize len,
                                    DlpTokenizerFlags flags,
                                    guint16 *ids,
                                    gsize capacity);

/**
 * dlp_tokenizer_encode_text:
 * @self: a tokenizer
 * @text: a text in UTF-8
 * @len: its number of bytes, or -1 if it ends with a nul
 * @flags: what special tokens in the text become
 * @n_ids: (out): the number of ids
 *
 * Encodes one text, for programs and languages to which speed matters less: the context is made for
 * this call alone.
 *
 * Threads: any.
 *
 * Returns: (transfer full) (nullable) (array length=n_ids): the ids, or %NULL if the engine for
 *   regular expressions exceeded its limits on this text
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
guint32 *dlp_tokenizer_encode_text (DlpTokenizer *self,
                                    const char *text,
                                    gssize len,
                                    DlpTokenizerFlags flags,
                                    gsize *n_ids);

/**
 * dlp_tokenizer_get_token:
 * @self: a tokenizer
 * @id: an id
 * @len: (out): the number of bytes
 *
 * Gets the bytes of one token. They need not be valid UTF-8.
 *
 * Threads: any.
 *
 * Returns: (transfer none) (nullable) (array length=len): bytes that live as long as @self, or
 *   %NULL if there is no such id
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
const guint8 *dlp_tokenizer_get_token (DlpTokenizer *self, guint32 id, gsize *len);

/**
 * dlp_tokenizer_decode:
 * @self: a tokenizer
 * @ids: (array length=n_ids): ids
 * @n_ids: how many
 * @out: what the text is appended to; it need not be valid UTF-8
 * @error: return location for an error
 *
 * Turns ids back into a text. If the file of the model says how (the `decoder` of a tokenizer.json,
 * a model of SentencePiece), it is what the library of that file gives: the tokens without their
 * prefixes and marks, U+FFFD for bytes that are no UTF-8, and, where `decoder` is null, a space
 * between any two tokens. Else it is the bytes of the tokens one after another, which
 * dlp_tokenizer_get_token() gives one by one. After an error @out has the text of the ids before
 * the bad one.
 *
 * Threads: any.
 *
 * Returns: %FALSE with %DLP_TOKENIZER_ERROR_BAD_ID if an id is not in the vocabulary, with
 *   %DLP_TOKENIZER_ERROR_BAD_PATTERN if the engine for regular expressions exceeded its limits
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
gboolean dlp_tokenizer_decode (DlpTokenizer *self,
                               const guint32 *ids,
                               gsize n_ids,
                               GString *out,
                               GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (DlpTokenizerContext, dlp_tokenizer_context_free)

G_END_DECLS
