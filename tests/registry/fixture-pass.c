/* SPDX-License-Identifier: MIT */

/* A plugin of which there are several versions: passes records on, slowly where DLPIPE_TEST_STOP
 * is the record at which it asks the process to end. */

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <dlpipe/dlpipe.h>

#ifndef PLUGIN
#define PLUGIN "pass"
#endif
#ifndef ELEMENT
#define ELEMENT "pass"
#endif
#ifndef VERSION
#define VERSION "1.0"
#endif

#define SLOW 500

typedef DlpElement Pass;
typedef DlpElementClass PassClass;

GType pass_get_type (void);

G_DEFINE_TYPE (Pass, pass, DLP_TYPE_ELEMENT)

static gboolean
pass_negotiate (DlpElement *element, GError **error)
{
  dlp_pad_set_schema (dlp_element_get_output (element, 0),
                      dlp_pad_get_schema (dlp_element_get_input (element, 0)));
  return TRUE;
}

static DlpStep
pass_step (DlpElement *element, GCancellable *cancellable, GError **error)
{
  DlpPad *in = dlp_element_get_input (element, 0);
  const char *stop = g_getenv ("DLPIPE_TEST_STOP");
  guint row;
  DlpRecordBatch *batch = dlp_pad_peek (in, &row);

  if (batch == NULL)
    return dlp_pad_is_over (in) ? DLP_STEP_END : dlp_element_want_input (element, 0);
  if (stop != NULL)
    {
      if (dlp_pad_get_position (in) == strtoull (stop, NULL, 10))
        kill (getpid (), SIGTERM);
      usleep (SLOW);
    }
  dlp_pad_append_rows (dlp_element_get_output (element, 0), batch, row, 1);
  dlp_pad_consume (in, 1);
  return DLP_STEP_MORE;
}

static void
pass_class_init (PassClass *klass)
{
  klass->negotiate = pass_negotiate;
  klass->step = pass_step;
  dlp_element_class_set_description (klass, "Passes records on", "... ! pass ! null-sink");
}

static void
pass_init (Pass *self)
{
  dlp_element_add_pad (self, "in", DLP_PAD_INPUT);
  dlp_element_add_pad (self, "out", DLP_PAD_OUTPUT);
}

static gboolean
init (DlpPlugin *plugin, GError **error)
{
  return dlp_plugin_add_element (plugin, ELEMENT, pass_get_type (), error);
}

DLP_PLUGIN_DEFINE (PLUGIN, "Passes records on", VERSION, "MIT", init)
