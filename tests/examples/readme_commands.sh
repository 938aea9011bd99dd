#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
#   readme_commands.sh METERBANK PAGE
#
# Runs each line of the page that begins with "$ meterbank", in a folder of its own. Fails if one of them
# prints nothing or fails; `meterbank doctor` may find problems. Run beside `meterbank host`.
set -eu
PATH=$(dirname "$1"):$PATH
export PATH
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
commands=$(sed -n 's/^\$ \(meterbank .*\)$/\1/p' "$2")
[ "$(printf '%s\n' "$commands" | wc -l)" -ge 5 ] || { echo "fewer than five commands in $2"; exit 1; }
printf '%s\n' "$commands" | while IFS= read -r command; do
  code=0
  out=$(cd "$folder" && sh -c "$command" 2>&1) || code=$?
  case $command in
    *doctor*) allowed=1 ;;
    *) allowed=0 ;;
  esac
  if [ "$code" -gt "$allowed" ] || [ -z "$out" ]; then
    printf '%s: exit code %d\n%s\n' "$command" "$code" "$out"
    exit 1
  fi
done
