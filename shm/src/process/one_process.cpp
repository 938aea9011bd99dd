// SPDX-License-Identifier: Apache-2.0
#include "meterbank/base/one_process.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <new>

namespace meterbank {
namespace {

using Word = std::atomic<std::uint64_t>;

// The mark of a process that has asked for it. A child copies it, and counts on from there.
constinit Word last_mark{0};
constinit std::atomic<const OfOneProcess*> inherited_objects{nullptr};

// Null: the process has no memory left, or the kernel does not clear pages.
Word* make_mark_page() noexcept {
  const auto bytes = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  void* const page =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return nullptr;
  if (::madvise(page, bytes, MADV_WIPEONFORK) == 0) return new (page) Word(0);
  ::munmap(page, bytes);
  return nullptr;
}

Word* mark_word() noexcept {
  static Word* const made = make_mark_page();
  return made;
}

}  // namespace

std::uint64_t process_mark() noexcept {
  Word* const word = mark_word();
  // Its number tells a process from those that live, which suffices for the parent.
  if (word == nullptr) return static_cast<std::uint64_t>(::getpid());
  // relaxed, all in here: the number stands for itself, nothing is published by it.
  std::uint64_t mark = word->load(std::memory_order_relaxed);
  if (mark != 0) return mark;
  const std::uint64_t fresh = last_mark.fetch_add(1, std::memory_order_relaxed) + 1;
  return word->compare_exchange_strong(mark, fresh, std::memory_order_relaxed) ? fresh : mark;
}

void forget_process_mark() noexcept {
  // relaxed: the child of a fork has one thread.
  if (Word* const word = mark_word(); word != nullptr) word->store(0, std::memory_order_relaxed);
}

void OfOneProcess::keep(const OfOneProcess& inherited) noexcept {
  const OfOneProcess* first =
      inherited_objects.load(std::memory_order_relaxed);  // relaxed: a guess
  do {
    inherited.kept_next_ = first;
    // relaxed: no thread follows the list.
  } while (!inherited_objects.compare_exchange_weak(first, &inherited, std::memory_order_relaxed));
}

}  // namespace meterbank
