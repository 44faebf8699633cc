/* SPDX-License-Identifier: MIT */

#include "dedup-run.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/* ---- the file ---- */

static gboolean
fail (const char *what, int code, gsize size, GError **error)
{
  g_set_error (
      error, G_IO_ERROR, g_io_error_from_errno (code),
      "cannot %s %zu bytes of the scratch file with the hashes that do not fit the memory: "
      "%s; a larger --memory needs none",
      what, size, g_strerror (code));
  return FALSE;
}

static gboolean
write_slots (int fd, const DedupKey *slots, gsize n, guint64 at, GError **error)
{
  const guint8 *data = (const guint8 *) slots;
  gsize size = n * sizeof *slots;
  gsize done = 0;

  while (done < size)
    {
      gssize k = pwrite (fd, data + done, size - done, (off_t) (at * sizeof *slots + done));

      if (k < 0 && errno == EINTR)
        continue;
      if (k <= 0)
        return fail ("write", k < 0 ? errno : ENOSPC, size - done, error);
      done += (gsize) k;
    }
  return TRUE;
}

static gboolean
read_slots (int fd, DedupKey *slots, gsize n, guint64 at, GError **error)
{
  guint8 *data = (guint8 *) slots;
  gsize size = n * sizeof *slots;
  gsize done = 0;

  while (done < size)
    {
      gssize k = pread (fd, data + done, size - done, (off_t) (at * sizeof *slots + done));

      if (k < 0 && errno == EINTR)
        continue;
      if (k <= 0)
        return fail ("read", k < 0 ? errno : EIO, size - done, error);
      done += (gsize) k;
    }
  return TRUE;
}

/* ---- a run ---- */

DedupRun *
dedup_run_new (int fd, guint64 n_keys, gsize max_filter_bytes)
{
  DedupRun *self = g_new0 (DedupRun, 1);

  self->fd = fd;
  self->n_keys = n_keys;
  /* As full as a table in memory. */
  self->capacity = n_keys + n_keys / 3 + 1;
  dedup_filter_init (&self->filter, n_keys, max_filter_bytes);
  return self;
}

void
dedup_run_free (DedupRun *self)
{
  close (self->fd);
  dedup_filter_clear (&self->filter);
  g_free (self);
}

gboolean
dedup_run_may_contain (const DedupRun *self, const DedupKey *key)
{
  return dedup_filter_may_contain (&self->filter, key);
}

/* The first slot of the page that has this one. */
static guint64
page_of (guint64 slot)
{
  return slot - slot % DEDUP_PAGE;
}

void
dedup_run_advise (const DedupRun *self, const DedupKey *key)
{
  guint64 page = page_of (dedup_key_place (key, self->capacity));

  posix_fadvise (self->fd, (off_t) (page * sizeof (DedupKey)), DEDUP_PAGE * sizeof (DedupKey),
                 POSIX_FADV_WILLNEED);
}

/* A key whose place is near the end of a page may be in the next one. */
gboolean
dedup_run_contains (const DedupRun *self,
                    const DedupKey *key,
                    DedupKey *page,
                    gboolean *found,
                    GError **error)
{
  guint64 slot = dedup_key_place (key, self->capacity);

  *found = FALSE;
  while (slot < self->n_slots)
    {
      guint64 first = page_of (slot);
      gsize n = (gsize) MIN (DEDUP_PAGE, self->n_slots - first);
      gsize at = (gsize) (slot - first);

      if (!read_slots (self->fd, page, n, first, error))
        return FALSE;
      *found = dedup_slots_find (page, n, key, &at);
      if (*found || at < n)
        return TRUE;
      slot = first + n;
    }
  return TRUE;
}

/* ---- writing ---- */

void
dedup_run_writer_init (DedupRunWriter *self, DedupRun *run, gsize n_buffer)
{
  self->run = run;
  self->buffer = g_new (DedupKey, n_buffer);
  self->n_buffer = n_buffer;
  self->n_held = 0;
  self->written = 0;
}

void
dedup_run_writer_clear (DedupRunWriter *self)
{
  g_clear_pointer (&self->buffer, g_free);
}

static gboolean
flush (DedupRunWriter *self, GError **error)
{
  if (!write_slots (self->run->fd, self->buffer, self->n_held, self->written, error))
    return FALSE;
  self->written += self->n_held;
  self->n_held = 0;
  return TRUE;
}

static gboolean
put (DedupRunWriter *self, const DedupKey *key, GError **error)
{
  if (self->n_held == self->n_buffer && !flush (self, error))
    return FALSE;
  self->buffer[self->n_held++] = *key;
  return TRUE;
}

gboolean
dedup_run_writer_add (DedupRunWriter *self, const DedupKey *key, GError **error)
{
  static const DedupKey none = { 0, 0 };
  guint64 place = dedup_key_place (key, self->run->capacity);

  while (self->written + self->n_held < place)
    if (!put (self, &none, error))
      return FALSE;
  dedup_filter_add (&self->run->filter, key);
  return put (self, key, error);
}

gboolean
dedup_run_writer_finish (DedupRunWriter *self, GError **error)
{
  if (!flush (self, error))
    return FALSE;
  self->run->n_slots = self->written;
  return TRUE;
}

/* ---- reading ---- */

void
dedup_run_reader_init (DedupRunReader *self, const DedupRun *run, gsize n_buffer)
{
  self->run = run;
  self->buffer = g_new (DedupKey, n_buffer);
  self->n_buffer = n_buffer;
  self->n_held = self->at = 0;
  self->next = 0;
}

void
dedup_run_reader_clear (DedupRunReader *self)
{
  g_clear_pointer (&self->buffer, g_free);
}

gboolean
dedup_run_reader_next (DedupRunReader *self, const DedupKey **key, GError **error)
{
  *key = NULL;
  for (;;)
    {
      while (self->at < self->n_held)
        if (!dedup_key_is_empty (&self->buffer[self->at++]))
          {
            *key = &self->buffer[self->at - 1];
            return TRUE;
          }
      self->n_held = (gsize) MIN (self->n_buffer, self->run->n_slots - self->next);
      self->at = 0;
      if (self->n_held == 0)
        return TRUE;
      if (!read_slots (self->run->fd, self->buffer, self->n_held, self->next, error))
        return FALSE;
      self->next += self->n_held;
    }
}
