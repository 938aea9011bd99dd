#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
#   three_waves.sh PROVIDER METERBANK
#
# Fails unless each of the provider's four rows has a path of its own, in each format, that selects
# this row again.
set -eu
provider=$1 meterbank=$2
METERBANK_DIR=$(mktemp -d)
export METERBANK_DIR
work=$(mktemp -d)
mkfifo "$work/input"
"$provider" <"$work/input" >"$work/output" 2>&1 &
waves=$!
exec 3>"$work/input"
trap 'exec 3>&-; kill "$waves" 2>/dev/null || true; rm -rf "$METERBANK_DIR" "$work"' EXIT
until grep -q '^published' "$work/output"; do
  kill -0 "$waves" 2>/dev/null || { cat "$work/output"; echo "the provider ended"; exit 1; }
  sleep 0.05
done

fail() { echo "$*"; exit 1; }
set='{7A0E5D31-55C4-4F43-9B0C-4D211E6A9002}'

# Every format: four rows, none like another one.
"$meterbank" get "\\$set(*)\\Counter 1" -f plain | cut -f 2,3 >"$work/plain"
cat "$work/plain"
[ "$(cut -f 1 "$work/plain" | sort -u | wc -l)" = 4 ] || fail "four rows with paths of their own"
for format in table tsv csv json jsonl; do
  "$meterbank" get "\\$set(*)\\Counter 1" -f "$format" >"$work/rows"
  for name in 'Small Wave' 'Medium Wave' 'Large Wave#0' 'Large Wave#7'; do
    [ "$(grep -o "$name" "$work/rows" | sort -u | wc -l)" = 1 ] || fail "$format: no row '$name'"
  done
done

# Each printed path selects the row that it was printed for.
while IFS="$(printf '\t')" read -r path value; do
  [ "$("$meterbank" get "$path" -f plain | cut -f 2,3)" = "$(printf '%s\t%s' "$path" "$value")" ] ||
    fail "$path is not the path of one row"
done <"$work/plain"
"$meterbank" typeperf -qx "$set" | grep -F '\Counter 1' >"$work/paths"
[ "$(sort -u "$work/paths" | wc -l)" = 4 ] || fail "four paths in the Windows spelling"
while read -r path; do
  [ "$("$meterbank" get "$path" | wc -l)" = 1 ] || fail "$path selects more than one row"
done <"$work/paths"

# A name and its id, an id alone, a name alone.
value_of() { "$meterbank" get "\\$set($1)\\Counter 1" -f plain | cut -f 3 | tr '\n' ' '; }
[ "$(value_of 'Medium Wave#0')" = '2 ' ] || fail "name and id"
[ "$(value_of 'Large Wave#7')" = '4 ' ] || fail "one name, another id"
[ "$(value_of '*#0')" = '1 2 3 ' ] || fail "all names of one id"
[ "$(value_of 'Large Wave')" = '3 ' ] || fail "the name alone"
exec 3>&-
wait "$waves" || fail "the provider failed"
