/* SPDX-License-Identifier: MIT */

/* Files that are read in advance: that it happens, how far, and that nothing of what comes out
 * depends on it. */

#include <string.h>

#include <dlpipe/dlp-error.h>

#include "far-scheme.h"
#include "reader-fixture.h"

/* A reader opens two files itself beyond those it reads from; with a small share of memory none. */
#define SMALL_SHARE (1024 * 1024)

static char *
make_lines (guint file, guint n, guint length)
{
  g_autofree char *filler = g_strnfill (length, 'x');
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < n; i++)
    g_string_append_printf (text, "{\"text\": \"%u %u %s\"}\n", file, i, filler);
  return g_string_free (text, FALSE);
}

/* @n files of @rows rows, each of about @length bytes. */
static Fixture *
new_fixture (guint n, guint rows, guint length)
{
  Fixture *self = fixture_new ();

  g_ptr_array_set_size (self->source, 0);
  for (guint i = 0; i < n; i++)
    {
      g_autofree char *name = g_strdup_printf ("%02u.jsonl%s", i, i % 3 == 2 ? ".gz" : "");
      g_autofree char *text = make_lines (i, rows, length);
      g_autofree char *path = fixture_path (self, name);

      fixture_write (self, name, text, -1);
      fixture_set_source (self, "location=far://%s", path);
    }
  self->config.workers = 2;
  return self;
}

static char *
path_of (Fixture *self, guint i)
{
  g_autofree char *name = g_strdup_printf ("%02u.jsonl%s", i, i % 3 == 2 ? ".gz" : "");

  return fixture_path (self, name);
}

/* So that the others are not read before they were read ahead; release() ends it. */
static void
hold_first (Fixture *self)
{
  g_autofree char *path = path_of (self, 0);

  far_scheme_hold (path);
}

/* Bytes that threads have read ahead: when there are @least, and nothing more has come for long. */
static guint64
wait_for_ahead (Rig *rig, guint64 least)
{
  guint64 n = 0, before = 0;

  for (guint i = 0; i < (n < least ? 3000 : 25); i++)
    {
      while (rig_move (rig))
        ;
      g_usleep (20000);
      n = far_scheme_get_ahead_bytes ();
      if (n > before)
        i = 0;
      before = n;
    }
  return n;
}

static void
release (void)
{
  far_scheme_hold (NULL);
}

static void
test_equal (void)
{
  g_autoptr (Fixture) with = new_fixture (12, 40, 2000);
  g_autoptr (RigOutput) expected = NULL;
  g_autoptr (RigOutput) output = NULL;

  fixture_set_source (with, "prefetch-files=0");
  far_scheme_begin (FAR_NOTHING);
  expected = rig_run (fixture_config (with));
  g_assert_no_error (expected->error);
  g_assert_cmpuint (expected->good->len, ==, 12 * 40);
  g_assert_cmpuint (far_scheme_get_ahead_bytes (), ==, 0);

  fixture_set_source (with, "prefetch-files=4");
  far_scheme_begin (FAR_NOTHING);
  output = rig_run (fixture_config (with));
  rig_assert_equal (output, expected);
  g_assert_cmpuint (far_scheme_count_all_opens (), ==, 12);
  for (guint i = 0; i < 12; i++)
    {
      g_autofree char *path = path_of (with, i);

      g_assert_cmpuint (far_scheme_count_opens (path, 0), ==, 1);
    }
}

/* While the first file is being read, as many as are asked for are read ahead, and no more. */
static void
test_how_far (void)
{
  g_autoptr (Fixture) fixture = new_fixture (12, 3000, 200);
  g_autoptr (Rig) rig = NULL;
  GError *error = NULL;
  gboolean is_rejected;
  guint n = 0;

  fixture->config.memory = SMALL_SHARE;
  fixture_set_source (fixture, "prefetch-files=5");
  far_scheme_begin (FAR_NOTHING);
  hold_first (fixture);
  rig = rig_new (fixture_config (fixture), NULL, &error);
  g_assert_no_error (error);
  g_free (rig_next (rig, &is_rejected, &error));
  g_assert_no_error (error);
  g_assert_cmpuint (wait_for_ahead (rig, 1), >, 0);
  release ();

  for (guint i = 1; i < 12; i++)
    {
      g_autofree char *path = path_of (fixture, i);

      n += far_scheme_count_opens (path, 0);
    }
  g_assert_cmpuint (n, >=, 1);
  g_assert_cmpuint (n, <=, 5);
}

/* With none, a file is opened when the one before it was read. */
static void
test_none (void)
{
  g_autoptr (Fixture) fixture = new_fixture (3, 2000, 400);
  g_autoptr (RigOutput) output = NULL;

  fixture->config.memory = SMALL_SHARE;
  fixture_set_source (fixture, "prefetch-files=0");
  far_scheme_begin (FAR_NOTHING);
  output = rig_run (fixture_config (fixture));
  g_assert_no_error (output->error);
  g_assert_cmpuint (output->good->len, ==, 6000);
  g_assert_cmpuint (far_scheme_get_ahead_bytes (), ==, 0);
  g_assert_cmpuint (far_scheme_count_all_opens (), ==, 3);
  g_assert_cmpuint (far_scheme_get_most_open (), ==, 1);
}

/* What is held in advance is bounded, and a small budget only makes it less. */
static void
test_budget (void)
{
  static const guint64 budgets[] = { 0, 1, 5000, 100 * 1000, 400 * 1000 };

  for (guint i = 0; i < G_N_ELEMENTS (budgets); i++)
    {
      g_autoptr (Fixture) fixture = new_fixture (8, 300, 200);
      g_autoptr (Rig) rig = NULL;
      GError *error = NULL;
      gboolean is_rejected;
      guint64 ahead;

      fixture->config.memory = SMALL_SHARE;
      fixture_set_source (fixture, "prefetch-files=7");
      fixture_set_source (fixture, "prefetch-bytes=%" G_GUINT64_FORMAT, budgets[i]);
      fixture_set_reader (fixture, "chunk-bytes=16384");
      far_scheme_begin (FAR_NOTHING);
      hold_first (fixture);
      rig = rig_new (fixture_config (fixture), NULL, &error);
      g_assert_no_error (error);
      g_free (rig_next (rig, &is_rejected, &error));
      ahead = wait_for_ahead (rig, budgets[i] >= 5000 ? 1 : 0);
      release ();
      g_assert_cmpuint (ahead, <=, budgets[i]);
      if (budgets[i] >= 5000)
        g_assert_cmpuint (ahead, >, 0);
      g_assert_cmpuint (rig_drain (rig, &error), ==, 8 * 300 - 1);
      g_assert_no_error (error);
    }
}

/* What goes wrong in advance is nobody's business: the file is opened again, where it is. */
static void
test_faults (void)
{
  static const FarFault faults[] = { FAR_FAILS_TO_OPEN, FAR_BREAKS, FAR_HANGS, FAR_CHANGES };
  g_autoptr (Fixture) fixture = new_fixture (6, 400, 200);
  g_autoptr (RigOutput) expected = NULL;

  fixture->config.memory = SMALL_SHARE;
  far_scheme_begin (FAR_NOTHING);
  expected = rig_run (fixture_config (fixture));
  g_assert_no_error (expected->error);

  for (guint i = 0; i < G_N_ELEMENTS (faults); i++)
    {
      g_autoptr (RigOutput) output = NULL;

      far_scheme_begin (faults[i]);
      output = rig_run (fixture_config (fixture));
      rig_assert_equal (output, expected);
    }
}

/* Of what was read before the fault nothing is asked for again. */
static void
test_goes_on_behind_fault (void)
{
  g_autoptr (Fixture) fixture = new_fixture (2, 3000, 200);
  g_autofree char *second = path_of (fixture, 1);
  g_autoptr (Rig) rig = NULL;
  GError *error = NULL;
  gboolean is_rejected;

  fixture->config.memory = SMALL_SHARE;
  far_scheme_begin (FAR_BREAKS);
  hold_first (fixture);
  rig = rig_new (fixture_config (fixture), NULL, &error);
  g_assert_no_error (error);
  g_free (rig_next (rig, &is_rejected, &error));
  g_assert_cmpuint (wait_for_ahead (rig, 1000), ==, 1000);
  release ();
  g_assert_cmpuint (rig_drain (rig, &error), ==, 5999);
  g_assert_no_error (error);
  g_assert_cmpuint (far_scheme_count_opens (second, 0), ==, 1);
  g_assert_cmpuint (far_scheme_count_opens (second, 1000), ==, 1);
}

/* Nothing is held of a file that its scheme says was changed meanwhile. */
static void
test_changed (void)
{
  g_autoptr (Fixture) fixture = new_fixture (2, 300, 200);
  g_autofree char *second = path_of (fixture, 1);
  g_autoptr (Rig) rig = NULL;
  GError *error = NULL;
  gboolean is_rejected;

  fixture->config.memory = SMALL_SHARE;
  fixture_set_reader (fixture, "chunk-bytes=16384");
  far_scheme_begin (FAR_CHANGES);
  hold_first (fixture);
  rig = rig_new (fixture_config (fixture), NULL, &error);
  g_assert_no_error (error);
  g_free (rig_next (rig, &is_rejected, &error));
  g_assert_cmpuint (wait_for_ahead (rig, 1), >, 0);
  release ();
  g_assert_cmpuint (rig_drain (rig, &error), ==, 599);
  g_assert_no_error (error);
  g_assert_cmpuint (far_scheme_count_opens (second, 0), ==, 2);
}

/* A file that is longer than it was is refused, as without reading ahead, and not cut. */
static void
test_grown (void)
{
  g_autoptr (Fixture) fixture = new_fixture (2, 300, 200);
  g_autofree char *second = path_of (fixture, 1);
  g_autoptr (Rig) rig = NULL;
  g_autoptr (GError) error = NULL;
  gboolean is_rejected;

  fixture->config.memory = SMALL_SHARE;
  fixture_set_reader (fixture, "chunk-bytes=16384");
  far_scheme_set_size (FAR_SIZE_LESS, second);
  far_scheme_begin (FAR_NOTHING);
  hold_first (fixture);
  rig = rig_new (fixture_config (fixture), NULL, &error);
  g_assert_no_error (error);
  g_free (rig_next (rig, &is_rejected, &error));
  g_assert_cmpuint (wait_for_ahead (rig, 1), >, 0);
  release ();
  rig_drain (rig, &error);
  far_scheme_set_size (FAR_SIZE_RIGHT, NULL);
  g_assert_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_CHANGED);
  g_assert_nonnull (strstr (error->message, second));
}

/* What may be there only once is opened by who reads it. */
static void
test_unknown_size (void)
{
  g_autoptr (Fixture) fixture = new_fixture (6, 300, 200);
  g_autoptr (RigOutput) output = NULL;

  fixture->config.memory = SMALL_SHARE;
  far_scheme_set_size (FAR_SIZE_UNKNOWN, NULL);
  far_scheme_begin (FAR_BREAKS);
  output = rig_run (fixture_config (fixture));
  far_scheme_set_size (FAR_SIZE_RIGHT, NULL);
  g_assert_no_error (output->error);
  g_assert_cmpuint (output->good->len, ==, 6 * 300);
  g_assert_cmpuint (far_scheme_get_ahead_bytes (), ==, 0);
  g_assert_cmpuint (far_scheme_count_all_opens (), ==, 6);
}

static void
test_resume (void)
{
  g_autoptr (Fixture) fixture = new_fixture (7, 9, 30);

  far_scheme_begin (FAR_NOTHING);
  fixture_set_reader (fixture, "interleave=3");
  rig_assert_resumable (fixture_config (fixture), fixture_config (fixture));
}

/* What is kept for the next epoch is not read ahead for it once more. */
static void
test_epochs (void)
{
  g_autoptr (Fixture) fixture = new_fixture (5, 200, 100);
  g_autoptr (RigOutput) output = NULL;

  fixture_set_source (fixture, "epochs=4");
  far_scheme_begin (FAR_NOTHING);
  output = rig_run (fixture_config (fixture));
  g_assert_no_error (output->error);
  g_assert_cmpuint (output->good->len, ==, 4 * 5 * 200);
  g_assert_cmpuint (far_scheme_count_all_opens (), ==, 5);
}

/* Ended in the middle: what was read ahead goes, what goes on is cancelled. */
static void
test_stop (void)
{
  static const FarFault faults[] = { FAR_NOTHING, FAR_HANGS };

  for (guint i = 0; i < G_N_ELEMENTS (faults); i++)
    {
      g_autoptr (Fixture) fixture = new_fixture (8, 1000, 200);
      gint64 began = g_get_monotonic_time ();
      GError *error = NULL;
      gboolean is_rejected;
      Rig *rig;

      fixture->config.memory = SMALL_SHARE;
      far_scheme_begin (faults[i]);
      hold_first (fixture);
      rig = rig_new (fixture_config (fixture), NULL, &error);
      g_assert_no_error (error);
      g_free (rig_next (rig, &is_rejected, &error));
      wait_for_ahead (rig, 1000);
      release ();
      rig_free (rig);
      g_assert_cmpint (g_get_monotonic_time () - began, <, 30 * G_USEC_PER_SEC);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  fixture_init ();
  far_scheme_register ();

  g_test_add_func ("/read-ahead/equal", test_equal);
  g_test_add_func ("/read-ahead/how-far", test_how_far);
  g_test_add_func ("/read-ahead/none", test_none);
  g_test_add_func ("/read-ahead/budget", test_budget);
  g_test_add_func ("/read-ahead/faults", test_faults);
  g_test_add_func ("/read-ahead/goes-on-behind-fault", test_goes_on_behind_fault);
  g_test_add_func ("/read-ahead/changed", test_changed);
  g_test_add_func ("/read-ahead/grown", test_grown);
  g_test_add_func ("/read-ahead/unknown-size", test_unknown_size);
  g_test_add_func ("/read-ahead/resume", test_resume);
  g_test_add_func ("/read-ahead/epochs", test_epochs);
  g_test_add_func ("/read-ahead/stop", test_stop);

  return g_test_run ();
}
