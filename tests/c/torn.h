// SPDX-License-Identifier: Apache-2.0
//
// The writers in C of the hunt for torn reads; the second has a fault in its headers.
#ifndef METERBANK_TESTS_C_TORN_H
#define METERBANK_TESTS_C_TORN_H

#include "meterbank/c/publisher.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { kTornWords = 12 };

// Commits that set all words to `from`, from + 1, and so on.
void c_torn_count_up(const mb_instance* instance, uint64_t from, uint64_t count);
void c_torn_count_up_faulty(const mb_instance* instance, uint64_t from, uint64_t count);

#ifdef __cplusplus
}
#endif

#endif
