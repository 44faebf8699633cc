#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs of text-, csv-, warc-, tar-, token-, msgpack-, parquet- and arrow-reader are killed at
random instants and gone on with: what they write, good and rejected, is what a run writes that nobody disturbs.
usage: test-kill-readers.py DLPIPE_LAUNCH [PYTHON], which has pyarrow and writes the files of the last two"""
import csv
import gzip
import io
import itertools
import os
import random
import shutil
import struct
import subprocess
import sys
import tarfile
import tempfile
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import tap  # noqa: E402

LAUNCH = os.path.abspath(sys.argv.pop(1))
PYTHON = sys.argv.pop(1) if len(sys.argv) > 1 else ''
WRITE_TABLES = '''
import sys
import pyarrow as pa, pyarrow.parquet as pq
for i in range(3):
    n = int(sys.argv[2])
    texts = ['row %d of %d' % (k * 7919, i) if k % 4000 != 17 else None for k in range(n)]
    table = pa.table({'id': range(n), 'text': texts})
    pq.write_table(table, '%s/in-%d.parquet' % (sys.argv[1], i), row_group_size=[700, n, 5000][i])
    with pa.ipc.new_file('%s/in-%d.arrow' % (sys.argv[1], i), table.schema) as file:
        file.write_table(table, max_chunksize=[700, n, 5000][i])
'''
N_ROWS = 12000
N_KILLS = max(1, int(5 * float(os.environ.get('DLPIPE_TEST_SCALE', '1'))))


def write_text(folder, rand):
    for i in range(3):
        lines = []
        for k in range(N_ROWS):
            lines.append(b'line %d of %d %d' % (k, i, rand.randrange(10 ** 12)))
            if k % 5 == 4:
                lines.append(b'\r')
            if k % 4000 == 17:
                lines[-1] += b'\xff'
        text = b'\n'.join(lines)
        if i == 1:
            text = gzip.compress(text, 1)
        with open(os.path.join(folder, 'in-%d.txt' % i), 'wb') as file:
            file.write(text)


def write_csv(folder, rand):
    for i in range(3):
        path = os.path.join(folder, 'in-%d.csv' % i)
        columns = ['id', 'text', 'score']
        columns = columns[i:] + columns[:i]
        with open(path, 'w', newline='') as file:
            writer = csv.writer(file)
            writer.writerow(columns)
            for k in range(N_ROWS):
                row = {'id': k, 'text': 'row "%d"\n\nof, %d' % (rand.randrange(10 ** 12), i),
                       'score': k / 7 if k % 4000 else 'none'}
                writer.writerow([row[c] for c in columns])


def write_warc(folder, rand):
    for i in range(3):
        records = []
        for k in range(N_ROWS // 4):
            body = b'HTTP/1.1 200 OK\r\n\r\npage %d of %d %d' % (k, i, rand.randrange(10 ** 12))
            record = (b'WARC/1.0\r\nWARC-Type: response\r\nContent-Type: application/http\r\n'
                      b'WARC-Target-URI: http://example.test/%d\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n'
                      % (k, len(body) + 9 * (k % 1000 == 17), body))
            records.append(gzip.compress(record, 1) if i == 1 else record)
        with open(os.path.join(folder, 'in-%d.warc' % i), 'wb') as file:
            file.write(b''.join(records))


def write_tar(folder, rand):
    for i in range(3):
        with tarfile.open(os.path.join(folder, 'in-%d.tar' % i), 'w:gz' if i == 1 else 'w',
                          format=tarfile.GNU_FORMAT) as archive:
            for k in range(N_ROWS // 8):
                for extension in ('txt', 'cls') if k % 1000 != 17 else ('cls',):
                    data = b'%d' % (k if extension == 'cls' else rand.randrange(10 ** 12))
                    info = tarfile.TarInfo('%06d.%s' % (k, extension))
                    info.size = len(data)
                    archive.addfile(info, io.BytesIO(data))


def write_tokens(folder, rand):
    for i in range(3):
        lengths = [rand.randrange(40) for _ in range(N_ROWS)]
        ids = [rand.randrange(1 << 31) for _ in range(sum(lengths))]
        ids[17] = -1
        ends = list(itertools.accumulate(lengths))
        with open(os.path.join(folder, 'in-%d.bin' % i), 'wb') as file:
            file.write(struct.pack('<%di' % len(ids), *ids))
        with open(os.path.join(folder, 'in-%d.idx' % i), 'wb') as file:
            file.write(b'MMIDIDX\0\0' + struct.pack('<QBQQ', 1, 4, len(lengths), 2)
                       + struct.pack('<%di' % len(lengths), *lengths)
                       + struct.pack('<%dq' % len(ends), *(4 * (end - n) for end, n in zip(ends, lengths)))
                       + struct.pack('<2q', 0, len(lengths)))


def write_msgpack(folder, rand):
    for i in range(3):
        records = []
        for k in range(N_ROWS):
            ids = b''.join(b'\xcd' + struct.pack('>H', rand.randrange(1 << 16)) for _ in range(rand.randrange(15)))
            records.append(b'\x82\xa1k\xcd' + struct.pack('>H', k) + b'\xa3ids' + bytes([0x90 + len(ids) // 3]) + ids)
            if k % 4000 == 17:
                records.append(b'\x80')
        data = b''.join(records)
        with open(os.path.join(folder, 'in-%d.msgpack' % i), 'wb') as file:
            file.write(gzip.compress(data, 1) if i == 1 else data)


class Kill(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix='dlpipe-kill-')
        self.rand = random.Random(1)

    def tearDown(self):
        shutil.rmtree(self.folder)

    def start(self, graph, out):
        graph += (' name=r max-bad-ratio=1 chunk-bytes=20k interleave=2 ! jsonl-sink location=%s.jsonl'
                  '  r.rejected ! jsonl-sink location=%s-bad.jsonl' % (out, out))
        return subprocess.Popen([LAUNCH, '-q', '--checkpoint-every=1ms', '--state', out + '.state',
                                 graph], cwd=self.folder, stderr=subprocess.PIPE)

    def finish(self, run):
        error = run.communicate()[1]
        self.assertEqual(run.returncode, 0, error)

    def read(self, out):
        texts = []
        for name in (out + '.jsonl', out + '-bad.jsonl'):
            with open(os.path.join(self.folder, name), 'rb') as file:
                texts.append(file.read())
        return texts

    def check(self, graph):
        began = time.monotonic()
        self.finish(self.start(graph, 'whole'))
        length = time.monotonic() - began
        n_killed = 0
        out = 'killed'
        for i in range(N_KILLS):
            run = self.start(graph, out)
            time.sleep(self.rand.random() * length)
            run.kill()
            run.communicate()
            n_killed += run.returncode == -9
            if n_killed == 0:
                # It came to its end, faster than the first one: again from the beginning.
                length /= 2
                out = 'killed-%d' % i
        self.finish(self.start(graph, out))
        self.assertGreater(n_killed, 0)
        self.assertEqual(self.read(out), self.read('whole'))
        self.assertTrue(all(self.read('whole')))

    def test_lines(self):
        write_text(self.folder, self.rand)
        self.check('file-source location=in-*.txt ! text-reader unit=line')

    def test_paragraphs(self):
        write_text(self.folder, self.rand)
        self.check('file-source location=in-*.txt ! text-reader unit=paragraph')

    def test_csv(self):
        write_csv(self.folder, self.rand)
        self.check('file-source location=in-*.csv ! csv-reader fields=id:int64,score:double')

    def test_warc(self):
        write_warc(self.folder, self.rand)
        self.check('file-source location=in-*.warc ! warc-reader fields=url,http-status')

    def test_tar(self):
        write_tar(self.folder, self.rand)
        self.check('file-source location=in-*.tar ! tar-reader fields=key,text=txt,n=cls:int64')

    def test_tokens(self):
        write_tokens(self.folder, self.rand)
        self.check('file-source location=in-*.bin ! token-reader')

    def test_tokens_by_length(self):
        write_tokens(self.folder, self.rand)
        self.check('file-source location=in-*.bin ! token-reader format=flat dtype=i32 length=16')

    def test_msgpack(self):
        write_msgpack(self.folder, self.rand)
        self.check("file-source location=in-*.msgpack ! msgpack-reader field='' fields='tokens=ids:u16[],k:i64'")

    @unittest.skipUnless(PYTHON, 'the plugin arrow is not built, or not with pyarrow')
    def test_tables(self):
        subprocess.run([PYTHON, '-c', WRITE_TABLES, self.folder, str(N_ROWS)], check=True)
        for kind in 'parquet', 'arrow':
            self.check('file-source location=in-*.%s ! %s-reader fields=id:int64' % (kind, kind))
            for name in os.listdir(self.folder):
                if not name.startswith('in-'):
                    path = os.path.join(self.folder, name)
                    shutil.rmtree(path) if os.path.isdir(path) else os.remove(path)


if __name__ == '__main__':
    tap.main()
