/* SPDX-License-Identifier: MIT */

#include "power-model.h"

#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SECTOR 512
#define PAGE 4096

/* How the parts that are not synced are drawn; a run's every call alike would seldom meet what
 * hurts. */
typedef enum
{
  LOSE_ALL,
  LOSE_NONE,
  LOSE_ANY,
  LOSE_FEW,
  LOSE_MOST,
  N_STYLES
} Style;

typedef struct
{
  gint refs;
  gboolean is_folder;
  char *target; /* of a symbolic link */
  GByteArray *data;
  struct timespec time; /* of a file that was there at first: it is compared of inputs */
  GPtrArray *pending;   /* (element-type FaultCall): of a file, not synced */
  GHashTable *entries;  /* of a folder: name to Node */
  GPtrArray *changes;   /* (element-type Change): of a folder, not synced */
} Node;

/* Of a name in a folder: @from loses it, @to gets it; each nullable. */
typedef struct
{
  char *from, *to;
  Node *node;
} Change;

struct _PowerModel
{
  Node *root;
  GHashTable *paths;  /* of each folder, as the program sees it, to Node */
  GHashTable *inodes; /* number to Node, of the files that the program sees */
  GHashTable *names;  /* path to Node, as the program sees them */
};

/* ---- nodes ---- */

static void
node_unref (gpointer data)
{
  Node *self = data;

  if (--self->refs > 0)
    return;
  g_free (self->target);
  g_clear_pointer (&self->data, g_byte_array_unref);
  g_clear_pointer (&self->pending, g_ptr_array_unref);
  g_clear_pointer (&self->entries, g_hash_table_unref);
  g_clear_pointer (&self->changes, g_ptr_array_unref);
  g_free (self);
}

static Node *
node_ref (Node *self)
{
  self->refs++;
  return self;
}

static void
change_free (gpointer data)
{
  Change *self = data;

  g_free (self->from);
  g_free (self->to);
  node_unref (self->node);
  g_free (self);
}

static Node *
file_new (void)
{
  Node *self = g_new0 (Node, 1);

  self->refs = 1;
  self->data = g_byte_array_new ();
  self->pending = g_ptr_array_new ();
  return self;
}

static Node *
folder_new (void)
{
  Node *self = g_new0 (Node, 1);

  self->refs = 1;
  self->is_folder = TRUE;
  self->entries = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, node_unref);
  self->changes = g_ptr_array_new_with_free_func (change_free);
  return self;
}

static Node *
link_new (const char *target)
{
  Node *self = g_new0 (Node, 1);

  self->refs = 1;
  self->target = g_strdup (target);
  return self;
}

/* ---- the beginning ---- */

static PowerModel *
model_new (void)
{
  PowerModel *self = g_new0 (PowerModel, 1);

  self->root = folder_new ();
  self->paths = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, node_unref);
  self->names = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, node_unref);
  self->inodes = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, node_unref);
  g_hash_table_insert (self->paths, g_strdup (""), node_ref (self->root));
  return self;
}

void
power_model_free (PowerModel *self)
{
  g_hash_table_unref (self->paths);
  g_hash_table_unref (self->names);
  g_hash_table_unref (self->inodes);
  node_unref (self->root);
  g_free (self);
}

static void
note_inode (PowerModel *self, guint64 inode, Node *node)
{
  g_hash_table_insert (self->inodes, g_memdup2 (&inode, sizeof inode), node_ref (node));
}

static char *
join (const char *folder, const char *name)
{
  return folder[0] != '\0' ? g_strconcat (folder, "/", name, NULL) : g_strdup (name);
}

static Node *
load_node (PowerModel *self, const char *full, const char *path)
{
  g_autofree char *text = NULL;
  g_autoptr (GError) error = NULL;
  struct stat st;
  guint64 inode;
  gsize size;
  Node *node;

  g_assert_cmpint (lstat (full, &st), ==, 0);
  if (S_ISLNK (st.st_mode))
    {
      text = g_file_read_link (full, &error);
      g_assert_no_error (error);
      return link_new (text);
    }
  if (S_ISDIR (st.st_mode))
    {
      node = folder_new ();
      g_hash_table_insert (self->paths, g_strdup (path), node_ref (node));
      return node;
    }
  inode = st.st_ino;
  node = g_hash_table_lookup (self->inodes, &inode);
  if (node != NULL)
    return node_ref (node);
  node = file_new ();
  g_file_get_contents (full, &text, &size, &error);
  g_assert_no_error (error);
  g_byte_array_append (node->data, (const guint8 *) text, (guint) size);
  node->time = st.st_mtim;
  note_inode (self, inode, node);
  return node;
}

/* Folders are two deep at most. */
static void
load_folder (PowerModel *self, Node *folder, const char *dir, const char *path, guint depth)
{
  g_autoptr (GDir) list = g_dir_open (dir, 0, NULL);
  const char *name;

  while (list != NULL && (name = g_dir_read_name (list)) != NULL)
    {
      g_autofree char *full = g_build_filename (dir, name, NULL);
      g_autofree char *below = join (path, name);
      Node *node = load_node (self, full, below);

      g_hash_table_insert (folder->entries, g_strdup (name), node);
      g_hash_table_insert (self->names, g_strdup (below), node_ref (node));
      if (node->is_folder && depth > 0)
        load_folder (self, node, full, below, depth - 1);
    }
}

PowerModel *
power_model_new (const char *dir)
{
  PowerModel *self = model_new ();

  load_folder (self, self->root, dir, "", 2);
  return self;
}

static Node *
copy_node (const Node *from)
{
  Node *node;

  if (from->target != NULL)
    return link_new (from->target);
  if (from->is_folder)
    return folder_new ();
  node = file_new ();
  g_byte_array_append (node->data, from->data->data, from->data->len);
  node->time = from->time;
  return node;
}

static Node *
find_folder (PowerModel *self, const char *path)
{
  g_autofree char *folder = g_path_get_dirname (path);

  return g_hash_table_lookup (self->paths, strcmp (folder, ".") == 0 ? "" : folder);
}

static int
compare_paths (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *) a, *(const char *const *) b);
}

/* The paths as the program sees them; folders before what is in them. */
static GPtrArray *
list_names (const PowerModel *self)
{
  GPtrArray *list = g_ptr_array_new ();
  GHashTableIter iter;
  gpointer key;

  g_hash_table_iter_init (&iter, self->names);
  while (g_hash_table_iter_next (&iter, &key, NULL))
    g_ptr_array_add (list, key);
  g_ptr_array_sort (list, compare_paths);
  return list;
}

PowerModel *
power_model_copy (const PowerModel *from)
{
  PowerModel *self = model_new ();
  g_autoptr (GPtrArray) names = list_names (from);
  g_autoptr (GHashTable) copies = g_hash_table_new (NULL, NULL);
  GHashTableIter iter;
  gpointer key, value;

  for (guint i = 0; i < names->len; i++)
    {
      const char *path = names->pdata[i];
      Node *original = g_hash_table_lookup (from->names, path);
      Node *known = g_hash_table_lookup (copies, original);
      Node *node = known != NULL ? node_ref (known) : copy_node (original);

      g_hash_table_insert (copies, original, node);
      g_hash_table_insert (self->names, g_strdup (path), node);
      g_hash_table_insert (find_folder (self, path)->entries, g_path_get_basename (path),
                           node_ref (node));
      if (node->is_folder)
        g_hash_table_insert (self->paths, g_strdup (path), node_ref (node));
    }
  g_hash_table_iter_init (&iter, from->inodes);
  while (g_hash_table_iter_next (&iter, &key, &value))
    note_inode (self, *(guint64 *) key, g_hash_table_lookup (copies, value));
  return self;
}

/* ---- what the program does ---- */

static void
apply_bytes (GByteArray *data, guint64 offset, const guint8 *bytes, gsize size)
{
  if (offset + size > data->len)
    {
      guint before = data->len;

      g_byte_array_set_size (data, (guint) (offset + size));
      memset (data->data + before, 0, data->len - before);
    }
  if (bytes != NULL)
    memcpy (data->data + offset, bytes, size);
}

static void
apply_cut (GByteArray *data, guint64 length)
{
  if (length > data->len)
    apply_bytes (data, length, NULL, 0);
  else
    g_byte_array_set_size (data, (guint) length);
}

static const guint8 *
get_bytes (const FaultCall *call)
{
  return call->data != NULL ? g_bytes_get_data (call->data, NULL) : NULL;
}

static void
apply (GByteArray *data, const FaultCall *call)
{
  if (call->entry.call == INJECT_TRUNCATE)
    apply_cut (data, call->entry.offset);
  else
    apply_bytes (data, call->entry.offset, get_bytes (call), call->entry.length);
}

static void
sync_file (Node *file)
{
  for (guint i = 0; i < file->pending->len; i++)
    apply (file->data, g_ptr_array_index (file->pending, i));
  g_ptr_array_set_size (file->pending, 0);
}

static void
take_name (Node *folder, const char *name, const Node *node)
{
  if (name != NULL && g_hash_table_lookup (folder->entries, name) == node)
    g_hash_table_remove (folder->entries, name);
}

static void
apply_change (Node *folder, const Change *change)
{
  take_name (folder, change->from, change->node);
  if (change->to != NULL)
    g_hash_table_insert (folder->entries, g_strdup (change->to), node_ref (change->node));
}

static void
sync_folder (Node *folder)
{
  for (guint i = 0; i < folder->changes->len; i++)
    apply_change (folder, g_ptr_array_index (folder->changes, i));
  g_ptr_array_set_size (folder->changes, 0);
}

/* @from, @to: paths in one folder, each nullable. */
static void
change_name (PowerModel *self, const char *from, const char *to, Node *node)
{
  Node *folder = find_folder (self, from != NULL ? from : to);
  Change *change = g_new0 (Change, 1);

  g_assert_nonnull (folder);
  change->from = from != NULL ? g_path_get_basename (from) : NULL;
  change->to = to != NULL ? g_path_get_basename (to) : NULL;
  change->node = node_ref (node);
  g_ptr_array_add (folder->changes, change);
  if (to != NULL)
    g_hash_table_insert (self->names, g_strdup (to), node_ref (node));
  if (from != NULL && (to == NULL || strcmp (from, to) != 0))
    g_hash_table_remove (self->names, from);
}

static void
make_name (PowerModel *self, const FaultCall *call, Node *node)
{
  if (node->is_folder)
    g_hash_table_insert (self->paths, g_strdup (call->path), node_ref (node));
  else if (node->data != NULL)
    note_inode (self, call->entry.inode, node);
  change_name (self, NULL, call->path, node);
  node_unref (node);
}

static void
take_in_name (PowerModel *self, const FaultCall *call)
{
  Node *node = g_hash_table_lookup (self->names, call->path);

  /* One that a library made under a name for a moment. */
  if (node == NULL && call->entry.call == INJECT_UNLINK)
    return;
  if (node == NULL)
    g_error ("%s %s: there is no such file", fault_call_get_name (call), call->path);
  if (call->entry.call == INJECT_RENAME)
    change_name (self, call->path, call->other, node);
  else if (call->entry.call == INJECT_LINK)
    change_name (self, NULL, call->other, node);
  else
    change_name (self, call->path, NULL, node);
}

static void
take_in_call (PowerModel *self, FaultCall *call)
{
  guint64 inode = call->entry.inode;
  Node *file = g_hash_table_lookup (self->inodes, &inode);

  switch ((InjectCall) call->entry.call)
    {
    case INJECT_CREATE:
      make_name (self, call, file_new ());
      break;
    case INJECT_MKDIR:
      make_name (self, call, folder_new ());
      break;
    case INJECT_SYMLINK:
      make_name (self, call, link_new (call->other));
      break;
    case INJECT_WRITE:
    case INJECT_COPY:
    case INJECT_TRUNCATE:
      g_ptr_array_add (file->pending, call);
      break;
    case INJECT_SYNC:
      sync_file (file);
      break;
    case INJECT_SYNC_FOLDER:
      sync_folder (g_hash_table_lookup (self->paths, call->path));
      break;
    case INJECT_RENAME:
    case INJECT_LINK:
    case INJECT_UNLINK:
      take_in_name (self, call);
      break;
    case INJECT_OPEN:
    case INJECT_READ:
    case INJECT_LOCK:
    case INJECT_N_CALLS:
      break;
    }
}

void
power_model_take_in (PowerModel *self, GPtrArray *calls, guint n)
{
  for (guint i = 0; i < n; i++)
    {
      FaultCall *call = g_ptr_array_index (calls, i);

      if (call->entry.code == 0)
        take_in_call (self, call);
    }
}

/* ---- what is on disk ---- */

static gboolean
draw (GRand *rand, Style style)
{
  static const double kept[N_STYLES] = { 0, 1, 0.5, 0.9, 0.1 };

  return g_rand_double (rand) < kept[style];
}

static void
apply_torn (GByteArray *data, const FaultCall *call, GRand *rand)
{
  const guint8 *bytes = get_bytes (call);
  guint64 unit = g_rand_boolean (rand) ? SECTOR : PAGE;
  guint64 end = call->entry.offset + call->entry.length;

  for (guint64 at = call->entry.offset; at < end;)
    {
      guint64 next = MIN (end, (at / unit + 1) * unit);

      if (g_rand_boolean (rand))
        apply_bytes (data, at, bytes + (at - call->entry.offset), next - at);
      at = next;
    }
}

static void
lose_of_file (Node *file, GRand *rand, Style style)
{
  for (guint i = 0; i < file->pending->len; i++)
    {
      const FaultCall *call = g_ptr_array_index (file->pending, i);
      gboolean is_write = call->entry.call != INJECT_TRUNCATE;

      if (style != LOSE_ALL && style != LOSE_NONE && is_write && g_rand_int_range (rand, 0, 4) == 0)
        apply_torn (file->data, call, rand);
      else if (draw (rand, style))
        apply (file->data, call);
      else if (style != LOSE_ALL && is_write && g_rand_int_range (rand, 0, 4) == 0)
        apply_bytes (file->data, call->entry.offset + call->entry.length, NULL, 0);
    }
  g_ptr_array_set_size (file->pending, 0);
}

static void
lose_of_folder (Node *folder, GRand *rand, Style style)
{
  for (guint i = 0; i < folder->changes->len; i++)
    if (draw (rand, style))
      apply_change (folder, g_ptr_array_index (folder->changes, i));
  g_ptr_array_set_size (folder->changes, 0);
}

/* In an order that does not depend on hashes, so that a seed draws the same again. */
static void
lose_below (Node *folder, GRand *rand, Style files, Style names)
{
  g_autoptr (GPtrArray) list = g_ptr_array_new ();
  GHashTableIter iter;
  gpointer key;

  lose_of_folder (folder, rand, names);
  g_hash_table_iter_init (&iter, folder->entries);
  while (g_hash_table_iter_next (&iter, &key, NULL))
    g_ptr_array_add (list, key);
  g_ptr_array_sort (list, compare_paths);
  for (guint i = 0; i < list->len; i++)
    {
      Node *node = g_hash_table_lookup (folder->entries, list->pdata[i]);

      if (node->data != NULL)
        lose_of_file (node, rand, files);
    }
}

void
power_model_lose (PowerModel *self, GRand *rand)
{
  Style files = (Style) g_rand_int_range (rand, 0, N_STYLES);
  Style names = (Style) g_rand_int_range (rand, 0, N_STYLES);
  g_autoptr (GPtrArray) list = g_ptr_array_new ();
  GHashTableIter iter;
  gpointer key;

  g_hash_table_iter_init (&iter, self->paths);
  while (g_hash_table_iter_next (&iter, &key, NULL))
    g_ptr_array_add (list, key);
  g_ptr_array_sort (list, compare_paths);
  for (guint i = 0; i < list->len; i++)
    lose_below (g_hash_table_lookup (self->paths, list->pdata[i]), rand, files, names);
}

static void
remove_below (const char *dir, guint depth)
{
  g_autoptr (GDir) list = g_dir_open (dir, 0, NULL);
  const char *name;

  while (list != NULL && (name = g_dir_read_name (list)) != NULL)
    {
      g_autofree char *full = g_build_filename (dir, name, NULL);

      if (g_unlink (full) != 0 && depth > 0)
        {
          remove_below (full, depth - 1);
          g_rmdir (full);
        }
    }
}

static void
write_file (const Node *file, const char *path)
{
  const struct timespec times[] = { file->time, file->time };
  g_autoptr (GError) error = NULL;

  g_file_set_contents_full (path, (const char *) file->data->data, file->data->len,
                            G_FILE_SET_CONTENTS_NONE, 0600, &error);
  g_assert_no_error (error);
  if (file->time.tv_sec != 0)
    g_assert_cmpint (utimensat (AT_FDCWD, path, times, 0), ==, 0);
}

/* @written: path by Node, of those that have a name already. */
static void
write_below (const Node *folder, const char *dir, GHashTable *written, guint depth)
{
  GHashTableIter iter;
  gpointer key, value;

  g_hash_table_iter_init (&iter, folder->entries);
  while (g_hash_table_iter_next (&iter, &key, &value))
    {
      g_autofree char *full = g_build_filename (dir, key, NULL);
      const char *other = g_hash_table_lookup (written, value);
      const Node *node = value;

      if (other != NULL)
        g_assert_cmpint (link (other, full), ==, 0);
      else if (node->target != NULL)
        g_assert_cmpint (symlink (node->target, full), ==, 0);
      else if (!node->is_folder)
        write_file (node, full);
      else
        {
          g_assert_cmpint (g_mkdir (full, 0700), ==, 0);
          if (depth > 0)
            write_below (node, full, written, depth - 1);
          continue;
        }
      if (other == NULL)
        g_hash_table_insert (written, value, g_steal_pointer (&full));
    }
}

void
power_model_write (const PowerModel *self, const char *dir)
{
  g_autoptr (GHashTable) written = g_hash_table_new_full (NULL, NULL, NULL, g_free);

  remove_below (dir, 2);
  write_below (self->root, dir, written, 2);
}
