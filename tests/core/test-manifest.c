/* SPDX-License-Identifier: MIT */

#include <dlpipe/dlp-manifest.h>

#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <dlpipe/dlp-error.h>

typedef struct
{
  char *folder;
  char *manifest;
  char *a;
  char *b;
} Fixture;

static void
set_up (Fixture *fixture, gconstpointer data)
{
  fixture->folder = g_dir_make_tmp ("dlpipe-manifest-XXXXXX", NULL);
  g_assert_nonnull (fixture->folder);
  fixture->manifest = g_build_filename (fixture->folder, "x.manifest.json", NULL);
  fixture->a = g_build_filename (fixture->folder, "x.a", NULL);
  fixture->b = g_build_filename (fixture->folder, "x.b", NULL);
}

static void
tear_down (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GDir) dir = g_dir_open (fixture->folder, 0, NULL);
  const char *name;

  while ((name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *path = g_build_filename (fixture->folder, name, NULL);

      g_assert_no_errno (g_unlink (path));
    }
  g_assert_no_errno (g_rmdir (fixture->folder));
  g_free (fixture->folder);
  g_free (fixture->manifest);
  g_free (fixture->a);
  g_free (fixture->b);
}

static void
put (const char *path, const char *text)
{
  g_autoptr (GError) error = NULL;

  g_file_set_contents (path, text, -1, &error);
  g_assert_no_error (error);
}

static gboolean
is_there (const char *path)
{
  return g_file_test (path, G_FILE_TEST_EXISTS);
}

static void
write_manifest (Fixture *fixture, const char *run_id, guint n_files)
{
  const DlpManifestFile files[] = { { fixture->a, 5, 0x0123456789ABCDEF }, { fixture->b, 0, 1 } };
  GVariantDict dict;
  g_autoptr (GVariant) manifest = NULL;
  g_autoptr (GError) error = NULL;

  g_variant_dict_init (&dict, NULL);
  g_variant_dict_insert (&dict, "tokens", "t", G_MAXUINT64);
  manifest = dlp_manifest_new ("test", run_id, files, n_files, g_variant_dict_end (&dict));
  dlp_manifest_write (fixture->manifest, manifest, &error);
  g_assert_no_error (error);
}

static void
test_round_trip (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GVariant) manifest = NULL;
  const char *name;
  guint64 bytes, xxh3, tokens;
  GStatBuf before, after;

  write_manifest (fixture, "run", 2);
  manifest = dlp_manifest_load (fixture->manifest, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (dlp_manifest_get_string (manifest, "format"), ==, "test");
  g_assert_cmpstr (dlp_manifest_get_string (manifest, "run-id"), ==, "run");
  g_assert_null (dlp_manifest_get_string (manifest, "tokens"));
  g_assert_true (dlp_manifest_get_uint64 (manifest, "tokens", &tokens));
  g_assert_cmpuint (tokens, ==, G_MAXUINT64);
  g_assert_false (dlp_manifest_get_uint64 (manifest, "nothing", &tokens));
  g_assert_cmpuint (dlp_manifest_get_n_files (manifest), ==, 2);
  dlp_manifest_get_file (manifest, 0, &name, &bytes, &xxh3);
  g_assert_cmpstr (name, ==, "x.a");
  g_assert_cmpuint (bytes, ==, 5);
  g_assert_cmpuint (xxh3, ==, 0x0123456789ABCDEF);
  dlp_manifest_get_file (manifest, 1, &name, &bytes, &xxh3);
  g_assert_cmpstr (name, ==, "x.b");
  g_assert_cmpuint (xxh3, ==, 1);

  /* The same once more: the file is left alone. */
  g_assert_no_errno (g_stat (fixture->manifest, &before));
  write_manifest (fixture, "run", 2);
  g_assert_no_errno (g_stat (fixture->manifest, &after));
  g_assert_cmpuint (before.st_ino, ==, after.st_ino);
  write_manifest (fixture, "other", 2);
  g_assert_no_errno (g_stat (fixture->manifest, &after));
  g_assert_cmpuint (before.st_ino, !=, after.st_ino);
}

#define MANIFEST(files)                                                                            \
  "{\"dlpipe-manifest\": 1, \"format\": \"f\", \"run-id\": \"r\", \"files\": [" files "]}"

static void
test_refused (Fixture *fixture, gconstpointer data)
{
  static const char *const texts[] = {
    "",
    "not json",
    "[]",
    "{}",
    "{\"dlpipe-manifest\": 2, \"format\": \"f\", \"run-id\": \"r\", \"files\": []}",
    "{\"dlpipe-manifest\": 1, \"run-id\": \"r\", \"files\": []}",
    "{\"dlpipe-manifest\": 1, \"format\": 7, \"run-id\": \"r\", \"files\": []}",
    "{\"dlpipe-manifest\": 1, \"format\": \"f\", \"files\": []}",
    "{\"dlpipe-manifest\": 1, \"format\": \"f\", \"run-id\": \"r\"}",
    "{\"dlpipe-manifest\": 1, \"format\": \"f\", \"run-id\": \"r\", \"files\": {}}",
    MANIFEST ("7"),
    MANIFEST ("{}"),
    MANIFEST ("{\"name\": \"x\", \"bytes\": -1, \"xxh3\": \"00000000000000ff\"}"),
    MANIFEST ("{\"name\": \"x\", \"bytes\": 1, \"xxh3\": \"ff\"}"),
    MANIFEST ("{\"name\": \"x\", \"bytes\": 1, \"xxh3\": \"00000000000000fg\"}"),
    MANIFEST ("{\"name\": \"../x\", \"bytes\": 1, \"xxh3\": \"00000000000000ff\"}"),
    MANIFEST ("{\"name\": \"/etc/passwd\", \"bytes\": 1, \"xxh3\": \"00000000000000ff\"}"),
    MANIFEST ("{\"name\": \"..\", \"bytes\": 1, \"xxh3\": \"00000000000000ff\"}"),
    MANIFEST ("{\"name\": \"\", \"bytes\": 1, \"xxh3\": \"00000000000000ff\"}"),
  };
  const char *const files[] = { fixture->a, fixture->b, NULL };

  put (fixture->a, "mine");
  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    {
      g_autoptr (GError) error = NULL;

      put (fixture->manifest, texts[i]);
      g_assert_null (dlp_manifest_load (fixture->manifest, &error));
      g_assert_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA);
      g_assert_nonnull (strstr (error->message, fixture->manifest));
      g_clear_error (&error);
      g_assert_false (dlp_manifest_check_location (fixture->manifest, files, TRUE, &error));
      g_assert_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_FOREIGN_OUTPUT);
      g_assert_true (is_there (fixture->a));
      g_assert_true (is_there (fixture->manifest));
    }
}

static void
test_missing (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GError) error = NULL;

  g_assert_null (dlp_manifest_load (fixture->manifest, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND);
  g_clear_error (&error);
  g_assert_null (dlp_manifest_load (fixture->folder, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA);
}

static void
test_free_location (Fixture *fixture, gconstpointer data)
{
  const char *const files[] = { fixture->a, fixture->b, NULL };
  g_autoptr (GError) error = NULL;

  for (guint overwrite = 0; overwrite < 2; overwrite++)
    {
      g_assert_true (dlp_manifest_check_location (fixture->manifest, files, overwrite, &error));
      g_assert_no_error (error);
    }
}

static void
test_overwrite (Fixture *fixture, gconstpointer data)
{
  const char *const files[] = { fixture->a, fixture->b, NULL };
  g_autofree char *other = g_build_filename (fixture->folder, "x.c", NULL);
  g_autoptr (GError) error = NULL;

  put (fixture->a, "a");
  put (fixture->b, "b");
  put (other, "c");
  write_manifest (fixture, "run", 1);
  g_assert_false (dlp_manifest_check_location (fixture->manifest, files, FALSE, &error));
  g_assert_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_FOREIGN_OUTPUT);
  g_clear_error (&error);

  /* b is not in the list: nothing at all is deleted. */
  g_assert_false (dlp_manifest_check_location (fixture->manifest, files, TRUE, &error));
  g_assert_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_FOREIGN_OUTPUT);
  g_assert_nonnull (strstr (error->message, fixture->b));
  g_clear_error (&error);
  g_assert_true (is_there (fixture->a));

  write_manifest (fixture, "run", 2);
  g_assert_true (dlp_manifest_check_location (fixture->manifest, files, TRUE, &error));
  g_assert_no_error (error);
  g_assert_false (is_there (fixture->a));
  g_assert_false (is_there (fixture->b));
  g_assert_false (is_there (fixture->manifest));
  g_assert_true (is_there (other));
}

static void
test_discard (Fixture *fixture, gconstpointer data)
{
  const char *const files[] = { fixture->a, fixture->b, NULL };
  g_autofree char *partial = g_build_filename (fixture->folder, ".x.a.3.partial", NULL);
  g_autoptr (GError) error = NULL;

  /* Another run's: only what is unfinished goes. */
  put (fixture->a, "a");
  put (partial, "a");
  write_manifest (fixture, "other", 2);
  g_assert_true (dlp_manifest_discard (fixture->manifest, files, "run", &error));
  g_assert_no_error (error);
  g_assert_true (is_there (fixture->a));
  g_assert_true (is_there (fixture->manifest));
  g_assert_false (is_there (partial));

  put (partial, "a");
  write_manifest (fixture, "run", 2);
  g_assert_true (dlp_manifest_discard (fixture->manifest, files, "run", &error));
  g_assert_no_error (error);
  g_assert_false (is_there (fixture->a));
  g_assert_false (is_there (fixture->manifest));
  g_assert_false (is_there (partial));
}

static void
test_hash (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  guint64 hash;

  /* XXH3_64bits of nothing, and of "abc": its own test vectors. */
  put (fixture->a, "abc");
  g_assert_true (dlp_manifest_hash_file (fixture->a, 0, &hash, &error));
  g_assert_cmpuint (hash, ==, 0x2D06800538D394C2);
  g_assert_true (dlp_manifest_hash_file (fixture->a, 3, &hash, &error));
  g_assert_cmpuint (hash, ==, 0x78AF5F94892F3950);
  g_assert_false (dlp_manifest_hash_file (fixture->a, 4, &hash, &error));
  g_assert_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CHANGED);
}

#define add(name, func) g_test_add (name, Fixture, NULL, set_up, func, tear_down)

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  add ("/manifest/round-trip", test_round_trip);
  add ("/manifest/refused", test_refused);
  add ("/manifest/missing", test_missing);
  add ("/manifest/free-location", test_free_location);
  add ("/manifest/overwrite", test_overwrite);
  add ("/manifest/discard", test_discard);
  add ("/manifest/hash", test_hash);

  return g_test_run ();
}
