/* SPDX-License-Identifier: MIT */

#include <dlpipe/dlp-record-batch.h>
#include <string.h>

#include "tar-compare.h"
#include "tar-sample.h"

/*
 * One input is an archive, behind a byte that says into pieces of which size it is cut; bytes are
 * put right where checksums are, since no chance would find them. Its samples are made to records
 * too.
 */

#define PADDING 64

int LLVMFuzzerTestOneInput (const guint8 *data, gsize size);

/* Of all blocks that are not zero: which of them are headers is for the others to find. */
static void
set_checksums (guint8 *data, gsize size)
{
  for (gsize at = 0; at + TAR_BLOCK_BYTES <= size; at += TAR_BLOCK_BYTES)
    {
      guint8 *block = data + at;
      char text[8];
      guint sum = 0;

      if (block[0] == 0 || block[150] != '?')
        continue;
      memset (block + 148, ' ', 8);
      for (guint i = 0; i < TAR_BLOCK_BYTES; i++)
        sum += block[i];
      g_snprintf (text, sizeof text, "%06o", sum);
      memcpy (block + 148, text, sizeof text);
    }
}

static void
end_sample (TarSample *sample, DlpRecordBatchBuilder *builder)
{
  static const DlpCoordinate zero;
  JsonCounts counts = { 0 };
  ReaderFault fault;

  if (!tar_sample_is_open (sample))
    return;
  if (tar_sample_append (sample, builder, &counts, &fault))
    dlp_record_batch_builder_end_record (builder, &zero);
  else
    {
      g_assert_nonnull (fault.kind);
      g_assert_nonnull (fault.message);
      dlp_record_batch_builder_drop_record (builder);
      g_free (fault.message);
    }
}

static void
take_samples (TarSample *sample, DlpRecordBatchBuilder *builder, const guint8 *data, gsize size)
{
  g_autoptr (GString) name = g_string_new (NULL);
  TarMember member = { .name = name };
  guint64 at = 0;

  for (; at < size; at += member.next)
    {
      gsize key_size;
      TarResult result = tar_member_read (&member, data + at, (gsize) (size - at));

      if (result != TAR_MEMBER)
        g_free (member.fault);
      if (result != TAR_MEMBER || member.size > size - at - member.data)
        break;
      if (!tar_member_has_key (&member, &key_size))
        continue;
      if (!tar_sample_has (sample, &member, key_size))
        {
          end_sample (sample, builder);
          tar_sample_begin (sample, &member, key_size);
        }
      tar_sample_add (sample, &member, data + at + member.data);
    }
  end_sample (sample, builder);
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  static const char *const texts[] = {
    "text=txt,n=cls:int64?,b=bin:binary?,key,t=json.t,d=json.a.d:double?", NULL
  };
  g_autoptr (TarFields) fields = tar_fields_new (texts, NULL);
  g_autoptr (DlpSchema) schema = tar_fields_make_schema (fields);
  g_autoptr (DlpRecordBatchBuilder) builder = dlp_record_batch_builder_new (schema);
  TarSample *sample = tar_sample_new (fields);
  g_autofree guint8 *copy = g_malloc0 (size + PADDING);

  if (size > 0)
    {
      memcpy (copy, data, size);
      set_checksums (copy + 1, size - 1);
      tar_compare (copy + 1, size - 1, 16 * (gsize) copy[0]);
      take_samples (sample, builder, copy + 1, size - 1);
    }
  tar_sample_free (sample);
  return 0;
}
