/* SPDX-License-Identifier: MIT */

#include "fault-rig.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N_FILES 4
#define N_RECORDS 60

static const char job[] = "file-source location=in-*.jsonl ! jsonl-reader field=text "
                          "max-bad-ratio=0.5 ! shuffle size=20 ! "
                          "tee name=t ! tokenizer model=tiny.tiktoken pattern=gpt2 eod=none ! "
                          "megatron-sink location=out  t. ! jsonl-sink location=lines.jsonl";

static const char gates[] = "in-1.jsonl=1 in-2.jsonl=2 in-3.jsonl=3";

static char *library;

void
fault_rig_init (int argc, char **argv)
{
  if (argc != 4)
    g_error ("usage: %s PROGRAM DATA LIBRARY", argv[0]);
  library = g_canonicalize_filename (argv[3], NULL);
  launch_rig_init (argc - 1, argv);
  /* Nothing here has to outlive the machine, and there is much of it. */
  if (g_file_test ("/dev/shm", G_FILE_TEST_IS_DIR) && g_access ("/dev/shm", W_OK) == 0)
    g_setenv ("TMPDIR", "/dev/shm", TRUE);
}

/* ---- inputs ---- */

/* All bytes, and a pair for each letter, so that there is something to merge. */
static char *
make_vocabulary (void)
{
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < 256 + 26; i++)
    {
      const guint8 pair[] = { i < 256 ? (guint8) i : (guint8) ('a' + i - 256), 'o' };
      g_autofree char *base64 = g_base64_encode (pair, i < 256 ? 1 : 2);

      g_string_append_printf (text, "%s %u\n", base64, i);
    }
  return g_string_free (text, FALSE);
}

static char *
make_lines (guint file)
{
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < N_RECORDS; i++)
    g_string_append_printf (text, "{\"text\": \"word %u of %u%.*s\"}\n", i, file,
                            (int) (i * 7 % 19), " to go on so long ");
  if (file == 1)
    g_string_append (text, "{\"text\": bad}\n");
  return g_string_free (text, FALSE);
}

static void
write_inputs (FaultRig *self)
{
  g_autofree char *vocabulary = make_vocabulary ();

  launch_rig_write (self->run, "tiny.tiktoken", vocabulary, -1);
  for (guint i = 0; i < N_FILES; i++)
    {
      g_autofree char *name = g_strdup_printf ("in-%u.jsonl", i);
      g_autofree char *lines = make_lines (i);

      launch_rig_write (self->run, name, lines, -1);
    }
}

FaultRig *
fault_rig_new (const char *graph)
{
  FaultRig *self = g_new0 (FaultRig, 1);

  self->run = launch_rig_new ();
  self->dir = realpath (self->run->dir, NULL);
  self->log = g_strconcat (self->run->dir, ".log", NULL);
  self->graph = graph != NULL ? graph : job;
  self->state = "out.dlpipe";
  self->options[0] = "--checkpoint-every";
  self->options[1] = "4ms";
  write_inputs (self);
  return self;
}

void
fault_rig_free (FaultRig *self)
{
  g_unlink (self->log);
  launch_rig_free (self->run);
  free (self->dir);
  g_free (self->log);
  g_free (self);
}

void
fault_rig_clear (FaultRig *self)
{
  launch_rig_clear (self->run);
  write_inputs (self);
}

/* ---- running ---- */

static void
set_or_unset (const char *name, const char *value)
{
  if (value != NULL)
    g_setenv (name, value, TRUE);
  else
    g_unsetenv (name);
}

static void
set_environment (FaultRig *self, const char *plan, FaultRigFlags flags)
{
  g_autofree char *slow = g_strdup_printf ("%u", self->slow_us);

  g_setenv ("DLPIPE_INJECT_SLOW", slow, TRUE);
  set_or_unset ("DLPIPE_INJECT_DIR", self->dir);
  set_or_unset ("DLPIPE_INJECT_LOG", self->log);
  set_or_unset ("DLPIPE_INJECT", plan);
  set_or_unset ("DLPIPE_INJECT_GATES", (flags & FAULT_RIG_GATES) ? gates : NULL);
  set_or_unset ("DLPIPE_INJECT_DATA", (flags & FAULT_RIG_DATA) ? "1" : NULL);
  set_or_unset ("DLPIPE_INJECT_REMOTE", (flags & FAULT_RIG_REMOTE) ? "1" : NULL);
}

void
fault_rig_start (FaultRig *self, const char *plan, FaultRigFlags flags)
{
  g_autoptr (GPtrArray) arguments = g_ptr_array_new ();

  g_ptr_array_add (arguments, (gpointer) "--progress");
  g_ptr_array_add (arguments, (gpointer) "none");
  for (guint i = 0; i < G_N_ELEMENTS (self->options) && self->options[i] != NULL; i++)
    g_ptr_array_add (arguments, (gpointer) self->options[i]);
  g_ptr_array_add (arguments, (gpointer) self->graph);
  g_ptr_array_add (arguments, NULL);

  g_unlink (self->log);
  set_environment (self, plan, flags);
  g_setenv ("LD_PRELOAD", library, TRUE);
  launch_rig_start (self->run, (const char *const *) arguments->pdata, self->setup);
  g_unsetenv ("LD_PRELOAD");
}

void
fault_rig_run (FaultRig *self, const char *plan, FaultRigFlags flags)
{
  fault_rig_start (self, plan, flags);
  if (!launch_rig_wait (self->run, 60 * G_USEC_PER_SEC))
    g_error ("the run hangs, with %s:\n%s\nin %s", plan != NULL ? plan : "nothing", self->graph,
             self->dir);
}

/* ---- output ---- */

static gboolean
has_any (const char *line, const char *const *words)
{
  for (; *words != NULL; words++)
    if (strstr (line, *words) != NULL)
      return TRUE;
  return FALSE;
}

/* A manifest but for what each run draws; of a report what says what came out. */
static void
append_lines (GString *all, const char *text, const char *const *only, const char *const *but)
{
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);

  for (guint i = 0; lines[i] != NULL; i++)
    if ((only == NULL || has_any (lines[i], only)) && (but == NULL || !has_any (lines[i], but)))
      g_string_append_printf (all, "%s\n", lines[i]);
}

static void
append_file (FaultRig *self, GString *all, const char *name, const char *text, gsize size)
{
  static const char *const drawn[] = { "\"run-id\"", "\"xxh3-manifest\"", "\"tokenizer-file\"",
                                       NULL };
  static const char *const certain[] = { "\"digest\"", "\"exit-code\"", NULL };
  static const char *const counted[] = { "\"digest\"",      "\"records\"",   "\"tokens\"",
                                         "\"bad-records\"", "\"exit-code\"", NULL };

  g_string_append_printf (all, "== %s\n", name);
  if (g_str_has_suffix (name, ".manifest.json"))
    append_lines (all, text, NULL, drawn);
  else if (strcmp (name, "report.json") == 0)
    append_lines (all, text, self->is_cut ? certain : counted, NULL);
  else
    g_string_append_len (all, text, (gssize) size);
}

static gboolean
is_output (const char *name, gboolean is_state)
{
  static const char *const inputs[] = { "in-", "tiny.tiktoken", NULL };

  /* Of the state what belongs to others. */
  if (is_state)
    return strcmp (name, "report.json") == 0 || g_str_has_prefix (name, "quarantine");
  return name[0] != '.' && !has_any (name, inputs);
}

static int
compare_names (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *) a, *(const char *const *) b);
}

static void
append_folder (FaultRig *self, GString *all, const char *path, gboolean is_state)
{
  g_autoptr (GDir) dir = g_dir_open (path, 0, NULL);
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  const char *name;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    g_ptr_array_add (names, g_strdup (name));
  g_ptr_array_sort (names, compare_names);
  for (guint i = 0; i < names->len; i++)
    {
      g_autofree char *full = NULL;
      g_autofree char *text = NULL;
      gsize size;

      name = names->pdata[i];
      full = g_build_filename (path, name, NULL);
      if (g_file_test (full, G_FILE_TEST_IS_DIR))
        append_folder (self, all, full, g_str_has_suffix (name, ".dlpipe"));
      else if (is_output (name, is_state) && g_file_get_contents (full, &text, &size, NULL))
        append_file (self, all, name, text, size);
    }
}

char *
fault_rig_read_output (FaultRig *self)
{
  GString *all = g_string_new (NULL);

  append_folder (self, all, self->run->dir, FALSE);
  for (gsize i = 0; i < all->len; i++)
    if (all->str[i] == '\0')
      all->str[i] = '\1';
  return g_string_free (all, FALSE);
}

/* Whatever is half written has a name that begins with a dot. */
static void
check_no_rest (FaultRig *self, const char *name, const char *what)
{
  g_autofree char *list = launch_rig_list (self->run, name);

  if (list[0] == '.' || strstr (list, " .") != NULL)
    g_error ("%s: left behind: %s", what, list);
}

void
fault_rig_check_output (FaultRig *self, const char *expected, const char *what)
{
  g_autofree char *output = fault_rig_read_output (self);
  gsize at = 0;

  if (strcmp (output, expected) != 0)
    {
      while (output[at] != '\0' && output[at] == expected[at])
        at++;
      g_error ("%s: another output, at byte %zu:\n%.200s\nexpected:\n%.200s\n%s\nin %s", what, at,
               output + (at < 60 ? 0 : at - 60), expected + (at < 60 ? 0 : at - 60), self->run->err,
               self->run->dir);
    }
  check_no_rest (self, NULL, what);
  check_no_rest (self, self->state, what);
}

char *
fault_rig_run_undisturbed (FaultRig *self)
{
  char *output;

  fault_rig_run (self, NULL, FAULT_RIG_GATES);
  if (self->run->exit_code != 0)
    g_error ("exit code %d:\n%s", self->run->exit_code, self->run->err);
  output = fault_rig_read_output (self);
  g_assert_nonnull (strstr (output, "== out.bin"));
  g_assert_nonnull (strstr (output, "== lines.jsonl"));
  g_assert_nonnull (strstr (output, "== quarantine.jsonl"));
  fault_rig_clear (self);
  return output;
}

/* ---- log ---- */

static void
fault_call_free (gpointer data)
{
  FaultCall *self = data;

  g_free (self->path);
  g_free (self->other);
  g_clear_pointer (&self->data, g_bytes_unref);
  g_free (self);
}

static char *
make_relative (FaultRig *self, const char *path, gsize size)
{
  gsize n = strlen (self->dir);

  if (size <= n)
    return g_strdup ("");
  return g_strndup (path + n + 1, size - n - 1);
}

GPtrArray *
fault_rig_load_log (FaultRig *self)
{
  GPtrArray *calls = g_ptr_array_new_with_free_func (fault_call_free);
  g_autofree char *text = NULL;
  gsize size = 0;

  if (!g_file_get_contents (self->log, &text, &size, NULL))
    return calls;
  for (gsize at = 0; at + sizeof (InjectEntry) <= size;)
    {
      FaultCall *call = g_new0 (FaultCall, 1);
      const char *rest = text + at + sizeof (InjectEntry);

      memcpy (&call->entry, text + at, sizeof call->entry);
      g_assert_cmpuint (call->entry.size, <=, size - at);
      call->path = make_relative (self, rest, call->entry.path_size);
      rest += call->entry.path_size;
      call->other = call->entry.call == INJECT_SYMLINK ?
                        g_strndup (rest, call->entry.other_size) :
                        make_relative (self, rest, call->entry.other_size);
      rest += call->entry.other_size;
      if (call->entry.data_size > 0)
        call->data = g_bytes_new (rest, call->entry.data_size);
      g_ptr_array_add (calls, call);
      at += call->entry.size;
    }
  return calls;
}

const char *
fault_call_get_name (const FaultCall *self)
{
  static const char *const names[INJECT_N_CALLS] = {
    [INJECT_OPEN] = "open",       [INJECT_CREATE] = "create",       [INJECT_READ] = "read",
    [INJECT_WRITE] = "write",     [INJECT_COPY] = "copy",           [INJECT_TRUNCATE] = "truncate",
    [INJECT_SYNC] = "sync",       [INJECT_RENAME] = "rename",       [INJECT_LINK] = "link",
    [INJECT_SYMLINK] = "symlink", [INJECT_UNLINK] = "unlink",       [INJECT_MKDIR] = "mkdir",
    [INJECT_LOCK] = "lock",       [INJECT_SYNC_FOLDER] = "sync-dir"
  };

  return names[self->entry.call];
}

const FaultCall *
fault_rig_find_fault (GPtrArray *calls)
{
  for (guint i = 0; i < calls->len; i++)
    {
      const FaultCall *call = g_ptr_array_index (calls, i);

      if (call->entry.is_fault)
        return call;
    }
  return NULL;
}
