/* SPDX-License-Identifier: MIT */
#define DLP_ENCODE_NAME dlp_encode_avx512
#include "dlp-encode-loop.h"
