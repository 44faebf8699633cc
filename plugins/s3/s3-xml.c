/* SPDX-License-Identifier: MIT */

#include "s3-xml.h"

#include <string.h>

#include <dlpipe/dlp-error.h>

/* ---- one element ---- */

typedef struct
{
  const char *name;
  GString *text; /* (nullable): the element has begun */
  gboolean is_done;
} Find;

static void
find_start (GMarkupParseContext *context,
            const char *name,
            const char **attributes,
            const char **values,
            gpointer data,
            GError **error)
{
  Find *self = data;

  if (self->text == NULL && strcmp (name, self->name) == 0)
    self->text = g_string_new (NULL);
}

static void
find_text (GMarkupParseContext *context,
           const char *text,
           gsize size,
           gpointer data,
           GError **error)
{
  Find *self = data;

  if (self->text != NULL && !self->is_done)
    g_string_append_len (self->text, text, (gssize) size);
}

static void
find_end (GMarkupParseContext *context, const char *name, gpointer data, GError **error)
{
  Find *self = data;

  self->is_done |= self->text != NULL && strcmp (name, self->name) == 0;
}

char *
s3_xml_find (const char *text, gsize size, const char *name)
{
  static const GMarkupParser parser = { find_start, find_end, find_text };
  Find find = { .name = name };
  GMarkupParseContext *context =
      g_markup_parse_context_new (&parser, G_MARKUP_TREAT_CDATA_AS_TEXT, &find, NULL);

  g_markup_parse_context_parse (context, text, (gssize) size, NULL);
  g_markup_parse_context_free (context);
  if (find.is_done)
    return g_strstrip (g_string_free (find.text, FALSE));
  if (find.text != NULL)
    g_string_free (find.text, TRUE);
  return NULL;
}

/* ---- a listing ---- */

typedef struct
{
  S3Page *page;
  guint depth;
  gboolean in_contents;
  S3Entry *entry; /* (nullable): the one that is read */
  GString *text;
  gboolean is_truncated, is_told; /* whether it goes on; whether that was said */
  gboolean is_encoded;
} Listing;

static void
entry_free (gpointer data)
{
  S3Entry *self = data;

  g_free (self->key);
  g_free (self->etag);
  g_free (self);
}

static void
page_start (GMarkupParseContext *context,
            const char *name,
            const char **attributes,
            const char **values,
            gpointer data,
            GError **error)
{
  Listing *self = data;

  self->depth++;
  g_string_truncate (self->text, 0);
  if (self->depth == 1 && strcmp (name, "ListBucketResult") != 0)
    g_set_error (error, G_MARKUP_ERROR, G_MARKUP_ERROR_UNKNOWN_ELEMENT,
                 "<%s> where <ListBucketResult> was expected", name);
  if (self->depth == 2 && strcmp (name, "Contents") == 0)
    {
      self->in_contents = TRUE;
      self->entry = g_new0 (S3Entry, 1);
      self->entry->size = -1;
      g_ptr_array_add (self->page->entries, self->entry);
    }
}

static void
page_text (GMarkupParseContext *context,
           const char *text,
           gsize size,
           gpointer data,
           GError **error)
{
  g_string_append_len (((Listing *) data)->text, text, (gssize) size);
}

static void
take_text (Listing *self, char **place)
{
  g_free (*place);
  *place = g_strndup (self->text->str, self->text->len);
}

static void
take_size (Listing *self, GError **error)
{
  g_autofree char *text = g_strstrip (g_strdup (self->text->str));
  guint64 size;

  if (g_ascii_string_to_unsigned (text, 10, 0, G_MAXINT64, &size, NULL))
    self->entry->size = (gint64) size;
  else
    g_set_error (error, G_MARKUP_ERROR, G_MARKUP_ERROR_INVALID_CONTENT,
                 "<Size> is a number from 0 to 2^63-1, not \"%.40s\"", text);
}

static void
end_of_contents (Listing *self, GError **error)
{
  if (self->entry->key == NULL || self->entry->size < 0)
    g_set_error (error, G_MARKUP_ERROR, G_MARKUP_ERROR_INVALID_CONTENT, "<Contents> %u has no <%s>",
                 self->page->entries->len, self->entry->key == NULL ? "Key" : "Size");
  self->in_contents = FALSE;
}

static void
page_end (GMarkupParseContext *context, const char *name, gpointer data, GError **error)
{
  Listing *self = data;
  gboolean is_known = self->depth == 3 && self->in_contents;

  if (is_known && strcmp (name, "Key") == 0)
    take_text (self, &self->entry->key);
  else if (is_known && strcmp (name, "ETag") == 0)
    take_text (self, &self->entry->etag);
  else if (is_known && strcmp (name, "Size") == 0)
    take_size (self, error);
  else if (self->depth == 2 && self->in_contents)
    end_of_contents (self, error);
  else if (self->depth == 2 && strcmp (name, "NextContinuationToken") == 0)
    take_text (self, &self->page->next);
  else if (self->depth == 2 && strcmp (name, "IsTruncated") == 0)
    {
      self->is_truncated = strcmp (g_strstrip (self->text->str), "true") == 0;
      self->is_told = TRUE;
    }
  else if (self->depth == 2 && strcmp (name, "EncodingType") == 0)
    self->is_encoded = strcmp (g_strstrip (self->text->str), "url") == 0;
  g_string_truncate (self->text, 0);
  self->depth--;
}

/* As in a form: '+' is a space. FALSE: %00, or no escape. */
static gboolean
decode (char *text)
{
  char *out = text;

  for (const char *p = text; *p != '\0'; p++)
    {
      if (*p != '%')
        {
          *out++ = *p == '+' ? ' ' : *p;
          continue;
        }
      if (!g_ascii_isxdigit (p[1]) || !g_ascii_isxdigit (p[2]) || (p[1] == '0' && p[2] == '0'))
        return FALSE;
      *out++ = (char) (g_ascii_xdigit_value (p[1]) * 16 + g_ascii_xdigit_value (p[2]));
      p += 2;
    }
  *out = '\0';
  return TRUE;
}

/* Some servers leave out the quotes that they put into the header. */
static void
add_quotes (S3Entry *entry)
{
  char *etag = entry->etag;

  if (etag == NULL || *etag == '"' || *etag == '\0' || g_str_has_prefix (etag, "W/"))
    return;
  entry->etag = g_strconcat ("\"", etag, "\"", NULL);
  g_free (etag);
}

static gboolean
finish_page (Listing *self, GError **error)
{
  for (guint i = 0; i < self->page->entries->len; i++)
    {
      S3Entry *entry = g_ptr_array_index (self->page->entries, i);

      add_quotes (entry);
      if (self->is_encoded && !decode (entry->key))
        {
          g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_DAMAGED,
                       "a listing of S3: <Key> %u cannot be decoded: \"%.100s\"", i, entry->key);
          return FALSE;
        }
    }
  /* A server that does not say so goes on where it says with what. */
  if (!self->is_told)
    self->is_truncated = self->page->next != NULL && *self->page->next != '\0';
  if (!self->is_truncated)
    g_clear_pointer (&self->page->next, g_free);
  else if (self->page->next == NULL || *self->page->next == '\0')
    {
      g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_DAMAGED,
                   "a listing of S3 goes on, and has no <NextContinuationToken>; only servers with "
                   "ListObjectsV2 can be listed");
      return FALSE;
    }
  return TRUE;
}

gboolean
s3_page_parse (S3Page *page, const char *text, gsize size, GError **error)
{
  static const GMarkupParser parser = { page_start, page_end, page_text };
  Listing self = { .page = page, .text = g_string_new (NULL) };
  GMarkupParseContext *context =
      g_markup_parse_context_new (&parser, G_MARKUP_TREAT_CDATA_AS_TEXT, &self, NULL);
  g_autoptr (GError) cause = NULL;
  gboolean ok;

  page->entries = g_ptr_array_new_with_free_func (entry_free);
  ok = g_markup_parse_context_parse (context, text, (gssize) size, &cause) &&
       g_markup_parse_context_end_parse (context, &cause);
  g_markup_parse_context_free (context);
  g_string_free (self.text, TRUE);
  if (ok)
    return finish_page (&self, error);
  g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_DAMAGED, "not a listing of S3: %s",
               cause->message);
  return FALSE;
}

void
s3_page_clear (S3Page *page)
{
  g_clear_pointer (&page->entries, g_ptr_array_unref);
  g_clear_pointer (&page->next, g_free);
}
