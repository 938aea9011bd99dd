// SPDX-License-Identifier: Apache-2.0
#include "meterbank/shm/owner_mutex.hpp"

#include <pthread.h>

namespace meterbank {
namespace {

pthread_mutex_t* mutex_in(OwnerMutexWords& words) noexcept {
  static_assert(sizeof(pthread_mutex_t) <= sizeof words);
  return reinterpret_cast<pthread_mutex_t*>(words.data());
}

}  // namespace

// These calls fail only for invalid arguments or for a mutex that another thread has used before.
// The arguments are constants and the mutex is initialised here, so no result is checked.
void hold_owner_mutex(OwnerMutexWords& words) noexcept {
  pthread_mutexattr_t attributes;
  ::pthread_mutexattr_init(&attributes);
  ::pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  ::pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  ::pthread_mutex_init(mutex_in(words), &attributes);
  ::pthread_mutexattr_destroy(&attributes);
  ::pthread_mutex_lock(mutex_in(words));
}

void release_owner_mutex(OwnerMutexWords& words) noexcept {
  ::pthread_mutex_unlock(mutex_in(words));
}

}  // namespace meterbank
