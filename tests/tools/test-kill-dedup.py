#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""dedup in little memory, so that most of its hashes are in files, killed at random instants and gone on with:
the lines that are kept and those that are dropped are those that a set of Python tells apart.
usage: test-kill-dedup.py DLPIPE_LAUNCH"""
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import tap  # noqa: E402

LAUNCH = os.path.abspath(sys.argv.pop(1))
SCALE = float(os.environ.get('DLPIPE_TEST_SCALE', '1'))
N_LINES = 240000
N_DIFFERENT = 150000
N_KILLS = max(1, int(8 * SCALE))
GRAPH = ('file-source location=in.txt ! text-reader unit=line ! dedup name=d ! jsonl-sink location=kept.jsonl  '
         'd.rejected ! jsonl-sink location=dropped.jsonl')


class Dedup(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix='dlpipe-dedup-')
        self.rand = random.Random(3)
        self.lines = ['line %d' % self.draw(i) for i in range(N_LINES)]
        with open(os.path.join(self.folder, 'in.txt'), 'w') as file:
            file.write('\n'.join(self.lines) + '\n')

    def tearDown(self):
        shutil.rmtree(self.folder)

    def draw(self, i):
        """Near repetitions, far ones, and none."""
        limit = max(1, N_DIFFERENT * (i + 1) // N_LINES)
        return (limit - 1, self.rand.randrange(limit), max(0, limit - 1 - self.rand.randrange(100)))[i % 3]

    def start(self, *options):
        return subprocess.Popen([LAUNCH, '-q', '--memory=1M', '--state', 'state', *options, GRAPH],
                                cwd=self.folder, stderr=subprocess.PIPE)

    def finish(self, run, status=0):
        error = run.communicate()[1]
        self.assertEqual(run.returncode, status, error)
        return error

    def list_logs(self):
        return [name for name in os.listdir(os.path.join(self.folder, 'state')) if name.startswith('state-d-')]

    def read(self, name):
        with open(os.path.join(self.folder, name)) as file:
            return [json.loads(line)['text'] for line in file]

    def check_output(self):
        seen = set()
        kept, dropped = [], []
        for line in self.lines:
            (dropped if line in seen else kept).append(line)
            seen.add(line)
        self.assertEqual(self.read('kept.jsonl'), kept)
        self.assertEqual(self.read('dropped.jsonl'), dropped)
        self.assertEqual(self.list_logs(), [])

    def test_whole(self):
        self.finish(self.start())
        self.check_output()
        self.finish(self.start())
        self.check_output()

    def test_killed(self):
        began = time.monotonic()
        self.finish(self.start('--checkpoint-every=1ms'))
        length = time.monotonic() - began
        shutil.rmtree(os.path.join(self.folder, 'state'))
        for name in 'kept.jsonl', 'dropped.jsonl':
            for path in name, name + '.manifest.json', name.replace('.jsonl', '.manifest.json'):
                if os.path.exists(os.path.join(self.folder, path)):
                    os.remove(os.path.join(self.folder, path))
        n_killed = 0
        for _ in range(N_KILLS):
            run = self.start('--checkpoint-every=1ms')
            time.sleep(self.rand.random() * length)
            run.kill()
            run.communicate()
            n_killed += run.returncode == -9
        self.finish(self.start())
        self.assertGreater(n_killed, 0)
        self.check_output()

    def newest(self):
        """The number of the newest checkpoint, or 0."""
        try:
            names = os.listdir(os.path.join(self.folder, 'state'))
        except FileNotFoundError:
            return 0
        return max((int(name[11:]) for name in names if name[:11] == 'checkpoint-' and name[11:].isdigit()), default=0)

    def wait_for(self, run, is_there):
        while not is_there():
            self.assertIsNone(run.poll(), 'the run ended too early')
            time.sleep(0.001)

    def test_damaged_log(self):
        """A log that is not what the checkpoint says is refused by its name."""
        log = os.path.join(self.folder, 'state', 'state-d-1-1')
        run = self.start('--checkpoint-every=1ms')
        self.wait_for(run, lambda: os.path.exists(log) and os.path.getsize(log) > 300000)
        n = self.newest()
        self.wait_for(run, lambda: self.newest() >= n + 3)
        run.kill()
        run.communicate()
        with open(log, 'r+b') as file:
            file.write(b'x' * 16)
        self.assertIn(b'state-d-1-1: its content has the hash ', self.finish(self.start(), 3))
        os.truncate(log, 8)
        self.assertIn(b'state-d-1-1: is 8 bytes, but the checkpoint', self.finish(self.start(), 3))
        os.remove(log)
        self.assertIn(b'state-d-1-1 is missing', self.finish(self.start(), 3))


if __name__ == '__main__':
    tap.main()
