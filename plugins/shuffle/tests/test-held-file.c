/* SPDX-License-Identifier: MIT */

/* Records in a store, its snapshots, and the file that is made of one. */

#include <malloc.h>
#include <zstd.h>

#include <dlpipe/dlp-error.h>

#include "dlp-element-private.h"
#include "dlp-held-state.h"
#include "dlp-record-block.h"
#include "random-batch.h"
#include "sanitized.h"

typedef DlpElement Toy;
typedef DlpElementClass ToyClass;

static GType toy_get_type (void);
G_DEFINE_TYPE (Toy, toy, DLP_TYPE_ELEMENT)

static void
toy_class_init (ToyClass *klass)
{
}

static void
toy_init (Toy *self)
{
}

typedef struct
{
  DlpContext *context;
  DlpElement *element;
  GRand *rand;
  DlpSchema *schema;
  DlpRecordStore *store;
  GPtrArray *wanted; /* of GBytes: the block of each record */
  DlpStoredRecord *records;
} Fixture;

static void
set_up (Fixture *self, gconstpointer memory)
{
  self->context = dlp_context_new ();
  self->element = g_object_new (toy_get_type (), NULL);
  dlp_element_set_name (self->element, "toy-0");
  dlp_element_set_context (self->element, self->context);
  self->rand = g_rand_new_with_seed (g_test_rand_int ());
  self->schema = random_schema_all (TRUE);
  self->store = dlp_record_store_new (self->element, self->schema, GPOINTER_TO_SIZE (memory));
  self->wanted = g_ptr_array_new_with_free_func ((GDestroyNotify) g_bytes_unref);
}

static GBytes *
make_block (DlpSchema *schema, const DlpRecordBatch *batch, guint row)
{
  gsize size = dlp_record_block_get_size (schema, batch, row);
  guint8 *data = g_malloc (size);

  dlp_record_block_write (schema, batch, row, data);
  return g_bytes_new_take (data, size);
}

static void
add (Fixture *self, guint n)
{
  g_autoptr (DlpRecordBatch) batch = random_batch (self->rand, self->schema, n);
  GError *error = NULL;

  self->records = g_renew (DlpStoredRecord, self->records, self->wanted->len + n);
  for (guint i = 0; i < n; i++)
    {
      dlp_record_store_add (self->store, batch, i, &self->records[self->wanted->len], &error);
      g_assert_no_error (error);
      g_ptr_array_add (self->wanted, make_block (self->schema, batch, i));
    }
}

static void
tear_down (Fixture *self, gconstpointer memory)
{
  for (guint i = 0; self->store != NULL && i < self->wanted->len; i++)
    if (self->records[i].size > 0)
      dlp_record_store_drop (self->store, &self->records[i]);
  g_clear_pointer (&self->store, dlp_record_store_free);
  g_free (self->records);
  g_ptr_array_unref (self->wanted);
  dlp_schema_unref (self->schema);
  g_rand_free (self->rand);
  g_object_unref (self->element);
  dlp_context_free (self->context);
}

static void
assert_snapshot (DlpRecordSnapshot *snapshot, GPtrArray *wanted)
{
  g_assert_cmpuint (dlp_record_snapshot_get_n (snapshot), ==, wanted->len);
  for (guint i = 0; i < wanted->len; i++)
    {
      GError *error = NULL;
      gsize size, wanted_size;
      const guint8 *block = dlp_record_snapshot_read (snapshot, i, &size, &error);
      gconstpointer expected = g_bytes_get_data (wanted->pdata[i], &wanted_size);

      g_assert_no_error (error);
      g_assert_cmpmem (block, size, expected, wanted_size);
    }
}

static GPtrArray *
copy_wanted (Fixture *self)
{
  return g_ptr_array_copy (self->wanted, (GCopyFunc) g_bytes_ref, NULL);
}

/* Records come and go as in a buffer; what several snapshots saw stays. */
static void
test_snapshots (Fixture *self, gconstpointer memory)
{
  DlpRecordSnapshot *snapshots[3] = { NULL };
  GPtrArray *seen[3] = { NULL };
  GError *error = NULL;

  add (self, 300);
  for (guint i = 0; i < 60; i++)
    {
      guint k = g_rand_int_range (self->rand, 0, 3);
      g_autoptr (DlpRecordBatch) batch = random_batch (self->rand, self->schema, 100);

      if (snapshots[k] != NULL)
        {
          assert_snapshot (snapshots[k], seen[k]);
          g_clear_pointer (&snapshots[k], dlp_record_snapshot_free);
          g_clear_pointer (&seen[k], g_ptr_array_unref);
        }
      else
        {
          snapshots[k] =
              dlp_record_store_snapshot (self->store, self->records, self->wanted->len, &error);
          g_assert_no_error (error);
          seen[k] = copy_wanted (self);
        }
      for (guint row = 0; row < 100; row++)
        {
          guint slot = g_rand_int_range (self->rand, 0, 300);

          dlp_record_store_drop (self->store, &self->records[slot]);
          dlp_record_store_add (self->store, batch, row, &self->records[slot], &error);
          g_assert_no_error (error);
          g_bytes_unref (self->wanted->pdata[slot]);
          self->wanted->pdata[slot] = make_block (self->schema, batch, row);
        }
    }
  for (guint i = 0; i < 300; i++)
    dlp_record_store_drop (self->store, &self->records[i]);
  g_clear_pointer (&self->store, dlp_record_store_free);
  for (guint k = 0; k < 3; k++)
    if (snapshots[k] != NULL)
      {
        assert_snapshot (snapshots[k], seen[k]);
        dlp_record_snapshot_free (snapshots[k]);
        g_ptr_array_unref (seen[k]);
      }
}

static void
assert_records (Fixture *self)
{
  GError *error = NULL;
  DlpRecordSnapshot *snapshot =
      dlp_record_store_snapshot (self->store, self->records, self->wanted->len, &error);

  g_assert_no_error (error);
  assert_snapshot (snapshot, self->wanted);
  dlp_record_snapshot_free (snapshot);
}

static void
compact (Fixture *self, guint n_taken)
{
  guint64 before = dlp_record_store_get_stats (self->store)->copied;
  GError *error = NULL;

  dlp_record_store_compact (self->store, self->records, self->wanted->len, n_taken, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (dlp_record_store_get_stats (self->store)->copied - before, <=, 4 * n_taken);
}

/* The file is written anew several times, a little in each step, whatever comes and goes; also
 * while snapshots of before are looked at. */
static void
test_compact (Fixture *self, gconstpointer memory)
{
  const DlpRecordStoreStats *stats = dlp_record_store_get_stats (self->store);
  DlpRecordSnapshot *snapshot = NULL;
  g_autoptr (GPtrArray) seen = NULL;
  GError *error = NULL;

  add (self, 2000);
  for (guint i = 0; i < 600; i++)
    {
      g_autoptr (DlpRecordBatch) batch = random_batch (self->rand, self->schema, 50);

      for (guint row = 0; row < 50; row++)
        {
          guint slot = g_rand_int_range (self->rand, 0, 2000);

          dlp_record_store_drop (self->store, &self->records[slot]);
          dlp_record_store_add (self->store, batch, row, &self->records[slot], &error);
          g_assert_no_error (error);
          g_bytes_unref (self->wanted->pdata[slot]);
          self->wanted->pdata[slot] = make_block (self->schema, batch, row);
        }
      compact (self, 50);
      if (i % 60 == 7)
        {
          snapshot = dlp_record_store_snapshot (self->store, self->records, 2000, &error);
          g_assert_no_error (error);
          seen = copy_wanted (self);
        }
      if (i % 60 == 50)
        {
          assert_snapshot (snapshot, seen);
          g_clear_pointer (&snapshot, dlp_record_snapshot_free);
          g_clear_pointer (&seen, g_ptr_array_unref);
          assert_records (self);
        }
    }
  g_assert_cmpuint (stats->spilled, >, 0);
  g_assert_cmpuint (stats->rewritten, >, 3);
  g_assert_cmpuint (stats->copied, >, 2000);

  /* In the end the last one takes the place of another. */
  while (self->wanted->len > 1)
    {
      guint slot = g_rand_int_range (self->rand, 0, (gint32) self->wanted->len - 1);

      dlp_record_store_drop (self->store, &self->records[slot]);
      self->records[slot] = self->records[self->wanted->len - 1];
      g_ptr_array_remove_index_fast (self->wanted, slot);
      compact (self, 1);
      if (self->wanted->len % 100 == 0)
        assert_records (self);
    }
}

static gsize
get_allocated (void)
{
  struct mallinfo2 info = mallinfo2 ();

  return info.uordblks + info.hblkhd;
}

/* One large record leaves nothing in memory. */
static void
test_large (Fixture *self, gconstpointer memory)
{
  gsize size = 8 * 1024 * 1024;
  g_autofree guint8 *block = g_malloc0 (size);
  DlpStoredRecord records[2];
  DlpRecordSnapshot *snapshot;
  GError *error = NULL;
  gsize got, before = get_allocated ();

  for (guint i = 0; i < 2; i++)
    {
      dlp_record_store_add_block (self->store, block, i == 0 ? size : 100, &records[i], &error);
      g_assert_no_error (error);
      g_assert_cmpuint (get_allocated (), <, before + 1024 * 1024);
    }
  snapshot = dlp_record_store_snapshot (self->store, records, 2, &error);
  g_assert_no_error (error);
  g_assert_nonnull (dlp_record_snapshot_read (snapshot, 0, &got, &error));
  g_assert_cmpuint (got, ==, size);
  g_assert_nonnull (dlp_record_snapshot_read (snapshot, 1, &got, &error));
  g_assert_cmpuint (get_allocated (), <, before + 1024 * 1024);
  dlp_record_snapshot_free (snapshot);

  /* Copied, too. */
  dlp_record_store_drop (self->store, &records[1]);
  for (guint i = 0; i < 9; i++)
    {
      dlp_record_store_add_block (self->store, block, size / 8, &records[1], &error);
      g_assert_no_error (error);
      dlp_record_store_drop (self->store, &records[1]);
    }
  dlp_record_store_compact (self->store, records, 2, 2, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (dlp_record_store_get_stats (self->store)->copied, ==, 1);
  g_assert_cmpuint (get_allocated (), <, before + 1024 * 1024);
  dlp_record_store_drop (self->store, &records[0]);
}

/* ---- the file ---- */

static const DlpHeldHeader header = { 200, 1000, 800 };

static GBytes *
write_file (Fixture *self)
{
  DlpRecordSnapshot *snapshot;
  g_autoptr (DlpHeldState) state = NULL;
  g_autoptr (DlpStateFile) file = NULL;
  GError *error = NULL;
  GBytes *bytes;

  add (self, (guint) header.records);
  snapshot = dlp_record_store_snapshot (self->store, self->records, self->wanted->len, &error);
  g_assert_no_error (error);
  state = dlp_held_state_new (&header, snapshot);
  g_assert_null (dlp_held_state_dup_file (state));
  dlp_held_state_write (state, self->element, &error);
  g_assert_no_error (error);
  file = dlp_held_state_dup_file (state);
  bytes = dlp_state_file_read_bytes (file, 0, G_MAXSIZE, &error);
  g_assert_no_error (error);
  return bytes;
}

static gssize
read_bytes (gpointer source, guint64 offset, gpointer data, gsize size, GError **error)
{
  gsize length;
  const guint8 *bytes = g_bytes_get_data (source, &length);
  gsize n = offset < length ? MIN (size, length - (gsize) offset) : 0;

  memcpy (data, bytes + MIN (offset, length), n);
  return (gssize) n;
}

/* Returns how many records were read. */
static guint
read_file (Fixture *self, GBytes *bytes, const DlpHeldHeader *expected, GError **error)
{
  g_autoptr (DlpHeldReader) reader =
      dlp_held_reader_new (read_bytes, bytes, "the-file", expected, self->schema, error);
  guint n = 0;

  if (reader == NULL)
    return 0;
  for (; n < expected->records; n++)
    {
      gsize size, wanted_size;
      const guint8 *block = dlp_held_reader_next (reader, &size, error);
      gconstpointer wanted;

      if (block == NULL)
        return n;
      /* A checksum comes last, so that what is before it may be wrong. */
      wanted = g_bytes_get_data (self->wanted->pdata[n], &wanted_size);
      if (error == NULL)
        g_assert_cmpmem (block, size, wanted, wanted_size);
    }
  dlp_held_reader_finish (reader, error);
  return n;
}

static void
test_round_trip (Fixture *self, gconstpointer memory)
{
  g_autoptr (GBytes) bytes = write_file (self);

  g_assert_cmpuint (read_file (self, bytes, &header, NULL), ==, header.records);
}

static void
assert_refused (Fixture *self, GBytes *bytes, const DlpHeldHeader *expected, const char *message)
{
  g_autoptr (GError) error = NULL;

  read_file (self, bytes, expected, &error);
  g_assert_nonnull (error);
  g_assert_true (error->domain == DLP_STATE_ERROR);
  g_assert_true (g_str_has_prefix (error->message, "the-file: "));
  if (message != NULL && strstr (error->message, message) == NULL)
    g_error ("“%s” is not in “%s”", message, error->message);
}

static void
test_cut (Fixture *self, gconstpointer memory)
{
  g_autoptr (GBytes) bytes = write_file (self);
  gsize size = g_bytes_get_size (bytes);

  for (gsize n = 0; n < size; n += 1 + n / 7)
    {
      g_autoptr (GBytes) cut = g_bytes_new_from_bytes (bytes, 0, n);

      assert_refused (self, cut, &header, n < 48 ? "is not a file of held records" : NULL);
    }
}

/* Some bits of a compressed frame change nothing of what is in it. */
static void
assert_refused_or_same (Fixture *self, GBytes *bytes)
{
  g_autoptr (GError) error = NULL;

  read_file (self, bytes, &header, &error);
  /* Without a place for an error it compares what it reads. */
  if (error == NULL)
    g_assert_cmpuint (read_file (self, bytes, &header, NULL), ==, header.records);
  else
    assert_refused (self, bytes, &header, NULL);
}

static void
test_flipped (Fixture *self, gconstpointer memory)
{
  g_autoptr (GBytes) bytes = write_file (self);
  gsize size = g_bytes_get_size (bytes);

  for (guint i = 0; i < random_scaled (300); i++)
    {
      g_autofree guint8 *copy = g_memdup2 (g_bytes_get_data (bytes, NULL), size);
      gsize at = i < 48 ? i : (gsize) g_rand_int_range (self->rand, 48, (gint32) size);
      g_autoptr (GBytes) changed = NULL;

      copy[at] ^= (guint8) (1 << g_rand_int_range (self->rand, 0, 8));
      changed = g_bytes_new (copy, size);
      assert_refused_or_same (self, changed);
    }
}

/* The file with other records: a size, and some bytes. */
static GBytes *
make_file (GBytes *bytes, guint64 length)
{
  const guint8 *data = g_bytes_get_data (bytes, NULL);
  guint8 plain[1000] = { 0 }, frame[2000];
  guint64 length_le = GUINT64_TO_LE (length);
  GByteArray *array = g_byte_array_new ();
  guint32 schema_size;
  gsize n;

  memcpy (&schema_size, data + 40, sizeof schema_size);
  memcpy (plain, &length_le, sizeof length_le);
  n = ZSTD_compress (frame, sizeof frame, plain, sizeof plain, 1);
  g_assert_false (ZSTD_isError (n));
  g_byte_array_append (array, data, 48 + GUINT32_FROM_LE (schema_size));
  g_byte_array_append (array, frame, (guint) n);
  return g_byte_array_free_to_bytes (array);
}

/* Several fields together may be larger than one can be. */
static void
test_largest (Fixture *self, gconstpointer memory)
{
  g_autoptr (GBytes) bytes = write_file (self);
  gsize max = dlp_record_block_get_max_size (self->schema);
  g_autoptr (GBytes) large = make_file (bytes, G_GUINT64_CONSTANT (5) << 30);
  g_autoptr (GBytes) largest = make_file (bytes, max);
  g_autoptr (GBytes) too_large = make_file (bytes, max + 1);

  assert_refused (self, large, &header, "its records end in record 0 of 200");
  assert_refused (self, largest, &header, "its records end in record 0 of 200");
  assert_refused (self, too_large, &header, "record 0 takes ");
}

static void
test_refused (Fixture *self, gconstpointer memory)
{
  g_autoptr (GBytes) bytes = write_file (self);
  gsize size = g_bytes_get_size (bytes);
  g_autofree guint8 *longer = g_malloc0 (size + 1);
  g_autoptr (GBytes) more = NULL;
  DlpHeldHeader fewer = header, taken = header, drawn = header;
  DlpSchema *other;

  fewer.records--;
  taken.taken++;
  drawn.drawn--;
  assert_refused (self, bytes, &fewer, "says 200 records held, but the state says 199");
  assert_refused (self, bytes, &taken, "says 1000 records taken, but the state says 1001");
  assert_refused (self, bytes, &drawn, "says 800 records drawn, but the state says 799");

  memcpy (longer, g_bytes_get_data (bytes, NULL), size);
  more = g_bytes_new (longer, size + 1);
  assert_refused (self, more, &header, "goes on behind its last record");

  other = random_schema_all (FALSE);
  dlp_schema_unref (self->schema);
  self->schema = other;
  assert_refused (self, bytes, &header, "holds records of ");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define ADD(name, memory, function)                                                                \
  g_test_add (name, Fixture, GSIZE_TO_POINTER (memory), set_up, function, tear_down)
  ADD ("/held-file/snapshots/memory", 1 << 30, test_snapshots);
  ADD ("/held-file/snapshots/both", 100 * 1024, test_snapshots);
  ADD ("/held-file/snapshots/file", 0, test_snapshots);
  ADD ("/held-file/compact/both", 100 * 1024, test_compact);
  ADD ("/held-file/compact/file", 0, test_compact);
  if (!SANITIZED)
    ADD ("/held-file/large", 0, test_large);
  ADD ("/held-file/round-trip/memory", 1 << 30, test_round_trip);
  ADD ("/held-file/round-trip/file", 0, test_round_trip);
  ADD ("/held-file/cut", 1 << 30, test_cut);
  ADD ("/held-file/flipped", 1 << 30, test_flipped);
  ADD ("/held-file/largest", 1 << 30, test_largest);
  ADD ("/held-file/refused", 1 << 30, test_refused);
  return g_test_run ();
}
