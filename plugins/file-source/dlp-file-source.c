/* SPDX-License-Identifier: MIT */

#include "dlp-file-source.h"

#include <dlpipe/dlp-pad-template.h>

#include <string.h>

#include <dlpipe/dlp-random.h>
#include <dlpipe/dlp-state-file.h>

#include "dlp-file-list.h"

/* Of each file that is about to be read. */

typedef enum
{
  ORDER_SORTED,
  ORDER_GIVEN,
} DlpFileOrder;

typedef struct
{
  guint64 epoch;
  guint64 position; /* in the epoch's order, before shard= */
} State;

struct _DlpFileSource
{
  DlpSource parent_instance;

  char **location;
  char *list_name;
  char *manifest;
  DlpFileOrder order;
  gboolean shuffle;
  gboolean reshuffle;
  char *shard;
  guint epochs;
  guint prefetch_files;
  guint64 prefetch_bytes;
  char *plan; /* (nullable): of the fan-out that this is a task of */
  guint task;
  gboolean repeats; /* asked for by whoever mixes it */

  /* From negotiate() on. */
  FileList *list;
  DlpStateFile *stored; /* (nullable): what the manifest said when the run began */
  GError *failure;      /* (nullable): of a task, why its manifest says nothing of its files */
  guint64 shard_index, shard_count;

  State state;
  guint32 *shuffled; /* (nullable): of shuffled_epoch */
  guint64 shuffled_epoch;
  DlpRecordBatchBuilder *builder;
};

enum
{
  PROP_0,
  PROP_LOCATION,
  PROP_LIST,
  PROP_MANIFEST,
  PROP_ORDER,
  PROP_SHUFFLE,
  PROP_RESHUFFLE,
  PROP_SHARD,
  PROP_EPOCHS,
  PROP_PREFETCH_FILES,
  PROP_PREFETCH_BYTES,
  PROP_PLAN,
  PROP_TASK,
  N_PROPS
};

static GParamSpec *properties[N_PROPS];

static GType dlp_file_order_get_type (void);

G_DEFINE_ENUM_TYPE (DlpFileOrder,
                    dlp_file_order,
                    G_DEFINE_ENUM_VALUE (ORDER_SORTED, "sorted"),
                    G_DEFINE_ENUM_VALUE (ORDER_GIVEN, "given"))

G_DEFINE_FINAL_TYPE (DlpFileSource, dlp_file_source, DLP_TYPE_SOURCE)

/* ---- what there is to read ---- */

static gboolean
parse_number (const char *text, guint64 *value, const char **end)
{
  char *stop;

  if (!g_ascii_isdigit (*text))
    return FALSE;
  *value = g_ascii_strtoull (text, &stop, 10);
  *end = stop;
  return *value <= G_MAXUINT32;
}

static gboolean
parse_shard (DlpFileSource *self, GError **error)
{
  const char *text = self->shard;
  const char *end;

  self->shard_index = 0;
  self->shard_count = 1;
  if (text == NULL || *text == '\0')
    return TRUE;

  if (parse_number (text, &self->shard_index, &end) && *end == '/' &&
      parse_number (end + 1, &self->shard_count, &end) && *end == '\0' &&
      self->shard_index < self->shard_count)
    return TRUE;

  g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE,
               "shard=%s: expected I/N with I from 0 to N-1, such as 0/4", text);
  return FALSE;
}

/* Files of one epoch that are this shard's. */
static guint64
count_own_files (DlpFileSource *self)
{
  guint64 n = file_list_get_length (self->list);

  return n > self->shard_index ?
             (n - self->shard_index + self->shard_count - 1) / self->shard_count :
             0;
}

/* 0: for ever */
static guint
get_epochs (DlpFileSource *self)
{
  return self->repeats ? 0 : self->epochs;
}

static gboolean
check_list (DlpFileSource *self, GError **error)
{
  DlpFile *stream = file_list_find_stream (self->list);
  guint epochs = get_epochs (self);

  if (stream != NULL && epochs != 1)
    {
      g_autofree char *shown = dlp_uri_escape_for_display (dlp_file_get_uri (stream));
      g_autofree char *number = g_strdup_printf ("%u", epochs);

      g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE,
                   "epochs=%s, but %s can be read only once", epochs == 0 ? "forever" : number,
                   shown);
      return FALSE;
    }
  if (epochs == 0 && count_own_files (self) == 0)
    {
      g_autofree char *what = self->plan != NULL ? g_strdup_printf ("task=%u", self->task) :
                                                   g_strdup_printf ("shard=%s", self->shard);

      g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_NO_INPUT,
                   "infinite source has no records: it goes on for ever, but %s of %u files has "
                   "none",
                   what, self->list->n_all);
      return FALSE;
    }
  return TRUE;
}

/* ---- their order in an epoch ---- */

/* Of a part, the files in the order that they have among all: of @all numbers in their order, those
 * that are in it, as indices of the part. */
static void
keep_part (const FileList *list, guint32 *all)
{
  g_autofree guint32 *index_of = g_new (guint32, list->n_all);
  guint32 kept = 0;

  memset (index_of, 0xff, list->n_all * sizeof *index_of);
  for (guint32 i = 0; i < file_list_get_length (list); i++)
    index_of[file_list_get_number (list, i)] = i;
  for (guint32 i = 0; i < list->n_all; i++)
    if (index_of[all[i]] != G_MAXUINT32)
      all[kept++] = index_of[all[i]];
}

/* All files take part in the draws, also where only some of them are this task's. */
static void
shuffle_epoch (DlpFileSource *self, guint64 epoch)
{
  guint32 n = self->list->n_all;
  DlpRandom random = dlp_random_init (dlp_element_get_seed (DLP_ELEMENT (self)),
                                      dlp_element_get_stage (DLP_ELEMENT (self)), "shards",
                                      dlp_element_get_ordinal (DLP_ELEMENT (self)));
  guint64 draw = self->reshuffle ? epoch * (n - 1) : 0;

  if (self->shuffled == NULL)
    self->shuffled = g_new (guint32, n);
  for (guint32 i = 0; i < n; i++)
    self->shuffled[i] = i;
  for (guint32 i = n - 1; i > 0; i--)
    {
      guint32 j = (guint32) (dlp_random_draw (random, draw++) % ((guint64) i + 1));
      guint32 moved = self->shuffled[i];

      self->shuffled[i] = self->shuffled[j];
      self->shuffled[j] = moved;
    }
  if (self->list->numbers != NULL)
    keep_part (self->list, self->shuffled);
  self->shuffled_epoch = epoch;
}

/* The index in the list of the file at a position of the epoch. */
static guint32
get_index (DlpFileSource *self, guint64 position)
{
  if (!self->shuffle)
    return (guint32) position;

  if (self->shuffled == NULL || (self->reshuffle && self->shuffled_epoch != self->state.epoch))
    shuffle_epoch (self, self->state.epoch);
  return self->shuffled[position];
}

/* The first position from @from on that is this shard's. */
static guint64
find_own (DlpFileSource *self, guint64 from)
{
  guint64 rest = from % self->shard_count;

  return from + (self->shard_index + self->shard_count - rest) % self->shard_count;
}

/* ---- streaming ---- */

static void
show_total (DlpFileSource *self)
{
  guint64 n = file_list_get_length (self->list);
  guint64 files = count_own_files (self);
  guint64 bytes = 0;

  if (get_epochs (self) == 0)
    {
      dlp_element_set_progress (DLP_ELEMENT (self), 0, 0, 0, 0);
      return;
    }
  for (guint64 p = find_own (self, 0); p < n; p += self->shard_count)
    bytes += (guint64) MAX (dlp_file_get_size (file_list_get (self->list, get_index (self, p))), 0);
  dlp_element_set_progress (DLP_ELEMENT (self), 0, bytes * self->epochs, 0,
                            (guint) MIN (files * self->epochs, G_MAXUINT));
}

static const char *
find_writer (gpointer data, const char *uri)
{
  g_autofree char *path = NULL;

  if (strstr (uri, "://") == NULL)
    return dlp_element_find_writer (data, uri);
  path = g_str_has_prefix (uri, "file://") ? g_filename_from_uri (uri, NULL, NULL) : NULL;
  return path != NULL ? dlp_element_find_writer (data, path) : NULL;
}

/* What the reader is told of a file that a manifest names, beside what all are told. */
static DlpSchema *
make_schema (DlpFileSource *self)
{
  static const char *const names[] = { "uri",           "size",          "identity",
                                       "expected-size", "expected-rows", "sha256" };
  static const DlpFieldType types[] = { DLP_FIELD_STRING, DLP_FIELD_INT64, DLP_FIELD_STRING,
                                        DLP_FIELD_INT64,  DLP_FIELD_INT64, DLP_FIELD_STRING };
  static const gboolean optional[] = { FALSE, FALSE, FALSE, TRUE, TRUE, TRUE };

  return self->manifest == NULL ?
             dlp_schema_files () :
             dlp_schema_new (DLP_SCHEMA_FILES, G_N_ELEMENTS (names), names, types, optional);
}

static gboolean
check_settings (DlpFileSource *self, GError **error)
{
  gboolean has_names =
      (self->location != NULL && self->location[0] != NULL) || self->list_name != NULL;
  const char *message = NULL;

  if (self->reshuffle && !self->shuffle)
    message =
        "reshuffle=true does nothing without shuffle=true; set both, for another order of the "
        "files in each epoch";
  else if (!has_names && self->manifest == NULL && self->plan == NULL)
    message = "nothing to read: location=FILE (a path, a glob, a URI, or - for the standard "
              "input), list=FILE or manifest=FILE is needed";
  else if (has_names && self->manifest != NULL)
    message = "manifest=FILE names all files that are read: take location and list out, or give "
              "them a source of their own";
  else if (self->plan != NULL && self->shard_count > 1)
    message = "shard and plan exclude each other: the plan says what is this task's part";
  if (message == NULL)
    return TRUE;
  g_set_error_literal (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE, message);
  return FALSE;
}

/* A task is told by the plan which files are its, and by the manifest what they have to be. A fault
 * of that is told when the task is to run: one that is only discarded does not need it. */
static FileList *
make_part (DlpFileSource *self, GError **error)
{
  DlpElement *element = DLP_ELEMENT (self);
  GCancellable *cancellable = dlp_element_get_cancellable (element);
  g_autoptr (FileList) list =
      file_list_new_part (self->plan, dlp_element_get_name (element), self->task, error);

  g_clear_error (&self->failure);
  if (list != NULL && self->manifest != NULL)
    file_list_add_manifest (list, self->manifest, cancellable, &self->failure);
  if (g_cancellable_set_error_if_cancelled (cancellable, list != NULL ? error : NULL))
    return NULL;
  return g_steal_pointer (&list);
}

/* FALSE with the fault that was met before. */
static gboolean
check_manifest (DlpFileSource *self, GError **error)
{
  if (self->failure == NULL)
    return TRUE;
  g_propagate_error (error, g_error_copy (self->failure));
  return FALSE;
}

/* @pins: (nullable): what the locations were called before. */
static gboolean
make_list (DlpFileSource *self, const char *const *pins, GError **error)
{
  gboolean sorted = self->order == ORDER_SORTED;
  GCancellable *cancellable = dlp_element_get_cancellable (DLP_ELEMENT (self));

  g_clear_pointer (&self->list, file_list_free);
  if (self->plan != NULL)
    self->list = make_part (self, error);
  else if (self->manifest != NULL)
    self->list =
        file_list_new_from_manifest (self->manifest, find_writer, self, sorted, cancellable, error);
  else
    self->list = file_list_new ((const char *const *) self->location, pins, self->list_name,
                                find_writer, self, sorted, cancellable, error);
  return self->list != NULL;
}

static gboolean
dlp_file_source_negotiate (DlpElement *element, GError **error)
{
  DlpFileSource *self = DLP_FILE_SOURCE (element);
  g_autoptr (DlpSchema) schema = make_schema (self);

  self->repeats = FALSE;
  if (!parse_shard (self, error) || !check_settings (self, error))
    return FALSE;
  if (!make_list (self, NULL, error) || !check_list (self, error))
    return FALSE;

  dlp_pad_set_schema (dlp_element_get_output (element, 0), schema);
  show_total (self);
  return TRUE;
}

/* What cannot be read twice cannot be read by another process. */
static GPtrArray *
dlp_file_source_list (DlpSource *source, GError **error)
{
  DlpFileSource *self = DLP_FILE_SOURCE (source);
  DlpFile *stream = file_list_find_stream (self->list);
  g_autofree char *shown = NULL;

  if (stream == NULL && self->shard_count == 1)
    return g_ptr_array_ref (self->list->files);
  shown = stream != NULL ? dlp_uri_escape_for_display (dlp_file_get_uri (stream)) : NULL;
  if (stream != NULL)
    g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE,
                 "%s can be read only once, so it cannot be dealt to tasks", shown);
  else
    g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE,
                 "shard=%s: a fan-out deals the files to its tasks itself; leave it out",
                 self->shard);
  return NULL;
}

static gboolean
dlp_file_source_take_part (DlpSource *source, const char *plan, guint task, GError **error)
{
  g_object_set (source, "plan", plan, "task", task, NULL);
  return TRUE;
}

static guint
dlp_file_source_get_epochs (DlpSource *source)
{
  return get_epochs (DLP_FILE_SOURCE (source));
}

static DlpFile *
dlp_file_source_get_file (DlpSource *source, guint64 position)
{
  DlpFileSource *self = DLP_FILE_SOURCE (source);
  guint64 own = count_own_files (self);

  /* What a task has of a source says nothing of the whole. */
  if (self->plan != NULL || position >= (own > 0 ? own : file_list_get_length (self->list)))
    return NULL;
  if (own > 0)
    position = self->shard_index + position * self->shard_count;
  return file_list_get (self->list, get_index (self, position));
}

static gboolean
dlp_file_source_repeat (DlpSource *source, GError **error)
{
  DlpFileSource *self = DLP_FILE_SOURCE (source);

  self->repeats = TRUE;
  show_total (self);
  return check_list (self, error);
}

/* Whether there is a file that no scheme can bring near but by its being held in memory. */
static gboolean
has_remote_files (DlpFileSource *self)
{
  for (guint32 i = 0; i < file_list_get_length (self->list); i++)
    {
      const char *uri = dlp_file_get_uri (file_list_get (self->list, i));
      DlpScheme *scheme = strstr (uri, "://") != NULL ? dlp_scheme_for_uri (uri, NULL) : NULL;

      if (scheme != NULL && DLP_SCHEME_GET_CLASS (scheme)->prefetch == NULL)
        return TRUE;
    }
  return FALSE;
}

static void
dlp_file_source_get_read_ahead (DlpSource *source, guint *files, guint64 *bytes, guint64 *held)
{
  DlpFileSource *self = DLP_FILE_SOURCE (source);

  *files = self->prefetch_files;
  *bytes = self->prefetch_bytes;
  *held = has_remote_files (self) ? self->prefetch_bytes : 0;
}

/* Once a run: whoever goes on reads what is stored, whatever the manifest says by then. */
static gboolean
store_manifest (DlpFileSource *self, GError **error)
{
  g_autofree char *text = NULL;

  if (self->list->entries == NULL || self->stored != NULL)
    return TRUE;
  text = source_manifest_print (self->list->entries);
  self->stored = dlp_state_file_new (DLP_ELEMENT (self), error);
  return self->stored != NULL && dlp_state_file_append (self->stored, text, strlen (text), error);
}

static gboolean
dlp_file_source_start (DlpElement *element, GCancellable *cancellable, GError **error)
{
  DlpFileSource *self = DLP_FILE_SOURCE (element);
  g_autoptr (DlpSchema) schema = make_schema (self);

  if (!check_manifest (self, error) || !store_manifest (self, error))
    return FALSE;
  /* What was drawn before, for the progress, was with the seed before that of a state. */
  g_clear_pointer (&self->shuffled, g_free);
  self->builder = dlp_record_batch_builder_new (schema);
  /* A task may have no file of one of several sources, and nobody could change that. */
  if (count_own_files (self) == 0 && self->plan == NULL)
    {
      g_autofree char *message = g_strdup_printf ("shard=%s of %u files has none", self->shard,
                                                  file_list_get_length (self->list));

      if (dlp_element_get_strict (element))
        {
          g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_NO_INPUT,
                       "%s, and the pipeline is strict", message);
          return FALSE;
        }
      dlp_element_warn (element, NULL, -1, message);
    }
  return TRUE;
}

static void
dlp_file_source_stop (DlpElement *element)
{
  DlpFileSource *self = DLP_FILE_SOURCE (element);

  g_clear_pointer (&self->builder, dlp_record_batch_builder_unref);
  g_clear_pointer (&self->shuffled, g_free);
}

static void
append_count (DlpFileSource *self, guint field, gint64 count)
{
  if (count >= 0)
    dlp_record_batch_builder_append_int64 (self->builder, field, count);
  else
    dlp_record_batch_builder_append_null (self->builder, field);
}

static void
append_expected (DlpFileSource *self, const ManifestEntry *entry)
{
  append_count (self, 3, entry->size);
  append_count (self, 4, entry->rows);
  if (entry->sha256 != NULL)
    dlp_record_batch_builder_append_value (self->builder, 5, entry->sha256, strlen (entry->sha256));
  else
    dlp_record_batch_builder_append_null (self->builder, 5);
}

/* A record batch each, so that a link bounds how far the names are ahead. */
static gboolean
emit (DlpFileSource *self, DlpPad *out, guint32 index, GError **error)
{
  DlpRecordBatch *batch;
  DlpFile *file = file_list_get (self->list, index);
  const char *uri = dlp_file_get_uri (file);
  const char *identity = dlp_file_get_identity (file);
  DlpCoordinate coordinate = {
    .stage = dlp_element_get_stage (DLP_ELEMENT (self)),
    .source = dlp_element_get_ordinal (DLP_ELEMENT (self)),
    .file = file_list_get_number (self->list, index),
    .epoch = (guint32) self->state.epoch,
  };

  if (identity == NULL)
    identity = "";
  dlp_record_batch_builder_append_value (self->builder, 0, uri, strlen (uri));
  dlp_record_batch_builder_append_int64 (self->builder, 1, dlp_file_get_size (file));
  dlp_record_batch_builder_append_value (self->builder, 2, identity, strlen (identity));
  if (self->list->entries != NULL)
    append_expected (self, g_ptr_array_index (self->list->entries, index));
  dlp_record_batch_builder_end_record (self->builder, &coordinate);
  batch = dlp_record_batch_builder_finish (self->builder, error);
  if (batch == NULL)
    return FALSE;
  dlp_pad_push (out, batch);
  return TRUE;
}

static DlpStep
dlp_file_source_produce (DlpSource *source, DlpPad *out, GCancellable *cancellable, GError **error)
{
  DlpFileSource *self = DLP_FILE_SOURCE (source);
  guint64 n = file_list_get_length (self->list);

  while (get_epochs (self) == 0 || self->state.epoch < get_epochs (self))
    {
      guint64 position = find_own (self, self->state.position);

      if (position < n)
        {
          guint32 index = get_index (self, position);

          self->state.position = position + 1;
          return emit (self, out, index, error) ? DLP_STEP_MORE : DLP_STEP_ERROR;
        }
      self->state.position = 0;
      self->state.epoch++;
      if (count_own_files (self) == 0)
        break;
    }
  return DLP_STEP_END;
}

/* ---- state ---- */

static DlpState *
dlp_file_source_save (DlpElement *element)
{
  return dlp_state_new (&DLP_FILE_SOURCE (element)->state, sizeof (State));
}

static gboolean
has_pins (DlpFileSource *self)
{
  return self->location != NULL && self->list->pins != NULL &&
         !g_strv_equal ((const char *const *) self->location,
                        (const char *const *) self->list->pins);
}

/* Names are bytes. "": as it is given, which may hold a password. */
static GVariant *
describe_pins (DlpFileSource *self)
{
  guint n = g_strv_length (self->location);
  g_autofree const char **pins = g_new0 (const char *, n + 1);

  for (guint i = 0; i < n; i++)
    pins[i] = strcmp (self->list->pins[i], self->location[i]) == 0 ? "" : self->list->pins[i];
  return g_variant_new_bytestring_array (pins, -1);
}

static GVariant *
describe_stored (DlpFileSource *self)
{
  GVariant *file = dlp_state_file_describe (self->stored);

  return g_variant_new_array (G_VARIANT_TYPE ("(sts)"), &file, 1);
}

static GVariant *
dlp_file_source_describe (DlpElement *element, const DlpState *data)
{
  DlpFileSource *self = DLP_FILE_SOURCE (element);
  const State *state = dlp_state_get_data (data);
  g_auto (GVariantBuilder) builder = G_VARIANT_BUILDER_INIT (G_VARIANT_TYPE_VARDICT);

  g_variant_builder_add (&builder, "{sv}", "epoch", g_variant_new_uint64 (state->epoch));
  g_variant_builder_add (&builder, "{sv}", "position", g_variant_new_uint64 (state->position));
  g_variant_builder_add (&builder, "{sv}", "files",
                         g_variant_new_uint64 (file_list_get_length (self->list)));
  g_variant_builder_add (&builder, "{sv}", "list", g_variant_new_string (self->list->hash));
  g_variant_builder_add (&builder, "{sv}", "prefixes", file_list_describe_prefixes (self->list));
  if (has_pins (self))
    g_variant_builder_add (&builder, "{sv}", "pins", describe_pins (self));
  if (self->stored != NULL)
    g_variant_builder_add (&builder, "{sv}", "state-files", describe_stored (self));
  return g_variant_builder_end (&builder);
}

/* A branch that has moved meanwhile is read where it was. */
static gboolean
load_pins (DlpFileSource *self, GVariant *described, GError **error)
{
  g_autoptr (GVariant) value =
      g_variant_lookup_value (described, "pins", G_VARIANT_TYPE_BYTESTRING_ARRAY);
  g_autofree const char **pins = NULL;
  guint n = self->location != NULL ? g_strv_length (self->location) : 0;
  gsize n_pins;

  if (value == NULL || self->list->pins == NULL)
    return TRUE;
  pins = g_variant_get_bytestring_array (value, &n_pins);
  if (n_pins != n)
    {
      g_set_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CORRUPT,
                   "pins: %" G_GSIZE_FORMAT " of them, for %u locations", n_pins, n);
      return FALSE;
    }
  for (guint i = 0; i < n; i++)
    if (*pins[i] == '\0')
      pins[i] = self->location[i];
  if (g_strv_equal (pins, (const char *const *) self->list->pins))
    return TRUE;
  if (!make_list (self, pins, error))
    return FALSE;
  show_total (self);
  return check_list (self, error);
}

static gboolean
use_stored (DlpFileSource *self, GError **error)
{
  g_autoptr (GBytes) bytes = dlp_state_file_read_bytes (self->stored, 0, G_MAXSIZE, error);
  GPtrArray *entries;
  FileList *list;
  const char *text;
  gsize size;

  if (bytes == NULL)
    return FALSE;
  text = g_bytes_get_data (bytes, &size);
  entries = source_manifest_parse (text, size, error);
  if (entries == NULL)
    {
      g_prefix_error (error, "%s: ", dlp_state_file_get_name (self->stored));
      return FALSE;
    }
  list = file_list_new_from_entries (self->list, entries,
                                     dlp_element_get_cancellable (DLP_ELEMENT (self)), error);
  if (list == NULL)
    return FALSE;
  file_list_free (self->list);
  self->list = list;
  show_total (self);
  return TRUE;
}

/* Of a run that has just begun, or has read all, it is not there. */
static gboolean
load_stored (DlpFileSource *self, GVariant *described, GError **error)
{
  g_autoptr (GVariant) known = g_variant_lookup_value (described, "state-files", NULL);
  g_autoptr (GVariant) files = NULL;
  g_autoptr (GVariant) first = NULL;

  if (known == NULL)
    return TRUE;
  files = dlp_state_get_value (described, "state-files", G_VARIANT_TYPE ("a(sts)"), error);
  if (files == NULL || !check_manifest (self, error))
    return FALSE;
  if (g_variant_n_children (files) != 1 || self->list->entries == NULL)
    {
      g_set_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CORRUPT,
                   "key “state-files” names %zu files; with%s manifest there is %s",
                   g_variant_n_children (files), self->list->entries != NULL ? " a" : "out a",
                   self->list->entries != NULL ? "one" : "none");
      return FALSE;
    }
  first = g_variant_get_child_value (files, 0);
  self->stored = dlp_state_file_open (DLP_ELEMENT (self), first, error);
  return self->stored != NULL && use_stored (self, error);
}

/* It has given out what its manifest named, and nobody needs it any more: what that said is not
 * stored then, and what it says now does not matter. */
static gboolean
needs_no_list (DlpFileSource *self)
{
  return self->list->entries != NULL && self->stored == NULL &&
         (self->state.epoch > 0 || self->state.position > 0);
}

static gboolean
load (DlpFileSource *self, GVariant *described, GError **error)
{
  static const char *const keys[] = { "epoch",    "position",    "files", "list",
                                      "prefixes", "state-files", "pins",  NULL };
  guint64 max_epoch = get_epochs (self) == 0 ? G_MAXUINT32 : get_epochs (self);
  g_autoptr (GVariant) hash = NULL;
  g_autoptr (GVariant) prefixes = NULL;
  DlpFile *stream = NULL;
  guint64 n_files;

  if (!dlp_state_check_keys (described, keys, error) || !load_stored (self, described, error) ||
      !load_pins (self, described, error) ||
      !dlp_state_get_uint64 (described, "files", G_MAXUINT32, &n_files, error) ||
      !(hash = dlp_state_get_value (described, "list", G_VARIANT_TYPE_STRING, error)) ||
      !(prefixes = dlp_state_get_value (described, "prefixes", G_VARIANT_TYPE ("at"), error)) ||
      !dlp_state_get_uint64 (described, "epoch", max_epoch, &self->state.epoch, error) ||
      !dlp_state_get_uint64 (described, "position", n_files, &self->state.position, error) ||
      (!needs_no_list (self) &&
       !file_list_check (self->list, n_files, g_variant_get_string (hash, NULL), prefixes, error)))
    return FALSE;

  stream = file_list_find_stream (self->list);
  if (stream != NULL)
    {
      g_autofree char *shown = dlp_uri_escape_for_display (dlp_file_get_uri (stream));

      g_set_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CHANGED,
                   "%s cannot be continued: what was read from it is gone; begin anew with "
                   "--restart",
                   strcmp (shown, "-") == 0 ? "the standard input" : shown);
      return FALSE;
    }
  return TRUE;
}

static gboolean
dlp_file_source_load (DlpElement *element, GVariant *described, guint version, GError **error)
{
  return load (DLP_FILE_SOURCE (element), described, error);
}

static GVariant *
dlp_file_source_report (DlpElement *element, GVariant *described)
{
  GVariantDict dict;

  g_variant_dict_init (&dict, described);
  g_variant_dict_remove (&dict, "state-files");
  return g_variant_dict_end (&dict);
}

/* ---- object ---- */

static void
dlp_file_source_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  DlpFileSource *self = DLP_FILE_SOURCE (object);

  switch (id)
    {
    case PROP_LOCATION:
      g_value_set_boxed (value, self->location);
      break;
    case PROP_LIST:
      g_value_set_string (value, self->list_name);
      break;
    case PROP_MANIFEST:
      g_value_set_string (value, self->manifest);
      break;
    case PROP_ORDER:
      g_value_set_enum (value, self->order);
      break;
    case PROP_SHUFFLE:
      g_value_set_boolean (value, self->shuffle);
      break;
    case PROP_RESHUFFLE:
      g_value_set_boolean (value, self->reshuffle);
      break;
    case PROP_SHARD:
      g_value_set_string (value, self->shard);
      break;
    case PROP_EPOCHS:
      g_value_set_uint (value, self->epochs);
      break;
    case PROP_PREFETCH_FILES:
      g_value_set_uint (value, self->prefetch_files);
      break;
    case PROP_PREFETCH_BYTES:
      g_value_set_uint64 (value, self->prefetch_bytes);
      break;
    case PROP_PLAN:
      g_value_set_string (value, self->plan);
      break;
    case PROP_TASK:
      g_value_set_uint (value, self->task);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    }
}

static void
dlp_file_source_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  DlpFileSource *self = DLP_FILE_SOURCE (object);

  switch (id)
    {
    case PROP_LOCATION:
      g_strfreev (self->location);
      self->location = g_value_dup_boxed (value);
      break;
    case PROP_LIST:
      g_free (self->list_name);
      self->list_name = g_value_dup_string (value);
      break;
    case PROP_MANIFEST:
      g_free (self->manifest);
      self->manifest = g_value_dup_string (value);
      break;
    case PROP_ORDER:
      self->order = (DlpFileOrder) g_value_get_enum (value);
      break;
    case PROP_SHUFFLE:
      self->shuffle = g_value_get_boolean (value);
      break;
    case PROP_RESHUFFLE:
      self->reshuffle = g_value_get_boolean (value);
      break;
    case PROP_SHARD:
      g_free (self->shard);
      self->shard = g_value_dup_string (value);
      break;
    case PROP_EPOCHS:
      self->epochs = g_value_get_uint (value);
      break;
    case PROP_PREFETCH_FILES:
      self->prefetch_files = g_value_get_uint (value);
      break;
    case PROP_PREFETCH_BYTES:
      self->prefetch_bytes = g_value_get_uint64 (value);
      break;
    case PROP_PLAN:
      g_free (self->plan);
      self->plan = g_value_dup_string (value);
      break;
    case PROP_TASK:
      self->task = g_value_get_uint (value);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    }
}

static void
dlp_file_source_finalize (GObject *object)
{
  DlpFileSource *self = DLP_FILE_SOURCE (object);

  g_clear_pointer (&self->list, file_list_free);
  g_clear_pointer (&self->stored, dlp_state_file_unref);
  g_clear_error (&self->failure);
  g_free (self->manifest);
  g_free (self->shuffled);
  g_strfreev (self->location);
  g_free (self->list_name);
  g_free (self->shard);
  g_free (self->plan);

  G_OBJECT_CLASS (dlp_file_source_parent_class)->finalize (object);
}

static void
install_properties (GObjectClass *klass)
{
  properties[PROP_LOCATION] = g_param_spec_boxed (
      "location", NULL,
      "What to read: a path, a folder, a glob, a URI, or - for the standard input; may be given "
      "several times",
      G_TYPE_STRV, DLP_PARAM_READWRITE);
  properties[PROP_LIST] =
      g_param_spec_string ("list", NULL, "A file of names to read, one a line or each ended by NUL",
                           NULL, DLP_PARAM_READWRITE);
  properties[PROP_MANIFEST] = g_param_spec_string (
      "manifest", NULL,
      "A file that says what to read, and what its files have to be: JSON, or JSON lines", NULL,
      DLP_PARAM_READWRITE);
  properties[PROP_ORDER] = g_param_spec_enum (
      "order", NULL, "sorted: by the bytes of the names; given: as location and list give them",
      dlp_file_order_get_type (), ORDER_SORTED, DLP_PARAM_READWRITE);
  properties[PROP_SHUFFLE] = g_param_spec_boolean (
      "shuffle", NULL, "Read the files in an order drawn from the pipeline's seed", FALSE,
      DLP_PARAM_READWRITE);
  properties[PROP_RESHUFFLE] = g_param_spec_boolean (
      "reshuffle", NULL, "With shuffle: another order in each epoch", FALSE, DLP_PARAM_READWRITE);
  properties[PROP_SHARD] = g_param_spec_string (
      "shard", NULL,
      "I/N: of the files in their order, shuffled or not, those at positions I, I+N, ... (from 0)",
      NULL, DLP_PARAM_READWRITE);
  properties[PROP_EPOCHS] =
      g_param_spec_uint ("epochs", NULL, "How often all files are read, or forever", 0, G_MAXUINT,
                         1, DLP_PARAM_READWRITE | DLP_PARAM_FOREVER);
  properties[PROP_PREFETCH_FILES] = g_param_spec_uint (
      "prefetch-files", NULL,
      "Files that are read in advance, behind those that are being read; 0: none", 0, 1024, 4,
      DLP_PARAM_READWRITE | DLP_PARAM_FREE);
  properties[PROP_PREFETCH_BYTES] = g_param_spec_uint64 (
      "prefetch-bytes", NULL,
      "Bytes that are read in advance, of all sources together; less where they have to be held in "
      "memory and that is short",
      0, G_MAXINT64, 256 * 1024 * 1024, DLP_PARAM_READWRITE | DLP_PARAM_BYTES | DLP_PARAM_FREE);
  properties[PROP_PLAN] = g_param_spec_string (
      "plan", NULL,
      "Set by dlpipe-fanout: the plan of a job, which says what files there are, and the part of "
      "each task",
      NULL, DLP_PARAM_READWRITE | DLP_PARAM_FREE);
  properties[PROP_TASK] =
      g_param_spec_uint ("task", NULL, "Set by dlpipe-fanout: the task whose part is read", 0,
                         G_MAXUINT32, 0, DLP_PARAM_READWRITE);
  g_object_class_install_properties (klass, N_PROPS, properties);
}

static void
dlp_file_source_class_init (DlpFileSourceClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  DlpElementClass *element_class = DLP_ELEMENT_CLASS (klass);

  object_class->get_property = dlp_file_source_get_property;
  object_class->set_property = dlp_file_source_set_property;
  object_class->finalize = dlp_file_source_finalize;
  element_class->negotiate = dlp_file_source_negotiate;
  element_class->start = dlp_file_source_start;
  element_class->stop = dlp_file_source_stop;
  element_class->save = dlp_file_source_save;
  element_class->describe = dlp_file_source_describe;
  element_class->load = dlp_file_source_load;
  element_class->report = dlp_file_source_report;
  DLP_SOURCE_CLASS (klass)->produce = dlp_file_source_produce;
  DLP_SOURCE_CLASS (klass)->get_epochs = dlp_file_source_get_epochs;
  DLP_SOURCE_CLASS (klass)->repeat = dlp_file_source_repeat;
  DLP_SOURCE_CLASS (klass)->get_read_ahead = dlp_file_source_get_read_ahead;
  DLP_SOURCE_CLASS (klass)->list = dlp_file_source_list;
  DLP_SOURCE_CLASS (klass)->take_part = dlp_file_source_take_part;
  DLP_SOURCE_CLASS (klass)->get_file = dlp_file_source_get_file;
  dlp_element_class_add_pad_template (element_class, "out", DLP_PAD_OUTPUT, DLP_PAD_ALWAYS,
                                      DLP_CARRIES_FILES, NULL);
  dlp_element_class_set_description (
      element_class, "The files that a pipeline reads: paths, globs, lists, URIs, standard input",
      "file-source location=data/*.jsonl.zst shuffle=true ! jsonl-reader ! null-sink");
  install_properties (object_class);
}

static void
dlp_file_source_init (DlpFileSource *self)
{
  self->epochs = 1;
  self->shard_count = 1;
  self->prefetch_files = 4;
  self->prefetch_bytes = 256 * 1024 * 1024;
}
