// SPDX-License-Identifier: Apache-2.0
#include "allocation_count.hpp"

#include <cstdlib>
#include <new>

namespace {
thread_local std::size_t allocations = 0;
}  // namespace

// Apart from its callers: where both are seen at once, GCC pairs the library's own `new` with the
// `free` below and reports a mismatch.
void* operator new(std::size_t size) {
  ++allocations;
  if (void* const place = std::malloc(size == 0 ? 1 : size)) return place;
  throw std::bad_alloc();
}
// The sanitizers have one of their own, which the functions below would not go with.
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  ++allocations;
  return std::malloc(size == 0 ? 1 : size);
}
void operator delete(void* place) noexcept { std::free(place); }
void operator delete(void* place, std::size_t) noexcept { std::free(place); }
void operator delete(void* place, const std::nothrow_t&) noexcept { std::free(place); }

namespace meterbank::test {

std::size_t allocations_made() noexcept { return allocations; }

}  // namespace meterbank::test
