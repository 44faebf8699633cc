/* SPDX-License-Identifier: MIT */

#include "dlp-held-state.h"

#include <pthread.h>

struct _DlpHeldState
{
  gint ref_count;
  DlpHeldHeader header;
  pthread_mutex_t lock;       /* held while the file is written */
  DlpRecordSnapshot *records; /* lock; NULL: there is a file */
  DlpStateFile *file;         /* lock */
};

static DlpHeldState *
alloc (void)
{
  DlpHeldState *self = g_new0 (DlpHeldState, 1);

  self->ref_count = 1;
  pthread_mutex_init (&self->lock, NULL);
  return self;
}

DlpHeldState *
dlp_held_state_new (const DlpHeldHeader *header, DlpRecordSnapshot *records)
{
  DlpHeldState *self = alloc ();

  self->header = *header;
  self->records = records;
  return self;
}

DlpHeldState *
dlp_held_state_new_for_file (DlpStateFile *file)
{
  DlpHeldState *self = alloc ();

  self->file = file;
  return self;
}

DlpHeldState *
dlp_held_state_ref (DlpHeldState *self)
{
  g_atomic_int_inc (&self->ref_count);
  return self;
}

void
dlp_held_state_unref (DlpHeldState *self)
{
  if (!g_atomic_int_dec_and_test (&self->ref_count))
    return;
  g_clear_pointer (&self->records, dlp_record_snapshot_free);
  g_clear_pointer (&self->file, dlp_state_file_unref);
  pthread_mutex_destroy (&self->lock);
  g_free (self);
}

gboolean
dlp_held_state_write (DlpHeldState *self, DlpElement *element, GError **error)
{
  gboolean ok = TRUE;

  pthread_mutex_lock (&self->lock);
  if (self->file == NULL)
    {
      g_autoptr (DlpStateFile) file = dlp_state_file_new (element, error);

      ok = file != NULL && dlp_held_file_write (file, &self->header, self->records, error);
      if (ok)
        {
          self->file = g_steal_pointer (&file);
          g_clear_pointer (&self->records, dlp_record_snapshot_free);
        }
    }
  pthread_mutex_unlock (&self->lock);
  return ok;
}

DlpStateFile *
dlp_held_state_dup_file (DlpHeldState *self)
{
  DlpStateFile *file;

  pthread_mutex_lock (&self->lock);
  file = self->file != NULL ? dlp_state_file_ref (self->file) : NULL;
  pthread_mutex_unlock (&self->lock);
  return file;
}
