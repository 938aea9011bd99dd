#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
#   ferries.sh PROVIDER METERBANK
#
# Fails unless readers see two processes of the provider as one row, joined by the functions of its
# manifest, and one process alone once the other has ended.
set -eu
provider=$1 meterbank=$2
METERBANK_DIR=$(mktemp -d)
export METERBANK_DIR
work=$(mktemp -d)
trap 'exec 3>&- 4>&-; kill $(jobs -p) 2>/dev/null || true; rm -rf "$METERBANK_DIR" "$work"' EXIT

fail() { echo "$*"; exit 1; }
# publish NAME ARGUMENT...: a provider whose standard input is the pipe of that name.
publish() {
  name=$1
  shift
  mkfifo "$work/$name"
  "$provider" "$@" <"$work/$name" >"$work/$name.out" 2>&1 &
}
wait_for() {
  until grep -q '^published' "$work/$1.out"; do
    kill -0 "$2" 2>/dev/null || { cat "$work/$1.out"; fail "provider $1 ended"; }
    sleep 0.05
  done
}
publish small 3 10 40
small=$!
exec 3>"$work/small"
publish large 5 30 50
large=$!
exec 4>"$work/large"
wait_for small "$small"
wait_for large "$large"

value_of() { "$meterbank" get "ferry_line_set/$1" -f plain --units base | cut -f 3; }
[ "$(value_of passengers)" = 8 ] || fail "a sum: $(value_of passengers)"
"$meterbank" typeperf '\Ferry Line (All)\Passengers' -sc 1 | grep -q '"8' || fail "its Windows path"
# The largest number of seats that are taken, of the largest number of seats.
[ "$(value_of occupancy)" = 60 ] || fail "a ratio of maxima: $(value_of occupancy)"

exec 4>&-
wait "$large" || fail "the second provider failed"
[ "$(value_of passengers)" = 3 ] || fail "one process alone: $(value_of passengers)"
[ "$(value_of occupancy)" = 25 ] || fail "one ratio: $(value_of occupancy)"
exec 3>&-
wait "$small" || fail "the first provider failed"
