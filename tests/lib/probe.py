# SPDX-License-Identifier: MIT
"""Running scheme-probe and dlpipe-launch against servers of a test: with an environment that has nothing of
whoever runs it, and what they leave behind looked through for secrets."""
import glob
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import unittest

LAUNCH, PROBE = os.environ.get('DLPIPE_LAUNCH'), os.environ['DLPIPE_PROBE']
FOREIGN = ('AWS_', 'HF_', 'HUGGING', 'XDG_', 'HTTP', 'http', 'https', 'NO_PROXY', 'no_proxy', 'ALL_PROXY', 'all_proxy')


def make_lines(seed, n):
    rand = random.Random(seed)
    return b''.join(b'{"text": "%x"}\n' % rand.getrandbits(800) for _ in range(n))


class Case(unittest.TestCase):
    secrets = ()  # what must be nowhere

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.env = {name: value for name, value in os.environ.items() if not name.startswith(FOREIGN)}
        self.env.update(HOME=self.folder.name, NETRC='/dev/null', GIO_USE_PROXY_RESOLVER='dummy')
        self.addCleanup(self.folder.cleanup)

    def path(self, *names):
        path = os.path.join(self.folder.name, *names)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        return path

    def write(self, name, content, mode='w'):
        with open(self.path(*name.split('/')), mode) as file:
            file.write(content)

    def run_program(self, arguments, timeout=60):
        done = subprocess.run(arguments, env=self.env, cwd=self.folder.name, capture_output=True, timeout=timeout)
        if done.returncode < 0:
            sys.stderr.write(done.stderr.decode(errors='replace'))
        self.assertGreaterEqual(done.returncode, 0)
        for secret in self.secrets:
            self.assertNotIn(secret.encode(), done.stderr)
        return done

    def probe(self, *arguments):
        return self.run_program([PROBE, 'first-wait=1ms', 'retry-time=20s'] + list(arguments))

    def list(self, pattern, *properties):
        """URI, size, identity of each file."""
        done = self.probe(*properties, 'list', pattern)
        self.assertEqual(done.returncode, 0, done.stderr)
        return [line.split('\t') for line in done.stdout.decode(errors='surrogateescape').splitlines()]

    def cat(self, pattern, *properties, offset=0):
        done = self.probe(*properties, 'cat', pattern, str(offset))
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def sweep(self, pattern):
        """From how many bytes on it can be read as it should."""
        done = self.probe('sweep', pattern)
        self.assertEqual(done.returncode, 0, done.stderr)
        return int(done.stdout)

    def assert_refused(self, pattern, *said, properties=()):
        done = self.probe(*properties, 'cat', pattern)
        self.assertEqual(done.returncode, 1, done.stdout[:200])
        for text in said:
            self.assertIn(text, done.stderr.decode())
        self.assertEqual(done.stderr.count(b'\n'), 1)
        return done.stderr.decode()

    # ---- whole runs ----

    def command(self, locations, out):
        return [LAUNCH, '--memory', '8M', '--checkpoint-every', '0.05',
                'file-source %s ! jsonl-reader chunk-bytes=64k ! jsonl-sink location=%s' % (
                    ' '.join('location="%s"' % location for location in locations), self.path(out))]

    def launch(self, locations, out):
        return self.run_program(self.command(locations, out))

    def wait_for_checkpoint(self, out):
        end = time.monotonic() + 30
        while not glob.glob(self.path(out) + '.dlpipe/checkpoint-*'):
            self.assertLess(time.monotonic(), end)
            time.sleep(0.01)

    def launch_killed(self, locations, out, after):
        child = subprocess.Popen(self.command(locations, out), env=self.env, stdout=subprocess.DEVNULL,
                                 stderr=subprocess.DEVNULL)
        self.wait_for_checkpoint(out)
        time.sleep(after)
        child.send_signal(signal.SIGKILL)
        child.wait(20)
        self.assertEqual(child.returncode, -signal.SIGKILL)

    def read(self, name):
        with open(self.path(name), 'rb') as file:
            return file.read()

    def assert_no_secrets(self):
        for folder, _, names in os.walk(self.folder.name):
            for name in names:
                with open(os.path.join(folder, name), 'rb') as file:
                    content = file.read()
                for secret in self.secrets:
                    self.assertNotIn(secret.encode(), content, name)
