#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The main job beside other programs: .jsonl.zst files to the ids of gpt2, on two cores.

usage: bench_end_to_end.py BUILD FILE.jsonl.zst... [--rounds N] [--programs A,B] [--json FILE]
                           [--venv DIR] [--cpus LIST] [--scratch DIR]

BUILD is the build folder; DIR is made by tests/peers/setup-end-to-end (default .venv-end-to-end). Two
files or more, of about the same size: some programs have as many workers as files. Any Python runs it.

    tests/peers/setup-end-to-end [MEGATRON_LM]
    tests/peers/bench_end_to_end.py build part-0.jsonl.zst part-1.jsonl.zst

Each round runs every program once, one after the other, and again on files that hold one document
each ("start": what it takes to start). Each is pinned to the CPUs and counted with all its processes;
MB/s are of the bytes of text by wall time. The peak of memory is of a run of its own, in which the
proportional set size of all its processes is read every 50 ms: what they share counts once. Page
cache is warm. Prints medians as a Markdown table, ratios to the first program within a round;
fails when the ids differ (of a shuffled output only their number is compared).

    dlpipe             this project, default settings: with state, checkpoints, digest, fsync
    dlpipe-shuffle     the same with a shuffle of 10,000
    megatron           Megatron-LM's tools/preprocess_data.py, 2 workers, Hugging Face's tokenizer; the
                       files unpacked by zstd first, as it does not read .zst
    megatron-fast      Megatron-LM's tools/preprocess_data_fast.py --use-gigatoken, on one .zst made by
                       cat, as it takes one file
    datatrove          its LocalPipelineExecutor, JsonlReader, DocumentTokenizer, 2 tasks
    gigatoken-files    end_to_end_job.py: gigatoken's own reader of .jsonl.zst, 2 threads, numpy
    gigatoken-batches  end_to_end_job.py: 2 processes of zstandard, orjson, gigatoken, numpy
"""
import argparse
import ctypes
import glob
import hashlib
import json
import os
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
PR_SET_CHILD_SUBREAPER = 36


def join(words):
    return ' '.join(map(shlex.quote, words))


def dlpipe(options, files, out, *middle):
    graph = ['file-source', *('location=' + shlex.quote(file) for file in files), '!', 'jsonl-reader', '!', *middle,
             'tokenizer', 'model=gpt2', '!', 'megatron-sink', 'location=' + os.path.join(out, 'ids')]
    return join([os.path.join(options.build, 'tools', 'dlpipe-launch'), ' '.join(graph)])


def dlpipe_shuffle(options, files, out):
    return dlpipe(options, files, out, 'shuffle', 'size=10000', '!')


def megatron_words(options, tool, source, out):
    return [options.python, os.path.join(options.venv, 'Megatron-LM', 'tools', tool), '--input', source,
            '--output-prefix', os.path.join(out, 'ids'), '--tokenizer-type', 'HuggingFaceTokenizer',
            '--tokenizer-model', options.model, '--append-eod']


def megatron(options, files, out):
    source = os.path.join(out, 'all.jsonl')
    words = megatron_words(options, 'preprocess_data.py', source, out) + ['--workers', '2']
    return 'zstd -dcq %s >%s && %s' % (join(files), shlex.quote(source), join(words))


def megatron_fast(options, files, out):
    source = os.path.join(out, 'all.jsonl.zst')
    words = megatron_words(options, 'preprocess_data_fast.py', source, out) + ['--use-gigatoken']
    return 'cat %s >%s && %s' % (join(files), shlex.quote(source), join(words))


def job(name):
    def command(options, files, out):
        return join([options.python, os.path.join(HERE, 'end_to_end_job.py'), name, options.model, out, *files])
    return command


PROGRAMS = {  # name: (its command, the files of ids it makes, the index of its dataset)
    'dlpipe': (dlpipe, 'ids.bin', 'ids.idx'),
    'dlpipe-shuffle': (dlpipe_shuffle, 'ids.bin', None),
    'megatron': (megatron, 'ids_text_document.bin', 'ids_text_document.idx'),
    'megatron-fast': (megatron_fast, 'ids_text_document.bin', 'ids_text_document.idx'),
    'datatrove': (job('datatrove'), 'ids/*.ds', None),
    'gigatoken-files': (job('gigatoken-files'), 'ids', None),
    'gigatoken-batches': (job('gigatoken-batches'), 'ids-*', None),
}


def processes_of(session):
    for name in os.listdir('/proc'):
        if name.isdigit():
            try:
                with open('/proc/%s/stat' % name) as f:
                    fields = f.read().rpartition(')')[2].split()
            except OSError:
                continue
            if int(fields[3]) == session:
                yield name


def memory_of(session):
    """Bytes: (resident, each process by itself; proportional, what is shared counted once)."""
    resident = proportional = 0
    for name in processes_of(session):
        try:
            with open('/proc/%s/smaps_rollup' % name) as f:
                values = dict(line.split()[:2] for line in f.readlines()[1:])
        except (OSError, ValueError):
            continue
        resident += int(values.get('Rss:', 0)) * 1024
        proportional += int(values.get('Pss:', 0)) * 1024
    return resident, proportional


class Watch(threading.Thread):
    """The peak of memory of a session, until stopped."""

    def __init__(self, session):
        super().__init__(daemon=True)
        self.session, self.peaks, self.done = session, (0, 0), threading.Event()
        self.start()

    def run(self):
        while not self.done.wait(0.05):
            self.peaks = tuple(map(max, self.peaks, memory_of(self.session)))


def run(options, command, out, watched=False):
    """Runs it in OUT, made anew; returns (wall seconds, CPU seconds of all its processes, peaks)."""
    shutil.rmtree(out, ignore_errors=True)
    os.makedirs(out)
    env = dict(os.environ, HF_HUB_OFFLINE='1', CUDA_VISIBLE_DEVICES='')
    with open(os.path.join(out, 'log.txt'), 'wb') as log:
        start = time.monotonic()
        child = subprocess.Popen(['taskset', '-c', options.cpus, 'bash', '-c', command], stdin=subprocess.DEVNULL,
                                 stdout=log, stderr=log, start_new_session=True, env=env)
        watch = Watch(child.pid) if watched else None
        status, usage = os.wait4(child.pid, 0)[1:]
        wall = time.monotonic() - start
    child.returncode = os.waitstatus_to_exitcode(status)
    cpu = usage.ru_utime + usage.ru_stime
    try:  # those that outlived it: this process is their parent now
        while True:
            usage = os.wait4(-1, 0)[2]
            cpu += usage.ru_utime + usage.ru_stime
    except ChildProcessError:
        pass
    if watch:
        watch.done.set()
        watch.join()
    if child.returncode != 0:
        with open(os.path.join(out, 'log.txt'), errors='replace') as log:
            sys.exit('%s\nfailed with %d: %s' % (log.read()[-2000:], child.returncode, command))
    return wall, cpu, watch.peaks if watch else (0, 0)


def digest(out, pattern):
    files = sorted(glob.glob(os.path.join(out, pattern)))
    whole = hashlib.sha256()
    for file in files:
        with open(file, 'rb') as f:
            whole.update(f.read())
    return sum(map(os.path.getsize, files)), whole.hexdigest()


def prepare(files, folder):
    """Returns the bytes of text, and files with the first document of each."""
    size = 0
    tiny = []
    for i, file in enumerate(files):
        whole = subprocess.run(['zstd', '-dcq', file], stdout=subprocess.PIPE, check=True).stdout
        lines = whole.splitlines(keepends=True)
        size += sum(len(json.loads(line)['text'].encode()) for line in lines)
        tiny.append(os.path.join(folder, 'tiny-%03d.jsonl.zst' % i))
        subprocess.run(['zstd', '-qo', tiny[-1]], input=lines[0], check=True)
    return size, tiny


def check(name, out, expected):
    """Fails unless the ids are those that the first program made; remembers them."""
    n, ids = digest(out, PROGRAMS[name][1])
    index = PROGRAMS[name][2] and digest(out, PROGRAMS[name][2])
    expected.setdefault('n', n)
    if n != expected['n']:
        sys.exit('%s: %d bytes of ids, not %d' % (name, n, expected['n']))
    if name != 'dlpipe-shuffle' and expected.setdefault('ids', ids) != ids:
        sys.exit('%s: the ids differ' % name)
    if index and expected.setdefault('index', index) != index:
        sys.exit('%s: the index differs' % name)


def measure(options, folder):
    size, tiny = prepare(options.files, folder)
    out = os.path.join(folder, 'out')
    results = {name: {'wall': [], 'cpu': [], 'start': []} for name in options.programs}
    expected = {}
    for name in options.programs:  # also warms the page cache
        peaks = run(options, PROGRAMS[name][0](options, options.files, out), out, watched=True)[2]
        results[name]['resident'], results[name]['proportional'] = peaks
        check(name, out, expected)
        print('%s: checked' % name, file=sys.stderr, flush=True)
    for i in range(options.rounds):
        for name in options.programs:
            wall, cpu, _ = run(options, PROGRAMS[name][0](options, options.files, out), out)
            check(name, out, expected)
            start = run(options, PROGRAMS[name][0](options, tiny, out), out)[0]
            for key, value in (('wall', wall), ('cpu', cpu), ('start', start)):
                results[name][key].append(value)
            print('round %d %s: %.2f s, load %.1f' % (i + 1, name, wall, os.getloadavg()[0]), file=sys.stderr,
                  flush=True)
    return {'bytes': size, 'tokens': expected['n'] // 2, 'rounds': options.rounds, 'programs': results}


def ratio(mine, theirs):
    return statistics.median(b / a for a, b in zip(mine, theirs))


def report(whole):
    programs = whole['programs']
    first = programs[next(iter(programs))]
    print('%.1f MB of text, %d tokens, %d rounds\n' % (whole['bytes'] / 1e6, whole['tokens'], whole['rounds']))
    print('| program | wall s | MB/s | CPU s | start s | peak MiB (resident, each process) '
          '| times as long | times the CPU time |')
    print('|---|---|---|---|---|---|---|---|')
    for name, result in programs.items():
        wall, cpu, start = (statistics.median(result[key]) for key in ('wall', 'cpu', 'start'))
        print('| %s | %.2f | %.1f | %.2f | %.2f | %d (%d) | %.1f | %.1f |' % (
            name, wall, whole['bytes'] / 1e6 / wall, cpu, start, result['proportional'] >> 20,
            result['resident'] >> 20, ratio(first['wall'], result['wall']), ratio(first['cpu'], result['cpu'])))


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('build')
    parser.add_argument('files', nargs='+', metavar='FILE.jsonl.zst')
    parser.add_argument('--rounds', type=int, default=5)
    parser.add_argument('--programs', type=lambda text: text.split(','))
    parser.add_argument('--json')
    parser.add_argument('--venv', default=os.path.join(ROOT, '.venv-end-to-end'))
    parser.add_argument('--cpus', default='0,1')
    parser.add_argument('--scratch', default=os.environ.get('TMPDIR', '/tmp'))
    options = parser.parse_args()
    options.venv = os.path.abspath(options.venv)
    options.python = os.path.join(options.venv, 'bin', 'python')
    options.model = os.path.join(options.venv, 'gpt2')
    options.files = [os.path.abspath(file) for file in options.files]
    if not os.path.exists(options.python):
        parser.error('%s is not there: run tests/peers/setup-end-to-end' % options.python)
    if options.programs is None:
        options.programs = [name for name in PROGRAMS if not name.startswith('megatron') or
                            os.path.isdir(os.path.join(options.venv, 'Megatron-LM'))]
    for name in options.programs:
        if name not in PROGRAMS:
            parser.error('no program %s; there are: %s' % (name, ', '.join(PROGRAMS)))
    return options


def main():
    options = parse()
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    with tempfile.TemporaryDirectory(prefix='dlpipe-bench-', dir=options.scratch) as folder:
        whole = measure(options, folder)
    report(whole)
    if options.json:
        with open(options.json, 'w') as f:
            json.dump(whole, f, indent=1)


if __name__ == '__main__':
    main()
