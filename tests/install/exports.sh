#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
#   exports.sh LIBRARY
#
# What a shared library gives to programs, and what it needs: names that begin with mb_, all of
# version MB_0, and the libraries of every C++ program.
set -eu
library=$1
names=$(nm -D --defined-only "$library" | awk '{ print $3 }')
echo "$names" | grep -q '^mb_provider_create@@MB_0$' || { echo "no mb_provider_create"; exit 1; }
if echo "$names" | grep -v -e '^mb_[a-z0-9_]*@@MB_0$' -e '^MB_0$'; then
  echo "these are exported too"
  exit 1
fi
needed=$(readelf -d "$library" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
if echo "$needed" | grep -v -e '^lib\(c\|m\|stdc++\|gcc_s\)\.so\.[0-9]*$' -e '^ld-linux-.*\.so\.[0-9]$'; then
  echo "these are needed too"
  exit 1
fi
