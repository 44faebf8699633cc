/* SPDX-License-Identifier: MIT */

/* Files of ids: what is read of them does not depend on the sizes of pieces, and goes on in the
 * middle as it would have. The first byte says which settings, the next two how much of the input
 * is the index beside the file. */

#include <string.h>
#include <unistd.h>

#include <dlpipe/dlp-error.h>
#include <glib/gstdio.h>

#include "token-header.h"
#include "token-rows.h"

#define MAX_ROWS 2000

int LLVMFuzzerTestOneInput (const guint8 *data, gsize size);

typedef struct
{
  guint64 hashes[MAX_ROWS]; /* of each row */
  guint n_rows;
  gboolean is_damaged;
} Outcome;

static char *folder;

static void
remove_folder (void)
{
  g_autofree char *ids = g_build_filename (folder, "a.bin", NULL);
  g_autofree char *index = g_build_filename (folder, "a.idx", NULL);

  g_remove (ids);
  g_remove (index);
  g_rmdir (folder);
}

static char *
write_file (const char *name, const guint8 *data, gsize size)
{
  char *path;

  if (folder == NULL)
    {
      folder = g_dir_make_tmp ("dlpipe-fuzz-tokens-XXXXXX", NULL);
      g_assert_nonnull (folder);
      g_assert_cmpint (atexit (remove_folder), ==, 0);
    }
  path = g_build_filename (folder, name, NULL);
  g_assert_true (g_file_set_contents_full (path, (const char *) data, (gssize) size,
                                           G_FILE_SET_CONTENTS_NONE, 0600, NULL));
  return path;
}

static void
add_hash (guint64 *hash, gconstpointer data, gsize size)
{
  const guint8 *bytes = data;

  for (gsize i = 0; i < size; i++)
    *hash = (*hash ^ bytes[i]) * G_GUINT64_CONSTANT (0x100000001b3);
}

static void
take_piece (const TokenPiece *piece, Outcome *outcome)
{
  guint width = token_dtype_get_width (piece->dtype);
  gsize at = 0;

  for (guint i = 0; i < piece->rows->len && outcome->n_rows < MAX_ROWS; i++)
    {
      const TokenRow *row = &g_array_index (piece->rows, TokenRow, i);
      gsize bytes = row->is_too_long ? 0 : (gsize) row->n * width;
      guint64 *hash = &outcome->hashes[outcome->n_rows++];

      g_assert_cmpuint (at + bytes, <=, piece->ids->len);
      *hash = row->n;
      add_hash (hash, piece->ids->data + at, bytes);
      at += bytes;
    }
}

/* FALSE: it cannot be opened. */
static gboolean
read_file (const TokenSettings *settings,
           const char *path,
           gsize size,
           guint64 row,
           gsize max_bytes,
           Outcome *outcome)
{
  g_autoptr (DlpFile) file = dlp_file_new (path, (gint64) size, NULL);
  g_autoptr (GError) error = NULL;
  TokenRows *rows = token_rows_open (settings, file, row, NULL, &error);

  memset (outcome, 0, sizeof *outcome);
  if (rows == NULL)
    {
      g_assert_nonnull (error);
      return FALSE;
    }
  while (outcome->n_rows < MAX_ROWS)
    {
      DlpReaderPiece piece = { 0 };

      outcome->is_damaged = !token_rows_read (rows, max_bytes, &piece, NULL, &error);
      if (outcome->is_damaged || piece.n_rows == 0)
        break;
      take_piece (piece.data, outcome);
      piece.free_func (piece.data);
    }
  g_assert_true (!outcome->is_damaged ||
                 g_error_matches (error, DLP_DATA_ERROR, DLP_DATA_ERROR_DAMAGED));
  token_rows_free (rows);
  return TRUE;
}

static void
compare (const Outcome *a, const Outcome *b, guint from)
{
  for (guint i = from; i < a->n_rows && i - from < b->n_rows; i++)
    g_assert_cmpuint (a->hashes[i], ==, b->hashes[i - from]);
  if (a->n_rows < MAX_ROWS)
    {
      g_assert_cmpuint (a->n_rows - from, ==, b->n_rows);
      g_assert_cmpint (a->is_damaged, ==, b->is_damaged);
    }
}

static TokenSettings
make_settings (guint8 choice)
{
  TokenSettings settings = {
    .format = (TokenFormat) (choice % 5),
    .dtype =
        choice % 5 == TOKEN_FORMAT_FLAT ? (TokenDtype) (TOKEN_U8 + choice / 5 % 8) : TOKEN_AUTO,
    .unit = choice / 5 % 2 == 0 ? TOKEN_UNIT_SEQUENCE : TOKEN_UNIT_DOCUMENT,
    .separator = choice / 40 == 1 || choice / 40 == 2 ? 3 : -1,
    .separator_at = choice / 40 == 2 ? TOKEN_SEPARATOR_START : TOKEN_SEPARATOR_END,
    .length = choice / 40 == 3 ? 5 : 0,
    .max_record_bytes = choice / 40 == 4 ? 40 : 100000,
    .field_width = 4,
  };

  return settings;
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  g_autofree Outcome *whole = g_new (Outcome, 1);
  g_autofree Outcome *other = g_new (Outcome, 1);
  g_autofree char *index = NULL;
  g_autofree char *ids = NULL;
  TokenSettings settings;
  gsize index_size;

  if (size < 3)
    return 0;
  settings = make_settings (data[0]);
  index_size = MIN (size - 3, (gsize) data[1] | (gsize) data[2] << 8);
  index = write_file ("a.idx", data + 3, index_size);
  if (index_size == 0)
    g_remove (index);
  ids = write_file ("a.bin", data + 3 + index_size, size - 3 - index_size);

  if (!read_file (&settings, ids, size - 3 - index_size, 0, 1024 * 1024, whole))
    return 0;
  g_assert_true (read_file (&settings, ids, size - 3 - index_size, 0, 1, other));
  compare (whole, other, 0);
  g_assert_true (read_file (&settings, ids, size - 3 - index_size, whole->n_rows / 2, 64, other));
  compare (whole, other, whole->n_rows / 2);
  return 0;
}
