/* SPDX-License-Identifier: MIT */

/* Tokenizers by hand: ids of text, text of ids, what differs between two, what one is. */

#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "log-lines.h"
#include "std-streams.h"
#include "tokenizer.h"

static const struct
{
  const char *name;
  int (*run) (const TokenizerOptions *options, GError **error);
} commands[] = {
  { "encode", tokenizer_encode },
  { "decode", tokenizer_decode },
  { "compare", tokenizer_compare },
  { "info", tokenizer_info },
};

static const char description[] =
    "Commands:\n"
    "  encode MODEL [FILE...]          ids of text, a line for each document\n"
    "  decode MODEL [FILE...]          text of ids\n"
    "  compare MODEL OTHER [FILE...]   the first difference between two models\n"
    "  info MODEL                      what it is: ids, special tokens, steps, fingerprint\n"
    "\n"
    "MODEL is a known name (gpt2, cl100k_base, o200k_base), a tokenizer.json, a tekken.json,\n"
    "a SentencePiece model, a folder with one of them, or a rank file. Without a FILE, or\n"
    "where it is “-”, standard input is read. A file is one document, unless --lines or\n"
    "--jsonl is given.\n"
    "\n"
    "Exit status: 0 all is well, or equal; 1 the models differ, or what is read is at fault;\n"
    "2 wrong usage, or a model or file cannot be read.\n";

static void
options_clear (TokenizerOptions *self)
{
  g_free (self->command);
  g_free (self->model);
  g_free (self->other);
  g_strfreev (self->files);
  g_free (self->pattern);
  g_free (self->other_pattern);
  g_free (self->jsonl);
  g_free (self->specials_text);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (TokenizerOptions, options_clear)

int
tokenizer_exit_code (const GError *error)
{
  return g_error_matches (error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA) ? TOKENIZER_EXIT_FAULTS :
                                                                        TOKENIZER_EXIT_USAGE;
}

static gboolean fail (GError **error, const char *format, ...) G_GNUC_PRINTF (2, 3);

static gboolean
fail (GError **error, const char *format, ...)
{
  va_list args;

  va_start (args, format);
  if (error != NULL)
    *error = g_error_new_valist (G_OPTION_ERROR, G_OPTION_ERROR_FAILED, format, args);
  va_end (args);
  return FALSE;
}

static gboolean
set_specials (TokenizerOptions *options, GError **error)
{
  static const char *const names[] = { "text", "allow", "error", NULL };

  if (options->specials_text == NULL)
    return TRUE;
  for (guint i = 0; names[i] != NULL; i++)
    if (strcmp (names[i], options->specials_text) == 0)
      {
        options->specials = (TokenizerSpecials) i;
        return TRUE;
      }
  return fail (error, "--special-tokens %s; allowed are text, allow, error",
               options->specials_text);
}

/* What excludes each other, or means nothing to the command. */
static gboolean
check_options (const TokenizerOptions *options, GError **error)
{
  gboolean is_encode = strcmp (options->command, "encode") == 0;
  gboolean is_decode = strcmp (options->command, "decode") == 0;
  gboolean is_compare = strcmp (options->command, "compare") == 0;
  const struct
  {
    const char *name;
    gboolean is_given;
    gboolean is_known;
  } given[] = {
    { "--lines", options->lines, is_encode || is_compare || is_decode },
    { "--jsonl", options->jsonl != NULL, is_encode || is_compare },
    { "--special-tokens", options->specials_text != NULL, is_encode || is_compare },
    { "--post-processor", options->post_processor, is_encode || is_compare },
    { "--pieces", options->pieces, is_encode },
    { "--count", options->count, is_encode },
    { "--stats", options->stats, is_encode },
    { "--binary", options->binary, is_encode || is_decode },
    { "--width", options->width != 0, is_decode },
    { "--other-pattern", options->other_pattern != NULL, is_compare },
    { "--json", options->json, !is_encode && !is_compare && !is_decode },
  };

  for (guint i = 0; i < G_N_ELEMENTS (given); i++)
    if (given[i].is_given && !given[i].is_known)
      return fail (error, "%s is not for %s", given[i].name, options->command);
  if (options->lines && options->jsonl != NULL)
    return fail (error, "--lines and --jsonl are two ways to find documents: only one of them");
  if (options->pieces + options->count + (is_encode && options->binary) > 1)
    return fail (error, "only one of --pieces, --count, --binary");
  if (is_decode && options->binary && options->lines)
    return fail (error, "--lines is for ids as text: --binary has no lines");
  if (options->width != 0 && options->width != 2 && options->width != 4)
    return fail (error, "--width %d; allowed are 2 and 4", options->width);
  return options->width == 0 || options->binary ||
         fail (error, "--width is for ids that are read with --binary");
}

/* COMMAND MODEL [OTHER] [FILE...] */
static gboolean
set_arguments (TokenizerOptions *options, char **rest, GError **error)
{
  static char *const standard_input[] = { (char *) "-", NULL };
  guint n = rest != NULL ? g_strv_length (rest) : 0, first = 2;

  if (n == 0)
    return fail (error, "a command (encode, decode, compare, info) and a MODEL are wanted");
  for (guint i = 0; i < G_N_ELEMENTS (commands); i++)
    if (strcmp (commands[i].name, rest[0]) == 0)
      options->command = g_strdup (rest[0]);
  if (options->command == NULL)
    return fail (error, "unknown command “%s”; known are encode, decode, compare, info", rest[0]);
  if (n < 2)
    return fail (error, "%s: a MODEL is wanted", rest[0]);
  options->model = g_strdup (rest[1]);
  if (strcmp (rest[0], "compare") == 0)
    {
      if (n < 3)
        return fail (error, "compare: a MODEL and an OTHER one are wanted");
      options->other = g_strdup (rest[first++]);
    }
  if (strcmp (rest[0], "info") == 0 && n > 2)
    return fail (error, "info takes a MODEL and nothing else");
  options->files = g_strdupv (n > first ? rest + first : (char **) standard_input);
  return set_specials (options, error) && check_options (options, error);
}

static gboolean
parse_options (TokenizerOptions *options, int argc, char **argv, GError **error)
{
  g_autoptr (GOptionContext) context = g_option_context_new ("COMMAND MODEL [FILE...]");
  g_auto (GStrv) rest = NULL;
  gboolean version = FALSE;
  const GOptionEntry entries[] = {
    { "lines", 0, 0, G_OPTION_ARG_NONE, &options->lines, "A document is a line, of ids too", NULL },
    { "jsonl", 0, 0, G_OPTION_ARG_STRING, &options->jsonl,
      "A document is this field of a line of JSON, also compressed", "FIELD" },
    { "special-tokens", 0, 0, G_OPTION_ARG_STRING, &options->specials_text,
      "What the text of a special token becomes: ordinary ids (text), its own, or an error",
      "text|allow|error" },
    { "post-processor", 0, 0, G_OPTION_ARG_NONE, &options->post_processor,
      "Also the ids that the file of the model wants around a text", NULL },
    { "pattern", 0, 0, G_OPTION_ARG_STRING, &options->pattern,
      "Pattern of a rank file that is not known", "PATTERN" },
    { "other-pattern", 0, 0, G_OPTION_ARG_STRING, &options->other_pattern,
      "compare: that of the other model", "PATTERN" },
    { "pieces", 0, 0, G_OPTION_ARG_NONE, &options->pieces,
      "encode: a line for each id, with its piece", NULL },
    { "count", 0, 0, G_OPTION_ARG_NONE, &options->count, "encode: only how many ids each file has",
      NULL },
    { "stats", 0, 0, G_OPTION_ARG_NONE, &options->stats,
      "encode: counts and speed, on standard error", NULL },
    { "binary", 0, 0, G_OPTION_ARG_NONE, &options->binary,
      "Ids are little-endian numbers, of 4 bytes", NULL },
    { "width", 0, 0, G_OPTION_ARG_INT, &options->width, "decode: bytes of a binary id, 2 or 4 (4)",
      "N" },
    { "json", 0, 0, G_OPTION_ARG_NONE, &options->json, "info: as JSON", NULL },
    { "version", 0, 0, G_OPTION_ARG_NONE, &version, "Print the version", NULL },
    { G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &rest, NULL, NULL },
    { NULL, 0, 0, 0, NULL, NULL, NULL },
  };

  g_option_context_set_summary (context, "Encodes, decodes and compares with the tokenizers of "
                                         "dlpipe.");
  g_option_context_set_description (context, description);
  g_option_context_add_main_entries (context, entries, NULL);
  if (!g_option_context_parse (context, &argc, &argv, error))
    return FALSE;
  if (version)
    {
      g_print ("dlpipe-tokenizer %s\n", DLP_VERSION);
      exit (std_streams_flush (NULL) ? TOKENIZER_EXIT_OK : TOKENIZER_EXIT_FAULTS);
    }
  return set_arguments (options, rest, error);
}

static int
run (const TokenizerOptions *options, GError **error)
{
  for (guint i = 0; i < G_N_ELEMENTS (commands); i++)
    if (strcmp (commands[i].name, options->command) == 0)
      return commands[i].run (options, error);
  return TOKENIZER_EXIT_USAGE;
}

int
main (int argc, char **argv)
{
  g_auto (TokenizerOptions) options = { NULL };
  g_autoptr (GError) error = NULL;
  g_autoptr (GError) failure = NULL;
  int status = TOKENIZER_EXIT_USAGE;

  std_streams_secure ();
  log_lines_init ("dlpipe-tokenizer");
  setlocale (LC_ALL, "");
  if (parse_options (&options, argc, argv, &error))
    status = run (&options, &error);
  if (error != NULL)
    g_printerr ("dlpipe-tokenizer: %s\n", error->message);
  if (!std_streams_flush (&failure))
    {
      if (error == NULL)
        g_printerr ("dlpipe-tokenizer: %s\n", failure->message);
      status = status == TOKENIZER_EXIT_OK ? TOKENIZER_EXIT_FAULTS : status;
    }
  return status;
}
