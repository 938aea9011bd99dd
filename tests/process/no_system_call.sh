#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
#   no_system_call.sh QUIET_READER [one_call_between]
#
# Traces the program and prints what it asked the kernel for between its two marks. Fails when there
# is anything; exit status 77 where no process may be traced.
set -eu
trace=$(mktemp)
trap 'rm -f "$trace"' EXIT

if ! strace -f -o "$trace" true 2>/dev/null; then
  echo "skipped: processes may not be traced here"
  exit 77
fi
program=$1
shift
strace -f -o "$trace" "$program" 1000 "$@"
marks=$(grep -c 'getppid()' "$trace")
[ "$marks" = 2 ] || { echo "$marks marks in the trace, not two"; exit 1; }
between=$(sed -n '/getppid()/,/getppid()/p' "$trace" | grep -v 'getppid()' || true)
echo "$(wc -l <"$trace") lines in the trace; between the marks:"
[ -z "$between" ] || { printf '%s\n' "$between"; exit 1; }
echo "nothing"
