/* SPDX-License-Identifier: MIT */

/* The progress of a run of another process, by what it writes once a second. */

#include "state.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* A status that is so old says nothing any more of a run on another host. */
#define STALE_SECONDS 60
#define BAR_WIDTH 30

typedef struct
{
  const char *word; /* in it, or what is found */
  double age;
  double fraction;
  double eta;
  guint64 records, tokens, bytes;
  gboolean over;
} Look;

static const char *const ends[] = { "finished", "stopped", "failed", "aborted", NULL };

static void
judge (Look *look, GVariant *folder)
{
  gboolean running;

  look->over = g_strv_contains (ends, look->word);
  if (g_variant_lookup (folder, "running", "b", &running))
    {
      if (!running && !look->over)
        look->word = "dead";
      look->over = !running;
    }
  else if (!look->over && look->age > STALE_SECONDS)
    {
      look->word = "silent";
      look->over = TRUE;
    }
}

static void
look_at (Look *look, GVariant *folder, GVariant *status)
{
  *look = (Look){ .word = "starting", .fraction = -1, .eta = -1 };
  g_variant_lookup (folder, "status-age", "d", &look->age);
  if (status != NULL)
    {
      look->word = state_get_string (status, "status");
      look->records = state_get_number (status, "records");
      look->tokens = state_get_number (status, "tokens");
      look->bytes = state_get_number (status, "bytes");
      g_variant_lookup (status, "fraction", "d", &look->fraction);
      g_variant_lookup (status, "eta", "d", &look->eta);
    }
  judge (look, folder);
}

static void
append_bar (GString *line, double fraction)
{
  guint n = (guint) (CLAMP (fraction, 0, 1) * BAR_WIDTH);

  g_string_append_c (line, '[');
  for (guint i = 0; i < BAR_WIDTH; i++)
    g_string_append_c (line, i < n ? '#' : '.');
  g_string_append_printf (line, "] %3.0f %%, ", 100 * CLAMP (fraction, 0, 1));
}

static char *
print_line (const Look *look)
{
  g_autofree char *eta = look->eta >= 0 && !look->over ? state_print_duration (look->eta) : NULL;
  g_autofree char *word = dlp_uri_escape_for_display (look->word);
  GString *line = g_string_new (NULL);

  if (look->fraction >= 0)
    append_bar (line, look->fraction);
  g_string_append_printf (line,
                          "%s, %" G_GUINT64_FORMAT " records, %" G_GUINT64_FORMAT
                          " tokens, %" G_GUINT64_FORMAT " MiB read",
                          word, look->records, look->tokens, look->bytes >> 20);
  if (eta != NULL)
    g_string_append_printf (line, ", %s left", eta);
  if (look->age > 5 && !look->over)
    g_string_append_printf (line, " (said %.0f s ago)", look->age);
  return g_string_free (line, FALSE);
}

/* On a terminal in the same place. */
static void
show (const Look *look, GVariant *status, const StateOptions *options, char **last)
{
  g_autofree char *line = NULL;
  gboolean terminal = isatty (STDOUT_FILENO);

  if (options->json)
    {
      g_autofree char *text = status != NULL ? dlp_json_print (status, FALSE) : g_strdup ("null");

      printf ("%s\n", text);
      fflush (stdout);
      return;
    }
  line = print_line (look);
  if (*last != NULL && strcmp (*last, line) == 0)
    return;
  printf (terminal ? "\r%s\033[K" : "%s\n", line);
  fflush (stdout);
  g_free (*last);
  *last = g_steal_pointer (&line);
}

int
state_watch (const StateOptions *options, GError **error)
{
  g_autofree char *path = state_find_folder (options->places[0]);
  g_autofree char *last = NULL;

  for (;;)
    {
      g_autoptr (GVariant) folder = dlp_checkpoint_describe_folder (path, error);
      g_autoptr (GVariant) status = NULL;
      Look look;

      if (folder == NULL)
        return STATE_EXIT_USAGE;
      if (!g_variant_lookup (folder, "attempt", "u", NULL))
        {
          g_set_error (error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND, "%s: no run has been here", path);
          return STATE_EXIT_USAGE;
        }
      status = g_variant_lookup_value (folder, "status", G_VARIANT_TYPE_VARDICT);
      look_at (&look, folder, status);
      show (&look, status, options, &last);
      if (look.over || options->once || ferror (stdout))
        {
          if (!options->json && isatty (STDOUT_FILENO))
            printf ("\n");
          return look.over && strcmp (look.word, "finished") != 0 ? STATE_EXIT_FAULTS :
                                                                    STATE_EXIT_OK;
        }
      g_usleep ((gulong) options->interval * 1000);
    }
}
