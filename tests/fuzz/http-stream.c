/* SPDX-License-Identifier: MIT */

/* A server that does what the input says, five bytes an answer, and serves honestly once it is used
 * up. It may break off, contradict itself and send another version of the file, but what it calls
 * the bytes from a place on are those bytes. So whatever it does: what is read is the file from its
 * start on, and what ends without an error is all of it. */

#include <netinet/in.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "dlp-http-settings.h"
#include "dlp-http-stream.h"

int LLVMFuzzerTestOneInput (const guint8 *data, gsize size);

#define OBJECT_SIZE 3000
#define STEP 5

/* Of version 1; that of another version has each bit the other way round. */
static guint8 object[OBJECT_SIZE];
static guint16 port;

/* What is left of the input. */
static pthread_mutex_t script_lock = PTHREAD_MUTEX_INITIALIZER;
static const guint8 *script;
static gsize script_size;

/* ---- the server ---- */

typedef enum
{
  HONEST,
  CUT,           /* breaks off behind some bytes */
  EARLY,         /* begins before what was asked for, and says so */
  FROM_START,    /* knows no ranges */
  NOTHING_THERE, /* 416 */
  STATUS,
  NO_LENGTH,    /* until the connection ends */
  CHUNKED,      /* without a length; may be cut between two chunks */
  OTHER,        /* another version */
  WRONG_TOTAL,  /* in Content-Range */
  WRONG_LENGTH, /* in Content-Length */
  NO_RANGE,     /* 206 that does not say what it is */
  AS_200,       /* a range, by 200 */
  ODD_FIELD,    /* honest, and a field besides */
  N_KINDS
} Kind;

typedef struct
{
  Kind kind;
  guint number; /* whatever the kind makes of it */
} Answer;

static Answer
take_answer (void)
{
  Answer answer = { HONEST, 0 };

  pthread_mutex_lock (&script_lock);
  if (script_size >= STEP)
    {
      answer.kind = script[0] % N_KINDS;
      answer.number = script[1] | (guint) script[2] << 8 | (guint) script[3] << 16;
      script += STEP;
      script_size -= STEP;
    }
  pthread_mutex_unlock (&script_lock);
  return answer;
}

static gboolean
send_all (int fd, const void *data, gsize size)
{
  const guint8 *bytes = data;

  while (size > 0)
    {
      gssize n = send (fd, bytes, size, MSG_NOSIGNAL);

      if (n <= 0)
        return FALSE;
      bytes += n;
      size -= (gsize) n;
    }
  return TRUE;
}

static void
send_chunks (int fd, const guint8 *data, gsize size, guint number)
{
  gsize chunk = 1 + number % 900;
  gsize end = number % 3 == 0 ? size / 2 / chunk * chunk : size;

  for (gsize at = 0; at < end; at += chunk)
    {
      gsize n = MIN (chunk, end - at);
      g_autofree char *head = g_strdup_printf ("%zx\r\n", n);

      if (!send_all (fd, head, strlen (head)) || !send_all (fd, data + at, n) ||
          !send_all (fd, "\r\n", 2))
        return;
    }
  if (end == size)
    send_all (fd, "0\r\n\r\n", 5);
}

static const char *
get_odd_field (guint number)
{
  static const char *const fields[] = {
    "Content-Type: text/html",
    "Content-Type: text/html; charset=",
    "Content-Encoding: gzip",
    "ETag: W/\"1\"",
    "ETag: \"2\"",
    "Content-Range: bytes 0-9/10",
    "Content-Range: bytes */3000",
    "Content-Range: bytes 5-4/3000",
    "Content-Length: 3001",
    "Content-Length: -1",
    "Retry-After: 0",
    "Retry-After: soon",
    "Connection: keep-alive",
    "X: \xff\xfe",
    "Accept-Ranges: none",
    "Transfer-Encoding: identity",
  };

  return fields[number % G_N_ELEMENTS (fields)];
}

static guint
get_status (guint number)
{
  static const guint statuses[] = {
    204, 301, 304, 400, 401, 403, 404, 408, 429, 500, 501, 503, 505
  };

  return statuses[number % G_N_ELEMENTS (statuses)];
}

static void
answer_without_body (int fd, const Answer *answer)
{
  g_autofree char *head = NULL;

  if (answer->kind == NOTHING_THERE)
    head = g_strdup_printf (
        "HTTP/1.1 416 No\r\nContent-Range: bytes */%u\r\nContent-Length: 0\r\n\r\n",
        answer->number % 2 == 0 ? OBJECT_SIZE : answer->number);
  else
    head = g_strdup_printf ("HTTP/1.1 %u No\r\nContent-Length: 0\r\n\r\n",
                            get_status (answer->number));
  send_all (fd, head, strlen (head));
}

/* @start: what was asked for; @ranged: whether anything was. */
static void
answer_with_body (int fd, const Answer *answer, gsize start, gboolean ranged)
{
  g_autofree guint8 *body = g_memdup2 (object, OBJECT_SIZE);
  g_autoptr (GString) head = g_string_new ("HTTP/1.1 ");
  gboolean partial = ranged && answer->kind != FROM_START;
  gboolean has_length = answer->kind != NO_LENGTH && answer->kind != CHUNKED;
  gsize size;

  start = partial ? MIN (start, OBJECT_SIZE - 1) : 0;
  if (answer->kind == EARLY)
    start -= MIN (start, answer->number % 500);
  size = OBJECT_SIZE - start;
  for (gsize i = 0; answer->kind == OTHER && i < OBJECT_SIZE; i++)
    body[i] ^= 0xff;

  g_string_append (head, partial && answer->kind != AS_200 ? "206 Part\r\n" : "200 OK\r\n");
  g_string_append_printf (head, "ETag: \"%c\"\r\n", answer->kind == OTHER ? '2' : '1');
  if (partial && answer->kind != NO_RANGE)
    g_string_append_printf (head, "Content-Range: bytes %zu-%d/%u\r\n", start, OBJECT_SIZE - 1,
                            OBJECT_SIZE + (answer->kind == WRONG_TOTAL ? answer->number % 9 : 0));
  if (has_length)
    g_string_append_printf (head, "Content-Length: %zu\r\n",
                            size + (answer->kind == WRONG_LENGTH ? answer->number % 9 : 0));
  if (answer->kind == CHUNKED)
    g_string_append (head, "Transfer-Encoding: chunked\r\n");
  if (answer->kind == ODD_FIELD)
    g_string_append_printf (head, "%s\r\n", get_odd_field (answer->number));
  g_string_append (head, "\r\n");

  if (!send_all (fd, head->str, head->len))
    return;
  if (answer->kind == CHUNKED)
    send_chunks (fd, body + start, size, answer->number);
  else if (answer->kind == CUT || (answer->kind == NO_LENGTH && answer->number % 2 == 0))
    send_all (fd, body + start, answer->number % (size + 1));
  else
    send_all (fd, body + start, size);
}

static void
serve (int fd)
{
  char request[4096];
  gsize n = 0;
  const char *range;
  Answer answer;

  while (n < sizeof request - 1)
    {
      gssize got = recv (fd, request + n, sizeof request - 1 - n, 0);

      if (got <= 0)
        return;
      n += (gsize) got;
      request[n] = '\0';
      if (strstr (request, "\r\n\r\n") != NULL)
        break;
    }
  range = strstr (request, "Range: bytes=");
  answer = take_answer ();
  if (answer.kind == NOTHING_THERE || answer.kind == STATUS)
    answer_without_body (fd, &answer);
  else
    answer_with_body (fd, &answer,
                      range != NULL ? strtoul (range + strlen ("Range: bytes="), NULL, 10) : 0,
                      range != NULL);
}

static gpointer
run_server (gpointer data)
{
  int listener = GPOINTER_TO_INT (data);

  for (;;)
    {
      int fd = accept (listener, NULL, NULL);

      if (fd < 0)
        continue;
      serve (fd);
      shutdown (fd, SHUT_WR);
      close (fd);
    }
  return NULL;
}

static void
start_server (void)
{
  int listener = socket (AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  struct sockaddr_in address = { .sin_family = AF_INET,
                                 .sin_addr.s_addr = g_htonl (INADDR_LOOPBACK) };
  socklen_t size = sizeof address;

  /* gzip, so that a file without a length may be read. */
  for (guint i = 0; i < OBJECT_SIZE; i++)
    object[i] = (guint8) (i * 2654435761u >> 13);
  object[0] = 0x1f;
  object[1] = 0x8b;
  g_assert_cmpint (bind (listener, (struct sockaddr *) &address, sizeof address), ==, 0);
  g_assert_cmpint (listen (listener, 64), ==, 0);
  g_assert_cmpint (getsockname (listener, (struct sockaddr *) &address, &size), ==, 0);
  port = g_ntohs (address.sin_port);
  g_thread_unref (g_thread_new ("server", run_server, GINT_TO_POINTER (listener)));
}

/* ---- whoever reads ---- */

static void
check_stream (GInputStream *stream, gsize start, gboolean knows_size)
{
  guint8 buffer[700];
  g_autoptr (GError) error = NULL;
  gsize position = start;
  gssize n;

  while ((n = g_input_stream_read (stream, buffer, sizeof buffer, NULL, &error)) > 0)
    {
      g_assert_cmpuint (position + (gsize) n, <=, OBJECT_SIZE);
      g_assert_cmpint (memcmp (buffer, object + position, (gsize) n), ==, 0);
      position += (gsize) n;
    }
  g_assert_true ((n < 0) == (error != NULL));
  if (n == 0 && knows_size)
    g_assert_cmpuint (position, ==, OBJECT_SIZE);
}

static void
read_object (gsize start, gboolean knows_size, const HttpSettings *settings)
{
  g_autofree char *uri = g_strdup_printf ("http://127.0.0.1:%u/a", port);
  g_autoptr (DlpFile) file = dlp_file_new (uri, knows_size ? OBJECT_SIZE : -1, "etag=\"1\"");
  g_autoptr (GError) error = NULL;
  g_autoptr (GInputStream) stream =
      dlp_http_stream_open (file, settings, (gint64) start, NULL, &error);

  g_assert_true ((stream == NULL) == (error != NULL));
  if (stream != NULL)
    check_stream (stream, start, knows_size);
}

static void
identify (const HttpSettings *settings)
{
  g_autofree char *uri = g_strdup_printf ("http://127.0.0.1:%u/a", port);
  g_autoptr (GError) error = NULL;
  g_autoptr (DlpFile) file = dlp_http_identify (uri, settings, NULL, &error);

  g_assert_true ((file == NULL) == (error != NULL));
}

/* The first byte: from where, whether the size is known. */
int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  HttpSettings settings;

  if (port == 0)
    {
      g_setenv ("NETRC", "/dev/null", TRUE);
      g_setenv ("GIO_USE_PROXY_RESOLVER", "dummy", TRUE);
      start_server ();
    }
  if (size == 0)
    return 0;
  http_settings_init (&settings);
  settings.first_wait = 0;
  settings.attempts = 4;
  settings.timeout = 5;
  pthread_mutex_lock (&script_lock);
  script = data + 1;
  script_size = size - 1;
  pthread_mutex_unlock (&script_lock);

  if (data[0] & 4)
    identify (&settings);
  read_object (data[0] & 1 ? (gsize) (data[0] >> 3) * 97 % OBJECT_SIZE : 0, (data[0] & 2) == 0,
               &settings);

  pthread_mutex_lock (&script_lock);
  script_size = 0;
  pthread_mutex_unlock (&script_lock);
  http_settings_clear (&settings);
  return 0;
}
