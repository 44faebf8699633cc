/* SPDX-License-Identifier: MIT */

/* A state with the right checksum and wrong values: a pipeline made from it either says what is
 * wrong, or runs to an end. The input is a list of changes, each of one value of a state that real
 * pipelines of several kinds had. */

#include <stdlib.h>
#include <string.h>

#include <glib/gstdio.h>

#include <dlpipe/dlpipe.h>

int LLVMFuzzerTestOneInput (const guint8 *data, gsize size);

#define MAX_CHANGES 6
#define CHANGE_SIZE 5
#define MAX_PULLS 40

static const char *const graphs[] = {
  "file-source location=%s/*.jsonl epochs=2 shuffle=true ! jsonl-reader interleave=2 "
  "! shuffle size=10 ! batch size=4 ! app-sink name=out",
  "file-source location=%s/a.jsonl ! jsonl-reader ! m.  "
  "file-source location=%s/b.jsonl ! jsonl-reader ! m.  "
  "mix name=m weights=0.3,0.7 ! limit records=30 ! app-sink name=out",
  "file-source location=%s/*.jsonl ! jsonl-reader fields=n:int64 ! filter where='n > 3' "
  "! split name=s ratios=x:0.5,y:0.5 s.x ! tee name=t ! app-sink name=out  t. ! null-sink "
  "s.y ! null-sink",
  "file-source location=%s/a.jsonl epochs=3 ! jsonl-reader ! shuffle size=5 ! s.  "
  "file-source location=%s/b.jsonl ! jsonl-reader ! s.  "
  "stages name=s records=20,0 ! batch size=2,3 ! app-sink name=out",
};

static GPtrArray *bases; /* of GVariant */
static char *folder;

/* What elements warn of is no finding. */
static GLogWriterOutput
drop_log (GLogLevelFlags level, const GLogField *fields, gsize n, gpointer data)
{
  if (level & (G_LOG_FLAG_FATAL | G_LOG_LEVEL_ERROR | G_LOG_LEVEL_CRITICAL))
    {
      g_log_writer_standard_streams (level, fields, n, NULL);
      abort ();
    }
  return G_LOG_WRITER_HANDLED;
}

static gpointer
run (gpointer pipeline)
{
  g_autoptr (GError) error = NULL;

  dlp_pipeline_run (pipeline, NULL, &error);
  return NULL;
}

/* Runs it, until so many record batches were pulled; its state then. Takes @pipeline over. */
static DlpCheckpoint *
work (DlpPipeline *pipeline, guint pulls)
{
  GThread *thread = g_thread_new ("run", run, pipeline);
  DlpAppSink *out = DLP_APP_SINK (dlp_pipeline_get_element (pipeline, "out"));
  DlpCheckpoint *state;

  /* Before that there is nothing to be aborted. */
  while (dlp_pipeline_get_status (pipeline) < DLP_PIPELINE_RUNNING)
    g_usleep (100);
  for (guint i = 0; i < pulls; i++)
    {
      g_autoptr (DlpRecordBatch) batch = dlp_app_sink_pull (out, 3, NULL, NULL);

      if (batch == NULL)
        break;
    }
  state = dlp_pipeline_get_state (pipeline, DLP_APP_SINK_STATE_EXACT, NULL, NULL);
  dlp_pipeline_abort (pipeline);
  g_thread_join (thread);
  g_object_unref (pipeline);
  return state;
}

static void
write_file (const char *name, guint n)
{
  g_autofree char *path = g_build_filename (folder, name, NULL);
  g_autoptr (GString) text = g_string_new (NULL);

  for (guint i = 0; i < n; i++)
    g_string_append_printf (text, "{\"text\": \"%s %u\", \"n\": %u}\n", name, i, i % 7);
  g_assert_true (g_file_set_contents (path, text->str, -1, NULL));
}

static void
remove_folder (void)
{
  static const char *const names[] = { "a.jsonl", "b.jsonl", "c.jsonl" };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autofree char *path = g_build_filename (folder, names[i], NULL);

      g_unlink (path);
    }
  g_rmdir (folder);
}

static void
add_base (const char *text, guint pulls)
{
  g_autoptr (GError) error = NULL;
  DlpPipeline *pipeline = dlp_pipeline_new_from_string (text, &error);
  g_autoptr (DlpCheckpoint) state = NULL;

  g_assert_no_error (error);
  state = work (pipeline, pulls);
  g_assert_nonnull (state);
  g_ptr_array_add (bases, dlp_checkpoint_to_variant (state));
}

static void
set_up (void)
{
  folder = g_dir_make_tmp ("fuzz-state-XXXXXX", NULL);
  g_assert_nonnull (folder);
  write_file ("a.jsonl", 20);
  write_file ("b.jsonl", 25);
  write_file ("c.jsonl", 3);
  atexit (remove_folder);
  g_log_set_writer_func (drop_log, NULL, NULL);
  bases = g_ptr_array_new_with_free_func ((GDestroyNotify) g_variant_unref);
  for (guint i = 0; i < G_N_ELEMENTS (graphs); i++)
    for (guint pulls = 0; pulls < 12; pulls += 5)
      {
        g_auto (GStrv) parts = g_strsplit (graphs[i], "%s", -1);
        g_autofree char *text = g_strjoinv (folder, parts);

        add_base (text, pulls);
      }
}

/* ---- changes ---- */

typedef struct
{
  guint at; /* the value that is changed: counted down */
  guint8 op;
  guint16 value;
} Change;

static const guint64 borders[] = { 0,           1,           2,
                                   255,         G_MAXUINT16, G_MAXINT32,
                                   G_MAXUINT32, G_MAXINT64,  (guint64) G_MAXINT64 + 1,
                                   G_MAXUINT64 };

static guint64
change_number (const Change *change, guint64 was)
{
  switch (change->op % 5)
    {
    case 0:
      return was + change->value % 16;
    case 1:
      return was - change->value % 16;
    case 2:
      return change->value;
    case 3:
      return borders[change->value % G_N_ELEMENTS (borders)];
    default:
      return was ^ (G_GUINT64_CONSTANT (1) << (change->value % 64));
    }
}

static GVariant *
change_leaf (const Change *change, GVariant *leaf)
{
  static const char *const words[] = { "", "x", "file-source0", "out", "false", "9999999999" };

  switch (g_variant_classify (leaf))
    {
    case G_VARIANT_CLASS_UINT64:
      return g_variant_new_uint64 (change_number (change, g_variant_get_uint64 (leaf)));
    case G_VARIANT_CLASS_INT64:
      return g_variant_new_int64 (
          (gint64) change_number (change, (guint64) g_variant_get_int64 (leaf)));
    case G_VARIANT_CLASS_UINT32:
      return g_variant_new_uint32 (
          (guint32) change_number (change, (guint64) g_variant_get_uint32 (leaf)));
    case G_VARIANT_CLASS_BYTE:
      return g_variant_new_byte ((guint8) change->value);
    case G_VARIANT_CLASS_BOOLEAN:
      return g_variant_new_boolean (!g_variant_get_boolean (leaf));
    case G_VARIANT_CLASS_DOUBLE:
      return g_variant_new_double ((double) change->value * ((double) (change->op % 3) - 1));
    case G_VARIANT_CLASS_STRING:
      return g_variant_new_string (words[change->value % G_N_ELEMENTS (words)]);
    default:
      return g_variant_ref (leaf);
    }
}

static GVariant *apply (Change *change, GVariant *value);

/* A list of which one member is changed, or left out, or there twice. */
static GVariant *
apply_to_list (Change *change, GVariant *value, gboolean chosen_here)
{
  gsize n = g_variant_n_children (value);
  GVariantBuilder builder;

  g_variant_builder_init (&builder, g_variant_get_type (value));
  for (gsize i = 0; i < n; i++)
    {
      g_autoptr (GVariant) was = g_variant_get_child_value (value, i);
      g_autoptr (GVariant) child = chosen_here ? g_variant_ref (was) : apply (change, was);
      guint times = 1;

      if (chosen_here && i == change->value % n)
        times = change->op % 2 == 0 ? 2 : 0;
      for (guint k = 0; k < times; k++)
        g_variant_builder_add_value (&builder, child);
    }
  return g_variant_ref_sink (g_variant_builder_end (&builder));
}

/* A state is a few levels deep. */
static GVariant *
apply (Change *change, GVariant *value)
{
  const GVariantType *type = g_variant_get_type (value);

  if (!g_variant_type_is_container (type))
    return change->at-- == 0 ? g_variant_take_ref (change_leaf (change, value)) :
                               g_variant_ref (value);
  /* Keys stay what they are, mostly. */
  if (g_variant_type_is_dict_entry (type) && change->op < 250)
    {
      g_autoptr (GVariant) key = g_variant_get_child_value (value, 0);
      g_autoptr (GVariant) was = g_variant_get_child_value (value, 1);
      g_autoptr (GVariant) child = apply (change, was);

      return g_variant_ref_sink (g_variant_new_dict_entry (key, child));
    }
  return apply_to_list (change, value,
                        g_variant_type_is_array (type) && g_variant_n_children (value) > 0 &&
                            change->at-- == 0);
}

static guint
count (GVariant *value)
{
  guint n = 1;

  if (!g_variant_type_is_container (g_variant_get_type (value)))
    return n;
  for (gsize i = 0; i < g_variant_n_children (value); i++)
    {
      g_autoptr (GVariant) child = g_variant_get_child_value (value, i);

      n += count (child);
    }
  return n;
}

static void
try_state (GVariant *state)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (DlpCheckpoint) unsealed = dlp_checkpoint_new_from_variant (state, &error);
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (DlpCheckpoint) checkpoint = NULL;
  g_autoptr (DlpPipeline) pipeline = NULL;
  g_autoptr (DlpCheckpoint) later = NULL;

  if (unsealed == NULL)
    {
      g_assert_true (error != NULL && error->domain == DLP_STATE_ERROR);
      return;
    }
  bytes = dlp_checkpoint_to_bytes (unsealed);
  checkpoint = dlp_checkpoint_new_from_bytes (bytes, &error);
  g_assert_no_error (error);
  pipeline = dlp_pipeline_new_from_checkpoint (checkpoint, &error);
  if (pipeline == NULL || !dlp_pipeline_prepare (pipeline, NULL, &error))
    {
      g_assert_nonnull (error);
      return;
    }
  later = work (g_steal_pointer (&pipeline), MAX_PULLS);
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  g_autoptr (GVariant) state = NULL;

  if (bases == NULL)
    set_up ();
  if (size < 1)
    return 0;
  state = g_variant_ref (bases->pdata[data[0] % bases->len]);
  for (gsize i = 1; i + CHANGE_SIZE <= MIN (size, 1 + MAX_CHANGES * CHANGE_SIZE); i += CHANGE_SIZE)
    {
      Change change = { (guint) (data[i] << 8 | data[i + 1]) % count (state), data[i + 2],
                        (guint16) (data[i + 3] << 8 | data[i + 4]) };
      GVariant *changed = apply (&change, state);

      g_variant_unref (state);
      state = changed;
    }
  try_state (state);
  return 0;
}
