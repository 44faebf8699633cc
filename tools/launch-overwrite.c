/* SPDX-License-Identifier: MIT */

/* What the tool itself writes must not replace what the graph reads or writes. */

#include <string.h>
#include <sys/stat.h>

#include <dlpipe/dlp-file.h>
#include <dlpipe/dlp-sink.h>

#include "launch.h"

typedef struct
{
  const char *option;
  const char *path;
  char *canonical;
  bool is_there;
  struct stat st;
} Report;

static bool
is_same (const Report *self, const char *path)
{
  g_autofree char *canonical = NULL;
  struct stat st;

  if (self->is_there)
    return stat (path, &st) == 0 && st.st_dev == self->st.st_dev && st.st_ino == self->st.st_ino;
  canonical = g_canonicalize_filename (path, NULL);
  return strcmp (canonical, self->canonical) == 0;
}

static bool
fail (const Report *self, const char *what, const char *name, GError **error)
{
  g_autofree char *shown = dlp_uri_escape_for_display (self->path);

  g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
               "%s %s: that file is %s%s, and would be replaced; choose another name", self->option,
               shown, what, name);
  return false;
}

/* What cannot be listed is the element's to tell. */
static bool
is_at (const Report *self, const char *location)
{
  DlpScheme *scheme = dlp_scheme_for_uri (location, NULL);
  g_autoptr (GPtrArray) files = NULL;

  if (scheme == NULL || strstr (location, "://") != NULL)
    return false;
  files = dlp_scheme_list (scheme, location, NULL, NULL);
  for (guint i = 0; files != NULL && i < files->len; i++)
    if (is_same (self, dlp_file_get_uri (files->pdata[i])))
      return true;
  return false;
}

static bool
is_in_list (const Report *self, const char *list)
{
  g_autofree char *text = NULL;
  gsize size, used;
  struct stat st;

  if (is_same (self, list))
    return true;
  if (stat (list, &st) != 0 || !S_ISREG (st.st_mode) ||
      !g_file_get_contents (list, &text, &size, NULL))
    return false;
  g_strdelimit (text, "\r\n", '\0');
  for (gsize at = 0; at < size; at += used + 1)
    {
      used = strlen (text + at);
      if (used > 0 && is_same (self, text + at))
        return true;
    }
  return false;
}

static bool
is_read (const Report *self, DlpElement *element)
{
  GObjectClass *klass = G_OBJECT_GET_CLASS (element);
  GParamSpec *location = g_object_class_find_property (klass, "location");
  GParamSpec *list = g_object_class_find_property (klass, "list");
  g_auto (GStrv) locations = NULL;
  g_autofree char *name = NULL;

  if (dlp_element_get_n_inputs (element) > 0)
    return false;
  if (location != NULL && location->value_type == G_TYPE_STRV)
    g_object_get (element, "location", &locations, NULL);
  for (guint i = 0; locations != NULL && locations[i] != NULL; i++)
    if (is_at (self, locations[i]))
      return true;
  if (list != NULL && list->value_type == G_TYPE_STRING)
    g_object_get (element, "list", &name, NULL);
  return name != NULL && is_in_list (self, name);
}

static bool
is_written (const Report *self, DlpElement *element)
{
  DlpSinkClass *klass = DLP_IS_SINK (element) ? DLP_SINK_GET_CLASS (element) : NULL;
  g_auto (GStrv) files = NULL;

  if (klass != NULL && klass->list_files != NULL)
    files = klass->list_files (DLP_SINK (element));
  for (guint i = 0; files != NULL && files[i] != NULL; i++)
    if (is_same (self, files[i]))
      return true;
  return false;
}

static bool
check (Report *self, DlpPipeline *pipeline, const LaunchOptions *options, GError **error)
{
  GListModel *elements = G_LIST_MODEL (pipeline);

  self->is_there = stat (self->path, &self->st) == 0;
  /* Written into, not replaced. */
  if (self->is_there && !S_ISREG (self->st.st_mode))
    return true;
  if (options->file != NULL && is_same (self, options->file))
    return fail (self, "the graph of --file", "", error);
  for (guint i = 0; i < g_list_model_get_n_items (elements); i++)
    {
      g_autoptr (DlpElement) element = g_list_model_get_item (elements, i);

      if (self->is_there && is_read (self, element))
        return fail (self, "read by ", dlp_element_get_name (element), error);
      if (is_written (self, element))
        return fail (self, "written by ", dlp_element_get_name (element), error);
    }
  return true;
}

bool
launch_check_overwrite (DlpPipeline *pipeline, const LaunchOptions *options, GError **error)
{
  Report reports[] = { { .option = "--summary", .path = options->summary },
                       { .option = "--dot", .path = options->dot } };
  bool ok = true;

  for (guint i = 0; i < G_N_ELEMENTS (reports) && ok; i++)
    if (reports[i].path != NULL)
      {
        reports[i].canonical = g_canonicalize_filename (reports[i].path, NULL);
        ok = check (&reports[i], pipeline, options, error);
        g_free (reports[i].canonical);
      }
  return ok;
}
