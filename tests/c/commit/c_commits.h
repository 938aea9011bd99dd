// SPDX-License-Identifier: Apache-2.0
//
// The inline functions of the C headers, as functions that a test in C++ can call. They are
// compiled as C99, once as they are and once for each fault that the test must find.
#ifndef METERBANK_TESTS_C_COMMITS_H
#define METERBANK_TESTS_C_COMMITS_H

#include <stddef.h>

#include "meterbank/c/values.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct c_commits {
  const char* name;
  void (*set)(const mb_instance* instance, uint32_t word, uint64_t value);
  void (*add)(const mb_instance* instance, uint32_t word, uint64_t delta);
  // Sets each of the words to `value` and those after it.
  void (*update)(const mb_instance* instance, const uint32_t* words, size_t count, uint64_t value);
  void (*abort)(const mb_instance* instance, const uint32_t* words, size_t count, uint64_t value);
  void (*record)(const mb_recorder* recorder, double value);
  // Records both in one commit.
  void (*record_two)(const mb_instance* instance, const mb_recorder* recorder, double first,
                     double second);
  void (*set_gauge)(const mb_gauge* gauge, double value);
  void (*set_text)(const mb_text* text, const char* bytes, size_t count);
} c_commits;

#ifdef __cplusplus
}
#endif

#endif
