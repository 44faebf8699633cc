/* SPDX-License-Identifier: MIT */
#pragma once

#include <dlpipe/dlp-value.h>
