/* SPDX-License-Identifier: MIT */

/* Headers of files of ids. The layouts: NumPy's "NPY format" (versions 1 to 3), karpathy/llm.c's
 * data files, NVIDIA/Megatron-LM's indexed datasets. */

#include "token-header.h"

#include <string.h>

#define NPY_MAGIC "\x93NUMPY"
#define INDEX_MAGIC "MMIDIDX\0\0"
#define INDEX_MAGIC_BYTES 9
#define LLMC_U16 20240520 /* version 1 */
#define LLMC_U32 20240801 /* version 7 */

static guint32
get_u32 (const guint8 *p)
{
  guint32 value;

  memcpy (&value, p, sizeof value);
  return GUINT32_FROM_LE (value);
}

static guint64
get_u64 (const guint8 *p)
{
  guint64 value;

  memcpy (&value, p, sizeof value);
  return GUINT64_FROM_LE (value);
}

static gboolean G_GNUC_PRINTF (2, 3) fail (char **why, const char *format, ...)
{
  va_list args;

  va_start (args, format);
  *why = g_strdup_vprintf (format, args);
  va_end (args);
  return FALSE;
}

/* Whether so many ids are what follows the header, to the end of the file. */
static gboolean
check_size (const TokenArray *array, guint64 file_size, char **why)
{
  guint width = token_dtype_get_width (array->dtype);
  guint64 there = file_size - MIN (file_size, array->offset);

  if (array->n == there / width && there % width == 0 && file_size >= array->offset)
    return TRUE;
  return fail (why,
               "it should have %" G_GUINT64_FORMAT " ids of %s, of %u bytes each, behind byte "
               "%" G_GUINT64_FORMAT ", but has %" G_GUINT64_FORMAT " bytes there%s",
               array->n, token_dtype_get_name (array->dtype), width, array->offset, there,
               there / width < array->n ? "; it is cut" : "");
}

/* ---- no header ---- */

gboolean
token_header_read_flat (TokenDtype dtype, guint64 file_size, TokenArray *array, char **why)
{
  guint width = token_dtype_get_width (dtype);

  *array = (TokenArray){ .dtype = dtype, .n = file_size / width };
  if (file_size % width == 0)
    return TRUE;
  return fail (why,
               "%" G_GUINT64_FORMAT " bytes are no ids of %s, of %u bytes each: %" G_GUINT64_FORMAT
               " are left over; it is cut, or of another dtype",
               file_size, token_dtype_get_name (dtype), width, file_size % width);
}

/* ---- llm.c ---- */

gboolean
token_header_is_llmc (const guint8 *data, gsize size)
{
  guint32 magic = size >= 12 ? get_u32 (data) : 0;

  return (magic == LLMC_U16 && get_u32 (data + 4) == 1) ||
         (magic == LLMC_U32 && get_u32 (data + 4) == 7);
}

gboolean
token_header_read_llmc (const guint8 *data,
                        gsize size,
                        guint64 file_size,
                        TokenArray *array,
                        char **why)
{
  if (!token_header_is_llmc (data, size))
    return fail (why,
                 "it does not begin as llm.c writes files: with %u and version 1, or %u and "
                 "version 7",
                 LLMC_U16, LLMC_U32);
  *array = (TokenArray){
    .dtype = get_u32 (data) == LLMC_U16 ? TOKEN_U16 : TOKEN_U32,
    .offset = TOKEN_LLMC_HEADER_BYTES,
    .n = get_u32 (data + 8),
  };
  return check_size (array, file_size, why);
}

/* ---- NumPy ---- */

/* The text of the header, a Python literal: {'descr': '<u2', 'fortran_order': False, 'shape': (5,),
 * }. */
typedef struct
{
  const char *p, *end;
  char **why;
} Literal;

static void
skip_blanks (Literal *self)
{
  while (self->p < self->end && (*self->p == ' ' || *self->p == '\n' || *self->p == '\t'))
    self->p++;
}

static gboolean
take (Literal *self, const char *word)
{
  gsize size = strlen (word);

  skip_blanks (self);
  if ((gsize) (self->end - self->p) < size || memcmp (self->p, word, size) != 0)
    return FALSE;
  self->p += size;
  return TRUE;
}

static gboolean
fail_literal (Literal *self, const char *what)
{
  return fail (self->why, "its NPY header is not as NumPy writes it: %s expected", what);
}

/* (transfer full) (nullable): what is in quotes; no backslashes are in such texts. */
static char *
take_text (Literal *self)
{
  const char *start, *stop;
  char quote;

  skip_blanks (self);
  if (self->p == self->end || (*self->p != '\'' && *self->p != '"'))
    return NULL;
  quote = *self->p;
  start = self->p + 1;
  stop = memchr (start, quote, (gsize) (self->end - start));
  if (stop == NULL || memchr (start, '\\', (gsize) (stop - start)) != NULL)
    return NULL;
  self->p = stop + 1;
  return g_strndup (start, (gsize) (stop - start));
}

static gboolean
take_number (Literal *self, guint64 *number)
{
  const char *start;

  skip_blanks (self);
  *number = 0;
  for (start = self->p; self->p < self->end && g_ascii_isdigit (*self->p); self->p++)
    if (__builtin_mul_overflow (*number, 10, number) ||
        __builtin_add_overflow (*number, (guint64) (*self->p - '0'), number))
      return FALSE;
  return self->p > start;
}

static gboolean
take_dtype (Literal *self, TokenDtype *dtype)
{
  static const struct
  {
    const char *name;
    TokenDtype dtype;
  } types[] = {
    { "|u1", TOKEN_U8 },  { "|i1", TOKEN_I8 },  { "<u2", TOKEN_U16 }, { "<i2", TOKEN_I16 },
    { "<u4", TOKEN_U32 }, { "<i4", TOKEN_I32 }, { "<u8", TOKEN_U64 }, { "<i8", TOKEN_I64 },
  };
  g_autofree char *name = take_text (self);

  if (name == NULL)
    return fail_literal (self, "one type, such as '<u2', and no record of several,");
  for (guint i = 0; i < G_N_ELEMENTS (types); i++)
    if (strcmp (types[i].name, name) == 0)
      {
        *dtype = types[i].dtype;
        return TRUE;
      }
  return fail (self->why,
               "its type is '%s'; ids are little-endian integers: |u1, |i1, <u2, <i2, <u4, <i4, "
               "<u8 or <i8",
               name);
}

/* "(5,)" or "(5, 3)". */
static gboolean
take_shape (Literal *self, guint64 shape[2], guint *n)
{
  *n = 0;
  if (!take (self, "("))
    return fail_literal (self, "a shape in parentheses");
  while (!take (self, ")"))
    {
      if (*n == 2)
        return fail (self->why, "its array has more than two dimensions");
      if (!take_number (self, &shape[*n]))
        return fail_literal (self, "a number in the shape");
      ++*n;
      if (!take (self, ","))
        return take (self, ")") || fail_literal (self, "a comma or a parenthesis in the shape");
    }
  return TRUE;
}

static gboolean
take_member (Literal *self, TokenArray *array, guint64 shape[2], guint *n, guint *seen)
{
  g_autofree char *key = take_text (self);

  if (key == NULL || !take (self, ":"))
    return fail_literal (self, "a key in quotes and a colon");
  if (strcmp (key, "descr") == 0)
    {
      *seen |= 1;
      return take_dtype (self, &array->dtype);
    }
  if (strcmp (key, "shape") == 0)
    {
      *seen |= 2;
      return take_shape (self, shape, n);
    }
  if (strcmp (key, "fortran_order") != 0)
    return fail_literal (self, "descr, fortran_order or shape");
  *seen |= 4;
  if (take (self, "False"))
    return TRUE;
  return take (self, "True") ?
             fail (self->why,
                   "its array is in Fortran's order, column by column; C order is read") :
             fail_literal (self, "True or False");
}

static gboolean
read_literal (Literal *self, TokenArray *array, guint64 shape[2], guint *n)
{
  guint seen = 0;

  if (!take (self, "{"))
    return fail_literal (self, "a brace");
  while (!take (self, "}"))
    {
      if (!take_member (self, array, shape, n, &seen))
        return FALSE;
      if (take (self, ","))
        continue;
      if (take (self, "}"))
        break;
      return fail_literal (self, "a comma or a brace");
    }
  skip_blanks (self);
  if (seen != 7 || self->p < self->end)
    return fail_literal (self, "descr, fortran_order and shape, and nothing else,");
  return TRUE;
}

gboolean
token_header_is_npy (const guint8 *data, gsize size)
{
  return size >= 8 && memcmp (data, NPY_MAGIC, 6) == 0;
}

/* Where the text of the header is. */
static gboolean
find_literal (const guint8 *data, gsize size, gsize *start, guint64 *length, char **why)
{
  guint version = size > 6 ? data[6] : 0;

  *start = version == 1 ? 10 : 12;
  if (!token_header_is_npy (data, size))
    return fail (why, "it does not begin as NumPy writes files");
  if (version < 1 || version > 3 || data[7] != 0)
    return fail (why, "it is of version %u.%u of the NPY format; 1.0, 2.0 and 3.0 are read",
                 version, data[7]);
  if (size < *start)
    return fail (why, "it ends in its NPY header");
  *length = version == 1 ? (guint64) data[8] | (guint64) data[9] << 8 : get_u32 (data + 8);
  if (*length > TOKEN_NPY_MAX_HEADER_BYTES - *start)
    return fail (why, "its NPY header has %" G_GUINT64_FORMAT " bytes; at most %u are read",
                 *length, TOKEN_NPY_MAX_HEADER_BYTES);
  return size - *start >= *length || fail (why, "it ends in its NPY header");
}

gboolean
token_header_read_npy (const guint8 *data,
                       gsize size,
                       guint64 file_size,
                       TokenArray *array,
                       char **why)
{
  guint64 shape[2] = { 0, 1 };
  guint64 length = 0;
  gsize start = 0;
  guint n = 0;
  Literal literal;

  *array = (TokenArray){ 0 };
  if (!find_literal (data, size, &start, &length, why))
    return FALSE;
  literal = (Literal){ (const char *) data + start, (const char *) data + start + length, why };
  if (!read_literal (&literal, array, shape, &n))
    return FALSE;
  if (n == 0)
    return fail (why, "its array is a single number, with no dimension");
  array->offset = start + length;
  array->is_matrix = n == 2;
  array->n_rows = shape[0];
  array->row_length = shape[1];
  if (array->is_matrix && shape[1] == 0)
    return fail (why, "its rows have no ids");
  if (__builtin_mul_overflow (shape[0], shape[1], &array->n))
    return fail (why,
                 "its array of %" G_GUINT64_FORMAT " times %" G_GUINT64_FORMAT
                 " ids is larger than any file",
                 shape[0], shape[1]);
  return check_size (array, file_size, why);
}

/* ---- Megatron ---- */

static gboolean
read_code (guint8 code, TokenDtype *dtype, char **why)
{
  static const TokenDtype dtypes[] = { TOKEN_AUTO, TOKEN_U8,   TOKEN_I8,   TOKEN_I16, TOKEN_I32,
                                       TOKEN_I64,  TOKEN_AUTO, TOKEN_AUTO, TOKEN_U16 };

  if (code < G_N_ELEMENTS (dtypes) && dtypes[code] != TOKEN_AUTO)
    {
      *dtype = dtypes[code];
      return TRUE;
    }
  return fail (why,
               "its dtype has the code %u%s; those of ids are 1 (u8), 2 (i8), 3 (i16), 4 (i32), "
               "5 (i64) and 8 (u16)",
               code, code == 6 || code == 7 ? ", a floating-point number" : "");
}

gboolean
token_header_is_index (const guint8 *data, gsize size)
{
  return size >= INDEX_MAGIC_BYTES && memcmp (data, INDEX_MAGIC, INDEX_MAGIC_BYTES) == 0;
}

/* What the counts come to, or 0 where no file can be so large. */
static guint64
sum_index (TokenIndex *index)
{
  guint64 lengths, offsets, borders, end;

  index->lengths_at = TOKEN_INDEX_HEADER_BYTES;
  if (__builtin_mul_overflow (index->n_sequences, 4, &lengths) ||
      __builtin_mul_overflow (index->n_sequences, 8, &offsets) ||
      __builtin_mul_overflow (index->n_borders, 8, &borders) ||
      __builtin_add_overflow (index->lengths_at, lengths, &index->offsets_at) ||
      __builtin_add_overflow (index->offsets_at, offsets, &index->borders_at) ||
      __builtin_add_overflow (index->borders_at, borders, &end))
    return 0;
  return end;
}

gboolean
token_header_read_index (const guint8 *data,
                         gsize size,
                         guint64 file_size,
                         TokenIndex *index,
                         char **why)
{
  guint64 end;

  *index = (TokenIndex){ 0 };
  if (!token_header_is_index (data, size))
    return fail (why, "it does not begin with MMIDIDX, as an index of Megatron-LM does");
  if (size < TOKEN_INDEX_HEADER_BYTES)
    return fail (why, "it ends in its header, of %u bytes", TOKEN_INDEX_HEADER_BYTES);
  if (get_u64 (data + 9) != 1)
    return fail (why, "it is of version %" G_GUINT64_FORMAT "; version 1 is read",
                 get_u64 (data + 9));
  if (!read_code (data[17], &index->dtype, why))
    return FALSE;
  index->n_sequences = get_u64 (data + 18);
  index->n_borders = get_u64 (data + 26);
  end = sum_index (index);
  /* With modes, of one byte each, behind it. */
  if (end != 0 && (file_size == end || file_size - MIN (file_size, end) == index->n_sequences))
    return TRUE;
  return fail (why,
               "with %" G_GUINT64_FORMAT " sequences and %" G_GUINT64_FORMAT
               " borders of documents it should have %" G_GUINT64_FORMAT
               " bytes, but has %" G_GUINT64_FORMAT "%s",
               index->n_sequences, index->n_borders, end, file_size,
               end == 0 || file_size < end ? "; it is cut" : "");
}
