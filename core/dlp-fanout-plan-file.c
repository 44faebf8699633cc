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

#include <string.h>

#include <dlpipe/dlp-source.h>

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
load_part (Reader *self,
           const char *source,
           guint32 task,
           GPtrArray *files,
           GArray *numbers,
           guint *n_files,
           GError **error)
{
  const guint32 none = G_MAXUINT32;

  for (;;)
    {
      g_autofree char *name = NULL;
      guint32 n;
      bool found;

      if (!read_source (self, &name, &n, error))
        return false;
      if (name == NULL)
        break;
      found = strcmp (name, source) == 0;
      if (!load_files (self, n, found ? &task : &none, files, numbers, error))
        return false;
      if (found)
        *n_files = n;
    }
  return true;
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
  g_autofree char *text = NULL;
  Reader reader = { 0 };
  guint n = G_MAXUINT;
  gsize size;
  bool ok;

  if (!g_file_get_contents (plan, &text, &size, error))
    return NULL;
  ok = begin (&reader, plan, text, size, error);
  if (ok && task >= reader.n_tasks)
    {
      g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE,
                   "task %u, but the plan %s has %u, from 0", task, plan, reader.n_tasks);
      ok = false;
    }
  ok = ok && load_part (&reader, source, task, files, found, &n, error);
  if (ok && n == G_MAXUINT)
    {
      g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE, "the plan %s has no source “%s”",
                   plan, source);
      ok = false;
    }
  if (!ok)
    return NULL;
  *numbers = g_steal_pointer (&found);
  *n_files = n;
  return g_steal_pointer (&files);
}
