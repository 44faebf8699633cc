/* SPDX-License-Identifier: MIT */

/* Files of all kinds give what pyarrow reads from them, in pieces of any size; see make-data.py. */

#include <string.h>

#include <dlpipe/dlp-error.h>
#include <dlpipe/dlp-json.h>

#include "dlp-columnar-reader.h"
#include "reader-fixture.h"

typedef struct
{
  char *name;
  char *element;
  char **settings;
  gboolean is_damaged;
} Case;

static const char *const chunk_sizes[] = { "1M", "1", "40" };

static char *
data_path (const char *name)
{
  return g_test_build_filename (G_TEST_DIST, "data", name, NULL);
}

static char *
load (const char *name)
{
  g_autofree char *path = data_path (name);
  g_autoptr (GError) error = NULL;
  char *text;

  g_file_get_contents (path, &text, NULL, &error);
  g_assert_no_error (error);
  return text;
}

static Fixture *
make_fixture (const char *name, GType type, const char *chunk_bytes, guint workers)
{
  g_autofree char *path = data_path (name);
  Fixture *fixture = fixture_new_at (path);

  fixture->config.reader_type = type;
  fixture->config.workers = workers;
  fixture_set_reader (fixture, "max-bad-ratio=1");
  fixture_set_reader (fixture, "on-damaged-file=keep");
  fixture_set_reader (fixture, "chunk-bytes=%s", chunk_bytes);
  return fixture;
}

static GType
find_type (const char *element)
{
  return strcmp (element, "parquet-reader") == 0 ? DLP_TYPE_PARQUET_READER : DLP_TYPE_ARROW_READER;
}

/* ---- what is expected, and what came ---- */

/* (transfer full): "ROW\tFIELD\tFIELD", of a line of JSON. */
static char *
join_line (const char *line)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GVariant) parsed = dlp_json_parse (line, strlen (line), &error);
  GString *joined = g_string_new (NULL);
  gsize n;

  g_assert_no_error (error);
  n = g_variant_n_children (parsed);
  for (gsize i = 0; i < n; i++)
    {
      g_autoptr (GVariant) child = g_variant_get_child_value (parsed, i);
      g_autoptr (GVariant) value = g_variant_is_of_type (child, G_VARIANT_TYPE_VARIANT) ?
                                       g_variant_get_variant (child) :
                                       g_variant_ref (child);

      g_string_append_printf (joined, "%s%s", i > 0 ? "\t" : "",
                              g_variant_get_string (value, NULL));
    }
  return g_string_free (joined, FALSE);
}

static void
load_expected (const char *name, GPtrArray *good, GPtrArray *bad)
{
  g_autofree char *file = g_strconcat (name, ".jsonl", NULL);
  g_autofree char *text = load (file);
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);

  for (guint i = 0; lines[i] != NULL && *lines[i] != '\0'; i++)
    {
      char *line = join_line (lines[i]);
      char *mark = strstr (line, "\t!");

      g_ptr_array_add (mark != NULL ? bad : good, line);
      if (mark != NULL)
        memmove (mark + 1, mark + 2, strlen (mark + 2) + 1);
    }
}

/* (transfer full): of "STAGE SOURCE FILE ROW EPOCH\tFIELD...", or with the kind alone. */
static char *
shorten (const char *line, gboolean only_first)
{
  g_auto (GStrv) fields = g_strsplit (line, "\t", only_first ? 3 : 2);
  g_auto (GStrv) place = g_strsplit (fields[0], " ", -1);

  return g_strconcat (place[3], "\t", fields[1], NULL);
}

static void
assert_lines (GPtrArray *lines, GPtrArray *expected, gboolean only_first)
{
  for (guint i = 0; i < MIN (lines->len, expected->len); i++)
    {
      g_autofree char *line = shorten (lines->pdata[i], only_first);

      g_assert_cmpstr (line, ==, expected->pdata[i]);
    }
  g_assert_cmpuint (lines->len, ==, expected->len);
}

static guint64
get_damaged (const RigOutput *output)
{
  guint64 damaged = G_MAXUINT64;

  g_variant_lookup (output->report, "damaged", "t", &damaged);
  return damaged;
}

/* ---- cases ---- */

static void
test_case (gconstpointer data)
{
  const Case *c = data;
  g_autoptr (GPtrArray) good = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GPtrArray) bad = g_ptr_array_new_with_free_func (g_free);

  load_expected (c->name, good, bad);
  for (guint i = 0; i < G_N_ELEMENTS (chunk_sizes); i++)
    for (guint workers = 0; workers <= 2; workers += 2)
      {
        g_autoptr (Fixture) fixture =
            make_fixture (c->name, find_type (c->element), chunk_sizes[i], workers);
        g_autoptr (RigOutput) output = NULL;

        for (guint k = 0; c->settings[k] != NULL; k++)
          if (*c->settings[k] != '\0' && strcmp (c->settings[k], "damaged") != 0)
            fixture_set_reader (fixture, "%s", c->settings[k]);
        output = rig_run (fixture_config (fixture));
        g_assert_no_error (output->error);
        assert_lines (output->good, good, FALSE);
        assert_lines (output->rejected, bad, TRUE);
        g_assert_cmpuint (get_damaged (output), ==, c->is_damaged ? 1 : 0);
      }
}

/* Those of the cases that went wrong for others. */
static void
test_manifest (void)
{
  const char *folder = g_getenv ("DLPIPE_TEST_DATA");
  g_autofree char *manifest = g_build_filename (folder, "cases", "manifest.tsv", NULL);
  g_autofree char *text = NULL;
  g_auto (GStrv) lines = NULL;
  guint n = 0;

  g_assert_true (g_file_get_contents (manifest, &text, NULL, NULL));
  lines = g_strsplit (text, "\n", -1);
  for (guint i = 0; lines[i] != NULL; i++)
    {
      g_auto (GStrv) columns = g_strsplit (lines[i], "\t", -1);
      g_autoptr (Fixture) fixture = NULL;
      g_autoptr (RigOutput) output = NULL;
      g_autofree char *path = NULL;

      if (*lines[i] != 'p')
        continue;
      path = g_build_filename (folder, "cases", columns[0], NULL);
      fixture = fixture_new_at (path);
      fixture->config.reader_type = DLP_TYPE_PARQUET_READER;
      fixture_set_reader (fixture, "on-damaged-file=keep");
      output = rig_run (fixture_config (fixture));
      g_assert_no_error (output->error);
      g_assert_cmpuint (output->good->len, ==, g_ascii_strtoull (columns[2], NULL, 10));
      g_assert_cmpuint (output->rejected->len + get_damaged (output), ==,
                        g_ascii_strtoull (columns[3], NULL, 10));
      n++;
    }
  g_assert_cmpuint (n, ==, 3);
}

/* ---- after each record ---- */

static void
test_resume (gconstpointer data)
{
  const char *name = data;
  GType type = find_type (g_str_has_suffix (name, ".parquet") ? "parquet-reader" : "arrow-reader");
  static const char *const sizes[][2] = { { "1M", "1M" }, { "1M", "1" }, { "1", "40" } };

  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    {
      g_autoptr (Fixture) before = make_fixture (name, type, sizes[i][0], i == 0 ? 2 : 0);
      g_autoptr (Fixture) after = make_fixture (name, type, sizes[i][1], 0);
      Fixture *fixtures[] = { before, after };

      for (guint k = 0; k < 2; k++)
        {
          fixture_set_source (fixtures[k], "epochs=2");
          fixture_set_reader (fixtures[k], "fields=id:int64");
        }
      rig_assert_resumable (fixture_config (before), fixture_config (after));
      rig_assert_resumable_at_steps (fixture_config (after), fixture_config (before));
    }
}

/* Of a file that is damaged the rows before are gone on with too. */
static void
test_resume_damaged (gconstpointer data)
{
  const char *name = data;
  GType type = find_type (g_str_has_suffix (name, ".parquet") ? "parquet-reader" : "arrow-reader");
  g_autoptr (Fixture) before = make_fixture (name, type, "40", 0);
  g_autoptr (Fixture) after = make_fixture (name, type, "1M", 0);

  rig_assert_resumable (fixture_config (before), fixture_config (after));
  rig_assert_resumable (fixture_config (after), fixture_config (before));
}

/* Several files in rotation: one record of each in turn, whatever the pieces are. */
static void
test_interleave (void)
{
  g_autofree char *path = data_path ("codec-*.parquet");
  g_autoptr (RigOutput) first = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (chunk_sizes); i++)
    {
      g_autoptr (Fixture) fixture = fixture_new_at (path);
      g_autoptr (RigOutput) output = NULL;

      fixture->config.reader_type = DLP_TYPE_PARQUET_READER;
      fixture->config.workers = 2;
      fixture->config.stride = 37;
      fixture_set_reader (fixture, "interleave=4");
      fixture_set_reader (fixture, "chunk-bytes=%s", chunk_sizes[i]);
      output = rig_run (fixture_config (fixture));
      g_assert_no_error (output->error);
      g_assert_cmpuint (output->good->len, ==, 6 * 60);
      g_assert_true (g_str_has_prefix (output->good->pdata[0], "0 0 0 0 0\t"));
      g_assert_true (g_str_has_prefix (output->good->pdata[1], "0 0 1 0 0\t"));
      g_assert_true (g_str_has_prefix (output->good->pdata[4], "0 0 0 1 0\t"));
      rig_assert_resumable (fixture_config (fixture), fixture_config (fixture));
      if (first == NULL)
        first = g_steal_pointer (&output);
      else
        rig_assert_equal (output, first);
    }
}

/* ---- faults ---- */

typedef struct
{
  const char *name;
  const char *setting;
  const char *message; /* a part of it */
} Fault;

static const Fault faults[] = {
  { "codec-zstd.parquet", "field=txt",
    "no column \"txt\"; there are \"id\", \"text\"; did you mean \"text\"?" },
  { "codec-zstd.parquet", "field=id", "the column \"id\" is int64, which cannot be read as text" },
  { "codec-zstd.parquet", "fields=text.a", "no column \"text.a\"" },
  { "types.parquet", "fields=s", "the column \"s\" is struct, which cannot be read as string" },
  { "types.parquet", "fields=s.d", "no column \"d\"; there are \"a\", \"b\"" },
  { "types.parquet", "fields=when:int64", "of a type that is not read (Arrow's \"tsm:\")" },
  { "types.parquet", "fields=list:int64",
    "the column \"list\" is list of int32, which cannot be read as int64" },
  { "types.parquet", "fields=dict8:boolean", "is a dictionary of string" },
  { "types.arrow", "fields=nope", "no column \"nope\"" },
  { "damaged-page.parquet", "on-damaged-file=fail",
    "column \"text\" in row group 0, row 20 of it: " },
  { "damaged-page.parquet", "on-damaged-file=fail", "CRC" },
  { "damaged-page-in-group.parquet", "on-damaged-file=fail",
    "column \"text\" in row group 1, row 10 of it: " },
  { "damaged-page-in-group.parquet", "on-damaged-file=fail", "(at row 25)" },
  { "cut-footer.parquet", "on-damaged-file=fail",
    "a Parquet file that is cut: it does not end with PAR1" },
  { "no-parquet.parquet", "on-damaged-file=fail",
    "no Parquet file: it neither begins nor ends with PAR1" },
  { "lzo.parquet", "on-damaged-file=fail", "LZO" },
  { "cut-stream.arrow", "on-damaged-file=fail", "record batch 3: " },
  { "broken-offsets.arrow", "on-damaged-file=fail", "outside of its data" },
  { "refused-encrypted-footer.parquet", "on-damaged-file=keep", "an encrypted Parquet file" },
  { "refused-encrypted-column.parquet", "on-damaged-file=keep",
    "the column \"text\" is encrypted" },
  { "refused-feather-1.arrow", "on-damaged-file=keep", "a Feather file of version 1" },
};

/* The same one for pieces of any size. */
static void
test_fault (gconstpointer data)
{
  const Fault *fault = data;
  GType type = find_type (g_str_has_suffix (fault->name, "parquet") ? "parquet-reader" : "");
  g_autofree char *first = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (chunk_sizes); i++)
    {
      g_autoptr (Fixture) fixture = make_fixture (fault->name, type, chunk_sizes[i], 2 * (i % 2));
      g_autoptr (RigOutput) output = NULL;

      fixture_set_reader (fixture, "%s", fault->setting);
      output = rig_run (fixture_config (fixture));
      g_assert_nonnull (output->error);
      g_test_message ("%s", output->error->message);
      g_assert_nonnull (strstr (output->error->message, fault->message));
      g_assert_nonnull (strstr (output->error->message, fault->name));
      g_assert_null (strchr (output->error->message, '\n'));
      if (first == NULL)
        first = g_strdup (output->error->message);
      g_assert_cmpstr (output->error->message, ==, first);
    }
}

/* A row needs more memory than decoding may take. */
static void
test_memory (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (chunk_sizes); i++)
    {
      g_autoptr (Fixture) fixture =
          make_fixture ("bomb.parquet", DLP_TYPE_PARQUET_READER, chunk_sizes[i], 0);
      g_autoptr (RigOutput) output = NULL;

      fixture_set_reader (fixture, "max-decoded-bytes=1M");
      fixture_set_reader (fixture, "on-damaged-file=fail");
      output = rig_run (fixture_config (fixture));
      g_assert_error (output->error, DLP_DATA_ERROR, DLP_DATA_ERROR_DAMAGED);
      g_assert_nonnull (strstr (output->error->message, "max-decoded-bytes"));
    }
}

static void
test_no_columns (void)
{
  g_autoptr (Fixture) fixture =
      make_fixture ("codec-zstd.parquet", DLP_TYPE_PARQUET_READER, "1M", 0);
  g_autoptr (RigOutput) output = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (Rig) rig = NULL;

  fixture_set_reader (fixture, "field=");
  rig = rig_new (fixture_config (fixture), NULL, &error);
  g_assert_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE);

  /* All of those that are asked for may be absent: the rows are there all the same. */
  fixture_set_reader (fixture, "fields=a:string?,b:int64?");
  output = rig_run (fixture_config (fixture));
  g_assert_no_error (output->error);
  g_assert_cmpuint (output->good->len, ==, 60);
  g_assert_cmpstr (output->good->pdata[59], ==, "0 0 0 59 0\t(null)\t(null)");
}

/* Lists that are to have a length; i32 has row modulo 5 items. */
static void
test_lengths (void)
{
  static const struct
  {
    const char *fields, *row_1, *row_4;
    guint good;
  } cases[] = {
    { "fields=tokens=i32:i32[3] pad=-1", "[-2146483645,-1,-1]", NULL, 10 },
    { "fields=tokens=i32:i32[3] pad=7 cut=true", "[-2146483645,7,7]",
      "[-2143483636,-2143483635,-2143483634]", 12 },
    { "fields=tokens=i32:i64[3] pad=-1 cut=true", "[-2146483645,-1,-1]",
      "[-2143483636,-2143483635,-2143483634]", 12 },
    { "fields=tokens=i32:i32[3]", NULL, NULL, 2 },
    { "fields=tokens=i32:i32[3] cut=true", NULL, "[-2143483636,-2143483635,-2143483634]", 4 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    for (guint k = 0; k < G_N_ELEMENTS (chunk_sizes); k++)
      {
        g_autoptr (Fixture) fixture =
            make_fixture ("lists.parquet", DLP_TYPE_PARQUET_READER, chunk_sizes[k], 0);
        g_autoptr (RigOutput) output = NULL;

        fixture_set_reader (fixture, "field=");
        fixture_set_reader (fixture, "%s", cases[i].fields);
        output = rig_run (fixture_config (fixture));
        g_assert_no_error (output->error);
        g_assert_cmpuint (output->good->len, ==, cases[i].good);
        g_assert_cmpuint (output->rejected->len, ==, 12 - cases[i].good);
        for (guint n = 0; n < output->good->len; n++)
          {
            const char *line = output->good->pdata[n];

            if (g_str_has_prefix (line, "0 0 0 1 0\t"))
              g_assert_cmpstr (strchr (line, '\t') + 1, ==, cases[i].row_1);
            if (g_str_has_prefix (line, "0 0 0 4 0\t"))
              g_assert_cmpstr (strchr (line, '\t') + 1, ==, cases[i].row_4);
          }
        for (guint n = 0; n < output->rejected->len; n++)
          g_assert_nonnull (
              strstr (output->rejected->pdata[n], "\tlength\tthe column \"i32\" has "));
      }
}

/* A run that is continued with another file of that name. */
static void
test_changed (void)
{
  static const char *const names[] = { "resume-groups.parquet", "codec-none.parquet" };
  g_autoptr (Fixture) fixture = fixture_new ();
  g_autoptr (Rig) rig = NULL;
  g_autoptr (RigState) state = NULL;
  g_autoptr (GError) error = NULL;
  gboolean is_rejected;

  fixture->config.reader_type = DLP_TYPE_PARQUET_READER;
  fixture_set_reader (fixture, "max-bad-ratio=1");
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autofree char *path = data_path (names[i]);
      g_autofree char *bytes = NULL;
      gsize size;

      g_assert_true (g_file_get_contents (path, &bytes, &size, NULL));
      fixture_write (fixture, "a.parquet", bytes, (gssize) size);
      if (i == 0)
        {
          rig = rig_new (fixture_config (fixture), NULL, &error);
          g_assert_no_error (error);
          for (guint k = 0; k < 20; k++)
            g_free (rig_next (rig, &is_rejected, &error));
          state = rig_save (rig);
        }
    }
  g_clear_pointer (&rig, rig_free);
  rig = rig_new (fixture_config (fixture), state, &error);
  while (rig != NULL && error == NULL)
    g_free (rig_next (rig, &is_rejected, &error));
  g_assert_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_CHANGED);
}

/* ---- main ---- */

static Case *
parse_case (const char *line)
{
  g_auto (GStrv) parts = g_strsplit (line, "\t", 3);
  Case *c = g_new0 (Case, 1);

  c->name = g_strdup (parts[0]);
  c->element = g_strdup (parts[1]);
  c->settings = g_strsplit (parts[2], " ", -1);
  c->is_damaged = g_strv_contains ((const char *const *) c->settings, "damaged");
  return c;
}

static void
free_case (gpointer data)
{
  Case *c = data;

  g_free (c->name);
  g_free (c->element);
  g_strfreev (c->settings);
  g_free (c);
}

static void
add_cases (void)
{
  g_autofree char *text = load ("cases.tsv");
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);

  for (guint i = 0; lines[i] != NULL && *lines[i] != '\0'; i++)
    {
      Case *c = parse_case (lines[i]);
      g_autofree char *path = g_strdup_printf ("/arrow-reader/case/%u-%s", i, c->name);

      g_test_add_data_func_full (path, c, test_case, free_case);
    }
}

int
main (int argc, char **argv)
{
  static const char *const resumed[] = { "resume-groups.parquet", "resume-one-group.parquet",
                                         "resume-file.arrow", "resume-stream.arrow" };
  static const char *const damaged[] = { "damaged-page.parquet", "damaged-page-in-group.parquet",
                                         "cut-stream.arrow", "broken-offsets.arrow" };

  g_test_init (&argc, &argv, NULL);
  fixture_init ();
  g_log_set_always_fatal (G_LOG_FATAL_MASK | G_LOG_LEVEL_CRITICAL);
  add_cases ();
  for (guint i = 0; i < G_N_ELEMENTS (resumed); i++)
    {
      g_autofree char *path = g_strconcat ("/arrow-reader/resume/", resumed[i], NULL);

      g_test_add_data_func (path, resumed[i], test_resume);
    }
  for (guint i = 0; i < G_N_ELEMENTS (damaged); i++)
    {
      g_autofree char *path = g_strconcat ("/arrow-reader/resume/", damaged[i], NULL);

      g_test_add_data_func (path, damaged[i], test_resume_damaged);
    }
  for (guint i = 0; i < G_N_ELEMENTS (faults); i++)
    {
      g_autofree char *path = g_strdup_printf ("/arrow-reader/fault/%u-%s", i, faults[i].name);

      g_test_add_data_func (path, &faults[i], test_fault);
    }
  g_test_add_func ("/arrow-reader/manifest", test_manifest);
  g_test_add_func ("/arrow-reader/interleave", test_interleave);
  g_test_add_func ("/arrow-reader/memory", test_memory);
  g_test_add_func ("/arrow-reader/no-columns", test_no_columns);
  g_test_add_func ("/arrow-reader/lengths", test_lengths);
  g_test_add_func ("/arrow-reader/changed", test_changed);
  return g_test_run ();
}
