/* SPDX-License-Identifier: MIT */

/* dlpipe-tokenizer by its exit code and its output. Argument: the program. */

#include <glib/gstdio.h>
#include <string.h>
#include <sys/wait.h>

#include <dlpipe/dlpipe.h>

static const char *program;

/* Two words and what they are made of; <s> goes before a text. */
static const char model[] =
    "{\"version\":\"1.0\",\"added_tokens\":[{\"id\":0,\"content\":\"<s>\",\"special\":true},"
    "{\"id\":1,\"content\":\"</s>\",\"special\":true}],\"normalizer\":{\"type\":\"Sequence\","
    "\"normalizers\":[{\"type\":\"Prepend\",\"prepend\":\"▁\"},{\"type\":\"Replace\",\"pattern\":"
    "{\"String\":\" \"},\"content\":\"▁\"}]},\"pre_tokenizer\":null,\"post_processor\":{\"type\":"
    "\"TemplateProcessing\",\"single\":[{\"SpecialToken\":{\"id\":\"<s>\",\"type_id\":0}},"
    "{\"Sequence\":{\"id\":\"A\",\"type_id\":0}}],\"pair\":[],\"special_tokens\":{\"<s>\":{\"id\":"
    "\"<s>\",\"ids\":[0],\"tokens\":[\"<s>\"]}}},\"decoder\":{\"type\":\"Sequence\",\"decoders\":["
    "{\"type\":\"Replace\",\"pattern\":{\"String\":\"▁\"},\"content\":\" \"},{\"type\":\"Fuse\"},"
    "{\"type\":\"Strip\",\"content\":\" \",\"start\":1,\"stop\":0}]},\"model\":{\"type\":\"BPE\","
    "\"unk_token\":\"<unk>\",\"fuse_unk\":true,\"vocab\":{\"<s>\":0,\"</s>\":1,\"<unk>\":2,\"▁\":3,"
    "\"a\":4,\"b\":5,\"▁a\":6,\"ab\":7},\"merges\":[\"▁ a\",\"a b\"]}}";

typedef struct
{
  char *folder;
  char *out; /* nul-terminated */
  gsize out_len;
  char *err;
} Fixture;

static void
set_up (Fixture *fixture, gconstpointer data)
{
  fixture->folder = g_dir_make_tmp ("dlpipe-tokenizer-XXXXXX", NULL);
  g_assert_nonnull (fixture->folder);
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
  g_free (fixture->out);
  g_free (fixture->err);
}

static void
write_bytes (Fixture *fixture, const char *name, gconstpointer data, gsize size)
{
  g_autofree char *path = g_build_filename (fixture->folder, name, NULL);

  g_assert_true (g_file_set_contents (path, data, (gssize) size, NULL));
}

static void
write_text (Fixture *fixture, const char *name, const char *text)
{
  write_bytes (fixture, name, text, strlen (text));
}

static char *
take_text (GBytes *bytes, gsize *len)
{
  gsize size;
  const char *data = g_bytes_get_data (bytes, &size);
  GString *text = g_string_new_len (data, (gssize) size);

  if (len != NULL)
    *len = size;
  return g_string_free (text, FALSE);
}

/* The exit status; @arguments: separated by spaces; @input: for the standard input. */
static int
run_bytes (Fixture *fixture, gconstpointer input, gsize size, const char *arguments)
{
  g_autofree char *line = g_strdup_printf ("%s %s", program, arguments);
  g_auto (GStrv) words = g_strsplit (line, " ", -1);
  g_autoptr (GSubprocessLauncher) launcher =
      g_subprocess_launcher_new (G_SUBPROCESS_FLAGS_STDIN_PIPE | G_SUBPROCESS_FLAGS_STDOUT_PIPE |
                                 G_SUBPROCESS_FLAGS_STDERR_PIPE);
  g_autoptr (GSubprocess) child = NULL;
  g_autoptr (GBytes) in = g_bytes_new (input, size);
  g_autoptr (GBytes) out = NULL;
  g_autoptr (GBytes) err = NULL;
  g_autoptr (GError) error = NULL;

  g_subprocess_launcher_set_cwd (launcher, fixture->folder);
  child = g_subprocess_launcher_spawnv (launcher, (const char *const *) words, &error);
  g_assert_no_error (error);
  /* One that does not read its input ends before it has all. */
  g_subprocess_communicate (child, in, NULL, &out, &err, NULL);
  g_subprocess_wait (child, NULL, &error);
  g_assert_no_error (error);
  g_free (fixture->out);
  g_free (fixture->err);
  fixture->out = take_text (out, &fixture->out_len);
  fixture->err = take_text (err, NULL);
  g_assert_true (g_subprocess_get_if_exited (child));
  return g_subprocess_get_exit_status (child);
}

static int
run (Fixture *fixture, const char *input, const char *arguments)
{
  return run_bytes (fixture, input, strlen (input), arguments);
}

static void
assert_has (const char *text, const char *part)
{
  if (strstr (text, part) == NULL)
    g_error ("“%s” is not in:\n%s", part, text);
}

/* It does what is asked, and says nothing else. */
static void
assert_out (Fixture *fixture, const char *input, const char *arguments, const char *wanted)
{
  int status = run (fixture, input, arguments);

  g_assert_cmpstr (fixture->err, ==, "");
  g_assert_cmpstr (fixture->out, ==, wanted);
  g_assert_cmpint (status, ==, 0);
}

static void
assert_fails (Fixture *fixture,
              const char *input,
              const char *arguments,
              int status,
              const char *part)
{
  g_assert_cmpint (run (fixture, input, arguments), ==, status);
  g_assert_true (g_str_has_prefix (fixture->err, "dlpipe-tokenizer: "));
  assert_has (fixture->err, part);
}

static void
test_usage (Fixture *fixture, gconstpointer data)
{
  static const struct
  {
    const char *arguments;
    const char *part;
  } wrong[] = {
    { "info", "a MODEL is wanted" },
    { "look gpt2", "unknown command “look”; known are encode, decode, compare, info" },
    { "info gpt2 x", "info takes a MODEL" },
    { "compare gpt2", "an OTHER one" },
    { "encode --no-such gpt2", "--no-such" },
    { "encode --special-tokens=x gpt2", "allowed are text, allow, error" },
    { "encode --json gpt2", "--json is not for encode" },
    { "decode --jsonl=text gpt2", "--jsonl is not for decode" },
    { "info --lines gpt2", "--lines is not for info" },
    { "encode --lines --jsonl=text gpt2", "only one of them" },
    { "encode --pieces --count gpt2", "only one of" },
    { "decode --width=2 gpt2", "--binary" },
    { "decode --binary --width=3 gpt2", "allowed are 2 and 4" },
    { "decode --binary --lines gpt2", "--lines is for ids as text" },
    { "encode no-such-model", "no model \"no-such-model\"" },
    { "encode gpt2 no-such-file", "no-such-file: cannot open" },
    { "encode gpt2 .", "cannot read" },
    { "encode --jsonl=text gpt2 no-such-file", "no-such-file" },
    { "encode --pattern=( model.json", "model.json" },
  };

  write_text (fixture, "model.json", model);
  for (guint i = 0; i < G_N_ELEMENTS (wrong); i++)
    {
      assert_fails (fixture, "", wrong[i].arguments, 2, wrong[i].part);
      g_assert_cmpstr (fixture->out, ==, "");
    }
  g_assert_cmpint (run (fixture, "", "--help"), ==, 0);
  assert_has (fixture->out, "compare MODEL OTHER");
  g_assert_cmpint (run (fixture, "", "--version"), ==, 0);
}

static void
test_encode (Fixture *fixture, gconstpointer data)
{
  write_text (fixture, "one", "Hello world\n");
  write_text (fixture, "two", "日\na");
  assert_out (fixture, "Hello world", "encode gpt2", "15496 995\n");
  assert_out (fixture, "Hello world", "encode gpt2 -", "15496 995\n");
  assert_out (fixture, "", "encode gpt2", "\n");
  assert_out (fixture, "", "encode gpt2 one two", "15496 995 198\n33768 98 198 64\n");
  assert_out (fixture, "a\n\nb\r\nc", "encode --lines gpt2", "64\n\n65 201\n66\n");
  assert_out (fixture, "", "encode --lines gpt2", "");
  assert_out (fixture, "{\"t\":\"a\"}\n{\"t\":\"\\u0000b\"}\n", "encode --jsonl=t gpt2 -",
              "64\n188 65\n");
  assert_out (fixture, "", "encode --pieces gpt2 one two",
              "15496\t\"Hello\"\n995\t\" world\"\n198\t\"\\n\"\n\n"
              "33768\t\"\\xe6\\x97\"\n98\t\"\\xa5\"\n198\t\"\\n\"\n64\t\"a\"\n");
  assert_out (fixture, "", "encode --count gpt2 one two", "3 one\n4 two\n7 total\n");
  assert_out (fixture, "a\nb b\n", "encode --count --lines gpt2", "3\n");
  g_assert_cmpint (run (fixture, "Hello world", "encode --binary gpt2"), ==, 0);
  g_assert_cmpuint (fixture->out_len, ==, 8);
  g_assert_cmpint (memcmp (fixture->out, "\x88\x3c\0\0\xe3\x03\0\0", 8), ==, 0);
}

static void
test_specials (Fixture *fixture, gconstpointer data)
{
  static const char text[] = "a<|endoftext|>";

  assert_out (fixture, text, "encode gpt2", "64 27 91 437 1659 5239 91 29\n");
  assert_out (fixture, text, "encode --special-tokens=text gpt2", "64 27 91 437 1659 5239 91 29\n");
  assert_out (fixture, text, "encode --special-tokens=allow gpt2", "64 50256\n");
  assert_out (fixture, "a", "encode --special-tokens=error gpt2", "64\n");
  assert_fails (fixture, "b\na<|endoftext|>\n", "encode --lines --special-tokens=error gpt2", 1,
                "standard input: line 2: the text of the special token <|endoftext|> is at byte 1");
  g_assert_cmpstr (fixture->out, ==, "65\n");
}

static void
test_model_file (Fixture *fixture, gconstpointer data)
{
  write_text (fixture, "model.json", model);
  assert_out (fixture, "a ab", "encode model.json", "6 6 5\n");
  assert_out (fixture, "a ab", "encode --post-processor model.json", "0 6 6 5\n");
  assert_out (fixture, "6 3 7", "decode model.json", "a ab");
  assert_out (fixture, "[6, 3]\n7", "decode --lines model.json", "a \nab\n");
  assert_out (fixture, "axx", "encode --pieces model.json", "6\t\"▁a\"\n2\t\"<unk>\"\n");
  g_assert_cmpint (run (fixture, "axx ", "encode --stats model.json"), ==, 0);
  g_assert_cmpstr (fixture->out, ==, "6 2 3\n");
  assert_has (fixture->err, "documents            1\nbytes                4\n");
  assert_has (fixture->err, "tokens               3\nbytes per token      1.333\n");
  assert_has (fixture->err, "unknown ids          1 (33.33 %)\nsingle-byte ids      0 (0.00 %)\n");
  g_assert_cmpint (run (fixture, "</s>", "encode --stats --count gpt2"), ==, 0);
  assert_has (fixture->err, "single-byte ids      2 (66.67 %)\nspecial-token texts  0\n");
  assert_has (fixture->err, "pieces               3 (0.00 % from the cache)\n");
  g_assert_cmpint (run (fixture, "</s>", "encode --stats --count model.json"), ==, 0);
  assert_has (fixture->err, "special-token texts  1 (ordinary ids)\n");
}

/* What is at fault in a document is named with its place. */
static void
test_bad_text (Fixture *fixture, gconstpointer data)
{
  assert_fails (fixture, "a\nb\xff\n", "encode --lines gpt2", 1,
                "standard input: line 2: the byte 0xff at byte 1 is not UTF-8");
  g_assert_cmpstr (fixture->out, ==, "64\n");
  assert_fails (fixture, "a\xe6\x97", "compare gpt2 gpt2", 1, "the byte 0xe6 at byte 1");
  assert_fails (fixture, "{\"t\":\"a\"}\n{\"x\":1}\n", "encode --jsonl=t gpt2", 1, "row 1");
  g_assert_cmpint (run_bytes (fixture, "a\0b", 3, "encode gpt2"), ==, 0);
  g_assert_cmpstr (fixture->out, ==, "64 188 65\n");
}

static void
test_decode (Fixture *fixture, gconstpointer data)
{
  write_text (fixture, "ids", "15496 995\n198");
  write_text (fixture, "more", "64");
  assert_out (fixture, "", "decode gpt2 ids more", "Hello world\na");
  assert_out (fixture, "", "decode --lines gpt2 ids more", "Hello world\n\n\na\n");
  assert_out (fixture, "", "decode gpt2", "");
  assert_out (fixture, "[64, 65]", "decode gpt2", "ab");
  g_assert_cmpint (run_bytes (fixture, "\x88\x3c\0\0", 4, "decode --binary gpt2"), ==, 0);
  g_assert_cmpstr (fixture->out, ==, "Hello");
  g_assert_cmpint (run_bytes (fixture, "\x88\x3c\xe3\x03", 4, "decode --binary --width=2 gpt2"), ==,
                   0);
  g_assert_cmpstr (fixture->out, ==, "Hello world");

  assert_fails (fixture, "64\n65 50257", "decode gpt2", 1,
                "standard input: line 2, byte 3: 50257 is no id of gpt2; its ids are within 0 to "
                "50256");
  assert_fails (fixture, "99999999999999999999999999", "decode gpt2", 1, "99999999999999999999");
  assert_fails (fixture, "64 -1", "decode gpt2", 1, "line 1, byte 3: \"-1\" is not a number");
  assert_fails (fixture, "0x1", "decode gpt2", 1, "\"0x1\" is not a number");
  assert_fails (fixture, "\x1b[m", "decode gpt2", 1, "\"\\x1b\" is not a number");
  g_assert_cmpint (run_bytes (fixture, "\x88\x3c\0\0\xff\xff\0\0", 8, "decode --binary gpt2"), ==,
                   1);
  assert_has (fixture->err, "standard input: byte 4: 65535 is no id of gpt2");
  g_assert_cmpint (run_bytes (fixture, "\x88\x3c\0", 3, "decode --binary gpt2"), ==, 1);
  assert_has (fixture->err, "3 bytes are not a whole number of ids of 4 bytes");
}

static void
test_round_trip (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GString) text = g_string_new (NULL);

  while (text->len < 300000)
    g_string_append (text, "It's 日本, “été” 1234\r\n\t \xf0\x9f\x98\x80<|endoftext|> ");
  write_bytes (fixture, "text", text->str, text->len);
  for (guint i = 0; i < 2; i++)
    {
      g_autofree char *ids = NULL;
      gsize len;

      g_assert_cmpint (run (fixture, "", i ? "encode --binary gpt2 text" : "encode gpt2 text"), ==,
                       0);
      ids = g_steal_pointer (&fixture->out);
      len = fixture->out_len;
      g_assert_cmpint (run_bytes (fixture, ids, len, i ? "decode --binary gpt2" : "decode gpt2"),
                       ==, 0);
      g_assert_cmpmem (fixture->out, fixture->out_len, text->str, text->len);
    }
}

static void
test_compare (Fixture *fixture, gconstpointer data)
{
  g_autofree char *other = g_strdup (model);

  /* Another order of merges: ▁ab is ▁a b, or ▁ ab. */
  memcpy (strstr (other, "\"▁ a\",\"a b\""), "\"a b\",\"▁ a\"", strlen ("\"a b\",\"▁ a\""));
  write_text (fixture, "model.json", model);
  write_text (fixture, "other.json", other);
  write_text (fixture, "text", "a a b\na a\n");
  write_text (fixture, "more", "b a\nb ab\nab\n");
  assert_out (fixture, "", "compare --lines model.json other.json text",
              "equal: 6 ids of 2 documents\n");
  assert_out (fixture, "{\"t\":\"a\"}", "compare --jsonl=t gpt2 cl100k_base",
              "equal: 1 ids of 1 documents\n");
  g_assert_cmpint (run (fixture, "", "compare --lines model.json other.json text more"), ==, 1);
  g_assert_cmpstr (fixture->err, ==, "");
  g_assert_cmpstr (fixture->out, ==,
                   "different: more: line 2: byte 1, id 2 of 4 and of 4\n"
                   "  before   \"b\"\n"
                   "  there    \" ab\"\n"
                   "  model.json: 6 \"▁a\" 5 \"b\"\n"
                   "  other.json: 3 \"▁\" 7 \"ab\"\n");
  g_assert_cmpint (run (fixture, "a", "compare --post-processor gpt2 model.json"), ==, 1);
  assert_has (fixture->out, "different: standard input: byte 0, id 0 of 1 and of 2\n");
  assert_fails (fixture, "", "compare gpt2 no-such-model", 2, "no-such-model");
}

static void
test_info (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GVariant) facts = NULL;
  g_autoptr (GVariant) bos = NULL;
  gint64 size;
  const char *content;

  write_text (fixture, "model.json", model);
  g_assert_cmpint (run (fixture, "", "info gpt2"), ==, 0);
  assert_has (fixture->out, "name                 gpt2\n");
  assert_has (fixture->out, "kind                 ranks\n");
  assert_has (fixture->out, "vocabulary size      50257\nbytes of an id       2\n");
  assert_has (fixture->out, "EOD                  50256 \"<|endoftext|>\"\n");
  assert_has (fixture->out, "BOS                  gpt2: no known token begins a document");
  assert_has (fixture->out, "pattern              '");
  assert_has (fixture->out, "fingerprint          c357f342");

  g_assert_cmpint (run (fixture, "", "info model.json"), ==, 0);
  assert_has (fixture->out, "kind                 json\n");
  assert_has (fixture->out, "BOS                  0 \"<s>\"\nEOD                  1 \"</s>\"\n"
                            "unknown              2 \"<unk>\"\n");
  assert_has (fixture->out, "steps                normalizer: Prepend, Replace\n"
                            "                     model: BPE\n"
                            "                     post_processor: TemplateProcessing\n"
                            "                     decoder: Replace, Fuse, Strip\n");
  assert_has (fixture->out, "special tokens       2\n                     0 \"<s>\"\n");

  g_assert_cmpint (run (fixture, "", "info --json model.json"), ==, 0);
  facts = dlp_json_parse (fixture->out, fixture->out_len, NULL);
  g_assert_nonnull (facts);
  g_assert_true (g_variant_lookup (facts, "vocab-size", "x", &size));
  g_assert_cmpint (size, ==, 8);
  bos = g_variant_lookup_value (facts, "bos", G_VARIANT_TYPE_VARDICT);
  g_assert_true (g_variant_lookup (bos, "content", "&s", &content));
  g_assert_cmpstr (content, ==, "<s>");
}

/* Ids that go nowhere are a fault, also where there are more than a buffer holds. */
static void
test_full (Fixture *fixture, gconstpointer data)
{
  static const char *const sizes[] = { "1", "300000" };

  if (!g_file_test ("/dev/full", G_FILE_TEST_EXISTS))
    {
      g_test_skip ("there is no /dev/full");
      return;
    }
  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    {
      g_autofree char *line = g_strdup_printf (
          "head -c %s /dev/zero | tr '\\0' '7' | '%s' encode --lines gpt2 >/dev/full", sizes[i],
          program);
      const char *words[] = { "sh", "-c", line, NULL };
      g_autofree char *err = NULL;
      g_autoptr (GError) error = NULL;
      int status;

      g_spawn_sync (NULL, (char **) words, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL, &err,
                    &status, &error);
      g_assert_no_error (error);
      g_assert_true (WIFEXITED (status));
      g_assert_cmpint (WEXITSTATUS (status), ==, 1);
      assert_has (err, "dlpipe-tokenizer: standard output: ");
      assert_has (err, "No space left on device\n");
    }
}

#define add(name, func) g_test_add (name, Fixture, NULL, set_up, func, tear_down)

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_assert_cmpint (argc, ==, 2);
  program = g_canonicalize_filename (argv[1], NULL);

  add ("/tokenizer-tool/usage", test_usage);
  add ("/tokenizer-tool/encode", test_encode);
  add ("/tokenizer-tool/specials", test_specials);
  add ("/tokenizer-tool/model-file", test_model_file);
  add ("/tokenizer-tool/bad-text", test_bad_text);
  add ("/tokenizer-tool/decode", test_decode);
  add ("/tokenizer-tool/round-trip", test_round_trip);
  add ("/tokenizer-tool/compare", test_compare);
  add ("/tokenizer-tool/info", test_info);
  add ("/tokenizer-tool/full", test_full);

  return g_test_run ();
}
