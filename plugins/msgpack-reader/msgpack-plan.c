/* SPDX-License-Identifier: MIT */

#include "msgpack-plan.h"

#include <string.h>

#include "reader-fields.h"

#define NO_VALUE G_MAXUINT

typedef struct
{
  char *name;
  gsize size;
  guint value;    /* that it is; NO_VALUE: only others in it are wanted */
  guint n_within; /* keys below it, which follow it */
} Key;

struct _MsgpackPlan
{
  GArray *keys;  /* of Key: each before those below it; the first one is the record */
  guint *values; /* by path: of equal ones the first */
  guint n_paths;
};

static void
clear_key (gpointer key)
{
  g_free (((Key *) key)->name);
}

static const Key *
get_key (const MsgpackPlan *self, guint index)
{
  return &g_array_index (self->keys, Key, index);
}

/* ---- making ---- */

/* The key below @above with that name, made if there is none. */
static guint
add_key (MsgpackPlan *self, const guint *above, guint n_above, const char *name)
{
  guint parent = above[n_above - 1];
  guint end = parent + 1 + get_key (self, parent)->n_within;
  Key made = { g_strdup (name), strlen (name), NO_VALUE, 0 };

  for (guint i = parent + 1; i < end; i += 1 + get_key (self, i)->n_within)
    if (strcmp (get_key (self, i)->name, name) == 0)
      {
        g_free (made.name);
        return i;
      }
  for (guint i = 0; i < n_above; i++)
    g_array_index (self->keys, Key, above[i]).n_within++;
  g_array_insert_val (self->keys, end, made);
  return end;
}

static gboolean
add_path (MsgpackPlan *self, const char *path, guint value, char **why)
{
  g_autoptr (GPtrArray) names = reader_field_split_path (path);
  guint above[MSGPACK_MAX_PATH_DEPTH + 1] = { 0 };
  Key *key;

  if (names->len > MSGPACK_MAX_PATH_DEPTH)
    {
      *why = g_strdup_printf ("“%s” has more than %u names with dots between", path,
                              MSGPACK_MAX_PATH_DEPTH);
      return FALSE;
    }
  for (guint i = 0; i < names->len; i++)
    {
      if (*(const char *) names->pdata[i] == '\0')
        {
          *why = g_strdup_printf ("“%s” has an empty name", path);
          return FALSE;
        }
      above[i + 1] = add_key (self, above, i + 1, names->pdata[i]);
    }
  key = &g_array_index (self->keys, Key, above[names->len]);
  if (key->value == NO_VALUE)
    key->value = value;
  self->values[value] = key->value;
  return TRUE;
}

MsgpackPlan *
msgpack_plan_new (GPtrArray *paths, char **why)
{
  MsgpackPlan *self = g_new0 (MsgpackPlan, 1);
  Key root = { g_strdup (""), 0, NO_VALUE, 0 };

  self->keys = g_array_new (FALSE, FALSE, sizeof (Key));
  g_array_set_clear_func (self->keys, clear_key);
  g_array_append_val (self->keys, root);
  self->values = g_new0 (guint, MAX (paths->len, 1));
  self->n_paths = paths->len;
  for (guint i = 0; i < paths->len; i++)
    if (!add_path (self, paths->pdata[i], i, why))
      {
        msgpack_plan_free (self);
        return NULL;
      }
  return self;
}

void
msgpack_plan_free (MsgpackPlan *self)
{
  g_array_unref (self->keys);
  g_free (self->values);
  g_free (self);
}

/* ---- reading ---- */

void
msgpack_record_init (MsgpackRecord *self, const MsgpackPlan *plan)
{
  self->values = g_new0 (MsgpackValue, MAX (plan->n_paths, 1));
  self->seen = g_new0 (guint8, plan->keys->len);
  self->duplicates = 0;
}

void
msgpack_record_clear (MsgpackRecord *self)
{
  g_clear_pointer (&self->values, g_free);
  g_clear_pointer (&self->seen, g_free);
}

/* Of a key that comes once more nothing counts of what it had before. */
static void
forget (MsgpackRecord *self, const MsgpackPlan *plan, guint index)
{
  guint end = index + 1 + get_key (plan, index)->n_within;

  for (guint i = index; i < end; i++)
    {
      self->seen[i] = FALSE;
      if (get_key (plan, i)->value != NO_VALUE)
        self->values[get_key (plan, i)->value].head.kind = MSGPACK_NONE;
    }
}

static guint
find_key (const MsgpackPlan *plan, guint above, const guint8 *name, guint64 size)
{
  guint end = above + 1 + get_key (plan, above)->n_within;

  for (guint i = above + 1; i < end; i += 1 + get_key (plan, i)->n_within)
    if (get_key (plan, i)->size == size && memcmp (get_key (plan, i)->name, name, size) == 0)
      return i;
  return 0;
}

static gboolean
is_text (const MsgpackHead *head)
{
  return head->kind == MSGPACK_STRING || head->kind == MSGPACK_BINARY;
}

static const guint8 *read_map (MsgpackRecord *self,
                               const MsgpackPlan *plan,
                               guint above,
                               const guint8 *p,
                               const guint8 *end);

/* As deep as the plan goes. */
static const guint8 *
read_value (MsgpackRecord *self,
            const MsgpackPlan *plan,
            guint key,
            const guint8 *p,
            const guint8 *end)
{
  MsgpackValue value = { .start = p };
  const Key *wanted = get_key (plan, key);

  if (self->seen[key])
    {
      self->duplicates++;
      forget (self, plan, key);
    }
  self->seen[key] = TRUE;
  msgpack_read_head (p, end, &value.head);
  value.data = p + value.head.size;
  if (wanted->value != NO_VALUE)
    self->values[wanted->value] = value;
  if (wanted->n_within > 0 && value.head.kind == MSGPACK_MAP)
    return read_map (self, plan, key, p, end);
  msgpack_skip (&p, end);
  return p;
}

static const guint8 *
read_map (MsgpackRecord *self,
          const MsgpackPlan *plan,
          guint above,
          const guint8 *p,
          const guint8 *end)
{
  MsgpackHead map, name;

  msgpack_read_head (p, end, &map);
  p += map.size;
  for (guint64 i = 0; i < map.n / 2; i++)
    {
      guint key = 0;

      msgpack_read_head (p, end, &name);
      if (is_text (&name))
        key = find_key (plan, above, p + name.size, name.length);
      msgpack_skip (&p, end);
      if (key != 0)
        p = read_value (self, plan, key, p, end);
      else
        msgpack_skip (&p, end);
    }
  return p;
}

void
msgpack_record_read (MsgpackRecord *self,
                     const MsgpackPlan *plan,
                     const guint8 *data,
                     const guint8 *end)
{
  self->duplicates = 0;
  forget (self, plan, 0);
  read_map (self, plan, 0, data, end);
  for (guint i = 0; i < plan->n_paths; i++)
    if (plan->values[i] != i)
      self->values[i] = self->values[plan->values[i]];
}

char **
msgpack_list_keys (const guint8 *data, const guint8 *end, guint max)
{
  g_autoptr (GStrvBuilder) keys = g_strv_builder_new ();
  MsgpackHead map, name;
  guint n = 0;

  msgpack_read_head (data, end, &map);
  data += map.size;
  for (guint64 i = 0; i < map.n / 2 && n < max; i++)
    {
      msgpack_read_head (data, end, &name);
      if (is_text (&name))
        {
          g_autofree char *text =
              g_utf8_make_valid ((const char *) data + name.size, (gssize) name.length);

          g_strv_builder_add (keys, text);
          n++;
        }
      msgpack_skip (&data, end);
      msgpack_skip (&data, end);
    }
  return g_strv_builder_end (keys);
}
