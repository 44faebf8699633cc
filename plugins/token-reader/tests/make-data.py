#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""make-data.py: writes data/*.npy with NumPy, of which nothing else here makes use."""
import pathlib

import numpy

folder = pathlib.Path(__file__).parent / 'data'
ids = [1, 2, 3, 100, 127, 0, 5]
for dtype in ('u1', 'i1', 'u2', 'i2', 'u4', 'i4', 'u8', 'i8'):
    numpy.save(folder / (dtype + '.npy'), numpy.array(ids, '<' + dtype))
for version in (2, 3):
    with open(folder / ('version-%d.npy' % version), 'wb') as file:
        numpy.lib.format.write_array(file, numpy.array(ids, '<u2'), version=(version, 0))
numpy.save(folder / 'matrix.npy', numpy.arange(12, dtype='<u4').reshape(3, 4))
