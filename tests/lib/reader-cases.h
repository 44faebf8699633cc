/* SPDX-License-Identifier: MIT */
#pragma once

#include "reader-fixture.h"

G_BEGIN_DECLS

/* Inputs of a reader, given as they stand in a test, and what becomes of them. */

#define LITERAL(s) s, sizeof s - 1

typedef struct
{
  const char *name;
  const char *settings; /* with blanks between */
  const char *input;
  gsize size;
  const char *good; /* the fields with tabs between, records with |; control characters as \x0a */
  const char *rejected; /* "kind row line offset", with | between */
} ReaderCase;

/* Bytes read at once, of which nothing may depend. */
#define N_READ_SIZES 4
extern const guint reader_read_sizes[N_READ_SIZES];

/* Of all that follows; @suite, such as "csv-reader", begins the names of tests, @ending those of
 * files. */
void reader_cases_init (GType reader_type, const char *suite, const char *ending);

/* A fixture with all records allowed to be bad. */
Fixture *reader_cases_fixture (const char *settings, guint read_size);

/* (transfer full): as in a case. */
char *reader_cases_join_good (const RigOutput *output);
char *reader_cases_join_rejected (const RigOutput *output);

/* A test for each: at every size of reads, plain and compressed, with and without workers. */
void reader_cases_add (const ReaderCase *cases, guint n);

/* A test for each file random/NN, plain or *.gz, of this folder of tests: what another program
 * reads of it is in random/NN.txt, behind a line of settings with tabs between. @settings are those
 * of all. */
void reader_cases_add_expected (guint n, const char *settings);

/* The file is damaged: the message has @part, nothing comes out, and with on-damaged-file=keep it
 * is counted. */
void reader_cases_assert_damaged (const char *settings,
                                  const char *bytes,
                                  gsize size,
                                  guint read_size,
                                  const char *part);

/* The settings are refused, by a message that has @part. */
void reader_cases_assert_refused (const char *settings, const char *part);

/* Gone on with after each record, read in chunks of several sizes, with and without workers: the
 * same comes out: of two epochs together so many good records, and so many rejected. */
void reader_cases_check_resume (const char *settings,
                                void (*write) (Fixture *),
                                guint interleave,
                                guint good,
                                guint rejected);

/* Runs @path at all sizes of reads, appends to @all what comes out, without the name of the
 * @folder. Damage is kept. */
void reader_cases_append_outcome (GString *all,
                                  const char *folder,
                                  const char *name,
                                  const char *settings);

/* What was looked through once is in golden.txt. To make it again: DLPIPE_WRITE_GOLDEN=FILE. */
void reader_cases_assert_golden (const GString *all);

G_END_DECLS
