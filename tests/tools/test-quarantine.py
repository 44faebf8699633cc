#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Bad records of a run are taken out of its quarantine file by the script of the page, repaired, and read again: then all
records are there, once.
usage: test-quarantine.py DLPIPE_LAUNCH SOURCE_FOLDER"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import tap  # noqa: E402

LAUNCH = os.path.abspath(sys.argv.pop(1))
PAGE = os.path.join(sys.argv.pop(1), 'plugins', 'jsonl-sink', 'README.md')
# What is wrong with a line, and what makes it right.
FAULTS = [
    (b'{"text": "n%d"', lambda line: line + b'}'),
    (b'{"text": "n%d \xff"}', lambda line: line.replace(b'\xff', b'')),
    (b'{"text": n%d}', lambda line: re.sub(rb'(n\d+)', rb'"\1"', line)),
    (b'{"body": "n%d"}', lambda line: line.replace(b'body', b'text')),
    ('{"text": "n%d", "é"}'.encode(), lambda line: line.replace(', "é"'.encode(), b'')),
]


def get_script():
    """The indented block of the page that begins with an import."""
    with open(PAGE, encoding='utf-8') as file:
        block = re.search(r'\n((?:    import .*\n)(?:(?:    .*)?\n)+)', file.read()).group(1)
    return re.sub('^    ', '', block, flags=re.M)


class Quarantine(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix='dlpipe-quarantine-')

    def tearDown(self):
        shutil.rmtree(self.folder)

    def path(self, name):
        return os.path.join(self.folder, name)

    def launch(self, graph, *options):
        run = subprocess.run([LAUNCH, '-q', *options, graph], cwd=self.folder, stderr=subprocess.PIPE)
        self.assertEqual(run.returncode, 0, run.stderr)

    def read_texts(self, name):
        with open(self.path(name), encoding='utf-8') as file:
            return [json.loads(line)['text'].strip() for line in file]

    def test_repair(self):
        n, bad = 3000, {}
        with open(self.path('in.jsonl'), 'wb') as file:
            for i in range(n):
                fault = FAULTS[i // 7 % len(FAULTS)] if i % 7 == 3 else None
                bad[i] = fault
                file.write((fault[0] if fault else b'{"text": "n%d"}') % i + (b'\r\n' if i % 2 else b'\n'))
        self.launch('file-source location=in.jsonl ! jsonl-reader max-bad-ratio=1 ! jsonl-sink location=good.jsonl')
        with open(self.path('repair.py'), 'w', encoding='utf-8') as file:
            file.write(get_script())
        again = subprocess.run([sys.executable, 'repair.py', 'good.jsonl.dlpipe/quarantine.jsonl'], cwd=self.folder,
                               stdout=subprocess.PIPE, check=True).stdout.splitlines()
        faults = [fault for fault in bad.values() if fault]
        self.assertEqual(len(again), len(faults))
        with open(self.path('again.jsonl'), 'wb') as file:
            for line, fault in zip(again, faults):
                file.write(fault[1](line) + b'\n')
        self.launch('file-source location=again.jsonl ! jsonl-reader ! jsonl-sink location=repaired.jsonl', '--strict')
        texts = self.read_texts('good.jsonl') + self.read_texts('repaired.jsonl')
        self.assertEqual(sorted(texts), sorted('n%d' % i for i in range(n)))


if __name__ == '__main__':
    tap.main()
