/* SPDX-License-Identifier: MIT */

/* A process for each file that is not known: whatever a plugin does while it is opened, it does to
 * that process, and one plugin never meets another. The scanner writes, to its standard output, the
 * letter of each stage that it begins (DlpScanStage), behind 'r' the size and bytes of a GVariant
 * a{sv}. What the plugin itself prints goes to standard error, which is kept for the message. */

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dlp-registry-private.h"

#define DEFAULT_TIMEOUT 10.0
#define MAX_RESULT (16 * 1024 * 1024)
#define MAX_PRINTED 2000
/* What a pipe holds; a process that has left the scanner's session may print for ever. */
#define MAX_READS 64
#define SLICE_MS 50
#define HEAD_SIZE (1 + sizeof (guint32))

typedef struct
{
  GPid pid;
  int out, err;     /* -1: at their end */
  int status;       /* of waitpid(), -1: nobody knows */
  GByteArray *said; /* from standard output */
  GString *printed; /* the end of standard error */
} Scan;

/* ---- the scanner's side ---- */

static pid_t scanner_pid;

/* A process that the plugin has forked, and that comes back from its init(), has nothing to say: it
 * would do so in the middle of what the scanner says. */
static void
write_all (int fd, gconstpointer data, gsize size)
{
  const guint8 *bytes = data;

  if (getpid () != scanner_pid)
    _exit (0);
  while (size > 0)
    {
      gssize n = write (fd, bytes, size);

      if (n < 0 && errno == EINTR)
        continue;
      if (n <= 0)
        _exit (1);
      bytes += n;
      size -= (gsize) n;
    }
}

static void
write_stage (DlpScanStage stage, gpointer data)
{
  char letter = (char) stage;

  write_all (*(int *) data, &letter, 1);
}

/* It must not outlive the process that asks, is no matter of the terminal, and its crash is
 * expected: no core file of it is wanted. */
static void
become_scanner (void)
{
  struct rlimit none = { 0, 0 };

  prctl (PR_SET_PDEATHSIG, SIGKILL);
  setsid ();
  setrlimit (RLIMIT_CORE, &none);
}

int
dlp_registry_scan_file (const char *path, const char *build_id, int fd)
{
  g_autofree char *own_build_id = dlp_plugin_get_build_id ();
  g_autoptr (GError) error = NULL;
  g_autoptr (DlpPlugin) plugin = NULL;
  g_autoptr (GVariant) info = NULL;
  guint32 size;

  if (strcmp (build_id, own_build_id) != 0)
    {
      fprintf (stderr, "the scanner found another build of libdlpipe than the program has\n");
      return 1;
    }
  become_scanner ();
  scanner_pid = getpid ();
  plugin = dlp_plugin_open (path, write_stage, &fd, &error);
  write_stage (DLP_SCAN_DESCRIBE, &fd);
  info = plugin != NULL ? dlp_plugin_describe (plugin) : dlp_plugin_describe_failure (error);
  size = (guint32) g_variant_get_size (info);
  write_stage (DLP_SCAN_RESULT, &fd);
  write_all (fd, &size, sizeof size);
  write_all (fd, g_variant_get_data (info), size);
  return 0;
}

/* ---- the other side ---- */

double
dlp_plugin_get_scan_timeout (void)
{
  const char *text = g_getenv ("DLPIPE_SCANNER_TIMEOUT");
  double seconds = text != NULL ? g_ascii_strtod (text, NULL) : 0;

  return seconds > 0 && seconds < 86400 ? seconds : DEFAULT_TIMEOUT;
}

static bool
start (Scan *self, const char *scanner, const char *path, GError **error)
{
  g_autofree char *build_id = dlp_plugin_get_build_id ();
  char *argv[] = { (char *) scanner, (char *) path, build_id, NULL };

  /* GLib closes all other descriptors in the child. */
  if (!g_spawn_async_with_pipes (NULL, argv, NULL, G_SPAWN_DO_NOT_REAP_CHILD, NULL, NULL,
                                 &self->pid, NULL, &self->out, &self->err, error))
    return false;
  fcntl (self->out, F_SETFL, O_NONBLOCK);
  fcntl (self->err, F_SETFL, O_NONBLOCK);
  self->status = -1;
  self->said = g_byte_array_new ();
  self->printed = g_string_new (NULL);
  return true;
}

static void
clear (Scan *self)
{
  if (self->out >= 0)
    close (self->out);
  if (self->err >= 0)
    close (self->err);
  g_byte_array_unref (self->said);
  g_string_free (self->printed, TRUE);
}

/* It stays to be reaped: as long as it does, its number is that of nobody else. Where the program
 * reaps all its children it may be gone, and nobody knows how it ended. */
static bool
is_over (Scan *self, bool *gone)
{
  siginfo_t info = { 0 };
  int result;

  do
    result = waitid (P_PID, (id_t) self->pid, &info, WEXITED | WNOHANG | WNOWAIT);
  while (result != 0 && errno == EINTR);
  *gone = result != 0;
  return *gone || info.si_pid != 0;
}

/* With all that the plugin has started, which may go on where the scanner itself has ended. */
static void
end (Scan *self)
{
  bool gone;
  int status;
  pid_t pid;

  is_over (self, &gone);
  if (gone)
    return;
  kill (-self->pid, SIGKILL);
  kill (self->pid, SIGKILL);
  do
    pid = waitpid (self->pid, &status, 0);
  while (pid < 0 && errno == EINTR);
  if (pid == self->pid)
    self->status = status;
}

/* Closes @fd at its end. Whether there was something. */
static bool
take_output (Scan *self, int *fd)
{
  char buffer[4096];
  gssize n;

  if (*fd < 0)
    return false;
  n = read (*fd, buffer, sizeof buffer);
  if (n < 0 && (errno == EAGAIN || errno == EINTR))
    return false;
  if (n <= 0)
    {
      close (*fd);
      *fd = -1;
      return false;
    }
  if (fd == &self->out)
    g_byte_array_append (self->said, (const guint8 *) buffer, (guint) n);
  else
    {
      g_string_append_len (self->printed, buffer, n);
      if (self->printed->len > MAX_PRINTED)
        g_string_erase (self->printed, 0, (gssize) (self->printed->len - MAX_PRINTED));
    }
  return true;
}

/* The last stage that was begun; @result: (out) (nullable): where it begins. 0: none. */
static char
get_stage (Scan *self, const guint8 **result, gsize *size)
{
  char stage = 0;

  *result = NULL;
  for (guint i = 0; i < self->said->len; i++)
    {
      guint32 length;

      stage = (char) self->said->data[i];
      if (stage != DLP_SCAN_RESULT)
        continue;
      if (self->said->len - i < HEAD_SIZE)
        break;
      memcpy (&length, self->said->data + i + 1, sizeof length);
      if (self->said->len - i - HEAD_SIZE >= length)
        {
          *result = self->said->data + i + HEAD_SIZE;
          *size = length;
        }
      break;
    }
  return stage;
}

static bool
has_result (Scan *self)
{
  const guint8 *result;
  gsize size;

  get_stage (self, &result, &size);
  return result != NULL || self->said->len > MAX_RESULT;
}

static void
poll_output (Scan *self)
{
  struct pollfd fds[] = { { self->out, POLLIN, 0 }, { self->err, POLLIN, 0 } };

  poll (fds, G_N_ELEMENTS (fds), SLICE_MS);
  if (fds[0].revents != 0)
    take_output (self, &self->out);
  if (fds[1].revents != 0)
    take_output (self, &self->err);
}

/* FALSE: it hangs. The end of the output is no sign: a process that the plugin started may hold it
 * open, or the plugin may have closed it. */
static bool
wait_for_result (Scan *self)
{
  gint64 until =
      g_get_monotonic_time () + (gint64) (dlp_plugin_get_scan_timeout () * G_USEC_PER_SEC);

  while (!has_result (self))
    {
      bool gone;
      bool was_over = is_over (self, &gone);
      guint before = self->said->len;

      if (g_get_monotonic_time () >= until)
        return false;
      poll_output (self);
      if (was_over && self->said->len == before)
        return true;
    }
  return true;
}

static const char *
get_place (char stage)
{
  switch (stage)
    {
    case DLP_SCAN_OPEN:
      return "while it was opened";
    case DLP_SCAN_INIT:
      return "in its init()";
    case DLP_SCAN_DESCRIBE:
    case DLP_SCAN_RESULT:
    default:
      return "while its elements were made and described";
    }
}

/* (transfer full): behind a reason; one line, fit to print. */
static char *
quote_printed (Scan *self)
{
  g_autofree char *text = NULL;
  g_autofree char *shown = NULL;

  for (guint i = 0; i < MAX_READS && take_output (self, &self->err); i++)
    ;
  text = g_utf8_make_valid (self->printed->str, (gssize) self->printed->len);
  g_strdelimit (g_strstrip (text), "\r\n\t", ' ');
  shown = dlp_uri_escape_for_display (text);
  return *text != '\0' ? g_strdup_printf ("; it printed: %s", shown) : g_strdup ("");
}

static void
set_death_error (Scan *self, char stage, bool *lasting, GError **error)
{
  g_autofree char *printed = quote_printed (self);
  const char *place = get_place (stage);

  if (self->status == -1)
    g_set_error (error, DLP_PLUGIN_ERROR, DLP_PLUGIN_ERROR_DIED,
                 "it ended the process that looks at plugins, %s%s", place, printed);
  else if (WIFSIGNALED (self->status))
    {
      int number = WTERMSIG (self->status);

      /* Sent by somebody, or the system is short of memory: not the plugin's fault, it may be. */
      *lasting = number != SIGKILL && number != SIGTERM && number != SIGINT && number != SIGHUP;
      g_set_error (error, DLP_PLUGIN_ERROR, DLP_PLUGIN_ERROR_DIED, "%s by signal %d (%s), %s%s",
                   *lasting ? "it is ended" : "the process that looks at it was ended", number,
                   g_strsignal (number), place, printed);
    }
  else
    g_set_error (error, DLP_PLUGIN_ERROR, DLP_PLUGIN_ERROR_DIED,
                 "it ends the process (exit status %d), %s%s", WEXITSTATUS (self->status), place,
                 printed);
}

static void
set_scanner_error (Scan *self, GError **error)
{
  g_autofree char *printed = quote_printed (self);

  g_set_error (error, G_IO_ERROR, G_IO_ERROR_FAILED, "it does not work (%s %d)%s",
               self->status != -1 && WIFSIGNALED (self->status) ? "signal" : "exit status",
               self->status != -1 && WIFSIGNALED (self->status) ? WTERMSIG (self->status) :
                                                                  WEXITSTATUS (self->status),
               printed);
}

/* (transfer full): of a plugin that writes to descriptors that are none of its own it may be none.
 */
static GVariant *
take_description (const guint8 *result, gsize size)
{
  g_autoptr (GBytes) bytes = g_bytes_new (result, size);
  g_autoptr (GVariant) said =
      g_variant_ref_sink (g_variant_new_from_bytes (G_VARIANT_TYPE_VARDICT, bytes, FALSE));
  g_autoptr (GVariant) info = g_variant_get_normal_form (said);
  g_autoptr (GError) error = NULL;

  if (g_variant_lookup (info, "name", "&s", NULL) ||
      (g_variant_lookup (info, "reason", "&s", NULL) &&
       g_variant_lookup (info, "remedy", "&s", NULL)))
    return g_steal_pointer (&info);
  g_set_error (&error, DLP_PLUGIN_ERROR, DLP_PLUGIN_ERROR_INIT,
               "it writes to descriptors that are not its own: what the process that looks at it "
               "said cannot be read");
  return dlp_plugin_describe_failure (error);
}

/* NULL: the scanner, which says nothing, is none. */
static GVariant *
finish (Scan *self, bool in_time, bool *lasting, GError **scanner_error)
{
  g_autoptr (GError) error = NULL;
  const guint8 *result;
  gsize size;
  char stage = get_stage (self, &result, &size);

  if (result != NULL)
    return take_description (result, size);
  if (stage == 0)
    {
      set_scanner_error (self, scanner_error);
      return NULL;
    }
  if (in_time)
    set_death_error (self, stage, lasting, &error);
  else
    {
      g_autofree char *printed = quote_printed (self);

      g_set_error (&error, DLP_PLUGIN_ERROR, DLP_PLUGIN_ERROR_HANGS, "it hangs, %s (for %g s)%s",
                   get_place (stage), dlp_plugin_get_scan_timeout (), printed);
    }
  return dlp_plugin_describe_failure (error);
}

GVariant *
dlp_plugin_scan (const char *scanner, const char *path, bool *lasting, GError **error)
{
  Scan self = { .out = -1, .err = -1 };
  GVariant *info;
  bool in_time;

  *lasting = true;
  if (!start (&self, scanner, path, error))
    return NULL;
  in_time = wait_for_result (&self);
  end (&self);
  info = finish (&self, in_time, lasting, error);
  clear (&self);
  return info;
}
