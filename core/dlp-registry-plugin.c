/* SPDX-License-Identifier: MIT */

/* A plugin that is opened, in the scanner process or to be used: what is not right about it is an
 * error, and what it brings is noted, nothing more. */

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include <gmodule.h>

#include "dlp-registry-private.h"

#define SYMBOL "dlp_plugin_descriptor"
#define MAX_MAGIC 16

/* clang-format off */
G_DEFINE_QUARK (dlp-plugin-error, dlp_plugin_error)
/* clang-format on */

const char *
dlp_plugin_get_remedy (const GError *error)
{
  switch ((DlpPluginError) error->code)
    {
    case DLP_PLUGIN_ERROR_FORMAT:
      return "build it again, or remove the file";
    case DLP_PLUGIN_ERROR_OPEN:
      return "build it again with this dlpipe and the libraries that are installed; "
             "dlpipe-inspect --rescan tries again";
    case DLP_PLUGIN_ERROR_NO_PLUGIN:
      return "a plugin has DLP_PLUGIN_DEFINE(); if this is none, move the file elsewhere";
    case DLP_PLUGIN_ERROR_ABI:
      return "build it again with this dlpipe";
    case DLP_PLUGIN_ERROR_DESCRIPTOR:
      return "correct its DLP_PLUGIN_DEFINE()";
    case DLP_PLUGIN_ERROR_REPLACED:
      return "start the program again";
    case DLP_PLUGIN_ERROR_HANGS:
      return "correct or remove it; until its file changes it is not tried again, but by "
             "dlpipe-inspect --rescan";
    case DLP_PLUGIN_ERROR_INIT:
    case DLP_PLUGIN_ERROR_DIED:
    default:
      return "correct or remove it; dlpipe-inspect --rescan tries again";
    }
}

const char *
dlp_plugin_get_taken_remedy (void)
{
  return "remove one of them, or give it another name";
}

static void
item_free (gpointer data)
{
  DlpPluginItem *item = data;

  g_ptr_array_unref (item->magics);
  g_free (item->name);
  g_free (item);
}

static DlpPlugin *
plugin_new (const DlpPluginDescriptor *descriptor)
{
  DlpPlugin *self = g_new0 (DlpPlugin, 1);

  self->descriptor = descriptor;
  for (guint k = 0; k < DLP_N_ITEM_KINDS; k++)
    self->items[k] = g_ptr_array_new_with_free_func (item_free);
  return self;
}

void
dlp_plugin_free (DlpPlugin *self)
{
  for (guint k = 0; k < DLP_N_ITEM_KINDS; k++)
    g_ptr_array_unref (self->items[k]);
  g_clear_error (&self->fault);
  g_free (self);
}

static DlpPluginItem *
find_item (DlpPlugin *self, DlpItemKind kind, const char *name)
{
  for (guint i = 0; i < self->items[kind]->len; i++)
    {
      DlpPluginItem *item = g_ptr_array_index (self->items[kind], i);

      if (strcmp (item->name, name) == 0)
        return item;
    }
  return NULL;
}

static void
add_item (DlpPlugin *self, DlpItemKind kind, const char *name, GType type, DlpCodecMatch match)
{
  DlpPluginItem *item = g_new0 (DlpPluginItem, 1);

  item->name = g_strdup (name);
  item->type = type;
  item->match = match;
  item->magics = g_ptr_array_new_with_free_func ((GDestroyNotify) g_variant_unref);
  g_ptr_array_add (self->items[kind], item);
}

/* ---- what init() calls ---- */

bool
dlp_plugin_is_name (const char *name)
{
  if (name == NULL || !g_ascii_islower (name[0]))
    return false;
  for (; *name != '\0'; name++)
    if (!g_ascii_islower (*name) && !g_ascii_isdigit (*name) && *name != '-')
      return false;
  return true;
}

/* Also what separates the parts of "git+https". */
static bool
is_scheme_name (const char *name)
{
  return name != NULL && g_ascii_islower (name[0]) &&
         name[strspn (name, "abcdefghijklmnopqrstuvwxyz0123456789-+.")] == '\0';
}

static bool
check_item (DlpPlugin *self, DlpItemKind kind, const char *name, GType type, GError **error)
{
  static const struct
  {
    const char *word, *signs, *wanted;
    GType (*get_base) (void);
  } kinds[DLP_N_ITEM_KINDS] = {
    [DLP_ITEM_ELEMENT] = { "element", "“-”", "an element", dlp_element_get_type },
    [DLP_ITEM_CODEC] = { "codec", "“-”", "a decoder", dlp_decoder_get_type },
    [DLP_ITEM_SCHEME] = { "URI scheme", "“-”, “+”, “.”", "a scheme", dlp_scheme_get_type },
  };
  const char *word = kinds[kind].word;

  if (kind == DLP_ITEM_SCHEME ? !is_scheme_name (name) : !dlp_plugin_is_name (name))
    g_set_error (error, DLP_PLUGIN_ERROR, DLP_PLUGIN_ERROR_INIT,
                 "%s “%s”: a name is a lower-case letter, then such, digits and %s", word,
                 name != NULL ? name : "", kinds[kind].signs);
  else if (find_item (self, kind, name) != NULL)
    g_set_error (error, DLP_PLUGIN_ERROR, DLP_PLUGIN_ERROR_INIT, "it adds %s “%s” twice", word,
                 name);
  else if (type == G_TYPE_INVALID)
    g_set_error (error, DLP_PLUGIN_ERROR, DLP_PLUGIN_ERROR_INIT,
                 "%s “%s”: its type could not be registered; is there one of that name?", word,
                 name);
  else if (!g_type_is_a (type, kinds[kind].get_base ()) || G_TYPE_IS_ABSTRACT (type))
    g_set_error (error, DLP_PLUGIN_ERROR, DLP_PLUGIN_ERROR_INIT,
                 "%s “%s”: type %s is not %s that can be made", word, name, g_type_name (type),
                 kinds[kind].wanted);
  else
    return true;
  return false;
}

/* What is not asked for is an error of init(), the first of them. (nullable) */
static GError **
get_place (DlpPlugin *self, GError **error)
{
  if (error != NULL)
    return error;
  return self->fault == NULL ? &self->fault : NULL;
}

static gboolean
add_checked (DlpPlugin *self,
             DlpItemKind kind,
             const char *name,
             GType type,
             DlpCodecMatch match,
             GError **error)
{
  if (!check_item (self, kind, name, type, get_place (self, error)))
    return FALSE;
  add_item (self, kind, name, type, match);
  return TRUE;
}

gboolean
dlp_plugin_add_element (DlpPlugin *self, const char *name, GType type, GError **error)
{
  return add_checked (self, DLP_ITEM_ELEMENT, name, type, NULL, error);
}

gboolean
dlp_plugin_add_codec (DlpPlugin *self,
                      const char *name,
                      DlpCodecMatch match,
                      GType decoder_type,
                      GError **error)
{
  g_return_val_if_fail (match != NULL, FALSE);

  return add_checked (self, DLP_ITEM_CODEC, name, decoder_type, match, error);
}

gboolean
dlp_plugin_add_codec_magic (DlpPlugin *self,
                            const char *name,
                            const guint8 *magic,
                            const guint8 *mask,
                            gsize size,
                            GError **error)
{
  DlpPluginItem *codec = find_item (self, DLP_ITEM_CODEC, name);
  guint8 all[MAX_MAGIC];

  g_return_val_if_fail (magic != NULL, FALSE);

  if (codec == NULL || size == 0 || size > MAX_MAGIC)
    {
      g_set_error (get_place (self, error), DLP_PLUGIN_ERROR, DLP_PLUGIN_ERROR_INIT,
                   "codec “%s”: a magic of %zu bytes %s", name, size,
                   codec == NULL ? "comes before the codec itself was added" :
                                   "cannot be; allowed are 1 to " G_STRINGIFY (MAX_MAGIC));
      return FALSE;
    }
  memset (all, 0xff, sizeof all);
  g_ptr_array_add (
      codec->magics,
      g_variant_ref_sink (g_variant_new (
          "(@ay@ay)", g_variant_new_fixed_array (G_VARIANT_TYPE_BYTE, magic, size, 1),
          g_variant_new_fixed_array (G_VARIANT_TYPE_BYTE, mask != NULL ? mask : all, size, 1))));
  return TRUE;
}

gboolean
dlp_plugin_add_scheme (DlpPlugin *self, const char *name, GType scheme_type, GError **error)
{
  return add_checked (self, DLP_ITEM_SCHEME, name, scheme_type, NULL, error);
}

/* ---- opening ---- */

/* What the dynamic linker says of such a file names neither what it is nor what to do. */
static bool
check_format (const char *path, GError **error)
{
  static const char elf[] = { 0x7f, 'E', 'L', 'F' };
  char head[sizeof elf];
  int fd = open (path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  gssize n;

  if (fd < 0)
    {
      g_set_error (error, DLP_PLUGIN_ERROR, DLP_PLUGIN_ERROR_OPEN, "it cannot be opened: %s",
                   g_strerror (errno));
      return false;
    }
  n = read (fd, head, sizeof head);
  close (fd);
  if (n == sizeof head && memcmp (head, elf, sizeof elf) == 0)
    return true;
  g_set_error (error, DLP_PLUGIN_ERROR, DLP_PLUGIN_ERROR_FORMAT,
               "it is no shared library: it does not begin as an ELF file");
  return false;
}

static bool
check_descriptor (const DlpPluginDescriptor *descriptor, GError **error)
{
  if (descriptor->abi != DLP_PLUGIN_ABI || descriptor->struct_size != sizeof (DlpPluginDescriptor))
    g_set_error (error, DLP_PLUGIN_ERROR, DLP_PLUGIN_ERROR_ABI,
                 "it is built for plugin ABI %u (descriptor of %u bytes); this dlpipe has ABI %u "
                 "(%zu bytes)",
                 descriptor->abi, descriptor->struct_size, DLP_PLUGIN_ABI,
                 sizeof (DlpPluginDescriptor));
  else if (descriptor->name == NULL || descriptor->name[0] == '\0')
    g_set_error (error, DLP_PLUGIN_ERROR, DLP_PLUGIN_ERROR_DESCRIPTOR,
                 "its descriptor has no name");
  else if (!dlp_plugin_is_name (descriptor->name))
    {
      g_autofree char *shown = dlp_uri_escape_for_display (descriptor->name);

      g_set_error (error, DLP_PLUGIN_ERROR, DLP_PLUGIN_ERROR_DESCRIPTOR,
                   "its name is “%.64s”; a name is a lower-case letter, then such, digits and “-”",
                   shown);
    }
  else if (descriptor->init == NULL)
    g_set_error (error, DLP_PLUGIN_ERROR, DLP_PLUGIN_ERROR_DESCRIPTOR,
                 "its descriptor has no init()");
  else
    return true;
  return false;
}

/* (transfer full): that it is the file is known. */
static char *
strip_path (const char *message, const char *path)
{
  gsize length = strlen (path);

  if (strncmp (message, path, length) == 0 && g_str_has_prefix (message + length, ": "))
    message += length + 2;
  return g_utf8_make_valid (message, -1);
}

static GModule *
open_module (const char *path, const DlpPluginDescriptor **descriptor, GError **error)
{
  g_autoptr (GError) local = NULL;
  GModule *module;
  gpointer symbol;

  if (!check_format (path, error))
    return NULL;
  module = g_module_open_full (path, G_MODULE_BIND_LOCAL, &local);
  if (module == NULL)
    {
      g_autofree char *why = strip_path (local->message, path);

      g_set_error (error, DLP_PLUGIN_ERROR, DLP_PLUGIN_ERROR_OPEN, "it cannot be opened: %s", why);
      return NULL;
    }
  if (!g_module_symbol (module, SYMBOL, &symbol))
    g_set_error (error, DLP_PLUGIN_ERROR, DLP_PLUGIN_ERROR_NO_PLUGIN,
                 "it is no plugin of dlpipe: it has no symbol " SYMBOL);
  else if (check_descriptor (symbol, error))
    {
      *descriptor = symbol;
      return module;
    }
  g_module_close (module);
  return NULL;
}

static bool
call_init (DlpPlugin *self, GError **error)
{
  g_autoptr (GError) local = NULL;

  if (self->descriptor->init (self, &local) && self->fault == NULL)
    return true;
  if (local == NULL)
    local = g_steal_pointer (&self->fault);
  g_set_error (error, DLP_PLUGIN_ERROR, DLP_PLUGIN_ERROR_INIT, "its init() fails: %s",
               local != NULL ? local->message : "it does not say why");
  return false;
}

DlpPlugin *
dlp_plugin_open (const char *path, DlpScanStageFunc stage, gpointer data, GError **error)
{
  g_autoptr (DlpPlugin) self = NULL;
  const DlpPluginDescriptor *descriptor;
  GModule *module;

  if (stage != NULL)
    stage (DLP_SCAN_OPEN, data);
  module = open_module (path, &descriptor, error);
  if (module == NULL)
    return NULL;

  /* Types cannot be unloaded. */
  g_module_make_resident (module);
  self = plugin_new (descriptor);
  if (stage != NULL)
    stage (DLP_SCAN_INIT, data);
  return call_init (self, error) ? g_steal_pointer (&self) : NULL;
}

/* ---- what is written down ---- */

static void
insert_text (GVariantBuilder *dict, const char *key, const char *text)
{
  g_variant_builder_add (
      dict, "{sv}", key,
      g_variant_new_take_string (g_utf8_make_valid (text != NULL ? text : "", -1)));
}

static GVariant *
describe_item (DlpItemKind kind, DlpPluginItem *item)
{
  switch (kind)
    {
    case DLP_ITEM_CODEC:
      return dlp_describe_codec (item->name, item->type, item->magics);
    case DLP_ITEM_SCHEME:
      return dlp_describe_scheme (item->name, item->type, NULL);
    case DLP_ITEM_ELEMENT:
    case DLP_N_ITEM_KINDS:
    default:
      return dlp_describe_element (item->name, item->type);
    }
}

GVariant *
dlp_plugin_describe (DlpPlugin *self)
{
  static const char *const keys[DLP_N_ITEM_KINDS] = { "elements", "codecs", "schemes" };
  GVariantBuilder dict;

  g_variant_builder_init (&dict, G_VARIANT_TYPE_VARDICT);
  insert_text (&dict, "name", self->descriptor->name);
  insert_text (&dict, "description", self->descriptor->description);
  insert_text (&dict, "version", self->descriptor->version);
  insert_text (&dict, "license", self->descriptor->license);
  for (guint k = 0; k < DLP_N_ITEM_KINDS; k++)
    {
      GVariantBuilder builder;

      g_variant_builder_init (&builder, G_VARIANT_TYPE ("aa{sv}"));
      for (guint i = 0; i < self->items[k]->len; i++)
        {
          g_autoptr (GVariant) item =
              describe_item ((DlpItemKind) k, g_ptr_array_index (self->items[k], i));

          g_variant_builder_add_value (&builder, item);
        }
      g_variant_builder_add (&dict, "{sv}", keys[k], g_variant_builder_end (&builder));
    }
  return g_variant_ref_sink (g_variant_builder_end (&dict));
}

GVariant *
dlp_plugin_describe_failure (const GError *error)
{
  GVariantBuilder dict;

  g_variant_builder_init (&dict, G_VARIANT_TYPE_VARDICT);
  insert_text (&dict, "reason", error->message);
  insert_text (&dict, "remedy", dlp_plugin_get_remedy (error));
  return g_variant_ref_sink (g_variant_builder_end (&dict));
}
