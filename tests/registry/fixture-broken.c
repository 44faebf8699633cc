/* SPDX-License-Identifier: MIT */

/* Plugins that are not as they should be: BROKEN says in what way. */

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include <dlpipe/dlp-plugin.h>
#include <dlpipe/dlp-sink.h>

#define MISSING_SYMBOL 1
#define WRONG_ABI 2
#define WRONG_SIZE 3
#define CRASH_LOAD 4
#define CRASH_INIT 5
#define EXIT_INIT 6
#define HANG_INIT 7
#define ERROR_INIT 8
#define SILENT_INIT 9
#define NO_NAME 10
#define BAD_NAME 11
#define NO_INIT 12
#define NO_DESCRIPTOR 13
#define SAME_ELEMENT_TWICE 14
#define ABSTRACT_ELEMENT 15
#define CRASH_DESCRIBE 16
#define FORK_AND_CRASH 17
#define CLOSE_AND_HANG 18
#define UNTIL_REPAIRED 19
#define KILLED 20
#define HANG_LOAD 21
#define CRASH_LOUD 22
#define BAD_CODEC 23
#define BAD_MAGIC 24
#define BAD_SCHEME 25
#define WRITES_ANYWHERE 26
#define ERROR_ESCAPES 27

/* Signals, not real faults: sanitizers would have their say about those. */
static G_GNUC_NORETURN G_GNUC_UNUSED void
die_by (int number)
{
  signal (number, SIG_DFL);
  raise (number);
  _exit (77);
}

static G_GNUC_NORETURN G_GNUC_UNUSED void
hang (void)
{
  for (;;)
    pause ();
}

typedef struct
{
  DlpSink parent_instance;
} BrokenSink;

typedef struct
{
  DlpSinkClass parent_class;
} BrokenSinkClass;

GType broken_sink_get_type (void);

#if BROKEN == ABSTRACT_ELEMENT
G_DEFINE_ABSTRACT_TYPE (BrokenSink, broken_sink, DLP_TYPE_SINK)
#else
G_DEFINE_TYPE (BrokenSink, broken_sink, DLP_TYPE_SINK)
#endif

static void
broken_sink_class_init (BrokenSinkClass *klass)
{
}

static void
broken_sink_init (BrokenSink *self)
{
#if BROKEN == CRASH_DESCRIBE
  die_by (SIGSEGV);
#endif
}

#if BROKEN == CRASH_LOAD || BROKEN == FORK_AND_CRASH || BROKEN == HANG_LOAD || BROKEN == CRASH_LOUD
__attribute__ ((constructor)) static void
at_load (void)
{
#if BROKEN == HANG_LOAD
  hang ();
#endif
#if BROKEN == CRASH_LOUD
  char noise[60000];

  memset (noise, '.', sizeof noise);
  fwrite (noise, 1, sizeof noise, stderr);
#endif
#if BROKEN == FORK_AND_CRASH
  /* It keeps the pipes of the scanner open, and the lock by which a test sees that it is there. */
  if (g_getenv ("FIXTURE_LOCK") != NULL)
    flock (open (g_getenv ("FIXTURE_LOCK"), O_RDWR | O_CREAT, 0600), LOCK_EX);
  if (fork () == 0)
    {
      sleep (60);
      _exit (0);
    }
#endif
  fprintf (stderr, "the last words\n");
  die_by (SIGSEGV);
}
#endif

#if BROKEN == MISSING_SYMBOL
void a_function_that_nobody_has (void);
#endif

static gboolean G_GNUC_UNUSED
match (const guint8 *head, gsize size)
{
  return FALSE;
}

static gboolean G_GNUC_UNUSED
init (DlpPlugin *plugin, GError **error)
{
#if BROKEN == MISSING_SYMBOL
  a_function_that_nobody_has ();
#elif BROKEN == CRASH_INIT
  die_by (SIGSEGV);
#elif BROKEN == KILLED
  die_by (SIGKILL);
#elif BROKEN == EXIT_INIT
  exit (3);
#elif BROKEN == HANG_INIT
  hang ();
#elif BROKEN == CLOSE_AND_HANG
  for (int fd = 0; fd < 64; fd++)
    close (fd);
  hang ();
#elif BROKEN == WRITES_ANYWHERE
  for (int fd = 3; fd < 64; fd++)
    if (write (fd, "r\4\0\0\0abcd", 9) < 0)
      continue;
#elif BROKEN == ERROR_INIT
  g_set_error (error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_STATE, "the device is not there");
  return FALSE;
#elif BROKEN == ERROR_ESCAPES
  g_set_error (error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_STATE, "\033[31mred\a\nblue\302\233");
  return FALSE;
#elif BROKEN == SILENT_INIT
  return FALSE;
#elif BROKEN == UNTIL_REPAIRED
  if (g_getenv ("FIXTURE_REPAIRED") == NULL)
    {
      g_set_error (error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_STATE, "not repaired");
      return FALSE;
    }
#elif BROKEN == BAD_CODEC
  if (!dlp_plugin_add_codec (plugin, "broken", match, broken_sink_get_type (), error))
    return FALSE;
#elif BROKEN == BAD_MAGIC
  dlp_plugin_add_codec_magic (plugin, "broken", (const guint8 *) "B", NULL, 1, NULL);
#elif BROKEN == BAD_SCHEME
  dlp_plugin_add_scheme (plugin, "Upper", DLP_TYPE_SCHEME, NULL);
  dlp_plugin_add_scheme (plugin, "", DLP_TYPE_SCHEME, NULL);
#elif BROKEN == SAME_ELEMENT_TWICE
  if (!dlp_plugin_add_element (plugin, "broken-sink", broken_sink_get_type (), error))
    return FALSE;
#endif
  return dlp_plugin_add_element (plugin, "broken-sink", broken_sink_get_type (), error);
}

#if BROKEN == WRONG_ABI || BROKEN == WRONG_SIZE
__attribute__ ((visibility ("default"))) extern const DlpPluginDescriptor dlp_plugin_descriptor;
const DlpPluginDescriptor dlp_plugin_descriptor = {
  BROKEN == WRONG_ABI ? 999 : DLP_PLUGIN_ABI,
  BROKEN == WRONG_SIZE ? 8 : sizeof (DlpPluginDescriptor),
  "broken",
  "A plugin of another time",
  "1.0",
  "MIT",
  init,
  { NULL },
};
#elif BROKEN == NO_NAME
DLP_PLUGIN_DEFINE (NULL, "It has no name", "1.0", "MIT", init)
#elif BROKEN == BAD_NAME
DLP_PLUGIN_DEFINE ("Bad/Name", "It has a bad name", "1.0", "MIT", init)
#elif BROKEN == NO_INIT
DLP_PLUGIN_DEFINE ("broken", "It has no init", "1.0", "MIT", NULL)
#elif BROKEN != NO_DESCRIPTOR
DLP_PLUGIN_DEFINE ("broken", "It is broken", "1.0", "MIT", init)
#endif
