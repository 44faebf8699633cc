/* SPDX-License-Identifier: MIT */

/* The calls of DlpCheckpoint that return at once: where their results come, and what a cancel does
 * before they begin and while they hang. Argument: the folder tests/data/state. */

#include <fcntl.h>
#include <semaphore.h>
#include <sys/stat.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include <dlpipe/dlpipe.h>

#include "dlp-blocking-private.h"

static char *stored;

/* A state folder of one's own, a FIFO, and a main context that is not the default one. */
typedef struct
{
  char *dir;
  char *folder;
  char *fifo;
  GMainContext *context;
  GCancellable *cancellable;
  GThread *thread;
  GAsyncResult *result;
  GError *error;
} Fixture;

static void
copy (const char *name, const char *folder)
{
  g_autofree char *from = g_build_filename (stored, name, NULL);
  g_autofree char *to = g_build_filename (folder, name, NULL);
  g_autofree char *data = NULL;
  gsize size;

  g_assert_true (g_file_get_contents (from, &data, &size, NULL));
  g_assert_true (g_file_set_contents (to, data, (gssize) size, NULL));
}

static void
set_up (Fixture *self, gconstpointer data)
{
  self->dir = g_dir_make_tmp ("dlpipe-async-XXXXXX", NULL);
  g_assert_nonnull (self->dir);
  self->folder = g_build_filename (self->dir, "state", NULL);
  self->fifo = g_build_filename (self->dir, "fifo", NULL);
  g_assert_cmpint (g_mkdir (self->folder, 0700), ==, 0);
  g_assert_cmpint (mkfifo (self->fifo, 0600), ==, 0);
  copy ("checkpoint-2", self->folder);
  copy ("inputs", self->folder);
  self->cancellable = g_cancellable_new ();
  self->context = g_main_context_new ();
  self->thread = g_thread_self ();
  g_main_context_push_thread_default (self->context);
}

static void
tear_down (Fixture *self, gconstpointer data)
{
  g_autofree char *clean = g_strdup_printf ("rm -r '%s'", self->dir);

  g_main_context_pop_thread_default (self->context);
  g_main_context_unref (self->context);
  g_object_unref (self->cancellable);
  g_assert_true (g_spawn_command_line_sync (clean, NULL, NULL, NULL, NULL));
  g_free (self->dir);
  g_free (self->folder);
  g_free (self->fifo);
}

static void
keep_result (GObject *source, GAsyncResult *result, gpointer data)
{
  Fixture *self = data;

  g_assert_null (source);
  g_assert_true (g_thread_self () == self->thread);
  g_assert_true (g_main_context_is_owner (self->context));
  g_assert_null (self->result);
  self->result = g_object_ref (result);
}

/* (transfer full): it comes when the context is iterated, and not before. */
static GAsyncResult *
wait_for (Fixture *self)
{
  g_assert_null (self->result);
  while (self->result == NULL)
    g_main_context_iteration (self->context, TRUE);
  return g_steal_pointer (&self->result);
}

static DlpCheckpoint *
load (Fixture *self)
{
  DlpCheckpoint *checkpoint = dlp_checkpoint_new_from_folder (self->folder, NULL, &self->error);

  g_assert_no_error (self->error);
  return checkpoint;
}

static void
assert_equal (DlpCheckpoint *a, DlpCheckpoint *b)
{
  g_autoptr (GBytes) x = NULL;
  g_autoptr (GBytes) y = NULL;

  g_assert_nonnull (b);
  x = dlp_checkpoint_to_bytes (a);
  y = dlp_checkpoint_to_bytes (b);
  g_assert_true (g_bytes_equal (x, y));
}

/* ---- what they give ---- */

static void
test_folder (Fixture *self, gconstpointer data)
{
  g_autoptr (DlpCheckpoint) wanted = load (self);
  g_autoptr (DlpCheckpoint) got = NULL;
  g_autoptr (DlpCheckpoint) older = NULL;
  g_autoptr (GAsyncResult) first = NULL;
  g_autoptr (GAsyncResult) second = NULL;
  g_autofree char *damaged = g_build_filename (self->folder, "checkpoint-3", NULL);
  g_autofree char *fell_back = g_strdup ("x");

  dlp_checkpoint_new_from_folder_async (self->folder, self->cancellable, keep_result, self);
  first = wait_for (self);
  g_clear_pointer (&fell_back, g_free);
  got = dlp_checkpoint_new_from_folder_finish (first, &fell_back, &self->error);
  g_assert_no_error (self->error);
  g_assert_null (fell_back);
  assert_equal (wanted, got);

  g_assert_true (g_file_set_contents (damaged, "DLPSTATE", -1, NULL));
  dlp_checkpoint_new_from_folder_async (self->folder, NULL, keep_result, self);
  second = wait_for (self);
  older = dlp_checkpoint_new_from_folder_finish (second, &fell_back, &self->error);
  g_assert_no_error (self->error);
  g_assert_nonnull (fell_back);
  assert_equal (wanted, older);
}

static void
test_file (Fixture *self, gconstpointer data)
{
  g_autoptr (DlpCheckpoint) wanted = load (self);
  g_autoptr (DlpCheckpoint) got = NULL;
  g_autoptr (GAsyncResult) result = NULL;

  dlp_checkpoint_new_from_file_async (dlp_checkpoint_get_path (wanted), NULL, keep_result, self);
  result = wait_for (self);
  got = dlp_checkpoint_new_from_file_finish (result, &self->error);
  g_assert_no_error (self->error);
  assert_equal (wanted, got);
}

static void
test_save (Fixture *self, gconstpointer data)
{
  g_autoptr (DlpCheckpoint) wanted = load (self);
  g_autoptr (DlpCheckpoint) got = NULL;
  g_autoptr (GAsyncResult) result = NULL;

  dlp_checkpoint_save_to_folder_async (wanted, self->folder, self->cancellable, keep_result, self);
  result = wait_for (self);
  g_assert_true (dlp_checkpoint_save_to_folder_finish (wanted, result, &self->error));
  g_assert_no_error (self->error);
  got = load (self);
  assert_equal (wanted, got);
  /* It is saved twice. */
  g_assert_true (g_str_has_suffix (dlp_checkpoint_get_path (got), "/checkpoint-4"));
}

static void
test_inputs (Fixture *self, gconstpointer data)
{
  g_autoptr (DlpCheckpoint) checkpoint = load (self);
  g_autoptr (GPtrArray) wanted = dlp_checkpoint_list_inputs (checkpoint, &self->error);
  g_autoptr (GPtrArray) got = NULL;
  g_autoptr (GAsyncResult) result = NULL;

  g_assert_no_error (self->error);
  dlp_checkpoint_list_inputs_async (checkpoint, NULL, keep_result, self);
  result = wait_for (self);
  got = dlp_checkpoint_list_inputs_finish (checkpoint, result, &self->error);
  g_assert_no_error (self->error);
  g_assert_cmpuint (got->len, >, 0);
  g_assert_cmpuint (got->len, ==, wanted->len);
  for (guint i = 0; i < got->len; i++)
    g_assert_cmpstr (dlp_file_get_uri (got->pdata[i]), ==, dlp_file_get_uri (wanted->pdata[i]));
}

static void
test_describe (Fixture *self, gconstpointer data)
{
  g_autoptr (GVariant) wanted = dlp_checkpoint_describe_folder (self->folder, &self->error);
  g_autoptr (GVariant) got = NULL;
  g_autoptr (GAsyncResult) result = NULL;

  g_assert_no_error (self->error);
  dlp_checkpoint_describe_folder_async (self->folder, NULL, keep_result, self);
  result = wait_for (self);
  got = dlp_checkpoint_describe_folder_finish (result, &self->error);
  g_assert_no_error (self->error);
  g_assert_true (g_variant_equal (got, wanted));
}

/* ---- all of them ---- */

typedef enum
{
  FOLDER,
  ONE_FILE,
  SAVE,
  INPUTS,
  DESCRIBE,
  N_CALLS,
} Call;

static void
begin (Fixture *self, Call call, DlpCheckpoint *checkpoint, const char *path)
{
  switch (call)
    {
    case FOLDER:
      dlp_checkpoint_new_from_folder_async (path, self->cancellable, keep_result, self);
      break;
    case ONE_FILE:
      dlp_checkpoint_new_from_file_async (path, self->cancellable, keep_result, self);
      break;
    case SAVE:
      dlp_checkpoint_save_to_folder_async (checkpoint, path, self->cancellable, keep_result, self);
      break;
    case INPUTS:
      dlp_checkpoint_list_inputs_async (checkpoint, self->cancellable, keep_result, self);
      break;
    case DESCRIBE:
    case N_CALLS:
      dlp_checkpoint_describe_folder_async (path, self->cancellable, keep_result, self);
      break;
    }
}

/* Whether it gave something. */
static gboolean
end (Fixture *self, Call call, DlpCheckpoint *checkpoint)
{
  g_autoptr (GAsyncResult) result = wait_for (self);
  g_autoptr (DlpCheckpoint) got = NULL;
  g_autoptr (GPtrArray) list = NULL;
  g_autoptr (GVariant) value = NULL;

  switch (call)
    {
    case FOLDER:
      got = dlp_checkpoint_new_from_folder_finish (result, NULL, &self->error);
      return got != NULL;
    case ONE_FILE:
      got = dlp_checkpoint_new_from_file_finish (result, &self->error);
      return got != NULL;
    case SAVE:
      return dlp_checkpoint_save_to_folder_finish (checkpoint, result, &self->error);
    case INPUTS:
      list = dlp_checkpoint_list_inputs_finish (checkpoint, result, &self->error);
      return list != NULL;
    case DESCRIBE:
    case N_CALLS:
      break;
    }
  value = dlp_checkpoint_describe_folder_finish (result, &self->error);
  return value != NULL;
}

static void
test_errors (Fixture *self, gconstpointer data)
{
  g_autofree char *none = g_build_filename (self->dir, "none", NULL);

  for (Call call = 0; call < N_CALLS; call++)
    {
      g_autoptr (DlpCheckpoint) checkpoint = NULL;
      g_autofree char *inputs = g_build_filename (self->folder, "inputs", NULL);

      checkpoint = load (self);
      if (call == INPUTS)
        g_assert_cmpint (g_unlink (inputs), ==, 0);
      begin (self, call, checkpoint, none);
      g_assert_false (end (self, call, checkpoint));
      g_assert_nonnull (self->error);
      g_assert_nonnull (strstr (self->error->message, call == INPUTS ? inputs : none));
      g_clear_error (&self->error);
    }
}

static void
test_cancelled_before (Fixture *self, gconstpointer data)
{
  g_autoptr (DlpCheckpoint) checkpoint = load (self);
  g_autoptr (DlpCheckpoint) still = NULL;

  g_cancellable_cancel (self->cancellable);
  for (Call call = 0; call < N_CALLS; call++)
    {
      begin (self, call, checkpoint,
             call == ONE_FILE ? dlp_checkpoint_get_path (checkpoint) : self->folder);
      g_assert_false (end (self, call, checkpoint));
      g_assert_error (self->error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
      g_clear_error (&self->error);
    }
  still = load (self);
  g_assert_cmpstr (dlp_checkpoint_get_path (still), ==, dlp_checkpoint_get_path (checkpoint));
}

/* Behind the result. */
static void
test_cancelled_after (Fixture *self, gconstpointer data)
{
  g_autoptr (DlpCheckpoint) checkpoint = load (self);

  begin (self, FOLDER, checkpoint, self->folder);
  g_assert_true (end (self, FOLDER, checkpoint));
  g_cancellable_cancel (self->cancellable);
  g_main_context_iteration (self->context, FALSE);
  g_assert_null (self->result);
}

static void
test_no_callback (Fixture *self, gconstpointer data)
{
  dlp_checkpoint_describe_folder_async (self->folder, NULL, NULL, NULL);
  g_main_context_iteration (self->context, TRUE);
}

/* Nobody writes into the pipe that is read. */
static void
test_cancelled_in_pipe (Fixture *self, gconstpointer data)
{
  int fd;

  begin (self, ONE_FILE, NULL, self->fifo);
  /* Its reader is there when this does not fail: then it waits for bytes. */
  while ((fd = open (self->fifo, O_WRONLY | O_NONBLOCK | O_CLOEXEC)) < 0)
    g_usleep (1000);
  g_cancellable_cancel (self->cancellable);
  g_assert_false (end (self, ONE_FILE, NULL));
  g_assert_error (self->error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_clear_error (&self->error);
  close (fd);
}

/* ---- what hangs for long ---- */

typedef struct
{
  sem_t begun, go_on, freed;
} Hang;

static Hang hang;

static void
free_value (gpointer value)
{
  g_free (value);
}

static void
tell_freed (gpointer data)
{
  sem_post (&hang.freed);
}

static gpointer
hang_until_told (gpointer data, GCancellable *cancellable, GError **error)
{
  sem_post (&hang.begun);
  sem_wait (&hang.go_on);
  return g_strdup ("done");
}

static void
begin_to_hang (Fixture *self, bool is_whole)
{
  DlpBlocking what = {
    .tag = begin_to_hang,
    .func = hang_until_told,
    .free_data = tell_freed,
    .free_value = free_value,
    .is_whole = is_whole,
  };

  dlp_blocking_begin (what, self->cancellable, keep_result, self);
  sem_wait (&hang.begun);
}

/* It is left where it hangs; what comes of it later harms nothing. */
static void
test_left (Fixture *self, gconstpointer data)
{
  g_autoptr (GAsyncResult) result = NULL;

  begin_to_hang (self, false);
  g_cancellable_cancel (self->cancellable);
  result = wait_for (self);
  g_assert_null (dlp_blocking_finish (result, begin_to_hang, &self->error));
  g_assert_error (self->error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_clear_error (&self->error);
  sem_post (&hang.go_on);
  sem_wait (&hang.freed);
}

static void
test_whole (Fixture *self, gconstpointer data)
{
  g_autoptr (GAsyncResult) result = NULL;
  g_autofree char *value = NULL;

  begin_to_hang (self, true);
  g_cancellable_cancel (self->cancellable);
  g_usleep (20000);
  g_main_context_iteration (self->context, FALSE);
  g_assert_null (self->result);
  sem_post (&hang.go_on);
  result = wait_for (self);
  value = dlp_blocking_finish (result, begin_to_hang, &self->error);
  g_assert_no_error (self->error);
  g_assert_cmpstr (value, ==, "done");
  sem_wait (&hang.freed);
}

/* Cancelled at the same time as it ends: one result, and nothing is lost or freed twice. */
static gpointer
cancel_soon (gpointer cancellable)
{
  g_cancellable_cancel (cancellable);
  return NULL;
}

static void
test_race (Fixture *self, gconstpointer data)
{
  g_autoptr (DlpCheckpoint) checkpoint = load (self);
  guint n_given = 0;

  for (guint i = 0; i < 300; i++)
    {
      GThread *thread;

      g_object_unref (self->cancellable);
      self->cancellable = g_cancellable_new ();
      begin (self, DESCRIBE, checkpoint, self->folder);
      thread = g_thread_new ("cancel", cancel_soon, self->cancellable);
      if (end (self, DESCRIBE, checkpoint))
        n_given++;
      else
        g_assert_error (self->error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
      g_clear_error (&self->error);
      g_thread_join (thread);
    }
  g_test_message ("%u of 300 were done before they were cancelled", n_given);
}

static void
add (const char *path, void (*func) (Fixture *, gconstpointer))
{
  g_test_add (path, Fixture, NULL, set_up, func, tear_down);
}

int
main (int argc, char **argv)
{
  int code;

  g_test_init (&argc, &argv, NULL);
  g_assert_cmpint (argc, >, 1);
  stored = g_build_filename (argv[1], "stored", NULL);
  sem_init (&hang.begun, 0, 0);
  sem_init (&hang.go_on, 0, 0);
  sem_init (&hang.freed, 0, 0);
  add ("/checkpoint-async/folder", test_folder);
  add ("/checkpoint-async/file", test_file);
  add ("/checkpoint-async/save", test_save);
  add ("/checkpoint-async/inputs", test_inputs);
  add ("/checkpoint-async/describe", test_describe);
  add ("/checkpoint-async/errors", test_errors);
  add ("/checkpoint-async/cancelled-before", test_cancelled_before);
  add ("/checkpoint-async/cancelled-after", test_cancelled_after);
  add ("/checkpoint-async/cancelled-in-pipe", test_cancelled_in_pipe);
  add ("/checkpoint-async/no-callback", test_no_callback);
  add ("/checkpoint-async/left", test_left);
  add ("/checkpoint-async/whole", test_whole);
  add ("/checkpoint-async/race", test_race);
  code = g_test_run ();
  g_free (stored);
  return code;
}
