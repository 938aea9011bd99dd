#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Sends each line of standard input as a record of the topic meterbank.samples, with the node as its key.
#
# usage: meterbank get -n 0 -i 10s -f jsonl --hist -p none --json-int=string | produce.sh -b BROKER [OPTION...]
#   NODE      the name of this node; default: what hostname prints
#   OPTION    of kcat: -X security.protocol=ssl ...
set -eu
tab=$(printf '\t')
# No line has a tab: JSON writes it as \t.
sed -u "s/^/${NODE:-$(hostname)}$tab/" | kcat -P -t meterbank.samples -K "$tab" -z lz4 "$@"
