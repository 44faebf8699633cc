/* SPDX-License-Identifier: MIT */
#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/* Takes a piece of the text. */
typedef gboolean (*JsonWriteFunc) (gpointer target,
                                   gconstpointer data,
                                   gsize size,
                                   GCancellable *cancellable,
                                   GError **error);

/**
 * JsonWriter:
 *
 * Writes JSON through a buffer of fixed size, however large a value is. After an error it writes
 * nothing; the flush tells.
 */
typedef struct _JsonWriter JsonWriter;

JsonWriter *json_writer_new (JsonWriteFunc write, gpointer target);
void json_writer_free (JsonWriter *self);
/* What is written from now on is handed over with @cancellable (nullable), until the next flush. */
void json_writer_begin (JsonWriter *self, GCancellable *cancellable);
/* Hands over what is buffered; the first error since the beginning. */
gboolean json_writer_flush (JsonWriter *self, GError **error);

void json_writer_add_raw (JsonWriter *self, const char *text, gsize size);
void json_writer_add_null (JsonWriter *self);
void json_writer_add_boolean (JsonWriter *self, gboolean value);
void json_writer_add_int64 (JsonWriter *self, gint64 value);
void json_writer_add_uint64 (JsonWriter *self, guint64 value);
/* The shortest text that reads back as the same; null for what JSON has not. */
void json_writer_add_double (JsonWriter *self, double value);
void json_writer_add_float (JsonWriter *self, float value);
/* Valid UTF-8. */
void json_writer_add_string (JsonWriter *self, const guint8 *text, gsize size);
/* Any bytes, as a string. */
void json_writer_add_base64 (JsonWriter *self, const guint8 *data, gsize size);
void json_writer_add_list16 (JsonWriter *self, const guint16 *values, gsize n);
void json_writer_add_list32 (JsonWriter *self, const guint32 *values, gsize n);
void json_writer_add_list_int32 (JsonWriter *self, const gint32 *values, gsize n);
void json_writer_add_list_int64 (JsonWriter *self, const gint64 *values, gsize n);
void json_writer_add_list_float (JsonWriter *self, const float *values, gsize n);
void json_writer_add_list_double (JsonWriter *self, const double *values, gsize n);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (JsonWriter, json_writer_free)

G_END_DECLS
