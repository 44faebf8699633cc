/* SPDX-License-Identifier: MIT */

#include "dlp-buffer-private.h"

#include <string.h>

static void
fill (DlpBuffer *buffer, gsize begin, gsize end)
{
  for (gsize i = begin; i < end; i++)
    buffer->data[i] = (guint8) (i * 31);
}

static void
assert_filled (const DlpBuffer *buffer, gsize n)
{
  for (gsize i = 0; i < n; i++)
    if (buffer->data[i] != (guint8) (i * 31))
      g_error ("byte %" G_GSIZE_FORMAT " of %" G_GSIZE_FORMAT " is wrong", i, n);
}

/* From nothing over every class to memory of its own. */
static void
test_grow (void)
{
  DlpBuffer buffer = { 0 };
  gsize used = 0;

  for (gsize need = 1; need < 20 * 1000 * 1000; need += need / 2 + 1)
    {
      dlp_buffer_ensure (&buffer, used, need);
      g_assert_cmpuint (buffer.capacity, >=, need);
      g_assert_cmpuint (buffer.capacity, <=, MAX (2 * need, DLP_BUFFER_MIN_CLASS));
      g_assert_cmpuint ((gsize) buffer.data % DLP_BUFFER_ALIGNMENT, ==, 0);
      fill (&buffer, used, need);
      used = need;
    }
  assert_filled (&buffer, used);
  dlp_buffer_clear (&buffer);
  g_assert_null (buffer.data);
  g_assert_cmpuint (dlp_buffer_get_used_bytes (), ==, 0);
}

/* A single large record takes what it needs and no more. */
static void
test_exact (void)
{
  const gsize huge = 200 * 1000 * 1000;
  DlpBuffer buffer = { 0 };

  dlp_buffer_ensure (&buffer, 0, 1000);
  fill (&buffer, 0, 1000);
  dlp_buffer_ensure (&buffer, 1000, huge);
  g_assert_cmpuint (buffer.capacity, <, huge + 4096);
  g_assert_cmpuint (dlp_buffer_get_used_bytes (), ==, buffer.capacity);
  assert_filled (&buffer, 1000);

  dlp_buffer_seal (&buffer, huge - 5000);
  g_assert_cmpuint (buffer.capacity, <, huge);
  dlp_buffer_seal (&buffer, 1000);
  g_assert_cmpuint (buffer.capacity, <=, 1024);
  assert_filled (&buffer, 1000);
  dlp_buffer_clear (&buffer);
  g_assert_cmpuint (dlp_buffer_get_used_bytes (), ==, 0);
}

static void
test_seal (void)
{
  static const guint8 zeros[DLP_BUFFER_ALIGNMENT];
  const gsize sizes[] = { 1,    63,    64,    65,         255,     256,     257,
                          4097, 65536, 65537, 300 * 1000, 2097151, 2097152, 2097153 };

  for (gsize i = 0; i < G_N_ELEMENTS (sizes); i++)
    for (gsize part = 1; part <= 5; part++)
      {
        DlpBuffer buffer = { 0 };
        gsize used = sizes[i] / part;
        gsize before;

        dlp_buffer_ensure (&buffer, 0, sizes[i]);
        before = buffer.capacity;
        memset (buffer.data, 0xee, buffer.capacity);
        fill (&buffer, 0, used);
        dlp_buffer_seal (&buffer, used);

        assert_filled (&buffer, used);
        g_assert_cmpmem (buffer.data + used, (64 - used % 64) % 64, zeros, (64 - used % 64) % 64);
        g_assert_cmpuint (buffer.capacity, <=, before);
        if (before > 64 * 1024)
          g_assert_cmpuint (buffer.capacity, <=, MAX (used * 4, DLP_BUFFER_MIN_CLASS));
        dlp_buffer_clear (&buffer);
      }
  g_assert_cmpuint (dlp_buffer_get_used_bytes (), ==, 0);
}

static void
test_recycled (void)
{
  DlpBuffer buffers[40] = { 0 };
  guint8 *first;

  dlp_buffer_trim ();
  g_assert_cmpuint (dlp_buffer_get_cached_bytes (), ==, 0);

  dlp_buffer_ensure (&buffers[0], 0, 5000);
  g_assert_cmpuint (dlp_buffer_get_used_bytes (), ==, 8192);
  first = buffers[0].data;
  dlp_buffer_clear (&buffers[0]);
  g_assert_cmpuint (dlp_buffer_get_used_bytes (), ==, 0);
  g_assert_cmpuint (dlp_buffer_get_cached_bytes (), ==, 8192);
  dlp_buffer_ensure (&buffers[0], 0, 8000);
  g_assert_true (buffers[0].data == first);
  g_assert_cmpuint (dlp_buffer_get_cached_bytes (), ==, 0);
  dlp_buffer_clear (&buffers[0]);

  for (guint i = 0; i < G_N_ELEMENTS (buffers); i++)
    dlp_buffer_ensure (&buffers[i], 0, 1024 * 1024);
  for (guint i = 0; i < G_N_ELEMENTS (buffers); i++)
    dlp_buffer_clear (&buffers[i]);
  g_assert_cmpuint (dlp_buffer_get_used_bytes (), ==, 0);
  g_assert_cmpuint (dlp_buffer_get_cached_bytes (), >, DLP_BUFFER_MAX_CACHED / 2);
  g_assert_cmpuint (dlp_buffer_get_cached_bytes (), <=, DLP_BUFFER_MAX_CACHED);

  dlp_buffer_trim ();
  g_assert_cmpuint (dlp_buffer_get_cached_bytes (), ==, 0);
}

static gpointer
use_buffers (gpointer data)
{
  GRand *rand = g_rand_new_with_seed (GPOINTER_TO_UINT (data));
  DlpBuffer buffers[16] = { 0 };

  for (guint i = 0; i < 4000; i++)
    {
      DlpBuffer *buffer = &buffers[g_rand_int (rand) % 16];
      gsize size = 1 + (g_rand_int (rand) >> g_rand_int_range (rand, 12, 31));

      if (buffer->data != NULL && buffer->data[0] != ((gsize) buffer->data >> 8 & 0xff))
        g_error ("a buffer in use was given to somebody else");
      dlp_buffer_clear (buffer);
      dlp_buffer_ensure (buffer, 0, size);
      memset (buffer->data, (gsize) buffer->data >> 8 & 0xff, size);
    }
  for (guint i = 0; i < G_N_ELEMENTS (buffers); i++)
    dlp_buffer_clear (&buffers[i]);
  g_rand_free (rand);
  return NULL;
}

static void
test_threads (void)
{
  GThread *threads[4];

  for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
    threads[i] = g_thread_new (NULL, use_buffers, GUINT_TO_POINTER (i + 1));
  for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
    g_thread_join (threads[i]);
  g_assert_cmpuint (dlp_buffer_get_used_bytes (), ==, 0);
  g_assert_cmpuint (dlp_buffer_get_cached_bytes (), <=, DLP_BUFFER_MAX_CACHED);
}

int
main (int argc, char *argv[])
{
  int status;

  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/buffer/grow", test_grow);
  g_test_add_func ("/buffer/exact", test_exact);
  g_test_add_func ("/buffer/seal", test_seal);
  g_test_add_func ("/buffer/recycled", test_recycled);
  g_test_add_func ("/buffer/threads", test_threads);
  status = g_test_run ();
  dlp_buffer_trim ();
  return status;
}
