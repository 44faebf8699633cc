/* SPDX-License-Identifier: MIT */

/* Dealing of files to tasks: each file once, bytes in balance, the same each time. */

#include <string.h>

#include "dlp-fanout-deal-private.h"

#define MOST_TASKS 9
#define MOST_FILES 20
#define HUGE_FILE ((gint64) 1 << 40)
#define GIB ((guint64) 1 << 30)

typedef enum
{
  ALL_EMPTY,
  ALL_TINY,
  ONE_HUGE,
  MANY_SIZES,
  SOME_UNKNOWN,
  ALL_UNKNOWN,
  N_KINDS
} Kind;

static gint64
make_size (Kind kind, guint i)
{
  switch (kind)
    {
    case ALL_TINY:
      return 1 + i % 3;
    case ONE_HUGE:
      return i == 3 ? HUGE_FILE : 10 + i;
    case MANY_SIZES:
      return (gint64) (i * G_GUINT64_CONSTANT (2654435761) % 100003);
    case SOME_UNKNOWN:
      return i % 4 == 1 ? -1 : (gint64) (i * 1000);
    case ALL_UNKNOWN:
      return -1;
    case ALL_EMPTY:
    case N_KINDS:
      break;
    }
  return 0;
}

/* Each file has one task, and no two tasks have one file, as each has one entry; what is left to be
 * seen is that the entry was made and is a task. */
static void
check_each_has_a_task (const guint32 *task_of, guint n, guint n_tasks, guint32 *files)
{
  memset (files, 0, n_tasks * sizeof *files);
  for (guint i = 0; i < n; i++)
    {
      g_assert_cmpuint (task_of[i], <, n_tasks);
      files[task_of[i]]++;
    }
}

static void
check_balance (const gint64 *sizes, const guint32 *task_of, guint n, guint n_tasks, gint64 unknown)
{
  g_autofree guint64 *bytes = g_new0 (guint64, n_tasks);
  guint64 most = 0, least = G_MAXUINT64, largest = 0;

  for (guint i = 0; i < n; i++)
    {
      guint64 size = (guint64) (sizes[i] >= 0 ? sizes[i] : unknown);

      bytes[task_of[i]] += size;
      largest = MAX (largest, size);
    }
  for (guint t = 0; t < n_tasks; t++)
    {
      most = MAX (most, bytes[t]);
      least = MIN (least, bytes[t]);
    }
  /* The last file that the fullest task got was given to it when it had least. */
  g_assert_cmpuint (most - least, <=, largest);
}

/* The mean of those that are known, by another way than that of the code. */
static gint64
get_unknown (const gint64 *sizes, guint n)
{
  double sum = 0;
  guint known = 0;

  for (guint i = 0; i < n; i++)
    if (sizes[i] >= 0)
      {
        sum += (double) sizes[i];
        known++;
      }
  return known > 0 ? (gint64) (sum / known) : 1;
}

static void
check_deal (Kind kind, guint n, guint n_tasks)
{
  gint64 sizes[MOST_FILES] = { 0 };
  guint32 task_of[MOST_FILES], again[MOST_FILES], files[MOST_TASKS];
  guint64 loads[MOST_TASKS] = { 0 }, loads_again[MOST_TASKS] = { 0 };
  guint64 sum = 0, wanted = 0;

  for (guint i = 0; i < n; i++)
    sizes[i] = make_size (kind, i);
  memset (task_of, 0xff, sizeof task_of);
  dlp_fanout_deal (sizes, n, n_tasks, loads, task_of);
  check_each_has_a_task (task_of, n, n_tasks, files);
  for (guint t = 0; t < n_tasks && n >= n_tasks; t++)
    g_assert_cmpuint (files[t], >, 0);
  for (guint t = 0; t < n_tasks && n < n_tasks; t++)
    g_assert_cmpuint (files[t], <=, 1);
  check_balance (sizes, task_of, n, n_tasks, get_unknown (sizes, n));

  for (guint t = 0; t < n_tasks; t++)
    sum += loads[t];
  for (guint i = 0; i < n; i++)
    wanted += (guint64) (sizes[i] >= 0 ? sizes[i] : get_unknown (sizes, n));
  g_assert_cmpuint (sum, ==, wanted);

  dlp_fanout_deal (sizes, n, n_tasks, loads_again, again);
  g_assert_cmpmem (again, n * sizeof *again, task_of, n * sizeof *task_of);
}

static void
test_all_small (void)
{
  for (Kind kind = ALL_EMPTY; kind < N_KINDS; kind++)
    for (guint n_tasks = 1; n_tasks <= MOST_TASKS; n_tasks++)
      for (guint n = 0; n <= MOST_FILES; n++)
        check_deal (kind, n, n_tasks);
}

/* By hand: 9 to 0, 8 to 1, 5 to 2, 4 to 2 (5 < 8 < 9), 1 to 1 (8 < 9 = 9), 1 to 0 (9 and 9 and 9
 * and of these two files less). */
static void
test_by_hand (void)
{
  const gint64 sizes[] = { 1, 9, 4, 8, 1, 5 };
  const guint32 wanted[] = { 1, 0, 2, 1, 0, 2 };
  guint32 task_of[6];
  guint64 loads[3] = { 0 };

  dlp_fanout_deal (sizes, 6, 3, loads, task_of);
  g_assert_cmpmem (task_of, sizeof task_of, wanted, sizeof wanted);
  g_assert_cmpuint (loads[0], ==, 10);
  g_assert_cmpuint (loads[1], ==, 9);
  g_assert_cmpuint (loads[2], ==, 9);
}

/* The largest file of the second source goes to whom the first one gave least. */
static void
test_two_sources (void)
{
  const gint64 first[] = { 100, 50, 10 };
  const gint64 second[] = { 7, 30, 20 };
  const guint32 wanted[] = { 0, 2, 1 };
  guint32 task_of[3];
  guint64 loads[3] = { 0 };

  dlp_fanout_deal (first, 3, 3, loads, task_of);
  dlp_fanout_deal (second, 3, 3, loads, task_of);
  g_assert_cmpmem (task_of, sizeof task_of, wanted, sizeof wanted);
}

static void
test_choice (void)
{
  g_assert_cmpuint (dlp_fanout_choose_tasks (0, 10), ==, 1);
  g_assert_cmpuint (dlp_fanout_choose_tasks (16 * GIB, 10), ==, 1);
  g_assert_cmpuint (dlp_fanout_choose_tasks (16 * GIB + 1, 10), ==, 2);
  g_assert_cmpuint (dlp_fanout_choose_tasks (160 * GIB, 4), ==, 4);
  g_assert_cmpuint (dlp_fanout_choose_tasks (160 * GIB, 0), ==, 1);
  g_assert_cmpuint (dlp_fanout_choose_tasks (G_MAXUINT64, 100000), ==, 1024);
}

static void
test_many (void)
{
  const guint n = 100000, n_tasks = 1024;
  g_autofree gint64 *sizes = g_new (gint64, n);
  g_autofree guint32 *task_of = g_new (guint32, n);
  g_autofree guint32 *files = g_new (guint32, n_tasks);
  g_autofree guint64 *loads = g_new0 (guint64, n_tasks);

  for (guint i = 0; i < n; i++)
    sizes[i] = make_size (MANY_SIZES, i);
  memset (task_of, 0xff, n * sizeof *task_of);
  dlp_fanout_deal (sizes, n, n_tasks, loads, task_of);
  check_each_has_a_task (task_of, n, n_tasks, files);
  check_balance (sizes, task_of, n, n_tasks, 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/fanout/deal/all-small", test_all_small);
  g_test_add_func ("/fanout/deal/by-hand", test_by_hand);
  g_test_add_func ("/fanout/deal/two-sources", test_two_sources);
  g_test_add_func ("/fanout/deal/choice", test_choice);
  g_test_add_func ("/fanout/deal/many", test_many);
  return g_test_run ();
}
