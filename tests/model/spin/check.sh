#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Explores one model exhaustively and compares the outcome with what is expected.
#
#   check.sh MODEL FLAGS expect-clean
#   check.sh MODEL FLAGS expect-violation [ASSERTION]
#
# MODEL is a .pml file, FLAGS one string of -D options for it ("" for none). With ASSERTION the
# violated assertion must be that one: a fault found by accident elsewhere is not found.
# All files go to a fresh directory under the working directory, removed when the check passes.
#
# The environment may set CC, SPIN_MEMORY_MIB and SPIN_DEPTH. Exit status: 0 as expected, 1 not as
# expected, 77 spin is not installed.
#
# A search that was cut short proves nothing, so running out of depth or memory is a failure of the
# check, whatever was expected. Approximate searches (bitstate, hash compaction) are refused.

set -u
usage="check.sh MODEL FLAGS expect-clean|expect-violation [ASSERTION]"
LC_ALL=C
export LC_ALL

fail() {
  echo "check.sh: $1" >&2
  [ -n "${work:-}" ] && echo "check.sh: the files are in $work" >&2
  exit 1
}

case $# in
  3 | 4) ;;
  *) fail "usage: $usage" ;;
esac
model=$(readlink -f -- "$1") || fail "no such model: $1"
[ -f "$model" ] || fail "no such model: $1"
flags=$2
expect=$3
assertion=${4:-}
case $expect in
  expect-clean | expect-violation) ;;
  *) fail "expected outcome must be expect-clean or expect-violation, not '$expect'" ;;
esac
case $flags in
  *BITSTATE* | *-DHC* | *MA=*) fail "an approximate or altered search is not a proof" ;;
esac

# 77 tells CTest that the test was skipped, not passed.
command -v spin >/dev/null || { echo "check.sh: spin is not installed" >&2; exit 77; }

memory_mib=${SPIN_MEMORY_MIB:-2048}
depth=${SPIN_DEPTH:-200000}
# A fault turns up within some 100,000 states, so there the compiler's time is the larger part.
case $expect in
  expect-clean) optimise=-O2 hash_bits=24 ;;
  *) optimise=-O0 hash_bits=20 ;;
esac
name=$(basename "$model" .pml)

work=$(mktemp -d "$PWD/spin-$name.XXXXXX") || fail "cannot create a directory under $PWD"
cd "$work" || fail "cannot enter $work"

# FLAGS is a list of options on purpose, hence no quotes.
# shellcheck disable=SC2086
spin $flags -a "$model" >spin.log 2>&1 || { cat spin.log >&2; fail "spin cannot translate $name"; }
[ -f pan.c ] || { cat spin.log >&2; fail "spin wrote no verifier for $name"; }
${CC:-cc} $optimise -w -DSAFETY -DMEMLIM="$memory_mib" -o pan pan.c >cc.log 2>&1 ||
  { cat cc.log >&2; fail "the verifier of $name does not compile"; }
./pan -m"$depth" -w"$hash_bits" >pan.log 2>&1

states=$(sed -n 's/^ *\([0-9][0-9.e+]*\) states, stored.*/\1/p' pan.log)
errors=$(sed -n 's/.*errors: \([0-9][0-9]*\).*/\1/p' pan.log)
violated=$(sed -n 's/^pan:[0-9]*: assertion violated (*\([a-z_]*\).*/\1/p' pan.log)
seconds=$(sed -n 's/^pan: elapsed time \([0-9.]*\) seconds.*/\1/p' pan.log)
reached=$(sed -n 's/.*depth reached \([0-9]*\),.*/\1/p' pan.log)

if grep -q -e 'max search depth too small' -e 'out of memory' -e 'reached -DMEMLIM' \
  -e 'VECTORSZ' -e 'pan: error' pan.log; then
  cat pan.log >&2
  fail "$name [$flags]: the search was cut short"
fi
if [ -z "$errors" ] || [ -z "$states" ]; then
  cat pan.log >&2
  fail "$name [$flags]: no verdict"
fi

if [ "$expect" = expect-clean ]; then
  if [ "$errors" -ne 0 ] || grep -q 'Search not completed' pan.log; then
    cat pan.log >&2
    fail "$name [$flags]: expected a complete search without a violation"
  fi
  verdict=clean
else
  if [ "$errors" -eq 0 ] || ! grep -q 'assertion violated' pan.log; then
    cat pan.log >&2
    fail "$name [$flags]: the seeded fault was not found"
  fi
  if [ -n "$assertion" ] && [ "$violated" != "$assertion" ]; then
    cat pan.log >&2
    fail "$name [$flags]: violated '$violated' where '$assertion' was expected"
  fi
  verdict="violated $violated"
fi

echo "$name [$flags]: $verdict, $states states, depth $reached, ${seconds:-?} s"
cd .. && rm -rf "$work"
