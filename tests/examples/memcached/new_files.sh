#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
#   new_files.sh PATCH FOLDER
#
# Writes the files that a patch adds, without those that it changes, into FOLDER.
set -eu
awk -v folder="$2" '
  /^\+\+\+ / { name = $2; sub(/^b\//, "", name); writing = 0; next }
  /^--- / { writing = 0; next }
  /^@@ / { writing = /^@@ -0,0 /; if (writing) printf "" >(folder "/" name); next }
  writing { print substr($0, 2) >(folder "/" name) }
' "$1"
