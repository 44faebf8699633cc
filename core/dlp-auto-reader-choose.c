/* SPDX-License-Identifier: MIT */

/* Which reader a file is for: by its name, and by its first bytes behind the codec. */

#include <string.h>

#include <dlpipe/dlp-decoder.h>
#include <dlpipe/dlp-registry.h>

#include "dlp-auto-reader-private.h"
#include "dlp-reader-format-private.h"

/* A name is worth as much as three bytes of a magic number: four, such as PAR1, tell more than a
 * name, and one, such as {, does not. */
#define NAME_SCORE 3
#define SHOWN_BYTES 16
#define READ_SIZE (16 * 1024)

typedef struct
{
  char *name;
  GVariant *described;
  gboolean by_name;
  gsize magic; /* bytes */
} Candidate;

/* What was seen of a file. */
typedef struct
{
  const char *uri;
  guint8 head[DLP_READER_HEAD];
  gsize size;
  gboolean is_read;
  const char *codec; /* (nullable) */
} Look;

static void
candidate_clear (gpointer data)
{
  Candidate *self = data;

  g_free (self->name);
  g_variant_unref (self->described);
}

static guint64
get_score (const Candidate *self)
{
  return (self->by_name ? NAME_SCORE : 0) + self->magic;
}

/* (transfer full) (element-type Candidate): readers that say by what their files are known. */
static GArray *
list_candidates (void)
{
  GArray *candidates = g_array_new (FALSE, TRUE, sizeof (Candidate));
  g_auto (GStrv) names = dlp_registry_list_elements ();

  g_array_set_clear_func (candidates, candidate_clear);
  for (guint i = 0; names[i] != NULL; i++)
    {
      g_autoptr (GVariant) described = dlp_registry_describe_element (names[i]);
      g_autoptr (GVariant) known =
          described != NULL ? g_variant_lookup_value (described, "file-names", NULL) : NULL;
      Candidate candidate = { 0 };

      if (known == NULL)
        continue;
      candidate.name = g_strdup (names[i]);
      candidate.described = g_steal_pointer (&described);
      g_array_append_val (candidates, candidate);
    }
  return candidates;
}

/* ---- a look at a file ---- */

static gboolean
read_head (Look *self, DlpFile *file, GCancellable *cancellable, GError **error)
{
  DlpByteStream *stream = dlp_byte_stream_open (file, 0, 0, READ_SIZE, cancellable, error);
  gssize n = 1;

  if (stream == NULL)
    return FALSE;
  while (self->size < DLP_READER_HEAD && n > 0)
    {
      n = dlp_byte_stream_read (stream, self->head + self->size, DLP_READER_HEAD - self->size,
                                cancellable, error);
      self->size += (gsize) MAX (n, 0);
    }
  self->codec = dlp_byte_stream_get_codec (stream);
  self->is_read = n >= 0;
  dlp_byte_stream_free (stream);
  return self->is_read;
}

static void
judge (GArray *candidates, const Look *look)
{
  for (guint i = 0; i < candidates->len; i++)
    {
      Candidate *candidate = &g_array_index (candidates, Candidate, i);

      candidate->by_name = dlp_reader_knows_name (candidate->described, look->uri);
      candidate->magic = dlp_reader_count_magic (candidate->described, look->head, look->size);
    }
}

/* *n: how many have as much. */
static const Candidate *
find_best (GArray *candidates, guint *n)
{
  const Candidate *best = NULL;

  *n = 0;
  for (guint i = 0; i < candidates->len; i++)
    {
      const Candidate *candidate = &g_array_index (candidates, Candidate, i);

      if (get_score (candidate) == 0)
        continue;
      if (best != NULL && get_score (candidate) == get_score (best))
        ++*n;
      if (best != NULL && get_score (candidate) <= get_score (best))
        continue;
      best = candidate;
      *n = 1;
    }
  return best;
}

/* ---- what is said ---- */

static char *
show_bytes (const Look *look)
{
  g_autoptr (GString) text = g_string_new (NULL);

  for (gsize i = 0; i < MIN (look->size, SHOWN_BYTES); i++)
    g_string_append_printf (text, "%s%02x", i > 0 ? " " : "", look->head[i]);
  return g_string_free (g_steal_pointer (&text), FALSE);
}

static char *
describe_look (const Look *look)
{
  g_autofree char *name = dlp_uri_escape_for_display (look->uri);
  g_autofree char *bytes = show_bytes (look);

  if (!look->is_read)
    return g_strdup (name);
  return g_strdup_printf ("%s (codec: %s; first bytes: %s)", name,
                          look->codec != NULL ? look->codec : "none",
                          look->size > 0 ? bytes : "none");
}

static char *
list_scores (GArray *candidates)
{
  g_autoptr (GString) text = g_string_new (NULL);

  for (guint i = 0; i < candidates->len; i++)
    {
      const Candidate *candidate = &g_array_index (candidates, Candidate, i);

      if (get_score (candidate) > 0)
        g_string_append_printf (text, "%s%s %" G_GUINT64_FORMAT, text->len > 0 ? ", " : "",
                                candidate->name, get_score (candidate));
    }
  return g_string_free (g_steal_pointer (&text), FALSE);
}

static char *
list_names (GArray *candidates)
{
  g_autoptr (GString) text = g_string_new (NULL);

  for (guint i = 0; i < candidates->len; i++)
    {
      const Candidate *candidate = &g_array_index (candidates, Candidate, i);
      g_auto (GStrv) endings = NULL;
      g_autofree char *joined = NULL;

      g_variant_lookup (candidate->described, "file-names", "^as", &endings);
      joined = g_strjoinv (" ", endings);
      g_string_append_printf (text, "%s%s (%s)", i > 0 ? ", " : "", candidate->name, joined);
    }
  return g_string_free (g_steal_pointer (&text), FALSE);
}

static gboolean
fail_unknown (const Look *look, GArray *candidates, guint n, GError **error)
{
  g_autofree char *seen = describe_look (look);
  g_autofree char *scores = list_scores (candidates);
  g_autofree char *names = list_names (candidates);

  if (n == 0)
    g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE,
                 "neither its name nor its first bytes tell which reader is for %s; known: %s; put "
                 "the reader itself here",
                 seen, names);
  else
    g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE,
                 "%u readers are for %s alike, by their scores: %s; put one of them here", n, seen,
                 scores);
  return FALSE;
}

static gboolean
fail_mixed (const char *uri,
            const char *reader,
            const char *other_uri,
            const char *other,
            GError **error)
{
  g_autofree char *name = dlp_uri_escape_for_display (uri);
  g_autofree char *other_name = dlp_uri_escape_for_display (other_uri);

  g_set_error (
      error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE,
      "%s is for %s, but %s is for %s: give each kind of files a source and a reader of its "
      "own",
      name, reader, other_name, other);
  return FALSE;
}

static gboolean
fail_stream (const char *uri, GError **error)
{
  g_autofree char *name = dlp_uri_escape_for_display (uri);

  g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE,
               "%s can be read only once, and not be looked at before; put the reader itself here",
               strcmp (uri, "-") == 0 ? "the standard input" : name);
  return FALSE;
}

static gboolean
fail_empty (guint n, GError **error)
{
  if (n == 0)
    g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE,
                 "its sources have no files to look at; put the reader itself here");
  else
    g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE,
                 "its %u files are empty, and their names tell nothing; put the reader itself here",
                 n);
  return FALSE;
}

/* ---- all files ---- */

typedef struct
{
  GArray *candidates;
  char *reader;    /* (nullable): of the files before */
  const char *uri; /* the first of them */
  char *why;
  gboolean is_looked; /* the bytes of one were looked at */
} Choice;

static void
explain (Choice *self, const Look *look, const Candidate *best)
{
  g_autofree char *seen = describe_look (look);

  self->why = g_strdup_printf ("by the %s of %s",
                               best->by_name && best->magic > 0 ? "name and the first bytes" :
                               best->by_name                    ? "name" :
                                                                  "first bytes",
                               seen);
}

/* Names are looked at of all files, bytes of the first one that has some, and of those whose names
 * tell nothing: a server need not be asked for each of a thousand. An empty file without a known
 * name is for whatever the others are for. */
static gboolean
judge_file (Choice *self, DlpFile *file, GCancellable *cancellable, GError **error)
{
  Look look = { .uri = dlp_file_get_uri (file) };
  gboolean is_stream = dlp_file_get_size (file) < 0 && strstr (look.uri, "://") == NULL;
  const Candidate *best;
  guint n;

  judge (self->candidates, &look);
  best = find_best (self->candidates, &n);
  if (is_stream && n != 1)
    return fail_stream (look.uri, error);
  if (!is_stream && dlp_file_get_size (file) != 0 && (n != 1 || !self->is_looked))
    {
      if (!read_head (&look, file, cancellable, error))
        return FALSE;
      self->is_looked |= look.size > 0;
      judge (self->candidates, &look);
      best = find_best (self->candidates, &n);
    }
  if (n == 0 && dlp_file_get_size (file) == 0)
    return TRUE;
  if (n != 1)
    return fail_unknown (&look, self->candidates, n, error);
  if (self->reader != NULL)
    return strcmp (self->reader, best->name) == 0 ||
           fail_mixed (self->uri, self->reader, look.uri, best->name, error);
  self->reader = g_strdup (best->name);
  self->uri = look.uri;
  explain (self, &look, best);
  return TRUE;
}

char *
dlp_auto_reader_choose (GPtrArray *files, GCancellable *cancellable, char **why, GError **error)
{
  Choice choice = { .candidates = list_candidates () };
  gboolean ok = TRUE;

  for (guint i = 0; ok && i < files->len; i++)
    ok = judge_file (&choice, g_ptr_array_index (files, i), cancellable, error);
  if (ok && choice.reader == NULL)
    ok = fail_empty (files->len, error);
  g_array_unref (choice.candidates);
  if (ok)
    {
      *why = choice.why;
      return choice.reader;
    }
  g_free (choice.reader);
  g_free (choice.why);
  return NULL;
}
