/* SPDX-License-Identifier: MIT */

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "dlp-check-private.h"

#define RUN_SECONDS 60
#define END_SECONDS 2

/* What a thread of its own waits for: pthread, since the sanitizers know it. */
static struct
{
  pthread_mutex_t lock;
  pthread_cond_t cond;
  pthread_t thread;
  const CheckCase *check;
  DlpPipeline *pipeline;
  const char *when;
  gint64 until;              /* lock: monotonic */
  gint64 cancel_at;          /* lock: monotonic; 0: never */
  GCancellable *cancellable; /* lock */
  gboolean running;          /* lock */
} watch = { PTHREAD_MUTEX_INITIALIZER };

static guint32
get_seed (void)
{
  static gsize once;
  static guint32 seed;

  if (g_once_init_enter (&once))
    {
      const char *text = g_getenv ("DLPIPE_CHECK_SEED");

      seed = text != NULL ? (guint32) g_ascii_strtoull (text, NULL, 10) :
                            (guint32) g_test_rand_int_range (1, G_MAXINT32);
      g_once_init_leave (&once, 1);
    }
  return seed;
}

GRand *
dlp_check_rand_new (const char *graph)
{
  return g_rand_new_with_seed (get_seed () ^ g_str_hash (graph));
}

/* As the author wrote it: the elements, without what they are tested with. */
static char *
name_elements (const char *graph)
{
  g_auto (GStrv) words = g_strsplit_set (graph, " \n\t", -1);
  GString *names = g_string_new (NULL);
  gboolean begin = TRUE;

  for (guint i = 0; words[i] != NULL; i++)
    {
      if (words[i][0] == '\0')
        continue;
      if (strcmp (words[i], "!") == 0)
        begin = TRUE;
      else if (begin || strchr (words[i], '=') == NULL)
        {
          begin = FALSE;
          if (!g_str_has_prefix (words[i], "check-") && strchr (words[i], '.') == NULL)
            g_string_append_printf (names, "%s%s", names->len > 0 ? ", " : "", words[i]);
        }
    }
  return g_string_free (names, FALSE);
}

static char *
get_program (void)
{
  g_autofree char *path = g_file_read_link ("/proc/self/exe", NULL);

  return path != NULL ? g_steal_pointer (&path) : g_strdup (g_get_prgname ());
}

/* As it is: g_printerr() writes "?" for what the program's locale has not, and the locale is the
 * program's affair. */
void
dlp_check_print (const char *text)
{
  fprintf (stderr, "%s\n", text);
  fflush (stderr);
}

void
dlp_check_fail (const CheckCase *self, const char *when, const char *lines)
{
  g_autofree char *elements = name_elements (self->graph);
  g_autofree char *program = get_program ();
  GString *text = g_string_new (NULL);
  g_autofree char *title = g_strdup_printf ("%s check of %s failed", self->check,
                                            elements[0] != '\0' ? elements : "a graph");

  g_string_append_printf (text, "%s\n", title);
  if (when != NULL)
    g_string_append_printf (text, "  when:     %s\n", when);
  if (lines != NULL)
    g_string_append (text, lines);
  g_string_append_printf (text, "  graph:    %s\n", self->graph);
  g_string_append_printf (text, "  again:    DLPIPE_CHECK_SEED=%u %s", get_seed (), program);
  if (g_test_get_path ()[0] != '\0')
    g_string_append_printf (text, " -p %s", g_test_get_path ());
  /* Several lines on the standard output would not be TAP. */
  dlp_check_print (text->str);
  dlp_check_folders_remove ();
  g_assertion_message ("dlpipe-check", self->check, 0, G_STRFUNC, title);
  abort ();
}

gint64
dlp_check_get_patience (double seconds)
{
  const char *text = g_getenv ("DLPIPE_TEST_PATIENCE");
  double scale = text != NULL ? g_ascii_strtod (text, NULL) : 1.0;

  return (gint64) (seconds * scale * G_USEC_PER_SEC);
}

/* ---- ends that do not come ---- */

static char *
describe_waits (DlpPipeline *pipeline)
{
  g_autoptr (GVariant) report = dlp_pipeline_get_report (pipeline);
  g_autoptr (GVariant) elements =
      g_variant_lookup_value (report, "elements", G_VARIANT_TYPE ("aa{sv}"));
  GString *text = g_string_new (NULL);
  GVariantIter iter;
  GVariant *element;

  if (elements == NULL)
    return g_string_free (text, FALSE);
  g_variant_iter_init (&iter, elements);
  while ((element = g_variant_iter_next_value (&iter)) != NULL)
    {
      const char *name = "?", *waits_for = "";
      guint64 in = 0, out = 0;
      gboolean ended = FALSE;

      g_variant_lookup (element, "name", "&s", &name);
      g_variant_lookup (element, "waits-for", "&s", &waits_for);
      g_variant_lookup (element, "records-in", "t", &in);
      g_variant_lookup (element, "records-out", "t", &out);
      g_variant_lookup (element, "ended", "b", &ended);
      g_string_append_printf (text,
                              "  element:  %s, %" G_GUINT64_FORMAT " records in, %" G_GUINT64_FORMAT
                              " out, %s%s\n",
                              name, in, out,
                              ended                ? "ended" :
                              waits_for[0] != '\0' ? "waits for " :
                                                     "busy in a call of it",
                              ended ? "" : waits_for);
      g_variant_unref (element);
    }
  return g_string_free (text, FALSE);
}

/* The lock is held, but not while it cancels: what that wakes may ask for the lock. */
static void
cancel_now (void)
{
  watch.cancel_at = 0;
  watch.until = g_get_monotonic_time () + dlp_check_get_patience (END_SECONDS);
  pthread_mutex_unlock (&watch.lock);
  g_cancellable_cancel (watch.cancellable);
  pthread_mutex_lock (&watch.lock);
}

static void *
wait_for_end (void *data)
{
  pthread_mutex_lock (&watch.lock);
  while (watch.running)
    {
      gint64 next = watch.cancel_at != 0 ? MIN (watch.cancel_at, watch.until) : watch.until;
      struct timespec until = { next / G_USEC_PER_SEC, next % G_USEC_PER_SEC * 1000 };

      if (watch.cancel_at != 0 && g_get_monotonic_time () >= watch.cancel_at)
        {
          cancel_now ();
          continue;
        }
      if (g_get_monotonic_time () >= watch.until)
        {
          g_autofree char *waits = NULL;

          pthread_mutex_unlock (&watch.lock);
          waits = describe_waits (watch.pipeline);
          dlp_check_fail (watch.check, watch.when, waits);
        }
      pthread_cond_timedwait (&watch.cond, &watch.lock, &until);
    }
  pthread_mutex_unlock (&watch.lock);
  return NULL;
}

void
dlp_check_watch_begin (const CheckCase *self, DlpPipeline *pipeline, const char *when)
{
  pthread_condattr_t attributes;

  pthread_condattr_init (&attributes);
  pthread_condattr_setclock (&attributes, CLOCK_MONOTONIC);
  pthread_cond_init (&watch.cond, &attributes);
  pthread_condattr_destroy (&attributes);
  watch.check = self;
  watch.pipeline = pipeline;
  watch.when = when;
  watch.until = g_get_monotonic_time () + dlp_check_get_patience (RUN_SECONDS);
  watch.running = TRUE;
  pthread_create (&watch.thread, NULL, wait_for_end, NULL);
}

void
dlp_check_watch_ends (void)
{
  pthread_mutex_lock (&watch.lock);
  watch.until = g_get_monotonic_time () + dlp_check_get_patience (END_SECONDS);
  pthread_cond_signal (&watch.cond);
  pthread_mutex_unlock (&watch.lock);
}

void
dlp_check_watch_cancel (GCancellable *cancellable, gint64 microseconds)
{
  pthread_mutex_lock (&watch.lock);
  watch.cancellable = cancellable;
  watch.cancel_at = g_get_monotonic_time () + microseconds;
  pthread_cond_signal (&watch.cond);
  pthread_mutex_unlock (&watch.lock);
}

void
dlp_check_watch_end (void)
{
  pthread_mutex_lock (&watch.lock);
  watch.running = FALSE;
  pthread_cond_signal (&watch.cond);
  pthread_mutex_unlock (&watch.lock);
  pthread_join (watch.thread, NULL);
  watch.cancel_at = 0;
  pthread_cond_destroy (&watch.cond);
}
