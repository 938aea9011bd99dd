// SPDX-License-Identifier: Apache-2.0
//
// What meterbank-gen made for C, for a test in C++.
#ifndef METERBANK_TESTS_GENERATED_TABLES_H
#define METERBANK_TESTS_GENERATED_TABLES_H

#include "meterbank/c/publisher.h"

#ifdef __cplusplus
extern "C" {
#endif

extern const mb_counterset_spec* const generated_sets[5];
extern const unsigned generated_positions[4];

#ifdef __cplusplus
}
#endif

#endif
