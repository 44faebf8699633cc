/* SPDX-License-Identifier: MIT */

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "arrow-plan.h"
#include "arrow-values.h"
#include "reader-type.h"

/* A Parquet or Arrow file, whichever it begins as: each of its first columns that can be read, as
 * every kind of value that it can be. However large the pieces are, and where it is gone on with,
 * the same rows come out, of the same values, up to the same damage. */

#define MAX_COLUMNS 6
#define MAX_ROWS 400
#define MAX_DECODED (2 * 1024 * 1024)

int LLVMFuzzerTestOneInput (const guint8 *data, gsize size);

typedef struct
{
  guint64 hashes[MAX_ROWS]; /* of each row */
  guint n_rows;
  gboolean is_damaged;
} Outcome;

typedef struct
{
  ArrowWish wishes[MAX_COLUMNS];
  guint n;
} Wishes;

static void
add_hash (guint64 *hash, gconstpointer data, gsize size)
{
  const guint8 *bytes = data;

  for (gsize i = 0; i < size; i++)
    *hash = (*hash ^ bytes[i]) * G_GUINT64_CONSTANT (0x100000001b3);
}

/* ---- what is wanted ---- */

static void
clear_wish (ArrowWish *wish)
{
  g_free (wish->field->type_name);
  g_free ((gpointer) wish->field);
  g_free (wish->path);
  g_free (wish->name);
}

static char *
escape (const char *name)
{
  GString *path = g_string_new (NULL);

  for (; *name != '\0'; name++)
    g_string_append_printf (path, "%s%c", strchr ("\\.,:", *name) != NULL ? "\\" : "", *name);
  return g_string_free (path, FALSE);
}

static gboolean
can_read (const ArrowWish *wish, const struct ArrowSchema *schema)
{
  g_autofree char *why = NULL;
  ArrowPlan *plan = arrow_plan_new (wish, 1, schema, &why);

  g_assert_true ((plan == NULL) == (why != NULL));
  if (plan != NULL)
    arrow_plan_unref (plan);
  return plan != NULL;
}

static void
add_wish (Wishes *wishes, const struct ArrowSchema *schema, const char *path)
{
  static const char *const types[] = { "i64?",    "f64",  "bool?", "text", "u16[]?",
                                       "bytes",   "u64?", "u32[]", "i32?", "f32[3]?",
                                       "i32[2]?", "f32",  "i64[]" };

  for (guint i = 0; i < G_N_ELEMENTS (types) && wishes->n < MAX_COLUMNS; i++)
    {
      ArrowWish *wish = &wishes->wishes[wishes->n];
      ReaderField *field = g_new0 (ReaderField, 1);
      char *why = NULL;

      g_assert_true (reader_type_parse (types[i], field, &why));
      field->has_pad = field->cut = field->length > 0 && i % 2 == 0;
      *wish = (ArrowWish){
        .path = g_strdup (path),
        .name = g_strdup (path),
        .type = field->type,
        .has_type = TRUE,
        .optional = field->optional,
        .field = field,
      };
      if (can_read (wish, schema))
        wishes->n++;
      else
        clear_wish (wish);
    }
}

static void
make_wishes (Wishes *wishes, const struct ArrowSchema *schema)
{
  for (gint64 i = 0; i < MIN (schema->n_children, MAX_COLUMNS); i++)
    {
      const struct ArrowSchema *child = schema->children[i];
      g_autofree char *path = escape (child->name);

      add_wish (wishes, schema, path);
      for (gint64 k = 0; k < child->n_children && strcmp (child->format, "+s") == 0; k++)
        {
          g_autofree char *name = escape (child->children[k]->name);
          g_autofree char *deep = g_strconcat (path, ".", name, NULL);

          add_wish (wishes, schema, deep);
        }
    }
}

/* ---- reading ---- */

static ArrowPlan *
make_plan (ArrowTable *table, Wishes *wishes, gboolean is_first)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *why = NULL;
  struct ArrowSchema schema;
  ArrowPlan *plan;

  if (!arrow_table_get_schema (table, &schema, &error))
    return NULL;
  if (is_first)
    make_wishes (wishes, &schema);
  plan = arrow_plan_new (wishes->wishes, wishes->n, &schema, &why);
  schema.release (&schema);
  return plan;
}

static gboolean
select_columns (ArrowTable *table, const ArrowPlan *plan, guint64 row)
{
  ArrowTablePath paths[MAX_COLUMNS];

  for (guint i = 0; i < plan->n_columns; i++)
    paths[i] = (ArrowTablePath){ plan->columns[i].steps, plan->columns[i].n_steps };
  return arrow_table_select (table, paths, plan->n_columns, row, NULL, NULL);
}

static DlpRecordBatchBuilder *
make_builder (const Wishes *wishes)
{
  const char *names[MAX_COLUMNS] = { "a", "b", "c", "d", "e", "f" };
  DlpFieldType types[MAX_COLUMNS];
  gboolean optional[MAX_COLUMNS];

  for (guint i = 0; i < wishes->n; i++)
    {
      types[i] = wishes->wishes[i].type;
      optional[i] = wishes->wishes[i].optional;
    }

  g_autoptr (DlpSchema) schema =
      dlp_schema_new (DLP_SCHEMA_RECORDS, wishes->n, names, types, optional);

  return dlp_record_batch_builder_new (schema);
}

/* FALSE: damage. */
static gboolean
take_row (const ArrowPlan *plan, ArrowRow *row, Outcome *outcome)
{
  g_autoptr (GString) shown = NULL;
  static const DlpCoordinate nowhere;
  ArrowRowResult result = ARROW_ROW_GOOD;
  guint64 *hash = &outcome->hashes[outcome->n_rows];

  for (guint i = 0; i < plan->n_columns && result == ARROW_ROW_GOOD; i++)
    result = arrow_column_append (&plan->columns[i], row, i);
  if (result != ARROW_ROW_GOOD)
    dlp_record_batch_builder_drop_record (row->builder);
  else
    dlp_record_batch_builder_end_record (row->builder, &nowhere);
  if (result == ARROW_ROW_DAMAGED)
    {
      g_free (row->message);
      return FALSE;
    }

  shown = arrow_plan_show_row (plan, row->batch, row->row, 4096);
  *hash = result;
  add_hash (hash, shown->str, shown->len);
  if (result == ARROW_ROW_BAD)
    add_hash (hash, row->message, strlen (row->message));
  g_clear_pointer (&row->message, g_free);
  outcome->n_rows++;
  return TRUE;
}

static void
take_rows (ArrowTablePiece *piece,
           const ArrowPlan *plan,
           DlpRecordBatchBuilder *builder,
           ReaderList *list,
           Outcome *outcome)
{
  while (!outcome->is_damaged && outcome->n_rows < MAX_ROWS)
    {
      g_autofree char *message = NULL;
      ArrowTableRows rows;

      outcome->is_damaged = !arrow_table_piece_next (piece, &rows, &message);
      if (outcome->is_damaged || rows.batch.release == NULL)
        return;
      for (gint64 i = rows.start;
           i < rows.end && !outcome->is_damaged && outcome->n_rows < MAX_ROWS; i++)
        {
          ArrowRow row = {
            .batch = &rows.batch,
            .row = i,
            .builder = builder,
            .list = list,
            .max_bytes = 100000,
          };

          outcome->is_damaged = !take_row (plan, &row, outcome);
        }
      rows.batch.release (&rows.batch);
    }
}

static void
take_piece (ArrowTablePiece *piece,
            const ArrowPlan *plan,
            DlpRecordBatchBuilder *builder,
            Outcome *outcome)
{
  ReaderList list;

  reader_list_init (&list);
  take_rows (piece, plan, builder, &list, outcome);
  reader_list_clear (&list);
}

static void
read_rows (ArrowTable *table,
           const ArrowPlan *plan,
           const Wishes *wishes,
           gsize max_bytes,
           Outcome *outcome)
{
  g_autoptr (DlpRecordBatchBuilder) builder = make_builder (wishes);

  while (!outcome->is_damaged && outcome->n_rows < MAX_ROWS)
    {
      DlpReaderPiece piece = { 0 };
      guint before = outcome->n_rows;

      outcome->is_damaged = !arrow_table_read (table, max_bytes, &piece, NULL, NULL);
      if (outcome->is_damaged || piece.n_rows == 0)
        break;
      take_piece (piece.data, plan, builder, outcome);
      piece.free_func (piece.data);
      g_assert_true (outcome->is_damaged || outcome->n_rows == MAX_ROWS ||
                     outcome->n_rows - before == piece.n_rows);
    }
}

/* FALSE: it cannot be opened. */
static gboolean
read_file (DlpFile *file, ArrowTableFormat format, gsize max_bytes, guint64 row, Outcome *outcome)
{
  ArrowTable *table = arrow_table_open (format, file, MAX_DECODED, NULL, NULL);
  Wishes wishes = { .n = 0 };
  ArrowPlan *plan = NULL;

  memset (outcome, 0, sizeof *outcome);
  if (table != NULL && !arrow_table_is_empty (table))
    plan = make_plan (table, &wishes, TRUE);
  if (plan != NULL && wishes.n > 0 && select_columns (table, plan, row))
    {
      arrow_plan_unref (plan);
      plan = make_plan (table, &wishes, FALSE);
      if (plan != NULL)
        read_rows (table, plan, &wishes, max_bytes, outcome);
    }
  else
    outcome->is_damaged = TRUE;

  if (plan != NULL)
    arrow_plan_unref (plan);
  for (guint i = 0; i < wishes.n; i++)
    clear_wish (&wishes.wishes[i]);
  if (table != NULL)
    arrow_table_free (table);
  return !outcome->is_damaged || outcome->n_rows > 0;
}

static void
compare (const Outcome *a, const Outcome *b, guint from)
{
  g_assert_cmpuint (a->n_rows, >=, from);
  for (guint i = from; i < a->n_rows && i - from < b->n_rows; i++)
    g_assert_cmpuint (a->hashes[i], ==, b->hashes[i - from]);
  if (a->n_rows < MAX_ROWS)
    {
      g_assert_cmpuint (a->n_rows - from, ==, b->n_rows);
      g_assert_cmpint (a->is_damaged, ==, b->is_damaged);
    }
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  static const gsize sizes[] = { 1024 * 1024, 1, 512 };
  int fd = memfd_create ("fuzz", MFD_CLOEXEC);
  g_autofree char *path = g_strdup_printf ("/proc/self/fd/%d", fd);
  g_autoptr (DlpFile) file = dlp_file_new (path, (gint64) size, NULL);
  ArrowTableFormat format =
      size >= 4 && memcmp (data, "PAR1", 4) == 0 ? ARROW_TABLE_PARQUET : ARROW_TABLE_IPC;
  g_autofree Outcome *first = g_new (Outcome, 1);
  g_autofree Outcome *other = g_new (Outcome, 1);

  g_assert_cmpint (write (fd, data, size), ==, (gssize) size);
  if (read_file (file, format, sizes[0], 0, first))
    {
      for (guint i = 1; i < G_N_ELEMENTS (sizes); i++)
        {
          read_file (file, format, sizes[i], 0, other);
          compare (first, other, 0);
        }
      read_file (file, format, sizes[0], first->n_rows / 2, other);
      compare (first, other, first->n_rows / 2);
    }
  close (fd);
  return 0;
}
