/* SPDX-License-Identifier: MIT */

#include <pthread.h>
#include <string.h>

#include <dlpipe/dlp-error.h>
#include <dlpipe/dlp-file.h>

#include "dlp-element-private.h"
#include "dlp-file-private.h"
#include "dlp-local-scheme-private.h"
#include "dlp-registry-private.h"
#include "dlp-setting-private.h"

typedef struct
{
  GType type;
  DlpScheme *scheme; /* made on first use, never freed */
} SchemeEntry;

/* Guards the table and the entries in it. */
static pthread_mutex_t schemes_lock = PTHREAD_MUTEX_INITIALIZER;
static GHashTable *schemes;

G_DEFINE_ABSTRACT_TYPE (DlpScheme, dlp_scheme, G_TYPE_OBJECT)

static void
dlp_scheme_class_init (DlpSchemeClass *klass)
{
}

static void
dlp_scheme_init (DlpScheme *self)
{
}

static SchemeEntry *
add_entry_locked (const char *name, GType type)
{
  SchemeEntry *entry = g_new0 (SchemeEntry, 1);

  entry->type = type;
  g_hash_table_insert (schemes, g_strdup (name), entry);

  return entry;
}

static void
ensure_table_locked (void)
{
  if (schemes != NULL)
    return;

  schemes = g_hash_table_new (g_str_hash, g_str_equal);
  add_entry_locked ("file", DLP_TYPE_LOCAL_SCHEME);
}

void
dlp_scheme_register (const char *name, GType type)
{
  SchemeEntry *entry;
  GType taken = G_TYPE_INVALID;

  g_return_if_fail (name != NULL && *name != '\0');
  g_return_if_fail (g_type_is_a (type, DLP_TYPE_SCHEME));

  pthread_mutex_lock (&schemes_lock);
  ensure_table_locked ();
  entry = g_hash_table_lookup (schemes, name);
  if (entry == NULL)
    add_entry_locked (name, type);
  else if (entry->type != type)
    taken = entry->type;
  pthread_mutex_unlock (&schemes_lock);

  if (taken != G_TYPE_INVALID)
    g_warning ("The URI scheme \"%s\" belongs to %s already; %s is not used", name,
               g_type_name (taken), g_type_name (type));
}

/* The length of the scheme's name in a text that begins with "NAME://", else 0. */
static gsize
scheme_length (const char *uri)
{
  gsize n = 0;

  if (!g_ascii_isalpha (uri[0]))
    return 0;

  while (g_ascii_isalnum (uri[n]) || uri[n] == '+' || uri[n] == '.' || uri[n] == '-')
    n++;

  return g_str_has_prefix (uri + n, "://") ? n : 0;
}

static char *
scheme_name (const char *uri)
{
  gsize length = scheme_length (uri);

  return length == 0 ? g_strdup ("file") : g_ascii_strdown (uri, (gssize) length);
}

/* G_TYPE_INVALID: no plugin has brought it so far. */
static GType
find_type (const char *name)
{
  SchemeEntry *entry;
  GType type;

  pthread_mutex_lock (&schemes_lock);
  ensure_table_locked ();
  entry = g_hash_table_lookup (schemes, name);
  type = entry != NULL ? entry->type : G_TYPE_INVALID;
  pthread_mutex_unlock (&schemes_lock);

  return type;
}

static GType
find_or_load_type (const char *name, GError **error)
{
  GType type = find_type (name);

  return type == G_TYPE_INVALID && dlp_registry_load_scheme (name, error) ? find_type (name) : type;
}

GType
dlp_scheme_find_type (const char *name)
{
  return find_or_load_type (name, NULL);
}

/* The one of the process, which what a graph sets does not reach. */
static DlpScheme *
get_shared_scheme (const char *name)
{
  DlpScheme *scheme;
  SchemeEntry *entry;

  pthread_mutex_lock (&schemes_lock);
  entry = g_hash_table_lookup (schemes, name);
  if (entry->scheme == NULL)
    entry->scheme = g_object_new (entry->type, NULL);
  scheme = entry->scheme;
  pthread_mutex_unlock (&schemes_lock);

  return scheme;
}

static int
compare_names (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *) a, *(const char *const *) b);
}

char **
dlp_scheme_list_names (void)
{
  g_auto (GStrv) listed = dlp_registry_list_schemes ();
  g_autoptr (GPtrArray) names = g_ptr_array_new ();
  GHashTableIter iter;
  gpointer name;
  char **copy;

  for (guint i = 0; listed[i] != NULL; i++)
    g_ptr_array_add (names, listed[i]);
  pthread_mutex_lock (&schemes_lock);
  ensure_table_locked ();
  g_hash_table_iter_init (&iter, schemes);
  while (g_hash_table_iter_next (&iter, &name, NULL))
    if (!g_strv_contains ((const char *const *) listed, name))
      g_ptr_array_add (names, name);
  g_ptr_array_sort (names, compare_names);
  g_ptr_array_add (names, NULL);
  copy = g_strdupv ((char **) names->pdata);
  pthread_mutex_unlock (&schemes_lock);

  return copy;
}

DlpScheme *
dlp_scheme_for_uri (const char *uri, GError **error)
{
  g_autoptr (GError) local_error = NULL;
  g_autofree char *name = NULL;
  g_auto (GStrv) names = NULL;
  g_autofree char *known = NULL;
  g_autofree char *display = NULL;
  DlpElement *reader = dlp_element_get_reads_for ();
  DlpScheme *own;
  GType type;

  g_return_val_if_fail (uri != NULL, NULL);

  name = scheme_name (uri);
  type = find_or_load_type (name, &local_error);
  if (type != G_TYPE_INVALID)
    {
      own = reader != NULL ? dlp_element_find_own_scheme (reader, type) : NULL;
      return own != NULL ? own : get_shared_scheme (name);
    }

  display = dlp_uri_escape_for_display (uri);
  names = dlp_scheme_list_names ();
  known = g_strjoinv (", ", names);
  g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_NO_INPUT,
               "%s: %s:// needs a plugin that is not loaded; known: %s%s%s", display, name, known,
               local_error != NULL ? "; " : "", local_error != NULL ? local_error->message : "");
  return NULL;
}

static gpointer
not_supported (DlpScheme *self, const char *uri, const char *what, GError **error)
{
  g_autofree char *name = dlp_uri_escape_for_display (uri);

  g_set_error (error, G_IO_ERROR, G_IO_ERROR_NOT_SUPPORTED, "%s: %s cannot %s files", name,
               G_OBJECT_TYPE_NAME (self), what);
  return NULL;
}

GPtrArray *
dlp_scheme_list (DlpScheme *self, const char *pattern, GCancellable *cancellable, GError **error)
{
  g_return_val_if_fail (DLP_IS_SCHEME (self), NULL);
  g_return_val_if_fail (pattern != NULL, NULL);

  if (g_cancellable_set_error_if_cancelled (cancellable, error))
    return NULL;
  if (DLP_SCHEME_GET_CLASS (self)->list == NULL)
    return not_supported (self, pattern, "list", error);

  return DLP_SCHEME_GET_CLASS (self)->list (self, pattern, cancellable, error);
}

DlpFile *
dlp_scheme_identify (DlpScheme *self, const char *uri, GCancellable *cancellable, GError **error)
{
  g_return_val_if_fail (DLP_IS_SCHEME (self), NULL);
  g_return_val_if_fail (uri != NULL, NULL);

  if (g_cancellable_set_error_if_cancelled (cancellable, error))
    return NULL;
  if (DLP_SCHEME_GET_CLASS (self)->identify == NULL)
    return not_supported (self, uri, "identify", error);

  return DLP_SCHEME_GET_CLASS (self)->identify (self, uri, cancellable, error);
}

char *
dlp_scheme_pin (DlpScheme *self, const char *pattern, GCancellable *cancellable, GError **error)
{
  g_return_val_if_fail (DLP_IS_SCHEME (self), NULL);
  g_return_val_if_fail (pattern != NULL, NULL);

  if (g_cancellable_set_error_if_cancelled (cancellable, error))
    return NULL;
  if (DLP_SCHEME_GET_CLASS (self)->pin == NULL)
    return g_strdup (pattern);

  return DLP_SCHEME_GET_CLASS (self)->pin (self, pattern, cancellable, error);
}

void
dlp_scheme_prefetch (DlpScheme *self, DlpFile *file, gint64 bytes)
{
  g_return_if_fail (DLP_IS_SCHEME (self));
  g_return_if_fail (DLP_IS_FILE (file));

  if (bytes > 0 && DLP_SCHEME_GET_CLASS (self)->prefetch != NULL)
    DLP_SCHEME_GET_CLASS (self)->prefetch (self, file, bytes);
}
