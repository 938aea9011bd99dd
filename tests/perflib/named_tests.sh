#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
#   named_tests.sh PAGE TESTS
#
# Fails when a page names a test, as `Suite.Name`, that no source or CMakeLists.txt below TESTS has.
set -eu
missing=0
for name in $(grep -oE '`([A-Z][A-Za-z]*|long)\.[A-Za-z_]*`' "$1" | tr -d '`' | sort -u); do
  suite=${name%%.*} test=${name#*.}
  if ! grep -rqE "TEST(_F)?\($suite, $test\)" "$2" && ! grep -rqF "NAME $name" "$2"; then
    echo "$1 names $name, which does not exist"
    missing=1
  fi
done
exit $missing
