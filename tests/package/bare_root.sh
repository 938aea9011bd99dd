#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
#   bare_root.sh PACKAGES
#
# Installs, upgrades and purges the packages of a folder in a bare Debian 12, made from this machine's apt
# sources and thrown away at the end. The checks are in_bare_root.sh. systemd boots in that root; where it
# cannot, the checks start what the units name as a stand-in, and say so. Needs root.
set -euo pipefail
packages=$(realpath "$1")
here=$(realpath "$(dirname "$0")")
[[ $(id -u) == 0 ]] || { echo "a bare root takes root: sudo ./run package --test" >&2; exit 3; }
say() { printf '== %s\n' "$*"; }

work=$(mktemp -d "${TMPDIR:-/tmp}/meterbank-bare.XXXXXX")
root=$work/root nspawn=
# Ends the booted system, in order if it can.
stop_system() {
  [[ -n $nspawn ]] || return 0
  kill -TERM "$nspawn" 2>/dev/null || true
  for ((i = 0; i < 100; ++i)); do
    kill -0 "$nspawn" 2>/dev/null || break
    sleep 0.1
  done
  kill -KILL "$nspawn" 2>/dev/null || true
  wait "$nspawn" || true
  nspawn=
}
finish() {
  stop_system
  rm -rf --one-file-system "$work"
}
trap finish EXIT

say "making a bare Debian 12"
# Those of the sources that are Debian's own. apt expands the names.
# shellcheck disable=SC2016
apt-get indextargets --format '$(ORIGIN) deb $(REPO_URI) $(CODENAME) $(COMPONENT)' 'Identifier: Packages' |
  sed -n 's/^Debian deb /deb /p' | grep ' bookworm' | sort -u >"$work/sources"
[[ -s $work/sources ]] || { echo "no apt source for Debian 12 here" >&2; exit 3; }
mmdebstrap --quiet --variant=minbase --include=systemd,systemd-sysv,dbus bookworm "$root" "$work/sources"

# Packages of an earlier version, to upgrade from: the same files under another number. The policy of the
# arbiter has another text, so that the upgrade replaces a file of the administrator's.
say "making packages of an earlier version"
mkdir -p "$root/packages/new" "$root/packages/old" "$work/parts"
cp "$packages"/*.deb "$root/packages/new/"
version=$(dpkg-deb --field "$packages"/libmeterbank0_*.deb Version)
for package in "$packages"/*.deb; do
  name=$(dpkg-deb --field "$package" Package)
  dpkg-deb --raw-extract "$package" "$work/parts/$name"
  sed -i "s/\b${version//./\\.}\b/${version}~earlier/" "$work/parts/$name/DEBIAN/control"
  if [[ $name == meterbank-pmud ]]; then
    echo '# An earlier text.' >>"$work/parts/$name/etc/meterbank/pmud-policy.toml"
  fi
  dpkg-deb --root-owner-group --build "$work/parts/$name" "$root/packages/old" >/dev/null
done
cp "$here/in_bare_root.sh" "$root/packages/"
cp "$here/../install/c/main.c" "$root/packages/program.c"

# A program that was compiled with libmeterbank-dev of these packages, and nothing else of this tree.
say "compiling a program with libmeterbank-dev"
dpkg-deb --extract "$root"/packages/new/libmeterbank-dev_*.deb "$work/parts/dev"
dpkg-deb --extract "$root"/packages/new/libmeterbank0_*.deb "$work/parts/dev"
libraries=$(dirname "$(find "$work/parts/dev" -name libmeterbank.so)")
cc -std=c99 -pedantic "$root/packages/program.c" -I"$work/parts/dev/usr/include" -L"$libraries" -lmeterbank \
  -o "$root/packages/program"

# leader: the first process of the booted system, which systemd-nspawn starts as its child.
leader() { pgrep -P "$nspawn" -x systemd; }
say "booting it"
boot=(systemd-nspawn --quiet --directory="$root" --boot --register=no --console=pipe)
# Only a machine whose own first process is systemd can give the root a scope of its own.
[[ -d /run/systemd/system ]] || boot+=(--keep-unit)
"${boot[@]}" </dev/null >"$work/console" 2>&1 &
nspawn=$!
state=none
for ((i = 0; i < 300; ++i)); do
  kill -0 "$nspawn" 2>/dev/null || break
  if first=$(leader); then
    state=$(nsenter --target "$first" --all systemctl is-system-running 2>/dev/null || true)
    case $state in running | degraded) break ;; esac
  fi
  sleep 0.1
done

environment=(/usr/bin/env -i HOME=/root LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive
  PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin)
case $state in
  running | degraded)
    say "systemd is $state in it"
    nsenter --target "$(leader)" --all "${environment[@]}" /packages/in_bare_root.sh systemd "$version"
    ;;
  *)
    cat "$work/console"
    say "STAND-IN: systemd does not boot here, so that no unit is tested; the checks start its ExecStart themselves"
    stop_system
    # The inner shell expands the names.
    # shellcheck disable=SC2016
    unshare --mount --pid --fork --propagation private bash -c '
      set -e
      root=$1
      shift
      mount -t proc proc "$root/proc"
      mount --rbind /sys "$root/sys"
      mount --rbind /dev "$root/dev"
      mount -t tmpfs tmpfs "$root/run"
      exec chroot "$root" "$@"
    ' bare "$root" "${environment[@]}" /packages/in_bare_root.sh stand-in "$version"
    ;;
esac
