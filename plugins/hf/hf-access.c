/* SPDX-License-Identifier: MIT */

/* Who asks, and what the hub's refusals mean. */

#include <string.h>

#include "hf-hub.h"
#include "hf-token.h"

static gboolean
prepare (HttpAccess *access,
         SoupMessage *message,
         gboolean is_foreign,
         GCancellable *cancellable,
         GError **error)
{
  HfAccess *self = (HfAccess *) access;
  g_autofree char *token = hf_token_find ();

  self->has_token = token != NULL;
  if (token != NULL && !is_foreign)
    {
      g_autofree char *value = g_strconcat ("Bearer ", token, NULL);

      soup_message_headers_replace (soup_message_get_request_headers (message), "Authorization",
                                    value);
    }
  if (self->form != NULL)
    {
      soup_message_set_method (message, SOUP_METHOD_POST);
      soup_message_set_request_body_from_bytes (message, "application/json", self->form);
    }
  return TRUE;
}

/* (transfer full) (nullable) */
static char *
explain (const HfAccess *self, guint status)
{
  const char *code = self->code != NULL ? self->code : "";

  if (strcmp (code, "GatedRepo") == 0)
    return g_strdup_printf ("the dataset is gated: ask for access at %s%s", self->page,
                            self->has_token ? ", with the account that the token is of" :
                                              ", and give the token of that account (HF_TOKEN)");
  if (strcmp (code, "RevisionNotFound") == 0)
    return g_strdup_printf ("there is no such branch, tag or commit at %s", self->page);
  if (strcmp (code, "EntryNotFound") == 0)
    return g_strdup ("there is no such file in that commit");
  if (strcmp (code, "DisabledRepo") == 0)
    return g_strdup_printf ("the dataset has been disabled: see %s", self->page);
  if (strcmp (code, "RepoNotFound") == 0 || status == 401)
    return g_strdup_printf ("there is no dataset at %s, or it is private%s", self->page,
                            self->has_token ?
                                ", and the token is not one that may read it" :
                                ": give a token (HF_TOKEN, or log in by hf auth login)");
  if (status == 403)
    return g_strdup_printf ("the token%s may not read it",
                            self->has_token ? "" : ", which is none (HF_TOKEN),");
  return NULL;
}

static guint
judge (HttpAccess *access, HttpResponse *response, guint done, GCancellable *cancellable)
{
  HfAccess *self = (HfAccess *) access;
  const char *said = soup_message_headers_get_one (response->headers, "X-Error-Message");

  g_free (self->code);
  self->code = g_strdup (soup_message_headers_get_one (response->headers, "X-Error-Code"));
  response->detail = explain (self, response->status);
  if (response->detail == NULL)
    response->detail = said != NULL ? g_strdup_printf ("%.500s", said) : NULL;
  return 0;
}

static void
free_access (HttpAccess *access)
{
  hf_access_free ((HfAccess *) access);
}

HfAccess *
hf_access_new (const HfPlace *place)
{
  HfAccess *self = g_new0 (HfAccess, 1);
  g_autofree char *endpoint = hf_endpoint_get ();

  self->parent.prepare = prepare;
  self->parent.judge = judge;
  self->parent.free = free_access;
  self->page = g_strdup_printf ("%s/datasets/%s/%s", endpoint, place->owner, place->name);
  return self;
}

void
hf_access_free (HfAccess *self)
{
  g_clear_pointer (&self->form, g_bytes_unref);
  g_free (self->page);
  g_free (self->code);
  g_free (self);
}
