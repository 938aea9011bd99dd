// SPDX-License-Identifier: Apache-2.0
#include "allocation_count.hpp"

#include <cstdlib>
#include <new>

namespace {

constexpr std::size_t kNever = ~std::size_t{0};

thread_local std::size_t allocations = 0;
thread_local std::size_t failing_from = kNever;
thread_local std::size_t failing_to = kNever;
thread_local std::size_t failures = 0;

// Null: there is no memory, or a test says so.
void* allocate(std::size_t size, std::size_t alignment) noexcept {
  const std::size_t number = allocations++;
  if (number >= failing_from && number < failing_to) {
    ++failures;
    return nullptr;
  }
  if (alignment <= alignof(std::max_align_t)) return std::malloc(size == 0 ? 1 : size);
  return std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}

void* allocate_or_throw(std::size_t size, std::size_t alignment) {
  if (void* const place = allocate(size, alignment)) return place;
  throw std::bad_alloc();
}

}  // namespace

// Apart from its callers: where both are seen at once, GCC pairs the library's own `new` with the
// `free` below and reports a mismatch.
void* operator new(std::size_t size) { return allocate_or_throw(size, 1); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  return allocate_or_throw(size, static_cast<std::size_t>(alignment));
}
// The sanitizers have one of their own, which the functions below would not go with.
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return allocate(size, 1); }
void operator delete(void* place) noexcept { std::free(place); }
void operator delete(void* place, std::size_t) noexcept { std::free(place); }
void operator delete(void* place, std::align_val_t) noexcept { std::free(place); }
void operator delete(void* place, std::size_t, std::align_val_t) noexcept { std::free(place); }
void operator delete(void* place, const std::nothrow_t&) noexcept { std::free(place); }

namespace meterbank::test {

std::size_t allocations_made() noexcept { return allocations; }

FailingAllocations::FailingAllocations(std::size_t passing, std::size_t count) noexcept {
  failures = 0;
  failing_from = allocations + passing;
  failing_to = count == kAllOthers ? kNever : failing_from + count;
}

FailingAllocations::~FailingAllocations() { failing_from = kNever; }

std::size_t FailingAllocations::failed() const noexcept { return failures; }

}  // namespace meterbank::test
