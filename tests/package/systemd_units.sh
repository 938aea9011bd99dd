#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
#   systemd_units.sh SYSTEMD_ANALYZE UNITS NAME PROGRAM [unprotected]
#
# Fails on a fault in the unit files NAME.*, and if systemd-analyze thinks that the service could do more
# harm than 2.0 of 10. PROGRAM takes the place of the installed program. The negative control takes the
# protections away.
set -eu
analyze=$1 units=$2 name=$3 program=$4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for unit in "$units/$name".service "$units/$name".socket; do
  [ ! -e "$unit" ] || sed "s#^ExecStart=/usr/bin/[a-z-]*#ExecStart=$program#" "$unit" >"$work/${unit##*/}"
done
if [ $# -gt 4 ]; then
  sed -i '/^\(Protect\|Private\|Restrict\|SystemCall\|Capability\|NoNew\|User\)/d' "$work/$name.service"
fi
# The pages that the units name are not installed here.
"$analyze" verify --man=no "$work"/*
# The exit status is that of the threshold: without one, systemd-analyze only reports the exposure.
"$analyze" security --offline=true --threshold=20 "$work/$name.service"
