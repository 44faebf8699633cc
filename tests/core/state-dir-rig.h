/* SPDX-License-Identifier: MIT */
#pragma once

#include "dlp-state-dir-private.h"

#include "faults.h"

/* What the tests of the state folder share. */
typedef struct
{
  char *path;
} Fixture;

void set_up (Fixture *fixture, gconstpointer unused);
void tear_down (Fixture *fixture, gconstpointer unused);
DlpStateDir *open_dir (const char *path);
GVariant *make_payload (guint value);
void save (DlpStateDir *dir, guint value);
/* The value of the checkpoint, 0: there is none. */
guint load (DlpStateDir *dir, guint64 *generation);
void assert_says (const GError *error, const char *what);
void put_file (Fixture *fixture, const char *name, const char *data, gssize size);
gboolean has_file (Fixture *fixture, const char *name);
void assert_files (Fixture *fixture, const char *names);
