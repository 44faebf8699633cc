/* SPDX-License-Identifier: MIT */

#include "dlp-border-list-private.h"

#define KIB 1024

/* In the long run at most so many are kept, and none is lost that would be nearer by more than what
 * they lie apart. */
static void
test_thinned (void)
{
  DlpBorderList list = { .n = 0 };
  DlpDecoderBorder found;
  guint64 end = 64 * 1024 * KIB;

  for (guint64 at = 1; at <= end; at += 1000)
    {
      dlp_border_list_add (&list, &(DlpDecoderBorder){ at / 3 + 1, at, { at, 0 } });
      g_assert_cmpuint (list.n, <=, DLP_BORDER_LIST_MAX);
    }
  for (guint64 wanted = 0; wanted < end; wanted += 777777)
    {
      dlp_border_list_find (&list, wanted, &found);
      g_assert_cmpuint (found.decoded, <=, wanted);
      g_assert_cmpuint (found.counts[0], ==, found.decoded);
      g_assert_cmpuint (wanted - found.decoded, <=, end / (DLP_BORDER_LIST_MAX / 4));
    }
}

/* Looked at often, as a reader does, the last one is never far. */
static void
test_near (void)
{
  DlpBorderList list = { .n = 0 };
  DlpDecoderBorder found;

  dlp_border_list_find (&list, 1000, &found);
  g_assert_cmpuint (found.raw, ==, 0);
  for (guint64 at = 100; at < 100 * 1024 * KIB; at += 10000)
    {
      dlp_border_list_add (&list, &(DlpDecoderBorder){ at, at, { 0 } });
      if (at / 10000 % 100 != 0)
        continue;
      dlp_border_list_find (&list, at, &found);
      g_assert_cmpuint (at - found.decoded, <=, 64 * KIB + 10000);
    }
}

/* Behind empty frames: the last of them. */
static void
test_empty_frames (void)
{
  DlpBorderList list = { .n = 0 };
  DlpDecoderBorder found;

  for (guint64 raw = 10; raw < 10000; raw += 10)
    dlp_border_list_add (&list, &(DlpDecoderBorder){ raw, 0, { raw, 0 } });
  g_assert_cmpuint (list.n, ==, 1);
  dlp_border_list_find (&list, 0, &found);
  g_assert_cmpuint (found.raw, ==, 9990);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/border-list/thinned", test_thinned);
  g_test_add_func ("/border-list/near", test_near);
  g_test_add_func ("/border-list/empty-frames", test_empty_frames);
  return g_test_run ();
}
