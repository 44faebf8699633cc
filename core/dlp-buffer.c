/* SPDX-License-Identifier: MIT */

#include "dlp-buffer-private.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#if defined(__SANITIZE_ADDRESS__)
#define HAVE_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HAVE_ASAN 1
#endif
#endif
#ifdef HAVE_ASAN
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(p, n) ((void) 0)
#define ASAN_UNPOISON_MEMORY_REGION(p, n) ((void) 0)
#endif

#define N_CLASSES 14

G_STATIC_ASSERT ((DLP_BUFFER_MIN_CLASS << (N_CLASSES - 1)) == DLP_BUFFER_MAX_CLASS);

typedef struct _FreeBuffer FreeBuffer;

struct _FreeBuffer
{
  FreeBuffer *next;
};

/* Buffers of one size, the last one given back first. */
typedef struct
{
  FreeBuffer *list;
  guint64 wanted_at; /* when one was last asked for: the value of n_asked */
} FreeList;

/* Guards the six below. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static FreeList free_lists[N_CLASSES];
static guint64 n_asked;
static gsize cached_bytes;
static gsize max_cached_bytes = DLP_BUFFER_MAX_CACHED;
static gsize max_bytes; /* of buffers in use, and of those that are kept beyond the maximum */
static gsize used_bytes;

static guint
class_of (gsize size)
{
  return size <= DLP_BUFFER_MIN_CLASS ? 0 : g_bit_storage ((size - 1) / DLP_BUFFER_MIN_CLASS);
}

static gsize
capacity_for (gsize need)
{
  gsize page = 4096;

  if (need <= DLP_BUFFER_MAX_CLASS)
    return (gsize) DLP_BUFFER_MIN_CLASS << class_of (need);
  if (need > G_MAXSSIZE - page)
    g_error ("a buffer of %" G_GSIZE_FORMAT " bytes was asked for", need);
  return (need + page - 1) & ~(page - 1);
}

static gpointer
allocate_large (gsize capacity)
{
  gpointer data = mmap (NULL, capacity, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

  if (data == MAP_FAILED)
    g_error ("no memory for a buffer of %" G_GSIZE_FORMAT " bytes: %s", capacity,
             g_strerror (errno));
  return data;
}

static FreeBuffer *
take_cached (gsize capacity)
{
  FreeBuffer *taken = NULL;

  pthread_mutex_lock (&mutex);
  used_bytes += capacity;
  if (capacity <= DLP_BUFFER_MAX_CLASS)
    {
      FreeList *from = &free_lists[class_of (capacity)];

      from->wanted_at = ++n_asked;
      taken = from->list;
      if (taken != NULL)
        {
          from->list = taken->next;
          cached_bytes -= capacity;
        }
    }
  pthread_mutex_unlock (&mutex);
  return taken;
}

static guint8 *
allocate (gsize capacity)
{
  FreeBuffer *cached = take_cached (capacity);
  gpointer data;

  if (cached != NULL)
    {
      ASAN_UNPOISON_MEMORY_REGION (cached, capacity);
      return (guint8 *) cached;
    }
  if (capacity > DLP_BUFFER_MAX_CLASS)
    return allocate_large (capacity);
  if (posix_memalign (&data, DLP_BUFFER_ALIGNMENT, capacity) != 0)
    g_error ("no memory for a buffer of %" G_GSIZE_FORMAT " bytes", capacity);
  return data;
}

/* One of the size that was not asked for for longest; never of @wanted. Takes no memory back that
 * is asked for all the time while other sizes lie idle. */
static FreeBuffer *
evict_locked (FreeList *wanted, gsize *capacity)
{
  FreeList *stalest = NULL;
  FreeBuffer *evicted;

  for (guint i = 0; i < N_CLASSES; i++)
    {
      FreeList *list = &free_lists[i];

      if (list == wanted || list->list == NULL || list->wanted_at >= wanted->wanted_at)
        continue;
      if (stalest == NULL || list->wanted_at < stalest->wanted_at)
        stalest = list;
    }
  if (stalest == NULL)
    return NULL;

  *capacity = (gsize) DLP_BUFFER_MIN_CLASS << (stalest - free_lists);
  evicted = stalest->list;
  ASAN_UNPOISON_MEMORY_REGION (evicted, *capacity);
  stalest->list = evicted->next;
  cached_bytes -= *capacity;
  return evicted;
}

/* @evicted: those that leave for it. */
/* What was in use a moment ago may be in use again in the next: a link that runs empty and full. */
static gsize
max_cached_locked (void)
{
  return MAX (max_cached_bytes, max_bytes - MIN (used_bytes, max_bytes));
}

static gboolean
put_cached (FreeBuffer *buffer, gsize capacity, FreeBuffer **evicted)
{
  gboolean keep = capacity <= DLP_BUFFER_MAX_CLASS;

  pthread_mutex_lock (&mutex);
  used_bytes -= capacity;
  while (keep && cached_bytes + capacity > max_cached_locked ())
    {
      gsize freed;
      FreeBuffer *one = evict_locked (&free_lists[class_of (capacity)], &freed);

      keep = one != NULL;
      if (keep)
        {
          one->next = *evicted;
          *evicted = one;
        }
    }
  if (keep)
    {
      FreeList *to = &free_lists[class_of (capacity)];

      ASAN_POISON_MEMORY_REGION (buffer + 1, capacity - sizeof *buffer);
      buffer->next = to->list;
      to->list = buffer;
      cached_bytes += capacity;
    }
  pthread_mutex_unlock (&mutex);
  return keep;
}

static void
release (guint8 *data, gsize capacity)
{
  FreeBuffer *evicted = NULL;
  gboolean kept = put_cached ((FreeBuffer *) data, capacity, &evicted);

  while (evicted != NULL)
    {
      FreeBuffer *next = evicted->next;

      free (evicted);
      evicted = next;
    }
  if (kept)
    return;
  if (capacity > DLP_BUFFER_MAX_CLASS)
    munmap (data, capacity);
  else
    free (data);
}

/* The pages move, so that the old and the new memory never exist side by side. */
static void
remap_large (DlpBuffer *self, gsize capacity)
{
  gpointer data = mremap (self->data, self->capacity, capacity, MREMAP_MAYMOVE);

  if (data == MAP_FAILED)
    g_error ("no memory for a buffer of %" G_GSIZE_FORMAT " bytes: %s", capacity,
             g_strerror (errno));
  pthread_mutex_lock (&mutex);
  used_bytes = used_bytes - self->capacity + capacity;
  pthread_mutex_unlock (&mutex);
  self->data = data;
  self->capacity = capacity;
}

static void
move (DlpBuffer *self, gsize used, gsize capacity)
{
  guint8 *data = allocate (capacity);

  if (self->data != NULL)
    {
      memcpy (data, self->data, used);
      release (self->data, self->capacity);
    }
  self->data = data;
  self->capacity = capacity;
}

void
dlp_buffer_grow (DlpBuffer *self, gsize used, gsize need)
{
  /* Growing a large buffer by a little at a time takes a step of a quarter; pages never touched
   * cost nothing. */
  if (need > DLP_BUFFER_MAX_CLASS && self->capacity > DLP_BUFFER_MAX_CLASS)
    remap_large (self, capacity_for (MAX (need, self->capacity + self->capacity / 4)));
  else
    move (self, used, capacity_for (need));
}

void
dlp_buffer_clear (DlpBuffer *self)
{
  if (self->data != NULL)
    release (self->data, self->capacity);
  self->data = NULL;
  self->capacity = 0;
}

void
dlp_buffer_seal (DlpBuffer *self, gsize used)
{
  gsize padded = (used + DLP_BUFFER_ALIGNMENT - 1) & ~(gsize) (DLP_BUFFER_ALIGNMENT - 1);

  if (self->data == NULL)
    return;
  if (self->capacity > DLP_BUFFER_MAX_CLASS && padded > DLP_BUFFER_MAX_CLASS)
    {
      if (capacity_for (padded) < self->capacity)
        remap_large (self, capacity_for (padded));
    }
  else if (self->capacity > 64 * 1024 && used < self->capacity / 4)
    move (self, used, capacity_for (padded));
  memset (self->data + used, 0, padded - used);
}

gsize
dlp_buffer_get_used_bytes (void)
{
  gsize bytes;

  pthread_mutex_lock (&mutex);
  bytes = used_bytes;
  pthread_mutex_unlock (&mutex);
  return bytes;
}

gsize
dlp_buffer_get_cached_bytes (void)
{
  gsize bytes;

  pthread_mutex_lock (&mutex);
  bytes = cached_bytes;
  pthread_mutex_unlock (&mutex);
  return bytes;
}

void
dlp_buffer_set_max_cached (gsize bytes, gsize with_used)
{
  pthread_mutex_lock (&mutex);
  max_cached_bytes = bytes;
  max_bytes = with_used;
  pthread_mutex_unlock (&mutex);
}

void
dlp_buffer_trim (void)
{
  FreeList lists[N_CLASSES];

  pthread_mutex_lock (&mutex);
  memcpy (lists, free_lists, sizeof lists);
  memset (free_lists, 0, sizeof free_lists);
  cached_bytes = 0;
  pthread_mutex_unlock (&mutex);

  for (guint i = 0; i < N_CLASSES; i++)
    for (FreeBuffer *buffer = lists[i].list, *next; buffer != NULL; buffer = next)
      {
        next = buffer->next;
        ASAN_UNPOISON_MEMORY_REGION (buffer, (gsize) DLP_BUFFER_MIN_CLASS << i);
        free (buffer);
      }
}
