/* SPDX-License-Identifier: MIT */
#pragma once

#include "dlp-element.h"

G_BEGIN_DECLS

/**
 * DlpPadPresence:
 * @DLP_PAD_ALWAYS: it is there, and to be linked
 * @DLP_PAD_OPTIONAL: it is there, and may be linked
 * @DLP_PAD_ON_REQUEST: a link makes it, as many as are wanted; the template's name is a pattern
 *   such as "in-N"
 *
 * When a pad is there.
 *
 * Since: 0.2
 */
typedef enum
{
  DLP_PAD_ALWAYS,
  DLP_PAD_OPTIONAL,
  DLP_PAD_ON_REQUEST,
} DlpPadPresence;

/**
 * DlpPadCarries:
 * @DLP_CARRIES_RECORDS: see %DLP_SCHEMA_RECORDS
 * @DLP_CARRIES_FILES: see %DLP_SCHEMA_FILES
 * @DLP_CARRIES_BATCHES: see %DLP_SCHEMA_BATCHES
 * @DLP_CARRIES_ALL: all of them
 *
 * The kinds of links that a pad fits.
 *
 * Since: 0.2
 */
typedef enum
{
  DLP_CARRIES_RECORDS = 1 << 0,
  DLP_CARRIES_FILES = 1 << 1,
  DLP_CARRIES_BATCHES = 1 << 2,
  DLP_CARRIES_ALL = DLP_CARRIES_RECORDS | DLP_CARRIES_FILES | DLP_CARRIES_BATCHES,
} DlpPadCarries;

/**
 * dlp_element_class_add_pad_template:
 * @klass: a class
 * @name: of the pad, or its pattern
 * @direction: its direction
 * @presence: when it is there
 * @carries: what it takes or gives
 * @description: (nullable): one line; static
 *
 * In class init: says of a pad what dlpipe-inspect and others list. It makes no pad, and what it
 * says is not enforced: negotiate() does that. Replaces what a parent class says of @name. Base
 * classes speak of theirs; a pad of which nothing is said is listed without what it carries.
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
void dlp_element_class_add_pad_template (DlpElementClass *klass,
                                         const char *name,
                                         DlpPadDirection direction,
                                         DlpPadPresence presence,
                                         DlpPadCarries carries,
                                         const char *description);

G_END_DECLS
