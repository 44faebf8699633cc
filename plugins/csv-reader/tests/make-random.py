#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes random/NN.csv and NN.txt: tables, and what Python's csv module reads from them, as
test-csv-python prints it. usage: make-random.py FOLDER"""

import csv
import io
import os
import random
import sys

PIECES = ['a', 'b c', '"', '""', ',', '\t', ';', '\n', '\r\n', '\n\n', ' ', 'é', '漢字', '😀', '\u2028',
          '\u0085', "'", '\\', '"x"', ',\n"', '0', '', '']
DIALECTS = [{}, {}, {'delimiter': '\t'}, {'delimiter': ';', 'quotechar': "'"},
            {'lineterminator': '\n'}, {'quoting': csv.QUOTE_ALL},
            {'delimiter': '|', 'lineterminator': '\n'}]


def make_cell(rand):
    n = rand.choice([0, 1, 1, 2, 3, 6, 20])
    return ''.join(rand.choice(PIECES) for _ in range(n))


def make_written(rand, dialect):
    """As Python writes it."""
    out = io.StringIO(newline='')
    writer = csv.writer(out, **dialect)
    writer.writerow(['c0', 'c1', 'c2', 'c3'])
    for _ in range(rand.randrange(30, 60)):
        writer.writerow([make_cell(rand) for _ in range(4)])
    return out.getvalue()


def make_by_hand(rand, dialect):
    """With quotes within plain fields too, and other line ends in one file."""
    delimiter = dialect.get('delimiter', ',')
    quote = dialect.get('quotechar', '"')
    rows = [delimiter.join(['c0', 'c1', 'c2', 'c3']) + '\n']
    for _ in range(rand.randrange(30, 60)):
        cells = []
        for _ in range(4):
            cell = make_cell(rand)
            if rand.random() < 0.5:
                cells.append(quote + cell.replace(quote, quote * 2) + quote)
            else:
                cell = ''.join(c for c in cell if c not in '\r\n' + delimiter)
                cells.append(cell.lstrip(quote))
        rows.append(delimiter.join(cells) + rand.choice(['\n', '\r\n', '\n\n', '\r\n\r\n']))
    return ''.join(rows) if rand.random() < 0.5 else ''.join(rows).rstrip('\r\n')


def escape(text):
    return ''.join('\\x%02x' % ord(c) if c < ' ' else c for c in text)


def read(text, dialect):
    rows = [row for row in csv.reader(io.StringIO(text, newline=''), **dialect) if row]
    assert all(len(row) == 4 for row in rows), rows
    return ['\t'.join(escape(cell) for cell in row) for row in rows[1:]]


def main(folder):
    rand = random.Random(1)
    for n in range(28):
        dialect = DIALECTS[n % len(DIALECTS)]
        text = (make_by_hand if n % 3 == 2 else make_written)(rand, dialect)
        delimiter = dialect.get('delimiter', ',')
        settings = 'delimiter=%s\tquote=%s' % ('tab' if delimiter == '\t' else delimiter,
                                               dialect.get('quotechar', '"'))
        lines = [settings] + read(text, dialect)
        with open(os.path.join(folder, '%02d.csv' % n), 'w', newline='', encoding='utf-8') as file:
            file.write(text)
        with open(os.path.join(folder, '%02d.txt' % n), 'w', newline='', encoding='utf-8') as file:
            file.write('\n'.join(lines) + '\n')


if __name__ == '__main__':
    main(sys.argv[1])
