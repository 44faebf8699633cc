/* SPDX-License-Identifier: MIT */

/* What becomes a record, what does not, and where that is, whatever the size of a read; and what is
 * gone on with after each record. */

#include <string.h>

#include "dlp-tar-reader.h"
#include "reader-cases.h"
#include "tar-make.h"

typedef struct
{
  const char *name;
  const char *settings;
  const char *members; /* as tar_make() takes them */
  const char *good;
  const char *rejected;
} TarCase;

#define BOM "\xef\xbb\xbf"
#define LONG "0123456789012345678901234567890123456789012345678901234567890123456789"
#define TYPED "fields=text=txt,n=cls:int64?,x=json.a.x:double,b=png:binary?,y=json.y:string?"

static const TarCase cases[] = {
  { "plain", "", "a.txt:one b.txt:two", "one|two", "" },
  { "empty", "", "", "", "" },
  { "empty-text", "", "a.txt: b.txt:x", "|x", "" },
  { "order", "fields=text=txt,j=json,key", "a.json:{} a.txt:one b.txt:two b.jpg:x b.json:[1]",
    "one\t{}\ta|two\t[1]\tb", "" },
  { "folders", "fields=key,txt", "5*x: x.y/a.txt:1 x.y/b.txt:2 2*l.txt: z/b.txt:3",
    "x.y/a\t1|x.y/b\t2|z/b\t3", "" },
  { "passed-over", "", "README:x a.txt:one noext:y a.json:{} .a.txt:z b.txt:two __meta__/c.txt:w",
    "one|two", "" },
  { "case", "", "a.TXT:one", "one", "" },
  { "dots", "fields=txt,seg.png", "a.seg.png:p a.txt:t", "t\tp", "" },
  { "bom", "", "a.txt:" BOM "one", "one", "" },
  { "missing", "", "a.json:{} b.txt:x c.png:", "x", "missing 0 0 0|missing 2 0 2048" },
  { "optional", "fields=text=txt:string?", "a.json:{} b.txt:x", "(null)|x", "" },
  /* What stands apart is another sample. */
  { "apart", "fields=text=txt,j=json", "a.txt:1 b.txt:2 a.json:{} b.json:{} c.txt:3 c.json:4",
    "3\t4", "missing 0 0 0|missing 1 0 1024|missing 2 0 2048|missing 3 0 3072" },
  { "duplicate", "", "a.txt:1 a.json:{} a.txt:2 b.txt:x b.png:1 b.PNG:2 c.txt:y", "y",
    "duplicate 0 0 2560|duplicate 1 0 5632" },
  { "utf-8", "fields=text=txt,key", "a.txt:ab\xff b.txt:x \xff.txt:y", "x\tb",
    "utf-8 0 0 514|utf-8 2 0 2048" },
  { "typed", TYPED,
    "a.txt:t a.cls:5\n a.json:{\"a\":{\"x\":1.5}} a.png:\xff b.json:{\"y\":\"z\",\"a\":{\"x\":-2}} "
    "b.txt:u c.txt:v c.cls:5x c.json:{\"a\":{\"x\":1}} d.txt:w d.json:{\"a\":{\"x\":\"1\"}} "
    "e.txt:x e.json:{} f.txt:y f.json:{\"a\" g.txt:z g.cls:99999999999999999999 "
    "g.json:{\"a\":{\"x\":1}}",
    "t\t5\t1.5\t\xff\t(null)|u\t(null)\t-2\t(null)\tz",
    "type 2 0 7680|type 3 0 10762|missing 4 0 12800|unterminated 5 0 14852|range 6 0 16896" },
  { "sparse", "fields=text=txt", "S*a.txt:x b.txt:y S*b.png:z", "y", "sparse 0 0 512" },
  { "zeros", "", "a.txt:1 Z*: a.txt:2 Z*: Z*: b.txt:3", "1|2|3", "" },
  { "max", "max-record-bytes=1024", "a.txt:1 b.txt:2 b.json:{} c.txt:3", "1|3",
    "too-long 1 0 1024" },
  { "long-name", "fields=key,txt", "L*x:" LONG LONG ".txt a.txt:one b.txt:x",
    LONG LONG "\tone|b\tx", "" },
};

/* Z* is two blocks of zeros; so many as end an archive are behind all. */
static GString *
make_archive (const char *members)
{
  g_auto (GStrv) parts = g_strsplit (members, "Z*:", -1);
  GString *all = g_string_new (NULL);

  for (guint i = 0; parts[i] != NULL; i++)
    {
      g_autoptr (GString) part = tar_make (parts[i]);

      g_string_append_len (all, part->str, (gssize) part->len);
      tar_make_end (all);
    }
  return all;
}

static void
add_cases (void)
{
  static ReaderCase made[G_N_ELEMENTS (cases)];

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      GString *archive = make_archive (cases[i].members);

      made[i] = (ReaderCase){ .name = cases[i].name,
                              .settings = cases[i].settings,
                              .size = archive->len,
                              .input = archive->str,
                              .good = cases[i].good,
                              .rejected = cases[i].rejected };
      g_string_free (archive, FALSE);
    }
  reader_cases_add (made, G_N_ELEMENTS (cases));
}

static void
test_refused (void)
{
  static const char *const settings[][2] = {
    { "fields=", "a field has no name" },
    { "fields=text=", "a field has no name" },
    { "fields==txt", "a field has no name" },
    { "fields=a=txt,a=json", "\"a\" is given twice" },
    { "fields=txt,txt", "\"txt\" is given twice" },
    { "fields=key:int64", "\"key\": the key is a string" },
    { "fields=a=json.x:binary", "what is in JSON is no binary" },
    { "fields=a=json.x..y", "fields: \"json\":" },
    { "fields=a=txt:list<uint16>",
      "a member is read as string, number, boolean, binary, not as list<uint16>" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (settings); i++)
    reader_cases_assert_refused (settings[i][0], settings[i][1]);
}

/* ---- damage ---- */

/* The first @size bytes of the archive, @good of which are kept, and the message has @part. */
static void
assert_cut (GString *archive, gsize size, const char *settings, const char *good, const char *part)
{
  for (guint i = 0; i < N_READ_SIZES; i++)
    for (guint way = 0; way < 4; way++)
      {
        static const char *const names[] = { "a.tar", "a.tar", "a.tar.gz", "a.tar.zst" };
        g_autoptr (Fixture) fixture = reader_cases_fixture (settings, reader_read_sizes[i]);
        g_autoptr (RigOutput) output = NULL;
        g_autofree char *kept = NULL;

        fixture->config.workers = way % 2 == 0 ? 0 : 2;
        fixture_write (fixture, names[way], archive->str, (gssize) size);
        output = rig_run (fixture_config (fixture));
        g_assert_error (output->error, DLP_DATA_ERROR, DLP_DATA_ERROR_DAMAGED);
        g_test_message ("%s", output->error->message);
        g_assert_nonnull (strstr (output->error->message, part));

        g_clear_pointer (&output, rig_output_free);
        fixture_set_reader (fixture, "on-damaged-file=keep");
        output = rig_run (fixture_config (fixture));
        g_assert_no_error (output->error);
        kept = reader_cases_join_good (output);
        g_assert_cmpstr (kept, ==, good);
        g_assert_cmpuint (output->rejected->len, ==, 0);
      }
}

static void
test_cut (void)
{
  g_autoptr (GString) archive =
      make_archive ("a.txt:one a.json:{} b.txt:" LONG " b.json:{} c.txt:x");

  assert_cut (archive, 100, "", "", "it ends within a header (at byte 0)");
  assert_cut (archive, 511, "", "", "within a header");
  assert_cut (archive, 513, "", "",
              "it ends behind 1 of 3 bytes of the member \"a.txt\" (at byte 513)");
  assert_cut (archive, 1100, "", "one",
              "it ends within a header behind the member \"a.txt\" (at byte 1024)");
  assert_cut (archive, 1100, "fields=text=txt,j=json", "", "behind the member \"a.txt\"");
  assert_cut (archive, 1537, "", "one", "it ends behind 1 of 2 bytes of the member \"a.json\"");
  assert_cut (archive, 1537, "fields=text=txt,j=json", "", "\"a.json\"");
  assert_cut (archive, 2600, "", "one", "it ends behind 40 of 70 bytes of the member \"b.txt\"");
  assert_cut (archive, 2600, "fields=text=txt,j=json", "one\t{}", "\"b.txt\"");
}

static void
test_damage (void)
{
  g_autoptr (GString) archive = make_archive ("a.txt:one b.txt:two c.txt:x");

  archive->str[2048 + 3] ^= 1;
  assert_cut (
      archive, archive->len, "", "one|two",
      "no tar header, or one whose checksum is wrong behind the member \"b.txt\" (at byte 2048)");
  archive->str[1] ^= 1;
  assert_cut (archive, archive->len, "", "",
              "no tar header, or one whose checksum is wrong (at byte 0)");
}

static void
test_other (void)
{
  for (guint i = 0; i < N_READ_SIZES; i++)
    {
      g_autofree char *text = g_strnfill (2000, 'x');

      reader_cases_assert_damaged ("", text, 2000, reader_read_sizes[i],
                                   "no tar header, or one whose checksum is wrong (at byte 0)");
      memcpy (text, "PK\3\4", 4);
      reader_cases_assert_damaged ("", text, 2000, reader_read_sizes[i],
                                   "zip data, which nothing here decompresses");
    }
}

/* ---- the end of an archive ---- */

static guint64
get_counter (const RigOutput *output, const char *name)
{
  g_autoptr (GVariant) counters = g_variant_lookup_value (output->report, "counters", NULL);
  guint64 n = 0;

  g_assert_true (g_variant_lookup (counters, name, "t", &n));
  return n;
}

/* So many bytes of an archive whose members have 2,048, and whose last one has 3 and filling. */
static void
check_end (gsize size, guint64 lacking)
{
  for (guint i = 0; i < N_READ_SIZES; i++)
    {
      g_autoptr (GString) archive = make_archive ("a.txt:one b.txt:two");
      g_autoptr (Fixture) fixture = reader_cases_fixture ("", reader_read_sizes[i]);
      g_autoptr (RigOutput) output = NULL;
      g_autofree char *good = NULL;

      fixture_write (fixture, "a.tar", archive->str, (gssize) size);
      output = rig_run (fixture_config (fixture));
      g_assert_no_error (output->error);
      good = reader_cases_join_good (output);
      g_assert_cmpstr (good, ==, "one|two");
      g_assert_cmpuint (get_counter (output, "no-end-blocks"), ==, lacking);
    }
}

static void
test_end (void)
{
  check_end (3072, 0);
  check_end (3071, 0);
  check_end (2560, 0);
  check_end (2100, 0);
  check_end (2048, 1);
  check_end (1600, 1);
  check_end (1539, 1);
}

static void
test_counters (void)
{
  g_autoptr (GString) archive =
      make_archive ("a.json:{\"t\":\"\\ud800\",\"t\":\"x\"} README:x b.json:{\"t\":\"y\"} 5*c.d:");
  g_autoptr (Fixture) fixture = reader_cases_fixture ("fields=text=json.t", 4096);
  g_autoptr (RigOutput) output = NULL;

  fixture_write (fixture, "a.tar", archive->str, (gssize) archive->len);
  output = rig_run (fixture_config (fixture));
  g_assert_no_error (output->error);
  g_assert_cmpuint (output->good->len, ==, 2);
  g_assert_cmpuint (get_counter (output, "passed-over"), ==, 2);
  g_assert_cmpuint (get_counter (output, "lone-surrogates"), ==, 1);
  g_assert_cmpuint (get_counter (output, "duplicate-keys"), ==, 1);
}

/* Longer than what is held of a sample: passed over, with archives within its members. */
static void
test_very_long (void)
{
  for (guint i = 0; i < N_READ_SIZES; i++)
    for (guint way = 0; way < 4; way++)
      {
        g_autoptr (Fixture) fixture =
            reader_cases_fixture ("max-record-bytes=2000", MAX (reader_read_sizes[i], 100));
        g_autoptr (GString) archive = tar_make ("a.txt:one");
        g_autoptr (GString) nested = tar_make ("b.txt:no c.txt:no");
        g_autoptr (RigOutput) output = NULL;
        g_autofree char *good = NULL;
        g_autofree char *rejected = NULL;

        for (guint k = 0; k < 100; k++)
          {
            g_autofree char *name = g_strdup_printf ("b.%u", k);

            tar_make_member (archive, '0', name, nested->str, nested->len);
          }
        tar_make_member (archive, '0', "z.txt", "two", 3);
        tar_make_end (archive);
        fixture->config.workers = way % 2;
        fixture_write (fixture, way < 2 ? "a.tar" : "a.tar.gz", archive->str,
                       (gssize) archive->len);
        output = rig_run (fixture_config (fixture));
        g_assert_no_error (output->error);
        good = reader_cases_join_good (output);
        rejected = reader_cases_join_rejected (output);
        g_assert_cmpstr (good, ==, "one|two");
        g_assert_cmpstr (rejected, ==, "too-long 1 0 1024");
      }
}

/* ---- gone on with ---- */

static void
write_files (Fixture *fixture)
{
  static const char *const names[] = { "a.tar", "b.tar.gz", "c.tar.zst", "d.tar", "e.tar" };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autoptr (GString) archive = g_string_new (NULL);

      for (guint k = 0; i != 3 && k < 16; k++)
        {
          g_autofree char *name = g_strdup_printf ("x/%04u.", k);
          g_autofree char *text = g_strconcat (name, "txt", NULL);
          g_autofree char *cls = g_strconcat (name, k % 7 == 3 ? "txt" : "cls", NULL);
          g_autofree char *body = g_strdup_printf ("%u of %u %*s", k, i, (int) (k * 40), "");

          tar_make_member (archive, '0', text, body, strlen (body));
          if (k % 4 == 0)
            tar_make_member (archive, '5', name, "", 0);
          tar_make_member (archive, '0', cls, "7", 1);
        }
      if (i != 4)
        tar_make_end (archive);
      fixture_write (fixture, names[i], archive->str, (gssize) archive->len);
    }
}

static void
test_resume (gconstpointer data)
{
  reader_cases_check_resume ("fields=text=txt,n=cls:int64?", write_files, GPOINTER_TO_UINT (data),
                             2 * 4 * 14, 2 * 4 * 2);
}

/* ---- the inputs of others' reports ---- */

static void
test_golden (void)
{
  static const char *const names[] = { "t01-dots.tar", "t02-duplicate.tar", "t04-truncated.tar",
                                       "t06-no-end-blocks.tar", "t07-absolute-dotdot.tar" };
  static const char *const settings[] = { "", "fields=key,text=txt:string?,json:string?" };
  g_autofree char *folder = g_test_build_filename (G_TEST_DIST, "cases/", NULL);
  g_autoptr (GString) all = g_string_new (NULL);

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    for (guint k = 0; k < G_N_ELEMENTS (settings); k++)
      reader_cases_append_outcome (all, folder, names[i], settings[k]);
  reader_cases_assert_golden (all);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  reader_cases_init (DLP_TYPE_TAR_READER, "tar-reader", ".tar");
  g_log_set_always_fatal (G_LOG_FATAL_MASK | G_LOG_LEVEL_CRITICAL);
  add_cases ();
  g_test_add_func ("/tar-reader/refused", test_refused);
  g_test_add_func ("/tar-reader/cut", test_cut);
  g_test_add_func ("/tar-reader/damage", test_damage);
  g_test_add_func ("/tar-reader/other", test_other);
  g_test_add_func ("/tar-reader/end", test_end);
  g_test_add_func ("/tar-reader/counters", test_counters);
  g_test_add_func ("/tar-reader/very-long", test_very_long);
  g_test_add_func ("/tar-reader/golden", test_golden);
  g_test_add_data_func ("/tar-reader/resume/1", GUINT_TO_POINTER (1), test_resume);
  g_test_add_data_func ("/tar-reader/resume/3", GUINT_TO_POINTER (3), test_resume);
  return g_test_run ();
}
