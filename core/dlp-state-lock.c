/* SPDX-License-Identifier: MIT */

#include "dlp-state-lock-private.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <linux/magic.h>

#include <dlpipe/dlp-error.h>

#include "dlp-durable-private.h"

#define FILE_NAME "lock"
#define TEXT_SIZE 4096
#define MAGIC "dlpipe lock "

/* linux/magic.h lacks these. */
#define XFS_MAGIC 0x58465342
#define ZFS_MAGIC 0x2fc12fc1
#define BCACHEFS_MAGIC 0xca451a4e

struct _DlpStateLock
{
  DlpStateLock *next; /* in the list of all locks */
  int fd;
  int folder;
  char *path;
  char *id;
  char *started;
  char *text;
  guint attempt;
  gboolean former_is_dead;
  gboolean unproven; /* a former run may live, and the checkpoints may name its files */
};

/* What is known of the run that wrote the file; a member that is not, is NULL or 0. */
typedef struct
{
  char *pid, *host, *boot, *started;
  guint attempt;
  gboolean unproven;
} Holder;

static pthread_mutex_t all_mutex =
    PTHREAD_MUTEX_INITIALIZER; /* guards all_locks, and each fd in a fork */
static DlpStateLock *all_locks;

static void
before_fork (void)
{
  pthread_mutex_lock (&all_mutex);
}

static void
after_fork_in_parent (void)
{
  pthread_mutex_unlock (&all_mutex);
}

static void
after_fork_in_child (void)
{
  for (DlpStateLock *lock = all_locks; lock != NULL; lock = lock->next)
    {
      if (lock->fd >= 0)
        close (lock->fd);
      lock->fd = -1;
    }
  pthread_mutex_unlock (&all_mutex);
}

static void
watch_forks (void)
{
  pthread_atfork (before_fork, after_fork_in_parent, after_fork_in_child);
}

static void
enlist (DlpStateLock *self)
{
  static pthread_once_t once = PTHREAD_ONCE_INIT;

  pthread_once (&once, watch_forks);
  pthread_mutex_lock (&all_mutex);
  self->next = all_locks;
  all_locks = self;
  pthread_mutex_unlock (&all_mutex);
}

static void
delist (DlpStateLock *self)
{
  pthread_mutex_lock (&all_mutex);
  for (DlpStateLock **link = &all_locks; *link != NULL; link = &(*link)->next)
    if (*link == self)
      {
        *link = self->next;
        break;
      }
  pthread_mutex_unlock (&all_mutex);
}

static void
holder_clear (Holder *holder)
{
  g_free (holder->pid);
  g_free (holder->host);
  g_free (holder->boot);
  g_free (holder->started);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Holder, holder_clear)

static guint
parse_attempt (const char *text)
{
  guint64 value;

  return g_ascii_string_to_unsigned (text, 10, 0, G_MAXUINT - 1, &value, NULL) ? (guint) value : 0;
}

static void
parse_line (Holder *holder, const char *line)
{
  const char *value = strchr (line, '=');
  const struct
  {
    const char *name;
    char **member;
  } texts[] = {
    { "pid=", &holder->pid },
    { "host=", &holder->host },
    { "boot=", &holder->boot },
    { "started=", &holder->started },
  };

  if (value == NULL)
    return;
  value++;

  /* The first of a name counts: behind a new text may be the rest of a longer former one. */
  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    if (g_str_has_prefix (line, texts[i].name) && *texts[i].member == NULL)
      *texts[i].member = g_strdup (value);
  if (g_str_has_prefix (line, "attempt=") && holder->attempt == 0)
    holder->attempt = parse_attempt (value);
  if (strcmp (line, "unproven=1") == 0)
    holder->unproven = TRUE;
}

static void
parse_holder (Holder *holder, const char *text)
{
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);

  for (guint i = 0; lines[i] != NULL; i++)
    parse_line (holder, lines[i]);
}

/* @path: of the folder. */
static char *
read_text (int fd, const char *path, GError **error)
{
  g_autofree char *text = g_malloc0 (TEXT_SIZE + 1);
  g_autofree char *full = g_build_filename (path, FILE_NAME, NULL);

  return dlp_durable_read (fd, full, text, TEXT_SIZE, 0, error) < 0 ? NULL :
                                                                      g_steal_pointer (&text);
}

static void
set_held (GError **error, const char *path, int code, const char *text)
{
  g_auto (Holder) holder = { 0 };

  parse_holder (&holder, text);
  g_set_error (error, DLP_STATE_ERROR, code, "%s: %s run: process %s on %s, since %s", path,
               code == DLP_STATE_ERROR_LOCKED ? "in use by another" : "taken over by another",
               holder.pid != NULL ? holder.pid : "(unknown)",
               holder.host != NULL ? holder.host : "(unknown)",
               holder.started != NULL ? holder.started : "(unknown)");
}

/* How much of its beginning was read; -1, errno set: it cannot be. */
static gssize
read_beginning (int folder, char *text, gsize size)
{
  int fd = TEMP_FAILURE_RETRY (
      openat (folder, FILE_NAME, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  gssize n;
  int code;

  if (fd < 0)
    return -1;
  n = TEMP_FAILURE_RETRY (read (fd, text, size));
  code = errno;
  close (fd);
  errno = code;
  return n;
}

static gboolean
is_zeros (const char *text, gsize size)
{
  for (gsize i = 0; i < size; i++)
    if (text[i] != '\0')
      return FALSE;
  return TRUE;
}

gboolean
dlp_state_lock_identify (int folder, const char *path, DlpStateLockKind *kind, GError **error)
{
  char text[TEXT_SIZE];
  gssize n = read_beginning (folder, text, sizeof text);

  /* It went meanwhile, or is a link, a folder or a socket. */
  if (n < 0 && errno != ENOENT && errno != ELOOP && errno != EISDIR && errno != ENXIO)
    {
      dlp_durable_set_error (error, errno, "%s/" FILE_NAME ": cannot read", path);
      return FALSE;
    }
  if (n >= (gssize) sizeof MAGIC - 1 && memcmp (text, MAGIC, sizeof MAGIC - 1) == 0)
    *kind = DLP_STATE_LOCK_OURS;
  /* A power cut may have left the length and not the bytes. */
  else if (n >= 0 && n < (gssize) sizeof text && is_zeros (text, (gsize) n))
    *kind = DLP_STATE_LOCK_EMPTY;
  else
    *kind = DLP_STATE_LOCK_FOREIGN;
  return TRUE;
}

/* -1 without an error: it came or went meanwhile. */
static int
open_lock_file (int folder, const char *path, gboolean *was_there, GError **error)
{
  int flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
  int fd = TEMP_FAILURE_RETRY (openat (folder, FILE_NAME, flags));

  *was_there = fd >= 0;
  if (fd < 0 && errno == ENOENT)
    {
      fd = TEMP_FAILURE_RETRY (openat (folder, FILE_NAME, flags | O_CREAT | O_EXCL, 0666));
    }

  if (fd < 0 && errno != EEXIST)
    dlp_durable_set_error (error, errno, "%s/" FILE_NAME ": cannot open", path);
  return fd;
}

/* Whoever waits for a lock may get that of a file that has been removed meanwhile. */
static gboolean
is_in_place (int fd, int folder)
{
  struct stat own, named;

  return fstat (fd, &own) == 0 && fstatat (folder, FILE_NAME, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
         own.st_dev == named.st_dev && own.st_ino == named.st_ino;
}

/* *@has_locks: FALSE if the file system knows no locks. */
static gboolean
lock_file (int fd, const char *path, gboolean *has_locks, GError **error)
{
  g_autofree char *text = NULL;

  *has_locks = TRUE;
  if (TEMP_FAILURE_RETRY (flock (fd, LOCK_EX | LOCK_NB)) == 0)
    return TRUE;

  if (errno == ENOLCK || errno == ENOSYS || errno == EOPNOTSUPP)
    {
      g_warning (
          "%s: the file system has no locks (%s): two runs over this state would find out about "
          "each other only at the next checkpoint",
          path, g_strerror (errno));
      *has_locks = FALSE;
      return TRUE;
    }
  if (errno != EWOULDBLOCK)
    {
      dlp_durable_set_error (error, errno, "%s/" FILE_NAME ": cannot lock", path);
      return FALSE;
    }

  text = read_text (fd, path, NULL);
  set_held (error, path, DLP_STATE_ERROR_LOCKED, text != NULL ? text : "");
  return FALSE;
}

static int
open_and_lock (int folder,
               const char *path,
               gboolean *was_there,
               gboolean *has_locks,
               GError **error)
{
  for (guint i = 0; i < 100; i++)
    {
      g_autoptr (GError) failure = NULL;
      int fd = open_lock_file (folder, path, was_there, &failure);

      if (fd >= 0 && lock_file (fd, path, has_locks, &failure) && is_in_place (fd, folder))
        return fd;
      if (fd >= 0)
        close (fd);
      if (failure != NULL)
        {
          g_propagate_error (error, g_steal_pointer (&failure));
          return -1;
        }
    }

  g_set_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_LOCKED,
               "%s/" FILE_NAME ": something keeps removing or replacing it", path);
  return -1;
}

/* File systems of one host. Whatever is not known to be one may be shared with others. */
static gboolean
is_local (int fd)
{
  static const guint32 local[] = {
    EXT4_SUPER_MAGIC, XFS_MAGIC, BTRFS_SUPER_MAGIC,     F2FS_SUPER_MAGIC, TMPFS_MAGIC,
    RAMFS_MAGIC,      ZFS_MAGIC, OVERLAYFS_SUPER_MAGIC, BCACHEFS_MAGIC,
  };
  struct statfs st;

  if (TEMP_FAILURE_RETRY (fstatfs (fd, &st)) != 0)
    return FALSE;

  for (guint i = 0; i < G_N_ELEMENTS (local); i++)
    if ((guint32) st.f_type == local[i])
      return TRUE;
  return FALSE;
}

/* Changes with each start of the kernel, so that equal host names are no proof of one host. */
static char *
dup_boot_id (void)
{
  char *id = NULL;

  if (!g_file_get_contents ("/proc/sys/kernel/random/boot_id", &id, NULL, NULL))
    return g_strdup ("unknown");
  return g_strstrip (id);
}

static gboolean
is_same_host (const Holder *former)
{
  g_autofree char *boot = dup_boot_id ();

  return former->host != NULL && former->boot != NULL && strcmp (former->boot, boot) == 0 &&
         strcmp (former->host, g_get_host_name ()) == 0 && strcmp (boot, "unknown") != 0;
}

static gboolean
write_text (DlpStateLock *self, GError **error)
{
  g_autofree char *boot = dup_boot_id ();
  g_autofree char *full = g_build_filename (self->path, FILE_NAME, NULL);
  g_autofree char *text = NULL;

  text = g_strdup_printf (MAGIC "1\npid=%u\nhost=%s\nboot=%s\nstarted=%s\nattempt=%u\nrun=%s\n"
                                "unproven=%d\n",
                          (guint) getpid (), g_get_host_name (), boot, self->started, self->attempt,
                          self->id, self->unproven);
  if (!dlp_durable_write (self->fd, full, text, strlen (text), 0, error))
    return FALSE;
  if (TEMP_FAILURE_RETRY (ftruncate (self->fd, (off_t) strlen (text))) != 0)
    {
      dlp_durable_set_error (error, errno, "%s: cannot be cut to %" G_GSIZE_FORMAT " bytes", full,
                             strlen (text));
      return FALSE;
    }

  g_free (self->text);
  self->text = g_steal_pointer (&text);
  return dlp_durable_sync_data (self->fd, full, error);
}

static void
judge_former (DlpStateLock *self, const char *text, gboolean was_there, gboolean has_locks)
{
  g_auto (Holder) former = { 0 };

  parse_holder (&former, text);
  self->attempt = former.attempt + 1;
  if (has_locks && is_local (self->fd))
    self->former_is_dead = was_there;
  else
    self->former_is_dead = was_there && has_locks && is_same_host (&former) && !former.unproven;
  self->unproven = was_there && !self->former_is_dead;
}

DlpStateLock *
dlp_state_lock_take (int folder, const char *path, GError **error)
{
  g_autoptr (DlpStateLock) self = NULL;
  g_autoptr (GDateTime) now = g_date_time_new_now_utc ();
  g_autofree char *text = NULL;
  gboolean was_there, has_locks;
  int fd = open_and_lock (folder, path, &was_there, &has_locks, error);

  if (fd < 0)
    return NULL;

  self = g_new0 (DlpStateLock, 1);
  self->fd = fd;
  self->folder = folder;
  self->path = g_strdup (path);
  self->id = g_uuid_string_random ();
  self->started = g_date_time_format_iso8601 (now);
  enlist (self);

  text = read_text (fd, path, error);
  if (text == NULL)
    return NULL;
  judge_former (self, text, was_there, has_locks);

  return write_text (self, error) ? g_steal_pointer (&self) : NULL;
}

void
dlp_state_lock_release (DlpStateLock *self)
{
  if (self == NULL)
    return;

  delist (self);
  if (self->fd >= 0)
    {
      /* A child of fork() may not have got to closing its copy yet, with which the lock would stay.
       */
      flock (self->fd, LOCK_UN);
      close (self->fd);
    }
  g_free (self->path);
  g_free (self->id);
  g_free (self->started);
  g_free (self->text);
  g_free (self);
}

gboolean
dlp_state_lock_former_is_dead (DlpStateLock *self)
{
  return self->former_is_dead;
}

guint
dlp_state_lock_get_attempt (DlpStateLock *self)
{
  return self->attempt;
}

gboolean
dlp_state_lock_come_after (DlpStateLock *self, guint former, GError **error)
{
  if (self->attempt > former || former == G_MAXUINT)
    return TRUE;

  self->attempt = former + 1;
  return write_text (self, error);
}

gboolean
dlp_state_lock_check (DlpStateLock *self, GError **error)
{
  g_autofree char *text = NULL;
  /* Opened anew: that is when a network file system looks for changes made elsewhere. */
  int fd = TEMP_FAILURE_RETRY (openat (self->folder, FILE_NAME, O_RDONLY | O_CLOEXEC | O_NONBLOCK));

  if (fd < 0 && errno == ENOENT)
    {
      g_set_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_FENCED,
                   "%s/" FILE_NAME ": removed while this run held it", self->path);
      return FALSE;
    }
  if (fd < 0)
    {
      dlp_durable_set_error (error, errno, "%s/" FILE_NAME ": cannot open", self->path);
      return FALSE;
    }

  text = read_text (fd, self->path, error);
  close (fd);
  if (text == NULL)
    return FALSE;
  if (strcmp (text, self->text) == 0)
    return TRUE;

  set_held (error, self->path, DLP_STATE_ERROR_FENCED, text);
  return FALSE;
}

gboolean
dlp_state_lock_settle (DlpStateLock *self, GError **error)
{
  if (!self->unproven)
    return TRUE;

  self->unproven = FALSE;
  return write_text (self, error);
}

/* ---- for whoever watches ---- */

/* A lock that is tried would for a moment be in the way of a run that begins. The kernel lists the
 * locks that there are, of this host. */
static gboolean
is_listed (const char *pid, guint64 inode)
{
  g_autofree char *text = NULL;
  g_autofree char *wanted = g_strdup_printf (" %s ", pid);
  g_autofree char *file = g_strdup_printf (":%" G_GUINT64_FORMAT " ", inode);
  g_auto (GStrv) lines = NULL;

  if (!g_file_get_contents ("/proc/locks", &text, NULL, NULL))
    return FALSE;
  lines = g_strsplit (text, "\n", -1);
  for (guint i = 0; lines[i] != NULL; i++)
    if (strstr (lines[i], "FLOCK") != NULL && strstr (lines[i], wanted) != NULL &&
        strstr (lines[i], file) != NULL)
      return TRUE;
  return FALSE;
}

static void
insert_text (GVariantDict *dict, const char *key, const char *value)
{
  g_autofree char *valid = value != NULL ? g_utf8_make_valid (value, -1) : NULL;

  if (valid != NULL)
    g_variant_dict_insert (dict, key, "s", valid);
}

void
dlp_state_lock_describe (int folder, GVariantDict *dict)
{
  g_autofree char *text = g_malloc0 (TEXT_SIZE + 1);
  g_auto (Holder) holder = { 0 };
  struct stat st;

  if (read_beginning (folder, text, TEXT_SIZE) < (gssize) sizeof MAGIC ||
      memcmp (text, MAGIC, sizeof MAGIC - 1) != 0)
    return;
  parse_holder (&holder, text);
  insert_text (dict, "pid", holder.pid);
  insert_text (dict, "host", holder.host);
  insert_text (dict, "started", holder.started);
  g_variant_dict_insert (dict, "attempt", "u", holder.attempt);
  /* Of another host nothing is known. */
  if (holder.pid != NULL && is_same_host (&holder) &&
      fstatat (folder, FILE_NAME, &st, AT_SYMLINK_NOFOLLOW) == 0)
    g_variant_dict_insert (dict, "running", "b", is_listed (holder.pid, st.st_ino));
}
