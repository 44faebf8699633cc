/* SPDX-License-Identifier: MIT */

/* One call fails, in turn each: the run says which file and why and ends with the right code, or
 * goes on where nothing is lost; the state loads, and the same command then ends in the same
 * output. */

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "fault-rig.h"

#define MANY_CALLS 4000
#define RUNS_TO_BE_SURE 3 /* without such a call: a run has not always as many */

static char *expected;

typedef enum
{
  ON_FAIL,       /* that call alone */
  ON_FILL,       /* and all after it */
  ON_SHORT,      /* not an error: half is written */
  ON_SHORT_READ, /* half is read */
} How;

typedef struct
{
  const char *name;
  How how;
  int code;
  gboolean is_resumed;
  guint step; /* at scale 1 */
  FaultRigFlags flags;
} Kind;

static const Kind kinds[] = {
  { "eio", ON_FAIL, EIO, FALSE, 20, 0 },
  { "eio-resumed", ON_FAIL, EIO, TRUE, 20, 0 },
  { "eio-elsewhere", ON_FAIL, EIO, TRUE, 20, FAULT_RIG_REMOTE },
  { "enospc", ON_FAIL, ENOSPC, FALSE, 20, 0 },
  { "enospc-resumed", ON_FAIL, ENOSPC, TRUE, 20, 0 },
  { "full", ON_FILL, ENOSPC, FALSE, 20, 0 },
  { "full-resumed", ON_FILL, ENOSPC, TRUE, 20, 0 },
  { "edquot", ON_FAIL, EDQUOT, FALSE, 24, 0 },
  { "edquot-resumed", ON_FAIL, EDQUOT, TRUE, 24, 0 },
  { "emfile", ON_FAIL, EMFILE, FALSE, 20, 0 },
  { "emfile-resumed", ON_FAIL, EMFILE, TRUE, 20, 0 },
  { "emfile-for-good", ON_FILL, EMFILE, FALSE, 20, 0 },
  { "eintr", ON_FAIL, EINTR, FALSE, 40, 0 },
  { "eintr-resumed", ON_FAIL, EINTR, TRUE, 40, 0 },
  { "short-copy", ON_SHORT, 0, TRUE, 10, FAULT_RIG_REMOTE },
  { "short-write", ON_SHORT, 0, FALSE, 10, 0 },
  { "short-write-resumed", ON_SHORT, 0, TRUE, 10, 0 },
  { "short-read", ON_SHORT_READ, 0, FALSE, 20, 0 },
  { "short-read-resumed", ON_SHORT_READ, 0, TRUE, 20, 0 },
};

static char *
make_plan (const Kind *kind, guint nth)
{
  static const char *const names[] = { "fail", "fill", "short", "short-read" };

  if (kind->code == 0)
    return g_strdup_printf ("%s=%u", names[kind->how], nth);
  return g_strdup_printf ("%s=%d,%u", names[kind->how], kind->code, nth);
}

/* ---- what a message has to name ---- */

/* Of an unfinished or temporary name the one that it is to have. */
static char *
get_plain_name (const char *path)
{
  g_autofree char *base = g_path_get_basename (path);
  gboolean is_other =
      base[0] == '.' && (g_str_has_suffix (base, ".tmp") || g_str_has_suffix (base, ".partial"));
  g_autofree char *name = g_strdup (is_other ? base + 1 : base);

  for (guint i = 0; is_other && i < 3; i++)
    {
      char *dot = strrchr (name, '.');

      if (dot != NULL)
        *dot = '\0';
    }
  /* That of a manifest has the run's identity too. */
  if (g_str_has_suffix (path, ".tmp") && strstr (path, ".manifest.json.") != NULL)
    *strrchr (name, '.') = '\0';
  return g_steal_pointer (&name);
}

static gboolean
is_named (FaultRig *rig, const FaultCall *call)
{
  g_autofree char *name = get_plain_name (call->path);
  g_autofree char *other = get_plain_name (call->other);

  if (call->path[0] == '\0') /* the folder itself */
    return strstr (rig->run->err, ".: ") != NULL || strstr (rig->run->err, "./") != NULL ||
           strstr (rig->run->err, rig->dir) != NULL || strstr (rig->run->err, "in-*") != NULL;
  return strstr (rig->run->err, name) != NULL ||
         (other[0] != '\0' && strstr (rig->run->err, other) != NULL);
}

/* What the look before the run could not read is the run's to say: it opens the file again. */
static gboolean
is_opened_again (const FaultCall *failed, GPtrArray *calls)
{
  guint at = 0;

  if (!g_ptr_array_find (calls, failed, &at))
    return FALSE;
  for (guint i = at + 1; i < calls->len; i++)
    {
      const FaultCall *call = g_ptr_array_index (calls, i);

      if (call->entry.call == INJECT_OPEN && call->entry.code == 0 &&
          strcmp (call->path, failed->path) == 0)
        return TRUE;
    }
  return FALSE;
}

/* Whether a run may go on: what is not needed, what is tried in another way, and with a message
 * what is tidied away, a checkpoint that another one stands in for, or one that is only looked at
 * to say what is left out. */
static gboolean
may_be_ignored (FaultRig *rig, const FaultCall *call, GPtrArray *calls)
{
  InjectCall kind = (InjectCall) call->entry.call;

  if (kind == INJECT_READ && strstr (call->path, "in-") != NULL && is_opened_again (call, calls))
    return TRUE;

  /* What is read ahead is opened again, and says then what is wrong; a manifest that cannot be
   * compared is written again. */
  if (kind == INJECT_OPEN &&
      (strstr (call->path, "in-") != NULL || g_str_has_suffix (call->path, ".manifest.json")))
    return TRUE;
  if (strstr (call->path, "status.json") != NULL || kind == INJECT_COPY || kind == INJECT_SYMLINK)
    return TRUE;
  if (kind == INJECT_OPEN && strcmp (call->path, "out.dlpipe") == 0)
    return (strstr (rig->run->err, "out.dlpipe: cannot list the folder: ") != NULL ||
            strstr (rig->run->err, "out.dlpipe: cannot open the folder: ") != NULL) &&
           strstr (rig->run->err, g_strerror (call->entry.code)) != NULL;
  if (strstr (call->path, "report.json") != NULL)
    return (kind == INJECT_READ || kind == INJECT_OPEN) && is_named (rig, call) &&
           strstr (rig->run->err, g_strerror (call->entry.code)) != NULL;
  if (strstr (call->path, "checkpoint-") != NULL)
    return (kind == INJECT_UNLINK || kind == INJECT_READ || kind == INJECT_OPEN) &&
           is_named (rig, call) && strstr (rig->run->err, g_strerror (call->entry.code)) != NULL;
  return FALSE;
}

/* ---- what must hold ---- */

static void
check_syncs (GPtrArray *calls, const char *what)
{
  for (guint i = 0; i < calls->len; i++)
    {
      const FaultCall *failed = g_ptr_array_index (calls, i);

      if ((failed->entry.call != INJECT_SYNC && failed->entry.call != INJECT_SYNC_FOLDER) ||
          failed->entry.code == 0 || failed->entry.code == EINTR)
        continue;
      for (guint k = i + 1; k < calls->len; k++)
        {
          const FaultCall *call = g_ptr_array_index (calls, k);

          if (call->entry.call == failed->entry.call && call->entry.inode == failed->entry.inode)
            g_error ("%s: %s of %s is called again after it failed", what,
                     fault_call_get_name (call), call->path);
        }
    }
}

/* Whether the message names what @call was about; where all calls from it on fail, any of them: the
 * first may be one that a run does without. */
static gboolean
is_one_named (FaultRig *rig, const Kind *kind, const FaultCall *call, GPtrArray *calls)
{
  gboolean named = is_named (rig, call);

  for (guint i = 0; i < calls->len && !named && kind->how == ON_FILL; i++)
    {
      const FaultCall *other = g_ptr_array_index (calls, i);

      named = other->entry.code == kind->code && is_named (rig, other);
    }
  return named;
}

static void
check_failure (FaultRig *rig,
               const Kind *kind,
               const FaultCall *call,
               GPtrArray *calls,
               const char *what)
{
  const LaunchRig *run = rig->run;

  if (run->killed_by != 0)
    g_error ("%s: killed by signal %d", what, run->killed_by);
  if (kind->code == 0 || kind->code == EINTR)
    {
      if (run->exit_code != 0)
        g_error ("%s: exit code %d:\n%s", what, run->exit_code, run->err);
      return;
    }
  if (run->exit_code == 0)
    {
      if (!may_be_ignored (rig, call, calls))
        g_error ("%s: ends with exit code 0:\n%s", what, run->err);
      return;
    }
  /* The only checkpoint there is. */
  if (run->exit_code == 3 && call->entry.call == INJECT_READ && strstr (call->path, "checkpoint-"))
    return;
  if (run->exit_code != 1 && run->exit_code != 2)
    g_error ("%s: exit code %d:\n%s", what, run->exit_code, run->err);
  if (strstr (run->err, g_strerror (kind->code)) == NULL || !is_one_named (rig, kind, call, calls))
    g_error ("%s: the message names not the file or not the error:\n%s", what, run->err);
}

static void
check_goes_on (FaultRig *rig, const char *what)
{
  fault_rig_run (rig, NULL, 0);
  if (rig->run->exit_code != 0)
    g_error ("%s: and then exit code %d:\n%s\nin %s", what, rig->run->exit_code, rig->run->err,
             rig->run->dir);
  fault_rig_check_output (rig, expected, what);
}

/* FALSE: there is no such call. */
static gboolean
fail_at (FaultRig *rig, const Kind *kind, guint nth)
{
  g_autofree char *plan = make_plan (kind, nth);
  g_autofree char *what = NULL;
  g_autoptr (GPtrArray) calls = NULL;
  const FaultCall *call;

  fault_rig_clear (rig);
  if (kind->is_resumed)
    {
      g_autofree char *before = g_strdup_printf ("kill-before=%d", g_test_rand_int_range (15, 150));

      fault_rig_run (rig, before, FAULT_RIG_GATES | kind->flags);
    }
  fault_rig_run (rig, plan, (kind->is_resumed ? 0 : FAULT_RIG_GATES) | kind->flags);
  calls = fault_rig_load_log (rig);
  call = fault_rig_find_fault (calls);
  if (call == NULL)
    return FALSE;

  what = g_strdup_printf ("%s, %s: %s %s%s%s", kind->name, plan, fault_call_get_name (call),
                          call->path, call->other[0] != '\0' ? " to " : "", call->other);
  check_failure (rig, kind, call, calls, what);
  check_syncs (calls, what);
  check_goes_on (rig, what);
  return TRUE;
}

static void
test_kind (gconstpointer data)
{
  const Kind *kind = data;
  FaultRig *rig = fault_rig_new (NULL);
  guint step = MAX (1, kind->step / launch_rig_scale (1));
  guint n = (guint) g_test_rand_int_range (0, (gint) step);
  guint runs = 0, misses = 0;

  for (; misses < RUNS_TO_BE_SURE; n += step)
    {
      g_assert_cmpuint (n, <, MANY_CALLS);
      if (fail_at (rig, kind, n))
        runs++;
      else
        misses++;
    }
  /* Steps may be longer than a run that has little left to do. */
  for (guint i = 0; runs == 0 && i < RUNS_TO_BE_SURE; i++)
    runs += fail_at (rig, kind, i);
  g_test_message ("%s: %u runs, calls 0 to %u in steps of %u", kind->name, runs, n, step);
  g_assert_cmpuint (runs, >, 0);
  fault_rig_free (rig);
}

int
main (int argc, char **argv)
{
  FaultRig *rig;
  int code;

  g_test_init (&argc, &argv, NULL);
  fault_rig_init (argc, argv);
  rig = fault_rig_new (NULL);
  expected = fault_rig_run_undisturbed (rig);
  fault_rig_free (rig);
  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    {
      g_autofree char *path = g_strconcat ("/errors/", kinds[i].name, NULL);

      g_test_add_data_func (path, &kinds[i], test_kind);
    }
  code = g_test_run ();

  g_free (expected);
  return code;
}
