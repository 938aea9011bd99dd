#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
#   beside_pmud.sh METERBANK_PMUD PROGRAM [ARGUMENT...]
#
# Runs the program while an arbiter of its own lends the counters of this machine.
set -eu
METERBANK_DIR=$(mktemp -d)
export METERBANK_DIR
pmud=$1
shift
"$pmud" --dir "$METERBANK_DIR" &
arbiter=$!
trap 'kill "$arbiter" 2>/dev/null || true; wait "$arbiter" || true; rm -rf "$METERBANK_DIR"' EXIT
until [ -S "$METERBANK_DIR/pmud.sock" ]; do
  kill -0 "$arbiter" 2>/dev/null || { echo "meterbank-pmud ended"; exit 1; }
  sleep 0.05
done
"$@"
