/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

/* Byte-level BPE writes bytes with 256 letters: a printable character of Latin-1 stands for its own
 * byte, those from U+0100 on stand for the others in order. */

/* @out has room for @len. Returns how many bytes the letters stand for; -1 if something else is
 * among them. @text is valid UTF-8. */
gssize dlp_letters_decode (const char *text, gsize len, guint8 *out);

/* @out has room for 2. Returns how long the letter of @byte is. */
gsize dlp_letters_encode (guint8 byte, char *out);
