#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reference model of dlpipe's record order: an executable specification.

Given the shape of the input (how many records each file of each source holds)
and the settings of one or more stages, it computes, with no I/O and no threads,
the exact sequence of record coordinates that the pipeline must deliver. The
pipeline's own tests compare what really came out with what this prints.

    order_model.py CONFIG.json            one line of JSON a batch
    order_model.py --selftest             checks the model's own invariants

CONFIG.json:
    {"seed": 42, "rank": 0, "world_size": 1,
     "stages": [{"batch_size": 4, "drop_last": false, "infinite": false,
                 "max_batches": null,
                 "shuffle": {"buffer_rows": 8},            (or null: no shuffling)
                 "sources": [{"weight": 0.7, "rows": [10, 3, 0, 7], "epochs": 1},
                             {"weight": 0.3, "rows": [5, 5], "interleave": 2,
                              "shuffle_files": true, "reshuffle": false}]}]}

"rows" lists the number of records in each file of the source, in byte-wise order of
their names. "shuffle_files" is the source's own property; where it is not given it is
true if the stage has "shuffle". Each line printed is
    {"index": I, "records": [[stage, source, file, row, epoch], ...]}
where "file" indexes "rows".

Random draws are counter based: a draw is a pure function of (seed, stage,
stream name, source, counter), so the state of a random stream is one integer.
All arithmetic is unsigned 64 bit and wraps.
"""
import json
import sys

M = (1 << 64) - 1
GOLDEN = 0x9E3779B97F4A7C15


def mix64(x):
    """The 64 bit finaliser: xor-shift 30, 27, 31 around two multiplications."""
    x &= M
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & M
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & M
    return x ^ (x >> 31)


def random(seed, stage, name, source, counter):
    """One draw. The stream name is folded in by 64 bit FNV-1a over its UTF-8 bytes."""
    key = 14695981039346656037
    for b in name.encode():
        key = ((key ^ b) * 1099511628211) & M
    key = ((key + seed) & M) ^ mix64((stage + 1) * GOLDEN) ^ mix64(source * GOLDEN)
    return mix64(key + (counter + 1) * GOLDEN)


def file_order(seed, stage, source, n, shuffled, epoch=0):
    """The order in which a source's files are read: the same in every epoch, or, where
    each epoch is shuffled anew, drawn from where the draws of the epoch before ended."""
    order = list(range(n))
    if shuffled:
        for draw, i in enumerate(reversed(range(1, n))):
            j = random(seed, stage, "shards", source, epoch * (n - 1) + draw) % (i + 1)
            order[i], order[j] = order[j], order[i]
    return order


class Source:
    """A cursor over one source's records, file by file and epoch by epoch.

    It always knows whether it has another record: empty files are passed over as soon as
    they are reached, so that they never change the order of anything else.
    With interleave K the first K files are open at once and give one record each in
    rotation; a file that ends leaves its place in the rotation to the next file; an epoch
    begins when all files of the one before have ended.
    """

    def __init__(self, cfg, seed, stage, index, shuffled, infinite):
        self.rows, self.index, self.stage = cfg["rows"], index, stage
        self.weight = float(cfg.get("weight", 1.0))
        self.seed, self.shuffled = seed, cfg.get("shuffle_files", shuffled)
        self.reshuffle = cfg.get("reshuffle", False)
        self.epochs = None if infinite else cfg.get("epochs", 1)
        self.width = cfg.get("interleave", 1)
        self.epoch = 0
        if infinite and not any(self.rows):
            raise ValueError(f"stage {stage} source {index}: infinite source has no records")
        self.begin()

    def begin(self):
        self.done = not any(self.rows) or self.epoch == self.epochs
        order = file_order(self.seed, self.stage, self.index, len(self.rows), self.shuffled,
                           self.epoch if self.reshuffle else 0)
        self.waiting = [f for f in order if self.rows[f]]
        self.open = []                              # [file, row] in rotation
        while self.waiting and len(self.open) < self.width:
            self.open.append([self.waiting.pop(0), 0])
        self.turn = 0

    def next(self):
        place = self.open[self.turn]
        got = (self.stage, self.index, place[0], place[1], self.epoch)
        place[1] += 1
        self.turn += 1
        if place[1] == self.rows[place[0]]:
            self.turn -= 1
            if self.waiting:
                self.open[self.turn] = [self.waiting.pop(0), 0]
                self.turn += 1
            else:
                del self.open[self.turn]
        if not self.open:
            self.epoch += 1
            self.begin()
        elif self.turn >= len(self.open):
            self.turn = 0
        return got


class Stage:
    def __init__(self, config, index):
        cfg = config["stages"][index]
        self.cfg, self.seed, self.index = cfg, config["seed"], index
        self.shuffle = cfg.get("shuffle")
        self.infinite = cfg.get("infinite", False)
        self.sources = [Source(s, self.seed, index, i, self.shuffle is not None, self.infinite)
                        for i, s in enumerate(cfg["sources"])]
        if self.infinite and not any(s.weight > 0.0 for s in self.sources):
            raise ValueError(f"stage {index}: every weight is zero")
        self.mix_counter = self.shuffle_counter = 0
        self.buffer, self.partial = [], []

    def mixed(self):
        """The next record of the weighted mix of the sources that still have some.

        Before a draw it is known of every source whether it has another record; one without
        is out and costs no draw. Wherever the stage has more than one source there is one
        draw a record, also when only one of them is left.
        """
        live = [s for s in self.sources if not s.done and s.weight > 0.0]
        if not live:
            return None
        if len(self.sources) == 1:
            return live[0].next()
        u = (random(self.seed, self.index, "mix", 0, self.mix_counter) >> 11) * 2.0 ** -53
        self.mix_counter += 1
        total = 0.0
        for s in live:                              # plain left-to-right sum, as C does it
            total += s.weight
        target = u * total
        for chosen in live:
            target -= chosen.weight
            if target < 0.0:
                break
        return chosen.next()

    def record(self):
        """The next record after the shuffle buffer.

        The buffer is filled first; each draw gives out one slot, which takes the
        next record of the mix; when the mix is exhausted the last slot moves in.
        """
        capacity = self.shuffle["buffer_rows"] if self.shuffle else 0
        if capacity == 0 and not self.buffer:
            return self.mixed()
        while len(self.buffer) < capacity:
            c = self.mixed()
            if c is None:
                break
            self.buffer.append(c)
        if not self.buffer:
            return None
        i = random(self.seed, self.index, "shuffle", 0, self.shuffle_counter) % len(self.buffer)
        self.shuffle_counter += 1
        replacement = self.mixed() if len(self.buffer) <= capacity else None
        out = self.buffer[i]
        if replacement is not None:
            self.buffer[i] = replacement
        else:
            self.buffer[i] = self.buffer[-1]
            self.buffer.pop()
        return out

    def batch(self):
        """The next batch of records, or None at the end.

        Where the order within an epoch is the files' own (one source, no
        shuffling) a batch never holds records of two epochs.
        """
        size, drop_last = self.cfg["batch_size"], self.cfg.get("drop_last", False)
        epoch_boundary = len(self.sources) == 1 and self.shuffle is None
        short = 0
        while True:
            records, self.partial = self.partial, []
            while len(records) < size:
                c = self.record()
                if c is None:
                    break
                if epoch_boundary and records and records[0][4] != c[4]:
                    self.partial.append(c)
                    break
                records.append(c)
            if len(records) < size and drop_last:
                if not self.partial:
                    return None
                short += 1
                if short >= 2:
                    raise ValueError("drop_last discards every batch: "
                                     "an epoch has fewer records than a batch")
                continue
            return records or None


def batches(config):
    """Yields (global index, records) of the batches that belong to config's rank.

    The global sequence is that of the stages one after another, whatever the world size;
    "max_batches" limits a stage in global batches. Batch I belongs to rank I mod world_size.
    A rank gives out its batch of a step only when every rank of that step has one: steps run
    across the borders of stages, so only the run's last, incomplete step is dropped, and so a
    run continues exactly with another world size.
    """
    rank, world = config.get("rank", 0), config.get("world_size", 1)
    step = []
    for batch in enumerate(global_batches(config)):
        step.append(batch)
        if len(step) == world:
            yield step[rank]
            step = []


def global_batches(config):
    for s, cfg in enumerate(config["stages"]):
        stage, limit = Stage(config, s), cfg.get("max_batches")
        if stage.infinite and limit is None:
            raise ValueError("an infinite stage needs max_batches here")
        count = 0
        while limit is None or count < limit:
            records = stage.batch()
            if records is None:
                break
            yield records
            count += 1


def selftest():
    cfg = {"seed": 7, "stages": [{"batch_size": 3, "shuffle": {"buffer_rows": 5}, "sources": [
        {"weight": 3, "rows": [4, 0, 9]}, {"weight": 1, "rows": [6]}]}]}
    flat = [tuple(r) for _, b in batches(cfg) for r in b]
    assert len(flat) == len(set(flat)) == 19
    by_rank = [[(i, tuple(map(tuple, b))) for i, b in batches(dict(cfg, rank=r, world_size=2))]
               for r in range(2)]
    whole = [(i, tuple(map(tuple, b))) for i, b in batches(cfg)]
    assert sorted(by_rank[0] + by_rank[1]) == whole[:len(whole) // 2 * 2]
    two = dict(cfg, stages=[dict(cfg["stages"][0], max_batches=3), cfg["stages"][0]])
    every = [b for _, b in batches(two)]
    for world in (2, 3):
        parts = sorted(x for r in range(world) for x in batches(dict(two, rank=r, world_size=world)))
        assert [b for _, b in parts] == every[:len(every) // world * world]
    assert [r[2:4] for _, b in batches({"seed": 0, "stages": [{"batch_size": 9, "sources": [
        {"rows": [3, 1, 0, 2], "interleave": 2}]}]}) for r in b] == [(0, 0), (1, 0), (0, 1), (3, 0), (0, 2), (3, 1)]
    a, b = ([[r[1:4:2] for r in recs] for _, recs in batches({"seed": 5, "stages": [{"batch_size": 1, "sources": [
        {"rows": rows}, {"rows": [6]}]}]})] for rows in ([2], [0, 2, 0]))
    assert a == b
    seq = {"seed": 1, "stages": [{"batch_size": 4, "infinite": True, "max_batches": 4,
                                  "sources": [{"rows": [3, 3]}]}]}
    got = [b for _, b in batches(seq)]
    assert [len(b) for b in got] == [4, 2, 4, 2] and got[2][0][4] == 1
    assert random(0, 0, "mix", 0, 0) != random(0, 0, "shuffle", 0, 0)
    print("ok")


if __name__ == "__main__":
    if sys.argv[1:] == ["--selftest"]:
        selftest()
    else:
        with open(sys.argv[1]) as f:
            for i, b in batches(json.load(f)):
                print(json.dumps({"index": i, "records": b}))
