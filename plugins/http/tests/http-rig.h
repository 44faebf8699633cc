/* SPDX-License-Identifier: MIT */
#pragma once

#include <gio/gio.h>

#include <dlpipe/dlp-file.h>

G_BEGIN_DECLS

/* A folder with files, and a bad server of them: see faulty-http.py. */
typedef struct
{
  char *folder;
  guint port;
  GSubprocess *server;
} HttpRig;

/* By which counts of tests are multiplied. */
double http_rig_get_scale (void);

/* The scheme and two codecs; rigs do so. */
void http_rig_register (void);
/* @packet: bytes a packet; 0: as they come. */
HttpRig *http_rig_new (guint packet, guint seed, double rate);
void http_rig_free (HttpRig *self);
void http_rig_add_file (HttpRig *self, const char *name, GBytes *content);
/* How often the server had that fault; "requests": how often it was asked. */
guint http_rig_count (HttpRig *self, const char *fault);
/* (transfer full): the URI of a file by a mode of the server. */
char *http_rig_make_uri (HttpRig *self, const char *mode, const char *name);
/* Short waits, and as many attempts as fit into them. */
void http_rig_set_waits (guint timeout_s, gint64 retry_time_ms, gint64 first_wait_ms);
/* Behind that: no more attempts than these, however fast the machine is. */
void http_rig_set_retries (int n);

/* (transfer full) (nullable): the whole of a file, decoded, by reads of @size bytes. */
GBytes *http_rig_load (const char *uri, gsize size, GCancellable *cancellable, GError **error);

/* (transfer full): about @size bytes of JSON lines, always the same. */
GBytes *http_rig_make_lines (gsize size);
GBytes *http_rig_gzip (GBytes *bytes);
GBytes *http_rig_zstd (GBytes *bytes);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (HttpRig, http_rig_free)

G_END_DECLS
