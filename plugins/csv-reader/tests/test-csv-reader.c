/* SPDX-License-Identifier: MIT */

/* What becomes a record, what does not, and where that is, whatever the size of a read; and what is
 * gone on with after each record. */

#include <string.h>

#include "dlp-csv-reader.h"
#include "reader-cases.h"

#define BOM "\xef\xbb\xbf"

static const ReaderCase cases[] = {
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
  { "lists", "field= fields=tokens=v:i32[],n=w:u16[2]?\tpad=9\tcut=true delimiter=;",
    LITERAL ("v;w\n[1,-2];[1]\n\"[1, 2]\"; \n[];[1,2,3]\n[1;[]\n[1,];[]\n1;[]\n;[]\n[1,x];[]\n"
             "[1]x;[]\n[1 2];[]\n[NaN];[]\n"),
    "[1,-2]\t[1,9]|[1,2]\t(null)|[]\t[1,2]",
    "type 3 5 39|type 4 6 46|type 5 7 51|null 6 8 56|type 7 9 63|type 8 10 72|type 9 11 80|"
    "type 10 12 87" },
  { "other-names", "fields=a=id,b=id:i32", LITERAL ("id,text\n5,x\n"), "x\t5\t5", "" },
  { "no-text", "field= fields=id", LITERAL ("id,text\n5,x\n"), "5", "" },
  { "too-long", "max-record-bytes=16",
    LITERAL (
        "text,b\n\"1234567890123\n,\"\"\n567\",\"x\"\na,b\n123456789012,34\n\nc,\"d\n1\n34567\n"
        "89\"\ne,f"),
    "a|123456789012|e", "too-long 0 2 7|too-long 3 8 56" },
};

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
  { "", LITERAL ("PK\3\4....\n"), "zip data" },
  { "max-record-bytes=8", LITERAL ("text,abcdef\n1,2\n"),
    "the first row, which is needed to read the others, has more than the max-record-bytes=8" },
};

static void
test_other (gconstpointer data)
{
  for (guint i = 0; i < G_N_ELEMENTS (others); i++)
    reader_cases_assert_damaged (others[i].settings, others[i].bytes, others[i].size,
                                 GPOINTER_TO_UINT (data), others[i].part);
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
    { "field=", "field is empty and there are no fields" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (settings); i++)
    reader_cases_assert_refused (settings[i][0], settings[i][1]);
}

/* Columns are found by name in each file, and a tab by the file's name. */
static void
test_files (void)
{
  for (guint interleave = 1; interleave <= 3; interleave += 2)
    {
      g_autoptr (Fixture) fixture = reader_cases_fixture ("fields=id:int64,lang:string?", 7);
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
      good = reader_cases_join_good (output);
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
  reader_cases_check_resume ("fields=score:double,id", write_files, GPOINTER_TO_UINT (data),
                             2 * 4 * 19, 2 * (4 * 3 + 1));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  reader_cases_init (DLP_TYPE_CSV_READER, "csv-reader", ".csv");
  g_log_set_always_fatal (G_LOG_FATAL_MASK | G_LOG_LEVEL_CRITICAL);
  reader_cases_add (cases, G_N_ELEMENTS (cases));
  for (guint i = 0; i < N_READ_SIZES; i++)
    {
      g_autofree char *path = g_strdup_printf ("/csv-reader/other/%u", reader_read_sizes[i]);

      g_test_add_data_func (path, GUINT_TO_POINTER (reader_read_sizes[i]), test_other);
    }
  g_test_add_func ("/csv-reader/refused", test_refused);
  g_test_add_func ("/csv-reader/files", test_files);
  g_test_add_data_func ("/csv-reader/resume/1", GUINT_TO_POINTER (1), test_resume);
  g_test_add_data_func ("/csv-reader/resume/3", GUINT_TO_POINTER (3), test_resume);
  return g_test_run ();
}
