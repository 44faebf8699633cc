/* SPDX-License-Identifier: MIT */

/* Everything goes to stderr; a bar at its end is taken away before a line is written. */

#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "launch.h"
#include "log-lines.h"

/* DLP_PROGRAM is the name of the program that it is part of. */
#define CLEAR_LINE "\r\033[K"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool bar_shown; /* lock */
static gboolean hide_messages;
static gboolean show_debug;

static void
write_all (const char *text, gsize size)
{
  while (size > 0)
    {
      gssize n = write (STDERR_FILENO, text, size);

      if (n <= 0)
        return;
      text += n;
      size -= (gsize) n;
    }
}

/* In one write: lines of several processes do not mix. */
void
launch_write (const char *text)
{
  g_autofree char *cleared = NULL;

  pthread_mutex_lock (&lock);
  if (bar_shown)
    text = cleared = g_strconcat (CLEAR_LINE, text, NULL);
  write_all (text, strlen (text));
  bar_shown = false;
  pthread_mutex_unlock (&lock);
}

static void
write_line (const char *kind, const char *message)
{
  g_autofree char *line = g_strdup_printf (DLP_PROGRAM ": %s%s\n", kind, message);

  launch_write (line);
}

void
launch_show_bar (const char *text)
{
  g_autofree char *line = g_strconcat (CLEAR_LINE, text, NULL);

  pthread_mutex_lock (&lock);
  if (text != NULL || bar_shown)
    write_all (line, strlen (line));
  bar_shown = text != NULL;
  pthread_mutex_unlock (&lock);
}

void
launch_say (const char *format, ...)
{
  g_autofree char *message = NULL;
  va_list args;

  if (hide_messages)
    return;
  va_start (args, format);
  message = g_strdup_vprintf (format, args);
  va_end (args);
  write_line ("", message);
}

void
launch_warn (const char *format, ...)
{
  g_autofree char *message = NULL;
  va_list args;

  if (hide_messages)
    return;
  va_start (args, format);
  message = g_strdup_vprintf (format, args);
  va_end (args);
  write_line ("warning: ", message);
}

void
launch_error (const char *message)
{
  write_line ("error: ", message);
}

/* The file and row of a message, where its text does not say them. */
static char *
describe_place (const GLogField *fields, gsize n, const char *message)
{
  g_autofree char *file = log_lines_get_field (fields, n, "DLP_FILE");
  g_autofree char *row = log_lines_get_field (fields, n, "DLP_ROW");

  if (file == NULL || strstr (message, file) != NULL)
    return g_strdup ("");
  if (row == NULL)
    return g_strdup_printf (" (%s)", file);
  return g_strdup_printf (" (%s, row %s)", file, row);
}

static GLogWriterOutput
write_log (GLogLevelFlags level, const GLogField *fields, gsize n, gpointer data)
{
  g_autofree char *message = log_lines_get_field (fields, n, "MESSAGE");
  g_autofree char *place = NULL;
  g_autofree char *text = NULL;
  const char *kind = "";

  if (message == NULL)
    return G_LOG_WRITER_UNHANDLED;
  if (level & (G_LOG_LEVEL_INFO | G_LOG_LEVEL_DEBUG) ?
          !show_debug :
          level & (G_LOG_LEVEL_WARNING | G_LOG_LEVEL_MESSAGE) && hide_messages)
    return G_LOG_WRITER_HANDLED;

  if (level & (G_LOG_LEVEL_ERROR | G_LOG_LEVEL_CRITICAL))
    kind = "internal error: ";
  else if (level & G_LOG_LEVEL_WARNING)
    kind = "warning: ";
  else if (level & (G_LOG_LEVEL_INFO | G_LOG_LEVEL_DEBUG))
    kind = "debug: ";
  place = describe_place (fields, n, message);
  text = g_strconcat (message, place, NULL);
  write_line (kind, text);
  return G_LOG_WRITER_HANDLED;
}

void
launch_log_init (gboolean quiet, gboolean verbose)
{
  hide_messages = quiet;
  show_debug = verbose;
  g_log_set_debug_enabled (verbose);
  g_log_set_writer_func (write_log, NULL, NULL);
}
