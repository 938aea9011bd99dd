#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
#   named_tests.sh PAGE TESTS
#
# Fails when a page names a test, as `Suite.Name`, or a whole `Suite.*`, that no source or CMakeLists.txt
# below TESTS has.
set -eu
missing=0
for name in $(grep -oE '`([A-Z][A-Za-z0-9]*|long)\.[A-Za-z0-9_*]+`' "$1" | tr -d '`' | sort -u); do
  suite=${name%%.*} test=${name#*.}
  case $test in
    '*') pattern="TEST(_F)?\($suite, |NAME $suite\." ;;
    *) pattern="TEST(_F)?\($suite, $test\)|NAME $suite\.$test( |$)" ;;
  esac
  if ! grep -rqE "$pattern" "$2"; then
    echo "$1 names $name, which does not exist"
    missing=1
  fi
done
exit $missing
