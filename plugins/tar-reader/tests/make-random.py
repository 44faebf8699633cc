#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes random/NN.tar or NN.tar.gz and NN.txt: archives, written by Python's tarfile, and what
webdataset reads from them, as test-tar-python prints it.
usage: make-random.py FOLDER (needs webdataset, from PyPI)"""

import io
import json
import os
import random
import sys
import tarfile

from webdataset import tariterators

FORMATS = [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT]
FOLDERS = ['', 'x/', 'train.v1/', './', '/abs/', '../', 'd' * 90 + '/']
PIECES = ['a', ' ', '\n', 'é', '漢字', '😀', '\t', 'x' * 100]


def make_text(rand):
    return ''.join(rand.choice(PIECES) for _ in range(rand.choice([0, 1, 5, 40]))).encode()


def add(archive, name, data, **more):
    info = tarfile.TarInfo(name)
    info.size = len(data)
    for key, value in more.items():
        setattr(info, key, value)
    archive.addfile(info, io.BytesIO(data))


def add_other(rand, archive, n):
    """What belongs to no sample."""
    kind = rand.randrange(4)
    if kind == 0:
        add(archive, 'folder.%d' % n, b'', type=tarfile.DIRTYPE)
    elif kind == 1:
        add(archive, 'link%d.txt' % n, b'', type=tarfile.SYMTYPE, linkname='a.txt')
    elif kind == 2:
        add(archive, 'README', b'x')
    else:
        add(archive, '__meta__', b'x' * 600)


def add_sample(rand, archive, n, form):
    folder = rand.choice(FOLDERS)
    stem = folder + rand.choice(['%06d' % n, 'é%d' % n, 'n%d ' % n + 'y' * rand.randrange(90)])
    if form != tarfile.USTAR_FORMAT and rand.random() < 0.2:
        stem += 'z' * 200
    members = [('txt', make_text(rand)), ('cls', b'%d\n' % rand.randrange(1000))]
    if rand.random() < 0.7:
        members.append(('json', json.dumps({'a': {'n': rand.randrange(99)}, 't': make_text(rand).decode()},
                                           indent=rand.choice([None, 1])).encode()))
    if rand.random() < 0.3:
        members.append(('seg.bin', rand.randbytes(rand.randrange(1500))))
    rand.shuffle(members)
    for extension, data in members:
        extension = extension.upper() if rand.random() < 0.1 else extension
        more = {'pax_headers': {'comment': 'x' * 700}} if rand.random() < 0.1 else {}
        add(archive, stem + '.' + extension, data, **more)


def escape(text):
    return ''.join('\\x%02x' % ord(c) if c < ' ' else c for c in text)


def read(path):
    samples = tariterators.tarfile_samples([{'url': path}])
    lines = []
    for sample in samples:
        meta = json.loads(sample['json']) if 'json' in sample else None
        fields = [sample['__key__'], sample['txt'].decode(), str(int(sample['cls']))]
        if meta is None:
            fields += ['(null)', '(null)']
        else:
            fields += [str(meta['a']['n']), meta['t']]
        lines.append('\t'.join(escape(f) for f in fields))
    return lines


def main(folder):
    rand = random.Random(1)
    for n in range(18):
        form = FORMATS[n % 3]
        name = os.path.join(folder, '%02d.tar%s' % (n, '.gz' if n % 6 else ''))
        with tarfile.open(name, 'w:gz' if n % 6 else 'w', format=form) as archive:
            for i in range(rand.randrange(5, 20)):
                if rand.random() < 0.3:
                    add_other(rand, archive, i)
                add_sample(rand, archive, i, form)
        settings = 'fields=key,text=txt,n=cls:int64,a=json.a.n:int64?,t=json.t:string?'
        with open(os.path.join(folder, '%02d.txt' % n), 'w', newline='', encoding='utf-8') as file:
            file.write('\n'.join([settings] + read(name)) + '\n')


if __name__ == '__main__':
    main(sys.argv[1])
