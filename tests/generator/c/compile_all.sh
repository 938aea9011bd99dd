#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
#   compile_all.sh GENERATOR SOURCE
#
# Makes the header for C of each good manifest, and has each compiler take it as C99, C11 and C17.
set -eu
generator=$1 source=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
count=0
for manifest in "$source"/tests/generator/manifests/good/*.* "$source"/tests/generator/cpp/manifests/*.toml; do
  count=$((count + 1))
  "$generator" "$manifest" --c "$folder/tables_$count.h" || { echo "no header of $manifest"; exit 1; }
  for each in gcc:c99 gcc:c11 gcc:c17 clang:c99 clang:c11 clang:c17; do
    compiler=${each%%:*} standard=${each#*:}
    command -v "$compiler" >/dev/null || continue
    printf '#include "%s"\n' "$folder/tables_$count.h" "$folder/tables_$count.h" >"$folder/user"
    "$compiler" -x c -std="$standard" -fsyntax-only -Wall -Wextra -Wpedantic -Wconversion \
      -Wshadow -Werror -I"$source/shm/c/include" -I"$source/publisher/c/include" "$folder/user" ||
      { echo "$compiler -std=$standard does not take the header of $manifest"; exit 1; }
  done
done
[ "$count" -ge 5 ]
