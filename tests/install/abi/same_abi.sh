#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
#   same_abi.sh ABI_FILE LIBRARY [write]
#
# Whether a library has the functions that ABI_FILE describes, with their structs and enums, and no
# others: what programs need that were linked with it. With `write`, the library is described anew,
# after functions were added, or before a release that breaks programs on purpose. The library needs its
# debug information (the presets dev and test).
set -eu
abi=$1 library=$2 mode=${3:-compare}
command -v abidiff >/dev/null || { echo "skipped: no abidiff (package abigail-tools)"; exit 77; }
if [ "$mode" = write ]; then
  abidw --exported-interfaces-only --no-corpus-path --no-comp-dir-path --no-show-locs \
    --no-parameter-names --type-id-style hash --out-file "$abi" "$library"
  # Where it was built is no part of what it promises.
  exec sed -i -E "s#path='/[^']*/build/[^/']*/#path='#" "$abi"
fi
# Its exit status has a bit for each kind of difference.
abidiff --exported-interfaces-only --no-show-locs "$abi" "$library" || exit 1
