#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
#   load_and_unload.sh DRIVER
#
# Fails unless the driver publishes while it runs and leaves nothing behind when it is told to end.
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
kill -TERM "$driver"
wait "$driver" || { echo "the driver failed"; exit 1; }
[ -z "$(ls "$METERBANK_DIR")" ] || { echo "left behind: $(ls "$METERBANK_DIR")"; exit 1; }
