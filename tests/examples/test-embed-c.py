#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The C example, built by its own build file, run, interrupted, and gone on with.

Environment: DLPIPE_EXAMPLE_DIR, DLPIPE_BUILD_DIR, DLPIPE_PLUGIN_PATH.
"""
import json
import os
import signal
import subprocess
import sys
import tempfile

N = 20000
n_points = 0
n_failed = 0


def point(ok, name, detail=''):
    global n_points, n_failed
    n_points += 1
    n_failed += not ok
    print('%s %d %s' % ('ok' if ok else 'not ok', n_points, name), flush=True)
    if not ok and detail:
        print('# ' + str(detail)[-2000:].replace('\n', '\n# '), flush=True)


def build_example(folder):
    env = dict(os.environ)
    env['PKG_CONFIG_PATH'] = os.path.join(os.environ['DLPIPE_BUILD_DIR'], 'meson-uninstalled')
    for command in (['meson', 'setup', folder, os.environ['DLPIPE_EXAMPLE_DIR'], '--werror'],
                    ['ninja', '-C', folder]):
        done = subprocess.run(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              stdin=subprocess.DEVNULL, text=True)
        if done.returncode != 0:
            point(False, 'builds', done.stdout)
            print('1..%d' % n_points)
            sys.exit(1)
    point(True, 'builds')
    return os.path.join(folder, 'dlpipe-print')


def start(program, state, graph):
    return subprocess.Popen([program, state, graph], stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def run(program, state, graph):
    process = start(program, state, graph)
    out, err = process.communicate(timeout=60)
    return process.returncode, out.splitlines(), err


def run_interrupted(program, state, graph):
    """Interrupted when its first lines are there; it waits for whoever reads the rest."""
    process = start(program, state, graph)
    lines = [process.stdout.readline().rstrip('\n') for _ in range(10)]
    process.send_signal(signal.SIGINT)
    # Not by communicate(), which passes by what was read ahead. Its stderr is short.
    lines += process.stdout.read().splitlines()
    err = process.stderr.read()
    return process.wait(timeout=60), lines, err


def main():
    with tempfile.TemporaryDirectory() as folder:
        program = build_example(os.path.join(folder, 'build'))
        data = os.path.join(folder, 'data.jsonl')
        with open(data, 'w', encoding='utf-8') as f:
            for i in range(N):
                f.write(json.dumps({'text': 'record %d\nof the test' % i}) + '\n')
        graph = 'file-source location=%s ! jsonl-reader ! shuffle size=100 ! app-sink name=out' % data

        code, whole, err = run(program, os.path.join(folder, 'a'), graph)
        point(code == 0 and 'complete' in err and len(whole) == N, 'runs', '%s\n%s' % (code, err))
        point([line.split('\t')[0] for line in whole] == [str(i) for i in range(N)], 'in order')

        state = os.path.join(folder, 'b')
        code, first, err = run_interrupted(program, state, graph)
        point(code == 75 and 0 < len(first) < N and 'goes on' in err, 'stops', '%s\n%s' % (code, err))
        code, rest, err = run(program, state, graph)
        point(code == 0 and first + rest == whole, 'goes on where it was',
              '%s: %d + %d of %d\n%s' % (code, len(first), len(rest), len(whole), err))

        code, _, err = run(program, os.path.join(folder, 'c'), 'no-such-element ! app-sink name=out')
        point(code == 2 and 'no-such-element' in err, 'says what is wrong with a graph', err)
        code, _, err = run(program, os.path.join(folder, 'd'),
                           'file-source location=/nowhere.jsonl ! jsonl-reader ! app-sink name=out')
        point(code == 1 and '/nowhere.jsonl' in err, 'says why a run fails', err)
    print('1..%d' % n_points)
    sys.exit(n_failed > 0)


main()
