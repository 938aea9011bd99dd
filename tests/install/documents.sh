#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
#   documents.sh PREFIX
#
# The manual pages of an installation have no mistakes, and bash completes verbs and options.
set -euo pipefail
prefix=$1
PATH=$prefix/bin:$PATH
pages=0
while IFS= read -r page; do
  pages=$((pages + 1))
  complaints=$(groff -K utf8 -mandoc -Tutf8 -ww -z "$page" 2>&1)
  [[ -z $complaints ]] || { printf '%s: %s\n' "$page" "$complaints"; exit 1; }
done < <(find "$prefix" -path '*/man/*' -type f)
((pages >= 2)) || { echo "$pages manual pages"; exit 1; }

# shellcheck disable=SC1091
. "$prefix/share/bash-completion/completions/meterbank"
# completed WORD...: what the last word, which is unfinished, can become.
completed() {
  COMP_WORDS=(meterbank "$@") COMP_CWORD=$#
  _meterbank
  echo "${COMPREPLY[*]}"
}
[[ $(completed ge) == "get gen" ]] || { echo "ge: $(completed ge)"; exit 1; }
[[ $(completed get --inter) == "--interval" ]] || { echo "--inter: $(completed get --inter)"; exit 1; }
[[ -z $(completed get memory/) ]] || { echo "memory/: $(completed get memory/)"; exit 1; }
