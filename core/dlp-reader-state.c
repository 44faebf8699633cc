/* SPDX-License-Identifier: MIT */

#include <string.h>

#include "dlp-reader-private.h"

static const char *const keys[] = {
  "places",    "borders", "turn",          "next",  "rotation", "records",  "bad", "bad-in-a-row",
  "bad-files", "damaged", "damaged-files", "files", "bytes",    "counters", NULL
};

gsize
dlp_reader_state_size (guint interleave)
{
  return sizeof (DlpReaderState) + interleave * sizeof (DlpReaderPlace);
}

DlpReaderState *
dlp_reader_state_new (guint interleave)
{
  DlpReaderState *self = g_malloc0 (dlp_reader_state_size (interleave));

  dlp_reader_state_begin_rotation (self, interleave);
  return self;
}

void
dlp_reader_state_begin_rotation (DlpReaderState *self, guint interleave)
{
  self->in_rotation = false;
  self->n_places = interleave;
  self->turn = 0;
  for (guint i = 0; i < interleave; i++)
    self->places[i] = (DlpReaderPlace){ .file = DLP_READER_NO_FILE };
}

/* The entry of @name, made if there is room; NULL: there is none. */
static DlpReaderTally *
find_tally (DlpReaderTally *tallies, guint *n, guint max, const char *name)
{
  for (guint i = 0; i < *n; i++)
    if (tallies[i].name == name || strcmp (tallies[i].name, name) == 0)
      return &tallies[i];
  if (*n == max)
    return NULL;
  tallies[*n] = (DlpReaderTally){ g_intern_string (name), 0 };
  return &tallies[(*n)++];
}

guint64
dlp_reader_state_add_bad (DlpReaderState *self, const char *kind, const char *name)
{
  DlpReaderTally *of_file =
      find_tally (self->bad_files, &self->n_bad_files, DLP_READER_MAX_NAMED, name);
  DlpReaderTally *of_kind = find_tally (self->kinds, &self->n_kinds, DLP_READER_MAX_KINDS, kind);

  self->bad++;
  self->in_a_row++;
  if (of_file != NULL)
    of_file->n++;
  /* More kinds than a reader ever has: the last one stands for all of them. */
  if (of_kind == NULL)
    of_kind = &self->kinds[DLP_READER_MAX_KINDS - 1];
  return ++of_kind->n;
}

void
dlp_reader_state_add_damaged (DlpReaderState *self, const char *name)
{
  self->damaged++;
  if (self->n_damaged_files < DLP_READER_MAX_NAMED)
    self->damaged_files[self->n_damaged_files++] = g_intern_string (name);
}

static GVariant *
describe_tallies (const DlpReaderTally *tallies, guint n)
{
  g_auto (GVariantBuilder) builder = G_VARIANT_BUILDER_INIT (G_VARIANT_TYPE ("a{st}"));

  for (guint i = 0; i < n; i++)
    g_variant_builder_add (&builder, "{st}", tallies[i].name, tallies[i].n);
  return g_variant_builder_end (&builder);
}

static GVariant *
describe_counters (const DlpReaderState *self, const char *const *names)
{
  g_auto (GVariantBuilder) builder = G_VARIANT_BUILDER_INIT (G_VARIANT_TYPE ("a{st}"));

  for (guint i = 0; names != NULL && names[i] != NULL; i++)
    g_variant_builder_add (&builder, "{st}", names[i], self->counters[i]);
  return g_variant_builder_end (&builder);
}

static GVariant *
describe_places (const DlpReaderState *self)
{
  g_auto (GVariantBuilder) builder = G_VARIANT_BUILDER_INIT (G_VARIANT_TYPE ("a(ttttt)"));

  for (guint i = 0; i < self->n_places; i++)
    {
      const DlpReaderPlace *place = &self->places[i];

      g_variant_builder_add (&builder, "(ttttt)", place->file, place->offset, place->row,
                             place->line, place->reached);
    }
  return g_variant_builder_end (&builder);
}

static bool
has_borders (const DlpReaderState *self)
{
  for (guint i = 0; i < self->n_places; i++)
    if (self->places[i].border.raw != 0)
      return true;
  return false;
}

static GVariant *
describe_borders (const DlpReaderState *self)
{
  g_auto (GVariantBuilder) builder = G_VARIANT_BUILDER_INIT (G_VARIANT_TYPE ("a(tttt)"));

  for (guint i = 0; i < self->n_places; i++)
    {
      const DlpDecoderBorder *border = &self->places[i].border;

      g_variant_builder_add (&builder, "(tttt)", border->raw, border->decoded, border->counts[0],
                             border->counts[1]);
    }
  return g_variant_builder_end (&builder);
}

static void
add (GVariantBuilder *builder, const char *key, GVariant *value)
{
  g_variant_builder_add (builder, "{sv}", key, value);
}

GVariant *
dlp_reader_state_describe (const DlpReaderState *self, const char *const *counters)
{
  g_auto (GVariantBuilder) builder = G_VARIANT_BUILDER_INIT (G_VARIANT_TYPE_VARDICT);

  add (&builder, "places", describe_places (self));
  if (has_borders (self))
    add (&builder, "borders", describe_borders (self));
  add (&builder, "turn", g_variant_new_uint64 (self->turn));
  add (&builder, "next", g_variant_new_uint64 (self->next));
  add (&builder, "rotation",
       g_variant_new ("(buuu)", self->in_rotation, self->stage, self->source, self->epoch));
  add (&builder, "records", g_variant_new_uint64 (self->good));
  add (&builder, "bad", describe_tallies (self->kinds, self->n_kinds));
  add (&builder, "bad-in-a-row", g_variant_new_uint64 (self->in_a_row));
  add (&builder, "bad-files", describe_tallies (self->bad_files, self->n_bad_files));
  add (&builder, "damaged", g_variant_new_uint64 (self->damaged));
  add (&builder, "damaged-files", g_variant_new_strv (self->damaged_files, self->n_damaged_files));
  add (&builder, "files", g_variant_new_uint64 (self->files));
  add (&builder, "bytes", g_variant_new_uint64 (self->bytes));
  add (&builder, "counters", describe_counters (self, counters));
  return g_variant_builder_end (&builder);
}

/* What a report says: not where the reader stands, but what it met. */
GVariant *
dlp_reader_state_report (GVariant *described)
{
  static const char *const shown[] = { "records", "bad",   "bad-files", "damaged", "damaged-files",
                                       "files",   "bytes", "counters",  NULL };
  g_auto (GVariantDict) dict = G_VARIANT_DICT_INIT (NULL);

  for (guint i = 0; shown[i] != NULL; i++)
    {
      g_autoptr (GVariant) value = g_variant_lookup_value (described, shown[i], NULL);

      if (value != NULL)
        g_variant_dict_insert_value (&dict, shown[i], value);
    }
  return g_variant_dict_end (&dict);
}

/* ---- reading it back ---- */

static bool
corrupt (GError **error, const char *key, const char *what)
{
  g_set_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CORRUPT, "key “%s”: %s", key, what);
  return false;
}

static bool
load_tallies (GVariant *described,
              const char *key,
              DlpReaderTally *tallies,
              guint *n,
              guint max,
              guint64 *sum,
              GError **error)
{
  g_autoptr (GVariant) value =
      dlp_state_get_value (described, key, G_VARIANT_TYPE ("a{st}"), error);
  GVariantIter iter;
  const char *name;
  guint64 count;

  if (value == NULL)
    return false;

  g_variant_iter_init (&iter, value);
  while (g_variant_iter_next (&iter, "{&st}", &name, &count))
    {
      DlpReaderTally *tally = find_tally (tallies, n, max, name);

      if (tally == NULL)
        return corrupt (error, key, "too many entries");
      if (tally->n != 0 || count == 0)
        return corrupt (error, key, "an entry that is 0, or there twice");
      tally->n = count;
      *sum += count;
    }
  return true;
}

static bool
load_places (DlpReaderState *self, GVariant *described, guint interleave, GError **error)
{
  g_autoptr (GVariant) value =
      dlp_state_get_value (described, "places", G_VARIANT_TYPE ("a(ttttt)"), error);
  guint64 turn;

  if (value == NULL)
    return false;
  if (g_variant_n_children (value) > interleave)
    return corrupt (error, "places", "more than the property interleave says");

  self->n_places = (guint) g_variant_n_children (value);
  for (guint i = 0; i < self->n_places; i++)
    {
      DlpReaderPlace *place = &self->places[i];

      g_variant_get_child (value, i, "(ttttt)", &place->file, &place->offset, &place->row,
                           &place->line, &place->reached);
      if (place->file != DLP_READER_NO_FILE && place->file >= self->next)
        return corrupt (error, "places", "a file that was not begun yet");
      if (place->reached < place->row || place->offset > G_MAXINT64)
        return corrupt (error, "places", "a row that cannot be");
      for (guint k = 0; k < i; k++)
        if (place->file != DLP_READER_NO_FILE && place->file == self->places[k].file)
          return corrupt (error, "places", "one file in two places");
    }

  if (!dlp_state_get_uint64 (described, "turn", self->n_places > 0 ? self->n_places - 1 : 0, &turn,
                             error))
    return false;
  self->turn = (guint) turn;
  return true;
}

/* Not there: none of the files has borders, as far as they were read. */
static bool
load_borders (DlpReaderState *self, GVariant *described, GError **error)
{
  g_autoptr (GVariant) known = g_variant_lookup_value (described, "borders", NULL);
  g_autoptr (GVariant) value = NULL;

  if (known == NULL)
    return true;
  value = dlp_state_get_value (described, "borders", G_VARIANT_TYPE ("a(tttt)"), error);
  if (value == NULL)
    return false;
  if (g_variant_n_children (value) != self->n_places)
    return corrupt (error, "borders", "another number of them than of places");

  for (guint i = 0; i < self->n_places; i++)
    {
      DlpReaderPlace *place = &self->places[i];
      DlpDecoderBorder *border = &place->border;

      g_variant_get_child (value, i, "(tttt)", &border->raw, &border->decoded, &border->counts[0],
                           &border->counts[1]);
      if (border->raw > G_MAXINT64 || border->decoded > place->offset)
        return corrupt (error, "borders", "one that lies behind its place");
    }
  return true;
}

static bool
load_rotation (DlpReaderState *self, GVariant *described, GError **error)
{
  g_autoptr (GVariant) value =
      dlp_state_get_value (described, "rotation", G_VARIANT_TYPE ("(buuu)"), error);
  gboolean in_rotation;

  if (value == NULL)
    return false;
  g_variant_get (value, "(buuu)", &in_rotation, &self->stage, &self->source, &self->epoch);
  self->in_rotation = in_rotation;
  return true;
}

static bool
load_damaged_files (DlpReaderState *self, GVariant *described, GError **error)
{
  g_autoptr (GVariant) value =
      dlp_state_get_value (described, "damaged-files", G_VARIANT_TYPE_STRING_ARRAY, error);
  gsize n = value != NULL ? g_variant_n_children (value) : 0;

  if (value == NULL)
    return false;
  if (n != MIN (self->damaged, DLP_READER_MAX_NAMED))
    return corrupt (error, "damaged-files", "another number than damaged says");

  for (gsize i = 0; i < n; i++)
    {
      const char *name;

      g_variant_get_child (value, i, "&s", &name);
      self->damaged_files[self->n_damaged_files++] = g_intern_string (name);
    }
  return true;
}

static bool
load_counters (DlpReaderState *self,
               GVariant *described,
               const char *const *counters,
               GError **error)
{
  g_autoptr (GVariant) value =
      dlp_state_get_value (described, "counters", G_VARIANT_TYPE ("a{st}"), error);
  guint n = counters != NULL ? g_strv_length ((char **) counters) : 0;

  if (value == NULL)
    return false;
  if (g_variant_n_children (value) != n)
    return corrupt (error, "counters", "another number of them than this reader has");
  for (guint i = 0; i < n; i++)
    if (!g_variant_lookup (value, counters[i], "t", &self->counters[i]))
      return corrupt (error, "counters", "one that this reader has is missing");
  return true;
}

bool
dlp_reader_state_load (DlpReaderState *self,
                       GVariant *described,
                       guint interleave,
                       const char *const *counters,
                       GError **error)
{
  const guint64 max = G_MAXUINT64;
  guint64 of_files = 0;

  memset (self, 0, dlp_reader_state_size (interleave));
  return dlp_state_check_keys (described, keys, error) &&
         dlp_state_get_uint64 (described, "next", max - 1, &self->next, error) &&
         dlp_state_get_uint64 (described, "records", max, &self->good, error) &&
         dlp_state_get_uint64 (described, "damaged", max, &self->damaged, error) &&
         dlp_state_get_uint64 (described, "files", max, &self->files, error) &&
         dlp_state_get_uint64 (described, "bytes", max, &self->bytes, error) &&
         load_places (self, described, interleave, error) &&
         load_borders (self, described, error) && load_rotation (self, described, error) &&
         load_tallies (described, "bad", self->kinds, &self->n_kinds, DLP_READER_MAX_KINDS,
                       &self->bad, error) &&
         load_tallies (described, "bad-files", self->bad_files, &self->n_bad_files,
                       DLP_READER_MAX_NAMED, &of_files, error) &&
         dlp_state_get_uint64 (described, "bad-in-a-row", self->bad, &self->in_a_row, error) &&
         load_damaged_files (self, described, error) &&
         load_counters (self, described, counters, error);
}
