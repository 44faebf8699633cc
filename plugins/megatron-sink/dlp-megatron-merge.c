/* SPDX-License-Identifier: MIT */

#include "dlp-megatron-merge.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include <dlpipe/dlp-error.h>
#include <dlpipe/dlp-manifest.h>

#include "dlp-megatron-index.h"
#include "dlp-megatron-writer.h"

#define PIECE 65536 /* entries */

/* What the manifest of a part says. */
typedef struct
{
  guint width;
  guint64 tokens;
  guint64 sequences;
  guint64 documents;
} Part;

typedef struct
{
  DlpMerge *merge;
  Part *parts;
  guint n_parts;
  Part whole;
  guint64 idx_length;
  gint64 *entries; /* PIECE of them */
} Job;

/* ---- what there is ---- */

/* The .bin has the bytes of the tokens. */
static gboolean
has_files (GVariant *manifest, const Part *part)
{
  guint64 bytes, hash;
  const char *name;

  if (dlp_manifest_get_n_files (manifest) != (part->sequences > 0 ? 2 : 0))
    return FALSE;
  if (part->sequences == 0)
    return TRUE;
  dlp_manifest_get_file (manifest, 0, &name, &bytes, &hash);
  return part->tokens <= G_MAXINT64 && bytes == part->tokens * part->width;
}

static gboolean
read_part (DlpMerge *merge, guint i, Part *part, GError **error)
{
  GVariant *manifest = dlp_merge_get_manifest (merge, i);
  const char *dtype = dlp_manifest_get_string (manifest, "dtype");

  part->width = g_strcmp0 (dtype, "uint16") == 0 ? 2 : 4;
  if (dlp_manifest_get_uint64 (manifest, "tokens", &part->tokens) &&
      dlp_manifest_get_uint64 (manifest, "sequences", &part->sequences) &&
      dlp_manifest_get_uint64 (manifest, "documents", &part->documents) && dtype != NULL &&
      has_files (manifest, part))
    return TRUE;
  g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_DAMAGED,
               "part %u: its manifest is not one of megatron-sink: it needs tokens, sequences, "
               "documents and dtype, and a .bin and a .idx",
               i);
  return FALSE;
}

static gboolean
add_part (Part *whole, const Part *part, guint i, GError **error)
{
  if (i > 0 && part->width != whole->width)
    g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_DAMAGED,
                 "part %u: its tokens have %u bytes, and those of part 0 have %u; they cannot be "
                 "one dataset",
                 i, part->width, whole->width);
  else if (__builtin_add_overflow (whole->tokens, part->tokens, &whole->tokens) ||
           __builtin_add_overflow (whole->sequences, part->sequences, &whole->sequences) ||
           __builtin_add_overflow (whole->documents, part->documents, &whole->documents))
    g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_RANGE,
                 "part %u: with it there are more than 2^64 - 1 tokens", i);
  else
    {
      whole->width = part->width;
      return TRUE;
    }
  return FALSE;
}

static gboolean
read_parts (Job *self, GError **error)
{
  for (guint i = 0; i < self->n_parts; i++)
    if (!read_part (self->merge, i, &self->parts[i], error) ||
        !add_part (&self->whole, &self->parts[i], i, error))
      return FALSE;
  if (dlp_megatron_index_get_length (self->whole.width, self->whole.tokens, self->whole.sequences,
                                     self->whole.documents, &self->idx_length))
    return TRUE;
  g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_RANGE,
               "%s: %" G_GUINT64_FORMAT " tokens in %" G_GUINT64_FORMAT
               " sequences are more than 2^63 - 1 bytes",
               dlp_merge_get_location (self->merge), self->whole.tokens, self->whole.sequences);
  return FALSE;
}

/* An index whose hash is right, and whose counts are those of its manifest. */
static gboolean
check_index (Job *self, guint i, GError **error)
{
  const Part *part = &self->parts[i];
  guint64 bytes, hash, wanted;
  const char *name;

  dlp_manifest_get_file (dlp_merge_get_manifest (self->merge, i), 1, &name, &bytes, &hash);
  if (dlp_megatron_index_get_length (part->width, part->tokens, part->sequences, part->documents,
                                     &wanted) &&
      wanted == bytes)
    return dlp_merge_check_file (self->merge, i, 1, error);
  g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_DAMAGED,
               "%s: by its manifest it has %" G_GUINT64_FORMAT
               " bytes, which is not the index of %" G_GUINT64_FORMAT
               " sequences and %" G_GUINT64_FORMAT " documents",
               name, bytes, part->sequences, part->documents);
  return FALSE;
}

/* ---- the index ---- */

static gboolean
read_entries (int fd, const char *path, gint64 *entries, gsize n, guint64 offset, GError **error)
{
  gsize size = n * sizeof (gint64);

  for (gsize done = 0; done < size;)
    {
      gssize k = TEMP_FAILURE_RETRY (
          pread (fd, (char *) entries + done, size - done, (off_t) (offset + done)));

      if (k <= 0)
        {
          g_set_error (error, G_IO_ERROR,
                       k < 0 ? (int) g_io_error_from_errno (errno) : G_IO_ERROR_INVALID_DATA,
                       "%s: cannot read: %s", path, k < 0 ? g_strerror (errno) : "it ends early");
          return FALSE;
        }
      done += (gsize) k;
    }
  return TRUE;
}

static gboolean
append_shifted_from (Job *self,
                     int fd,
                     const char *path,
                     guint64 offset,
                     guint64 n,
                     gint64 shift,
                     GError **error)
{
  while (n > 0)
    {
      gsize k = (gsize) MIN (n, PIECE);

      if (!read_entries (fd, path, self->entries, k, offset, error))
        return FALSE;
      for (gsize i = 0; i < k; i++)
        self->entries[i] += shift;
      if (!dlp_merge_write (self->merge, self->entries, k * sizeof (gint64), error))
        return FALSE;
      offset += k * sizeof (gint64);
      n -= k;
    }
  return TRUE;
}

/* @n numbers of an index, each more by @shift. */
static gboolean
append_shifted (Job *self, guint part, guint64 offset, guint64 n, gint64 shift, GError **error)
{
  g_autofree char *path = dlp_merge_get_path (self->merge, part, 1);
  int fd = TEMP_FAILURE_RETRY (open (path, O_RDONLY | O_CLOEXEC));
  gboolean ok;

  if (fd < 0)
    {
      g_set_error (error, G_IO_ERROR, (int) g_io_error_from_errno (errno), "%s: cannot open: %s",
                   path, g_strerror (errno));
      return FALSE;
    }
  ok = append_shifted_from (self, fd, path, offset, n, shift, error);
  close (fd);
  return ok;
}

/* Documents without tokens, of a part that has no others. */
static gboolean
append_same (Job *self, guint64 n, gint64 value, GError **error)
{
  for (gsize i = 0; i < MIN (n, PIECE); i++)
    self->entries[i] = value;
  while (n > 0)
    {
      gsize k = (gsize) MIN (n, PIECE);

      if (!dlp_merge_write (self->merge, self->entries, k * sizeof (gint64), error))
        return FALSE;
      n -= k;
    }
  return TRUE;
}

static gboolean
append_lengths (Job *self, GError **error)
{
  for (guint i = 0; i < self->n_parts; i++)
    if (self->parts[i].sequences > 0 &&
        !dlp_merge_append_range (self->merge, i, 1, DLP_MEGATRON_HEADER_SIZE,
                                 4 * self->parts[i].sequences, error))
      return FALSE;
  return TRUE;
}

static gboolean
append_pointers (Job *self, GError **error)
{
  guint64 before = 0;

  for (guint i = 0; i < self->n_parts; i++)
    {
      const Part *part = &self->parts[i];

      if (part->sequences > 0 &&
          !append_shifted (self, i, DLP_MEGATRON_HEADER_SIZE + 4 * part->sequences, part->sequences,
                           (gint64) before, error))
        return FALSE;
      before += part->tokens * part->width;
    }
  return TRUE;
}

/* Each part's list begins with a 0, of which the whole has one. */
static gboolean
append_documents (Job *self, GError **error)
{
  guint64 before = 0;

  if (!append_same (self, 1, 0, error))
    return FALSE;
  for (guint i = 0; i < self->n_parts; i++)
    {
      const Part *part = &self->parts[i];
      guint64 offset = DLP_MEGATRON_HEADER_SIZE + 12 * part->sequences + 8;

      if (part->sequences == 0 ?
              !append_same (self, part->documents, (gint64) before, error) :
              !append_shifted (self, i, offset, part->documents, (gint64) before, error))
        return FALSE;
      before += part->sequences;
    }
  return TRUE;
}

static gboolean
write_index (Job *self, const DlpMegatronPaths *paths, GError **error)
{
  guint8 header[DLP_MEGATRON_HEADER_SIZE];

  for (guint i = 0; i < self->n_parts; i++)
    if (self->parts[i].sequences > 0 && !check_index (self, i, error))
      return FALSE;
  dlp_megatron_index_fill_header (header, self->whole.width, self->whole.sequences,
                                  self->whole.documents);
  return dlp_merge_begin_file (self->merge, paths->idx, error) &&
         dlp_merge_write (self->merge, header, sizeof header, error) &&
         append_lengths (self, error) && append_pointers (self, error) &&
         append_documents (self, error) && dlp_merge_end_file (self->merge, error);
}

static gboolean
write_tokens (Job *self, const DlpMegatronPaths *paths, GError **error)
{
  if (!dlp_merge_begin_file (self->merge, paths->bin, error))
    return FALSE;
  for (guint i = 0; i < self->n_parts; i++)
    if (self->parts[i].sequences > 0 && !dlp_merge_append_file (self->merge, i, 0, error))
      return FALSE;
  return dlp_merge_end_file (self->merge, error);
}

gboolean
dlp_megatron_merge (DlpMerge *merge, GError **error)
{
  guint n = dlp_merge_get_n_parts (merge);
  g_autofree Part *parts = g_new0 (Part, n);
  g_autofree gint64 *entries = g_new (gint64, PIECE);
  Job job = { .merge = merge, .parts = parts, .n_parts = n, .entries = entries };
  g_auto (DlpMegatronPaths) paths = { NULL };

  dlp_megatron_paths_init (&paths, dlp_merge_get_location (merge));
  return read_parts (&job, error) &&
         (job.whole.sequences == 0 ||
          (write_tokens (&job, &paths, error) && write_index (&job, &paths, error)));
}
