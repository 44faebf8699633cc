/* SPDX-License-Identifier: MIT */

/* Says what elements, codecs and URI schemes there are, and all about one. */

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "inspect.h"
#include "std-streams.h"

typedef struct
{
  gboolean json;
  gboolean exists;
  gboolean rescan;
  gboolean version;
  char **plugin_paths;
  char *complete;
  char **rest;
} Options;

static const char description[] =
    "NAME is an element, or else a plugin, a codec or a URI scheme; plugin:NAME, codec:NAME and\n"
    "scheme:NAME mean one of these alone. No plugin is opened for it but by the scanner process,\n"
    "where its file is not known yet or was changed.\n"
    "\n"
    "Exit status: 0 all is well, 1 there is nothing of that name, 2 wrong usage.\n";

static void
options_clear (Options *self)
{
  g_strfreev (self->plugin_paths);
  g_strfreev (self->rest);
  g_free (self->complete);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Options, options_clear)

/* ---- names ---- */

static const struct
{
  InspectKind kind;
  const char *prefix;
  GVariant *(*describe) (const char *name);
  char **(*list) (void);
} kinds[] = {
  { INSPECT_ELEMENT, "element:", dlp_registry_describe_element, dlp_registry_list_elements },
  { INSPECT_PLUGIN, "plugin:", dlp_registry_describe_plugin, dlp_registry_list_plugins },
  { INSPECT_CODEC, "codec:", dlp_registry_describe_codec, dlp_registry_list_codecs },
  { INSPECT_SCHEME, "scheme:", dlp_registry_describe_scheme, dlp_registry_list_schemes },
};

/* What a plugin brings without saying what it is, is what the plugin is. */
GVariant *
inspect_describe (InspectKind kind, const char *name)
{
  g_autoptr (GVariant) item = NULL;
  g_autoptr (GVariant) plugin = NULL;
  GVariantDict dict;

  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    if (kinds[i].kind == kind)
      item = kinds[i].describe (name);
  if (item == NULL || (kind != INSPECT_CODEC && kind != INSPECT_SCHEME) ||
      *inspect_get (item, "plugin") == '\0')
    return g_steal_pointer (&item);
  plugin = dlp_registry_describe_plugin (inspect_get (item, "plugin"));
  if (plugin == NULL || *inspect_get (plugin, "file") == '\0')
    return g_steal_pointer (&item);
  g_variant_dict_init (&dict, item);
  g_variant_dict_insert (&dict, "description", "s", inspect_get (plugin, "description"));
  return g_variant_ref_sink (g_variant_dict_end (&dict));
}

InspectKind
inspect_find (const char *name, const char **rest)
{
  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    {
      const char *bare = name;
      g_autoptr (GVariant) item = NULL;

      if (g_str_has_prefix (name, kinds[i].prefix))
        bare = name + strlen (kinds[i].prefix);
      item = kinds[i].describe (bare);
      if (item != NULL)
        {
          *rest = bare;
          return kinds[i].kind;
        }
    }
  *rest = name;
  return INSPECT_NOTHING;
}

char **
inspect_list_names (void)
{
  GPtrArray *names = g_ptr_array_new ();

  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    {
      g_autofree char **some = kinds[i].list ();

      for (guint k = 0; some[k] != NULL; k++)
        g_ptr_array_add (names, some[k]);
    }
  g_ptr_array_add (names, NULL);
  return (char **) g_ptr_array_free (names, FALSE);
}

char **
inspect_list_qualified_names (void)
{
  GPtrArray *names = g_ptr_array_new ();

  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    {
      g_auto (GStrv) some = kinds[i].list ();

      for (guint k = 0; some[k] != NULL; k++)
        g_ptr_array_add (names, g_strconcat (kinds[i].prefix, some[k], NULL));
    }
  g_ptr_array_add (names, NULL);
  return (char **) g_ptr_array_free (names, FALSE);
}

/* ---- options ---- */

static gboolean
check_options (const Options *options, GError **error)
{
  if (options->rest != NULL && options->rest[1] != NULL)
    g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_FAILED, "one NAME is wanted, not also “%s”",
                 options->rest[1]);
  else if (options->exists && options->rest == NULL)
    g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_FAILED, "--exists needs a NAME");
  else if (options->exists && options->json)
    g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_FAILED,
                 "--exists and --json exclude each other");
  else
    return TRUE;
  return FALSE;
}

static gboolean
parse_options (Options *options, int argc, char **argv, GError **error)
{
  g_autoptr (GOptionContext) context = g_option_context_new ("[NAME]");
  const GOptionEntry entries[] = {
    { "json", 0, 0, G_OPTION_ARG_NONE, &options->json, "Print JSON", NULL },
    { "exists", 0, 0, G_OPTION_ARG_NONE, &options->exists,
      "Print nothing; the exit status says whether there is NAME", NULL },
    { "rescan", 0, 0, G_OPTION_ARG_NONE, &options->rescan,
      "Ask all plugins again, also those that could not be used", NULL },
    { "plugin-path", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &options->plugin_paths,
      "Look for plugins here first; may be given several times", "DIR" },
    { "complete", 0, G_OPTION_FLAG_HIDDEN, G_OPTION_ARG_FILENAME, &options->complete, NULL, NULL },
    { "version", 0, 0, G_OPTION_ARG_NONE, &options->version, "Print the version", NULL },
    { G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &options->rest, NULL, NULL },
    { NULL, 0, 0, 0, NULL, NULL, NULL },
  };

  g_option_context_set_summary (context, "Lists elements, codecs and URI schemes, or says all "
                                         "about one.");
  g_option_context_set_description (context, description);
  g_option_context_add_main_entries (context, entries, NULL);
  return g_option_context_parse (context, &argc, &argv, error) && check_options (options, error);
}

/* ---- */

/* Problems of plugins are part of the list. */
static GLogWriterOutput
write_log (GLogLevelFlags level, const GLogField *fields, gsize n, gpointer data)
{
  for (gsize i = 0; i < n; i++)
    if (strcmp (fields[i].key, "DLP_PLUGIN_FILE") == 0)
      return G_LOG_WRITER_HANDLED;
  if (level & (G_LOG_LEVEL_INFO | G_LOG_LEVEL_DEBUG) &&
      g_log_writer_default_would_drop (level, G_LOG_DOMAIN))
    return G_LOG_WRITER_HANDLED;
  return g_log_writer_standard_streams (level, fields, n, data);
}

/* A plugin whose file has the name, but cannot be used. */
static char *
explain_problem (const char *name)
{
  g_autoptr (GVariant) problems = dlp_registry_list_problems ();

  for (gsize i = 0; i < g_variant_n_children (problems); i++)
    {
      g_autoptr (GVariant) problem = g_variant_get_child_value (problems, i);

      if (strcmp (inspect_get (problem, "name"), name) == 0)
        return g_strdup (inspect_get (problem, "message"));
    }
  return NULL;
}

static void
report_unknown (const char *name)
{
  g_auto (GStrv) names = inspect_list_names ();
  const char *near = dlp_suggest (name, (const char *const *) names);
  g_autofree char *problem = explain_problem (name);
  g_autofree char *shown = inspect_escape (name);
  g_autofree char *hint =
      problem != NULL ? g_strdup (problem) :
      near != NULL    ? g_strdup_printf ("did you mean “%s”?", near) :
                        g_strdup ("dlpipe-inspect without a name lists what there is");

  g_printerr ("dlpipe-inspect: there is no element, plugin, codec or URI scheme “%s”; %s\n", shown,
              hint);
}

static InspectExit
run (const Options *options)
{
  const char *name = NULL;
  InspectKind kind = INSPECT_NOTHING;

  for (char **path = options->plugin_paths; path != NULL && *path != NULL; path++)
    dlp_registry_add_path (*path);
  if (options->rescan)
    dlp_registry_rescan ();
  if (options->complete != NULL)
    {
      inspect_complete (options->complete);
      return INSPECT_EXIT_OK;
    }
  if (options->rest != NULL)
    {
      kind = inspect_find (options->rest[0], &name);
      if (kind == INSPECT_NOTHING && !options->exists)
        report_unknown (name);
      if (kind == INSPECT_NOTHING)
        return INSPECT_EXIT_UNKNOWN;
    }
  if (options->json)
    inspect_print_json (kind, name);
  else if (kind != INSPECT_NOTHING && !options->exists)
    inspect_print_description (kind, name);
  else if (!options->exists)
    inspect_print_list ();
  return INSPECT_EXIT_OK;
}

int
main (int argc, char **argv)
{
  g_auto (Options) options = { 0 };
  g_autoptr (GError) error = NULL;
  g_autoptr (GError) failure = NULL;
  InspectExit status = INSPECT_EXIT_USAGE;

  std_streams_secure ();
  setlocale (LC_ALL, "");
  g_log_set_writer_func (write_log, NULL, NULL);
  if (!parse_options (&options, argc, argv, &error))
    g_printerr ("dlpipe-inspect: %s\n", error->message);
  else if (options.version)
    {
      printf ("dlpipe-inspect %s\n", DLP_VERSION);
      status = INSPECT_EXIT_OK;
    }
  else
    status = run (&options);
  if (!std_streams_flush (&failure))
    {
      g_printerr ("dlpipe-inspect: %s\n", failure->message);
      status = status == INSPECT_EXIT_OK ? INSPECT_EXIT_UNKNOWN : status;
    }
  return (int) status;
}
