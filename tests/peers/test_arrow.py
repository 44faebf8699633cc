#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Arrow's own implementation against dlpipe's import and export of the C data interface.

usage: test_arrow.py LIBRARY: the path of arrow-probe.c's shared library. Prints TAP.
"""
import ctypes
import gc
import random
import sys

import pyarrow as pa

TYPES = {'text': pa.string(), 'raw': pa.binary(), 'flag': pa.bool_(), 'number': pa.int64(),
         'count': pa.uint64(), 'score': pa.float64(), 'ids': pa.list_(pa.uint16()),
         'wide': pa.list_(pa.uint32())}


class Probe:
    def __init__(self, path):
        self.function = ctypes.CDLL(path).arrow_probe_round_trip
        self.function.argtypes = [ctypes.c_void_p] * 4 + [ctypes.c_uint] * 2 + [
            ctypes.c_int, ctypes.c_char_p, ctypes.c_size_t]

    def __call__(self, batch, row=0, n=None, copy=False):
        structs = [ctypes.create_string_buffer(80) for _ in range(4)]  # an ArrowSchema has 72
        addresses = [ctypes.addressof(s) for s in structs]
        message = ctypes.create_string_buffer(1000)
        batch.schema._export_to_c(addresses[0])
        batch._export_to_c(addresses[1])
        if not self.function(*addresses, row, batch.num_rows - row if n is None else n, copy,
                             message, len(message)):
            raise ValueError(message.value.decode())
        return pa.RecordBatch._import_from_c(addresses[3], addresses[2])


def value(rand, kind):
    if pa.types.is_string(kind):
        return ''.join(chr(rand.choice([0, 65, 233, 0x20ac, 0x1f600])) for _ in range(rand.randrange(9)))
    if pa.types.is_binary(kind):
        return rand.randbytes(rand.randrange(9))
    if pa.types.is_boolean(kind):
        return rand.random() < 0.5
    if pa.types.is_floating(kind):
        return rand.choice([0.0, -0.0, 1e300, rand.random()])
    if pa.types.is_list(kind):
        return [rand.getrandbits(kind.value_type.bit_width) for _ in range(rand.randrange(9))]
    return rand.getrandbits(64) - (1 << 63 if pa.types.is_signed_integer(kind) else 0)


def make_batch(rand, n, nullable=True):
    columns = []
    schema = pa.schema([pa.field(name, kind, nullable) for name, kind in TYPES.items()])
    for kind in TYPES.values():
        nulls = nullable and rand.random() < 0.7
        columns.append(pa.array([None if nulls and rand.random() < 0.2 else value(rand, kind)
                                 for _ in range(n)], kind))
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def assert_same(got, expected):
    got.validate(full=True)
    assert got.num_rows == expected.num_rows, (got.num_rows, expected.num_rows)
    assert got.schema.names == expected.schema.names, got.schema
    assert [f.nullable for f in got.schema] == [f.nullable for f in expected.schema], got.schema
    assert repr(got.to_pylist()) == repr(expected.to_pylist())


def test_round_trip(probe):
    rand = random.Random(1)
    for i in range(300):
        batch = make_batch(rand, rand.randrange(0, 50), rand.random() < 0.8)
        assert_same(probe(batch, copy=i % 2 == 1), batch)


def test_slices(probe):
    rand = random.Random(2)
    whole = make_batch(rand, 100)
    for i in range(500):
        batch = whole.slice(rand.randrange(0, 101))
        batch = batch.slice(0, rand.randrange(0, batch.num_rows + 1))
        row = rand.randrange(0, batch.num_rows + 1)
        n = rand.randrange(0, batch.num_rows - row + 1)
        assert_same(probe(batch, row, n, i % 2 == 1), batch.slice(row, n))


def test_struct_slice(probe):
    """A slice of a struct array: the offset is the parent's, not the children's."""
    rand = random.Random(3)
    batch = make_batch(rand, 60, nullable=False)
    for begin, n in ((0, 60), (1, 20), (9, 51), (60, 0)):
        struct = batch.to_struct_array().slice(begin, n)
        assert_same(probe(pa.RecordBatch.from_struct_array(struct)), batch.slice(begin, n))


def test_empty(probe):
    schema = pa.schema(list(TYPES.items()))
    empty = pa.RecordBatch.from_pylist([], schema=schema)
    assert_same(probe(empty), empty)
    assert_same(probe(probe(empty, copy=True)), empty)
    no_fields = pa.RecordBatch.from_arrays([], schema=pa.schema([]))
    assert_same(probe(no_fields), no_fields)


def test_compute(probe):
    """What kernels make: offsets into shared data, buffers with room, bit offsets."""
    rand = random.Random(4)
    table = pa.Table.from_batches([make_batch(rand, 64) for _ in range(4)]).combine_chunks()
    for batch in table.filter(pa.array([i % 3 != 0 for i in range(256)])).to_batches(max_chunksize=37):
        assert_same(probe(batch), batch)


def refused(probe, array, *words):
    batch = pa.RecordBatch.from_arrays([array], schema=pa.schema([pa.field('column', array.type)]))
    try:
        probe(batch)
    except ValueError as error:
        for word in ('column', ) + words:
            assert word in str(error), (word, error)
    else:
        raise AssertionError('accepted: %s' % array.type)


def test_refused(probe):
    refused(probe, pa.array(['a'], pa.large_string()), "'U'", 'allowed are u, z')
    refused(probe, pa.array([b'a'], pa.large_binary()), "'Z'")
    refused(probe, pa.array([[1]], pa.large_list(pa.uint16())), "'+L' of S")
    refused(probe, pa.array([[1]], pa.list_(pa.int32())), "'+l' of i")
    refused(probe, pa.array([1], pa.int32()), "'i'")
    refused(probe, pa.array([None], pa.null()), "'n'")
    refused(probe, pa.array(['a', 'b']).dictionary_encode(), 'dictionary')
    refused(probe, pa.array([[1, None]], pa.list_(pa.uint32())), 'nulls among the items')
    bad = pa.Array.from_buffers(pa.string(), 2, [None, pa.py_buffer(b'\0\0\0\0\1\0\0\0\3\0\0\0'),
                                                 pa.py_buffer(b'a\xff\xff')])
    refused(probe, bad, 'row 1 is not valid UTF-8')


def test_required_null(probe):
    schema = pa.schema([pa.field('column', pa.int64(), nullable=False)])
    batch = pa.RecordBatch.from_arrays([pa.array([1, None, 2])], schema=schema)
    try:
        probe(batch)
    except ValueError as error:
        assert '1 of 3 values are null' in str(error), error
    else:
        raise AssertionError('accepted')


def test_memory(probe):
    """Nothing of pyarrow's is held once what came out of dlpipe is gone."""
    rand = random.Random(5)
    gc.collect()
    before = pa.total_allocated_bytes()
    for i in range(50):
        batch = probe(make_batch(rand, 1000, True), 10, 900, i % 2 == 1)
        del batch
    gc.collect()
    assert pa.total_allocated_bytes() == before, (pa.total_allocated_bytes(), before)


def main():
    probe = Probe(sys.argv[1])
    tests = [f for name, f in globals().items() if name.startswith('test_')]
    print('1..%d' % len(tests))
    for i, test in enumerate(tests, 1):
        try:
            test(probe)
            print('ok %d %s' % (i, test.__name__))
        except AssertionError as error:
            print('not ok %d %s\n# %s' % (i, test.__name__, str(error).replace('\n', '\n# ')[:2000]))


main()
