/* SPDX-License-Identifier: MIT */
#include "dlp-normalizer-step.h"
#include "dlpipe/dlp-tokenizer.h"

#define MEGABYTE ((gsize) 1 << 20)

struct _DlpNormalizer
{
  GArray *steps;
  gboolean is_byte_level;
};

static gboolean add_node (DlpNormalizer *self, DlpJsonNode node, GError **error);

static void
clear_step (gpointer data)
{
  DlpNormalizerStep *step = data;

  g_free (step->pattern);
  g_free (step->content);
  if (step->free_table)
    step->free_table ((gpointer) step->table);
  g_clear_pointer (&step->charsmap, dlp_charsmap_free);
  g_clear_pointer (&step->regex, dlp_regex_free);
}

static DlpNormalizer *
new_empty (void)
{
  DlpNormalizer *self = g_new0 (DlpNormalizer, 1);

  self->steps = g_array_new (FALSE, TRUE, sizeof (DlpNormalizerStep));
  g_array_set_clear_func (self->steps, clear_step);
  return self;
}

/* @name must live for ever. The step stays where it is until the next one is added. */
static DlpNormalizerStep *
add_step (DlpNormalizer *self, const char *name, DlpNormalizerRun run)
{
  DlpNormalizerStep step = { .name = name, .run = run };

  g_array_append_val (self->steps, step);
  return &g_array_index (self->steps, DlpNormalizerStep, self->steps->len - 1);
}

static char *
read_string (DlpJsonNode object, const char *key, gsize *len, GError **error)
{
  DlpJsonNode node = dlp_json_get_member (object, key);
  g_autofree char *what = g_strdup_printf ("\"%s\"", key);
  const char *string;

  if (dlp_json_get_type (node) == DLP_JSON_NONE)
    {
      dlp_json_fail (object, error, "no field \"%s\"", key);
      return NULL;
    }
  if (!dlp_json_check_type (node, DLP_JSON_STRING, what, error))
    return NULL;
  string = dlp_json_get_string (node, len);
  return g_memdup2 (string, *len + 1);
}

static gboolean
add_form (DlpNormalizer *self, DlpJsonNode node, GError **error)
{
  static const char *const types[] = { "NFC", "NFD", "NFKC", "NFKD" };
  gconstpointer table;
  DlpNormalizerStep *step;

  for (guint i = 0; i < G_N_ELEMENTS (types); i++)
    if (dlp_json_is_string (dlp_json_get_member (node, "type"), types[i]))
      {
        step = add_step (self, types[i], dlp_normalizer_find_form (types[i], &table));
        step->table = table;
      }
  return TRUE;
}

static gboolean
add_simple (DlpNormalizer *self, DlpJsonNode node, GError **error)
{
  static const char *const types[] = { "Lowercase", "StripAccents", "Nmt", "ByteLevel" };

  for (guint i = 0; i < G_N_ELEMENTS (types); i++)
    if (dlp_json_is_string (dlp_json_get_member (node, "type"), types[i]))
      add_step (self, types[i], dlp_normalizer_find_simple (types[i]));
  self->is_byte_level |= dlp_json_is_string (dlp_json_get_member (node, "type"), "ByteLevel");
  return TRUE;
}

static gboolean
add_strip (DlpNormalizer *self, DlpJsonNode node, GError **error)
{
  gboolean left, right;

  if (!dlp_json_read_boolean (node, "strip_left", -1, &left, error) ||
      !dlp_json_read_boolean (node, "strip_right", -1, &right, error))
    return FALSE;
  add_step (self, "Strip", dlp_normalizer_find_simple ("Strip"))->flags =
      (left ? DLP_STRIP_LEFT : 0) | (right ? DLP_STRIP_RIGHT : 0);
  return TRUE;
}

static gboolean
add_prepend (DlpNormalizer *self, DlpJsonNode node, GError **error)
{
  gsize len;
  char *prepend = read_string (node, "prepend", &len, error);
  DlpNormalizerStep *step;

  if (prepend == NULL)
    return FALSE;
  step = add_step (self, "Prepend", dlp_normalizer_find_simple ("Prepend"));
  step->content = prepend;
  step->content_len = len;
  return TRUE;
}

/* Oniguruma's syntax. */
static gboolean
compile (DlpNormalizerStep *step, DlpJsonNode node, GError **error)
{
  g_autoptr (GError) reason = NULL;

  if (strlen (step->pattern) < step->pattern_len)
    return dlp_json_fail (node, error, "a regular expression with a nul");
  return dlp_normalizer_compile (step, step->pattern, &reason) ||
         dlp_json_fail (node, error, "%s", reason->message);
}

static gboolean
add_replace (DlpNormalizer *self, DlpJsonNode node, GError **error)
{
  DlpJsonNode pattern = dlp_json_get_member (node, "pattern");
  gboolean is_regex = dlp_json_get_type (dlp_json_get_member (pattern, "Regex")) != DLP_JSON_NONE;
  DlpNormalizerStep *step;

  if (!dlp_json_check_type (pattern, DLP_JSON_OBJECT, "\"pattern\"", error))
    return FALSE;
  if (dlp_json_get_n_children (pattern) != 1)
    return dlp_json_fail (pattern, error,
                          "\"pattern\" has %u fields, not one of \"String\" and \"Regex\"",
                          dlp_json_get_n_children (pattern));
  step = add_step (self, is_regex ? "Replace Regex" : "Replace", dlp_normalizer_run_replace);
  step->content = read_string (node, "content", &step->content_len, error);
  if (step->content == NULL)
    return FALSE;
  step->pattern = read_string (pattern, is_regex ? "Regex" : "String", &step->pattern_len, error);
  if (step->pattern == NULL)
    return FALSE;
  if (is_regex)
    return compile (step, dlp_json_get_member (pattern, "Regex"), error);
  if (step->pattern_len == 0)
    step->run = dlp_normalizer_run_between;
  return TRUE;
}

static gboolean
is_base64 (const char *text, gsize len)
{
  gsize n = len;

  if (len % 4 != 0)
    return FALSE;
  while (n > 0 && len - n < 2 && text[n - 1] == '=')
    n--;
  for (gsize i = 0; i < n; i++)
    if (!g_ascii_isalnum (text[i]) && text[i] != '+' && text[i] != '/')
      return FALSE;
  return TRUE;
}

static gboolean
add_precompiled (DlpNormalizer *self, DlpJsonNode node, GError **error)
{
  DlpJsonNode place = dlp_json_get_member (node, "precompiled_charsmap");
  gsize len, size;
  g_autofree char *text = read_string (node, "precompiled_charsmap", &len, error);
  g_autofree guchar *bytes = NULL;
  const char *fault;
  DlpCharsmap *charsmap;

  if (text == NULL)
    return FALSE;
  if (!is_base64 (text, len))
    return dlp_json_fail (place, error, "\"precompiled_charsmap\" is not base64");
  bytes = g_base64_decode (text, &size);
  charsmap = dlp_charsmap_new (bytes, size, &fault);
  if (charsmap == NULL)
    return dlp_json_fail (place, error, "\"precompiled_charsmap\" is damaged: %s", fault);
  add_step (self, "Precompiled", dlp_normalizer_run_precompiled)->charsmap = charsmap;
  return TRUE;
}

static gboolean
add_bert (DlpNormalizer *self, DlpJsonNode node, GError **error)
{
  gboolean clean_text, chinese, lowercase, strip_accents;
  gconstpointer form;
  DlpNormalizerRun run;

  if (!dlp_json_read_boolean (node, "clean_text", -1, &clean_text, error) ||
      !dlp_json_read_boolean (node, "handle_chinese_chars", -1, &chinese, error) ||
      !dlp_json_read_boolean (node, "lowercase", -1, &lowercase, error) ||
      !dlp_json_read_boolean (node, "strip_accents", lowercase, &strip_accents, error))
    return FALSE;
  if (clean_text)
    add_step (self, "clean_text", dlp_normalizer_run_clean);
  if (chinese)
    add_step (self, "handle_chinese_chars", dlp_normalizer_run_chinese);
  if (strip_accents)
    {
      run = dlp_normalizer_find_form ("NFD", &form);
      add_step (self, "NFD", run)->table = form;
      add_step (self, "strip_accents", dlp_normalizer_run_nonspacing);
    }
  if (lowercase)
    add_step (self, "Lowercase", dlp_normalizer_find_simple ("Lowercase"));
  return TRUE;
}

static gboolean
add_sequence (DlpNormalizer *self, DlpJsonNode node, GError **error)
{
  DlpJsonNode list = dlp_json_get_member (node, "normalizers");
  DlpJsonNode at;

  if (!dlp_json_check_type (list, DLP_JSON_ARRAY, "\"normalizers\"", error))
    return FALSE;
  at = dlp_json_get_first (list);
  for (guint i = 0; i < dlp_json_get_n_children (list); i++)
    {
      if (!add_node (self, at, error))
        return FALSE;
      at = dlp_json_get_next (at);
    }
  return TRUE;
}

static const struct
{
  const char *type;
  gboolean (*add) (DlpNormalizer *self, DlpJsonNode node, GError **error);
  const char *fields[6];
} types[] = {
  { "BertNormalizer",
    add_bert,
    { "type", "clean_text", "handle_chinese_chars", "strip_accents", "lowercase" } },
  { "ByteLevel", add_simple, { "type" } },
  { "Lowercase", add_simple, { "type" } },
  { "NFC", add_form, { "type" } },
  { "NFD", add_form, { "type" } },
  { "NFKC", add_form, { "type" } },
  { "NFKD", add_form, { "type" } },
  { "Nmt", add_simple, { "type" } },
  { "Precompiled", add_precompiled, { "type", "precompiled_charsmap" } },
  { "Prepend", add_prepend, { "type", "prepend" } },
  { "Replace", add_replace, { "type", "pattern", "content" } },
  { "Sequence", add_sequence, { "type", "normalizers" } },
  { "Strip", add_strip, { "type", "strip_left", "strip_right" } },
  { "StripAccents", add_simple, { "type" } },
};

static gboolean
fail_type (DlpJsonNode type, GError **error)
{
  g_autoptr (GString) known = g_string_new (NULL);

  for (guint i = 0; i < G_N_ELEMENTS (types); i++)
    g_string_append_printf (known, "%s%s", i > 0 ? ", " : "", types[i].type);
  return dlp_json_fail (type, error, "unknown normalizer \"%.60s\"; known are %s",
                        dlp_json_get_string (type, NULL), known->str);
}

/* Sequences nest as deep as a tree may. */
static gboolean
add_node (DlpNormalizer *self, DlpJsonNode node, GError **error)
{
  DlpJsonNode type = dlp_json_get_member (node, "type");

  if (!dlp_json_check_type (node, DLP_JSON_OBJECT, "a normalizer", error))
    return FALSE;
  if (dlp_json_get_type (type) == DLP_JSON_NONE)
    return dlp_json_fail (node, error, "a normalizer without \"type\"");
  if (!dlp_json_check_type (type, DLP_JSON_STRING, "\"type\"", error))
    return FALSE;
  for (guint i = 0; i < G_N_ELEMENTS (types); i++)
    if (dlp_json_is_string (type, types[i].type))
      return dlp_json_check_members (node, types[i].fields, error) &&
             types[i].add (self, node, error);
  return fail_type (type, error);
}

DlpNormalizer *
dlp_normalizer_new (DlpJsonNode node, GError **error)
{
  g_autoptr (DlpNormalizer) self = new_empty ();

  return add_node (self, node, error) ? g_steal_pointer (&self) : NULL;
}

static void
set_symbols (DlpNormalizerStep *step, const char *const *symbols)
{
  g_autoptr (GString) all = g_string_new (NULL);

  for (; symbols && *symbols; symbols++)
    g_string_append_len (all, *symbols, strlen (*symbols) + 1);
  step->pattern_len = all->len;
  step->pattern = g_string_free (g_steal_pointer (&all), FALSE);
}

DlpNormalizer *
dlp_normalizer_new_sentencepiece (gconstpointer charsmap,
                                  gsize size,
                                  const char *const *symbols,
                                  DlpSentencepieceFlags flags,
                                  const char *where,
                                  GError **error)
{
  g_autoptr (DlpNormalizer) self = new_empty ();
  DlpNormalizerStep *step = add_step (self, "SentencePiece", dlp_normalizer_run_sentencepiece);
  const char *fault;

  step->flags = flags;
  set_symbols (step, symbols);
  if (size > 0)
    {
      step->charsmap = dlp_charsmap_new (charsmap, size, &fault);
      if (step->charsmap == NULL)
        {
          g_set_error (error, DLP_TOKENIZER_ERROR, DLP_TOKENIZER_ERROR_BAD_VOCABULARY,
                       "%s: its precompiled_charsmap is damaged: %s", where, fault);
          return NULL;
        }
    }
  step->table = dlp_sentencepiece_table_new (step->charsmap, symbols);
  step->free_table = dlp_sentencepiece_table_free;
  return g_steal_pointer (&self);
}

void
dlp_normalizer_free (DlpNormalizer *self)
{
  g_array_unref (self->steps);
  g_free (self);
}

static void
clear_text (DlpNormalizerText *self)
{
  g_free (self->bytes);
  *self = (DlpNormalizerText){ NULL };
}

/* What the last run needed and this one will not. */
static void
give_back (DlpNormalizerScratch *scratch, gsize len)
{
  gsize keep = MAX (MEGABYTE, 8 * len);

  for (guint i = 0; i < 2; i++)
    if (scratch->texts[i].size > keep)
      clear_text (&scratch->texts[i]);
  if (scratch->size_points * sizeof *scratch->points > keep)
    {
      g_clear_pointer (&scratch->points, g_free);
      scratch->size_points = 0;
    }
}

/* The text that a step left in @out. */
static void
append_spare (DlpNormalizerScratch *scratch, DlpNormalizerText *out, const guint8 **text)
{
  memset (dlp_text_reserve (out, DLP_NORMALIZER_SPARE), 0, DLP_NORMALIZER_SPARE);
  *text = out->bytes;
  scratch->spare = DLP_NORMALIZER_SPARE;
}

gboolean
dlp_normalizer_run (const DlpNormalizer *self,
                    DlpNormalizerScratch *scratch,
                    const guint8 **text,
                    gsize *len)
{
  DlpNormalizerText *last = NULL;
  guint turn = 0;

  give_back (scratch, *len);
  scratch->spare = 0;
  for (guint i = 0; i < self->steps->len; i++)
    {
      const DlpNormalizerStep *step = &g_array_index (self->steps, DlpNormalizerStep, i);
      DlpNormalizerText *out = &scratch->texts[turn];

      out->len = 0;
      if (!step->run (step, scratch, out, text, len))
        return FALSE;
      /* A step that changed nothing, or cut something off, wrote nothing. */
      if (out->len > 0)
        {
          turn = !turn;
          last = out;
        }
    }
  if (last != NULL && *text == last->bytes && *len == last->len)
    append_spare (scratch, last, text);
  return TRUE;
}

gboolean
dlp_normalizer_is_byte_level (const DlpNormalizer *self)
{
  return self->is_byte_level;
}

static void
hash_bytes (GChecksum *checksum, gconstpointer bytes, gsize len)
{
  guint64 n = GUINT64_TO_LE (len);

  g_checksum_update (checksum, (const guchar *) &n, sizeof n);
  g_checksum_update (checksum, bytes, len);
}

void
dlp_normalizer_hash (const DlpNormalizer *self, GChecksum *checksum)
{
  for (guint i = 0; i < self->steps->len; i++)
    {
      const DlpNormalizerStep *step = &g_array_index (self->steps, DlpNormalizerStep, i);
      guint32 flags = GUINT32_TO_LE (step->flags);
      gsize size;
      gconstpointer bytes;

      hash_bytes (checksum, step->name, strlen (step->name));
      hash_bytes (checksum, &flags, sizeof flags);
      hash_bytes (checksum, step->pattern, step->pattern_len);
      hash_bytes (checksum, step->content, step->content_len);
      if (step->charsmap)
        {
          bytes = dlp_charsmap_get_bytes (step->charsmap, &size);
          hash_bytes (checksum, bytes, size);
        }
    }
}

void
dlp_normalizer_scratch_clear (DlpNormalizerScratch *self)
{
  clear_text (&self->texts[0]);
  clear_text (&self->texts[1]);
  g_clear_pointer (&self->points, g_free);
  g_clear_pointer (&self->matchers, g_array_unref);
  self->n_points = self->size_points = 0;
}
