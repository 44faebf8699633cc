/* SPDX-License-Identifier: MIT */

/* The parts of a job become one dataset, beside them: "all", with the endings that they have. */

#include <string.h>
#include <unistd.h>

#include <dlpipe/dlp-sink.h>

#include "dlp-durable-private.h"
#include "dlp-fanout-private.h"
#include "dlp-fanout-task-private.h"
#include "dlp-merge-private.h"

/* Another one for each generation of the plan, so that the whole of a former one is known. */
static char *
make_run_id (const char *job_id, guint generation)
{
  return g_strdup_printf ("%s%04x", job_id, generation);
}

/* ---- before anything is run ---- */

bool
dlp_fanout_check_merge (DlpFanout *self, GError **error)
{
  GListModel *elements = G_LIST_MODEL (self->pattern);
  guint n = 0;

  if (self->settings.remove_parts && !self->settings.merge)
    {
      g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE,
                   "--remove-parts without --merge would leave nothing of the output");
      return false;
    }
  if (!self->settings.merge)
    return true;
  for (guint i = 0; i < g_list_model_get_n_items (elements); i++)
    {
      g_autoptr (DlpElement) element = g_list_model_get_item (elements, i);
      g_autofree char *folder = dlp_fanout_get_folder (element);

      if (folder == NULL)
        continue;
      if (!dlp_merge_check_sink (DLP_SINK (element), error))
        return false;
      n++;
    }
  if (n > 0)
    return true;
  g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE,
               "--merge: no sink of the graph writes files, so there are no parts to merge");
  return false;
}

/* ---- the whole of an output ---- */

bool
dlp_fanout_is_merged (DlpElement *sink)
{
  g_autofree char *location = dlp_fanout_name_whole (sink);
  g_autofree char *manifest = g_strconcat (location, ".manifest.json", NULL);

  return g_file_test (manifest, G_FILE_TEST_EXISTS);
}

static void
cancel_merging (GCancellable *cancellable, GCancellable *merging)
{
  g_cancellable_cancel (merging);
}

static bool
merge (DlpFanout *self,
       DlpElement *sink,
       DlpMerge *merge,
       GCancellable *cancellable,
       GError **error)
{
  GError *local = NULL;
  gulong id = cancellable != NULL ? g_cancellable_connect (cancellable, G_CALLBACK (cancel_merging),
                                                           self->merging, NULL) :
                                    0;
  bool ok = dlp_merge_run (merge, DLP_SINK (sink), self->merging, &local);

  if (cancellable != NULL)
    g_cancellable_disconnect (cancellable, id);
  if (ok)
    return true;
  if (g_error_matches (local, G_IO_ERROR, G_IO_ERROR_CANCELLED) &&
      !dlp_fanout_pause (self, cancellable, 0, "the parts were merged", error))
    {
      g_error_free (local);
      return false;
    }
  g_propagate_prefixed_error (error, local, "the parts cannot be merged: ");
  return false;
}

char *
dlp_fanout_merge_parts (DlpFanout *self,
                        DlpElement *sink,
                        const char *folder,
                        GPtrArray *names,
                        GCancellable *cancellable,
                        GError **error)
{
  g_autofree char *location = dlp_fanout_name_whole (sink);
  g_autofree char *run_id =
      make_run_id (self->job_id, dlp_fanout_plan_get_n_generations (self->plan) - 1);
  g_autoptr (GPtrArray) parts = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (DlpMerge) job = NULL;

  for (guint i = 0; i < names->len; i++)
    g_ptr_array_add (parts, g_build_filename (folder, names->pdata[i], NULL));
  g_ptr_array_add (parts, NULL);
  job = dlp_merge_new (location, run_id, (const char *const *) parts->pdata);
  if (!merge (self, sink, job, cancellable, error))
    return NULL;
  pthread_mutex_lock (&self->lock);
  g_ptr_array_add (self->merged, g_strdup (location));
  pthread_mutex_unlock (&self->lock);
  return g_strconcat (location, ".manifest.json", NULL);
}

/* ---- what is removed ---- */

bool
dlp_fanout_discard_merged (DlpElement *sink, const char *job_id, guint generation, GError **error)
{
  const char *const none[] = { NULL };
  g_autofree char *location = dlp_fanout_name_whole (sink);
  g_autofree char *run_id = make_run_id (job_id, generation);
  g_autoptr (DlpMerge) job = dlp_merge_new (location, run_id, none);

  return dlp_merge_discard (job, error);
}

/* Whatever is of this part: its manifest last, which is behind its files by its name. */
static bool
remove_part (int fd, const char *folder, GPtrArray *names, const char *part, GError **error)
{
  gsize size = strlen (part);

  for (guint i = 0; i < names->len; i++)
    {
      const char *name = names->pdata[i];

      if (strncmp (name, part, size) == 0 && (name[size] == '\0' || name[size] == '.') &&
          !dlp_durable_remove (fd, folder, name, error))
        return false;
    }
  return true;
}

bool
dlp_fanout_remove_parts (DlpFanout *self, const char *folder, GError **error)
{
  int fd = dlp_durable_open_folder (folder, error);
  g_autoptr (GPtrArray) names = fd >= 0 ? dlp_durable_list (fd, folder, error) : NULL;
  bool ok = names != NULL;

  for (guint i = 0; i < self->plan->n_tasks && ok; i++)
    {
      g_autofree char *part =
          g_strdup_printf ("part-%05u-of-%05u", i, dlp_fanout_plan_get_end (self->plan, i));

      ok = remove_part (fd, folder, names, part, error);
    }
  ok = ok && dlp_durable_sync_folder (fd, folder, error);
  if (fd >= 0)
    close (fd);
  return ok;
}
