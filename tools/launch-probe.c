/* SPDX-License-Identifier: MIT */

#include "launch-probe.h"

#include <string.h>

#include <dlpipe/dlp-random.h>
#include <dlpipe/dlp-upstream.h>

/* Of one record, for show. */
#define SAMPLE_BYTES 400

typedef struct
{
  guint64 draw; /* those with the least are kept: the same in each dry run */
  gsize n_tokens;
  GString *text;
} LaunchShown;

struct _LaunchProbe
{
  DlpSink parent_instance;

  DlpTokenizer *tokenizer; /* (nullable) */
  int tokens;              /* the field; -1: there is none */
  int text;                /* a field to show instead; -1: there is none */
  gsize width;             /* of an id */
  guint8 *lengths;         /* (nullable): bytes that each id stands for; specials: none */
  guint32 n_lengths;

  LaunchSample *sample;
  GArray *tallies;   /* of LaunchTally */
  gint64 first_time; /* 0: nothing came */
  guint64 text_bytes;
  GArray *samples; /* of LaunchShown, by draw */
};

G_DEFINE_FINAL_TYPE (LaunchProbe, launch_probe, DLP_TYPE_SINK)

static void
measure_ids (LaunchProbe *self)
{
  self->n_lengths = dlp_tokenizer_get_vocab_size (self->tokenizer);
  self->lengths = g_malloc0 (self->n_lengths);
  for (guint32 id = 0; id < self->n_lengths; id++)
    {
      gsize length = 0;

      if (dlp_tokenizer_get_token (self->tokenizer, id, &length) != NULL)
        self->lengths[id] = (guint8) MIN (length, G_MAXUINT8);
    }
  for (guint i = 0; i < dlp_tokenizer_get_n_specials (self->tokenizer); i++)
    {
      guint32 id;

      if (dlp_tokenizer_get_special (self->tokenizer, i, &id) != NULL && id < self->n_lengths)
        self->lengths[id] = 0;
    }
}

/* Elements of others may have properties of these names. */
static bool
has_text (DlpElement *element, const char *property)
{
  GParamSpec *pspec = g_object_class_find_property (G_OBJECT_GET_CLASS (element), property);

  return pspec != NULL && pspec->value_type == G_TYPE_STRING;
}

static gboolean
find_tokenizer (LaunchProbe *self, GError **error)
{
  g_autoptr (GPtrArray) found = dlp_element_list_upstream (DLP_ELEMENT (self), "model");
  g_autofree char *model = NULL;
  g_autofree char *pattern = NULL;

  if (found->len == 0 || !has_text (found->pdata[0], "model") ||
      !has_text (found->pdata[0], "pattern"))
    return TRUE;
  g_object_get (g_ptr_array_index (found, 0), "model", &model, "pattern", &pattern, NULL);
  self->tokenizer = dlp_tokenizer_new (model, pattern, error);
  if (self->tokenizer == NULL)
    return FALSE;
  measure_ids (self);
  return TRUE;
}

static gboolean
launch_probe_negotiate (DlpElement *element, GError **error)
{
  LaunchProbe *self = LAUNCH_PROBE (element);
  DlpSchema *schema = dlp_pad_get_schema (dlp_element_get_input (element, 0));

  self->tokens = self->text = -1;
  for (guint i = 0; i < dlp_schema_get_n_fields (schema); i++)
    switch (dlp_schema_get_field_type (schema, i))
      {
      case DLP_FIELD_LIST_UINT16:
      case DLP_FIELD_LIST_UINT32:
      case DLP_FIELD_LIST_INT32:
        self->tokens = (int) i;
        self->width = dlp_schema_get_field_type (schema, i) == DLP_FIELD_LIST_UINT16 ? 2 : 4;
        break;
      case DLP_FIELD_STRING:
        if (self->text < 0)
          self->text = (int) i;
        break;
      case DLP_FIELD_BINARY:
      case DLP_FIELD_BOOLEAN:
      case DLP_FIELD_INT64:
      case DLP_FIELD_UINT64:
      case DLP_FIELD_DOUBLE:
      case DLP_FIELD_LIST_INT64:
      case DLP_FIELD_LIST_FLOAT:
      case DLP_FIELD_LIST_DOUBLE:
        break;
      }
  return self->tokens < 0 || find_tokenizer (self, error);
}

static guint32
get_id (LaunchProbe *self, gconstpointer list, gsize i)
{
  return self->width == 2 ? ((const guint16 *) list)[i] : ((const guint32 *) list)[i];
}

static void
decode (LaunchProbe *self, gconstpointer list, gsize n, GString *text)
{
  for (gsize i = 0; i < n && text->len < SAMPLE_BYTES; i++)
    {
      guint32 id = get_id (self, list, i);
      gsize length = 0;
      const guint8 *bytes = NULL;

      if (self->tokenizer != NULL)
        bytes = dlp_tokenizer_get_token (self->tokenizer, id, &length);
      if (bytes != NULL)
        g_string_append_len (text, (const char *) bytes, (gssize) length);
      else
        g_string_append_printf (text, "[%u]", id);
    }
}

static GString *
show_record (LaunchProbe *self, DlpRecordBatch *batch, guint row, gsize *n_tokens)
{
  GString *text = g_string_new (NULL);
  gsize n = 0;

  *n_tokens = 0;
  if (self->tokens >= 0)
    {
      gconstpointer list = dlp_record_batch_get_list (batch, (guint) self->tokens, row, &n);

      decode (self, list, n, text);
      *n_tokens = n;
    }
  else if (self->text >= 0)
    {
      const guint8 *bytes = dlp_record_batch_get_value (batch, (guint) self->text, row, &n);

      g_string_append_len (text, (const char *) bytes, (gssize) MIN (n, SAMPLE_BYTES));
    }
  return text;
}

static void
consider_sample (LaunchProbe *self, DlpRecordBatch *batch, guint row)
{
  const DlpCoordinate *at = dlp_record_batch_get_coordinate (batch, row);
  DlpRandom random = dlp_random_init (at->file, at->epoch, "dry-run", at->source);
  LaunchShown sample = { .draw = dlp_random_draw (random, at->row) };
  guint place = self->samples->len;

  while (place > 0 && g_array_index (self->samples, LaunchShown, place - 1).draw > sample.draw)
    place--;
  if (place == LAUNCH_PROBE_SAMPLES)
    return;
  sample.text = show_record (self, batch, row, &sample.n_tokens);
  g_array_insert_val (self->samples, place, sample);
  if (self->samples->len > LAUNCH_PROBE_SAMPLES)
    {
      g_string_free (g_array_index (self->samples, LaunchShown, LAUNCH_PROBE_SAMPLES).text, TRUE);
      g_array_set_size (self->samples, LAUNCH_PROBE_SAMPLES);
    }
}

static void
count_tokens (LaunchProbe *self, DlpRecordBatch *batch, guint row, LaunchTally *tally)
{
  gsize n;
  gconstpointer list = dlp_record_batch_get_list (batch, (guint) self->tokens, row, &n);

  tally->tokens += (double) n;
  tally->bytes += (double) (n * self->width);
  dlp_sink_add_tokens (DLP_SINK (self), n);
  for (gsize i = 0; self->lengths != NULL && i < n; i++)
    {
      guint32 id = get_id (self, list, i);

      self->text_bytes += id < self->n_lengths ? self->lengths[id] : 0;
    }
}

static LaunchTally *
find_tally (LaunchProbe *self, const DlpCoordinate *at)
{
  guint group = launch_sample_get_group (self->sample, at->source, at->file);

  if (group >= self->tallies->len)
    g_array_set_size (self->tallies, group + 1);
  return &g_array_index (self->tallies, LaunchTally, group);
}

static gboolean
launch_probe_consume (DlpSink *sink,
                      DlpRecordBatch *batch,
                      guint row,
                      guint n,
                      GCancellable *cancellable,
                      GError **error)
{
  LaunchProbe *self = LAUNCH_PROBE (sink);
  double each =
      (double) dlp_record_batch_get_bytes (batch) / MAX (dlp_record_batch_get_length (batch), 1);

  if (self->first_time == 0)
    self->first_time = g_get_monotonic_time ();
  for (guint i = row; i < row + n; i++)
    {
      LaunchTally *tally = find_tally (self, dlp_record_batch_get_coordinate (batch, i));

      tally->records++;
      if (self->tokens >= 0)
        count_tokens (self, batch, i, tally);
      else
        tally->bytes += each;
      consider_sample (self, batch, i);
    }
  return TRUE;
}

static void
launch_probe_finalize (GObject *object)
{
  LaunchProbe *self = LAUNCH_PROBE (object);

  for (guint i = 0; i < self->samples->len; i++)
    g_string_free (g_array_index (self->samples, LaunchShown, i).text, TRUE);
  g_array_unref (self->samples);
  g_array_unref (self->tallies);
  g_clear_object (&self->tokenizer);
  g_free (self->lengths);

  G_OBJECT_CLASS (launch_probe_parent_class)->finalize (object);
}

static void
launch_probe_class_init (LaunchProbeClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = launch_probe_finalize;
  DLP_ELEMENT_CLASS (klass)->negotiate = launch_probe_negotiate;
  DLP_SINK_CLASS (klass)->consume = launch_probe_consume;
}

static void
launch_probe_init (LaunchProbe *self)
{
  self->samples = g_array_new (FALSE, FALSE, sizeof (LaunchShown));
  self->tallies = g_array_new (FALSE, TRUE, sizeof (LaunchTally));
}

void
launch_probe_set_sample (LaunchProbe *self, LaunchSample *sample)
{
  self->sample = sample;
}

LaunchTally
launch_probe_get_tally (LaunchProbe *self, guint group)
{
  return group < self->tallies->len ? g_array_index (self->tallies, LaunchTally, group) :
                                      (LaunchTally){ 0 };
}

gint64
launch_probe_get_first_time (LaunchProbe *self)
{
  return self->first_time;
}

guint64
launch_probe_get_text_bytes (LaunchProbe *self)
{
  return self->text_bytes;
}

gboolean
launch_probe_has_tokens (LaunchProbe *self)
{
  return self->tokens >= 0;
}

char *
launch_probe_get_sample (LaunchProbe *self, guint index, gsize *n_tokens)
{
  LaunchShown *sample;

  if (index >= self->samples->len)
    return NULL;
  sample = &g_array_index (self->samples, LaunchShown, index);
  *n_tokens = sample->n_tokens;
  return g_utf8_make_valid (sample->text->str, (gssize) sample->text->len);
}
