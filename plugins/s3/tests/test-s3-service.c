/* SPDX-License-Identifier: MIT */

/* When credentials are read anew, by a clock of the test's own. */

#include <string.h>

#include <dlpipe/dlp-error.h>
#include <glib/gstdio.h>

#include "s3-service.h"

#define START 1000000000

static gint64 now = START;

/* Before GLib's, for what is linked to this program. */
gint64
g_get_real_time (void)
{
  return now * G_USEC_PER_SEC;
}

typedef struct
{
  char *folder;
  char *answer; /* what the program prints, if it is there */
  S3Setup setup;
  S3Service *service;
} Fixture;

static void
set_up (Fixture *self, gconstpointer data)
{
  now = START;
  self->folder = g_dir_make_tmp ("dlpipe-s3-XXXXXX", NULL);
  self->answer = g_build_filename (self->folder, "answer", NULL);
  self->setup = (S3Setup){ .profile = g_strdup ("default"), .is_profile_given = TRUE };
  self->setup.profiles.config =
      g_strdup_printf ("[default]\ncredential_process = cat %s\n", self->answer);
  self->setup.profiles.credentials = g_strdup ("");
  self->service = s3_service_new ();
}

static void
tear_down (Fixture *self, gconstpointer data)
{
  s3_service_free (self->service);
  s3_setup_clear (&self->setup);
  g_remove (self->answer);
  g_assert_cmpint (g_rmdir (self->folder), ==, 0);
  g_free (self->folder);
  g_free (self->answer);
}

static void
give (Fixture *self, const char *key, gint64 expires)
{
  g_autoptr (GDateTime) date = g_date_time_new_from_unix_utc (expires);
  g_autofree char *time = g_date_time_format (date, "%Y-%m-%dT%H:%M:%SZ");
  g_autofree char *text = g_strdup_printf (
      "{\"AccessKeyId\": \"%s\", \"SecretAccessKey\": \"s\", \"Expiration\": \"%s\"}", key, time);

  g_assert_true (g_file_set_contents (self->answer, text, -1, NULL));
}

/* @key: NULL: there are none. */
static void
check (Fixture *self, gint64 time, const char *key)
{
  g_auto (S3Credentials) found = { NULL };
  g_autoptr (GError) error = NULL;
  gboolean ok;

  now = START + time;
  ok = s3_service_get_credentials (self->service, &self->setup, &found, NULL, &error);
  if (key == NULL)
    {
      g_assert_false (ok);
      g_assert_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_NO_INPUT);
      return;
    }
  g_assert_no_error (error);
  g_assert_true (ok);
  g_assert_cmpstr (found.access_key, ==, key);
}

static void
test_renewed (Fixture *self, gconstpointer data)
{
  give (self, "a", START + 1000);
  check (self, 0, "a");
  give (self, "b", START + 2000);
  check (self, 879, "a");
  check (self, 880, "b");
}

/* Out of reach while the old ones still hold: no fault yet. */
static void
test_out_of_reach (Fixture *self, gconstpointer data)
{
  check (self, 0, NULL);
  give (self, "a", START + 1000);
  check (self, 0, "a");
  g_assert_cmpint (g_remove (self->answer), ==, 0);
  check (self, 900, "a");
  check (self, 999, "a");
  give (self, "b", START + 2000);
  /* Not asked for at each request. */
  check (self, 999, "a");
  check (self, 1029, "b");
  g_assert_cmpint (g_remove (self->answer), ==, 0);
  check (self, 1999, "b");
  check (self, 2029, NULL);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add ("/s3/service/renewed", Fixture, NULL, set_up, test_renewed, tear_down);
  g_test_add ("/s3/service/out-of-reach", Fixture, NULL, set_up, test_out_of_reach, tear_down);
  return g_test_run ();
}
