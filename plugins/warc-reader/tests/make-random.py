#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes random/NN.warc or NN.warc.gz and NN.txt: archives, and what warcio reads from them, as
test-warc-python prints it. usage: make-random.py FOLDER (needs warcio, from PyPI)"""

import gzip
import io
import os
import random
import sys
import zlib

from warcio.archiveiterator import ArchiveIterator
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

PIECES = ['a', ' b', '\n', '\r\n', '\r\n\r\n', 'WARC/', 'WARC/1.0', 'é', '漢字', '😀', '<p>', '0\r\n', 'x' * 50]
TYPES = ['response', 'response', 'response', 'conversion', 'resource', 'request', 'metadata']


def make_text(rand):
    return ''.join(rand.choice(PIECES) for _ in range(rand.choice([0, 1, 5, 30, 200]))).encode()


def chunk(rand, data):
    out = []
    while data:
        n = rand.randrange(1, 60)
        out.append(b'%x%s\r\n%s\r\n' % (len(data[:n]), rand.choice([b'', b';a=b']), data[:n]))
        data = data[n:]
    return b''.join(out) + b'0\r\n\r\n'


def encode(rand, body, headers):
    """As a server would have sent it."""
    if rand.random() < 0.3:
        coding = rand.choice(['gzip', 'deflate'])
        body = gzip.compress(body) if coding == 'gzip' else zlib.compress(body)
        headers.append(('Content-Encoding', coding))
    if rand.random() < 0.3:
        body = chunk(rand, body)
        headers.append(('Transfer-Encoding', 'chunked'))
    return body


def write_record(rand, writer, n):
    kind = rand.choice(TYPES)
    body = make_text(rand)
    http = None
    if kind == 'response' or kind == 'request':
        headers = [('Content-Type', 'text/html'), ('X-Test', 'no. %d' % n)]
        rand.shuffle(headers)
        body = encode(rand, body, headers)
        line = 'GET / HTTP/1.1' if kind == 'request' else '%d OK' % rand.choice([200, 404, 301])
        http = StatusAndHeaders(line, headers, protocol='' if kind == 'request' else 'HTTP/1.1',
                                is_http_request=kind == 'request')
    writer.write_record(writer.create_warc_record(
        'http://example.test/%d?%s' % (n, 'q' * rand.randrange(40)), kind, payload=io.BytesIO(body),
        length=len(body), http_headers=http,
        warc_headers_dict={'WARC-Date': '2024-01-01T00:00:%02dZ' % (n % 60)}))


def escape(text):
    return ''.join('\\x%02x' % ord(c) if c < ' ' else c for c in text)


def read(data, types):
    lines = []
    for record in ArchiveIterator(io.BytesIO(data)):
        if record.rec_type not in types:
            continue
        http = record.http_headers
        status = test = None
        if http is not None:
            test = http.get_header('X-Test')
            if record.rec_type != 'request':
                status = http.get_statuscode()
        fields = [record.content_stream().read().decode(),
                  record.rec_headers.get_header('WARC-Target-URI'), record.rec_type, status, test,
                  record.rec_headers.get_header('WARC-Date')]
        lines.append('\t'.join('(null)' if f is None else escape(f) for f in fields))
    return lines


def main(folder):
    rand = random.Random(1)
    for n in range(16):
        out = io.BytesIO()
        writer = WARCWriter(out, gzip=n % 2 == 1, warc_version=rand.choice(['1.0', '1.1']))
        if n % 3 == 0:
            writer.write_record(writer.create_warcinfo_record('x.warc', {'software': 'x'}))
        for i in range(rand.randrange(10, 25)):
            write_record(rand, writer, i)
        types = rand.sample(sorted(set(TYPES)), rand.randrange(1, 5))
        if not read(out.getvalue(), types):
            types = ['response']
        settings = 'types=' + ','.join(types) + '\tverify-digest=true'
        name = os.path.join(folder, '%02d.warc%s' % (n, '.gz' if n % 2 == 1 else ''))
        with open(name, 'wb') as file:
            file.write(out.getvalue())
        with open(os.path.join(folder, '%02d.txt' % n), 'w', newline='', encoding='utf-8') as file:
            file.write('\n'.join([settings] + read(out.getvalue(), types)) + '\n')


if __name__ == '__main__':
    main(sys.argv[1])
