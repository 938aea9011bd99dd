// SPDX-License-Identifier: Apache-2.0
#include "meterbank/border/handle_table.hpp"

#include <atomic>

namespace meterbank::border {
namespace {

constinit std::atomic<std::uint64_t> last_number{0};

struct FirstNumber final : OfOneProcess {
  // relaxed: the number stands for itself, nothing is published by it.
  const std::uint64_t value = last_number.fetch_add(1, std::memory_order_relaxed) + 1;
};

// Of this process: each number that it gives comes after the first one is known.
constinit PerProcess<FirstNumber> first_number;

}  // namespace

std::uint64_t next_handle_number() {
  static_cast<void>(first_number.get());
  // relaxed: as above.
  return last_number.fetch_add(1, std::memory_order_relaxed) + 1;
}

bool is_number_of_parent(std::uint64_t number) {
  return number != 0 && number < first_number.get().value;
}

tl::unexpected<Refusal> refuse_handle(std::uint64_t number, std::string_view type) {
  const std::string name(type);
  if (number == 0) return refuse(MB_BAD_HANDLE, "the " + name + " is NULL");
  if (is_number_of_parent(number)) {
    return refuse(MB_FORKED, "this " + name + " belongs to the parent process",
                  "create one in the child");
  }
  return refuse(MB_BAD_HANDLE, "this " + name + " is closed, or is a handle of another type");
}

}  // namespace meterbank::border
