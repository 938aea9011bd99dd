// SPDX-License-Identifier: Apache-2.0
//
// What annotations.c is for: this does not compile.
#include <specstrings.h>

_Not_an_annotation_ extern int something_is_left;
