/* SPDX-License-Identifier: MIT */

/* By what the files of a reader are known. */

#include <string.h>

#include <dlpipe/dlp-decoder.h>

#include "dlp-reader-format-private.h"

#define MAX_MAGIC 16

typedef struct
{
  GPtrArray *names;  /* of char: endings */
  GPtrArray *magics; /* of char: OFFSET:BYTES, bytes in hexadecimal */
} Format;

static GQuark
format_quark (void)
{
  return g_quark_from_static_string ("dlp-reader-format");
}

/* In class init: one thread. */
static Format *
ensure_format (DlpReaderClass *klass)
{
  GType type = G_TYPE_FROM_CLASS (klass);
  Format *self = g_type_get_qdata (type, format_quark ());

  if (self != NULL)
    return self;
  self = g_new0 (Format, 1);
  self->names = g_ptr_array_new ();
  self->magics = g_ptr_array_new ();
  g_type_set_qdata (type, format_quark (), self);
  return self;
}

void
dlp_reader_class_add_file_name (DlpReaderClass *klass, const char *ending)
{
  g_return_if_fail (ending != NULL && ending[0] == '.' && ending[1] != '\0');

  g_ptr_array_add (ensure_format (klass)->names, g_ascii_strdown (ending, -1));
}

void
dlp_reader_class_add_magic (DlpReaderClass *klass, gsize offset, const guint8 *magic, gsize size)
{
  GString *text = g_string_new (NULL);

  g_return_if_fail (magic != NULL && size > 0 && size <= MAX_MAGIC);
  g_return_if_fail (offset + size <= DLP_READER_HEAD);

  g_string_append_printf (text, "%zu:", offset);
  for (gsize i = 0; i < size; i++)
    g_string_append_printf (text, "%02x", magic[i]);
  g_ptr_array_add (ensure_format (klass)->magics, g_string_free (text, FALSE));
}

static void
insert_list (GVariantBuilder *dict, const char *key, GPtrArray *texts)
{
  g_variant_builder_add (
      dict, "{sv}", key,
      g_variant_new_strv ((const char *const *) texts->pdata, (gssize) texts->len));
}

void
dlp_reader_describe_format (GType type, GVariantBuilder *dict)
{
  const Format *self = g_type_get_qdata (type, format_quark ());

  if (self == NULL)
    return;
  insert_list (dict, "file-names", self->names);
  insert_list (dict, "file-magic", self->magics);
}

/* ---- what a reader is known for, against a file ---- */

/* Without a query, and without the endings of codecs: "a.jsonl.zst" is "a.jsonl". */
static char *
get_plain_name (const char *uri)
{
  gsize length = strstr (uri, "://") != NULL ? strcspn (uri, "?#") : strlen (uri);
  g_autofree char *path = g_strndup (uri, length);
  const char *slash = strrchr (path, '/');
  char *name = g_ascii_strdown (slash != NULL ? slash + 1 : path, -1);

  while (dlp_codec_of_file_name (name) != NULL && strrchr (name, '.') != NULL)
    *strrchr (name, '.') = '\0';
  return name;
}

gboolean
dlp_reader_knows_name (GVariant *described, const char *uri)
{
  g_autofree char *name = get_plain_name (uri);
  g_autofree const char **endings = NULL;

  if (!g_variant_lookup (described, "file-names", "^a&s", &endings))
    return FALSE;
  for (guint i = 0; endings[i] != NULL; i++)
    if (g_str_has_suffix (name, endings[i]))
      return TRUE;
  return FALSE;
}

/* How many bytes of it are there: all or none. */
static gsize
match (const char *magic, const guint8 *head, gsize size)
{
  char *hex;
  guint64 offset = g_ascii_strtoull (magic, &hex, 10);
  gsize n = strlen (++hex) / 2;

  if (offset > size || n > size - offset)
    return 0;
  for (gsize i = 0; i < n; i++)
    if (g_ascii_xdigit_value (hex[2 * i]) * 16 + g_ascii_xdigit_value (hex[2 * i + 1]) !=
        head[offset + i])
      return 0;
  return n;
}

gsize
dlp_reader_count_magic (GVariant *described, const guint8 *head, gsize size)
{
  g_autofree const char **magics = NULL;
  gsize most = 0;

  if (!g_variant_lookup (described, "file-magic", "^a&s", &magics))
    return 0;
  for (guint i = 0; magics[i] != NULL; i++)
    most = MAX (most, match (magics[i], head, size));
  return most;
}
