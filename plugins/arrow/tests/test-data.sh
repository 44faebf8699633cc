#!/bin/sh
# SPDX-License-Identifier: MIT
# usage: test-data.sh PYTHON. Makes the files anew and compares what pyarrow says is in them with what is stored.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
"$1" -W ignore "$here/make-data.py" "$made"
diff -r -x '*.parquet' -x '*.arrow' "$here/data" "$made"
