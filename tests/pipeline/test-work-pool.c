/* SPDX-License-Identifier: MIT */

#include <pthread.h>
#include <stdbool.h>
#include <unistd.h>

#include "dlp-work-pool-private.h"

#define N 2000

static guint done[N];  /* atomic: how often */
static guint in_order; /* of one worker */
static gint user;

static void
do_work (gpointer data, guint worker, gpointer item)
{
  guint number = GPOINTER_TO_UINT (item);

  g_assert_true (data == &user);
  __atomic_fetch_add (&done[number], 1, __ATOMIC_RELAXED);
}

static void
do_in_order (gpointer data, guint worker, gpointer item)
{
  g_assert_cmpuint (worker, ==, 0);
  g_assert_cmpuint (GPOINTER_TO_UINT (item), ==, in_order);
  in_order++;
}

static void
check_all_done (void)
{
  for (guint i = 0; i < N; i++)
    {
      g_assert_cmpuint (done[i], ==, 1);
      done[i] = 0;
    }
}

/* What is queued when the pool is freed is done first. */
static void
test_all (void)
{
  for (guint n = 0; n <= 7; n++)
    {
      DlpWorkPool *pool = dlp_work_pool_new (n);

      g_assert_cmpuint (dlp_work_pool_get_n_threads (pool), ==, n);
      for (guint i = 0; i < N; i++)
        dlp_work_pool_submit (pool, do_work, &user, GUINT_TO_POINTER (i), NULL);
      dlp_work_pool_free (pool);
      check_all_done ();
    }
}

static void
test_order (void)
{
  DlpWorkPool *pool = dlp_work_pool_new (1);

  in_order = 0;
  for (guint i = 0; i < N; i++)
    dlp_work_pool_submit (pool, do_in_order, NULL, GUINT_TO_POINTER (i), NULL);
  dlp_work_pool_free (pool);
  g_assert_cmpuint (in_order, ==, N);
}

static void
remember_thread (gpointer data, guint worker, gpointer item)
{
  *(pthread_t *) item = pthread_self ();
}

static void
test_inline (void)
{
  DlpWorkPool *pool = dlp_work_pool_new (0);
  pthread_t thread = 0;

  dlp_work_pool_submit (pool, remember_thread, NULL, &thread, NULL);
  g_assert_true (pthread_equal (thread, pthread_self ()));
  dlp_work_pool_free (pool);
}

static void
check_worker (gpointer data, guint worker, gpointer item)
{
  guint n = GPOINTER_TO_UINT (item);

  g_assert_cmpuint (worker, <, n);
  if (g_random_int_range (0, 10) == 0)
    usleep (20);
  __atomic_fetch_add (&done[0], 1, __ATOMIC_RELAXED);
}

static gpointer
submit_many (gpointer data)
{
  for (guint i = 0; i < 500; i++)
    dlp_work_pool_submit (data, check_worker, NULL, GUINT_TO_POINTER (3), NULL);
  return NULL;
}

static void
test_submitters (void)
{
  DlpWorkPool *pool = dlp_work_pool_new (3);
  pthread_t threads[4];

  for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
    g_assert_cmpint (pthread_create (&threads[i], NULL, submit_many, pool), ==, 0);
  for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
    pthread_join (threads[i], NULL);
  dlp_work_pool_free (pool);
  g_assert_cmpuint (done[0], ==, 4 * 500);
  done[0] = 0;
}

static void
burn (gpointer data, guint worker, gpointer item)
{
  volatile guint64 sum = 0;

  while (sum < 3000000)
    sum = sum + 1;
  __atomic_store_n ((bool *) item, true, __ATOMIC_RELEASE);
}

static void
test_account (void)
{
  DlpWorkPool *pool = dlp_work_pool_new (1);
  guint64 *a = dlp_work_pool_add_account (pool);
  guint64 *b = dlp_work_pool_add_account (pool);
  bool first = false, second = false;

  dlp_work_pool_submit (pool, burn, NULL, &first, a);
  dlp_work_pool_submit (pool, burn, NULL, &second, NULL);
  dlp_work_pool_submit (pool, do_work, &user, GUINT_TO_POINTER (0), b);
  while (!__atomic_load_n (&done[0], __ATOMIC_ACQUIRE))
    usleep (100);
  g_assert_true (__atomic_load_n (&second, __ATOMIC_ACQUIRE));
  g_assert_cmpuint (__atomic_load_n (a, __ATOMIC_RELAXED), >, 100000);
  g_assert_cmpuint (__atomic_load_n (b, __ATOMIC_RELAXED), <,
                    __atomic_load_n (a, __ATOMIC_RELAXED));
  g_assert_cmpuint (dlp_work_pool_get_cpu_time (pool), >=, __atomic_load_n (a, __ATOMIC_RELAXED));
  dlp_work_pool_free (pool);
  done[0] = 0;
}

static void
test_budget (void)
{
  g_assert_cmpuint (dlp_cpu_budget (), >=, 1);
  g_assert_cmpuint (dlp_cpu_budget (), <=, (guint) sysconf (_SC_NPROCESSORS_ONLN));
  g_assert_cmpuint (dlp_memory_limit (), >, 16 * 1024 * 1024);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/work-pool/all", test_all);
  g_test_add_func ("/work-pool/order", test_order);
  g_test_add_func ("/work-pool/inline", test_inline);
  g_test_add_func ("/work-pool/submitters", test_submitters);
  g_test_add_func ("/work-pool/account", test_account);
  g_test_add_func ("/work-pool/budget", test_budget);
  return g_test_run ();
}
