/* SPDX-License-Identifier: MIT */

/* A plan as a file: text, one line a file, each source under a line of its own.
 *
 *   dlpipe plan 1 TAB TASKS
 *   source TAB NAME TAB FILES
 *   TASK TAB SIZE TAB IDENTITY TAB URI
 *   ...
 *   end
 *
 * The number of a file is that of its line under its source, from 0. A size of -1 is unknown, as is
 * an identity of "-". Names, identities and URIs are escaped as g_strescape() does. */

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <dlpipe/dlp-source.h>

#include "dlp-durable-private.h"
#include "dlp-fanout-deal-private.h"
#include "dlp-fanout-plan-file-private.h"

#define FIRST_LINE "dlpipe plan 1"
#define UNKNOWN "-"

/* ---- writing ---- */

#define FIRST_NOT_ASCII 0x80
#define N_NOT_ASCII 0x80

typedef struct
{
  GString *text;
  char kept[N_NOT_ASCII + 1]; /* letters of other languages: whoever looks is to know the files */
} Writer;

static void
append_escaped (Writer *self, const char *value)
{
  g_autofree char *escaped = g_strescape (value, self->kept);

  g_string_append (self->text, escaped);
}

static void
append_file (Writer *self, DlpFile *file, guint32 task)
{
  const char *identity = dlp_file_get_identity (file);

  g_string_append_printf (self->text, "%u\t%" G_GINT64_FORMAT "\t", task, dlp_file_get_size (file));
  append_escaped (self, identity != NULL ? identity : UNKNOWN);
  g_string_append_c (self->text, '\t');
  append_escaped (self, dlp_file_get_uri (file));
  g_string_append_c (self->text, '\n');
}

static void
append_source (Writer *self, const DlpFanoutSource *source)
{
  g_string_append (self->text, "source\t");
  append_escaped (self, source->name);
  g_string_append_printf (self->text, "\t%u\n", source->files->len);
  for (guint i = 0; i < source->files->len; i++)
    append_file (self, source->files->pdata[i], source->task_of[i]);
}

GString *
dlp_fanout_plan_print (const DlpFanoutPlan *self)
{
  Writer writer = { .text = g_string_new (NULL) };

  for (guint i = 0; i < N_NOT_ASCII; i++)
    writer.kept[i] = (char) (FIRST_NOT_ASCII + i);
  g_string_append_printf (writer.text, FIRST_LINE "\t%u\n", self->n_tasks);
  for (guint i = 0; i < self->sources->len; i++)
    append_source (&writer, g_ptr_array_index (self->sources, i));
  g_string_append (writer.text, "end\n");
  return writer.text;
}

/* ---- reading ---- */

typedef struct
{
  const char *path;
  char *at;
  guint64 line; /* from 1, the one that was read last */
  guint32 n_tasks;
} Reader;

static bool
fail (const Reader *self, GError **error, const char *what)
{
  g_set_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CORRUPT,
               "%s: line %" G_GUINT64_FORMAT
               ": %s; the plan of a job cannot be repaired, --restart "
               "makes another",
               self->path, self->line, what);
  return false;
}

/* (nullable): the next line, in place; NULL: the file is over, or does not end with a newline. */
static char *
next_line (Reader *self)
{
  char *line = self->at;
  char *end = strchr (line, '\n');

  self->line++;
  if (end == NULL)
    return NULL;
  *end = '\0';
  self->at = end + 1;
  return line;
}

/* Cuts @line into @n fields in place; false: there are more or less. */
static bool
cut (char *line, char **fields, guint n)
{
  for (guint i = 0; i < n; i++)
    {
      char *tab = strchr (line, '\t');

      fields[i] = line;
      if ((tab == NULL) != (i + 1 == n))
        return false;
      if (tab != NULL)
        {
          *tab = '\0';
          line = tab + 1;
        }
    }
  return true;
}

static bool
read_number (const char *text, guint64 max, guint32 *value)
{
  guint64 number;

  if (!g_ascii_string_to_unsigned (text, 10, 0, max, &number, NULL))
    return false;
  *value = (guint32) number;
  return true;
}

/* (nullable) (transfer full): NULL where it ends in the midst of an escape. */
static char *
unescape (const char *text)
{
  gsize n = 0, size = strlen (text);

  while (n < size && text[size - 1 - n] == '\\')
    n++;
  return n % 2 == 0 ? g_strcompress (text) : NULL;
}

static DlpFile *
make_file (char **fields)
{
  gint64 size;
  g_autofree char *identity = NULL;
  g_autofree char *uri = NULL;

  if (!g_ascii_string_to_signed (fields[1], 10, -1, G_MAXINT64, &size, NULL))
    return NULL;
  identity = unescape (fields[2]);
  uri = unescape (fields[3]);
  if (identity == NULL || uri == NULL)
    return NULL;
  return dlp_file_new (uri, size, strcmp (fields[2], UNKNOWN) != 0 ? identity : NULL);
}

/* @file: (out) (transfer full): NULL where the file is not @wanted. */
static bool
read_file (Reader *self, const guint32 *wanted, guint32 *task, DlpFile **file, GError **error)
{
  char *line = next_line (self);
  char *fields[4];

  *file = NULL;
  if (line == NULL || !cut (line, fields, G_N_ELEMENTS (fields)) ||
      !read_number (fields[0], self->n_tasks - 1, task))
    return fail (self, error, "a file was expected, as TASK, SIZE, IDENTITY, URI");
  if (wanted != NULL && *task != *wanted)
    return true;
  *file = make_file (fields);
  return *file != NULL || fail (self, error, "its size, identity or URI cannot be read");
}

/* The line of a source; *name: NULL at the end of the plan. */
static bool
read_source (Reader *self, char **name, guint32 *n_files, GError **error)
{
  char *line = next_line (self);
  char *fields[3];

  *name = NULL;
  if (line != NULL && strcmp (line, "end") == 0)
    return *self->at == '\0' || fail (self, error, "something follows the end");
  if (line == NULL || !cut (line, fields, G_N_ELEMENTS (fields)) ||
      strcmp (fields[0], "source") != 0 || !read_number (fields[2], G_MAXUINT32, n_files))
    return fail (self, error, "a source was expected, or the end");
  *name = unescape (fields[1]);
  return *name != NULL || fail (self, error, "the name of the source ends in an escape");
}

/* @text: of @size bytes, and a byte 0 behind them; cut in place. */
static bool
begin (Reader *self, const char *path, char *text, gsize size, GError **error)
{
  char *line;
  char *fields[2];

  self->path = path;
  self->at = text;
  if (strlen (text) != size)
    return fail (self, error, "there is a byte 0 in it");
  line = next_line (self);
  if (line == NULL || !cut (line, fields, G_N_ELEMENTS (fields)) ||
      strcmp (fields[0], FIRST_LINE) != 0 ||
      !read_number (fields[1], DLP_FANOUT_MOST_TASKS, &self->n_tasks) || self->n_tasks == 0)
    return fail (self, error, "this is no plan of this version (" FIRST_LINE ")");
  return true;
}

/* The number of files is never trusted for an allocation: lines are. */
static DlpFanoutSource *
load_source (Reader *self, char *name, guint32 n_files, GError **error)
{
  DlpFanoutSource *source = g_new0 (DlpFanoutSource, 1);
  g_autoptr (GArray) task_of = g_array_new (FALSE, FALSE, sizeof (guint32));

  source->name = name;
  source->files = g_ptr_array_new_with_free_func (g_object_unref);
  for (guint32 i = 0; i < n_files; i++)
    {
      DlpFile *file;
      guint32 task;

      if (!read_file (self, NULL, &task, &file, error))
        {
          dlp_fanout_source_free (source);
          return NULL;
        }
      g_ptr_array_add (source->files, file);
      g_array_append_val (task_of, task);
    }
  source->task_of = (guint32 *) g_array_free (g_steal_pointer (&task_of), FALSE);
  source->stale = g_new0 (guint8, source->files->len);
  return source;
}

DlpFanoutPlan *
dlp_fanout_plan_parse (const char *path, const char *text, gsize size, GError **error)
{
  g_autoptr (DlpFanoutPlan) self = dlp_fanout_plan_alloc ();
  Reader reader = { 0 };
  char *copy = g_malloc (size + 1);
  bool ok;

  memcpy (copy, text, size);
  copy[size] = '\0';
  ok = begin (&reader, path, copy, size, error);
  self->n_tasks = reader.n_tasks;
  while (ok)
    {
      DlpFanoutSource *source;
      guint32 n_files;
      char *name;

      ok = read_source (&reader, &name, &n_files, error);
      if (!ok || name == NULL)
        break;
      source = load_source (&reader, name, n_files, error);
      ok = source != NULL;
      if (ok)
        g_ptr_array_add (self->sources, source);
    }
  g_free (copy);
  if (!ok)
    return NULL;
  g_array_append_val (self->ends, self->n_tasks);
  dlp_fanout_plan_count (self);
  return g_steal_pointer (&self);
}

DlpFanoutPlan *
dlp_fanout_plan_load (const char *path, GError **error)
{
  g_autofree char *text = NULL;
  gsize size;

  if (!g_file_get_contents (path, &text, &size, error))
    return NULL;
  return dlp_fanout_plan_parse (path, text, size, error);
}

/* ---- the part of one task ---- */

/* Where a source is in a plan. */
typedef struct
{
  gsize offset; /* of its first file */
  gsize size;
  guint64 line; /* before it */
  guint32 n_files;
} Place;

/* Of the plan that was read last: a graph of many sources asks for each of them, and whoever runs
 * several tasks does so for each. A plan is never written to, but another one may take its name. */
static struct
{
  pthread_mutex_t lock;
  struct stat file;   /* lock */
  guint32 n_tasks;    /* lock */
  GHashTable *places; /* lock; (nullable): of Place by name */
} cache = { .lock = PTHREAD_MUTEX_INITIALIZER };

static bool
load_files (Reader *self,
            guint32 n_files,
            const guint32 *wanted,
            GPtrArray *files,
            GArray *numbers,
            GError **error)
{
  for (guint32 i = 0; i < n_files; i++)
    {
      DlpFile *file;
      guint32 task;

      if (!read_file (self, wanted, &task, &file, error))
        return false;
      if (file == NULL)
        continue;
      g_ptr_array_add (files, file);
      g_array_append_val (numbers, i);
    }
  return true;
}

static bool
find_places (Reader *self, const char *text, GHashTable *places, GError **error)
{
  const guint32 none = G_MAXUINT32;
  char *name;
  guint32 n;

  while (read_source (self, &name, &n, error))
    {
      g_autofree Place *place = g_new (Place, 1);

      if (name == NULL)
        return true;
      *place = (Place){ (gsize) (self->at - text), 0, self->line, n };
      if (!load_files (self, n, &none, NULL, NULL, error))
        {
          g_free (name);
          return false;
        }
      place->size = (gsize) (self->at - text) - place->offset;
      g_hash_table_insert (places, name, g_steal_pointer (&place));
    }
  return false;
}

/* (transfer full): so much of a file, and a byte 0 behind it. */
static char *
read_text (int fd, const char *path, gsize offset, gsize size, GError **error)
{
  g_autofree char *text = g_malloc (size + 1);
  gssize n = dlp_durable_read (fd, path, text, size, offset, error);

  if (n >= 0 && (gsize) n < size)
    g_set_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CORRUPT,
                 "%s: it has become shorter while it was read", path);
  if (n < 0 || (gsize) n < size)
    return NULL;
  text[size] = '\0';
  return g_steal_pointer (&text);
}

/* lock is held. */
static bool
is_cached (const struct stat *file)
{
  return cache.places != NULL && cache.file.st_dev == file->st_dev &&
         cache.file.st_ino == file->st_ino && cache.file.st_size == file->st_size &&
         cache.file.st_mtim.tv_sec == file->st_mtim.tv_sec &&
         cache.file.st_mtim.tv_nsec == file->st_mtim.tv_nsec;
}

void
dlp_fanout_plan_forget_places (void)
{
  pthread_mutex_lock (&cache.lock);
  g_clear_pointer (&cache.places, g_hash_table_unref);
  pthread_mutex_unlock (&cache.lock);
}

/* lock is held. */
static bool
fill_cache (int fd, const char *path, const struct stat *file, GError **error)
{
  g_autofree char *text = read_text (fd, path, 0, (gsize) file->st_size, error);
  g_autoptr (GHashTable) places = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  Reader reader = { 0 };

  if (text == NULL || !begin (&reader, path, text, (gsize) file->st_size, error) ||
      !find_places (&reader, text, places, error))
    return false;
  g_clear_pointer (&cache.places, g_hash_table_unref);
  cache.places = g_steal_pointer (&places);
  cache.n_tasks = reader.n_tasks;
  cache.file = *file;
  return true;
}

/* lock is held. */
static bool
find_place (int fd,
            const char *path,
            const char *source,
            guint task,
            Place *place,
            Reader *reader,
            GError **error)
{
  const Place *found = NULL;
  struct stat file;

  if (fstat (fd, &file) != 0)
    {
      dlp_durable_set_error (error, errno, "%s: cannot be looked at", path);
      return false;
    }
  if (!is_cached (&file) && !fill_cache (fd, path, &file, error))
    return false;
  if (task < cache.n_tasks)
    found = g_hash_table_lookup (cache.places, source);
  if (task >= cache.n_tasks)
    g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE,
                 "task %u, but the plan %s has %u, from 0", task, path, cache.n_tasks);
  else if (found == NULL)
    g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE, "the plan %s has no source “%s”",
                 path, source);
  if (found == NULL)
    return false;
  *place = *found;
  *reader = (Reader){ .path = path, .line = place->line, .n_tasks = cache.n_tasks };
  return true;
}

static bool
load_part (int fd,
           const char *path,
           const char *source,
           guint32 task,
           GPtrArray *files,
           GArray *numbers,
           guint *n_files,
           GError **error)
{
  g_autofree char *text = NULL;
  Reader reader;
  Place place;
  bool found;

  pthread_mutex_lock (&cache.lock);
  found = find_place (fd, path, source, task, &place, &reader, error);
  pthread_mutex_unlock (&cache.lock);
  if (found)
    text = read_text (fd, path, place.offset, place.size, error);
  if (text == NULL)
    return false;
  *n_files = place.n_files;
  reader.at = text;
  return load_files (&reader, place.n_files, &task, files, numbers, error);
}

GPtrArray *
dlp_source_load_part (const char *plan,
                      const char *source,
                      guint task,
                      GArray **numbers,
                      guint *n_files,
                      GError **error)
{
  g_autoptr (GPtrArray) files = g_ptr_array_new_with_free_func (g_object_unref);
  g_autoptr (GArray) found = g_array_new (FALSE, FALSE, sizeof (guint32));
  int fd = TEMP_FAILURE_RETRY (open (plan, O_RDONLY | O_CLOEXEC));
  bool ok;

  if (fd < 0)
    {
      dlp_durable_set_error (error, errno, "%s: cannot open", plan);
      return NULL;
    }
  ok = load_part (fd, plan, source, task, files, found, n_files, error);
  close (fd);
  if (!ok)
    return NULL;
  *numbers = g_steal_pointer (&found);
  return g_steal_pointer (&files);
}
