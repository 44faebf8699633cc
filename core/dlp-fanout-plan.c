/* SPDX-License-Identifier: MIT */

#include "dlp-fanout-plan-private.h"

#include <string.h>

#include <dlpipe/dlp-source.h>

#include "dlp-fanout-deal-private.h"
#include "dlp-fanout-plan-file-private.h"

void
dlp_fanout_source_free (gpointer source)
{
  DlpFanoutSource *self = source;

  g_clear_pointer (&self->files, g_ptr_array_unref);
  g_free (self->task_of);
  g_free (self->stale);
  g_free (self->name);
  g_free (self);
}

void
dlp_fanout_plan_free (DlpFanoutPlan *self)
{
  g_ptr_array_unref (self->sources);
  g_array_unref (self->ends);
  g_free (self);
}

DlpFanoutPlan *
dlp_fanout_plan_alloc (void)
{
  DlpFanoutPlan *self = g_new0 (DlpFanoutPlan, 1);

  self->sources = g_ptr_array_new_with_free_func (dlp_fanout_source_free);
  self->ends = g_array_new (FALSE, FALSE, sizeof (guint));
  return self;
}

/* ---- what there is to deal ---- */

static bool
add_source (DlpFanoutPlan *self, DlpElement *element, GError **error)
{
  DlpFanoutSource *source;
  GPtrArray *files = DLP_SOURCE_GET_CLASS (element)->list (DLP_SOURCE (element), error);

  if (files == NULL)
    {
      g_prefix_error (error, "%s: ", dlp_element_get_name (element));
      return false;
    }
  source = g_new0 (DlpFanoutSource, 1);
  source->name = g_strdup (dlp_element_get_name (element));
  source->files = files;
  source->task_of = g_new0 (guint32, files->len);
  source->stale = g_new0 (guint8, files->len);
  source->epochs = dlp_source_get_epochs (DLP_SOURCE (element));
  g_ptr_array_add (self->sources, source);
  return true;
}

static bool
add_sources (DlpFanoutPlan *self, GListModel *elements, GError **error)
{
  for (guint i = 0; i < g_list_model_get_n_items (elements); i++)
    {
      g_autoptr (DlpElement) element = g_list_model_get_item (elements, i);

      if (dlp_element_get_n_inputs (element) > 0)
        continue;
      if (!DLP_IS_SOURCE (element) || DLP_SOURCE_GET_CLASS (element)->list == NULL)
        {
          g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE,
                       "%s: what %s gives cannot be dealt to tasks; a fan-out needs a source of "
                       "files, such as file-source",
                       dlp_element_get_name (element), dlp_element_get_factory (element));
          return false;
        }
      if (!add_source (self, element, error))
        return false;
    }
  return true;
}

void
dlp_fanout_plan_count (DlpFanoutPlan *self)
{
  self->bytes = self->files = 0;
  for (guint i = 0; i < self->sources->len; i++)
    {
      DlpFanoutSource *source = g_ptr_array_index (self->sources, i);

      source->bytes = 0;
      for (guint k = 0; k < source->files->len; k++)
        source->bytes += (guint64) MAX (dlp_file_get_size (source->files->pdata[k]), 0);
      self->bytes += source->bytes;
      self->files += source->files->len;
    }
}

/* Each task has at least one file, and one of each source that begins again for ever: without any
 * it would never come to an end. */
static guint
count_most (const DlpFanoutPlan *self, const char **limited_by)
{
  guint most = 0, least = G_MAXUINT;

  *limited_by = NULL;
  for (guint i = 0; i < self->sources->len; i++)
    {
      const DlpFanoutSource *source = g_ptr_array_index (self->sources, i);

      most = MAX (most, source->files->len);
      if (source->epochs != 0 || source->files->len >= least)
        continue;
      least = source->files->len;
      *limited_by = source->name;
    }
  if (least >= most)
    *limited_by = NULL;
  return MIN (most, least);
}

static bool
choose_tasks (DlpFanoutPlan *self, guint n_tasks, GError **error)
{
  const char *limited_by;
  guint most = count_most (self, &limited_by);

  self->n_tasks = n_tasks > 0 ? n_tasks : dlp_fanout_choose_tasks (self->bytes, most);
  if (self->n_tasks <= MAX (most, 1))
    return true;
  if (limited_by != NULL)
    g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE,
                 "%u tasks, but %s, which begins again for ever, has only %u file%s, and each task "
                 "needs one of them",
                 n_tasks, limited_by, most, most == 1 ? "" : "s");
  else
    g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE,
                 "%u tasks, but there are only %u file%s to deal, and each task needs one; at most "
                 "%u tasks",
                 n_tasks, most, most == 1 ? "" : "s", MAX (most, 1));
  return false;
}

static void
deal (DlpFanoutPlan *self)
{
  g_autofree guint64 *loads = g_new0 (guint64, self->n_tasks);

  for (guint i = 0; i < self->sources->len; i++)
    {
      DlpFanoutSource *source = g_ptr_array_index (self->sources, i);
      g_autofree gint64 *sizes = g_new (gint64, source->files->len);

      for (guint k = 0; k < source->files->len; k++)
        sizes[k] = dlp_file_get_size (source->files->pdata[k]);
      dlp_fanout_deal (sizes, source->files->len, self->n_tasks, loads, source->task_of);
    }
}

DlpFanoutPlan *
dlp_fanout_plan_new (DlpPipeline *pipeline, guint n_tasks, GError **error)
{
  g_autoptr (DlpFanoutPlan) self = dlp_fanout_plan_alloc ();

  if (!add_sources (self, G_LIST_MODEL (pipeline), error))
    return NULL;
  dlp_fanout_plan_count (self);
  if (!choose_tasks (self, n_tasks, error))
    return NULL;
  g_array_append_val (self->ends, self->n_tasks);
  deal (self);
  return g_steal_pointer (&self);
}

/* ---- what a task has ---- */

guint64
dlp_fanout_plan_get_bytes (const DlpFanoutPlan *self, guint task)
{
  guint64 bytes = 0;

  for (guint i = 0; i < self->sources->len; i++)
    {
      const DlpFanoutSource *source = g_ptr_array_index (self->sources, i);

      for (guint k = 0; k < source->files->len; k++)
        if (source->task_of[k] == task)
          bytes += (guint64) MAX (dlp_file_get_size (source->files->pdata[k]), 0);
    }
  return bytes;
}

guint
dlp_fanout_plan_get_n_files (const DlpFanoutPlan *self, guint task)
{
  guint n = 0;

  for (guint i = 0; i < self->sources->len; i++)
    {
      const DlpFanoutSource *source = g_ptr_array_index (self->sources, i);

      for (guint k = 0; k < source->files->len; k++)
        n += source->task_of[k] == task;
    }
  return n;
}

guint
dlp_fanout_plan_get_n_generations (const DlpFanoutPlan *self)
{
  return self->ends->len;
}

guint
dlp_fanout_plan_get_generation (const DlpFanoutPlan *self, guint task)
{
  guint i = 0;

  while (i + 1 < self->ends->len && task >= g_array_index (self->ends, guint, i))
    i++;
  return i;
}

guint
dlp_fanout_plan_get_end (const DlpFanoutPlan *self, guint task)
{
  return g_array_index (self->ends, guint, dlp_fanout_plan_get_generation (self, task));
}

/* ---- whether it is still what was dealt ---- */

/* Signed anew, a name is the same. */
static bool
is_same_file (DlpFile *a, DlpFile *b)
{
  g_autofree char *x = NULL;
  g_autofree char *y = NULL;

  if (strcmp (dlp_file_get_uri (a), dlp_file_get_uri (b)) == 0)
    return true;
  x = dlp_uri_redact (dlp_file_get_uri (a));
  y = dlp_uri_redact (dlp_file_get_uri (b));
  return strcmp (x, y) == 0;
}

static char *
show_file (const DlpFanoutSource *source, guint i)
{
  if (i >= source->files->len)
    return g_strdup ("no file");
  return dlp_uri_escape_for_display (dlp_file_get_uri (source->files->pdata[i]));
}

static bool
compare_source (const DlpFanoutSource *recorded, const DlpFanoutSource *now, GError **error)
{
  guint n = MIN (recorded->files->len, now->files->len);
  g_autofree char *was = NULL;
  g_autofree char *is = NULL;
  guint i = 0;

  while (i < n && is_same_file (recorded->files->pdata[i], now->files->pdata[i]))
    i++;
  if (i == n && recorded->files->len == now->files->len)
    return true;
  was = show_file (recorded, i);
  is = show_file (now, i);
  g_set_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CHANGED,
               "%s: the list of files has changed since they were dealt: there were %u, now there "
               "are %u; file %u (from 0) was %s, and is %s now; restore the files, add what is new "
               "with --update, or begin anew with --restart",
               recorded->name, recorded->files->len, now->files->len, i, was, is);
  return false;
}

bool
dlp_fanout_plan_compare_sources (const DlpFanoutPlan *recorded,
                                 const DlpFanoutPlan *now,
                                 GError **error)
{
  if (recorded->sources->len != now->sources->len)
    {
      g_set_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CHANGED,
                   "the job was begun with %u sources, the graph has %u; go on with what was "
                   "recorded, or begin anew with --restart",
                   recorded->sources->len, now->sources->len);
      return false;
    }
  return true;
}

bool
dlp_fanout_plan_compare (const DlpFanoutPlan *recorded, const DlpFanoutPlan *now, GError **error)
{
  if (!dlp_fanout_plan_compare_sources (recorded, now, error))
    return false;
  for (guint i = 0; i < now->sources->len; i++)
    if (!compare_source (recorded->sources->pdata[i], now->sources->pdata[i], error))
      return false;
  return true;
}
