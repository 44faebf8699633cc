#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Parts that become one output, plans that grow, failed tasks that are run again.
Arguments: dlpipe-fanout, dlpipe-launch, dlpipe-dataset."""
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import tap  # noqa: E402

FANOUT, LAUNCH, DATASET = (os.path.abspath(path) for path in sys.argv[1:4])
del sys.argv[1:4]
READ = 'file-source location=in-*.jsonl ! jsonl-reader ! '
LINES = READ + 'jsonl-sink location=out'
TOKENS = 'tokenizer model=gpt2 ! megatron-sink location='


class Merge(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix='dlpipe-merge-')
        self.addCleanup(shutil.rmtree, self.dir)
        for i in range(8):
            self.write('in-%d.jsonl' % i, 60 * (i + 1), 'file %d' % i)

    def path(self, name):
        return os.path.join(self.dir, name)

    def write(self, name, n, text):
        with open(self.path(name), 'w', encoding='utf-8') as file:
            file.writelines('{"text": "%s record %d"}\n' % (text, k) for k in range(n))

    def read(self, name):
        with open(self.path(name), 'rb') as file:
            return file.read()

    def run_it(self, code, *arguments, program=FANOUT, limit=None):
        def setup():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

        done = subprocess.run([program, *arguments], cwd=self.dir, stderr=subprocess.STDOUT,
                              stdout=subprocess.PIPE, preexec_fn=setup if limit else None, check=False)
        text = done.stdout.decode()
        self.assertEqual(done.returncode, code, text)
        return text

    def fan_out(self, code, *arguments, **others):
        return self.run_it(code, '--progress', 'none', *arguments, **others)

    def parts(self, tasks=('4',) * 4, ending=''):
        return b''.join(self.read('out/part-%05d-of-%05d%s' % (i, int(n), ending)) for i, n in enumerate(tasks))

    def manifest(self, name='out/manifest.json'):
        return json.loads(self.read(name))

    def test_lines(self):
        text = self.fan_out(0, '--tasks', '4', '--workers', '2', '--merge', LINES)
        self.assertIn('merged: out/all', text)
        self.assertEqual(self.read('out/all'), self.parts())
        whole = self.manifest()
        self.assertEqual([f['name'] for f in whole['files'] if not f['name'].startswith('part')], ['all'])
        self.assertEqual(whole['digests-unordered']['jsonl-sink0'],
                         self.manifest('out/all.manifest.json')['digest-unordered'])
        self.run_it(0, 'verify', 'out/all', program=DATASET)
        before = os.stat(self.path('out/all')).st_mtime_ns
        self.fan_out(0, '--merge', LINES)
        self.assertEqual(os.stat(self.path('out/all')).st_mtime_ns, before)

    def test_tokens(self):
        """As one run over the same records in the order of the parts writes them; a part without tokens."""
        for i in range(6):
            self.write('in-%d.jsonl' % i, 1 + i, 'x')
        with open(self.path('in-7.jsonl'), 'w', encoding='utf-8') as file:
            file.write('{"text": ""}\n' * 30)
        for tasks in '1', '4', '8':
            out = 'tok' + tasks
            self.fan_out(0, '--tasks', tasks, READ + 'jsonl-sink location=out' + tasks)
            joined = b''.join(self.read('out%s/part-%05d-of-%05d' % (tasks, i, int(tasks)))
                              for i in range(int(tasks)))
            with open(self.path('joined'), 'wb') as file:
                file.write(joined)
            self.fan_out(0, '--tasks', tasks, '--merge', READ + TOKENS + out)
            self.run_it(0, '--no-state', '--progress', 'none',
                        'file-source location=joined ! jsonl-reader ! ' + TOKENS + 'one' + tasks, program=LAUNCH)
            for ending in '.bin', '.idx':
                self.assertEqual(self.read(out + '/all' + ending), self.read('one' + tasks + ending), out + ending)
            self.run_it(0, 'verify', out + '/all', program=DATASET)

    def take_back(self, endings, run):
        """Finished files of the whole become unfinished again."""
        for ending in endings:
            os.rename(self.path('out/all.' + ending), self.path('out/.all.%s.%s.1.partial' % (ending, run)))

    def whole(self):
        return [self.read('out/all.' + ending) for ending in ('bin', 'idx', 'manifest.json')]

    def check_whole(self, wanted):
        self.assertEqual(self.whole(), wanted)
        self.assertEqual([n for n in os.listdir(self.path('out')) if n.startswith('.')], [])

    def test_ended(self):
        """In the middle of writing, between the names, and wherever a kill comes."""
        graph = READ + TOKENS + 'out'
        self.fan_out(0, '--tasks', '4', '--merge', graph)
        wanted = self.whole()
        run = self.manifest('out/all.manifest.json')['run-id']
        for endings in ('bin', 'idx', 'manifest.json'), ('idx', 'manifest.json'), ('manifest.json',):
            self.take_back(endings, run)
            self.fan_out(0, '--merge', graph)
            self.check_whole(wanted)
        for _ in range(10):
            self.take_back(('bin', 'idx', 'manifest.json'), run)
            os.remove(self.path('out/.all.manifest.json.%s.1.partial' % run))
            with subprocess.Popen([FANOUT, '--quiet', '--merge', graph], cwd=self.dir) as process:
                time.sleep(random.random() * 0.3)
                process.kill()
            self.fan_out(0, '--merge', graph)
            self.check_whole(wanted)

    def test_no_room(self):
        """What cannot be written is said, and the same command does it later."""
        self.fan_out(0, '--tasks', '4', LINES)
        text = self.fan_out(1, '--merge', LINES, limit=20000)
        self.assertIn('the parts cannot be merged: ', text)
        self.assertIn('out/all', text)
        self.assertFalse(os.path.exists(self.path('out/all')))
        self.fan_out(0, '--merge', LINES)
        self.assertEqual(self.read('out/all'), self.parts())

    def test_refusals(self):
        self.assertIn('no sink of the graph', self.fan_out(2, '--merge', '--state', 'job', READ + 'null-sink'))
        self.assertIn('--remove-parts without', self.fan_out(2, '--remove-parts', LINES))
        self.assertIn('--accept-changed is for', self.fan_out(2, '--accept-changed', LINES))
        self.fan_out(0, '--tasks', '4', LINES)
        with open(self.path('out/part-00001-of-00004'), 'r+b') as file:
            file.seek(100)
            file.write(b'#')
        self.assertIn('its manifest says', self.fan_out(1, '--merge', LINES))
        with open(self.path('out/all'), 'w', encoding='utf-8') as file:
            file.write('mine')
        self.fan_out(1, '--merge', LINES)
        self.assertEqual(self.read('out/all'), b'mine')

    def test_parts_removed(self):
        self.fan_out(0, '--tasks', '4', LINES)
        wanted = self.parts()
        self.fan_out(0, '--merge', '--remove-parts', LINES)
        self.assertEqual(sorted(os.listdir(self.path('out'))), ['all', 'all.manifest.json', 'manifest.json'])
        self.assertEqual(self.read('out/all'), wanted)
        self.assertEqual([f['name'] for f in self.manifest()['files']], ['all'])
        self.fan_out(0, LINES)
        self.write('in-8.jsonl', 5, 'new')
        self.assertIn('the parts of the job were removed', self.fan_out(3, '--update', LINES))
        self.fan_out(0, '--restart', '--tasks', '3', LINES)
        self.assertNotIn('all', os.listdir(self.path('out')))

    def test_update(self):
        self.fan_out(0, '--tasks', '4', '--merge', LINES)
        before = self.parts()
        self.assertIn('4 of them done before', self.fan_out(0, '--update', LINES))
        self.write('in-35.jsonl', 7, 'new')
        self.assertIn('--update', self.fan_out(3, LINES))
        text = self.fan_out(0, '--update', '--merge', LINES)
        self.assertIn('5 of 5 tasks done; 9 files, 9 done', text)
        self.assertEqual(self.parts(), before)
        self.assertEqual(self.read('out/all'), self.parts(('4',) * 4 + ('5',)))
        self.assertEqual(self.read('out/part-00004-of-00005').count(b'new'), 7)
        self.assertEqual(self.manifest()['records'], self.read('out/all').count(b'\n'))
        self.fan_out(0, LINES)
        text = self.fan_out(0, '--update', '--tasks', '4', LINES)
        self.assertIn('5 of them done before', text)

        os.remove(self.path('in-0.jsonl'))
        self.write('in-1.jsonl', 3, 'other')
        text = self.fan_out(3, '--update', LINES)
        self.assertIn('in-0.jsonl of file-source0 is gone', text)
        self.assertIn('in-1.jsonl of file-source0 has changed', text)
        self.fan_out(0, '--update', '--accept-changed', LINES)
        self.assertEqual(self.read('out/part-00005-of-00006').count(b'other'), 3)
        self.fan_out(0, LINES)
        self.fan_out(0, '--restart', '--tasks', '2', LINES)
        self.assertEqual(len([n for n in os.listdir(self.path('out')) if 'of-00002' in n]), 4)
        self.assertEqual(len(os.listdir(self.path('out'))), 5)

    def test_failed(self):
        with open(self.path('in-3.jsonl'), 'w', encoding='utf-8') as file:
            file.write('{"text": 5}\n' * 2)
        self.assertIn('3 of 4 tasks done', self.fan_out(1, '--tasks', '4', '--strict', LINES))
        self.write('in-9.jsonl', 4, 'new')
        text = self.fan_out(1, '--update', LINES)
        self.assertIn('held out until --retry-failed', text)
        self.assertIn('4 of 5 tasks done', text)
        self.assertEqual(self.read('out/part-00004-of-00005').count(b'new'), 4)
        text = self.fan_out(0, '--retry-failed', LINES)
        self.assertIn('5 of 5 tasks done', text)


if __name__ == '__main__':
    tap.main()
