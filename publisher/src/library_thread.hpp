// SPDX-License-Identifier: Apache-2.0
//
// How the library starts its own threads: a small stack, and no signal is ever delivered to them,
// so that no handler of the service runs there.
#pragma once

#include <pthread.h>
#include <signal.h>

#include <cstddef>

namespace meterbank::detail {

// While it lives, threads that this one starts inherit that they take no signal.
class WithoutSignals {
 public:
  WithoutSignals() noexcept {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  WithoutSignals(const WithoutSignals&) = delete;
  WithoutSignals& operator=(const WithoutSignals&) = delete;
  ~WithoutSignals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

// Returns 0, or the errno of the reason.
[[nodiscard]] inline int start_library_thread(pthread_t& thread, void* (*run)(void*) noexcept,
                                              void* state) noexcept {
  constexpr std::size_t kStackBytes = std::size_t{128} * 1024;
  pthread_attr_t attributes;
  ::pthread_attr_init(&attributes);
  ::pthread_attr_setstacksize(&attributes, kStackBytes);
  const WithoutSignals quiet;
  const int failed = ::pthread_create(&thread, &attributes, run, state);
  ::pthread_attr_destroy(&attributes);
  return failed;
}

}  // namespace meterbank::detail
