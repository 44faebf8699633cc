/* SPDX-License-Identifier: MIT */

#include <string.h>

#include <dlpipe/dlp-error.h>

#include "source-manifest.h"

/* A manifest that is taken says, printed, the same; one that is not is refused with a reason. */

int LLVMFuzzerTestOneInput (const guint8 *data, gsize size);

static void
check_again (GPtrArray *entries)
{
  g_autofree char *printed = source_manifest_print (entries);
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) again = source_manifest_parse (printed, strlen (printed), &error);
  g_autofree char *twice = NULL;

  g_assert_no_error (error);
  g_assert_cmpuint (again->len, ==, entries->len);
  for (guint i = 0; i < entries->len; i++)
    {
      const ManifestEntry *a = g_ptr_array_index (entries, i), *b = g_ptr_array_index (again, i);

      g_assert_cmpint (a->size, ==, b->size);
      g_assert_cmpint (a->rows, ==, b->rows);
      g_assert_cmpstr (a->sha256, ==, b->sha256);
      g_assert_cmpstr (a->etag, ==, b->etag);
    }
  twice = source_manifest_print (again);
  g_assert_cmpstr (twice, ==, printed);
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  static const char *const locations[] = { "m.json", "data/m.json", "http://h/data/m.json?x" };
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) entries = source_manifest_parse ((const char *) data, size, &error);

  if (entries == NULL)
    {
      g_assert_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_NO_INPUT);
      return 0;
    }
  g_assert_cmpuint (entries->len, >, 0);
  check_again (entries);
  if (!source_manifest_resolve (entries, locations[size % G_N_ELEMENTS (locations)], &error))
    g_assert_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_NO_INPUT);
  return 0;
}
