/* SPDX-License-Identifier: MIT */

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <xxhash.h>

#include "dlp-durable-private.h"
#include "dlp-element-private.h"
#include "dlp-state-files-private.h"

#define PIECE (256 * 1024)
#define SCRATCH_FOLDER "/var/tmp"

struct _DlpStateFile
{
  gint ref_count;
  DlpStateFiles *files;
  char *name;
  char *path; /* for messages */
  int fd;
  guint64 size;          /* atomic: one thread appends while another one syncs */
  XXH3_state_t *hash;    /* of what was appended; NULL: opened */
  char *digest;          /* of a file that was opened */
  gint64 synced;         /* lock of files: so many bytes; -1: not even its name */
  gboolean is_described; /* lock of files: a checkpoint may name it */
};

struct _DlpStateFiles
{
  gint ref_count;
  pthread_mutex_t lock;
  char *folder_path;   /* lock; NULL: none */
  int folder;          /* lock */
  guint attempt;       /* lock */
  guint64 number;      /* lock: of the last one that was made */
  GHashTable *held;    /* lock: of DlpStateFile by name, without a reference */
  GPtrArray *restored; /* lock; (nullable): of DlpStateFile, until the files are opened */
  GError *failure;     /* lock: a sync failed */
};

G_DEFINE_BOXED_TYPE (DlpStateFile, dlp_state_file, dlp_state_file_ref, dlp_state_file_unref)

/* ---- the files of a run ---- */

DlpStateFiles *
dlp_state_files_new (void)
{
  DlpStateFiles *self = g_new0 (DlpStateFiles, 1);

  self->ref_count = 1;
  self->folder = -1;
  self->attempt = 1;
  self->held = g_hash_table_new (g_str_hash, g_str_equal);
  pthread_mutex_init (&self->lock, NULL);
  return self;
}

DlpStateFiles *
dlp_state_files_ref (DlpStateFiles *self)
{
  g_atomic_int_inc (&self->ref_count);
  return self;
}

void
dlp_state_files_unref (DlpStateFiles *self)
{
  if (!g_atomic_int_dec_and_test (&self->ref_count))
    return;
  if (self->folder >= 0)
    close (self->folder);
  g_free (self->folder_path);
  g_hash_table_unref (self->held);
  g_clear_error (&self->failure);
  pthread_mutex_destroy (&self->lock);
  g_free (self);
}

gboolean
dlp_state_files_set_dir (DlpStateFiles *self, DlpStateDir *dir, guint attempt, GError **error)
{
  const char *path = dlp_state_dir_get_path (dir);
  int folder = dlp_durable_open_folder (path, error);

  if (folder < 0)
    return FALSE;
  pthread_mutex_lock (&self->lock);
  self->folder = folder;
  self->folder_path = g_strdup (path);
  self->attempt = MAX (attempt, 1);
  pthread_mutex_unlock (&self->lock);
  return TRUE;
}

void
dlp_state_files_leave_dir (DlpStateFiles *self)
{
  pthread_mutex_lock (&self->lock);
  if (self->folder >= 0)
    close (self->folder);
  self->folder = -1;
  g_clear_pointer (&self->folder_path, g_free);
  pthread_mutex_unlock (&self->lock);
}

void
dlp_state_files_forget_restored (DlpStateFiles *self)
{
  GPtrArray *restored;

  pthread_mutex_lock (&self->lock);
  restored = self->restored;
  self->restored = NULL;
  pthread_mutex_unlock (&self->lock);
  g_clear_pointer (&restored, g_ptr_array_unref);
}

/* ---- one file ---- */

/* Takes @name. lock is held. */
static DlpStateFile *
add_file_locked (DlpStateFiles *files, char *name, const char *folder_path, int fd)
{
  DlpStateFile *self = g_new0 (DlpStateFile, 1);

  self->ref_count = 1;
  self->files = dlp_state_files_ref (files);
  self->name = name;
  self->path = g_build_filename (folder_path, name, NULL);
  self->fd = fd;
  self->synced = -1;
  g_hash_table_replace (files->held, self->name, self);
  return self;
}

/* lock is held. */
static int
create_locked (DlpStateFiles *files, const char *name, GError **error)
{
  int fd;

  if (files->folder_path == NULL)
    return dlp_durable_open_scratch (SCRATCH_FOLDER, error);
  fd = TEMP_FAILURE_RETRY (
      openat (files->folder, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (fd < 0)
    dlp_durable_set_error (error, errno, "%s/%s: cannot create", files->folder_path, name);
  return fd;
}

static DlpStateFiles *
get_files (DlpElement *element)
{
  return dlp_element_get_context (element)->state_files;
}

DlpStateFile *
dlp_state_file_new (DlpElement *element, GError **error)
{
  DlpStateFiles *files;
  DlpStateFile *self = NULL;
  char *name;
  int fd;

  g_return_val_if_fail (DLP_IS_ELEMENT (element), NULL);

  files = get_files (element);
  pthread_mutex_lock (&files->lock);
  name = g_strdup_printf ("state-%s-%u-%" G_GUINT64_FORMAT, dlp_element_get_name (element),
                          files->attempt, ++files->number);
  fd = create_locked (files, name, error);
  if (fd >= 0)
    self = add_file_locked (files, name,
                            files->folder_path != NULL ? files->folder_path : SCRATCH_FOLDER, fd);
  else
    g_free (name);
  pthread_mutex_unlock (&files->lock);
  if (self == NULL)
    return NULL;
  self->hash = XXH3_createState ();
  XXH3_128bits_reset (self->hash);
  return self;
}

DlpStateFile *
dlp_state_file_ref (DlpStateFile *self)
{
  g_atomic_int_inc (&self->ref_count);
  return self;
}

/* Under the lock: who looks for it by its name takes a reference there. */
void
dlp_state_file_unref (DlpStateFile *self)
{
  DlpStateFiles *files = self->files;
  gboolean last;

  pthread_mutex_lock (&files->lock);
  last = g_atomic_int_dec_and_test (&self->ref_count);
  if (last && g_hash_table_lookup (files->held, self->name) == self)
    g_hash_table_remove (files->held, self->name);
  if (last && !self->is_described && self->hash != NULL && files->folder >= 0)
    unlinkat (files->folder, self->name, 0);
  pthread_mutex_unlock (&files->lock);
  if (!last)
    return;
  close (self->fd);
  XXH3_freeState (self->hash);
  g_free (self->digest);
  g_free (self->path);
  g_free (self->name);
  g_free (self);
  dlp_state_files_unref (files);
}

gboolean
dlp_state_file_append (DlpStateFile *self, gconstpointer data, gsize size, GError **error)
{
  g_return_val_if_fail (self != NULL && self->hash != NULL, FALSE);

  if (!dlp_durable_write (self->fd, self->path, data, size, self->size, error))
    return FALSE;
  XXH3_128bits_update (self->hash, data, size);
  __atomic_store_n (&self->size, self->size + size, __ATOMIC_RELEASE);
  return TRUE;
}

gssize
dlp_state_file_read (DlpStateFile *self, guint64 offset, gpointer data, gsize size, GError **error)
{
  g_return_val_if_fail (self != NULL, -1);

  return dlp_durable_read (self->fd, self->path, data, size, offset, error);
}

GBytes *
dlp_state_file_read_bytes (DlpStateFile *self, guint64 offset, gsize size, GError **error)
{
  g_autofree guint8 *data = NULL;
  guint64 there;
  gssize n;

  g_return_val_if_fail (self != NULL, NULL);

  there = __atomic_load_n (&self->size, __ATOMIC_ACQUIRE);
  size = (gsize) MIN (size, there - MIN (offset, there));
  data = g_malloc (size);
  n = dlp_state_file_read (self, offset, data, size, error);
  return n >= 0 ? g_bytes_new_take (g_steal_pointer (&data), (gsize) n) : NULL;
}

const char *
dlp_state_file_get_name (DlpStateFile *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  return self->name;
}

static char *
digest (const XXH3_state_t *state)
{
  XXH128_hash_t hash = XXH3_128bits_digest (state);

  return g_strdup_printf ("%016" G_GINT64_MODIFIER "x%016" G_GINT64_MODIFIER "x",
                          (guint64) hash.high64, (guint64) hash.low64);
}

GVariant *
dlp_state_file_describe (DlpStateFile *self)
{
  g_autofree char *made = NULL;

  g_return_val_if_fail (self != NULL, NULL);

  pthread_mutex_lock (&self->files->lock);
  self->is_described = TRUE;
  pthread_mutex_unlock (&self->files->lock);
  made = self->hash != NULL ? digest (self->hash) : NULL;
  return g_variant_new ("(sts)", self->name, self->size, made != NULL ? made : self->digest);
}

/* ---- opening ---- */

static gboolean fail_corrupt (GError **error, const char *path, const char *format, ...)
    G_GNUC_PRINTF (3, 4);

static gboolean
fail_corrupt (GError **error, const char *path, const char *format, ...)
{
  g_autofree char *what = NULL;
  va_list args;

  va_start (args, format);
  what = g_strdup_vprintf (format, args);
  va_end (args);
  g_set_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CORRUPT, "%s: %s", path, what);
  return FALSE;
}

/* What lies behind the first @size bytes came after the checkpoint. */
static gboolean
hash_first (DlpStateFile *self, guint64 size, GError **error)
{
  g_autofree guint8 *piece = g_malloc (PIECE);
  XXH3_state_t *state = XXH3_createState ();
  gssize n = 0;

  XXH3_128bits_reset (state);
  do
    {
      n = dlp_durable_read (self->fd, self->path, piece, (gsize) MIN (PIECE, size - self->size),
                            self->size, error);
      if (n > 0)
        XXH3_128bits_update (state, piece, (gsize) n);
      self->size += (guint64) MAX (n, 0);
    }
  while (n > 0 && self->size < size);
  self->digest = digest (state);
  XXH3_freeState (state);
  return n >= 0;
}

static gboolean
check (DlpStateFile *self, guint64 size, const char *hash, GError **error)
{
  struct stat st;

  if (fstat (self->fd, &st) != 0 || !S_ISREG (st.st_mode))
    return fail_corrupt (error, self->path, "is not a regular file");
  if ((guint64) st.st_size < size)
    return fail_corrupt (error, self->path,
                         "is %" G_GUINT64_FORMAT " bytes, but the checkpoint that names it says "
                         "%" G_GUINT64_FORMAT,
                         (guint64) st.st_size, size);
  if (!hash_first (self, size, error))
    return FALSE;
  if (strcmp (self->digest, hash) != 0)
    return fail_corrupt (error, self->path,
                         "its content has the hash %s, but the checkpoint that names it says %s",
                         self->digest, hash);
  return TRUE;
}

/* One that is held already, as of a saved state, or one of the folder. lock is held. */
static DlpStateFile *
open_locked (DlpStateFiles *files, const char *name, GError **error)
{
  DlpStateFile *self = g_hash_table_lookup (files->held, name);
  int fd;

  if (self != NULL)
    return dlp_state_file_ref (self);
  if (files->folder_path == NULL)
    {
      fail_corrupt (error, name, "the state names this file, and does not hold it");
      return NULL;
    }
  fd = TEMP_FAILURE_RETRY (openat (files->folder, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (fd >= 0)
    return add_file_locked (files, g_strdup (name), files->folder_path, fd);
  if (errno == ENOENT)
    fail_corrupt (error, files->folder_path, "the file %s is missing, which the checkpoint names",
                  name);
  else
    dlp_durable_set_error (error, errno, "%s/%s: cannot open", files->folder_path, name);
  return NULL;
}

DlpStateFile *
dlp_state_file_open (DlpElement *element, GVariant *described, GError **error)
{
  g_autoptr (DlpStateFile) self = NULL;
  g_auto (DlpStateFileName) parsed = { NULL };
  DlpStateFiles *files;
  const char *name, *hash;
  guint64 size;

  g_return_val_if_fail (DLP_IS_ELEMENT (element), NULL);
  g_return_val_if_fail (g_variant_is_of_type (described, G_VARIANT_TYPE ("(sts)")), NULL);

  files = get_files (element);
  g_variant_get (described, "(&st&s)", &name, &size, &hash);
  if (!dlp_state_file_name_parse (name, &parsed) ||
      strcmp (parsed.element, dlp_element_get_name (element)) != 0 || strchr (name, '/') != NULL)
    {
      g_set_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CORRUPT,
                   "key “state-files”: “%s” is no name of a file of %s, such as state-%s-1-1", name,
                   dlp_element_get_name (element), dlp_element_get_name (element));
      return NULL;
    }
  pthread_mutex_lock (&files->lock);
  self = open_locked (files, name, error);
  /* It was durable before the checkpoint named it. */
  if (self != NULL)
    self->synced = (gint64) size;
  pthread_mutex_unlock (&files->lock);
  if (self == NULL)
    return NULL;
  g_clear_pointer (&self->digest, g_free);
  self->size = 0;
  return check (self, size, hash, error) ? g_steal_pointer (&self) : NULL;
}

/* ---- all that a payload names ---- */

static DlpStateFile *
find (DlpStateFiles *self, const char *name)
{
  DlpStateFile *file;

  pthread_mutex_lock (&self->lock);
  file = g_hash_table_lookup (self->held, name);
  if (file != NULL)
    dlp_state_file_ref (file);
  pthread_mutex_unlock (&self->lock);
  return file;
}

/* A log goes on growing: what the state names of it was there before the mark. */
static gboolean
sync_one (DlpStateFiles *self, const char *name, gboolean *any_new, GError **error)
{
  g_autoptr (DlpStateFile) file = find (self, name);
  gint64 size, synced;

  if (file == NULL)
    return fail_corrupt (error, name, "a state names this file, and nobody holds it");
  size = (gint64) __atomic_load_n (&file->size, __ATOMIC_ACQUIRE);
  pthread_mutex_lock (&self->lock);
  file->is_described = TRUE;
  synced = file->synced;
  pthread_mutex_unlock (&self->lock);
  if (synced >= size)
    return TRUE;
  if (!dlp_durable_sync_data (file->fd, file->path, error))
    return FALSE;
  *any_new |= synced < 0;
  pthread_mutex_lock (&self->lock);
  file->synced = size;
  pthread_mutex_unlock (&self->lock);
  return TRUE;
}

/* The checkpoint thread's, or that of the end of the run: none closes the folder meanwhile. */
gboolean
dlp_state_files_sync (DlpStateFiles *self, GVariant *payload, GError **error)
{
  g_autoptr (GPtrArray) names = dlp_state_file_list_names (payload);
  GError *failure = NULL;
  gboolean any_new = FALSE, ok = TRUE;

  pthread_mutex_lock (&self->lock);
  if (self->failure != NULL)
    failure = g_error_copy (self->failure);
  pthread_mutex_unlock (&self->lock);
  for (guint i = 0; i < names->len && failure == NULL; i++)
    ok = sync_one (self, names->pdata[i], &any_new, &failure);
  if (failure == NULL && any_new)
    ok = dlp_durable_sync_folder (self->folder, self->folder_path, &failure);
  if (failure == NULL)
    return ok;

  pthread_mutex_lock (&self->lock);
  if (self->failure == NULL)
    self->failure = g_error_copy (failure);
  pthread_mutex_unlock (&self->lock);
  g_propagate_error (error, failure);
  return FALSE;
}

GVariant *
dlp_state_files_embed (DlpStateFiles *self, GVariant *payload, GError **error)
{
  g_autoptr (GArray) sizes = g_array_new (FALSE, FALSE, sizeof (guint64));
  g_autoptr (GPtrArray) names = dlp_state_file_list (payload, sizes);
  g_auto (GVariantBuilder) builder = G_VARIANT_BUILDER_INIT (G_VARIANT_TYPE ("a{say}"));

  for (guint i = 0; i < names->len; i++)
    {
      const char *name = names->pdata[i];
      g_autoptr (DlpStateFile) file = find (self, name);
      g_autoptr (GBytes) bytes = NULL;

      if (file == NULL)
        {
          fail_corrupt (error, name, "a state names this file, and nobody holds it");
          return NULL;
        }
      bytes = dlp_state_file_read_bytes (file, 0, g_array_index (sizes, guint64, i), error);
      if (bytes == NULL)
        return NULL;
      g_variant_builder_add (&builder, "{s@ay}", name,
                             g_variant_new_from_bytes (G_VARIANT_TYPE_BYTESTRING, bytes, TRUE));
    }
  return g_variant_builder_end (&builder);
}

/* Of files that are made from now on: what is restored keeps its name. */
static void
avoid_names (DlpStateFiles *self, GVariant *embedded)
{
  GVariantIter iter;
  const char *name;

  g_variant_iter_init (&iter, embedded);
  while (g_variant_iter_next (&iter, "{&s@ay}", &name, NULL))
    {
      g_auto (DlpStateFileName) parsed = { NULL };

      if (dlp_state_file_name_parse (name, &parsed) && parsed.attempt < G_MAXUINT)
        self->attempt = MAX (self->attempt, parsed.attempt + 1);
    }
}

gboolean
dlp_state_files_restore (DlpStateFiles *self, GVariant *embedded, GError **error)
{
  GVariantIter iter;
  const char *name;
  GVariant *content;

  dlp_state_files_forget_restored (self);
  avoid_names (self, embedded);
  self->restored = g_ptr_array_new_with_free_func ((GDestroyNotify) dlp_state_file_unref);
  g_variant_iter_init (&iter, embedded);
  while (g_variant_iter_next (&iter, "{&s@ay}", &name, &content))
    {
      g_autoptr (GVariant) value = content;
      int fd = dlp_durable_open_scratch (SCRATCH_FOLDER, error);
      DlpStateFile *file;

      if (fd < 0)
        return FALSE;
      pthread_mutex_lock (&self->lock);
      file = add_file_locked (self, g_strdup (name), SCRATCH_FOLDER, fd);
      g_ptr_array_add (self->restored, file);
      pthread_mutex_unlock (&self->lock);
      if (!dlp_durable_write (fd, file->path, g_variant_get_data (value),
                              g_variant_get_size (value), 0, error))
        return FALSE;
    }
  return TRUE;
}

GVariant *
dlp_state_files_settle (DlpStateFiles *self, GVariant *payload, gboolean durable, GError **error)
{
  g_autoptr (GVariant) without = payload;
  GVariant *files;
  GVariantDict dict;

  if (durable)
    return dlp_state_files_sync (self, payload, error) ? g_steal_pointer (&without) : NULL;
  files = dlp_state_files_embed (self, payload, error);
  if (files == NULL)
    return NULL;
  g_variant_dict_init (&dict, payload);
  if (g_variant_n_children (files) > 0)
    g_variant_dict_insert_value (&dict, "files", files);
  else
    g_variant_unref (files);
  return g_variant_dict_end (&dict);
}
