/* SPDX-License-Identifier: MIT */
#pragma once

#include "msgpack-value.h"

G_BEGIN_DECLS

/* Deepest path. */
#define MSGPACK_MAX_PATH_DEPTH 64

/* Which values of a record are wanted: a tree of keys. Immutable once it is made. */
typedef struct _MsgpackPlan MsgpackPlan;

/* A value within the bytes of its record; kind MSGPACK_NONE: it is not there. */
typedef struct
{
  MsgpackHead head;
  const guint8 *start;
  const guint8 *data; /* behind its head */
} MsgpackValue;

/* What is being read of a record; one for each worker. */
typedef struct
{
  MsgpackValue *values; /* by path */
  guint8 *seen;         /* by key: whether the map that it is in had it already */
  guint64 duplicates;   /* keys of the record that came once more */
} MsgpackRecord;

/* @paths: (element-type utf8): each "a.b", as fields= has them. NULL with @why (transfer full). */
MsgpackPlan *msgpack_plan_new (GPtrArray *paths, char **why);
void msgpack_plan_free (MsgpackPlan *self);

void msgpack_record_init (MsgpackRecord *self, const MsgpackPlan *plan);
void msgpack_record_clear (MsgpackRecord *self);
/* @data: a map as a whole, as msgpack_skip() has passed over. */
void msgpack_record_read (MsgpackRecord *self,
                          const MsgpackPlan *plan,
                          const guint8 *data,
                          const guint8 *end);

/* (transfer full): the keys of a map that are texts, at most @max of them. */
char **msgpack_list_keys (const guint8 *data, const guint8 *end, guint max);

G_END_DECLS
