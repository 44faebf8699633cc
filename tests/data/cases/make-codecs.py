#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes the bzip2 (b), lz4 (l) and xz (x) files of this folder, by Python's bz2 and lzma and Debian 12's
lz4 1.9.4 and xz 5.4.1, whose output is what is stored.

usage: make-codecs.py OUT-FOLDER
"""
import bz2
import lzma
import os
import struct
import subprocess
import sys
import zlib

ONE = b'{"text":"one"}\n'
TWO = b'{"text":"two"}\n'
THREE = b'{"text":"three"}\n'


def run(data, *command):
    return subprocess.run(command, input=data, stdout=subprocess.PIPE, check=True).stdout


def lz4(data, *options):
    return run(data, 'lz4', '-c', *options)


def skippable(variant, data):
    return struct.pack('<II', 0x184d2a50 + variant, len(data)) + data


def flip(data, index):
    return data[:index] + bytes([data[index] ^ 1]) + data[index + 1:]


def with_window(data, code):
    """The block header of a stream with another size of the dictionary, and its CRC32."""
    header = data[12:16] + bytes([code]) + data[17:20]
    return data[:12] + header + struct.pack('<I', zlib.crc32(header)) + data[24:]


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    lines = b''.join(b'{"text":"line %d"}\n' % i for i in range(300))
    crc32 = lzma.compress(ONE, check=lzma.CHECK_CRC32)
    files = {
        'b01-two-streams.jsonl.bz2': bz2.compress(ONE + TWO[:5]) + bz2.compress(TWO[5:] + THREE),
        'b02-trailing-zeros.jsonl.bz2': bz2.compress(ONE + TWO) + bz2.compress(THREE) + bytes(512),
        'b03-bad-crc.jsonl.bz2': flip(bz2.compress(ONE), 10),
        'b04-empty-stream.jsonl.bz2': bz2.compress(b''),
        'b05-truncated.jsonl.bz2': (bz2.compress(ONE) + bz2.compress(TWO * 3))[:100],
        'b06-double.jsonl.bz2': bz2.compress(bz2.compress(ONE)),
        'l01-two-frames.jsonl.lz4': lz4(ONE + TWO[:5]) + lz4(TWO[5:] + THREE),
        'l02-skippable.jsonl.lz4': skippable(0, b'wxyz') + lz4(ONE) + skippable(7, b'q' * 30) +
                                   lz4(TWO) + skippable(15, b''),
        'l03-trailing-zeros.jsonl.lz4': lz4(ONE) + lz4(TWO) + bytes(64),
        'l04-truncated.jsonl.lz4': (lz4(ONE) + lz4(TWO))[:55],
        'l05-bad-checksum.jsonl.lz4': flip(lz4(ONE), -1 + len(lz4(ONE))),
        'l06-legacy.jsonl.lz4': lz4(ONE, '-l'),
        'l07-no-checksum.jsonl.lz4': lz4(ONE, '--no-frame-crc'),
        'l08-empty-frame.jsonl.lz4': lz4(b''),
        'l09-double.jsonl.lz4': lz4(lz4(ONE)),
        'x01-two-streams.jsonl.xz': lzma.compress(ONE + TWO[:5]) + bytes(8) +
                                    lzma.compress(TWO[5:] + THREE),
        'x02-padding-of-6.jsonl.xz': lzma.compress(ONE) + bytes(6),
        'x03-bad-check.jsonl.xz': flip(crc32, 32),
        'x04-empty.jsonl.xz': lzma.compress(b''),
        'x05-truncated.jsonl.xz': (lzma.compress(ONE) + lzma.compress(TWO * 3))[:100],
        'x06-window-1GiB.jsonl.xz': with_window(lzma.compress(ONE), 36),
        'x07-no-check.jsonl.xz': lzma.compress(ONE, check=lzma.CHECK_NONE),
        'x08-legacy.jsonl.lzma': lzma.compress(ONE, format=lzma.FORMAT_ALONE),
        'x09-double.jsonl.xz': lzma.compress(lzma.compress(ONE)),
        'x10-blocks.jsonl.xz': run(lines, 'xz', '-c', '-T1', '--block-size=1000'),
    }
    for name, data in files.items():
        with open(os.path.join(sys.argv[1], name), 'wb') as file:
            file.write(data)


if __name__ == '__main__':
    main()
