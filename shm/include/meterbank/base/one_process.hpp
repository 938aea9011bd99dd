// SPDX-License-Identifier: Apache-2.0
//
// Objects of one process. A child that copied the memory of its parent has the objects, but not the
// threads that serve them, nor what they are registered for in files and sockets.
//
// fork() tells a library of it, _Fork() and clone() do not. So the process has a mark: a number on
// a page that the kernel clears in every such child (MADV_WIPEONFORK). A child that shares its
// parent's memory, as of vfork(), is the same process here.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "meterbank/base/without_cancellation.hpp"

namespace meterbank {

// Differs from that of every process that this one descends from. No system call after the first.
// Thread safety: any thread. Progress: lock-free.
[[nodiscard]] std::uint64_t process_mark() noexcept;

// In the child of a fork(), for kernels and emulators that do not clear the page.
void forget_process_mark() noexcept;

class OfOneProcess {
 public:
  OfOneProcess(const OfOneProcess&) = delete;
  OfOneProcess& operator=(const OfOneProcess&) = delete;

  // Whether it was made in another process and this one copied it.
  [[nodiscard]] bool is_inherited() const noexcept { return made_in_ != process_mark(); }

  // Keeps an inherited object for ever, where tools that look for lost memory find it.
  static void keep(const OfOneProcess& inherited) noexcept;

 protected:
  OfOneProcess() noexcept : made_in_(process_mark()) {}
  ~OfOneProcess() = default;

 private:
  const std::uint64_t made_in_;
  mutable const OfOneProcess* kept_next_ = nullptr;
};

// A shared object that only its own process destroys. A destructor in a child would wait for
// threads that are not there, or join them.
template <typename T, typename... Arguments>
[[nodiscard]] std::shared_ptr<T> make_of_one_process(Arguments&&... arguments) {
  return std::shared_ptr<T>(new T(std::forward<Arguments>(arguments)...), [](T* object) noexcept {
    if (object->is_inherited()) {
      OfOneProcess::keep(*object);
    } else {
      const WithoutCancellation whole;
      delete object;
    }
  });
}

}  // namespace meterbank
