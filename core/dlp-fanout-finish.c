/* SPDX-License-Identifier: MIT */

/* The end of a job: its parts are looked at, and in the folder of each output a manifest of all of
 * them is written, which says that the whole is there. */

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <dlpipe/dlp-manifest.h>

#include "dlp-durable-private.h"
#include "dlp-fanout-private.h"
#include "dlp-fanout-task-private.h"
#include "dlp-merge-private.h"

#define MANIFEST_FILE "manifest.json"
#define MANIFEST_END ".manifest.json"
#define REMOVED_KEY "parts-removed"
/* A minute in all: another rank only writes manifests meanwhile. */
#define TURN_US (50 * 1000)
#define MAX_TURNS 1200
#define MAX_COLLISIONS 20
/* Of a task that is recorded as done, whose output somebody has changed since. */
#define REMEDY "restore what was written, or begin the job anew with --restart"

/* ---- digests ---- */

/* (nullable): as this process made it, or as JSON has it. */
static char *
dup_digest (GVariant *outcome, const char *sink)
{
  g_autoptr (GVariant) digests = g_variant_lookup_value (outcome, "digests", NULL);
  char *text = NULL;

  if (digests == NULL || !g_variant_is_of_type (digests, G_VARIANT_TYPE_DICTIONARY))
    return NULL;
  if (g_variant_is_of_type (digests, G_VARIANT_TYPE ("a{ss}")))
    g_variant_lookup (digests, sink, "s", &text);
  else if (g_variant_is_of_type (digests, G_VARIANT_TYPE_VARDICT))
    g_variant_lookup (digests, sink, "s", &text);
  return text;
}

static void
add_names (GHashTable *names, GVariant *outcome)
{
  g_autoptr (GVariant) digests = g_variant_lookup_value (outcome, "digests", NULL);

  for (gsize i = 0; digests != NULL && i < g_variant_n_children (digests); i++)
    {
      g_autoptr (GVariant) entry = g_variant_get_child_value (digests, i);
      g_autoptr (GVariant) name = NULL;

      if (!g_variant_is_of_type (entry, G_VARIANT_TYPE_DICT_ENTRY))
        return;
      name = g_variant_get_child_value (entry, 0);
      g_hash_table_add (names, g_variant_dup_string (name, NULL));
    }
}

GVariant *
dlp_fanout_sum_digests (DlpFanout *self)
{
  g_autoptr (GHashTable) names = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr (GList) sorted = NULL;
  GVariantBuilder builder;

  for (guint i = 0; i < self->tasks->len; i++)
    {
      const DlpFanoutTask *task = g_ptr_array_index (self->tasks, i);

      if (task->outcome != NULL)
        add_names (names, task->outcome);
    }
  sorted = g_list_sort (g_hash_table_get_keys (names), (GCompareFunc) strcmp);
  g_variant_builder_init (&builder, G_VARIANT_TYPE ("a{ss}"));
  for (GList *name = sorted; name != NULL; name = name->next)
    {
      guint64 sum[2] = { 0, 0 };
      g_autofree char *text = NULL;

      for (guint i = 0; i < self->tasks->len; i++)
        {
          const DlpFanoutTask *task = g_ptr_array_index (self->tasks, i);
          g_autofree char *digest =
              task->outcome != NULL ? dup_digest (task->outcome, name->data) : NULL;

          if (digest != NULL)
            dlp_merge_add_digest (sum, digest);
        }
      text =
          g_strdup_printf ("%016" G_GINT64_MODIFIER "x%016" G_GINT64_MODIFIER "x", sum[1], sum[0]);
      g_variant_builder_add (&builder, "{ss}", name->data, text);
    }
  return g_variant_builder_end (&builder);
}

/* ---- parts ---- */

typedef struct
{
  GArray *files;    /* of DlpManifestFile */
  GPtrArray *paths; /* of char *: of those */
  char *format;     /* (nullable): of the parts */
  char *merged;     /* (nullable): the name of what they have become */
  bool removed;     /* and they are no more */
  guint64 bytes;
} Whole;

static void
whole_clear (Whole *self)
{
  g_array_unref (self->files);
  g_ptr_array_unref (self->paths);
  g_free (self->format);
  g_free (self->merged);
}

static bool
add_file (Whole *self, const char *folder, GVariant *manifest, guint i, GError **error)
{
  DlpManifestFile file = { 0 };
  const char *name;
  char *path;
  struct stat st;

  dlp_manifest_get_file (manifest, i, &name, &file.bytes, &file.hash);
  path = g_build_filename (folder, name, NULL);
  g_ptr_array_add (self->paths, path);
  if (stat (path, &st) != 0)
    g_set_error (error, G_IO_ERROR, g_io_error_from_errno (errno),
                 "%s: its manifest lists it, but: %s; " REMEDY, path, g_strerror (errno));
  else if ((guint64) st.st_size != file.bytes)
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
                 "%s: it has %" G_GINT64_FORMAT " bytes, and by its manifest %" G_GUINT64_FORMAT
                 "; " REMEDY,
                 path, (gint64) st.st_size, file.bytes);
  else
    {
      file.path = path;
      self->bytes += file.bytes;
      g_array_append_val (self->files, file);
      return true;
    }
  return false;
}

static bool
add_part (Whole *self, const char *folder, const char *name, GError **error)
{
  g_autofree char *path = g_build_filename (folder, name, NULL);
  g_autoptr (GVariant) manifest = dlp_manifest_load (path, error);

  if (manifest == NULL)
    return false;
  if (self->format == NULL)
    self->format = g_strdup (dlp_manifest_get_string (manifest, "format"));
  for (guint i = 0; i < dlp_manifest_get_n_files (manifest); i++)
    if (!add_file (self, folder, manifest, i, error))
      return false;
  return true;
}

static int
compare_names (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *) a, *(const char *const *) b);
}

/* (element-type utf8): of the parts' manifests, in their order: that of the tasks. */
static GPtrArray *
list_manifests (const char *folder, GError **error)
{
  g_autoptr (GDir) dir = g_dir_open (folder, 0, error);
  GPtrArray *names;
  const char *name;

  if (dir == NULL)
    return NULL;
  names = g_ptr_array_new_with_free_func (g_free);
  while ((name = g_dir_read_name (dir)) != NULL)
    if (g_str_has_prefix (name, "part-") && g_str_has_suffix (name, MANIFEST_END))
      g_ptr_array_add (names, g_strdup (name));
  g_ptr_array_sort (names, compare_names);
  return names;
}

static bool
check_names (DlpFanout *self, const char *folder, GPtrArray *names, GError **error)
{
  if (names->len != self->tasks->len)
    {
      g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
                   "%s: there are manifests of %u parts, and %u tasks are done; " REMEDY, folder,
                   names->len, self->tasks->len);
      return false;
    }
  for (guint i = 0; i < names->len; i++)
    {
      g_autofree char *part =
          g_strdup_printf ("part-%05u-of-%05u", i, dlp_fanout_plan_get_end (self->plan, i));

      if (g_str_has_prefix (names->pdata[i], part))
        continue;
      g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
                   "%s: %s is no part of this job, whose task %u has made %s", folder,
                   (const char *) names->pdata[i], i, part);
      return false;
    }
  return true;
}

static bool
add_parts (Whole *self, const char *folder, GPtrArray *names, GError **error)
{
  for (guint i = 0; i < names->len; i++)
    if (!add_part (self, folder, names->pdata[i], error))
      return false;
  return true;
}

/* ---- the manifest of the whole ---- */

static guint64
sum_outcomes (DlpFanout *self, const char *key)
{
  guint64 sum = 0;

  for (guint i = 0; i < self->tasks->len; i++)
    sum += dlp_fanout_get_count (((DlpFanoutTask *) self->tasks->pdata[i])->outcome, key);
  return sum;
}

static GVariant *
make_members (DlpFanout *self, const Whole *whole)
{
  GVariantDict dict;

  g_variant_dict_init (&dict, NULL);
  g_variant_dict_insert (&dict, "format-of-parts", "s", whole->format != NULL ? whole->format : "");
  g_variant_dict_insert (&dict, "parts", "t", (guint64) self->tasks->len);
  g_variant_dict_insert (&dict, "bytes", "t", whole->bytes);
  g_variant_dict_insert (&dict, "records", "t", sum_outcomes (self, "records"));
  g_variant_dict_insert (&dict, "tokens", "t", sum_outcomes (self, "tokens"));
  g_variant_dict_insert (&dict, "input-files", "t", (guint64) self->plan->files);
  g_variant_dict_insert (&dict, "input-bytes", "t", self->plan->bytes);
  g_variant_dict_insert (&dict, "seed", "t", self->seed);
  g_variant_dict_insert_value (&dict, "digests-unordered", dlp_fanout_sum_digests (self));
  if (whole->merged != NULL)
    {
      g_variant_dict_insert (&dict, "merged", "s", whole->merged);
      g_variant_dict_insert (&dict, REMOVED_KEY, "b", (gboolean) whole->removed);
    }
  return g_variant_dict_end (&dict);
}

static bool
write_whole (DlpFanout *self, const char *folder, const Whole *whole, GError **error)
{
  g_autofree char *path = g_build_filename (folder, MANIFEST_FILE, NULL);
  g_autoptr (GVariant) manifest =
      dlp_manifest_new ("fanout", self->job_id, (DlpManifestFile *) whole->files->data,
                        whole->files->len, make_members (self, whole));

  return dlp_manifest_write (path, manifest, error);
}

bool
dlp_fanout_has_removed_parts (const char *folder)
{
  g_autofree char *path = g_build_filename (folder, MANIFEST_FILE, NULL);
  g_autoptr (GVariant) manifest = dlp_manifest_load (path, NULL);
  gboolean removed = FALSE;

  return manifest != NULL && g_variant_lookup (manifest, REMOVED_KEY, "b", &removed) && removed;
}

/* The parts are listed too, as long as they stay. */
static bool
add_merged (DlpFanout *self,
            Whole *whole,
            DlpElement *sink,
            const char *folder,
            GPtrArray *names,
            GCancellable *cancellable,
            GError **error)
{
  guint64 bytes = whole->bytes;
  g_autofree char *path = dlp_fanout_merge_parts (self, sink, folder, names, cancellable, error);
  g_autofree char *name = path != NULL ? g_path_get_basename (path) : NULL;

  if (path == NULL)
    return false;
  whole->merged = g_strndup (name, strlen (name) - strlen (MANIFEST_END));
  whole->removed |= self->settings.remove_parts;
  if (whole->removed)
    {
      g_array_set_size (whole->files, 0);
      bytes = 0;
    }
  whole->bytes = 0;
  if (!add_part (whole, folder, name, error))
    return false;
  if (bytes > 0)
    whole->bytes = bytes;
  return true;
}

static bool
collect_whole (DlpFanout *self,
               Whole *whole,
               DlpElement *sink,
               const char *folder,
               GCancellable *cancellable,
               GError **error)
{
  g_autoptr (GPtrArray) names = list_manifests (folder, error);

  if (names == NULL)
    return false;
  whole->removed = dlp_fanout_has_removed_parts (folder);
  if (!whole->removed &&
      (!check_names (self, folder, names, error) || !add_parts (whole, folder, names, error)))
    return false;
  return (!self->settings.merge && !dlp_fanout_is_merged (sink)) ||
         add_merged (self, whole, sink, folder, names, cancellable, error);
}

static bool
finish_sink (DlpFanout *self,
             DlpElement *sink,
             const char *folder,
             GCancellable *cancellable,
             GError **error)
{
  Whole whole = { g_array_new (FALSE, FALSE, sizeof (DlpManifestFile)),
                  g_ptr_array_new_with_free_func (g_free),
                  NULL,
                  NULL,
                  false,
                  0 };
  bool ok = collect_whole (self, &whole, sink, folder, cancellable, error) &&
            write_whole (self, folder, &whole, error) &&
            (!whole.removed || dlp_fanout_remove_parts (self, folder, error));

  whole_clear (&whole);
  return ok;
}

/* Of other ranks, what they have recorded meanwhile. */
static bool
is_all_done (DlpFanout *self)
{
  bool all = true;

  pthread_mutex_lock (&self->lock);
  for (guint i = 0; i < self->tasks->len && all; i++)
    {
      DlpFanoutTask *task = g_ptr_array_index (self->tasks, i);

      if (!dlp_fanout_is_own (self, i))
        dlp_fanout_load_outcome (self, task);
      all = task->status == DLP_TASK_DONE;
    }
  pthread_mutex_unlock (&self->lock);
  return all;
}

/* Ranks that end at the same time would clear away each other's temporary files: one after the
 * other, by the lock of the job itself. */
static bool
take_turn (DlpFanout *self, GCancellable *cancellable, GError **error)
{
  for (guint i = 1; self->settings.world_size > 1; i++)
    {
      GError *local = NULL;

      if (dlp_fanout_job_lock (self->job, -1, &local))
        break;
      if (i == MAX_TURNS || !g_error_matches (local, DLP_STATE_ERROR, DLP_STATE_ERROR_LOCKED))
        {
          g_propagate_error (error, local);
          return false;
        }
      g_error_free (local);
      if (!dlp_fanout_pause (self, cancellable, TURN_US,
                             "another rank had written the manifest of the whole", error))
        return false;
    }
  return true;
}

static bool
finish_sinks (DlpFanout *self, GCancellable *cancellable, GError **error)
{
  g_autoptr (DlpPipeline) pipeline = dlp_pipeline_new_from_string (self->graph, error);
  GListModel *elements = G_LIST_MODEL (pipeline);

  if (pipeline == NULL)
    return false;
  for (guint i = 0; i < g_list_model_get_n_items (elements); i++)
    {
      g_autoptr (DlpElement) element = g_list_model_get_item (elements, i);
      g_autofree char *folder = dlp_fanout_get_folder (element);

      if (folder != NULL && !finish_sink (self, element, folder, cancellable, error))
        return false;
    }
  return true;
}

/* Where there are no locks a rank that ends in the same instant may have cleared away what this one
 * was about to rename. It writes the same. */
static bool
may_be_collision (DlpFanout *self, const GError *error)
{
  return self->settings.world_size > 1 && g_error_matches (error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND);
}

bool
dlp_fanout_finish (DlpFanout *self, GCancellable *cancellable, GError **error)
{
  if (!is_all_done (self))
    return true;
  if (!take_turn (self, cancellable, error))
    return false;
  for (guint i = 1;; i++)
    {
      GError *local = NULL;

      if (finish_sinks (self, cancellable, &local))
        return true;
      if (i == MAX_COLLISIONS || !may_be_collision (self, local))
        {
          g_propagate_error (error, local);
          return false;
        }
      g_error_free (local);
      if (!dlp_fanout_pause (self, cancellable, TURN_US,
                             "another rank had written the manifest of the whole", error))
        return false;
    }
}

/* @graph: of the job that is discarded. */
bool
dlp_fanout_discard_whole (const char *graph,
                          const char *job_id,
                          guint n_generations,
                          GError **error)
{
  g_autoptr (DlpPipeline) pipeline = dlp_pipeline_new_from_string (graph, error);
  GListModel *elements = G_LIST_MODEL (pipeline);

  if (pipeline == NULL)
    return false;
  for (guint i = 0; i < g_list_model_get_n_items (elements); i++)
    {
      g_autoptr (DlpElement) element = g_list_model_get_item (elements, i);
      g_autofree char *folder = dlp_fanout_get_folder (element);
      g_autofree char *path =
          folder != NULL ? g_build_filename (folder, MANIFEST_FILE, NULL) : NULL;

      if (path == NULL)
        continue;
      for (guint k = 0; k < n_generations; k++)
        if (!dlp_fanout_discard_merged (element, job_id, k, error))
          return false;
      if (!dlp_manifest_check_run (path, job_id, error))
        return false;
      if (unlink (path) == 0 || errno == ENOENT)
        continue;
      dlp_durable_set_error (error, errno, "%s: cannot remove", path);
      return false;
    }
  return true;
}
