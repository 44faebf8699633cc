/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* A configuration of the model of record order, and what the model says of it: a line of
 * configs.jsonl. */
typedef struct
{
  char *json;       /* the configuration, for the model and for messages */
  GVariant *config; /* a{sv} */
  char *error;      /* (nullable): what it must fail with */
  guint64 batches;
  guint64 records;
  char *sha256;
  char *first;
} OrderConfig;

OrderConfig *order_config_new (const char *line);
void order_config_free (OrderConfig *self);

guint64 order_config_get_seed (const OrderConfig *self);
guint order_config_get_world_size (const OrderConfig *self);
/* Whether the batches of all stages may be made by one element behind them. */
gboolean order_config_has_one_rule (const OrderConfig *self);
/* Files with that many rows in @folder. */
void order_config_write_files (const OrderConfig *self, const char *folder);
/* (transfer full): text of a graph that ends in a batch named b and an app-sink named k. @behind:
 * batches are made behind the stages, not before. */
char *order_config_make_graph (const OrderConfig *self, const char *folder, gboolean behind);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (OrderConfig, order_config_free)

G_END_DECLS
