#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""dlpipe-fanout --launcher=slurm, --follow and finish where there is no Slurm: its programs are played, and its scripts
run by hand.
usage: test-submit.py DLPIPE_FANOUT"""
import json
import os
import shutil
import signal
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, '..', 'lib')]
import fanout_job  # noqa: E402
import tap  # noqa: E402

fanout_job.JobCase.program = os.path.abspath(sys.argv.pop(1))
GRAPH = fanout_job.GRAPH
SLURM = ('--launcher=slurm', '--progress=none')
NAP = {'DLPIPE_TEST_NAP': '50000'}
PLAYED = {
    'sbatch': '''echo "sbatch $*" >>"$FAKE_CALLS"
n=$(grep -c ^sbatch "$FAKE_CALLS")
if [ "$n" = "${FAKE_REFUSE:-}" ]; then echo "sbatch: error: invalid partition specified: nope" >&2; exit 1; fi
echo "$((100 + n))${FAKE_CLUSTER:-}"''',
    'scontrol': '''if [ "$1" = show ]; then echo "MaxArraySize            = ${FAKE_ARRAY_SIZE:-16}"; exit; fi
echo "scontrol $*" >>"$FAKE_CALLS"''',
    'scancel': 'echo "scancel $*" >>"$FAKE_CALLS"',
    'squeue': 'echo "${FAKE_QUEUE:-}"',
}


class Submit(fanout_job.JobCase):
    files = 20
    records = 100

    def setUp(self):
        super().setUp()
        bin_folder = os.path.join(self.folder, 'bin')
        os.mkdir(bin_folder)
        for name, text in PLAYED.items():
            with open(os.path.join(bin_folder, name), 'w') as file:
                file.write('#!/bin/bash\n%s\n' % text)
            os.chmod(file.name, 0o755)
        self.calls = os.path.join(self.folder, 'calls')
        self.env.update(PATH=bin_folder + ':' + os.environ['PATH'], FAKE_CALLS=self.calls)
        self.ranks = os.path.join(self.job, 'slurm', 'ranks.sbatch')
        self.last = os.path.join(self.job, 'slurm', 'finish.sbatch')
        self.write_files()

    def read_calls(self):
        if not os.path.exists(self.calls):
            return []
        with open(self.calls) as file:
            return file.read().splitlines()

    def read(self, path):
        with open(path) as file:
            return file.read()

    def run_script(self, path, *arguments, **env):
        return subprocess.Popen(['bash', path, *arguments], cwd=self.folder, text=True, stdout=subprocess.DEVNULL,
                                stderr=subprocess.PIPE, env=dict(self.env, SLURM_CPUS_ON_NODE='1', SLURM_ARRAY_JOB_ID='100', **env))

    def finish_script(self, run, status=0):
        error = run.communicate()[1]
        self.assertEqual(run.returncode, status, error)
        return error

    # ---- what is submitted ----

    def test_chunks(self):
        error = self.fanout(*SLURM, '--tasks=20', GRAPH)[1]
        self.assertEqual(self.read_calls(), ['sbatch --parsable --array=0-15 %s 0' % self.ranks,
                                             'sbatch --parsable --array=0-3 %s 16' % self.ranks,
                                             'sbatch --parsable --dependency=afterany:101:102 ' + self.last])
        self.assertIn('20 ranks as job 101 and others, and job 103', error)
        self.assertEqual(self.read(self.job + '/slurm/jobs').split(), ['101', '102', '103'])

    def test_cluster(self):
        """An id may have the name of its cluster behind it."""
        self.fanout(*SLURM, '--tasks=4', GRAPH, env={'FAKE_CLUSTER': ';big'})
        self.assertIn('afterany:101 ', self.read_calls()[1])

    def test_shapes(self):
        self.fanout(*SLURM, '--tasks=20', '--world-size=8', '--slurm-shape=allocation', '--sbatch=--partition=long',
                    '--sbatch=--gres=gpu:2', '--sbatch', '-A mine', GRAPH)
        self.assertEqual(self.read_calls()[0], 'sbatch --parsable ' + self.ranks)
        script, last = self.read(self.ranks), self.read(self.last)
        for line in ('#SBATCH --ntasks=8', '#SBATCH --partition=long', '#SBATCH --gres=gpu:2', '#SBATCH -A mine',
                     '#SBATCH --requeue', '#SBATCH --open-mode=append'):
            self.assertIn(line + '\n', script)
        self.assertIn('#SBATCH --partition=long\n', last)
        self.assertIn('#SBATCH -A mine\n', last)
        self.assertNotIn('gres', last)
        self.assertNotIn('--array', script)

    def test_write_only(self):
        out, error = self.fanout(*SLURM, '--tasks=20', '--slurm-write-only', GRAPH, env={'PATH': os.environ['PATH']})
        self.assertEqual(out.splitlines(), ['sbatch --array=0-19 %s 0' % self.ranks,
                                            'sbatch --dependency=afterany:JOB ' + self.last])
        self.assertIn('nothing is submitted', error)
        self.assertEqual(self.read_calls(), [])
        for path in (self.ranks, self.last):
            subprocess.run(['bash', '-n', path], check=True)
            self.assertIn('#SBATCH --chdir=%s\n' % self.folder, self.read(path))

    def test_only_what_is_left(self):
        """Ranks whose tasks are done are not submitted again."""
        self.fanout(*SLURM, '--tasks=20', '--world-size=10', GRAPH)
        for rank in (0, 1, 3):
            self.finish_script(self.run_script(self.ranks, SLURM_ARRAY_TASK_ID=str(rank)))
        self.fanout(*SLURM, '--world-size=10', GRAPH)
        self.assertEqual(self.read_calls()[-2], 'sbatch --parsable --array=2,4-9 %s 0' % self.ranks)

    # ---- the scripts, by hand ----

    def test_scripts(self):
        wanted = self.run_local(20)
        self.fanout(*SLURM, '--tasks=20', GRAPH)
        runs = [self.run_script(self.ranks, str(first), SLURM_ARRAY_TASK_ID=str(i))
                for first, n in ((0, 16), (16, 4)) for i in range(n)]
        for run in runs[:-1]:
            self.finish_script(run)
        # The last one has to do what is left.
        self.finish_script(runs[-1])
        self.finish_script(self.run_script(self.last))
        self.assertEqual(self.hash_output(), wanted)
        with open(self.job + '/slurm/end.json') as file:
            self.assertEqual(json.load(file)['exit-code'], 0)
        self.fanout('--follow', '--progress=none', self.job)

    def run_all(self, ranks):
        """Those that were submitted, and the last one."""
        for rank in ranks:
            self.finish_script(self.run_script(self.ranks, SLURM_ARRAY_TASK_ID=str(rank)))
        self.finish_script(self.run_script(self.last))

    def test_merge_and_update(self):
        """The last job makes one output of the parts; a grown list is dealt by who submits, and only ranks with new tasks run."""
        def grow():
            for i in range(20, 23):
                with open(os.path.join(self.folder, 'in-%02d.jsonl' % i), 'w') as file:
                    file.write(json.dumps({'text': 'new file %d' % i}) + '\n')

        def shrink():
            for i in range(20, 23):
                os.remove(os.path.join(self.folder, 'in-%02d.jsonl' % i))

        first = self.run_local(4, '--merge')
        self.fanout('--tasks=4', '--workers=1', '--progress=none', '--merge', GRAPH)
        grow()
        self.fanout('--workers=1', '--progress=none', '--merge', '--update', GRAPH)
        grown = self.hash_output()
        self.assertEqual(grown['all'] == first['all'], False)
        shutil.rmtree(os.path.join(self.folder, 'out'))
        shutil.rmtree(self.job)
        shrink()

        self.fanout(*SLURM, '--tasks=4', '--merge', GRAPH)
        self.assertNotIn('--merge', self.read(self.ranks))
        self.run_all(range(4))
        self.assertEqual(self.hash_output(), first)
        grow()
        self.fanout(*SLURM, '--merge', '--update', GRAPH)
        self.assertEqual(self.read_calls()[-2], 'sbatch --parsable --array=4 %s 0' % self.ranks)
        self.run_all([4])
        self.assertEqual(self.hash_output(), grown)

    def test_update_with_failed(self):
        """Ranks cannot hold out what has failed: that is refused, unless it is to be run again."""
        self.write_files(bad=True)
        self.fanout('--tasks=4', '--workers=1', '--progress=none', '--strict', GRAPH, status=1)
        error = self.fanout(*SLURM, '--update', GRAPH, status=2)[1]
        self.assertIn('1 of the tasks before have failed', error)
        self.assertEqual(self.read_calls(), [])
        self.fanout(*SLURM, '--update', '--retry-failed', GRAPH)
        self.assertRegex(self.read_calls()[0], r'--array=[0-3] ')

    def test_last_decides(self):
        """By what is recorded: nothing of a rank that was lost."""
        self.fanout(*SLURM, '--tasks=4', GRAPH)
        for rank in range(3):
            self.finish_script(self.run_script(self.ranks, SLURM_ARRAY_TASK_ID=str(rank)))
        error = self.finish_script(self.run_script(self.last), 75)
        self.assertIn('3 of 4 tasks done', error)
        self.assertFalse(os.path.exists(self.folder + '/out/manifest.json'))
        error = self.fanout('--follow', self.job, status=75)[1]
        self.assertIn('1 task left; the same command goes on', error)

    def test_signals(self):
        """A checkpoint; and back into the queue where the job is still to run, which one that is cancelled is not."""
        for number, state, calls in ((signal.SIGUSR1, 'RUNNING', ['scontrol requeue 100_0']),
                                     (signal.SIGTERM, 'RUNNING', ['scontrol requeue 100_0']),
                                     (signal.SIGTERM, 'COMPLETING', [])):
            self.fanout(*SLURM, '--tasks=1', '--checkpoint-every=50ms', GRAPH)
            os.remove(self.calls)
            run = self.run_script(self.ranks, SLURM_ARRAY_TASK_ID='0', FAKE_QUEUE=state, **NAP)
            self.wait_for(lambda: self.get_status().get('records', 0) > 0, 'checkpoint')
            run.send_signal(number)
            error = self.finish_script(run, 75)
            self.assertIn('stopping all tasks', error)
            self.assertEqual(self.read_calls(), calls)
            shutil.rmtree(self.job)
            shutil.rmtree(self.folder + '/out')

    def test_killed(self):
        self.fanout(*SLURM, '--tasks=1', '--checkpoint-every=50ms', GRAPH)
        run = self.run_script(self.ranks, SLURM_ARRAY_TASK_ID='0', **NAP)
        self.wait_for(lambda: self.get_status().get('records', 0) > 0, 'checkpoint')
        os.kill(self.find_ranks(0)[0], signal.SIGKILL)
        self.assertIn('attempt 1 of 3 was killed (exit code 137)', self.finish_script(run))

    def test_elsewhere(self):
        """On a node that does not see the folder."""
        self.fanout(*SLURM, '--tasks=4', GRAPH)
        shutil.move(self.ranks, self.folder + '/moved')
        shutil.rmtree(self.job)
        error = self.finish_script(self.run_script(self.folder + '/moved', SLURM_ARRAY_TASK_ID='0'), 2)
        self.assertIn('the folder of the job has to be on a file system that all nodes see', error)

    # ---- refusals ----

    def test_refused(self):
        error = self.fanout(*SLURM, '--tasks=20', GRAPH, status=2, env={'FAKE_REFUSE': '2'})[1]
        self.assertIn('invalid partition specified: nope', error)
        self.assertEqual(self.read_calls()[-1], 'scancel 101')

    def test_missing(self):
        error = self.fanout(*SLURM, GRAPH, status=2, env={'PATH': '/nowhere'})[1]
        self.assertIn('is not in the PATH (/nowhere)', error)

    def test_in_queue(self):
        self.fanout(*SLURM, '--tasks=4', GRAPH)
        error = self.fanout(*SLURM, GRAPH, status=2, env={'FAKE_QUEUE': '101'})[1]
        self.assertIn('still in the queue of Slurm (101,102)', error)

    def test_no_arrays(self):
        error = self.fanout(*SLURM, GRAPH, status=2, env={'FAKE_ARRAY_SIZE': '0'})[1]
        self.assertIn('use --slurm-shape=allocation', error)

    def test_mistakes(self):
        null = 'file-source location=in-*.jsonl ! jsonl-reader ! null-sink'
        for arguments, text in (
                (('--sbatch=--array=0-3', GRAPH), '--array is set by dlpipe-fanout itself'),
                (('--sbatch=-n4', GRAPH), '-n is set by dlpipe-fanout itself'),
                (('--sbatch=long', GRAPH), 'expected an option of sbatch'),
                (('--slurm-shape=ring', GRAPH), 'allowed are array, allocation'),
                (('--rank=1', GRAPH), 'exclude each other'),
                (('--world-size=0', GRAPH), '--world-size'),
                ((null,), 'name one (--state DIR)'),
                (('--state=a"b', GRAPH), 'cannot name a folder')):
            self.assertIn(text, self.fanout(*SLURM, *arguments, status=2)[1])
        self.assertIn('are for --launcher=slurm', self.fanout('--sbatch=-p x', GRAPH, status=2)[1])
        self.assertEqual(self.read_calls(), [])

    def test_memory_of_this_machine(self):
        if not os.path.isdir('/dev/shm') or not os.access('/dev/shm', os.W_OK):
            self.skipTest('no /dev/shm')
        state = '/dev/shm/dlpipe-test-%d' % os.getpid()
        self.addCleanup(shutil.rmtree, state, True)
        error = self.fanout(*SLURM, '--state=' + state, GRAPH, status=2)[1]
        self.assertIn('in the memory of this machine', error)


class Follow(fanout_job.JobCase):
    files = 4
    records = 200

    def setUp(self):
        super().setUp()
        self.write_files()

    def start_job(self):
        job = self.start('--tasks=4', '--workers=2', '--checkpoint-every=50ms', '--progress=none', GRAPH, env=NAP)
        self.addCleanup(job.stderr.close)
        self.wait_for(lambda: self.get_status().get('records', 0) > 0, 'checkpoints')
        return job

    def test_until_the_end(self):
        job = self.start_job()
        error = self.fanout('--follow', '--progress=json', '--summary=sum.json', self.job)[1]
        self.assertEqual(job.wait(), 0)
        lines = [json.loads(line) for line in error.splitlines() if line.startswith('{')]
        fractions = [line['fraction'] for line in lines]
        self.assertEqual(fractions, sorted(fractions))
        self.assertEqual((lines[-1]['fraction'], lines[-1]['exit-code'], lines[-1]['tasks-done']), (1, 0, 4))
        self.assertGreater(max(line['tasks-running'] for line in lines), 0)
        self.assertIn('4 of 4 tasks done; 4 files, 4 done; ', error)
        with open(self.folder + '/sum.json') as file:
            self.assertEqual(json.load(file)['files-done'], 4)

    def test_leaving(self):
        job = self.start_job()
        follow = self.start('--follow', self.job)
        line = follow.stderr.readline()
        self.assertIn('4 tasks of 4 files', line)
        follow.send_signal(signal.SIGINT)
        error = follow.communicate()[1]
        self.assertEqual(follow.returncode, 130, error)
        self.assertIn('SIGINT: the job goes on', error)
        self.assertEqual(job.wait(), 0)

    def test_failed(self):
        self.write_files(bad=True)
        self.files = 6
        self.write_files(bad=True)
        self.fanout('--tasks=6', '--strict', GRAPH, status=1)
        self.assertIn('bad record', self.fanout('--follow', self.job, status=1)[1])
        self.assertIn('bad record', self.fanout('finish', self.job, status=1)[1])

    def test_no_job(self):
        for arguments in (('--follow', self.job), ('finish', self.job)):
            self.assertIn('there is no job', self.fanout(*arguments, status=2)[1])
        self.assertIn('takes the folder of one job', self.fanout('--follow', status=2)[1])


tap.main()
