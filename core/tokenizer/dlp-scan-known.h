/* SPDX-License-Identifier: MIT */
#pragma once

#include "dlp-pattern.h"

typedef const guint8 *(*DlpScanFunc) (const guint8 *p, const guint8 *end);

/* NULL for a kind that is none of the known ones */
DlpScanFunc dlp_pattern_get_scanner (DlpPatternKind kind);

/* Scanners of further known patterns, with the contract of those in dlp-scan.h: the end of the
 * piece that starts at @p < @end; they never read at or past @end, and always move. */
const guint8 *dlp_scan_qwen2 (const guint8 *p, const guint8 *end);
const guint8 *dlp_scan_qwen35 (const guint8 *p, const guint8 *end);
const guint8 *dlp_scan_tekken (const guint8 *p, const guint8 *end);
const guint8 *dlp_scan_kimi_k2 (const guint8 *p, const guint8 *end);
const guint8 *dlp_scan_deepseek (const guint8 *p, const guint8 *end);
const guint8 *dlp_scan_digits (const guint8 *p, const guint8 *end);
