# SPDX-License-Identifier: MIT
"""Runs the unittest cases of a script as TAP, for tests in Python."""
import sys
import traceback
import unittest


class _Result(unittest.TestResult):
    def __init__(self):
        super().__init__()
        self.n = 0

    def _point(self, ok, test, note=''):
        self.n += 1
        print('%s %d %s%s' % ('ok' if ok else 'not ok', self.n, test.id().split('.', 1)[1], note),
              flush=True)

    def _failed(self, test, err):
        self._point(False, test)
        print('# ' + ''.join(traceback.format_exception(*err)).rstrip().replace('\n', '\n# '),
              flush=True)

    def addSuccess(self, test):
        super().addSuccess(test)
        self._point(True, test)

    def addError(self, test, err):
        super().addError(test, err)
        self._failed(test, err)

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self._failed(test, err)

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err is not None:
            self._failed(subtest, err)

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self._point(True, test, ' # SKIP ' + reason)


def main(module='__main__'):
    suite = unittest.defaultTestLoader.loadTestsFromModule(sys.modules[module])
    result = _Result()
    suite.run(result)
    print('1..%d' % result.n)
    sys.exit(0 if result.wasSuccessful() and result.n else 1)
