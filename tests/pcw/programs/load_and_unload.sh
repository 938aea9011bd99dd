#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
#   load_and_unload.sh DRIVER [METERBANK PATH VALUE]
#
# Fails unless the driver publishes while it runs, the program METERBANK reads VALUE at PATH if they
# are given, and the driver leaves nothing behind when it is told to end.
set -eu
METERBANK_DIR=$(mktemp -d)
export METERBANK_DIR
"$1" >"$METERBANK_DIR.out" &
driver=$!
trap 'kill -9 "$driver" 2>/dev/null || true; rm -rf "$METERBANK_DIR" "$METERBANK_DIR.out"' EXIT
until grep -q '^loaded' "$METERBANK_DIR.out"; do
  kill -0 "$driver" 2>/dev/null || { echo "the driver ended"; exit 1; }
  sleep 0.05
done
[ -n "$(ls "$METERBANK_DIR")" ] || { echo "nothing is published"; exit 1; }
if [ $# -gt 1 ]; then
  "$2" get --raw "$3" | tee "$METERBANK_DIR.out"
  grep -qw -- "$4" "$METERBANK_DIR.out" || { echo "no $4 at $3"; exit 1; }
fi
kill -TERM "$driver"
wait "$driver" || { echo "the driver failed"; exit 1; }
[ -z "$(ls "$METERBANK_DIR")" ] || { echo "left behind: $(ls "$METERBANK_DIR")"; exit 1; }
