/* SPDX-License-Identifier: MIT */

#include "s3-list.h"

#include <string.h>

#include <dlpipe/dlp-error.h>
#include <dlpipe/dlp-file.h>

#include "dlp-http-document.h"
#include "dlp-http-stream.h"
#include "s3-xml.h"

#define SPECIAL "*?["

typedef struct
{
  S3Access *access;
  const HttpSettings *settings;
  char *name; /* in messages */
  const char *prefix;
  const char *pattern; /* what keys are held against */
  gboolean is_flat;    /* nothing below the folder of @prefix is asked for */
  gboolean is_folder;  /* @pattern is never a key itself */
  char *token;         /* (nullable): of the page that follows */
  GPtrArray *files;
} Listing;

static void
listing_clear (Listing *self)
{
  g_free (self->name);
  g_free (self->token);
  g_clear_pointer (&self->files, g_ptr_array_unref);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Listing, listing_clear)

/* (transfer full) */
static char *
make_name (S3Access *access, const char *key)
{
  g_autofree char *uri = g_strconcat ("s3://", access->bucket, "/", key, NULL);

  return dlp_uri_escape_for_display (uri);
}

static void
add_entry (Listing *self, const S3Entry *entry)
{
  g_autofree char *uri = g_strconcat ("s3://", self->access->bucket, "/", entry->key, NULL);
  g_autofree char *identity = http_make_identity (entry->etag, NULL);

  g_ptr_array_add (self->files, dlp_file_new (uri, entry->size, identity));
}

/* TRUE: nothing else is wanted. */
static gboolean
take_entry (Listing *self, const S3Entry *entry)
{
  /* What stands for a folder. */
  if (g_str_has_suffix (entry->key, "/"))
    return FALSE;
  if (!self->is_folder && strcmp (entry->key, self->pattern) == 0)
    {
      g_ptr_array_set_size (self->files, 0);
      add_entry (self, entry);
      return TRUE;
    }
  if (dlp_glob_match_path (self->pattern, entry->key))
    add_entry (self, entry);
  return FALSE;
}

static void
set_query (Listing *self)
{
  const char *pairs[11] = { "list-type", "2", "encoding-type", "url", "prefix", self->prefix };
  guint n = 6;

  if (self->is_flat)
    {
      pairs[n++] = "delimiter";
      pairs[n++] = "/";
    }
  if (self->token != NULL)
    {
      pairs[n++] = "continuation-token";
      pairs[n++] = self->token;
    }
  s3_access_set_query (self->access, pairs);
}

static gboolean
check_token (Listing *self, const char *next, GError **error)
{
  if (next == NULL || g_strcmp0 (next, self->token) != 0)
    return TRUE;
  g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_DAMAGED,
               "%s: the listing does not go on: a page names itself as the one that follows",
               self->name);
  return FALSE;
}

static gboolean
read_page (Listing *self, gboolean *is_done, GCancellable *cancellable, GError **error)
{
  g_autofree char *uri = NULL;
  g_auto (HttpDocument) document = { 0 };
  g_auto (S3Page) page = { NULL };
  HttpQuery query = { .name = self->name,
                      .ending = "</ListBucketResult>",
                      .access = &self->access->parent };

  set_query (self);
  uri = s3_access_make_uri (self->access);
  query.uri = uri;
  if (!http_fetch (&query, self->settings, &document, cancellable, error))
    return FALSE;
  if (!s3_page_parse (&page, g_bytes_get_data (document.body, NULL),
                      g_bytes_get_size (document.body), error))
    {
      g_prefix_error (error, "%s: ", self->name);
      return FALSE;
    }
  if (!check_token (self, page.next, error))
    return FALSE;
  for (guint i = 0; i < page.entries->len && !*is_done; i++)
    *is_done = take_entry (self, g_ptr_array_index (page.entries, i));
  *is_done |= page.next == NULL;
  g_free (self->token);
  self->token = g_steal_pointer (&page.next);
  return TRUE;
}

static GPtrArray *
read_pages (Listing *self, GCancellable *cancellable, GError **error)
{
  gboolean is_done = FALSE;

  self->files = g_ptr_array_new_with_free_func (g_object_unref);
  while (!is_done)
    if (!read_page (self, &is_done, cancellable, error))
      return NULL;
  /* Not every server lists in that order. */
  http_files_sort (self->files);
  return g_steal_pointer (&self->files);
}

gboolean
s3_list_is_pattern (const char *key)
{
  return strpbrk (key, SPECIAL) != NULL;
}

GPtrArray *
s3_list_glob (S3Access *access,
              const char *pattern,
              const HttpSettings *settings,
              GCancellable *cancellable,
              GError **error)
{
  gsize length = strcspn (pattern, SPECIAL);
  g_autofree char *prefix = g_strndup (pattern, length);
  g_auto (Listing) self = { .access = access,
                            .settings = settings,
                            .name = make_name (access, pattern),
                            .prefix = prefix,
                            .pattern = pattern };
  g_autoptr (GPtrArray) files = NULL;

  self.is_flat = strchr (pattern + length, '/') == NULL && strstr (pattern, "**") == NULL;
  files = read_pages (&self, cancellable, error);
  if (files == NULL || files->len > 0)
    return g_steal_pointer (&files);
  g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_NO_INPUT, "%s: no object matches", self.name);
  return NULL;
}

GPtrArray *
s3_list_folder (S3Access *access,
                const char *prefix,
                const HttpSettings *settings,
                GCancellable *cancellable,
                GError **error)
{
  g_autofree char *pattern = g_strconcat (prefix, "*", NULL);
  g_auto (Listing) self = { .access = access,
                            .settings = settings,
                            .name = make_name (access, prefix),
                            .prefix = prefix,
                            .pattern = pattern,
                            .is_flat = TRUE,
                            .is_folder = TRUE };

  return read_pages (&self, cancellable, error);
}
