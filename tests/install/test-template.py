#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""dlpipe-template KIND, all the way: written, built out of tree by pkg-config alone without a warning,
its tests, installed, seen, run in a graph, killed with SIGKILL and continued.

usage: test-template.py source|reader|transform|sink|plugin|mistakes
"plugin" does the same with docs/examples/plugin, "mistakes" looks at what the program refuses.
"""
import glob
import os
import random
import signal
import subprocess
import sys
import time

from installed import Installed, SOURCE_DIR, finish, point

N_LINES = 300000
GRAPHS = {
    'source': 'my-source lines=%d ! jsonl-sink location=OUT' % (3 * N_LINES),
    'reader': 'file-source location=in.txt ! my-reader ! jsonl-sink location=OUT',
    'transform': 'file-source location=in.jsonl ! jsonl-reader ! my-transform suffix=? ! jsonl-sink location=OUT',
    'sink': 'file-source location=in.jsonl ! jsonl-reader ! my-sink location=OUT',
    'plugin': 'file-source location=in.jsonl ! jsonl-reader ! drop-empty ! jsonl-sink location=OUT',
}


def step(result, name):
    if not point(result.returncode == 0, name, result.stdout):
        finish()
    return result


def build(installed, folder):
    result = step(installed.run(['meson', 'setup', '-Dwerror=true', 'build'] +
                                (['-Dplugins=system'] if os.path.exists(folder + '/meson_options.txt') else []),
                                cwd=folder), 'meson setup')
    result = step(installed.run(['meson', 'compile', '-C', 'build'], cwd=folder), 'it builds')
    point('warning' not in result.stdout, 'without a warning', result.stdout)
    if os.path.isdir(folder + '/tests'):
        # Also where the tests are the first that is asked for, as the page does.
        os.remove(glob.glob(folder + '/build/dlp-*.so')[0])
        step(installed.run(['meson', 'test', '-C', 'build', '--print-errorlogs'], cwd=folder), 'its tests pass')
    step(installed.run(['meson', 'install', '-C', 'build'], cwd=folder), 'meson install')


def write_input(installed):
    with open(os.path.join(installed.work, 'in.txt'), 'w') as text, \
         open(os.path.join(installed.work, 'in.jsonl'), 'w') as json:
        for i in range(N_LINES):
            line = '' if i % 7 == 0 else 'line %d of many' % i
            text.write(line + '\n')
            json.write('{"text":"%s","id":"%d"}\n' % (line, i))


def launch(graph):
    return ['dlpipe-launch', '--progress=none', '--checkpoint-every=10ms', graph]


def partial_size(installed):
    """Of the largest file of the output. It may be renamed at any time."""
    largest = 0
    for name in os.listdir(installed.work):
        if name.startswith('.pieces.'):
            try:
                largest = max(largest, os.stat(os.path.join(installed.work, name)).st_size)
            except FileNotFoundError:
                pass
    return largest


def kill_once(installed, graph, size):
    """Kills it when so much is written; whether it was killed in the middle."""
    process = subprocess.Popen(launch(graph), cwd=installed.work, env=installed.env,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while process.poll() is None and partial_size(installed) < size:
        time.sleep(0.0005)
    process.kill()
    return process.wait() == -signal.SIGKILL


def kill_often(installed, graph, size):
    """How often it was killed before it came to its end; where it never was, it is run anew."""
    n_kills = 0
    for _ in range(10):
        if not kill_once(installed, graph, random.uniform(0.1, 0.7) * size):
            if n_kills > 0:
                break
            installed.run('rm -rf pieces pieces.* .pieces.*', shell=True)
            continue
        n_kills += 1
        if n_kills == 3:
            break
    return n_kills


def read(installed, name):
    with open(os.path.join(installed.work, name), 'rb') as file:
        return file.read()


def check_graph(installed, kind):
    graph = GRAPHS[kind]
    name = 'drop-empty' if kind == 'plugin' else 'my-' + kind
    result = step(installed.run(['dlpipe-inspect', name]), 'dlpipe-inspect sees it')
    point('dlp-%s.so' % name in result.stdout, 'in its plugin', result.stdout)
    step(installed.run(['dlpipe-launch', '--check', graph.replace('OUT', 'never')]), 'dlpipe-launch --check')
    step(installed.run(launch(graph.replace('OUT', 'whole'))), 'it runs in a graph')
    whole = read(installed, 'whole')
    point(len(whole) > N_LINES, 'something came out')

    n_kills = kill_often(installed, graph.replace('OUT', 'pieces'), len(whole))
    point(n_kills > 0, 'it is killed', 'it always ended before')
    print('# killed %d times' % n_kills)
    state = os.path.join(installed.work, 'pieces.dlpipe')
    point(os.path.isdir(state), 'a state is there')
    step(installed.run(launch(graph.replace('OUT', 'pieces'))), 'it is continued')
    point(read(installed, 'pieces') == whole, 'to the same bytes')


def check_example(installed):
    folder = os.path.join(SOURCE_DIR, 'docs', 'examples', 'plugin')
    with open(folder + '/drop-empty.c') as file:
        point(len(file.readlines()) <= 80, 'it has at most 80 lines')
    step(installed.run(['cp', '-r', folder, 'plugin']), 'copied')
    build(installed, os.path.join(installed.work, 'plugin'))
    graph = ('file-source location=none.jsonl ! jsonl-reader ! tokenizer model=gpt2 ! fields keep=tokens '
             'rename=tokens:text ! drop-empty ! null-sink')
    open(os.path.join(installed.work, 'none.jsonl'), 'w').close()
    result = installed.run(['dlpipe-launch', '--check', graph])
    point(result.returncode == 2 and 'of type string' in result.stdout, 'it refuses what is no text', result.stdout)


def check_user_folder(installed, folder):
    """The default: installed for one user, found there beside all others."""
    step(installed.run(['meson', 'setup', 'build-user'], cwd=folder), 'meson setup, for one user')
    step(installed.run(['meson', 'install', '-C', 'build-user'], cwd=folder), 'meson install, for one user')
    path = os.path.join(installed.env['XDG_DATA_HOME'], 'dlpipe-1.0', 'plugins', 'dlp-my-source.so')
    point(os.path.exists(path), 'it is in the data folder of the user')
    os.remove(os.path.join(installed.libdir, 'dlpipe-1.0', 'dlp-my-source.so'))
    graph = 'my-source lines=3 ! jsonl-sink location=user.jsonl'
    step(installed.run(['dlpipe-launch', '--progress=none', graph]), 'it runs from there')


def refuse(installed, arguments, code, part):
    result = installed.run(['dlpipe-template'] + arguments)
    point(result.returncode == code and part in result.stdout, ' '.join(arguments) or 'no argument',
          '%d: %s' % (result.returncode, result.stdout))


def check_full_disk(installed):
    """A file that cannot be written leaves nothing behind, wherever it happens."""
    before = sorted(os.listdir(installed.work))
    for size in range(4):
        result = installed.run('ulimit -f %d; exec dlpipe-template full --reader' % size, shell=True)
        point(result.returncode == 1 and 'full is not made: ' in result.stdout,
              'no file above %d blocks' % size, '%d: %s' % (result.returncode, result.stdout))
    point(sorted(os.listdir(installed.work)) == before, 'nothing is left',
          ' '.join(os.listdir(installed.work)))


def check_mistakes(installed):
    refuse(installed, [], 2, 'the name of the element is missing')
    refuse(installed, ['a', 'b', '--sink'], 2, 'one name is wanted')
    refuse(installed, ['my-sink'], 2, '--source, --reader, --transform, --sink')
    refuse(installed, ['my-sink', '--sink', '--reader'], 2,
           '--reader, --sink were given; an element is of one kind')
    for name in ('Sink', '1sink', 'my_sink', '-sink', 'sink-', 'my--sink', '../sink', 'é', 'x' * 51, 'plugin'):
        refuse(installed, ['--sink', '--', name], 2, 'is not allowed')
    refuse(installed, ['my-sink', '--sink', '--license=GPL-9'], 2, 'MIT, 0BSD, none')
    refuse(installed, ['my-sink', '--sink', '--dir=missing'], 1, 'missing')
    check_full_disk(installed)
    refuse(installed, ['tee', '--sink'], 0, 'there is an element “tee” already')
    refuse(installed, ['tee', '--sink'], 2, 'is there already')
    refuse(installed, ['a', '--source', '--license=none', '--author=Ann O. Nym'], 0, 'meson setup')
    point(b'Ann O. Nym. All rights reserved' in read(installed, 'a/LICENSE'), 'its licence')
    # Its header has the name of one of the system's.
    step(installed.run(['dlpipe-template', 'string', '--transform']), 'string --transform')
    build(installed, os.path.join(installed.work, 'string'))
    left = [line for folder, _, files in os.walk(os.path.join(installed.work, 'a')) for name in files
            for line in open(os.path.join(folder, name)) if '@NAME' in line or '@LOWER' in line]
    point(not left, 'every word is replaced', ''.join(left))


def main():
    kind = sys.argv[1]
    installed = Installed(kind)
    point(installed.log.returncode == 0, 'meson install of dlpipe', installed.log.stdout)
    if kind == 'mistakes':
        check_mistakes(installed)
        installed.remove()
        finish()
    if kind == 'plugin':
        check_example(installed)
    else:
        step(installed.run(['dlpipe-template', '--' + kind, 'my-' + kind]), 'dlpipe-template')
        build(installed, os.path.join(installed.work, 'my-' + kind))
    if kind == 'source':
        check_user_folder(installed, os.path.join(installed.work, 'my-source'))
    write_input(installed)
    check_graph(installed, kind)
    installed.remove()
    finish()


if __name__ == '__main__':
    main()
