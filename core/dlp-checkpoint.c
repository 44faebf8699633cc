/* SPDX-License-Identifier: MIT */

#include "dlp-checkpoint-private.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <xxhash.h>

#include <dlpipe/dlp-error.h>
#include <dlpipe/dlp-file.h>
#include <dlpipe/dlp-json.h>
#include <dlpipe/dlp-state.h>

#include "dlp-durable-private.h"
#include "dlp-input-list-private.h"
#include "dlp-state-dir-private.h"

#define JSON_FORMAT 1
#define CHECKSUM_SIZE 16
#define INPUTS_NAME "inputs"
#define SEPARATOR " bytes, "
#define UNKNOWN "(null)"

struct _DlpCheckpoint
{
  gint ref_count;
  GVariant *payload;
  GVariant *origin; /* (nullable): what it was made from, as it was read */
  char *path;       /* nullable */
};

G_DEFINE_BOXED_TYPE (DlpCheckpoint, dlp_checkpoint, dlp_checkpoint_ref, dlp_checkpoint_unref)

DlpCheckpoint *
dlp_checkpoint_new_unchecked (GVariant *payload)
{
  DlpCheckpoint *self = g_new0 (DlpCheckpoint, 1);

  self->ref_count = 1;
  self->payload = g_variant_take_ref (payload);
  return self;
}

DlpCheckpoint *
dlp_checkpoint_new_like (DlpCheckpoint *self, GVariant *payload)
{
  DlpCheckpoint *other = dlp_checkpoint_new_unchecked (payload);

  other->path = g_strdup (self->path);
  other->origin = g_variant_ref (dlp_checkpoint_get_origin (self));
  return other;
}

GVariant *
dlp_checkpoint_get_origin (DlpCheckpoint *self)
{
  return self->origin != NULL ? self->origin : self->payload;
}

DlpCheckpoint *
dlp_checkpoint_ref (DlpCheckpoint *self)
{
  g_atomic_int_inc (&self->ref_count);
  return self;
}

void
dlp_checkpoint_unref (DlpCheckpoint *self)
{
  if (!g_atomic_int_dec_and_test (&self->ref_count))
    return;
  g_variant_unref (self->payload);
  g_clear_pointer (&self->origin, g_variant_unref);
  g_free (self->path);
  g_free (self);
}

/* ---- reading ---- */

DlpCheckpoint *
dlp_checkpoint_new_from_variant (GVariant *value, GError **error)
{
  g_autoptr (GVariant) payload = NULL;

  g_return_val_if_fail (value != NULL, NULL);

  payload = g_variant_ref_sink (value);
  return dlp_checkpoint_check (payload, error) ?
             dlp_checkpoint_new_unchecked (g_steal_pointer (&payload)) :
             NULL;
}

DlpCheckpoint *
dlp_checkpoint_new_from_bytes (GBytes *bytes, GError **error)
{
  g_autoptr (GVariant) payload = NULL;

  g_return_val_if_fail (bytes != NULL, NULL);

  payload = dlp_checkpoint_decode (bytes, error);
  return payload != NULL ? dlp_checkpoint_new_from_variant (payload, error) : NULL;
}

static char *
print_checksum (GVariant *payload)
{
  g_autoptr (GBytes) bytes = dlp_checkpoint_encode (payload);
  gsize size;
  const guint8 *data = g_bytes_get_data (bytes, &size);
  GString *text = g_string_new (NULL);

  for (gsize i = size - CHECKSUM_SIZE; i < size; i++)
    g_string_append_printf (text, "%02x", data[i]);
  return g_string_free (text, FALSE);
}

static bool
set_corrupt (GError **error, const char *text)
{
  g_set_error_literal (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CORRUPT, text);
  return false;
}

/* (transfer full) (nullable): the member “state”. */
static GVariant *
open_json (GVariant *json, const char **checksum, GError **error)
{
  gint64 format;

  if (!g_variant_is_of_type (json, G_VARIANT_TYPE_VARDICT) ||
      !g_variant_lookup (json, "dlpipe-state", "x", &format))
    {
      set_corrupt (error, "not a state: it is no JSON object with a number “dlpipe-state”");
      return NULL;
    }
  if (format != JSON_FORMAT)
    {
      g_set_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_VERSION,
                   "“dlpipe-state” is %" G_GINT64_FORMAT ", this dlpipe reads %d", format,
                   JSON_FORMAT);
      return NULL;
    }
  if (!g_variant_lookup (json, "checksum", "&s", checksum))
    {
      set_corrupt (error, "malformed: member “checksum” is missing, or no string");
      return NULL;
    }
  return dlp_state_get_value (json, "state", G_VARIANT_TYPE_VARDICT, error);
}

static bool
compare_checksum (GVariant *payload, const char *recorded, GError **error)
{
  g_autofree char *found = print_checksum (payload);

  if (strcmp (found, recorded) == 0)
    return true;
  g_set_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CORRUPT,
               "damaged: its checksum is %s, that of what it holds %s", recorded, found);
  return false;
}

DlpCheckpoint *
dlp_checkpoint_new_from_json (const char *text, GError **error)
{
  g_autoptr (GVariant) json = NULL;
  g_autoptr (GVariant) state = NULL;
  g_autoptr (GVariant) payload = NULL;
  const char *checksum;

  g_return_val_if_fail (text != NULL, NULL);

  json = dlp_json_parse (text, strlen (text), error);
  if (json == NULL)
    return NULL;
  state = open_json (json, &checksum, error);
  if (state == NULL)
    return NULL;
  payload = dlp_checkpoint_parse_value (state, G_VARIANT_TYPE_VARDICT, error);
  if (payload == NULL || !compare_checksum (payload, checksum, error))
    return NULL;
  return dlp_checkpoint_new_from_variant (payload, error);
}

static DlpCheckpoint *
parse_file (GBytes *bytes, GError **error)
{
  gsize size;
  const char *data = g_bytes_get_data (bytes, &size);
  g_autofree char *text = NULL;

  if (size == 0 || data[0] != '{')
    return dlp_checkpoint_new_from_bytes (bytes, error);
  text = g_strndup (data, size);
  return dlp_checkpoint_new_from_json (text, error);
}

DlpCheckpoint *
dlp_checkpoint_new_from_file (const char *path, GError **error)
{
  g_autoptr (GBytes) bytes = NULL;
  DlpCheckpoint *self = NULL;

  g_return_val_if_fail (path != NULL, NULL);

  bytes = dlp_checkpoint_read (path, error);
  if (bytes != NULL)
    self = parse_file (bytes, error);
  if (self != NULL)
    self->path = g_strdup (path);
  else if (error != NULL && (*error)->domain != G_IO_ERROR)
    g_prefix_error (error, "%s: ", path);
  return self;
}

DlpCheckpoint *
dlp_checkpoint_new_from_folder (const char *folder, char **fell_back, GError **error)
{
  g_autoptr (DlpStateDir) dir = NULL;
  g_autoptr (GVariant) payload = NULL;
  g_autoptr (GError) local = NULL;
  DlpCheckpoint *self;
  guint64 generation;

  g_return_val_if_fail (folder != NULL, NULL);

  dir = dlp_state_dir_open_read_only (folder, error);
  if (dir == NULL)
    return NULL;
  payload = dlp_state_dir_load (dir, &generation, fell_back, &local);
  if (payload == NULL && local == NULL)
    local = g_error_new (G_IO_ERROR, G_IO_ERROR_NOT_FOUND, "%s: there is no checkpoint", folder);
  if (local != NULL)
    {
      g_propagate_error (error, g_steal_pointer (&local));
      return NULL;
    }
  self = dlp_checkpoint_new_from_variant (payload, error);
  if (self != NULL)
    self->path = g_strdup_printf ("%s/checkpoint-%" G_GUINT64_FORMAT, folder, generation);
  else
    g_prefix_error (error, "%s/checkpoint-%" G_GUINT64_FORMAT ": ", folder, generation);
  return self;
}

/* ---- what it holds ---- */

GVariant *
dlp_checkpoint_to_variant (DlpCheckpoint *self)
{
  return g_variant_ref (self->payload);
}

GBytes *
dlp_checkpoint_to_bytes (DlpCheckpoint *self)
{
  return dlp_checkpoint_encode (self->payload);
}

char *
dlp_checkpoint_to_json (DlpCheckpoint *self)
{
  g_autofree char *checksum = print_checksum (self->payload);
  GVariantDict dict;

  g_variant_dict_init (&dict, NULL);
  g_variant_dict_insert (&dict, "dlpipe-state", "x", (gint64) JSON_FORMAT);
  g_variant_dict_insert (&dict, "checksum", "s", checksum);
  g_variant_dict_insert_value (&dict, "state", dlp_checkpoint_print_value (self->payload));
  return dlp_json_print (g_variant_dict_end (&dict), TRUE);
}

const char *
dlp_checkpoint_get_path (DlpCheckpoint *self)
{
  return self->path;
}

const char *
dlp_checkpoint_get_graph (DlpCheckpoint *self)
{
  const char *graph = NULL;

  g_variant_lookup (self->payload, "graph", "^&ay", &graph);
  return graph;
}

guint64
dlp_checkpoint_get_n_skipped (DlpCheckpoint *self)
{
  g_autoptr (GVariant) elements =
      g_variant_lookup_value (self->payload, "elements", G_VARIANT_TYPE ("aa{sv}"));
  guint64 sum = 0;

  for (gsize i = 0; i < g_variant_n_children (elements); i++)
    {
      g_autoptr (GVariant) element = g_variant_get_child_value (elements, i);
      g_autoptr (GVariant) state =
          g_variant_lookup_value (element, "state", G_VARIANT_TYPE_VARDICT);
      const char *factory;
      guint64 skipped;

      if (state != NULL && g_variant_lookup (element, "factory", "&s", &factory) &&
          strcmp (factory, "app-sink") == 0 && g_variant_lookup (state, "skipped", "t", &skipped))
        sum += skipped;
    }
  return sum;
}

/* ---- inputs ---- */

/* Of a state without a folder: size and identity are one text, as check_known_input() makes it. */
static GPtrArray *
list_opened (GVariant *opened)
{
  GPtrArray *files = g_ptr_array_new_with_free_func (g_object_unref);
  GVariantIter iter;
  const char *key, *identity, *uri;

  g_variant_iter_init (&iter, opened);
  while (g_variant_iter_next (&iter, "(^&ay^&ay^&ay)", &key, &identity, &uri))
    {
      const char *rest = strstr (identity, SEPARATOR);
      gint64 size = rest != NULL ? g_ascii_strtoll (identity, NULL, 10) : -1;

      rest = rest != NULL ? rest + strlen (SEPARATOR) : NULL;
      g_ptr_array_add (files,
                       dlp_file_new (uri, size, g_strcmp0 (rest, UNKNOWN) != 0 ? rest : NULL));
    }
  return files;
}

static bool
parse_lines (const char *path, const char *data, gsize size, GHashTable *files, GError **error)
{
  const char *first = memchr (data, '\n', size);
  gsize at = first != NULL ? (gsize) (first - data) + 1 : size;

  while (at < size)
    {
      const char *end = memchr (data + at, '\n', size - at);
      g_autoptr (DlpInputEntry) entry =
          end != NULL ? dlp_input_entry_parse (data + at, (gsize) (end - data) - at) : NULL;

      if (entry == NULL)
        {
          g_set_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CORRUPT,
                       "%s: malformed at byte %" G_GSIZE_FORMAT, path, at);
          return false;
        }
      /* Of several entries of a file the last counts. */
      g_hash_table_replace (files,
                            g_strdup_printf ("%u/%u/%u", entry->stage, entry->source, entry->file),
                            dlp_file_new (entry->uri, entry->size, entry->identity));
      at = (gsize) (end - data) + 1;
    }
  return true;
}

static int
compare_uris (gconstpointer a, gconstpointer b)
{
  return strcmp (dlp_file_get_uri (*(DlpFile *const *) a),
                 dlp_file_get_uri (*(DlpFile *const *) b));
}

/* (transfer full) (nullable): as much of the list as the checkpoint speaks of. */
static char *
read_list (const char *path, guint64 length, guint64 hash, GError **error)
{
  int fd = TEMP_FAILURE_RETRY (open (path, O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  g_autofree char *data = NULL;
  struct stat st;
  gssize n = -1;

  if (fd < 0 || fstat (fd, &st) != 0)
    dlp_durable_set_error (error, errno, "%s: cannot open", path);
  else if ((guint64) st.st_size < length)
    g_set_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CORRUPT,
                 "%s: cut off: it has %" G_GINT64_FORMAT
                 " bytes, the checkpoint needs %" G_GUINT64_FORMAT,
                 path, (gint64) st.st_size, length);
  else
    {
      data = g_malloc (length);
      n = dlp_durable_read (fd, path, data, length, 0, error);
    }
  if (fd >= 0)
    close (fd);
  if (n < 0)
    return NULL;
  if ((guint64) n == length && XXH64 (data, length, 0) == hash)
    return g_steal_pointer (&data);
  g_set_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CORRUPT,
               "%s: of its %" G_GINT64_FORMAT " bytes the first %" G_GUINT64_FORMAT
               " are not those of the checkpoint",
               path, (gint64) st.st_size, length);
  return NULL;
}

static GPtrArray *
list_folder (const char *path, guint64 length, guint64 hash, GError **error)
{
  g_autoptr (GHashTable) files =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_object_unref);
  g_autofree char *data = read_list (path, length, hash, error);
  GPtrArray *list;
  GHashTableIter iter;
  gpointer file;

  if (data == NULL || !parse_lines (path, data, length, files, error))
    return NULL;
  list = g_ptr_array_new_with_free_func (g_object_unref);
  g_hash_table_iter_init (&iter, files);
  while (g_hash_table_iter_next (&iter, NULL, &file))
    g_ptr_array_add (list, g_object_ref (file));
  g_ptr_array_sort (list, compare_uris);
  return list;
}

GPtrArray *
dlp_checkpoint_list_inputs (DlpCheckpoint *self, GError **error)
{
  g_autoptr (GVariant) opened =
      g_variant_lookup_value (self->payload, "opened", G_VARIANT_TYPE ("a(ayayay)"));
  g_autofree char *folder = NULL;
  g_autofree char *path = NULL;
  guint64 length = 0, hash = 0;

  if (opened != NULL)
    return list_opened (opened);
  g_variant_lookup (self->payload, "inputs-length", "t", &length);
  g_variant_lookup (self->payload, "inputs-hash", "t", &hash);
  if (length == 0)
    return g_ptr_array_new_with_free_func (g_object_unref);
  if (self->path == NULL)
    {
      g_set_error (error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND,
                   "the list of input files is in the state folder, from which this was not read");
      return NULL;
    }
  folder = g_path_get_dirname (self->path);
  path = g_build_filename (folder, INPUTS_NAME, NULL);
  return list_folder (path, length, hash, error);
}

GVariant *
dlp_checkpoint_describe_folder (const char *folder, GError **error)
{
  g_autoptr (DlpStateDir) dir = NULL;

  g_return_val_if_fail (folder != NULL, NULL);

  dir = dlp_state_dir_open_read_only (folder, error);
  return dir != NULL ? dlp_state_dir_describe (dir, error) : NULL;
}
