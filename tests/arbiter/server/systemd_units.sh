#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
#   systemd_units.sh SYSTEMD_ANALYZE UNITS PROGRAM [unprotected]
#
# Fails on a fault in the unit files, and on a service that systemd-analyze thinks could do more harm
# than 2.0 of 10. The negative control takes the protections away.
set -eu
analyze=$1 units=$2 program=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
sed "s#/usr/bin/meterbank-pmud#$program#" "$units/meterbank-pmud.service" >"$work/meterbank-pmud.service"
cp "$units/meterbank-pmud.socket" "$work/"
if [ $# -gt 3 ]; then
  sed -i '/^\(Protect\|Private\|Restrict\|SystemCall\|Capability\|NoNew\|User\)/d' \
    "$work/meterbank-pmud.service"
fi
"$analyze" verify "$work/meterbank-pmud.service" "$work/meterbank-pmud.socket"
"$analyze" security --offline=true --threshold=20 "$work/meterbank-pmud.service"
