/* SPDX-License-Identifier: MIT */

#include "hf-hub.h"

#include <string.h>

#include <dlpipe/dlp-error.h>
#include <dlpipe/dlp-json.h>

#include "hf-token.h"

/* ---- asking ---- */

/* (transfer full): of the interface; @rest is encoded. */
static char *
make_api_uri (const HfPlace *place, const char *kind, const char *revision, const char *rest)
{
  g_autofree char *endpoint = hf_endpoint_get ();
  g_autofree char *encoded = http_encode (revision, FALSE);

  return g_strdup_printf ("%s/api/datasets/%s/%s/%s/%s%s", endpoint, place->owner, place->name,
                          kind, encoded, rest);
}

static gboolean
fetch (const HfHub *hub,
       HfAccess *access,
       const char *uri,
       const char *ending,
       HttpDocument *document,
       GError **error)
{
  g_autofree char *name = hf_place_make_uri (
      hub->place, hub->place->revision != NULL ? hub->place->revision : "main", NULL);
  const HttpQuery query = { .uri = uri, .name = name, .ending = ending, .access = &access->parent };

  return http_fetch (&query, hub->settings, document, hub->cancellable, error);
}

static GVariant *
parse_json (const HfHub *hub, GBytes *body, const GVariantType *type, GError **error)
{
  g_autoptr (GError) cause = NULL;
  g_autoptr (GVariant) value =
      dlp_json_parse (g_bytes_get_data (body, NULL), g_bytes_get_size (body), &cause);

  if (value != NULL && g_variant_is_of_type (value, type))
    return g_steal_pointer (&value);
  g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_DAMAGED,
               "hf://datasets/%s/%s: the hub's answer is not what was asked for: %s",
               hub->place->owner, hub->place->name,
               cause != NULL ? cause->message : "another kind of JSON");
  return NULL;
}

char *
hf_hub_resolve (const HfHub *hub, GError **error)
{
  const char *revision = hub->place->revision != NULL ? hub->place->revision : "main";
  g_autoptr (HfAccess) access = hf_access_new (hub->place);
  /* All files are in the answer that is not asked for this alone. */
  g_autofree char *uri = make_api_uri (hub->place, "revision", revision, "?expand=sha");
  g_auto (HttpDocument) document = { 0 };
  g_autoptr (GVariant) value = NULL;
  const char *commit = "";

  if (!fetch (hub, access, uri, "}", &document, error))
    return NULL;
  value = parse_json (hub, document.body, G_VARIANT_TYPE_VARDICT, error);
  if (value == NULL)
    return NULL;
  g_variant_lookup (value, "sha", "&s", &commit);
  if (hf_is_commit (commit))
    return g_strdup (commit);
  g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_DAMAGED,
               "hf://datasets/%s/%s: the hub does not say which commit %s is", hub->place->owner,
               hub->place->name, revision);
  return NULL;
}

char *
hf_hub_make_file_uri (const HfPlace *place, const char *commit, const char *path)
{
  g_autofree char *endpoint = hf_endpoint_get ();
  g_autofree char *encoded = http_encode (path, TRUE);

  return g_strdup_printf ("%s/datasets/%s/%s/resolve/%s/%s", endpoint, place->owner, place->name,
                          commit, encoded);
}

/* ---- entries of a tree ---- */

/* (transfer full) (nullable): of an entry that is a file; NULL and @error: it lacks something. */
static DlpFile *
make_file (const HfHub *hub, GVariant *entry, const char *path, GError **error)
{
  g_autofree char *uri = hf_place_make_uri (hub->place, hub->commit, path);
  g_autoptr (GVariant) lfs = g_variant_lookup_value (entry, "lfs", G_VARIANT_TYPE_VARDICT);
  g_autofree char *identity = NULL;
  const char *oid = NULL;
  gint64 size = -1;

  /* What the pointer file points to is what is read. */
  g_variant_lookup (lfs != NULL ? lfs : entry, "size", "x", &size);
  if (lfs != NULL && g_variant_lookup (lfs, "oid", "&s", &oid))
    identity = g_strconcat ("sha256=", oid, NULL);
  else if (g_variant_lookup (entry, "oid", "&s", &oid))
    identity = g_strconcat ("git=", oid, NULL);
  if (size >= 0 && identity != NULL)
    return dlp_file_new (uri, size, identity);
  g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_DAMAGED,
               "%s: the hub does not say its size and its oid", uri);
  return NULL;
}

static HfEntryKind
get_kind (GVariant *entry, const char **path)
{
  const char *type = "";

  *path = NULL;
  if (!g_variant_is_of_type (entry, G_VARIANT_TYPE_VARDICT) ||
      !g_variant_lookup (entry, "path", "&s", path))
    return HF_NOTHING;
  g_variant_lookup (entry, "type", "&s", &type);
  if (strcmp (type, "file") == 0)
    return HF_FILE;
  return strcmp (type, "directory") == 0 ? HF_FOLDER : HF_NOTHING;
}

/* (transfer full): item @i of an array of JSON. */
static GVariant *
get_item (GVariant *array, gsize i)
{
  g_autoptr (GVariant) boxed = g_variant_get_child_value (array, i);

  return g_variant_get_variant (boxed);
}

gboolean
hf_hub_look (const HfHub *hub, const char *path, HfEntryKind *kind, DlpFile **file, GError **error)
{
  g_autoptr (HfAccess) access = hf_access_new (hub->place);
  g_autofree char *uri = make_api_uri (hub->place, "paths-info", hub->commit, "");
  GString *form = g_string_new ("{\"paths\":[");
  g_auto (HttpDocument) document = { 0 };
  g_autoptr (GVariant) array = NULL;

  dlp_json_append_string (form, path, strlen (path));
  g_string_append (form, "],\"expand\":false}");
  access->form = g_string_free_to_bytes (form);
  *kind = HF_NOTHING;
  if (!fetch (hub, access, uri, "]", &document, error))
    return FALSE;
  array = parse_json (hub, document.body, G_VARIANT_TYPE ("av"), error);
  if (array == NULL)
    return FALSE;
  for (gsize i = 0; i < g_variant_n_children (array); i++)
    {
      g_autoptr (GVariant) entry = get_item (array, i);
      const char *found;
      HfEntryKind found_kind = get_kind (entry, &found);

      if (found_kind == HF_NOTHING || strcmp (found, path) != 0)
        continue;
      *kind = found_kind;
      if (found_kind != HF_FILE)
        return TRUE;
      *file = make_file (hub, entry, path, error);
      return *file != NULL;
    }
  return TRUE;
}

/* ---- listing ---- */

typedef struct
{
  const HfHub *hub;
  HfWanted wanted;
  gpointer data;
  GPtrArray *files;
  gboolean stop;
} Listing;

static gboolean
take_page (Listing *self, GVariant *array, GError **error)
{
  gsize n = g_variant_n_children (array);

  for (gsize i = 0; i < n && !self->stop; i++)
    {
      g_autoptr (GVariant) entry = get_item (array, i);
      const char *path;
      HfEntryKind kind = get_kind (entry, &path);
      DlpFile *file;

      if (path == NULL)
        {
          g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_DAMAGED,
                       "hf://datasets/%s/%s: an entry of the hub's listing has no path",
                       self->hub->place->owner, self->hub->place->name);
          return FALSE;
        }
      if (kind != HF_FILE || !self->wanted (self->data, path, &self->stop))
        continue;
      file = make_file (self->hub, entry, path, error);
      if (file == NULL)
        return FALSE;
      if (self->stop)
        g_ptr_array_set_size (self->files, 0);
      g_ptr_array_add (self->files, file);
    }
  return TRUE;
}

/* (transfer full) (nullable): the page that follows, at our endpoint: a mirror may name the hub
 * itself. */
static char *
find_next (HttpDocument *document)
{
  const char *header = soup_message_headers_get_list (document->headers, "Link");
  g_autofree char *link = header != NULL ? hf_link_find_next (header) : NULL;
  g_autofree char *endpoint = hf_endpoint_get ();
  const char *path;

  if (link == NULL || g_str_has_prefix (link, endpoint))
    return g_steal_pointer (&link);
  path = strstr (link, "/api/");
  return path != NULL ? g_strconcat (endpoint, path, NULL) : NULL;
}

gboolean
hf_hub_list (const HfHub *hub,
             const char *folder,
             gboolean is_recursive,
             HfWanted wanted,
             gpointer data,
             GPtrArray *files,
             GError **error)
{
  Listing listing = { hub, wanted, data, files, FALSE };
  g_autofree char *encoded = http_encode (folder, TRUE);
  g_autofree char *rest = g_strconcat (
      *folder != '\0' ? "/" : "", encoded,
      is_recursive ? "?recursive=true&expand=false" : "?recursive=false&expand=false", NULL);
  g_autofree char *uri = make_api_uri (hub->place, "tree", hub->commit, rest);

  while (uri != NULL && !listing.stop)
    {
      g_autoptr (HfAccess) access = hf_access_new (hub->place);
      g_auto (HttpDocument) document = { 0 };
      g_autoptr (GVariant) array = NULL;
      g_autoptr (GError) cause = NULL;
      g_autofree char *next = NULL;

      if (!fetch (hub, access, uri, "]", &document, &cause))
        {
          if (g_strcmp0 (access->code, "EntryNotFound") == 0)
            return TRUE;
          g_propagate_error (error, g_steal_pointer (&cause));
          return FALSE;
        }
      array = parse_json (hub, document.body, G_VARIANT_TYPE ("av"), error);
      if (array == NULL || !take_page (&listing, array, error))
        return FALSE;
      next = find_next (&document);
      if (g_strcmp0 (next, uri) == 0)
        {
          g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_DAMAGED,
                       "hf://datasets/%s/%s: the hub's listing does not go on: a page names itself "
                       "as the one that follows",
                       hub->place->owner, hub->place->name);
          return FALSE;
        }
      g_free (uri);
      uri = g_steal_pointer (&next);
    }
  return TRUE;
}

GBytes *
hf_hub_read_card (const HfHub *hub, GError **error)
{
  g_autoptr (HfAccess) access = hf_access_new (hub->place);
  g_autofree char *uri = hf_hub_make_file_uri (hub->place, hub->commit, "README.md");
  g_auto (HttpDocument) document = { 0 };
  g_autoptr (GError) cause = NULL;

  if (fetch (hub, access, uri, NULL, &document, &cause))
    return g_bytes_ref (document.body);
  if (g_strcmp0 (access->code, "EntryNotFound") == 0)
    g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_NO_INPUT,
                 "hf://datasets/%s/%s: it has no card (README.md) that says which files there are; "
                 "name them: hf://datasets/%s/%s/FILE",
                 hub->place->owner, hub->place->name, hub->place->owner, hub->place->name);
  else
    g_propagate_error (error, g_steal_pointer (&cause));
  return NULL;
}
