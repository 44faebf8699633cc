/* SPDX-License-Identifier: MIT */
#include "dlp-scan-known.h"
#include "dlp-scan.h"

static const guint8 *
scan_gpt2 (const guint8 *p, const guint8 *end)
{
  return dlp_scan_gpt2 (p, end);
}

static const guint8 *
scan_cl100k (const guint8 *p, const guint8 *end)
{
  return dlp_scan_cl100k (p, end, TRUE);
}

static const guint8 *
scan_cl100k_old (const guint8 *p, const guint8 *end)
{
  return dlp_scan_cl100k (p, end, FALSE);
}

static const guint8 *
scan_o200k (const guint8 *p, const guint8 *end)
{
  return dlp_scan_o200k (p, end);
}

DlpScanFunc
dlp_pattern_get_scanner (DlpPatternKind kind)
{
  switch (kind)
    {
    case DLP_PATTERN_GPT2:
      return scan_gpt2;

    case DLP_PATTERN_CL100K:
      return scan_cl100k;

    case DLP_PATTERN_CL100K_OLD:
      return scan_cl100k_old;

    case DLP_PATTERN_O200K:
      return scan_o200k;

    case DLP_PATTERN_QWEN2:
      return dlp_scan_qwen2;

    case DLP_PATTERN_QWEN35:
      return dlp_scan_qwen35;

    case DLP_PATTERN_TEKKEN:
      return dlp_scan_tekken;

    case DLP_PATTERN_KIMI_K2:
      return dlp_scan_kimi_k2;

    case DLP_PATTERN_DEEPSEEK:
      return dlp_scan_deepseek;

    case DLP_PATTERN_DIGITS:
      return dlp_scan_digits;

    case DLP_PATTERN_REGEX:
    default:
      return NULL;
    }
}
