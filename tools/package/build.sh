#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
#   build.sh
#
# Builds the Debian packages of this tree into build/package and fails if lintian has an error or a
# warning. The tree itself stays as it is: the build takes place in a copy.
set -eu
cd "$(dirname "$0")/../.."
out=$PWD/build/package
rm -rf "$out"
mkdir -p "$out/source"
tar -c --exclude=./build --exclude=./.cache --exclude=./.git --exclude=__pycache__ . | tar -x -C "$out/source"

# Debug symbols are for archives, which build them by default.
export DEB_BUILD_OPTIONS="noautodbgsym ${DEB_BUILD_OPTIONS:-}"
(cd "$out/source" && dpkg-buildpackage --build=binary --unsigned-changes) >"$out/log" 2>&1 ||
  { tail -n 40 "$out/log" >&2; echo "dpkg-buildpackage failed; all it printed: $out/log" >&2; exit 1; }
rm -rf "$out/source"

as_root=
[ "$(id -u)" != 0 ] || as_root=--allow-root
lintian $as_root --fail-on error,warning "$out"/*.changes
(cd build && ls package/*.deb)
