// SPDX-License-Identifier: Apache-2.0
//
// The two shapes in which every reader hands over what it found: values that may be absent, and
// short names that need no allocation.
#pragma once

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

#include "host/probe/number_scan.hpp"

namespace meterbank::host {

// One unsigned value for each enumerator of `Field`, with a bit that says whether the kernel gave
// it. `Field` counts from zero and ends in kCount. A mask of present fields is what a schema is
// built from: a counter whose field is absent is left out instead of being a made-up zero.
template <typename Field>
class FieldValues {
 public:
  static constexpr std::size_t kFields = static_cast<std::size_t>(Field::kCount);
  static_assert(kFields <= 64, "the mask of present fields is one word");

  [[nodiscard]] static constexpr std::uint64_t mask_of(Field field) noexcept {
    return std::uint64_t{1} << static_cast<unsigned>(field);
  }

  void clear() noexcept { *this = FieldValues{}; }

  void set(Field field, std::uint64_t value) noexcept {
    values_[static_cast<std::size_t>(field)] = value;
    present_ |= mask_of(field);
  }

  void set(Field field, std::optional<std::uint64_t> value) noexcept {
    if (value) set(field, *value);
  }

  void add(Field field, std::uint64_t amount) noexcept {
    set(field, add_saturated(get(field), amount));
  }

  [[nodiscard]] bool has(Field field) const noexcept { return (present_ & mask_of(field)) != 0; }

  // Zero where the field is absent; ask has() first where that matters.
  [[nodiscard]] std::uint64_t get(Field field) const noexcept {
    return values_[static_cast<std::size_t>(field)];
  }

  [[nodiscard]] std::optional<std::uint64_t> find(Field field) const noexcept {
    if (!has(field)) return std::nullopt;
    return get(field);
  }

  [[nodiscard]] std::uint64_t present() const noexcept { return present_; }

  // Takes over every field that `other` has.
  void merge(const FieldValues& other) noexcept {
    for (std::size_t i = 0; i < kFields; ++i) {
      if (other.has(static_cast<Field>(i))) set(static_cast<Field>(i), other.values_[i]);
    }
  }

 private:
  std::array<std::uint64_t, kFields> values_{};
  std::uint64_t present_ = 0;
};

// Text of at most `Capacity` bytes, kept in place.
template <std::size_t Capacity>
class FixedText {
 public:
  FixedText() = default;
  explicit FixedText(std::string_view text) noexcept { append(text); }

  // All or nothing: a text that does not fit leaves the old one and marks it cut.
  FixedText& append(std::string_view text) noexcept {
    if (text.size() > Capacity - size_) {
      cut_ = true;
      return *this;
    }
    if (!text.empty()) std::memcpy(bytes_.data() + size_, text.data(), text.size());
    size_ += text.size();
    return *this;
  }

  FixedText& append(std::uint64_t number) noexcept {
    std::array<char, 20> digits{};
    const auto [end, failure] = std::to_chars(digits.data(), digits.data() + digits.size(), number);
    static_cast<void>(failure);  // twenty bytes hold every 64-bit number
    return append(std::string_view(digits.data(), static_cast<std::size_t>(end - digits.data())));
  }

  void clear() noexcept {
    size_ = 0;
    cut_ = false;
  }

  [[nodiscard]] std::string_view view() const noexcept { return {bytes_.data(), size_}; }
  [[nodiscard]] bool is_cut() const noexcept { return cut_; }

 private:
  std::array<char, Capacity> bytes_{};
  std::size_t size_ = 0;
  bool cut_ = false;
};

}  // namespace meterbank::host
