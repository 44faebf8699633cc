/* SPDX-License-Identifier: MIT */

/* A plan that grows: what a list of files has now and had not when it was dealt gets tasks of its
 * own, with numbers behind the others. What was dealt stays as it is. */

#include <string.h>

#include "dlp-fanout-deal-private.h"
#include "dlp-fanout-plan-file-private.h"
#include "dlp-fanout-plan-private.h"

#define MOST_NAMED 10

typedef struct
{
  DlpFanoutPlan *plan; /* recorded, and then grown */
  bool accept;
  GPtrArray *added; /* of GArray of guint: of each source, which files of the list now */
  GString *named;   /* what is gone or has changed, the first ones */
  guint n_gone, n_changed;
} Update;

/* Signed anew, a name is the same. */
static char *
dup_key (DlpFile *file)
{
  return dlp_uri_redact (dlp_file_get_uri (file));
}

static bool
has_changed (DlpFile *was, DlpFile *is)
{
  const char *before = dlp_file_get_identity (was);
  const char *after = dlp_file_get_identity (is);

  if (dlp_file_get_size (was) >= 0 && dlp_file_get_size (is) >= 0 &&
      dlp_file_get_size (was) != dlp_file_get_size (is))
    return true;
  return before != NULL && after != NULL && strcmp (before, after) != 0;
}

static void
name_file (Update *self, const DlpFanoutSource *source, DlpFile *file, const char *what)
{
  g_autofree char *shown = NULL;

  if (self->n_gone + self->n_changed > MOST_NAMED)
    return;
  shown = dlp_uri_escape_for_display (dlp_file_get_uri (file));
  g_string_append_printf (self->named, "%s%s of %s %s", self->named->len > 0 ? ", " : "", shown,
                          source->name, what);
}

/* (key utf8) (value: the number of the file, and 1): the last one of a name is what is compared. */
static GHashTable *
index_files (GPtrArray *files)
{
  GHashTable *table = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);

  for (guint i = 0; i < files->len; i++)
    g_hash_table_insert (table, dup_key (files->pdata[i]), GUINT_TO_POINTER (i + 1));
  return table;
}

/* True: it is as it was dealt. */
static bool
find_recorded (Update *self, DlpFanoutSource *source, GHashTable *recorded, DlpFile *file)
{
  g_autofree char *key = dup_key (file);
  guint found = GPOINTER_TO_UINT (g_hash_table_lookup (recorded, key));

  if (found == 0)
    return false;
  if (!has_changed (source->files->pdata[found - 1], file))
    {
      source->stale[found - 1] = 0;
      return true;
    }
  if (!source->stale[found - 1])
    {
      self->n_changed++;
      name_file (self, source, source->files->pdata[found - 1], "has changed");
      source->stale[found - 1] = 1;
    }
  return false;
}

static void
find_gone (Update *self, DlpFanoutSource *source, GHashTable *now)
{
  for (guint i = 0; i < source->files->len; i++)
    {
      g_autofree char *key = dup_key (source->files->pdata[i]);

      if (source->stale[i] || g_hash_table_contains (now, key))
        continue;
      self->n_gone++;
      name_file (self, source, source->files->pdata[i], "is gone");
      source->stale[i] = 1;
    }
}

static void
compare_source (Update *self, DlpFanoutSource *recorded, const DlpFanoutSource *now)
{
  g_autoptr (GHashTable) was = index_files (recorded->files);
  g_autoptr (GHashTable) is = index_files (now->files);
  GArray *added = g_array_new (FALSE, FALSE, sizeof (guint));

  for (guint i = 0; i < now->files->len; i++)
    if (!find_recorded (self, recorded, was, now->files->pdata[i]))
      g_array_append_val (added, i);
  find_gone (self, recorded, is);
  g_ptr_array_add (self->added, added);
}

static bool
refuse_changes (Update *self, GError **error)
{
  guint n = self->n_gone + self->n_changed;

  if (n == 0 || self->accept)
    return true;
  g_set_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CHANGED,
               "%u file%s gone and %u %s changed since they were dealt, and what was made of them "
               "stays in the parts: %s%s; --accept-changed leaves it there and makes what has "
               "changed once more, --restart makes all anew",
               self->n_gone, self->n_gone == 1 ? " is" : "s are", self->n_changed,
               self->n_changed == 1 ? "has" : "have", self->named->str,
               n > MOST_NAMED ? " and others" : "");
  return false;
}

/* ---- tasks for what is new ---- */

static guint
count_added (const Update *self, const DlpFanoutPlan *now, guint64 *bytes)
{
  guint n = 0;

  *bytes = 0;
  for (guint i = 0; i < self->added->len; i++)
    {
      const DlpFanoutSource *source = g_ptr_array_index (now->sources, i);
      const GArray *added = g_ptr_array_index (self->added, i);

      for (guint k = 0; k < added->len; k++)
        {
          guint number = g_array_index (added, guint, k);

          *bytes += (guint64) MAX (dlp_file_get_size (source->files->pdata[number]), 0);
        }
      n += added->len;
    }
  return n;
}

/* Each new task needs a file of a source that begins again for ever. */
static bool
choose_tasks (const Update *self, const DlpFanoutPlan *now, guint *n_tasks, GError **error)
{
  guint64 bytes;
  guint n = count_added (self, now, &bytes);
  guint most = 0, least = G_MAXUINT;

  *n_tasks = 0;
  if (n == 0)
    return true;
  for (guint i = 0; i < self->added->len; i++)
    {
      const DlpFanoutSource *source = g_ptr_array_index (now->sources, i);
      guint n_added = ((GArray *) g_ptr_array_index (self->added, i))->len;

      most = MAX (most, n_added);
      if (source->epochs == 0)
        least = MIN (least, n_added);
      if (source->epochs != 0 || n_added > 0)
        continue;
      g_set_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CHANGED,
                   "%s begins again for ever and has no new file, so that tasks for the %u new "
                   "ones of other sources would have none of it; make all anew with --restart",
                   source->name, n);
      return false;
    }
  *n_tasks = dlp_fanout_choose_tasks (bytes, MIN (most, least));
  if (self->plan->n_tasks + *n_tasks <= DLP_FANOUT_MOST_TASKS)
    return true;
  g_set_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CHANGED,
               "%u tasks, and %u for what is new, are more than a job can have (%u); make all anew "
               "with --restart",
               self->plan->n_tasks, *n_tasks, DLP_FANOUT_MOST_TASKS);
  return false;
}

static void
add_files (DlpFanoutSource *to,
           const DlpFanoutSource *from,
           const GArray *added,
           guint first_task,
           guint n_tasks,
           guint64 *loads)
{
  guint before = to->files->len;
  g_autofree gint64 *sizes = g_new (gint64, added->len);
  guint32 *task_of;

  to->task_of = g_renew (guint32, to->task_of, before + added->len);
  to->stale = g_renew (guint8, to->stale, before + added->len);
  task_of = to->task_of + before;
  for (guint k = 0; k < added->len; k++)
    {
      DlpFile *file = from->files->pdata[g_array_index (added, guint, k)];

      sizes[k] = dlp_file_get_size (file);
      to->stale[before + k] = 0;
      g_ptr_array_add (to->files, g_object_ref (file));
    }
  dlp_fanout_deal (sizes, added->len, n_tasks, loads, task_of);
  for (guint k = 0; k < added->len; k++)
    task_of[k] += first_task;
}

static void
grow (Update *self, const DlpFanoutPlan *now, guint n_tasks)
{
  DlpFanoutPlan *plan = self->plan;
  guint first = plan->n_tasks;
  g_autofree guint64 *loads = g_new0 (guint64, n_tasks);

  for (guint i = 0; i < plan->sources->len; i++)
    add_files (plan->sources->pdata[i], now->sources->pdata[i], self->added->pdata[i], first,
               n_tasks, loads);
  plan->n_tasks = first + n_tasks;
  g_array_append_val (plan->ends, plan->n_tasks);
  dlp_fanout_plan_count (plan);
}

static bool
update (Update *self, const DlpFanoutPlan *now, bool *grown, GError **error)
{
  guint n_tasks;

  for (guint i = 0; i < now->sources->len; i++)
    compare_source (self, self->plan->sources->pdata[i], now->sources->pdata[i]);
  if (!refuse_changes (self, error) || !choose_tasks (self, now, &n_tasks, error))
    return false;
  *grown = n_tasks > 0;
  if (*grown)
    grow (self, now, n_tasks);
  return true;
}

static Update *
update_new (DlpFanoutPlan *plan, bool accept)
{
  Update *self = g_new0 (Update, 1);

  self->plan = plan;
  self->accept = accept;
  self->added = g_ptr_array_new_with_free_func ((GDestroyNotify) g_array_unref);
  self->named = g_string_new (NULL);
  return self;
}

static void
update_free (Update *self)
{
  g_ptr_array_unref (self->added);
  g_string_free (self->named, TRUE);
  g_free (self);
}

bool
dlp_fanout_plan_update (DlpFanoutPlan *self,
                        const DlpFanoutPlan *now,
                        bool accept,
                        bool *grown,
                        GError **error)
{
  Update *job;
  bool ok;

  *grown = false;
  if (!dlp_fanout_plan_compare_sources (self, now, error))
    return false;
  job = update_new (self, accept);
  ok = update (job, now, grown, error);
  update_free (job);
  return ok;
}

bool
dlp_fanout_plan_compare_grown (DlpFanoutPlan *self, const DlpFanoutPlan *now, GError **error)
{
  Update *job = update_new (self, true);
  guint64 bytes;
  guint n_added;

  for (guint i = 0; i < now->sources->len; i++)
    compare_source (job, self->sources->pdata[i], now->sources->pdata[i]);
  n_added = count_added (job, now, &bytes);
  if (n_added + job->n_gone > 0)
    g_set_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CHANGED,
                 "the list of files has changed since they were dealt: %u are new or have changed, "
                 "%u are gone%s%s; add what is new with --update, or begin anew with --restart",
                 n_added, job->n_gone, job->named->len > 0 ? ": " : "", job->named->str);
  n_added += job->n_gone;
  update_free (job);
  return n_added == 0;
}
