// SPDX-License-Identifier: Apache-2.0
//
// Numbers and texts as bytes: variable-length numbers of seven bits a byte, least significant
// first; signed ones with the sign in the lowest bit; texts with their length before them.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

namespace meterbank::recording {

[[nodiscard]] constexpr std::uint64_t zigzag(std::int64_t value) noexcept {
  return (static_cast<std::uint64_t>(value) << 1U) ^ static_cast<std::uint64_t>(value >> 63U);
}
[[nodiscard]] constexpr std::int64_t unzigzag(std::uint64_t value) noexcept {
  return static_cast<std::int64_t>(value >> 1U) ^ -static_cast<std::int64_t>(value & 1U);
}

class ByteWriter {
 public:
  explicit ByteWriter(std::string& out) noexcept : out_(&out) {}

  void number(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7U) out_->push_back(static_cast<char>(value | 0x80U));
    out_->push_back(static_cast<char>(value));
  }
  void signed_number(std::int64_t value) { number(zigzag(value)); }
  // How much larger `value` is than `before`, both modulo 2^64.
  void difference(std::uint64_t value, std::uint64_t before) {
    signed_number(static_cast<std::int64_t>(value - before));
  }
  void text(std::string_view text) {
    number(text.size());
    out_->append(text);
  }
  void append(std::string_view bytes) { out_->append(bytes); }
  template <typename T>
  void raw(const T& value) {
    out_->append(reinterpret_cast<const char*>(&value), sizeof value);
  }

 private:
  std::string* out_;
};

// Once it has failed, it gives zeros and empty texts.
class ByteReader {
 public:
  explicit ByteReader(std::span<const std::byte> bytes) noexcept : rest_(bytes) {}

  [[nodiscard]] std::uint64_t number() noexcept {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
      const auto byte = std::to_integer<std::uint64_t>(rest_.front());
      rest_ = rest_.subspan(1);
      value |= (byte & 0x7fU) << shift;
      if (byte < 0x80) return value;
    }
    fail();
    return 0;
  }
  [[nodiscard]] std::int64_t signed_number() noexcept { return unzigzag(number()); }
  [[nodiscard]] std::uint64_t after(std::uint64_t before) noexcept {
    return before + static_cast<std::uint64_t>(signed_number());
  }
  // A number that must be below `limit`.
  [[nodiscard]] std::uint64_t number_below(std::uint64_t limit) noexcept {
    const std::uint64_t value = number();
    if (value < limit) return value;
    fail();
    return 0;
  }
  [[nodiscard]] std::string_view text(std::size_t bytes_max) noexcept {
    const std::uint64_t bytes = number();
    if (bytes > bytes_max || bytes > rest_.size()) {
      fail();
      return {};
    }
    const auto text = rest_.first(bytes);
    rest_ = rest_.subspan(bytes);
    return {reinterpret_cast<const char*>(text.data()), text.size()};
  }
  template <typename T>
  [[nodiscard]] T raw() noexcept {
    T value{};
    if (rest_.size() < sizeof value) {
      fail();
      return value;
    }
    std::memcpy(&value, rest_.data(), sizeof value);
    rest_ = rest_.subspan(sizeof value);
    return value;
  }
  void skip(std::size_t bytes) noexcept {
    if (bytes > rest_.size()) return fail();
    rest_ = rest_.subspan(bytes);
  }
  [[nodiscard]] std::span<const std::byte> rest() const noexcept { return rest_; }
  [[nodiscard]] bool failed() const noexcept { return failed_; }
  [[nodiscard]] bool is_at_end() const noexcept { return !failed_ && rest_.empty(); }
  void fail() noexcept {
    failed_ = true;
    rest_ = {};
  }

 private:
  std::span<const std::byte> rest_;
  bool failed_ = false;
};

}  // namespace meterbank::recording
