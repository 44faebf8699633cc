/* SPDX-License-Identifier: MIT */

#include "dlp-state-dir-private.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <dlpipe/dlp-json.h>

#include "dlp-durable-private.h"
#include "dlp-input-list-private.h"
#include "dlp-partial-private.h"
#include "dlp-state-files-private.h"
#include "dlp-state-lock-private.h"

#define CHECKPOINT_PREFIX "checkpoint-"
#define BAD_SUFFIX ".bad"
#define STATUS_NAME "status.json"
#define RUN_ID_NAME "run-id"
#define QUARANTINE_SUFFIX ".jsonl"

struct _DlpStateDir
{
  char *path;
  int folder;
  DlpStateLock *lock; /* NULL: read-only */
  DlpInputList *inputs;
  gboolean inputs_expected; /* there is a checkpoint whose list was not restored yet */
  guint64 newest;           /* the highest number that is or was there */
  guint64 good;             /* the newest one that is known to be whole, 0: none */
  GPtrArray *good_files;    /* of char *: the files of states that it names */
  guint n_saved;
  GError *error; /* a sync failed */
};

static gboolean
parse_generation (const char *name, guint64 *generation)
{
  const char *digits = name + strlen (CHECKPOINT_PREFIX);

  return g_str_has_prefix (name, CHECKPOINT_PREFIX) && digits[0] != '0' && digits[0] != '+' &&
         g_ascii_string_to_unsigned (digits, 10, 1, G_MAXUINT64 - 1, generation, NULL);
}

static char *
name_of (guint64 generation)
{
  return g_strdup_printf (CHECKPOINT_PREFIX "%" G_GUINT64_FORMAT, generation);
}

static int
compare_descending (gconstpointer a, gconstpointer b)
{
  guint64 x = *(const guint64 *) a;
  guint64 y = *(const guint64 *) b;

  return x < y ? 1 : x > y ? -1 : 0;
}

/* A folder is none of ours, whatever its name: trainers call theirs checkpoint-500. */
static gboolean
is_folder (DlpStateDir *self, const char *name)
{
  struct stat st;

  return fstatat (self->folder, name, &st, 0) == 0 && S_ISDIR (st.st_mode);
}

/* (element-type guint64): the newest first. */
static GArray *
list_generations (DlpStateDir *self, GError **error)
{
  g_autoptr (GPtrArray) names = dlp_durable_list (self->folder, self->path, error);
  g_autoptr (GArray) generations = NULL;

  if (names == NULL)
    return NULL;

  generations = g_array_new (FALSE, FALSE, sizeof (guint64));
  for (guint i = 0; i < names->len; i++)
    {
      guint64 generation;

      if (parse_generation (names->pdata[i], &generation) && !is_folder (self, names->pdata[i]))
        g_array_append_val (generations, generation);
    }
  g_array_sort (generations, compare_descending);

  return g_steal_pointer (&generations);
}

static gboolean
remove_temporaries (DlpStateDir *self, GError **error)
{
  g_autoptr (GPtrArray) names = dlp_durable_list (self->folder, self->path, error);

  if (names == NULL)
    return FALSE;

  for (guint i = 0; i < names->len; i++)
    if (dlp_durable_is_temporary (names->pdata[i], NULL) &&
        !dlp_durable_remove (self->folder, self->path, names->pdata[i], error))
      return FALSE;
  return TRUE;
}

static gboolean
note_generations (DlpStateDir *self, GError **error)
{
  g_autoptr (GArray) generations = list_generations (self, error);

  if (generations == NULL)
    return FALSE;

  if (generations->len > 0)
    {
      self->newest = g_array_index (generations, guint64, 0);
      self->inputs_expected = TRUE;
    }
  return TRUE;
}

static DlpStateDir *
open_folder (const char *path, GError **error)
{
  int folder = dlp_durable_open_folder (path, error);
  DlpStateDir *self;

  if (folder < 0)
    return NULL;

  self = g_new0 (DlpStateDir, 1);
  self->path = g_strdup (path);
  self->folder = folder;
  self->inputs = dlp_input_list_new (folder, path);
  return self;
}

/* "quarantine.jsonl", or, where there are several readers, "quarantine-READER.jsonl". */
static gboolean
is_quarantine (const char *name)
{
  const char *rest = name + strlen ("quarantine");

  return g_str_has_prefix (name, "quarantine") && g_str_has_suffix (rest, QUARANTINE_SUFFIX) &&
         (rest[0] == '-' || strcmp (rest, QUARANTINE_SUFFIX) == 0);
}

static gboolean
is_unfinished_quarantine (const char *name)
{
  const char *end = g_strrstr (name, QUARANTINE_SUFFIX ".");
  g_autofree char *final = NULL;
  guint attempt;

  if (name[0] != '.' || end == NULL)
    return FALSE;
  final = g_strndup (name + 1, (gsize) (end - name - 1) + strlen (QUARANTINE_SUFFIX));
  return is_quarantine (final) && dlp_partial_parse (name, final, NULL, &attempt);
}

static gboolean
is_state_file (const char *name)
{
  g_auto (DlpStateFileName) parsed = { NULL };

  return dlp_state_file_name_parse (name, &parsed);
}

static gboolean
is_ours (const char *name)
{
  static const char *const names[] = { "inputs", STATUS_NAME, RUN_ID_NAME, "report.json" };
  g_autofree char *stem = NULL;
  guint64 generation;
  guint attempt;

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    if (strcmp (name, names[i]) == 0 || dlp_partial_parse (name, names[i], NULL, &attempt))
      return TRUE;

  if (!g_str_has_suffix (name, BAD_SUFFIX))
    return is_quarantine (name) || is_unfinished_quarantine (name) || is_state_file (name) ||
           dlp_durable_is_temporary (name, NULL);
  stem = g_strndup (name, strlen (name) - strlen (BAD_SUFFIX));
  return parse_generation (stem, &generation);
}

gboolean
dlp_state_dir_is_own_name (const char *name)
{
  guint64 generation;

  return is_ours (name) || strcmp (name, "lock") == 0 || parse_generation (name, &generation);
}

/* Whether a name that a state uses is in the way: not ours to replace or to delete. */
static gboolean
is_foreign (DlpStateDir *self, const char *name, DlpStateLockKind lock)
{
  guint64 generation;

  if (strcmp (name, "lock") == 0)
    return lock == DLP_STATE_LOCK_FOREIGN;
  if (parse_generation (name, &generation))
    return !is_folder (self, name);
  return is_ours (name) && !dlp_durable_is_temporary (name, NULL);
}

/* A state folder has a lock or a checkpoint; one whose run died at once has an empty lock. The name
 * of a checkpoint alone proves nothing: other programs call what they save so, too. */
static gboolean
check_folder (DlpStateDir *self, GError **error)
{
  g_autoptr (GPtrArray) names = dlp_durable_list (self->folder, self->path, error);
  const char *foreign = NULL;
  DlpStateLockKind lock;

  if (names == NULL || !dlp_state_lock_identify (self->folder, self->path, &lock, error))
    return FALSE;
  if (lock == DLP_STATE_LOCK_OURS)
    return TRUE;
  for (guint i = 0; i < names->len; i++)
    {
      const char *name = names->pdata[i];
      gboolean is_checkpoint = FALSE;
      guint64 generation;

      if (parse_generation (name, &generation) &&
          !dlp_checkpoint_identify (self->folder, self->path, name, &is_checkpoint, error))
        return FALSE;
      if (is_checkpoint)
        return TRUE;
      if (is_foreign (self, name, lock))
        foreign = name;
    }
  if (foreign == NULL)
    return TRUE;
  g_set_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_FOREIGN_OUTPUT,
               "%s: is not the state of a run, but has “%s”, which a state would replace: choose a "
               "folder that is new or empty",
               self->path, foreign);
  return FALSE;
}

DlpStateDir *
dlp_state_dir_open (const char *path, GError **error)
{
  g_autoptr (DlpStateDir) self = NULL;

  g_return_val_if_fail (path != NULL, NULL);

  if (!dlp_durable_make_folder (path, error))
    return NULL;
  self = open_folder (path, error);
  if (self == NULL)
    return NULL;

  if (!check_folder (self, error))
    return NULL;
  self->lock = dlp_state_lock_take (self->folder, path, error);
  if (self->lock == NULL || !remove_temporaries (self, error) || !note_generations (self, error) ||
      !dlp_durable_sync_folder (self->folder, path, error))
    return NULL;

  return g_steal_pointer (&self);
}

DlpStateDir *
dlp_state_dir_open_read_only (const char *path, GError **error)
{
  g_return_val_if_fail (path != NULL, NULL);

  return open_folder (path, error);
}

void
dlp_state_dir_free (DlpStateDir *self)
{
  if (self == NULL)
    return;

  dlp_input_list_free (self->inputs);
  g_clear_pointer (&self->good_files, g_ptr_array_unref);
  dlp_state_lock_release (self->lock);
  close (self->folder);
  g_clear_error (&self->error);
  g_free (self->path);
  g_free (self);
}

const char *
dlp_state_dir_get_path (DlpStateDir *self)
{
  return self->path;
}

gboolean
dlp_state_dir_former_is_dead (DlpStateDir *self)
{
  return self->lock != NULL && dlp_state_lock_former_is_dead (self->lock);
}

guint
dlp_state_dir_get_attempt (DlpStateDir *self)
{
  return self->lock != NULL ? dlp_state_lock_get_attempt (self->lock) : 0;
}

/* ---- files of states ---- */

typedef enum
{
  STATE_FILES_OLDER,   /* than one that is named of the same element */
  STATE_FILES_YOUNGER, /* than all that are named of the same element, of which there is one */
  STATE_FILES_ALL,
} StateFiles;

/* What checkpoints name. */
typedef struct
{
  GHashTable *names;    /* of any generation */
  GHashTable *youngest; /* DlpStateFileName by element, of the newest generation */
} NamedFiles;

static void
name_free (gpointer data)
{
  dlp_state_file_name_clear (data);
  g_free (data);
}

static void
named_files_clear (NamedFiles *self)
{
  g_clear_pointer (&self->names, g_hash_table_unref);
  g_clear_pointer (&self->youngest, g_hash_table_unref);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (NamedFiles, named_files_clear)

static gboolean
is_older (const DlpStateFileName *a, const DlpStateFileName *b)
{
  return a->attempt < b->attempt || (a->attempt == b->attempt && a->number < b->number);
}

static void
note_youngest (NamedFiles *self, const char *name)
{
  g_auto (DlpStateFileName) file = { NULL };
  DlpStateFileName *known;

  if (!dlp_state_file_name_parse (name, &file))
    return;
  known = g_hash_table_lookup (self->youngest, file.element);
  if (known != NULL && is_older (&file, known))
    return;
  known = g_memdup2 (&file, sizeof file);
  file.element = NULL;
  g_hash_table_replace (self->youngest, known->element, known);
}

/* @before: (nullable). Both have to stay. */
static void
named_files_init (NamedFiles *self, GPtrArray *newest, GPtrArray *before)
{
  self->names = g_hash_table_new (g_str_hash, g_str_equal);
  self->youngest = g_hash_table_new_full (g_str_hash, g_str_equal, NULL, name_free);
  for (guint i = 0; i < newest->len; i++)
    {
      g_hash_table_add (self->names, newest->pdata[i]);
      note_youngest (self, newest->pdata[i]);
    }
  for (guint i = 0; before != NULL && i < before->len; i++)
    g_hash_table_add (self->names, before->pdata[i]);
}

static gboolean
is_one_of (StateFiles which, const char *name, NamedFiles *named)
{
  g_auto (DlpStateFileName) file = { NULL };
  const DlpStateFileName *youngest;

  if (!dlp_state_file_name_parse (name, &file) || g_hash_table_contains (named->names, name))
    return FALSE;
  youngest = g_hash_table_lookup (named->youngest, file.element);
  return which == STATE_FILES_ALL ||
         (youngest != NULL && is_older (&file, youngest) == (which == STATE_FILES_OLDER));
}

/* Those that neither @newest nor the generation before it names. Marks move on: what is older than
 * a file that the newest checkpoint names will never be named again, but a younger one may be in
 * the next. */
static void
remove_state_files (DlpStateDir *self, StateFiles which, GPtrArray *newest)
{
  g_autoptr (GError) failure = NULL;
  g_autoptr (GPtrArray) names = dlp_durable_list (self->folder, self->path, &failure);
  g_auto (NamedFiles) named = { NULL };

  if (names == NULL)
    g_warning ("%s", failure->message);
  named_files_init (&named, newest, self->good_files);
  for (guint i = 0; names != NULL && i < names->len; i++)
    {
      const char *name = names->pdata[i];
      g_autoptr (GError) error = NULL;

      if (is_one_of (which, name, &named) &&
          !dlp_durable_remove (self->folder, self->path, name, &error))
        g_warning ("%s", error->message);
    }
}

/* Goes through @generations until one is whole. @failures: what was wrong with those before it. */
static GVariant *
load_newest (DlpStateDir *self,
             GArray *generations,
             guint *chosen,
             GString *failures,
             GError **error)
{
  for (guint i = 0; i < generations->len; i++)
    {
      g_autoptr (GError) failure = NULL;
      g_autofree char *name = name_of (g_array_index (generations, guint64, i));
      gboolean damaged = FALSE;
      GVariant *payload = dlp_checkpoint_load (self->folder, self->path, name, &damaged, &failure);

      if (payload != NULL)
        {
          *chosen = i;
          return payload;
        }
      if (!damaged)
        {
          g_propagate_error (error, g_steal_pointer (&failure));
          return NULL;
        }
      g_string_append_printf (failures, "%s%s", failures->len > 0 ? "; " : "", failure->message);
    }

  if (generations->len > 0)
    g_set_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CORRUPT,
                 "%s: no checkpoint can be used: %s", self->path, failures->str);
  return NULL;
}

/* The run goes on from an older generation and will write what the damaged one does not know of:
 * should that become readable again, it must not be taken. */
static gboolean
put_aside (DlpStateDir *self, GArray *generations, guint n, GError **error)
{
  for (guint i = 0; i < n; i++)
    {
      g_autofree char *name = name_of (g_array_index (generations, guint64, i));
      g_autofree char *bad = g_strconcat (name, BAD_SUFFIX, NULL);

      if (!dlp_durable_rename (self->folder, self->path, name, bad, error))
        return FALSE;
    }

  return dlp_durable_sync_folder (self->folder, self->path, error);
}

/* Unless it is one of this attempt. */
static gboolean
count_attempt (DlpStateDir *self, GVariant *payload, GError **error)
{
  guint former;

  return self->n_saved > 0 || !g_variant_lookup (payload, "attempt", "u", &former) ||
         dlp_state_lock_come_after (self->lock, former, error);
}

static GVariant *
load_listed (DlpStateDir *self,
             GArray *generations,
             guint64 *generation,
             char **fell_back,
             GError **error)
{
  g_autoptr (GString) failures = g_string_new (NULL);
  g_autoptr (GVariant) payload = NULL;
  guint chosen = 0;

  payload = load_newest (self, generations, &chosen, failures, error);
  if (payload == NULL)
    return NULL;
  if (self->lock != NULL && ((chosen > 0 && !put_aside (self, generations, chosen, error)) ||
                             !count_attempt (self, payload, error)))
    return NULL;

  self->good = g_array_index (generations, guint64, chosen);
  g_clear_pointer (&self->good_files, g_ptr_array_unref);
  self->good_files = dlp_state_file_list_names (payload);
  /* What was made behind the checkpoint, by an attempt that ended. */
  if (self->lock != NULL)
    remove_state_files (self, STATE_FILES_YOUNGER, self->good_files);
  if (generation != NULL)
    *generation = self->good;
  if (chosen > 0 && fell_back != NULL)
    *fell_back = g_strdup_printf ("%s; going on from " CHECKPOINT_PREFIX "%" G_GUINT64_FORMAT,
                                  failures->str, self->good);
  return g_steal_pointer (&payload);
}

GVariant *
dlp_state_dir_load (DlpStateDir *self, guint64 *generation, char **fell_back, GError **error)
{
  g_autoptr (GError) failure = NULL;

  if (generation != NULL)
    *generation = 0;
  if (fell_back != NULL)
    *fell_back = NULL;

  /* A run may remove a generation between the listing and the opening by a tool. */
  for (guint i = 0; i < 10; i++)
    {
      g_autoptr (GArray) generations = NULL;
      GVariant *payload;

      g_clear_error (&failure);
      generations = list_generations (self, error);
      if (generations == NULL)
        return NULL;

      payload = load_listed (self, generations, generation, fell_back, &failure);
      if (payload != NULL || !g_error_matches (failure, G_IO_ERROR, G_IO_ERROR_NOT_FOUND))
        {
          if (failure != NULL)
            g_propagate_error (error, g_steal_pointer (&failure));
          return payload;
        }
    }

  g_propagate_error (error, g_steal_pointer (&failure));
  return NULL;
}

static gboolean
check_writable (DlpStateDir *self, GError **error)
{
  if (self->lock == NULL)
    {
      g_set_error (error, G_IO_ERROR, G_IO_ERROR_READ_ONLY, "%s: opened read-only", self->path);
      return FALSE;
    }
  if (self->error != NULL)
    {
      g_propagate_error (error, g_error_copy (self->error));
      return FALSE;
    }
  return TRUE;
}

static gboolean
check_not_fenced (DlpStateDir *self, GArray *generations, GError **error)
{
  if (!dlp_state_lock_check (self->lock, error))
    return FALSE;
  if (generations->len == 0 || g_array_index (generations, guint64, 0) <= self->newest)
    return TRUE;

  g_set_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_FENCED,
               "%s: another run has written " CHECKPOINT_PREFIX "%" G_GUINT64_FORMAT
               ", this one is at %" G_GUINT64_FORMAT,
               self->path, g_array_index (generations, guint64, 0), self->newest);
  return FALSE;
}

/* A failure to remove is only said: the new generation is safe. */
static void
remove_older (DlpStateDir *self, GArray *generations, guint64 keep)
{
  for (guint i = 0; i < generations->len; i++)
    {
      guint64 generation = g_array_index (generations, guint64, i);
      g_autofree char *name = name_of (generation);
      g_autoptr (GError) error = NULL;

      if (generation != keep && !dlp_durable_remove (self->folder, self->path, name, &error))
        g_warning ("%s", error->message);
    }
}

/* Behind the write of @payload. Of a complete run nothing is held any more. */
static void
take_files (DlpStateDir *self, GVariant *payload)
{
  GPtrArray *names = dlp_state_file_list_names (payload);
  gboolean complete = FALSE;

  g_variant_lookup (payload, "complete", "b", &complete);
  if (complete || names->len > 0)
    remove_state_files (self, complete ? STATE_FILES_ALL : STATE_FILES_OLDER, names);
  g_clear_pointer (&self->good_files, g_ptr_array_unref);
  self->good_files = names;
}

/* What a tool puts there names the files of the attempt that wrote it. */
static gboolean
is_of_this_attempt (DlpStateDir *self, GVariant *payload)
{
  guint attempt;

  return !g_variant_lookup (payload, "attempt", "u", &attempt) ||
         attempt == dlp_state_dir_get_attempt (self);
}

/* Behind the newest one, and none that has the name of a folder. */
static guint64
find_free_generation (DlpStateDir *self)
{
  for (guint64 generation = self->newest + 1;; generation++)
    {
      g_autofree char *name = name_of (generation);

      if (!is_folder (self, name))
        return generation;
    }
}

gboolean
dlp_state_dir_save (DlpStateDir *self, GVariant *payload, GError **error)
{
  g_autoptr (GVariant) owned = g_variant_ref_sink (payload);
  g_autoptr (GBytes) bytes = dlp_checkpoint_encode (payload);
  g_autoptr (GArray) before = NULL;
  g_autoptr (GError) failure = NULL;
  g_autofree char *name = NULL;
  gboolean sync_failed = FALSE;
  guint64 next;

  if (!check_writable (self, error))
    return FALSE;
  before = list_generations (self, error);
  if (before == NULL || !check_not_fenced (self, before, error))
    return FALSE;

  next = find_free_generation (self);
  name = name_of (next);
  if (!dlp_durable_replace (self->folder, self->path, name, g_bytes_get_data (bytes, NULL),
                            g_bytes_get_size (bytes), DLP_DURABLE_FULL, &sync_failed, &failure))
    {
      if (sync_failed)
        self->error = g_error_copy (failure);
      g_propagate_error (error, g_steal_pointer (&failure));
      return FALSE;
    }

  remove_older (self, before, self->good != 0 ? self->good : self->newest);
  self->newest = self->good = next;
  take_files (self, payload);
  /* With the second one neither generation names files of a former attempt. */
  self->n_saved += is_of_this_attempt (self, payload);
  return self->n_saved < 2 || dlp_state_lock_settle (self->lock, error);
}

gboolean
dlp_state_dir_restore_inputs (DlpStateDir *self, guint64 length, guint64 hash, GError **error)
{
  DlpInputListMode mode = DLP_INPUT_LIST_READ_ONLY;

  if (self->lock != NULL)
    mode = dlp_state_dir_former_is_dead (self) ? DLP_INPUT_LIST_IN_PLACE : DLP_INPUT_LIST_COPY;

  if (!dlp_input_list_restore (self->inputs, mode, length, hash, error))
    return FALSE;

  self->inputs_expected = FALSE;
  return TRUE;
}

DlpInputEntry *
dlp_state_dir_find_input (DlpStateDir *self,
                          guint32 stage,
                          guint32 source,
                          guint32 file,
                          GError **error)
{
  return dlp_input_list_find (self->inputs, stage, source, file, error);
}

/* A new list would replace the one that the checkpoints need. */
static gboolean
check_inputs_restored (DlpStateDir *self, GError **error)
{
  if (self->lock == NULL)
    return check_writable (self, error);
  if (!self->inputs_expected)
    return TRUE;

  g_set_error (error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_STATE,
               "%s: its list of inputs is used before it was restored", self->path);
  return FALSE;
}

gboolean
dlp_state_dir_add_input (DlpStateDir *self, const DlpInputEntry *entry, GError **error)
{
  return check_inputs_restored (self, error) && dlp_input_list_add (self->inputs, entry, error);
}

gboolean
dlp_state_dir_sync_inputs (DlpStateDir *self, guint64 *length, guint64 *hash, GError **error)
{
  return check_inputs_restored (self, error) &&
         dlp_input_list_sync (self->inputs, length, hash, error);
}

gboolean
dlp_state_dir_write_status (DlpStateDir *self, const char *json)
{
  return self->lock != NULL && dlp_durable_replace (self->folder, self->path, STATUS_NAME, json,
                                                    strlen (json), DLP_DURABLE_NOT, NULL, NULL);
}

char *
dlp_state_dir_load_run_id (DlpStateDir *self, GError **error)
{
  gboolean damaged;
  g_autoptr (GError) failure = NULL;
  g_autoptr (GBytes) bytes =
      dlp_durable_load (self->folder, self->path, RUN_ID_NAME, &damaged, &failure);
  g_autofree char *text = NULL;

  if (bytes == NULL)
    {
      if (!g_error_matches (failure, G_IO_ERROR, G_IO_ERROR_NOT_FOUND))
        g_propagate_error (error, g_steal_pointer (&failure));
      return NULL;
    }
  text = g_strchomp (g_strndup (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes)));
  return dlp_partial_is_run_id (text) ? g_steal_pointer (&text) : NULL;
}

gboolean
dlp_state_dir_save_run_id (DlpStateDir *self, const char *run_id, GError **error)
{
  g_autofree char *text = g_strconcat (run_id, "\n", NULL);

  return check_writable (self, error) &&
         dlp_durable_replace (self->folder, self->path, RUN_ID_NAME, text, strlen (text),
                              DLP_DURABLE_FULL, NULL, error);
}

/* From the oldest on: as long as there is a checkpoint it is the newest, and all that it needs is
 * there. */
static gboolean
remove_checkpoints (DlpStateDir *self, GError **error)
{
  g_autoptr (GArray) generations = list_generations (self, error);

  if (generations == NULL)
    return FALSE;

  for (guint i = generations->len; i-- > 0;)
    {
      g_autofree char *name = name_of (g_array_index (generations, guint64, i));

      if (!dlp_durable_remove (self->folder, self->path, name, error))
        return FALSE;
    }
  return dlp_durable_sync_folder (self->folder, self->path, error);
}

static gboolean
remove_rest (DlpStateDir *self, GError **error)
{
  g_autoptr (GPtrArray) names = dlp_durable_list (self->folder, self->path, error);

  if (names == NULL)
    return FALSE;

  for (guint i = 0; i < names->len; i++)
    if (is_ours (names->pdata[i]) &&
        !dlp_durable_remove (self->folder, self->path, names->pdata[i], error))
      return FALSE;
  return dlp_durable_sync_folder (self->folder, self->path, error);
}

gboolean
dlp_state_dir_check (DlpStateDir *self, GError **error)
{
  return check_writable (self, error) && dlp_state_lock_check (self->lock, error);
}

gboolean
dlp_state_dir_clear (DlpStateDir *self, GError **error)
{
  if (!check_writable (self, error) || !dlp_state_lock_check (self->lock, error) ||
      !remove_checkpoints (self, error) || !remove_rest (self, error))
    return FALSE;

  dlp_input_list_reset (self->inputs);
  self->inputs_expected = FALSE;
  self->good = 0;
  g_clear_pointer (&self->good_files, g_ptr_array_unref);
  return TRUE;
}

/* ---- for whoever watches ---- */

/* (transfer full) (nullable): what is in status.json, and how old it is in seconds. */
static GVariant *
load_status (DlpStateDir *self, double *age)
{
  gboolean damaged;
  g_autoptr (GBytes) bytes =
      dlp_durable_load (self->folder, self->path, STATUS_NAME, &damaged, NULL);
  g_autoptr (GVariant) status = NULL;
  struct stat st;

  if (bytes == NULL || fstatat (self->folder, STATUS_NAME, &st, AT_SYMLINK_NOFOLLOW) != 0)
    return NULL;
  status = dlp_json_parse (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes), NULL);
  if (status == NULL || !g_variant_is_of_type (status, G_VARIANT_TYPE_VARDICT))
    return NULL;
  *age = (double) g_get_real_time () / G_USEC_PER_SEC - (double) st.st_mtim.tv_sec -
         (double) st.st_mtim.tv_nsec / 1e9;
  return g_steal_pointer (&status);
}

/* (floating): what was put aside. */
static GVariant *
describe_damaged (GPtrArray *names)
{
  GVariantBuilder builder;

  g_variant_builder_init (&builder, G_VARIANT_TYPE ("at"));
  for (guint i = 0; i < names->len; i++)
    {
      const char *name = names->pdata[i];
      g_autofree char *stem = g_str_has_suffix (name, BAD_SUFFIX) ?
                                  g_strndup (name, strlen (name) - strlen (BAD_SUFFIX)) :
                                  NULL;
      guint64 generation;

      if (stem != NULL && parse_generation (stem, &generation))
        g_variant_builder_add (&builder, "t", generation);
    }
  return g_variant_builder_end (&builder);
}

GVariant *
dlp_state_dir_describe (DlpStateDir *self, GError **error)
{
  g_autoptr (GPtrArray) names = dlp_durable_list (self->folder, self->path, error);
  g_autoptr (GArray) generations = names != NULL ? list_generations (self, error) : NULL;
  g_autofree char *run_id = NULL;
  g_autoptr (GVariant) status = NULL;
  GVariantDict dict;
  double age;

  if (generations == NULL)
    return NULL;
  g_variant_dict_init (&dict, NULL);
  g_variant_dict_insert_value (&dict, "generations",
                               g_variant_new_fixed_array (G_VARIANT_TYPE_UINT64, generations->data,
                                                          generations->len, sizeof (guint64)));
  g_variant_dict_insert_value (&dict, "damaged", describe_damaged (names));
  run_id = dlp_state_dir_load_run_id (self, NULL);
  if (run_id != NULL)
    g_variant_dict_insert (&dict, "run-id", "s", run_id);
  dlp_state_lock_describe (self->folder, &dict);
  status = load_status (self, &age);
  if (status != NULL)
    {
      g_variant_dict_insert_value (&dict, "status", status);
      g_variant_dict_insert (&dict, "status-age", "d", age);
    }
  return g_variant_ref_sink (g_variant_dict_end (&dict));
}
