/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

#include <dlpipe/dlp-registry.h>

G_BEGIN_DECLS

typedef enum
{
  INSPECT_EXIT_OK = 0,
  INSPECT_EXIT_UNKNOWN = 1, /* there is nothing of that name; or it could not be printed */
  INSPECT_EXIT_USAGE = 2,
} InspectExit;

typedef enum
{
  INSPECT_NOTHING,
  INSPECT_ELEMENT,
  INSPECT_PLUGIN,
  INSPECT_CODEC,
  INSPECT_SCHEME,
} InspectKind;

/* What a name stands for, an element before a plugin of that name; with "plugin:", "codec:" ...
 * before it that alone. @rest: (out): the name without that. */
InspectKind inspect_find (const char *name, const char **rest);
/* (transfer full) (nullable) */
GVariant *inspect_describe (InspectKind kind, const char *name);
/* (transfer full): all names, for suggestions. */
char **inspect_list_names (void);
/* (transfer full): all names, as in "codec:gzip". */
char **inspect_list_qualified_names (void);

/* ---- texts ---- */

/* What separates from the rest on a terminal; else nothing. */
const char *inspect_bold (void);
const char *inspect_plain (void);
guint inspect_get_columns (void);
/* (transfer none): "" where there is none. */
const char *inspect_get (GVariant *dict, const char *key);
/* (transfer full): the strings of @key, joined. */
char *inspect_join (GVariant *dict, const char *key, const char *separator);
/* (transfer full): one line, without what a plugin's text might make a terminal do. */
char *inspect_escape (const char *text);
/* Prints @text, escaped, from @column on, where the cursor is, in lines that begin there. */
void inspect_print_wrapped (const char *text, guint column);

void inspect_print_list (void);
void inspect_print_description (InspectKind kind, const char *name);
void inspect_print_json (InspectKind kind, const char *name);
void inspect_print_problems (void);

/* (transfer full): what "magic" of a codec says, one for each, bits that do not count as '?'. */
char **inspect_format_magics (GVariant *codec);

/* What may follow @line, the command line up to the cursor. */
void inspect_complete (const char *line);

G_END_DECLS
