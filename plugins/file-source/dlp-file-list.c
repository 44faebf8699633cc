/* SPDX-License-Identifier: MIT */

#include "dlp-file-list.h"

#include <string.h>

#include <dlpipe/dlp-source.h>

static gboolean
is_stdin (const char *uri)
{
  return strcmp (uri, "-") == 0;
}

/* ---- what is named ---- */

typedef struct
{
  FileListFindWriter func;
  gpointer data;
} WriterFinder;

static const char *
get_writer (const WriterFinder *self, DlpFile *file)
{
  return self->func != NULL ? self->func (self->data, dlp_file_get_uri (file)) : NULL;
}

static gboolean
check_named (const WriterFinder *writers, DlpFile *file, GError **error)
{
  const char *writer = get_writer (writers, file);
  g_autofree char *shown = NULL;

  if (writer == NULL)
    return TRUE;
  shown = dlp_uri_escape_for_display (dlp_file_get_uri (file));
  g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE,
               "%s is to be read, but it is written by %s; write elsewhere", shown, writer);
  return FALSE;
}

/* (transfer full): the location as it was, or is to be, listed. */
static char *
add_location (GPtrArray *files,
              const char *location,
              const char *pin,
              const WriterFinder *writers,
              GCancellable *cancellable,
              GError **error)
{
  DlpScheme *scheme = dlp_scheme_for_uri (location, error);
  g_autofree char *pinned = g_strdup (pin);
  g_autoptr (GPtrArray) found = NULL;
  guint before;

  if (scheme == NULL)
    return NULL;
  if (pinned == NULL)
    pinned = dlp_scheme_pin (scheme, location, cancellable, error);
  if (pinned == NULL)
    return NULL;
  found = dlp_scheme_list (scheme, pinned, cancellable, error);
  if (found == NULL)
    return NULL;

  before = files->len;
  for (guint i = 0; i < found->len; i++)
    if (get_writer (writers, g_ptr_array_index (found, i)) == NULL)
      g_ptr_array_add (files, g_object_ref (g_ptr_array_index (found, i)));
  /* One that is named, or the only one that a pattern matches. */
  if (files->len == before && found->len > 0 &&
      !check_named (writers, g_ptr_array_index (found, 0), error))
    return NULL;
  return g_steal_pointer (&pinned);
}

static gboolean
add_locations (FileList *self,
               const char *const *locations,
               const char *const *pins,
               const WriterFinder *writers,
               GCancellable *cancellable,
               GError **error)
{
  guint n = locations != NULL ? g_strv_length ((char **) locations) : 0;

  self->pins = g_new0 (char *, n + 1);
  for (guint i = 0; i < n; i++)
    {
      self->pins[i] = add_location (self->files, locations[i], pins != NULL ? pins[i] : NULL,
                                    writers, cancellable, error);
      if (self->pins[i] == NULL)
        return FALSE;
    }
  return TRUE;
}

static gboolean
add_name (GPtrArray *files,
          const char *name,
          const WriterFinder *writers,
          GCancellable *cancellable,
          GError **error)
{
  DlpScheme *scheme;
  DlpFile *file;

  if (g_cancellable_set_error_if_cancelled (cancellable, error))
    return FALSE;
  if (is_stdin (name))
    {
      g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_NO_INPUT,
                   "\"-\", the standard input, cannot be named in a list; location=- reads it, "
                   "./- is a file of that name");
      return FALSE;
    }

  scheme = dlp_scheme_for_uri (name, error);
  file = scheme != NULL ? dlp_scheme_identify (scheme, name, cancellable, error) : NULL;
  if (file == NULL)
    return FALSE;
  g_ptr_array_add (files, file);
  return check_named (writers, file, error);
}

/* A list is held in memory as a whole; this is room for two million names of 100 bytes. */
#define MAX_LIST_SIZE ((gint64) 256 * 1024 * 1024)

static gboolean
check_list_size (const char *uri, gint64 size, GError **error)
{
  g_autofree char *name = NULL;

  if (size <= MAX_LIST_SIZE)
    return TRUE;
  name = dlp_uri_escape_for_display (uri);
  g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_NO_INPUT,
               "list=%s: it has %" G_GINT64_FORMAT " bytes or more, and at most %" G_GINT64_FORMAT
               " are allowed; is it a list of file names? location=GLOB takes any number of files",
               name, size, MAX_LIST_SIZE);
  return FALSE;
}

/* Reads all of a file, whatever scheme it is of. */
static GByteArray *
load_file (const char *uri, GCancellable *cancellable, GError **error)
{
  DlpScheme *scheme = dlp_scheme_for_uri (uri, error);
  g_autoptr (DlpFile) file = NULL;
  g_autoptr (GInputStream) stream = NULL;
  g_autoptr (GByteArray) bytes = g_byte_array_new ();
  g_autofree guint8 *buffer = g_malloc (64 * 1024);
  gssize n;

  if (scheme == NULL)
    return NULL;
  file = dlp_scheme_identify (scheme, uri, cancellable, error);
  if (file == NULL)
    return NULL;
  if (!check_list_size (uri, dlp_file_get_size (file), error))
    return NULL;
  stream = dlp_file_open (file, 0, cancellable, error);
  if (stream == NULL)
    return NULL;

  while ((n = g_input_stream_read (stream, buffer, 64 * 1024, cancellable, error)) > 0)
    {
      g_byte_array_append (bytes, buffer, (guint) n);
      if (!check_list_size (uri, (gint64) bytes->len, error))
        return NULL;
    }
  return n < 0 ? NULL : g_steal_pointer (&bytes);
}

/* Names end with NUL if there is one in the file, else with LF or CR LF. */
static gboolean
add_list (GPtrArray *files,
          const char *list,
          const WriterFinder *writers,
          GCancellable *cancellable,
          GError **error)
{
  g_autoptr (GByteArray) bytes = NULL;
  guint64 number = 0;
  guint before = files->len;
  char separator;

  if (is_stdin (list))
    {
      g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_NO_INPUT,
                   "list=-: names cannot come from the standard input; list=FILE");
      return FALSE;
    }
  bytes = load_file (list, cancellable, error);
  if (bytes == NULL)
    return FALSE;

  separator = bytes->len > 0 && memchr (bytes->data, '\0', bytes->len) != NULL ? '\0' : '\n';
  for (gsize at = 0; at < bytes->len;)
    {
      const char *start = (const char *) bytes->data + at;
      const char *end = memchr (start, separator, bytes->len - at);
      gsize length = end != NULL ? (gsize) (end - start) : bytes->len - at;
      gsize used = length;
      g_autofree char *name = NULL;

      at += length + 1;
      number++;
      if (separator == '\n' && used > 0 && start[used - 1] == '\r')
        used--;
      if (used == 0)
        continue;

      name = g_strndup (start, used);
      if (!add_name (files, name, writers, cancellable, error))
        {
          g_autofree char *shown = dlp_uri_escape_for_display (list);

          g_prefix_error (error, "%s, name %" G_GUINT64_FORMAT ": ", shown, number);
          return FALSE;
        }
    }

  if (files->len == before)
    {
      g_autofree char *shown = dlp_uri_escape_for_display (list);

      g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_NO_INPUT, "%s: the list names no file",
                   shown);
      return FALSE;
    }
  return TRUE;
}

/* ---- what a manifest says ---- */

/* As the scheme would call it: an ETag may be written with or without its quotes. */
static char *
make_identity (const char *etag)
{
  if (g_str_has_prefix (etag, "W/"))
    return g_strconcat ("weak-etag=", etag, NULL);
  return etag[0] == '"' ? g_strconcat ("etag=", etag, NULL) : g_strdup_printf ("etag=\"%s\"", etag);
}

static gboolean
is_local (const char *uri)
{
  return strstr (uri, "://") == NULL || g_str_has_prefix (uri, "file://");
}

static gboolean
check_etag (const ManifestEntry *entry, DlpFile *file, GError **error)
{
  const char *identity = dlp_file_get_identity (file);
  g_autofree char *expected = NULL;
  g_autofree char *shown = NULL;

  if (entry->etag == NULL || identity == NULL || is_local (entry->uri))
    return TRUE;
  expected = make_identity (entry->etag);
  if (strcmp (identity, expected) == 0)
    return TRUE;
  shown = dlp_uri_escape_for_display (entry->uri);
  g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_CHANGED,
               "%s: it is not the file that the manifest means: that was %s, this is %s", shown,
               expected, identity);
  return FALSE;
}

/* Where the manifest says all there is to know of a file, its server is not asked before it is
 * read. */
static DlpFile *
identify_entry (const ManifestEntry *entry, GCancellable *cancellable, GError **error)
{
  DlpScheme *scheme = dlp_scheme_for_uri (entry->uri, error);
  g_autoptr (DlpFile) file = NULL;

  if (scheme == NULL)
    return NULL;
  if (entry->size >= 0 && entry->etag != NULL && !is_local (entry->uri))
    {
      g_autofree char *identity = make_identity (entry->etag);

      return dlp_file_new (entry->uri, entry->size, identity);
    }
  file = dlp_scheme_identify (scheme, entry->uri, cancellable, error);
  return file != NULL && check_etag (entry, file, error) ? g_steal_pointer (&file) : NULL;
}

static int
compare_entries (gconstpointer a, gconstpointer b)
{
  return strcmp ((*(ManifestEntry *const *) a)->uri, (*(ManifestEntry *const *) b)->uri);
}

static gboolean
check_entries (GPtrArray *entries, GError **error)
{
  g_autoptr (GHashTable) seen = g_hash_table_new (g_str_hash, g_str_equal);

  for (guint i = 0; i < entries->len; i++)
    {
      const ManifestEntry *entry = g_ptr_array_index (entries, i);
      g_autofree char *shown = dlp_uri_escape_for_display (entry->uri);

      if (is_stdin (entry->uri))
        {
          g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_NO_INPUT,
                       "\"-\", the standard input, cannot be named in a manifest; ./- is a file of "
                       "that name");
          return FALSE;
        }
      if (!g_hash_table_add (seen, entry->uri))
        {
          g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_NO_INPUT, "it names %s twice", shown);
          return FALSE;
        }
    }
  return TRUE;
}

/* (transfer full) (element-type ManifestEntry) */
static GPtrArray *
load_entries (const char *location, GCancellable *cancellable, GError **error)
{
  g_autoptr (GByteArray) bytes = load_file (location, cancellable, error);
  g_autoptr (GPtrArray) entries = NULL;
  g_autofree char *shown = NULL;

  if (bytes == NULL)
    return NULL;
  entries = source_manifest_parse ((const char *) bytes->data, bytes->len, error);
  if (entries != NULL && source_manifest_resolve (entries, location, error) &&
      check_entries (entries, error))
    return g_steal_pointer (&entries);
  shown = dlp_uri_escape_for_display (location);
  g_prefix_error (error, "%s: ", shown);
  return NULL;
}

/* ---- their order ---- */

static int
compare_files (gconstpointer a, gconstpointer b)
{
  return strcmp (dlp_file_get_uri (*(DlpFile *const *) a),
                 dlp_file_get_uri (*(DlpFile *const *) b));
}

/* A file that several locations name is read once, at its first place. The keys of the table are
 * the URIs of files that are kept: adding one that is equal would put that of a file freed here in
 * its place. */
static void
drop_duplicates (GPtrArray *files)
{
  g_autoptr (GHashTable) seen = g_hash_table_new (g_str_hash, g_str_equal);
  guint kept = 0;

  for (guint i = 0; i < files->len; i++)
    {
      DlpFile *file = g_ptr_array_index (files, i);
      const char *uri = dlp_file_get_uri (file);

      if (g_hash_table_contains (seen, uri))
        {
          g_object_unref (file);
          continue;
        }
      g_hash_table_add (seen, (gpointer) uri);
      files->pdata[kept++] = file;
    }
  for (guint i = kept; i < files->len; i++)
    files->pdata[i] = NULL;
  g_ptr_array_set_free_func (files, NULL);
  g_ptr_array_set_size (files, kept);
  g_ptr_array_set_free_func (files, g_object_unref);
}

/* ---- what they were ---- */

static guint64
first_bytes (const GChecksum *checksum)
{
  g_autoptr (GChecksum) copy = g_checksum_copy (checksum);
  guint8 digest[32];
  gsize size = sizeof digest;
  guint64 value;

  g_checksum_get_digest (copy, digest, &size);
  memcpy (&value, digest, sizeof value);
  return GUINT64_FROM_LE (value);
}

/* How many files the first @k parts of @n files are. */
static guint64
prefix_length (guint64 n, guint k)
{
  return (n * k + FILE_LIST_N_PREFIXES - 1) / FILE_LIST_N_PREFIXES;
}

/* Of the first prefix_length (@n, k) files each; those that this list does not have stay 0. */
static char *
hash_names (const FileList *self, guint64 n, guint64 *prefixes)
{
  g_autoptr (GChecksum) checksum = g_checksum_new (G_CHECKSUM_SHA256);
  guint k = 0;

  for (guint64 i = 0; i <= self->files->len; i++)
    {
      g_autofree char *uri = NULL;

      for (; k < FILE_LIST_N_PREFIXES && prefix_length (n, k + 1) == i; k++)
        prefixes[k] = first_bytes (checksum);
      if (i == self->files->len)
        break;
      /* Signed anew, a name is the same. */
      uri = dlp_uri_redact (dlp_file_get_uri (file_list_get (self, (guint) i)));
      g_checksum_update (checksum, (const guchar *) uri, (gssize) strlen (uri) + 1);
    }
  return g_strdup (g_checksum_get_string (checksum));
}

GVariant *
file_list_describe_prefixes (const FileList *self)
{
  return g_variant_new_fixed_array (G_VARIANT_TYPE_UINT64, self->prefixes, FILE_LIST_N_PREFIXES,
                                    sizeof (guint64));
}

gboolean
file_list_check (const FileList *self,
                 guint64 n_files,
                 const char *hash,
                 GVariant *prefixes,
                 GError **error)
{
  guint64 now[FILE_LIST_N_PREFIXES] = { 0 };
  g_autofree char *shown = NULL;
  const guint64 *before;
  gsize n;
  guint k = 0;
  guint64 first, last;

  if (n_files == self->files->len && strcmp (hash, self->hash) == 0)
    return TRUE;

  before = g_variant_get_fixed_array (prefixes, &n, sizeof (guint64));
  g_free (hash_names (self, n_files, now));
  while (k < MIN (n, FILE_LIST_N_PREFIXES) && before[k] == now[k])
    k++;
  first = prefix_length (n_files, k);
  last = k < FILE_LIST_N_PREFIXES ? prefix_length (n_files, k + 1) : n_files + 1;
  shown = first < self->files->len ?
              dlp_uri_escape_for_display (dlp_file_get_uri (file_list_get (self, (guint) first))) :
              g_strdup ("no file");
  g_set_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CHANGED,
               "the list of files has changed: there were %" G_GUINT64_FORMAT
               ", now there are %u; the first difference is at file %" G_GUINT64_FORMAT
               "%s (from 0), where %s is now; restore the files, or begin anew with --restart",
               n_files, self->files->len, first, last > first + 1 ? " or soon behind it" : "",
               shown);
  return FALSE;
}

/* ---- the list ---- */

FileList *
file_list_new (const char *const *locations,
               const char *const *pins,
               const char *list,
               FileListFindWriter find_writer,
               gpointer data,
               gboolean sorted,
               GCancellable *cancellable,
               GError **error)
{
  g_autoptr (FileList) self = g_new0 (FileList, 1);
  const WriterFinder writers = { find_writer, data };

  self->files = g_ptr_array_new_with_free_func (g_object_unref);
  if (!add_locations (self, locations, pins, &writers, cancellable, error))
    return NULL;
  if (list != NULL && !add_list (self->files, list, &writers, cancellable, error))
    return NULL;

  if (sorted)
    g_ptr_array_sort (self->files, compare_files);
  drop_duplicates (self->files);
  self->n_all = self->files->len;
  self->hash = hash_names (self, self->files->len, self->prefixes);
  return g_steal_pointer (&self);
}

FileList *
file_list_new_part (const char *plan, const char *source, guint task, GError **error)
{
  FileList *self;
  GArray *numbers = NULL;
  guint n_all = 0;
  GPtrArray *files = dlp_source_load_part (plan, source, task, &numbers, &n_all, error);

  if (files == NULL)
    return NULL;
  self = g_new0 (FileList, 1);
  self->files = files;
  self->numbers = numbers;
  self->n_all = n_all;
  self->hash = hash_names (self, files->len, self->prefixes);
  return self;
}

/* Takes @entries. */
static FileList *
new_from_entries (GPtrArray *entries,
                  const WriterFinder *writers,
                  GCancellable *cancellable,
                  GError **error)
{
  g_autoptr (FileList) self = g_new0 (FileList, 1);

  self->entries = entries;
  self->files = g_ptr_array_new_with_free_func (g_object_unref);
  for (guint i = 0; i < entries->len; i++)
    {
      DlpFile *file = identify_entry (g_ptr_array_index (entries, i), cancellable, error);

      if (file == NULL)
        return NULL;
      g_ptr_array_add (self->files, file);
      if (!check_named (writers, file, error))
        return NULL;
    }
  self->n_all = self->files->len;
  self->hash = hash_names (self, self->files->len, self->prefixes);
  return g_steal_pointer (&self);
}

FileList *
file_list_new_from_manifest (const char *location,
                             FileListFindWriter find_writer,
                             gpointer data,
                             gboolean sorted,
                             GCancellable *cancellable,
                             GError **error)
{
  const WriterFinder writers = { find_writer, data };
  GPtrArray *entries;

  if (is_stdin (location))
    {
      g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_NO_INPUT,
                   "manifest=-: a manifest cannot come from the standard input; manifest=FILE");
      return NULL;
    }
  entries = load_entries (location, cancellable, error);
  if (entries == NULL)
    return NULL;
  if (sorted)
    g_ptr_array_sort (entries, compare_entries);
  return new_from_entries (entries, &writers, cancellable, error);
}

/* Takes @entries: of the files of a part, in their order. */
static FileList *
copy_part (const FileList *part, GPtrArray *entries)
{
  FileList *self = g_new0 (FileList, 1);

  self->files = g_ptr_array_ref (part->files);
  self->numbers = part->numbers != NULL ? g_array_ref (part->numbers) : NULL;
  self->n_all = part->n_all;
  self->entries = entries;
  self->hash = hash_names (self, self->files->len, self->prefixes);
  return self;
}

static ManifestEntry *
entry_copy (const ManifestEntry *from)
{
  ManifestEntry *copy = g_memdup2 (from, sizeof *from);

  copy->uri = g_strdup (from->uri);
  copy->etag = g_strdup (from->etag);
  copy->sha256 = g_strdup (from->sha256);
  return copy;
}

/* (transfer full) (element-type utf8 ManifestEntry): by what is stored of their URIs. */
static GHashTable *
index_entries (GPtrArray *entries)
{
  GHashTable *index = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);

  for (guint i = 0; i < entries->len; i++)
    g_hash_table_insert (index, dlp_uri_redact (((ManifestEntry *) entries->pdata[i])->uri),
                         entries->pdata[i]);
  return index;
}

gboolean
file_list_add_manifest (FileList *self,
                        const char *location,
                        GCancellable *cancellable,
                        GError **error)
{
  g_autoptr (GPtrArray) all = load_entries (location, cancellable, error);
  g_autoptr (GPtrArray) entries =
      g_ptr_array_new_with_free_func ((GDestroyNotify) manifest_entry_free);
  g_autoptr (GHashTable) index = NULL;

  if (all == NULL)
    return FALSE;
  index = index_entries (all);
  for (guint i = 0; i < self->files->len; i++)
    {
      g_autofree char *uri = dlp_uri_redact (dlp_file_get_uri (file_list_get (self, i)));
      const ManifestEntry *entry = g_hash_table_lookup (index, uri);

      if (entry == NULL)
        {
          g_set_error (
              error, DLP_STATE_ERROR, DLP_STATE_ERROR_CHANGED,
              "the plan deals %s to this task, and the manifest does not name it any more; "
              "put it back, or begin anew with --restart",
              uri);
          return FALSE;
        }
      g_ptr_array_add (entries, entry_copy (entry));
    }
  self->entries = g_steal_pointer (&entries);
  return TRUE;
}

/* One from which nothing was taken is whole. */
static gboolean
make_whole (ManifestEntry *entry, GHashTable *whole, GError **error)
{
  const ManifestEntry *known = g_hash_table_lookup (whole, entry->uri);

  if (known != NULL)
    {
      g_free (entry->uri);
      entry->uri = g_strdup (known->uri);
      return TRUE;
    }
  if (strstr (entry->uri, "***") == NULL)
    return TRUE;
  g_set_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CHANGED,
               "the manifest does not name %s any more, and what gives access to it is not stored; "
               "put it back, or begin anew with --restart",
               entry->uri);
  return FALSE;
}

FileList *
file_list_new_from_entries (const FileList *self,
                            GPtrArray *entries,
                            GCancellable *cancellable,
                            GError **error)
{
  static const WriterFinder nobody = { NULL, NULL };
  g_autoptr (GHashTable) whole = index_entries (self->entries);

  for (guint i = 0; i < entries->len; i++)
    if (!make_whole (g_ptr_array_index (entries, i), whole, error))
      {
        g_ptr_array_unref (entries);
        return NULL;
      }
  if (self->numbers != NULL && entries->len == self->files->len)
    return copy_part (self, entries);
  return new_from_entries (entries, &nobody, cancellable, error);
}

void
file_list_free (FileList *self)
{
  g_ptr_array_unref (self->files);
  g_clear_pointer (&self->numbers, g_array_unref);
  g_clear_pointer (&self->entries, g_ptr_array_unref);
  g_free (self->hash);
  g_strfreev (self->pins);
  g_free (self);
}

guint
file_list_get_length (const FileList *self)
{
  return self->files->len;
}

DlpFile *
file_list_get (const FileList *self, guint index)
{
  return g_ptr_array_index (self->files, index);
}

guint32
file_list_get_number (const FileList *self, guint index)
{
  return self->numbers != NULL ? g_array_index (self->numbers, guint32, index) : index;
}

DlpFile *
file_list_find_stream (const FileList *self)
{
  for (guint i = 0; i < self->files->len; i++)
    {
      DlpFile *file = file_list_get (self, i);
      const char *uri = dlp_file_get_uri (file);

      if (dlp_file_get_size (file) < 0 && strstr (uri, "://") == NULL)
        return file;
    }
  return NULL;
}
