// SPDX-License-Identifier: Apache-2.0
//
// How the library starts its keeper: a small stack, and no signal is ever delivered to it, so that
// no handler of the program runs there.
#pragma once

#include <pthread.h>
#include <signal.h>

#include <cstddef>

namespace meterbank::pmu::detail {

// Returns 0, or the errno of the reason.
[[nodiscard]] inline int start_keeper(pthread_t& thread, void* (*run)(void*) noexcept,
                                      void* state) noexcept {
  constexpr std::size_t kStackBytes = std::size_t{256} * 1024;  // callbacks of the program run here
  pthread_attr_t attributes;
  ::pthread_attr_init(&attributes);
  ::pthread_attr_setstacksize(&attributes, kStackBytes);
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  const int failed = ::pthread_create(&thread, &attributes, run, state);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  ::pthread_attr_destroy(&attributes);
  return failed;
}

}  // namespace meterbank::pmu::detail
