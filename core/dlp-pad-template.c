/* SPDX-License-Identifier: MIT */

#include <string.h>

#include "dlp-registry-private.h"

static GQuark
templates_quark (void)
{
  return g_quark_from_static_string ("dlp-pad-templates");
}

void
dlp_element_class_add_pad_template (DlpElementClass *klass,
                                    const char *name,
                                    DlpPadDirection direction,
                                    DlpPadPresence presence,
                                    DlpPadCarries carries,
                                    const char *description)
{
  DlpPadTemplate *added;
  GPtrArray *own;
  GType type;

  g_return_if_fail (DLP_IS_ELEMENT_CLASS (klass));
  g_return_if_fail (name != NULL);

  type = G_TYPE_FROM_CLASS (klass);
  own = g_type_get_qdata (type, templates_quark ());
  if (own == NULL)
    {
      own = g_ptr_array_new ();
      g_type_set_qdata (type, templates_quark (), own);
    }
  added = g_new0 (DlpPadTemplate, 1);
  added->name = g_intern_string (name);
  added->direction = direction;
  added->presence = presence;
  added->carries = carries;
  added->description = description;
  g_ptr_array_add (own, added);
}

static bool
has_name (GPtrArray *found, const char *name)
{
  for (guint i = 0; i < found->len; i++)
    if (strcmp (((DlpPadTemplate *) g_ptr_array_index (found, i))->name, name) == 0)
      return true;
  return false;
}

GPtrArray *
dlp_element_type_list_pad_templates (GType type)
{
  GPtrArray *found = g_ptr_array_new ();

  for (; type != G_TYPE_INVALID; type = g_type_parent (type))
    {
      GPtrArray *own = g_type_get_qdata (type, templates_quark ());

      for (guint i = 0; own != NULL && i < own->len; i++)
        {
          DlpPadTemplate *pad = g_ptr_array_index (own, i);

          if (!has_name (found, pad->name))
            g_ptr_array_add (found, pad);
        }
    }
  return found;
}
