#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
#   build.sh FOLDER PREFIX
#
# Fetches memcached from the Debian source package into FOLDER, and builds it there as it is
# (plain/) and with meterbank.patch (patched/), with the flags of Debian packages, and beside them
# the program `load`. PREFIX is where meterbank is installed. Needs the packages of the group `embed`
# in packages.txt.
#
# Of the system it changes nothing: apt reads a list of sources that this script writes, which is the
# host's with `deb-src`.
set -eu
[ $# -eq 2 ] || { echo "usage: build.sh FOLDER PREFIX" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
folder=$(cd "$1" && pwd)
prefix=$(cd "$2" && pwd)
pkgconfig=$(dirname "$(find "$prefix" -name meterbank.pc | head -n 1)")
[ -f "$pkgconfig/meterbank.pc" ] || { echo "build.sh: no meterbank.pc below $prefix" >&2; exit 1; }
version=1.6.18

# site NAME: where the host gets the packages of this release from.
site() {
  # shellcheck disable=SC2016
  apt-get indextargets --format '$(SITE)' 'Created-By: Packages' "Codename: $1" | head -n 1
}

fetch() {
  mkdir -p "$folder/apt/lists/partial" "$folder/source"
  sources=$folder/apt/deb-src.list
  # shellcheck source=/dev/null
  . /etc/os-release
  mirror=$(site "$VERSION_CODENAME") security=$(site "$VERSION_CODENAME-security")
  : "${mirror:=http://deb.debian.org/debian}" "${security:=http://deb.debian.org/debian-security}"
  keys=/usr/share/keyrings/debian-archive-keyring.gpg
  {
    echo "deb-src [signed-by=$keys] $mirror $VERSION_CODENAME main"
    echo "deb-src [signed-by=$keys] $security $VERSION_CODENAME-security main"
  } >"$sources"
  set -- -qq -o "Dir::Etc::sourcelist=$sources" -o Dir::Etc::sourceparts=/nonexistent \
    -o "Dir::State::lists=$folder/apt/lists" -o APT::Sandbox::User=
  apt-get "$@" update
  (cd "$folder/source" && apt-get "$@" source memcached)
}

# build NAME [PATCH]
build() {
  rm -rf "${folder:?}/$1"
  cp -a "$folder/source/memcached-$version" "$folder/$1"
  cd "$folder/$1"
  [ $# -eq 1 ] || patch -p1 -s <"$2"
  {
    autoreconf -fi
    PKG_CONFIG_PATH=$pkgconfig ./configure CFLAGS="$(dpkg-buildflags --get CFLAGS)" \
      CPPFLAGS="$(dpkg-buildflags --get CPPFLAGS)" \
      LDFLAGS="$(dpkg-buildflags --get LDFLAGS) -Wl,-rpath,$(dirname "$pkgconfig")"
    make -j "$(nproc)" memcached
  } >"$folder/$1.log" 2>&1 || { tail -n 30 "$folder/$1.log" >&2; exit 1; }
}

[ -d "$folder/source/memcached-$version" ] || fetch
build plain
build patched "$here/meterbank.patch"
cc -std=gnu11 -O2 -o "$folder/load" "$here/load.c"
echo "built $folder/plain/memcached, $folder/patched/memcached and $folder/load"
