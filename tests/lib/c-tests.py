#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Names of the default tests that are programs of the build, a line each: those valgrind can run.

usage: c-tests.py BUILD-FOLDER [NAME...]    of the NAMEs alone

What is left out, and why, is said on stderr.
"""
import json
import os
import sys

OTHER_SUITES = ('slow', 'soak', 'peers')
LEFT_OUT = {
    'kill': 'it kills by the clock, and a program under valgrind has not begun by then',
    'app-kill': 'it kills by the clock, and a program under valgrind has not begun by then',
    'memory': 'it measures memory, which valgrind multiplies',
    'zstd-memory': 'it measures memory, which valgrind multiplies',
    'read-ahead-many': 'it measures memory, and has more threads than valgrind takes',
}


def is_c_test(test, build):
    program = test['cmd'][0]
    if test['protocol'] != 'tap' or not program.startswith(os.path.join(build, '')):
        return False
    with open(program, 'rb') as f:
        return f.read(4) == b'\x7fELF'


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    build = os.path.realpath(sys.argv[1])
    wanted = sys.argv[2:]
    with open(os.path.join(build, 'meson-info', 'intro-tests.json'), encoding='utf-8') as f:
        tests = json.load(f)
    for test in tests:
        name = test['name']
        suites = [suite.split(':')[-1] for suite in test['suite']]
        if (wanted and name not in wanted) or not is_c_test(test, build):
            continue
        if any(suite in OTHER_SUITES for suite in suites):
            continue
        if name in LEFT_OUT:
            print('valgrind: not %s: %s' % (name, LEFT_OUT[name]), file=sys.stderr)
        else:
            print(name)


if __name__ == '__main__':
    main()
