/* SPDX-License-Identifier: MIT */

/* What a graph sets of the schemes by which its sources read: "echo.level=3". */

#include <dlp-harness.h>
#include <dlpipe/dlp-plugin.h>

#include <pthread.h>
#include <string.h>

/* ---- echo: a file is a line that says who was asked for it ---- */

typedef struct
{
  DlpScheme parent_instance;

  int level;
  gint64 pause;
} EchoScheme;

typedef DlpSchemeClass EchoSchemeClass;

GType echo_scheme_get_type (void);

G_DEFINE_TYPE (EchoScheme, echo_scheme, DLP_TYPE_SCHEME)

enum
{
  PROP_LEVEL = 1,
  PROP_PAUSE,
};

/* "list URI level", "open URI level", in any order. */
static pthread_mutex_t calls_lock = PTHREAD_MUTEX_INITIALIZER;
static GPtrArray *calls;

static void
note_call (const char *what, const char *uri, DlpScheme *scheme)
{
  pthread_mutex_lock (&calls_lock);
  g_ptr_array_add (calls, g_strdup_printf ("%s %s %d", what, uri, ((EchoScheme *) scheme)->level));
  pthread_mutex_unlock (&calls_lock);
}

static const char content[] = "{\"text\":\"a\"}\n";

static GPtrArray *
echo_scheme_list (DlpScheme *scheme, const char *uri, GCancellable *cancellable, GError **error)
{
  GPtrArray *files = g_ptr_array_new_with_free_func (g_object_unref);

  note_call ("list", uri, scheme);
  g_ptr_array_add (files, dlp_file_new (uri, sizeof content - 1, "v1"));
  return files;
}

static GInputStream *
echo_scheme_open (DlpScheme *scheme,
                  DlpFile *file,
                  gint64 offset,
                  GCancellable *cancellable,
                  GError **error)
{
  note_call ("open", dlp_file_get_uri (file), scheme);
  return g_memory_input_stream_new_from_data (content + offset, sizeof content - 1 - offset, NULL);
}

static void
echo_scheme_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  EchoScheme *self = (EchoScheme *) object;

  if (id == PROP_LEVEL)
    g_value_set_int (value, self->level);
  else
    g_value_set_int64 (value, self->pause);
}

static void
echo_scheme_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  EchoScheme *self = (EchoScheme *) object;

  if (id == PROP_LEVEL)
    self->level = g_value_get_int (value);
  else
    self->pause = g_value_get_int64 (value);
}

static void
echo_scheme_class_init (EchoSchemeClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);

  klass->list = echo_scheme_list;
  klass->open = echo_scheme_open;
  object_class->get_property = echo_scheme_get_property;
  object_class->set_property = echo_scheme_set_property;
  g_object_class_install_property (
      object_class, PROP_LEVEL,
      g_param_spec_int ("level", NULL, "How loud", 0, 9, 1, DLP_PARAM_READWRITE));
  g_object_class_install_property (
      object_class, PROP_PAUSE,
      g_param_spec_int64 ("pause-time", NULL, "How late", 0, 60 * G_USEC_PER_SEC, 0,
                          DLP_PARAM_READWRITE | DLP_PARAM_FREE | DLP_PARAM_DURATION));
}

static void
echo_scheme_init (EchoScheme *self)
{
  self->level = 1;
}

/* ---- what is called ---- */

static gboolean
was_called (const char *call)
{
  for (guint i = 0; i < calls->len; i++)
    if (strcmp (g_ptr_array_index (calls, i), call) == 0)
      return TRUE;
  return FALSE;
}

static void
assert_calls (const char *const *expected)
{
  for (guint i = 0; expected[i] != NULL; i++)
    if (!was_called (expected[i]))
      g_error ("there was no “%s”", expected[i]);
  /* A file may be opened more than once, but by nobody else. */
  for (guint i = 0; i < calls->len; i++)
    if (!g_strv_contains (expected, g_ptr_array_index (calls, i)))
      g_error ("there was “%s”", (char *) g_ptr_array_index (calls, i));
}

static DlpPipeline *
make (const char *graph)
{
  g_autoptr (GError) error = NULL;
  DlpPipeline *pipeline = dlp_pipeline_new_from_string (graph, &error);

  g_assert_no_error (error);
  g_ptr_array_set_size (calls, 0);
  return pipeline;
}

static void
run (DlpPipeline *pipeline)
{
  g_autoptr (GError) error = NULL;

  dlp_pipeline_run (pipeline, NULL, &error);
  g_assert_no_error (error);
}

static void
test_sources (void)
{
  /* Of the other source, of both names of the scheme, of neither. */
  static const struct
  {
    const char *graph;
    const char *calls[5];
  } cases[] = {
    { "file-source location=echo://a echo.level=2 ! jsonl-reader ! mix name=m ! null-sink "
      "file-source location=echo://b echo.level=3 echo.pause_time=1s ! jsonl-reader ! m.",
      { "list echo://a 2", "open echo://a 2", "list echo://b 3", "open echo://b 3", NULL } },
    { "file-source location=echo://a echos.level=2 ! jsonl-reader ! mix name=m ! null-sink "
      "file-source location=echos://b echo.level=3 ! jsonl-reader ! m.",
      { "list echo://a 2", "open echo://a 2", "list echos://b 3", "open echos://b 3", NULL } },
    { "file-source location=echo://a ! jsonl-reader ! mix name=m ! null-sink "
      "file-source location=echo://b echo.level=3 ! jsonl-reader ! m.",
      { "list echo://a 1", "open echo://a 1", "list echo://b 3", "open echo://b 3", NULL } },
    { "file-source location=echo://a echo.level=2 ! mix name=m ! jsonl-reader ! null-sink "
      "file-source location=echo://b echo.level=3 ! m.",
      { "list echo://a 2", "open echo://a 2", "list echo://b 3", "open echo://b 3", NULL } },
    { "file-source location=echo://a echo.level=2 echo.level=4 ! jsonl-reader ! null-sink",
      { "list echo://a 4", "open echo://a 4", NULL } },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    for (guint sequential = 0; sequential < 2; sequential++)
      {
        g_autoptr (DlpPipeline) pipeline = make (cases[i].graph);

        if (sequential)
          g_object_set (pipeline, "runner", DLP_RUNNER_SEQUENTIAL, NULL);
        run (pipeline);
        assert_calls (cases[i].calls);
      }
}

static void
test_refused (void)
{
  static const struct
  {
    const char *source;
    DlpGraphError code;
    const char *said[3];
  } cases[] = {
    { "eco.level=2",
      DLP_GRAPH_ERROR_UNKNOWN_PROPERTY,
      { "column 32: there is no scheme “eco”\n", "did you mean “echo.level”?" } },
    { "zzzzzzzz.level=2",
      DLP_GRAPH_ERROR_UNKNOWN_PROPERTY,
      { "there is no scheme “zzzzzzzz”\n", "the schemes are: echo, echos, file" } },
    { "echo.levl=2",
      DLP_GRAPH_ERROR_UNKNOWN_PROPERTY,
      { "column 32: the scheme echo has no property “levl”\n", "did you mean “echo.level”?" } },
    { "echo.zzzzzzzz=2",
      DLP_GRAPH_ERROR_UNKNOWN_PROPERTY,
      { "the scheme's properties are: echo.level, echo.pause-time" } },
    { "file.level=2",
      DLP_GRAPH_ERROR_UNKNOWN_PROPERTY,
      { "the scheme file has no property “level”\n", "the scheme has no properties" } },
    { "echo.level=10", DLP_GRAPH_ERROR_VALUE, { "column 43: ", "10", "0 to 9" } },
    { "echo.pause-time=61s", DLP_GRAPH_ERROR_VALUE, { "column 48: ", "0s to 1m" } },
    { "echo.level.a=1",
      DLP_GRAPH_ERROR_SYNTAX,
      { "column 42: there can be no '.' in the name of a property" } },
    { "echo.=1", DLP_GRAPH_ERROR_SYNTAX, { "there is no property between '.' and '='" } },
    { "e/o.level=1", DLP_GRAPH_ERROR_SYNTAX, { "there can be no '/' in the name of a scheme" } },
    { "! jsonl-reader echo.level=2",
      DLP_GRAPH_ERROR_UNKNOWN_PROPERTY,
      { "jsonl-reader has no property “echo.level”\n",
        "what is set of a scheme stands behind the source that reads by it" } },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *graph = g_strdup_printf (
          "file-source location=echo://a/ %s ! jsonl-reader ! null-sink", cases[i].source);
      g_autoptr (GError) error = NULL;
      g_autoptr (DlpPipeline) pipeline = dlp_pipeline_new_from_string (graph, &error);

      g_assert_error (error, DLP_GRAPH_ERROR, (int) cases[i].code);
      g_assert_null (pipeline);
      for (guint k = 0; k < G_N_ELEMENTS (cases[i].said) && cases[i].said[k] != NULL; k++)
        if (strstr (error->message, cases[i].said[k]) == NULL)
          g_error ("“%s” does not say “%s”", error->message, cases[i].said[k]);
    }
}

static const char *
find_setting (GVariant *settings, const char *property, const char **origin)
{
  GVariantIter iter;
  const char *element, *name, *value;

  g_variant_iter_init (&iter, settings);
  while (g_variant_iter_next (&iter, "(&s&s&s&s)", &element, &name, &value, origin))
    if (strcmp (element, "s") == 0 && strcmp (name, property) == 0)
      return value;
  return NULL;
}

/* As text, as a list, and set by a program or an option. */
static void
test_shown (void)
{
  g_autoptr (DlpPipeline) pipeline = make ("file-source name=s location=echo://a echos.level=2 ! "
                                           "jsonl-reader ! null-sink");
  g_autoptr (DlpPipeline) again = NULL;
  g_autoptr (GVariant) settings = NULL;
  g_autoptr (GError) error = NULL;
  g_autofree char *text = NULL;
  g_autofree char *text_again = NULL;
  const char *origin;

  g_assert_true (dlp_pipeline_set_property_text (pipeline, "s", "echo.pause_time", "2s", &error));
  g_assert_no_error (error);
  g_assert_false (dlp_pipeline_set_property_text (pipeline, "s", "echo.levle", "2", &error));
  g_assert_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_UNKNOWN_PROPERTY);
  g_assert_nonnull (strstr (error->message, "did you mean “echo.level”?"));

  text = dlp_pipeline_to_string (pipeline);
  g_assert_nonnull (strstr (text, " echos.level=\"2\""));
  g_assert_nonnull (strstr (text, " echos.pause-time=\"2s\""));
  again = make (text);
  text_again = dlp_pipeline_to_string (again);
  g_assert_cmpstr (text, ==, text_again);

  settings = dlp_pipeline_get_settings (pipeline);
  g_assert_cmpstr (find_setting (settings, "echos.level", &origin), ==, "2");
  g_assert_cmpstr (origin, ==, "graph");
  g_assert_cmpstr (find_setting (settings, "echos.pause-time", &origin), ==, "2s");
  g_assert_cmpstr (origin, ==, "option");
}

static void
remove_folder (const char *path)
{
  const char *argv[] = { "rm", "-r", path, NULL };

  g_assert_true (g_spawn_sync (NULL, (char **) argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL,
                               NULL, NULL, NULL));
}

/* What is fixed must be the same in each attempt; left out, it is the default. */
static void
test_state (void)
{
  static const struct
  {
    const char *before, *now;
    const char *said; /* NULL: it goes on */
  } cases[] = {
    { "echo.level=2", "echo.level=2 echo.pause-time=3s", NULL },
    { "echo.level=2", "echo.level=3", "“echo.level” was “2” when the run began, is “3”" },
    { "echo.level=2", "", "“echo.level” was “2” when the run began, is “1”" },
    { "", "echo.level=3", "“echo.level” was “1” when the run began, is “3”" },
    { "", "echo.level=1", NULL },
    { "echo.pause-time=3s", "", NULL },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *folder = g_dir_make_tmp ("dlpipe-scheme-XXXXXX", NULL);
      g_autofree char *graph = g_strdup_printf (
          "file-source name=s location=echo://a %s ! jsonl-reader ! null-sink", cases[i].before);
      g_autofree char *later = g_strdup_printf (
          "file-source name=s location=echo://a %s ! jsonl-reader ! null-sink", cases[i].now);
      g_autoptr (DlpPipeline) first = make (graph);
      g_autoptr (DlpPipeline) second = make (later);
      g_autoptr (GError) error = NULL;

      g_object_set (first, "state-dir", folder, NULL);
      g_object_set (second, "state-dir", folder, NULL);
      run (first);
      dlp_pipeline_prepare (second, NULL, &error);
      if (cases[i].said == NULL)
        g_assert_no_error (error);
      else
        {
          g_assert_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CHANGED);
          g_assert_nonnull (strstr (error->message, cases[i].said));
        }
      g_clear_object (&second);
      remove_folder (folder);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  calls = g_ptr_array_new_with_free_func (g_free);
  dlp_scheme_register ("echo", echo_scheme_get_type ());
  dlp_scheme_register ("echos", echo_scheme_get_type ());
  g_test_add_func ("/scheme-settings/sources", test_sources);
  g_test_add_func ("/scheme-settings/refused", test_refused);
  g_test_add_func ("/scheme-settings/shown", test_shown);
  g_test_add_func ("/scheme-settings/state", test_state);
  return g_test_run ();
}
