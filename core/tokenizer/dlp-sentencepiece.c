/* SPDX-License-Identifier: MIT */
#include "dlp-sentencepiece.h"
#include "dlpipe/dlp-tokenizer.h"

#include <math.h>
#include <string.h>

#define UNKNOWN_SURFACE " \342\201\207 " /* U+2047 */

/* Names of pieces that are told apart by name; a file can change them. */
typedef struct
{
  const char *p;
  gsize len;
} Name;

typedef struct
{
  DlpSentencePiece *file;
  const guint8 *begin; /* of the file */
  guint64 kind;
  gboolean space_is_suffix;
  Name unknown; /* not the name: what it is decoded to */
  Name bos;
  Name eos;
  Name pad;
  GError **error;
} Parser;

/* A message: fields one after the other. */
typedef struct
{
  Parser *parser;
  const guint8 *p;
  const guint8 *end;
} Message;

typedef enum
{
  WIRE_VARINT = 0,
  WIRE_64 = 1,
  WIRE_BYTES = 2,
  WIRE_32 = 5,
} Wire;

typedef struct
{
  const guint8 *at;
  guint64 number;
  Wire wire;
  guint64 value;       /* of all but bytes */
  const guint8 *bytes; /* and their number in value */
} Field;

static gboolean fail (const Parser *self, const guint8 *at, const char *format, ...)
    G_GNUC_PRINTF (3, 4);

static gboolean
fail (const Parser *self, const guint8 *at, const char *format, ...)
{
  g_autofree char *what = NULL;
  va_list args;

  va_start (args, format);
  what = g_strdup_vprintf (format, args);
  va_end (args);
  g_set_error (self->error, DLP_TOKENIZER_ERROR, DLP_TOKENIZER_ERROR_BAD_VOCABULARY,
               "%s: at byte %" G_GSIZE_FORMAT ": %s", self->file->where, (gsize) (at - self->begin),
               what);
  return FALSE;
}

static gboolean
read_varint (Message *self, guint64 *value)
{
  const guint8 *start = self->p;

  *value = 0;
  for (guint shift = 0; shift < 64 && self->p < self->end; shift += 7)
    {
      guint8 byte = *self->p++;

      *value |= (guint64) (byte & 0x7f) << shift;
      if (byte < 0x80)
        return TRUE;
    }
  return fail (self->parser, start, "not a SentencePiece model: a number without an end");
}

static gboolean
read_fixed (Message *self, gsize size, guint64 *value)
{
  if ((gsize) (self->end - self->p) < size)
    return fail (self->parser, self->p, "not a SentencePiece model: it ends inside a number");
  *value = 0;
  for (gsize i = 0; i < size; i++)
    *value |= (guint64) *self->p++ << (8 * i);
  return TRUE;
}

static gboolean
read_bytes (Message *self, Field *field)
{
  if (!read_varint (self, &field->value))
    return FALSE;
  if (field->value > (guint64) (self->end - self->p))
    return fail (self->parser, field->at,
                 "not a SentencePiece model, or it is cut off: a field of %" G_GUINT64_FORMAT
                 " bytes where %" G_GSIZE_FORMAT " are left",
                 field->value, (gsize) (self->end - self->p));
  field->bytes = self->p;
  self->p += field->value;
  return TRUE;
}

static gboolean
read_field (Message *self, Field *field)
{
  guint64 tag;

  field->at = self->p;
  field->bytes = NULL;
  if (!read_varint (self, &tag))
    return FALSE;
  field->number = tag >> 3;
  field->wire = tag & 7;
  switch (field->wire)
    {
    case WIRE_VARINT:
      return read_varint (self, &field->value);
    case WIRE_64:
      return read_fixed (self, 8, &field->value);
    case WIRE_BYTES:
      return read_bytes (self, field);
    case WIRE_32:
      return read_fixed (self, 4, &field->value);
    default:
      return fail (self->parser, field->at,
                   "not a SentencePiece model: a field of the unknown kind %u", field->wire);
    }
}

/* Of a field that is known: the kind it must have. */
static gboolean
check_wire (const Message *self, const Field *field, Wire wire)
{
  return field->wire == wire ||
         fail (self->parser, field->at, "field %" G_GUINT64_FORMAT " is of kind %u, not %u",
               field->number, field->wire, wire);
}

static gboolean
add_entry (Parser *self, const guint8 *at, const DlpSentencePieceEntry *entry)
{
  GArray *entries = self->file->entries;

  if (entry->len == 0)
    return fail (self, at, "piece %u is empty", entries->len);
  if (entry->len > G_MAXUINT16)
    return fail (self, at, "piece %u has %u bytes; at most %u are allowed", entries->len,
                 entry->len, G_MAXUINT16);
  if (!g_utf8_validate_len (entry->p, entry->len, NULL))
    return fail (self, at, "piece %u is not UTF-8, or there is a nul in it", entries->len);
  if (!isfinite (entry->score))
    return fail (self, at, "the score of piece %u is not a finite number", entries->len);
  if (entries->len >= DLP_ID_LIMIT / 2)
    return fail (self, at, "more than %u pieces", DLP_ID_LIMIT / 2);
  g_array_append_val (entries, *entry);
  return TRUE;
}

static gboolean
parse_piece (Message *self)
{
  DlpSentencePieceEntry entry = { NULL, 0, 0, DLP_PIECE_NORMAL };
  const guint8 *at = self->p;

  while (self->p < self->end)
    {
      Field field;
      guint32 bits;

      if (!read_field (self, &field))
        return FALSE;
      if (field.number == 1)
        {
          if (!check_wire (self, &field, WIRE_BYTES))
            return FALSE;
          entry.p = (const char *) field.bytes;
          entry.len = MIN (field.value, G_MAXUINT32);
        }
      else if (field.number == 2)
        {
          if (!check_wire (self, &field, WIRE_32))
            return FALSE;
          bits = field.value;
          memcpy (&entry.score, &bits, sizeof bits);
        }
      else if (field.number == 3)
        {
          if (!check_wire (self, &field, WIRE_VARINT))
            return FALSE;
          if (field.value < DLP_PIECE_NORMAL || field.value > DLP_PIECE_BYTE)
            return fail (self->parser, field.at,
                         "piece %u is of the unknown type %" G_GUINT64_FORMAT "; known are 1 to 6",
                         self->parser->file->entries->len, field.value);
          entry.type = field.value;
        }
    }
  return add_entry (self->parser, at, &entry);
}

static gboolean
set_name (Message *self, const Field *field, Name *name)
{
  *name = (Name){ (const char *) field->bytes, field->value };
  return check_wire (self, field, WIRE_BYTES);
}

static gboolean
set_boolean (Message *self, const Field *field, gboolean *value)
{
  *value = field->value != 0;
  return check_wire (self, field, WIRE_VARINT);
}

/* What else is in it was for the training. */
static gboolean
parse_trainer (Message *self)
{
  Parser *parser = self->parser;
  gboolean ok = TRUE;

  while (ok && self->p < self->end)
    {
      Field field;

      if (!read_field (self, &field))
        return FALSE;
      if (field.number == 3)
        {
          parser->kind = field.value;
          ok = check_wire (self, &field, WIRE_VARINT);
        }
      else if (field.number == 24)
        ok = set_boolean (self, &field, &parser->space_is_suffix);
      else if (field.number == 35)
        ok = set_boolean (self, &field, &parser->file->byte_fallback);
      else if (field.number == 44)
        ok = set_name (self, &field, &parser->unknown);
      else if (field.number == 46)
        ok = set_name (self, &field, &parser->bos);
      else if (field.number == 47)
        ok = set_name (self, &field, &parser->eos);
      else if (field.number == 48)
        ok = set_name (self, &field, &parser->pad);
    }
  return ok;
}

static gboolean
parse_rules (Message *self, DlpSentencePieceRules *rules)
{
  gboolean ok = TRUE;

  while (ok && self->p < self->end)
    {
      Field field;

      if (!read_field (self, &field))
        return FALSE;
      if (field.number == 2)
        {
          rules->charsmap = field.bytes;
          rules->charsmap_size = field.value;
          ok = check_wire (self, &field, WIRE_BYTES);
        }
      else if (field.number == 3)
        ok = set_boolean (self, &field, &rules->add_dummy_prefix);
      else if (field.number == 4)
        ok = set_boolean (self, &field, &rules->remove_extra_whitespaces);
      else if (field.number == 5)
        ok = set_boolean (self, &field, &rules->escape_whitespaces);
    }
  return ok;
}

static gboolean
parse_normalizer (Message *self)
{
  return parse_rules (self, &self->parser->file->normalizer);
}

static gboolean
parse_denormalizer (Message *self)
{
  return parse_rules (self, &self->parser->file->denormalizer);
}

static gboolean
parse_model (Message *self)
{
  static gboolean (*const parts[]) (Message * self) = { NULL,          parse_piece,
                                                        parse_trainer, parse_normalizer,
                                                        NULL,          parse_denormalizer };

  while (self->p < self->end)
    {
      Field field;
      Message part;

      if (!read_field (self, &field))
        return FALSE;
      if (field.number >= G_N_ELEMENTS (parts) || parts[field.number] == NULL)
        continue;
      if (!check_wire (self, &field, WIRE_BYTES))
        return FALSE;
      part = (Message){ self->parser, field.bytes, field.bytes + field.value };
      if (!parts[field.number](&part))
        return FALSE;
    }
  return TRUE;
}

static guint32
find_control (const DlpSentencePiece *file, Name name)
{
  for (guint i = 0; i < file->entries->len; i++)
    {
      const DlpSentencePieceEntry *entry = &g_array_index (file->entries, DlpSentencePieceEntry, i);

      if (entry->type == DLP_PIECE_CONTROL && entry->len == name.len &&
          memcmp (entry->p, name.p, name.len) == 0)
        return i;
    }
  return DLP_ID_NONE;
}

static gboolean
find_unknown (Parser *self)
{
  DlpSentencePiece *file = self->file;

  file->unknown_id = DLP_ID_NONE;
  for (guint i = 0; i < file->entries->len; i++)
    if (g_array_index (file->entries, DlpSentencePieceEntry, i).type == DLP_PIECE_UNKNOWN)
      {
        if (file->unknown_id != DLP_ID_NONE)
          return fail (self, self->begin, "the pieces %u and %u are both of type UNKNOWN",
                       file->unknown_id, i);
        file->unknown_id = i;
      }
  return file->unknown_id != DLP_ID_NONE ||
         fail (self, self->begin,
               "none of the %u pieces is of type UNKNOWN; is it a SentencePiece model?",
               file->entries->len);
}

static gboolean
finish (Parser *self)
{
  static const char *const kinds[] = { "0", "UNIGRAM", "BPE", "WORD", "CHAR" };

  if (!find_unknown (self))
    return FALSE;
  if (self->kind != DLP_SENTENCEPIECE_UNIGRAM && self->kind != DLP_SENTENCEPIECE_BPE)
    return fail (self, self->begin,
                 "a model of type %s (%" G_GUINT64_FORMAT "); supported are UNIGRAM and BPE",
                 self->kind < G_N_ELEMENTS (kinds) ? kinds[self->kind] : "unknown", self->kind);
  if (self->space_is_suffix)
    return fail (self, self->begin, "treat_whitespace_as_suffix is not supported");

  self->file->kind = self->kind;
  self->file->unknown = self->unknown.p;
  self->file->unknown_len = self->unknown.len;
  self->file->bos_id = find_control (self->file, self->bos);
  self->file->eos_id = find_control (self->file, self->eos);
  self->file->pad_id = find_control (self->file, self->pad);
  return TRUE;
}

/* Its first field is a piece: the tag, its length, the tag of its content. */
gboolean
dlp_sentencepiece_is_likely (const guint8 *data, gsize size)
{
  return size > 3 && data[0] == (1 << 3 | WIRE_BYTES) && data[1] < 0x80 &&
         data[2] == (1 << 3 | WIRE_BYTES);
}

DlpSentencePiece *
dlp_sentencepiece_parse (const guint8 *data, gsize size, const char *where, GError **error)
{
  g_autoptr (DlpSentencePiece) self = g_new0 (DlpSentencePiece, 1);
  Parser parser = { .file = self,
                    .begin = data,
                    .kind = DLP_SENTENCEPIECE_UNIGRAM,
                    .unknown = { UNKNOWN_SURFACE, strlen (UNKNOWN_SURFACE) },
                    .bos = { "<s>", 3 },
                    .eos = { "</s>", 4 },
                    .pad = { "<pad>", 5 },
                    .error = error };
  Message message = { &parser, data, data + size };

  self->where = g_strdup (where);
  self->entries = g_array_new (FALSE, FALSE, sizeof (DlpSentencePieceEntry));
  self->normalizer = self->denormalizer = (DlpSentencePieceRules){ .add_dummy_prefix = TRUE,
                                                                   .remove_extra_whitespaces = TRUE,
                                                                   .escape_whitespaces = TRUE };
  return parse_model (&message) && finish (&parser) ? g_steal_pointer (&self) : NULL;
}

void
dlp_sentencepiece_free (DlpSentencePiece *self)
{
  g_array_unref (self->entries);
  g_free (self->where);
  g_free (self);
}

DlpNormalizer *
dlp_sentencepiece_make_normalizer (const DlpSentencePiece *self,
                                   const DlpSentencePieceRules *rules,
                                   const char *const *symbols,
                                   GError **error)
{
  DlpSentencepieceFlags flags = 0;

  if (rules->add_dummy_prefix)
    flags |= DLP_SENTENCEPIECE_ADD_DUMMY_PREFIX;
  if (rules->remove_extra_whitespaces)
    flags |= DLP_SENTENCEPIECE_REMOVE_EXTRA_WHITESPACES;
  if (rules->escape_whitespaces)
    flags |= DLP_SENTENCEPIECE_ESCAPE_WHITESPACES;
  return dlp_normalizer_new_sentencepiece (rules->charsmap, rules->charsmap_size, symbols, flags,
                                           self->where, error);
}
