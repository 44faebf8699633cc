/* SPDX-License-Identifier: MIT */

#include "dlp-context-private.h"

DlpContext *
dlp_context_new (void)
{
  DlpContext *self = g_new0 (DlpContext, 1);

  self->cancellable = g_cancellable_new ();
  self->memory_share = 16 * 1024 * 1024;
  self->attempt = 1;
  self->inputs = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  self->warnings = g_ptr_array_new_with_free_func (g_free);
  pthread_mutex_init (&self->inputs_lock, NULL);
  pthread_mutex_init (&self->warnings_lock, NULL);
  return self;
}

void
dlp_context_free (DlpContext *self)
{
  g_clear_pointer (&self->pool, dlp_work_pool_free);
  g_clear_object (&self->cancellable);
  g_hash_table_unref (self->inputs);
  g_ptr_array_unref (self->warnings);
  pthread_mutex_destroy (&self->inputs_lock);
  pthread_mutex_destroy (&self->warnings_lock);
  g_free (self->run_id);
  g_free (self);
}
