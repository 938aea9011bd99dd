#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
#   beside_host.sh METERBANK PROGRAM [ARGUMENT...]
#
# Runs the program while `meterbank host` publishes this machine's counters, once they are there.
set -eu
METERBANK_DIR=$(mktemp -d)
export METERBANK_DIR
meterbank=$1
shift
"$meterbank" host --no-processes --period 50ms --for 60s &
host=$!
trap 'kill "$host" 2>/dev/null || true; wait "$host" || true; rm -rf "$METERBANK_DIR"' EXIT
until "$meterbank" get processor_information/_Total/processor_time >/dev/null 2>&1; do
  kill -0 "$host" 2>/dev/null || { echo "meterbank host ended"; exit 1; }
  sleep 0.05
done
"$@"
