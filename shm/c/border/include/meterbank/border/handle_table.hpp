// SPDX-License-Identifier: Apache-2.0
//
// Which numbers stand for which objects. What C code has as an opaque pointer is a number that no
// object had before, of any type, in this process or in one that it descends from. So whatever C
// code passes is either found or refused.
//
// Thread safety  All functions may be called concurrently.
// Errors         All functions: std::bad_alloc. find(): MB_BAD_HANDLE, MB_FORKED.
// Progress       One mutex a table, held for a look-up.
// Lifetime       A table can be used until the process ends. An object that was found stays at
//                least as long as the caller keeps the pointer.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "meterbank/base/one_process.hpp"
#include "meterbank/border/per_process.hpp"
#include "meterbank/border/refusal.hpp"

namespace meterbank::border {

// Differs from every number before, and is not 0. 64 bits outlast every process.
[[nodiscard]] std::uint64_t next_handle_number();
// Whether it can only have been given by a process that this one descends from.
[[nodiscard]] bool is_number_of_parent(std::uint64_t number);

// Why `number` is not a handle of a `type`, such as "provider".
[[nodiscard]] tl::unexpected<Refusal> refuse_handle(std::uint64_t number, std::string_view type);

template <typename Object>
class HandleTable {
 public:
  explicit constexpr HandleTable(std::string_view type) noexcept : type_(type) {}

  [[nodiscard]] std::uint64_t insert(std::shared_ptr<Object> object) {
    Live& live = live_.get();
    const std::uint64_t number = next_handle_number();
    const std::lock_guard lock(live.mutex);
    live.objects.emplace(number, std::move(object));
    return number;
  }

  [[nodiscard]] Outcome<std::shared_ptr<Object>> find(std::uint64_t number) {
    Live& live = live_.get();
    {
      const std::lock_guard lock(live.mutex);
      const auto found = live.objects.find(number);
      if (found != live.objects.end()) return found->second;
    }
    return refuse_handle(number, type_);
  }

  // Null: it is not there. No lock is held when the caller destroys what it gets.
  [[nodiscard]] std::shared_ptr<Object> remove(std::uint64_t number) {
    Live& live = live_.get();
    const std::lock_guard lock(live.mutex);
    const auto found = live.objects.find(number);
    if (found == live.objects.end()) return nullptr;
    std::shared_ptr<Object> object = std::move(found->second);
    live.objects.erase(found);
    return object;
  }

 private:
  struct Live final : OfOneProcess {
    std::mutex mutex;
    std::unordered_map<std::uint64_t, std::shared_ptr<Object>> objects;
  };

  std::string_view type_;
  PerProcess<Live> live_;
};

// What C code holds of a number: Opaque is a type that is never defined.
template <typename Opaque>
[[nodiscard]] Opaque* handle_of(std::uint64_t number) noexcept {
  static_assert(sizeof(Opaque*) == sizeof number);
  return reinterpret_cast<Opaque*>(static_cast<std::uintptr_t>(number));
}
template <typename Opaque>
[[nodiscard]] std::uint64_t number_of(const Opaque* handle) noexcept {
  return static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(handle));
}

}  // namespace meterbank::border
