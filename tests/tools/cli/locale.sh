#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
#   locale.sh METERBANK
#
# Fails if a machine format depends on the locale: under LC_ALL=de_DE.UTF-8 numbers must keep their
# decimal point. Run beside `meterbank host`. Exit status 77 without the package locales.
set -eu
meterbank=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if [ ! -e /usr/share/i18n/locales/de_DE ]; then
  echo "skipped: package locales is not installed"
  exit 77
fi
localedef -i de_DE -f UTF-8 --no-archive "$work/de_DE.UTF-8"
export LOCPATH="$work" LC_ALL=de_DE.UTF-8
# The locale works: other programs print a decimal comma.
control=$(/usr/bin/printf '%.1f' 1,5)
[ "$control" = 1,5 ] || { echo "printf prints $control in this locale"; exit 1; }

value='-?[0-9]+(\.[0-9]+)?(e[+-][0-9]+)?'
faults=0
# expect FORMAT PATTERN: the last line of the format's output matches the whole pattern.
expect() {
  line=$("$meterbank" get system/load_1m -f "$1" | tr -d '\r' | tail -n 1)
  echo "$1: $line"
  printf '%s\n' "$line" | grep -Eqx -- "$2" || { echo "no match for: $2"; faults=1; }
}
expect csv "([^,]*,){5}$value,[^,]*,ok"
expect tsv "([^	]*	){5}$value	[^	]*	ok"
expect plain "[^	]*	[^	]*	$value(	.*)?"
expect jsonl ".*\"value\":$value,.*"
expect pdh-csv "\"[^\"]*\",\"$value\""
exit $faults
