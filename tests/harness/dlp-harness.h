/* SPDX-License-Identifier: MIT */
#pragma once

#include <dlpipe/dlp-check.h>

/* The former names of what is in dlp-check.h. */
#define DlpHarnessSettings DlpCheckSettings
#define dlp_harness_init dlp_check_init
#define dlp_harness_run dlp_check_run
#define dlp_harness_expect dlp_check_expect
#define dlp_harness_run_in_pieces dlp_check_run_in_pieces
#define dlp_harness_check_resume dlp_check_resume
#define dlp_harness_check_settings dlp_check_stress
#define dlp_harness_check_golden dlp_check_golden
#define dlp_harness_scale dlp_check_scale
