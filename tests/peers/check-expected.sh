#!/bin/bash
# SPDX-License-Identifier: MIT
# Makes expected.tsv of the sample corpus again, with the real tiktoken, and compares. $1: the tree.
set -euo pipefail
cd "${1:?usage: check-expected.sh TREE}"
python=$PWD/.venv-peers/bin/python
[ -x "$python" ] || exit 77
cd tests/data/sample
export LC_ALL=C
"$python" ../../peers/megatron_oracle.py --expected ./*.jsonl.* | diff - expected.tsv
