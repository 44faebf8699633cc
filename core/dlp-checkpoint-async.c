/* SPDX-License-Identifier: MIT */

/* Calls of DlpCheckpoint that read or write files, and return at once. */

#include "dlp-blocking-private.h"
#include "dlp-checkpoint-private.h"

typedef struct
{
  DlpCheckpoint *checkpoint; /* nullable */
  char *path;                /* nullable */
} Arguments;

static void
arguments_free (gpointer data)
{
  Arguments *self = data;

  g_clear_pointer (&self->checkpoint, dlp_checkpoint_unref);
  g_free (self->path);
  g_free (self);
}

static Arguments *
arguments_new (DlpCheckpoint *checkpoint, const char *path)
{
  Arguments *self = g_new0 (Arguments, 1);

  self->checkpoint = checkpoint != NULL ? dlp_checkpoint_ref (checkpoint) : NULL;
  self->path = g_strdup (path);
  return self;
}

static void
begin (gpointer tag,
       gpointer (*func) (gpointer data, GCancellable *cancellable, GError **error),
       Arguments *arguments,
       GDestroyNotify free_value,
       GCancellable *cancellable,
       GAsyncReadyCallback callback,
       gpointer user_data)
{
  DlpBlocking what = { .tag = tag,
                       .func = func,
                       .data = arguments,
                       .free_data = arguments_free,
                       .free_value = free_value };

  dlp_blocking_begin (what, cancellable, callback, user_data);
}

static void
unref_checkpoint (gpointer data)
{
  dlp_checkpoint_unref (data);
}

/* ---- from a folder ---- */

typedef struct
{
  DlpCheckpoint *checkpoint;
  char *fell_back; /* nullable */
} FolderRead;

static void
folder_read_free (gpointer data)
{
  FolderRead *self = data;

  g_clear_pointer (&self->checkpoint, dlp_checkpoint_unref);
  g_free (self->fell_back);
  g_free (self);
}

static gpointer
read_folder (gpointer data, GCancellable *cancellable, GError **error)
{
  Arguments *arguments = data;
  FolderRead *self = g_new0 (FolderRead, 1);

  self->checkpoint = dlp_checkpoint_new_from_folder (arguments->path, &self->fell_back, error);
  if (self->checkpoint == NULL)
    g_clear_pointer (&self, folder_read_free);
  return self;
}

void
dlp_checkpoint_new_from_folder_async (const char *folder,
                                      GCancellable *cancellable,
                                      GAsyncReadyCallback callback,
                                      gpointer user_data)
{
  g_return_if_fail (folder != NULL);

  begin (dlp_checkpoint_new_from_folder_async, read_folder, arguments_new (NULL, folder),
         folder_read_free, cancellable, callback, user_data);
}

DlpCheckpoint *
dlp_checkpoint_new_from_folder_finish (GAsyncResult *result, char **fell_back, GError **error)
{
  FolderRead *self = dlp_blocking_finish (result, dlp_checkpoint_new_from_folder_async, error);
  DlpCheckpoint *checkpoint;

  if (fell_back != NULL)
    *fell_back = self != NULL ? g_steal_pointer (&self->fell_back) : NULL;
  if (self == NULL)
    return NULL;
  checkpoint = g_steal_pointer (&self->checkpoint);
  folder_read_free (self);
  return checkpoint;
}

/* ---- from a file ---- */

static gpointer
read_file (gpointer data, GCancellable *cancellable, GError **error)
{
  Arguments *arguments = data;

  return dlp_checkpoint_new_from_file (arguments->path, error);
}

void
dlp_checkpoint_new_from_file_async (const char *path,
                                    GCancellable *cancellable,
                                    GAsyncReadyCallback callback,
                                    gpointer user_data)
{
  g_return_if_fail (path != NULL);

  begin (dlp_checkpoint_new_from_file_async, read_file, arguments_new (NULL, path),
         unref_checkpoint, cancellable, callback, user_data);
}

DlpCheckpoint *
dlp_checkpoint_new_from_file_finish (GAsyncResult *result, GError **error)
{
  return dlp_blocking_finish (result, dlp_checkpoint_new_from_file_async, error);
}

/* ---- into a folder ---- */

static gpointer
save (gpointer data, GCancellable *cancellable, GError **error)
{
  Arguments *arguments = data;

  return dlp_checkpoint_save_to_folder (arguments->checkpoint, arguments->path, error) ?
             dlp_checkpoint_ref (arguments->checkpoint) :
             NULL;
}

void
dlp_checkpoint_save_to_folder_async (DlpCheckpoint *self,
                                     const char *folder,
                                     GCancellable *cancellable,
                                     GAsyncReadyCallback callback,
                                     gpointer user_data)
{
  DlpBlocking what = { .tag = dlp_checkpoint_save_to_folder_async,
                       .func = save,
                       .free_data = arguments_free,
                       .free_value = unref_checkpoint,
                       .is_whole = true };

  g_return_if_fail (self != NULL && folder != NULL);

  what.data = arguments_new (self, folder);
  dlp_blocking_begin (what, cancellable, callback, user_data);
}

gboolean
dlp_checkpoint_save_to_folder_finish (DlpCheckpoint *self, GAsyncResult *result, GError **error)
{
  g_autoptr (DlpCheckpoint) saved =
      dlp_blocking_finish (result, dlp_checkpoint_save_to_folder_async, error);

  return saved != NULL;
}

/* ---- inputs ---- */

static void
unref_array (gpointer data)
{
  g_ptr_array_unref (data);
}

static gpointer
list_inputs (gpointer data, GCancellable *cancellable, GError **error)
{
  Arguments *arguments = data;

  return dlp_checkpoint_list_inputs (arguments->checkpoint, error);
}

void
dlp_checkpoint_list_inputs_async (DlpCheckpoint *self,
                                  GCancellable *cancellable,
                                  GAsyncReadyCallback callback,
                                  gpointer user_data)
{
  g_return_if_fail (self != NULL);

  begin (dlp_checkpoint_list_inputs_async, list_inputs, arguments_new (self, NULL), unref_array,
         cancellable, callback, user_data);
}

GPtrArray *
dlp_checkpoint_list_inputs_finish (DlpCheckpoint *self, GAsyncResult *result, GError **error)
{
  return dlp_blocking_finish (result, dlp_checkpoint_list_inputs_async, error);
}

/* ---- what is in a folder ---- */

static void
unref_variant (gpointer data)
{
  g_variant_unref (data);
}

static gpointer
describe (gpointer data, GCancellable *cancellable, GError **error)
{
  Arguments *arguments = data;

  return dlp_checkpoint_describe_folder (arguments->path, error);
}

void
dlp_checkpoint_describe_folder_async (const char *folder,
                                      GCancellable *cancellable,
                                      GAsyncReadyCallback callback,
                                      gpointer user_data)
{
  g_return_if_fail (folder != NULL);

  begin (dlp_checkpoint_describe_folder_async, describe, arguments_new (NULL, folder),
         unref_variant, cancellable, callback, user_data);
}

GVariant *
dlp_checkpoint_describe_folder_finish (GAsyncResult *result, GError **error)
{
  return dlp_blocking_finish (result, dlp_checkpoint_describe_folder_async, error);
}
