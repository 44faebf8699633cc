/* SPDX-License-Identifier: MIT */
#include "dlp-model-private.h"

typedef struct
{
  DlpModel parent;
  guint32 offset;
  guint8 bytes[256];
} Bytes;

static gsize
encode (const DlpModel *model, DlpModelScratch *scratch, const guint8 *p, gsize len, guint32 *ids)
{
  const Bytes *self = (const Bytes *) model;

  for (gsize i = 0; i < len; i++)
    ids[i] = p[i] + self->offset;
  return len;
}

static const guint8 *
get_token (const DlpModel *model, guint32 id, gsize *len)
{
  const Bytes *self = (const Bytes *) model;

  if (id < self->offset || id - self->offset > 255)
    return NULL;
  *len = 1;
  return &self->bytes[id - self->offset];
}

static guint32
lookup (const DlpModel *model, const char *content, gsize len)
{
  const Bytes *self = (const Bytes *) model;

  return len == 1 ? (guint8) content[0] + self->offset : DLP_ID_NONE;
}

static gsize
find_cut (const DlpModel *model, const guint8 *p, gsize len, gsize from)
{
  return MIN (from, len);
}

static void
hash_model (const DlpModel *model, GChecksum *checksum)
{
  g_checksum_update (checksum, (const guchar *) "bytes", -1);
  dlp_checksum_add_uint (checksum, ((const Bytes *) model)->offset);
}

static void
free_model (DlpModel *model)
{
  g_free (model);
}

static const DlpModelClass bytes_class = {
  .encode = encode,
  .get_token = get_token,
  .lookup = lookup,
  .find_cut = find_cut,
  .hash = hash_model,
  .free = free_model,
};

DlpModel *
dlp_model_new_bytes (guint32 offset)
{
  Bytes *self = g_new0 (Bytes, 1);

  g_return_val_if_fail (offset < DLP_ID_LIMIT - 256, NULL);

  self->parent.klass = &bytes_class;
  self->parent.n_ids = offset + 256;
  self->parent.unknown_id = DLP_ID_NONE;
  self->parent.byte_level = TRUE;
  self->parent.can_cut = TRUE;
  self->offset = offset;
  for (guint i = 0; i < 256; i++)
    self->bytes[i] = i;
  return &self->parent;
}
