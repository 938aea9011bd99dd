// SPDX-License-Identifier: Apache-2.0
//
// For the sources of the libraries: the headers that programs include can do without exceptions.
#pragma once

#include <new>

#include "meterbank/base/result.hpp"

namespace meterbank {

// Calls a function that returns a Result. Where it runs out of memory that becomes an Error, too.
template <typename F>
[[nodiscard]] auto report_no_memory(F&& function) -> decltype(function()) {
  try {
    return function();
  } catch (const std::bad_alloc&) {
    return tl::make_unexpected(out_of_memory());
  }
}

}  // namespace meterbank
