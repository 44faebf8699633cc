/* SPDX-License-Identifier: MIT */

#include <dlpipe/dlp-manifest.h>

#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <dlpipe/dlp-error.h>

#define RUN "00c0ffee"
#define OTHER "0badcafe"

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
  guint64 bytes, hash, tokens;
  GStatBuf before, after;

  write_manifest (fixture, RUN, 2);
  manifest = dlp_manifest_load (fixture->manifest, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (dlp_manifest_get_string (manifest, "format"), ==, "test");
  g_assert_cmpstr (dlp_manifest_get_string (manifest, "run-id"), ==, RUN);
  g_assert_null (dlp_manifest_get_string (manifest, "tokens"));
  g_assert_true (dlp_manifest_get_uint64 (manifest, "tokens", &tokens));
  g_assert_cmpuint (tokens, ==, G_MAXUINT64);
  g_assert_false (dlp_manifest_get_uint64 (manifest, "nothing", &tokens));
  g_assert_cmpuint (dlp_manifest_get_n_files (manifest), ==, 2);
  dlp_manifest_get_file (manifest, 0, &name, &bytes, &hash);
  g_assert_cmpstr (name, ==, "x.a");
  g_assert_cmpuint (bytes, ==, 5);
  g_assert_cmpuint (hash, ==, 0x0123456789ABCDEF);
  dlp_manifest_get_file (manifest, 1, &name, &bytes, &hash);
  g_assert_cmpstr (name, ==, "x.b");
  g_assert_cmpuint (hash, ==, 1);

  /* The same once more: the file is left alone. */
  g_assert_no_errno (g_stat (fixture->manifest, &before));
  write_manifest (fixture, RUN, 2);
  g_assert_no_errno (g_stat (fixture->manifest, &after));
  g_assert_cmpuint (before.st_ino, ==, after.st_ino);
  write_manifest (fixture, RUN, 1);
  g_assert_no_errno (g_stat (fixture->manifest, &after));
  g_assert_cmpuint (before.st_ino, !=, after.st_ino);
}

/* Whatever bit of a manifest is another. */
static void
test_own_hash (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *text = NULL;
  gboolean has_hash;
  gsize size;

  write_manifest (fixture, RUN, 2);
  g_assert_true (dlp_manifest_check_hash (fixture->manifest, &has_hash, &error));
  g_assert_no_error (error);
  g_assert_true (has_hash);
  g_assert_true (g_file_get_contents (fixture->manifest, &text, &size, NULL));
  for (gsize i = 0; i < size * 8; i++)
    {
      text[i / 8] ^= (char) (1 << i % 8);
      g_assert_true (g_file_set_contents_full (fixture->manifest, text, (gssize) size,
                                               G_FILE_SET_CONTENTS_NONE, 0600, NULL));
      if (dlp_manifest_check_hash (fixture->manifest, &has_hash, &error))
        g_error ("bit %" G_GSIZE_FORMAT " of:\n%s", i, text);
      g_assert_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA);
      g_clear_error (&error);
      text[i / 8] ^= (char) (1 << i % 8);
    }
}

static void
test_without_own_hash (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  gboolean has_hash = TRUE;

  put (fixture->manifest, "{\"dlpipe-manifest\": 1, \"run-id\": \"0123456789abcdef\"}");
  g_assert_true (dlp_manifest_check_hash (fixture->manifest, &has_hash, &error));
  g_assert_no_error (error);
  g_assert_false (has_hash);
  g_assert_no_errno (g_unlink (fixture->manifest));
  g_assert_false (dlp_manifest_check_hash (fixture->manifest, &has_hash, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND);
}

/* A manifest is replaced by its own run only, and what is no manifest not at all. */
static void
test_not_replaced (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GVariant) manifest = dlp_manifest_new (
      "test", RUN, NULL, 0, g_variant_new_array (G_VARIANT_TYPE ("{sv}"), NULL, 0));
  g_autofree char *leftover =
      g_build_filename (fixture->folder, ".x.manifest.json." RUN ".7.0a0b0c0d.tmp", NULL);
  g_autofree char *others =
      g_build_filename (fixture->folder, ".x.manifest.json." OTHER ".7.0a0b0c0d.tmp", NULL);
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i < 2; i++)
    {
      if (i == 0)
        write_manifest (fixture, OTHER, 1);
      else
        put (fixture->manifest, "mine");
      g_assert_false (dlp_manifest_check_run (fixture->manifest, RUN, &error));
      g_assert_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_FOREIGN_OUTPUT);
      g_clear_error (&error);
      g_assert_false (dlp_manifest_write (fixture->manifest, manifest, &error));
      g_assert_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_FOREIGN_OUTPUT);
      g_clear_error (&error);
    }
  g_assert_no_errno (g_unlink (fixture->manifest));
  put (leftover, "");
  put (others, "");
  g_assert_true (dlp_manifest_check_run (fixture->manifest, RUN, &error));
  g_assert_true (dlp_manifest_write (fixture->manifest, manifest, &error));
  g_assert_true (dlp_manifest_check_run (fixture->manifest, RUN, &error));
  g_assert_no_error (error);
  g_assert_false (is_there (leftover));
  g_assert_true (is_there (others));
}

#define MANIFEST(files)                                                                            \
  "{\"dlpipe-manifest\": 1, \"format\": \"f\", \"run-id\": \"r\", \"files\": [" files "]}"

/* For a run that discards @discarded. */
static gboolean
check (Fixture *fixture,
       const char *discarded,
       gboolean complete,
       gboolean overwrite,
       GError **error)
{
  const char *const files[] = { fixture->a, fixture->b, NULL };
  const DlpOutputClaim claim = { "12", discarded, complete, overwrite };
  g_autofree char *left = NULL;

  return dlp_manifest_check_location (fixture->manifest, files, &claim, &left, error);
}

static void
discard (Fixture *fixture, const char *discarded, gboolean complete, gboolean overwrite)
{
  const char *const files[] = { fixture->a, fixture->b, NULL };
  const DlpOutputClaim claim = { "12", discarded, complete, overwrite };
  g_autoptr (GError) error = NULL;

  dlp_manifest_discard (fixture->manifest, files, &claim, &error);
  g_assert_no_error (error);
}

static void
assert_foreign (Fixture *fixture,
                const char *discarded,
                gboolean complete,
                gboolean overwrite,
                const char *what)
{
  g_autoptr (GError) error = NULL;

  g_assert_false (check (fixture, discarded, complete, overwrite, &error));
  g_assert_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_FOREIGN_OUTPUT);
  g_assert_nonnull (strstr (error->message, what));
}

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
    MANIFEST ("{\"name\": \"x\", \"bytes\": -1, \"xxh3-blocks\": \"00000000000000ff\"}"),
    MANIFEST ("{\"name\": \"x\", \"bytes\": 1, \"xxh3-blocks\": \"ff\"}"),
    MANIFEST ("{\"name\": \"x\", \"bytes\": 1, \"xxh3-blocks\": \"00000000000000fg\"}"),
    MANIFEST ("{\"name\": \"../x\", \"bytes\": 1, \"xxh3-blocks\": \"00000000000000ff\"}"),
    MANIFEST ("{\"name\": \"/etc/passwd\", \"bytes\": 1, \"xxh3-blocks\": \"00000000000000ff\"}"),
    MANIFEST ("{\"name\": \"..\", \"bytes\": 1, \"xxh3-blocks\": \"00000000000000ff\"}"),
    MANIFEST ("{\"name\": \"\", \"bytes\": 1, \"xxh3-blocks\": \"00000000000000ff\"}"),
  };

  put (fixture->a, "mine");
  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    {
      g_autoptr (GError) error = NULL;

      put (fixture->manifest, texts[i]);
      g_assert_null (dlp_manifest_load (fixture->manifest, &error));
      g_assert_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA);
      g_assert_nonnull (strstr (error->message, fixture->manifest));
      assert_foreign (fixture, NULL, FALSE, TRUE, fixture->a);
      assert_foreign (fixture, "ab", TRUE, FALSE, fixture->manifest);
      discard (fixture, "ab", TRUE, TRUE);
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
  for (guint i = 0; i < 8; i++)
    {
      g_autoptr (GError) error = NULL;

      g_assert_true (check (fixture, i & 1 ? RUN : NULL, (i & 2) != 0, (i & 4) != 0, &error));
      g_assert_no_error (error);
      discard (fixture, i & 1 ? RUN : NULL, (i & 2) != 0, (i & 4) != 0);
    }
}

static void
test_overwrite (Fixture *fixture, gconstpointer data)
{
  g_autofree char *other = g_build_filename (fixture->folder, "x.c", NULL);
  g_autoptr (GError) error = NULL;

  put (fixture->a, "a");
  put (fixture->b, "b");
  put (other, "c");
  write_manifest (fixture, RUN, 1);
  assert_foreign (fixture, NULL, FALSE, FALSE, fixture->manifest);
  /* b is not in the list. */
  assert_foreign (fixture, NULL, FALSE, TRUE, fixture->b);

  write_manifest (fixture, RUN, 2);
  g_assert_true (check (fixture, NULL, FALSE, TRUE, &error));
  g_assert_no_error (error);
  g_assert_true (is_there (fixture->a));
  discard (fixture, NULL, FALSE, TRUE);
  g_assert_false (is_there (fixture->a));
  g_assert_false (is_there (fixture->b));
  g_assert_false (is_there (fixture->manifest));
  g_assert_true (is_there (other));
}

/* Files of any other run, or of nobody, are in the way of --restart, and stay. */
static void
test_discard_foreign (Fixture *fixture, gconstpointer data)
{
  g_autofree char *partial = g_build_filename (fixture->folder, ".x.a." OTHER ".3.partial", NULL);

  put (fixture->a, "a");
  put (partial, "a");
  for (guint i = 0; i < 6; i++)
    {
      const char *discarded = i < 3 ? RUN : NULL;
      gboolean complete = i == 1 || i == 4;

      if (i % 3 == 2)
        write_manifest (fixture, OTHER, 1);
      else
        g_unlink (fixture->manifest);
      /* Only a complete run without a manifest may have written it. */
      if (discarded != NULL && complete)
        continue;
      assert_foreign (fixture, discarded, complete, FALSE, "is not of this run");
      discard (fixture, discarded, complete, FALSE);
      g_assert_true (is_there (fixture->a));
      g_assert_true (is_there (partial));
    }

  /* Its own manifest does not list b. */
  g_unlink (fixture->manifest);
  write_manifest (fixture, RUN, 1);
  put (fixture->b, "b");
  assert_foreign (fixture, RUN, TRUE, FALSE, fixture->b);
}

static void
test_discard (Fixture *fixture, gconstpointer data)
{
  static const char *const names[] = { ".x.a." RUN ".3.partial",
                                       ".x.manifest.json." RUN ".7.00112233.tmp" };
  g_autofree char *unfinished = g_build_filename (fixture->folder, names[0], NULL);
  g_autofree char *temporary = g_build_filename (fixture->folder, names[1], NULL);
  g_autoptr (GError) error = NULL;

  put (fixture->a, "a");
  put (unfinished, "a");
  put (temporary, "a");
  write_manifest (fixture, RUN, 2);
  put (temporary, "a");
  g_assert_true (check (fixture, RUN, FALSE, FALSE, &error));
  g_assert_no_error (error);
  discard (fixture, RUN, FALSE, FALSE);
  g_assert_false (is_there (fixture->a));
  g_assert_false (is_there (fixture->manifest));
  g_assert_false (is_there (unfinished));
  g_assert_false (is_there (temporary));
}

/* The run died between the names and the manifest; but what it had not given a name to, is not what
 * is there. */
static void
test_discard_without_manifest (Fixture *fixture, gconstpointer data)
{
  g_autofree char *unfinished = g_build_filename (fixture->folder, ".x.b." RUN ".3.partial", NULL);
  g_autoptr (GError) error = NULL;

  put (fixture->a, "a");
  put (unfinished, "b");
  g_assert_true (check (fixture, RUN, TRUE, FALSE, &error));
  g_assert_no_error (error);
  put (fixture->b, "mine");
  assert_foreign (fixture, RUN, TRUE, FALSE, fixture->b);
  g_assert_no_errno (g_unlink (fixture->b));
  discard (fixture, RUN, TRUE, FALSE);
  g_assert_false (is_there (fixture->a));
  g_assert_false (is_there (unfinished));
}

static void
test_left (Fixture *fixture, gconstpointer data)
{
  const char *const files[] = { fixture->a, fixture->b, NULL };
  const DlpOutputClaim claim = { RUN, NULL, FALSE, FALSE };
  g_autofree char *dead = g_build_filename (fixture->folder, ".x.b." OTHER ".3.partial", NULL);
  g_autofree char *left = NULL;
  g_autoptr (GError) error = NULL;
  DlpOutputFile *living;

  put (dead, "b");
  g_assert_true (dlp_manifest_check_location (fixture->manifest, files, &claim, &left, &error));
  g_assert_no_error (error);
  g_assert_nonnull (strstr (left, ".x.b." OTHER ".3.partial"));
  g_clear_pointer (&left, g_free);

  living = dlp_output_file_create (fixture->a, OTHER, 1, &error);
  g_assert_no_error (error);
  assert_foreign (fixture, NULL, FALSE, TRUE, ".x.a." OTHER ".1.partial");
  dlp_output_file_free (living);
  g_assert_true (check (fixture, NULL, FALSE, FALSE, &error));
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
  add ("/manifest/discard-foreign", test_discard_foreign);
  add ("/manifest/discard-without-manifest", test_discard_without_manifest);
  add ("/manifest/left", test_left);
  add ("/manifest/own-hash", test_own_hash);
  add ("/manifest/without-own-hash", test_without_own_hash);
  add ("/manifest/not-replaced", test_not_replaced);

  return g_test_run ();
}
