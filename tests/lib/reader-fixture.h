/* SPDX-License-Identifier: MIT */
#pragma once

#include "reader-rig.h"

G_BEGIN_DECLS

/* A folder of files to read, and the settings of a source and a reader of them. */
typedef struct
{
  char *folder;
  GPtrArray *source; /* of char *: settings, NULL-terminated by fixture_config() */
  GPtrArray *reader;
  RigConfig config;
} Fixture;

/* Registers the codecs, once. */
void fixture_init (void);
/* Reads all of the folder, which is empty. */
Fixture *fixture_new (void);
/* Reads @location. */
Fixture *fixture_new_at (const char *location);
void fixture_free (Fixture *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Fixture, fixture_free)

/* By its name: *.gz, *.zst and so on are compressed, in two members or frames, more where it is
 * long. */
void fixture_write (Fixture *self, const char *name, const char *data, gssize size);
void fixture_set_source (Fixture *self, const char *format, ...) G_GNUC_PRINTF (2, 3);
void fixture_set_reader (Fixture *self, const char *format, ...) G_GNUC_PRINTF (2, 3);
/* (transfer none): valid until something is set. */
const RigConfig *fixture_config (Fixture *self);
/* (transfer full): of a file in the folder. */
char *fixture_path (Fixture *self, const char *name);

G_END_DECLS
