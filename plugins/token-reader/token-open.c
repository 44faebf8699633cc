/* SPDX-License-Identifier: MIT */

/* What a file is, and how its rows are found. */

#include <string.h>

#include <dlpipe/dlp-error.h>

#include "token-rows-private.h"

static gboolean G_GNUC_PRINTF (3, 4)
    refuse (TokenRows *self, GError **error, const char *format, ...)
{
  g_autofree char *why = NULL;
  va_list args;

  va_start (args, format);
  why = g_strdup_vprintf (format, args);
  va_end (args);
  g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE, "%s: %s", self->ids.name, why);
  return FALSE;
}

/* Without the query of a URI. */
static gsize
measure_path (const char *uri)
{
  return strstr (uri, "://") != NULL ? strcspn (uri, "?#") : strlen (uri);
}

static gboolean
has_ending (const char *uri, const char *ending)
{
  gsize length = measure_path (uri);
  gsize n = strlen (ending);

  return length > n && g_ascii_strncasecmp (uri + length - n, ending, n) == 0;
}

static gboolean
check_name (TokenRows *self, const char *uri, GError **error)
{
  static const char *const compressed[] = { ".gz", ".zst", ".xz", ".bz2", ".lz4", ".zip" };

  for (guint i = 0; i < G_N_ELEMENTS (compressed); i++)
    if (has_ending (uri, compressed[i]))
      return refuse (self, error,
                     "it is compressed, by its name; files of ids are read at offsets, and have to "
                     "be decompressed before");
  return TRUE;
}

/* ---- Megatron's index ---- */

/* (transfer full): "P.idx" of "P.bin". */
static char *
name_index (const char *uri)
{
  gsize path = measure_path (uri);
  gsize stem = has_ending (uri, ".bin") ? path - strlen (".bin") : path;

  return g_strdup_printf ("%.*s.idx%s", (int) stem, uri, uri + path);
}

static gboolean
is_absent (const GError *error)
{
  return g_error_matches (error, DLP_DATA_ERROR, DLP_DATA_ERROR_NO_INPUT) ||
         g_error_matches (error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND);
}

/* FALSE without an error: there is none. */
static gboolean
open_index (TokenRows *self, const char *uri, GCancellable *cancellable, GError **error)
{
  gboolean is_due = self->settings->format == TOKEN_FORMAT_MEGATRON;
  g_autofree char *name = name_index (uri);
  g_autoptr (GError) local = NULL;
  g_autoptr (DlpFile) file = NULL;
  DlpScheme *scheme = dlp_scheme_for_uri (name, error);

  if (scheme == NULL)
    return FALSE;
  file = dlp_scheme_identify (scheme, name, cancellable, &local);
  if (file != NULL)
    return token_index_open (self, file, cancellable, error);
  if (!is_absent (local))
    g_propagate_error (error, g_steal_pointer (&local));
  else if (is_due)
    {
      g_autofree char *shown = dlp_uri_escape_for_display (name);

      refuse (self, error, "there is no index %s beside it", shown);
    }
  return FALSE;
}

/* ---- arrays ---- */

static gboolean
open_array (TokenRows *self, TokenFormat format, const guint8 *head, gsize size, GError **error)
{
  TokenArray *array = &self->array;
  char *why = NULL;
  gboolean is_good;

  if (format == TOKEN_FORMAT_NPY)
    is_good = token_header_read_npy (head, size, self->ids.size, array, &why);
  else if (format == TOKEN_FORMAT_LLMC)
    is_good = token_header_read_llmc (head, size, self->ids.size, array, &why);
  else if (self->settings->dtype == TOKEN_AUTO)
    return refuse (self, error,
                   "it has no header, nor an index (.idx) beside it: dtype=u16 (nanoGPT) or "
                   "dtype=u32 has to say what its ids are");
  else
    is_good = token_header_read_flat (self->settings->dtype, self->ids.size, array, &why);
  self->dtype = array->dtype;
  return is_good || token_file_damaged (&self->ids, why, error);
}

static gboolean
lay_out_array (TokenRows *self, TokenFormat format, GError **error)
{
  const TokenSettings *settings = self->settings;
  const TokenArray *array = &self->array;
  guint64 whole;

  if (settings->separator > 0 && (guint64) settings->separator > token_dtype_get_max (array->dtype))
    return refuse (self, error,
                   "separator=%" G_GINT64_FORMAT ", but its ids are %s, at most %" G_GUINT64_FORMAT,
                   settings->separator, token_dtype_get_name (array->dtype),
                   token_dtype_get_max (array->dtype));
  if (array->is_matrix && (settings->length > 0 || settings->separator >= 0))
    return refuse (self, error,
                   "its array has two dimensions, whose rows are the records; %s is for files of "
                   "one",
                   settings->length > 0 ? "length" : "separator");
  if (settings->separator >= 0)
    {
      self->layout = TOKEN_LAYOUT_SEPARATED;
      self->at_start =
          settings->separator_at == TOKEN_SEPARATOR_START ||
          (settings->separator_at == TOKEN_SEPARATOR_AUTO && format == TOKEN_FORMAT_LLMC);
      self->doc = g_byte_array_new ();
      return TRUE;
    }
  self->layout = TOKEN_LAYOUT_ARRAY;
  self->row_length = array->is_matrix     ? array->row_length :
                     settings->length > 0 ? settings->length :
                                            MAX (array->n, 1);
  whole = array->n / self->row_length;
  self->n_rows = settings->drop_tail && settings->length > 0 ?
                     whole :
                     whole + (array->n % self->row_length > 0);
  return TRUE;
}

/* ---- which of them it is ---- */

/* What most headers fit into; only those of NumPy can be longer. */
static guint8 *
read_head (TokenRows *self, gsize *size, GCancellable *cancellable, GError **error)
{
  g_autofree guint8 *head = g_malloc (TOKEN_NPY_MAX_HEADER_BYTES);

  *size = (gsize) MIN (self->ids.size, TOKEN_LLMC_HEADER_BYTES);
  if (!token_file_read (&self->ids, 0, head, *size, cancellable, error))
    return NULL;
  if (token_header_is_npy (head, *size) && memchr (head + 8, '}', *size - 8) == NULL)
    {
      *size = (gsize) MIN (self->ids.size, TOKEN_NPY_MAX_HEADER_BYTES);
      if (!token_file_read (&self->ids, 0, head, *size, cancellable, error))
        return NULL;
    }
  return g_steal_pointer (&head);
}

/* The beginning of the file says it, or else there is an index beside it. */
static gboolean
open_by_content (TokenRows *self, DlpFile *file, GCancellable *cancellable, GError **error)
{
  TokenFormat format = self->settings->format;
  g_autofree guint8 *head = NULL;
  g_autoptr (GError) local = NULL;
  gsize size;

  head = read_head (self, &size, cancellable, error);
  if (head == NULL)
    return FALSE;
  if (format == TOKEN_FORMAT_AUTO && token_header_is_index (head, size))
    return refuse (self, error,
                   "it is the index of a dataset of Megatron; location has to name the .bin beside "
                   "it, such as *.bin");
  if (format == TOKEN_FORMAT_MEGATRON ||
      (format == TOKEN_FORMAT_AUTO && has_ending (dlp_file_get_uri (file), ".bin")))
    {
      if (open_index (self, dlp_file_get_uri (file), cancellable, &local))
        return TRUE;
      if (local != NULL)
        {
          g_propagate_error (error, g_steal_pointer (&local));
          return FALSE;
        }
    }
  if (format == TOKEN_FORMAT_AUTO)
    format = token_header_is_npy (head, size)  ? TOKEN_FORMAT_NPY :
             token_header_is_llmc (head, size) ? TOKEN_FORMAT_LLMC :
                                                 TOKEN_FORMAT_FLAT;
  return open_array (self, format, head, size, error) && lay_out_array (self, format, error);
}

/* What was said of the ids has to be so: records have the type that follows from it. */
static gboolean
check_dtype (TokenRows *self, GError **error)
{
  TokenDtype wanted = self->settings->dtype;

  if (wanted == TOKEN_AUTO || wanted == self->dtype)
    return TRUE;
  return refuse (self, error, "its ids are %s, but dtype=%s", token_dtype_get_name (self->dtype),
                 token_dtype_get_name (wanted));
}

gboolean
token_rows_find_layout (TokenRows *self,
                        DlpFile *file,
                        guint64 row,
                        GCancellable *cancellable,
                        GError **error)
{
  if (!check_name (self, dlp_file_get_uri (file), error) ||
      !open_by_content (self, file, cancellable, error) || !check_dtype (self, error))
    return FALSE;
  self->width = token_dtype_get_width (self->dtype);
  if (self->layout == TOKEN_LAYOUT_SEPARATED)
    return token_separated_pass (self, row, cancellable, error);
  self->row = MIN (row, self->n_rows);
  return TRUE;
}
