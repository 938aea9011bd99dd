#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
#   beside_pmud.sh METERBANK_PMUD METERBANK PROGRAM [ARGUMENT...]
#
# Runs the program while an arbiter of its own lends the counters of this machine. Exit status 77
# where there is no breakpoint to lend.
set -eu
# The tests that use the breakpoints of this machine take turns by this file.
exec 9>>/tmp/meterbank-breakpoints.lock
flock 9
METERBANK_DIR=$(mktemp -d)
export METERBANK_DIR
pmud=$1 meterbank=$2
shift 2
"$pmud" --dir "$METERBANK_DIR" &
arbiter=$!
trap 'kill "$arbiter" 2>/dev/null || true; wait "$arbiter" || true; rm -rf "$METERBANK_DIR"' EXIT
until [ -S "$METERBANK_DIR/pmud.sock" ]; do
  kill -0 "$arbiter" 2>/dev/null || { echo "meterbank-pmud ended"; exit 1; }
  sleep 0.05
done
"$meterbank" pmu probe -e mem:0x10000/8:w || { echo "skipped: no breakpoint to lend"; exit 77; }
"$@"
