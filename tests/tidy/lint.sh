#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# lint.sh SOURCE BUILD GENERATOR DEPTH: lints all sources of the libraries and tools. BUILD is configured for
# that; nothing in it is compiled, only generated. At depth 1 several files are read as one, and the analysis
# of paths is left out: that takes four times as long, so ./run campaign does it, each file alone.
set -eu
source=$1 build=$2 generator=$3 depth=$4
folders='(shm|publisher|reader|tools)/'

together=ON checks=-clang-analyzer-*,-bugprone-suspicious-include
[ "$depth" -eq 1 ] || together=OFF checks=
cd "$source"
cmake --preset dev -B "$build" -DMETERBANK_TESTS=OFF -DMETERBANK_BENCH=OFF \
  -DCMAKE_UNITY_BUILD=$together -DCMAKE_UNITY_BUILD_BATCH_SIZE=32 -DMETERBANK_GENERATOR="$generator" >/dev/null
# One name a word.
# shellcheck disable=SC2046
ninja -C "$build" --quiet $(ninja -C "$build" -t targets rule CUSTOM_COMMAND | grep -E '\.(hpp|cpp)$')
exec run-clang-tidy -quiet -p "$build" -j "$(nproc)" -checks="$checks" "$source/$folders" "$build/$folders"
