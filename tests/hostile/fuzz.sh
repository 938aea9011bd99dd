#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
#   fuzz.sh FUZZER SEEDS EXECUTIONS COVERAGE [OPTION...]
#
# Runs the fuzzer in two processes with different random seeds, from what the program SEEDS writes. The
# options are those of libFuzzer, and take precedence over the ones below.
# Fails on a finding, on fewer executions than asked for, and on fewer covered edges than COVERAGE: a
# fuzzer whose libraries are not instrumented is blind and covers a few dozen.
set -eu
fuzzer=$1 seeds=$2 executions=$3 coverage=$4
shift 4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# run NUMBER OPTION...
run() {
  number=$1
  shift
  mkdir "$work/corpus-$number"
  "$seeds" "$work/corpus-$number"
  exec "$fuzzer" -seed="$number" -runs=$((executions / 2)) -max_len=32768 -rss_limit_mb=2048 \
    -timeout=20 -print_final_stats=1 -artifact_prefix="$work/" "$@" "$work/corpus-$number" \
    >"$work/log-$number" 2>&1
}

# finding LOG: shows what was found, with the input that shows it.
finding() {
  kill "$first" 2>/dev/null || true
  tail -n 60 "$1"
  for input in "$work"/crash-* "$work"/timeout-* "$work"/oom-*; do
    [ ! -f "$input" ] || { echo "input $(basename "$input"), base64:"; base64 "$input"; }
  done
  exit 1
}

run 1 "$@" &
first=$!
(run 2 "$@") || finding "$work/log-2"
wait "$first" || finding "$work/log-1"

done_by() { sed -n 's/^stat::number_of_executed_units: *//p' "$work/log-$1"; }
covered_by() { sed -n 's/.* cov: \([0-9]*\) .*/\1/p' "$work/log-$1" | tail -n 1; }
total=$(($(done_by 1) + $(done_by 2)))
echo "$total executions, $(covered_by 1) and $(covered_by 2) edges covered," \
  "$(ls "$work/corpus-1" | wc -l) and $(ls "$work/corpus-2" | wc -l) inputs kept"
[ "$total" -ge "$executions" ] || { echo "fewer than $executions executions"; exit 1; }
for process in 1 2; do
  [ "$(covered_by $process)" -ge "$coverage" ] || { echo "fewer than $coverage edges"; exit 1; }
done
