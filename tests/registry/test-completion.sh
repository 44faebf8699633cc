#!/bin/bash
# SPDX-License-Identifier: MIT
# usage: test-completion.sh FUNCTION LAUNCH INSPECT DATASET TEMPLATE STATE TOKENIZER FANOUT. Types command lines, with a tab at their end.
set -u
# shellcheck source=tools/completion/dlpipe
. "$1"
bin=$(dirname "$(realpath "$2")")
launch=$bin/$(basename "$2") inspect=$bin/$(basename "$3") dataset=$bin/$(basename "$4") template=$bin/$(basename "$5")
state=$bin/$(basename "$6") tokenizer=$bin/$(basename "$7") fanout=$bin/$(basename "$8")
n=0
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
mkdir -p data out/corpus.dlpipe
touch data/one.jsonl data/two.jsonl out/corpus.jsonl out/corpus.dlpipe/checkpoint-1

# check LINE EXPECTED: the words that are offered at the end of LINE, in order. Words are split as readline does: at
# blanks, but not in quotes and behind a backslash, and at "=" and ":", which are words of their own. In a quoted graph
# the only word is offered twice (see the function), here once.
check () {
  local words=() word= quote= char i
  COMP_LINE=$1 COMP_POINT=${#1}
  for ((i = 0; i < ${#1}; i++)); do
    char=${1:i:1}
    if [ -n "$quote" ]; then
      word+=$char
      [ "$char" = "$quote" ] && quote=
    elif [ "$char" = '\' ]; then
      word+=$char${1:i+1:1}
      i=$((i + 1))
    elif [ "$char" = ' ' ]; then
      [ -n "$word" ] && words+=("$word")
      word=
    elif [[ $char == [=:] ]]; then
      [ -n "$word" ] && words+=("$word")
      words+=("$char")
      word=
    else
      [[ $char == [\'\"] ]] && quote=$char
      word+=$char
    fi
  done
  if [ -n "$word" ] || [ "${1: -1}" = ' ' ]; then
    words+=("$word")
  fi
  COMP_WORDS=("${words[@]}") COMP_CWORD=$((${#words[@]} - 1))
  COMPREPLY=()
  _dlpipe
  if [ ${#COMPREPLY[@]} -eq 2 ] && [ "${COMPREPLY[1]}" = "${COMPREPLY[0]} " ]; then
    COMPREPLY=("${COMPREPLY[0]% }")
  fi
  n=$((n + 1))
  if [ "${COMPREPLY[*]}" = "$2" ]; then
    echo "ok $n ${1#"$bin/"}"
  else
    echo "not ok $n ${1#"$bin/"}"
    echo "# offered: ${COMPREPLY[*]}"
    echo "# wanted:  $2"
  fi
}

check "$launch file-so" 'file-source'
check "$launch \"file-so" 'file-source'
check "$launch --no-state 'file-so" 'file-source'
check "$launch --seed 5 file-so" 'file-source'
check "$launch file-source sha" 'shard='
check "$launch \"file-source sha" 'file-source shard='
check "$launch file-source location=data/" 'data/one.jsonl data/two.jsonl'
check "$launch file-source location=da" 'data/'
check "$launch \"file-source location=data/o" 'file-source location=data/one.jsonl'
check "$launch file-source location=a ! jsonl" 'jsonl-reader jsonl-sink'
check "$launch file-source location=a ! jsonl-reader on-bad-record=" 'skip fail'
check "$launch 'file-source location=a ! jsonl-reader on-bad-record=s" 'file-source location=a ! jsonl-reader on-bad-record=skip'
check "$launch file-source ! jsonl-reader allow-non-finite=" 'false true'
check "$launch mix name=blend file-source ! bl" 'blend.'
check "$launch file-source ! jsonl-reader ! m.web file-so" 'file-source'
check "$launch --progress=" 'auto bar plain json none'
check "$launch --on-int" '--on-interrupt='
check "$launch --plugin-path=" 'data/ out/'
check "$inspect jsonl-re" 'jsonl-reader'
check "$inspect --ex" '--exists'
check "$dataset ver" 'verify'
check "$dataset info data/t" 'data/two.jsonl'
check "$launch file-source nonsense" ''
check "$launch --stall-action=" 'report fail'
check "$launch --stall-action=f" 'fail'

check "$state " 'show diff verify list watch skip'
check "$state sh" 'show'
check "$state --json ver" 'verify'
check "$state --interval=50 wa" 'watch'
check "$state nonsense sh" 'show'
check "$state show ou" 'out/'
check "$state show out/c" 'out/corpus.dlpipe/ out/corpus.jsonl'
check "$state verify out/corpus.dlpipe/" 'out/corpus.dlpipe/checkpoint-1'
check "$state diff out/corpus.dlpipe out/corpus.j" 'out/corpus.jsonl'
check "$state list out/c" 'out/corpus.dlpipe/'
check "$state skip --ba" '--batches='
check "$state skip --batches=1..2 out/c" 'out/corpus.dlpipe/ out/corpus.jsonl'
check "$state show --al" '--all'
check "$state --in" '--interval='
check "$state show -" "$("$state" --help | grep -oE -- '^ +(-., )?--[a-z][a-z-]*=?' | grep -oE -- '--.*' | sort -u | xargs)"
check "$state show --all out/corpus.j" 'out/corpus.jsonl'

check "$fanout status ou" 'out/'
check "$fanout --progress=full --follow out/c" 'out/corpus.dlpipe/'
check "$fanout --launcher=slurm --follow file-source ! jsonl-r" 'jsonl-reader'
check "$fanout --launcher=" 'local env slurm'
check "$fanout --slurm-shape=al" 'allocation'

check "$tokenizer " 'encode decode compare info'
check "$tokenizer --lines en" 'encode'
check "$tokenizer encode cl" 'cl100k_base'
check "$tokenizer encode ou" 'out/'
check "$tokenizer encode gpt2 cl" ''
check "$tokenizer encode gpt2 data/o" 'data/one.jsonl'
check "$tokenizer compare gpt2 cl" 'cl100k_base'
check "$tokenizer compare gpt2 gpt2 cl" ''
check "$tokenizer encode --special-tokens=" 'text allow error'
check "$tokenizer encode --pi" '--pieces'

# A name that the shell would expand, or the graph cut, is not offered; nothing is said of a wrong option.
mkdir odd
touch odd/plain.jsonl 'odd/$(touch run)' 'odd/`touch run`' "odd/it's" odd/'*'
check "$launch \"file-source location=odd/" 'file-source location=odd/plain.jsonl'
check "$launch file-source location=odd/" 'odd/plain.jsonl'

# A blank in a name is written such that shell and graph take it as part of the name.
mkdir -p 'blank/a b'
touch 'blank/a b/c d'
check "$launch \"file-source location=blank/" 'file-source location=blank/a\ b/'
check "$launch \"file-source location=blank/a\\ b/" 'file-source location=blank/a\ b/c\ d'
check "$launch 'file-source location=blank/a\\ b/" 'file-source location=blank/a\ b/c\ d'
check "$launch 'file-source location=blank/a\\ " 'file-source location=blank/a\ b/'
check "$launch 'file-source location=\"data/o" 'file-source location="data/one.jsonl'
check "$launch 'file-source location=\"blank/" ''
check "$launch file-source location=blank/" 'blank/a\\\ b/'
check "$launch file-source location=blank/a\\\\\\ b/" 'blank/a\\\ b/c\\\ d'
check "$launch 'file-source location=blank/a\\ b/c\\ d sha" 'file-source location=blank/a\ b/c\ d shard='
check "$launch --file=blank/a" 'blank/a\ b/'
check "$dataset info blank/a" 'blank/a\ b/'
check "$dataset info \"blank/a" 'blank/a b/'
check "$state show blank/a" 'blank/a\ b/'
check "$state show \"blank/a" 'blank/a b/'
check "$launch --[" ''

check "$inspect codec:zs" 'zstd'
check "$inspect scheme:fi" 'file'
check "$inspect plugin:gz" 'gzip'
check "$inspect element:jsonl-re" 'jsonl-reader'
check "$inspect cod" 'codec:'
check "$template --li" '--license='
check "$template --license=" 'MIT 0BSD none'
check "$template --dir=da" 'data/'
check "$template jsonl" ''

# Each option that is told of is offered.
for program in "$launch" "$inspect" "$dataset" "$template" "$state" "$tokenizer" "$fanout"; do
  check "$program --" "$("$program" --help | grep -oE -- '^ +(-., )?--[a-z][a-z-]*=?' | grep -oE -- '--.*' | sort -u | xargs)"
done
echo "1..$n"
