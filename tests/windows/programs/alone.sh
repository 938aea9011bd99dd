#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
#   alone.sh PROGRAM [ARGUMENT...]
#
# Runs a provider in a directory of its own, and fails if it leaves anything there.
set -eu
METERBANK_DIR=$(mktemp -d)
export METERBANK_DIR
trap 'rm -rf "$METERBANK_DIR"' EXIT
"$@"
[ -z "$(ls "$METERBANK_DIR")" ] || { echo "left behind: $(ls "$METERBANK_DIR")"; exit 1; }
