/* SPDX-License-Identifier: MIT */
#pragma once

#include "msgpack-plan.h"
#include "reader-list.h"

G_BEGIN_DECLS

/* Appends a value, which may be missing, to a field. FALSE: see @fault; of a missing one the
 * message is left to the caller. @end: of the record. */
gboolean msgpack_field_append (const ReaderField *field,
                               ReaderList *list,
                               DlpRecordBatchBuilder *builder,
                               guint index,
                               const MsgpackValue *value,
                               const guint8 *end,
                               ReaderFault *fault);

/* Appends the field text, which is one or nothing. @name: of the field. */
gboolean msgpack_field_append_text (const char *name,
                                    DlpRecordBatchBuilder *builder,
                                    guint index,
                                    const MsgpackValue *value,
                                    ReaderFault *fault);

G_END_DECLS
