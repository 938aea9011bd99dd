#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
#   quotes.sh PAGE PATCH
#
# Fails unless each block of the page that is marked as diff or c stands in the patch, line by line,
# without a gap, and the table of the page that diffstat prints is of this patch.
set -eu
page=$1 patch=$2
awk '
  function check() {
    if (index(patch, "\n" block) == 0) { print "not in the patch:\n" block; wrong = 1 }
    ++blocks
  }
  NR == FNR { patch = patch "\n" $0; plain = plain "\n" substr($0, 2); next }
  FNR == 1 { patch = patch "\n" plain "\n" }
  /^```(diff|c)$/ { block = ""; reading = 1; next }
  /^```$/ && reading { reading = 0; check(); next }
  reading { block = block $0 "\n" }
  END {
    if (blocks < 4) { print "fewer than four quotations"; wrong = 1 }
    exit wrong
  }' "$patch" "$page"
if command -v diffstat >/dev/null; then
  total=$(diffstat "$patch" | tail -n 1)
  grep -qxF -- "$total" "$page" || { echo "not on the page: $total"; exit 1; }
fi
