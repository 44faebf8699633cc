/* SPDX-License-Identifier: MIT */

#include "tar-member.h"

#include <string.h>

/* Fields of a header block. */
#define NAME_SIZE 100
#define SIZE_AT 124
#define SIZE_SIZE 12
#define CHECKSUM_AT 148
#define CHECKSUM_SIZE 8
#define TYPE_AT 156
#define MAGIC_AT 257
#define PREFIX_AT 345
#define PREFIX_SIZE 155
/* Of a sparse file of GNU tar: whether a block of its map follows, in the header and in that. */
#define IS_EXTENDED_AT 482
#define MAP_IS_EXTENDED_AT 504

#define TYPE_PAX 'x'
#define TYPE_PAX_SOLARIS 'X'
#define TYPE_PAX_GLOBAL 'g'
#define TYPE_GNU_NAME 'L'
#define TYPE_GNU_LINK 'K'
#define TYPE_GNU_SPARSE 'S'

/* What the headers before that of the member say of it. */
typedef struct
{
  GString *name;
  gboolean has_name;
  gboolean has_sparse_name;
  gboolean has_size;
  gboolean is_sparse;
  guint64 size;
} Extended;

static TarResult
fail (TarMember *self, gsize at, char *message)
{
  self->fault_at = at;
  self->fault = message;
  return TAR_FAULT;
}

/* ---- a header block ---- */

static gsize
measure_string (const guint8 *text, gsize size)
{
  const guint8 *nul = memchr (text, '\0', size);

  return nul != NULL ? (gsize) (nul - text) : size;
}

/* Octal digits, with blanks before and a blank or NUL behind, or nothing at all. */
static gboolean
read_octal (const guint8 *text, gsize size, guint64 *number)
{
  gsize at = 0;

  *number = 0;
  while (at < size && text[at] == ' ')
    at++;
  for (; at < size && text[at] >= '0' && text[at] <= '7'; at++)
    *number = *number * 8 + (text[at] - '0');
  return at == size || text[at] == '\0' || text[at] == ' ';
}

/* Of GNU tar, for what octal digits have no room: a first bit, then the number; not negative ones.
 */
static gboolean
read_base_256 (const guint8 *bytes, gsize size, guint64 *number)
{
  *number = bytes[0] & 0x7f;
  for (gsize i = 1; i < size; i++)
    {
      if (*number >> 55 != 0)
        return FALSE;
      *number = *number << 8 | bytes[i];
    }
  return TRUE;
}

static gboolean
read_size (const guint8 *block, guint64 *size)
{
  const guint8 *field = block + SIZE_AT;

  return (field[0] & 0x80) != 0 ? read_base_256 (field, SIZE_SIZE, size) :
                                  read_octal (field, SIZE_SIZE, size);
}

static gboolean
is_zero (const guint8 *block)
{
  for (guint i = 0; i < TAR_BLOCK_BYTES; i++)
    if (block[i] != 0)
      return FALSE;
  return TRUE;
}

/* Its own field counts as blanks. Old programs took bytes as signed. */
static gboolean
has_right_checksum (const guint8 *block)
{
  guint64 expected;
  guint unsigned_sum = 0;
  gint signed_sum = 0;

  for (guint i = 0; i < TAR_BLOCK_BYTES; i++)
    {
      gboolean is_own = i >= CHECKSUM_AT && i < CHECKSUM_AT + CHECKSUM_SIZE;
      guint8 byte = is_own ? ' ' : block[i];

      unsigned_sum += byte;
      signed_sum += (gint8) byte;
    }
  return read_octal (block + CHECKSUM_AT, CHECKSUM_SIZE, &expected) &&
         (expected == unsigned_sum || (gint64) expected == signed_sum);
}

/* GNU tar has something else where ustar has the first part of a long name. */
static void
set_name (GString *name, const guint8 *block)
{
  gboolean is_ustar = memcmp (block + MAGIC_AT, "ustar\0", 6) == 0;

  g_string_truncate (name, 0);
  if (is_ustar && block[PREFIX_AT] != '\0')
    {
      g_string_append_len (name, (const char *) block + PREFIX_AT,
                           (gssize) measure_string (block + PREFIX_AT, PREFIX_SIZE));
      g_string_append_c (name, '/');
    }
  g_string_append_len (name, (const char *) block, (gssize) measure_string (block, NAME_SIZE));
}

/* ---- headers before that of the member ---- */

static gboolean
is_key (const guint8 *key, gsize size, const char *wanted)
{
  return size == strlen (wanted) && memcmp (key, wanted, size) == 0;
}

static gboolean
read_decimal (const guint8 *text, gsize size, guint64 *number)
{
  *number = 0;
  for (gsize i = 0; i < size; i++)
    if (!g_ascii_isdigit (text[i]) || __builtin_mul_overflow (*number, 10, number) ||
        __builtin_add_overflow (*number, text[i] - '0', number))
      return FALSE;
  return size > 0;
}

static gboolean
take_pax_value (Extended *extended,
                const guint8 *key,
                gsize key_size,
                const guint8 *value,
                gsize size)
{
  static const char sparse[] = "GNU.sparse.";
  gboolean is_sparse_name = is_key (key, key_size, "GNU.sparse.name");

  if (key_size > strlen (sparse) && memcmp (key, sparse, strlen (sparse)) == 0)
    extended->is_sparse = TRUE;
  if (is_key (key, key_size, "size"))
    {
      extended->has_size = size > 0;
      return size == 0 || read_decimal (value, size, &extended->size);
    }
  if (!is_sparse_name && (extended->has_sparse_name || !is_key (key, key_size, "path")))
    return TRUE;
  extended->has_sparse_name |= is_sparse_name;
  extended->has_name = size > 0;
  g_string_truncate (extended->name, 0);
  g_string_append_len (extended->name, (const char *) value, (gssize) size);
  return TRUE;
}

/* "LENGTH KEY=VALUE\n", of which LENGTH counts all. */
static gboolean
read_pax (Extended *extended, const guint8 *data, gsize size)
{
  while (size > 0 && data[0] != '\0')
    {
      const guint8 *blank = memchr (data, ' ', MIN (size, 20));
      const guint8 *key = blank != NULL ? blank + 1 : NULL;
      const guint8 *equals;
      guint64 length;

      if (blank == NULL || !read_decimal (data, (gsize) (blank - data), &length) || length > size ||
          length < (guint64) (key - data) + 2 || data[length - 1] != '\n')
        return FALSE;
      equals = memchr (key, '=', (gsize) (data + length - 1 - key));
      if (equals == NULL || !take_pax_value (extended, key, (gsize) (equals - key), equals + 1,
                                             (gsize) (data + length - 2 - equals)))
        return FALSE;
      data += length;
      size -= (gsize) length;
    }
  return TRUE;
}

static void
read_gnu_name (Extended *extended, const guint8 *data, gsize size)
{
  g_string_truncate (extended->name, 0);
  g_string_append_len (extended->name, (const char *) data, (gssize) measure_string (data, size));
  extended->has_name = TRUE;
}

static gboolean
is_extended (guint8 type)
{
  return type == TYPE_PAX || type == TYPE_PAX_SOLARIS || type == TYPE_PAX_GLOBAL ||
         type == TYPE_GNU_NAME || type == TYPE_GNU_LINK;
}

/* What is true of all members behind it, and of links, is of no use here. */
static gboolean
take_extended (Extended *extended, guint8 type, const guint8 *data, gsize size)
{
  if (type == TYPE_PAX || type == TYPE_PAX_SOLARIS)
    return read_pax (extended, data, size);
  if (type == TYPE_GNU_NAME)
    read_gnu_name (extended, data, size);
  return TRUE;
}

/* ---- members ---- */

static guint64
round_up (guint64 size)
{
  return (size + TAR_BLOCK_BYTES - 1) / TAR_BLOCK_BYTES * TAR_BLOCK_BYTES;
}

/* POSIX: these have no data, whatever their size says. */
static gboolean
has_data (guint8 type)
{
  return type < '1' || type > '6';
}

/* Not what GNU tar keeps for itself: folders, volumes. Types that nobody knows are files (POSIX).
 */
static gboolean
is_file (guint8 type)
{
  return has_data (type) && type != 'D' && type != 'M' && type != 'N' && type != 'V';
}

/* The blocks of a map that follow the header of a sparse file. */
static TarResult
pass_map (TarMember *self, const guint8 *data, gsize size)
{
  gboolean follows = data[self->data - TAR_BLOCK_BYTES + IS_EXTENDED_AT] != 0;

  while (follows)
    {
      if (self->data + TAR_BLOCK_BYTES > size)
        return TAR_MORE;
      if (self->data > TAR_MAX_EXTENDED_BYTES)
        return fail (self, self->data, g_strdup ("a map of a sparse file above 1 MiB"));
      follows = data[self->data + MAP_IS_EXTENDED_AT] != 0;
      self->data += TAR_BLOCK_BYTES;
    }
  return TAR_MEMBER;
}

static TarResult
finish (TarMember *self, const Extended *extended, const guint8 *data, gsize size)
{
  const guint8 *block = data + self->data - TAR_BLOCK_BYTES;
  TarResult result = TAR_MEMBER;

  self->type = block[TYPE_AT];
  if (!extended->has_name)
    set_name (self->name, block);
  if (extended->has_size)
    self->size = extended->size;
  self->is_sparse = extended->is_sparse || self->type == TYPE_GNU_SPARSE;
  if (!has_data (self->type))
    self->size = 0;
  if (self->size > G_MAXINT64)
    return fail (self, self->data - TAR_BLOCK_BYTES,
                 g_strdup_printf ("a member of %" G_GUINT64_FORMAT " bytes", self->size));
  if (self->type == TYPE_GNU_SPARSE)
    result = pass_map (self, data, size);
  self->next = self->data + round_up (self->size);
  return result;
}

static TarResult
check_block (TarMember *self, const guint8 *block, gsize at)
{
  if (!has_right_checksum (block))
    return fail (self, at, g_strdup ("no tar header, or one whose checksum is wrong"));
  if (!read_size (block, &self->size))
    return fail (self, at, g_strdup ("a tar header whose size is no number from 0 to 2^63 - 1"));
  return TAR_MEMBER;
}

TarResult
tar_member_read (TarMember *self, const guint8 *data, gsize size)
{
  Extended extended = { .name = self->name };
  gsize at = 0;

  self->fault = NULL;
  for (;;)
    {
      const guint8 *block = data + at;
      TarResult result;

      if (size - at < TAR_BLOCK_BYTES)
        return TAR_MORE;
      if (at == 0 && is_zero (block))
        return TAR_ZERO;
      result = check_block (self, block, at);
      self->data = at + TAR_BLOCK_BYTES;
      if (result != TAR_MEMBER)
        return result;
      if (!is_extended (block[TYPE_AT]))
        return finish (self, &extended, data, size);

      if (self->size > TAR_MAX_EXTENDED_BYTES || at > TAR_MAX_EXTENDED_BYTES)
        return fail (self, at, g_strdup ("headers of one member above 1 MiB"));
      if (round_up (self->size) > size - self->data)
        return TAR_MORE;
      if (!take_extended (&extended, block[TYPE_AT], data + self->data, (gsize) self->size))
        return fail (self, self->data, g_strdup ("a damaged pax header"));
      at = self->data + (gsize) round_up (self->size);
    }
}

/* As webdataset has it: names such as __this__ at the top are of no sample. */
static gboolean
is_meta (const char *name)
{
  gsize n = strcspn (name, "/");

  return n >= 4 && strncmp (name, "__", 2) == 0 && strncmp (name + n - 2, "__", 2) == 0;
}

gboolean
tar_member_has_key (const TarMember *self, gsize *key_size)
{
  const char *name = self->name->str;
  const char *slash = memrchr (name, '/', self->name->len);
  const char *last = slash != NULL ? slash + 1 : name;
  const char *dot = memchr (last, '.', (gsize) (name + self->name->len - last));

  *key_size = dot != NULL ? (gsize) (dot - name) : 0;
  return is_file (self->type) && dot != NULL && dot > last && dot[1] != '\0' && !is_meta (name);
}
