/* SPDX-License-Identifier: MIT */

#include "dlp-local-scheme-private.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <dlpipe/dlp-error.h>

#include "dlp-file-private.h"
#include "dlp-glob-private.h"
#include "dlp-local-stream-private.h"

struct _DlpLocalScheme
{
  DlpScheme parent_instance;
};

G_DEFINE_FINAL_TYPE (DlpLocalScheme, dlp_local_scheme, DLP_TYPE_SCHEME)

static gboolean
is_stdin (const char *uri)
{
  return strcmp (uri, "-") == 0;
}

/* (transfer full): a path as it is, a "file://" URI decoded. */
static char *
path_of_uri (const char *uri, GError **error)
{
  g_autoptr (GError) local_error = NULL;
  g_autofree char *name = NULL;
  g_autofree char *path = NULL;
  g_autofree char *host = NULL;

  if (g_ascii_strncasecmp (uri, "file://", 7) != 0)
    return g_strdup (uri);

  name = dlp_uri_escape_for_display (uri);
  path = g_filename_from_uri (uri, &host, &local_error);
  if (path == NULL)
    {
      g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_NO_INPUT,
                   "%s: not a file URI (file:///PATH, percent-encoded): %s", name,
                   local_error->message);
      return NULL;
    }
  if (host != NULL && g_ascii_strcasecmp (host, "localhost") != 0)
    {
      g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_NO_INPUT,
                   "%s: a file on another host (%s); only file:///PATH can be read", name, host);
      return NULL;
    }

  return g_steal_pointer (&path);
}

/* DLP_DATA_ERROR_NO_INPUT for what does not exist, else what GIO calls it. */
static void
set_errno_error (GError **error, const char *path, const char *what, int code)
{
  g_autofree char *name = dlp_uri_escape_for_display (path);
  struct stat st;

  if ((code == ENOENT || code == ELOOP) && lstat (path, &st) == 0 && S_ISLNK (st.st_mode))
    {
      g_autofree char *target = g_file_read_link (path, NULL);
      g_autofree char *shown = dlp_uri_escape_for_display (target != NULL ? target : "?");

      g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_NO_INPUT,
                   "%s: the symbolic link leads nowhere (to \"%s\": %s)", name, shown,
                   g_strerror (code));
    }
  else if (code == ENOENT || code == ENOTDIR)
    g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_NO_INPUT, "%s: no such file", name);
  else
    g_set_error (error, G_IO_ERROR, (int) g_io_error_from_errno (code), "%s: cannot %s: %s", name,
                 what, g_strerror (code));
}

static gboolean
check_kind (const char *path, const struct stat *st, GError **error)
{
  const char *kind;
  g_autofree char *name = NULL;

  if (S_ISDIR (st->st_mode))
    kind = "a folder";
  else if (S_ISSOCK (st->st_mode))
    kind = "a socket";
  else
    return TRUE;

  name = dlp_uri_escape_for_display (path);
  g_set_error (error, G_IO_ERROR,
               S_ISDIR (st->st_mode) ? G_IO_ERROR_IS_DIRECTORY : G_IO_ERROR_NOT_REGULAR_FILE,
               "%s: %s, where a file was expected", name, kind);
  return FALSE;
}

/* Only a regular file has a size and an identity; a pipe's times move while it is read. */
static gint64
recorded_size (const struct stat *st)
{
  return S_ISREG (st->st_mode) ? (gint64) st->st_size : -1;
}

static char *
make_identity (const struct stat *st)
{
  if (!S_ISREG (st->st_mode))
    return NULL;

  return g_strdup_printf ("mtime=%" G_GINT64_FORMAT ".%09ld", (gint64) st->st_mtim.tv_sec,
                          (long) st->st_mtim.tv_nsec);
}

static DlpFile *
identify_path (const char *path, GError **error)
{
  g_autofree char *identity = NULL;
  /* Among paths this one would mean the standard input. */
  const char *uri = is_stdin (path) ? "./-" : path;
  struct stat st;

  if (stat (path, &st) != 0)
    {
      set_errno_error (error, path, "find the file", errno);
      return NULL;
    }
  if (!check_kind (path, &st, error))
    return NULL;

  identity = make_identity (&st);
  return dlp_file_new (uri, recorded_size (&st), identity);
}

static DlpFile *
dlp_local_scheme_identify (DlpScheme *scheme,
                           const char *uri,
                           GCancellable *cancellable,
                           GError **error)
{
  g_autofree char *path = NULL;

  if (is_stdin (uri))
    return dlp_file_new (uri, -1, NULL);

  path = path_of_uri (uri, error);
  if (path == NULL)
    return NULL;

  return identify_path (path, error);
}

/* Where the names given stop being there: the longest leading part of the path, up to its first
 * pattern character, that is a folder. */
static char *
nearest_folder (const char *pattern)
{
  gsize plain = strcspn (pattern, "*?[");
  g_autofree char *path = g_strndup (pattern, plain);
  char *slash;

  while ((slash = strrchr (path, '/')) != NULL)
    {
      slash[slash == path ? 1 : 0] = '\0';
      if (g_file_test (path, G_FILE_TEST_IS_DIR))
        return g_steal_pointer (&path);
      if (slash == path)
        break;
    }

  return g_strdup (".");
}

static void
set_no_match_error (GError **error, const char *pattern, gboolean is_folder)
{
  g_autofree char *name = dlp_uri_escape_for_display (pattern);
  g_autofree char *folder = nearest_folder (pattern);
  g_autofree char *shown = dlp_uri_escape_for_display (folder);

  if (is_folder)
    g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_NO_INPUT,
                 "%s: the folder holds no files (hidden ones do not count; \"%s/**\" means those "
                 "in the folders below too)",
                 name, name);
  else if (dlp_glob_is_pattern (pattern))
    g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_NO_INPUT,
                 "%s: no file matches; the nearest folder that exists is \"%s\"", name, shown);
  else
    g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_NO_INPUT,
                 "%s: no such file; the nearest folder that exists is \"%s\"", name, shown);
}

/* The paths that @path means, which is not one file's name. */
static GPtrArray *
find_paths (const char *path, GCancellable *cancellable, GError **error)
{
  g_autoptr (GPtrArray) paths = NULL;
  gboolean is_folder = g_file_test (path, G_FILE_TEST_IS_DIR);

  if (is_folder)
    paths = dlp_glob_find_in_folder (path, error);
  else if (dlp_glob_is_pattern (path))
    paths = dlp_glob_find (path, cancellable, error);
  else
    paths = g_ptr_array_new ();

  if (paths == NULL)
    return NULL;

  if (paths->len == 0)
    {
      set_no_match_error (error, path, is_folder);
      return NULL;
    }

  return g_steal_pointer (&paths);
}

static GPtrArray *
list_path (const char *path, GCancellable *cancellable, GError **error)
{
  g_autoptr (GPtrArray) files = g_ptr_array_new_with_free_func (g_object_unref);
  g_autoptr (GPtrArray) paths = NULL;
  struct stat st;

  /* A name that exists is that file, also where it holds a star or a bracket. */
  if (lstat (path, &st) == 0 && !g_file_test (path, G_FILE_TEST_IS_DIR))
    {
      paths = g_ptr_array_new_with_free_func (g_free);
      g_ptr_array_add (paths, g_strdup (path));
    }
  else
    paths = find_paths (path, cancellable, error);

  if (paths == NULL)
    return NULL;

  for (guint i = 0; i < paths->len; i++)
    {
      DlpFile *file;

      if (g_cancellable_set_error_if_cancelled (cancellable, error))
        return NULL;
      file = identify_path (g_ptr_array_index (paths, i), error);
      if (file == NULL)
        return NULL;
      g_ptr_array_add (files, file);
    }

  return g_steal_pointer (&files);
}

static GPtrArray *
dlp_local_scheme_list (DlpScheme *scheme,
                       const char *pattern,
                       GCancellable *cancellable,
                       GError **error)
{
  g_autofree char *path = NULL;

  if (is_stdin (pattern))
    {
      GPtrArray *files = g_ptr_array_new_with_free_func (g_object_unref);

      g_ptr_array_add (files, dlp_file_new (pattern, -1, NULL));
      return files;
    }

  path = path_of_uri (pattern, error);
  if (path == NULL)
    return NULL;

  return list_path (path, cancellable, error);
}

static gboolean
seek_to (int fd, const char *path, const struct stat *st, gint64 offset, GError **error)
{
  g_autofree char *name = NULL;
  int code;

  if (offset == 0)
    return TRUE;

  if (S_ISREG (st->st_mode) && offset > st->st_size)
    {
      name = dlp_uri_escape_for_display (path);
      g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_CHANGED,
                   "%s: the file has changed: it is %" G_GINT64_FORMAT
                   " bytes, and was read up to byte %" G_GINT64_FORMAT " before",
                   name, (gint64) st->st_size, offset);
      return FALSE;
    }

  if (lseek (fd, (off_t) offset, SEEK_SET) >= 0)
    return TRUE;

  code = errno;
  if (code != ESPIPE)
    {
      set_errno_error (error, path, "go to the position", code);
      return FALSE;
    }

  name = dlp_uri_escape_for_display (path);
  g_set_error (error, G_IO_ERROR, G_IO_ERROR_NOT_SUPPORTED,
               "%s: a pipe cannot be read again from byte %" G_GINT64_FORMAT
               ": what was read from it is gone",
               name, offset);
  return FALSE;
}

static int
open_retrying (const char *path)
{
  int fd;

  /* O_NONBLOCK matters for pipes only: opening one would wait for its writer, and could not be
   * ended. */
  do
    fd = open (path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  while (fd < 0 && errno == EINTR);

  return fd;
}

/* Everything between open() and the stream. */
static gboolean
prepare_fd (int fd, DlpFile *file, const char *path, gint64 offset, GError **error)
{
  g_autofree char *identity = NULL;
  struct stat st;

  if (fstat (fd, &st) != 0)
    {
      set_errno_error (error, path, "look at the file", errno);
      return FALSE;
    }
  if (!check_kind (path, &st, error))
    return FALSE;

  identity = make_identity (&st);
  if (!dlp_file_check (file, recorded_size (&st), identity, error) ||
      !seek_to (fd, path, &st, offset, error))
    return FALSE;

  /* Advice: a file system may refuse it. */
  if (S_ISREG (st.st_mode))
    (void) posix_fadvise (fd, 0, 0, POSIX_FADV_SEQUENTIAL);

  return TRUE;
}

/* A pipe without a writer reads as ended: waits until one has come, or the caller gives up. */
static GInputStream *
make_stream (int fd, gboolean owned, const char *path, GCancellable *cancellable, GError **error)
{
  g_autoptr (DlpLocalStream) stream = dlp_local_stream_new (fd, owned, error);
  g_autofree char *name = NULL;
  struct stat st;

  if (stream != NULL && (!owned || fstat (fd, &st) != 0 || !S_ISFIFO (st.st_mode) ||
                         dlp_local_stream_wait (stream, cancellable, error)))
    return G_INPUT_STREAM (g_steal_pointer (&stream));

  name = dlp_uri_escape_for_display (path);
  if (!g_cancellable_is_cancelled (cancellable))
    g_prefix_error (error, "%s: ", name);
  return NULL;
}

static GInputStream *
open_stdin (gint64 offset, GError **error)
{
  int flags = fcntl (STDIN_FILENO, F_GETFL);

  if (offset != 0)
    {
      g_set_error (error, G_IO_ERROR, G_IO_ERROR_NOT_SUPPORTED,
                   "-: the standard input cannot be read again from byte %" G_GINT64_FORMAT
                   ": what was read from it is gone",
                   offset);
      return NULL;
    }
  if (flags < 0 || (flags & O_ACCMODE) == O_WRONLY)
    {
      g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_NO_INPUT,
                   "-: the standard input is %s; is it closed (<&-)?",
                   flags < 0 ? "not there" : "not open for reading");
      return NULL;
    }

  return make_stream (STDIN_FILENO, FALSE, "-", NULL, error);
}

static GInputStream *
dlp_local_scheme_open (DlpScheme *scheme,
                       DlpFile *file,
                       gint64 offset,
                       GCancellable *cancellable,
                       GError **error)
{
  const char *uri = dlp_file_get_uri (file);
  g_autofree char *path = NULL;
  int fd;

  if (is_stdin (uri))
    return open_stdin (offset, error);

  path = path_of_uri (uri, error);
  if (path == NULL)
    return NULL;

  fd = open_retrying (path);
  if (fd < 0)
    {
      set_errno_error (error, path, "open the file", errno);
      return NULL;
    }
  if (!prepare_fd (fd, file, path, offset, error))
    {
      close (fd);
      return NULL;
    }

  return make_stream (fd, TRUE, path, cancellable, error);
}

/* A file whose identity was not recorded may grow while it is read. */
static gboolean
dlp_local_scheme_check (DlpScheme *scheme, DlpFile *file, GInputStream *stream, GError **error)
{
  g_autofree char *identity = NULL;
  struct stat st;

  if (dlp_file_get_identity (file) == NULL || !DLP_IS_LOCAL_STREAM (stream))
    return TRUE;
  if (fstat (dlp_local_stream_get_fd (DLP_LOCAL_STREAM (stream)), &st) != 0)
    {
      set_errno_error (error, dlp_file_get_uri (file), "look at the file", errno);
      return FALSE;
    }

  identity = make_identity (&st);
  return dlp_file_check (file, recorded_size (&st), identity, error);
}

static void
dlp_local_scheme_prefetch (DlpScheme *scheme, DlpFile *file, gint64 bytes)
{
  const char *uri = dlp_file_get_uri (file);
  g_autofree char *path = NULL;
  struct stat st;
  int fd;

  if (is_stdin (uri) || (path = path_of_uri (uri, NULL)) == NULL)
    return;

  /* Opening a pipe would let its writer begin, and closing it would kill him. */
  if (stat (path, &st) != 0 || !S_ISREG (st.st_mode))
    return;

  fd = open_retrying (path);
  if (fd < 0)
    return;

  (void) posix_fadvise (fd, 0, (off_t) bytes, POSIX_FADV_WILLNEED);
  close (fd);
}

static void
dlp_local_scheme_class_init (DlpLocalSchemeClass *klass)
{
  DlpSchemeClass *scheme_class = DLP_SCHEME_CLASS (klass);

  scheme_class->list = dlp_local_scheme_list;
  scheme_class->identify = dlp_local_scheme_identify;
  scheme_class->open = dlp_local_scheme_open;
  scheme_class->prefetch = dlp_local_scheme_prefetch;
  scheme_class->check = dlp_local_scheme_check;
}

static void
dlp_local_scheme_init (DlpLocalScheme *self)
{
}
