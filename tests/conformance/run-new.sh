#!/bin/sh
# SPDX-License-Identifier: MIT
# Runs the conformance test on configurations that are made now. usage: run-new.sh TEST COUNT [SEED]
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
seed=${3:-$(date +%s)}
echo "# make-configs.py --seed $seed --count $2"
"$(dirname "$0")/make-configs.py" --seed "$seed" --count "$2" "$folder/configs.jsonl"
DLPIPE_CONFORMANCE_FILE=$folder/configs.jsonl "$1" --tap
