/* SPDX-License-Identifier: MIT */

/* What there is to know about an element, codec or scheme, as plain data: made where its type is
 * known, in the scanner process, and kept in the cache. The keys are in
 * docs/internals/registry.md. */

#include <string.h>

#include <dlpipe/dlp-reader.h>
#include <dlpipe/dlp-source.h>
#include <dlpipe/dlp-transform.h>
#include <dlpipe/dlp-value.h>

#include "dlp-element-private.h"
#include "dlp-reader-format-private.h"
#include "dlp-registry-private.h"

static void
insert_text (GVariantBuilder *dict, const char *key, const char *text)
{
  g_variant_builder_add (
      dict, "{sv}", key,
      g_variant_new_take_string (g_utf8_make_valid (text != NULL ? text : "", -1)));
}

static void
insert_strv (GVariantBuilder *dict, const char *key, GPtrArray *names)
{
  g_variant_builder_add (
      dict, "{sv}", key,
      g_variant_new_strv ((const char *const *) names->pdata, (gssize) names->len));
}

/* ---- properties ---- */

static const char *
get_kind (GParamSpec *pspec)
{
  switch (G_TYPE_FUNDAMENTAL (pspec->value_type))
    {
    case G_TYPE_BOOLEAN:
      return "boolean";
    case G_TYPE_INT:
    case G_TYPE_UINT:
    case G_TYPE_LONG:
    case G_TYPE_ULONG:
    case G_TYPE_INT64:
    case G_TYPE_UINT64:
      return "integer";
    case G_TYPE_FLOAT:
    case G_TYPE_DOUBLE:
      return "number";
    case G_TYPE_STRING:
      return "text";
    case G_TYPE_ENUM:
      return "choice";
    case G_TYPE_FLAGS:
      return "choices";
    default:
      return pspec->value_type == G_TYPE_STRV ? "list" : "other";
    }
}

static const char *
get_unit (GParamSpec *pspec)
{
  if (pspec->flags & DLP_PARAM_BYTES)
    return "bytes";
  if (pspec->flags & DLP_PARAM_DURATION)
    return "time";
  if (pspec->flags & DLP_PARAM_RECORDS)
    return "records";
  return "";
}

/* (nullable) (floating): of an integer or a number. */
static GVariant *
get_limit (GParamSpec *pspec, bool upper)
{
  switch (G_TYPE_FUNDAMENTAL (pspec->value_type))
    {
#define LIMIT(TYPE, CAST, format, type)                                                            \
  case G_TYPE_##TYPE:                                                                              \
    return g_variant_new (format, (type) (upper ? G_PARAM_SPEC_##CAST (pspec)->maximum :           \
                                                  G_PARAM_SPEC_##CAST (pspec)->minimum))
      LIMIT (INT, INT, "x", gint64);
      LIMIT (LONG, LONG, "x", gint64);
      LIMIT (INT64, INT64, "x", gint64);
      LIMIT (UINT, UINT, "t", guint64);
      LIMIT (ULONG, ULONG, "t", guint64);
      LIMIT (UINT64, UINT64, "t", guint64);
      LIMIT (FLOAT, FLOAT, "d", double);
      LIMIT (DOUBLE, DOUBLE, "d", double);
#undef LIMIT
    default:
      return NULL;
    }
}

static void
insert_values (GVariantBuilder *dict, GParamSpec *pspec)
{
  g_autoptr (GPtrArray) nicks = g_ptr_array_new ();
  g_autoptr (GTypeClass) klass = NULL;

  if (G_IS_PARAM_SPEC_BOOLEAN (pspec))
    {
      g_ptr_array_add (nicks, (gpointer) "false");
      g_ptr_array_add (nicks, (gpointer) "true");
    }
  else if (G_IS_PARAM_SPEC_ENUM (pspec) || G_IS_PARAM_SPEC_FLAGS (pspec))
    klass = g_type_class_ref (pspec->value_type);
  if (G_IS_PARAM_SPEC_ENUM (pspec))
    for (guint i = 0; i < G_ENUM_CLASS (klass)->n_values; i++)
      g_ptr_array_add (nicks, (gpointer) G_ENUM_CLASS (klass)->values[i].value_nick);
  else if (G_IS_PARAM_SPEC_FLAGS (pspec))
    for (guint i = 0; i < G_FLAGS_CLASS (klass)->n_values; i++)
      g_ptr_array_add (nicks, (gpointer) G_FLAGS_CLASS (klass)->values[i].value_nick);
  insert_strv (dict, "values", nicks);
}

static void
insert_limits (GVariantBuilder *dict, GParamSpec *pspec)
{
  GVariant *minimum = get_limit (pspec, false);
  g_autofree char *allowed = dlp_value_describe_allowed (pspec);

  if (minimum != NULL)
    {
      g_variant_builder_add (dict, "{sv}", "minimum", minimum);
      g_variant_builder_add (dict, "{sv}", "maximum", get_limit (pspec, true));
    }
  insert_text (dict, "allowed", allowed);
}

/* As graph text; lists begin empty. */
static char *
get_default_text (GParamSpec *pspec)
{
  const GValue *value = g_param_spec_get_default_value (pspec);

  if (pspec->value_type == G_TYPE_STRV ||
      (G_VALUE_HOLDS_STRING (value) && g_value_get_string (value) == NULL))
    return NULL;
  return dlp_value_to_text (pspec, value);
}

static const char *
get_between_runs (GParamSpec *pspec)
{
  if (pspec->flags & DLP_PARAM_FREE)
    return "free";
  return pspec->flags & DLP_PARAM_ELASTIC ? "elastic" : "fixed";
}

static GVariant *
describe_property (GParamSpec *pspec)
{
  g_autofree char *text = get_default_text (pspec);
  GVariantBuilder dict;

  g_variant_builder_init (&dict, G_VARIANT_TYPE_VARDICT);
  insert_text (&dict, "name", pspec->name);
  insert_text (&dict, "description", g_param_spec_get_blurb (pspec));
  insert_text (&dict, "type", get_kind (pspec));
  insert_text (&dict, "type-name", g_type_name (pspec->value_type));
  insert_text (&dict, "unit", get_unit (pspec));
  if (text != NULL)
    insert_text (&dict, "default", text);
  insert_limits (&dict, pspec);
  insert_values (&dict, pspec);
  insert_text (&dict, "between-runs", get_between_runs (pspec));
  g_variant_builder_add (&dict, "{sv}", "while-running",
                         g_variant_new_boolean ((pspec->flags & DLP_PARAM_MUTABLE) != 0));
  g_variant_builder_add (&dict, "{sv}", "readable",
                         g_variant_new_boolean ((pspec->flags & G_PARAM_READABLE) != 0));
  g_variant_builder_add (&dict, "{sv}", "writable",
                         g_variant_new_boolean ((pspec->flags & G_PARAM_WRITABLE) != 0));
  return g_variant_builder_end (&dict);
}

static int
compare_properties (gconstpointer a, gconstpointer b)
{
  const GParamSpec *one = *(GParamSpec *const *) a;
  const GParamSpec *other = *(GParamSpec *const *) b;
  const bool one_writable = (one->flags & G_PARAM_WRITABLE) != 0;
  const bool other_writable = (other->flags & G_PARAM_WRITABLE) != 0;

  if (one_writable != other_writable)
    return one_writable ? -1 : 1;
  return strcmp (one->name, other->name);
}

static GVariant *
describe_properties (GObjectClass *klass)
{
  guint n;
  g_autofree GParamSpec **pspecs = g_object_class_list_properties (klass, &n);
  GVariantBuilder builder;

  qsort (pspecs, n, sizeof *pspecs, compare_properties);
  g_variant_builder_init (&builder, G_VARIANT_TYPE ("aa{sv}"));
  for (guint i = 0; i < n; i++)
    g_variant_builder_add_value (&builder, describe_property (pspecs[i]));
  return g_variant_builder_end (&builder);
}

/* ---- pads ---- */

static GVariant *
describe_pad (const DlpPadTemplate *pad)
{
  static const char *const presences[] = { "always", "optional", "on-request" };
  g_autoptr (GPtrArray) carries = g_ptr_array_new ();
  GVariantBuilder dict;

  if (pad->carries & DLP_CARRIES_FILES)
    g_ptr_array_add (carries, (gpointer) "files");
  if (pad->carries & DLP_CARRIES_RECORDS)
    g_ptr_array_add (carries, (gpointer) "records");
  if (pad->carries & DLP_CARRIES_BATCHES)
    g_ptr_array_add (carries, (gpointer) "batches");

  g_variant_builder_init (&dict, G_VARIANT_TYPE_VARDICT);
  insert_text (&dict, "name", pad->name);
  insert_text (&dict, "direction", pad->direction == DLP_PAD_INPUT ? "input" : "output");
  insert_text (&dict, "presence", presences[pad->presence]);
  insert_strv (&dict, "carries", carries);
  insert_text (&dict, "description", pad->description);
  return g_variant_builder_end (&dict);
}

static const DlpPadTemplate *
find_template (GPtrArray *templates, const char *name)
{
  for (guint i = 0; i < templates->len; i++)
    {
      const DlpPadTemplate *found = g_ptr_array_index (templates, i);

      if (strcmp (found->name, name) == 0)
        return found;
    }
  return NULL;
}

static void
add_pads (GVariantBuilder *builder, GPtrArray *pads, GPtrArray *templates)
{
  for (guint i = 0; i < pads->len; i++)
    {
      DlpPad *pad = g_ptr_array_index (pads, i);
      const DlpPadTemplate *known = find_template (templates, pad->name);
      DlpPadTemplate found = { pad->name, pad->direction,
                               pad->optional ? DLP_PAD_OPTIONAL : DLP_PAD_ALWAYS, 0, NULL };

      if (known != NULL)
        {
          found.carries = known->carries;
          found.description = known->description;
        }
      g_variant_builder_add_value (builder, describe_pad (&found));
    }
}

/* Those that an element has, as it has them, then those that links make. */
static GVariant *
describe_pads (DlpElement *element)
{
  DlpElementPrivate *priv = dlp_element_get_private (element);
  g_autoptr (GPtrArray) templates = dlp_element_type_list_pad_templates (G_OBJECT_TYPE (element));
  GVariantBuilder builder;

  g_variant_builder_init (&builder, G_VARIANT_TYPE ("aa{sv}"));
  add_pads (&builder, priv->inputs, templates);
  add_pads (&builder, priv->outputs, templates);
  for (guint i = 0; i < templates->len; i++)
    {
      const DlpPadTemplate *found = g_ptr_array_index (templates, i);

      if (found->presence == DLP_PAD_ON_REQUEST)
        g_variant_builder_add_value (&builder, describe_pad (found));
    }
  return g_variant_builder_end (&builder);
}

/* ---- elements ---- */

static void
insert_flags (GVariantBuilder *dict, DlpElementFlags flags)
{
  static const struct
  {
    DlpElementFlags flag;
    const char *name;
  } names[] = {
    { DLP_ELEMENT_ONE_TO_ONE, "one-to-one" }, { DLP_ELEMENT_STATELESS, "stateless" },
    { DLP_ELEMENT_LARGE, "large-state" },     { DLP_ELEMENT_LOG, "log-state" },
    { DLP_ELEMENT_KEEPS_ALL, "keeps-all" },   { DLP_ELEMENT_REORDERS, "reorders" },
    { DLP_ELEMENT_FIRST_ONES, "first-ones" },
  };
  g_autoptr (GPtrArray) set = g_ptr_array_new ();

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    if (flags & names[i].flag)
      g_ptr_array_add (set, (gpointer) names[i].name);
  insert_strv (dict, "flags", set);
}

static const char *
get_base (GType type)
{
  if (g_type_is_a (type, DLP_TYPE_SOURCE))
    return "source";
  if (g_type_is_a (type, DLP_TYPE_READER))
    return "reader";
  if (g_type_is_a (type, DLP_TYPE_TRANSFORM))
    return "transform";
  return g_type_is_a (type, DLP_TYPE_SINK) ? "sink" : "element";
}

static const char *
get_threads (GType type)
{
  if (g_type_is_a (type, DLP_TYPE_READER))
    return "own-threads-and-pool";
  return g_type_is_a (type, DLP_TYPE_TRANSFORM) ? "shared-pool" : "own-thread";
}

GVariant *
dlp_describe_element (const char *name, GType type)
{
  g_autoptr (DlpElement) element = g_object_new (type, NULL);
  DlpElementClass *klass = DLP_ELEMENT_GET_CLASS (element);
  GVariantBuilder dict;

  g_variant_builder_init (&dict, G_VARIANT_TYPE_VARDICT);
  insert_text (&dict, "name", name);
  insert_text (&dict, "description", dlp_element_class_get_description (klass));
  insert_text (&dict, "example", dlp_element_class_get_example (klass));
  insert_text (&dict, "base", get_base (type));
  insert_text (&dict, "type-name", g_type_name (type));
  insert_text (&dict, "threads", get_threads (type));
  dlp_reader_describe_format (type, &dict);
  insert_flags (&dict, klass->flags);
  g_variant_builder_add (&dict, "{sv}", "state-version",
                         g_variant_new_uint32 (klass->state_version));
  g_variant_builder_add (&dict, "{sv}", "state-oldest-version",
                         g_variant_new_uint32 (klass->state_oldest_version));
  g_variant_builder_add (&dict, "{sv}", "pads", describe_pads (element));
  g_variant_builder_add (&dict, "{sv}", "properties", describe_properties (G_OBJECT_CLASS (klass)));
  return g_variant_ref_sink (g_variant_builder_end (&dict));
}

/* ---- codecs and schemes ---- */

GVariant *
dlp_describe_codec (const char *name, GType type, GPtrArray *magics)
{
  GVariantBuilder builder;
  GVariantBuilder dict;

  g_variant_builder_init (&builder, G_VARIANT_TYPE ("a(ayay)"));
  for (guint i = 0; i < magics->len; i++)
    g_variant_builder_add_value (&builder, g_ptr_array_index (magics, i));

  g_variant_builder_init (&dict, G_VARIANT_TYPE_VARDICT);
  insert_text (&dict, "name", name);
  insert_text (&dict, "type-name", g_type_name (type));
  g_variant_builder_add (&dict, "{sv}", "magic", g_variant_builder_end (&builder));
  return g_variant_ref_sink (g_variant_builder_end (&dict));
}

GVariant *
dlp_describe_scheme (const char *name, GType type, const char *description)
{
  g_autoptr (GTypeClass) type_class = g_type_class_ref (type);
  DlpSchemeClass *klass = DLP_SCHEME_CLASS (type_class);
  g_autoptr (GPtrArray) can = g_ptr_array_new ();
  GVariantBuilder dict;

  if (klass->list != NULL)
    g_ptr_array_add (can, (gpointer) "list");
  if (klass->identify != NULL)
    g_ptr_array_add (can, (gpointer) "identify");
  if (klass->open != NULL)
    g_ptr_array_add (can, (gpointer) "open");
  if (klass->prefetch != NULL)
    g_ptr_array_add (can, (gpointer) "prefetch");

  g_variant_builder_init (&dict, G_VARIANT_TYPE_VARDICT);
  insert_text (&dict, "name", name);
  if (description != NULL)
    insert_text (&dict, "description", description);
  insert_text (&dict, "type-name", g_type_name (type));
  insert_strv (&dict, "can", can);
  g_variant_builder_add (&dict, "{sv}", "properties",
                         describe_properties (G_OBJECT_CLASS (type_class)));
  return g_variant_ref_sink (g_variant_builder_end (&dict));
}
