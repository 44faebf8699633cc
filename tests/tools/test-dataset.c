/* SPDX-License-Identifier: MIT */

/* dlpipe-dataset by its exit code and its output. Arguments: the program, the folder
 * tests/data/formats. */

#include <glib/gstdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <dlpipe/dlpipe.h>

static const char *program;
static const char *golden_folder;

typedef struct
{
  char *folder;
  char *location;
  char *bin;
  char *idx;
  char *manifest;
  char *out;
  char *err;
} Fixture;

static void
copy (const char *from, const char *to)
{
  g_autofree char *data = NULL;
  g_autofree char *path = g_build_filename (golden_folder, from, NULL);
  g_autoptr (GError) error = NULL;
  gsize size;

  g_file_get_contents (path, &data, &size, &error);
  g_assert_no_error (error);
  g_file_set_contents (to, data, (gssize) size, &error);
  g_assert_no_error (error);
}

static void
set_up (Fixture *fixture, gconstpointer data)
{
  /* In memory where that can be: GLib waits for the disk when it replaces a file. */
  fixture->folder = g_strdup ("/dev/shm/dlpipe-dataset-XXXXXX");
  if (g_mkdtemp (fixture->folder) == NULL)
    {
      g_free (fixture->folder);
      fixture->folder = g_dir_make_tmp ("dlpipe-dataset-XXXXXX", NULL);
    }
  g_assert_nonnull (fixture->folder);
  fixture->location = g_build_filename (fixture->folder, "x", NULL);
  fixture->bin = g_strconcat (fixture->location, ".bin", NULL);
  fixture->idx = g_strconcat (fixture->location, ".idx", NULL);
  fixture->manifest = g_strconcat (fixture->location, ".manifest.json", NULL);
  copy ("meg16.bin", fixture->bin);
  copy ("meg16.idx", fixture->idx);
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
  g_free (fixture->location);
  g_free (fixture->bin);
  g_free (fixture->idx);
  g_free (fixture->manifest);
  g_free (fixture->out);
  g_free (fixture->err);
}

/* The exit status; @arguments: separated by spaces, "@": the location, with what follows. */
static int
run (Fixture *fixture, const char *arguments)
{
  g_autofree char *line = g_strdup_printf ("%s %s", program, arguments);
  g_auto (GStrv) words = g_strsplit (line, " ", -1);
  g_autoptr (GError) error = NULL;
  int status;

  for (guint i = 0; words[i] != NULL; i++)
    if (g_str_has_prefix (words[i], "@"))
      {
        char *word = g_strconcat (fixture->location, words[i] + 1, NULL);

        g_free (words[i]);
        words[i] = word;
      }
  g_clear_pointer (&fixture->out, g_free);
  g_clear_pointer (&fixture->err, g_free);
  g_spawn_sync (NULL, words, NULL, G_SPAWN_DEFAULT, NULL, NULL, &fixture->out, &fixture->err,
                &status, &error);
  g_assert_no_error (error);
  g_assert_true (WIFEXITED (status));
  return WEXITSTATUS (status);
}

static void
assert_has (const char *text, const char *part)
{
  if (strstr (text, part) == NULL)
    g_error ("“%s” is not in:\n%s", part, text);
}

static void
write_manifest (Fixture *fixture, const char *fingerprint, guint64 vocab_size)
{
  DlpManifestFile files[] = { { fixture->bin, 26, 0 }, { fixture->idx, 102, 0 } };
  g_autoptr (GVariant) manifest = NULL;
  g_autoptr (GError) error = NULL;
  GVariantDict dict;

  for (guint i = 0; i < 2; i++)
    {
      dlp_file_hash_read (files[i].path, files[i].bytes, NULL, &files[i].hash, &error);
      g_assert_no_error (error);
    }
  g_variant_dict_init (&dict, NULL);
  g_variant_dict_insert (&dict, "documents", "t", G_GUINT64_CONSTANT (3));
  g_variant_dict_insert (&dict, "sequences", "t", G_GUINT64_CONSTANT (3));
  g_variant_dict_insert (&dict, "tokens", "t", G_GUINT64_CONSTANT (13));
  g_variant_dict_insert (&dict, "dtype", "s", "uint16");
  g_variant_dict_insert (&dict, "tokenizer", "s", "gpt2");
  if (vocab_size > 0)
    g_variant_dict_insert (&dict, "vocab-size", "t", vocab_size);
  if (fingerprint != NULL)
    g_variant_dict_insert (&dict, "tokenizer-fingerprint", "s", fingerprint);
  manifest = dlp_manifest_new ("megatron", "0123abcd", files, 2, g_variant_dict_end (&dict));
  dlp_manifest_write (fixture->manifest, manifest, &error);
  g_assert_no_error (error);
}

/* Overwrites @n bytes of a file. */
static void
patch (const char *path, gsize offset, const void *bytes, gsize n)
{
  g_autofree char *data = NULL;
  gsize size;

  g_assert_true (g_file_get_contents (path, &data, &size, NULL));
  g_assert_cmpuint (offset + n, <=, size);
  memcpy (data + offset, bytes, n);
  g_assert_true (g_file_set_contents (path, data, (gssize) size, NULL));
}

/* ---- commands ---- */

static void
test_usage (Fixture *fixture, gconstpointer data)
{
  static const char *const wrong[] = { "info",
                                       "look @",
                                       "info @ @",
                                       "info --no-such @",
                                       "sample -n 2000000 @",
                                       "sample -n -2 @",
                                       "sample --seed -1 @",
                                       "info @-nothing",
                                       "head @-nothing",
                                       "verify @-nothing" };

  for (guint i = 0; i < G_N_ELEMENTS (wrong); i++)
    {
      g_assert_cmpint (run (fixture, wrong[i]), ==, 2);
      g_assert_true (g_str_has_prefix (fixture->err, "dlpipe-dataset: "));
      g_assert_cmpstr (fixture->out, ==, "");
    }
  g_assert_cmpint (run (fixture, "--help"), ==, 0);
  assert_has (fixture->out, "verify");
  g_assert_cmpint (run (fixture, "--version"), ==, 0);
}

static void
test_info (Fixture *fixture, gconstpointer data)
{
  static const char *const names[] = { "info @", "info @.bin", "info @.idx" };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_assert_cmpint (run (fixture, names[i]), ==, 0);
      assert_has (fixture->out, "documents              3\n");
      assert_has (fixture->out, "tokens                 13\n");
      assert_has (fixture->out, "dtype                  uint16\n");
    }

  write_manifest (fixture, "abc", 50257);
  g_assert_cmpint (run (fixture, "info @.manifest.json"), ==, 0);
  assert_has (fixture->out, "tokenizer              gpt2\n");
  assert_has (fixture->out, "bytes                  128\n");
  assert_has (fixture->out, "run-id                 \"0123abcd\"\n");
  g_assert_cmpint (run (fixture, "info --json @"), ==, 0);
  {
    g_autoptr (GVariant) facts = dlp_json_parse (fixture->out, strlen (fixture->out), NULL);
    gint64 tokens;

    g_assert_nonnull (facts);
    g_assert_true (g_variant_lookup (facts, "tokens", "x", &tokens));
    g_assert_cmpint (tokens, ==, 13);
  }

  g_assert_no_errno (truncate (fixture->bin, 25));
  g_assert_cmpint (run (fixture, "info @"), ==, 1);
  assert_has (fixture->err, "has 25 bytes, the manifest says 26");
  g_assert_no_errno (g_unlink (fixture->bin));
  g_assert_cmpint (run (fixture, "info @"), ==, 1);
}

static void
test_head (Fixture *fixture, gconstpointer data)
{
  g_assert_cmpint (run (fixture, "head @"), ==, 0);
  g_assert_cmpstr (fixture->out, ==,
                   "--- document 0 of 3, 4 tokens\n1 2 3 50256\n"
                   "--- document 1 of 3, 3 tokens\n7 8 50256\n"
                   "--- document 2 of 3, 6 tokens\n9 10 11 12 13 50256\n");
  write_manifest (fixture, NULL, 0);
  g_assert_cmpint (run (fixture, "head -n 2 @"), ==, 0);
  g_assert_cmpstr (fixture->out, ==,
                   "--- document 0 of 3, 4 tokens\n\"#$<|endoftext|>\n"
                   "--- document 1 of 3, 3 tokens\n()<|endoftext|>\n");
  g_assert_cmpint (run (fixture, "head -n 1 --bytes 2 @"), ==, 0);
  g_assert_cmpstr (fixture->out, ==, "--- document 0 of 3, 4 tokens\n\"#… (14 bytes more)\n");
  g_assert_cmpint (run (fixture, "head -n 1 --ids --bytes 2 @"), ==, 0);
  g_assert_cmpstr (fixture->out, ==, "--- document 0 of 3, 4 tokens\n1 2 … (2 ids more)\n");
  g_assert_cmpint (run (fixture, "head -n 0 @"), ==, 0);
  g_assert_cmpstr (fixture->out, ==, "");
}

static void
test_model (Fixture *fixture, gconstpointer data)
{
  /* Another vocabulary under the same name would show nonsense. */
  write_manifest (fixture, "abc", 0);
  g_assert_cmpint (run (fixture, "head @"), ==, 2);
  assert_has (fixture->err, "fingerprint abc");
  g_assert_cmpint (run (fixture, "head --ids @"), ==, 0);
  g_assert_cmpint (run (fixture, "head --model gpt2 @"), ==, 0);
  assert_has (fixture->err, "warning");
  assert_has (fixture->out, "<|endoftext|>");
  g_assert_cmpint (run (fixture, "head --model no-such-model @"), ==, 2);
}

static void
test_sample (Fixture *fixture, gconstpointer data)
{
  g_autofree char *first = NULL;
  guint differs = 0;

  g_assert_cmpint (run (fixture, "sample -n 2 --seed 7 @"), ==, 0);
  first = g_steal_pointer (&fixture->out);
  for (guint i = 0; i < 8; i++)
    {
      g_autofree char *arguments = g_strdup_printf ("sample -n 2 --seed %u @", i);

      g_assert_cmpint (run (fixture, arguments), ==, 0);
      if (i == 7)
        g_assert_cmpstr (fixture->out, ==, first);
      differs += strcmp (fixture->out, first) != 0;
    }
  g_assert_cmpuint (differs, >, 0);
  g_assert_cmpint (run (fixture, "sample -n 9 @"), ==, 0);
  assert_has (fixture->out, "document 0 ");
  assert_has (fixture->out, "document 1 ");
  assert_has (fixture->out, "document 2 ");
}

/* ---- verify ---- */

static void
test_verify (Fixture *fixture, gconstpointer data)
{
  g_assert_cmpint (run (fixture, "verify @"), ==, 0);
  assert_has (fixture->out, "ok, 3 documents, 3 sequences, 13 tokens");
  assert_has (fixture->out, "no manifest");
  write_manifest (fixture, NULL, 50257);
  g_assert_cmpint (run (fixture, "verify @"), ==, 0);
  assert_has (fixture->out, "ok, 3 documents, 3 sequences, 13 tokens\n");
  g_assert_cmpint (run (fixture, "verify --json @"), ==, 0);
  assert_has (fixture->out, "\"ok\": true");
}

typedef struct
{
  const char *name;
  gboolean of_bin;
  gsize offset;
  const char *bytes;
  gsize n;
  const char *wanted;
} Fault;

static const Fault faults[] = {
  { "magic", FALSE, 0, "X", 1, "magic" },
  { "version", FALSE, 9, "\2", 1, "version 2 at byte 9; allowed is 1" },
  { "dtype", FALSE, 17, "\6", 1, "dtype code 6 at byte 17" },
  { "dtype-large", FALSE, 17, "\377", 1, "dtype code 255 at byte 17" },
  { "dtype-other", FALSE, 17, "\4", 1, "the manifest says uint16" },
  { "sequences", FALSE, 18, "\4", 1, "which is not what 4 sequences" },
  { "sequences-huge", FALSE, 18, "\377\377\377\377\377\377\377\377", 8, "which is not what" },
  { "documents", FALSE, 26, "\5", 1, "5 document_indices" },
  { "documents-none", FALSE, 26, "\0", 1, "no document_indices" },
  { "documents-huge", FALSE, 26, "\377\377\377\377\377\377\377\177", 8, "which is not what" },
  { "length", FALSE, 34, "\5", 1, "sequence 1 begins at byte 8, the ones before it end at 10" },
  { "length-negative", FALSE, 34, "\377\377\377\377", 4, "sequence 0 has length -1" },
  { "length-last", FALSE, 42, "\7", 1, "the sequences have 28 bytes" },
  { "pointer", FALSE, 54, "\12", 1, "sequence 1 begins at byte 10" },
  { "pointer-negative", FALSE, 54, "\377\377\377\377\377\377\377\377", 8, "begins at byte -1" },
  { "document-first", FALSE, 70, "\1", 1, "document_indices[0] is 1, not 0" },
  { "document-order", FALSE, 78, "\3", 1, "document_indices[2] is 2, less than 3" },
  { "document-last", FALSE, 94, "\2", 1, "the last of document_indices is 2" },
  { "document-huge", FALSE, 94, "\377\377\377\377\377\377\377\177", 8,
    "the last of document_indices" },
  { "id", TRUE, 4, "\121\304", 2, "token 2 is id 50257; allowed are 0 to 50256" },
  { "hash-bin", TRUE, 4, "\4", 1, "x.bin: has hash " },
  { "hash-idx", FALSE, 78, "\2", 1, "x.idx: has hash " },
};

static void
test_fault (Fixture *fixture, gconstpointer data)
{
  const Fault *fault = data;

  write_manifest (fixture, NULL, 50257);
  patch (fault->of_bin ? fixture->bin : fixture->idx, fault->offset, fault->bytes, fault->n);
  g_assert_cmpint (run (fixture, "verify @"), ==, 1);
  assert_has (fixture->out, fault->wanted);
  assert_has (fixture->out, "fault: ");
  g_assert_cmpint (run (fixture, "verify --json @"), ==, 1);
  assert_has (fixture->out, "\"ok\": false");
  /* Whatever it finds, it ends in order. */
  g_assert_cmpint (run (fixture, "head --ids @"), <=, 1);
  g_assert_cmpint (run (fixture, "info @"), <=, 1);
}

static void
test_negative_id (Fixture *fixture, gconstpointer data)
{
  copy ("meg32.bin", fixture->bin);
  copy ("meg32.idx", fixture->idx);
  g_assert_cmpint (run (fixture, "verify @"), ==, 0);
  patch (fixture->bin, 4, "\376\377\377\377", 4);
  g_assert_cmpint (run (fixture, "verify @"), ==, 1);
  assert_has (fixture->out, "token 1 is id -2, which is negative");
  g_assert_cmpint (run (fixture, "head @"), ==, 1);
  assert_has (fixture->err, "token 1 of sequence 0");
}

static void
test_counts (Fixture *fixture, gconstpointer data)
{
  g_autofree char *text = NULL;
  char *at;

  write_manifest (fixture, NULL, 50257);
  g_assert_true (g_file_get_contents (fixture->manifest, &text, NULL, NULL));
  at = strstr (text, "\"tokens\": 13");
  g_assert_nonnull (at);
  at[11] = '4';
  g_assert_true (g_file_set_contents (fixture->manifest, text, -1, NULL));
  g_assert_cmpint (run (fixture, "verify @"), ==, 1);
  assert_has (fixture->out, "says “tokens” is 14, the files have 13");
  assert_has (fixture->out, "is damaged, or was changed: its content has the hash ");
}

/* What nothing else is compared with is part of the manifest's own hash; one that has none is read.
 */
static void
test_own_hash (Fixture *fixture, gconstpointer data)
{
  g_autofree char *text = NULL;
  char *at;

  write_manifest (fixture, "abc", 50257);
  g_assert_cmpint (run (fixture, "verify @"), ==, 0);
  g_assert_null (strstr (fixture->out, "hash"));
  g_assert_true (g_file_get_contents (fixture->manifest, &text, NULL, NULL));
  at = strstr (text, "\"abc\"");
  at[1] ^= 1;
  g_assert_true (g_file_set_contents (fixture->manifest, text, -1, NULL));
  g_assert_cmpint (run (fixture, "verify @"), ==, 1);
  assert_has (fixture->out, "its content has the hash ");

  at = strrchr (text, ',');
  strcpy (at, "\n}\n");
  g_assert_true (g_file_set_contents (fixture->manifest, text, -1, NULL));
  g_assert_cmpint (run (fixture, "verify @"), ==, 0);
  assert_has (fixture->out, "the manifest has no hash of its own content");
}

/* Each length that a cut can leave. */
static void
test_cut (Fixture *fixture, gconstpointer data)
{
  for (guint n = 0; n < 102; n += 7)
    {
      copy ("meg16.idx", fixture->idx);
      g_assert_no_errno (truncate (fixture->idx, n));
      g_assert_cmpint (run (fixture, "verify @"), ==, 1);
      g_assert_cmpint (run (fixture, "head @"), ==, 1);
    }
  copy ("meg16.idx", fixture->idx);
  for (guint n = 0; n < 26; n += 5)
    {
      copy ("meg16.bin", fixture->bin);
      g_assert_no_errno (truncate (fixture->bin, n));
      g_assert_cmpint (run (fixture, "verify @"), ==, 1);
      g_assert_cmpint (run (fixture, "head @"), ==, 1);
    }
}

/* Files of random bytes behind the magic: no crash. */
static void
test_random (Fixture *fixture, gconstpointer data)
{
  const char *scale_text = g_getenv ("DLPIPE_TEST_SCALE");
  double scale = scale_text != NULL ? g_ascii_strtod (scale_text, NULL) : 1.0;

  for (guint i = 0; i < 50 * scale; i++)
    {
      guint n = (guint) g_test_rand_int_range (1, 6);

      copy ("meg16.idx", fixture->idx);
      for (guint k = 0; k < n; k++)
        {
          char byte = (char) g_test_rand_int_range (0, 256);

          patch (fixture->idx, (gsize) g_test_rand_int_range (17, 102), &byte, 1);
        }
      g_assert_cmpint (run (fixture, "verify @"), <=, 1);
      g_assert_cmpint (run (fixture, "sample --ids @"), <=, 1);
    }
}

static void
test_bad_manifest (Fixture *fixture, gconstpointer data)
{
  g_assert_true (g_file_set_contents (fixture->manifest, "{}", -1, NULL));
  g_assert_cmpint (run (fixture, "verify @"), ==, 2);
  assert_has (fixture->err, "is no manifest of dlpipe");
}

/* ---- lines ---- */

static void
test_lines (Fixture *fixture, gconstpointer data)
{
  static const char text[] = "{\"text\":\"one\\u001b[1m\"}\n{\"tokens\":[1,2]}\n[3]\n";

  g_assert_true (g_file_set_contents (fixture->location, text, -1, NULL));
  g_assert_no_errno (g_unlink (fixture->bin));
  g_assert_no_errno (g_unlink (fixture->idx));

  g_assert_cmpint (run (fixture, "info @"), ==, 0);
  assert_has (fixture->out, "documents              3\n");
  g_assert_cmpint (run (fixture, "head --model gpt2 @"), ==, 0);
  g_assert_cmpstr (fixture->out, ==,
                   "--- line 1, 23 bytes\none\\x1b[1m\n--- line 2, 16 bytes\n\"#\n"
                   "--- line 3, 3 bytes\n[3]\n");
  g_assert_cmpint (run (fixture, "sample -n 1 @"), ==, 0);
  g_assert_cmpint (run (fixture, "verify @"), ==, 0);
  g_assert_cmpint (run (fixture, "verify --model gpt2 @"), ==, 0);
  assert_has (fixture->out, "2 tokens");

  g_assert_true (g_file_set_contents (fixture->location, "{\"tokens\":[50257]}\n", -1, NULL));
  g_assert_cmpint (run (fixture, "verify --model gpt2 @"), ==, 1);
  assert_has (fixture->out, "line 1: token 0 is 50257; allowed are 0 to 50256");
  g_assert_true (g_file_set_contents (fixture->location, "{}\n{\"a\":}\n", -1, NULL));
  g_assert_cmpint (run (fixture, "verify @"), ==, 1);
  assert_has (fixture->out, "line 2: not JSON");
  g_assert_true (g_file_set_contents (fixture->location, "{}\n{}", -1, NULL));
  g_assert_cmpint (run (fixture, "verify @"), ==, 1);
  assert_has (fixture->out, "line 2: is cut");
}

/* What no sink has written is not looked into, and nothing of it gets on a terminal. */
static void
test_not_text (Fixture *fixture, gconstpointer data)
{
  static const struct
  {
    const char *bytes;
    gsize n;
    const char *what;
  } files[] = {
    { "\x1f\x8b\x08\0rest\n", 10, "is compressed with gzip" },
    { "\x28\xb5\x2f\xfdrest\n", 9, "is compressed with zstd" },
    { "PAR1rest", 8, "is a Parquet file" },
    { "text\n\0\1\2\n", 9, "is binary" },
  };
  static const char *const names[] = { "info @", "head @", "sample @", "verify @" };

  g_assert_no_errno (g_unlink (fixture->bin));
  g_assert_no_errno (g_unlink (fixture->idx));
  for (guint i = 0; i < G_N_ELEMENTS (files); i++)
    for (guint k = 0; k < G_N_ELEMENTS (names); k++)
      {
        g_assert_true (
            g_file_set_contents (fixture->location, files[i].bytes, (gssize) files[i].n, NULL));
        g_assert_cmpint (run (fixture, names[k]), ==, 2);
        g_assert_cmpstr (fixture->out, ==, "");
        assert_has (fixture->err, files[i].what);
      }
}

static void
test_unfinished (Fixture *fixture, gconstpointer data)
{
  g_autofree char *state = g_strconcat (fixture->location, "2.dlpipe", NULL);
  g_autofree char *partial = g_build_filename (fixture->folder, ".x3.ab.1.partial", NULL);

  g_assert_cmpint (g_mkdir (state, 0700), ==, 0);
  g_assert_cmpint (run (fixture, "info @2"), ==, 2);
  assert_has (fixture->err, "x2: unfinished: the state of its run is in ");
  g_assert_cmpint (run (fixture, "head @2.bin"), ==, 2);
  assert_has (fixture->err, "x2: unfinished");
  g_assert_no_errno (g_rmdir (state));

  g_assert_true (g_file_set_contents (partial, "x", 1, NULL));
  g_assert_cmpint (run (fixture, "info @3"), ==, 2);
  assert_has (fixture->err, "x3: unfinished: a run is writing it, or has left it: ");
}

static void
test_empty (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GVariant) manifest = dlp_manifest_new (
      "megatron", "0123abcd", NULL, 0, g_variant_new_parsed ("{'tokens': <uint64 0>}"));

  g_assert_true (dlp_manifest_write (fixture->manifest, manifest, NULL));
  g_assert_cmpint (run (fixture, "verify @"), ==, 1);
  assert_has (fixture->out, "x.bin: is not listed");
  g_assert_no_errno (g_unlink (fixture->bin));
  g_assert_no_errno (g_unlink (fixture->idx));
  g_assert_cmpint (run (fixture, "verify @"), ==, 0);
  g_assert_cmpint (run (fixture, "info @"), ==, 0);
  g_assert_cmpint (run (fixture, "head @"), ==, 0);
}

#define add(name, func) g_test_add (name, Fixture, NULL, set_up, func, tear_down)

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_assert_cmpint (argc, ==, 3);
  program = argv[1];
  golden_folder = argv[2];

  add ("/dataset/usage", test_usage);
  add ("/dataset/info", test_info);
  add ("/dataset/head", test_head);
  add ("/dataset/model", test_model);
  add ("/dataset/sample", test_sample);
  add ("/dataset/verify", test_verify);
  for (guint i = 0; i < G_N_ELEMENTS (faults); i++)
    {
      g_autofree char *path = g_strconcat ("/dataset/fault/", faults[i].name, NULL);

      g_test_add (path, Fixture, &faults[i], set_up, test_fault, tear_down);
    }
  add ("/dataset/negative-id", test_negative_id);
  add ("/dataset/counts", test_counts);
  add ("/dataset/own-hash", test_own_hash);
  add ("/dataset/cut", test_cut);
  add ("/dataset/random", test_random);
  add ("/dataset/bad-manifest", test_bad_manifest);
  add ("/dataset/lines", test_lines);
  add ("/dataset/empty", test_empty);
  add ("/dataset/not-text", test_not_text);
  add ("/dataset/unfinished", test_unfinished);

  return g_test_run ();
}
