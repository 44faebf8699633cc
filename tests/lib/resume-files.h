/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef void (*ResumeWrite) (guint file, GString *bytes);

/*
 * A reader of four files in a pipeline with a state folder, stopped and continued: the same records
 * and rejects. @ending: of the files' names; @reader: the element with its settings; @n: how often
 * more it is stopped at any place, after once at each record.
 */
void resume_files_check (const char *ending, ResumeWrite write, const char *reader, guint n);

G_END_DECLS
