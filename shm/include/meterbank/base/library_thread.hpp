// SPDX-License-Identifier: Apache-2.0
//
// How the libraries start threads of their own: a small stack, and no signal is ever delivered to
// them, so that no handler of the program runs there.
#pragma once

#include <pthread.h>
#include <signal.h>

#include <cstddef>

namespace meterbank {

// Enough for code of the libraries, and for callbacks of the program.
inline constexpr std::size_t kLibraryStackBytes = std::size_t{128} * 1024;
inline constexpr std::size_t kCallbackStackBytes = std::size_t{256} * 1024;

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
[[nodiscard]] inline int start_library_thread(
    pthread_t& thread, void* (*run)(void*) noexcept, void* state,
    std::size_t stack_bytes = kLibraryStackBytes) noexcept {
  pthread_attr_t attributes;
  ::pthread_attr_init(&attributes);
  ::pthread_attr_setstacksize(&attributes, stack_bytes);
  const WithoutSignals quiet;
  const int failed = ::pthread_create(&thread, &attributes, run, state);
  ::pthread_attr_destroy(&attributes);
  return failed;
}

}  // namespace meterbank
