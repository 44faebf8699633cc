/* SPDX-License-Identifier: MIT */

#include "random-graph.h"

#include <stdio.h>

#define N_SETS 4

typedef struct
{
  GString *text;
  GRand *rand;
  const char *dir;
  gboolean is_cut;
  gboolean has_tokens;
  gboolean has_dedup; /* then each source is read once */
  guint n_names, n_sinks, n_mixes;
} Maker;

static gint
draw (Maker *self, gint from, gint to)
{
  return g_rand_int_range (self->rand, from, to);
}

static gboolean
toss (Maker *self, gint n)
{
  return draw (self, 0, n) == 0;
}

/* ---- inputs ---- */

static const struct
{
  guint files, records;
} sets[N_SETS] = { { 3, 2000 }, { 1, 900 }, { 5, 300 }, { 2, 1 } };

static void
write_file (const char *dir, gboolean is_bad, guint set, guint file)
{
  static const char *const langs[] = { "en", "de", "fr" };
  g_autofree char *path = g_strdup_printf ("%s/%c%u-%u.jsonl", dir, is_bad ? 'b' : 'c', set, file);
  g_autoptr (GString) text = g_string_new (NULL);
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i < sets[set].records && !(set == 3 && file == 0); i++)
    {
      if (is_bad && i % 97 == 41)
        g_string_append (text, "{\"text\": bad\n");
      g_string_append_printf (
          text, "{\"text\": \"%u of %u in %u%.*s\", \"n\": %u, \"lang\": \"%s\"}\n", i, file, set,
          (int) (i * 7 % 37), " and so it goes on for a while with words", i,
          langs[(i / 3 + file) % G_N_ELEMENTS (langs)]);
    }
  g_file_set_contents (path, text->str, (gssize) text->len, &error);
  g_assert_no_error (error);
}

void
random_graph_write_inputs (const char *dir)
{
  for (guint set = 0; set < N_SETS; set++)
    for (guint file = 0; file < sets[set].files; file++)
      {
        write_file (dir, TRUE, set, file);
        write_file (dir, FALSE, set, file);
      }
}

/* ---- graphs ---- */

/* A record of the inputs has about thirty tokens, a byte each. */
static const char *
draw_unit (Maker *self, gint *scale)
{
  gboolean tokens = self->has_tokens && toss (self, 2);

  *scale = tokens ? 20 : 1;
  return tokens ? "tokens" : "records";
}

static void
append_limit (Maker *self)
{
  gint scale;
  const char *unit = draw_unit (self, &scale);

  g_string_append_printf (self->text, "limit %s=%d ! ", unit,
                          (toss (self, 2) ? draw (self, 1, 60) : draw (self, 60, 20000)) * scale);
}

static void
append_filter (Maker *self, const char *name)
{
  g_string_append_printf (self->text, "filter %s%s where='", name != NULL ? "name=" : "",
                          name != NULL ? name : "");
  switch (draw (self, 0, 4))
    {
    case 0: /* of most files all but the ends */
      g_string_append_printf (self->text, "n < %d or n > %d", draw (self, 0, 40),
                              draw (self, 1200, 2100));
      break;
    case 1: /* almost everything */
      g_string_append_printf (self->text, "n == %d", draw (self, 0, 2000));
      break;
    case 2:
      g_string_append_printf (self->text, "length (text) > %d", draw (self, 10, 50));
      break;
    default:
      g_string_append (self->text, "lang in (\"en\", \"fr\")");
    }
  g_string_append (self->text, "' ! ");
}

static void
append_chain (Maker *self, gint longest, gboolean may_limit)
{
  for (gint n = draw (self, 0, longest + 1); n > 0; n--)
    switch (draw (self, 0, 5))
      {
      case 0:
      case 1:
        g_string_append_printf (self->text, "shuffle size=%d%s ! ",
                                toss (self, 2) ? draw (self, 1, 20) : draw (self, 20, 4000),
                                toss (self, 3) ? " checkpoint=records" : "");
        break;
      case 2:
      case 3:
        if (self->has_dedup && toss (self, 2))
          g_string_append_printf (self->text, "dedup field=%s ! ", toss (self, 2) ? "n" : "text");
        else
          append_filter (self, NULL);
        break;
      default:
        if (self->is_cut && may_limit)
          append_limit (self);
      }
}

/* The name of the reader. */
static guint
append_source (Maker *self)
{
  guint name = self->n_names++;

  g_string_append_printf (self->text, "file-source location=\"%s/%c%d-*.jsonl\" epochs=%d",
                          self->dir, self->is_cut ? 'c' : 'b', draw (self, 0, N_SETS),
                          self->has_dedup ? 1 : draw (self, 1, 5));
  if (toss (self, 2))
    g_string_append_printf (self->text, " shuffle=true reshuffle=%s",
                            toss (self, 2) ? "true" : "false");
  g_string_append_printf (self->text,
                          " ! jsonl-reader name=r%u field=text fields=n:int64,lang interleave=%d "
                          "max-bad-ratio=0.9 ! ",
                          name, draw (self, 1, 4));
  return name;
}

static void
append_weights (Maker *self, gint n)
{
  for (gint i = 0; i < n; i++)
    g_string_append_printf (self->text, "%s%d", i > 0 ? "," : "",
                            draw (self, i == 0 || !self->is_cut, 9));
}

/* None, or up to five one behind the other; now and then at neighbouring places. */
static void
append_later_weights (Maker *self, gint n)
{
  gint scale, place = 0;
  const char *unit = draw_unit (self, &scale);

  for (gint i = toss (self, 2) ? draw (self, 1, 6) : 0; i > 0; i--)
    {
      place += (toss (self, 4) ? 1 : draw (self, 1, 2000)) * scale;
      g_string_append_printf (self->text, " weights-at=\"%d%s:", place,
                              unit[0] == 'r' ? " records" : "");
      append_weights (self, n);
      g_string_append (self->text, "\"");
    }
}

/* Inputs with a name each, and what makes one stream of them. */
static void
append_mix (Maker *self)
{
  guint name = self->n_mixes++;
  gint n = draw (self, 2, 5);
  static const char *const endings[] = { "stop", "repeat", "repeat-until-all" };
  const char *exhausted = "renormalize";

  if (self->is_cut && !self->has_dedup && toss (self, 2))
    exhausted = endings[draw (self, 0, G_N_ELEMENTS (endings))];
  for (gint i = 0; i < n; i++)
    {
      append_source (self);
      if (self->has_tokens)
        g_string_append_printf (self->text,
                                "tokenizer model=%s/tiny.tiktoken pattern=gpt2 eod=none "
                                "keep-text=true ! ",
                                self->dir);
      /* What repeats for ever must give something. */
      if (!g_str_has_prefix (exhausted, "repeat"))
        append_chain (self, 1, TRUE);
      g_string_append_printf (self->text, "m%u.  ", name);
    }
  g_string_append_printf (self->text, "mix name=m%u exhausted=%s weights=", name, exhausted);
  append_weights (self, n);
  append_later_weights (self, n);
  g_string_append_printf (self->text, "%s ! ",
                          self->has_tokens && toss (self, 2) ? " unit=tokens" : "");
  if (g_str_equal (exhausted, "repeat"))
    append_limit (self);
}

static void
append_source_or_mix (Maker *self)
{
  if (!self->has_tokens && toss (self, 2))
    append_source (self);
  else
    append_mix (self);
}

/* Without limits every stage comes to its end. */
static void
append_stages (Maker *self)
{
  gint n = draw (self, 2, 4), scale;

  for (gint i = 0; i < n; i++)
    {
      append_source_or_mix (self);
      append_chain (self, 1, TRUE);
      g_string_append (self->text, "s.  ");
    }
  g_string_append (self->text, "stages name=s");
  for (gint i = 0; i < n && self->is_cut; i++)
    {
      if (i == 0)
        g_string_append_printf (self->text, " %s=", draw_unit (self, &scale));
      g_string_append_printf (self->text, "%s%d", i > 0 ? "," : "",
                              toss (self, 3) ? 0 : draw (self, 1, 5000) * scale);
    }
  g_string_append (self->text, " ! ");
}

static void
append_sources (Maker *self)
{
  if (toss (self, 4))
    append_stages (self);
  else
    append_source_or_mix (self);
}

/* What one rank gets of the batches, or all of them. */
static void
append_batch (Maker *self)
{
  gint world_size = toss (self, 2) ? 1 : draw (self, 2, 9);

  if (toss (self, 3))
    return;
  g_string_append_printf (self->text, "batch size=%d", draw (self, 1, 40));
  if (world_size > 1)
    g_string_append_printf (self->text, " rank=%d world-size=%d", draw (self, 0, world_size),
                            world_size);
  g_string_append (self->text, " ! ");
  if (self->is_cut && toss (self, 3))
    g_string_append_printf (self->text, "limit batches=%d ! ", draw (self, 1, 300));
}

static void
append_sink (Maker *self)
{
  guint n = self->n_sinks++;

  switch (draw (self, 0, 4))
    {
    case 0:
      append_batch (self);
      g_string_append (self->text, "null-sink  ");
      break;
    case 1:
      if (!self->has_tokens)
        g_string_append_printf (
            self->text, "tokenizer model=%s/tiny.tiktoken pattern=gpt2 eod=none ! ", self->dir);
      g_string_append_printf (self->text, "megatron-sink location=o%u  ", n);
      break;
    default:
      g_string_append_printf (self->text, "jsonl-sink location=o%u.jsonl  ", n);
    }
}

static void
append_branch (Maker *self)
{
  append_chain (self, 2, TRUE);
  if (self->is_cut && toss (self, 3))
    append_limit (self);
  append_sink (self);
}

static void
append_ends (Maker *self)
{
  switch (draw (self, 0, self->is_cut ? 4 : 6))
    {
    case 0:
      append_branch (self);
      break;
    case 1:
    case 2:
      g_string_append (self->text, "tee name=t ! ");
      append_branch (self);
      for (gint n = draw (self, 1, 4); n > 0; n--)
        {
          g_string_append (self->text, "t. ! ");
          append_branch (self);
        }
      break;
    case 3:
      g_string_append_printf (self->text, "split name=x ratios=a:%d,b:1,c:3 by=coordinate  x.a ! ",
                              draw (self, 1, 300));
      append_branch (self);
      g_string_append (self->text, "x.b ! ");
      append_branch (self);
      break;
    case 4:
      append_filter (self, "f");
      append_branch (self);
      g_string_append (self->text, "f.rejected ! ");
      append_branch (self);
      break;
    default:
      append_branch (self);
      g_string_append_printf (self->text, "r%d.rejected ! jsonl-sink location=rejected.jsonl",
                              draw (self, 0, (gint) self->n_names));
    }
}

RandomGraph *
random_graph_new (guint32 seed, const char *dir)
{
  RandomGraph *self = g_new0 (RandomGraph, 1);
  Maker maker = { g_string_new (NULL), g_rand_new_with_seed (seed), dir };

  /* How many bad records are seen behind the last one that a limit lets through is not determined:
   * where there may be limits the inputs have none. */
  maker.is_cut = toss (&maker, 2);
  maker.has_tokens = toss (&maker, 3);
  maker.has_dedup = toss (&maker, 3);
  append_sources (&maker);
  append_chain (&maker, 2, TRUE);
  append_ends (&maker);
  g_rand_free (maker.rand);
  self->text = g_string_free (maker.text, FALSE);
  self->is_cut = maker.is_cut;
  return self;
}

void
random_graph_free (RandomGraph *self)
{
  g_free (self->text);
  g_free (self);
}
