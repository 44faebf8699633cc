/* SPDX-License-Identifier: MIT */

#include "dataset.h"

#include <string.h>

#define PIECE 65536 /* entries */

typedef struct
{
  const DatasetLocation *location;
  DatasetReport *report;
  DatasetMegatron megatron;
  guint64 tokens; /* by the index */
} Verify;

static void
add_error (Verify *self, GError *error)
{
  dataset_report_add (self->report, "%s", error->message);
  g_error_free (error);
}

/* The whole file once, for its hash. */
static void
check_hash (Verify *self, const DatasetFile *file)
{
  g_autofree guint8 *data = g_malloc (PIECE);
  g_autoptr (DlpFileHash) hash = dlp_file_hash_new ();
  GError *error = NULL;

  for (guint64 offset = 0; offset < file->size && error == NULL; offset += PIECE)
    {
      gsize n = (gsize) MIN (PIECE, file->size - offset);

      if (dataset_file_read (file, offset, data, n, &error))
        dlp_file_hash_update (hash, data, n);
    }

  if (error != NULL)
    add_error (self, error);
  else
    dataset_verify_file (self->location, self->report, file->path, file->size,
                         dlp_file_hash_get (hash));
}

/* ---- the index ---- */

/* Each length, and that each pointer is the sum of those before it. */
static gboolean
check_sequences (Verify *self, GError **error)
{
  const DatasetMegatron *megatron = &self->megatron;
  g_autofree gint32 *lengths = g_new (gint32, PIECE);
  g_autofree gint64 *pointers = g_new (gint64, PIECE);
  guint64 next = 0;

  for (guint64 i = 0; i < megatron->sequences; i += PIECE)
    {
      gsize n = (gsize) MIN (PIECE, megatron->sequences - i);

      if (!dataset_file_read (&megatron->idx, megatron->lengths_at + 4 * i, lengths, 4 * n,
                              error) ||
          !dataset_file_read (&megatron->idx, megatron->pointers_at + 8 * i, pointers, 8 * n,
                              error))
        return FALSE;
      for (gsize k = 0; k < n; k++)
        {
          if (lengths[k] < 0)
            dataset_report_add (self->report, "%s: sequence %" G_GUINT64_FORMAT " has length %d",
                                megatron->idx.path, i + k, lengths[k]);
          if (pointers[k] < 0 || (guint64) pointers[k] != next)
            dataset_report_add (self->report,
                                "%s: sequence %" G_GUINT64_FORMAT
                                " begins at byte %" G_GINT64_FORMAT
                                ", the ones before it end at %" G_GUINT64_FORMAT,
                                megatron->idx.path, i + k, pointers[k], next);
          /* At most 2^31 times 8 times the number of lengths that a file can hold: it cannot wrap.
           */
          next += (guint64) MAX (lengths[k], 0) * megatron->width;
        }
    }

  self->tokens = next / megatron->width;
  if (next != megatron->bin.size)
    dataset_report_add (self->report,
                        "%s: the sequences have %" G_GUINT64_FORMAT
                        " bytes, %s has %" G_GUINT64_FORMAT,
                        megatron->idx.path, next, megatron->bin.path, megatron->bin.size);
  return TRUE;
}

static gboolean
check_documents (Verify *self, GError **error)
{
  const DatasetMegatron *megatron = &self->megatron;
  g_autofree gint64 *ends = g_new (gint64, PIECE);
  gint64 last = 0;

  for (guint64 i = 0; i <= megatron->documents; i += PIECE)
    {
      gsize n = (gsize) MIN (PIECE, megatron->documents + 1 - i);

      if (!dataset_file_read (&megatron->idx, megatron->documents_at + 8 * i, ends, 8 * n, error))
        return FALSE;
      for (gsize k = 0; k < n; k++)
        {
          if (i + k == 0 && ends[k] != 0)
            dataset_report_add (self->report,
                                "%s: document_indices[0] is %" G_GINT64_FORMAT ", not 0",
                                megatron->idx.path, ends[k]);
          else if (ends[k] < last)
            dataset_report_add (self->report,
                                "%s: document_indices[%" G_GUINT64_FORMAT "] is %" G_GINT64_FORMAT
                                ", less than %" G_GINT64_FORMAT " before it",
                                megatron->idx.path, i + k, ends[k], last);
          last = ends[k];
        }
    }

  if (last < 0 || (guint64) last != megatron->sequences)
    dataset_report_add (self->report,
                        "%s: the last of document_indices is %" G_GINT64_FORMAT
                        ", there are %" G_GUINT64_FORMAT " sequences",
                        megatron->idx.path, last, megatron->sequences);
  return TRUE;
}

/* ---- the ids ---- */

static void
report_id (Verify *self, guint64 token, gint64 id)
{
  if (self->report->vocabulary > 0)
    dataset_report_add (self->report,
                        "%s: token %" G_GUINT64_FORMAT " is id %" G_GINT64_FORMAT
                        "; allowed are 0 to %" G_GUINT64_FORMAT,
                        self->megatron.bin.path, token, id, self->report->vocabulary - 1);
  else
    dataset_report_add (self->report,
                        "%s: token %" G_GUINT64_FORMAT " is id %" G_GINT64_FORMAT
                        ", which is negative",
                        self->megatron.bin.path, token, id);
}

#define DEFINE_CHECK(type)                                                                         \
  static void check_ids_##type (Verify *self, const void *data, gsize n, guint64 token)            \
  {                                                                                                \
    const type *ids = data;                                                                        \
    guint64 limit = self->report->vocabulary > 0 ? self->report->vocabulary : G_MAXUINT64;         \
                                                                                                   \
    for (gsize i = 0; i < n; i++)                                                                  \
      if (G_UNLIKELY ((gint64) ids[i] < 0 || (guint64) ids[i] >= limit))                           \
        report_id (self, token + i, (gint64) ids[i]);                                              \
  }

DEFINE_CHECK (guint8)
DEFINE_CHECK (gint8)
DEFINE_CHECK (gint16)
DEFINE_CHECK (guint16)
DEFINE_CHECK (gint32)
DEFINE_CHECK (gint64)

typedef void (*CheckFunc) (Verify *self, const void *data, gsize n, guint64 token);

static const CheckFunc checks[] = { NULL,
                                    check_ids_guint8,
                                    check_ids_gint8,
                                    check_ids_gint16,
                                    check_ids_gint32,
                                    check_ids_gint64,
                                    NULL,
                                    NULL,
                                    check_ids_guint16 };

/* Hash and ids in one reading. */
static gboolean
check_bin (Verify *self, GError **error)
{
  const DatasetMegatron *megatron = &self->megatron;
  /* Of eight bytes, so that it is aligned for each type. */
  g_autofree guint64 *data = g_new (guint64, PIECE);
  const gsize piece = PIECE * sizeof (guint64);
  g_autoptr (DlpFileHash) hash = dlp_file_hash_new ();
  gboolean ok = TRUE;

  for (guint64 offset = 0; offset < megatron->bin.size && ok; offset += piece)
    {
      gsize n = (gsize) MIN (piece, megatron->bin.size - offset);

      ok = dataset_file_read (&megatron->bin, offset, data, n, error);
      if (!ok)
        break;
      dlp_file_hash_update (hash, data, n);
      checks[megatron->code](self, data, n / megatron->width, offset / megatron->width);
    }

  if (ok)
    dataset_verify_file (self->location, self->report, megatron->bin.path, megatron->bin.size,
                         dlp_file_hash_get (hash));
  return ok;
}

static gboolean
verify (Verify *self, GError **error)
{
  const char *said;

  if (!dataset_megatron_open (&self->megatron, self->location, error))
    return FALSE;

  said = self->location->manifest != NULL ?
             dlp_manifest_get_string (self->location->manifest, "dtype") :
             NULL;
  if (said != NULL && strcmp (said, dataset_megatron_get_dtype (&self->megatron)) != 0)
    dataset_report_add (self->report, "%s: dtype code %u at byte 17 is %s, the manifest says %s",
                        self->megatron.idx.path, self->megatron.code,
                        dataset_megatron_get_dtype (&self->megatron), said);
  if (self->megatron.bin.size % self->megatron.width != 0)
    dataset_report_add (self->report, "%s: has %" G_GUINT64_FORMAT " bytes, not whole tokens of %u",
                        self->megatron.bin.path, self->megatron.bin.size, self->megatron.width);

  check_hash (self, &self->megatron.idx);
  return check_sequences (self, error) && check_documents (self, error) && check_bin (self, error);
}

void
dataset_verify_megatron (const DatasetLocation *location, DatasetReport *report)
{
  Verify self = { location, report, { .bin.fd = -1, .idx.fd = -1 }, 0 };
  GError *error = NULL;

  if (verify (&self, &error))
    {
      dataset_verify_count (location, report, "documents", self.megatron.documents);
      dataset_verify_count (location, report, "sequences", self.megatron.sequences);
      dataset_verify_count (location, report, "tokens", self.tokens);
    }
  else
    add_error (&self, error);
  dataset_megatron_clear (&self.megatron);
}
