#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes orders.txt: what the model of record order says of single sources, one case a block.

    case NAME seed=S epochs=E interleave=K shuffle=0|1 reshuffle=0|1 rows=R,R,...
    FILE ROW EPOCH        (of every record, in order)
"""
import os
import random

import order_model

here = os.path.dirname(os.path.abspath(__file__))
rng = random.Random(3)


def cases():
    yield "one", dict(rows=[5])
    yield "empty-first", dict(rows=[0, 0, 3, 0, 2])
    yield "all-empty", dict(rows=[0, 0, 0])
    yield "model", dict(rows=[3, 1, 0, 2], interleave=2)
    yield "wide", dict(rows=[2, 1], interleave=5)
    yield "epochs", dict(rows=[2, 0, 1], epochs=3)
    yield "epochs-interleaved", dict(rows=[1, 4, 0, 2, 1], epochs=3, interleave=3)
    yield "shuffled", dict(rows=[1, 2, 3, 4, 5, 6, 7], shuffle_files=True, epochs=2)
    yield "reshuffled", dict(rows=[1, 2, 3, 4, 5], shuffle_files=True, reshuffle=True, epochs=4)
    for i in range(40):
        n = rng.randrange(1, 12)
        yield f"random-{i}", dict(
            rows=[rng.choice([0, 0, 1, 1, 2, 3, 7, 20]) for _ in range(n)],
            interleave=rng.choice([1, 2, 2, 3, 4, 8]), epochs=rng.choice([1, 1, 2, 3]),
            shuffle_files=rng.random() < 0.5, reshuffle=rng.random() < 0.5)


with open(os.path.join(here, "orders.txt"), "w") as out:
    for number, (name, cfg) in enumerate(cases()):
        seed = number * 7919
        source = order_model.Source(cfg, seed, 0, 0, False, False)
        print("case", name, f"seed={seed}", f"epochs={cfg.get('epochs', 1)}",
              f"interleave={cfg.get('interleave', 1)}", f"shuffle={int(cfg.get('shuffle_files', False))}",
              f"reshuffle={int(cfg.get('reshuffle', False))}",
              "rows=" + ",".join(map(str, cfg["rows"])), file=out)
        while not source.done:
            _, _, file, row, epoch = source.next()
            print(file, row, epoch, file=out)
