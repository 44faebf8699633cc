/* SPDX-License-Identifier: MIT */

/* The names of the C library mean themselves here, not those with 64 behind them. */
#undef _FILE_OFFSET_BITS
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "inject.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include <linux/magic.h>

#define PATH_SIZE PATH_MAX
#define LOG_FD 700
#define GATE_LIMIT_MS 3000

#define BIT(call) (1u << (call))
#define CHANGES                                                                                    \
  (BIT (INJECT_CREATE) | BIT (INJECT_WRITE) | BIT (INJECT_COPY) | BIT (INJECT_TRUNCATE) |          \
   BIT (INJECT_SYNC) | BIT (INJECT_SYNC_FOLDER) | BIT (INJECT_RENAME) | BIT (INJECT_LINK) |        \
   BIT (INJECT_UNLINK) | BIT (INJECT_MKDIR) | BIT (INJECT_SYMLINK))
#define NEEDS_SPACE                                                                                \
  (BIT (INJECT_CREATE) | BIT (INJECT_WRITE) | BIT (INJECT_COPY) | BIT (INJECT_SYNC) |              \
   BIT (INJECT_RENAME) | BIT (INJECT_LINK) | BIT (INJECT_MKDIR))
#define OPENS (BIT (INJECT_OPEN) | BIT (INJECT_CREATE))
#define MAY_BE_INTERRUPTED                                                                         \
  (OPENS | BIT (INJECT_READ) | BIT (INJECT_WRITE) | BIT (INJECT_COPY) | BIT (INJECT_TRUNCATE) |    \
   BIT (INJECT_SYNC) | BIT (INJECT_SYNC_FOLDER) | BIT (INJECT_LOCK))

typedef enum
{
  PLAN_NONE,
  PLAN_KILL_BEFORE,
  PLAN_KILL_AFTER,
  PLAN_FAIL,
  PLAN_FILL,
  PLAN_SHORT,
} Plan;

/* Set before the program's first call. */
static char folder[PATH_SIZE];
static size_t folder_size; /* 0: pass through */
static bool with_data;
static bool is_remote;
static const char *gates;
static useconds_t slow;
static Plan plan;
static unsigned plan_calls;
static int plan_code;
static long plan_n;
static int log_fd = -1;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
/* Of the mutex. */
static long count;
static bool has_new_bytes;
static int checkpoints; /* atomic */

typedef struct
{
  InjectEntry entry;
  char path[PATH_SIZE];
  char other[PATH_SIZE];
  const void *data;
} Call;

/* ---- the plan ---- */

static unsigned
calls_that_may_fail (int code)
{
  switch (code)
    {
    case ENOSPC:
    case EDQUOT:
      return NEEDS_SPACE;
    case EMFILE:
      return OPENS;
    case EINTR:
      return MAY_BE_INTERRUPTED;
    default:
      return CHANGES | OPENS | BIT (INJECT_READ);
    }
}

static void
parse_plan (const char *text)
{
  static const struct
  {
    const char *format;
    Plan plan;
    unsigned calls;
  } plans[] = {
    { "kill-before=%ld", PLAN_KILL_BEFORE, CHANGES },
    { "kill-after=%ld", PLAN_KILL_AFTER, CHANGES },
    { "short=%ld", PLAN_SHORT, BIT (INJECT_WRITE) | BIT (INJECT_COPY) },
    { "short-read=%ld", PLAN_SHORT, BIT (INJECT_READ) },
  };

  if (text == NULL)
    return;
  for (unsigned i = 0; i < sizeof plans / sizeof *plans; i++)
    if (sscanf (text, plans[i].format, &plan_n) == 1)
      {
        plan = plans[i].plan;
        plan_calls = plans[i].calls;
        return;
      }
  if (sscanf (text, "fail=%d,%ld", &plan_code, &plan_n) == 2)
    plan = PLAN_FAIL;
  else if (sscanf (text, "fill=%d,%ld", &plan_code, &plan_n) == 2)
    plan = PLAN_FILL;
  else
    {
      fprintf (stderr, "DLPIPE_INJECT=%s: not understood\n", text);
      _exit (126);
    }
  plan_calls = calls_that_may_fail (plan_code);
}

static void __attribute__ ((constructor)) begin (void)
{
  const char *dir = getenv ("DLPIPE_INJECT_DIR");
  const char *log = getenv ("DLPIPE_INJECT_LOG");
  const char *delay = getenv ("DLPIPE_INJECT_SLOW");
  int fd;

  if (dir == NULL || strlen (dir) >= sizeof folder)
    return;
  if (log != NULL)
    {
      fd = (int) syscall (SYS_openat, AT_FDCWD, log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC,
                          0600);
      log_fd = fcntl (fd, F_DUPFD_CLOEXEC, LOG_FD);
      if (log_fd >= 0)
        syscall (SYS_close, fd);
      else
        log_fd = fd;
    }
  with_data = getenv ("DLPIPE_INJECT_DATA") != NULL;
  is_remote = getenv ("DLPIPE_INJECT_REMOTE") != NULL;
  gates = getenv ("DLPIPE_INJECT_GATES");
  slow = delay != NULL ? (useconds_t) strtoul (delay, NULL, 10) : 0;
  parse_plan (getenv ("DLPIPE_INJECT"));
  strcpy (folder, dir);
  folder_size = strlen (folder);
}

static void
die (void)
{
  kill (getpid (), SIGKILL);
  for (;;)
    pause ();
}

/* ---- what it is about ---- */

static bool
is_below (const char *path)
{
  return strncmp (path, folder, folder_size) == 0 &&
         (path[folder_size] == '/' || path[folder_size] == '\0');
}

static bool
find_path_of_fd (int fd, char *path)
{
  char link[64];
  ssize_t n;

  snprintf (link, sizeof link, "/proc/self/fd/%d", fd);
  n = syscall (SYS_readlinkat, AT_FDCWD, link, path, PATH_SIZE - 1);
  path[n > 0 ? n : 0] = '\0';
  return n > 0;
}

static bool
find_path (int at, const char *name, char *path)
{
  size_t n = 0;

  while (strncmp (name, "./", 2) == 0)
    name += 2;
  if (name[0] != '/')
    {
      if (at == AT_FDCWD ? getcwd (path, PATH_SIZE) == NULL : !find_path_of_fd (at, path))
        return false;
      n = strlen (path);
      if (n + 1 < PATH_SIZE && strcmp (name, ".") != 0)
        path[n++] = '/';
    }
  if (n + strlen (name) >= PATH_SIZE)
    return false;
  strcpy (path + n, strcmp (name, ".") != 0 ? name : "");
  return true;
}

static uint64_t
find_inode (int at, const char *name)
{
  struct stat st;

  return fstatat (at, name, &st, AT_SYMLINK_NOFOLLOW) == 0 ? st.st_ino : 0;
}

/* False: not ours. */
static bool
begin_by_name (Call *call, InjectCall kind, int at, const char *name)
{
  int saved = errno;
  bool ours = folder_size > 0 && find_path (at, name, call->path) && is_below (call->path);

  if (ours)
    {
      memset (&call->entry, 0, sizeof call->entry);
      call->entry.call = (uint8_t) kind;
      call->other[0] = '\0';
      call->data = NULL;
      call->entry.inode = find_inode (at, name);
    }
  errno = saved;
  return ours;
}

static bool
begin_by_fd (Call *call, InjectCall kind, int fd)
{
  int saved = errno;
  struct stat st;
  bool ours = folder_size > 0 && find_path_of_fd (fd, call->path) && is_below (call->path) &&
              fstat (fd, &st) == 0;

  if (ours)
    {
      memset (&call->entry, 0, sizeof call->entry);
      call->entry.call = (uint8_t) kind;
      if (kind == INJECT_SYNC && S_ISDIR (st.st_mode))
        call->entry.call = INJECT_SYNC_FOLDER;
      call->other[0] = '\0';
      call->data = NULL;
      call->entry.inode = st.st_ino;
    }
  errno = saved;
  return ours;
}

/* ---- before and after ---- */

/* Locks; leave() unlocks. */
static Plan
enter (Call *call)
{
  long n;

  pthread_mutex_lock (&mutex);
  if (plan == PLAN_NONE || (plan_calls & BIT (call->entry.call)) == 0)
    return PLAN_NONE;
  n = count++;
  if (n != plan_n && !(plan == PLAN_FILL && n > plan_n))
    return PLAN_NONE;
  call->entry.is_fault = 1;
  if (plan == PLAN_KILL_BEFORE)
    die ();
  return plan;
}

static void
note_progress (const Call *call)
{
  const char *name = strrchr (call->other, '/');

  if (call->entry.code != 0)
    return;
  if (call->entry.call == INJECT_WRITE && strstr (call->path, ".partial") != NULL)
    has_new_bytes = true;
  if (call->entry.call == INJECT_RENAME && name != NULL && has_new_bytes &&
      strncmp (name, "/checkpoint-", strlen ("/checkpoint-")) == 0)
    {
      has_new_bytes = false;
      __atomic_add_fetch (&checkpoints, 1, __ATOMIC_RELEASE);
    }
}

static void
write_log (const void *data, size_t size)
{
  for (size_t done = 0; done < size;)
    {
      long n = syscall (SYS_write, log_fd, (const char *) data + done, size - done);

      if (n <= 0)
        _exit (125);
      done += (size_t) n;
    }
}

static void
write_entry (Call *call)
{
  InjectEntry *entry = &call->entry;

  entry->path_size = (uint16_t) strlen (call->path);
  entry->other_size = (uint16_t) strlen (call->other);
  entry->data_size = with_data && call->data != NULL && entry->code == 0 ? entry->length : 0;
  entry->size =
      (uint32_t) (sizeof *entry + entry->path_size + entry->other_size + entry->data_size);
  write_log (entry, sizeof *entry);
  write_log (call->path, entry->path_size);
  write_log (call->other, entry->other_size);
  write_log (call->data, entry->data_size);
}

static void
leave (Call *call, Plan what, long result)
{
  int saved = errno;

  call->entry.code = result < 0 ? saved : 0;
  note_progress (call);
  if (log_fd >= 0)
    write_entry (call);
  if (what == PLAN_KILL_AFTER)
    die ();
  pthread_mutex_unlock (&mutex);
  errno = saved;
}

static bool
must_fail (Plan what)
{
  if (what != PLAN_FAIL && what != PLAN_FILL)
    return false;
  errno = plan_code;
  return true;
}

static size_t
shorten (Plan what, size_t size)
{
  return what == PLAN_SHORT && size > 1 ? size / 2 : size;
}

static void
wait_at_gate (const char *path)
{
  const char *name = strrchr (path, '/') + 1;
  size_t n = strlen (name);
  const struct timespec ms = { 0, 1000 * 1000 };

  for (const char *at = gates; at != NULL && *at != '\0'; at = strchr (at, ' '))
    {
      at += strspn (at, " ");
      if (strncmp (at, name, n) != 0 || at[n] != '=')
        continue;
      for (int i = 0; i < GATE_LIMIT_MS; i++)
        {
          if (__atomic_load_n (&checkpoints, __ATOMIC_ACQUIRE) >= atoi (at + n + 1))
            return;
          nanosleep (&ms, NULL);
        }
    }
}

/* ---- opening ---- */

static int
do_open (int at, const char *name, int flags, mode_t mode)
{
  Call call;
  Plan what;
  int fd = -1;

  if ((flags & O_TMPFILE) == O_TMPFILE || !begin_by_name (&call, INJECT_OPEN, at, name))
    return (int) syscall (SYS_openat, at, name, flags, mode);
  if ((flags & O_CREAT) && call.entry.inode == 0)
    call.entry.call = INJECT_CREATE;

  what = enter (&call);
  if (!must_fail (what))
    fd = (int) syscall (SYS_openat, at, name, flags, mode);
  if (fd >= 0 && call.entry.call == INJECT_CREATE)
    call.entry.inode = find_inode (at, name);
  leave (&call, what, fd);
  if (fd >= 0 && (flags & O_TRUNC) && call.entry.call == INJECT_OPEN &&
      begin_by_name (&call, INJECT_TRUNCATE, at, name))
    leave (&call, enter (&call), 0);
  return fd;
}

#define OPEN_BODY(at)                                                                              \
  mode_t mode = 0;                                                                                 \
  va_list args;                                                                                    \
                                                                                                   \
  va_start (args, flags);                                                                          \
  if (flags & (O_CREAT | O_TMPFILE))                                                               \
    mode = va_arg (args, mode_t);                                                                  \
  va_end (args);                                                                                   \
  return do_open (at, name, flags, mode)

int
open (const char *name, int flags, ...)
{
  OPEN_BODY (AT_FDCWD);
}

int
open64 (const char *name, int flags, ...)
{
  OPEN_BODY (AT_FDCWD);
}

int
openat (int at, const char *name, int flags, ...)
{
  OPEN_BODY (at);
}

int
openat64 (int at, const char *name, int flags, ...)
{
  OPEN_BODY (at);
}

int
mkdirat (int at, const char *name, mode_t mode)
{
  Call call;
  Plan what;
  int result = -1;

  if (!begin_by_name (&call, INJECT_MKDIR, at, name))
    return (int) syscall (SYS_mkdirat, at, name, mode);
  what = enter (&call);
  if (!must_fail (what))
    result = (int) syscall (SYS_mkdirat, at, name, mode);
  leave (&call, what, result);
  return result;
}

int
mkdir (const char *name, mode_t mode)
{
  return mkdirat (AT_FDCWD, name, mode);
}

/* ---- reading and writing ---- */

static ssize_t
do_read (int fd, void *data, size_t size, off_t offset, bool at_offset)
{
  Call call;
  Plan what;
  ssize_t n = -1;

  if (!begin_by_fd (&call, INJECT_READ, fd))
    return at_offset ? syscall (SYS_pread64, fd, data, size, offset) :
                       syscall (SYS_read, fd, data, size);
  if (gates != NULL)
    wait_at_gate (call.path);
  what = enter (&call);
  if (!must_fail (what))
    n = at_offset ? syscall (SYS_pread64, fd, data, shorten (what, size), offset) :
                    syscall (SYS_read, fd, data, shorten (what, size));
  call.entry.offset = (uint64_t) offset;
  call.entry.length = (uint64_t) (n > 0 ? n : 0);
  leave (&call, what, n);
  return n;
}

ssize_t
read (int fd, void *data, size_t size)
{
  return do_read (fd, data, size, 0, false);
}

ssize_t
pread (int fd, void *data, size_t size, off_t offset)
{
  return do_read (fd, data, size, offset, true);
}

ssize_t
pread64 (int fd, void *data, size_t size, off_t offset)
{
  return do_read (fd, data, size, offset, true);
}

static ssize_t
do_write (int fd, const void *data, size_t size, off_t offset, bool at_offset)
{
  Call call;
  Plan what;
  ssize_t n = -1;

  if (!begin_by_fd (&call, INJECT_WRITE, fd))
    return at_offset ? syscall (SYS_pwrite64, fd, data, size, offset) :
                       syscall (SYS_write, fd, data, size);
  what = enter (&call);
  if (!at_offset)
    offset = lseek (fd, 0, (fcntl (fd, F_GETFL) & O_APPEND) ? SEEK_END : SEEK_CUR);
  if (!must_fail (what))
    n = syscall (SYS_pwrite64, fd, data, shorten (what, size), offset);
  if (!at_offset && n > 0)
    lseek (fd, offset + n, SEEK_SET);
  call.entry.offset = (uint64_t) offset;
  call.entry.length = (uint64_t) (n > 0 ? n : 0);
  call.data = data;
  leave (&call, what, n);
  return n;
}

ssize_t
write (int fd, const void *data, size_t size)
{
  return do_write (fd, data, size, 0, false);
}

ssize_t
pwrite (int fd, const void *data, size_t size, off_t offset)
{
  return do_write (fd, data, size, offset, true);
}

ssize_t
pwrite64 (int fd, const void *data, size_t size, off_t offset)
{
  return do_write (fd, data, size, offset, true);
}

/* What was copied is logged as its bytes, as a write is. */
static void *
read_back (int fd, off_t offset, size_t size)
{
  void *data = malloc (size > 0 ? size : 1);

  if (data != NULL && syscall (SYS_pread64, fd, data, size, offset) != (long) size)
    {
      free (data);
      return NULL;
    }
  return data;
}

ssize_t
copy_file_range (int from, off64_t *in, int to, off64_t *out, size_t size, unsigned flags)
{
  Call call;
  Plan what;
  off64_t offset = out != NULL ? *out : 0;
  void *data = NULL;
  ssize_t n = -1;

  if (!begin_by_fd (&call, INJECT_COPY, to))
    return syscall (SYS_copy_file_range, from, in, to, out, size, flags);
  what = enter (&call);
  if (!must_fail (what))
    n = syscall (SYS_copy_file_range, from, in, to, out, shorten (what, size), flags);
  if (n > 0 && with_data)
    call.data = data = read_back (to, offset, (size_t) n);
  call.entry.offset = (uint64_t) offset;
  call.entry.length = (uint64_t) (n > 0 ? n : 0);
  leave (&call, what, n);
  free (data);
  return n;
}

int
ftruncate (int fd, off_t length)
{
  Call call;
  Plan what;
  int result = -1;

  if (!begin_by_fd (&call, INJECT_TRUNCATE, fd))
    return (int) syscall (SYS_ftruncate, fd, length);
  what = enter (&call);
  if (!must_fail (what))
    result = (int) syscall (SYS_ftruncate, fd, length);
  call.entry.offset = (uint64_t) length;
  leave (&call, what, result);
  return result;
}

int
ftruncate64 (int fd, off_t length)
{
  return ftruncate (fd, length);
}

static int
do_sync (int fd, long number)
{
  Call call;
  Plan what;
  int result = -1;

  if (!begin_by_fd (&call, INJECT_SYNC, fd))
    return (int) syscall (number, fd);
  if (slow > 0)
    usleep (slow);
  what = enter (&call);
  if (!must_fail (what))
    result = (int) syscall (number, fd);
  leave (&call, what, result);
  return result;
}

int
fsync (int fd)
{
  return do_sync (fd, SYS_fsync);
}

int
fdatasync (int fd)
{
  return do_sync (fd, SYS_fdatasync);
}

int
flock (int fd, int operation)
{
  Call call;
  Plan what;
  int result = -1;

  if (!begin_by_fd (&call, INJECT_LOCK, fd))
    return (int) syscall (SYS_flock, fd, operation);
  what = enter (&call);
  if (!must_fail (what))
    result = (int) syscall (SYS_flock, fd, operation);
  leave (&call, what, result);
  return result;
}

/* ---- another host ---- */

static int
do_statfs (int fd, struct statfs *st)
{
  int result = (int) syscall (SYS_fstatfs, fd, st);

  if (result == 0 && is_remote)
    st->f_type = NFS_SUPER_MAGIC;
  return result;
}

int
fstatfs (int fd, struct statfs *st)
{
  return do_statfs (fd, st);
}

int
fstatfs64 (int fd, struct statfs64 *st)
{
  return do_statfs (fd, (struct statfs *) st);
}

int
gethostname (char *name, size_t size)
{
  struct utsname system;

  if (uname (&system) != 0)
    return -1;
  if (is_remote)
    snprintf (name, size, "host-%d", (int) getpid ());
  else
    snprintf (name, size, "%s", system.nodename);
  return 0;
}

/* ---- names ---- */

static int
do_rename (int from_at, const char *from, int to_at, const char *to, unsigned flags)
{
  Call call;
  Plan what;
  int result = -1;

  /* As NFS answers. */
  if (is_remote && flags != 0)
    {
      errno = EINVAL;
      return -1;
    }
  if (!begin_by_name (&call, INJECT_RENAME, from_at, from))
    return (int) syscall (SYS_renameat2, from_at, from, to_at, to, flags);
  find_path (to_at, to, call.other);
  what = enter (&call);
  if (!must_fail (what))
    result = (int) syscall (SYS_renameat2, from_at, from, to_at, to, flags);
  leave (&call, what, result);
  return result;
}

int
renameat2 (int from_at, const char *from, int to_at, const char *to, unsigned flags)
{
  return do_rename (from_at, from, to_at, to, flags);
}

int
renameat (int from_at, const char *from, int to_at, const char *to)
{
  return do_rename (from_at, from, to_at, to, 0);
}

int
rename (const char *from, const char *to)
{
  return do_rename (AT_FDCWD, from, AT_FDCWD, to, 0);
}

int
linkat (int from_at, const char *from, int to_at, const char *to, int flags)
{
  Call call;
  Plan what;
  int result = -1;

  if (!begin_by_name (&call, INJECT_LINK, from_at, from))
    return (int) syscall (SYS_linkat, from_at, from, to_at, to, flags);
  find_path (to_at, to, call.other);
  what = enter (&call);
  if (!must_fail (what))
    result = (int) syscall (SYS_linkat, from_at, from, to_at, to, flags);
  leave (&call, what, result);
  return result;
}

int
symlinkat (const char *target, int at, const char *name)
{
  Call call;
  Plan what;
  int result = -1;

  if (!begin_by_name (&call, INJECT_SYMLINK, at, name) || strlen (target) >= PATH_SIZE)
    return (int) syscall (SYS_symlinkat, target, at, name);
  strcpy (call.other, target);
  what = enter (&call);
  if (!must_fail (what))
    result = (int) syscall (SYS_symlinkat, target, at, name);
  leave (&call, what, result);
  return result;
}

int
symlink (const char *target, const char *name)
{
  return symlinkat (target, AT_FDCWD, name);
}

int
unlinkat (int at, const char *name, int flags)
{
  Call call;
  Plan what;
  int result = -1;

  if (!begin_by_name (&call, INJECT_UNLINK, at, name))
    return (int) syscall (SYS_unlinkat, at, name, flags);
  what = enter (&call);
  if (!must_fail (what))
    result = (int) syscall (SYS_unlinkat, at, name, flags);
  leave (&call, what, result);
  return result;
}

int
unlink (const char *name)
{
  return unlinkat (AT_FDCWD, name, 0);
}
