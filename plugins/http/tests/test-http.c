/* SPDX-License-Identifier: MIT */

#include <string.h>

#include <dlpipe/dlp-error.h>

#include "http-rig.h"

/* What comes over HTTP is what lies there, or there is an error that says why not. */

#define OK -1
/* By the seed of the server the last bytes may never come: damaged then. */
#define OK_OR_DAMAGED -2

/* What becomes of a file that is served so: OK, or the code of the error. */
typedef struct
{
  const char *mode;
  int plain, compressed;
} Verdict;

static const Verdict verdicts[] = {
  { "ok", OK, OK },
  { "short", OK_OR_DAMAGED, OK_OR_DAMAGED },
  { "rst", OK_OR_DAMAGED, OK_OR_DAMAGED },
  { "rst99", DLP_DATA_ERROR_DAMAGED, DLP_DATA_ERROR_DAMAGED },
  { "chunk-cut", OK_OR_DAMAGED, OK_OR_DAMAGED },
  { "chunked", OK, OK },
  { "http503", OK, OK },
  { "http429", OK, OK },
  { "http500", OK, OK },
  { "norange", OK, OK },
  { "drop", OK, OK },
  { "slow", OK, OK },
  { "redirect", OK, OK },
  { "redirect-host", OK, OK },
  { "redirect-loop", DLP_DATA_ERROR_NO_INPUT, DLP_DATA_ERROR_NO_INPUT },
  { "long", OK, OK },
  { "range-early", OK, OK },
  { "status200-range", OK, OK },
  { "dup-bytes-header", OK, OK },
  { "close-after", OK, OK },
  { "weak-etag", OK, OK },
  { "etag-change", DLP_DATA_ERROR_CHANGED, DLP_DATA_ERROR_CHANGED },
  { "etag-change-once", DLP_DATA_ERROR_CHANGED, DLP_DATA_ERROR_CHANGED },
  { "shrinks", DLP_DATA_ERROR_CHANGED, DLP_DATA_ERROR_CHANGED },
  { "expired403", DLP_DATA_ERROR_NO_INPUT, DLP_DATA_ERROR_NO_INPUT },
  { "expired-middle", DLP_DATA_ERROR_NO_INPUT, DLP_DATA_ERROR_NO_INPUT },
  { "html200", DLP_DATA_ERROR_DAMAGED, DLP_DATA_ERROR_DAMAGED },
  { "eof", DLP_DATA_ERROR_DAMAGED, DLP_DATA_ERROR_DAMAGED },
  { "no-length", DLP_DATA_ERROR_DAMAGED, OK },
  { "wrong-length", DLP_DATA_ERROR_DAMAGED, DLP_DATA_ERROR_DAMAGED },
  /* A plain file that is compressed on the way is decoded as one that lies there so; a compressed
   * one is compressed twice then. */
  { "gzip-encoding", OK, DLP_DATA_ERROR_DAMAGED },
  { "gzip-encoding-cut", DLP_DATA_ERROR_DAMAGED, DLP_DATA_ERROR_DAMAGED },
  { "one-byte", OK, OK },
};

static const char *const names[] = { "a.jsonl", "a.jsonl.gz", "a.jsonl.zst" };

static GBytes *
add_files (HttpRig *rig, gsize size)
{
  GBytes *lines = http_rig_make_lines (size);
  g_autoptr (GBytes) gz = http_rig_gzip (lines);
  g_autoptr (GBytes) zst = http_rig_zstd (lines);

  http_rig_add_file (rig, names[0], lines);
  http_rig_add_file (rig, names[1], gz);
  http_rig_add_file (rig, names[2], zst);
  return lines;
}

static void
check_verdict (HttpRig *rig, const Verdict *verdict, guint name, gsize size, GBytes *lines)
{
  g_autofree char *uri = http_rig_make_uri (rig, verdict->mode, names[name]);
  int expected = name == 0 ? verdict->plain : verdict->compressed;
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) got = http_rig_load (uri, size, NULL, &error);

  if (g_test_verbose () && error != NULL)
    g_test_message ("%s", error->message);
  if (expected == OK_OR_DAMAGED)
    expected = error == NULL ? OK : DLP_DATA_ERROR_DAMAGED;
  if (expected == OK)
    {
      g_assert_no_error (error);
      g_assert_true (g_bytes_equal (got, lines));
      return;
    }
  g_assert_error (error, DLP_DATA_ERROR, expected);
  g_assert_nonnull (strstr (error->message, names[name]));
}

/* The formats take turns where each waits for seconds; bytes one at a time are what the other test
 * is of. */
static gboolean
is_left_out (const Verdict *verdict, guint packet, guint name)
{
  if (packet == 0 && g_str_equal (verdict->mode, "one-byte"))
    return TRUE;
  return (g_str_has_prefix (verdict->mode, "http4") ||
          g_str_has_prefix (verdict->mode, "http503")) &&
         name != packet && http_rig_get_scale () <= 1;
}

/* Longer where all is slow, as under valgrind. */
static gint64
get_patience (double seconds)
{
  const char *text = g_getenv ("DLPIPE_TEST_PATIENCE");

  return (gint64) (seconds * (text != NULL ? g_ascii_strtod (text, NULL) : 1) * G_USEC_PER_SEC);
}

static void
check_all (guint packet, gsize bytes)
{
  static const gsize sizes[] = { 4096, 7, 65536 };
  g_autoptr (HttpRig) rig = http_rig_new (packet, 1, 0.3);
  g_autoptr (GBytes) lines = add_files (rig, bytes);

  for (guint i = 0; i < G_N_ELEMENTS (verdicts); i++)
    for (guint name = 0; name < G_N_ELEMENTS (names); name++)
      {
        gint64 began = g_get_monotonic_time ();

        if (is_left_out (&verdicts[i], packet, name))
          continue;
        g_test_message ("%s %s", verdicts[i].mode, names[name]);
        http_rig_set_waits (2, 60000, 1);
        http_rig_set_retries (6);
        check_verdict (rig, &verdicts[i], name, sizes[(i + name) % G_N_ELEMENTS (sizes)], lines);
        g_assert_cmpint (g_get_monotonic_time () - began, <, get_patience (30));
      }
}

static void
test_modes (void)
{
  check_all (0, 30000);
}

static void
test_modes_one_byte (void)
{
  check_all (1, 800);
}

static void
test_stall (void)
{
  g_autoptr (HttpRig) rig = http_rig_new (0, 1, 0.3);
  g_autoptr (GBytes) lines = http_rig_make_lines (20);
  g_autofree char *uri = http_rig_make_uri (rig, "stall", "s.jsonl");
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) got = NULL;
  gint64 began = g_get_monotonic_time ();

  http_rig_add_file (rig, "s.jsonl", lines);
  http_rig_set_waits (1, 1500, 2);
  got = http_rig_load (uri, 4096, NULL, &error);
  /* Half of the rest each time, and none of the last byte. */
  g_assert_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_DAMAGED);
  g_assert_cmpint (g_get_monotonic_time () - began, <, 16 * G_USEC_PER_SEC);
}

/* An address that runs out while a file is read: where, and what to do. */
static void
test_expired (void)
{
  g_autoptr (HttpRig) rig = http_rig_new (0, 1, 0.3);
  g_autoptr (GBytes) lines = add_files (rig, 30000);
  g_autofree char *uri = http_rig_make_uri (rig, "expired-middle", names[0]);
  g_autofree char *place =
      g_strdup_printf ("403 Forbidden at byte %zu,", g_bytes_get_size (lines) / 2);
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) got = NULL;

  http_rig_set_waits (2, 5000, 1);
  got = http_rig_load (uri, 4096, NULL, &error);
  g_assert_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_NO_INPUT);
  g_assert_nonnull (strstr (error->message, names[0]));
  g_assert_nonnull (strstr (error->message, place));
  g_assert_nonnull (strstr (error->message, "has a signed address or a login run out?"));
}

/* Both forms, twice each: a second as such; a date two seconds ahead, which has whole seconds. */
static void
test_retry_after (void)
{
  static const struct
  {
    const char *mode;
    double least;
  } cases[] = { { "http503", 2 }, { "http429", 2 } };
  g_autoptr (HttpRig) rig = http_rig_new (0, 1, 0.3);
  g_autoptr (GBytes) lines = add_files (rig, 100);

  http_rig_set_waits (2, 20000, 1);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *uri = http_rig_make_uri (rig, cases[i].mode, names[0]);
      gint64 began = g_get_monotonic_time ();
      g_autoptr (GError) error = NULL;
      g_autoptr (GBytes) got = http_rig_load (uri, 4096, NULL, &error);

      g_assert_no_error (error);
      g_assert_cmpfloat ((double) (g_get_monotonic_time () - began) / G_USEC_PER_SEC, >=,
                         cases[i].least);
    }
}

static gpointer
cancel_soon (gpointer data)
{
  g_usleep (300000);
  g_cancellable_cancel (data);
  return NULL;
}

/* A wait that the server asked for, and one for bytes that do not come. */
static void
test_cancel (void)
{
  static const char *const modes[] = { "http429", "stall" };
  g_autoptr (HttpRig) rig = http_rig_new (0, 1, 0.3);
  g_autoptr (GBytes) lines = add_files (rig, 10000);

  http_rig_set_waits (30, 60000, 30000);
  for (guint i = 0; i < G_N_ELEMENTS (modes); i++)
    {
      g_autofree char *uri = http_rig_make_uri (rig, modes[i], names[0]);
      g_autoptr (GCancellable) cancellable = g_cancellable_new ();
      g_autoptr (GError) error = NULL;
      GThread *thread = g_thread_new ("cancel", cancel_soon, cancellable);
      gint64 began = g_get_monotonic_time ();
      g_autoptr (GBytes) got = http_rig_load (uri, 4096, cancellable, &error);

      g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
      g_assert_cmpint (g_get_monotonic_time () - began, <, G_USEC_PER_SEC);
      g_thread_join (thread);
    }
}

/* ---- chaos ---- */

#define CHAOS_TIMEOUT 1
/* What some thirty requests may take that nobody holds up on purpose. */
#define BUSY_MACHINE (10 * G_USEC_PER_SEC)

typedef struct
{
  guint seed;
  guint requests; /* so many at least */
} Chaos;

/* Nothing waits for longer than twice the time-out at a time, and only where the server says
 * nothing. */
static void
load_in_chaos (HttpRig *rig, const char *name, GBytes *lines)
{
  g_autofree char *uri = http_rig_make_uri (rig, "chaos", name);
  guint stalls = http_rig_count (rig, "stall");
  gint64 began = g_get_monotonic_time ();
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) got = http_rig_load (uri, 4096, NULL, &error);
  gint64 took = g_get_monotonic_time () - began;

  g_assert_no_error (error);
  g_assert_true (g_bytes_equal (got, lines));
  stalls = http_rig_count (rig, "stall") - stalls;
  g_assert_cmpint (took, <, BUSY_MACHINE + 2 * CHAOS_TIMEOUT * G_USEC_PER_SEC * (gint64) stalls);
}

static gpointer
run_chaos (gpointer data)
{
  const Chaos *chaos = data;
  g_autoptr (HttpRig) rig = http_rig_new (0, chaos->seed, 0.4);
  g_autoptr (GBytes) lines = add_files (rig, 20000);

  for (guint i = 0; http_rig_count (rig, "requests") < chaos->requests; i++)
    load_in_chaos (rig, names[i % G_N_ELEMENTS (names)], lines);
  return NULL;
}

/* With 30 times as many in the suite soak. */
static void
test_chaos (void)
{
  Chaos chaos[3];
  GThread *threads[G_N_ELEMENTS (chaos)];

  http_rig_register ();
  http_rig_set_waits (CHAOS_TIMEOUT, 60000, 1);
  for (guint i = 0; i < G_N_ELEMENTS (chaos); i++)
    {
      chaos[i] = (Chaos){ i + 1, (guint) (334 * http_rig_get_scale ()) };
      threads[i] = g_thread_new ("chaos", run_chaos, &chaos[i]);
    }
  for (guint i = 0; i < G_N_ELEMENTS (chaos); i++)
    g_thread_join (threads[i]);
}

static gpointer
load_some (gpointer data)
{
  HttpRig *rig = data;

  for (guint i = 0; i < 9; i++)
    {
      g_autofree char *uri = http_rig_make_uri (rig, "chaos", names[i % G_N_ELEMENTS (names)]);
      g_autoptr (GError) error = NULL;
      g_autoptr (GBytes) got = http_rig_load (uri, 4096, NULL, &error);

      g_assert_no_error (error);
      g_assert_cmpuint (g_bytes_get_size (got), >=, 20000);
    }
  return NULL;
}

/* Sessions go from thread to thread. */
static void
test_threads (void)
{
  g_autoptr (HttpRig) rig = http_rig_new (0, 4, 0.3);
  g_autoptr (GBytes) lines = add_files (rig, 20000);
  GThread *threads[8];

  http_rig_set_waits (1, 60000, 1);
  for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
    threads[i] = g_thread_new ("load", load_some, rig);
  for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
    g_thread_join (threads[i]);
}

/* Opened at every of some offsets, as a run that goes on does. */
static void
test_offsets (void)
{
  static const char *const modes[] = { "ok",   "norange",  "range-early", "status200-range",
                                       "slow", "weak-etag" };
  g_autoptr (HttpRig) rig = http_rig_new (0, 1, 0.3);
  g_autoptr (GBytes) lines = add_files (rig, 10000);
  gsize size = g_bytes_get_size (lines);

  http_rig_set_waits (2, 5000, 1);
  for (guint i = 0; i < G_N_ELEMENTS (modes); i++)
    for (gsize offset = 0; offset <= size; offset += offset + 997 < size ? 997 : 1)
      {
        g_autofree char *uri = http_rig_make_uri (rig, modes[i], names[0]);
        g_autoptr (GError) error = NULL;
        g_autoptr (DlpFile) file =
            dlp_scheme_identify (dlp_scheme_for_uri (uri, NULL), uri, NULL, &error);
        g_autoptr (GInputStream) stream = NULL;
        g_autofree char *buffer = g_malloc (size + 1);
        gsize n;

        g_assert_no_error (error);
        g_assert_cmpint (dlp_file_get_size (file), ==, (gint64) size);
        stream = dlp_file_open (file, (gint64) offset, NULL, &error);
        g_assert_no_error (error);
        g_input_stream_read_all (stream, buffer, size + 1, &n, NULL, &error);
        g_assert_no_error (error);
        g_assert_cmpmem (buffer, n, (const char *) g_bytes_get_data (lines, NULL) + offset,
                         size - offset);
        if (offset > 0 && offset + 997 >= size && offset < size - 3)
          offset = size - 3;
      }
}

static void
test_changed (void)
{
  g_autoptr (HttpRig) rig = http_rig_new (0, 1, 0.3);
  g_autoptr (GBytes) lines = add_files (rig, 10000);
  g_autoptr (GBytes) other = http_rig_make_lines (20000);
  g_autofree char *uri = http_rig_make_uri (rig, "ok", names[0]);
  g_autoptr (GError) error = NULL;
  g_autoptr (DlpFile) file =
      dlp_scheme_identify (dlp_scheme_for_uri (uri, NULL), uri, NULL, &error);
  g_autoptr (GInputStream) stream = NULL;

  g_assert_no_error (error);
  http_rig_add_file (rig, names[0], other);
  stream = dlp_file_open (file, 5000, NULL, &error);
  g_assert_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_CHANGED);
  g_assert_nonnull (strstr (error->message, "the source changed"));
}

static void
test_names (void)
{
  /* As written in a URI, and the file's name. */
  static const char *const pairs[][2] = {
    { "a%23b.jsonl", "a#b.jsonl" },     { "a%3Fb.jsonl", "a?b.jsonl" },
    { "a%20b.jsonl", "a b.jsonl" },     { "a b.jsonl", "a b.jsonl" },
    { "a%2520b.jsonl", "a%20b.jsonl" }, { "a@b.jsonl", "a@b.jsonl" },
    { "a::b.jsonl", "a::b.jsonl" },     { "\xc3\xa4.jsonl", "\xc3\xa4.jsonl" },
    { "%FF.jsonl", "\xff.jsonl" },      { "a[1]*.jsonl", "a[1]*.jsonl" },
  };
  g_autoptr (HttpRig) rig = http_rig_new (0, 1, 0.3);
  g_autoptr (GBytes) lines = http_rig_make_lines (1000);

  for (guint i = 0; i < G_N_ELEMENTS (pairs); i++)
    {
      g_autofree char *uri = http_rig_make_uri (rig, "ok", pairs[i][0]);
      g_autoptr (GError) error = NULL;
      g_autoptr (GBytes) got = NULL;

      http_rig_add_file (rig, pairs[i][1], lines);
      got = http_rig_load (uri, 4096, NULL, &error);
      g_assert_no_error (error);
      g_assert_true (g_bytes_equal (got, lines));
    }
}

static void
assert_refused (const char *uri, const char *said)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (DlpFile) file =
      dlp_scheme_identify (dlp_scheme_for_uri (uri, NULL), uri, NULL, &error);

  g_assert_null (file);
  g_assert_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_NO_INPUT);
  g_assert_nonnull (strstr (error->message, said));
  g_assert_null (strstr (error->message, "secret"));
}

static void
test_refused (void)
{
  g_autoptr (HttpRig) rig = http_rig_new (0, 1, 0.3);
  g_autofree char *missing =
      http_rig_make_uri (rig, "ok", "none.jsonl?sig=secret&X-Amz-Foo=secret");
  g_autofree char *pattern = http_rig_make_uri (rig, "ok", "*.jsonl");
  g_autofree char *user =
      g_strdup_printf ("http://me:secret@127.0.0.1:%u/ok/none.jsonl", rig->port);

  assert_refused (missing, "404");
  assert_refused (pattern, "no patterns");
  assert_refused (user, "http://***@127.0.0.1");
  assert_refused ("http:///a", "not a URI");
  assert_refused ("http://localhost/a#b", "%23");
}

int
main (int argc, char **argv)
{
  /* Nothing of whoever runs it. */
  g_setenv ("NETRC", "/dev/null", TRUE);
  g_setenv ("GIO_USE_PROXY_RESOLVER", "dummy", TRUE);
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/http/modes", test_modes);
  g_test_add_func ("/http/modes-one-byte", test_modes_one_byte);
  g_test_add_func ("/http/expired", test_expired);
  g_test_add_func ("/http/retry-after", test_retry_after);
  g_test_add_func ("/http/stall", test_stall);
  g_test_add_func ("/http/cancel", test_cancel);
  g_test_add_func ("/http/chaos", test_chaos);
  g_test_add_func ("/http/threads", test_threads);
  g_test_add_func ("/http/offsets", test_offsets);
  g_test_add_func ("/http/changed", test_changed);
  g_test_add_func ("/http/names", test_names);
  g_test_add_func ("/http/refused", test_refused);
  return g_test_run ();
}
