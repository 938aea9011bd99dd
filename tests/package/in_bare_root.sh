#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
#   in_bare_root.sh systemd|stand-in VERSION
#
# The part of bare_root.sh that runs in the bare root. /packages has the packages, those of an earlier version,
# and a program in C. Prints each promise that is kept, and ends with the first that is not.
set -euo pipefail
manager=$1 version=$2

# promise TEXT COMMAND...: fails if the command does.
promise() {
  local text=$1 output
  shift
  output=$("$@" 2>&1) || { printf 'NOT KEPT: %s\n%s\n' "$text" "$output"; exit 1; }
  printf 'kept: %s\n' "$text"
}
fails() { ! "$@"; }
apt() { apt-get -qq -o Dpkg::Use-Pty=0 -o APT::Sandbox::User=root "$@" </dev/null >/tmp/apt 2>&1 || { cat /tmp/apt; return 1; }; }
# A user without privileges, which every Debian has.
stranger=$(id --name --user 65534)
as_stranger() { setpriv --reuid=65534 --regid=65534 --init-groups -- "$@"; }
names() { for file in "$1"/*.deb; do dpkg-deb --field "$file" Package; done; }

# The files of the machine, but for those that every use of apt and systemd changes.
list_files() {
  find / -xdev \( -path /proc -o -path /sys -o -path /dev -o -path /tmp -o -path /var/tmp -o -path /packages \
    -o -path /var/cache -o -path /var/log -o -path /var/lib/apt -o -path /run/systemd -o -path /run/log \
    -o -path /var/lib/systemd \) -prune -o -print | sort
  find /run/meterbank /var/lib/systemd/deb-systemd-helper-enabled 2>/dev/null | grep -i meterbank || true
}

# Where systemd does not run: what the unit starts, as the user that the unit names.
stand_in=
start_stand_in() {
  [[ $manager == stand-in ]] || return 0
  local unit=/lib/systemd/system/meterbank-host.service command
  command=$(sed -n 's/^ExecStart=//p' $unit)
  # The words of the command are separate arguments.
  # shellcheck disable=SC2086
  setpriv --reuid="$(sed -n 's/^User=//p' $unit)" --regid="$(sed -n 's/^Group=//p' $unit)" --clear-groups \
    --bounding-set=-all -- $command &
  stand_in=$!
  for ((i = 0; i < 100; ++i)); do
    [[ $(cat "/proc/$stand_in/comm") != meterbank ]] || break
    sleep 0.1
  done
}
stop_stand_in() {
  [[ -z $stand_in ]] || kill "$stand_in"
  wait
}

host_runs_as_its_user() {
  local pid=$stand_in
  [[ $manager == stand-in ]] || pid=$(systemctl show --value --property=MainPID meterbank-host.service)
  [[ $(stat -c "%U %G" "/proc/$pid") == "meterbank-host meterbank" ]]
}
reads_memory() {
  local value
  value=$(as_stranger meterbank get --wait 10s -f plain memory/available_bytes)
  echo "$value" | tee /tmp/value
  echo "$value" | cut -f 3 | grep -q '^[1-9]'
}
removes_records() { as_stranger sh -c 'rm -f /run/meterbank/*host*'; }

# What is installed for the packages, but is not one of them, is no concern here.
apt update
# shellcheck disable=SC2046
apt install --no-install-recommends $(apt-get -s --no-install-recommends install /packages/new/*.deb |
  sed -n 's/^Inst \([^ ]*\) .*/\1/p' | grep -v meterbank) procps
list_files >/tmp/before

promise "packages of an earlier version install" apt install --no-install-recommends /packages/old/*.deb
promise "all of them are configured" fails sh -c "dpkg-query -W -f='\${db:Status-Abbrev} \${Package}\n' | grep -v '^ii'"
start_stand_in
promise "/run/meterbank has mode 3775 and belongs to root and the group meterbank" \
  test "$(stat -c '%a %U %G' /run/meterbank)" = '3775 root meterbank'
if [[ $manager == systemd ]]; then
  promise "the service of the host is enabled and runs" \
    sh -c 'systemctl is-enabled meterbank-host.service && systemctl is-active meterbank-host.service'
  promise "the arbiter's service and socket are enabled and run" \
    sh -c 'systemctl is-enabled meterbank-pmud.socket && systemctl is-active meterbank-pmud.socket meterbank-pmud.service'
  promise "the agent is enabled and serves what the group may read" \
    sh -c 'systemctl is-enabled meterbank-agent.service && systemctl is-active meterbank-agent.service &&
      systemctl show --value --property=StatusText meterbank-agent.service | grep "^Serving http://127.0.0.1:19400/metrics"'
  for unit in meterbank-agent meterbank-host meterbank-pmud; do
    promise "$unit.service is exposed by no more than 2.0" systemd-analyze security --threshold=20 $unit.service
  done
fi
promise "the host's process has a user of its own" host_runs_as_its_user
promise "a user who is not in the group meterbank cannot read" \
  fails as_stranger meterbank get -f plain memory/available_bytes
usermod --append --groups meterbank "$stranger"
promise "$stranger in the group meterbank reads the machine's counters" reads_memory
cat /tmp/value
promise "$stranger cannot remove the host's records" fails removes_records

sed -i '1s/^/# Ours.\n/' /etc/meterbank/pmud-policy.toml
started=$(systemctl show --value --property=MainPID meterbank-host.service 2>/dev/null || true)
stop_stand_in
promise "an upgrade keeps the administrator's policy" \
  sh -c 'apt-get -qq -o Dpkg::Use-Pty=0 -o Dpkg::Options::=--force-confold -o APT::Sandbox::User=root \
    install --no-install-recommends /packages/new/*.deb </dev/null && grep -q "^# Ours" /etc/meterbank/pmud-policy.toml'
promise "all packages have the new version" test "$(dpkg-query -W -f='${Package} ${Version} ${db:Status-Abbrev}\n' \
  '*meterbank*' | grep -c " $version ii")" = "$(names /packages/new | wc -l)"
start_stand_in
if [[ $manager == systemd ]]; then
  promise "the upgrade restarts the service of the host" \
    sh -c "systemctl is-active meterbank-host.service &&
      [ \$(systemctl show --value --property=MainPID meterbank-host.service) != $started ]"
fi
promise "$stranger reads after the upgrade" reads_memory
promise "$stranger reads with Python" as_stranger python3 -c '
import meterbank, time
query = meterbank.Catalog().query("memory/available_bytes")
time.sleep(0.3)
assert [value.raw for row in query.collect() for value in row][0] > 0'
promise "a program in C that was compiled elsewhere runs" env METERBANK_DIR=/tmp /packages/program
promise "doctor finds no fault" meterbank doctor
promise "the agent for PCP is where pmcd looks for agents" /var/lib/pcp/pmdas/meterbank/pmdameterbank --version
promise "meterbank-gen checks a manifest" sh -c 'meterbank gen --version && meterbank-gen --version'
promise "completion for bash, zsh and fish is where the shells look" ls \
  /usr/share/bash-completion/completions/meterbank /usr/share/zsh/vendor-completions/_meterbank \
  /usr/share/fish/vendor_completions.d/meterbank.fish

stop_stand_in
# shellcheck disable=SC2046
promise "all packages can be purged" apt purge $(names /packages/new)
list_files >/tmp/after
promise "no file is left" diff /tmp/before /tmp/after
# Negative control.
touch /etc/left
list_files >/tmp/after
promise "a file that is left would be found" fails diff /tmp/before /tmp/after
if [[ $manager == systemd ]]; then
  promise "no unit is left" fails sh -c 'systemctl list-units --all --plain --no-legend | grep meterbank'
fi
promise "users and the group stay, as Debian keeps them, so that no other user gets their numbers" \
  getent passwd meterbank-agent meterbank-host meterbank-pcp meterbank-pmud
