/* SPDX-License-Identifier: MIT */

#include <dlpipe/dlp-upstream.h>

#include "dlp-pad-private.h"

static gboolean
has_property (DlpElement *self, const char *property)
{
  GParamSpec *pspec = g_object_class_find_property (G_OBJECT_GET_CLASS (self), property);

  return pspec != NULL && (pspec->flags & G_PARAM_READABLE);
}

static void
add_producers (DlpElement *self, GPtrArray *list)
{
  guint n = dlp_element_get_n_inputs (self);

  for (guint i = 0; i < n; i++)
    {
      DlpPad *peer = dlp_pad_get_peer (dlp_element_get_input (self, i));

      if (peer != NULL && !g_ptr_array_find (list, peer->element, NULL))
        g_ptr_array_add (list, peer->element);
    }
}

GPtrArray *
dlp_element_list_upstream (DlpElement *self, const char *property)
{
  GPtrArray *found = g_ptr_array_new ();
  g_autoptr (GPtrArray) seen = g_ptr_array_new ();

  g_return_val_if_fail (DLP_IS_ELEMENT (self) && property != NULL, found);

  add_producers (self, seen);
  /* It grows while it is read. */
  for (guint i = 0; i < seen->len; i++)
    {
      if (has_property (seen->pdata[i], property))
        g_ptr_array_add (found, seen->pdata[i]);
      else
        add_producers (seen->pdata[i], seen);
    }

  return found;
}
