/* SPDX-License-Identifier: MIT */

#include "dlp-decoder-private.h"
#include "dlp-durable-private.h"
#include "dlp-registry-private.h"

#include <pthread.h>
#include <string.h>

typedef struct
{
  const char *name;
  DlpCodecMatch match;
  GType type;
} Codec;

/* Guards the table; its entries are never changed or removed. */
static pthread_mutex_t codecs_lock = PTHREAD_MUTEX_INITIALIZER;
static GArray *codecs;

G_DEFINE_ABSTRACT_TYPE (DlpDecoder, dlp_decoder, G_TYPE_OBJECT)

static gboolean
dlp_decoder_real_finish (DlpDecoder *self, GError **error)
{
  return TRUE;
}

static void
dlp_decoder_class_init (DlpDecoderClass *klass)
{
  klass->finish = dlp_decoder_real_finish;
}

static void
dlp_decoder_init (DlpDecoder *self)
{
}

int
dlp_decoder_open_scratch (const char *folder, GError **error)
{
  g_return_val_if_fail (folder != NULL, -1);
  g_return_val_if_fail (error == NULL || *error == NULL, -1);

  return dlp_durable_open_scratch (folder, error);
}

static gboolean
find_by_name_locked (const char *name, Codec *codec)
{
  for (guint i = 0; codecs != NULL && i < codecs->len; i++)
    if (strcmp (g_array_index (codecs, Codec, i).name, name) == 0)
      {
        *codec = g_array_index (codecs, Codec, i);
        return TRUE;
      }

  return FALSE;
}

void
dlp_codec_register (const char *name, DlpCodecMatch match, GType decoder_type)
{
  Codec codec = { NULL, match, decoder_type };
  Codec taken = { NULL };
  gboolean is_taken;

  g_return_if_fail (name != NULL && *name != '\0');
  g_return_if_fail (match != NULL);
  g_return_if_fail (g_type_is_a (decoder_type, DLP_TYPE_DECODER));

  pthread_mutex_lock (&codecs_lock);
  if (codecs == NULL)
    codecs = g_array_new (FALSE, FALSE, sizeof (Codec));
  is_taken = find_by_name_locked (name, &taken);
  if (!is_taken)
    {
      codec.name = g_intern_string (name);
      g_array_append_val (codecs, codec);
    }
  pthread_mutex_unlock (&codecs_lock);

  if (is_taken && taken.type != decoder_type)
    g_warning ("The codec \"%s\" belongs to %s already; %s is not used", name,
               g_type_name (taken.type), g_type_name (decoder_type));
}

static gboolean
get_codec (guint index, Codec *codec)
{
  gboolean exists;

  pthread_mutex_lock (&codecs_lock);
  exists = codecs != NULL && index < codecs->len;
  if (exists)
    *codec = g_array_index (codecs, Codec, index);
  pthread_mutex_unlock (&codecs_lock);

  return exists;
}

/* The match functions are a plugin's: they run outside of the lock. */
static gboolean
find_known_codec (const guint8 *head, gsize size, Codec *codec)
{
  for (guint i = 0; get_codec (i, codec); i++)
    if (codec->match (head, size))
      return TRUE;

  return FALSE;
}

static gboolean
find_codec (const guint8 *head, gsize size, Codec *codec)
{
  if (size == 0)
    return FALSE;

  return find_known_codec (head, size, codec) ||
         (dlp_registry_load_codecs (head, size) && find_known_codec (head, size, codec));
}

const char *
dlp_codec_find (const guint8 *head, gsize size)
{
  Codec codec;

  return find_codec (head, size, &codec) ? codec.name : NULL;
}

DlpDecoder *
dlp_codec_open (const guint8 *head, gsize size, const char **name)
{
  Codec codec;

  g_return_val_if_fail (head != NULL || size == 0, NULL);

  if (!find_codec (head, size, &codec))
    {
      if (name != NULL)
        *name = NULL;
      return NULL;
    }

  if (name != NULL)
    *name = codec.name;
  return g_object_new (codec.type, NULL);
}

const char *
dlp_codec_of_file_name (const char *name)
{
  static const struct
  {
    const char *extension, *codec;
  } customs[] = {
    { ".gz", "gzip" },   { ".zst", "zstd" }, { ".zstd", "zstd" },
    { ".bz2", "bzip2" }, { ".xz", "xz" },    { ".lz4", "lz4" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (customs); i++)
    if (g_str_has_suffix (name, customs[i].extension))
      return customs[i].codec;

  return NULL;
}
