#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
#   documents.sh PREFIX
#
# The manual pages of an installation have no mistakes.
set -euo pipefail
prefix=$1
pages=0
while IFS= read -r page; do
  pages=$((pages + 1))
  complaints=$(groff -K utf8 -mandoc -Tutf8 -ww -z "$page" 2>&1)
  [[ -z $complaints ]] || { printf '%s: %s\n' "$page" "$complaints"; exit 1; }
done < <(find "$prefix" -path '*/man/*' -type f)
((pages >= 2)) || { echo "$pages manual pages"; exit 1; }
