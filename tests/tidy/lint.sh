#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# lint.sh SOURCE BUILD GENERATOR: lints all sources, each by the command that compiles it alone. BUILD is
# configured for that; nothing in it is compiled, only generated.
set -eu
source=$1 build=$2 generator=$3

cd "$source"
cmake --preset dev -B "$build" -DMETERBANK_TESTS=OFF -DMETERBANK_BENCH=OFF \
  -DMETERBANK_GENERATOR="$generator" >/dev/null
# One name a word.
# shellcheck disable=SC2046
ninja -C "$build" --quiet $(ninja -C "$build" -t targets rule CUSTOM_COMMAND | grep -E '\.(hpp|cpp)$')
exec run-clang-tidy -quiet -p "$build" -j "$(nproc)" "$source/(shm|publisher|reader|tools)/"
