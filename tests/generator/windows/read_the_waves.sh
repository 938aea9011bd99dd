#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
#   read_the_waves.sh DRIVER CLI
#
# Fails unless the command line shows the driver's rows, their average and their one moment. Each
# wave is a multiple of the same k in 0..5, so it does not matter what time it is; where a second
# ends between two rows, the next look is a better one.
set -eu
METERBANK_DIR=$(mktemp -d)
export METERBANK_DIR
: >"$METERBANK_DIR.out"
"$1" >"$METERBANK_DIR.out" &
driver=$!
trap 'kill "$driver" 2>/dev/null || true; rm -rf "$METERBANK_DIR" "$METERBANK_DIR.out"' EXIT
until grep -q '^loaded' "$METERBANK_DIR.out"; do
  kill -0 "$driver" 2>/dev/null || { echo "the driver ended"; exit 1; }
  sleep 0.05
done

closed_forms='
  BEGIN { FS = "," }
  { sub(/\r$/, "") }
  $8 == "ok" { value[$3 "/" $4 "/" $5] = $6 }
  function wave(row, name) { return value["geometric_wave/" row " Wave/" name] }
  function fail(what) { print "wrong: " what; failed = 1; exit 1 }
  END {
    if (failed) exit 1
    k = (wave("Small", "triangle_wave") - 40) / 4
    if (k < 0 || k > 5 || k != int(k)) fail("small triangle")
    if (wave("Medium", "triangle_wave") != 30 + 8 * k) fail("medium triangle")
    if (wave("Large", "triangle_wave") != 20 + 12 * k) fail("large triangle")
    if (value["geometric_wave/_Total/triangle_wave"] != 30 + 8 * k) fail("average triangle")
    up = wave("Small", "square_wave") == 60
    if (wave("Small", "square_wave") != 40 + 20 * up) fail("small square")
    if (wave("Medium", "square_wave") != 30 + 40 * up) fail("medium square")
    if (wave("Large", "square_wave") != 20 + 60 * up) fail("large square")
    if (value["geometric_wave/_Total/square_wave"] != 30 + 40 * up) fail("average square")
    if (value["trigonometric_wave//constant_value"] != 50) fail("constant")
    sine = value["trigonometric_wave//sine_wave"] - 50
    cosine = value["trigonometric_wave//cosine_wave"] - 50
    radius = sqrt(sine * sine + cosine * cosine)
    if (radius < 28 || radius > 32) fail("sine and cosine")
  }'
look() {
  "$2" get -f csv '\Geometric Waves(*)\*' '\Trigonometric Waves\*' >"$METERBANK_DIR.out"
  awk "$closed_forms" "$METERBANK_DIR.out"
}
look "$@" || look "$@" || look "$@" || { cat "$METERBANK_DIR.out"; exit 1; }

# The control: one number that is another one is found.
if sed 's/\(Large Wave,square_wave,\)[0-9]*/\137/' "$METERBANK_DIR.out" | awk "$closed_forms"; then
  echo "the check accepts anything"
  exit 1
fi
