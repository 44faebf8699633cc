/* SPDX-License-Identifier: MIT */

#include "tokenizer.h"

#include <stdio.h>

static const char *
get_kind (DlpTokenizer *tokenizer)
{
  g_autoptr (GEnumClass) kinds = g_type_class_ref (DLP_TYPE_TOKENIZER_KIND);
  const GEnumValue *value = g_enum_get_value (kinds, (int) dlp_tokenizer_get_kind (tokenizer));

  return value->value_nick;
}

static guint
get_width (DlpTokenizer *tokenizer)
{
  return dlp_tokenizer_get_vocab_size (tokenizer) <= 65536 ? 2 : 4;
}

static void
append_token (GString *out, DlpTokenizer *tokenizer, guint32 id)
{
  gsize len;
  const guint8 *token = dlp_tokenizer_get_token (tokenizer, id, &len);

  g_string_append_printf (out, "%u ", id);
  tokenizer_append_quoted (out, token, len);
}

/* ---- text ---- */

static void
print_line (const char *key, const char *value)
{
  printf ("%-20s %s\n", key, value);
}

static void
print_token (const char *key, DlpTokenizer *tokenizer, guint32 id)
{
  g_autoptr (GString) text = g_string_new (NULL);

  append_token (text, tokenizer, id);
  print_line (key, text->str);
}

static void
print_ends (DlpTokenizer *tokenizer)
{
  g_autoptr (GError) no_bos = NULL;
  g_autoptr (GError) no_eod = NULL;
  guint32 id;

  if (dlp_tokenizer_get_bos (tokenizer, &id, &no_bos))
    print_token ("BOS", tokenizer, id);
  else
    print_line ("BOS", no_bos->message);
  if (dlp_tokenizer_get_eod (tokenizer, &id, &no_eod))
    print_token ("EOD", tokenizer, id);
  else
    print_line ("EOD", no_eod->message);
  if (dlp_tokenizer_get_unknown (tokenizer, &id))
    print_token ("unknown", tokenizer, id);
}

static void
print_info (DlpTokenizer *tokenizer)
{
  g_auto (GStrv) steps = dlp_tokenizer_list_steps (tokenizer);
  const char *file = dlp_tokenizer_get_file (tokenizer);
  const char *pattern = dlp_tokenizer_get_pattern (tokenizer);
  guint n = dlp_tokenizer_get_n_specials (tokenizer);

  print_line ("name", dlp_tokenizer_get_name (tokenizer));
  print_line ("file", file != NULL ? file : "none: a model by its name");
  print_line ("kind", get_kind (tokenizer));
  printf ("%-20s %u\n", "vocabulary size", dlp_tokenizer_get_vocab_size (tokenizer));
  printf ("%-20s %u\n", "bytes of an id", get_width (tokenizer));
  print_ends (tokenizer);
  for (guint i = 0; steps[i] != NULL; i++)
    print_line (i == 0 ? "steps" : "", steps[i]);
  if (pattern != NULL)
    print_line ("pattern", pattern);
  print_line ("fingerprint", dlp_tokenizer_get_fingerprint (tokenizer));
  printf ("%-20s %u\n", "special tokens", n);
  for (guint i = 0; i < n; i++)
    {
      guint32 id;

      dlp_tokenizer_get_special (tokenizer, i, &id);
      print_token ("", tokenizer, id);
    }
}

/* ---- JSON ---- */

static void
add_string (GVariantBuilder *facts, const char *key, const char *value)
{
  g_variant_builder_add (facts, "{sv}", key,
                         value != NULL ? g_variant_new_string (value) : g_variant_new ("mv", NULL));
}

static void
add_uint (GVariantBuilder *facts, const char *key, guint64 value)
{
  g_variant_builder_add (facts, "{sv}", key, g_variant_new_uint64 (value));
}

static GVariant *
make_token (DlpTokenizer *tokenizer, guint32 id)
{
  GVariantBuilder facts;
  gsize len;
  const guint8 *token = dlp_tokenizer_get_token (tokenizer, id, &len);
  g_autofree char *content = g_utf8_make_valid ((const char *) token, (gssize) len);

  g_variant_builder_init (&facts, G_VARIANT_TYPE_VARDICT);
  add_uint (&facts, "id", id);
  add_string (&facts, "content", content);
  return g_variant_builder_end (&facts);
}

/* The token, or null and the reason. */
static void
add_end (GVariantBuilder *facts,
         const char *key,
         DlpTokenizer *tokenizer,
         gboolean (*get) (DlpTokenizer *tokenizer, guint32 *id, GError **error))
{
  g_autofree char *why = g_strconcat (key, "-error", NULL);
  g_autoptr (GError) error = NULL;
  guint32 id;

  if (get (tokenizer, &id, &error))
    {
      g_variant_builder_add (facts, "{sv}", key, make_token (tokenizer, id));
      return;
    }
  add_string (facts, key, NULL);
  add_string (facts, why, error->message);
}

static GVariant *
list_specials (DlpTokenizer *tokenizer)
{
  GVariantBuilder list;

  g_variant_builder_init (&list, G_VARIANT_TYPE ("av"));
  for (guint i = 0; i < dlp_tokenizer_get_n_specials (tokenizer); i++)
    {
      guint32 id;

      dlp_tokenizer_get_special (tokenizer, i, &id);
      g_variant_builder_add (&list, "v", make_token (tokenizer, id));
    }
  return g_variant_builder_end (&list);
}

static GVariant *
make_facts (DlpTokenizer *tokenizer)
{
  g_auto (GStrv) steps = dlp_tokenizer_list_steps (tokenizer);
  GVariantBuilder facts;
  guint32 id;

  g_variant_builder_init (&facts, G_VARIANT_TYPE_VARDICT);
  add_string (&facts, "name", dlp_tokenizer_get_name (tokenizer));
  add_string (&facts, "file", dlp_tokenizer_get_file (tokenizer));
  add_string (&facts, "kind", get_kind (tokenizer));
  add_uint (&facts, "vocab-size", dlp_tokenizer_get_vocab_size (tokenizer));
  add_uint (&facts, "id-bytes", get_width (tokenizer));
  add_end (&facts, "bos", tokenizer, dlp_tokenizer_get_bos);
  add_end (&facts, "eod", tokenizer, dlp_tokenizer_get_eod);
  if (dlp_tokenizer_get_unknown (tokenizer, &id))
    g_variant_builder_add (&facts, "{sv}", "unknown", make_token (tokenizer, id));
  else
    add_string (&facts, "unknown", NULL);
  g_variant_builder_add (&facts, "{sv}", "steps",
                         g_variant_new_strv ((const char *const *) steps, -1));
  add_string (&facts, "pattern", dlp_tokenizer_get_pattern (tokenizer));
  add_string (&facts, "fingerprint", dlp_tokenizer_get_fingerprint (tokenizer));
  g_variant_builder_add (&facts, "{sv}", "special-tokens", list_specials (tokenizer));
  return g_variant_ref_sink (g_variant_builder_end (&facts));
}

static void
print_json (DlpTokenizer *tokenizer)
{
  g_autoptr (GVariant) facts = make_facts (tokenizer);
  g_autofree char *text = dlp_json_print (facts, TRUE);

  printf ("%s", text);
}

int
tokenizer_info (const TokenizerOptions *options, GError **error)
{
  g_autoptr (DlpTokenizer) tokenizer = dlp_tokenizer_new (options->model, options->pattern, error);

  if (tokenizer == NULL)
    return TOKENIZER_EXIT_USAGE;
  if (options->json)
    print_json (tokenizer);
  else
    print_info (tokenizer);
  return TOKENIZER_EXIT_OK;
}
