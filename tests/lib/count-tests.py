#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Counts the test points in logs of meson.

usage: count-tests.py TESTLOG.json...    prints the failures, then "PASSED FAILED SKIPPED"
       count-tests.py --self-test        checks itself on made-up logs, as TAP

A test program that speaks TAP counts as its points. One that failed without saying at which point
(it crashed, timed out, stopped half-way, does not speak TAP) counts as one failure more. A log that is
missing or empty counts nothing: that no test ran is for the caller to judge.
"""
import json
import os
import re
import sys
import tempfile

POINT = re.compile(r'(not ok|ok)\b\s*(\d*)\s*-?\s*([^#]*)(?:#\s*(\w+))?')
GOOD = ('OK', 'EXPECTEDFAIL')


def points(stdout):
    """(passed, names of failed, skipped); indented lines are subtests, which their parents sum up."""
    passed, failed, skipped = 0, [], 0
    for line in stdout.splitlines():
        m = POINT.match(line)
        if not m:
            continue
        directive = (m.group(4) or '').upper()
        if directive == 'SKIP':
            skipped += 1
        elif m.group(1) == 'ok' or directive == 'TODO':
            passed += 1
        else:
            failed.append(m.group(3).strip() or m.group(2))
    return passed, failed, skipped


def count(test):
    """(passed, messages about failures, skipped) of one entry of the log."""
    result = test['result']
    passed, failed, skipped = points(test.get('stdout') or '')
    messages = ['%s: not ok %s' % (test['name'], name) for name in failed]
    if result in GOOD:
        if not passed and not failed and not skipped:
            passed = 1
    elif result == 'SKIP':
        skipped = max(skipped, 1)
    elif not failed:
        messages.append('%s: %s, exit status %s' % (test['name'], result, test.get('returncode')))
    return passed, messages, skipped


def count_files(paths):
    passed, messages, skipped = 0, [], 0
    for path in paths:
        if not os.path.exists(path):
            continue
        with open(path, encoding='utf-8', errors='replace') as f:
            for line in f:
                if line.strip():
                    p, m, s = count(json.loads(line))
                    passed, messages, skipped = passed + p, messages + m, skipped + s
    return passed, messages, skipped


SELF_TESTS = [  # name, entry, expected (passed, failed, skipped)
    ('all-pass', {'result': 'OK', 'returncode': 0, 'stdout': '1..2\nok 1 /a\nok 2 /b\n'}, (2, 0, 0)),
    ('one-fails', {'result': 'FAIL', 'returncode': 1, 'stdout': '1..2\nok 1 /a\nnot ok 2 /b\n'},
     (1, 1, 0)),
    ('crash', {'result': 'FAIL', 'returncode': -6, 'stdout': 'ok 1 /a\nBail out! ERROR:x\n'},
     (1, 1, 0)),
    ('glib-aborts', {'result': 'ERROR', 'returncode': -6, 'stdout': 'not ok 1 /a - b\nBail out!\n'},
     (0, 1, 0)),
    ('timeout', {'result': 'TIMEOUT', 'returncode': -15, 'stdout': '1..9\nok 1 /a\n'}, (1, 1, 0)),
    ('too-few-points', {'result': 'ERROR', 'returncode': 0, 'stdout': '1..3\nok 1 /a\n'}, (1, 1, 0)),
    ('sanitizer-exit', {'result': 'FAIL', 'returncode': 66, 'stdout': 'ok 1 /a\n'}, (1, 1, 0)),
    ('skip-point', {'result': 'OK', 'returncode': 0, 'stdout': 'ok 1 /a # SKIP no\nok 2 /b\n'},
     (1, 0, 1)),
    ('not-tap', {'result': 'OK', 'returncode': 0}, (1, 0, 0)),
    ('not-tap-fails', {'result': 'FAIL', 'returncode': 1}, (0, 1, 0)),
    ('not-tap-skips', {'result': 'SKIP', 'returncode': 77}, (0, 0, 1)),
    ('indented', {'result': 'OK', 'returncode': 0, 'stdout': '    ok 1 x\n    ok 2 y\nok 1 /a\n'},
     (1, 0, 0)),
    ('okay-is-no-point', {'result': 'OK', 'returncode': 0, 'stdout': '# ok\nokay 1\nok 1 /a\n'},
     (1, 0, 0)),
]


def self_test():
    print('1..%d' % (len(SELF_TESTS) + 1))
    bad = 0
    for i, (name, entry, expected) in enumerate(SELF_TESTS, 1):
        passed, messages, skipped = count(dict(entry, name=name))
        got = (passed, len(messages), skipped)
        bad += got != expected
        print('%s %d %s%s' % ('ok' if got == expected else 'not ok', i, name,
                              '' if got == expected else ' - got %s, want %s' % (got, expected)))
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'log.json')
        with open(path, 'w') as f:
            for name, entry, _ in SELF_TESTS:
                f.write(json.dumps(dict(entry, name=name)) + '\n')
        passed, messages, skipped = count_files([path, os.path.join(folder, 'none.json')])
    want = tuple(sum(e[i] for _, _, e in SELF_TESTS) for i in range(3))
    good = (passed, len(messages), skipped) == want
    print('%s %d sum' % ('ok' if good else 'not ok', len(SELF_TESTS) + 1))
    return 1 if bad or not good else 0


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    if sys.argv[1] == '--self-test':
        sys.exit(self_test())
    passed, messages, skipped = count_files(sys.argv[1:])
    for message in messages:
        print('FAILED ' + message, file=sys.stderr)
    print(passed, len(messages), skipped)


if __name__ == '__main__':
    main()
