/* SPDX-License-Identifier: MIT */

#include "dlp-setting-private.h"

#include <string.h>

#include <dlpipe/dlp-source.h>

#include "dlp-element-private.h"
#include "dlp-file-private.h"
#include "dlp-suggest-private.h"

/* A scheme of one source: what is set of it holds for nobody else. */
typedef struct
{
  char *name; /* as it was first called */
  DlpScheme *scheme;
} OwnScheme;

static void
own_scheme_free (gpointer data)
{
  OwnScheme *own = data;

  g_free (own->name);
  g_object_unref (own->scheme);
  g_free (own);
}

DlpScheme *
dlp_element_find_own_scheme (DlpElement *self, GType type)
{
  GPtrArray *schemes = dlp_element_get_private (self)->schemes;

  for (guint i = 0; schemes != NULL && i < schemes->len; i++)
    {
      OwnScheme *own = g_ptr_array_index (schemes, i);

      if (G_OBJECT_TYPE (own->scheme) == type)
        return own->scheme;
    }
  return NULL;
}

static DlpScheme *
add_own_scheme (DlpElement *self, const char *name, GType type)
{
  DlpElementPrivate *priv = dlp_element_get_private (self);
  OwnScheme *own = g_new0 (OwnScheme, 1);

  if (priv->schemes == NULL)
    priv->schemes = g_ptr_array_new_with_free_func (own_scheme_free);
  own->name = g_strdup (name);
  own->scheme = g_object_new (type, NULL);
  g_ptr_array_add (priv->schemes, own);
  return own->scheme;
}

/* (nullable): the source before a reader that a file comes from. */
static DlpElement *
find_source (DlpElement *reader, const DlpCoordinate *of)
{
  g_autoptr (GPtrArray) sources = dlp_element_list_sources (reader);

  /* In a dry run the coordinate is none of the source's. */
  if (sources->len == 1)
    return sources->pdata[0];
  for (guint i = 0; i < sources->len; i++)
    if (dlp_element_get_stage (sources->pdata[i]) == of->stage &&
        dlp_element_get_ordinal (sources->pdata[i]) == of->source)
      return sources->pdata[i];
  return NULL;
}

DlpScheme *
dlp_element_find_file_scheme (DlpElement *self, const DlpCoordinate *of, const char *uri)
{
  DlpElement *source, *before;
  DlpScheme *scheme;

  if (!dlp_element_get_context (self)->has_own_schemes)
    return NULL;
  source = find_source (self, of);
  if (source == NULL || dlp_element_get_private (source)->schemes == NULL)
    return NULL;
  before = dlp_element_set_reads_for (source);
  scheme = dlp_scheme_for_uri (uri, NULL);
  dlp_element_set_reads_for (before);
  return scheme;
}

/* ---- keys ---- */

/* (transfer full) (nullable): the scheme's name in "NAME.PROPERTY". */
static char *
take_scheme_name (const char *key, const char **property)
{
  const char *dot = strchr (key, '.');

  *property = dot != NULL ? dot + 1 : key;
  return dot != NULL ? g_ascii_strdown (key, dot - key) : NULL;
}

static GParamSpec *
find_writable (GType type, const char *name)
{
  g_autoptr (GTypeClass) klass = g_type_class_ref (type);
  GParamSpec *pspec = g_object_class_find_property (G_OBJECT_CLASS (klass), name);

  return pspec != NULL && (pspec->flags & G_PARAM_WRITABLE) ? pspec : NULL;
}

GParamSpec *
dlp_element_find_setting (DlpElement *self, const char *key)
{
  const char *property;
  g_autofree char *name = take_scheme_name (key, &property);
  GType type;

  if (name == NULL)
    return find_writable (G_OBJECT_TYPE (self), key);
  type = DLP_IS_SOURCE (self) ? dlp_scheme_find_type (name) : G_TYPE_INVALID;
  return type != G_TYPE_INVALID ? find_writable (type, property) : NULL;
}

GObject *
dlp_element_get_setting_object (DlpElement *self, const char *key)
{
  const char *property;
  g_autofree char *name = take_scheme_name (key, &property);
  GType type;
  DlpScheme *own;

  if (name == NULL)
    return G_OBJECT (self);
  type = dlp_scheme_find_type (name);
  own = dlp_element_find_own_scheme (self, type);
  return G_OBJECT (own != NULL ? own : add_own_scheme (self, name, type));
}

/* ---- what else might be meant ---- */

/* (transfer full): "PREFIXname" of all that can be set. */
static char **
list_writable (GType type, const char *prefix)
{
  g_autoptr (GTypeClass) klass = g_type_class_ref (type);
  guint n;
  g_autofree GParamSpec **pspecs = g_object_class_list_properties (G_OBJECT_CLASS (klass), &n);
  g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();

  for (guint i = 0; i < n; i++)
    {
      g_autofree char *name = g_strconcat (prefix, pspecs[i]->name, NULL);

      if (pspecs[i]->flags & G_PARAM_WRITABLE)
        g_strv_builder_add (builder, name);
    }
  return g_strv_builder_end (builder);
}

static char *
suggest (const char *key, char **names, const char *whose)
{
  const char *near = dlp_suggest (key, (const char *const *) names);
  g_autofree char *all = NULL;

  if (near != NULL)
    return g_strdup_printf ("did you mean “%s”?", near);
  all = g_strjoinv (", ", names);
  return all[0] != '\0' ? g_strdup_printf ("%s properties are: %s", whose, all) :
                          g_strdup_printf ("%s has no properties",
                                           strcmp (whose, "its") == 0 ? "it" : "the scheme");
}

/* "htp.timeout" */
static char *
suggest_scheme (const char *name, const char *property)
{
  g_auto (GStrv) names = dlp_scheme_list_names ();
  const char *near = dlp_suggest (name, (const char *const *) names);
  g_autofree char *all = NULL;

  if (near != NULL)
    return g_strdup_printf ("did you mean “%s.%s”?", near, property);
  all = g_strjoinv (", ", names);
  return g_strdup_printf ("the schemes are: %s", all);
}

char *
dlp_element_explain_setting (DlpElement *self, const char *whose, const char *key, char **hint)
{
  const char *property;
  g_autofree char *name = take_scheme_name (key, &property);
  g_autofree char *prefix = g_strconcat (name != NULL ? name : "", ".", NULL);
  g_auto (GStrv) names = NULL;
  GType type;

  if (name == NULL)
    {
      names = list_writable (G_OBJECT_TYPE (self), "");
      *hint = suggest (key, names, "its");
      return g_strdup_printf ("%s has no property “%s”", whose, key);
    }
  if (!DLP_IS_SOURCE (self))
    {
      *hint = g_strdup ("what is set of a scheme stands behind the source that reads by it");
      return g_strdup_printf ("%s has no property “%s”", whose, key);
    }
  type = dlp_scheme_find_type (name);
  if (type == G_TYPE_INVALID)
    {
      *hint = suggest_scheme (name, property);
      return g_strdup_printf ("there is no scheme “%s”", name);
    }
  names = list_writable (type, prefix);
  *hint = suggest (key, names, "the scheme's");
  return g_strdup_printf ("the scheme %s has no property “%s”", name, property);
}

/* ---- all of them ---- */

static void
setting_free (gpointer data)
{
  DlpSetting *setting = data;

  g_free (setting->key);
  g_free (setting);
}

static void
add_settings (GPtrArray *settings, GObject *object, const char *scheme)
{
  guint n;
  g_autofree GParamSpec **pspecs = g_object_class_list_properties (G_OBJECT_GET_CLASS (object), &n);

  for (guint i = 0; i < n; i++)
    {
      DlpSetting *setting = g_new (DlpSetting, 1);

      *setting = (DlpSetting){ object, pspecs[i],
                               scheme != NULL ? g_strconcat (scheme, ".", pspecs[i]->name, NULL) :
                                                g_strdup (pspecs[i]->name) };
      g_ptr_array_add (settings, setting);
    }
}

GPtrArray *
dlp_element_list_settings (DlpElement *self)
{
  GPtrArray *settings = g_ptr_array_new_with_free_func (setting_free);
  GPtrArray *schemes = dlp_element_get_private (self)->schemes;

  add_settings (settings, G_OBJECT (self), NULL);
  for (guint i = 0; schemes != NULL && i < schemes->len; i++)
    {
      OwnScheme *own = g_ptr_array_index (schemes, i);

      add_settings (settings, G_OBJECT (own->scheme), own->name);
    }
  return settings;
}

char *
dlp_element_name_setting (DlpElement *self, const DlpSetting *setting)
{
  g_autoptr (GPtrArray) settings = dlp_element_list_settings (self);

  for (guint i = 0; i < settings->len; i++)
    {
      const DlpSetting *known = g_ptr_array_index (settings, i);

      if (known->object == setting->object && known->pspec == setting->pspec)
        return g_strconcat (dlp_element_get_name (self), ".", known->key, NULL);
    }
  g_return_val_if_reached (NULL);
}
