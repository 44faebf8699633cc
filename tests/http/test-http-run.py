#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Whole runs over http: killed in the middle of a file, continued, of a file that changed."""
import http.server
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import tap  # noqa: E402

LAUNCH = os.environ['DLPIPE_LAUNCH']
os.environ.update(NETRC='/dev/null', GIO_USE_PROXY_RESOLVER='dummy')


class Handler(http.server.BaseHTTPRequestHandler):
    """Serves self.server.data slowly, with ranges; notes what it is asked for."""
    protocol_version = 'HTTP/1.1'

    def do_GET(self):
        server = self.server
        data, etag = server.data, '"%d"' % hash(server.data)
        asked = self.headers.get_all('Range') or []
        server.ranges += [(r, self.headers.get('If-Range')) for r in asked]
        server.authorizations.add(self.headers.get('Authorization'))
        start, end = 0, len(data) - 1
        partial = bool(asked) and self.headers.get('If-Range', etag) == etag
        if partial:
            match = re.fullmatch(r'bytes=(\d+)-(\d*)', asked[0])
            start, end = int(match[1]), int(match[2] or end)
        self.send_response(206 if partial else 200)
        self.send_header('ETag', etag)
        if partial:
            self.send_header('Content-Range', 'bytes %d-%d/%d' % (start, end, len(data)))
        self.send_header('Content-Length', str(end - start + 1))
        self.end_headers()
        try:
            for at in range(start, end + 1, 16384):
                self.wfile.write(data[at:min(at + 16384, end + 1)])
                time.sleep(server.pause)
        except OSError:
            self.close_connection = True

    def log_message(self, *args):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, address):
        pass


def lines(seed, size):
    rand = random.Random(seed)
    out, n = [], 0
    while n < size:
        line = '{"text": "%x"}\n' % rand.getrandbits(800)
        out.append(line)
        n += len(line)
    return ''.join(out).encode()


class Runs(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.server = Server(('127.0.0.1', 0), Handler)
        self.server.data, self.server.pause = lines(1, 3000000), 0.004
        self.server.ranges, self.server.authorizations = [], set()
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def tearDown(self):
        self.server.shutdown()
        self.server.server_close()
        self.folder.cleanup()

    def command(self, out, signature='secret1'):
        uri = 'http://me:secret0@127.0.0.1:%d/a.jsonl?x=1&sig=%s' % (
            self.server.server_port, signature)
        return [LAUNCH, '--memory', '8M', '--checkpoint-every', '0.05',
                'file-source location="%s" ! jsonl-reader chunk-bytes=64k ! '
                'jsonl-sink location=%s/%s' % (uri, self.folder.name, out)]

    def run_killed(self, out, after):
        child = subprocess.Popen(self.command(out), stdout=subprocess.DEVNULL,
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
                with open(path, 'rb') as file:
                    data[path] = file.read()
        return data

    def test_kill(self):
        for after in (0.35, 0.5, 0.6):
            out = 'out-%d.jsonl' % (after * 100)
            self.run_killed(out, after)
            self.server.ranges.clear()
            # Signed anew.
            done = subprocess.run(self.command(out, 'secret2'), capture_output=True, text=True,
                                  timeout=60)
            self.assertEqual(done.returncode, 0, done.stderr)
            with open(os.path.join(self.folder.name, out), 'rb') as file:
                texts = [re.search(rb'[0-9a-f]{20,}', line)[0] for line in file]
            self.assertEqual(texts, re.findall(rb'"([0-9a-f]+)"}', self.server.data))
        middle = [r for r in self.server.ranges if r[0] != 'bytes=0-0']
        self.assertTrue(middle, self.server.ranges)
        for asked, if_range in middle:
            self.assertGreater(int(asked[6:-1]), 0)
            self.assertTrue(if_range.startswith('"'))
        self.assertEqual(self.server.authorizations, {'Basic bWU6c2VjcmV0MA=='})
        for path, content in self.read_all().items():
            for secret in (b'secret0', b'secret1', b'secret2'):
                self.assertNotIn(secret, content, path)

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
            with open(path, 'rb') as file:
                self.server.data = file.read()
            self.server.ranges.clear()
            outputs = []
            for location in (path, 'http://127.0.0.1:%d/%s' % (self.server.server_port, name)):
                out = os.path.join(self.folder.name, '%s-%d.jsonl' % (name, len(outputs)))
                done = subprocess.run([LAUNCH, '--no-state', 'file-source location=%s ! %s fields=id:int64 ! '
                                       'jsonl-sink location=%s' % (location, reader, out)],
                                      capture_output=True, text=True, timeout=60)
                self.assertEqual(done.returncode, 0, done.stderr)
                with open(out, 'rb') as file:
                    outputs.append(file.read())
            self.assertEqual(outputs[0].count(b'\n'), 60)
            self.assertEqual(outputs[0], outputs[1])
            starts = [int(r[0][6:].split('-')[0]) for r in self.server.ranges]
            if 'stream' not in name:
                self.assertTrue(any(start > len(self.server.data) // 2 for start in starts), starts)

    def test_missing(self):
        done = subprocess.run([LAUNCH, 'file-source location=http://127.0.0.1:%d/%%23#b '
                               '! jsonl-reader ! null-sink' % self.server.server_port],
                              capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn('%23', done.stderr)


if __name__ == '__main__':
    tap.main()
