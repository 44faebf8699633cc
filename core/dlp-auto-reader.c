/* SPDX-License-Identifier: MIT */

#include "dlp-auto-reader-private.h"
#include "dlp-reader-private.h"

#include <string.h>

#include <dlpipe/dlp-registry.h>
#include <dlpipe/dlp-source.h>

typedef struct
{
  char *key;
  char *value;
} Setting;

struct _DlpAutoReader
{
  DlpReader parent_instance;

  GArray *settings; /* of Setting: for the reader that takes its place */
};

G_DEFINE_FINAL_TYPE (DlpAutoReader, dlp_auto_reader, DLP_TYPE_READER)

static void
setting_clear (gpointer data)
{
  Setting *self = data;

  g_free (self->key);
  g_free (self->value);
}

void
dlp_auto_reader_add_setting (DlpAutoReader *self, const char *key, const char *value)
{
  Setting setting = { g_strdup (key), g_strdup (value) };

  g_array_append_val (self->settings, setting);
}

void
dlp_auto_reader_append_settings (DlpAutoReader *self, GString *text)
{
  for (guint i = 0; i < self->settings->len; i++)
    {
      const Setting *setting = &g_array_index (self->settings, Setting, i);

      g_string_append_printf (text, " %s=\"", setting->key);
      for (const char *p = setting->value; *p != '\0'; p++)
        {
          if (*p == '"' || *p == '\\')
            g_string_append_c (text, '\\');
          g_string_append_c (text, *p);
        }
      g_string_append_c (text, '"');
    }
}

/* ---- the files before it ---- */

static gboolean
add_files (DlpPad *input, GPtrArray *files, GError **error)
{
  DlpElement *element = dlp_pad_get_element (dlp_pad_get_peer (input));
  DlpSourceClass *klass = DLP_IS_SOURCE (element) ? DLP_SOURCE_GET_CLASS (element) : NULL;
  DlpFile *file = NULL;

  if (klass != NULL && klass->get_file != NULL)
    for (guint64 i = 0; (file = klass->get_file (DLP_SOURCE (element), i)) != NULL; i++)
      g_ptr_array_add (files, g_object_ref (file));
  else if (klass != NULL)
    {
      g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE,
                   "%s does not know its files before it runs; put the reader itself here",
                   dlp_element_get_name (element));
      return FALSE;
    }
  for (guint i = 0; i < dlp_element_get_n_inputs (element); i++)
    if (!add_files (dlp_element_get_input (element, i), files, error))
      return FALSE;
  return TRUE;
}

/* ---- the reader in its place ---- */

/* What every reader has is set on both. */
static void
copy_common (DlpAutoReader *self, DlpElement *chosen)
{
  guint n;
  g_autoptr (GTypeClass) klass = g_type_class_ref (DLP_TYPE_READER);
  g_autofree GParamSpec **pspecs = g_object_class_list_properties (G_OBJECT_CLASS (klass), &n);

  for (guint i = 0; i < n; i++)
    {
      g_auto (GValue) value = G_VALUE_INIT;
      const GParamFlags both = G_PARAM_READABLE | G_PARAM_WRITABLE;

      if ((pspecs[i]->flags & both) != both || pspecs[i]->owner_type != DLP_TYPE_READER)
        continue;
      g_value_init (&value, pspecs[i]->value_type);
      g_object_get_property (G_OBJECT (self), pspecs[i]->name, &value);
      g_object_set_property (G_OBJECT (chosen), pspecs[i]->name, &value);
    }
}

/* For samples. */
static void
copy_head (DlpAutoReader *self, DlpReader *chosen)
{
  const DlpReaderPrivate *priv = dlp_reader_get_private (DLP_READER (self));

  if (priv->read_by_codec != NULL)
    dlp_reader_set_head (chosen, priv->head_share, priv->head_bytes);
}

static gboolean
is_first_of_its_key (DlpAutoReader *self, guint index)
{
  const char *key = g_array_index (self->settings, Setting, index).key;

  for (guint i = 0; i < index; i++)
    if (strcmp (g_array_index (self->settings, Setting, i).key, key) == 0)
      return FALSE;
  return TRUE;
}

static gboolean
apply_settings (DlpAutoReader *self, DlpElement *chosen, GError **error)
{
  for (guint i = 0; i < self->settings->len; i++)
    {
      const Setting *setting = &g_array_index (self->settings, Setting, i);

      if (!dlp_element_set_property_text (chosen, setting->key, setting->value,
                                          is_first_of_its_key (self, i), error))
        {
          g_prefix_error (error, "the files are for %s: ", dlp_element_get_factory (chosen));
          return FALSE;
        }
    }
  return TRUE;
}

DlpElement *
dlp_auto_reader_make_chosen (DlpAutoReader *self, GError **error)
{
  DlpElement *element = DLP_ELEMENT (self);
  g_autoptr (GPtrArray) files = g_ptr_array_new_with_free_func (g_object_unref);
  g_autoptr (DlpElement) chosen = NULL;
  g_autofree char *factory = NULL;
  g_autofree char *why = NULL;

  if (!add_files (dlp_element_get_input (element, 0), files, error))
    return NULL;
  factory = dlp_auto_reader_choose (files, dlp_element_get_cancellable (element), &why, error);
  if (factory == NULL)
    return NULL;
  chosen = dlp_element_make (factory, dlp_element_get_name (element), error);
  if (chosen == NULL)
    return NULL;
  copy_common (self, chosen);
  copy_head (self, DLP_READER (chosen));
  if (!apply_settings (self, chosen, error))
    return NULL;
  g_message ("%s is a %s, %s", dlp_element_get_name (element), factory, why);
  return g_steal_pointer (&chosen);
}

/* ---- object ---- */

/* Only where it stands outside of a pipeline. */
static DlpSchema *
dlp_auto_reader_get_schema (DlpReader *reader, GError **error)
{
  g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE,
               "the files that it is for are known in a pipeline alone");
  return NULL;
}

static void
dlp_auto_reader_finalize (GObject *object)
{
  g_array_unref (DLP_AUTO_READER (object)->settings);
  G_OBJECT_CLASS (dlp_auto_reader_parent_class)->finalize (object);
}

static void
dlp_auto_reader_class_init (DlpAutoReaderClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = dlp_auto_reader_finalize;
  DLP_READER_CLASS (klass)->get_schema = dlp_auto_reader_get_schema;
  dlp_element_class_set_description (
      DLP_ELEMENT_CLASS (klass),
      "The reader that the names and first bytes of the files call for; takes its properties",
      "file-source location=data/* ! auto-reader ! null-sink");
}

static void
dlp_auto_reader_init (DlpAutoReader *self)
{
  self->settings = g_array_new (FALSE, FALSE, sizeof (Setting));
  g_array_set_clear_func (self->settings, setting_clear);
}
