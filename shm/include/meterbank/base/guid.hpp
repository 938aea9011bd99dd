// SPDX-License-Identifier: Apache-2.0
//
// The 128-bit name of a counterset, in the field order and text form Windows uses.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace meterbank {

struct Guid {
  std::uint32_t part1 = 0;
  std::uint16_t part2 = 0;
  std::uint16_t part3 = 0;
  std::array<std::uint8_t, 8> part4{};

  friend constexpr auto operator<=>(const Guid&, const Guid&) = default;

  // Accepts 8-4-4-4-12 hexadecimal digits, with or without braces.
  static constexpr std::optional<Guid> parse(std::string_view text) noexcept;

  // "{b4fc721a-0378-476f-89ba-a5a79f810b36}"
  [[nodiscard]] std::string text() const;

  // Name-based GUID (RFC 4122 version 5) for a set that was declared without one.
  static Guid from_name(std::string_view provider, std::string_view set);

  [[nodiscard]] constexpr bool is_zero() const noexcept { return *this == Guid{}; }
};
static_assert(offsetof(Guid, part1) == 0);
static_assert(offsetof(Guid, part2) == 4);
static_assert(offsetof(Guid, part3) == 6);
static_assert(offsetof(Guid, part4) == 8);
static_assert(sizeof(Guid) == 16);

namespace detail {
constexpr int hex_digit(char c) noexcept {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}
}  // namespace detail

constexpr std::optional<Guid> Guid::parse(std::string_view text) noexcept {
  if (text.size() == 38 && text.front() == '{' && text.back() == '}') text = text.substr(1, 36);
  if (text.size() != 36) return std::nullopt;
  std::array<std::uint8_t, 16> bytes{};
  std::size_t digits = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool dash_here = i == 8 || i == 13 || i == 18 || i == 23;
    if (dash_here != (text[i] == '-')) return std::nullopt;
    if (dash_here) continue;
    const int digit = detail::hex_digit(text[i]);
    if (digit < 0) return std::nullopt;
    auto& byte = bytes[digits / 2];
    byte = static_cast<std::uint8_t>((byte << 4) | digit);
    ++digits;
  }
  Guid guid;
  for (std::size_t i = 0; i < 4; ++i) guid.part1 = (guid.part1 << 8) | bytes[i];
  guid.part2 = static_cast<std::uint16_t>((bytes[4] << 8) | bytes[5]);
  guid.part3 = static_cast<std::uint16_t>((bytes[6] << 8) | bytes[7]);
  for (std::size_t i = 0; i < 8; ++i) guid.part4[i] = bytes[8 + i];
  return guid;
}

namespace detail {
// Not defined: to call it in a constant expression is an error, with and without exceptions.
void malformed_guid_literal();
}  // namespace detail

// For constants in source: a malformed literal does not compile.
consteval Guid operator""_guid(const char* text, std::size_t size) {
  const auto guid = Guid::parse({text, size});
  if (!guid) detail::malformed_guid_literal();
  return *guid;
}

}  // namespace meterbank
