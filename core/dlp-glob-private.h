/* SPDX-License-Identifier: MIT */
#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/* Does the text hold one of the characters that make a pattern of it? */
gboolean dlp_glob_is_pattern (const char *text);

/* One component of a path against one of a pattern, byte by byte whatever the locale: '*', '?' (one
 * byte), "[a-z]", "[!a-z]". A '[' without its ']' is itself; there is no escape character: "[*]" is
 * a literal star. A leading '.' is matched by a '.' alone. */
gboolean dlp_glob_match (const char *pattern, const char *name);

/* (transfer full) (element-type filename): the paths of what is not a folder that match, in byte
 * order, each once. A component "**" is any number of folders, hidden ones excepted: it follows
 * symbolic links, and enters each folder (by device and inode) once, by its real name where it has
 * one below. A link that leads nowhere and folders that cannot be read are errors. No match is an
 * empty array. */
GPtrArray *dlp_glob_find (const char *pattern, GCancellable *cancellable, GError **error);

/* The same for what is directly in a folder, whatever characters its own name has; hidden ones
 * excepted. */
GPtrArray *dlp_glob_find_in_folder (const char *folder, GError **error);

G_END_DECLS
