/* SPDX-License-Identifier: MIT */

/* A plugin that works; it says what can be said. Built with other names it doubles things. */

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <dlpipe/dlp-plugin.h>

#ifndef PLUGIN
#define PLUGIN "good"
#endif
#ifndef ELEMENT
#define ELEMENT "good-element"
#endif
#ifndef VERSION
#define VERSION "1.2.3"
#endif

/* What a terminal would obey: colours, the title of its window, a new line. */
#ifdef ESCAPES
#define STRANGE "\033[31m\033]0;gone\a\r\n\302\233"
#else
#define STRANGE ""
#endif

/* Not to be inherited by the scanner. */
#define LEAKED_FD 77

#ifndef TYPE_NAME
#define TYPE_NAME "GoodElement"
#endif

typedef enum
{
  GOOD_FAST,
  GOOD_CAREFUL,
} GoodMode;

/* (transfer none): one type for each name of the element's. */
static GType
get_mode_type (void)
{
  static const GEnumValue values[] = {
    { GOOD_FAST, "GOOD_FAST", "fast" },
    { GOOD_CAREFUL, "GOOD_CAREFUL", "careful" },
    { 0, NULL, NULL },
  };
  GType type = g_type_from_name (TYPE_NAME "Mode");

  return type != G_TYPE_INVALID ? type : g_enum_register_static (TYPE_NAME "Mode", values);
}

typedef struct
{
  DlpElement parent_instance;
} Good;

typedef struct
{
  DlpElementClass parent_class;
} GoodClass;

enum
{
  PROP_0,
  PROP_BYTES_AT_ONCE,
  PROP_LOCATION,
  PROP_MODE,
  PROP_PATIENCE,
  PROP_SHARE,
  PROP_STRICT,
#ifdef ESCAPES
  PROP_TITLE,
#endif
  N_PROPS
};

static GParamSpec *properties[N_PROPS];

static DlpStep
good_step (DlpElement *element, GCancellable *cancellable, GError **error)
{
  return DLP_STEP_END;
}

static gboolean
good_negotiate (DlpElement *element, GError **error)
{
  dlp_pad_set_schema (dlp_element_get_output (element, 0),
                      dlp_pad_get_schema (dlp_element_get_input (element, 0)));
  return TRUE;
}

static void
good_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
}

static void
good_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
}

static void
install_properties (GObjectClass *klass)
{
  const GParamFlags rw = DLP_PARAM_READWRITE;

  properties[PROP_BYTES_AT_ONCE] =
      g_param_spec_uint64 ("bytes-at-once", NULL, "How much of it at once", 4096, 1 << 30, 1 << 20,
                           rw | DLP_PARAM_BYTES | DLP_PARAM_FREE);
  properties[PROP_LOCATION] = g_param_spec_boxed (
      "location", NULL, "Where it is; may be given several times", G_TYPE_STRV, rw);
  properties[PROP_MODE] = g_param_spec_enum ("mode", NULL, "How it works", get_mode_type (),
                                             GOOD_CAREFUL, rw | DLP_PARAM_ELASTIC);
  properties[PROP_PATIENCE] = g_param_spec_int64 (
      "patience", NULL,
      "How long it waits, which is said in more words than fit in one line, so that it is seen "
      "where a line of text is broken",
      0, G_MAXINT64, 5 * G_USEC_PER_SEC, rw | DLP_PARAM_DURATION | DLP_PARAM_MUTABLE);
  properties[PROP_SHARE] = g_param_spec_double ("share", NULL, "Share of it", 0, 1, 0.25, rw);
  properties[PROP_STRICT] =
      g_param_spec_boolean ("strict", NULL, STRANGE "Whether it is strict", FALSE, rw);
#ifdef ESCAPES
  properties[PROP_TITLE] = g_param_spec_string ("title", NULL, "What it is called", STRANGE, rw);
#endif
  g_object_class_install_properties (klass, N_PROPS, properties);
}

static void
good_class_init (gpointer klass, gpointer data)
{
  DlpElementClass *element_class = DLP_ELEMENT_CLASS (klass);

  G_OBJECT_CLASS (klass)->set_property = good_set_property;
  G_OBJECT_CLASS (klass)->get_property = good_get_property;
  element_class->step = good_step;
  element_class->negotiate = good_negotiate;
  element_class->flags = DLP_ELEMENT_STATELESS;
  element_class->state_version = 3;
  element_class->state_oldest_version = 2;
  dlp_element_class_add_pad_template (element_class, "in", DLP_PAD_INPUT, DLP_PAD_ALWAYS,
                                      DLP_CARRIES_RECORDS, STRANGE "What is to be looked at");
  dlp_element_class_set_description (element_class, STRANGE "Does nothing, and does it well",
                                     STRANGE "... ! good-element mode=fast ! null-sink");
  install_properties (G_OBJECT_CLASS (klass));
}

static void
good_init (GTypeInstance *self, gpointer klass)
{
  dlp_element_add_pad (DLP_ELEMENT (self), "in", DLP_PAD_INPUT);
  dlp_element_add_pad (DLP_ELEMENT (self), "out", DLP_PAD_OUTPUT);
}

static GType
register_type (void)
{
  return g_type_register_static_simple (DLP_TYPE_ELEMENT, TYPE_NAME, sizeof (GoodClass),
                                        good_class_init, sizeof (Good), good_init, 0);
}

static gboolean
init (DlpPlugin *plugin, GError **error)
{
#ifdef PRINTS
  for (guint i = 0; i < 20000; i++)
    {
      printf ("This is what plugins print at times, in line %u.\n", i);
      fprintf (stderr, "And this is what they complain about, in line %u.\n", i);
    }
#endif
#ifdef FORKS
  /* Each of them comes back from here. */
  for (guint i = 0; i < 3; i++)
    if (fork () < 0)
      return FALSE;
#endif
#ifdef LOOKS_AT_FDS
  if (fcntl (LEAKED_FD, F_GETFD) >= 0)
    {
      g_set_error (error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_STATE, "a descriptor leaks");
      return FALSE;
    }
#endif
  return dlp_plugin_add_element (plugin, ELEMENT, register_type (), error);
}

DLP_PLUGIN_DEFINE (PLUGIN, STRANGE "Nothing, done well", STRANGE VERSION, STRANGE "MIT", init)
