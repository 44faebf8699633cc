/* SPDX-License-Identifier: MIT */

#include "state-dir-rig.h"

#include <string.h>

void
set_up (Fixture *fixture, gconstpointer unused)
{
  faults_reset ();
  fixture->path = faults_make_folder ();
}

void
tear_down (Fixture *fixture, gconstpointer unused)
{
  faults_reset ();
  faults_remove_folder (fixture->path);
}

DlpStateDir *
open_dir (const char *path)
{
  g_autoptr (GError) error = NULL;
  DlpStateDir *dir = dlp_state_dir_open (path, &error);

  g_assert_no_error (error);
  g_assert_nonnull (dir);
  return dir;
}

GVariant *
make_payload (guint value)
{
  return g_variant_new_parsed (
      "{'value': <%u>, 'filler': <'0123456789012345678901234567890123456789'>}", value);
}

void
save (DlpStateDir *dir, guint value)
{
  g_autoptr (GError) error = NULL;

  dlp_state_dir_save (dir, make_payload (value), &error);
  g_assert_no_error (error);
}

guint
load (DlpStateDir *dir, guint64 *generation)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GVariant) payload = dlp_state_dir_load (dir, generation, NULL, &error);
  guint value = 0;

  g_assert_no_error (error);
  g_assert_true (payload == NULL || g_variant_lookup (payload, "value", "u", &value));
  return value;
}

void
assert_says (const GError *error, const char *what)
{
  g_assert_nonnull (error);
  if (strstr (error->message, what) == NULL)
    g_error ("“%s” does not say “%s”", error->message, what);
}

void
put_file (Fixture *fixture, const char *name, const char *data, gssize size)
{
  g_autofree char *path = g_build_filename (fixture->path, name, NULL);
  g_autoptr (GError) error = NULL;

  g_file_set_contents (path, data, size, &error);
  g_assert_no_error (error);
}

gboolean
has_file (Fixture *fixture, const char *name)
{
  g_autofree char *path = g_build_filename (fixture->path, name, NULL);

  return g_file_test (path, G_FILE_TEST_EXISTS);
}

void
assert_files (Fixture *fixture, const char *names)
{
  g_autofree char *found = faults_list_folder (fixture->path);

  g_assert_cmpstr (found, ==, names);
}
