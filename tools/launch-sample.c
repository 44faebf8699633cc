/* SPDX-License-Identifier: MIT */

/* Which files a dry run reads, and how much of them. */

#include "launch-sample.h"

#include <string.h>

#include <dlpipe/dlp-decoder.h>
#include <dlpipe/dlp-plugin.h>
#include <dlpipe/dlp-random.h>

/* Of each group, where there are so many: one file is often unlike the others. */
#define MIN_FILES 8

void
launch_copy_properties (DlpElement *from, DlpElement *to)
{
  const guint rw = G_PARAM_READABLE | G_PARAM_WRITABLE;
  guint n;
  g_autofree GParamSpec **pspecs = g_object_class_list_properties (G_OBJECT_GET_CLASS (from), &n);

  for (guint i = 0; i < n; i++)
    {
      g_auto (GValue) value = G_VALUE_INIT;

      if ((pspecs[i]->flags & rw) != rw)
        continue;
      g_value_init (&value, pspecs[i]->value_type);
      g_object_get_property (G_OBJECT (from), pspecs[i]->name, &value);
      g_object_set_property (G_OBJECT (to), pspecs[i]->name, &value);
    }
}

bool
launch_copy_schemes (DlpPipeline *from, DlpPipeline *to, const char *element, GError **error)
{
  g_autoptr (GVariant) settings = dlp_pipeline_get_settings (from);
  GVariantIter iter;
  const char *name, *property, *value;

  g_variant_iter_init (&iter, settings);
  while (g_variant_iter_next (&iter, "(&s&s&s&s)", &name, &property, &value, NULL))
    if (strcmp (name, element) == 0 && strchr (property, '.') != NULL && *value != '\0' &&
        !dlp_pipeline_set_property_text (to, name, property, value, error))
      return false;
  return true;
}

static void
source_free (gpointer data)
{
  LaunchSource *source = data;

  g_clear_pointer (&source->files, g_array_unref);
  g_free (source->name);
  g_free (source);
}

/* ---- listing ---- */

bool
launch_is_file_source (DlpElement *element)
{
  GParamSpec *pspec = g_object_class_find_property (G_OBJECT_GET_CLASS (element), "epochs");

  return strcmp (dlp_element_get_factory (element), "file-source") == 0 && pspec != NULL &&
         pspec->value_type == G_TYPE_UINT;
}

/* In the order of the first epoch: by a run of the source alone. */
static GArray *
list_files (DlpPipeline *from, DlpElement *element, guint64 seed, GError **error)
{
  g_autoptr (DlpPipeline) pipeline = dlp_pipeline_new ();
  g_autoptr (DlpElement) lister =
      dlp_element_make (LAUNCH_LISTER_FACTORY, LAUNCH_LISTER_FACTORY, error);
  g_autoptr (DlpElement) source =
      dlp_element_make (dlp_element_get_factory (element), dlp_element_get_name (element), error);

  if (lister == NULL || source == NULL)
    return NULL;
  launch_copy_properties (element, source);
  g_object_set (source, "epochs", 1u, NULL);
  g_object_set (pipeline, "seed", seed, NULL);
  if (!dlp_pipeline_add (pipeline, source, error) || !dlp_pipeline_add (pipeline, lister, error) ||
      !launch_copy_schemes (from, pipeline, dlp_element_get_name (element), error) ||
      !dlp_pipeline_link (pipeline, source, NULL, lister, NULL, error) ||
      !dlp_pipeline_run (pipeline, NULL, error))
    return NULL;
  return g_array_ref (launch_lister_get_files (LAUNCH_LISTER (lister)));
}

static guint
find_group (LaunchSample *self, guint source, const char *codec)
{
  LaunchGroup group = { .source = source, .codec = codec };

  for (guint i = 0; i < self->groups->len; i++)
    {
      const LaunchGroup *other = &g_array_index (self->groups, LaunchGroup, i);

      if (other->source == source && strcmp (other->codec, codec) == 0)
        return i;
    }
  g_array_append_val (self->groups, group);
  return self->groups->len - 1;
}

static void
sort_into_groups (LaunchSample *self, guint index)
{
  LaunchSource *source = g_ptr_array_index (self->sources, index);

  for (guint i = 0; i < source->files->len; i++)
    {
      LaunchFile *file = &g_array_index (source->files, LaunchFile, i);
      const char *codec = dlp_codec_of_file_name (file->uri);
      LaunchGroup *group;

      file->group = find_group (self, index, codec != NULL ? codec : "none");
      group = &g_array_index (self->groups, LaunchGroup, file->group);
      group->files++;
      group->total += (guint64) MAX (file->size, 0);
      self->has_stream |= file->size < 0;
    }
}

/* ---- taking ---- */

typedef struct
{
  guint64 draw;
  guint index;
} Draw;

static int
compare_draws (gconstpointer a, gconstpointer b)
{
  const Draw *x = a, *y = b;

  return x->draw < y->draw ? -1 : x->draw > y->draw ? 1 : x->index < y->index ? -1 : 1;
}

/* Of a group those whose names are drawn first. Returns the share of them that is to be read. */
static double
take_from_group (LaunchSample *self, guint index, double share, guint64 seed)
{
  LaunchGroup *group = &g_array_index (self->groups, LaunchGroup, index);
  LaunchSource *source = g_ptr_array_index (self->sources, group->source);
  g_autoptr (GArray) draws = g_array_new (FALSE, FALSE, sizeof (Draw));
  double wanted = share * (double) group->total;
  double bytes = 0;

  for (guint i = 0; i < source->files->len; i++)
    {
      LaunchFile *file = &g_array_index (source->files, LaunchFile, i);
      Draw draw = { dlp_random_draw (dlp_random_init (seed, 0, file->uri, 0), 0), i };

      if (file->group == index)
        g_array_append_val (draws, draw);
    }
  g_array_sort (draws, compare_draws);
  for (guint i = 0; i < draws->len; i++)
    {
      LaunchFile *file =
          &g_array_index (source->files, LaunchFile, g_array_index (draws, Draw, i).index);

      if (bytes >= wanted && i >= MIN_FILES && share < 1)
        break;
      file->taken = true;
      group->taken++;
      bytes += (double) MAX (file->size, 0);
    }
  return bytes > 0 ? MIN (wanted / bytes, 1) : 0;
}

static void
take (LaunchSample *self, double share, guint64 seed)
{
  for (guint i = 0; i < self->groups->len; i++)
    {
      double head = take_from_group (self, i, share, seed);
      LaunchSource *source =
          g_ptr_array_index (self->sources, g_array_index (self->groups, LaunchGroup, i).source);

      source->head_share = MAX (source->head_share, head);
    }
}

LaunchSample *
launch_sample_new (DlpPipeline *pipeline, double share, bool whole, GError **error)
{
  g_autoptr (LaunchSample) self = g_new0 (LaunchSample, 1);
  GListModel *elements = G_LIST_MODEL (pipeline);
  guint64 seed;

  self->sources = g_ptr_array_new_with_free_func (source_free);
  self->groups = g_array_new (FALSE, TRUE, sizeof (LaunchGroup));
  self->whole = whole;
  g_object_get (pipeline, "seed", &seed, NULL);
  for (guint i = 0; i < g_list_model_get_n_items (elements); i++)
    {
      g_autoptr (DlpElement) element = g_list_model_get_item (elements, i);
      LaunchSource *source;

      if (!launch_is_file_source (element))
        continue;
      source = g_new0 (LaunchSource, 1);
      g_ptr_array_add (self->sources, source);
      source->name = g_strdup (dlp_element_get_name (element));
      g_object_get (element, "epochs", &source->epochs, NULL);
      source->files = list_files (pipeline, element, seed, error);
      if (source->files == NULL)
        return NULL;
      sort_into_groups (self, self->sources->len - 1);
    }
  take (self, whole ? 1 : share, seed);
  return g_steal_pointer (&self);
}

void
launch_sample_free (LaunchSample *self)
{
  g_clear_pointer (&self->sources, g_ptr_array_unref);
  g_clear_pointer (&self->groups, g_array_unref);
  g_free (self);
}

/* ---- asking ---- */

LaunchSource *
launch_sample_find_source (LaunchSample *self, const char *name, guint *index)
{
  for (*index = 0; *index < self->sources->len; ++*index)
    {
      LaunchSource *source = g_ptr_array_index (self->sources, *index);

      if (strcmp (source->name, name) == 0)
        return source;
    }
  return NULL;
}

guint
launch_sample_get_group (LaunchSample *self, guint source, guint file)
{
  LaunchSource *of;

  if (source >= self->sources->len)
    return self->groups->len;
  of = g_ptr_array_index (self->sources, source);
  return file < of->files->len ? g_array_index (of->files, LaunchFile, file).group :
                                 self->groups->len;
}

void
launch_sample_set_read (LaunchSample *self, GVariant *read_by_codec, guint source)
{
  for (guint i = 0; i < self->groups->len; i++)
    {
      LaunchGroup *group = &g_array_index (self->groups, LaunchGroup, i);
      guint64 bytes = 0;

      if (group->source == source && g_variant_lookup (read_by_codec, group->codec, "t", &bytes))
        group->read = MAX (group->read, bytes);
    }
}
