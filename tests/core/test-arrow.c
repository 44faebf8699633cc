/* SPDX-License-Identifier: MIT */

#include <dlpipe/dlp-arrow.h>
#include <dlpipe/dlp-error.h>

#include "dlp-buffer-private.h"
#include "random-batch.h"

#include <string.h>

static DlpRecordBatch *
import_like (DlpRecordBatch *batch, struct ArrowArray *array, GError **error)
{
  g_autofree DlpCoordinate *coordinates =
      g_new0 (DlpCoordinate, dlp_record_batch_get_length (batch) + 1);

  for (guint i = 0; i < dlp_record_batch_get_length (batch); i++)
    coordinates[i] = *dlp_record_batch_get_coordinate (batch, i);
  return dlp_record_batch_import (dlp_record_batch_get_schema (batch), array, coordinates, error);
}

static void
test_schema (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (1);

  for (guint i = 0; i < random_scaled (200); i++)
    {
      g_autoptr (DlpSchema) schema = random_schema (rand);
      g_autoptr (DlpSchema) copy = NULL;
      g_autoptr (GError) error = NULL;
      struct ArrowSchema arrow;

      dlp_schema_export (schema, &arrow);
      g_assert_cmpstr (arrow.format, ==, "+s");
      g_assert_cmpint (arrow.n_children, ==, dlp_schema_get_n_fields (schema));
      copy = dlp_schema_import (&arrow, DLP_SCHEMA_RECORDS, &error);
      g_assert_no_error (error);
      g_assert_null (arrow.release);
      g_assert_true (dlp_schema_equal (schema, copy));
    }
}

static void
test_formats (void)
{
  static const char *const formats[] = { "u", "z", "b", "l", "L", "g", "+l", "+l" };
  g_autoptr (DlpSchema) schema = random_schema_all (TRUE);
  struct ArrowSchema arrow;

  dlp_schema_export (schema, &arrow);
  for (guint i = 0; i < G_N_ELEMENTS (formats); i++)
    {
      g_assert_cmpstr (arrow.children[i]->format, ==, formats[i]);
      g_assert_cmpint (arrow.children[i]->flags, ==, ARROW_FLAG_NULLABLE);
      g_assert_cmpint (arrow.children[i]->n_children, ==, i < 6 ? 0 : 1);
    }
  g_assert_cmpstr (arrow.children[6]->children[0]->format, ==, "S");
  g_assert_cmpstr (arrow.children[7]->children[0]->format, ==, "I");
  arrow.release (&arrow);
  g_assert_null (arrow.release);
}

static void
refuse_schema (struct ArrowSchema *arrow, const char *pattern)
{
  g_autoptr (GError) error = NULL;
  DlpSchema *schema = dlp_schema_import (arrow, DLP_SCHEMA_RECORDS, &error);

  g_assert_null (schema);
  g_assert_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_TYPE);
  if (!g_pattern_match_simple (pattern, error->message))
    g_error ("'%s' does not match '%s'", error->message, pattern);
  g_assert_null (arrow->release);
}

static void
test_schema_refused (void)
{
  g_autoptr (DlpSchema) schema = random_schema_all (TRUE);
  struct ArrowSchema arrow;
  struct ArrowSchema other = { 0 };

#define REFUSE(change, pattern)                                                                    \
  G_STMT_START                                                                                     \
  {                                                                                                \
    dlp_schema_export (schema, &arrow);                                                            \
    change;                                                                                        \
    refuse_schema (&arrow, pattern);                                                               \
  }                                                                                                \
  G_STMT_END

  REFUSE (arrow.format = "u", "*format 'u' with 8 children*");
  REFUSE (arrow.format = NULL, "*format '' with 8 children*");
  REFUSE (arrow.dictionary = &other, "*format '+s'*");
  REFUSE (arrow.children[0]->format = "U", "*'field-0' has the format 'U'; allowed are u, z*");
  REFUSE (arrow.children[0]->format = "i", "*'field-0' has the format 'i'*");
  REFUSE (arrow.children[6]->format = "+L", "*'field-6' has the format '+L' of S*");
  REFUSE (arrow.children[6]->children[0]->format = "c", "*'field-6' has the format '+l' of c*");
  REFUSE (arrow.children[2]->dictionary = &other, "*'field-2'*'b' with a dictionary*");
  REFUSE (arrow.children[7]->children[0]->dictionary = &other, "*'field-7'*");
  REFUSE (arrow.children[3]->name = NULL, "*without a format or a UTF-8 name*");
  REFUSE (arrow.children[3]->name = "\377", "*without a format or a UTF-8 name*");
  REFUSE (arrow.children[3]->format = NULL, "*without a format or a UTF-8 name*");
  REFUSE (arrow.children[3]->name = "field-1", "*two fields 'field-1'*");
  REFUSE (arrow.children[3]->release (arrow.children[3]), "*absent, released*");
#undef REFUSE
  refuse_schema (&other, "*format ''*");
}

static void
test_round_trip (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (2);

  for (guint i = 0; i < random_scaled (300); i++)
    {
      g_autoptr (DlpSchema) schema = random_schema (rand);
      g_autoptr (DlpRecordBatch) whole =
          random_batch (rand, schema, g_rand_int_range (rand, 0, 70));
      guint length = dlp_record_batch_get_length (whole);
      guint begin = g_rand_int_range (rand, 0, length + 1);
      guint n = g_rand_int_range (rand, 0, length - begin + 1);
      g_autoptr (DlpRecordBatch) slice = dlp_record_batch_slice (whole, begin, n);
      g_autoptr (DlpRecordBatch) copy = NULL;
      g_autoptr (DlpRecordBatch) again = NULL;
      g_autoptr (GError) error = NULL;
      struct ArrowArray array;

      dlp_record_batch_export (slice, &array);
      g_clear_pointer (&whole, dlp_record_batch_unref);
      copy = import_like (slice, &array, &error);
      g_assert_no_error (error);
      g_assert_null (array.release);
      g_assert_cmpuint (dlp_record_batch_get_length (copy), ==, n);
      random_assert_equal (copy, 0, slice, 0, n);
      /* Less where the nulls are outside the slice. */
      g_assert_cmpuint (dlp_record_batch_get_bytes (copy), <=, dlp_record_batch_get_bytes (slice));

      dlp_record_batch_export (copy, &array);
      again = import_like (slice, &array, &error);
      g_assert_no_error (error);
      g_clear_pointer (&copy, dlp_record_batch_unref);
      random_assert_equal (again, 0, slice, 0, n);
    }
  g_assert_cmpuint (dlp_buffer_get_used_bytes (), ==, 0);
}

static void
test_no_copy (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (3);
  g_autoptr (DlpSchema) schema = random_schema_all (FALSE);
  g_autoptr (DlpRecordBatch) batch = random_batch (rand, schema, 50);
  g_autoptr (DlpRecordBatch) copy = NULL;
  struct ArrowArray array;
  gsize n;

  dlp_record_batch_export (batch, &array);
  copy = dlp_record_batch_import (schema, &array, NULL, NULL);
  g_assert_true (dlp_record_batch_get_value (copy, DLP_FIELD_STRING, 3, &n) ==
                 dlp_record_batch_get_value (batch, DLP_FIELD_STRING, 3, &n));
  g_assert_true (dlp_record_batch_get_list (copy, DLP_FIELD_LIST_UINT32, 3, &n) ==
                 dlp_record_batch_get_list (batch, DLP_FIELD_LIST_UINT32, 3, &n));
  g_assert_cmpuint (dlp_record_batch_get_coordinate (copy, 49)->row, ==, 49);
  g_assert_cmpuint (dlp_record_batch_get_coordinate (copy, 49)->file, ==, 0);
}

/* Memory aligned and padded as the specification recommends. */
static void
test_alignment (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (4);
  g_autoptr (DlpSchema) schema = random_schema_all (TRUE);
  g_autoptr (DlpRecordBatch) batch = random_batch (rand, schema, 100);
  struct ArrowArray array;

  dlp_record_batch_export (batch, &array);
  g_assert_cmpint (array.null_count, ==, 0);
  for (gint64 i = 0; i < array.n_children; i++)
    {
      gint64 n_nulls = 0;

      for (gint64 j = 0; j < array.children[i]->n_buffers; j++)
        g_assert_cmpuint ((gsize) array.children[i]->buffers[j] % 64, ==, 0);
      for (guint row = 0; row < 100; row++)
        n_nulls += dlp_record_batch_is_null (batch, i, row);
      g_assert_cmpint (n_nulls, >, 0);
      g_assert_cmpint (array.children[i]->null_count, ==, n_nulls);
    }
  array.release (&array);
}

static gpointer
release_in_thread (gpointer data)
{
  struct ArrowArray *array = data;

  array->release (array);
  g_assert_null (array->release);
  return NULL;
}

/* A consumer may move children out, and release them after their parent, anywhere. */
static void
test_moved_children (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (5);
  g_autoptr (DlpSchema) schema = random_schema_all (TRUE);
  DlpRecordBatch *batch = random_batch (rand, schema, 40);
  struct ArrowArray array;
  struct ArrowArray text;
  struct ArrowArray items;
  struct ArrowSchema arrow;
  struct ArrowSchema field;
  GThread *threads[2];

  dlp_record_batch_export (batch, &array);
  dlp_record_batch_unref (batch);
  text = *array.children[0];
  array.children[0]->release = NULL;
  items = *array.children[7]->children[0];
  array.children[7]->children[0]->release = NULL;
  array.release (&array);
  g_assert_cmpuint (dlp_buffer_get_used_bytes (), >, 0);
  g_assert_cmpint (((const gint32 *) text.buffers[1])[0], ==, 0);
  threads[0] = g_thread_new (NULL, release_in_thread, &text);
  threads[1] = g_thread_new (NULL, release_in_thread, &items);
  g_thread_join (threads[0]);
  g_thread_join (threads[1]);
  g_assert_cmpuint (dlp_buffer_get_used_bytes (), ==, 0);

  dlp_schema_export (schema, &arrow);
  field = *arrow.children[6];
  arrow.children[6]->release = NULL;
  arrow.release (&arrow);
  g_assert_cmpstr (field.name, ==, "field-6");
  g_assert_cmpstr (field.children[0]->format, ==, "S");
  field.release (&field);
}

static void
refuse_array (DlpSchema *schema, struct ArrowArray *array, const char *pattern)
{
  g_autoptr (GError) error = NULL;
  DlpRecordBatch *batch = dlp_record_batch_import (schema, array, NULL, &error);

  if (batch != NULL)
    g_error ("accepted, though '%s' was expected", pattern);
  g_assert_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_DAMAGED);
  if (!g_pattern_match_simple (pattern, error->message))
    g_error ("'%s' does not match '%s'", error->message, pattern);
  g_assert_null (array->release);
}

static void
test_refused (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (6);
  g_autoptr (DlpSchema) schema = random_schema_all (FALSE);
  g_autoptr (DlpRecordBatch) batch = random_batch (rand, schema, 40);
  gsize used = dlp_buffer_get_used_bytes ();
  struct ArrowArray other = { 0 };
  struct ArrowArray array;
  static const guint8 bits[1 << 20] = { 0xff, 0xff, 0xff, 0xfe };

#define REFUSE(change, pattern)                                                                    \
  G_STMT_START                                                                                     \
  {                                                                                                \
    dlp_record_batch_export (batch, &array);                                                       \
    change;                                                                                        \
    refuse_array (schema, &array, pattern);                                                        \
    g_assert_cmpuint (dlp_buffer_get_used_bytes (), ==, used);                                     \
  }                                                                                                \
  G_STMT_END

  REFUSE (array.dictionary = &other, "*import: dictionaries*");
  REFUSE (array.n_buffers = 0, "*import: 0 buffers, expected 1*");
  REFUSE (array.buffers = NULL, "*import: 0 buffers, expected 1*");
  REFUSE (array.length = -1, "*length -1 at offset 0*");
  REFUSE (array.offset = -1, "*length 40 at offset -1*");
  REFUSE (array.length = G_MAXINT64, "*length 9223372036854775807*");
  REFUSE (array.offset = G_MAXINT64, "*at offset 9223372036854775807*");
  REFUSE (array.length = 100 * 1000 * 1000, "*100000000 rows, at most 67108863*");
  REFUSE (array.length = 41, "*'field-0': 40 rows, but the struct has 41 from 0 on*");
  REFUSE (array.offset = 1, "*'field-0': 40 rows, but the struct has 40 from 1 on*");
  REFUSE (array.null_count = 3, "*3 nulls without*");
  REFUSE ((array.null_count = -1, array.buffers[0] = bits), "*whole rows are null*");
  REFUSE (array.children[1]->dictionary = &other, "*'field-1': dictionaries*");
  REFUSE (array.children[1]->n_buffers = 2, "*'field-1': 2 buffers, expected 3*");
  REFUSE (array.children[3]->n_buffers = 3, "*'field-3': 3 buffers, expected 2*");
  REFUSE (array.children[3]->buffers = NULL, "*'field-3': 0 buffers, expected 2*");
  REFUSE (array.children[6]->n_buffers = 3, "*'field-6': 3 buffers, expected 2*");
  REFUSE (array.children[1]->length = -5, "*'field-1': length -5*");
  REFUSE (array.children[1]->length = 39, "*'field-1': 39 rows*");
  REFUSE (array.children[1]->offset = G_MININT64,
          "*'field-1': length 40 at offset -9223372036854775808*");
  REFUSE (array.children[1]->null_count = 1, "*'field-1': 1 nulls without*");
  REFUSE ((array.children[1]->null_count = -1, array.children[1]->buffers[0] = bits),
          "*'field-1': 9 of 40 values are null*");
  REFUSE (array.children[0]->buffers[1] = NULL, "*'field-0': no offsets for 40 values*");
  REFUSE (array.children[0]->buffers[2] = NULL, "*'field-0': no data for * bytes*");
  REFUSE (array.children[2]->buffers[1] = NULL, "*'field-2': no data for 40 values*");
  REFUSE (array.children[3]->buffers[1] = NULL, "*'field-3': no data for 40 values*");
  REFUSE (array.children[7]->children[0]->buffers[1] = NULL, "*'field-7': items to *");
  REFUSE (array.children[7]->children[0]->length--, "*'field-7': items to *");
  REFUSE (array.children[7]->children[0]->length = -1, "*'field-7': length -1*");
  REFUSE (array.children[7]->children[0]->n_buffers = 3, "*'field-7': 3 buffers*");
  REFUSE (array.children[7]->children[0]->release (array.children[7]->children[0]),
          "*'field-7': the array is absent or was released*");
  REFUSE ((array.children[7]->children[0]->null_count = -1,
           array.children[7]->children[0]->buffers[0] = bits),
          "*'field-7': there are nulls among the items*");
  REFUSE (array.children[4]->release (array.children[4]),
          "*'field-4': the array is absent or was released*");
#undef REFUSE
  refuse_array (schema, &other, "*absent or was released*");
}

static void
free_array (struct ArrowArray *array)
{
  for (gint64 i = 0; i < array->n_children; i++)
    array->children[i]->release (array->children[i]);
  array->release = NULL;
  if (array->private_data != NULL)
    ++*(guint *) array->private_data;
}

static void
release_only (struct ArrowArray *array)
{
  array->release = NULL;
  ++*(guint *) array->private_data;
}

/* A batch of one binary, string or list field, as another producer makes it; everything is the
 * caller's, and is declared before the batch that refers to it. */
typedef struct
{
  struct ArrowArray root;
  struct ArrowArray field;
  struct ArrowArray items;
  struct ArrowArray *root_children[1];
  struct ArrowArray *field_children[1];
  const void *no_validity[1];
  const void *buffers[3];
  const void *item_buffers[2];
  guint n_released;
} Foreign;

static struct ArrowArray *
foreign_init (Foreign *self,
              gint64 length,
              gint64 offset,
              gconstpointer offsets,
              gconstpointer data,
              gint64 n_items)
{
  memset (self, 0, sizeof *self);
  self->root_children[0] = &self->field;
  self->field_children[0] = &self->items;
  self->buffers[1] = offsets;
  self->buffers[2] = data;
  self->item_buffers[1] = data;
  self->root = (struct ArrowArray){ .length = length,
                                    .n_buffers = 1,
                                    .buffers = self->no_validity,
                                    .n_children = 1,
                                    .children = self->root_children,
                                    .release = free_array,
                                    .private_data = &self->n_released };
  self->field = (struct ArrowArray){ .length = length,
                                     .offset = offset,
                                     .null_count = -1,
                                     .n_buffers = n_items < 0 ? 3 : 2,
                                     .buffers = self->buffers,
                                     .n_children = n_items < 0 ? 0 : 1,
                                     .children = self->field_children,
                                     .release = free_array };
  self->items = (struct ArrowArray){
    .length = n_items, .n_buffers = 2, .buffers = self->item_buffers, .release = free_array
  };
  return &self->root;
}

static DlpSchema *
one_field (DlpFieldType type, gboolean optional)
{
  const char *name = "f";

  return dlp_schema_new (DLP_SCHEMA_RECORDS, 1, &name, &type, &optional);
}

/* What producers do for arrays of length 0. */
static void
test_empty (void)
{
  for (guint type = 0; type <= DLP_FIELD_LIST_DOUBLE; type++)
    {
      gboolean is_list = type >= DLP_FIELD_LIST_UINT16;
      g_autoptr (DlpSchema) schema = one_field ((DlpFieldType) type, FALSE);
      Foreign foreign;
      g_autoptr (DlpRecordBatch) batch = NULL;
      g_autoptr (GError) error = NULL;

      foreign_init (&foreign, 0, 0, NULL, NULL, is_list ? 0 : -1);
      foreign.field.n_buffers = type <= DLP_FIELD_BINARY ? 3 : 2;
      batch = dlp_record_batch_import (schema, &foreign.root, NULL, &error);
      g_assert_no_error (error);
      g_assert_cmpuint (dlp_record_batch_get_length (batch), ==, 0);
      g_assert_cmpuint (dlp_record_batch_get_bytes (batch), ==, 0);
      g_clear_pointer (&batch, dlp_record_batch_unref);
      g_assert_cmpuint (foreign.n_released, ==, 1);
    }
}

static void
assert_text (DlpRecordBatch *batch, guint row, const char *expected)
{
  gsize n;
  const guint8 *text = dlp_record_batch_get_value (batch, 0, row, &n);

  g_assert_nonnull (text);
  g_assert_cmpmem (text, n, expected, strlen (expected));
}

static void
test_sliced (void)
{
  static const char *const letters[] = { "a", "bb", "", "ccc", "d" };
  static const gint32 offsets[] = { 5, 6, 8, 8, 11, 12 };
  static const guint8 valid[] = { 0x1b };
  g_autoptr (DlpSchema) schema = one_field (DLP_FIELD_STRING, TRUE);

  for (guint child = 0; child <= 5; child++)
    for (guint root = 0; root <= 5 - child; root++)
      {
        Foreign foreign;
        g_autoptr (DlpRecordBatch) batch = NULL;
        g_autoptr (GError) error = NULL;

        foreign_init (&foreign, 5 - child, child, offsets, "-----abbcccd", -1);
        foreign.buffers[0] = valid;
        foreign.root.offset = root;
        foreign.root.length = 5 - child - root;
        batch = dlp_record_batch_import (schema, &foreign.root, NULL, &error);
        g_assert_no_error (error);
        for (guint i = 0; i < 5 - child - root; i++)
          {
            g_assert_cmpint (dlp_record_batch_is_null (batch, 0, i), ==, child + root + i == 2);
            if (child + root + i != 2)
              assert_text (batch, i, letters[child + root + i]);
          }
      }
}

/* Nulls among items of other rows are nobody's. */
static void
test_item_nulls (void)
{
  static const gint32 offsets[] = { 0, 2, 4, 6 };
  static const guint8 valid[] = { 0xe6 }; /* all but items 0, 3 and 4; those of row 1 are 3 and 4 */
  static const guint16 ids[] = { 0, 1, 2, 3, 4, 5, 6, 7 };
  g_autoptr (DlpSchema) schema = one_field (DLP_FIELD_LIST_UINT16, FALSE);

  for (guint row = 0; row < 3; row++)
    {
      Foreign foreign;
      g_autoptr (DlpRecordBatch) batch = NULL;

      foreign_init (&foreign, 1, row, offsets, ids, 7);
      foreign.items.offset = 1;
      foreign.items.null_count = -1;
      foreign.item_buffers[0] = valid;
      batch = dlp_record_batch_import (schema, &foreign.root, NULL, NULL);
      g_assert_cmpint (batch != NULL, ==, row != 1);
    }
}

/* What cannot be tried on what dlpipe exported, whose release would trip over it. */
static void
test_foreign_refused (void)
{
  static const gint32 offsets[] = { 0, 1, 2 };
  g_autoptr (DlpSchema) list = one_field (DLP_FIELD_LIST_UINT16, FALSE);
  g_autoptr (DlpSchema) text = one_field (DLP_FIELD_STRING, FALSE);
  Foreign foreign;

#define REFUSE(schema, n_items, change, pattern)                                                   \
  G_STMT_START                                                                                     \
  {                                                                                                \
    foreign_init (&foreign, 2, 0, offsets, "abcd", n_items);                                       \
    foreign.root.release = release_only;                                                           \
    change;                                                                                        \
    refuse_array (schema, &foreign.root, pattern);                                                 \
    g_assert_cmpuint (foreign.n_released, ==, 1);                                                  \
  }                                                                                                \
  G_STMT_END

  REFUSE (list, 2, foreign.field.children = NULL, "*'f': no array of its 1 children*");
  REFUSE (list, 2, foreign.field_children[0] = NULL, "*'f': the array is absent*");
  REFUSE (list, 2, foreign.field.n_children = 2, "*'f': 2 children, expected 1*");
  REFUSE (list, 2, foreign.items.n_children = 1, "*'f': 1 children, expected 0*");
  REFUSE (list, 2, foreign.items.offset = G_MAXINT64, "*'f': length 2 at offset 9*");
  REFUSE (text, -1, foreign.field.n_children = 1, "*'f': 1 children, expected 0*");
  REFUSE (text, -1, foreign.root.n_children = 0, "*import: 0 children, expected 1*");
  REFUSE (text, -1, foreign.root.n_children = -1, "*import: -1 children, expected 1*");
  REFUSE (text, -1, foreign.root.children = NULL, "*import: no array of its 1 children*");
  REFUSE (text, -1, foreign.root_children[0] = NULL, "*'f': the array is absent*");
#undef REFUSE
}

static void
test_unaligned (void)
{
  const gint32 offsets[] = { 0, 1, 3, 3, 4 };
  const guint8 valid[] = { 0x17 };
  const guint32 items[] = { 99, 98, 10, 11, 12, 13 };
  guint8 __attribute__ ((aligned (8))) shifted_offsets[sizeof offsets + 1];
  guint8 __attribute__ ((aligned (8))) shifted_items[sizeof items + 1];
  g_autoptr (DlpSchema) schema = one_field (DLP_FIELD_LIST_UINT32, TRUE);
  g_autoptr (DlpSchema) numbers = one_field (DLP_FIELD_INT64, FALSE);
  Foreign foreign;
  Foreign second;
  g_autoptr (DlpRecordBatch) batch = NULL;
  g_autoptr (DlpRecordBatch) number = NULL;
  const gint64 values[] = { -5, 7 };
  guint8 __attribute__ ((aligned (8))) shifted_values[sizeof values + 3];
  gsize n;

  memcpy (shifted_offsets + 1, offsets, sizeof offsets);
  memcpy (shifted_items + 1, items, sizeof items);
  foreign_init (&foreign, 3, 1, shifted_offsets + 1, shifted_items + 1, 4);
  foreign.buffers[0] = valid;
  foreign.items.offset = 2;
  batch = dlp_record_batch_import (schema, &foreign.root, NULL, NULL);
  g_assert_nonnull (batch);
  g_assert_cmpmem (dlp_record_batch_get_list (batch, 0, 0, &n), 8, &items[3], 8);
  g_assert_cmpuint (n, ==, 2);
  g_assert_nonnull (dlp_record_batch_get_list (batch, 0, 1, &n));
  g_assert_cmpuint (n, ==, 0);
  g_assert_null (dlp_record_batch_get_list (batch, 0, 2, &n));

  memcpy (shifted_values + 3, values, sizeof values);
  foreign_init (&second, 2, 0, shifted_values + 3, NULL, -1);
  second.field.n_buffers = 2;
  number = dlp_record_batch_import (numbers, &second.root, NULL, NULL);
  g_assert_cmpint (dlp_record_batch_get_int64 (number, 0, 1), ==, 7);
}

static gboolean
import_text (const char *text, const gint32 *offsets, guint n, const guint8 *valid)
{
  g_autoptr (DlpSchema) schema = one_field (DLP_FIELD_STRING, TRUE);
  Foreign foreign;
  g_autoptr (DlpRecordBatch) batch = NULL;
  g_autoptr (GError) error = NULL;

  foreign_init (&foreign, n, 0, offsets, text, -1);
  foreign.buffers[0] = valid;
  batch = dlp_record_batch_import (schema, &foreign.root, NULL, &error);
  if (batch == NULL)
    g_assert_true (g_pattern_match_simple ("*field 'f': row * is not valid UTF-8", error->message));
  return batch != NULL;
}

static gboolean
import_one_text (const char *text, gsize n)
{
  const gint32 offsets[] = { 0, (gint32) n };
  g_autofree char *exact = g_memdup2 (text, n);

  return import_text (exact != NULL ? exact : "", offsets, 1, NULL);
}

static void
test_utf8 (void)
{
  static const char *const bad[] = { "\200",
                                     "\300\200",
                                     "\301\277",
                                     "\302",
                                     "\340\237\277",
                                     "\355\240\200",
                                     "\342\202",
                                     "\360\217\277\277",
                                     "\364\220\200\200",
                                     "\365\200\200\200",
                                     "\377",
                                     "abcdefgh\303",
                                     "\360\220\200\303",
                                     "aaaaaaaa\342\202a" };
  static const char *const good[] = { "",
                                      "abcdefghijk",
                                      "\302\200",
                                      "\337\277",
                                      "\340\240\200",
                                      "\355\237\277",
                                      "\356\200\200",
                                      "\357\277\277",
                                      "\360\220\200\200",
                                      "\364\217\277\277",
                                      "aaaaaaa\303\251aaaaaaaa" };
  static const gint32 split[] = { 0, 2, 4 };
  static const guint8 first_only[] = { 1 };
  static const guint8 second_only[] = { 2 };

  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    g_assert_false (import_one_text (bad[i], strlen (bad[i])));
  for (guint i = 0; i < G_N_ELEMENTS (good); i++)
    g_assert_true (import_one_text (good[i], strlen (good[i])));
  g_assert_true (import_one_text ("a\0b", 3));

  /* A sequence over the border of two values; the same where one of them is null. */
  g_assert_false (import_text ("a\303\251b", split, 2, NULL));
  g_assert_true (import_text ("ab\303\251", split, 2, NULL));
  g_assert_true (import_text ("ab\377\377", split, 2, first_only));
  g_assert_false (import_text ("ab\377\377", split, 2, second_only));
}

/* Every code point, and every sequence of up to three bytes, as GLib sees them. */
static void
test_utf8_all (void)
{
  for (guint32 c = 1; c < 0x1000000; c += c < 0x20000 ? 1 : 251)
    {
      const char text[] = { 'x', c & 0xff, c >> 8 & 0xff, c >> 16 & 0xff };
      gsize n = 1 + (c < 0x100 ? 1 : c < 0x10000 ? 2 : 3);

      if (memchr (text, 0, n) == NULL)
        g_assert_cmpint (import_one_text (text, n), ==, g_utf8_validate (text, n, NULL));
    }
}

/* Random offsets, within the data: accepted if and only if they ascend, and then read back. */
static void
test_random_offsets (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (7);
  guint n_accepted = 0;

  for (guint round = 0; round < random_scaled (20000); round++)
    {
      DlpFieldType type = g_rand_boolean (rand) ? DLP_FIELD_BINARY : DLP_FIELD_LIST_UINT16;
      g_autoptr (DlpSchema) schema = one_field (type, FALSE);
      guint n = g_rand_int_range (rand, 1, 6);
      gint32 size = g_rand_int_range (rand, 1, 20);
      g_autofree guint16 *data = g_new0 (guint16, size);
      g_autofree gint32 *offsets = g_new (gint32, n + 1);
      gboolean ascend = TRUE;
      Foreign foreign;
      g_autoptr (DlpRecordBatch) batch = NULL;

      for (guint i = 0; i <= n; i++)
        {
          offsets[i] = i > 0 && g_rand_int_range (rand, 0, 6) != 0 ?
                           g_rand_int_range (rand, MAX (0, offsets[i - 1]), size + 1) :
                           g_rand_int_range (rand, -2, size + 1);
          ascend = ascend && offsets[i] >= (i == 0 ? 0 : offsets[i - 1]);
        }
      foreign_init (&foreign, n, 0, offsets, data, type == DLP_FIELD_BINARY ? -1 : size);
      batch = dlp_record_batch_import (schema, &foreign.root, NULL, NULL);
      g_assert_cmpint (batch != NULL, ==, ascend);
      if (batch == NULL)
        g_assert_cmpuint (foreign.n_released, ==, 1);
      else
        n_accepted++;
      for (guint i = 0; batch != NULL && i < n; i++)
        {
          g_autoptr (GBytes) value = random_get (batch, 0, i);

          g_assert_cmpuint (g_bytes_get_size (value), ==,
                            (gsize) (offsets[i + 1] - offsets[i]) *
                                (type == DLP_FIELD_BINARY ? 1 : 2));
        }
    }
  g_assert_cmpuint (n_accepted, >, random_scaled (20000) / 20);
}

int
main (int argc, char *argv[])
{
  int status;

  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/arrow/schema", test_schema);
  g_test_add_func ("/arrow/formats", test_formats);
  g_test_add_func ("/arrow/schema-refused", test_schema_refused);
  g_test_add_func ("/arrow/round-trip", test_round_trip);
  g_test_add_func ("/arrow/no-copy", test_no_copy);
  g_test_add_func ("/arrow/alignment", test_alignment);
  g_test_add_func ("/arrow/moved-children", test_moved_children);
  g_test_add_func ("/arrow/refused", test_refused);
  g_test_add_func ("/arrow/foreign-refused", test_foreign_refused);
  g_test_add_func ("/arrow/item-nulls", test_item_nulls);
  g_test_add_func ("/arrow/empty", test_empty);
  g_test_add_func ("/arrow/sliced", test_sliced);
  g_test_add_func ("/arrow/unaligned", test_unaligned);
  g_test_add_func ("/arrow/utf8", test_utf8);
  g_test_add_func ("/arrow/utf8-all", test_utf8_all);
  g_test_add_func ("/arrow/random-offsets", test_random_offsets);
  status = g_test_run ();
  dlp_buffer_trim ();
  return status;
}
