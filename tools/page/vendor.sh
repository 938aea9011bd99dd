#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Fetches the plotting library of the page from the npm registry into vendor/, which is committed: a build needs no
# network. Run it by hand to take another version, after changing the two lines below.
set -eu
version=1.6.32
integrity=sha512-KIMVnG68zvu5XXUbC4LQEPnhwOxBuLyW1AHtpm6IKTXImkbLgkMy+jabjLgSLMasNuGGzQm/ep3tOkyTxpiQIw==

folder=$(cd "$(dirname "$0")" && pwd)/vendor
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm pack --silent "uplot@$version" >/dev/null
found=sha512-$(openssl dgst -sha512 -binary "uplot-$version.tgz" | openssl base64 -A)
if [ "$found" != "$integrity" ]; then
  echo "vendor.sh: uplot-$version.tgz has the hash $found, not $integrity; nothing was changed" >&2
  exit 1
fi
tar -xzf "uplot-$version.tgz"
mkdir -p "$folder"
cp package/dist/uPlot.iife.min.js "$folder/uplot.js"
cp package/dist/uPlot.min.css "$folder/uplot.css"
cp package/LICENSE "$folder/LICENSE"
printf '%s\n' "uplot $version $integrity" >"$folder/VERSION"
