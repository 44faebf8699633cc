/* SPDX-License-Identifier: MIT */

/* The power is cut at any call of a run, and the disk has of what was not synced whatever it may
 * have: the same command then ends in the same output. */

#include <errno.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>

#include "power-model.h"

#define STATES 200
#define STATES_OF_FAILURE 5
#define CALLS_OF_FAILURE 20 /* behind which it ends */
#define STATES_OF_PUBLISH 25
#define STATES_OF_RESTART 40
#define CALLS_OF_RESTART 130 /* in which it discards */
#define STATES_A_RECORDING 25
#define FIRST_CALLS 12
#define STATES_A_KILL 4
#define MOST_CUTS 3 /* of a run that goes on */

static char *expected;

/* A run that was watched. */
typedef struct
{
  PowerModel *base;
  GPtrArray *calls;
  guint first, end; /* where the power is cut */
  gboolean is_finished;
  FaultRigFlags flags; /* of the run that goes on, too */
} Recording;

static void
recording_clear (Recording *self)
{
  g_clear_pointer (&self->base, power_model_free);
  g_clear_pointer (&self->calls, g_ptr_array_unref);
}

static void
record (Recording *self, FaultRig *rig, const char *plan, FaultRigFlags flags)
{
  recording_clear (self);
  self->base = power_model_new (rig->dir);
  fault_rig_run (rig, plan, flags | FAULT_RIG_DATA);
  self->calls = fault_rig_load_log (rig);
  self->first = 0;
  self->end = self->calls->len;
  self->is_finished = rig->run->exit_code == 0;
}

/* What the one before had not synced may still be lost. */
static void
record_further (Recording *self, FaultRig *rig, FaultRigFlags flags)
{
  GPtrArray *before = self->calls;

  fault_rig_run (rig, NULL, flags | FAULT_RIG_DATA);
  self->calls = fault_rig_load_log (rig);
  self->first = before->len;
  self->is_finished = rig->run->exit_code == 0;
  for (guint i = before->len; i > 0; i--)
    g_ptr_array_insert (self->calls, 0, g_ptr_array_steal_index (before, i - 1));
  self->end = self->calls->len;
  g_ptr_array_unref (before);
}

/* @kill: the call before which it is killed, and gone on with; -1: none. */
static void
record_killed (Recording *self, FaultRig *rig, gint kill)
{
  g_autofree char *plan = kill >= 0 ? g_strdup_printf ("kill-before=%d", kill) : NULL;

  self->flags = g_test_rand_int_range (0, 3) == 0 ? FAULT_RIG_REMOTE : 0;
  fault_rig_clear (rig);
  record (self, rig, plan, FAULT_RIG_GATES | self->flags);
  if (kill >= 0)
    record_further (self, rig, self->flags);
  if (!self->is_finished)
    g_error ("exit code %d:\n%s", rig->run->exit_code, rig->run->err);
}

static void
say_calls (const Recording *self, guint n)
{
  for (guint i = n > 40 ? n - 40 : 0; i < n; i++)
    {
      const FaultCall *call = g_ptr_array_index (self->calls, i);

      if (call->entry.call != INJECT_READ && call->entry.call != INJECT_LOCK &&
          call->entry.call != INJECT_OPEN)
        g_test_message ("  %u %s %s %s (%d)", i, fault_call_get_name (call), call->path,
                        call->other, call->entry.code);
    }
}

/* Leaves in the rig what is on disk after a cut at a random call. */
static char *
cut_power (const Recording *self, FaultRig *rig)
{
  guint32 seed = (guint32) g_test_rand_int ();
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  g_autoptr (PowerModel) disk = power_model_copy (self->base);
  gboolean at_end = g_rand_int_range (rand, 0, 20) == 0;
  guint n = at_end ? self->calls->len :
                     (guint) g_rand_int_range (rand, (gint) self->first, (gint) self->end);
  g_autofree char *kept = g_strconcat (rig->dir, ".state", NULL);

  power_model_take_in (disk, self->calls, n);
  power_model_lose (disk, rand);
  power_model_write (disk, rig->dir);
  /* For whoever looks into a failure. */
  if (g_getenv ("DLPIPE_TEST_KEEP") != NULL)
    {
      g_mkdir (kept, 0700);
      power_model_write (disk, kept);
      say_calls (self, n);
    }
  if (at_end && self->is_finished)
    fault_rig_check_output (rig, expected, "on disk when the run was finished");
  return g_strdup_printf ("cut at call %u of %u, seed %u", n, self->calls->len, seed);
}

/* Cut once more while it recovers, or more often. */
static void
go_on (const Recording *first, FaultRig *rig)
{
  Recording again = { NULL };
  g_autoptr (GString) what = g_string_new (NULL);
  guint cuts =
      g_test_rand_int_range (0, 3) == 0 ? (guint) g_test_rand_int_range (2, MOST_CUTS + 1) : 1;

  for (guint i = 0; i < cuts; i++)
    {
      g_autofree char *cut = NULL;

      if (i > 0)
        record (&again, rig, NULL, first->flags);
      if (i > 0 && !again.is_finished)
        g_error ("%s: exit code %d:\n%s\nin %s", what->str, rig->run->exit_code, rig->run->err,
                 rig->dir);
      cut = cut_power (i > 0 ? &again : first, rig);
      g_string_append_printf (what, "%s%s", i > 0 ? ", then " : "", cut);
    }
  recording_clear (&again);

  fault_rig_run (rig, NULL, first->flags);
  if (rig->run->exit_code != 0)
    g_error ("%s: exit code %d:\n%s\nin %s", what->str, rig->run->exit_code, rig->run->err,
             rig->dir);
  fault_rig_check_output (rig, expected, what->str);
}

static void
test_states (void)
{
  FaultRig *rig = fault_rig_new (NULL);
  Recording recording = { NULL };
  guint n = launch_rig_scale (STATES);

  for (guint i = 0; i < n; i++)
    {
      if (i % STATES_A_RECORDING == 0)
        record_killed (&recording, rig, g_test_rand_bit () ? g_test_rand_int_range (10, 150) : -1);
      go_on (&recording, rig);
    }
  g_test_message ("%u states", n);
  recording_clear (&recording);
  fault_rig_free (rig);
}

/* What a run made first, and did not live to sync, the next one finds. */
static void
test_killed_at_once (void)
{
  FaultRig *rig = fault_rig_new (NULL);
  Recording recording = { NULL };

  /* In a folder in which nobody else makes a name durable. */
  rig->state = "out.dlpipe/deeper.dlpipe";
  rig->options[2] = "--state";
  rig->options[3] = rig->state;

  for (gint kill = 0; kill < FIRST_CALLS; kill++)
    {
      record_killed (&recording, rig, kill);
      for (guint i = 0; i < launch_rig_scale (STATES_A_KILL); i++)
        go_on (&recording, rig);
    }
  recording_clear (&recording);
  fault_rig_free (rig);
}

/* A call failed, perhaps a sync, which the kernel does not make good: soon afterwards the power is
 * cut. */
static void
test_failed (void)
{
  FaultRig *rig = fault_rig_new (NULL);
  Recording recording = { NULL };
  guint n = launch_rig_scale (STATES_OF_FAILURE);

  for (guint i = 0; i < n; i++)
    {
      g_autofree char *plan = g_strdup_printf ("fail=%d,%d", EIO, g_test_rand_int_range (0, 500));

      fault_rig_clear (rig);
      record (&recording, rig, plan, FAULT_RIG_GATES);
      recording.first = recording.end - MIN (recording.end, CALLS_OF_FAILURE);
      go_on (&recording, rig);
    }
  recording_clear (&recording);
  fault_rig_free (rig);
}

/* Within the calls that a random one of the files takes. */
static void
aim_at_publish (Recording *self)
{
  g_autoptr (GArray) links = g_array_new (FALSE, FALSE, sizeof (guint));

  for (guint i = 0; i < self->calls->len; i++)
    if (((FaultCall *) self->calls->pdata[i])->entry.call == INJECT_LINK)
      g_array_append_val (links, i);
  g_assert_cmpuint (links->len, >=, 4);
  self->first = g_array_index (links, guint, g_test_rand_int_range (0, (gint32) links->len)) + 1;
  self->end = self->first + 3;
}

/* Where a rename that replaces nothing takes two calls. */
static void
test_published_elsewhere (void)
{
  FaultRig *rig = fault_rig_new (NULL);
  Recording recording = { NULL };
  guint n = launch_rig_scale (STATES_OF_PUBLISH);

  for (guint i = 0; i < n; i++)
    {
      if (i % STATES_A_RECORDING == 0)
        {
          recording.flags = FAULT_RIG_REMOTE;
          fault_rig_clear (rig);
          record (&recording, rig, NULL, FAULT_RIG_GATES | FAULT_RIG_REMOTE);
        }
      aim_at_publish (&recording);
      go_on (&recording, rig);
    }
  recording_clear (&recording);
  fault_rig_free (rig);
}

/* What a finished run left is discarded, and all of it made again. */
static void
test_restart (void)
{
  FaultRig *rig = fault_rig_new (NULL);
  Recording recording = { NULL };
  guint n = launch_rig_scale (STATES_OF_RESTART);

  for (guint i = 0; i < n; i++)
    {
      if (i % STATES_A_RECORDING == 0)
        {
          rig->options[2] = NULL;
          fault_rig_clear (rig);
          fault_rig_run (rig, NULL, FAULT_RIG_GATES);
          rig->options[2] = "--restart";
          record (&recording, rig, NULL, FAULT_RIG_GATES);
          recording.end = MIN (recording.end, CALLS_OF_RESTART);
        }
      go_on (&recording, rig);
    }
  recording_clear (&recording);
  fault_rig_free (rig);
}

/* ---- the model itself ---- */

static void
add_call (GPtrArray *calls, InjectCall kind, const char *path, const char *other, const char *text)
{
  FaultCall *call = g_new0 (FaultCall, 1);

  call->entry.call = (uint8_t) kind;
  call->entry.inode = 1;
  call->path = g_strdup (path);
  call->other = g_strdup (other);
  if (text != NULL)
    {
      call->entry.length = strlen (text);
      call->data = g_bytes_new (text, strlen (text));
    }
  g_ptr_array_add (calls, call);
}

static void
free_call (gpointer data)
{
  FaultCall *call = data;

  g_free (call->path);
  g_free (call->other);
  g_clear_pointer (&call->data, g_bytes_unref);
  g_free (call);
}

/* The file as a letter for each sector, "-" for none. */
static char *
describe (const char *dir, const char *name)
{
  g_autofree char *path = g_build_filename (dir, name, NULL);
  g_autofree char *text = NULL;
  GString *sectors = g_string_new (name);
  gsize size;

  if (!g_file_get_contents (path, &text, &size, NULL))
    return g_string_free (g_string_append (sectors, "-"), FALSE);
  for (gsize at = 0; at < size; at += 512)
    g_string_append_c (sectors, text[at] != '\0' ? text[at] : '0');
  return g_string_free (sectors, FALSE);
}

/* What is on disk behind @n calls, in many draws, sorted. */
static char *
draw_all (GPtrArray *calls, guint n)
{
  g_autofree char *dir = g_dir_make_tmp ("dlpipe-power-XXXXXX", NULL);
  g_autoptr (PowerModel) empty = power_model_new (dir);
  g_autoptr (GRand) rand = g_rand_new_with_seed (n);
  g_autoptr (GTree) seen = g_tree_new_full ((GCompareDataFunc) g_strcmp0, NULL, g_free, NULL);
  GString *all = g_string_new (NULL);

  for (guint i = 0; i < 400; i++)
    {
      g_autoptr (PowerModel) disk = power_model_copy (empty);
      g_autofree char *a = NULL;
      g_autofree char *b = NULL;

      power_model_take_in (disk, calls, n);
      power_model_lose (disk, rand);
      power_model_write (disk, dir);
      a = describe (dir, "a");
      b = describe (dir, "b");
      g_tree_insert (seen, g_strconcat (a, b, NULL), NULL);
    }
  for (GTreeNode *node = g_tree_node_first (seen); node != NULL; node = g_tree_node_next (node))
    g_string_append_printf (all, "%s%s", all->len > 0 ? " " : "", (char *) g_tree_node_key (node));
  launch_rig_remove (dir);
  return g_string_free (all, FALSE);
}

static void
assert_draws (GPtrArray *calls, guint n, const char *all)
{
  g_autofree char *draws = draw_all (calls, n);

  g_assert_cmpstr (draws, ==, all);
}

static void
test_model (void)
{
  g_autoptr (GPtrArray) calls = g_ptr_array_new_with_free_func (free_call);
  g_autofree char *text = g_strnfill (1024, 'x');

  add_call (calls, INJECT_CREATE, "a", "", NULL);
  assert_draws (calls, 1, "a-b- ab-");
  add_call (calls, INJECT_WRITE, "a", "", text);
  assert_draws (calls, 2, "a-b- a00b- a0xb- ab- axb- axxb-");
  add_call (calls, INJECT_SYNC, "a", "", NULL);
  assert_draws (calls, 3, "a-b- axxb-");
  add_call (calls, INJECT_SYNC_FOLDER, "", "", NULL);
  assert_draws (calls, 4, "axxb-");
  add_call (calls, INJECT_RENAME, "a", "b", NULL);
  assert_draws (calls, 5, "a-bxx axxb-");
  add_call (calls, INJECT_TRUNCATE, "b", "", NULL);
  assert_draws (calls, 6, "a-b a-bxx ab- axxb-");
  add_call (calls, INJECT_SYNC_FOLDER, "", "", NULL);
  assert_draws (calls, 7, "a-b a-bxx");
  add_call (calls, INJECT_UNLINK, "b", "", NULL);
  assert_draws (calls, 8, "a-b a-b- a-bxx");
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
  g_test_add_func ("/power/model", test_model);
  g_test_add_func ("/power/states", test_states);
  g_test_add_func ("/power/killed-at-once", test_killed_at_once);
  g_test_add_func ("/power/failed", test_failed);
  g_test_add_func ("/power/published-elsewhere", test_published_elsewhere);
  g_test_add_func ("/power/restart", test_restart);
  code = g_test_run ();

  g_free (expected);
  return code;
}
