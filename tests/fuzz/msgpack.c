/* SPDX-License-Identifier: MIT */

/* Records of MessagePack, one behind the other: where each ends does not depend on how the bytes
 * come, and what is wanted of it lies within it. */

#include <string.h>

#include <dlpipe/dlp-record-batch.h>

#include "msgpack-field.h"

int LLVMFuzzerTestOneInput (const guint8 *data, gsize size);

static const char *const entries[] = { "a",        "b.c:i32?",
                                       "a:bytes?", "d:u16[3]? pad=1 cut=true",
                                       "e:bool?",  "b.c.d:f32[]?",
                                       "f:f64?",   "n=a:text?" };

static GPtrArray *fields;
static MsgpackPlan *plan;
static DlpSchema *schema;

static void
make_plan (void)
{
  g_autoptr (GPtrArray) paths = g_ptr_array_new ();
  const char *names[G_N_ELEMENTS (entries)];
  DlpFieldType types[G_N_ELEMENTS (entries)];
  gboolean optional[G_N_ELEMENTS (entries)];
  static const char *const unique[] = { "0", "1", "2", "3", "4", "5", "6", "7" };
  char *why = NULL;

  /* Names may not come twice: each is of a property of its own. */
  fields = g_ptr_array_new ();
  for (guint i = 0; i < G_N_ELEMENTS (entries); i++)
    {
      const char *const one[] = { entries[i], NULL };
      GPtrArray *parsed = reader_fields_parse (one, NULL, "MessagePack",
                                               READER_FIELDS_BINARY | READER_FIELDS_LISTS, NULL);
      ReaderField *field = parsed->pdata[0];

      g_ptr_array_add (fields, field);
      g_ptr_array_add (paths, field->path);
      names[i] = unique[i];
      types[i] = field->type;
      optional[i] = field->optional;
      /* What was in it is kept. */
      g_free (g_ptr_array_steal (parsed, NULL));
      g_ptr_array_unref (parsed);
    }
  plan = msgpack_plan_new (paths, &why);
  g_assert_nonnull (plan);
  schema = dlp_schema_new (DLP_SCHEMA_RECORDS, G_N_ELEMENTS (entries), names, types, optional);
}

/* As a reader does that passes over a record, in pieces of @step bytes more each. */
static gsize
skip_in_pieces (const guint8 *data, gsize size, gsize step, gboolean *ended)
{
  guint64 state[4] = { 0 };
  gsize at = 0;

  *ended = FALSE;
  for (gsize seen = MIN (step, size); !*ended; seen = MIN (seen + step, size))
    {
      at += msgpack_skip_on (state, data + at, seen - at, ended);
      g_assert_cmpuint (at, <=, seen);
      if (seen == size)
        break;
    }
  return at;
}

static void
check_skip (const guint8 *data, gsize size, MsgpackResult result, gsize length)
{
  static const gsize steps[] = { 1, 2, 7, 4096 };

  for (guint i = 0; i < G_N_ELEMENTS (steps); i++)
    {
      gboolean ended;
      gsize taken = skip_in_pieces (data, size, steps[i], &ended);

      g_assert_cmpint (ended, ==, result == MSGPACK_READ);
      if (ended)
        g_assert_cmpuint (taken, ==, length);
    }
  /* Less of it is no record. */
  for (gsize less = 0; less < length && result == MSGPACK_READ; less += 1 + length / 16)
    {
      const guint8 *p = data;

      g_assert_cmpint (msgpack_skip (&p, data + less), ==, MSGPACK_SHORT);
      g_assert_true (p == data);
    }
}

static void
read_record (const guint8 *start, const guint8 *end)
{
  g_autoptr (DlpRecordBatchBuilder) builder = dlp_record_batch_builder_new (schema);
  static const DlpCoordinate nowhere;
  MsgpackRecord record;
  ReaderList list;
  gboolean is_good = TRUE;
  g_auto (GStrv) keys = msgpack_list_keys (start, end, 5);

  g_assert_cmpuint (g_strv_length (keys), <=, 5);
  msgpack_record_init (&record, plan);
  reader_list_init (&list);
  msgpack_record_read (&record, plan, start, end);
  for (guint i = 0; i < fields->len && is_good; i++)
    {
      ReaderFault fault = { NULL };

      is_good = msgpack_field_append (fields->pdata[i], &list, builder, i, &record.values[i], end,
                                      &fault);
      g_assert_true (is_good || fault.kind != NULL);
      if (!is_good && fault.message != NULL)
        g_assert_true (fault.at >= start && fault.at < end);
      g_free (is_good ? NULL : fault.message);
    }
  if (is_good)
    dlp_record_batch_builder_end_record (builder, &nowhere);
  else
    dlp_record_batch_builder_drop_record (builder);
  reader_list_clear (&list);
  msgpack_record_clear (&record);
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  const guint8 *end = data + size;

  if (plan == NULL)
    make_plan ();
  for (const guint8 *p = data; p < end;)
    {
      const guint8 *next = p;
      MsgpackResult result = msgpack_skip (&next, end);
      MsgpackHead head;

      check_skip (p, (gsize) (end - p), result, (gsize) (next - p));
      if (result != MSGPACK_READ)
        break;
      msgpack_read_head (p, end, &head);
      if (head.kind == MSGPACK_MAP)
        read_record (p, next);
      p = next;
    }
  return 0;
}
