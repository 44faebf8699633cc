#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Each fault of a server, with each kind of file: whole runs, and what they end with."""
import concurrent.futures
import os
import random
import subprocess
import tempfile
import unittest

from common import FAULTY_SERVER, FaultyServer, launch, lines, read, tap, warc, write

PARQUET = os.environ.get('DLPIPE_ARROW_DATA')
FORMATS = {
    'plain': ('a.jsonl', 'jsonl-reader'),
    'gz': ('a.jsonl.gz', 'jsonl-reader'),
    'zst': ('a.jsonl.zst', 'jsonl-reader'),
    'warc': ('a.warc.gz', 'warc-reader'),
    'parquet': ('a.parquet', 'parquet-reader'),
}
SETTINGS = 'http.retries=6 http.first-wait=1ms http.retry-time=30s http.timeout=1s'

# The verdicts: exit status, and what is said.
OK = (0, '')
DAMAGED = (1, '')
# Twice in a row the server may end a body before its first byte, and does so for ever then.
OK_OR_DAMAGED = (0, 1)
CHANGED = (3, 'the source changed')
# By which of the requests met the change, that before the run or one of it; never a mix of both.
CHANGED_OR_OK = ((0, 3), '')
LOOP = (2, 'redirects more than 10 times')
DENIED = (2, 'the server answers 403 Forbidden; is a login needed')
# 2 where nobody had taken a step yet.
EXPIRED = ((1, 2), 'has a signed address or a login run out?')
NO_LENGTH = (1, 'does not say how long it is')
NO_INDEX = ((1, 2), '')

# Of each mode: what it comes to for plain files, for compressed ones, and for Parquet.
MODES = {
    'ok': (OK, OK, OK),
    'chunked': (OK, OK, OK),
    'http503': (OK, OK, OK),
    'http429': (OK, OK, OK),
    'http500': (OK, OK, OK),
    'norange': (OK, OK, OK),
    'drop': (OK, OK, OK),
    'slow': (OK, OK, OK),
    'one-byte': (OK, OK, OK),
    'redirect': (OK, OK, OK),
    'redirect-host': (OK, OK, OK),
    'long': (OK, OK, OK),
    'range-early': (OK, OK, OK),
    'status200-range': (OK, OK, OK),
    'dup-bytes-header': (OK, OK, OK),
    'close-after': (OK, OK, OK),
    'weak-etag': (OK, OK, OK),
    'short': (None, None, OK_OR_DAMAGED),
    'chunk-cut': (None, None, OK_OR_DAMAGED),
    'rst': (OK_OR_DAMAGED,) * 3,
    'rst99': (DAMAGED, DAMAGED, DAMAGED),
    'stall': (DAMAGED, DAMAGED, DAMAGED),
    'wrong-length': (DAMAGED, DAMAGED, DAMAGED),
    # A page of HTML in the place of each.
    'html200': (DAMAGED, DAMAGED, DAMAGED),
    # A plain file that is compressed on the way is decoded as one that lies there so.
    'gzip-encoding': (OK, DAMAGED, DAMAGED),
    'gzip-encoding-cut': (DAMAGED, DAMAGED, DAMAGED),
    'eof': (DAMAGED, DAMAGED, DAMAGED),
    # Without a length only what says itself where it ends can be read, and nothing by ranges.
    'no-length': (NO_LENGTH, OK, NO_INDEX),
    'redirect-loop': (LOOP, LOOP, LOOP),
    'etag-change': (CHANGED, CHANGED, CHANGED),
    'etag-change-once': (CHANGED_OR_OK, CHANGED_OR_OK, CHANGED_OR_OK),
    'expired403': (DENIED, DENIED, DENIED),
    'expired-middle': (EXPIRED, EXPIRED, EXPIRED),
}


def comes_through(size, seed=1):
    """Of a server that ends each body at a byte drawn for its length: whether the last one comes."""
    while size > 0:
        got = random.Random(seed).randrange(size + 1)
        if got == 0:
            return False
        size -= got
    return True


def add_files(root, prefix, size):
    plain = write(root, prefix + 'a.jsonl', lines(1, size))
    subprocess.run(['gzip', '-k', plain], check=True)
    subprocess.run(['zstd', '-q', plain], check=True)
    write(root, prefix + 'a.warc.gz', warc(1, size))
    if PARQUET:
        write(root, prefix + 'a.parquet', read(os.path.join(PARQUET, 'codec-zstd.parquet')))


class Modes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.root = os.path.join(cls.folder.name, 'served')
        os.mkdir(cls.root)
        add_files(cls.root, '', 30000)
        # Each stall gives half of the rest, and takes a second.
        add_files(cls.root, 'small-', 100)
        kinds = [kind for kind in FORMATS if kind != 'parquet' or PARQUET]
        cls.expected = {kind: cls.run_graph(cls.root, '', kind, kind + '-local') for kind in kinds}
        # Most of it is waiting.
        with FaultyServer(cls.root) as server, concurrent.futures.ThreadPoolExecutor(8) as pool:
            runs = {(mode, kind): pool.submit(cls.run_graph, server.uri(mode, '')[:-1],
                                              'small-' if mode == 'stall' else '', kind, kind + '-' + mode, SETTINGS)
                    for mode in MODES for kind in kinds}
            cls.results = {key: run.result() for key, run in runs.items()}

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    @classmethod
    def run_graph(cls, folder, prefix, kind, name, settings=''):
        file, reader = FORMATS[kind]
        out = os.path.join(cls.folder.name, name + '.jsonl')
        done = launch('file-source location=%s/%s%s %s ! %s ! jsonl-sink location=%s' % (
            folder, prefix, file, settings, reader, out), '--no-state', '--progress=none')
        return done, read(out) if os.path.exists(out) else None

    def verdict(self, mode, kind):
        plain, compressed, parquet = MODES[mode]
        verdict = {'plain': plain, 'parquet': parquet}.get(kind, compressed)
        if verdict is None:
            size = os.path.getsize(os.path.join(self.root, FORMATS[kind][0]))
            return OK if comes_through(size) else DAMAGED
        return verdict

    def check(self, mode, kind):
        done, output = self.results[mode, kind]
        said = (mode, kind, done.returncode, done.stderr)
        verdict = self.verdict(mode, kind)
        if verdict is OK_OR_DAMAGED:
            self.assertIn(done.returncode, OK_OR_DAMAGED, said)
        else:
            self.assertIn(done.returncode, verdict[0] if isinstance(verdict[0], tuple) else (verdict[0],), said)
            self.assertIn(verdict[1], done.stderr, said)
        if done.returncode == 0:
            self.assertEqual(output, self.expected[kind][1], said)
        else:
            self.assertIsNone(output, said)
            self.assertIn(FORMATS[kind][0], done.stderr, said)

    def test_served_modes(self):
        """All of the server's are here."""
        text = read(FAULTY_SERVER).decode()
        chaos = text[text.index('CHAOS = ['):text.index(']', text.index('CHAOS = ['))].split("'")[1::2]
        self.assertGreater(len(chaos), 10)
        self.assertEqual([mode for mode in chaos if mode not in MODES], [])


def make_test(kind):
    def test(self):
        if kind == 'parquet' and not PARQUET:
            self.skipTest('the plugin arrow is not built')
        self.assertEqual(self.expected[kind][0].returncode, 0, self.expected[kind][0].stderr)
        self.assertGreater(len(self.expected[kind][1]), 1000)
        for mode in MODES:
            with self.subTest(mode=mode):
                self.check(mode, kind)
    return test


for each in FORMATS:
    setattr(Modes, 'test_' + each, make_test(each))

if __name__ == '__main__':
    tap.main()
