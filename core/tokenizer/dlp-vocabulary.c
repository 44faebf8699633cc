/* SPDX-License-Identifier: MIT */
#include "dlp-bpe-table.h"
#include "dlp-huge.h"
#include "dlpipe/dlp-tokenizer.h"

#include <pthread.h>

typedef struct
{
  guint32 id;
  guint32 start;
  guint32 length;
  guint32 line;
} Entry;

typedef struct
{
  const char *where;
  guint8 *bytes;
  gsize n_bytes;
  GArray *entries;
  guint32 line;
} Parser;

static pthread_mutex_t shared_lock = PTHREAD_MUTEX_INITIALIZER;
static GHashTable *shared; /* under shared_lock: sha256 to DlpVocabulary, not owned */

static int
base64_digit (char c)
{
  if (c >= 'A' && c <= 'Z')
    return c - 'A';
  if (c >= 'a' && c <= 'z')
    return c - 'a' + 26;
  if (c >= '0' && c <= '9')
    return c - '0' + 52;
  return c == '+' ? 62 : c == '/' ? 63 : -1;
}

/* Strict: padded, no other characters, no bits left over. Returns the bytes written, or -1. */
static gssize
base64_decode (const char *in, gsize len, guint8 *out)
{
  gsize pad = 0, n = 0;

  if (len == 0 || len % 4 != 0)
    return -1;
  if (in[len - 1] == '=')
    pad = in[len - 2] == '=' ? 2 : 1;

  for (gsize i = 0; i < len; i += 4)
    {
      gsize digits = i + 4 == len ? 4 - pad : 4;
      guint32 v = 0;

      for (gsize k = 0; k < digits; k++)
        {
          int digit = base64_digit (in[i + k]);

          if (digit < 0)
            return -1;
          v |= (guint32) digit << (18 - 6 * k);
        }
      if (v & ((1u << (8 * (4 - digits))) - 1))
        return -1;
      for (gsize k = 0; k + 1 < digits; k++)
        out[n++] = v >> (16 - 8 * k);
    }
  return n;
}

static gboolean
parse_id (const char *p, const char *end, guint32 *id)
{
  guint32 v = 0;

  if (p == end || end - p > 7)
    return FALSE;
  for (; p < end; p++)
    {
      if (!g_ascii_isdigit (*p))
        return FALSE;
      v = v * 10 + (*p - '0');
    }
  *id = v;
  return v < DLP_ID_LIMIT - 1;
}

static gboolean fail (const Parser *parser, guint32 line, GError **error, const char *format, ...)
    G_GNUC_PRINTF (4, 5);

static gboolean
fail (const Parser *parser, guint32 line, GError **error, const char *format, ...)
{
  g_autofree char *what = NULL;
  va_list args;

  va_start (args, format);
  what = g_strdup_vprintf (format, args);
  va_end (args);
  g_set_error (error, DLP_TOKENIZER_ERROR, DLP_TOKENIZER_ERROR_BAD_VOCABULARY, "%s:%u: %s",
               parser->where, line, what);
  return FALSE;
}

static gboolean
parse_line (Parser *parser, const char *p, const char *end, GError **error)
{
  const char *space = memchr (p, ' ', end - p);
  Entry entry = { 0, parser->n_bytes, 0, parser->line };
  gssize len;

  if (space == NULL)
    return fail (parser, parser->line, error,
                 "no space; a line is a token in base64, a space and its rank");

  len = base64_decode (p, space - p, parser->bytes + parser->n_bytes);
  if (len <= 0)
    return fail (parser, parser->line, error, "the token is not valid base64");
  if (len > DLP_TOKEN_MAX_LEN)
    return fail (parser, parser->line, error,
                 "a token of %" G_GSSIZE_FORMAT " bytes; at most %d are allowed", len,
                 DLP_TOKEN_MAX_LEN);
  if (!parse_id (space + 1, end, &entry.id))
    return fail (parser, parser->line, error, "the rank is not a number from 0 to %u",
                 DLP_ID_LIMIT - 2);

  entry.length = len;
  parser->n_bytes += len;
  g_array_append_val (parser->entries, entry);
  return TRUE;
}

static gboolean
parse_lines (Parser *parser, const char *data, gsize size, GError **error)
{
  const char *end = data + size;

  for (const char *p = data; p < end;)
    {
      const char *newline = memchr (p, '\n', end - p);
      const char *stop = newline ? newline : end;
      const char *next = newline ? newline + 1 : end;

      parser->line++;
      if (stop > p && stop[-1] == '\r')
        stop--;
      if (stop > p && !parse_line (parser, p, stop, error))
        return FALSE;
      p = next;
    }
  return TRUE;
}

static DlpVocabulary *
make_tables (const Parser *parser)
{
  guint32 n_ids = 0;
  DlpVocabulary *self;

  for (guint i = 0; i < parser->entries->len; i++)
    n_ids = MAX (n_ids, g_array_index (parser->entries, Entry, i).id + 1);
  self = dlp_vocabulary_new (n_ids, 0);
  self->n_tokens = parser->entries->len;
  return self;
}

static gboolean
add_entries (DlpVocabulary *self, const Parser *parser, GError **error)
{
  for (guint i = 0; i < parser->entries->len; i++)
    {
      const Entry *entry = &g_array_index (parser->entries, Entry, i);

      if (self->lengths[entry->id] != 0)
        return fail (parser, entry->line, error, "rank %u is given twice", entry->id);
      self->starts[entry->id] = entry->start;
      self->lengths[entry->id] = entry->length;
    }

  dlp_vocabulary_reserve (self);
  for (guint i = 0; i < parser->entries->len; i++)
    {
      const Entry *entry = &g_array_index (parser->entries, Entry, i);

      if (!dlp_vocabulary_insert (self, entry->id))
        return fail (parser, entry->line, error, "the token of rank %u is given twice", entry->id);
    }

  dlp_vocabulary_find_byte_ids (self);
  for (guint i = 0; i < 256; i++)
    if (self->byte_ids[i] == DLP_ID_NONE)
      return fail (parser, parser->line, error,
                   "no token for the single byte 0x%02x; each of the 256 is needed", i);
  return TRUE;
}

/* Reads a rank file in tiktoken's form. Anything may be in @data. */
DlpVocabulary *
dlp_vocabulary_parse (const char *data, gsize size, const char *where, GError **error)
{
  g_autoptr (DlpVocabulary) self = NULL;
  g_autoptr (GArray) entries = g_array_new (FALSE, FALSE, sizeof (Entry));
  g_autoptr (GArray) pairs = NULL;
  g_autofree guint8 *bytes = NULL;
  Parser parser = { where, NULL, 0, entries, 0 };

  if (size > G_MAXINT32)
    {
      fail (&parser, 0, error, "%" G_GSIZE_FORMAT " bytes; a rank file has at most 2 GiB", size);
      return NULL;
    }

  bytes = parser.bytes = g_malloc (size / 4 * 3 + 4);
  if (!parse_lines (&parser, data, size, error))
    return NULL;
  self = make_tables (&parser);
  self->bytes = g_steal_pointer (&bytes);
  if (!add_entries (self, &parser, error))
    return NULL;

  pairs = dlp_vocabulary_collect_pairs (self, self->n_ids);
  dlp_vocabulary_set_pairs (self, pairs, TRUE);
  dlp_bpe_prepare (self);
  return g_steal_pointer (&self);
}

DlpVocabulary *
dlp_vocabulary_new (guint32 n_ids, gsize n_bytes)
{
  DlpVocabulary *self = g_new0 (DlpVocabulary, 1);

  self->ref_count = 1;
  self->n_ids = n_ids;
  self->bytes = g_malloc (n_bytes);
  self->starts = g_new0 (guint32, n_ids);
  self->lengths = g_new0 (guint16, n_ids);
  return self;
}

void
dlp_vocabulary_free (DlpVocabulary *self)
{
  g_free (self->sha256);
  g_free (self->bytes);
  g_free (self->starts);
  g_free (self->lengths);
  dlp_huge_free (self->shorts);
  g_free (self->longs);
  dlp_huge_free (self->pairs);
  dlp_huge_free (self->pairs_filter);
  g_free (self->byte_pairs);
  g_clear_pointer (&self->table, dlp_bpe_table_free);
  g_free (self->merge_ids);
  g_free (self->merge_ranks);
  g_clear_pointer (&self->foreign, g_hash_table_unref);
  g_free (self);
}

/* The vocabulary of the file whose content is @file, loaded once a process. */
DlpVocabulary *
dlp_vocabulary_get (GBytes *file, const char *where, GError **error)
{
  g_autofree char *sha256 = g_compute_checksum_for_bytes (G_CHECKSUM_SHA256, file);
  DlpVocabulary *self;
  gconstpointer data;
  gsize size;

  pthread_mutex_lock (&shared_lock);
  if (shared == NULL)
    shared = g_hash_table_new (g_str_hash, g_str_equal);
  self = g_hash_table_lookup (shared, sha256);
  if (self != NULL)
    {
      self->ref_count++;
    }
  else
    {
      data = g_bytes_get_data (file, &size);
      self = dlp_vocabulary_parse (data, size, where, error);
      if (self != NULL)
        {
          self->sha256 = g_steal_pointer (&sha256);
          g_hash_table_insert (shared, self->sha256, self);
        }
    }
  pthread_mutex_unlock (&shared_lock);
  return self;
}

DlpVocabulary *
dlp_vocabulary_ref (DlpVocabulary *self)
{
  pthread_mutex_lock (&shared_lock);
  self->ref_count++;
  pthread_mutex_unlock (&shared_lock);
  return self;
}

void
dlp_vocabulary_unref (DlpVocabulary *self)
{
  gboolean last;

  pthread_mutex_lock (&shared_lock);
  last = --self->ref_count == 0;
  if (last && self->sha256 != NULL)
    g_hash_table_remove (shared, self->sha256);
  pthread_mutex_unlock (&shared_lock);

  if (last)
    dlp_vocabulary_free (self);
}
