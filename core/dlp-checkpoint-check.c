/* SPDX-License-Identifier: MIT */

/* What is wrong with a checkpoint that has the right checksum: another program made it, or a fault
 * of this one. Everything is looked at before anything is made from it. */

#include <math.h>
#include <string.h>

#include "dlp-checkpoint-private.h"
#include "dlp-partial-private.h"
#include "dlp-registry-private.h"

#include <dlpipe/dlp-error.h>
#include <dlpipe/dlp-state.h>

typedef struct
{
  const char *name;
  const char *type;
  bool optional;
} Key;

static const Key checkpoint_keys[] = {
  { "format", "u", false },        { "graph", "ay", false },        { "quarantine", "ay", true },
  { "seed", "t", false },          { "run-id", "s", false },        { "attempt", "u", false },
  { "complete", "b", false },      { "finished-early", "b", true }, { "elapsed", "d", false },
  { "inputs-length", "t", false }, { "inputs-hash", "t", false },   { "opened", "a(ayayay)", true },
  { "warnings", "as", false },     { "n-warnings", "t", false },    { "elements", "aa{sv}", false },
  { "files", "a{say}", true },
};

static const Key element_keys[] = {
  { "name", "s", false },     { "factory", "s", false },       { "needed", "b", false },
  { "version", "u", false },  { "oldest", "u", false },        { "fixed", "a{ss}", false },
  { "links", "as", false },   { "inputs", "ax", false },       { "emitted", "a{st}", true },
  { "state", "a{sv}", true }, { "sink", "a{sv}", true },       { "progress", "at", true },
  { "plugin", "s", true },    { "plugin-version", "s", true }, { "passes-on", "b", true },
};

static bool corrupt (GError **error, const char *format, ...) G_GNUC_PRINTF (2, 3);

static bool
corrupt (GError **error, const char *format, ...)
{
  g_autofree char *message = NULL;
  va_list args;

  va_start (args, format);
  message = g_strdup_vprintf (format, args);
  va_end (args);
  g_set_error_literal (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CORRUPT, message);
  return false;
}

static char *
join_keys (const Key *keys, guint n)
{
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < n; i++)
    g_string_append_printf (text, "%s%s", i > 0 ? ", " : "", keys[i].name);
  return g_string_free (text, FALSE);
}

static const Key *
find_key (const Key *keys, guint n, const char *name)
{
  for (guint i = 0; i < n; i++)
    if (strcmp (keys[i].name, name) == 0)
      return &keys[i];
  return NULL;
}

static bool
check_entry (const Key *keys, guint n, const char *name, GVariant *value, GError **error)
{
  const Key *key = find_key (keys, n, name);
  g_autofree char *all = NULL;

  if (key == NULL)
    {
      all = join_keys (keys, n);
      return corrupt (error, "unknown key “%s”; known are: %s", name, all);
    }
  if (!g_variant_is_of_type (value, G_VARIANT_TYPE (key->type)))
    return corrupt (error, "key “%s” has type %s, not %s", name, g_variant_get_type_string (value),
                    key->type);
  return true;
}

/* Names, types, and none twice. */
static bool
check_keys (GVariant *dict, const Key *keys, guint n, GError **error)
{
  g_autoptr (GHashTable) seen = g_hash_table_new (g_str_hash, g_str_equal);
  GVariantIter iter;
  const char *name;
  GVariant *child;

  g_variant_iter_init (&iter, dict);
  while (g_variant_iter_next (&iter, "{&sv}", &name, &child))
    {
      g_autoptr (GVariant) value = child;

      if (!check_entry (keys, n, name, value, error))
        return false;
      if (!g_hash_table_add (seen, (gpointer) find_key (keys, n, name)->name))
        return corrupt (error, "it has the key “%s” twice", name);
    }
  for (guint i = 0; i < n; i++)
    if (!keys[i].optional && !g_hash_table_contains (seen, keys[i].name))
      return corrupt (error, "key “%s” is missing", keys[i].name);
  return true;
}

/* An array of bytes that is a text. */
static bool
check_text (GVariant *payload, const char *key, GError **error)
{
  g_autoptr (GVariant) value = g_variant_lookup_value (payload, key, G_VARIANT_TYPE_BYTESTRING);
  const char *data;
  gsize n;

  if (value == NULL)
    return true;
  data = g_variant_get_fixed_array (value, &n, 1);
  if (n > 0 && data[n - 1] == '\0' && strlen (data) == n - 1)
    return true;
  return corrupt (error, "key “%s” is not a text that ends in a zero", key);
}

static bool
check_values (GVariant *payload, GError **error)
{
  const char *run_id;
  double elapsed;
  gboolean complete, early = FALSE;

  g_variant_lookup (payload, "run-id", "&s", &run_id);
  g_variant_lookup (payload, "elapsed", "d", &elapsed);
  g_variant_lookup (payload, "complete", "b", &complete);
  g_variant_lookup (payload, "finished-early", "b", &early);
  if (!dlp_partial_is_run_id (run_id))
    return corrupt (error, "key “run-id” is “%s”, not hexadecimal", run_id);
  if (!isfinite (elapsed) || elapsed < 0)
    return corrupt (error, "key “elapsed” is %g seconds; allowed are 0 and more", elapsed);
  if (early && !complete)
    return corrupt (error, "key “finished-early” is true of a run that is not complete");
  return check_text (payload, "graph", error) && check_text (payload, "quarantine", error);
}

/* ---- elements ---- */

typedef struct
{
  GHashTable *elements; /* of those before: GVariant by name */
  GVariant *element;
} Walk;

static bool
check_pads (GVariant *emitted, GError **error)
{
  g_autoptr (GHashTable) seen = g_hash_table_new (g_str_hash, g_str_equal);
  GVariantIter iter;
  const char *pad;

  g_variant_iter_init (&iter, emitted);
  while (g_variant_iter_next (&iter, "{&st}", &pad, NULL))
    if (!g_hash_table_add (seen, (gpointer) pad))
      return corrupt (error, "key “emitted” has the pad “%s” twice", pad);
  return true;
}

/* Of "ELEMENT.PAD", the element; *@pad: the pad. */
static GVariant *
find_producer (Walk *self, const char *link, const char **pad)
{
  const char *dot = strrchr (link, '.');
  g_autofree char *name = NULL;

  if (dot == NULL)
    return NULL;
  name = g_strndup (link, (gsize) (dot - link));
  *pad = dot + 1;
  return g_hash_table_lookup (self->elements, name);
}

/* Both ends of a link: what the consumer goes on with has to be what its producer makes. */
static bool
check_input (Walk *self, const char *link, gint64 position, GError **error)
{
  const char *pad = "";
  GVariant *producer = find_producer (self, link, &pad);
  g_autoptr (GVariant) emitted = NULL;
  gboolean needed;
  guint64 from;

  if (producer == NULL)
    return corrupt (error, "key “links”: “%s” is no pad of an element before it", link);
  if (position < 0)
    return true;
  g_variant_lookup (producer, "needed", "b", &needed);
  emitted = g_variant_lookup_value (producer, "emitted", G_VARIANT_TYPE ("a{st}"));
  if (!needed || emitted == NULL || !g_variant_lookup (emitted, pad, "t", &from))
    return corrupt (error,
                    "key “inputs”: it is to go on at record %" G_GINT64_FORMAT
                    " of %s, of which the state has nothing",
                    position, link);
  if ((guint64) position < from)
    return corrupt (error,
                    "key “inputs”: it is to go on at record %" G_GINT64_FORMAT
                    " of %s, which goes on at %" G_GUINT64_FORMAT " itself",
                    position, link, from);
  return true;
}

static bool
check_inputs (Walk *self, GError **error)
{
  g_autoptr (GVariant) links = g_variant_lookup_value (self->element, "links", NULL);
  g_autoptr (GVariant) inputs = g_variant_lookup_value (self->element, "inputs", NULL);
  gsize n, n_links = g_variant_n_children (links);
  const gint64 *positions = g_variant_get_fixed_array (inputs, &n, sizeof *positions);

  if (n != n_links)
    return corrupt (error, "key “inputs” has %zu numbers, key “links” %zu", n, n_links);
  for (gsize i = 0; i < n; i++)
    {
      const char *link;

      g_variant_get_child (links, i, "&s", &link);
      if (!check_input (self, link, positions[i], error))
        return false;
    }
  return true;
}

/* Both or neither, and no longer than they are written. */
static bool
check_plugin (GVariant *element, GError **error)
{
  const char *plugin = NULL, *version = NULL;

  g_variant_lookup (element, "plugin", "&s", &plugin);
  g_variant_lookup (element, "plugin-version", "&s", &version);
  if (plugin == NULL && version == NULL)
    return true;
  if (plugin == NULL || version == NULL)
    return corrupt (error, "key “%s” is missing, “%s” is there",
                    plugin == NULL ? "plugin" : "plugin-version",
                    plugin == NULL ? "plugin-version" : "plugin");
  if (!dlp_plugin_is_name (plugin) || strlen (plugin) > DLP_CHECKPOINT_MAX_PLUGIN)
    return corrupt (error,
                    "key “plugin” is “%.64s”; allowed are a lower-case letter, then such, digits "
                    "and “-”, %d in all",
                    plugin, DLP_CHECKPOINT_MAX_PLUGIN);
  if (strlen (version) > DLP_CHECKPOINT_MAX_PLUGIN)
    return corrupt (error, "key “plugin-version” has %zu bytes; allowed are %d", strlen (version),
                    DLP_CHECKPOINT_MAX_PLUGIN);
  return true;
}

static bool
check_members (Walk *self, GError **error)
{
  g_autoptr (GVariant) emitted =
      g_variant_lookup_value (self->element, "emitted", G_VARIANT_TYPE ("a{st}"));
  g_autoptr (GVariant) progress =
      g_variant_lookup_value (self->element, "progress", G_VARIANT_TYPE ("at"));
  guint version, oldest;

  g_variant_lookup (self->element, "version", "u", &version);
  g_variant_lookup (self->element, "oldest", "u", &oldest);
  if (oldest > version)
    return corrupt (error, "key “oldest” is %u, above key “version”, %u", oldest, version);
  if (progress != NULL && g_variant_n_children (progress) != 4)
    return corrupt (error, "key “progress” has %zu numbers, not 4",
                    g_variant_n_children (progress));
  return check_plugin (self->element, error) && (emitted == NULL || check_pads (emitted, error)) &&
         check_inputs (self, error);
}

static bool
check_element (Walk *self, guint i, GError **error)
{
  const char *name = NULL;

  if (!check_keys (self->element, element_keys, G_N_ELEMENTS (element_keys), error))
    {
      g_variant_lookup (self->element, "name", "&s", &name);
      g_prefix_error (error, "state of element %u (%s): ", i, name != NULL ? name : "no name");
      return false;
    }
  g_variant_lookup (self->element, "name", "&s", &name);
  if (g_hash_table_contains (self->elements, name))
    return corrupt (error, "key “elements”: there are two of the name “%s”", name);
  if (!check_members (self, error))
    {
      g_prefix_error (error, "state of %s: ", name);
      return false;
    }
  g_hash_table_insert (self->elements, g_strdup (name), g_variant_ref (self->element));
  return true;
}

static bool
check_elements (GVariant *elements, GError **error)
{
  g_autoptr (GHashTable) table =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, (GDestroyNotify) g_variant_unref);
  gsize n = g_variant_n_children (elements);

  if (n == 0)
    return corrupt (error, "key “elements” is empty");
  for (gsize i = 0; i < n; i++)
    {
      g_autoptr (GVariant) element = g_variant_get_child_value (elements, i);
      Walk walk = { table, element };

      if (!check_element (&walk, (guint) i, error))
        return false;
    }
  return true;
}

bool
dlp_checkpoint_check (GVariant *payload, GError **error)
{
  g_autoptr (GVariant) elements = NULL;
  guint format;

  if (!g_variant_is_of_type (payload, G_VARIANT_TYPE_VARDICT))
    return corrupt (error, "it is of type %s, not a{sv}", g_variant_get_type_string (payload));
  /* First: another format has other keys. */
  if (!g_variant_lookup (payload, "format", "u", &format))
    return corrupt (error, "key “format” is missing, or not of type u");
  if (format != DLP_CHECKPOINT_FORMAT)
    {
      g_set_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_VERSION,
                   "state format %u; this dlpipe reads %u", format, DLP_CHECKPOINT_FORMAT);
      return false;
    }
  if (!check_keys (payload, checkpoint_keys, G_N_ELEMENTS (checkpoint_keys), error) ||
      !check_values (payload, error))
    return false;
  elements = g_variant_lookup_value (payload, "elements", NULL);
  return check_elements (elements, error);
}
