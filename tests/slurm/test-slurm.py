#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""dlpipe-fanout by a real Slurm of four nodes on this machine, by mpirun, and as pods of Kubernetes would run it: what
comes out is what one process makes, whatever is put back, preempted, killed or lost.
usage: test-slurm.py DLPIPE_FANOUT [--all]"""
import glob
import json
import os
import pwd
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, '..', 'lib')]
import fanout_job  # noqa: E402
import tap  # noqa: E402

ALL = '--all' in sys.argv
if ALL:
    sys.argv.remove('--all')
fanout_job.JobCase.program = os.path.abspath(sys.argv.pop(1))
NEEDED = ('slurmctld', 'slurmd', 'munged', 'sbatch', 'srun', 'scontrol', 'setpriv')
GRAPH = fanout_job.GRAPH
# So long a rank sleeps for 20 records: 400 take a second then.
NAP = {'DLPIPE_TEST_NAP': '50000'}
LONG_NAP = {'DLPIPE_TEST_NAP': '250000'}
OPTIONS = ('--launcher=slurm', '--tasks=16', '--checkpoint-every=100ms', '--progress=none')

only_all = unittest.skipUnless(ALL, 'minutes: ./run-tests --slurm')


def why_not():
    """Why there can be no Slurm here; None: there can be one."""
    missing = [name for name in NEEDED if shutil.which(name) is None]
    if missing:
        return 'not installed: %s' % ', '.join(missing)
    if os.getuid() != 0:
        return 'needs root'
    try:
        pwd.getpwnam('munge')
        socket.gethostbyname(socket.gethostname().split('.')[0])
    except (KeyError, OSError) as error:
        return str(error)
    return None


def find_port():
    """The first of five that are free; those that another run looks at, at the same time, are others."""
    for i in range(2000):
        port = 20000 + (os.getpid() + i) % 2000 * 5
        try:
            for k in range(5):
                with socket.socket() as probe:
                    probe.bind(('127.0.0.1', port + k))
            return port
        except OSError:
            continue
    raise OSError('no free ports')


class Slurm:
    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix='dlpipe-slurm-')
        try:
            subprocess.run([os.path.join(HERE, 'slurm-up'), self.folder, str(find_port())], check=True,
                           env=dict(os.environ, DLPIPE_SLURM_ARRAY_SIZE='16'))
        except subprocess.CalledProcessError:
            self.close()
            raise
        self.conf = os.path.join(self.folder, 'etc', 'slurm.conf')

    def close(self):
        subprocess.run([os.path.join(HERE, 'slurm-down'), self.folder], check=False)
        shutil.rmtree(self.folder, ignore_errors=True)

    def lose_node(self, node):
        """Its daemon is gone, what it runs is not."""
        with open(os.path.join(self.folder, 'slurmd.%s.pid' % node)) as file:
            os.kill(int(file.read()), signal.SIGKILL)

    def find_node(self, node):
        subprocess.run(['slurmd', '-N', node, '-f', self.conf], check=True)


class SlurmCase(fanout_job.JobCase):
    def setUp(self):
        super().setUp()
        self.env['SLURM_CONF'] = slurm.conf
        self.addCleanup(self.cancel)

    def cancel(self):
        subprocess.run(['scancel', '--user=root'], env=self.env, check=False)
        self.wait_for(lambda: not self.call('squeue', '--noheader'), 'jobs end', 90)

    def call(self, *command):
        return subprocess.run(command, env=self.env, text=True, stdout=subprocess.PIPE, check=False).stdout.strip()

    def get_jobs(self):
        with open(os.path.join(self.job, 'slurm', 'jobs')) as file:
            return file.read().split()

    def show(self, job, key):
        found = re.search(r'\b%s=(\S*)' % key, self.call('scontrol', 'show', 'job', job, '-o'))
        return found.group(1) if found else None

    def get_records(self):
        return self.get_status().get('records', 0)

    def wait_for_checkpoints(self, seconds=60):
        self.wait_for(lambda: self.get_records() > 0, 'checkpoints', seconds)

    def follow(self, status=0):
        return self.fanout('--follow', '--progress=none', self.job, status=status, timeout=600)[1]

    def assert_one_commit(self, wanted):
        """What there is is that, all tasks say so, and nothing was given up."""
        self.assertEqual(self.hash_output(), wanted)
        for i in range(16):
            self.assertEqual(self.read_task(i)['status'], 'done')
        self.assertEqual(self.get_status()['tasks-running'], 0)

    # ---- the ways of a job ----

    def test_allocation(self):
        """Eight ranks by srun, in one allocation; while it is in the queue it is not submitted again."""
        self.write_files()
        wanted = self.run_local(16)
        self.fanout(*OPTIONS, '--slurm-shape=allocation', '--world-size=8', GRAPH, env=NAP)
        error = self.fanout(*OPTIONS, '--world-size=8', GRAPH, status=2)[1]
        self.assertIn('still in the queue', error)
        self.follow()
        self.assert_one_commit(wanted)
        logs = self.read_logs()
        for rank in range(8):
            self.assertIn('rank %d of 8' % rank, logs)

    def test_chunks(self):
        """Twenty ranks where an array has sixteen, one of which fails. The last job says so, not what Slurm says; what
        is left is submitted again alone."""
        self.files = 20
        self.write_files(bad=True)
        wanted = self.run_local(20)
        options = ('--launcher=slurm', '--tasks=20', '--progress=none', '--follow')
        error = self.fanout(*options, '--strict', GRAPH, status=1)[1]
        self.assertIn('19 of 20 tasks done', error)
        failed = [i for i in range(20) if self.read_task(i)['status'] == 'failed']
        self.assertEqual(len(failed), 1)
        self.assertIn('bad record', self.read_task(failed[0])['error'])
        self.assertNotIn('manifest.json', self.hash_output())
        first, second, last = self.get_jobs()
        self.assertEqual(self.show(last, 'ExitCode'), '1:0')
        self.assertEqual({os.path.basename(path).split('_')[0]
                          for path in glob.glob(self.job + '/slurm/*_*.log')}, {first, second})
        self.fanout(*options, GRAPH)
        self.assertEqual(self.hash_output(), wanted)
        again = self.get_jobs()
        self.assertEqual(len(again), 2)
        self.assertEqual(len(glob.glob(self.job + '/slurm/%s_*.log' % again[0])), 1)
        # Nothing is left: nothing is submitted.
        self.fanout(*options, GRAPH)
        self.assertEqual(self.get_jobs(), again)

    def test_requeue(self):
        """Put back in the middle, it goes on from its checkpoints."""
        self.write_files()
        wanted = self.run_local(16)
        self.fanout(*OPTIONS, '--world-size=2', '--slurm-shape=allocation', GRAPH, env=NAP)
        job = self.get_jobs()[0]
        self.wait_for_checkpoints()
        self.call('scontrol', 'requeue', job)
        self.wait_for(lambda: self.show(job, 'Restarts') == '1', 'put back')
        self.follow()
        self.assert_one_commit(wanted)
        logs = self.read_logs()
        self.assertEqual(logs.count('rank 0 of 2'), 2)
        # Each rank was told to stop, and has.
        self.assertIn('the same command goes on', logs)

    @only_all
    def test_time_limit(self):
        """The signal before the time limit: a checkpoint, and it puts itself back."""
        self.write_files()
        wanted = self.run_local(16)
        self.fanout(*OPTIONS, '--world-size=1', GRAPH, env=NAP)
        job = self.get_jobs()[0]
        self.wait_for_checkpoints()
        self.call('scancel', '--signal=USR1', '--batch', job)
        self.wait_for(lambda: self.show(job, 'Restarts') == '1', 'put back')
        self.follow()
        self.assert_one_commit(wanted)
        self.assertIn('SIGUSR1: stopping all tasks', self.read_logs())

    @only_all
    def test_real_time_limit(self):
        """Of two minutes: the signal comes in the first one, as it does 90 s or more before."""
        self.write_files()
        wanted = self.run_local(16)
        self.fanout(*OPTIONS, '--world-size=1', '--sbatch=--time=2', GRAPH, env=LONG_NAP)
        job = self.get_jobs()[0]
        self.follow()
        self.assert_one_commit(wanted)
        self.assertGreaterEqual(int(self.show(job, 'Restarts') or self.show(job + '_0', 'Restarts')), 1)

    @only_all
    def test_preemption(self):
        self.write_files()
        wanted = self.run_local(16)
        self.fanout(*OPTIONS, '--world-size=2', '--slurm-shape=allocation', '--sbatch=--partition=low', GRAPH,
                    env=LONG_NAP)
        job = self.get_jobs()[0]
        self.wait_for_checkpoints()
        self.call('sbatch', '--partition=high', '--nodes=4', '--exclusive', '--output=/dev/null', '--wrap=sleep 1')
        self.wait_for(lambda: self.show(job, 'Restarts') == '1', 'preempted', 120)
        self.follow()
        self.assert_one_commit(wanted)

    @only_all
    def test_cancel(self):
        """Cancelled, it does not put itself back; the last job says what is left, and it can be submitted again."""
        self.write_files()
        wanted = self.run_local(16)
        self.fanout(*OPTIONS, '--world-size=2', GRAPH, env=NAP)
        self.wait_for_checkpoints()
        self.call('scancel', self.get_jobs()[0])
        error = self.follow(status=75)
        self.assertIn('the same command goes on', error)
        self.assertNotIn('manifest.json', self.hash_output())
        self.fanout(*OPTIONS, '--world-size=2', '--follow', GRAPH)
        self.assert_one_commit(wanted)

    # ---- processes and nodes that are lost ----

    def test_kill_in_array(self):
        self.write_files()
        wanted = self.run_local(16)
        self.fanout(*OPTIONS, '--world-size=4', GRAPH, env=NAP)
        self.wait_for_checkpoints()
        self.wait_for(lambda: self.find_ranks(1), 'rank 1')
        os.kill(self.find_ranks(1)[0], signal.SIGKILL)
        self.follow()
        self.assert_one_commit(wanted)
        self.assertIn('attempt 1 of 3 was killed (exit code 137)', self.read_logs())

    @only_all
    def test_kill_in_allocation(self):
        self.write_files()
        wanted = self.run_local(16)
        self.fanout(*OPTIONS, '--world-size=4', '--slurm-shape=allocation', GRAPH, env=NAP)
        self.wait_for_checkpoints()
        self.wait_for(lambda: self.find_ranks(1), 'rank 1')
        os.kill(self.find_ranks(1)[0], signal.SIGKILL)
        self.follow()
        self.assert_one_commit(wanted)
        self.assertIn('attempt 1 of 3 was killed (exit code 137)', self.read_logs())

    def lose_node_of(self, job):
        node = self.show(job, 'NodeList')
        slurm.lose_node(node)
        self.addCleanup(slurm.find_node, node)
        # Noticed after SlurmdTimeout.
        self.wait_for(lambda: len(self.find_ranks()) > 1, 'another attempt beside the first', 120)

    @only_all
    def test_lost_node(self):
        """The second attempt finds the first by its locks, and waits for its end."""
        self.write_files()
        wanted = self.run_local(16)
        self.fanout(*OPTIONS, '--world-size=1', GRAPH, env=LONG_NAP)
        self.wait_for_checkpoints()
        self.lose_node_of(self.get_jobs()[0])
        self.follow()
        self.assert_one_commit(wanted)
        self.assertIn('its end is waited for', self.read_logs())

    @only_all
    def test_split_brain(self):
        """Without locks both run beside each other: the first is overtaken, and commits nothing any more."""
        self.write_files()
        wanted = self.run_local(16)
        self.fanout(*OPTIONS, '--world-size=1', GRAPH,
                    env=dict(LONG_NAP, LD_PRELOAD=os.environ['DLPIPE_TEST_LOCKLESS']))
        self.wait_for_checkpoints()
        self.lose_node_of(self.get_jobs()[0])
        self.follow()
        self.assert_one_commit(wanted)
        self.assertIn('taken over by another run', self.read_logs())


class Others(fanout_job.JobCase):
    """Other ways to many processes."""
    records = 100

    def check(self, wanted):
        self.assertEqual(self.hash_output(), wanted)

    def start_pods(self, indices, env):
        return [self.start('--launcher=env', '--tasks=16', '--checkpoint-every=50ms', '--progress=none',
                           '--state=' + self.job, GRAPH,
                           env=dict(env, JOB_COMPLETION_INDEX=str(i), JOB_COMPLETIONS='4')) for i in indices]

    @unittest.skipIf(shutil.which('mpirun') is None, 'not installed: mpirun')
    def test_mpirun(self):
        self.write_files()
        wanted = self.run_local(16)
        run = subprocess.run(['mpirun', '--allow-run-as-root', '--oversubscribe', '-n', '4', self.program,
                              '--launcher=env', '--tasks=16', '--progress=none', GRAPH],
                             cwd=self.folder, env=self.env, text=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                             check=False)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.check(wanted)
        for rank in range(4):
            self.assertIn('rank %d of 4' % rank, run.stderr)

    def test_pods(self):
        """One is killed, and begun again."""
        self.write_files()
        wanted = self.run_local(16)
        pods = self.start_pods(range(4), NAP)
        self.wait_for(lambda: self.get_status().get('records', 0) > 0, 'checkpoints')
        pods[2].kill()
        pods[2].communicate()
        pods[2] = self.start_pods([2], NAP)[0]
        for pod in pods:
            self.assertEqual(pod.wait(), 0, pod.stderr.read())
            pod.stderr.close()
        self.check(wanted)

    def test_waiting(self):
        """Where there are locks, the second of one rank waits for the end of the first, and finds nothing left."""
        self.write_files()
        wanted = self.run_local(16)
        first = self.start_pods(range(4), LONG_NAP)
        self.wait_for(lambda: self.get_status().get('records', 0) > 0, 'checkpoints')
        second = self.start_pods(range(4), LONG_NAP)
        for pod in first + second:
            error = pod.communicate()[1]
            self.assertEqual(pod.returncode, 0, error)
            self.assertEqual('its end is waited for' in error, pod in second, error)
        self.check(wanted)

    # Known to fail now and then, where the one that was overtaken records its task behind the other: see fanout.md.
    @unittest.skipUnless(ALL, 'fails now and then: ./run-tests --slurm')
    def test_two_pods_of_one_index(self):
        """Without locks a second one is begun beside the first. One goes on to the end: nearly always the second, but the
        first may begin a task just behind it; the other one ends, with the exit code for it."""
        self.write_files()
        wanted = self.run_local(16)
        lockless = {'LD_PRELOAD': os.environ['DLPIPE_TEST_LOCKLESS']}
        pair = self.start_pods([0], dict(lockless, **LONG_NAP))
        self.wait_for(lambda: self.get_status().get('records', 0) > 0, 'checkpoints')
        others = self.start_pods([1, 2, 3], {})
        pair += self.start_pods([0], lockless)
        errors = [pod.communicate()[1] for pod in pair + others]
        codes = [pod.returncode for pod in pair]
        self.assertEqual(sorted(codes), [0, 5], errors)
        self.assertEqual([pod.returncode for pod in others], [0, 0, 0], errors)
        self.assertIn('taken over by another run', errors[codes.index(5)])
        self.check(wanted)
        self.assertEqual({self.read_task(i)['status'] for i in range(16)}, {'done'})


reason = why_not()
if reason:
    for case in [name for name in dir(SlurmCase) if name.startswith('test_')]:
        setattr(SlurmCase, case, unittest.skip('no Slurm: ' + reason)(getattr(SlurmCase, case)))
    tap.main()
else:
    # Also where it takes too long for who runs it: its daemons go with it.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    slurm = Slurm()
    try:
        tap.main()
    finally:
        slurm.close()
