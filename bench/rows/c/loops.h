// SPDX-License-Identifier: Apache-2.0
//
// The loops of the rows about C, which are compiled as C.
#ifndef METERBANK_BENCH_C_LOOPS_H
#define METERBANK_BENCH_C_LOOPS_H

#include <stddef.h>

#include "meterbank/c/publisher.h"
#include "meterbank/c/sharded.h"

#ifdef __cplusplus
extern "C" {
#endif

void c_add_hot(const mb_instance* instance, uint64_t turns);
void c_counter_add_hot(const mb_counter* counter, uint64_t turns);
void c_add_turning(const mb_instance* instances, size_t count, uint64_t turns);
void c_sharded_add_hot(const mb_sharded* instance, uint64_t turns);
void c_update_eight(const mb_instance* instance, uint64_t turns);
void c_record_all(const mb_recorder* recorder, const double* values, size_t count, uint64_t turns);

#ifdef __cplusplus
}
#endif

#endif
