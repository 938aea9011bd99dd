// SPDX-License-Identifier: Apache-2.0
//
// What stands behind the handles of publisher.h.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "meterbank/border/handle_table.hpp"
#include "meterbank/c/publisher.h"
#include "meterbank/publisher/provider.hpp"

namespace meterbank::border {

// A writer of an instance, with what C++ users of it do not need to see.
class WriterParts : public InstanceWriter {
 public:
  explicit WriterParts(const InstanceWriter& writer) noexcept : InstanceWriter(writer) {}

  [[nodiscard]] const BlockWriter<StdAtomics>& writer() const noexcept { return writer_; }
  [[nodiscard]] CounterPlace place_of(std::uint32_t counter) const noexcept {
    return detail::place_of(slot_.life(), counter);
  }
};

// An instance that C code has a number for. It keeps the slot until it is destroyed, so that
// structs which C code has copied count into nothing after close().
template <typename Owner, typename Parts>
class Held {
 public:
  explicit Held(Owner owner) : owner_(std::move(owner)), parts_(owner_), id_(owner_.id()) {}
  // One that was found, not created: another one owns it.
  template <typename Writer>
  explicit Held(const Writer& found) : parts_(found) {}

  void close() noexcept {
    // relaxed: it only tells the first call from the others.
    if (!is_closed_.exchange(true, std::memory_order_relaxed)) owner_.close();
  }
  [[nodiscard]] Parts& parts() noexcept { return parts_; }
  [[nodiscard]] std::uint32_t id() const noexcept { return id_; }

 private:
  std::atomic<bool> is_closed_{false};
  Owner owner_;
  Parts parts_;
  const std::uint32_t id_ = kAnyInstanceId;
};

template <typename H>
void close_held(HandleTable<H>& table, std::uint64_t number) noexcept {
  static_cast<void>(cross(nullptr, [&]() -> Outcome<void> {
    if (const auto held = table.find(number)) (*held)->close();
    return {};
  }));
}
template <typename H>
void free_held(HandleTable<H>& table, std::uint64_t number) noexcept {
  static_cast<void>(cross(nullptr, [&]() -> Outcome<void> {
    if (const auto held = table.remove(number)) held->close();
    return {};
  }));
}
template <typename H>
[[nodiscard]] std::uint32_t id_of_held(HandleTable<H>& table, std::uint64_t number) noexcept {
  std::uint32_t id = kAnyInstanceId;
  static_cast<void>(cross(nullptr, [&]() -> Outcome<void> {
    if (const auto held = table.find(number)) id = (*held)->id();
    return {};
  }));
  return id;
}

using HeldInstance = Held<Instance, WriterParts>;

extern HandleTable<Provider> providers;
extern HandleTable<Registration> sets;
extern HandleTable<HeldInstance> instances;

[[nodiscard]] inline std::string_view text_of(const char* text) noexcept {
  return text == nullptr ? std::string_view() : std::string_view(text);
}

// Sets what a function makes to nothing, before anything can fail. Error: it is NULL.
template <typename Made>
[[nodiscard]] Outcome<void> clear(Made* made, std::string_view name) {
  if (made == nullptr) {
    return refuse(MB_INVALID_ARGUMENT, std::string(name) + " is NULL",
                  "pass where the result is to be stored");
  }
  *made = Made();
  return {};
}

// The number of the new set, 0 of a disabled provider.
[[nodiscard]] Outcome<std::uint64_t> add_set(
    mb_provider* provider, const mb_counterset_spec* spec,
    std::optional<std::pair<Callback, CallbackOptions>> with);

[[nodiscard]] Outcome<InstanceOptions> read_options(const mb_instance_options* given);

// The specification in C++ terms, which refers to the texts of `spec` and to `counters`.
[[nodiscard]] Outcome<CountersetSpec> read_spec(const mb_counterset_spec* spec,
                                                std::vector<CounterSpec>& counters);

}  // namespace meterbank::border
