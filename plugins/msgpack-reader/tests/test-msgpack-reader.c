/* SPDX-License-Identifier: MIT */

/* What becomes a record, what does not, and where that is, whatever the size of a read; and what is
 * gone on with after each record. */

#include <string.h>

#include "dlp-msgpack-reader.h"
#include "msgpack-value.h"
#include "reader-cases.h"

/* {"text": ...} */
#define TEXT "\x81\xa4text"
/* {"text": "x", "v": ...} */
#define WITH_V "\x82\xa4text\xa1x\xa1v"

static const ReaderCase cases[] = {
  { "plain", "", LITERAL (TEXT "\xa3one" TEXT "\xa3two"), "one|two", "" },
  { "empty", "", LITERAL (""), "", "" },
  { "widths-of-texts", "",
    LITERAL (TEXT "\xd9\x03one" TEXT "\xda\x00\x03two" TEXT "\xdb\x00\x00\x00\x05three" TEXT
                  "\xc4\x04"
                  "four" TEXT "\xc5\x00\x04"
                  "five" TEXT "\xc6\x00\x00\x00\x03six" TEXT "\xa0"),
    "one|two|three|four|five|six|", "" },
  { "widths-of-maps", "",
    LITERAL ("\xde\x00\x01\xa4text\xa1x"
             "\xdf\x00\x00\x00\x01\xd9\x04text\xa1y"),
    "x|y", "" },
  { "around", "",
    LITERAL ("\x86\x01\x02\xc0\xc3\xa4text\xa1x\x92\x01\x81\xa4text\xa1z\xa1q\xa1s\x81\xa1k\x90"
             "\xa1p\xc7\x03\x05"
             "abc"),
    "x", "" },
  { "path", "field=a.b fields=c\\.d",
    LITERAL ("\x82\xa1"
             "a\x82\xa1z\x01\xa1"
             "b\xa1x\xa3"
             "c.d\xa1y"),
    "x\ty", "" },
  { "same-path", "field=a fields=a,n=a",
    LITERAL ("\x81\xa1"
             "a\xa1x"),
    "x\tx\tx", "" },
  { "duplicate", "fields=a.x,a.y?",
    LITERAL ("\x84\xa4text\xa1p\xa1"
             "a\x81\xa1x\xa1q\xa1"
             "a\x80\xa4text\xa1r"),
    "r\t(null)\t(null)", "" },
  { "missing", "", LITERAL (TEXT "\xa1x\x80\x81\xa4Text\xa1y" TEXT "\xa1z"), "x|z",
    "missing 1 0 8|missing 2 0 9" },
  { "kinds", "",
    LITERAL (TEXT "\xa1x" TEXT "\xc0" TEXT "\x05" TEXT "\xa2"
                  "a\xff" TEXT "\xa1y"),
    "x|y", "null 1 0 14|type 2 0 21|utf-8 3 0 30" },
  { "not-a-map", "", LITERAL (TEXT "\xa1x\x05\x91\x01" TEXT "\xa1y"), "x|y",
    "not-a-map 1 0 8|not-a-map 2 0 9" },
  { "as-text", "fields=v",
    LITERAL (WITH_V "\x05" WITH_V "\xc3" WITH_V "\xc2" WITH_V
                    "\xcb\x3f\xf8\x00\x00\x00\x00\x00\x00" WITH_V "\xff" WITH_V "\xc0" WITH_V
                    "\x80"),
    "x\t5|x\ttrue|x\tfalse|x\t1.5|x\t-1|x\t(null)", "type 6 0 84" },
  { "integers", "fields=v:i64",
    LITERAL (WITH_V "\x7f" WITH_V "\xe0" WITH_V "\xcc\xff" WITH_V "\xcd\xff\xfe" WITH_V
                    "\xce\xff\xff\xff\xfe" WITH_V "\xcf\x7f\xff\xff\xff\xff\xff\xff\xff" WITH_V
                    "\xd0\x80" WITH_V "\xd1\x80\x00" WITH_V "\xd2\x80\x00\x00\x00" WITH_V
                    "\xd3\x80\x00\x00\x00\x00\x00\x00\x00" WITH_V "\xca\x40\x40\x00\x00"),
    "x\t127|x\t-32|x\t255|x\t65534|x\t4294967294|x\t9223372036854775807|x\t-128|x\t-32768|"
    "x\t-2147483648|x\t-9223372036854775808|x\t3",
    "" },
  { "unsigned", "fields=v:u64", LITERAL (WITH_V "\xcf\xff\xff\xff\xff\xff\xff\xff\xff"),
    "x\t18446744073709551615", "" },
  { "ranges", "fields=v:i32",
    LITERAL (WITH_V "\xce\x7f\xff\xff\xff" WITH_V "\xce\x80\x00\x00\x00" WITH_V
                    "\xca\x3f\x00\x00\x00" WITH_V "\xca\x7f\xc0\x00\x00" WITH_V "\xa1z"),
    "x\t2147483647", "range 1 0 25|type 2 0 40|type 3 0 55|type 4 0 70" },
  { "reals", "fields=v:f32,w=v:f64",
    LITERAL (WITH_V "\xca\x3f\xc0\x00\x00" WITH_V "\x02" WITH_V
                    "\xcb\x7f\xef\xff\xff\xff\xff\xff\xff"),
    "x\t1.5\t1.5|x\t2\t2", "range 2 0 36" },
  { "booleans", "fields=v:bool?", LITERAL (WITH_V "\xc3" WITH_V "\xc0" WITH_V "\x01"),
    "x\ttrue|x\t(null)", "type 2 0 32" },
  { "bytes", "field= fields=v:bytes",
    LITERAL (WITH_V "\xc4\x02"
                    "a\x01" WITH_V "\xa1"
                    "b" WITH_V "\x01"),
    "a\\x01|b", "type 2 0 36" },
  { "lists", "field= fields=tokens=v:i32[]",
    LITERAL (WITH_V "\x93\x01\xff\xcd\x01\x00" WITH_V "\xdc\x00\x01\x07" WITH_V
                    "\xdd\x00\x00\x00\x01\x08" WITH_V "\x90" WITH_V "\x91\xc0" WITH_V
                    "\x91\xa1q" WITH_V "\x92\x01\xce\x80\x00\x00\x00" WITH_V "\x01" WITH_V
                    "\x91\xca\x3f\x00\x00\x00"),
    "[1,-1,256]|[7]|[8]|[]", "null 4 0 68|type 5 0 80|range 6 0 94|type 7 0 109|type 8 0 121" },
  { "padded", "field= fields=tokens=v:u16[3]\tpad=9",
    LITERAL (WITH_V "\x93\x01\x02\x03" WITH_V "\x91\x01" WITH_V "\x90" WITH_V
                    "\x94\x01\x02\x03\x04"),
    "[1,2,3]|[1,9,9]|[9,9,9]", "length 3 0 47" },
  { "cut-off", "field= fields=tokens=v:u16[2]\tcut=true",
    LITERAL (WITH_V "\x93\x01\x02\xa1q" WITH_V "\x91\x01"), "[1,2]", "length 1 0 25" },
  { "reals-in-lists", "field= fields=v:f32[]", LITERAL (WITH_V "\x93\x01\xca\x3f\x00\x00\x00\xff"),
    "[1,0.5,-1]", "" },
  { "too-long", "max-record-bytes=16",
    LITERAL (TEXT "\xa1x" TEXT "\xac"
                  "123456789012" TEXT "\xa1y" TEXT "\xdc\x00\x05\xa1z\xa1z\xa1z\xa1z\xa1z" TEXT
                  "\xa1z"),
    "x|y|z", "too-long 1 0 8|too-long 3 0 35" },
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
  { "", LITERAL ("{\"text\":\"x\"}\n"), "a number, where a record, which is a map, was expected" },
  { "", LITERAL ("\x91\x81\xa4text\xa1x"), "an array, where a record" },
  { "", LITERAL ("\xc1"), "byte 0xc1" },
  { "", LITERAL (TEXT "\xa2x"), "cuts off (at byte 0)" },
  { "", LITERAL ("\x81"), "cuts off" },
  { "", LITERAL ("\xdf\xff\xff\xff\xff\xa1x"), "cuts off" },
  { "", LITERAL (TEXT "\xdb\xff\xff\xff\xff"), "cuts off" },
  { "", LITERAL ("\xde"), "cuts off" },
};

static void
test_other (gconstpointer data)
{
  for (guint i = 0; i < G_N_ELEMENTS (others); i++)
    reader_cases_assert_damaged (others[i].settings, others[i].bytes, others[i].size,
                                 GPOINTER_TO_UINT (data), others[i].part);
}

/* Behind the first record: it is kept, and the damage has its place. */
static void
test_later (gconstpointer data)
{
  static const Other later[] = {
    { "", LITERAL (TEXT "\xa1x" TEXT "\xc1" TEXT "\xa1y"), "(at byte 14)" },
    { "", LITERAL (TEXT "\xa1x" TEXT "\xa9y"), "cuts off (at byte 8)" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (later); i++)
    {
      g_autoptr (Fixture) fixture = reader_cases_fixture ("", GPOINTER_TO_UINT (data));
      g_autoptr (RigOutput) output = NULL;
      g_autofree char *good = NULL;

      fixture_write (fixture, "a.msgpack", later[i].bytes, (gssize) later[i].size);
      output = rig_run (fixture_config (fixture));
      good = reader_cases_join_good (output);
      g_assert_cmpstr (good, ==, "x");
      g_test_message ("%s", output->error->message);
      g_assert_nonnull (strstr (output->error->message, later[i].part));
    }
}

static void
test_refused (void)
{
  static const char *const settings[][2] = {
    { "field=", "field is empty and there are no fields" },
    { "field=a..b", "has an empty name" },
    { "fields=text", "\"text\" is the name of the field that field=text becomes" },
    { "fields=a:i32[0]", "is no length" },
    { "fields=a:i33", "is no type, did you mean “i32”?" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (settings); i++)
    reader_cases_assert_refused (settings[i][0], settings[i][1]);
}

static void
assert_message (const char *settings, const char *bytes, gsize size, const char *message)
{
  g_autoptr (Fixture) fixture = reader_cases_fixture (settings, 4096);
  g_autoptr (RigOutput) output = NULL;
  g_auto (GStrv) parts = NULL;

  fixture_write (fixture, "a.msgpack", bytes, (gssize) size);
  output = rig_run (fixture_config (fixture));
  g_assert_cmpuint (output->rejected->len, ==, 1);
  parts = g_strsplit (output->rejected->pdata[0], "\t", -1);
  g_assert_cmpstr (parts[2], ==, message);
}

static void
test_messages (void)
{
  assert_message ("", LITERAL ("\x82\xa4Text\xa1y\x01\x02"),
                  "no field \"text\"; the record has \"Text\"; did you mean \"Text\"?");
  assert_message ("fields=w:i32", LITERAL (WITH_V "\x01"),
                  "no field \"w\"; the record has \"text\", \"v\" (fields=w:i32? would take it)");
  assert_message ("fields=v:i32", LITERAL (WITH_V "\xc0"),
                  "the field \"v\" is nil, expected a whole number (fields=v:i32? would take it)");
  assert_message ("fields=v:u16", LITERAL (WITH_V "\xd2\x00\x01\x00\x00"),
                  "the field \"v\" is 65536, expected 0 to 65535, as it is u16");
  assert_message ("fields=v:u16", LITERAL (WITH_V "\xa1z"),
                  "the field \"v\" is the string \"z\", expected a whole number, as it is u16");
  assert_message ("fields=v:u16[]", LITERAL (WITH_V "\x92\x01\xd0\xff"),
                  "the field \"v\": item 1 of the list is -1, expected 0 to 65535, as it is u16[]");
  assert_message ("fields=v:u16[3]", LITERAL (WITH_V "\x92\x01\x02"),
                  "the field \"v\" has 2 values, expected 3, as it is u16[3] (pad=0 would fill it "
                  "up)");
}

/* With --strict a key that comes twice is a fault; else it is counted. */
static void
test_strict (void)
{
  for (guint strict = 0; strict < 2; strict++)
    {
      g_autoptr (Fixture) fixture = reader_cases_fixture ("", 4096);
      g_autoptr (RigOutput) output = NULL;
      g_autoptr (GVariant) counters = NULL;
      guint64 n = 0;

      fixture->config.strict = strict;
      fixture_write (fixture, "a.msgpack", LITERAL ("\x82\xa4text\xa1x\xa4text\xa1y"));
      output = rig_run (fixture_config (fixture));
      g_assert_cmpuint (output->good->len, ==, 1 - strict);
      if (strict)
        continue;
      counters = g_variant_lookup_value (output->report, "counters", NULL);
      g_assert_true (g_variant_lookup (counters, "duplicate-keys", "t", &n));
      g_assert_cmpuint (n, ==, 1);
    }
}

/* A million levels take neither stack nor memory. */
static void
test_deep (void)
{
  g_autoptr (GByteArray) bytes = g_byte_array_new ();
  g_autoptr (Fixture) fixture = reader_cases_fixture ("field=a.b.c", 65536);
  g_autoptr (RigOutput) output = NULL;

  g_byte_array_append (bytes, (const guint8 *) "\x82\xa1z", 3);
  for (guint i = 0; i < 1000000; i++)
    g_byte_array_append (bytes, (const guint8 *) "\x91", 1);
  g_byte_array_append (bytes,
                       (const guint8 *) "\x01\xa1"
                                        "a\x81\xa1"
                                        "b\x81\xa1"
                                        "c\xa1x",
                       12);
  fixture_write (fixture, "a.msgpack", (const char *) bytes->data, (gssize) bytes->len);
  output = rig_run (fixture_config (fixture));
  g_assert_no_error (output->error);
  g_assert_cmpuint (output->good->len, ==, 1);
}

/* ---- going on ---- */

static void
write_files (Fixture *fixture)
{
  static const char *const names[] = { "a.msgpack", "b.msgpack.gz", "c.msgpack.zst" };

  for (guint file = 0; file < G_N_ELEMENTS (names); file++)
    {
      g_autoptr (GByteArray) bytes = g_byte_array_new ();

      for (guint i = 0; i < 12; i++)
        {
          guint8 v = (guint8) (i * 16 + file);

          g_byte_array_append (bytes, (const guint8 *) WITH_V "\x92\x01\xcc", 13);
          g_byte_array_append (bytes, &v, 1);
        }
      g_byte_array_append (bytes, (const guint8 *) "\x05\x80", 2);
      fixture_write (fixture, names[file], (const char *) bytes->data, (gssize) bytes->len);
    }
}

static void
test_resume (gconstpointer data)
{
  reader_cases_check_resume ("fields=v:u16[]", write_files, GPOINTER_TO_UINT (data), 72, 12);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_log_set_always_fatal (G_LOG_FATAL_MASK | G_LOG_LEVEL_CRITICAL);
  reader_cases_init (DLP_TYPE_MSGPACK_READER, "msgpack-reader", ".msgpack");
  reader_cases_add (cases, G_N_ELEMENTS (cases));
  reader_cases_add_expected (12, "max-bad-ratio=1");
  for (guint i = 0; i < N_READ_SIZES; i++)
    {
      g_autofree char *other = g_strdup_printf ("/msgpack-reader/other/%u", reader_read_sizes[i]);
      g_autofree char *later = g_strdup_printf ("/msgpack-reader/later/%u", reader_read_sizes[i]);

      g_test_add_data_func (other, GUINT_TO_POINTER (reader_read_sizes[i]), test_other);
      g_test_add_data_func (later, GUINT_TO_POINTER (reader_read_sizes[i]), test_later);
    }
  g_test_add_func ("/msgpack-reader/refused", test_refused);
  g_test_add_func ("/msgpack-reader/messages", test_messages);
  g_test_add_func ("/msgpack-reader/strict", test_strict);
  g_test_add_func ("/msgpack-reader/deep", test_deep);
  g_test_add_data_func ("/msgpack-reader/resume/1", GUINT_TO_POINTER (1), test_resume);
  g_test_add_data_func ("/msgpack-reader/resume/3", GUINT_TO_POINTER (3), test_resume);
  return g_test_run ();
}
