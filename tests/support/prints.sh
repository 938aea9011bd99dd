#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
#   prints.sh CODE PATTERN COMMAND [ARGUMENT...]
#
# Runs the command and shows its output. Fails unless it ends with exit status CODE and all of its
# output, taken as one text, matches the Perl regular expression PATTERN. Passes on status 77, which
# means "skipped". ctest's PASS_REGULAR_EXPRESSION would ignore the exit status.
set -eu
wanted=$1 pattern=$2
shift 2
output=$(mktemp)
trap 'rm -f "$output"' EXIT
code=0
"$@" >"$output" 2>&1 || code=$?
cat "$output"
[ "$code" != 77 ] || exit 77
[ "$code" = "$wanted" ] || { echo "exit status $code, expected $wanted"; exit 1; }
LC_ALL=C.UTF-8 grep -Pzq -- "$pattern" "$output" || { echo "no match for: $pattern"; exit 1; }
