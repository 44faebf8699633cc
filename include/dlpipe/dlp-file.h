/* SPDX-License-Identifier: MIT */
#pragma once

#include <gio/gio.h>

#include "dlp-macros.h"

G_BEGIN_DECLS

#define DLP_TYPE_FILE (dlp_file_get_type ())
/**
 * DlpFile:
 *
 * An input file: its URI (for local files the path, as bytes), its size and its identity, a short
 * text that must be equal at each later opening ("mtime=SECONDS.NANOSECONDS" for local files, an
 * ETag for others). Immutable; any thread.
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
G_DECLARE_FINAL_TYPE (DlpFile, dlp_file, DLP, FILE, GObject)

/**
 * dlp_file_new:
 * @uri: (type filename): a URI or path
 * @size: its size in bytes; -1: unknown
 * @identity: (nullable): what must be equal at each opening; %NULL: unknown until it is opened
 *
 * Makes the description of a file; opens nothing.
 *
 * Threads: any.
 *
 * Returns: (transfer full): a file
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
DlpFile *dlp_file_new (const char *uri, gint64 size, const char *identity);

/**
 * dlp_file_get_uri:
 * @self: a file
 *
 * Gets the URI, or path, of the file.
 *
 * Threads: any.
 *
 * Returns: (transfer none) (type filename): a URI or path
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
const char *dlp_file_get_uri (DlpFile *self);

/**
 * dlp_file_get_size:
 * @self: a file
 *
 * Gets the size of the file, as it lies there.
 *
 * Threads: any.
 *
 * Returns: bytes; -1: unknown
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
gint64 dlp_file_get_size (DlpFile *self);

/**
 * dlp_file_get_identity:
 * @self: a file
 *
 * Gets what must be equal at each opening.
 *
 * Threads: any.
 *
 * Returns: (transfer none) (nullable): a text; %NULL: unknown
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
const char *dlp_file_get_identity (DlpFile *self);

#define DLP_TYPE_SCHEME (dlp_scheme_get_type ())
/**
 * DlpScheme:
 *
 * What a plugin brings to read a kind of URI: list, identify, open. One object a process and
 * scheme, and one more for each source of which a graph sets properties of the scheme
 * (`http.timeout=10s`); such an object may go while streams that it opened are still read. Calls
 * come from several threads at once.
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
G_DECLARE_DERIVABLE_TYPE (DlpScheme, dlp_scheme, DLP, SCHEME, GObject)

/**
 * DlpSchemeClass:
 * @parent_class: the parent class
 * @list: lists the files that a pattern means
 * @identify: looks at a file
 * @open: opens a file
 * @prefetch: brings a file near
 * @check: looks whether a file is still the one that was opened
 * @pin: names what a pattern means now
 *
 * The class of schemes, with room for six further virtual functions.
 *
 * Since: 0.1
 */
struct _DlpSchemeClass
{
  GObjectClass parent_class;

  /**
   * DlpSchemeClass::list:
   * @self: a scheme
   * @pattern: (type filename): a glob or name
   * @cancellable: (nullable): a cancellable
   * @error: return location for an error
   *
   * Lists the files that @pattern means (a glob, or one name; a folder means the files directly in
   * it), in any order. A name that does not exist is an error %DLP_DATA_ERROR_NO_INPUT, as is a
   * glob without a match.
   *
   * Threads: several at once.
   *
   * Returns: (transfer container) (element-type DlpFile): files, which the array holds
   *
   * Since: 0.1
   */
  GPtrArray *(*list) (DlpScheme *self,
                      const char *pattern,
                      GCancellable *cancellable,
                      GError **error);
  /**
   * DlpSchemeClass::identify:
   * @self: a scheme
   * @uri: (type filename): a URI or path
   * @cancellable: (nullable): a cancellable
   * @error: return location for an error
   *
   * Gets the file as it is now.
   *
   * Threads: several at once.
   *
   * Returns: (transfer full): a file
   *
   * Since: 0.1
   */
  DlpFile *(*identify) (DlpScheme *self,
                        const char *uri,
                        GCancellable *cancellable,
                        GError **error);
  /**
   * DlpSchemeClass::open:
   * @self: a scheme
   * @file: a file
   * @offset: where to begin, in bytes
   * @cancellable: (nullable): a cancellable
   * @error: return location for an error
   *
   * Opens a file.
   *
   * Threads: several at once.
   *
   * Returns: (transfer full): its bytes from @offset on
   *
   * Since: 0.1
   */
  GInputStream *(*open) (DlpScheme *self,
                         DlpFile *file,
                         gint64 offset,
                         GCancellable *cancellable,
                         GError **error);
  /**
   * DlpSchemeClass::prefetch:
   * @self: a scheme
   * @file: a file
   * @bytes: how many
   *
   * Optional: asks for the first @bytes of the file to be brought near; must not block.
   *
   * Threads: several at once.
   *
   * Since: 0.1
   */
  void (*prefetch) (DlpScheme *self, DlpFile *file, gint64 bytes);
  /**
   * DlpSchemeClass::check:
   * @self: a scheme
   * @file: a file
   * @stream: what open() gave
   * @error: return location for an error
   *
   * Optional: whether what @stream, which open() gave, reads is still the file that was opened.
   * Called behind each read, also at the end: must be cheap.
   *
   * Threads: several at once.
   *
   * Returns: %FALSE with %DLP_DATA_ERROR_CHANGED if not
   *
   * Since: 0.1
   */
  gboolean (*check) (DlpScheme *self, DlpFile *file, GInputStream *stream, GError **error);
  /**
   * DlpSchemeClass::pin:
   * @self: a scheme
   * @pattern: (type filename): a glob or name
   * @cancellable: (nullable): a cancellable
   * @error: return location for an error
   *
   * Optional: where a part of @pattern is a name that may come to mean something else, such as a
   * branch, the same with what it means now, such as a commit. What list() gives for that is the
   * same later, too. Since: 0.2
   *
   * Threads: several at once.
   *
   * Returns: (transfer full) (type filename): a glob or name
   *
   * Since: 0.2
   */
  char *(*pin) (DlpScheme *self, const char *pattern, GCancellable *cancellable, GError **error);

  /*< private >*/
  gpointer reserved[6];
};

/**
 * dlp_scheme_for_uri:
 * @uri: (type filename): a URI or path
 * @error: return location for an error
 *
 * Gets the scheme of a URI or path. Scheme names are lower case; "file" is built in, and what a
 * text without "NAME://" is. What a source calls in its negotiate() and produce() gets the object
 * of that source, if a graph sets properties of the scheme for it.
 *
 * Threads: any.
 *
 * Returns: (transfer none): a scheme; an unknown one is an error that lists the known ones
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
DlpScheme *dlp_scheme_for_uri (const char *uri, GError **error);

/**
 * dlp_scheme_register:
 * @name: its name, lower case
 * @type: a subclass of #DlpScheme
 *
 * Registers a scheme. For programs that bring one of their own; a plugin has
 * dlp_plugin_add_scheme().
 *
 * Threads: any.
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
void dlp_scheme_register (const char *name, GType type);

/**
 * dlp_scheme_list:
 * @self: a scheme
 * @pattern: (type filename): a glob or name
 * @cancellable: (nullable): a cancellable
 * @error: return location for an error
 *
 * Lists the files that @pattern means (a glob, or one name; a folder means the files directly in
 * it), in any order. Blocks. Errors: %DLP_DATA_ERROR_NO_INPUT, those of the scheme.
 *
 * Threads: any.
 *
 * Returns: (transfer container) (element-type DlpFile): files, which the array holds
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
GPtrArray *
dlp_scheme_list (DlpScheme *self, const char *pattern, GCancellable *cancellable, GError **error);

/**
 * dlp_scheme_identify:
 * @self: a scheme
 * @uri: (type filename): a URI or path
 * @cancellable: (nullable): a cancellable
 * @error: return location for an error
 *
 * Gets the file as it is now. Blocks.
 *
 * Threads: any.
 *
 * Returns: (transfer full): a file
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
DlpFile *
dlp_scheme_identify (DlpScheme *self, const char *uri, GCancellable *cancellable, GError **error);

/**
 * dlp_scheme_pin:
 * @self: a scheme
 * @pattern: (type filename): a glob or name
 * @cancellable: (nullable): a cancellable
 * @error: return location for an error
 *
 * Names what @pattern means now, so that listing it later gives the same files: of a scheme whose
 * names move, such as those of branches. Others give @pattern back. Blocks.
 *
 * Threads: any.
 *
 * Returns: (transfer full) (type filename): a glob or name
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
char *
dlp_scheme_pin (DlpScheme *self, const char *pattern, GCancellable *cancellable, GError **error);

/**
 * dlp_scheme_prefetch:
 * @self: a scheme
 * @file: a file
 * @bytes: how many
 *
 * Asks for the first @bytes of the file to be brought near; does not block.
 *
 * Threads: any.
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
void dlp_scheme_prefetch (DlpScheme *self, DlpFile *file, gint64 bytes);

/**
 * dlp_file_open:
 * @self: a file
 * @offset: where to begin, in bytes
 * @cancellable: (nullable): a cancellable
 * @error: return location for an error
 *
 * Opens a file at an offset, and compares what is opened with its recorded size and identity, where
 * known: a difference is %DLP_DATA_ERROR_CHANGED. "-" is the standard input, at offset 0 only.
 * Blocks.
 *
 * Threads: any.
 *
 * Returns: (transfer full): the bytes of the file as it lies there, from @offset on
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
GInputStream *
dlp_file_open (DlpFile *self, gint64 offset, GCancellable *cancellable, GError **error);

/**
 * dlp_scheme_set_status:
 * @status: (nullable): what is waited for; %NULL: it is over
 *
 * Declares a wait ("retry in 42 s") of the calling thread for the element that it reads for, as
 * dlp_element_set_status() does. For schemes, which do not know it; nothing where there is none.
 *
 * Threads: any.
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
void dlp_scheme_set_status (const char *status);

/**
 * dlp_glob_match_path:
 * @pattern: (type filename): a glob
 * @path: (type filename): a path
 *
 * Holds a path against a glob, as `location=` of `file-source` has them: `*`, `?` and `[...]` match
 * no "/", `**` as a whole part any number of folders, none of them the start of a name that begins
 * with a dot. A glob that ends with "/" or `**` means what is directly in those folders. Bytes are
 * compared, whatever the locale. For schemes that list files.
 *
 * Threads: any.
 *
 * Returns: whether it matches
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
gboolean dlp_glob_match_path (const char *pattern, const char *path);

/**
 * dlp_uri_redact:
 * @text: (type filename): a URI or path, or a text with such in it
 *
 * Takes out of each URI ("NAME://") what gives access: user and password, and the values of the
 * parameters of its query that sign it or are keys (X-Amz-Signature, sig, token, ...) become
 * `***`. Other texts stay as they are.
 *
 * Threads: any.
 *
 * Returns: (transfer full) (type filename): a text that may be stored and shown
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
char *dlp_uri_redact (const char *text);

/**
 * dlp_uri_escape_for_display:
 * @uri: (type filename): a URI or path
 *
 * Makes a URI or path fit to print: control characters and bytes that are not UTF-8 as \xHH; what
 * gives access is taken out, as dlp_uri_redact() does.
 *
 * Threads: any.
 *
 * Returns: (transfer full): a text in UTF-8
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
char *dlp_uri_escape_for_display (const char *uri);

G_END_DECLS
