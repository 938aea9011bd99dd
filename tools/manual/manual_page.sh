#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
#   manual_page.sh PAGE PROGRAM SECTION SUMMARY [VERB...]
#
# Writes the manual page of a program: what it says of itself, and of each verb, when asked for help.
set -eu
page=$1 program=$2 section=$3 summary=$4
shift 4
name=$(basename "$program")
version=$("$program" --version | head -n 1 | grep -o '[0-9][0-9.]*' | head -n 1)

# Text as it is: no line is a request, and no character an escape.
literally() {
  echo '.nf'
  sed -e 's/\\/\\e/g' -e 's/-/\\-/g' -e "s/^[.']/\\\\\&&/"
  echo '.fi'
}

exec >"$page"
printf '.TH %s %s "" "meterbank %s"\n' "$(echo "$name" | tr '[:lower:]' '[:upper:]')" "$section" "$version"
printf '.SH NAME\n%s \\- %s\n' "$(echo "$name" | sed 's/-/\\-/g')" "$summary"
echo '.SH DESCRIPTION'
"$program" --help | literally
for verb in "$@"; do
  printf '.SH "%s %s"\n' "$name" "$verb"
  "$program" "$verb" --help | literally
done
