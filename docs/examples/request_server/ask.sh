#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
#   ask.sh METERBANK REQUEST_SERVER
#
# Starts the server, asks it five things, and looks at what it says about them.
set -euo pipefail
meterbank=$1
METERBANK_DIR=$(mktemp -d)
export METERBANK_DIR
"$2" >"$METERBANK_DIR/said" &
server=$!
trap 'kill "$server" 2>/dev/null || true; wait "$server" || true; rm -rf "$METERBANK_DIR"' EXIT
until port=$(grep -o '[0-9]*$' "$METERBANK_DIR/said"); do
  kill -0 "$server" 2>/dev/null || { echo "the server ended"; exit 1; }
  sleep 0.05
done

exec 3<>"/dev/tcp/127.0.0.1/$port"
printf 'PUT tree oak\nGET tree\nGET river\nGET tree\nHELLO\n' >&3
for answer in OK 'VALUE oak' NONE 'VALUE oak' WHAT; do
  IFS= read -r line <&3
  [ "$line" = "$answer" ] || { echo "got '$line' instead of '$answer'"; exit 1; }
done
exec 3>&-

expect() { # PATH VALUE, as a reader sees it
  value=$("$meterbank" get "$1" --raw -f tsv | tail -n 1 | cut -f 6)
  [ "$value" = "$2" ] || { echo "$1 is '$value' instead of '$2'"; exit 1; }
}
expect server_requests/get/requests 3
expect server_requests/get/errors 1
expect server_requests/get/latency 3
expect server_requests/put/requests 1
expect server_requests/other/requests 1
expect request_server/state serving
"$meterbank" get server_requests/get/latency -p 50,99,99.9 --hist -n 2 -i 100ms -f table
kill -INT "$server"
wait "$server"
trap 'rm -rf "$METERBANK_DIR"' EXIT
echo "ended well"
