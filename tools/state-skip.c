/* SPDX-License-Identifier: MIT */

/* A state that goes on without some of its training batches. */

#include "state.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct
{
  guint64 first, last;
} Range;

static gboolean
parse_index (const char *text, guint64 *index, GError **error)
{
  return g_ascii_string_to_unsigned (text, 10, 0, G_MAXINT64, index, error);
}

/* A..B, or one alone. */
static gboolean
parse_range (const char *text, Range *range, GError **error)
{
  g_autoptr (GError) failure = NULL;
  g_auto (GStrv) ends = text != NULL ? g_strsplit (text, "..", 2) : NULL;

  if (text == NULL)
    {
      g_set_error_literal (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                           "skip: wants --batches=FIRST..LAST, such as --batches=1200..1300, or "
                           "--clear");
      return FALSE;
    }
  if (ends[0] != NULL && parse_index (ends[0], &range->first, &failure) &&
      parse_index (ends[1] != NULL ? ends[1] : ends[0], &range->last, &failure) &&
      range->first <= range->last)
    return TRUE;
  g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
               "--batches=%s; wanted are the indices of the first and the last batch, such as "
               "--batches=1200..1300",
               text);
  return FALSE;
}

static gboolean
set_errno (const char *path, const char *what, GError **error)
{
  int code = errno;

  g_set_error (error, G_FILE_ERROR, g_file_error_from_errno (code), "%s: cannot %s: %s", path, what,
               g_strerror (code));
  return FALSE;
}

/* In the place of the file, which may be behind a link, and for the same users. */
static gboolean
replace_file (const char *path, GBytes *bytes, GError **error)
{
  g_autofree char *real = realpath (path, NULL);
  struct stat before;

  if (real == NULL || stat (real, &before) != 0)
    return set_errno (path, "be found", error);
  if (!g_file_set_contents_full (real, g_bytes_get_data (bytes, NULL),
                                 (gssize) g_bytes_get_size (bytes),
                                 G_FILE_SET_CONTENTS_CONSISTENT | G_FILE_SET_CONTENTS_DURABLE,
                                 before.st_mode & 0777, error))
    return FALSE;
  return chmod (real, before.st_mode & 07777) == 0 ||
         set_errno (path, "be given the mode that it had", error);
}

/* As it was: bytes or JSON. */
static gboolean
write_file (DlpCheckpoint *checkpoint, const char *path, GError **error)
{
  g_autofree char *before = NULL;
  g_autofree char *json = NULL;
  g_autoptr (GBytes) bytes = NULL;

  if (!g_file_get_contents (path, &before, NULL, error))
    return FALSE;
  if (before[0] == '{')
    {
      json = dlp_checkpoint_to_json (checkpoint);
      bytes = g_bytes_new (json, strlen (json));
    }
  else
    bytes = dlp_checkpoint_to_bytes (checkpoint);
  return replace_file (path, bytes, error);
}

/* A file within a state folder is one of its generations: a run would take it for whole, but what
 * the folder goes on from is the newest. */
static gboolean
check_place (const char *place, GError **error)
{
  g_autofree char *folder = g_path_get_dirname (place);
  g_autofree char *base = g_path_get_basename (place);
  g_autofree char *lock = g_build_filename (folder, "lock", NULL);

  if (!g_str_has_prefix (base, "checkpoint-") || !g_file_test (lock, G_FILE_TEST_EXISTS))
    return TRUE;
  g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
               "%s: is a checkpoint of a state folder; say the folder", place);
  return FALSE;
}

static gboolean
save (DlpCheckpoint *checkpoint, const char *place, GError **error)
{
  if (g_file_test (place, G_FILE_TEST_IS_DIR))
    return dlp_checkpoint_save_to_folder (checkpoint, place, error);
  return check_place (place, error) && write_file (checkpoint, place, error);
}

static void
print_report (const StateOptions *options, const char *place, Range range)
{
  g_autofree char *shown = dlp_uri_escape_for_display (place);

  if (options->clear)
    printf ("%s: every batch that has not gone out will be given out\n", shown);
  else
    printf ("%s: batches %" G_GUINT64_FORMAT " to %" G_GUINT64_FORMAT
            " will be read and not given out\n",
            shown, range.first, range.last);
}

static void
report (const StateOptions *options, const char *place, Range range)
{
  g_autofree char *valid = g_utf8_make_valid (place, -1);
  GVariantDict dict;

  if (!options->json)
    {
      print_report (options, place, range);
      return;
    }
  g_variant_dict_init (&dict, NULL);
  g_variant_dict_insert (&dict, "path", "s", valid);
  if (options->clear)
    g_variant_dict_insert (&dict, "cleared", "b", TRUE);
  else
    {
      g_variant_dict_insert (&dict, "first", "t", range.first);
      g_variant_dict_insert (&dict, "last", "t", range.last);
    }
  state_print_json (g_variant_dict_end (&dict));
}

static gboolean
parse_options (const StateOptions *options, Range *range, GError **error)
{
  if (!options->clear)
    return parse_range (options->batches, range, error);
  if (options->batches == NULL)
    return TRUE;
  g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
               "--batches=%s with --clear; give one of the two", options->batches);
  return FALSE;
}

int
state_skip (const StateOptions *options, GError **error)
{
  g_autofree char *place = state_find_folder (options->places[0]);
  g_autoptr (DlpCheckpoint) checkpoint = NULL;
  g_autoptr (DlpCheckpoint) changed = NULL;
  Range range = { 0 };

  if (!parse_options (options, &range, error))
    return STATE_EXIT_USAGE;
  checkpoint = state_open (options->places[0], error);
  if (checkpoint == NULL)
    return STATE_EXIT_USAGE;
  changed = options->clear ? dlp_checkpoint_clear_skipped (checkpoint, options->element, error) :
                             dlp_checkpoint_skip_batches (checkpoint, options->element, range.first,
                                                          range.last, error);
  if (changed == NULL || !save (changed, place, error))
    return STATE_EXIT_FAULTS;
  report (options, place, range);
  return STATE_EXIT_OK;
}
