/* SPDX-License-Identifier: MIT */
#define DLP_ENCODE_NAME dlp_encode_base
#include "dlp-encode-loop.h"
