#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The text column of Parquet files, read by parquet-reader and by pyarrow.

usage: bench_arrow.py PYTHON DLPIPE_LAUNCH [MEGABYTES]

PYTHON has pyarrow; it makes the files, of texts in words of a Zipf-like distribution with an id, and reads them
by iter_batches(columns=["text"], use_threads=False), of which only num_rows and nbytes are looked at, so no
string is made and no text is checked. dlpipe-launch --sequential reads them into null-sink digest=false: it also checks
that they are UTF-8, and copies them into its record batches. Each reads a file five times in a process of its own; the
best is shown, in MB of text for each second of CPU time, with the ratio and the most memory that a process had. The
time of dlpipe-launch is that of the process, of pyarrow that of the loop.
"""
import os
import resource
import subprocess
import sys
import tempfile

MAKE = '''
import random, sys
import pyarrow as pa, pyarrow.parquet as pq
folder, size = sys.argv[1], int(sys.argv[2]) * 10**6
random.seed(7)
words = ["".join(random.choices("etaoinshrdlucmfwygpbvk", k=random.randint(2, 9))) for _ in range(20000)]
weights = [1 / (i + 3) for i in range(len(words))]
pool = random.choices(words, weights, k=400000)
texts, total = [], 0
while total < size:
    at = random.randrange(len(pool) - 2000)
    texts.append(" ".join(pool[at:at + random.randint(20, 1200)]))
    total += len(texts[-1])
table = pa.table({"id": range(len(texts)), "text": texts})
for name, options in {"zstd, groups of 1,000": dict(compression="zstd", row_group_size=1000),
                      "snappy, groups of 1,000": dict(compression="snappy", row_group_size=1000),
                      "zstd, one group": dict(compression="zstd", row_group_size=10**7),
                      "none, one group": dict(compression="none", row_group_size=10**7)}.items():
    pq.write_table(table, folder + "/" + name + ".parquet", **options)
print(total)
'''
PEER = '''
import sys, time
import pyarrow.parquet as pq
rows = size = 0
start = time.process_time()
for batch in pq.ParquetFile(sys.argv[1]).iter_batches(columns=["text"], use_threads=False):
    rows += batch.num_rows
    size += batch.nbytes
print(time.process_time() - start)
'''


def measure(command):
    """CPU seconds, its own if it prints them, and MiB."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    printed = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        sys.exit('%s: ended with status %d' % (command, status))
    return (float(printed) if printed else usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def main():
    python, launch = sys.argv[1:3]
    megabytes = sys.argv[3] if len(sys.argv) > 3 else '200'
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with tempfile.TemporaryDirectory(prefix='dlpipe-bench-') as folder:
        size = int(subprocess.check_output([python, '-c', MAKE, folder, megabytes]))
        print('%.0f MB of text' % (size / 1e6))
        print('%-26s %21s %21s' % ('', 'parquet-reader', 'iter_batches'))
        print('%-26s' % '' + ' %10s %10s' % ('MB/s', 'MiB') * 2 + '  ratio')
        for name in sorted(os.listdir(folder)):
            path = os.path.join(folder, name)
            graph = "file-source location='%s' ! parquet-reader ! null-sink digest=false" % path
            turns = [(measure([launch, '--no-state', '--sequential', graph]), measure([python, '-c', PEER, path]))
                     for _ in range(5)]
            ours, theirs = min(t[0] for t in turns), min(t[1] for t in turns)
            print('%-26s' % name[:-len('.parquet')] +
                  ''.join(' %10.0f %10.0f' % (size / 1e6 / t[0], t[1]) for t in (ours, theirs)) +
                  '  %.2f' % (theirs[0] / ours[0]))


main()
