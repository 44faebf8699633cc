/* SPDX-License-Identifier: MIT */

/* What is loaded without a wait: the registry and a manifest. */

#include <glib/gstdio.h>

#include <dlpipe/dlpipe.h>

static void
on_ready (GObject *source, GAsyncResult *result, gpointer data)
{
  GAsyncResult **to = data;

  g_assert_null (source);
  g_assert_null (*to);
  *to = g_object_ref (result);
}

/* (transfer full) */
static GAsyncResult *
wait_for (GMainContext *context, GAsyncResult **result)
{
  while (*result == NULL)
    g_main_context_iteration (context, TRUE);
  return g_steal_pointer (result);
}

static void
test_registry (void)
{
  g_autoptr (GMainContext) context = g_main_context_new ();
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (GAsyncResult) loaded = NULL;
  g_autoptr (GAsyncResult) cancelled = NULL;
  g_autoptr (GError) error = NULL;
  GAsyncResult *result = NULL;

  g_main_context_push_thread_default (context);
  dlp_registry_load_async (NULL, on_ready, &result);
  loaded = wait_for (context, &result);
  g_assert_true (dlp_registry_load_finish (loaded, &error));
  g_assert_no_error (error);
  g_assert_true (dlp_registry_has_element ("app-sink"));
  /* It is in use. */
  g_assert_false (dlp_registry_rescan ());

  g_cancellable_cancel (cancellable);
  dlp_registry_load_async (cancellable, on_ready, &result);
  cancelled = wait_for (context, &result);
  g_assert_false (dlp_registry_load_finish (cancelled, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_main_context_pop_thread_default (context);
}

static char *
write_manifest (void)
{
  char *path = g_build_filename (g_get_tmp_dir (), "dlpipe-manifest-XXXXXX", NULL);
  g_autoptr (GVariant) manifest = NULL;
  g_autoptr (GError) error = NULL;

  g_close (g_mkstemp (path), NULL);
  g_remove (path);
  manifest = dlp_manifest_new ("jsonl", "0123456789abcdef", NULL, 0, NULL);
  dlp_manifest_write (path, manifest, &error);
  g_assert_no_error (error);
  return path;
}

static void
test_manifest (void)
{
  g_autofree char *path = write_manifest ();
  g_autoptr (GAsyncResult) there = NULL;
  g_autoptr (GAsyncResult) gone = NULL;
  g_autoptr (GVariant) expected = NULL;
  g_autoptr (GVariant) manifest = NULL;
  g_autoptr (GError) error = NULL;
  GAsyncResult *result = NULL;

  expected = dlp_manifest_load (path, &error);
  g_assert_no_error (error);
  dlp_manifest_load_async (path, NULL, on_ready, &result);
  there = wait_for (NULL, &result);
  manifest = dlp_manifest_load_finish (there, &error);
  g_assert_no_error (error);
  g_assert_true (g_variant_equal (manifest, expected));

  g_assert_cmpint (g_remove (path), ==, 0);
  dlp_manifest_load_async (path, NULL, on_ready, &result);
  gone = wait_for (NULL, &result);
  g_assert_null (dlp_manifest_load_finish (gone, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/load-async/registry", test_registry);
  g_test_add_func ("/load-async/manifest", test_manifest);
  return g_test_run ();
}
