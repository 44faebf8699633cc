/* SPDX-License-Identifier: MIT */

#include "dlp-quarantine-sink.h"

#include <dlpipe/dlp-pad-template.h>

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <dlpipe/dlp-manifest.h>
#include <dlpipe/dlp-output-file.h>
#include <dlpipe/dlp-upstream.h>

#include "json-row.h"
#include "jsonl-output.h"
#include "quarantine-counts.h"

struct _DlpQuarantineSink
{
  DlpSink parent_instance;

  char *location;

  /* Negotiated. */
  JsonRow *row;
  int uri;
  int kind;

  /* Between start() and stop(). */
  JsonlOutput *output;
  JsonWriter *writer;
  gboolean is_visible;

  JsonlState loaded;
  QuarantineCounts *files;
  QuarantineCounts *kinds;
};

enum
{
  PROP_0,
  PROP_LOCATION,
  N_PROPS
};

static GParamSpec *properties[N_PROPS];

G_DEFINE_FINAL_TYPE (DlpQuarantineSink, dlp_quarantine_sink, DLP_TYPE_SINK)

/* What a state is: this, then the packed counts of files and of kinds. */
G_STATIC_ASSERT (sizeof (JsonlState) % 8 == 0);

static int
find_string (DlpSchema *schema, const char *name)
{
  int field = dlp_schema_find (schema, name);

  return field >= 0 && dlp_schema_get_field_type (schema, (guint) field) == DLP_FIELD_STRING ?
             field :
             -1;
}

static gboolean
dlp_quarantine_sink_negotiate (DlpElement *element, GError **error)
{
  DlpQuarantineSink *self = DLP_QUARANTINE_SINK (element);
  DlpSchema *schema = dlp_pad_get_schema (dlp_element_get_input (element, 0));
  g_autoptr (GPtrArray) producers = dlp_element_list_upstream (element, "name");
  const char *from = producers->len > 0 ? dlp_element_get_name (producers->pdata[0]) : NULL;

  if (self->location == NULL || self->location[0] == '\0' || g_str_has_suffix (self->location, "/"))
    {
      g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE,
                   "location=%s: the name of a file is wanted",
                   self->location != NULL ? self->location : "");
      return FALSE;
    }

  self->uri = find_string (schema, "uri");
  self->kind = find_string (schema, "kind");
  g_clear_pointer (&self->row, json_row_free);
  self->row = json_row_new (schema, NULL, from, FALSE, error);
  return self->row != NULL;
}

/* ---- streaming ---- */

/* The unfinished file can be read by the name that it will have: a link, which is gone before
 * publish(). */
static void
make_visible (DlpQuarantineSink *self)
{
  g_autofree char *target = g_path_get_basename (jsonl_output_get_partial_path (self->output));

  /* Without it only the comfort is less: it is not tried again. */
  if (symlink (target, self->location) != 0)
    g_debug ("%s: no link to %s: %s", self->location, target, g_strerror (errno));
  self->is_visible = TRUE;
}

/* Whether the name is such a link, of @run_id (NULL: of any run). */
static gboolean
is_link (DlpQuarantineSink *self, const char *run_id)
{
  g_autofree char *target = g_file_read_link (self->location, NULL);

  return target != NULL && dlp_output_file_is_unfinished (target, self->location, run_id);
}

static gboolean
delete_location (DlpQuarantineSink *self, GError **error)
{
  if (g_unlink (self->location) == 0 || errno == ENOENT)
    return TRUE;

  g_set_error (error, G_IO_ERROR, (int) g_io_error_from_errno (errno), "%s: cannot delete: %s",
               self->location, g_strerror (errno));
  return FALSE;
}

static gboolean
remove_link (DlpQuarantineSink *self, GError **error)
{
  return !is_link (self, dlp_sink_get_run_id (DLP_SINK (self))) || delete_location (self, error);
}

static gboolean
dlp_quarantine_sink_start (DlpElement *element, GCancellable *cancellable, GError **error)
{
  DlpQuarantineSink *self = DLP_QUARANTINE_SINK (element);
  DlpSinkAttempt attempt;
  const char *run_id = dlp_sink_get_run_id (DLP_SINK (self));

  dlp_sink_get_attempt (DLP_SINK (self), &attempt);
  if (self->loaded.finished)
    return TRUE;

  if (!remove_link (self, error))
    return FALSE;
  if (self->loaded.attempt == 0)
    self->output = jsonl_output_create (self->location, run_id, attempt.attempt, error);
  else
    self->output = jsonl_output_resume (self->location, run_id, &self->loaded, attempt.attempt,
                                        attempt.former_is_dead, cancellable, error);
  if (self->output == NULL)
    return FALSE;

  if (self->loaded.lines > 0)
    make_visible (self);
  return TRUE;
}

static void
dlp_quarantine_sink_stop (DlpElement *element)
{
  DlpQuarantineSink *self = DLP_QUARANTINE_SINK (element);

  if (self->output != NULL)
    jsonl_output_get_state (self->output, &self->loaded);
  g_clear_pointer (&self->writer, json_writer_free);
  g_clear_pointer (&self->output, jsonl_output_free);
  self->is_visible = FALSE;
}

static void
count (QuarantineCounts *counts, DlpRecordBatch *batch, int field, guint row)
{
  const guint8 *name;
  gsize size;

  if (field < 0)
    return;

  name = dlp_record_batch_get_value (batch, (guint) field, row, &size);
  if (name != NULL)
    quarantine_counts_add (counts, (const char *) name, size, 1);
}

static gboolean
dlp_quarantine_sink_consume (DlpSink *sink,
                             DlpRecordBatch *batch,
                             guint row,
                             guint n,
                             GCancellable *cancellable,
                             GError **error)
{
  DlpQuarantineSink *self = DLP_QUARANTINE_SINK (sink);

  if (self->output == NULL)
    {
      g_set_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CORRUPT,
                   "its state says that it was finished, but there are more records");
      return FALSE;
    }

  /* Most have nothing to write, and there is one a reader. */
  if (self->writer == NULL)
    self->writer = json_writer_new (jsonl_output_write, self->output);
  for (guint i = row; i < row + n; i++)
    {
      json_row_write (self->row, self->writer, batch, i);
      count (self->files, batch, self->uri, i);
      count (self->kinds, batch, self->kind, i);
    }
  jsonl_output_add_lines (self->output, n);
  if (!self->is_visible)
    make_visible (self);

  /* They are few; and where they end the run, they are to be found in the file. */
  return json_writer_flush (self->writer, error) && jsonl_output_flush (self->output, error);
}

static gboolean
dlp_quarantine_sink_flush (DlpSink *sink, GCancellable *cancellable, GError **error)
{
  DlpQuarantineSink *self = DLP_QUARANTINE_SINK (sink);

  return self->output == NULL || jsonl_output_flush (self->output, error);
}

static gboolean
dlp_quarantine_sink_drain (DlpSink *sink, GCancellable *cancellable, GError **error)
{
  DlpQuarantineSink *self = DLP_QUARANTINE_SINK (sink);

  return self->output == NULL || jsonl_output_finish (self->output, error);
}

static gboolean
dlp_quarantine_sink_sync (DlpSink *sink,
                          const DlpState *state,
                          GCancellable *cancellable,
                          GError **error)
{
  DlpQuarantineSink *self = DLP_QUARANTINE_SINK (sink);

  /* Without an output the state is the one that was restored. */
  return self->output == NULL || jsonl_output_sync (self->output, error);
}

/* ---- state ---- */

static DlpState *
dlp_quarantine_sink_save (DlpElement *element)
{
  DlpQuarantineSink *self = DLP_QUARANTINE_SINK (element);
  gsize files_size = quarantine_counts_get_packed_size (self->files);
  gsize kinds_size = quarantine_counts_get_packed_size (self->kinds);
  gpointer data;
  DlpState *state = dlp_state_alloc (sizeof (JsonlState) + files_size + kinds_size, &data);
  guint8 *at = data;

  if (self->output != NULL)
    jsonl_output_get_state (self->output, data);
  else
    *(JsonlState *) data = self->loaded;
  quarantine_counts_pack (self->files, at + sizeof (JsonlState));
  quarantine_counts_pack (self->kinds, at + sizeof (JsonlState) + files_size);
  return state;
}

static GVariant *
dlp_quarantine_sink_describe (DlpElement *element, const DlpState *state)
{
  const guint8 *at = dlp_state_get_data (state);
  GVariantDict dict;
  gsize size;

  g_variant_dict_init (&dict, NULL);
  jsonl_state_describe ((const JsonlState *) at, &dict);
  at += sizeof (JsonlState);
  g_variant_dict_insert_value (&dict, "files", quarantine_counts_describe (at, &size));
  at += size;
  g_variant_dict_insert_value (&dict, "kinds", quarantine_counts_describe (at, &size));
  return g_variant_dict_end (&dict);
}

static gboolean
load_counts (QuarantineCounts *counts, GVariant *described, const char *key, GError **error)
{
  g_autoptr (GVariant) value =
      dlp_state_get_value (described, key, G_VARIANT_TYPE ("a{st}"), error);

  return value != NULL && quarantine_counts_load (counts, value, error);
}

static gboolean
dlp_quarantine_sink_load (DlpElement *element, GVariant *described, guint version, GError **error)
{
  DlpQuarantineSink *self = DLP_QUARANTINE_SINK (element);
  g_autoptr (GPtrArray) keys = g_ptr_array_new ();

  for (guint i = 0; jsonl_state_keys[i] != NULL; i++)
    g_ptr_array_add (keys, (gpointer) jsonl_state_keys[i]);
  g_ptr_array_add (keys, (gpointer) "files");
  g_ptr_array_add (keys, (gpointer) "kinds");
  g_ptr_array_add (keys, NULL);

  return dlp_state_check_keys (described, (const char *const *) keys->pdata, error) &&
         jsonl_state_load (&self->loaded, described, error) &&
         load_counts (self->files, described, "files", error) &&
         load_counts (self->kinds, described, "kinds", error);
}

/* What whoever reads a report wants to know, without the bookkeeping. */
static GVariant *
dlp_quarantine_sink_report (DlpElement *element, GVariant *described)
{
  static const char *const keys[] = { "lines", "files", "kinds" };
  GVariantDict dict;

  g_variant_dict_init (&dict, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (keys); i++)
    {
      g_autoptr (GVariant) value = g_variant_lookup_value (described, keys[i], NULL);

      if (value != NULL)
        g_variant_dict_insert_value (&dict, keys[i], value);
    }
  return g_variant_dict_end (&dict);
}

/* ---- output ---- */

static gboolean
dlp_quarantine_sink_publish (DlpSink *sink,
                             const DlpState *saved,
                             gboolean complete,
                             GCancellable *cancellable,
                             GError **error)
{
  DlpQuarantineSink *self = DLP_QUARANTINE_SINK (sink);
  const JsonlState *state = dlp_state_get_data (saved);
  const char *run_id = dlp_sink_get_run_id (sink);

  if (!complete || !state->finished)
    return TRUE;
  if (!remove_link (self, error))
    return FALSE;
  /* No bad record, no file. */
  if (state->lines == 0)
    return dlp_output_file_clean (self->location, run_id, 0, error);
  return jsonl_output_publish (self->location, run_id, state, error);
}

/* There is no manifest; but all files of this kind begin the same. */
static gboolean
looks_like_ours (DlpQuarantineSink *self)
{
  static const char beginning[] = "{\"element\":\"";
  char found[sizeof beginning - 1];
  gssize n = -1;
  int fd = open (self->location, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  struct stat st;

  if (fd < 0)
    return FALSE;
  if (fstat (fd, &st) == 0 && S_ISREG (st.st_mode))
    n = read (fd, found, sizeof found);
  close (fd);
  return n == (gssize) sizeof found && memcmp (found, beginning, sizeof found) == 0;
}

/* Whether what has the name may be deleted. */
static gboolean
may_delete (DlpQuarantineSink *self, const DlpOutputClaim *claim)
{
  return dlp_sink_is_in_state_dir (DLP_SINK (self), self->location) ||
         is_link (self, claim->run_id) ||
         (claim->discarded_run_id != NULL && is_link (self, claim->discarded_run_id)) ||
         (claim->overwrite && is_link (self, NULL)) ||
         ((claim->overwrite || claim->discarded_complete) && looks_like_ours (self));
}

static char **
dlp_quarantine_sink_list_files (DlpSink *sink)
{
  DlpQuarantineSink *self = DLP_QUARANTINE_SINK (sink);

  return self->location != NULL ? g_strdupv ((char *[]){ self->location, NULL }) : NULL;
}

static gboolean
dlp_quarantine_sink_check_location (DlpSink *sink, gboolean overwrite, GError **error)
{
  DlpQuarantineSink *self = DLP_QUARANTINE_SINK (sink);
  const DlpOutputClaim claim = dlp_sink_get_claim (sink, overwrite);
  g_autofree char *left = NULL;
  struct stat st;

  if (!dlp_output_file_check_others (self->location, &claim, &left, error))
    return FALSE;
  if (left != NULL)
    dlp_element_warn (DLP_ELEMENT (self), NULL, -1, left);
  if (lstat (self->location, &st) != 0 || may_delete (self, &claim))
    return TRUE;

  g_set_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_FOREIGN_OUTPUT,
               "%s is there already, and is not of this run: choose another location for the "
               "quarantined records%s",
               self->location,
               overwrite ? "; --overwrite replaces it only if it holds such" :
                           "; or --overwrite replaces it, if it holds such");
  return FALSE;
}

static gboolean
dlp_quarantine_sink_discard (DlpSink *sink, gboolean overwrite, GError **error)
{
  DlpQuarantineSink *self = DLP_QUARANTINE_SINK (sink);
  const DlpOutputClaim claim = dlp_sink_get_claim (sink, overwrite);

  return (!may_delete (self, &claim) || delete_location (self, error)) &&
         (claim.discarded_run_id == NULL ||
          dlp_output_file_clean (self->location, claim.discarded_run_id, 0, error));
}

/* ---- */

static void
dlp_quarantine_sink_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  DlpQuarantineSink *self = DLP_QUARANTINE_SINK (object);

  if (id == PROP_LOCATION)
    {
      g_free (self->location);
      self->location = g_value_dup_string (value);
    }
  else
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
}

static void
dlp_quarantine_sink_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  DlpQuarantineSink *self = DLP_QUARANTINE_SINK (object);

  if (id == PROP_LOCATION)
    g_value_set_string (value, self->location);
  else
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
}

static void
dlp_quarantine_sink_finalize (GObject *object)
{
  DlpQuarantineSink *self = DLP_QUARANTINE_SINK (object);

  g_clear_pointer (&self->writer, json_writer_free);
  g_clear_pointer (&self->output, jsonl_output_free);
  g_clear_pointer (&self->row, json_row_free);
  quarantine_counts_free (self->files);
  quarantine_counts_free (self->kinds);
  g_free (self->location);

  G_OBJECT_CLASS (dlp_quarantine_sink_parent_class)->finalize (object);
}

static void
dlp_quarantine_sink_class_init (DlpQuarantineSinkClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  DlpElementClass *element_class = DLP_ELEMENT_CLASS (klass);
  DlpSinkClass *sink_class = DLP_SINK_CLASS (klass);

  object_class->set_property = dlp_quarantine_sink_set_property;
  object_class->get_property = dlp_quarantine_sink_get_property;
  object_class->finalize = dlp_quarantine_sink_finalize;

  element_class->negotiate = dlp_quarantine_sink_negotiate;
  element_class->start = dlp_quarantine_sink_start;
  element_class->stop = dlp_quarantine_sink_stop;
  element_class->save = dlp_quarantine_sink_save;
  element_class->describe = dlp_quarantine_sink_describe;
  element_class->load = dlp_quarantine_sink_load;
  element_class->state_version = element_class->state_oldest_version = 2;
  element_class->report = dlp_quarantine_sink_report;

  sink_class->consume = dlp_quarantine_sink_consume;
  sink_class->drain = dlp_quarantine_sink_drain;
  sink_class->flush = dlp_quarantine_sink_flush;
  sink_class->sync = dlp_quarantine_sink_sync;
  sink_class->publish = dlp_quarantine_sink_publish;
  sink_class->list_files = dlp_quarantine_sink_list_files;
  sink_class->check_location = dlp_quarantine_sink_check_location;
  sink_class->discard = dlp_quarantine_sink_discard;

  /* Free: the file is part of the state folder, and moves with it. */
  properties[PROP_LOCATION] = g_param_spec_string ("location", NULL, "Name of the file", NULL,
                                                   DLP_PARAM_READWRITE | DLP_PARAM_FREE);
  g_object_class_install_properties (object_class, N_PROPS, properties);
  dlp_element_class_add_pad_template (element_class, "in", DLP_PAD_INPUT, DLP_PAD_ALWAYS,
                                      DLP_CARRIES_RECORDS, "Of a pad rejected");
  dlp_element_class_set_description (
      element_class, "Writes bad records as lines of JSON, and counts them by file and kind",
      "jsonl-reader name=r ! null-sink  r.rejected ! quarantine-sink location=bad.jsonl");
}

static void
dlp_quarantine_sink_init (DlpQuarantineSink *self)
{
  self->files = quarantine_counts_new ();
  self->kinds = quarantine_counts_new ();
}
