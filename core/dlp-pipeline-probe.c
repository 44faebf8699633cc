/* SPDX-License-Identifier: MIT */

/* Before a run begins anew, the first records of all its sources are looked at, several at a time:
 * what none of them has is found at once, and not when a source's turn comes. */

#include "dlp-pipeline-private.h"
#include "dlp-reader-private.h"
#include "dlp-thread-private.h"

#define MAX_THREADS 16

typedef struct
{
  DlpReader *reader;
  DlpSource *source;
  GError *error;
} Look;

typedef struct
{
  GArray *looks; /* of Look */
  GCancellable *cancellable;
  guint next; /* atomic */
} Looks;

static gpointer
run (gpointer data)
{
  Looks *self = data;
  guint i;

  while ((i = __atomic_fetch_add (&self->next, 1, __ATOMIC_RELAXED)) < self->looks->len)
    {
      Look *look = &g_array_index (self->looks, Look, i);

      if (!g_cancellable_is_cancelled (self->cancellable))
        dlp_reader_probe (look->reader, look->source, self->cancellable, &look->error);
    }
  return NULL;
}

static gpointer
run_on_thread (gpointer data)
{
  dlp_thread_begin ("dlp-probe");
  return run (data);
}

/* This thread is one of them; without others it does for all. */
static void
run_all (Looks *self)
{
  pthread_t threads[MAX_THREADS];
  guint n = 0;

  while (n + 1 < MIN (MAX_THREADS, self->looks->len) &&
         pthread_create (&threads[n], NULL, run_on_thread, self) == 0)
    n++;
  run (self);
  while (n > 0)
    pthread_join (threads[--n], NULL);
}

/* The error is that of the first source, whichever was found first. */
static bool
conclude (Looks *self, GError **error)
{
  bool ok = true;

  for (guint i = 0; i < self->looks->len; i++)
    {
      GError *found = g_array_index (self->looks, Look, i).error;

      if (found == NULL)
        continue;
      if (ok)
        g_propagate_error (error, found);
      else
        g_error_free (found);
      ok = false;
    }
  return ok;
}

bool
dlp_pipeline_probe (DlpPipeline *self, GError **error)
{
  g_autoptr (GArray) looks = g_array_new (FALSE, FALSE, sizeof (Look));
  Looks all = { .looks = looks, .cancellable = self->run->cancellable };

  for (guint i = 0; i < self->order->len; i++)
    {
      Look look = { NULL };
      gpointer element = g_ptr_array_index (self->order, i);

      if (!DLP_IS_READER (element) || !dlp_reader_can_probe (element, &look.source))
        continue;
      look.reader = element;
      g_array_append_val (looks, look);
    }
  if (looks->len == 0)
    return true;
  dlp_watchdog_enter (self->watchdog, NULL, "the first records of its sources are being read");
  run_all (&all);
  dlp_watchdog_leave (self->watchdog);
  return conclude (&all, error);
}
