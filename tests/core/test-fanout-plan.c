/* SPDX-License-Identifier: MIT */

/* The plan of a job as a file, what damage of it is said to be, messages to workers, and what is
 * said of one that died. */

#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <dlpipe/dlp-source.h>

#include "dlp-fanout-plan-file-private.h"
#include "dlp-fanout-process-private.h"

/* Tabs, ends of lines, quotes, letters of other languages, and what is no UTF-8. */
static const char *const odd_names[] = { "plain.jsonl",      "with\ttab",  "two\nlines",
                                         "back\\slash",      "\"quoted\"", "höhle/日本.jsonl",
                                         "no-utf8-\xff\xfe", "\x01\x7f",   "-" };

static DlpFanoutPlan *
make_plan (guint n_tasks)
{
  DlpFanoutPlan *plan = dlp_fanout_plan_alloc ();

  plan->n_tasks = n_tasks;
  for (guint s = 0; s < 2; s++)
    {
      DlpFanoutSource *source = g_new0 (DlpFanoutSource, 1);

      source->name = g_strdup_printf ("source%u", s);
      source->files = g_ptr_array_new_with_free_func (g_object_unref);
      source->task_of = g_new0 (guint32, G_N_ELEMENTS (odd_names));
      for (guint i = 0; i < G_N_ELEMENTS (odd_names); i++)
        {
          g_ptr_array_add (source->files, dlp_file_new (odd_names[i], (gint64) i - 1,
                                                        i % 3 == 0 ? NULL : odd_names[i]));
          source->task_of[i] = (i + s) % n_tasks;
        }
      g_ptr_array_add (plan->sources, source);
    }
  dlp_fanout_plan_count (plan);
  return plan;
}

static char *
write_plan (const char *text, gsize size)
{
  char *path = g_strdup ("/tmp/dlpipe-plan-XXXXXX");
  int fd = g_mkstemp (path);

  g_assert_cmpint (fd, >=, 0);
  g_assert_cmpint (write (fd, text, size), ==, size);
  close (fd);
  return path;
}

/* An identity of "-" is one that is not known: no scheme has such a one. */
static void
check_file (DlpFile *file, guint i)
{
  const char *identity = i % 3 == 0 || strcmp (odd_names[i], "-") == 0 ? NULL : odd_names[i];

  g_assert_cmpstr (dlp_file_get_uri (file), ==, odd_names[i]);
  g_assert_cmpint (dlp_file_get_size (file), ==, (gint64) i - 1);
  g_assert_cmpstr (dlp_file_get_identity (file), ==, identity);
}

static void
test_round_trip (void)
{
  g_autoptr (DlpFanoutPlan) plan = make_plan (4);
  g_autoptr (GString) text = dlp_fanout_plan_print (plan);
  g_autofree char *path = write_plan (text->str, text->len);
  g_autoptr (GError) error = NULL;
  g_autoptr (DlpFanoutPlan) loaded = dlp_fanout_plan_load (path, &error);
  g_autoptr (GString) again = NULL;

  unlink (path);
  g_assert_no_error (error);
  g_assert_cmpuint (loaded->n_tasks, ==, 4);
  g_assert_cmpuint (loaded->files, ==, 2 * G_N_ELEMENTS (odd_names));
  g_assert_cmpuint (loaded->bytes, ==, plan->bytes);
  for (guint s = 0; s < 2; s++)
    {
      DlpFanoutSource *source = g_ptr_array_index (loaded->sources, s);

      for (guint i = 0; i < G_N_ELEMENTS (odd_names); i++)
        {
          check_file (source->files->pdata[i], i);
          g_assert_cmpuint (source->task_of[i], ==, (i + s) % 4);
        }
    }
  again = dlp_fanout_plan_print (loaded);
  g_assert_cmpstr (again->str, ==, text->str);
  g_assert_true (dlp_fanout_plan_compare (plan, loaded, &error));
  g_assert_nonnull (strstr (text->str, "höhle/日本.jsonl"));
}

static void
test_parts (void)
{
  g_autoptr (DlpFanoutPlan) plan = make_plan (4);
  g_autoptr (GString) text = dlp_fanout_plan_print (plan);
  g_autofree char *path = write_plan (text->str, text->len);
  gboolean seen[G_N_ELEMENTS (odd_names)] = { FALSE };
  g_autoptr (GError) error = NULL;
  GArray *numbers;
  guint n_files;

  for (guint task = 0; task < 4; task++)
    {
      g_autoptr (GPtrArray) files =
          dlp_source_load_part (path, "source1", task, &numbers, &n_files, &error);

      g_assert_no_error (error);
      g_assert_cmpuint (n_files, ==, G_N_ELEMENTS (odd_names));
      g_assert_cmpuint (files->len, ==, numbers->len);
      for (guint i = 0; i < files->len; i++)
        {
          guint32 number = g_array_index (numbers, guint32, i);

          check_file (files->pdata[i], number);
          g_assert_cmpuint ((number + 1) % 4, ==, task);
          g_assert_false (seen[number]);
          seen[number] = TRUE;
        }
      g_array_unref (numbers);
    }
  for (guint i = 0; i < G_N_ELEMENTS (odd_names); i++)
    g_assert_true (seen[i]);

  /* Another one under that name. */
  {
    g_autoptr (DlpFanoutPlan) other = make_plan (1);
    g_autoptr (GString) other_text = dlp_fanout_plan_print (other);
    g_autoptr (GPtrArray) files = NULL;

    g_file_set_contents (path, other_text->str, (gssize) other_text->len, &error);
    g_assert_no_error (error);
    files = dlp_source_load_part (path, "source1", 0, &numbers, &n_files, &error);
    g_assert_no_error (error);
    g_assert_cmpuint (files->len, ==, G_N_ELEMENTS (odd_names));
    g_array_unref (numbers);
    g_file_set_contents (path, text->str, (gssize) text->len, &error);
    g_assert_no_error (error);
  }
  g_assert_null (dlp_source_load_part (path, "source1", 4, &numbers, &n_files, &error));
  g_assert_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE);
  g_clear_error (&error);
  g_assert_null (dlp_source_load_part (path, "nobody", 0, &numbers, &n_files, &error));
  g_assert_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE);
  unlink (path);
}

static void
expect_corrupt (const char *text, gsize size)
{
  g_autofree char *path = write_plan (text, size);
  g_autoptr (GError) error = NULL;

  g_assert_null (dlp_fanout_plan_load (path, &error));
  g_assert_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CORRUPT);
  g_assert_nonnull (strstr (error->message, path));
  unlink (path);
}

/* Cut anywhere: no beginning of a plan is one. */
static void
test_damage (void)
{
  static const char *const bad[] = {
    "",
    "dlpipe plan 2\t1\nend\n",
    "dlpipe plan 1\t0\nend\n",
    "dlpipe plan 1\t1000000\nend\n",
    "dlpipe plan 1\t1\nend\nend\n",
    "dlpipe plan 1\t1\nsource\ta\t1\nend\n",
    "dlpipe plan 1\t1\nsource\ta\t4294967295\n0\t1\t-\tx\nend\n",
    "dlpipe plan 1\t1\nsource\ta\t1\n1\t1\t-\tx\nend\n",
    "dlpipe plan 1\t1\nsource\ta\t1\n0\t-2\t-\tx\nend\n",
    "dlpipe plan 1\t1\nsource\ta\t1\n0\t1\t-\tx\ty\nend\n",
    "dlpipe plan 1\t1\nsource\ta\t1\n0\t1\t-\nend\n",
  };
  g_autoptr (DlpFanoutPlan) plan = make_plan (3);
  g_autoptr (GString) text = dlp_fanout_plan_print (plan);

  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    expect_corrupt (bad[i], strlen (bad[i]));
  for (gsize n = 0; n < text->len; n += 1 + n / 50)
    expect_corrupt (text->str, n);
  expect_corrupt (text->str, text->len - 1);
  expect_corrupt ("dlpipe plan 1\t1\nend\n\0", 21);
}

static void
test_changed_list (void)
{
  g_autoptr (DlpFanoutPlan) was = make_plan (2);
  g_autoptr (DlpFanoutPlan) is = make_plan (2);
  DlpFanoutSource *source = g_ptr_array_index (is->sources, 1);
  g_autoptr (GError) error = NULL;

  g_ptr_array_remove_index (source->files, 3);
  g_assert_false (dlp_fanout_plan_compare (was, is, &error));
  g_assert_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CHANGED);
  g_assert_nonnull (strstr (error->message, "source1"));
  g_assert_nonnull (strstr (error->message, "there were 9, now there are 8"));
  g_assert_nonnull (strstr (error->message, "file 3"));
}

/* ---- messages ---- */

static void
test_messages (void)
{
  DlpFanoutLink one, other;
  int fds[2];

  g_assert_cmpint (socketpair (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), ==, 0);
  dlp_fanout_link_init (&one, fds[0]);
  dlp_fanout_link_init (&other, fds[1]);
  for (guint i = 0; i < 3; i++)
    {
      GVariantDict dict;

      g_variant_dict_init (&dict, NULL);
      g_variant_dict_insert (&dict, "n", "t", (guint64) i);
      dlp_fanout_add_text (&dict, "text", "no UTF-8: \xff");
      g_assert_true (dlp_fanout_link_send (&one, g_variant_dict_end (&dict), true));
    }
  g_assert_true (dlp_fanout_link_receive (&other));
  for (guint i = 0; i < 3; i++)
    {
      g_autoptr (GVariant) message = dlp_fanout_link_take (&other);

      g_assert_cmpuint (dlp_fanout_get_number (message, "n"), ==, i);
      g_assert_cmpstr (dlp_fanout_get_text (message, "text"), ==, "no UTF-8: \xff");
      g_assert_cmpstr (dlp_fanout_get_text (message, "n"), ==, "");
    }
  g_assert_null (dlp_fanout_link_take (&other));

  /* Half a message, and nobody there any more. */
  g_assert_cmpint (write (one.fd, "\x10\0\0\0\0\0\0\0abc", 11), ==, 11);
  dlp_fanout_link_clear (&one);
  g_assert_false (dlp_fanout_link_receive (&other));
  g_assert_null (dlp_fanout_link_take (&other));
  g_assert_false (dlp_fanout_link_send (&other, g_variant_new ("a{sv}", NULL), false));
  dlp_fanout_link_clear (&other);
}

/* More than a socket takes at once goes through in pieces, without a wait. */
static void
test_large_message (void)
{
  DlpFanoutLink one, other;
  g_autofree char *text = g_strnfill (5000000, 'x');
  g_autoptr (GVariant) message = NULL;
  GVariantDict dict;
  int fds[2];

  g_assert_cmpint (socketpair (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), ==, 0);
  dlp_fanout_link_init (&one, fds[0]);
  dlp_fanout_link_init (&other, fds[1]);
  g_variant_dict_init (&dict, NULL);
  dlp_fanout_add_text (&dict, "text", text);
  g_assert_true (dlp_fanout_link_send (&one, g_variant_dict_end (&dict), false));
  g_assert_true (dlp_fanout_link_has_unsent (&one));
  while (dlp_fanout_link_has_unsent (&one))
    {
      g_assert_true (dlp_fanout_link_receive (&other));
      g_assert_null (dlp_fanout_link_take (&other));
      g_assert_true (dlp_fanout_link_flush (&one));
    }
  g_assert_true (dlp_fanout_link_receive (&other));
  message = dlp_fanout_link_take (&other);
  g_assert_nonnull (message);
  g_assert_cmpstr (dlp_fanout_get_text (message, "text"), ==, text);
  dlp_fanout_link_clear (&one);
  dlp_fanout_link_clear (&other);
}

/* Who does not read is not waited for; and nothing is allocated for a size that is said. */
static void
test_deaf (void)
{
  DlpFanoutLink one, other;
  g_autofree char *text = g_strnfill (10000, 'x');
  guint n = 0;
  int fds[2];

  g_assert_cmpint (socketpair (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), ==, 0);
  dlp_fanout_link_init (&one, fds[0]);
  dlp_fanout_link_init (&other, fds[1]);
  for (;; n++)
    {
      GVariantDict dict;

      g_assert_cmpuint (n, <, 100000);
      g_variant_dict_init (&dict, NULL);
      dlp_fanout_add_text (&dict, "text", text);
      if (!dlp_fanout_link_send (&one, g_variant_dict_end (&dict), false))
        break;
    }
  g_assert_cmpuint (n, >, 0);
  dlp_fanout_link_clear (&one);
  dlp_fanout_link_clear (&other);

  g_assert_cmpint (socketpair (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), ==, 0);
  dlp_fanout_link_init (&other, fds[1]);
  g_assert_cmpint (write (fds[0], "\xff\xff\xff\xff\0\0\0\0", 8), ==, 8);
  g_assert_false (dlp_fanout_link_receive (&other));
  close (fds[0]);
  dlp_fanout_link_clear (&other);
}

/* ---- what is said of one that died ---- */

static void
expect_text (DlpFanoutVerdict verdict, const char *part)
{
  g_autofree char *text = dlp_fanout_verdict_describe (&verdict);

  if (strstr (text, part) == NULL)
    g_error ("“%s” is not in “%s”", part, text);
}

static void
test_verdicts (void)
{
  expect_text ((DlpFanoutVerdict){ 3, 0, false }, "exited with code 3");
  expect_text ((DlpFanoutVerdict){ -1, 9, false }, "killed by SIGKILL");
  expect_text ((DlpFanoutVerdict){ -1, 11, false }, "killed by SIGSEGV");
  expect_text ((DlpFanoutVerdict){ -1, 9, true }, "lack of memory");
  expect_text ((DlpFanoutVerdict){ -1, 0, false }, "nobody knows");
}

/* As Linux has them, both versions. */
static void
test_cgroups (void)
{
  g_autofree char *root = g_dir_make_tmp ("dlpipe-cgroup-XXXXXX", NULL);
  g_autofree char *v2 = g_build_filename (root, "a/b", NULL);
  g_autofree char *v1 = g_build_filename (root, "memory/c", NULL);
  g_autofree char *events = g_build_filename (v2, "memory.events", NULL);
  g_autofree char *control = g_build_filename (v1, "memory.oom_control", NULL);
  g_autofree char *found = NULL;
  g_autofree char *found_v1 = NULL;

  g_assert_cmpint (g_mkdir_with_parents (v2, 0700), ==, 0);
  g_assert_cmpint (g_mkdir_with_parents (v1, 0700), ==, 0);
  g_assert_true (g_file_set_contents (
      events, "low 0\nhigh 0\nmax 12\noom 3\noom_kill 2\noom_group_kill 0\n", -1, NULL));
  g_assert_true (
      g_file_set_contents (control, "oom_kill_disable 0\nunder_oom 0\noom_kill 7\n", -1, NULL));
  found = dlp_fanout_find_oom_file ("0::/a/b\n", root);
  g_assert_cmpstr (found, ==, events);
  g_assert_cmpuint (dlp_fanout_count_oom_kills (found), ==, 2);
  found_v1 = dlp_fanout_find_oom_file ("11:cpu,cpuacct:/c\n9:memory:/c\n0::/nowhere\n", root);
  g_assert_cmpstr (found_v1, ==, control);
  g_assert_cmpuint (dlp_fanout_count_oom_kills (found_v1), ==, 7);
  g_assert_null (dlp_fanout_find_oom_file ("0::/nowhere\n", root));
  g_assert_null (dlp_fanout_find_oom_file ("", root));
  g_assert_cmpuint (dlp_fanout_count_oom_kills (NULL), ==, 0);

  unlink (events);
  unlink (control);
  rmdir (v2);
  rmdir (v1);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/fanout/plan/round-trip", test_round_trip);
  g_test_add_func ("/fanout/plan/parts", test_parts);
  g_test_add_func ("/fanout/plan/damage", test_damage);
  g_test_add_func ("/fanout/plan/changed-list", test_changed_list);
  g_test_add_func ("/fanout/link/messages", test_messages);
  g_test_add_func ("/fanout/link/large-message", test_large_message);
  g_test_add_func ("/fanout/link/deaf", test_deaf);
  g_test_add_func ("/fanout/process/verdicts", test_verdicts);
  g_test_add_func ("/fanout/process/cgroups", test_cgroups);
  return g_test_run ();
}
