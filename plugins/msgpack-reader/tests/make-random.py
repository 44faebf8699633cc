#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""make-random.py: writes random/NN.msgpack and what it holds, NN.txt, with the PyPI package msgpack, of which nothing
else here makes use. The first line of a text is settings of the reader, with tabs between, the others its fields."""
import gzip
import pathlib
import random

import msgpack

N_FILES = 12
folder = pathlib.Path(__file__).parent / 'random'


def make_text(rng):
    letters = 'ab\n\t\0"\\é€𝄞 '
    return ''.join(rng.choice(letters) for _ in range(rng.choice((0, 3, 3, 5, 31, 32, 32, 300))))


def make_integer(rng):
    bits = rng.choice((4, 7, 8, 15, 16, 31, 32, 63))
    return rng.choice((1, -1)) * rng.getrandbits(bits)


def make_junk(rng, depth):
    kinds = [lambda: None, lambda: rng.random() < 0.5, lambda: make_integer(rng), lambda: rng.random() * 1e9,
             lambda: make_text(rng), lambda: rng.randbytes(rng.choice((0, 5, 300))),
             lambda: msgpack.ExtType(rng.randrange(127), rng.randbytes(rng.choice((1, 2, 3, 4, 8, 16, 300))))]
    if depth < 3:
        kinds += [lambda: [make_junk(rng, depth + 1) for _ in range(rng.choice((0, 1, 2, 2, 17)))],
                  lambda: {make_text(rng) + str(i): make_junk(rng, depth + 1) for i in range(rng.choice((0, 1, 2, 17)))}]
    return rng.choice(kinds)()


def show_text(text):
    return ''.join('\\x%02x' % ord(c) if c < ' ' else c for c in text)


def make_record(rng, f32):
    values = {'text': make_text(rng), 'n': make_integer(rng), 'flag': rng.choice((True, False, None)),
              'x': float(rng.randrange(-1000, 1000)) / 8, 'ids': [rng.getrandbits(rng.choice((3, 8, 16)))
                                                                  for _ in range(rng.choice((0, 3, 20)))]}
    inner = {'deep': make_integer(rng)}
    record = dict(values, inner={'more': inner, 'z': make_junk(rng, 2)})
    for i in range(rng.randrange(5)):
        record['junk%d' % i] = make_junk(rng, 0)
    items = list(record.items())
    rng.shuffle(items)
    flag = '(null)' if values['flag'] is None else str(values['flag']).lower()
    line = [show_text(values['text']), str(values['n']), flag, '%.17g' % values['x'],
            '[%s]' % ','.join(map(str, values['ids'])), str(inner['deep'])]
    return msgpack.packb(dict(items), use_single_float=f32), '\t'.join(line)


folder.mkdir(exist_ok=True)
for number in range(N_FILES):
    rng = random.Random(number)
    records = [make_record(rng, number % 2 == 1) for _ in range(12)]
    data = b''.join(record for record, _ in records)
    name = '%02d.msgpack' % number
    if number % 3 == 2:
        with gzip.GzipFile(folder / (name + '.gz'), 'wb', mtime=0) as file:
            file.write(data)
    else:
        (folder / name).write_bytes(data)
    lines = ['fields=n:i64,flag:bool?,x:f64,ids:u16[],deep=inner.more.deep:i64'] + [line for _, line in records]
    (folder / ('%02d.txt' % number)).write_text('\n'.join(lines) + '\n', encoding='utf-8')
