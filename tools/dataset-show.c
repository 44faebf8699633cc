/* SPDX-License-Identifier: MIT */

#include "dataset.h"

#include <stdio.h>
#include <string.h>

#define DEFAULT_N 5
#define DEFAULT_BYTES 1000
/* A token is seldom more bytes than this many; so many ids are decoded where so few bytes are
 * shown. */
#define SHOWN_IDS 512
/* However long a document is said to be. */
#define MAX_IDS (64 * 1024 * 1024)

typedef struct
{
  const DatasetLocation *location;
  const DatasetOptions *options;
  DlpTokenizer *tokenizer; /* nullable */
  guint64 bytes;           /* shown of each document; G_MAXUINT64: all */
  guint64 n;
} Show;

/* ---- printing ---- */

/* What is in a dataset may not play with a terminal. @is_part: there is more than @size bytes. */
static void
print_text (const char *text, gsize size, guint64 limit, gboolean is_part)
{
  gsize shown = (gsize) MIN (size, limit);
  g_autofree char *valid = NULL;
  g_autoptr (GString) out = g_string_new (NULL);

  /* Not within a character. */
  while (shown < size && shown > 0 && ((guchar) text[shown] & 0xC0) == 0x80)
    shown--;
  valid = g_utf8_make_valid (text, (gssize) shown);
  for (const char *p = valid; *p != '\0'; p = g_utf8_next_char (p))
    {
      gunichar c = g_utf8_get_char (p);

      if (c == '\n' || c == '\t' || !g_unichar_iscntrl (c))
        g_string_append_unichar (out, c);
      else
        g_string_append_printf (out, "\\x%02x", c);
    }
  if (is_part)
    g_string_append (out, "… (more)");
  else if (shown < size)
    g_string_append_printf (out, "… (%" G_GSIZE_FORMAT " bytes more)", size - shown);
  if (out->len == 0 || out->str[out->len - 1] != '\n')
    g_string_append_c (out, '\n');
  fwrite (out->str, 1, out->len, stdout);
}

static void
print_ids (const guint32 *ids, gsize n, guint64 total)
{
  for (gsize i = 0; i < n; i++)
    printf ("%s%u", i > 0 ? " " : "", ids[i]);
  if (n < total)
    printf (" … (%" G_GUINT64_FORMAT " ids more)", total - n);
  printf ("\n");
}

/* How many ids of a document are wanted. */
static guint64
wanted_ids (const Show *self)
{
  return CLAMP (self->bytes, SHOWN_IDS, MAX_IDS);
}

/* An end-of-document token may lie outside of its tokenizer; the vocabulary of the dataset has it.
 */
static gboolean
is_foreign (const Show *self, guint32 id)
{
  guint64 vocabulary = 0;
  gsize size;

  if (self->location->manifest != NULL)
    dlp_manifest_get_uint64 (self->location->manifest, "vocab-size", &vocabulary);
  return id >= dlp_tokenizer_get_vocab_size (self->tokenizer) && id < vocabulary &&
         dlp_tokenizer_get_token (self->tokenizer, id, &size) == NULL;
}

/* What is between them is decoded at once: a token may depend on its neighbours. */
static gboolean
decode (const Show *self, const guint32 *ids, gsize n, GString *text, GError **error)
{
  gsize start = 0;

  for (gsize i = 0; i < n; i++)
    {
      if (!is_foreign (self, ids[i]))
        continue;
      if (!dlp_tokenizer_decode (self->tokenizer, ids + start, i - start, text, error))
        return FALSE;
      g_string_append_printf (text, "<|%u|>", ids[i]);
      start = i + 1;
    }
  return dlp_tokenizer_decode (self->tokenizer, ids + start, n - start, text, error);
}

static gboolean
print_tokens (const Show *self, const guint32 *ids, gsize n, guint64 total, GError **error)
{
  g_autoptr (GString) text = NULL;

  if (total == 0)
    printf ("(no tokens)\n");
  if (total == 0)
    return TRUE;
  if (self->tokenizer == NULL)
    {
      print_ids (ids, (gsize) MIN (n, self->bytes), total);
      return TRUE;
    }

  text = g_string_new (NULL);
  if (!decode (self, ids, n, text, error))
    return FALSE;
  print_text (text->str, text->len, self->bytes, n < total);
  return TRUE;
}

/* ---- what is chosen ---- */

static int
compare_numbers (gconstpointer a, gconstpointer b)
{
  const guint64 *x = a;
  const guint64 *y = b;

  return *x < *y ? -1 : *x > *y;
}

static gboolean
is_head (const Show *self)
{
  return strcmp (self->options->command, "head") == 0;
}

/* (element-type guint64): n of @total at random, in order: Floyd's way, by which each set of n is
 * as likely as any other. */
static GArray *
draw_sample (const Show *self, guint64 total)
{
  guint64 n = MIN (self->n, total);
  GArray *chosen = g_array_sized_new (FALSE, FALSE, sizeof (guint64), (guint) n);
  g_autoptr (GHashTable) taken = g_hash_table_new (g_int64_hash, g_int64_equal);
  DlpRandom random = dlp_random_init ((guint64) self->options->seed, 0, "dataset-sample", 0);

  for (guint64 i = total - n; i < total; i++)
    {
      guint64 drawn = dlp_random_draw (random, i) % (i + 1);

      if (g_hash_table_contains (taken, &drawn))
        drawn = i;
      /* It never grows, so what is in the table stays where it is. */
      g_array_append_val (chosen, drawn);
      g_hash_table_add (taken, &g_array_index (chosen, guint64, chosen->len - 1));
    }
  g_array_sort (chosen, compare_numbers);
  return chosen;
}

/* ---- formats ---- */

static gboolean
show_document (const Show *self, DatasetMegatron *megatron, guint64 document, GError **error)
{
  guint64 n;
  g_autoptr (GArray) ids =
      dataset_megatron_read_document (megatron, document, wanted_ids (self), &n, error);

  if (ids == NULL)
    return FALSE;

  printf ("--- document %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT ", %" G_GUINT64_FORMAT
          " tokens\n",
          document, megatron->documents, n);
  if (print_tokens (self, (const guint32 *) ids->data, ids->len, n, error))
    return TRUE;

  g_prefix_error (error, "%s: document %" G_GUINT64_FORMAT ": ", megatron->bin.path, document);
  return FALSE;
}

static gboolean
show_megatron (const Show *self, GError **error)
{
  g_auto (DatasetMegatron) megatron = { .bin.fd = -1, .idx.fd = -1 };
  g_autoptr (GArray) chosen = NULL;

  if (!dataset_megatron_open (&megatron, self->location, error))
    return FALSE;

  if (is_head (self))
    {
      for (guint64 i = 0; i < MIN (self->n, megatron.documents); i++)
        if (!show_document (self, &megatron, i, error))
          return FALSE;
      return TRUE;
    }

  chosen = draw_sample (self, megatron.documents);
  for (guint i = 0; i < chosen->len; i++)
    if (!show_document (self, &megatron, g_array_index (chosen, guint64, i), error))
      return FALSE;
  return TRUE;
}

/* (transfer full) (nullable): the ids in the member “tokens” of a line. */
static GArray *
get_ids (GVariant *object)
{
  g_autoptr (GVariant) list = g_variant_lookup_value (object, "tokens", G_VARIANT_TYPE ("av"));
  g_autoptr (GArray) ids = g_array_new (FALSE, FALSE, sizeof (guint32));

  for (gsize i = 0; list != NULL && i < g_variant_n_children (list); i++)
    {
      g_autoptr (GVariant) boxed = g_variant_get_child_value (list, i);
      g_autoptr (GVariant) value = g_variant_get_variant (boxed);
      guint32 id;

      if (!g_variant_is_of_type (value, G_VARIANT_TYPE_INT64) || g_variant_get_int64 (value) < 0 ||
          g_variant_get_int64 (value) > G_MAXUINT32)
        return NULL;
      id = (guint32) g_variant_get_int64 (value);
      g_array_append_val (ids, id);
    }
  return list != NULL ? g_steal_pointer (&ids) : NULL;
}

/* The text of a line, or what its tokens say, or as it is. */
static gboolean
print_line (const Show *self, const GString *line, GError **error)
{
  g_autoptr (GVariant) object = dlp_json_parse (line->str, line->len, NULL);
  g_autoptr (GArray) ids = NULL;
  const char *text;

  if (object == NULL || !g_variant_is_of_type (object, G_VARIANT_TYPE_VARDICT))
    {
      print_text (line->str, line->len, self->bytes, FALSE);
      return TRUE;
    }

  ids = get_ids (object);
  if (!self->options->ids && g_variant_lookup (object, "text", "&s", &text))
    print_text (text, strlen (text), self->bytes, FALSE);
  else if (ids != NULL && (self->tokenizer != NULL || self->options->ids))
    return print_tokens (self, (const guint32 *) ids->data,
                         (gsize) MIN (ids->len, wanted_ids (self)), ids->len, error);
  else
    print_text (line->str, line->len, self->bytes, FALSE);
  return TRUE;
}

static gboolean
count_lines (const Show *self, guint64 *total, GError **error)
{
  g_auto (DatasetLines) lines = { .file.fd = -1 };
  g_autoptr (GError) local = NULL;

  *total = 0;
  if (!dataset_lines_open (&lines, self->location->data_path, error))
    return FALSE;
  while (dataset_lines_next (&lines, &local))
    ++*total;
  if (local == NULL)
    return TRUE;

  g_propagate_error (error, g_steal_pointer (&local));
  return FALSE;
}

static gboolean
show_jsonl (const Show *self, GError **error)
{
  g_auto (DatasetLines) lines = { .file.fd = -1 };
  g_autoptr (GArray) chosen = NULL;
  g_autoptr (GError) local = NULL;
  guint64 total = self->n;

  if (!is_head (self))
    {
      if (!count_lines (self, &total, error))
        return FALSE;
      chosen = draw_sample (self, total);
    }

  if (!dataset_lines_open (&lines, self->location->data_path, error))
    return FALSE;
  for (guint64 i = 0; i < MIN (self->n, total) && dataset_lines_next (&lines, &local);)
    {
      if (chosen != NULL && lines.number - 1 != g_array_index (chosen, guint64, i))
        continue;
      printf ("--- line %" G_GUINT64_FORMAT ", %" G_GSIZE_FORMAT " bytes\n", lines.number,
              lines.line->len);
      if (!print_line (self, lines.line, &local))
        break;
      i++;
    }
  if (local == NULL)
    return TRUE;

  g_propagate_prefixed_error (error, g_steal_pointer (&local), "line %" G_GUINT64_FORMAT ": ",
                              lines.number);
  return FALSE;
}

int
dataset_show (const DatasetLocation *location, const DatasetOptions *options, GError **error)
{
  g_autoptr (DlpTokenizer) tokenizer = NULL;
  g_autoptr (GError) local = NULL;
  Show self = { location, options, NULL, G_MAXUINT64, DEFAULT_N };

  if (options->n >= 0)
    self.n = (guint64) options->n;
  if (options->bytes != 0)
    self.bytes = options->bytes > 0 ? (guint64) options->bytes : DEFAULT_BYTES;
  if (location->format == DATASET_EMPTY)
    {
      printf ("no documents\n");
      return DATASET_EXIT_OK;
    }

  if (!options->ids)
    tokenizer = dataset_open_model (location, options, &local);
  if (local != NULL)
    {
      g_propagate_error (error, g_steal_pointer (&local));
      return DATASET_EXIT_USAGE;
    }
  self.tokenizer = tokenizer;
  if (location->format == DATASET_MEGATRON)
    return show_megatron (&self, error) ? DATASET_EXIT_OK : DATASET_EXIT_FAULTS;
  return show_jsonl (&self, error) ? DATASET_EXIT_OK : DATASET_EXIT_FAULTS;
}
