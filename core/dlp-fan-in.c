/* SPDX-License-Identifier: MIT */

#include <dlpipe/dlp-fan-in.h>

static char *
make_up_name (DlpElement *self)
{
  for (guint n = 0;; n++)
    {
      g_autofree char *name = g_strdup_printf ("in-%u", n);

      if (dlp_element_find_pad (self, name) == NULL)
        return g_steal_pointer (&name);
    }
}

DlpPad *
dlp_element_add_numbered_input (DlpElement *self, const char *name)
{
  g_autofree char *made_up = name == NULL ? make_up_name (self) : NULL;
  DlpPad *pad = name != NULL ? dlp_element_find_pad (self, name) : NULL;

  if (pad == NULL)
    return dlp_element_add_pad (self, name != NULL ? name : made_up, DLP_PAD_INPUT);
  return dlp_pad_get_direction (pad) == DLP_PAD_INPUT ? pad : NULL;
}

gboolean
dlp_element_check_inputs_alike (DlpElement *self, GError **error)
{
  DlpPad *first = dlp_element_get_input (self, 0);

  for (guint i = 1; i < dlp_element_get_n_inputs (self); i++)
    {
      DlpPad *pad = dlp_element_get_input (self, i);

      if (!dlp_schema_equal (dlp_pad_get_schema (first), dlp_pad_get_schema (pad)))
        {
          g_autofree char *a = dlp_schema_to_string (dlp_pad_get_schema (first));
          g_autofree char *b = dlp_schema_to_string (dlp_pad_get_schema (pad));

          g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_TYPE,
                       "its inputs must be alike: “%s” is %s, “%s” is %s", dlp_pad_get_name (first),
                       a, dlp_pad_get_name (pad), b);
          return FALSE;
        }
    }
  return TRUE;
}
