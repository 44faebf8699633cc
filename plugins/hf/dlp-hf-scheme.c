/* SPDX-License-Identifier: MIT */

#include "dlp-hf-scheme.h"

#include <string.h>

#include <dlpipe/dlp-error.h>

#include "dlp-http-settings.h"
#include "dlp-http-stream.h"
#include "hf-card.h"
#include "hf-hub.h"

#define SPECIAL "*?["

struct _DlpHfScheme
{
  DlpScheme parent_instance;

  HttpSettings settings;
};

G_DEFINE_FINAL_TYPE (DlpHfScheme, dlp_hf_scheme, DLP_TYPE_SCHEME)

/* Finds out the commit, where the place does not name it. @commit: (out) (transfer full). */
static gboolean
begin (DlpHfScheme *self,
       const char *uri,
       HfPlace *place,
       char **commit,
       HfHub *hub,
       GCancellable *cancellable,
       GError **error)
{
  *hub = (HfHub){ &self->settings, place, NULL, cancellable };
  if (!hf_place_parse (place, uri, error))
    return FALSE;
  if (place->revision != NULL && hf_is_commit (place->revision))
    *commit = g_strdup (place->revision);
  else
    *commit = hf_hub_resolve (hub, error);
  hub->commit = *commit;
  return *commit != NULL;
}

static char *
dlp_hf_scheme_pin (DlpScheme *scheme, const char *uri, GCancellable *cancellable, GError **error)
{
  g_auto (HfPlace) place = { NULL };
  g_autofree char *commit = NULL;
  HfHub hub;

  return begin (DLP_HF_SCHEME (scheme), uri, &place, &commit, &hub, cancellable, error) ?
             hf_place_make_uri (&place, commit, NULL) :
             NULL;
}

/* ---- files by their names ---- */

static DlpFile *
dlp_hf_scheme_identify (DlpScheme *scheme,
                        const char *uri,
                        GCancellable *cancellable,
                        GError **error)
{
  g_auto (HfPlace) place = { NULL };
  g_autofree char *commit = NULL;
  g_autofree char *shown = dlp_uri_escape_for_display (uri);
  HfHub hub;
  HfEntryKind kind;
  DlpFile *file = NULL;

  if (!begin (DLP_HF_SCHEME (scheme), uri, &place, &commit, &hub, cancellable, error))
    return NULL;
  if (place.path == NULL || *place.path == '\0')
    {
      g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_NO_INPUT,
                   "%s: expected hf://datasets/OWNER/NAME[@REVISION]/FILE; this names no file",
                   shown);
      return NULL;
    }
  if (!hf_hub_look (&hub, place.path, &kind, &file, error) || kind == HF_FILE)
    return file;
  g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_NO_INPUT, "%s: %s (commit %s)", shown,
               kind == HF_FOLDER ? "it is a folder" : "there is no such file", commit);
  return NULL;
}

typedef struct
{
  const char *pattern;
  gboolean is_folder; /* it is never a file's name itself */
} Match;

static gboolean
is_wanted (gpointer data, const char *path, gboolean *stop)
{
  const Match *self = data;

  *stop = !self->is_folder && strcmp (path, self->pattern) == 0;
  return *stop || dlp_glob_match_path (self->pattern, path);
}

static gboolean
list_folder (const HfHub *hub, const char *path, GPtrArray *files, GError **error)
{
  gsize length = strlen (path);
  g_autofree char *folder = NULL;
  g_autofree char *pattern = NULL;
  Match match = { .is_folder = TRUE };

  while (length > 0 && path[length - 1] == '/')
    length--;
  folder = g_strndup (path, length);
  pattern = g_strconcat (folder, length > 0 ? "/*" : "*", NULL);
  match.pattern = pattern;
  return hf_hub_list (hub, folder, FALSE, is_wanted, &match, files, error);
}

static gboolean
list_pattern (const HfHub *hub, const char *pattern, GPtrArray *files, GError **error)
{
  gsize literal = strcspn (pattern, SPECIAL);
  g_autofree char *start = g_strndup (pattern, literal);
  char *slash = strrchr (start, '/');
  Match match = { .pattern = pattern };
  GPtrArray *found = g_ptr_array_new_with_free_func (g_object_unref);
  gboolean is_deep =
      strchr (pattern + literal, '/') != NULL || strstr (pattern + literal, "**") != NULL;
  gboolean ok;

  *(slash != NULL ? slash : start) = '\0';
  ok = hf_hub_list (hub, start, is_deep, is_wanted, &match, found, error);
  g_ptr_array_extend_and_steal (files, found);
  return ok;
}

/* A name that exists is that file or the files of that folder. */
static gboolean
list_path (const HfHub *hub, const char *path, GPtrArray *files, GError **error)
{
  HfEntryKind kind;
  DlpFile *file = NULL;

  if (strpbrk (path, SPECIAL) != NULL)
    return list_pattern (hub, path, files, error);
  if (*path == '\0' || g_str_has_suffix (path, "/"))
    return list_folder (hub, path, files, error);
  if (!hf_hub_look (hub, path, &kind, &file, error))
    return FALSE;
  if (kind == HF_FOLDER)
    return list_folder (hub, path, files, error);
  if (file != NULL)
    g_ptr_array_add (files, file);
  return TRUE;
}

/* ---- files by the card ---- */

static gboolean
list_by_card (const HfHub *hub, GPtrArray *files, GError **error)
{
  const HfPlace *place = hub->place;
  g_autoptr (GBytes) card = hf_hub_read_card (hub, error);
  g_auto (GStrv) patterns = NULL;

  if (card == NULL)
    return FALSE;
  patterns = hf_card_find_files (g_bytes_get_data (card, NULL), g_bytes_get_size (card),
                                 place->config, place->split, error);
  if (patterns == NULL)
    {
      g_prefix_error (error, "hf://datasets/%s/%s@%s/README.md: ", place->owner, place->name,
                      hub->commit);
      return FALSE;
    }
  for (guint i = 0; patterns[i] != NULL; i++)
    {
      guint before = files->len;

      if (!list_path (hub, patterns[i], files, error))
        return FALSE;
      if (files->len > before)
        continue;
      g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_NO_INPUT,
                   "hf://datasets/%s/%s@%s: its card names %s, and there is no such file",
                   place->owner, place->name, hub->commit, patterns[i]);
      return FALSE;
    }
  return TRUE;
}

static GPtrArray *
dlp_hf_scheme_list (DlpScheme *scheme,
                    const char *pattern,
                    GCancellable *cancellable,
                    GError **error)
{
  g_autoptr (GPtrArray) files = g_ptr_array_new_with_free_func (g_object_unref);
  g_auto (HfPlace) place = { NULL };
  g_autofree char *commit = NULL;
  g_autofree char *shown = dlp_uri_escape_for_display (pattern);
  HfHub hub;
  gboolean ok;

  if (!begin (DLP_HF_SCHEME (scheme), pattern, &place, &commit, &hub, cancellable, error))
    return NULL;
  if (place.path != NULL)
    ok = list_path (&hub, place.path, files, error);
  else
    ok = list_by_card (&hub, files, error);
  if (!ok)
    return NULL;
  http_files_sort (files);
  if (files->len > 0)
    return g_steal_pointer (&files);
  g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_NO_INPUT, "%s: no file matches (commit %s)",
               shown, commit);
  return NULL;
}

/* The commit and the size say which bytes: the answers come from wherever the hub keeps them, with
 * ETags of that place. */
static GInputStream *
dlp_hf_scheme_open (DlpScheme *scheme,
                    DlpFile *file,
                    gint64 offset,
                    GCancellable *cancellable,
                    GError **error)
{
  DlpHfScheme *self = DLP_HF_SCHEME (scheme);
  g_auto (HfPlace) place = { NULL };
  g_autofree char *commit = NULL;
  g_autofree char *uri = NULL;
  HttpObject object = { 0 };
  HfHub hub;

  if (!begin (self, dlp_file_get_uri (file), &place, &commit, &hub, cancellable, error))
    return NULL;
  uri = hf_hub_make_file_uri (&place, commit, place.path != NULL ? place.path : "");
  object.uri = uri;
  object.access = &hf_access_new (&place)->parent;
  return http_object_open (&object, file, &self->settings, offset, cancellable, error);
}

/* ---- object ---- */

static void
dlp_hf_scheme_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  if (!http_settings_get_property (&DLP_HF_SCHEME (object)->settings, id, value))
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
}

static void
dlp_hf_scheme_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  if (!http_settings_set_property (&DLP_HF_SCHEME (object)->settings, id, value))
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
}

static void
dlp_hf_scheme_finalize (GObject *object)
{
  http_settings_clear (&DLP_HF_SCHEME (object)->settings);

  G_OBJECT_CLASS (dlp_hf_scheme_parent_class)->finalize (object);
}

static void
dlp_hf_scheme_class_init (DlpHfSchemeClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  DlpSchemeClass *scheme_class = DLP_SCHEME_CLASS (klass);

  object_class->get_property = dlp_hf_scheme_get_property;
  object_class->set_property = dlp_hf_scheme_set_property;
  object_class->finalize = dlp_hf_scheme_finalize;
  scheme_class->list = dlp_hf_scheme_list;
  scheme_class->identify = dlp_hf_scheme_identify;
  scheme_class->open = dlp_hf_scheme_open;
  scheme_class->pin = dlp_hf_scheme_pin;
  http_settings_install_properties (object_class);
}

static void
dlp_hf_scheme_init (DlpHfScheme *self)
{
  http_settings_init (&self->settings);
}
