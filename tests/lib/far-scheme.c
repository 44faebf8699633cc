/* SPDX-License-Identifier: MIT */

#include "far-scheme.h"

#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#include <dlpipe/dlp-error.h>

#define PREFIX "far://"
#define BREAKS_BEHIND 1000
/* More than a chunk of a reader with little memory, so that records have come. */
#define HELD_BEHIND 40000

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static GPtrArray *opens;        /* lock: of char *: "OFFSET PATH" */
static guint64 ahead_bytes;     /* lock */
static guint n_open, most_open; /* lock */
static FarFault fault;          /* lock */
static FarSize listed_size;
static char *sized_path; /* (nullable) */
static char *held_path;  /* lock (nullable) */

static gboolean
is_ahead (void)
{
  char name[16];

  return pthread_getname_np (pthread_self (), name, sizeof name) == 0 &&
         strcmp (name, "dlp-read-ahead") == 0;
}

static FarFault
get_fault (void)
{
  FarFault now;

  pthread_mutex_lock (&lock);
  now = is_ahead () ? fault : FAR_NOTHING;
  pthread_mutex_unlock (&lock);
  return now;
}

/* ---- its stream ---- */

typedef struct
{
  GInputStream parent_instance;

  GInputStream *inner;
  char *path;
  gsize read;
} FarStream;

typedef GInputStreamClass FarStreamClass;

static GType far_stream_get_type (void);
G_DEFINE_TYPE (FarStream, far_stream, G_TYPE_INPUT_STREAM)

static gssize
fail (FarFault what, GCancellable *cancellable, GError **error)
{
  while (what == FAR_HANGS && !g_cancellable_is_cancelled (cancellable))
    g_usleep (1000);
  if (!g_cancellable_set_error_if_cancelled (cancellable, error))
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_CONNECTION_CLOSED, "broken");
  return -1;
}

static bool
is_held (FarStream *self)
{
  bool held;

  pthread_mutex_lock (&lock);
  held = g_strcmp0 (held_path, self->path) == 0;
  pthread_mutex_unlock (&lock);
  return held;
}

/* Returns how many bytes of @count may be read. */
static gsize
wait_while_held (FarStream *self, gsize count, GCancellable *cancellable)
{
  if (!is_held (self))
    return count;
  if (self->read < HELD_BEHIND)
    return MIN (count, HELD_BEHIND - self->read);
  while (is_held (self) && !g_cancellable_is_cancelled (cancellable))
    g_usleep (1000);
  return count;
}

static gssize
far_stream_read (GInputStream *stream,
                 void *buffer,
                 gsize count,
                 GCancellable *cancellable,
                 GError **error)
{
  FarStream *self = (FarStream *) stream;
  FarFault what = get_fault ();
  gssize n;

  if (what == FAR_BREAKS || what == FAR_HANGS)
    {
      if (self->read == BREAKS_BEHIND)
        return fail (what, cancellable, error);
      count = MIN (count, BREAKS_BEHIND - self->read);
    }
  count = wait_while_held (self, count, cancellable);
  n = g_input_stream_read (self->inner, buffer, count, cancellable, error);
  self->read += (gsize) MAX (n, 0);
  if (is_ahead ())
    {
      pthread_mutex_lock (&lock);
      ahead_bytes += (guint64) MAX (n, 0);
      pthread_mutex_unlock (&lock);
    }
  return n;
}

static void
far_stream_finalize (GObject *object)
{
  g_clear_object (&((FarStream *) object)->inner);
  g_clear_pointer (&((FarStream *) object)->path, g_free);
  pthread_mutex_lock (&lock);
  n_open--;
  pthread_mutex_unlock (&lock);

  G_OBJECT_CLASS (far_stream_parent_class)->finalize (object);
}

static void
far_stream_class_init (FarStreamClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = far_stream_finalize;
  klass->read_fn = far_stream_read;
}

static void
far_stream_init (FarStream *self)
{
}

/* ---- the scheme ---- */

typedef struct
{
  DlpScheme parent_instance;
} FarScheme;

typedef DlpSchemeClass FarSchemeClass;

static GType far_scheme_get_type (void);
G_DEFINE_TYPE (FarScheme, far_scheme, DLP_TYPE_SCHEME)

static gint64
tell_size (const char *path, gint64 size)
{
  if (listed_size == FAR_SIZE_RIGHT || (sized_path != NULL && strcmp (path, sized_path) != 0))
    return size;
  return listed_size == FAR_SIZE_LESS ? size - 10 : -1;
}

static DlpFile *
far_scheme_identify (DlpScheme *scheme, const char *uri, GCancellable *cancellable, GError **error)
{
  g_autoptr (GFile) file = g_file_new_for_path (uri + strlen (PREFIX));
  g_autoptr (GFileInfo) info =
      g_file_query_info (file, G_FILE_ATTRIBUTE_STANDARD_SIZE, 0, cancellable, error);

  if (info == NULL)
    return NULL;
  return dlp_file_new (uri, tell_size (uri + strlen (PREFIX), g_file_info_get_size (info)),
                       "etag=\"1\"");
}

static GPtrArray *
far_scheme_list (DlpScheme *scheme, const char *pattern, GCancellable *cancellable, GError **error)
{
  DlpFile *file = far_scheme_identify (scheme, pattern, cancellable, error);
  GPtrArray *files = file != NULL ? g_ptr_array_new_with_free_func (g_object_unref) : NULL;

  if (file != NULL)
    g_ptr_array_add (files, file);
  return files;
}

static void
note_open (const char *path, gint64 offset)
{
  pthread_mutex_lock (&lock);
  g_ptr_array_add (opens, g_strdup_printf ("%" G_GINT64_FORMAT " %s", offset, path));
  n_open++;
  most_open = MAX (most_open, n_open);
  pthread_mutex_unlock (&lock);
}

static GInputStream *
far_scheme_open (DlpScheme *scheme,
                 DlpFile *file,
                 gint64 offset,
                 GCancellable *cancellable,
                 GError **error)
{
  const char *path = dlp_file_get_uri (file) + strlen (PREFIX);
  g_autoptr (GFile) local = g_file_new_for_path (path);
  g_autoptr (GFileInputStream) inner = NULL;
  FarStream *stream;

  if (get_fault () == FAR_FAILS_TO_OPEN)
    {
      fail (FAR_FAILS_TO_OPEN, cancellable, error);
      return NULL;
    }
  inner = g_file_read (local, cancellable, error);
  if (inner == NULL ||
      !g_seekable_seek (G_SEEKABLE (inner), offset, G_SEEK_SET, cancellable, error))
    return NULL;

  note_open (path, offset);
  stream = g_object_new (far_stream_get_type (), NULL);
  stream->inner = G_INPUT_STREAM (g_steal_pointer (&inner));
  stream->path = g_strdup (path);
  return G_INPUT_STREAM (stream);
}

static gboolean
far_scheme_check (DlpScheme *scheme, DlpFile *file, GInputStream *stream, GError **error)
{
  if (get_fault () != FAR_CHANGES)
    return TRUE;
  g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_CHANGED, "changed");
  return FALSE;
}

static void
far_scheme_class_init (FarSchemeClass *klass)
{
  klass->list = far_scheme_list;
  klass->identify = far_scheme_identify;
  klass->open = far_scheme_open;
  klass->check = far_scheme_check;
}

static void
far_scheme_init (FarScheme *self)
{
}

/* ---- the test ---- */

void
far_scheme_register (void)
{
  dlp_scheme_register ("far", far_scheme_get_type ());
  far_scheme_begin (FAR_NOTHING);
}

void
far_scheme_begin (FarFault ahead)
{
  pthread_mutex_lock (&lock);
  g_clear_pointer (&opens, g_ptr_array_unref);
  opens = g_ptr_array_new_with_free_func (g_free);
  ahead_bytes = 0;
  most_open = n_open;
  fault = ahead;
  pthread_mutex_unlock (&lock);
}

void
far_scheme_hold (const char *path)
{
  pthread_mutex_lock (&lock);
  g_free (held_path);
  held_path = g_strdup (path);
  pthread_mutex_unlock (&lock);
}

void
far_scheme_set_size (FarSize size, const char *path)
{
  listed_size = size;
  g_free (sized_path);
  sized_path = g_strdup (path);
}

guint
far_scheme_count_opens (const char *path, gint64 offset)
{
  guint n = 0;

  pthread_mutex_lock (&lock);
  for (guint i = 0; i < opens->len; i++)
    {
      const char *text = g_ptr_array_index (opens, i);

      n += strcmp (strchr (text, ' ') + 1, path) == 0 &&
           (offset < 0 || g_ascii_strtoll (text, NULL, 10) == offset);
    }
  pthread_mutex_unlock (&lock);
  return n;
}

guint
far_scheme_count_all_opens (void)
{
  guint n;

  pthread_mutex_lock (&lock);
  n = opens->len;
  pthread_mutex_unlock (&lock);
  return n;
}

guint64
far_scheme_get_ahead_bytes (void)
{
  guint64 n;

  pthread_mutex_lock (&lock);
  n = ahead_bytes;
  pthread_mutex_unlock (&lock);
  return n;
}

guint
far_scheme_get_most_open (void)
{
  guint n;

  pthread_mutex_lock (&lock);
  n = most_open;
  pthread_mutex_unlock (&lock);
  return n;
}
