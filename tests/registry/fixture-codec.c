/* SPDX-License-Identifier: MIT */

/* A codec, whose files begin with TOY! or, its fourth bit being free, ?oy!, and a URI scheme. */

#include <string.h>

#include <dlpipe/dlp-plugin.h>

typedef struct
{
  DlpDecoder parent_instance;
} ToyDecoder;

typedef struct
{
  DlpDecoderClass parent_class;
} ToyDecoderClass;

GType toy_decoder_get_type (void);

G_DEFINE_TYPE (ToyDecoder, toy_decoder, DLP_TYPE_DECODER)

static gboolean
toy_decoder_decode (DlpDecoder *decoder,
                    const guint8 *in,
                    gsize in_size,
                    gsize *in_used,
                    guint8 *out,
                    gsize out_size,
                    gsize *out_written,
                    GError **error)
{
  gsize n = MIN (in_size, out_size);

  memcpy (out, in, n);
  *in_used = *out_written = n;
  return TRUE;
}

static void
toy_decoder_class_init (ToyDecoderClass *klass)
{
  DLP_DECODER_CLASS (klass)->decode = toy_decoder_decode;
}

static void
toy_decoder_init (ToyDecoder *self)
{
}

typedef struct
{
  DlpScheme parent_instance;
} ToyScheme;

typedef struct
{
  DlpSchemeClass parent_class;
} ToySchemeClass;

GType toy_scheme_get_type (void);

G_DEFINE_TYPE (ToyScheme, toy_scheme, DLP_TYPE_SCHEME)

static DlpFile *
toy_scheme_identify (DlpScheme *scheme, const char *uri, GCancellable *cancellable, GError **error)
{
  return dlp_file_new (uri, 0, NULL);
}

static void
toy_scheme_class_init (ToySchemeClass *klass)
{
  DLP_SCHEME_CLASS (klass)->identify = toy_scheme_identify;
}

static void
toy_scheme_init (ToyScheme *self)
{
}

static gboolean
toy_match (const guint8 *head, gsize size)
{
  return size >= 4 && (head[0] & 0xf0) == 0x50 &&
         g_ascii_strncasecmp ((const char *) head + 1, "oy!", 3) == 0;
}

static gboolean
init (DlpPlugin *plugin, GError **error)
{
  static const guint8 mask[] = { 0xf0, 0xdf, 0xdf, 0xff };

  return dlp_plugin_add_codec (plugin, "toy", toy_match, toy_decoder_get_type (), error) &&
         dlp_plugin_add_codec_magic (plugin, "toy", (const guint8 *) "TOY!", mask, 4, error) &&
         dlp_plugin_add_scheme (plugin, "toy", toy_scheme_get_type (), error);
}

DLP_PLUGIN_DEFINE ("codec", "A codec and a scheme, as toys", "1.0", "MIT", init)
