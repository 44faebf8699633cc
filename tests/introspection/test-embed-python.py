#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""docs/examples/embed-python: run, interrupted, killed, continued. Environment: DLPIPE_EXAMPLE."""
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

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
        self.input = os.path.join(self.folder, 'in.jsonl')
        self.state = os.path.join(self.folder, 'run.state')
        self.expected = ['text %d' % i for i in range(max(int(60000 * SCALE), 20000))]
        with open(self.input, 'w', encoding='utf-8') as file:
            file.writelines('{"text": "%s"}\n' % text for text in self.expected)

    def start(self, name, location=None):
        graph = ('file-source location=%s ! jsonl-reader ! app-sink name=batches'
                 % (location or self.input))
        path = os.path.join(self.folder, name)
        with open(path, 'w') as out:
            child = subprocess.Popen([sys.executable, EXAMPLE, graph, self.state], stdout=out,
                                     stderr=subprocess.PIPE, text=True,
                                     env=dict(os.environ, SAVE_EVERY='500'))
        return child, path

    def lines(self, path):
        with open(path) as file:
            return file.read().splitlines()

    def run_whole(self, name):
        child, path = self.start(name)
        _, said = child.communicate(timeout=60)
        self.assertEqual((child.returncode, said), (0, ''))
        self.assertFalse(os.path.exists(self.state))
        return self.lines(path)

    def interrupt(self, name, number):
        child, path = self.start(name)
        end = time.monotonic() + 30
        while not os.path.exists(self.state) and child.poll() is None and time.monotonic() < end:
            time.sleep(0.001)
        child.send_signal(number)
        _, said = child.communicate(timeout=60)
        return child.returncode, said, self.lines(path)

    def test_whole(self):
        self.assertEqual(self.run_whole('out'), self.expected)

    def test_interrupted_and_continued(self):
        status, said, first = self.interrupt('first', signal.SIGINT)
        self.assertEqual(status, 75, said)
        self.assertLess(len(first), len(self.expected))
        self.assertEqual(first + self.run_whole('second'), self.expected)

    def test_killed_and_continued(self):
        status, _, first = self.interrupt('first', signal.SIGKILL)
        self.assertEqual(status, -signal.SIGKILL)
        second = self.run_whole('second')
        self.assertLess(len(second), len(self.expected))
        self.assertEqual(second, self.expected[-len(second):])
        # What was printed behind the last save comes again, nothing is left out.
        whole = first[:-1] if first and first[-1] not in self.expected[:len(first)] else first
        self.assertEqual(whole, self.expected[:len(whole)])
        self.assertGreaterEqual(len(first) + len(second), len(self.expected))

    def test_an_error_is_said(self):
        child, path = self.start('out', os.path.join(self.folder, 'missing.jsonl'))
        _, said = child.communicate(timeout=60)
        self.assertEqual(child.returncode, 1)
        self.assertIn('missing.jsonl', said)
        self.assertNotIn('Traceback', said)


if __name__ == '__main__':
    tap.main()
