/* SPDX-License-Identifier: MIT */

#include "csv-plan.h"

#include <string.h>

#include <dlpipe/dlp-utf8.h>

#include "reader-fields.h"
#include "text-start.h"

static gint
find_name (const char *const *names, guint n_names, const char *wanted)
{
  for (guint i = 0; i < n_names; i++)
    if (strcmp (names[i], wanted) == 0)
      return (gint) i;
  return -1;
}

/* Columns without a name can be several: nobody can ask for them. */
static char *
find_twice (const char *const *names, guint n_names)
{
  g_autoptr (GHashTable) seen = g_hash_table_new (g_str_hash, g_str_equal);

  for (guint i = 0; i < n_names; i++)
    if (*names[i] != '\0' && !g_hash_table_add (seen, (gpointer) names[i]))
      return g_strdup_printf ("two columns are called \"%s\": the %u. and the %u. of %u", names[i],
                              find_name (names, n_names, names[i]) + 1, i + 1, n_names);
  return NULL;
}

CsvPlan *
csv_plan_new (const char *const *names,
              guint n_names,
              const char *what,
              const CsvWish *wishes,
              guint n_wishes)
{
  CsvPlan *self = g_new0 (CsvPlan, 1);

  self->n_columns = n_names;
  self->fields = g_new (gint, n_names);
  memset (self->fields, -1, n_names * sizeof *self->fields);
  self->same = g_new (gint, n_wishes);
  self->absent = g_new0 (gboolean, n_wishes);
  self->fault = find_twice (names, n_names);

  for (guint i = 0; i < n_wishes && self->fault == NULL; i++)
    {
      gint column = find_name (names, n_names, wishes[i].name);

      self->same[i] = column >= 0 ? self->fields[column] : -1;
      self->absent[i] = column < 0;
      if (column >= 0 && self->fields[column] < 0)
        self->fields[column] = (gint) i;
      if (column < 0 && !wishes[i].may_be_absent)
        {
          g_autofree char *there = reader_fields_list_names (names, n_names, wishes[i].name);

          self->fault = g_strdup_printf ("no column \"%s\"; %s %s", wishes[i].name, what, there);
        }
    }
  return self;
}

static CsvPlan *
fail (const char *why, gsize offset)
{
  CsvPlan *self = g_new0 (CsvPlan, 1);

  self->fault = g_strdup_printf ("the header: %s", why);
  self->fault_offset = offset;
  return self;
}

/* A fault is left to whoever reads the row, where it is one. */
static CsvPlan *
check_names (GPtrArray *names, const CsvRow *row, const guint8 *header)
{
  if (row->fault == CSV_FAULT_UNCLOSED)
    return fail ("its quote is never closed", (gsize) (row->fault_at - header));
  if (row->fault == CSV_FAULT_BEHIND_QUOTE)
    return fail ("text behind a closing quote", (gsize) (row->fault_at - header));
  for (guint i = 0; i < names->len; i++)
    {
      GString *name = g_ptr_array_index (names, i);

      if (dlp_utf8_measure_valid ((const guint8 *) name->str, name->len) < name->len)
        return fail ("a name is not UTF-8; the file must be", 0);
      if (strlen (name->str) < name->len)
        return fail ("a name has a NUL byte", 0);
    }
  return NULL;
}

static CsvPlan *
make_plan (GPtrArray *names, gboolean is_names, const CsvWish *wishes, guint n_wishes)
{
  g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();
  g_auto (GStrv) all = NULL;

  for (guint i = 0; i < names->len; i++)
    {
      g_autofree char *number = g_strdup_printf ("column-%u", i + 1);
      GString *name = g_ptr_array_index (names, i);

      g_strv_builder_add (builder, is_names ? name->str : number);
    }
  all = g_strv_builder_end (builder);
  return csv_plan_new ((const char *const *) all, names->len,
                       is_names ? "the header has" : "without a header there are", wishes,
                       n_wishes);
}

static void
free_name (gpointer name)
{
  g_string_free (name, TRUE);
}

CsvPlan *
csv_plan_new_from_header (const CsvDialect *dialect,
                          const guint8 *header,
                          gsize size,
                          gboolean is_names,
                          const CsvWish *wishes,
                          guint n_wishes)
{
  const guint8 *p = header;
  const guint8 *end = header + size;
  g_autoptr (GPtrArray) names = NULL;
  CsvPlan *self;
  CsvRow row;

  for (gsize n; p < end && (n = csv_measure_blank (p, end)) > 0;)
    p += n;
  if (p == end)
    return g_new0 (CsvPlan, 1);
  p += text_start_measure_bom (p, (gsize) (end - p));

  names = csv_read_names (dialect, p, end, &row);
  g_ptr_array_set_free_func (names, free_name);
  self = is_names ? check_names (names, &row, header) : NULL;
  return self != NULL ? self : make_plan (names, is_names, wishes, n_wishes);
}

void
csv_plan_free (CsvPlan *self)
{
  g_free (self->fields);
  g_free (self->same);
  g_free (self->absent);
  g_free (self->fault);
  g_free (self);
}
