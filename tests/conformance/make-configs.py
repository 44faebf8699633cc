#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Random configurations of the model of record order, with what it says of each.

    make-configs.py [--seed S] [--count N] [FILE]      (standard output without FILE)

A line is an object: "config" as order_model.py takes it, and either "error", what it must fail with, or
"batches", "records" and "sha256" of the batches of the rank, each a line of text
    INDEX: STAGE,SOURCE,FILE,ROW,EPOCH STAGE,SOURCE,FILE,ROW,EPOCH ...
"first" is the first of these lines, for people. configs.jsonl is what it writes without options.
"""
import argparse
import collections
import hashlib
import json
import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "data", "order"))
import order_model  # noqa: E402

MAX_RECORDS = 400
ROWS = [0, 0, 1, 1, 2, 3, 5, 9, 20]
WEIGHTS = [1, 1, 1, 0.5, 3, 0.1, 7.5, 1e-3, 0]


def make_source(rng, infinite):
    rows = [rng.choice(ROWS) for _ in range(rng.choice([1, 1, 2, 3, 4, 6]))]
    source = {"weight": rng.choice(WEIGHTS), "rows": rows, "shuffle_files": rng.random() < 0.4}
    if source["shuffle_files"] and rng.random() < 0.5:
        source["reshuffle"] = True
    if not infinite:
        source["epochs"] = rng.choice([1, 1, 1, 2, 3])
    if rng.random() < 0.3:
        source["interleave"] = rng.choice([2, 3, 5])
    return source


def make_stage(rng):
    infinite = rng.random() < 0.3
    stage = {"batch_size": rng.choice([1, 2, 3, 4, 5, 7, 8, 16]), "drop_last": rng.random() < 0.4,
             "infinite": infinite, "shuffle": None}
    if rng.random() < 0.5:
        stage["shuffle"] = {"buffer_rows": rng.choice([1, 2, 3, 5, 8, 20, 100])}
    stage["sources"] = [make_source(rng, infinite) for _ in range(rng.choice([1, 1, 1, 2, 3, 4]))]
    if infinite or rng.random() < 0.4:
        stage["max_batches"] = rng.randrange(1, 14)
    # A mix of no weight is refused when the graph is built, and one source needs none.
    if not any(s["weight"] for s in stage["sources"]) or len(stage["sources"]) == 1:
        stage["sources"][0]["weight"] = 1
    # That an endless source is empty is seen only where something is drawn from it.
    for source in stage["sources"]:
        if infinite and not any(source["rows"]) and not source["weight"]:
            source["weight"] = 1
    return stage


def make_config(rng):
    world = rng.choice([1, 1, 1, 2, 3, 4, 5, 6, 7, 8])
    return {"seed": rng.choice([0, 1, rng.getrandbits(16), rng.getrandbits(64)]),
            "rank": rng.randrange(world), "world_size": world,
            "stages": [make_stage(rng) for _ in range(rng.choice([1, 1, 1, 2, 2, 3, 4]))]}


def to_line(index, records):
    return "%d: %s\n" % (index, " ".join(",".join(map(str, r)) for r in records))


def to_first(lines):
    words = lines[0].split() if lines else []
    return " ".join(words[:6] + ["..."] * (len(words) > 6))


def work_out(config):
    try:
        lines = [to_line(i, records) for i, records in order_model.batches(config)]
    except ValueError as error:
        return {"config": config, "error": str(error).split(":", 1)[-1 if "source" in str(error) else 0].strip()}
    return {"config": config, "batches": len(lines), "records": sum(line.count(",") // 4 for line in lines),
            "sha256": hashlib.sha256("".join(lines).encode()).hexdigest(), "first": to_first(lines)}


def is_fit(case):
    """Short, and not one more that gives nothing."""
    return case.get("records", 1) <= MAX_RECORDS


def make_cases(seed, count):
    rng = random.Random(seed)
    n_errors = collections.Counter()
    n_empty = n = 0
    while n < count:
        case = work_out(make_config(rng))
        error = case.get("error")
        n_errors[error] += 1
        n_empty += case.get("batches") == 0
        if not is_fit(case) or (error and n_errors[error] > count // 20) or \
                (case.get("batches") == 0 and n_empty > count // 10):
            continue
        n += 1
        yield case


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("file", nargs="?")
    args = parser.parse_args()
    with open(args.file, "w", encoding="utf-8") if args.file else sys.stdout as out:
        for case in make_cases(args.seed, args.count):
            out.write(json.dumps(case, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
