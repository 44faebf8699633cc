/* SPDX-License-Identifier: MIT */

/* Bad records and damaged files: what leaves by `rejected`, what is warned of, what ends the run.
 */

#include <string.h>

#include "dlp-element-private.h"
#include "dlp-reader-private.h"

/* So many bad records in a row end the run. */
#define MAX_IN_A_ROW 100
/* The share of bad records is judged from this record on. */
#define FIRST_JUDGED 1000
/* Warnings of one kind. */
#define MAX_WARNINGS 10

/* Records that lack a field lack it alike: the first says all. */
static guint
max_warnings (const char *kind)
{
  return strcmp (kind, "missing") == 0 ? 1 : MAX_WARNINGS;
}

enum
{
  FIELD_KIND,
  FIELD_REASON,
  FIELD_URI,
  FIELD_ROW,
  FIELD_LINE,
  FIELD_OFFSET,
  FIELD_RAW,
  N_FIELDS
};

DlpSchema *
dlp_reader_rejected_schema (void)
{
  static const char *const names[] = { "kind", "reason", "uri", "row", "line", "offset", "raw" };
  static const DlpFieldType types[N_FIELDS] = { DLP_FIELD_STRING, DLP_FIELD_STRING,
                                                DLP_FIELD_STRING, DLP_FIELD_UINT64,
                                                DLP_FIELD_UINT64, DLP_FIELD_UINT64,
                                                DLP_FIELD_BINARY };

  return dlp_schema_new (DLP_SCHEMA_RECORDS, N_FIELDS, names, types, NULL);
}

/* A bad record with its place in the file. */
typedef struct
{
  const DlpReaderReject *reject;
  const char *uri;
  const char *name;
  DlpCoordinate coordinate;
  guint64 line;   /* from 1; 0: such files have none */
  bool has_bytes; /* else line and offset are 0 */
  guint64 offset; /* of the fault */
} BadRecord;

static BadRecord
locate (DlpReaderChunk *chunk, const DlpReaderPlace *place, const DlpReaderReject *reject)
{
  BadRecord bad = {
    .reject = reject,
    .uri = chunk->lane->uri,
    .name = chunk->lane->name,
    .coordinate = chunk->lane->coordinate,
    .has_bytes = !dlp_reader_opens_files (chunk->reader),
  };

  if (bad.has_bytes)
    {
      bad.line = place->line + reject->line;
      bad.offset = chunk->offset + reject->offset;
    }
  bad.coordinate.row = place->row + reject->row;
  return bad;
}

static char *
describe (const BadRecord *bad)
{
  g_autofree char *line =
      bad->line > 0 ? g_strdup_printf ("line %" G_GUINT64_FORMAT ", ", bad->line) : g_strdup ("");

  if (!bad->has_bytes)
    return g_strdup_printf ("%s: row %" G_GUINT64_FORMAT ": %s: %s", bad->name, bad->coordinate.row,
                            bad->reject->kind, bad->reject->message);
  return g_strdup_printf ("%s: row %" G_GUINT64_FORMAT " (%sbyte %" G_GUINT64_FORMAT "): %s: %s",
                          bad->name, bad->coordinate.row, line, bad->offset, bad->reject->kind,
                          bad->reject->message);
}

static void
set_bad_record_error (DlpReader *self, const BadRecord *bad, GError **error)
{
  g_autofree char *where = describe (bad);

  g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_BAD_RECORD,
               "%s: %s (bad records are not allowed: %s)",
               dlp_element_get_name (DLP_ELEMENT (self)), where,
               dlp_element_get_strict (DLP_ELEMENT (self)) ? "the pipeline is strict" :
                                                             "on-bad-record=fail");
}

/* (transfer full): "2 utf-8, 1 syntax". */
static char *
list_kinds (const DlpReaderState *state)
{
  g_autoptr (GString) list = g_string_new (NULL);

  for (guint i = 0; i < state->n_kinds; i++)
    g_string_append_printf (list, "%s%" G_GUINT64_FORMAT " %s", i > 0 ? ", " : "",
                            state->kinds[i].n, state->kinds[i].name);
  return g_string_free (g_steal_pointer (&list), FALSE);
}

static bool
exceeds_ratio (DlpReaderPrivate *priv, guint64 bad, guint64 good)
{
  guint64 all = bad + good;

  return all >= FIRST_JUDGED && (double) bad > priv->max_bad_ratio * (double) all;
}

static void
set_ratio_error (DlpReader *self, guint64 bad, guint64 good, const char *where, GError **error)
{
  DlpReaderPrivate *priv = dlp_reader_get_private (self);
  char ratio[G_ASCII_DTOSTR_BUF_SIZE];

  g_ascii_formatd (ratio, sizeof ratio, "%g", priv->max_bad_ratio);
  g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_BAD_RATIO,
               "%s: %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT
               " records are bad, above the share max-bad-ratio=%s allows; %s%s",
               dlp_element_get_name (DLP_ELEMENT (self)), bad, bad + good, ratio,
               where != NULL ? "the last one: " : "the end of the input was reached",
               where != NULL ? where : "");
}

/* Judged before it is counted: with it, is it too much? */
static bool
judge (DlpReader *self, const BadRecord *bad, GError **error)
{
  DlpReaderPrivate *priv = dlp_reader_get_private (self);
  const DlpReaderState *state = priv->state;
  g_autofree char *where = NULL;

  if (priv->on_bad_record == DLP_BAD_RECORD_FAIL || dlp_element_get_strict (DLP_ELEMENT (self)))
    {
      set_bad_record_error (self, bad, error);
      return false;
    }
  /* Whoever allows all records to be bad allows them in a row. */
  if (priv->max_bad_ratio >= 1)
    return true;

  if (state->in_a_row + 1 >= MAX_IN_A_ROW)
    {
      where = describe (bad);
      g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_BAD_RATIO,
                   "%s: %u bad records in a row; the last one: %s",
                   dlp_element_get_name (DLP_ELEMENT (self)), MAX_IN_A_ROW, where);
      return false;
    }
  if (exceeds_ratio (priv, state->bad + 1, state->good))
    {
      where = describe (bad);
      set_ratio_error (self, state->bad + 1, state->good, where, error);
      return false;
    }
  return true;
}

static void
append_text (DlpRecordBatchBuilder *builder, guint field, const char *text)
{
  dlp_record_batch_builder_append_value (builder, field, text, strlen (text));
}

static void
emit (DlpReader *self, const BadRecord *bad)
{
  DlpReaderPrivate *priv = dlp_reader_get_private (self);
  DlpRecordBatchBuilder *builder = dlp_pad_get_builder (priv->rejected);
  const DlpReaderReject *reject = bad->reject;

  append_text (builder, FIELD_KIND, reject->kind);
  append_text (builder, FIELD_REASON, reject->message);
  append_text (builder, FIELD_URI, bad->name);
  dlp_record_batch_builder_append_uint64 (builder, FIELD_ROW, bad->coordinate.row);
  dlp_record_batch_builder_append_uint64 (builder, FIELD_LINE, bad->line);
  dlp_record_batch_builder_append_uint64 (builder, FIELD_OFFSET, bad->offset);
  dlp_record_batch_builder_append_value (builder, FIELD_RAW, reject->data, reject->size);
  dlp_pad_end_record (priv->rejected, &bad->coordinate);
}

static void
warn (DlpReader *self, const BadRecord *bad, guint64 n_of_kind)
{
  g_autofree char *where = describe (bad);
  g_autofree char *message = NULL;

  if (n_of_kind == max_warnings (bad->reject->kind))
    message = g_strdup_printf ("%s (no more warnings of this kind)", where);
  dlp_element_warn (DLP_ELEMENT (self), bad->uri, (gint64) bad->coordinate.row,
                    message != NULL ? message : where);
}

bool
dlp_reader_admit_reject (DlpReader *self,
                         DlpReaderChunk *chunk,
                         const DlpReaderPlace *place,
                         const DlpReaderReject *reject,
                         GError **error)
{
  DlpReaderPrivate *priv = dlp_reader_get_private (self);
  BadRecord bad = locate (chunk, place, reject);
  guint64 n_of_kind;

  if (!judge (self, &bad, error))
    return false;

  n_of_kind = dlp_reader_state_add_bad (priv->state, reject->kind, bad.name);
  if (n_of_kind <= max_warnings (reject->kind))
    warn (self, &bad, n_of_kind);
  emit (self, &bad);
  return true;
}

static void
set_no_good_error (DlpReader *self, GError **error)
{
  const DlpReaderState *state = dlp_reader_get_private (self)->state;
  g_autofree char *kinds = list_kinds (state);

  g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_BAD_RATIO,
               "%s: no record is good, all %" G_GUINT64_FORMAT " are bad (%s)",
               dlp_element_get_name (DLP_ELEMENT (self)), state->bad, kinds);
}

/* The one that has no records, as far as is known. */
static const char *
name_source (DlpReader *self)
{
  DlpElement *element = DLP_ELEMENT (self);

  while (dlp_element_get_n_inputs (element) == 1 &&
         dlp_pad_get_peer (dlp_element_get_input (element, 0)) != NULL)
    element = dlp_pad_get_element (dlp_pad_get_peer (dlp_element_get_input (element, 0)));
  return dlp_element_get_name (element);
}

bool
dlp_reader_judge_epoch (DlpReader *self, const DlpCoordinate *next, GError **error)
{
  const DlpReaderState *state = dlp_reader_get_private (self)->state;
  DlpElement *source = NULL;

  if (next->epoch > 0 && state->good == 0)
    source = dlp_element_find_endless (DLP_ELEMENT (self), next);
  if (source == NULL)
    return true;
  if (state->bad > 0)
    set_no_good_error (self, error);
  else
    g_set_error (
        error, DLP_DATA_ERROR, DLP_DATA_ERROR_NO_INPUT,
        "%s: infinite source has no records: %s begins again for ever, and a whole epoch of "
        "%" G_GUINT64_FORMAT " files has none; give it files with records, or take it out",
        dlp_element_get_name (DLP_ELEMENT (self)), dlp_element_get_name (source), state->files);
  return false;
}

/* Nothing at all came: rarely what was meant. */
static bool
judge_empty (DlpReader *self, GError **error)
{
  DlpElement *element = DLP_ELEMENT (self);
  const DlpReaderState *state = dlp_reader_get_private (self)->state;
  g_autofree char *message = NULL;

  if (state->files == 0 || dlp_element_is_finishing (element))
    return true;
  message = g_strdup_printf ("%s has no records (%" G_GUINT64_FORMAT " file%s)", name_source (self),
                             state->files, state->files == 1 ? "" : "s");
  if (!dlp_element_get_strict (element))
    {
      dlp_element_warn (element, NULL, -1, message);
      return true;
    }
  g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_NO_INPUT,
               "%s: %s, and the pipeline is strict; take it out, or run it without",
               dlp_element_get_name (element), message);
  return false;
}

bool
dlp_reader_judge_end (DlpReader *self, GError **error)
{
  DlpReaderPrivate *priv = dlp_reader_get_private (self);
  const DlpReaderState *state = priv->state;

  if (state->bad == 0)
    return state->good > 0 || judge_empty (self, error);

  if (state->good == 0)
    {
      set_no_good_error (self, error);
      return false;
    }
  if (exceeds_ratio (priv, state->bad, state->good))
    {
      set_ratio_error (self, state->bad, state->good, NULL, error);
      return false;
    }

  for (guint i = 0; i < state->n_kinds; i++)
    if (state->kinds[i].n > max_warnings (state->kinds[i].name))
      {
        guint n = max_warnings (state->kinds[i].name);
        g_autofree char *message = g_strdup_printf (
            "%" G_GUINT64_FORMAT " bad records of kind %s; the first %s of them %s warned of",
            state->kinds[i].n, state->kinds[i].name, n == 1 ? "one" : G_STRINGIFY (MAX_WARNINGS),
            n == 1 ? "was" : "were");

        dlp_element_warn (DLP_ELEMENT (self), NULL, -1, message);
      }
  return true;
}

bool
dlp_reader_admit_damage (DlpReader *self, DlpReaderLane *lane, const GError *damage, GError **error)
{
  DlpReaderPrivate *priv = dlp_reader_get_private (self);
  g_autofree char *message = NULL;

  if (priv->on_damaged_file == DLP_DAMAGED_FILE_FAIL)
    {
      g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_DAMAGED,
                   "%s: %s; on-damaged-file=keep would keep the records before the damage",
                   dlp_element_get_name (DLP_ELEMENT (self)), damage->message);
      return false;
    }

  dlp_reader_state_add_damaged (priv->state, lane->name);
  message = g_strdup_printf ("%s; the records before the damage are kept", damage->message);
  dlp_element_warn (DLP_ELEMENT (self), lane->uri, -1, message);
  return true;
}
