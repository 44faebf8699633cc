/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

const guint8 *dlp_grapheme_next (const guint8 *p, const guint8 *end);
