#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Completion in a bash on a terminal: what stands in the line behind a tab, quotes and blanks included.

usage: test-completion-tty.py FUNCTION LAUNCH INSPECT DATASET TEMPLATE STATE TOKENIZER
"""
import os
import pty
import re
import select
import signal
import sys
import tempfile
import time

PATIENCE = 30
SHOW = b'\x18d'  # a key that prints the line
CASES = [  # what is typed, what stands there then
    ('dlpipe-launch file-so\t', 'dlpipe-launch file-source '),
    ('dlpipe-launch "file-so\t', 'dlpipe-launch "file-source '),
    ('dlpipe-launch "file-so\tloc\tdata/o\t', 'dlpipe-launch "file-source location=data/one.jsonl '),
    ('dlpipe-launch "file-source location=da\to\t! jsonl-re\ton-b\ts\t',
     'dlpipe-launch "file-source location=data/one.jsonl ! jsonl-reader on-bad-record=skip '),
    ("dlpipe-launch 'file-source loc\t", "dlpipe-launch 'file-source location="),
    ('dlpipe-launch "file-source location=bl\t\t', 'dlpipe-launch "file-source location=blank/a\\ b '),
    ('dlpipe-launch file-source location=bl\t\t', 'dlpipe-launch file-source location=blank/a\\\\\\ b '),
    ('dlpipe-dataset info bl\t\t', 'dlpipe-dataset info blank/a\\ b '),
    ('dlpipe-dataset ver\t', 'dlpipe-dataset verify '),
    ('dlpipe-state ver\t', 'dlpipe-state verify '),
    ('dlpipe-state --js\tsh\tbl\t\t', 'dlpipe-state --json show blank/a\\ b '),
    ('dlpipe-state di\tda\to\tda\tt\t', 'dlpipe-state diff data/one.jsonl data/two.jsonl '),
    ('dlpipe-state list --int\t', 'dlpipe-state list --interval='),
    ('dlpipe-tokenizer enc\tcl\tda\to\t', 'dlpipe-tokenizer encode cl100k_base data/one.jsonl '),
    ('dlpipe-launch --stall-a\tf\t', 'dlpipe-launch --stall-action=fail '),
    ('dlpipe-inspect codec:zs\t', 'dlpipe-inspect codec:zstd '),
    ('dlpipe-inspect sche\tfi\t', 'dlpipe-inspect scheme:file '),
    ('dlpipe-template --tr\t', 'dlpipe-template --transform '),
    ('dlpipe-template --li\t0\t', 'dlpipe-template --license=0BSD '),
]


class Shell:
    def __init__(self, function, folder):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(folder)
            os.environ.update({'PATH': folder + ':' + os.environ['PATH'], 'TERM': 'dumb', 'INPUTRC': '/dev/null',
                               'HISTFILE': '/dev/null'})
            os.execvp('bash', ['bash', '--noprofile', '--norc', '-i'])
        self.said = b''
        self.type(b'PS1=; bind "set enable-bracketed-paste off"; bind "set bell-style none"; '
                  b'bind -x \'"\\C-xd": printf "<%s>\\n" "$READLINE_LINE"\'; . "' + function.encode() +
                  b'"; printf "<%s>\\n" begin\n')
        self.wait(b'<begin>')

    def type(self, data):
        os.write(self.fd, data)

    def wait(self, wanted):
        """What was said up to what is wanted, a pattern."""
        until = time.monotonic() + PATIENCE
        while True:
            found = re.search(wanted, self.said)
            if found:
                self.said = self.said[found.end():]
                return found
            if not select.select([self.fd], [], [], max(0, until - time.monotonic()))[0]:
                raise TimeoutError(repr(self.said))
            self.said += os.read(self.fd, 65536)

    def complete(self, keys):
        """Kills the line, types the keys."""
        self.said = b''
        self.type(b'\x01\x0b' + keys.encode() + SHOW)
        return self.wait(rb'<(dlpipe[^>]*)>').group(1).decode()

    def end(self):
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)


def main():
    function, programs = sys.argv[1], sys.argv[2:]
    bad = 0
    with tempfile.TemporaryDirectory() as folder:
        for program in programs:
            # Not links: a program knows by its own path where plugins are.
            path = os.path.join(folder, os.path.basename(program))
            with open(path, 'w') as file:
                file.write('#!/bin/sh\nexec "%s" "$@"\n' % os.path.abspath(program))
            os.chmod(path, 0o755)
        os.makedirs(os.path.join(folder, 'blank'))
        os.makedirs(os.path.join(folder, 'data'))
        for name in ('data/one.jsonl', 'data/two.jsonl', 'blank/a b'):
            open(os.path.join(folder, name), 'w').close()
        shell = Shell(function, folder)
        print('1..%d' % len(CASES))
        for i, (typed, wanted) in enumerate(CASES, 1):
            got = shell.complete(typed)
            bad += got != wanted
            print('%s %d %s' % ('ok' if got == wanted else 'not ok', i, typed.replace('\t', '<Tab>')), flush=True)
            if got != wanted:
                print('# got    %s\n# wanted %s' % (got, wanted), flush=True)
        shell.end()
    sys.exit(1 if bad else 0)


if __name__ == '__main__':
    main()
