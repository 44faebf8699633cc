#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes mixes.txt: what the model of record order says of sources that are mixed and shuffled.

    case NAME seed=S shuffle=N weights=W,W,... sources=RECORDS/ROWS-A-FILE,...
    SOURCE FILE ROW       (of every record, in order)
"""
import os
import random

import order_model

here = os.path.dirname(os.path.abspath(__file__))
rng = random.Random(11)


def cases():
    """(name, seed, shuffle, [(weight, records, rows a file)])"""
    yield "one", 0, 0, [(1, 10, 3)]
    yield "one-empty", 0, 0, [(1, 0, 3)]
    yield "one-shuffled", 1, 4, [(1, 25, 7)]
    yield "one-in-buffer", 2, 100, [(1, 25, 7)]
    yield "buffer-of-one", 2, 1, [(1, 9, 4)]
    yield "buffer-of-all", 3, 9, [(1, 9, 4)]
    yield "two", 0, 0, [(0.7, 20, 6), (0.3, 20, 20)]
    yield "two-shuffled", 42, 8, [(0.7, 20, 10), (0.3, 10, 5)]
    yield "two-empty", 5, 3, [(1, 0, 1), (1, 0, 1)]
    yield "first-empty", 6, 0, [(3, 0, 1), (1, 12, 5)]
    yield "last-empty", 6, 0, [(1, 12, 5), (3, 0, 1)]
    yield "zero-first", 7, 0, [(0, 9, 2), (1, 12, 5)]
    yield "zero-last", 7, 5, [(1, 12, 5), (2, 6, 6), (0, 9, 2)]
    yield "unlike", 8, 0, [(1e-3, 30, 4), (1000, 30, 4), (1, 30, 4)]
    yield "tiny", 9, 0, [(1e-300, 10, 3), (1e-300, 10, 3)]
    yield "huge", 9, 2, [(1e300, 10, 3), (1e308, 10, 3)]
    yield "large-seed", (1 << 64) - 1, 6, [(0.1, 15, 2), (0.2, 15, 2), (0.7, 15, 2)]
    yield "nine", 10, 16, [(i + 1, 5 * i, i + 1) for i in range(9)]
    for i in range(24):
        sources = [(rng.choice([1, 1, 0.25, 3, 0.1, 7.5, 0]), rng.choice([0, 1, 2, 9, 30, 70]), rng.randrange(1, 12))
                   for _ in range(rng.randrange(1, 6))]
        if not any(weight for weight, _, _ in sources):
            sources[0] = (1,) + sources[0][1:]
        yield f"random-{i}", rng.getrandbits(64), rng.choice([0, 1, 2, 3, 10, 33, 200]), sources


def rows_of(records, rows_a_file):
    whole, rest = divmod(records, rows_a_file)
    return [rows_a_file] * whole + ([rest] if rest else [])


def records_of(seed, shuffle, sources):
    stage = {"batch_size": 7, "shuffle": {"buffer_rows": shuffle} if shuffle else None,
             "sources": [{"weight": weight, "rows": rows_of(records, rows), "shuffle_files": False}
                         for weight, records, rows in sources]}
    for _, batch in order_model.batches({"seed": seed, "stages": [stage]}):
        yield from batch


with open(os.path.join(here, "mixes.txt"), "w", encoding="utf-8") as out:
    for name, seed, shuffle, sources in cases():
        out.write("case %s seed=%d shuffle=%d weights=%s sources=%s\n" % (
            name, seed, shuffle, ",".join(repr(weight) for weight, _, _ in sources),
            ",".join("%d/%d" % (records, rows) for _, records, rows in sources)))
        for _, source, file, row, _ in records_of(seed, shuffle, sources):
            out.write("%d %d %d\n" % (source, file, row))
