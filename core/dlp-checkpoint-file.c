/* SPDX-License-Identifier: MIT */

#include "dlp-state-dir-private.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include <xxhash.h>

#include "dlp-durable-private.h"

/* docs/internals/checkpoint.md has the layout. Magic, version and the checksum at the end are where
 * they are in every version to come, so that a newer file can be told from a damaged one. */
#define MAGIC "DLPSTATE"
#define FORMAT_VERSION 1
#define HEADER_SIZE 24
#define CHECKSUM_SIZE ((gsize) sizeof (XXH128_canonical_t))
#define LARGE DLP_CHECKPOINT_LARGE
#define PIECE ((gsize) 1 << 20)

/* A checkpoint, or what is taken for one: in memory, or still in a file. */
typedef struct
{
  const guint8 *head; /* the first bytes: as many as there are, HEADER_SIZE at least do */
  guint64 size;
  const guint8 *data; /* all of it; NULL: it is in a file */
  int fd;
  const char *path;
} Image;

static guint32
read_u32 (const guint8 *data)
{
  guint32 value;

  memcpy (&value, data, sizeof value);
  return GUINT32_FROM_LE (value);
}

static guint64
read_u64 (const guint8 *data)
{
  guint64 value;

  memcpy (&value, data, sizeof value);
  return GUINT64_FROM_LE (value);
}

static void
compute_checksum (const guint8 *data, gsize size, XXH128_canonical_t *checksum)
{
  XXH128_canonicalFromHash (checksum, XXH3_128bits (data, size));
}

GBytes *
dlp_checkpoint_encode (GVariant *payload)
{
  g_autoptr (GVariant) floating = g_variant_ref_sink (payload);
  g_autoptr (GVariant) normal = NULL;
  guint32 version = GUINT32_TO_LE (FORMAT_VERSION);
  guint64 size, size_le;
  XXH128_canonical_t checksum;
  guint8 *data;

  g_return_val_if_fail (g_variant_is_of_type (floating, G_VARIANT_TYPE_VARDICT), NULL);

#if G_BYTE_ORDER == G_BIG_ENDIAN
  normal = g_variant_byteswap (floating);
#else
  normal = g_variant_get_normal_form (floating);
#endif

  size = g_variant_get_size (normal);
  size_le = GUINT64_TO_LE (size);
  data = g_malloc0 (HEADER_SIZE + size + CHECKSUM_SIZE);
  memcpy (data, MAGIC, 8);
  memcpy (data + 8, &version, 4);
  memcpy (data + 16, &size_le, 8);
  g_variant_store (normal, data + HEADER_SIZE);
  compute_checksum (data, HEADER_SIZE + size, &checksum);
  memcpy (data + HEADER_SIZE + size, &checksum, CHECKSUM_SIZE);

  return g_bytes_new_take (data, HEADER_SIZE + size + CHECKSUM_SIZE);
}

/* In pieces: a file that is none must not fill the memory. */
static gboolean
compute_file_checksum (const Image *self, XXH128_canonical_t *checksum, GError **error)
{
  g_autofree guint8 *piece = g_malloc (PIECE);
  XXH3_state_t *state = XXH3_createState ();
  guint64 end = self->size - CHECKSUM_SIZE;
  gssize n = 1;

  XXH3_128bits_reset (state);
  for (guint64 at = 0; at < end && n > 0; at += (guint64) n)
    {
      n = dlp_durable_read (self->fd, self->path, piece, (gsize) MIN (end - at, PIECE), at, error);
      if (n > 0)
        XXH3_128bits_update (state, piece, (gsize) n);
    }
  XXH128_canonicalFromHash (checksum, XXH3_128bits_digest (state));
  XXH3_freeState (state);
  return n >= 0;
}

static gboolean
read_checksums (const Image *self,
                XXH128_canonical_t *computed,
                XXH128_canonical_t *stored,
                GError **error)
{
  gsize size = (gsize) self->size;

  if (self->data != NULL)
    {
      compute_checksum (self->data, size - CHECKSUM_SIZE, computed);
      memcpy (stored, self->data + size - CHECKSUM_SIZE, CHECKSUM_SIZE);
      return TRUE;
    }
  memset (stored, 0, sizeof *stored);
  return compute_file_checksum (self, computed, error) &&
         dlp_durable_read (self->fd, self->path, stored, CHECKSUM_SIZE, self->size - CHECKSUM_SIZE,
                           error) >= 0;
}

static gboolean
check_checksum (const Image *self, GError **error)
{
  XXH128_canonical_t computed, stored;

  if (!read_checksums (self, &computed, &stored, error))
    return FALSE;
  if (memcmp (&computed, &stored, CHECKSUM_SIZE) == 0)
    return TRUE;

  g_set_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CORRUPT,
               "damaged: the checksum over its first %" G_GUINT64_FORMAT " bytes is wrong",
               self->size - CHECKSUM_SIZE);
  return FALSE;
}

/* A file of this size, of this format. */
static gboolean
check_size (const Image *self, GError **error)
{
  guint64 has = self->size - HEADER_SIZE - CHECKSUM_SIZE;
  guint64 wanted = read_u64 (self->head + 16);

  if (has == wanted)
    return TRUE;

  g_set_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CORRUPT,
               "%s: it holds %" G_GUINT64_FORMAT
               " bytes of payload, its header says %" G_GUINT64_FORMAT,
               has < wanted ? "cut off" : "something follows its end", has, wanted);
  return FALSE;
}

static gboolean
check_version (const Image *self, GError **error)
{
  guint32 version = read_u32 (self->head + 8);
  guint32 flags = read_u32 (self->head + 12);

  if (version == FORMAT_VERSION)
    {
      if (!check_size (self, error) || !check_checksum (self, error))
        return FALSE;
      if (flags == 0)
        return TRUE;

      g_set_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_VERSION,
                   "written by a newer dlpipe, with flags 0x%x, this one knows none", flags);
      return FALSE;
    }

  /* A flipped bit in the version must not pass for a newer dlpipe. */
  if (!check_checksum (self, error))
    return FALSE;

  g_set_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_VERSION,
               "written by a%s dlpipe, format %u, this one reads %u",
               version > FORMAT_VERSION ? " newer" : "n older", version, FORMAT_VERSION);
  return FALSE;
}

static gboolean
check_header (const Image *self, GError **error)
{
  if (self->size == 0)
    {
      g_set_error_literal (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CORRUPT, "the file is empty");
      return FALSE;
    }
  if (memcmp (self->head, MAGIC, MIN (self->size, 8)) != 0)
    {
      g_set_error_literal (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CORRUPT,
                           "not a checkpoint: it does not begin with " MAGIC);
      return FALSE;
    }
  if (self->size < HEADER_SIZE + CHECKSUM_SIZE)
    {
      g_set_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CORRUPT,
                   "cut off: %" G_GUINT64_FORMAT " bytes, the least is %" G_GSIZE_FORMAT,
                   self->size, HEADER_SIZE + CHECKSUM_SIZE);
      return FALSE;
    }

  return check_version (self, error);
}

static gboolean
check_keys (GVariant *payload, GError **error)
{
  g_autoptr (GHashTable) seen = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  GVariantIter iter;
  char *key;

  g_variant_iter_init (&iter, payload);
  while (g_variant_iter_next (&iter, "{sv}", &key, NULL))
    {
      if (g_hash_table_contains (seen, key))
        {
          g_set_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CORRUPT,
                       "malformed: it has the key “%s” twice", key);
          g_free (key);
          return FALSE;
        }
      g_hash_table_add (seen, key);
    }

  return TRUE;
}

GVariant *
dlp_checkpoint_decode (GBytes *bytes, GError **error)
{
  gsize size;
  const guint8 *data = g_bytes_get_data (bytes, &size);
  Image image = { .head = data, .size = size, .data = data };
  g_autoptr (GBytes) inner = NULL;
  g_autoptr (GVariant) payload = NULL;

  if (!check_header (&image, error))
    return NULL;

  inner = g_bytes_new_from_bytes (bytes, HEADER_SIZE, size - HEADER_SIZE - CHECKSUM_SIZE);
  payload = g_variant_ref_sink (g_variant_new_from_bytes (G_VARIANT_TYPE_VARDICT, inner, FALSE));

  /* Also bounds the depth: GVariant calls nothing normal that is deeper than 128. */
  if (!g_variant_is_normal_form (payload))
    {
      g_set_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CORRUPT,
                   "malformed: its %" G_GSIZE_FORMAT " bytes of payload are not a serialised a{sv}",
                   g_bytes_get_size (inner));
      return NULL;
    }

#if G_BYTE_ORDER == G_BIG_ENDIAN
  {
    GVariant *swapped = g_variant_byteswap (payload);

    g_variant_unref (payload);
    payload = swapped;
  }
#endif

  return check_keys (payload, error) ? g_steal_pointer (&payload) : NULL;
}

gboolean
dlp_checkpoint_check_file (int fd, const char *path, guint64 size, GError **error)
{
  guint8 head[HEADER_SIZE];
  Image image = { .head = head, .size = size, .fd = fd, .path = path };
  gssize n;

  if (size < LARGE)
    return TRUE;
  n = dlp_durable_read (fd, path, head, sizeof head, 0, error);
  if (n < 0)
    return FALSE;
  /* Cut off meanwhile: whoever reads it sees that. */
  return n < (gssize) sizeof head || check_header (&image, error);
}

guint64
dlp_checkpoint_get_limit (const guint8 *data, gsize size, GError **error)
{
  guint64 payload;

  if (size == 0 || data[0] == '{')
    return G_MAXUINT64;
  if (memcmp (data, MAGIC, MIN (size, 8)) != 0)
    {
      g_set_error_literal (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CORRUPT,
                           "not a checkpoint: it does not begin with " MAGIC);
      return 0;
    }
  if (size < HEADER_SIZE)
    return LARGE;
  payload = read_u64 (data + 16);
  /* Of another version it is not known where the size is. */
  if (read_u32 (data + 8) != FORMAT_VERSION || payload > G_MAXUINT64 / 2)
    return LARGE;
  return HEADER_SIZE + payload + CHECKSUM_SIZE;
}

gboolean
dlp_checkpoint_identify (int folder,
                         const char *path,
                         const char *name,
                         gboolean *is_one,
                         GError **error)
{
  g_autofree char *full = g_build_filename (path, name, NULL);
  char magic[sizeof MAGIC - 1];
  int fd = TEMP_FAILURE_RETRY (openat (folder, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  gssize n;
  int code;

  *is_one = FALSE;
  if (fd < 0)
    {
      /* It went meanwhile, leads nowhere, or is a socket. */
      if (errno == ENOENT || errno == ELOOP || errno == ENXIO)
        return TRUE;
      dlp_durable_set_error (error, errno, "%s: cannot open", full);
      return FALSE;
    }
  n = TEMP_FAILURE_RETRY (pread (fd, magic, sizeof magic, 0));
  code = errno;
  close (fd);
  /* A folder or a pipe. */
  if (n < 0 && code != EISDIR && code != ESPIPE)
    {
      dlp_durable_set_error (error, code, "%s: cannot read", full);
      return FALSE;
    }
  *is_one = n == sizeof magic && memcmp (magic, MAGIC, sizeof magic) == 0;
  return TRUE;
}
