/* SPDX-License-Identifier: MIT */

/* What becomes a record, what does not, and where that is, whatever the size of a read; and what is
 * gone on with after each record. */

#include <string.h>

#include "dlp-csv-reader.h"
#include "reader-fixture.h"

#define LITERAL(s) s, sizeof s - 1
#define BOM "\xef\xbb\xbf"

typedef struct
{
  const char *name;
  const char *settings; /* with blanks between */
  const char *input;
  gsize size;
  const char *good; /* the fields with tabs between, records with |; control characters as \x0a */
  const char *rejected; /* "kind row line offset", with | between */
} Case;

static const Case cases[] = {
  { "plain", "", LITERAL ("id,text\n1,one\n2,two\n"), "one|two", "" },
  { "crlf", "", LITERAL ("text,id\r\none,1\r\n\r\ntwo,2"), "one|two", "" },
  { "bom", "", LITERAL (BOM "text,id\none,1\n"), "one", "" },
  { "bom-quoted", "", LITERAL (BOM "\"text\"\n\"a\nb\"\n"), "a\\x0ab", "" },
  { "quotes", "fields=id", LITERAL ("id,text\n1,\"a \"\"b\"\", c\"\n\"2\",\"x\r\ny\"\r\n3,\"\"\n"),
    "a \"b\", c\t1|x\\x0d\\x0ay\t2|\t3", "" },
  { "quote-in-text", "", LITERAL ("text,n\n5\" pipe,1\na \"b\" c,2\n"), "5\" pipe|a \"b\" c", "" },
  { "blank", "", LITERAL ("\r\n\ntext\n\na\n\n\n\"\"\n \nb\n\n"), "a|| |b", "" },
  { "header-alone", "", LITERAL ("text,id\n"), "", "" },
  { "header-alone-no-end", "", LITERAL ("text,id"), "", "" },
  { "only-blank", "", LITERAL ("\n\r\n"), "", "" },
  { "header-with-newline", "", LITERAL ("\"a\nb\",text\n1,one\n"), "one", "" },
  { "unnamed", "", LITERAL (",text,\n1,one,2\n"), "one", "" },
  { "last-empty", "fields=b", LITERAL ("text,b\na,"), "a\t", "" },
  { "columns", "", LITERAL ("text,b\n1\na,b\n1,2,3\n\n\"x\ny\",2,3\nc,d\n"), "a|c",
    "columns 0 2 7|columns 2 4 13|columns 3 6 20" },
  { "unclosed", "", LITERAL ("text,b\na,b\nc,\"d\ne,f\n"), "a", "unclosed-quote 1 3 13" },
  { "behind-quote", "", LITERAL ("text,b\n\"x\ny\"z,1\na,b\n\"c\" ,d\n"), "a",
    "quote 0 3 12|quote 2 5 23" },
  { "nul", "", LITERAL ("text,b\na\0b,1\nc,\0\n"), "c", "nul 0 2 8" },
  { "utf-8", "", LITERAL ("text,b\n\"a\n\xe9\",1\nc,\xff\n\xc3\xa9,2\n"), "c|\xc3\xa9",
    "utf-8 0 3 10" },
  { "tab", "delimiter=tab", LITERAL ("text\tb\na,b\t1\n"), "a,b", "" },
  { "semicolon", "delimiter=; quote='", LITERAL ("b;text\n1;'a;''b'\n"), "a;'b", "" },
  { "no-quote", "quote= fields=b", LITERAL ("b,text\n\"1,\"a\n"), "\"a\t\"1", "" },
  { "no-header", "header=false columns=id,text fields=id", LITERAL ("1,one\n2,two\n3\n"),
    "one\t1|two\t2", "columns 2 3 12" },
  { "no-names", "header=false field=column-2", LITERAL ("1,one\n2,two\n3\n"), "one|two",
    "columns 2 3 12" },
  { "same-column", "field=body fields=body,id", LITERAL ("id,body\n1,one\n"), "one\tone\t1", "" },
  { "absent", "fields=score:double?,lang:string?", LITERAL ("text\na\n"), "a\t(null)\t(null)", "" },
  { "typed", "fields=n:int64,d:double?,ok:boolean,u:uint64?",
    LITERAL ("text,n,d,ok,u\na,-5,1.5,true,\nb, 1e3 ,,False,18446744073709551615\n"
             "c,+7,\" -0.0\",TRUE,0\nd,,1,true,1\ne,1.5,1,true,1\nf,9223372036854775808,1,true,1\n"
             "g,1,x,true,1\nh,1,1e400,true,1\ni,1,1,1,1\nj,1,1,true,-1\nk,01,1,true,1\n"
             "l,1,nan,true,1\n"),
    "a\t-5\t1.5\ttrue\t(null)|b\t1000\t(null)\tfalse\t18446744073709551615|c\t7\t-0\ttrue\t0",
    "null 3 5 87|type 4 6 99|range 5 7 114|type 6 8 147|range 7 9 160|"
    "type 8 10 179|range 9 11 194|type 10 12 199|type 11 13 215" },
  { "too-long", "max-record-bytes=16",
    LITERAL (
        "text,b\n\"1234567890123\n,\"\"\n567\",\"x\"\na,b\n123456789012,34\n\nc,\"d\n1\n34567\n"
        "89\"\ne,f"),
    "a|123456789012|e", "too-long 0 2 7|too-long 3 8 56" },
};

static const guint read_sizes[] = { 1, 7, 4096, 65536 };

static void
set_all (Fixture *fixture, const char *settings)
{
  g_auto (GStrv) parts = g_strsplit (settings, " ", -1);

  fixture->config.reader_type = DLP_TYPE_CSV_READER;
  fixture_set_reader (fixture, "max-bad-ratio=1");
  for (guint i = 0; parts[i] != NULL; i++)
    if (*parts[i] != '\0')
      fixture_set_reader (fixture, "%s", parts[i]);
}

static Fixture *
make_fixture (const char *settings, guint read_size)
{
  Fixture *fixture = fixture_new ();

  set_all (fixture, settings);
  fixture_set_reader (fixture, "read-size=%u", read_size);
  fixture_set_reader (fixture, "chunk-bytes=%u", read_size);
  return fixture;
}

/* Without the place. */
static char *
join_good (const RigOutput *output)
{
  g_autoptr (GString) all = g_string_new (NULL);

  for (guint i = 0; i < output->good->len; i++)
    g_string_append_printf (all, "%s%s", i > 0 ? "|" : "",
                            strchr (output->good->pdata[i], '\t') + 1);
  return g_string_free (g_steal_pointer (&all), FALSE);
}

static char *
join_rejected (const RigOutput *output)
{
  g_autoptr (GString) all = g_string_new (NULL);

  for (guint i = 0; i < output->rejected->len; i++)
    {
      g_auto (GStrv) parts = g_strsplit (output->rejected->pdata[i], "\t", -1);

      g_string_append_printf (all, "%s%s %s %s %s", i > 0 ? "|" : "", parts[1], parts[4], parts[5],
                              parts[6]);
    }
  return g_string_free (g_steal_pointer (&all), FALSE);
}

static void
test_case (gconstpointer data)
{
  const Case *c = data;

  for (guint i = 0; i < G_N_ELEMENTS (read_sizes); i++)
    for (guint way = 0; way < 4; way++)
      {
        static const char *const names[] = { "a.csv", "a.csv", "a.csv.gz", "a.csv.zst" };
        g_autoptr (Fixture) fixture = make_fixture (c->settings, read_sizes[i]);
        g_autoptr (RigOutput) output = NULL;
        g_autofree char *good = NULL;
        g_autofree char *rejected = NULL;

        fixture_write (fixture, names[way], c->input, (gssize) c->size);
        fixture->config.workers = way % 2 == 0 ? 0 : 2;
        output = rig_run (fixture_config (fixture));
        g_assert_no_error (output->error);
        good = join_good (output);
        rejected = join_rejected (output);
        g_assert_cmpstr (good, ==, c->good);
        g_assert_cmpstr (rejected, ==, c->rejected);
      }
}

/* ---- files that cannot be read ---- */

typedef struct
{
  const char *settings;
  const char *bytes;
  gsize size;
  const char *part; /* of the message */
} Other;

static const Other others[] = {
  { "", LITERAL ("id,Text,body\n1,2,3\n"),
    "no column \"text\"; the header has \"id\", \"Text\", \"body\"; did you mean \"Text\"?" },
  { "fields=lang", LITERAL ("text,b\n1,2\n"),
    "no column \"lang\"; the header has \"text\", \"b\"" },
  { "fields=n:int64", LITERAL ("text,b\n1,2\n"), "no column \"n\"" },
  { "header=false", LITERAL ("1,2\n"),
    "no column \"text\"; without a header there are \"column-1\", \"column-2\"" },
  { "", LITERAL ("id,text,id\n1,2,3\n"),
    "two columns are called \"id\": the 1. and the 3. of 3 (at byte 0)" },
  { "", LITERAL ("text,\"b\nc"), "the header: its quote is never closed (at byte 5)" },
  { "", LITERAL ("text,\"b\"c\n1,2"), "the header: text behind a closing quote (at byte 8)" },
  { "", LITERAL ("text,\xe9\n1,2"), "the header: a name is not UTF-8" },
  { "", LITERAL ("text,a\0b\n1,2"), "the header: a name has a NUL byte" },
  { "", LITERAL ("\xff\xfet\0\n\0"), "a UTF-16 byte order mark: the file must be UTF-8" },
  { "", LITERAL ("BZh91AY&SY....\n"), "bzip2 data" },
  { "max-record-bytes=8", LITERAL ("text,abcdef\n1,2\n"),
    "the first row, which is needed to read the others, has more than the max-record-bytes=8" },
};

static void
test_other (gconstpointer data)
{
  guint read_size = GPOINTER_TO_UINT (data);

  for (guint i = 0; i < G_N_ELEMENTS (others); i++)
    {
      g_autoptr (Fixture) fixture = make_fixture (others[i].settings, read_size);
      g_autoptr (RigOutput) output = NULL;
      guint64 damaged = 0;

      fixture->config.workers = i % 3;
      fixture_write (fixture, "a.csv", others[i].bytes, (gssize) others[i].size);
      output = rig_run (fixture_config (fixture));
      g_assert_error (output->error, DLP_DATA_ERROR, DLP_DATA_ERROR_DAMAGED);
      g_test_message ("%s", output->error->message);
      g_assert_nonnull (strstr (output->error->message, others[i].part));

      fixture_set_reader (fixture, "on-damaged-file=keep");
      g_clear_pointer (&output, rig_output_free);
      output = rig_run (fixture_config (fixture));
      g_assert_no_error (output->error);
      g_assert_true (g_variant_lookup (output->report, "damaged", "t", &damaged));
      g_assert_cmpuint (damaged, ==, 1);
      g_assert_cmpuint (output->good->len + output->rejected->len, ==, 0);
    }
}

static void
test_refused (void)
{
  static const char *const settings[][2] = {
    { "delimiter=ab", "delimiter: \"ab\", but it is one character" },
    { "delimiter=5", "delimiter: \"5\"" },
    { "quote=ab", "quote: \"ab\"" },
    { "delimiter=; quote=;", "quote: \";\"" },
    { "quote=,", "quote: \",\"" },
    { "columns=a,text", "header=false says that its first row is a record" },
    { "header=false columns=a,Text", "columns: no column \"text\"; there are \"a\", \"Text\"" },
    { "header=false columns=text,a,a", "columns: two columns are called \"a\"" },
    { "fields=text", "\"text\" is the name of the field" },
    { "fields=a,a", "\"a\" is given twice" },
    { "fields=a:binary", "CSV is read as string" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (settings); i++)
    {
      g_autoptr (Fixture) fixture = make_fixture (settings[i][0], 4096);
      GError *error = NULL;

      fixture_write (fixture, "a.csv", "text\nx\n", -1);
      g_assert_null (rig_new (fixture_config (fixture), NULL, &error));
      g_assert_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE);
      g_test_message ("%s", error->message);
      g_assert_nonnull (strstr (error->message, settings[i][1]));
      g_clear_error (&error);
    }
}

/* Columns are found by name in each file, and a tab by the file's name. */
static void
test_files (void)
{
  for (guint interleave = 1; interleave <= 3; interleave += 2)
    {
      g_autoptr (Fixture) fixture = make_fixture ("fields=id:int64,lang:string?", 7);
      g_autoptr (RigOutput) output = NULL;
      g_autofree char *good = NULL;

      fixture_set_reader (fixture, "interleave=%u", interleave);
      fixture->config.workers = 2;
      fixture_write (fixture, "a.csv", "id,text\n1,one\n", -1);
      fixture_write (fixture, "b.csv.gz", "text,x,id,lang\ntwo,,2,en\n", -1);
      fixture_write (fixture, "c.csv", "", 0);
      fixture_write (fixture, "d.TSV", "id\ttext\n3\tthree, or so\n", -1);
      fixture_write (fixture, "e.tab.zst", "text\tid\nfour\t4\n", -1);
      output = rig_run (fixture_config (fixture));
      g_assert_no_error (output->error);
      good = join_good (output);
      g_assert_cmpstr (good, ==,
                       "one\t1\t(null)|two\t2\ten|three, or so\t3\t(null)|four\t4\t(null)");
    }
}

/* ---- gone on with ---- */

static void
write_files (Fixture *fixture)
{
  static const char *const headers[] = { "id,text,score\n", "text,\"score\",id\r\n",
                                         "\n\nscore,id,text\n" };
  static const char *const names[] = { "a.csv", "b.csv.gz", "c.csv.zst", "d.csv", "e.csv" };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autoptr (GString) text = g_string_new (i == 3 ? "" : headers[i % 3]);

      for (guint k = 0; i != 3 && k < 22; k++)
        if (k % 7 == 3)
          g_string_append (text, "too,few\n");
        else if (i % 3 == 1)
          g_string_append_printf (text, "\"t\n%u, \"\"%u\"\"\",%u.5,%u\r\n", i, k, k, k);
        else
          g_string_append_printf (text, "%u,%u,%u\n%s", k, k, k, k % 5 == 0 ? "\r\n" : "");
      if (i == 4)
        g_string_append (text, "1,\"never closed,2\n3,4,5\n");
      fixture_write (fixture, names[i], text->str, (gssize) text->len);
    }
}

static void
test_resume (gconstpointer data)
{
  for (guint workers = 0; workers < 3; workers += 2)
    for (guint chunk = 1; chunk < 2000000; chunk *= 40)
      {
        g_autoptr (Fixture) fixture = make_fixture ("fields=score:double,id", 65536);
        g_autoptr (RigOutput) whole = NULL;
        g_autoptr (RigOutput) pieces = NULL;

        write_files (fixture);
        fixture_set_source (fixture, "epochs=2");
        fixture_set_reader (fixture, "chunk-bytes=%u", chunk);
        fixture_set_reader (fixture, "interleave=%u", GPOINTER_TO_UINT (data));
        fixture->config.workers = workers;
        whole = rig_run (fixture_config (fixture));
        g_assert_no_error (whole->error);
        g_assert_cmpuint (whole->good->len, ==, 2 * 4 * 19);
        g_assert_cmpuint (whole->rejected->len, ==, 2 * (4 * 3 + 1));
        pieces = rig_run_in_pieces (fixture_config (fixture));
        rig_assert_equal (pieces, whole);
        fixture->config.stride = 3;
        rig_assert_resumable (fixture_config (fixture), fixture_config (fixture));
      }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  fixture_init ();
  g_log_set_always_fatal (G_LOG_FATAL_MASK | G_LOG_LEVEL_CRITICAL);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *path = g_strconcat ("/csv-reader/", cases[i].name, NULL);

      g_test_add_data_func (path, &cases[i], test_case);
    }
  for (guint i = 0; i < G_N_ELEMENTS (read_sizes); i++)
    {
      g_autofree char *path = g_strdup_printf ("/csv-reader/other/%u", read_sizes[i]);

      g_test_add_data_func (path, GUINT_TO_POINTER (read_sizes[i]), test_other);
    }
  g_test_add_func ("/csv-reader/refused", test_refused);
  g_test_add_func ("/csv-reader/files", test_files);
  g_test_add_data_func ("/csv-reader/resume/1", GUINT_TO_POINTER (1), test_resume);
  g_test_add_data_func ("/csv-reader/resume/3", GUINT_TO_POINTER (3), test_resume);
  return g_test_run ();
}
