/* SPDX-License-Identifier: MIT */

#include "decoder-window.h"

#include <string.h>

#include <dlpipe/dlp-error.h>

#define WINDOW_LOG_MIN 10

GParamSpec *
decoder_window_new_pspec (void)
{
  return g_param_spec_uint ("window-log-max", "Window log max",
                            "Largest window a file may ask for, as a power of two", WINDOW_LOG_MIN,
                            DECODER_WINDOW_LOG_MAX, DECODER_WINDOW_LOG_DEFAULT,
                            G_PARAM_READWRITE | G_PARAM_CONSTRUCT | G_PARAM_STATIC_STRINGS);
}

guint64
decoder_window_to_mib (guint64 size)
{
  return (size >> 20) + ((size & 0xfffff) != 0);
}

static guint
log_for (guint64 size)
{
  guint n = WINDOW_LOG_MIN;

  while (n < 63 && size > G_GUINT64_CONSTANT (1) << n)
    n++;

  return n;
}

gboolean
decoder_window_check (guint64 size, guint log_max, const char *what, guint64 start, GError **error)
{
  guint64 limit = G_GUINT64_CONSTANT (1) << log_max;
  g_autofree char *advice = NULL;
  guint needed;

  if (size <= limit)
    return TRUE;

  needed = log_for (size);
  if (needed <= DECODER_WINDOW_LOG_MAX)
    advice = g_strdup_printf ("window-log-max=%u allows it", needed);
  else
    advice = g_strdup_printf ("no %.*s decoder allows more than %u",
                              (int) (strchrnul (what, ' ') - what), what, DECODER_WINDOW_LOG_MAX);

  g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_DAMAGED,
               "the %s at byte %" G_GUINT64_FORMAT " needs a window of %" G_GUINT64_FORMAT
               " MiB; the limit is %" G_GUINT64_FORMAT " MiB (window-log-max=%u); %s",
               what, start, decoder_window_to_mib (size), decoder_window_to_mib (limit), log_max,
               advice);
  return FALSE;
}
