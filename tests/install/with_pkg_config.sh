#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
#   with_pkg_config.sh PREFIX PACKAGES COMPILER SOURCE [OPTION...]
#
# Compiles a program with what pkg-config says of the installation below PREFIX, and runs it. With the
# option -static, it is linked statically.
set -eu
prefix=$1 packages=$2 compiler=$3 source=$4
shift 4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name meterbank.pc)")
export PKG_CONFIG_PATH
static=
case " $* " in *" -static "*) static=--static ;; esac
# The words are separate arguments.
# shellcheck disable=SC2046,SC2086
"$compiler" "$@" "$source" -o "$work/program" $(pkg-config $static --cflags --libs $packages)
LD_LIBRARY_PATH=$(pkg-config --variable=libdir meterbank)
export LD_LIBRARY_PATH METERBANK_DIR="$work"
"$work/program"
