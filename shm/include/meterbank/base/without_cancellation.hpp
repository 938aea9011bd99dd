// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pthread.h>

namespace meterbank {

// While it lives, pthread_cancel() of this thread waits. A cancelled thread unwinds from inside a
// system call, which ends the process where a function is noexcept, and leaves work half done
// elsewhere. No system call.
class WithoutCancellation {
 public:
  WithoutCancellation() noexcept { ::pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
  WithoutCancellation(const WithoutCancellation&) = delete;
  WithoutCancellation& operator=(const WithoutCancellation&) = delete;
  ~WithoutCancellation() { ::pthread_setcancelstate(before_, nullptr); }

 private:
  int before_ = PTHREAD_CANCEL_ENABLE;
};

}  // namespace meterbank
