/* SPDX-License-Identifier: MIT */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/*
 * One line of JSON lines, checked to its end (RFC 8259, UTF-8) in one pass, with the values of the
 * wanted fields. Plain C, no GObject. A plan is immutable and shared between threads; a scratch
 * belongs to one thread at a time.
 */

/* What must be readable behind a line given to json_parse_record(); its contents do not matter. */
#define JSON_PADDING 64

/* Deepest nesting accepted: {"a":[]} has depth 2. */
#define JSON_MAX_DEPTH 1024

/* Most components of one field path. */
#define JSON_MAX_PATH_DEPTH 64

typedef struct _JsonPlan JsonPlan;
typedef struct _JsonScratch JsonScratch;

typedef enum
{
  JSON_FLAGS_NONE = 0,
  /* Lone surrogate escapes and duplicate keys (see JsonCounts) are errors. */
  JSON_FLAGS_STRICT = 1 << 0,
  /* NaN, Infinity and -Infinity are numbers. */
  JSON_FLAGS_ALLOW_NON_FINITE = 1 << 1,
} JsonFlags;

/* The instruction set used. All give the same results; forced only by tests. */
typedef enum
{
  JSON_LEVEL_SCALAR,
  JSON_LEVEL_SSE2,
  JSON_LEVEL_AVX2,
  JSON_LEVEL_AVX512,
  JSON_LEVEL_NEON,
  JSON_N_LEVELS,
} JsonLevel;

typedef enum
{
  JSON_VALUE_MISSING,
  JSON_VALUE_NULL,
  JSON_VALUE_FALSE,
  JSON_VALUE_TRUE,
  JSON_VALUE_NUMBER,
  JSON_VALUE_STRING,
  JSON_VALUE_ARRAY,
  JSON_VALUE_OBJECT,
} JsonValueKind;

/*
 * A string: its decoded UTF-8, in the line itself or in the scratch; may hold NUL bytes. Any other
 * kind: its text as it stands in the line. Missing: NULL and 0. Valid until the line goes away or
 * the scratch is used again.
 */
typedef struct
{
  const guint8 *data;
  gsize len;
  JsonValueKind kind;
  guint32 start; /* of a string in the scratch: where it begins in the line; else 0 */
} JsonValue;

/*
 * Added to, never reset, and only by records that were accepted. Lone surrogates are counted in all
 * strings and keys of the record; duplicates only among keys that are a step of a wanted path.
 */
typedef struct
{
  guint64 lone_surrogates;
  guint64 duplicate_keys;
} JsonCounts;

typedef enum
{
  JSON_ERROR_NONE,
  JSON_ERROR_EMPTY,         /* nothing but white space */
  JSON_ERROR_UTF_16,        /* damage of the file: a UTF-16 BOM, or NUL around the first brace */
  JSON_ERROR_COMPRESSED,    /* gzip or zstd magic where a record was expected */
  JSON_ERROR_ARRAY_LINE,    /* damage of the file: a JSON array, not JSON lines */
  JSON_ERROR_NOT_AN_OBJECT, /* a string, number, true, false or null at the top */
  JSON_ERROR_SYNTAX,        /* another token was expected */
  JSON_ERROR_NUMBER,        /* malformed number */
  JSON_ERROR_NON_FINITE,    /* NaN, Infinity */
  JSON_ERROR_ESCAPE,        /* malformed backslash escape */
  JSON_ERROR_CONTROL_CHARACTER, /* raw byte below 0x20 in a string */
  JSON_ERROR_UTF_8,             /* offset is that of the ill-formed sequence's first byte */
  JSON_ERROR_UNTERMINATED,      /* the line ends inside the record; offset is its length */
  JSON_ERROR_DEPTH,             /* nested deeper than JSON_MAX_DEPTH */
  JSON_ERROR_TRAILING,          /* something follows the record on its line */
  JSON_ERROR_LONE_SURROGATE,    /* only with JSON_FLAGS_STRICT */
  JSON_ERROR_DUPLICATE_KEY,     /* only with JSON_FLAGS_STRICT */
  JSON_N_ERRORS,
} JsonErrorKind;

/* Always the first fault of the line, reading from the left. Nothing in it needs freeing. */
typedef struct
{
  JsonErrorKind kind;
  gsize offset;      /* bytes from the line's start, a BOM included */
  char message[184]; /* printable ASCII: what was expected and what was found */
} JsonError;

/*
 * @paths: wanted fields, each "text" or "data.doc.text". A dot goes down into an object, "\." is a
 * dot, "\," a comma, "\:" a colon and "\\" a backslash in a key; a colon alone is one too, and a
 * comma alone is refused. A flat key with dots is another key than a path. Paths may be prefixes of
 * one another, or equal. Fails (G_OPTION_ERROR) for an empty component, another escape, invalid
 * UTF-8, or more than JSON_MAX_PATH_DEPTH components.
 */
JsonPlan *json_plan_new (const char *const *paths, guint n_paths, JsonFlags flags, GError **error);
JsonPlan *json_plan_ref (JsonPlan *plan);
void json_plan_unref (JsonPlan *plan);

/* Both before the plan is shared. FALSE if the machine or the build lacks that level. */
gboolean json_plan_set_level (JsonPlan *plan, JsonLevel level);
JsonLevel json_plan_get_level (const JsonPlan *plan);
const char *json_level_get_name (JsonLevel level);

JsonScratch *json_scratch_new (void);
void json_scratch_free (JsonScratch *scratch);
/* Gives back what a giant record left behind: keeps at most @max_bytes. */
void json_scratch_trim (JsonScratch *scratch, gsize max_bytes);

/*
 * @line: one line without its LF; a BOM at its start and a CR at its end are dropped. JSON_PADDING
 * bytes behind it must be readable. @values: one for each path, in the order of json_plan_new().
 * On failure @values are undefined, @counts untouched, @error filled. @counts may not be NULL.
 */
gboolean json_parse_record (const JsonPlan *plan,
                            JsonScratch *scratch,
                            const guint8 *line,
                            gsize len,
                            JsonValue *values,
                            JsonCounts *counts,
                            JsonError *error);

/* The same without padding, by way of a copy in the scratch: no value points into @line. */
gboolean json_parse_record_unpadded (const JsonPlan *plan,
                                     JsonScratch *scratch,
                                     const guint8 *line,
                                     gsize len,
                                     JsonValue *values,
                                     JsonCounts *counts,
                                     JsonError *error);

/* Stable short names for reports: "syntax", "utf-8", ...; "missing", "null", "string", ... */
const char *json_error_kind_get_name (JsonErrorKind kind);
const char *json_value_kind_get_name (JsonValueKind kind);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (JsonPlan, json_plan_unref)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (JsonScratch, json_scratch_free)

G_END_DECLS
