#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""digest.py FILE NAME:TYPE...: the digest of the records in FILE, as docs/internals/digest.md defines it.

FILE is what jsonl-sink coordinates=true has written of all fields; NAME:TYPE are these fields in the order of their
schema (the element before the sink tells it: string, binary, boolean, int64, uint64, double, list<uint16>, list<uint32>,
list<int32>, list<int64>, list<float>, list<double>).
The result is what the run reports, and dlpipe-state shows. A program of its own: of dlpipe nothing is used. Hashes are
those of libxxhash. A double that JSON has not, NaN say, is written as null and cannot be told from one."""
import base64
import ctypes
import ctypes.util
import json
import struct
import sys

FORMATS = {'string': 'u', 'binary': 'z', 'boolean': 'b', 'int64': 'l', 'uint64': 'L', 'double': 'g',
           'list<uint16>': '+lS', 'list<uint32>': '+lI', 'list<int32>': '+li',
           'list<int64>': '+ll', 'list<float>': '+lf', 'list<double>': '+lg'}
ITEMS = {'S': 'H', 'I': 'I', 'i': 'i', 'l': 'q', 'f': 'f', 'g': 'd'}
COORDINATE = ('stage', 'source', 'file', 'epoch', 'part')
MODULUS = 1 << 128


class Hash128(ctypes.Structure):
    _fields_ = [('low', ctypes.c_uint64), ('high', ctypes.c_uint64)]


def load():
    name = ctypes.util.find_library('xxhash')
    if name is None:
        raise SystemExit('digest.py: there is no libxxhash')
    library = ctypes.CDLL(name)
    library.XXH3_64bits.restype = ctypes.c_uint64
    library.XXH3_128bits.restype = Hash128
    library.XXH3_64bits.argtypes = library.XXH3_128bits.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
    return library


XXH = load()


def x64(data):
    return XXH.XXH3_64bits(data, len(data))


def x128(data):
    value = XXH.XXH3_128bits(data, len(data))
    return struct.pack('<QQ', value.low, value.high)


def to_bytes(value):
    if isinstance(value, dict):
        return base64.b64decode(value['base64'])
    return value.encode()


def encode(kind, value):
    """The 16 bytes that stand for a value."""
    if value is None:
        return b'\xff' * 16
    if kind in ('string', 'binary'):
        return x128(to_bytes(value))
    if kind.startswith('list'):
        return x128(struct.pack('<%d%s' % (len(value), ITEMS[FORMATS[kind][2]]), *value))
    return struct.pack('<' + {'boolean': '?7x', 'int64': 'q', 'uint64': 'Q', 'double': 'd'}[kind] + '8x', value)


def add(total, data):
    return (total + int.from_bytes(data, 'little')) % MODULUS


def digest(fields, lines, position=0):
    """fields: (name, type) each; lines: objects with the fields and the coordinate."""
    schema = x64(b''.join(name.encode() + b'\0' + FORMATS[kind].encode() + b'\0' for name, kind in fields))
    ordered = unordered = 0
    for i, line in enumerate(lines, position):
        record = struct.pack('<Q5I4xQ', schema, *(line[key] for key in COORDINATE), line['row'])
        inner = x128(record + b''.join(encode(kind, line[name]) for name, kind in fields))
        unordered = add(unordered, inner)
        ordered = add(ordered, x128(struct.pack('<Q', i) + inner))
    return '%032x-%032x' % (ordered, unordered)


def main():
    if len(sys.argv) < 3 or any(argument.partition(':')[2] not in FORMATS for argument in sys.argv[2:]):
        raise SystemExit('usage: digest.py FILE NAME:TYPE...; types are ' + ', '.join(FORMATS))
    fields = [tuple(argument.split(':', 1)) for argument in sys.argv[2:]]
    with open(sys.argv[1], encoding='utf-8', newline='\n') as file:
        print(digest(fields, (json.loads(line) for line in file)))


if __name__ == '__main__':
    main()
