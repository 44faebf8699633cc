/* SPDX-License-Identifier: MIT */
#include <glib.h>
#include <stdlib.h>
#include <string.h>

/* Runs a fuzz target over the files of its corpus, one test each, without libFuzzer. */

int LLVMFuzzerTestOneInput (const guint8 *data, gsize size);

/* A copy of exactly the input's length: a read past its end is then seen by AddressSanitizer. */
static void
run_bytes (const char *bytes, gsize length)
{
  guint8 *copy = malloc (MAX (length, 1));

  g_assert_nonnull (copy);
  if (length > 0)
    memcpy (copy, bytes, length);
  g_assert_cmpint (LLVMFuzzerTestOneInput (copy, length), ==, 0);
  free (copy);
}

static void
test_empty (void)
{
  run_bytes ("", 0);
}

static void
test_file (gconstpointer user_data)
{
  g_autofree char *contents = NULL;
  g_autoptr (GError) error = NULL;
  gsize length;

  g_file_get_contents (user_data, &contents, &length, &error);
  g_assert_no_error (error);
  run_bytes (contents, length);
}

static int
compare_names (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *) a, *(const char *const *) b);
}

static void
add_corpus (const char *folder)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  const char *name;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    g_ptr_array_add (names, g_strdup (name));
  g_ptr_array_sort (names, compare_names);

  for (guint i = 0; i < names->len; i++)
    {
      g_autofree char *test_name = g_strconcat ("/replay/", names->pdata[i], NULL);
      char *path = g_build_filename (folder, names->pdata[i], NULL);

      g_test_add_data_func_full (test_name, path, test_file, g_free);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  if (argc != 2)
    g_error ("usage: %s CORPUS_FOLDER", argv[0]);

  g_test_add_func ("/replay-empty", test_empty);
  add_corpus (argv[1]);
  return g_test_run ();
}
