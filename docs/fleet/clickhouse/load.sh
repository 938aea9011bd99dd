#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Loads lines of `meterbank get` from standard input as they come: one INSERT for each sample.
#
# usage: meterbank get -n 0 -i 10s -f jsonl --hist -p none --json-int=string | load.sh [OPTION...]
#   NODE      the name of this node; default: what hostname prints
#   OPTION    of clickhouse-client: --host, --user ...
set -eu
export NODE="${NODE:-$(hostname)}"
rows=$(dirname "$0")/rows.jq
while IFS= read -r sample; do
  printf '%s\n' "$sample" | jq -c -f "$rows" |
    clickhouse-client "$@" --query 'INSERT INTO meterbank_samples FORMAT JSONEachRow'
done
