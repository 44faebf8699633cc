/* SPDX-License-Identifier: MIT */

/* The checks pass on elements that are right, and each wrong one is caught, with a message that
 * says what is wrong and where. */

#include <signal.h>

#include <dlpipe/dlp-check.h>

#include "wrong-elements.h"

#define N_RECORDS 12

static DlpCheckHarness *
make (const char *element)
{
  DlpCheckHarness *harness = dlp_check_harness_new (element);

  for (guint i = 0; i < N_RECORDS; i++)
    {
      g_autofree char *text = g_strdup_printf ("line %u", i);

      dlp_check_harness_push_text (harness, text);
    }
  return harness;
}

/* ---- what is right ---- */

static void
test_push_pull (void)
{
  g_autoptr (DlpCheckHarness) harness = dlp_check_harness_new ("wrong");
  g_autoptr (DlpRecordBatch) batch = NULL;

  dlp_check_harness_push_text (harness, "a");
  dlp_check_harness_assert_text (harness, "out", "text", "0: a");
  dlp_check_harness_push_text (harness, "b");
  dlp_check_harness_push_text (harness, "\"c\"\n");
  batch = dlp_check_harness_pull (harness, "out");
  g_assert_cmpuint (dlp_record_batch_get_length (batch), ==, 1);
  g_assert_cmpuint (dlp_record_batch_get_coordinate (batch, 0)->row, ==, 1);
  dlp_check_harness_assert_record (harness, "out", "[0 0 0 2 0] text=\"2: \\\"c\\\"\\n\"");
  dlp_check_harness_assert_end (harness, "out");
  g_assert_true (dlp_check_harness_finish (harness, NULL));
  g_assert_cmpuint (dlp_check_harness_get_counter (harness, "count"), ==, 3);
  g_assert_cmpuint (dlp_check_harness_get_counter (harness, "records-out"), ==, 3);
}

static void
test_abandoned (void)
{
  g_autoptr (DlpCheckHarness) harness = dlp_check_harness_new ("wrong");

  dlp_check_harness_push_text (harness, "a");
  dlp_check_harness_assert_text (harness, "out", "text", "0: a");
  dlp_check_harness_push_text (harness, "b");
}

static void
test_right (void)
{
  g_autoptr (DlpCheckHarness) harness = make ("wrong");

  dlp_check_harness_check_all (harness);
}

/* The class of the parent is under test before that of the heir is made, and the other way round.
 */
static void
test_heir (void)
{
  g_autoptr (DlpCheckHarness) before = make ("wrong");
  g_autoptr (DlpCheckHarness) heir = make ("wrong-heir");
  g_autoptr (DlpCheckHarness) after = make ("wrong");

  dlp_check_marks (dlp_check_harness_get_graph (before));
  dlp_check_harness_check_all (heir);
  dlp_check_stop (dlp_check_harness_get_graph (after));
}

static void
test_heir_first (void)
{
  g_autoptr (DlpCheckHarness) heir = make ("wrong-heir");
  g_autoptr (DlpCheckHarness) after = make ("wrong");

  if (!g_test_subprocess ())
    {
      g_test_trap_subprocess (NULL, 0, 0);
      g_test_trap_assert_passed ();
      return;
    }
  dlp_check_marks (dlp_check_harness_get_graph (heir));
  dlp_check_marks (dlp_check_harness_get_graph (after));
  dlp_check_marks (dlp_check_harness_get_graph (heir));
}

static void
test_source (void)
{
  g_autoptr (DlpCheckHarness) harness = dlp_check_harness_new ("check-source records=9");

  dlp_check_harness_assert_text (harness, "out", "id", NULL);
  dlp_check_harness_assert_text (harness, "out", "id", "0-1");
  dlp_check_harness_check_all (harness);
}

static void
test_reader (void)
{
  g_autoptr (DlpCheckHarness) harness = dlp_check_harness_new ("jsonl-reader max-bad-ratio=1");

  dlp_check_harness_push_file (harness, "a.jsonl", "{\"text\":\"one\"}\nbad\n{\"text\":\"two\"}\n",
                               -1);
  dlp_check_harness_push_file (harness, "b.jsonl", "{\"text\":\"three\"}", -1);
  dlp_check_harness_assert_text (harness, "out", "text", "one");
  dlp_check_harness_assert_text (harness, "out", "text", "two");
  dlp_check_harness_assert_record (harness, "out", "[0 0 1 0 0] text=\"three\"");
  dlp_check_harness_assert_text (harness, "rejected", "raw", "bad");
  dlp_check_harness_assert_end (harness, "out");
  dlp_check_harness_check_all (harness);
}

static void
test_sink (void)
{
  g_autoptr (DlpCheckHarness) harness = make ("jsonl-sink location={dir}/lines.jsonl fields=text");
  g_autoptr (GString) expected = g_string_new (NULL);

  for (guint i = 0; i < N_RECORDS; i++)
    g_string_append_printf (expected, "{\"text\":\"line %u\"}\n", i);
  g_assert_true (dlp_check_harness_finish (harness, NULL));
  dlp_check_harness_assert_file (harness, "lines.jsonl", expected->str);
  dlp_check_harness_check_all (harness);
}

static void
test_transform (void)
{
  g_autoptr (DlpCheckHarness) harness = make ("tokenizer model=gpt2");

  dlp_check_harness_assert_record (harness, "out", "[0 0 0 0 0] tokens= 1370 657 50256");
  /* Each run builds its model: not hundreds of them. */
  dlp_check_resume (dlp_check_harness_get_graph (harness), 3);
}

static void
test_error (void)
{
  g_autoptr (DlpCheckHarness) harness = make ("limit tokens=5");

  dlp_check_harness_assert_error (harness, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_TYPE, "tokens=5");
}

static void
test_kill_count (void)
{
#ifdef SANITIZE_THREAD
  g_test_skip ("ThreadSanitizer has no threads after fork()");
#else
  guint n = dlp_check_kill ("check-source records=200 ! check-sink name=k delay=50", 6);

  g_assert_cmpuint (n, >, 0);
#endif
}

/* Not only at calls of its step: also while it waits elsewhere. */
static void
test_cancelled_in_wait (void)
{
  g_autoptr (DlpCheckHarness) harness = make ("wrong fault=waits");
  guint before = wrong_elements_get_n_interrupted ();

  dlp_check_cancel (dlp_check_harness_get_graph (harness));
  g_assert_cmpuint (wrong_elements_get_n_interrupted (), >, before);
}

/* ---- what is wrong ---- */

typedef struct
{
  const char *name;
  const char *element;
  void (*check) (const char *graph); /* NULL: the harness is freed */
  const char *messages[4];
  DlpElementFlags flags; /* of wrong-flags */
} WrongCase;

#ifndef SANITIZE_THREAD
static void
kill_some (const char *graph)
{
  dlp_check_kill (graph, 10);
}
#endif

static void
resume_each (const char *graph)
{
  dlp_check_resume (graph, 1);
}

static const WrongCase wrong_cases[] = {
  { "forgets-state",
    "wrong fault=forgets",
    dlp_check_marks,
    { "*marks check of wrong failed*stopped behind record 1 of 12 of sink out*",
      "*element:  element (wrong), pad out*record:   2 of 12*",
      "*expected: ?0 0 0 2 0? text=\"2: line 2\"*got:      ?0 0 0 2 0? text=\"1: line 2\"*",
      "*DLPIPE_CHECK_SEED=*test-check -p /check/wrong/forgets-state/subprocess*" } },
  { "forgets-state-resume",
    "wrong fault=forgets",
    resume_each,
    { "*resume check of wrong failed*stopped behind every 1 records*record:   2 of 12*" } },
  { "emits-after-its-mark",
    "wrong fault=late",
    dlp_check_marks,
    { "*marks check of wrong failed*stopped behind record*",
      "*element:  element (wrong), pad out*expected: *got: *" } },
  { "depends-on-cuts",
    "wrong fault=cuts",
    dlp_check_stress,
    { "*stress check of wrong failed*record batches of 1,*",
      "*record:   2 of 12*expected: ?0 0 0 2 0? text=\"1: line 2\"*got:*text=\"0: line 2\"*" } },
  { "depends-on-workers",
    "wrong-transform",
    dlp_check_stress,
    { "*stress check of wrong-transform failed*workers*expected:*got:*" } },
  { "drops-one-to-one",
    "wrong-flags fault=drops",
    dlp_check_marks,
    { "*marks check of wrong-flags failed*undisturbed*element:  element (wrong-flags)*",
      "*expected: one record out for each of 12 in, as DLP_ELEMENT_ONE_TO_ONE*",
      "*got:      8 on out*remedy:   remove the flag*" },
    DLP_ELEMENT_ONE_TO_ONE },
  { "doubles-one-to-one",
    "wrong-flags fault=doubles",
    dlp_check_stress,
    { "*stress check of wrong-flags failed*for each of 12 in*got:      16 on out*" },
    DLP_ELEMENT_ONE_TO_ONE },
  { "counts-stateless",
    "wrong-flags",
    dlp_check_marks,
    { "*marks check of wrong-flags failed*without the state of what has DLP_ELEMENT_STATELESS*",
      "*element (wrong-flags)*the flag is to be removed*",
      "*expected: ?0 0 0 * 0? text=*got:      ?0 0 0 * 0? text=*" },
    DLP_ELEMENT_STATELESS },
  { "holds-a-record",
    "wrong fault=holds",
    NULL,
    { "*held records check of wrong failed*", "*1 record batches are still held*" } },
  { "mark-ahead",
    "wrong fault=ahead",
    dlp_check_marks,
    { "*marks check of wrong failed*a mark is made behind record*",
      "*element:  element (wrong), pad in*no more were consumed*mark_input*" } },
  { "does-not-end",
    "wrong fault=hangs",
    dlp_check_cancel,
    { "*cancel check of wrong failed*cancelled at call*", "*element:  element,*busy in a call*" } },
  { "leaves-a-file-open",
    "wrong fault=file",
    dlp_check_cancel,
    { "*cancel check of wrong failed*no file is left open*1 more than before*" } },
  { "holds-itself",
    "wrong fault=refers",
    dlp_check_marks,
    { "*marks check of wrong failed*element:  element*finalized with its pipeline*" } },
  { "sink-never-cuts",
    "wrong-sink location={dir}/lines",
    dlp_check_cancel,
    { "*cancel check of wrong-sink failed*", "*file:     lines*differ from byte*" } },
#ifndef SANITIZE_THREAD
  { "sink-never-cuts-killed",
    "wrong-sink location={dir}/lines",
    kill_some,
    { "*kill check of wrong-sink failed*killed*file:     lines*" } },
#endif
};

static void
run_wrong (gconstpointer data)
{
  const WrongCase *wrong = data;
  DlpCheckHarness *harness;

  wrong_elements_set_flags (wrong->flags);
  harness = make (wrong->element);

  /* One that does not end is waited for. */
  g_setenv ("DLPIPE_TEST_PATIENCE", "0.25", TRUE);
  if (wrong->check != NULL)
    wrong->check (dlp_check_harness_get_graph (harness));
  else
    g_assert_true (dlp_check_harness_finish (harness, NULL));
  dlp_check_harness_free (harness);
}

static void
test_wrong (gconstpointer data)
{
  const WrongCase *wrong = data;
  g_autofree char *path = g_strdup_printf ("/check/wrong/%s/subprocess", wrong->name);

  g_test_trap_subprocess (path, 0, 0);
  g_test_trap_assert_failed ();
  for (guint i = 0; i < G_N_ELEMENTS (wrong->messages) && wrong->messages[i] != NULL; i++)
    g_test_trap_assert_stderr (wrong->messages[i]);
}

static void
add_wrong (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (wrong_cases); i++)
    {
      g_autofree char *path = g_strdup_printf ("/check/wrong/%s", wrong_cases[i].name);
      g_autofree char *inner = g_strconcat (path, "/subprocess", NULL);

      g_test_add_data_func (path, &wrong_cases[i], test_wrong);
      g_test_add_data_func (inner, &wrong_cases[i], run_wrong);
    }
}

static void
test_pull_nothing (void)
{
  if (g_test_subprocess ())
    {
      g_autoptr (DlpCheckHarness) harness = make ("wrong");

      g_setenv ("DLPIPE_TEST_PATIENCE", "0.1", TRUE);
      dlp_check_harness_push_text (harness, "last");
      for (guint i = 0; i < N_RECORDS + 2; i++)
        dlp_record_batch_unref (dlp_check_harness_pull (harness, "out"));
      return;
    }
  g_test_trap_subprocess (NULL, 0, 0);
  g_test_trap_assert_failed ();
  g_test_trap_assert_stderr ("*pull check of wrong failed*pad out*record:   13*nothing came*");
}

static void
test_pull_wrong (void)
{
  if (g_test_subprocess ())
    {
      g_autoptr (DlpCheckHarness) harness = make ("wrong");

      dlp_check_harness_assert_text (harness, "out", "text", "0: line 0");
      dlp_check_harness_assert_text (harness, "out", "text", "1: line 7");
      return;
    }
  g_test_trap_subprocess (NULL, 0, 0);
  g_test_trap_assert_failed ();
  g_test_trap_assert_stderr ("*pad out*record:   1\n*expected: 1: line 7*got:      1: line 1*");
}

/* Also where the program has set no locale, as here. */
static void
test_unicode (void)
{
  if (g_test_subprocess ())
    {
      g_autoptr (DlpCheckHarness) harness = make ("wrong");

      dlp_check_harness_assert_text (harness, "out", "text", "0: “größer”");
      return;
    }
  g_test_trap_subprocess (NULL, 0, 0);
  g_test_trap_assert_failed ();
  g_test_trap_assert_stderr ("*expected: 0: “größer”*");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  dlp_check_init ();
  wrong_elements_register ();
  g_test_add_func ("/check/push-pull", test_push_pull);
  g_test_add_func ("/check/abandoned", test_abandoned);
  g_test_add_func ("/check/right", test_right);
  g_test_add_func ("/check/heir", test_heir);
  g_test_add_func ("/check/heir-first", test_heir_first);
  g_test_add_func ("/check/source", test_source);
  g_test_add_func ("/check/reader", test_reader);
  g_test_add_func ("/check/sink", test_sink);
  g_test_add_func ("/check/transform", test_transform);
  g_test_add_func ("/check/error", test_error);
  g_test_add_func ("/check/kill", test_kill_count);
  g_test_add_func ("/check/cancelled-in-wait", test_cancelled_in_wait);
  g_test_add_func ("/check/pull-nothing", test_pull_nothing);
  g_test_add_func ("/check/pull-wrong", test_pull_wrong);
  g_test_add_func ("/check/unicode", test_unicode);
  add_wrong ();
  return g_test_run ();
}
