/* SPDX-License-Identifier: MIT */

/* Writes the source tree of a plugin with one element. */

#include <errno.h>
#include <locale.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include <dlpipe/dlpipe.h>
#include <glib/gstdio.h>

#define MAX_NAME 50

/* What an element of a kind is made of. */
typedef struct
{
  const char *name;
  const char *parent; /* its base class */
  const char *summary;
  const char *graph; /* %s: the element */
  const char *properties;
} Kind;

static const Kind kinds[] = {
  { "source", "DlpSource", "Makes numbered lines", "%s lines=1M ! jsonl-sink location=out.jsonl",
    "| property | default | |\n|---|---|---|\n| `lines` | 10 | how many lines to make |\n" },
  { "reader", "DlpReader", "Reads lines of text",
    "file-source location=data/*.txt ! %s ! jsonl-sink location=out.jsonl",
    "| property | default | |\n|---|---|---|\n"
    "| `strip` | true | take white space off both ends of a line |\n\n"
    "And those of every reader: `interleave`, `on-bad-record`, `max-bad-ratio`, "
    "`max-record-bytes`, "
    "`on-damaged-file`.\n" },
  { "transform", "DlpTransform", "Puts a text behind the text of each record",
    "file-source location=data/*.jsonl ! jsonl-reader ! %s suffix=? ! jsonl-sink "
    "location=out.jsonl",
    "| property | default | |\n|---|---|---|\n| `suffix` | `!` | what is put behind each text "
    "|\n" },
  { "sink", "DlpFileSink", "Writes the texts of records to a file",
    "file-source location=data/*.jsonl ! jsonl-reader ! %s location=out.txt",
    "| property | default | |\n|---|---|---|\n| `location` | | name of the file |\n"
    "| `separator` | a new line | what is written behind each text |\n" },
};

/* @from: in the folder of templates; %s: the kind, or the licence. @to: in the project; %s: the
 * element. */
static const struct
{
  const char *from;
  const char *to;
} files[] = {
  { "meson.build.in", "meson.build" },
  { "meson_options.txt.in", "meson_options.txt" },
  { "README.md.in", "README.md" },
  { "gitignore.in", ".gitignore" },
  { "LICENSE-%s.in", "LICENSE" },
  { "plugin.c.in", "plugin.c" },
  { "element.h.in", "%s.h" },
  { "%s.c.in", "%s.c" },
  { "tests-meson.build.in", "tests/meson.build" },
  { "test-%s.c.in", "tests/test-%s.c" },
};

static gboolean options_kind[G_N_ELEMENTS (kinds)];
static char *option_dir;
static char *option_author;
static char *option_license;
static gboolean option_version;

static GOptionEntry entries[] = {
  { "source", 0, 0, G_OPTION_ARG_NONE, &options_kind[0], "An element that makes records", NULL },
  { "reader", 0, 0, G_OPTION_ARG_NONE, &options_kind[1], "One that turns files into records",
    NULL },
  { "transform", 0, 0, G_OPTION_ARG_NONE, &options_kind[2],
    "One that turns records into records, on all cores", NULL },
  { "sink", 0, 0, G_OPTION_ARG_NONE, &options_kind[3], "One that writes a file", NULL },
  { "dir", 0, 0, G_OPTION_ARG_FILENAME, &option_dir,
    "Where the folder NAME is made; default: the working directory", "DIR" },
  { "author", 0, 0, G_OPTION_ARG_STRING, &option_author, "Whose copyright it is; default: you",
    "NAME" },
  { "license", 0, 0, G_OPTION_ARG_STRING, &option_license, "Its licence; default: MIT",
    "MIT|0BSD|none" },
  { "version", 0, 0, G_OPTION_ARG_NONE, &option_version, "Print the version", NULL },
  { NULL },
};

/* Beside the program in a build folder lies a file that says where the templates are; elsewhere
 * they are where they were installed, seen from the program. */
static char *
find_templates (void)
{
  g_autofree char *program = g_file_read_link ("/proc/self/exe", NULL);
  g_autofree char *folder = program != NULL ? g_path_get_dirname (program) : g_strdup (".");
  g_autofree char *marker = g_build_filename (folder, "dlpipe-template-folder", NULL);
  g_autofree char *installed = g_build_filename (folder, DLP_TEMPLATE_DIR, NULL);
  g_autofree char *text = NULL;

  if (!g_file_get_contents (marker, &text, NULL, NULL))
    return g_canonicalize_filename (installed, NULL);
  return g_strdup (g_strchomp (text));
}

static gboolean
check_name (const char *name)
{
  gsize length = strspn (name, "abcdefghijklmnopqrstuvwxyz0123456789-");

  /* Beside plugin.c there can be no other. */
  return strcmp (name, "plugin") != 0 && g_ascii_islower (name[0]) && name[length] == '\0' &&
         length <= MAX_NAME && name[length - 1] != '-' && strstr (name, "--") == NULL;
}

/* What is there already is no error: the plugin may be meant to replace it. */
static void
warn_if_known (const char *name)
{
  g_auto (GStrv) known = dlp_registry_list_elements ();

  if (g_strv_contains ((const char *const *) known, name))
    g_printerr ("dlpipe-template: warning: there is an element “%s” already; of two plugins that "
                "bring one, only the first that is found counts\n",
                name);
}

static char *
to_camel_case (const char *name)
{
  GString *camel = g_string_new (NULL);
  gboolean upper = TRUE;

  for (; *name != '\0'; name++)
    {
      if (*name != '-')
        g_string_append_c (camel, upper ? g_ascii_toupper (*name) : *name);
      upper = *name == '-';
    }
  return g_string_free (camel, FALSE);
}

static char *
get_author (void)
{
  const char *name = g_get_real_name ();

  if (option_author != NULL)
    return g_strdup (option_author);
  return g_strdup (
      name != NULL && strcmp (name, "Unknown") != 0 && name[0] != '\0' ? name : g_get_user_name ());
}

/* (transfer full): what stands for each @WORD@. */
static GHashTable *
make_words (const char *name, const Kind *kind)
{
  GHashTable *words = g_hash_table_new_full (g_str_hash, g_str_equal, NULL, g_free);
  g_autoptr (GDateTime) now = g_date_time_new_now_local ();
  char *lower = g_strdelimit (g_strdup (name), "-", '_');

  g_hash_table_insert (words, "NAME", g_strdup (name));
  g_hash_table_insert (words, "CAMEL", to_camel_case (name));
  g_hash_table_insert (words, "LOWER", lower);
  g_hash_table_insert (words, "UPPER", g_ascii_strup (lower, -1));
  g_hash_table_insert (words, "PAD", g_strnfill (strlen (lower) + 2, ' '));
  g_hash_table_insert (words, "PARENT", g_strdup (kind->parent));
  g_hash_table_insert (words, "SUMMARY", g_strdup (kind->summary));
  g_hash_table_insert (words, "GRAPH", g_strdup_printf (kind->graph, name));
  g_hash_table_insert (words, "PROPERTIES", g_strchomp (g_strdup (kind->properties)));
  g_hash_table_insert (words, "AUTHOR", get_author ());
  g_hash_table_insert (
      words, "LICENSE",
      g_strdup (strcmp (option_license, "none") == 0 ? "LicenseRef-none" : option_license));
  g_hash_table_insert (words, "YEAR", g_date_time_format (now, "%Y"));
  return words;
}

static gboolean
replace_word (const GMatchInfo *match, GString *text, gpointer words)
{
  g_autofree char *word = g_match_info_fetch (match, 1);
  const char *value = g_hash_table_lookup (words, word);

  if (value != NULL)
    g_string_append (text, value);
  else
    g_string_append_printf (text, "@%s@", word);
  return FALSE;
}

static gboolean
write_file (const char *from, const char *to, GHashTable *words, GError **error)
{
  g_autoptr (GRegex) regex = g_regex_new ("@([A-Z]+)@", 0, 0, NULL);
  g_autofree char *text = NULL;
  g_autofree char *filled = NULL;

  if (!g_file_get_contents (from, &text, NULL, error))
    return FALSE;
  filled = g_regex_replace_eval (regex, text, -1, 0, 0, replace_word, words, error);
  return filled != NULL && g_file_set_contents (to, filled, -1, error);
}

static gboolean
fail (const char *path, GError **error)
{
  int code = errno;

  g_set_error (error, G_FILE_ERROR, g_file_error_from_errno (code), "%s: %s", path,
               g_strerror (code));
  return FALSE;
}

static gboolean
make_folder (const char *path, GError **error)
{
  return g_mkdir (path, 0777) == 0 || fail (path, error);
}

/* All that fill_folder() makes. */
static void
remove_folder (const char *folder, const char *name)
{
  g_autofree char *tests = g_build_filename (folder, "tests", NULL);

  for (guint i = 0; i < G_N_ELEMENTS (files); i++)
    {
      g_autofree char *file_name = g_strdup_printf (files[i].to, name);
      g_autofree char *path = g_build_filename (folder, file_name, NULL);

      g_unlink (path);
    }
  g_rmdir (tests);
  g_rmdir (folder);
}

static gboolean
fill_folder (const char *folder, const char *name, const Kind *kind, GError **error)
{
  g_autofree char *templates = find_templates ();
  g_autofree char *tests = g_build_filename (folder, "tests", NULL);
  g_autoptr (GHashTable) words = make_words (name, kind);

  if (!make_folder (tests, error))
    return FALSE;
  for (guint i = 0; i < G_N_ELEMENTS (files); i++)
    {
      const char *which = g_str_has_prefix (files[i].from, "LICENSE") ? option_license : kind->name;
      g_autofree char *from_name = g_strdup_printf (files[i].from, which);
      g_autofree char *to_name = g_strdup_printf (files[i].to, name);
      g_autofree char *from = g_build_filename (templates, from_name, NULL);
      g_autofree char *to = g_build_filename (folder, to_name, NULL);

      if (!write_file (from, to, words, error))
        return FALSE;
    }
  return TRUE;
}

/* As a whole or not at all: under another name until it is complete. */
static gboolean
write_project (const char *folder, const char *name, const Kind *kind, GError **error)
{
  g_autofree char *partial = g_strdup_printf ("%s.partial-%d", folder, (int) getpid ());

  if (!make_folder (partial, error))
    return FALSE;
  if (fill_folder (partial, name, kind, error) &&
      (g_rename (partial, folder) == 0 || fail (folder, error)))
    return TRUE;
  remove_folder (partial, name);
  g_prefix_error (error, "%s is not made: ", folder);
  return FALSE;
}

static int
complain (const char *format, const char *value)
{
  g_autofree char *text = g_strdup_printf (format, value);

  g_printerr ("dlpipe-template: %s\n", text);
  return 2;
}

/* (transfer full): the options of kinds that were given, such as "--source, --sink". */
static char *
list_kinds (const Kind **first, guint *n)
{
  GString *text = g_string_new (NULL);

  *first = NULL;
  *n = 0;
  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    if (options_kind[i])
      {
        if (*n == 0)
          *first = &kinds[i];
        g_string_append_printf (text, "%s--%s", *n > 0 ? ", " : "", kinds[i].name);
        ++*n;
      }
  return g_string_free (text, FALSE);
}

static int
run (int argc, char **argv)
{
  const Kind *kind;
  guint n_kinds;
  g_autofree char *given = list_kinds (&kind, &n_kinds);
  g_autofree char *folder = NULL;
  g_autoptr (GError) error = NULL;

  if (argc != 2)
    return complain ("%s; see --help",
                     argc < 2 ? "the name of the element is missing" : "one name is wanted");
  if (kind == NULL)
    return complain ("%s: one of --source, --reader, --transform, --sink is wanted", argv[1]);
  if (n_kinds > 1)
    return complain ("%s were given; an element is of one kind", given);
  if (!check_name (argv[1]))
    return complain (
        "the name “%s” is not allowed: it begins with a letter; letters a to z, digits "
        "and single “-” follow, at most 50 in all, as in line-reader; nor is “plugin”",
        argv[1]);
  if (option_license == NULL)
    option_license = g_strdup ("MIT");
  if (strcmp (option_license, "MIT") != 0 && strcmp (option_license, "0BSD") != 0 &&
      strcmp (option_license, "none") != 0)
    return complain ("--license=%s is not known; allowed are MIT, 0BSD, none", option_license);
  if (strcmp (argv[1], "plugin") == 0)
    return complain ("the name “%s” is not allowed: plugin.c is the file that makes it a plugin; "
                     "such as line-reader",
                     argv[1]);
  folder = g_build_filename (option_dir != NULL ? option_dir : ".", argv[1], NULL);
  if (g_file_test (folder, G_FILE_TEST_EXISTS))
    return complain ("%s is there already; nothing was written. Another name, or --dir", folder);
  warn_if_known (argv[1]);

  if (!write_project (folder, argv[1], kind, &error))
    {
      g_printerr ("dlpipe-template: %s\n", error->message);
      return 1;
    }
  g_print ("%s: %s\n\n"
           "  cd %s\n"
           "  meson setup build && meson test -C build\n"
           "  meson install -C build\n",
           folder, kind->summary, folder);
  return 0;
}

int
main (int argc, char **argv)
{
  g_autoptr (GOptionContext) context = g_option_context_new ("NAME");
  g_autoptr (GError) error = NULL;

  setlocale (LC_ALL, "");
  /* A file that may not grow is an error like others. */
  signal (SIGXFSZ, SIG_IGN);
  g_option_context_set_summary (context,
                                "Writes the folder NAME: a plugin with the element NAME, its tests "
                                "and its build file,\nto be built outside of dlpipe's own tree.");
  g_option_context_add_main_entries (context, entries, NULL);
  if (!g_option_context_parse (context, &argc, &argv, &error))
    return complain ("%s", error->message);
  if (argc > 1 && strcmp (argv[1], "--") == 0)
    {
      argc--;
      argv++;
    }
  if (option_version)
    {
      g_print ("dlpipe-template %s\n", DLP_VERSION);
      return 0;
    }
  return run (argc, argv);
}
