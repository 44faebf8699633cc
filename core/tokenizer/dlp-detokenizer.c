/* SPDX-License-Identifier: MIT */
#include "dlp-detokenizer-step.h"

#include <string.h>

struct _DlpDetokenizer
{
  GArray *steps;
};

void
dlp_token_list_init (DlpTokenList *self)
{
  self->text = g_string_new (NULL);
  self->ends = g_array_new (FALSE, FALSE, sizeof (gsize));
  self->ids = NULL;
}

void
dlp_token_list_clear (DlpTokenList *self)
{
  if (self->text)
    g_string_free (g_steal_pointer (&self->text), TRUE);
  g_clear_pointer (&self->ends, g_array_unref);
}

void
dlp_token_list_truncate (DlpTokenList *self)
{
  g_string_truncate (self->text, 0);
  g_array_set_size (self->ends, 0);
  self->ids = NULL;
}

static void
clear_step (gpointer data)
{
  DlpDetokenizerStep *step = data;

  g_free (step->text);
  g_free (step->delimiter);
  g_clear_pointer (&step->replace, dlp_normalizer_free);
  g_clear_pointer (&step->pieces, dlp_detokenizer_pieces_free);
}

static DlpDetokenizerStep *
add_step (DlpDetokenizer *self, const char *name)
{
  DlpDetokenizerStep step = { dlp_detokenizer_find (name) };

  g_array_append_val (self->steps, step);
  return &g_array_index (self->steps, DlpDetokenizerStep, self->steps->len - 1);
}

/* (transfer full) */
static gboolean
read_string (DlpJsonNode node, const char *key, char **value, gsize *len, GError **error)
{
  DlpJsonNode member = dlp_json_get_member (node, key);
  const char *string;

  if (dlp_json_get_type (member) == DLP_JSON_NONE)
    return dlp_json_fail (node, error, "no field \"%s\"", key);
  if (!dlp_json_check_type (member, DLP_JSON_STRING, key, error))
    return FALSE;
  string = dlp_json_get_string (member, len);
  *value = g_memdup2 (string, *len + 1);
  return TRUE;
}

static gboolean
read_character (DlpJsonNode node, const char *key, DlpDetokenizerStep *step, GError **error)
{
  if (!read_string (node, key, &step->text, &step->len, error))
    return FALSE;
  return g_utf8_strlen (step->text, step->len) == 1 ||
         dlp_json_fail (dlp_json_get_member (node, key), error,
                        "\"%s\" is \"%.60s\", not one character", key, step->text);
}

static gboolean
read_prefix (DlpDetokenizerStep *step, DlpJsonNode node, GError **error)
{
  return read_string (node, "prefix", &step->text, &step->len, error) &&
         dlp_json_read_boolean (node, "cleanup", -1, &step->flag, error);
}

static gboolean
read_suffix (DlpDetokenizerStep *step, DlpJsonNode node, GError **error)
{
  return read_string (node, "suffix", &step->text, &step->len, error);
}

static gboolean
read_tokens (DlpDetokenizerStep *step, DlpJsonNode node, GError **error)
{
  return read_string (node, "pad_token", &step->text, &step->len, error) &&
         read_string (node, "word_delimiter_token", &step->delimiter, &step->delimiter_len,
                      error) &&
         dlp_json_read_boolean (node, "cleanup", -1, &step->flag, error);
}

static gboolean
read_counts (DlpDetokenizerStep *step, DlpJsonNode node, GError **error)
{
  return read_character (node, "content", step, error) &&
         dlp_json_read_uint (dlp_json_get_member (node, "start"), G_MAXUINT64, &step->counts[0],
                             error) &&
         dlp_json_read_uint (dlp_json_get_member (node, "stop"), G_MAXUINT64, &step->counts[1],
                             error);
}

static gboolean
read_pattern (DlpDetokenizerStep *step, DlpJsonNode node, GError **error)
{
  step->replace = dlp_normalizer_new (node, error);
  return step->replace != NULL;
}

/* "add_prefix_space" is how older files say "prepend_scheme". */
static gboolean
read_replacement (DlpDetokenizerStep *step, DlpJsonNode node, GError **error)
{
  DlpJsonNode scheme = dlp_json_get_member (node, "prepend_scheme");
  gboolean never = dlp_json_is_string (scheme, "never");

  if (!read_character (node, "replacement", step, error) ||
      !dlp_json_read_boolean (node, "add_prefix_space", TRUE, &step->flag, error))
    return FALSE;
  if (dlp_json_get_type (scheme) == DLP_JSON_NONE)
    return TRUE;
  if (!never && !dlp_json_is_string (scheme, "first") && !dlp_json_is_string (scheme, "always"))
    return dlp_json_fail (scheme, error,
                          "unknown \"prepend_scheme\"; known are \"always\", \"first\", \"never\"");
  if (!step->flag && !never)
    return dlp_json_fail (scheme, error,
                          "\"prepend_scheme\" is not \"never\" and \"add_prefix_space\" is false: "
                          "these contradict each other");
  step->flag = !never;
  return TRUE;
}

static const struct
{
  const char *name;
  const char *known[8];
  gboolean (*read) (DlpDetokenizerStep *step, DlpJsonNode node, GError **error);
} types[] = {
  { "ByteLevel", { "type", "add_prefix_space", "trim_offsets", "use_regex" }, NULL },
  { "Metaspace",
    { "type", "replacement", "prepend_scheme", "add_prefix_space", "split", "str_rep" },
    read_replacement },
  { "WordPiece", { "type", "prefix", "cleanup" }, read_prefix },
  { "ByteFallback", { "type" }, NULL },
  { "Fuse", { "type" }, NULL },
  { "Strip", { "type", "content", "start", "stop" }, read_counts },
  { "Replace", { "type", "pattern", "content" }, read_pattern },
  { "BPEDecoder", { "type", "suffix" }, read_suffix },
  { "CTC", { "type", "pad_token", "word_delimiter_token", "cleanup" }, read_tokens },
};

static gboolean
add_type (DlpDetokenizer *self, guint i, DlpJsonNode node, GError **error)
{
  DlpDetokenizerStep *step = add_step (self, types[i].name);

  return dlp_json_check_members (node, types[i].known, error) &&
         (types[i].read == NULL || types[i].read (step, node, error));
}

static gboolean add_any (DlpDetokenizer *self, DlpJsonNode node, GError **error);

static gboolean
add_sequence (DlpDetokenizer *self, DlpJsonNode node, GError **error)
{
  static const char *const known[] = { "type", "decoders", NULL };
  DlpJsonNode list = dlp_json_get_member (node, "decoders");
  DlpJsonNode at = dlp_json_get_first (list);

  if (!dlp_json_check_members (node, known, error))
    return FALSE;
  if (dlp_json_get_type (list) == DLP_JSON_NONE)
    return dlp_json_fail (node, error, "no field \"decoders\"");
  if (!dlp_json_check_type (list, DLP_JSON_ARRAY, "\"decoders\"", error))
    return FALSE;
  for (guint n = dlp_json_get_n_children (list); n > 0; n--)
    {
      if (!add_any (self, at, error))
        return FALSE;
      at = dlp_json_get_next (at);
    }
  return TRUE;
}

/* Recursion ends with the file: a JSON tree is not deeper than 128. */
static gboolean
add_any (DlpDetokenizer *self, DlpJsonNode node, GError **error)
{
  DlpJsonNode type = dlp_json_get_member (node, "type");

  if (!dlp_json_check_type (node, DLP_JSON_OBJECT, "a decoder", error))
    return FALSE;
  if (dlp_json_get_type (type) == DLP_JSON_NONE)
    return dlp_json_fail (node, error, "a decoder without \"type\"");
  if (!dlp_json_check_type (type, DLP_JSON_STRING, "\"type\" of a decoder", error))
    return FALSE;
  if (dlp_json_is_string (type, "Sequence"))
    return add_sequence (self, node, error);
  for (guint i = 0; i < G_N_ELEMENTS (types); i++)
    if (dlp_json_is_string (type, types[i].name))
      return add_type (self, i, node, error);
  return dlp_json_fail (type, error,
                        "unknown decoder \"%.60s\"; known are ByteLevel, Metaspace, WordPiece, "
                        "ByteFallback, Fuse, Strip, Replace, BPEDecoder, CTC, Sequence",
                        dlp_json_get_string (type, NULL));
}

static DlpDetokenizer *
create (void)
{
  DlpDetokenizer *self = g_new0 (DlpDetokenizer, 1);

  self->steps = g_array_new (FALSE, FALSE, sizeof (DlpDetokenizerStep));
  g_array_set_clear_func (self->steps, clear_step);
  return self;
}

DlpDetokenizer *
dlp_detokenizer_new (DlpJsonNode node, GError **error)
{
  g_autoptr (DlpDetokenizer) self = create ();
  DlpJsonType type = dlp_json_get_type (node);

  if (type == DLP_JSON_NONE || type == DLP_JSON_NULL)
    add_step (self, "spaces");
  else if (!add_any (self, node, error))
    return NULL;
  return g_steal_pointer (&self);
}

DlpDetokenizer *
dlp_detokenizer_new_sentencepiece (const DlpSentencePiece *file, GError **error)
{
  g_autoptr (DlpDetokenizer) self = create ();
  DlpDetokenizerStep *step = add_step (self, "SentencePiece");

  step->pieces = dlp_detokenizer_pieces_new (file);
  if (file->denormalizer.charsmap_size > 0)
    {
      step = add_step (self, "Replace");
      step->replace = dlp_sentencepiece_make_normalizer (file, &file->denormalizer, NULL, error);
      if (step->replace == NULL)
        return NULL;
    }
  return g_steal_pointer (&self);
}

void
dlp_detokenizer_free (DlpDetokenizer *self)
{
  g_array_unref (self->steps);
  g_free (self);
}

gboolean
dlp_detokenizer_wants_bytes (const DlpDetokenizer *self)
{
  return self->steps->len > 0 &&
         g_array_index (self->steps, DlpDetokenizerStep, 0).run == dlp_detokenizer_run_byte_level;
}

gboolean
dlp_detokenizer_run (const DlpDetokenizer *self, DlpTokenList *tokens, GString *out)
{
  g_auto (DlpTokenList) other = { NULL };
  DlpNormalizerScratch scratch;
  DlpTokenList *lists[2] = { tokens, &other };
  gboolean ok = TRUE;

  memset (&scratch, 0, sizeof scratch);
  dlp_token_list_init (&other);
  for (guint i = 0; i < self->steps->len && ok; i++)
    {
      const DlpDetokenizerStep *step = &g_array_index (self->steps, DlpDetokenizerStep, i);

      ok = step->run (step, lists[i % 2], lists[(i + 1) % 2], &scratch);
      dlp_token_list_truncate (lists[i % 2]);
    }
  if (ok)
    g_string_append_len (out, lists[self->steps->len % 2]->text->str,
                         lists[self->steps->len % 2]->text->len);
  dlp_normalizer_scratch_clear (&scratch);
  return ok;
}
