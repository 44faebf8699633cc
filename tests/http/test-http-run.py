#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Whole runs over http: killed in the middle of a file, continued, of a file that changed."""
import hashlib
import itertools
import json
import os
import random
import re
import signal
import struct
import subprocess
import tempfile
import time
import unittest

from common import LAUNCH, Server, FaultyServer, launch, lines, read, tap, write


class Runs(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.server = Server(lines(1, 3000000), 0.004)

    def tearDown(self):
        self.server.close()
        self.folder.cleanup()

    def command(self, out, signature='secret1', path='a.jsonl', key='location'):
        uri = 'http://me:secret0@127.0.0.1:%d/%s?x=1&sig=%s' % (
            self.server.server_port, path, signature)
        return [LAUNCH, '--memory', '8M', '--checkpoint-every', '0.05',
                'file-source %s="%s" ! jsonl-reader chunk-bytes=64k ! '
                'jsonl-sink location=%s/%s' % (key, uri, self.folder.name, out)]

    def run_killed(self, out, after, *more):
        child = subprocess.Popen(self.command(out, *more), stdout=subprocess.DEVNULL,
                                 stderr=subprocess.DEVNULL)
        time.sleep(after)
        child.send_signal(signal.SIGKILL)
        child.wait(20)

    def read_all(self):
        """What lies in the folder, the quarantine and states too."""
        data = {}
        for folder, _, names in os.walk(self.folder.name):
            for name in names:
                path = os.path.join(folder, name)
                data[path] = read(path)
        return data

    def test_kill(self):
        for after in (0.35, 0.5, 0.6):
            out = 'out-%d.jsonl' % (after * 100)
            self.run_killed(out, after)
            self.server.requests.clear()
            # Signed anew.
            done = subprocess.run(self.command(out, 'secret2'), capture_output=True, text=True,
                                  timeout=60)
            self.assertEqual(done.returncode, 0, done.stderr)
            with open(os.path.join(self.folder.name, out), 'rb') as file:
                texts = [re.search(rb'[0-9a-f]{20,}', line)[0] for line in file]
            self.assertEqual(texts, re.findall(rb'"([0-9a-f]+)"}', self.server.data))
        for _, headers in self.server.requests:
            self.assertEqual(headers.get_all('Authorization'), ['Basic bWU6c2VjcmV0MA=='])
            self.assertEqual(headers.get_all('Accept-Encoding'), ['identity'])
            self.assertLessEqual(len(headers.get_all('Range') or []), 1)
        middle = [headers for _, headers in self.server.requests if headers.get('Range', 'bytes=0-0') != 'bytes=0-0']
        self.assertTrue(middle, self.server.requests)
        for headers in middle:
            self.assertGreater(int(headers['Range'][6:-1]), 0)
            self.assertTrue(headers['If-Range'].startswith('"'))
        for path, content in self.read_all().items():
            for secret in (b'secret0', b'secret1', b'secret2'):
                self.assertNotIn(secret, content, path)

    def publish(self, signature, **changed):
        """A manifest in another folder of the server, with addresses that are signed."""
        data = self.server.data
        entry = {'uri': '../a.jsonl?x=1&sig=' + signature, 'rows': data.count(b'\n'), 'size': len(data),
                 'sha256': hashlib.sha256(data).hexdigest(), 'etag': '"%d"' % hash(data)}
        self.server.files['/lists/m.json'] = json.dumps([{**entry, **changed}]).encode()

    def test_manifest(self):
        """Killed, and gone on with by new signatures, whatever the manifest says of the files by then."""
        self.publish('secret1')
        self.run_killed('out.jsonl', 0.5, 'secret1', 'lists/m.json', 'manifest')
        self.publish('secret2', size=1, sha256='0' * 64, rows=1)
        done = subprocess.run(self.command('out.jsonl', 'secret2', 'lists/m.json', 'manifest'), capture_output=True,
                              text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(os.path.join(self.folder.name, 'out.jsonl'), 'rb') as file:
            texts = [re.search(rb'[0-9a-f]{20,}', line)[0] for line in file]
        self.assertEqual(texts, re.findall(rb'"([0-9a-f]+)"}', self.server.data))
        for path, content in self.read_all().items():
            for secret in (b'secret0', b'secret1', b'secret2'):
                self.assertNotIn(secret, content, path)

    def test_manifest_wrong(self):
        """Another file under the name, another hash, another ETag: each is named, and fails the run."""
        self.server.pause = 0
        for changed, message in (({'sha256': '0' * 64}, 'the SHA-256 of the file is'),
                                 ({'etag': 'other'}, 'etag="other"'),
                                 ({'etag': 'other', 'size': -1}, 'size'),
                                 ({'rows': 5}, 'its manifest says 5')):
            self.publish('secret1', **changed)
            done = subprocess.run(self.command('out.jsonl', 'secret1', 'lists/m.json', 'manifest') + ['--restart'],
                                  capture_output=True, text=True, timeout=60)
            self.assertIn(done.returncode, (1, 2, 3), done.stderr)
            self.assertIn(message, done.stderr)
            self.assertNotIn('secret', done.stderr)

    def test_changed(self):
        self.run_killed('out.jsonl', 0.6)
        self.server.data = self.server.data[::-1]
        done = subprocess.run(self.command('out.jsonl'), capture_output=True, text=True, timeout=60)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn('changed', done.stderr)
        self.assertNotIn('secret', done.stderr)

    @unittest.skipUnless(os.environ.get('DLPIPE_ARROW_DATA'), 'the plugin arrow is not built')
    def test_ranges(self):
        """Of a file with an index its end is read, and the row groups, which come in ranges."""
        for name, reader in (('codec-zstd.parquet', 'parquet-reader'), ('ipc-zstd.arrow', 'arrow-reader'),
                             ('ipc-zstd-stream.arrow', 'arrow-reader')):
            path = os.path.join(os.environ['DLPIPE_ARROW_DATA'], name)
            self.server.data = read(path)
            self.server.requests.clear()
            outputs = []
            for location in (path, 'http://127.0.0.1:%d/%s' % (self.server.server_port, name)):
                out = os.path.join(self.folder.name, '%s-%d.jsonl' % (name, len(outputs)))
                done = subprocess.run([LAUNCH, '--no-state', 'file-source location=%s ! %s fields=id:int64 ! '
                                       'jsonl-sink location=%s' % (location, reader, out)],
                                      capture_output=True, text=True, timeout=60)
                self.assertEqual(done.returncode, 0, done.stderr)
                outputs.append(read(out))
            self.assertEqual(outputs[0].count(b'\n'), 60)
            self.assertEqual(outputs[0], outputs[1])
            starts = [int(r[6:].split('-')[0]) for r in self.server.values('Range') if r is not None]
            if 'stream' not in name:
                self.assertTrue(any(start > len(self.server.data) // 2 for start in starts), starts)

    def graph(self, location, settings, out):
        return 'file-source location=%s %s ! jsonl-reader ! jsonl-sink location=%s/%s' % (
            location, settings, self.folder.name, out)

    def test_settings(self):
        """Of a scheme, for one source and not for the other; an option comes before the text."""
        root = os.path.join(self.folder.name, 'served')
        os.mkdir(root)
        for name in ('a.jsonl', 'b.jsonl'):
            write(root, name, lines(1, 1000))
        graph = ('file-source name=a location=%s http.first-wait=1ms http.retries=%d ! jsonl-reader ! mix name=m ! null-sink '
                 'file-source name=b location=%s http.first-wait=1ms http.retries=%d ! jsonl-reader ! m.')
        for retries, options, status in (((5, 0), (), 0), ((0, 5), (), 2), ((0, 5), ('--set=a.http.retries=5',), 0)):
            # The first two requests of a file fail; of the other none do.
            with FaultyServer(root) as server:
                done = launch(graph % (server.uri('http500', 'a.jsonl'), retries[0], server.uri('ok', 'b.jsonl'),
                                       retries[1]), '--no-state', *options)
            self.assertEqual(done.returncode, status, done.stderr)
            if status != 0:
                self.assertIn('given up after 1 attempt without progress: the server answers 500', done.stderr)
                self.assertIn('/http500/a.jsonl', done.stderr)

    def test_settings_shown(self):
        self.server.pause = 0
        graph = self.graph(self.server.uri('a.jsonl'), 'name=in http.timeout=5s', 'out.jsonl')
        done = launch(graph, '--check', '--set=in.http.cache-bytes=1G')
        self.assertEqual(done.returncode, 0, done.stderr)
        shown = done.stdout + done.stderr
        self.assertRegex(shown, r'http\.timeout\W+5s\b.*graph')
        self.assertRegex(shown, r'http\.cache-bytes\W+1G\b.*option')
        # They change nothing of what comes out: another attempt may have others.
        self.run_settings('http.timeout=5s', 'http.timeout=7s http.retries=3', '')

    def run_settings(self, *settings):
        for n, each in enumerate(settings):
            done = launch(self.graph(self.server.uri('a.jsonl'), each, 'again.jsonl'))
            self.assertEqual(done.returncode, 0, (n, done.stderr))

    def test_settings_refused(self):
        for setting, said in (('http.timeout=0s', '1s to 1h'), ('http.timeot=5s', 'did you mean “http.timeout”?'),
                              ('htp.timeout=5s', 'did you mean “http.timeout”?'),
                              ('http.cache-bytes=x', 'bytes (k, M, G are powers of 1024)')):
            done = launch(self.graph(self.server.uri('a.jsonl'), setting, 'out.jsonl'))
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(said, done.stderr)
            self.assertIn('^', done.stderr)

    def test_dry_run(self):
        """What is set holds for the sample too."""
        root = os.path.join(self.folder.name, 'served')
        os.mkdir(root)
        write(root, 'a.jsonl', lines(1, 1000))
        with FaultyServer(root) as server:
            done = launch('file-source location=%s http.retries=0 ! jsonl-reader ! null-sink' % server.uri(
                'http500', 'a.jsonl'), '--dry-run', '--no-state')
        self.assertNotEqual(done.returncode, 0)
        self.assertIn('given up after 1 attempt', done.stderr)

    def test_cache(self):
        """Several processes at once, one after them, and one that is killed."""
        self.server.pause = 0
        cache = os.path.join(self.folder.name, 'cache')
        settings = 'http.cache=%s http.cache-bytes=10M' % cache
        location = self.server.uri('a.jsonl', user='me:secret0@')
        runs = [subprocess.Popen([LAUNCH, '--progress=none', self.graph(location, settings, 'out-%d.jsonl' % n)],
                                 stderr=subprocess.PIPE, text=True) for n in range(4)]
        for n, run in enumerate(runs):
            _, said = run.communicate(timeout=60)
            self.assertEqual(run.returncode, 0, said)
            self.assertEqual(read(self.folder.name + '/out-%d.jsonl' % n), read(self.folder.name + '/out-0.jsonl'))
        entries = [name for name in os.listdir(cache) if name != 'lock']
        self.assertEqual([name.endswith('.entry') for name in entries], [True])

        self.server.requests.clear()
        done = launch(self.graph(location, settings, 'last.jsonl'))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(read(self.folder.name + '/last.jsonl'), read(self.folder.name + '/out-0.jsonl'))
        self.assertEqual(self.server.values('Range'), ['bytes=0-0'])
        self.assertEqual([path for path, data in self.read_all().items() if b'secret0' in data], [])

    def test_cache_killed(self):
        """What a process leaves behind that is killed is no entry, and goes with the next that looks."""
        cache = os.path.join(self.folder.name, 'cache')
        settings = 'http.cache=%s http.cache-bytes=4M' % cache
        child = subprocess.Popen([LAUNCH, '--no-state', self.graph(self.server.uri('a.jsonl'), settings, 'out.jsonl')],
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 20
        while not any('.partial' in name for name in (os.listdir(cache) if os.path.isdir(cache) else [])):
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.01)
        child.send_signal(signal.SIGKILL)
        child.wait(20)
        self.assertTrue([name for name in os.listdir(cache) if name.endswith('.partial')])
        self.server.pause = 0
        done = launch(self.graph(self.server.uri('b.jsonl'), settings, 'later.jsonl'))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn('warning', done.stderr)
        self.assertEqual([name.rsplit('.', 1)[1] for name in os.listdir(cache) if name != 'lock'], ['entry'])

    def test_expired(self):
        """Where an address runs out in the middle: the same command with a new one goes on there."""
        root = os.path.join(self.folder.name, 'served')
        os.mkdir(root)
        write(root, 'a.jsonl', lines(1, 400000))
        with FaultyServer(root) as server:
            graph = self.graph(server.uri('expired-middle', 'a.jsonl?sig=one'), '', 'out.jsonl')
            done = launch(graph, '--checkpoint-every=0.05')
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertRegex(done.stderr, r'a\.jsonl\?sig=\*\*\*.*403 Forbidden at byte \d+, and has answered before: has a '
                             'signed address or a login run out')

    def test_tokens(self):
        """Of a dataset the index lies beside the ids, and is read in three places at once."""
        rand = random.Random(3)
        lengths = [rand.randrange(1, 60) for _ in range(20000)]
        ends = list(itertools.accumulate(lengths))
        offsets = [2 * (end - n) for end, n in zip(ends, lengths)]
        ids = struct.pack('<%dH' % ends[-1], *(rand.randrange(50000) for _ in range(ends[-1])))
        index = (b'MMIDIDX\0\0' + struct.pack('<QBQQ', 1, 8, len(lengths), 2) +
                 struct.pack('<%di' % len(lengths), *lengths) + struct.pack('<%dq' % len(lengths), *offsets) +
                 struct.pack('<2q', 0, len(lengths)))
        self.server.pause = 0
        outputs = []
        for name, data in (('a.bin', ids), ('a.idx', index)):
            self.server.files['/' + name] = data
            write(self.folder.name, name, data)
        for location in (os.path.join(self.folder.name, 'a.bin'),
                         self.server.uri('a.bin')):
            out = os.path.join(self.folder.name, 'tokens-%d.jsonl' % len(outputs))
            done = launch('file-source location=%s ! token-reader ! jsonl-sink location=%s' % (location, out),
                          '--no-state')
            self.assertEqual(done.returncode, 0, done.stderr)
            outputs.append(read(out))
        self.assertEqual(outputs[0].count(b'\n'), len(lengths))
        self.assertEqual(outputs[0], outputs[1])
        self.assertLess(len(self.server.requests), 40)

    def test_missing(self):
        done = subprocess.run([LAUNCH, 'file-source location=http://127.0.0.1:%d/%%23#b '
                               '! jsonl-reader ! null-sink' % self.server.server_port],
                              capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn('%23', done.stderr)


if __name__ == '__main__':
    tap.main()
