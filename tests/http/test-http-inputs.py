#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The inputs of tests/data/cases, one byte a packet: as many good and bad records as the manifest says, and the same
ones as from the disk."""
import concurrent.futures
import csv
import json
import os
import re
import shutil
import tempfile
import unittest

from common import FaultyServer, launch, read, tap

TREE = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..')
CASES = os.path.join(TREE, 'tests', 'data', 'cases')
FOLDERS = (CASES, os.path.join(TREE, 'plugins', 'tar-reader', 'tests', 'cases'),
           os.path.join(TREE, 'plugins', 'warc-reader', 'tests', 'cases'))
READERS = {'j': 'jsonl-reader', 'g': 'jsonl-reader', 'z': 'jsonl-reader', 'x': 'jsonl-reader', 'l': 'jsonl-reader',
           'b': 'jsonl-reader', 'w': 'warc-reader',
           # Samples with a text, and without one.
           't': "tar-reader fields='key,text=txt:string?,json:string?'",
           'p': 'parquet-reader'}
SETTINGS = {'z08': 'window-log-max=31', 'x06': 'window-log-max=31', 'j18': 'field=data.doc.text'}
# The wrong length costs one record here, and not all that follow.
GOOD = {'w04-content-length-long.warc': 2}
PARQUET = bool(os.environ.get('DLPIPE_ARROW_DATA'))


def find(name):
    for folder in FOLDERS:
        if os.path.exists(os.path.join(folder, name)):
            return os.path.join(folder, name)
    raise FileNotFoundError(name)


class Inputs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with open(os.path.join(CASES, 'manifest.tsv'), encoding='utf-8') as file:
            rows = list(csv.DictReader(file, delimiter='\t', quoting=csv.QUOTE_NONE))
        cls.rows = [row for row in rows if row['file'][0] in READERS and (PARQUET or row['file'][0] != 'p')]
        cls.folder = tempfile.TemporaryDirectory()
        root = os.path.join(cls.folder.name, 'served')
        os.mkdir(root)
        for row in cls.rows:
            shutil.copy(find(row['file']), root)
        names = [row['file'] for row in cls.rows]
        with FaultyServer(root, '--packet', '1') as server, concurrent.futures.ThreadPoolExecutor(2) as pool:
            cls.local = dict(zip(names, pool.map(lambda name: cls.run_graph(root + '/' + name, name, 'local'), names)))
            cls.served = dict(zip(names, pool.map(
                lambda name: cls.run_graph(server.uri('ok', name), name, 'served'), names)))

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    @classmethod
    def run_graph(cls, location, name, kind):
        base = os.path.join(cls.folder.name, kind + '-' + name)
        done = launch('file-source location=%s ! %s %s on-damaged-file=keep max-bad-ratio=1 ! jsonl-sink location=%s' % (
            location, READERS[name[0]], SETTINGS.get(name[:3], ''), base + '.out'),
                      '--no-state', '--progress=none', '--quarantine', base + '.bad', '--summary', base + '.json',
                      # Else each window of 2 GiB is written to.
                      MALLOC_PERTURB_='0')
        summary = json.loads(read(base + '.json'))
        outputs = [read(base + end) if os.path.exists(base + end) else b'' for end in ('.out', '.bad')]
        # Where it came from is in a bad record.
        outputs[1] = re.sub(rb'"uri":"[^"]*"', b'', outputs[1])
        return done, summary, outputs

    def test_counts(self):
        self.assertGreaterEqual(len(self.rows), 40 if PARQUET else 37)
        for row in self.rows:
            name = row['file']
            with self.subTest(file=name):
                done, summary, outputs = self.served[name]
                if row['good'] != '-':
                    self.assertEqual(outputs[0].count(b'\n') if done.returncode in (0, 4) else 0,
                                     GOOD.get(name, int(row['good'])), done.stderr)
                self.assertEqual(summary.get('bad-records', 0) + summary.get('damaged-files', 0), int(row['bad']),
                                 (done.stderr, summary))

    def test_same_as_from_disk(self):
        for row in self.rows:
            name = row['file']
            with self.subTest(file=name):
                local, served = self.local[name], self.served[name]
                self.assertEqual(served[0].returncode, local[0].returncode, served[0].stderr)
                # A run that fails leaves what it had come to.
                if served[0].returncode in (0, 4):
                    self.assertEqual(served[2], local[2])


if __name__ == '__main__':
    tap.main()
