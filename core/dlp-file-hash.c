/* SPDX-License-Identifier: MIT */

#include <dlpipe/dlp-file-hash.h>

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <dlpipe/dlp-error.h>

#include "dlp-durable-private.h"

#define READ_SIZE ((gsize) 1024 * 1024)

struct _DlpFileHash
{
  gint ref_count; /* only bindings hold more than one */
  guint64 chain;
  guint64 filled; /* bytes of the open block */
  XXH3_state_t *block;
};

static DlpFileHash *
dlp_file_hash_ref (DlpFileHash *self)
{
  g_atomic_int_inc (&self->ref_count);
  return self;
}

G_DEFINE_BOXED_TYPE (DlpFileHash, dlp_file_hash, dlp_file_hash_ref, dlp_file_hash_free)

DlpFileHash *
dlp_file_hash_new (void)
{
  DlpFileHash *self = g_new (DlpFileHash, 1);

  self->ref_count = 1;
  self->chain = 0;
  self->filled = 0;
  self->block = XXH3_createState ();
  XXH3_64bits_reset (self->block);
  return self;
}

void
dlp_file_hash_free (DlpFileHash *self)
{
  if (self == NULL || !g_atomic_int_dec_and_test (&self->ref_count))
    return;

  XXH3_freeState (self->block);
  g_free (self);
}

static guint64
add_block (DlpFileHash *self)
{
  const guint64 pair[] = { GUINT64_TO_LE (self->chain),
                           GUINT64_TO_LE (XXH3_64bits_digest (self->block)) };

  return XXH3_64bits (pair, sizeof pair);
}

void
dlp_file_hash_update (DlpFileHash *self, gconstpointer data, gsize size)
{
  while (size > 0)
    {
      gsize n = (gsize) MIN (size, DLP_FILE_HASH_BLOCK - self->filled);

      XXH3_64bits_update (self->block, data, n);
      self->filled += n;
      data = (const guint8 *) data + n;
      size -= n;
      if (self->filled < DLP_FILE_HASH_BLOCK)
        continue;
      self->chain = add_block (self);
      self->filled = 0;
      XXH3_64bits_reset (self->block);
    }
}

guint64
dlp_file_hash_get_chain (DlpFileHash *self)
{
  return self->chain;
}

guint64
dlp_file_hash_get (DlpFileHash *self)
{
  return self->filled > 0 ? add_block (self) : self->chain;
}

static gboolean
read_range (DlpFileHash *self,
            int fd,
            const char *path,
            guint64 begin,
            guint64 end,
            GCancellable *cancellable,
            GError **error)
{
  g_autofree char *buffer = g_malloc (READ_SIZE);

  while (begin < end)
    {
      gssize n;

      if (g_cancellable_set_error_if_cancelled (cancellable, error))
        return FALSE;
      n = dlp_durable_read (fd, path, buffer, (gsize) MIN (end - begin, READ_SIZE), begin, error);
      if (n < 0)
        return FALSE;
      if (n == 0)
        {
          g_set_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CHANGED,
                       "%s: ends at byte %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT, path, begin,
                       end);
          return FALSE;
        }
      dlp_file_hash_update (self, buffer, (gsize) n);
      begin += (guint64) n;
    }
  return TRUE;
}

static gboolean
read_file (DlpFileHash *self,
           const char *path,
           guint64 begin,
           guint64 end,
           GCancellable *cancellable,
           GError **error)
{
  int fd = TEMP_FAILURE_RETRY (open (path, O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  gboolean ok;

  if (fd < 0)
    {
      dlp_durable_set_error (error, errno, "%s: cannot open", path);
      return FALSE;
    }

  ok = read_range (self, fd, path, begin, end, cancellable, error);
  close (fd);
  return ok;
}

static gboolean
check_hash (DlpFileHash *self, const char *path, guint64 length, guint64 hash, GError **error)
{
  if (dlp_file_hash_get (self) == hash)
    return TRUE;
  g_set_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CHANGED,
               "%s: bytes %" G_GUINT64_FORMAT " to %" G_GUINT64_FORMAT
               " are not what was written: their hash is %016" G_GINT64_MODIFIER
               "x, the checkpoint says %016" G_GINT64_MODIFIER "x; begin anew with --restart",
               path, length - length % DLP_FILE_HASH_BLOCK, length, dlp_file_hash_get (self), hash);
  return FALSE;
}

DlpFileHash *
dlp_file_hash_resume (const char *path,
                      guint64 length,
                      guint64 chain,
                      guint64 hash,
                      GCancellable *cancellable,
                      GError **error)
{
  g_autoptr (DlpFileHash) self = dlp_file_hash_new ();

  g_return_val_if_fail (path != NULL, NULL);

  self->chain = chain;
  if (!read_file (self, path, length - length % DLP_FILE_HASH_BLOCK, length, cancellable, error) ||
      !check_hash (self, path, length, hash, error))
    return NULL;
  return g_steal_pointer (&self);
}

gboolean
dlp_file_hash_read (const char *path,
                    guint64 length,
                    GCancellable *cancellable,
                    guint64 *hash,
                    GError **error)
{
  g_autoptr (DlpFileHash) self = dlp_file_hash_new ();

  g_return_val_if_fail (path != NULL && hash != NULL, FALSE);

  if (!read_file (self, path, 0, length, cancellable, error))
    return FALSE;
  *hash = dlp_file_hash_get (self);
  return TRUE;
}
