#!/bin/bash
# SPDX-License-Identifier: MIT
# A TAP test in Python, skipped where tests/peers/setup has not run. $1: the tree, $2: the test, then
# its arguments.
python=${1:?usage: run-python.sh TREE TEST ARG...}/.venv-peers/bin/python
shift
if [ ! -x "$python" ]; then
  echo "1..0 # SKIP tests/peers/setup has not run"
  exit 0
fi
exec "$python" "$@"
