#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
#   altered.sh TREE FILE SED_SCRIPT COMMAND [ARGUMENT...]
#
# Runs COMMAND with TREE altered: a copy of what describes the packages, in which sed has changed FILE, takes
# the place of the argument TREE. For negative controls.
set -eu
tree=$1 file=$2 script=$3
shift 3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
(cd "$tree" && tar -c debian tools docs README.md packages.txt CMakeLists.txt tests/install/abi) | tar -x -C "$work"
sed -i "$script" "$work/$file"
! cmp -s "$tree/$file" "$work/$file" || { echo "sed changed nothing"; exit 2; }
for word in "$@"; do
  shift
  [ "$word" = TREE ] && word=$work
  set -- "$@" "$word"
done
"$@"
