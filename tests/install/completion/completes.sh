#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
#   completes.sh PREFIX SHELL [HIDDEN_VERB]
#
# Completion of an installation offers verbs, actions and options, in the real shell. HIDDEN_VERB, for the
# negative control, is left out of the program's help.
set -euo pipefail
prefix=$1 shell=$2 hidden=${3:-}
here=$(dirname "$0")
command -v "$shell" >/dev/null || { echo "skipped: no $shell"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
PATH=$prefix/bin:$PATH
if [[ -n $hidden ]]; then
  printf '#!/bin/sh\n"%s/bin/meterbank" "$@" | grep -v " %s  "\n' "$prefix" "$hidden" >"$work/meterbank"
  chmod +x "$work/meterbank"
  PATH=$work:$PATH
fi
# The shells must not read or write settings of the user.
export HOME=$work XDG_CONFIG_HOME=$work XDG_DATA_HOME=$work

# offered LINE: what the shell offers at the end of the line, sorted, between blanks.
case $shell in
  bash)
    # shellcheck disable=SC1091
    . "$prefix/share/bash-completion/completions/meterbank"
    offered() {
      read -ra COMP_WORDS <<<"$1"
      COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
      _meterbank
      printf '%s\n' "${COMPREPLY[@]}" | sort | xargs
    }
    ;;
  zsh) offered() { "$here/complete.zsh" "$prefix/share/zsh/site-functions" "$1" | xargs; } ;;
  fish)
    offered() {
      fish --no-config -c "source '$prefix/share/fish/vendor_completions.d/meterbank.fish'; complete -C '$1'" |
        cut -f 1 | sort | xargs
    }
    ;;
esac

faults=0
# expect LINE OFFERED
expect() {
  local got
  got=$(offered "$1")
  [[ $got == "$2" ]] || { echo "$shell offers for '$1': $got"; faults=1; }
}
expect 'meterbank ge' 'gen get'
expect 'meterbank get --inter' '--interval'
expect 'meterbank pmu re' 'release reserve revoke'
expect 'meterbank pmu run --ev' '--events'
expect 'meterbank log me' 'merge'
expect 'meterbank log save --la' '--last'
expect 'meterbank che' 'check'
expect 'meterbank get pmu/' ''
exit "$faults"
