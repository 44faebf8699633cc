/* SPDX-License-Identifier: MIT */

/* The class of each element under test has its functions replaced by ones that count the call, do
 * what the check wants done there, and go on to the author's. So a check can look at every mark and
 * act at every step, whatever the element is, with the public API alone. The replacement stays; it
 * does nothing while no check runs. */

#include <signal.h>

#include "dlp-check-private.h"

/* An element of a program may have its class here once. */
#define MAX_CLASSES 64

typedef struct
{
  gpointer klass;
  DlpElementClass element;
  gboolean (*consume) (DlpSink *, DlpRecordBatch *, guint, guint, GCancellable *, GError **);
  gboolean (*flush) (DlpSink *, GCancellable *, GError **);
  gboolean (*sync) (DlpSink *, const DlpState *, GCancellable *, GError **);
  gboolean (*publish) (DlpSink *, const DlpState *, gboolean, GCancellable *, GError **);
  void (*parse) (DlpReader *, gpointer, DlpReaderChunk *);
  gboolean (*process) (DlpTransform *,
                       gpointer,
                       DlpRecordBatch *,
                       guint64,
                       DlpTransformOutput *,
                       GError **);
} Classes;

static Classes classes[MAX_CLASSES]; /* written between runs alone */
static guint n_classes;
static CheckProbe *probe; /* atomic */

static const Classes *
find (gpointer klass)
{
  for (; klass != NULL; klass = g_type_class_peek_parent (klass))
    for (guint i = 0; i < n_classes; i++)
      if (classes[i].klass == klass)
        return &classes[i];
  return NULL;
}

/* A function of a class goes on to that of its parent, which may be replaced too. */
typedef enum
{
  CALL_STEP,
  CALL_MARK_INPUT,
  CALL_LOAD,
  CALL_CONSUME,
  CALL_FLUSH,
  CALL_SYNC,
  CALL_PUBLISH,
  CALL_PARSE,
  CALL_PROCESS,
  N_CALLS
} Call;

typedef struct
{
  gpointer element;
  const Classes *original; /* whose function runs */
} Level;

static __thread Level levels[N_CALLS];

/* (transfer none): whose function is to be called: that of the element, or, where that has called
 * its parent's, the parent's. */
static const Classes *
enter (Call call, gpointer element, Level *outer)
{
  Level *level = &levels[call];

  *outer = *level;
  level->original = outer->element == element ?
                        find (g_type_class_peek_parent (outer->original->klass)) :
                        find (G_OBJECT_GET_CLASS (element));
  level->element = element;
  return level->original;
}

static void
leave (Call call, const Level *outer)
{
  levels[call] = *outer;
}

/* Chained up to: it was counted. */
static gboolean
is_inner (gpointer element, const Level *outer)
{
  return outer->element == element;
}

/* (nullable): the check that runs, whose next call this is. */
static CheckProbe *
count_call (void)
{
  CheckProbe *self = __atomic_load_n (&probe, __ATOMIC_ACQUIRE);
  guint64 n;

  if (self == NULL)
    return NULL;
  n = __atomic_add_fetch (&self->n_calls, 1, __ATOMIC_RELAXED);
  if (self->cancel_at != 0 && n == self->cancel_at)
    {
      dlp_check_watch_ends ();
      g_cancellable_cancel (self->cancellable);
    }
  if (self->stop_at != 0 && n == self->stop_at)
    {
      dlp_check_watch_ends ();
      dlp_pipeline_stop (self->pipeline);
    }
  return self;
}

static DlpStep
call_step (DlpElement *element, GCancellable *cancellable, GError **error)
{
  Level outer;
  const Classes *original = enter (CALL_STEP, element, &outer);
  DlpStep step;

  if (!is_inner (element, &outer))
    count_call ();
  step = original->element.step (element, cancellable, error);
  leave (CALL_STEP, &outer);
  return step;
}

static gboolean
call_load (DlpElement *element, GVariant *described, guint version, GError **error)
{
  CheckProbe *self = __atomic_load_n (&probe, __ATOMIC_ACQUIRE);
  Level outer;
  const Classes *original = enter (CALL_LOAD, element, &outer);
  gboolean ok = TRUE;

  if (self == NULL || !self->forget ||
      !(DLP_ELEMENT_GET_CLASS (element)->flags & DLP_ELEMENT_STATELESS))
    ok = original->element.load (element, described, version, error);
  leave (CALL_LOAD, &outer);
  return ok;
}

static void
fail_mark (const CheckProbe *self, DlpElement *element, DlpPad *pad, guint64 position)
{
  g_autofree char *when =
      g_strdup_printf ("a mark is made behind record %" G_GUINT64_FORMAT " of the input",
                       dlp_pad_get_position (pad));
  g_autofree char *lines = g_strdup_printf (
      "  element:  %s (%s), pad %s\n"
      "  expected: a cursor at record %" G_GUINT64_FORMAT
      " or before, since no more were consumed\n"
      "  got:      record %" G_GUINT64_FORMAT "\n"
      "  remedy:   what mark_input() gives must not lie behind what dlp_pad_get_cursor() gives\n",
      dlp_element_get_name (element), dlp_element_get_factory (element), dlp_pad_get_name (pad),
      dlp_pad_get_position (pad), position);

  dlp_check_fail (self->check, when, lines);
}

static void
call_mark_input (DlpElement *element, guint input, DlpCursor *cursor)
{
  CheckProbe *self = __atomic_load_n (&probe, __ATOMIC_ACQUIRE);
  Level outer;
  const Classes *original = enter (CALL_MARK_INPUT, element, &outer);
  DlpPad *pad = dlp_element_get_input (element, input);

  if (original->element.mark_input != NULL)
    original->element.mark_input (element, input, cursor);
  else
    dlp_pad_get_cursor (pad, cursor);
  leave (CALL_MARK_INPUT, &outer);
  if (self != NULL && !is_inner (element, &outer) && cursor->mark != NULL &&
      cursor->position > dlp_pad_get_position (pad))
    fail_mark (self, element, pad, cursor->position);
}

static void
count_consumed (DlpSink *sink, CheckProbe *self, guint n)
{
  guint64 consumed;

  if (self == NULL || g_strcmp0 (self->sink, dlp_element_get_name (DLP_ELEMENT (sink))) != 0)
    return;
  consumed = __atomic_add_fetch (&self->n_records, n, __ATOMIC_RELAXED);
  if (self->kill_after > 0 && consumed >= self->kill_after)
    raise (SIGKILL);
  if (self->stop_after > 0 && consumed >= self->stop_after)
    dlp_pipeline_stop (self->pipeline);
}

static gboolean
call_consume (DlpSink *sink,
              DlpRecordBatch *batch,
              guint row,
              guint n,
              GCancellable *cancellable,
              GError **error)
{
  Level outer;
  const Classes *original = enter (CALL_CONSUME, sink, &outer);
  CheckProbe *self = is_inner (sink, &outer) ? NULL : count_call ();
  gboolean ok = original->consume (sink, batch, row, n, cancellable, error);

  leave (CALL_CONSUME, &outer);
  if (ok)
    count_consumed (sink, self, n);
  return ok;
}

static gboolean
call_flush (DlpSink *sink, GCancellable *cancellable, GError **error)
{
  Level outer;
  const Classes *original = enter (CALL_FLUSH, sink, &outer);
  gboolean ok;

  if (!is_inner (sink, &outer))
    count_call ();
  ok = original->flush (sink, cancellable, error);
  leave (CALL_FLUSH, &outer);
  return ok;
}

static gboolean
call_sync (DlpSink *sink, const DlpState *state, GCancellable *cancellable, GError **error)
{
  Level outer;
  const Classes *original = enter (CALL_SYNC, sink, &outer);
  gboolean ok;

  if (!is_inner (sink, &outer))
    count_call ();
  ok = original->sync (sink, state, cancellable, error);
  leave (CALL_SYNC, &outer);
  return ok;
}

static gboolean
call_publish (DlpSink *sink,
              const DlpState *state,
              gboolean complete,
              GCancellable *cancellable,
              GError **error)
{
  Level outer;
  const Classes *original = enter (CALL_PUBLISH, sink, &outer);
  gboolean ok;

  if (!is_inner (sink, &outer))
    count_call ();
  ok = original->publish (sink, state, complete, cancellable, error);
  leave (CALL_PUBLISH, &outer);
  return ok;
}

static void
call_parse (DlpReader *reader, gpointer worker, DlpReaderChunk *chunk)
{
  Level outer;
  const Classes *original = enter (CALL_PARSE, reader, &outer);

  if (!is_inner (reader, &outer))
    count_call ();
  original->parse (reader, worker, chunk);
  leave (CALL_PARSE, &outer);
}

static gboolean
call_process (DlpTransform *transform,
              gpointer worker,
              DlpRecordBatch *batch,
              guint64 first,
              DlpTransformOutput *output,
              GError **error)
{
  Level outer;
  const Classes *original = enter (CALL_PROCESS, transform, &outer);
  gboolean ok;

  if (!is_inner (transform, &outer))
    count_call ();
  ok = original->process (transform, worker, batch, first, output, error);
  leave (CALL_PROCESS, &outer);
  return ok;
}

/* Of a class whose parent came here before, the originals are those of the parent where it has
 * none of its own. */
static void
replace_sink (Classes *self, const Classes *parent, DlpSinkClass *klass)
{
  self->consume = klass->consume == call_consume ? parent->consume : klass->consume;
  self->flush = klass->flush == call_flush ? parent->flush : klass->flush;
  self->sync = klass->sync == call_sync ? parent->sync : klass->sync;
  self->publish = klass->publish == call_publish ? parent->publish : klass->publish;
  klass->consume = call_consume;
  klass->flush = self->flush != NULL ? call_flush : NULL;
  klass->sync = self->sync != NULL ? call_sync : NULL;
  klass->publish = self->publish != NULL ? call_publish : NULL;
}

static void
replace (DlpElement *element)
{
  DlpElementClass *klass = DLP_ELEMENT_GET_CLASS (element);
  const Classes *parent = find (klass);
  Classes *self = &classes[n_classes];

  if (parent != NULL && parent->klass == klass)
    return;
  g_assert_cmpuint (n_classes, <, MAX_CLASSES);
  self->klass = klass;
  self->element = *klass;
  if (klass->step == call_step)
    self->element.step = parent->element.step;
  if (klass->mark_input == call_mark_input)
    self->element.mark_input = parent->element.mark_input;
  if (klass->load == call_load)
    self->element.load = parent->element.load;
  klass->load = self->element.load != NULL ? call_load : NULL;
  klass->step = call_step;
  klass->mark_input = call_mark_input;
  if (DLP_IS_SINK (element))
    replace_sink (self, parent, DLP_SINK_CLASS (klass));
  if (DLP_IS_READER (element))
    {
      DlpReaderClass *reader = DLP_READER_CLASS (klass);

      self->parse = reader->parse == call_parse ? parent->parse : reader->parse;
      reader->parse = call_parse;
    }
  if (DLP_IS_TRANSFORM (element))
    {
      DlpTransformClass *transform = DLP_TRANSFORM_CLASS (klass);

      self->process = transform->process == call_process ? parent->process : transform->process;
      transform->process = call_process;
    }
  n_classes++;
}

void
dlp_check_probe_begin (CheckProbe *self)
{
  for (guint i = 0; i < g_list_model_get_n_items (G_LIST_MODEL (self->pipeline)); i++)
    {
      g_autoptr (DlpElement) element = g_list_model_get_item (G_LIST_MODEL (self->pipeline), i);

      replace (element);
    }
  __atomic_store_n (&probe, self, __ATOMIC_RELEASE);
}

void
dlp_check_probe_end (CheckProbe *self)
{
  __atomic_store_n (&probe, NULL, __ATOMIC_RELEASE);
}
