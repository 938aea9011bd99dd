// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>

#include "meterbank/base/one_process.hpp"

namespace meterbank::border {

// One object for the process, made at the first use. The child of a fork makes one of its own and
// never touches that of its parent, whose mutex a thread may have held. So this needs no handler at
// the fork, and children that no handler sees are served as well.
//
// Thread safety  Any thread may call get().
// Errors         std::bad_alloc.
// Lifetime       The object is never destroyed, so that it can be used until the process ends.
template <typename Object>
class PerProcess {
 public:
  [[nodiscard]] Object& get() {
    // acquire: pairs with the exchange below, so that the object is seen as it was made.
    Object* current = current_.load(std::memory_order_acquire);
    if (current != nullptr && !current->is_inherited()) return *current;
    auto fresh = std::make_unique<Object>();
    // release: publishes the object. acquire: as above, if another thread was first.
    if (!current_.compare_exchange_strong(current, fresh.get(), std::memory_order_acq_rel,
                                          std::memory_order_acquire)) {
      return *current;
    }
    if (current != nullptr) OfOneProcess::keep(*current);
    return *fresh.release();
  }

 private:
  std::atomic<Object*> current_{nullptr};
};

}  // namespace meterbank::border
