/* SPDX-License-Identifier: MIT */

/* In a pipeline with a state folder, stopped and continued: the same records, rejects and counts.
 */

#include <dlp-harness.h>
#include <dlpipe/dlp-reader.h>
#include <glib/gstdio.h>
#include <string.h>

static void
write_file (const char *folder, const char *name, const char *data, gsize size)
{
  g_autofree char *path = g_build_filename (folder, name, NULL);
  g_autoptr (GError) error = NULL;

  g_file_set_contents (path, data, (gssize) size, &error);
  g_assert_no_error (error);
}

static void
write_rows (const char *folder, const char *name, guint n, guint bad)
{
  g_autoptr (GString) text = g_string_new (NULL);

  for (guint i = 0; i < n; i++)
    g_string_append_printf (
        text, i % bad == bad - 1 ? "{\"text\":%s %u\n" : "{\"text\":\"%s %u\"}\n", name, i);
  write_file (folder, name, text->str, text->len);
}

static void
remove_folder (const char *folder)
{
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  const char *name;

  while ((name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *path = g_build_filename (folder, name, NULL);

      g_assert_cmpint (g_remove (path), ==, 0);
    }
  g_assert_cmpint (g_rmdir (folder), ==, 0);
}

/* Damaged files before, between and behind good ones. */
static char *
make_folder (void)
{
  static const char utf_16[] = "\xff\xfe{\0}\0\n\0{\0}\0\n";
  static const char array[] = "[1, 2]\n";
  g_autoptr (GError) error = NULL;
  char *folder = g_dir_make_tmp ("dlpipe-reader-XXXXXX", &error);

  g_assert_no_error (error);
  write_file (folder, "a", utf_16, sizeof utf_16);
  write_rows (folder, "b", 10, 5);
  write_file (folder, "c", array, sizeof array - 1);
  write_file (folder, "d", utf_16, sizeof utf_16);
  write_rows (folder, "e", 30, 10);
  write_file (folder, "f", array, sizeof array - 1);
  return folder;
}

static void
test_damage (gconstpointer data)
{
  guint interleave = GPOINTER_TO_UINT (data);
  g_autofree char *folder = make_folder ();
  g_autofree char *graph =
      g_strdup_printf ("file-source location=%s/* ! jsonl-reader name=r max-bad-ratio=1 "
                       "on-damaged-file=keep interleave=%u ! check-sink name=k   r.rejected ! "
                       "check-sink name=j",
                       folder, interleave);

  dlp_harness_check_resume (graph, 1);
  for (guint n = 0; n < dlp_harness_scale (10); n++)
    dlp_harness_check_resume (graph, 0);
  remove_folder (folder);
}

/* "[STAGE SOURCE FILE ROW EPOCH] ..." */
static void
assert_same_place (const char *a, const char *b)
{
  g_assert_cmpint (strchr (a, ']') - a, ==, strchr (b, ']') - b);
  g_assert_cmpint (strncmp (a, b, strchr (a, ']') - a), ==, 0);
}

/* Where the consumer of the good records closes early, the bad ones before the last that it took
 * are all there, each once and in order; behind it, as many as were met in the meantime. */
static void
test_closed_early (void)
{
  g_autofree char *folder = make_folder ();
  g_autofree char *source = g_strdup_printf (
      "file-source location=%s/[be] ! jsonl-reader name=r max-bad-ratio=1 ! ", folder);
  g_autofree char *all =
      g_strconcat (source, "check-sink name=k   r.rejected ! check-sink name=j", NULL);
  g_autoptr (GHashTable) expected = dlp_harness_expect (all);
  GPtrArray *bad = g_hash_table_lookup (expected, "j");

  for (guint n = 0; n < dlp_harness_scale (60); n++)
    {
      guint limit = (guint) g_test_rand_int_range (1, 35);
      /* Of "b" rows 4 and 9 are bad, of "e" 9, 19 and 29. */
      guint least = (limit > 4) + (limit > 8) + (limit > 8 + 9) + (limit > 8 + 18);
      /* Which of the two sinks stops the run, and how slow is the one of the bad records? */
      const char *good = n % 2 == 0 ? "k" : "j";
      const char *rejected = n % 2 == 0 ? "j" : "k";
      g_autofree char *graph = g_strdup_printf (
          "%s limit records=%u ! check-sink name=%s   r.rejected ! check-sink name=%s delay=%u",
          source, limit, good, rejected, n % 4 < 2 ? 0 : 3000);
      GPtrArray *got;

      dlp_harness_run_in_pieces (graph, n % 3);
      g_assert_cmpuint (dlp_check_sink_get_lines (good)->len, ==, limit);
      got = dlp_check_sink_get_lines (rejected);
      g_assert_cmpuint (got->len, >=, least);
      g_assert_cmpuint (got->len, <=, bad->len);
      for (guint i = 0; i < got->len; i++)
        assert_same_place (got->pdata[i], bad->pdata[i]);
    }
  remove_folder (folder);
}

/* ---- typed fields ---- */

#define TYPED "fields=n:int64,score:double?,ok:boolean?,u:uint64,lang"

/* Numbers that a detour by way of doubles, or of few digits, would change. */
static char *
make_typed_folder (guint n)
{
  g_autoptr (GString) text = g_string_new (NULL);
  g_autoptr (GError) error = NULL;
  char *folder = g_dir_make_tmp ("dlpipe-reader-XXXXXX", &error);

  g_assert_no_error (error);
  for (guint i = 0; i < n; i++)
    if (i % 11 == 7)
      g_string_append_printf (text, "{\"text\":\"%u\",\"n\":\"%u\",\"u\":1}\n", i, i);
    else
      g_string_append_printf (text,
                              "{\"text\":\"t%u\",\"n\":%s%u,\"score\":%s,\"ok\":%s,"
                              "\"u\":%" G_GUINT64_FORMAT ",\"lang\":\"%s\"}\n",
                              i, i % 2 == 0 ? "-900719925474099" : "900719925474099", i + 10,
                              i % 5 == 0 ? "null" :
                              i % 5 == 1 ? "0.50000000000000011" :
                              i % 5 == 2 ? "1e-320" :
                                           "0.5",
                              i % 3 == 0 ? "null" :
                              i % 3 == 1 ? "true" :
                                           "false",
                              G_MAXUINT64 - i, i % 4 == 0 ? "de" : "en");
  write_file (folder, "typed", text->str, text->len);
  return folder;
}

/* The field of each record that is compared is one, and so are those that are not kept. */
static void
test_typed_filter (void)
{
  g_autofree char *folder = make_typed_folder (100);
  g_autofree char *graph =
      g_strdup_printf ("file-source location=%s/typed ! jsonl-reader max-bad-ratio=1 " TYPED
                       " ! filter name=f where=\"score > 0.5\" ! check-sink name=k   f.rejected ! "
                       "check-sink name=j",
                       folder);
  g_autoptr (GHashTable) got = dlp_harness_expect (graph);
  GPtrArray *kept = g_hash_table_lookup (got, "k");
  GPtrArray *dropped = g_hash_table_lookup (got, "j");

  /* Of 100, those with 1 mod 5 but not 7 mod 11. */
  g_assert_cmpuint (kept->len, ==, 19);
  g_assert_cmpuint (dropped->len, ==, 91 - 19);
  for (guint i = 0; i < kept->len; i++)
    {
      g_test_message ("%s", (const char *) kept->pdata[i]);
      g_assert_nonnull (strstr (kept->pdata[i], " score=0.50000000000000011 "));
    }
  dlp_harness_check_resume (graph, 1);
  dlp_harness_check_settings (graph);
  remove_folder (folder);
}

static void
test_typed_split (void)
{
  g_autofree char *folder = make_typed_folder (60);
  g_autofree char *graph =
      g_strdup_printf ("file-source location=%s/typed ! jsonl-reader max-bad-ratio=1 " TYPED
                       " ! fields drop=lang rename=n:number ! split name=s by=field field=number "
                       "ratios=a:0.5,b:0.5  "
                       "s.a ! check-sink name=k   s.b ! check-sink name=j",
                       folder);
  g_autoptr (GHashTable) got = dlp_harness_expect (graph);
  GPtrArray *a = g_hash_table_lookup (got, "k");
  GPtrArray *b = g_hash_table_lookup (got, "j");

  g_assert_cmpuint (a->len, >, 5);
  g_assert_cmpuint (b->len, >, 5);
  g_assert_cmpuint (a->len + b->len, ==, 55);
  g_assert_nonnull (strstr (a->pdata[0], " number="));
  dlp_harness_check_resume (graph, 3);
  remove_folder (folder);
}

/* Written and read again, numbers are what they were. */
static void
test_typed_round_trip (void)
{
  g_autofree char *folder = make_typed_folder (50);
  g_autofree char *read = g_strdup_printf (
      "file-source location=%s/typed ! jsonl-reader max-bad-ratio=1 " TYPED, folder);
  g_autofree char *first = g_strconcat (read, " ! check-sink name=k", NULL);
  g_autofree char *written = g_strdup_printf ("%s ! jsonl-sink location=%s/written", read, folder);
  g_autofree char *again = g_strdup_printf (
      "file-source location=%s/written ! jsonl-reader " TYPED " ! check-sink name=k", folder);
  g_autoptr (GHashTable) before = dlp_harness_expect (first);
  g_autoptr (GHashTable) after = NULL;
  g_autoptr (GError) error = NULL;
  GPtrArray *a = g_hash_table_lookup (before, "k");
  GPtrArray *b;

  g_assert_true (dlp_harness_run (written, NULL, &error));
  g_assert_no_error (error);
  after = dlp_harness_expect (again);
  b = g_hash_table_lookup (after, "k");
  g_assert_cmpuint (a->len, ==, 46);
  g_assert_cmpuint (b->len, ==, a->len);
  /* But for the rows, as bad records are not written. */
  for (guint i = 0; i < a->len; i++)
    g_assert_cmpstr (strchr (a->pdata[i], ']'), ==, strchr (b->pdata[i], ']'));
  remove_folder (folder);
}

/* ---- heads ---- */

typedef struct
{
  DlpElement *reader;
  GVariant *described;
  int over; /* atomic */
  guint64 last;
} Reports;

static guint64
ask (Reports *self)
{
  GVariant *said = DLP_ELEMENT_GET_CLASS (self->reader)->report (self->reader, self->described);
  g_autoptr (GVariant) report = g_variant_ref_sink (said);
  g_autoptr (GVariant) read =
      g_variant_lookup_value (report, "read-by-codec", G_VARIANT_TYPE ("a{st}"));
  guint64 bytes = 0;

  g_assert_nonnull (read);
  g_variant_lookup (read, "none", "t", &bytes);
  return bytes;
}

static gpointer
ask_on (gpointer data)
{
  Reports *self = data;

  while (!g_atomic_int_get (&self->over))
    {
      guint64 bytes = ask (self);

      g_assert_cmpuint (bytes, >=, self->last);
      self->last = bytes;
    }
  return NULL;
}

/* A report may be made of a state on any thread, also while the reader goes on: ThreadSanitizer
 * says whether the two meet. */
static void
test_head_reports (void)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *folder = g_dir_make_tmp ("dlpipe-reader-XXXXXX", &error);
  g_autofree char *graph = g_strdup_printf (
      "file-source location=%s/* ! jsonl-reader name=r chunk-bytes=1k ! check-sink name=k", folder);
  g_autoptr (DlpPipeline) pipeline = NULL;
  g_autoptr (DlpState) state = NULL;
  g_autoptr (GVariant) described = NULL;
  Reports reports = { NULL };
  DlpElementClass *klass;
  GThread *thread;

  g_assert_no_error (error);
  for (guint i = 0; i < 200; i++)
    {
      g_autofree char *name = g_strdup_printf ("f%u.jsonl", i);

      write_rows (folder, name, 100, 1000);
    }
  pipeline = dlp_pipeline_new_from_string (graph, &error);
  g_assert_no_error (error);
  reports.reader = dlp_pipeline_get_element (pipeline, "r");
  dlp_reader_set_head (DLP_READER (reports.reader), 0.9, 1);
  klass = DLP_ELEMENT_GET_CLASS (reports.reader);
  state = klass->save (reports.reader);
  described = reports.described = g_variant_ref_sink (klass->describe (reports.reader, state));
  dlp_check_sink_clear ();
  dlp_check_sink_set_pipeline (pipeline);

  thread = g_thread_new ("reports", ask_on, &reports);
  g_assert_true (dlp_pipeline_run (pipeline, NULL, &error));
  g_assert_no_error (error);
  g_atomic_int_set (&reports.over, TRUE);
  g_thread_join (thread);
  g_assert_cmpuint (ask (&reports), >=, 200 * 100 * 10);
  remove_folder (folder);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  dlp_harness_init ();
  g_log_set_always_fatal (G_LOG_FATAL_MASK | G_LOG_LEVEL_CRITICAL);
  g_test_add_data_func ("/reader/pipeline/damage/1", GUINT_TO_POINTER (1), test_damage);
  g_test_add_data_func ("/reader/pipeline/damage/3", GUINT_TO_POINTER (3), test_damage);
  g_test_add_func ("/reader/pipeline/closed-early", test_closed_early);
  g_test_add_func ("/reader/pipeline/typed-filter", test_typed_filter);
  g_test_add_func ("/reader/pipeline/typed-split", test_typed_split);
  g_test_add_func ("/reader/pipeline/typed-round-trip", test_typed_round_trip);
  g_test_add_func ("/reader/pipeline/head-reports", test_head_reports);
  return g_test_run ();
}
