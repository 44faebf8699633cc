/* SPDX-License-Identifier: MIT */

#include <dlpipe/dlp-runtime.h>

const char *
dlp_get_version (guint *major, guint *minor, guint *micro)
{
  if (major != NULL)
    *major = DLP_MAJOR_VERSION;
  if (minor != NULL)
    *minor = DLP_MINOR_VERSION;
  if (micro != NULL)
    *micro = DLP_MICRO_VERSION;
  return DLP_VERSION_S;
}

gboolean
dlp_check_version (guint major, guint minor, guint micro)
{
  const guint have[] = { DLP_MAJOR_VERSION, DLP_MINOR_VERSION, DLP_MICRO_VERSION };
  const guint wanted[] = { major, minor, micro };

  for (guint i = 0; i < G_N_ELEMENTS (have); i++)
    if (have[i] != wanted[i])
      return have[i] > wanted[i];
  return TRUE;
}
