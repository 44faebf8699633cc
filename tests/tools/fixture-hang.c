/* SPDX-License-Identifier: MIT */

/* An element that passes records on, slowly, and at record 100 hangs as DLPIPE_TEST_HANG says:
 * "step", "work", "nap" (a second and a half), "naps" (13 of 0.1 s), "start", "negotiate";
 * other texts: not at all. The file `hangs` says that it does. */

#include <fcntl.h>
#include <unistd.h>

#include <dlpipe/dlpipe.h>

#define AT 100
#define SLOW 1000
#define NAP 1500000

typedef DlpElement Hang;
typedef DlpElementClass HangClass;

GType hang_get_type (void);

G_DEFINE_TYPE (Hang, hang, DLP_TYPE_ELEMENT)

static gboolean
is_to (const char *how)
{
  return g_strcmp0 (g_getenv ("DLPIPE_TEST_HANG"), how) == 0;
}

static void
tell (void)
{
  close (open ("hangs", O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
}

static void
hang_for_good (void)
{
  tell ();
  for (;;)
    pause ();
}

/* A process that is stopped meanwhile sleeps no less after that. */
static void
take_naps (void)
{
  tell ();
  for (guint i = 0; i < 13; i++)
    usleep (100000);
}

static gboolean
hang_negotiate (DlpElement *element, GError **error)
{
  dlp_pad_set_schema (dlp_element_get_output (element, 0),
                      dlp_pad_get_schema (dlp_element_get_input (element, 0)));
  if (is_to ("negotiate"))
    hang_for_good ();
  return TRUE;
}

static gboolean
hang_start (DlpElement *element, GCancellable *cancellable, GError **error)
{
  if (is_to ("start"))
    hang_for_good ();
  return TRUE;
}

static DlpStep
hang_step (DlpElement *element, GCancellable *cancellable, GError **error)
{
  DlpPad *in = dlp_element_get_input (element, 0);
  guint row;
  DlpRecordBatch *batch = dlp_pad_peek (in, &row);

  if (batch == NULL)
    return dlp_pad_is_over (in) ? DLP_STEP_END : dlp_element_want_input (element, 0);
  if (dlp_pad_get_position (in) == AT)
    {
      if (is_to ("work"))
        return DLP_STEP_WANT_WORK;
      if (is_to ("step"))
        hang_for_good ();
      if (is_to ("nap"))
        usleep (NAP);
      if (is_to ("naps"))
        take_naps ();
    }
  usleep (SLOW);
  dlp_pad_append_rows (dlp_element_get_output (element, 0), batch, row, 1);
  dlp_pad_consume (in, 1);
  return DLP_STEP_MORE;
}

static void
hang_class_init (HangClass *klass)
{
  klass->negotiate = hang_negotiate;
  klass->start = hang_start;
  klass->step = hang_step;
  dlp_element_class_set_description (klass, "Hangs", "... ! hang ! null-sink");
}

static void
hang_init (Hang *self)
{
  dlp_element_add_pad (self, "in", DLP_PAD_INPUT);
  dlp_element_add_pad (self, "out", DLP_PAD_OUTPUT);
}

static gboolean
init (DlpPlugin *plugin, GError **error)
{
  return dlp_plugin_add_element (plugin, "hang", hang_get_type (), error);
}

DLP_PLUGIN_DEFINE ("hang", "Hangs", "1.0", "MIT", init)
