# SPDX-License-Identifier: MIT
"""Jobs of dlpipe-fanout for tests: files, a run of one process to compare with, what comes out."""
import glob
import hashlib
import json
import os
import shutil
import subprocess
import tempfile
import time
import unittest

GRAPH = 'file-source location=in-*.jsonl ! jsonl-reader ! die ! jsonl-sink location=out'
BAD_FILE = 5


class JobCase(unittest.TestCase):
    """Each test has a folder of its own."""
    program = None
    records = 400
    files = 16

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix='dlpipe-slurm-')
        self.addCleanup(shutil.rmtree, self.folder)
        # Slurm opens logs as root, and others may look.
        os.chmod(self.folder, 0o755)
        self.job = os.path.join(self.folder, 'out.fanout')
        self.env = dict(os.environ)
        self.env['DLPIPE_PLUGIN_PATH'] += ':' + os.environ['DLPIPE_TEST_PLUGINS']

    def write_files(self, bad=False):
        for i in range(self.files):
            with open(os.path.join(self.folder, 'in-%02d.jsonl' % i), 'w') as file:
                for k in range(self.records + 10 * i):
                    file.write(json.dumps({'text': 'file %d record %d' % (i, k)}) + '\n')
                    if bad and i == BAD_FILE and k == self.records // 2:
                        file.write('{"text": \n')

    def fanout(self, *arguments, status=0, **options):
        """Standard output and error of a run that has to end with this status."""
        env = dict(self.env, **options.pop('env', {}))
        run = subprocess.run([self.program, *arguments], cwd=self.folder, env=env, text=True,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)
        self.assertEqual(run.returncode, status, run.stdout + run.stderr + self.read_logs())
        return run.stdout, run.stderr

    def start(self, *arguments, **options):
        env = dict(self.env, **options.pop('env', {}))
        return subprocess.Popen([self.program, *arguments], cwd=self.folder, env=env, text=True,
                                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, **options)

    def run_local(self, tasks, *options):
        """What one process makes of the same files, as hashes by names of files."""
        self.fanout('--tasks=%d' % tasks, '--workers=1', '--progress=none', *options, GRAPH)
        wanted = self.hash_output()
        shutil.rmtree(os.path.join(self.folder, 'out'))
        shutil.rmtree(self.job)
        return wanted

    def hash_output(self):
        """Of all that is there, so that of an attempt that was given up nothing is left. A manifest has the identity
        of its run in it."""
        found = {}
        for at, _, names in os.walk(os.path.join(self.folder, 'out')):
            for name in names:
                with open(os.path.join(at, name), 'rb') as file:
                    data = file.read()
                if name.endswith('manifest.json'):
                    manifest = json.loads(data)
                    found[name] = [(key, manifest[key]) for key in sorted(manifest) if key not in ('run-id', 'xxh3-manifest')]
                else:
                    found[name] = hashlib.sha256(data).hexdigest()
        return found

    def read_logs(self):
        text = ''
        for path in sorted(glob.glob(os.path.join(self.job, 'slurm', '*.log'))):
            with open(path) as file:
                text += '%s:\n%s' % (os.path.basename(path), file.read())
        return text

    def read_task(self, number):
        folder = os.path.join(self.job, 'tasks', '%05d' % number)
        name = 'done.json' if os.path.exists(os.path.join(folder, 'done.json')) else 'failed.json'
        with open(os.path.join(folder, name)) as file:
            return json.load(file)

    def get_status(self):
        """Whatever it has come to."""
        run = subprocess.run([self.program, '--json', 'status', self.job], env=self.env, stdout=subprocess.PIPE,
                             stderr=subprocess.DEVNULL, check=False)
        return json.loads(run.stdout) if run.stdout else {}

    def wait_for(self, condition, what, seconds=60):
        until = time.monotonic() + seconds
        while not condition():
            self.assertLess(time.monotonic(), until, '%s: not after %d s\n%s' % (what, seconds, self.read_logs()))
            time.sleep(0.05)

    def find_ranks(self, rank=None):
        """Processes of the job's ranks, or of one of them, from the command line or the environment."""
        found = []
        for name in os.listdir('/proc'):
            try:
                with open('/proc/%s/cmdline' % name, 'rb') as file:
                    words = file.read().split(b'\0')
                with open('/proc/%s/environ' % name, 'rb') as file:
                    variables = file.read().split(b'\0')
            except OSError:
                continue
            if os.path.basename(words[0]) != b'dlpipe-fanout' or b'--state=' + self.job.encode() not in words:
                continue
            if rank is None or b'--rank=%d' % rank in words or \
                    b'--launcher=env' in words and b'SLURM_PROCID=%d' % rank in variables:
                found.append(int(name))
        return found
