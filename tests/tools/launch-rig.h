/* SPDX-License-Identifier: MIT */
#pragma once

#include <gio/gio.h>
#include <sys/types.h>

G_BEGIN_DECLS

/* Runs of dlpipe-launch in a folder of their own, for tests of the program as a whole. */
typedef struct
{
  char *dir; /* removed by launch_rig_free() */
  pid_t pid; /* of the run that goes on; 0: none */
  int fd_out, fd_err;

  /* Of the run that ended. */
  int exit_code; /* -1: killed by a signal */
  int killed_by;
  char *out;
  char *err;
} LaunchRig;

/* @argv: of the test: the program, and the folder with test data. */
void launch_rig_init (int argc, char **argv);
const char *launch_rig_get_data (void);
const char *launch_rig_get_program (void);
/* Another program from now on. */
void launch_rig_set_program (const char *path);

LaunchRig *launch_rig_new (void);
void launch_rig_free (LaunchRig *self);
/* (transfer full): of a name in its folder. */
char *launch_rig_path (LaunchRig *self, const char *name);
void launch_rig_write (LaunchRig *self, const char *name, const char *text, gssize size);
/* As JSON lines: "record 0" and so on. */
void launch_rig_write_records (LaunchRig *self, const char *name, guint n);
/* (transfer full): SHA-256 of a file; fails the test where it is not there. */
char *launch_rig_hash (LaunchRig *self, const char *name);
/* Names in a folder of it (NULL: itself), sorted, joined by blanks. */
char *launch_rig_list (LaunchRig *self, const char *name);
/* A folder with all that is in it; links are not followed. */
void launch_rig_remove (const char *path);
/* Removes what is in its folder. */
void launch_rig_clear (LaunchRig *self);

/* @arguments: behind the program's name; ended by NULL. @setup: (nullable): in the child. The
 * working directory is the rig's folder. */
void launch_rig_start (LaunchRig *self, const char *const *arguments, GSpawnChildSetupFunc setup);
/* FALSE: it still runs after @us microseconds. */
gboolean launch_rig_wait (LaunchRig *self, gint64 us);
/* To the end; a run of more than two minutes fails the test. */
void launch_rig_run (LaunchRig *self, const char *const *arguments);

/* The same with arguments that are strings, ended by NULL; another exit code than @code fails the
 * test. */
void launch_rig_expect (LaunchRig *self, int code, ...) G_GNUC_NULL_TERMINATED;

/* What a program said. */
void launch_rig_assert_has (const char *text, const char *part);
void launch_rig_assert_has_not (const char *text, const char *part);

/* The count of tests scaled by DLPIPE_TEST_SCALE; at least 1. */
guint launch_rig_scale (guint n);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (LaunchRig, launch_rig_free)

G_END_DECLS
