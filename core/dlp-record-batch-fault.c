/* SPDX-License-Identifier: MIT */

/* What whoever builds a record does wrong with it. The first such fault is remembered, the records
 * before it stay, and nothing comes in behind it. */

#include "dlp-record-batch-builder-private.h"

/* Takes @message. The first counts, and its record does not come in. */
static void
set_fault (DlpRecordBatchBuilder *self, char *message)
{
  if (self->fault.message != NULL)
    {
      g_free (message);
      return;
    }
  self->fault.message = message;
  self->fault.record = self->length;
  self->n_open |= DLP_BUILDER_FAULTY;
}

gboolean
dlp_builder_end_faulty_record (DlpRecordBatchBuilder *self, const DlpCoordinate *coordinate)
{
  dlp_builder_drop_values (self);
  self->n_open = DLP_BUILDER_FAULTY;
  if (!self->fault_is_final && coordinate != NULL)
    {
      self->fault.has_coordinate = TRUE;
      self->fault.coordinate = *coordinate;
    }
  self->fault_is_final = TRUE;
  return FALSE;
}

static const char *
field_name (const DlpRecordBatchBuilder *self, guint field)
{
  return self->schema->fields[field].name;
}

static const char *
field_type_name (const DlpRecordBatchBuilder *self, guint field)
{
  return dlp_field_type_to_string (self->fields[field].type);
}

/* Why is_wanted() is FALSE. @given: "an integer". */
void
dlp_builder_refuse_value (DlpRecordBatchBuilder *self,
                          guint field,
                          guint type_mask,
                          const char *given)
{
  char *message;

  g_return_if_fail (self != NULL);

  if (field >= self->schema->n_fields)
    message = g_strdup_printf ("it was given %s for field %u, but has %u fields, counted from 0",
                               given, field, self->schema->n_fields);
  else if (!((type_mask >> self->fields[field].type) & 1))
    message = g_strdup_printf ("field “%s” is of type %s and was given %s",
                               field_name (self, field), field_type_name (self, field), given);
  else if (self->fields[field].is_reserved)
    message = g_strdup_printf ("field “%s” was given %s before what was reserved for it was "
                               "committed",
                               field_name (self, field), given);
  else
    message = g_strdup_printf ("field “%s” was given a second value; each field of a record gets "
                               "one, then the record is ended",
                               field_name (self, field));
  set_fault (self, message);
}

void
dlp_builder_refuse_overflow (DlpRecordBatchBuilder *self, const DlpBuilderField *field, gsize n)
{
  set_fault (self, g_strdup_printf ("field “%s”: %" G_GSIZE_FORMAT " values of %u bytes do not fit "
                                    "behind %" G_GSIZE_FORMAT " bytes, a column of a record batch "
                                    "holds at most %d bytes; end the record batch before",
                                    field_name (self, (guint) (field - self->fields)), n,
                                    field->width, field->used, DLP_COLUMN_MAX_BYTES));
}

void
dlp_builder_refuse_missing (DlpRecordBatchBuilder *self)
{
  for (guint i = 0; i < self->schema->n_fields; i++)
    if (self->fields[i].n_values == self->length)
      {
        set_fault (self, g_strdup_printf ("field “%s” was given no value; each field of a record "
                                          "gets one%s, then the record is ended",
                                          field_name (self, i),
                                          self->schema->fields[i].optional ? ", or null" : ""));
        return;
      }
}

void
dlp_builder_refuse_too_many (DlpRecordBatchBuilder *self)
{
  set_fault (self, g_strdup_printf ("a record batch holds at most %" G_GSIZE_FORMAT " records",
                                    (gsize) DLP_COLUMNS_MAX_RECORDS));
}

void
dlp_builder_refuse_null (DlpRecordBatchBuilder *self, guint field)
{
  set_fault (self, g_strdup_printf ("field “%s” is not optional and was given null",
                                    field_name (self, field)));
}

void
dlp_builder_refuse_commit (DlpRecordBatchBuilder *self, guint field, gsize used)
{
  gboolean reserved = field < self->schema->n_fields && self->fields[field].is_reserved;

  set_fault (self, reserved ?
                       g_strdup_printf ("field “%s”: %" G_GSIZE_FORMAT
                                        " were committed of %" G_GSIZE_FORMAT " reserved",
                                        field_name (self, field), used,
                                        self->fields[field].reserved / self->fields[field].width) :
                       g_strdup_printf ("field %u: a value was committed for which nothing "
                                        "was reserved",
                                        field));
}

/* Why no rows can be appended. */
gboolean
dlp_builder_refuse_rows (DlpRecordBatchBuilder *self, const DlpColumns *columns, gsize first)
{
  if (self->n_open > 0)
    set_fault (self, g_strdup ("whole records were appended within it, before it was ended"));
  else if (!dlp_schema_equal (self->schema, columns->schema))
    {
      g_autofree char *has = dlp_schema_to_string (columns->schema);
      g_autofree char *wanted = dlp_schema_to_string (self->schema);

      set_fault (self, g_strdup_printf ("it was to be one of %s and is one of %s", wanted, has));
    }
  else
    dlp_builder_refuse_too_many (self);
  return dlp_builder_end_faulty_record (self, &columns->coordinates[first]);
}

gboolean
dlp_record_batch_builder_check_ended (DlpRecordBatchBuilder *self)
{
  if (G_LIKELY (self->n_open == 0))
    return TRUE;
  set_fault (self, g_strdup ("it was begun and never ended"));
  return dlp_builder_end_faulty_record (self, NULL);
}

const DlpRecordFault *
dlp_record_batch_builder_get_fault (const DlpRecordBatchBuilder *self)
{
  return self->fault_is_final ? &self->fault : NULL;
}

void
dlp_builder_clear_fault (DlpRecordBatchBuilder *self)
{
  g_clear_pointer (&self->fault.message, g_free);
  g_clear_pointer (&self->waste, g_free);
  self->fault = (DlpRecordFault){ 0 };
  self->fault_is_final = FALSE;
  self->n_open = 0;
}

void
dlp_record_batch_builder_take_fault (DlpRecordBatchBuilder *self, DlpRecordFault *fault)
{
  *fault = self->fault;
  self->fault.message = NULL;
  dlp_builder_clear_fault (self);
}
