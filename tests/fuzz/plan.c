/* SPDX-License-Identifier: MIT */
#include "dlp-fanout-plan-private.h"

#include <dlpipe/dlp-error.h>

/* What is a plan is printed as one that is read as the same; each file is one task's. What is none
 * is refused by that error. */

int LLVMFuzzerTestOneInput (const guint8 *data, gsize size);

static void
check_source (const DlpFanoutSource *source, guint n_tasks)
{
  for (guint i = 0; i < source->files->len; i++)
    g_assert_cmpuint (source->task_of[i], <, n_tasks);
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (DlpFanoutPlan) plan =
      dlp_fanout_plan_parse ("plan", (const char *) data, size, &error);
  g_autoptr (DlpFanoutPlan) again = NULL;
  g_autoptr (GString) text = NULL;
  g_autoptr (GString) second = NULL;

  if (plan == NULL)
    {
      g_assert_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CORRUPT);
      return 0;
    }
  for (guint i = 0; i < plan->sources->len; i++)
    check_source (g_ptr_array_index (plan->sources, i), plan->n_tasks);
  text = dlp_fanout_plan_print (plan);
  again = dlp_fanout_plan_parse ("plan", text->str, text->len, &error);
  g_assert_no_error (error);
  second = dlp_fanout_plan_print (again);
  g_assert_cmpstr (second->str, ==, text->str);
  return 0;
}
