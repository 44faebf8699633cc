/* SPDX-License-Identifier: MIT */

#pragma once

#include <string.h>

#include "json-record.h"

#define JSON_INLINE static inline __attribute__ ((always_inline))

/* A step of a wanted path. The nodes of a plan lie in depth-first order: the children of node i are
 * i + 1, then i + 1 + size of that child, and so on, within the size of i. */
typedef struct
{
  guint64 word;   /* the first bytes of needle ... */
  guint64 mask;   /* ... and which of the eight count */
  guint8 *needle; /* the key and a quote */
  gsize key_len;
  guint size;        /* nodes in this subtree, itself included */
  int value;         /* index of its path, or -1: only a step on the way */
  gboolean verbatim; /* the key may stand in a line without any escape */
} JsonPlanNode;

typedef gboolean (*JsonParseFunc) (const JsonPlan *plan,
                                   JsonScratch *scratch,
                                   const guint8 *line,
                                   gsize len,
                                   JsonValue *values,
                                   JsonCounts *counts,
                                   JsonError *error);

struct _JsonPlan
{
  JsonParseFunc parse;
  JsonPlanNode *nodes; /* the first is the record itself */
  guint n_nodes;
  guint n_paths;
  guint *same_as; /* per path: the first path equal to it */
  gboolean has_aliases;
  JsonFlags flags;
  JsonLevel level;
  int ref_count;
};

struct _JsonScratch
{
  guint8 *data; /* decoded strings */
  gsize used;
  gsize size;
  guint8 *copy; /* of a line without padding */
  gsize copy_size;
  guint8 *seen; /* per node: met in the object open now */
  guint n_seen;
};

/* A container that is the value of a step of a wanted path. */
typedef struct
{
  const JsonPlanNode *node;
  const JsonPlanNode *match; /* node, if its members are looked at */
  guint depth;
} JsonFrame;

typedef struct
{
  const JsonPlan *plan;
  JsonScratch *scratch;
  JsonValue *values;
  JsonError *error;
  const guint8 *line;
  const guint8 *end;
  const JsonPlanNode *match; /* node whose members are looked at here, or NULL */
  guint depth;
  guint top;
  guint64 lone_surrogates;
  guint64 duplicate_keys;
  guint64 nesting[JSON_MAX_DEPTH / 64]; /* bit d: the container at depth d + 1 is an object */
  JsonFrame frames[JSON_MAX_PATH_DEPTH + 2];
} JsonWalk;

/* What stood where the walk could not go on. */
typedef enum
{
  JSON_EXPECT_KEY_OR_CLOSE,
  JSON_EXPECT_KEY,
  JSON_EXPECT_COLON,
  JSON_EXPECT_VALUE,
  JSON_EXPECT_VALUE_OR_CLOSE,
  JSON_EXPECT_COMMA_OR_BRACE,
  JSON_EXPECT_COMMA_OR_BRACKET,
} JsonExpect;

/* All of these fill the error and return FALSE. They run once, for a bad record. */
gboolean json_fail_expect (JsonWalk *walk, const guint8 *at, JsonExpect expect);
gboolean json_fail_string (JsonWalk *walk, const guint8 *start);
gboolean json_fail_number (JsonWalk *walk, const guint8 *start);
gboolean json_fail_start (JsonWalk *walk, const guint8 *at);
gboolean json_fail_depth (JsonWalk *walk, const guint8 *at);
gboolean json_fail_duplicate (JsonWalk *walk, const guint8 *at, const JsonPlanNode *node);
gboolean json_fail_trailing (JsonWalk *walk, const guint8 *at);

/* Room for all that can be decoded of a line of @len bytes, and for one vector more. */
void json_scratch_reserve (JsonScratch *scratch, gsize len);
void json_scratch_prepare (JsonScratch *scratch, guint n_nodes);

gboolean json_key_equals (const guint8 *raw, const guint8 *raw_end, const JsonPlanNode *node);
const guint8 *json_match_non_finite (const guint8 *p, const guint8 *end);

gboolean json_parse_scalar (const JsonPlan *plan,
                            JsonScratch *scratch,
                            const guint8 *line,
                            gsize len,
                            JsonValue *values,
                            JsonCounts *counts,
                            JsonError *error);
#if defined(__x86_64__)
gboolean json_parse_sse2 (const JsonPlan *plan,
                          JsonScratch *scratch,
                          const guint8 *line,
                          gsize len,
                          JsonValue *values,
                          JsonCounts *counts,
                          JsonError *error);
gboolean json_parse_avx2 (const JsonPlan *plan,
                          JsonScratch *scratch,
                          const guint8 *line,
                          gsize len,
                          JsonValue *values,
                          JsonCounts *counts,
                          JsonError *error);
gboolean json_parse_avx512 (const JsonPlan *plan,
                            JsonScratch *scratch,
                            const guint8 *line,
                            gsize len,
                            JsonValue *values,
                            JsonCounts *counts,
                            JsonError *error);
#elif defined(__aarch64__)
gboolean json_parse_neon (const JsonPlan *plan,
                          JsonScratch *scratch,
                          const guint8 *line,
                          gsize len,
                          JsonValue *values,
                          JsonCounts *counts,
                          JsonError *error);
#endif
