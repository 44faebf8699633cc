#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes meg16.* and meg32.*, the Megatron datasets that megatron-sink must reproduce byte for byte.

usage: make-megatron.py OUT_DIR

From the description of the format alone, with struct. The documents, tokens included, are DOCUMENTS.
"""
import os
import struct
import sys

DOCUMENTS = [[1, 2, 3, 50256], [7, 8, 50256], [9, 10, 11, 12, 13, 50256]]


def write(prefix, dtype_code, letter):
    item = struct.calcsize('<' + letter)
    with open(prefix + '.bin', 'wb') as f:
        for ids in DOCUMENTS:
            f.write(struct.pack('<%d%s' % (len(ids), letter), *ids))
    n = len(DOCUMENTS)
    lengths = [len(ids) for ids in DOCUMENTS]
    pointers = [item * sum(lengths[:i]) for i in range(n)]
    with open(prefix + '.idx', 'wb') as f:
        f.write(b'MMIDIDX\0\0')
        f.write(struct.pack('<QBQQ', 1, dtype_code, n, n + 1))
        f.write(struct.pack('<%di' % n, *lengths))
        f.write(struct.pack('<%dq' % n, *pointers))
        f.write(struct.pack('<%dq' % (n + 1), *range(n + 1)))


if __name__ == '__main__':
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    write(os.path.join(sys.argv[1], 'meg16'), 8, 'H')
    write(os.path.join(sys.argv[1], 'meg32'), 4, 'i')
