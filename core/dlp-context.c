/* SPDX-License-Identifier: MIT */

#include "dlp-context-private.h"

#include <sched.h>
#include <string.h>
#include <time.h>

DlpContext *
dlp_context_new (void)
{
  DlpContext *self = g_new0 (DlpContext, 1);

  self->cancellable = g_cancellable_new ();
  self->memory = 160 * 1024 * 1024;
  self->memory_share = 16 * 1024 * 1024;
  self->reservable = self->memory;
  self->attempt = 1;
  self->inputs = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  self->output_names = dlp_output_names_new ();
  self->state_files = dlp_state_files_new ();
  self->warnings = g_ptr_array_new_with_free_func (g_free);
  pthread_mutex_init (&self->inputs_lock, NULL);
  pthread_mutex_init (&self->warnings_lock, NULL);
  return self;
}

void
dlp_context_free (DlpContext *self)
{
  g_clear_pointer (&self->pool, dlp_work_pool_free);
  g_clear_pointer (&self->read_ahead, dlp_read_ahead_free);
  g_clear_object (&self->cancellable);
  g_hash_table_unref (self->inputs);
  dlp_output_names_free (self->output_names);
  dlp_state_files_leave_dir (self->state_files);
  dlp_state_files_forget_restored (self->state_files);
  dlp_state_files_unref (self->state_files);
  g_ptr_array_unref (self->warnings);
  pthread_mutex_destroy (&self->inputs_lock);
  pthread_mutex_destroy (&self->warnings_lock);
  g_free (self->run_id);
  g_free (self->discarded_run_id);
  g_free (self);
}

void
dlp_context_warn (DlpContext *self, const char *text)
{
  pthread_mutex_lock (&self->warnings_lock);
  self->n_warnings++;
  if (self->warnings->len < 100)
    g_ptr_array_add (self->warnings, g_strdup (text));
  pthread_mutex_unlock (&self->warnings_lock);
}

/* Each thread has its own sequence: one that is shared would order the threads. */
GVariant *
dlp_context_describe_inputs (DlpContext *self)
{
  GVariantBuilder builder;
  GHashTableIter iter;
  gpointer key, value;

  g_variant_builder_init (&builder, G_VARIANT_TYPE ("a(ayayay)"));
  pthread_mutex_lock (&self->inputs_lock);
  g_hash_table_iter_init (&iter, self->inputs);
  while (g_hash_table_iter_next (&iter, &key, &value))
    g_variant_builder_add (&builder, "(^ay^ay^ay)", key, value,
                           (const char *) value + strlen (value) + 1);
  pthread_mutex_unlock (&self->inputs_lock);
  return g_variant_builder_end (&builder);
}

void
dlp_context_add_input (DlpContext *self, const char *key, const char *identity, const char *uri)
{
  gsize n = strlen (identity) + 1;
  gsize n_uri = strlen (uri) + 1;
  char *both = g_malloc (n + n_uri);

  memcpy (both, identity, n);
  memcpy (both + n, uri, n_uri);
  g_hash_table_insert (self->inputs, g_strdup (key), both);
}

void
dlp_context_restore_inputs (DlpContext *self, GVariant *opened)
{
  GVariantIter iter;
  const char *key, *identity, *uri;

  pthread_mutex_lock (&self->inputs_lock);
  g_variant_iter_init (&iter, opened);
  while (g_variant_iter_next (&iter, "(^&ay^&ay^&ay)", &key, &identity, &uri))
    dlp_context_add_input (self, key, identity, uri);
  pthread_mutex_unlock (&self->inputs_lock);
}

void
dlp_context_yield_at_random (void)
{
  static _Thread_local guint64 state;
  const struct timespec moment = { 0, 20 * 1000 };

  if (state == 0)
    state = (guint64) (guintptr) &state ^ (guint64) g_get_monotonic_time ();
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  if (state % 64 == 0)
    nanosleep (&moment, NULL);
  else if (state % 4 == 0)
    sched_yield ();
}

GVariant *
dlp_context_describe_warnings (DlpContext *self, guint64 *n)
{
  GVariantBuilder builder;

  g_variant_builder_init (&builder, G_VARIANT_TYPE ("as"));
  pthread_mutex_lock (&self->warnings_lock);
  for (guint i = 0; i < self->warnings->len; i++)
    {
      g_autofree char *text = g_utf8_make_valid (g_ptr_array_index (self->warnings, i), -1);

      g_variant_builder_add (&builder, "s", text);
    }
  *n = self->n_warnings;
  pthread_mutex_unlock (&self->warnings_lock);
  return g_variant_builder_end (&builder);
}

void
dlp_context_restore_warnings (DlpContext *self, GVariant *warnings, guint64 n)
{
  pthread_mutex_lock (&self->warnings_lock);
  for (gsize i = 0; i < g_variant_n_children (warnings) && self->warnings->len < 100; i++)
    {
      char *text;

      g_variant_get_child (warnings, i, "s", &text);
      g_ptr_array_insert (self->warnings, (gint) i, text);
    }
  self->n_warnings += n;
  pthread_mutex_unlock (&self->warnings_lock);
}
