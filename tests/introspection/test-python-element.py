#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""docs/examples/python-element on real files, its errors, its Ctrl-C. Environment: DLPIPE_EXAMPLE."""
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import unicodedata

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import tap  # noqa: E402

try:
    import gi
    gi.require_version('Dlp', '1.0')
except (ImportError, ValueError) as why:
    print('1..0 # SKIP %s' % why)
    sys.exit(0)

EXAMPLE = os.environ['DLPIPE_EXAMPLE']
SCALE = float(os.environ.get('DLPIPE_TEST_SCALE', '1'))


class Example(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix='dlpipe-python-')
        self.addCleanup(shutil.rmtree, self.folder)
        n = max(int(20000 * SCALE), 5000)
        self.texts = ['Cafe\u0301  number\n%d' % i if i % 7 else 'a' for i in range(n)]
        self.input = os.path.join(self.folder, 'in.jsonl')
        self.output = os.path.join(self.folder, 'out.jsonl')
        with open(self.input, 'w', encoding='utf-8') as file:
            for text in self.texts:
                file.write(json.dumps({'text': text}) + '\n')
        self.expected = [tidy for tidy in (' '.join(unicodedata.normalize('NFC', text).split())
                                           for text in self.texts) if len(tidy) >= 5]
        self.graph = ('file-source location=%s ! jsonl-reader ! python-tidy min-characters=5 '
                      '! jsonl-sink location=%s' % (self.input, self.output))

    def command(self, graph):
        return [sys.executable, EXAMPLE, graph]

    def check_output(self):
        with open(self.output, encoding='utf-8') as file:
            self.assertEqual([json.loads(line)['text'] for line in file], self.expected)

    def test_runs(self):
        done = subprocess.run(self.command(self.graph), stderr=subprocess.PIPE, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stderr), (0, ''))
        self.check_output()

    def test_a_wrong_schema_is_named(self):
        done = subprocess.run(
            self.command('file-source location=%s ! python-tidy ! null-sink' % self.input),
            stderr=subprocess.PIPE, text=True, timeout=60)
        self.assertEqual(done.returncode, 1)
        self.assertIn('python-tidy0: needs a field “text” of type string, but gets files', done.stderr)
        self.assertNotIn('Traceback', done.stderr)

    def test_interrupted_and_continued(self):
        runs = 0
        while True:
            runs += 1
            self.assertLess(runs, 100)
            child = subprocess.Popen(self.command(self.graph), stderr=subprocess.PIPE, text=True)
            end = time.monotonic() + 20
            while child.poll() is None and time.monotonic() < end and runs < 6:
                if os.path.exists(os.path.join(self.output + '.dlpipe', 'lock')):
                    time.sleep(0.02)
                    child.send_signal(signal.SIGINT)
                    break
                time.sleep(0.002)
            _, said = child.communicate(timeout=60)
            if child.returncode == 0:
                break
            # Before it looks at signals it dies of them, as any program.
            self.assertIn(child.returncode, (75, -signal.SIGINT, 1), said)
        self.check_output()


if __name__ == '__main__':
    tap.main()
