// SPDX-License-Identifier: Apache-2.0
//
// How a PMU's events are written as numbers, as its folders `format` and `events` in sysfs say.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace meterbank::arbiter {

// What perf_event_open is told of an event.
struct EventCode {
  std::uint32_t type = 0;
  std::array<std::uint64_t, 3> words = {};  // config, config1, config2
  friend bool operator==(const EventCode&, const EventCode&) = default;
};

// "config:0-7,32-35": the value's bits, lowest first, go to these places.
struct FormatField {
  std::uint32_t word = 0;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> ranges;  // both included

  [[nodiscard]] static std::optional<FormatField> parse(std::string_view text);
  // False: the value has more bits than the field.
  bool put(std::uint64_t value, EventCode& code) const noexcept;
  [[nodiscard]] std::uint64_t get(const EventCode& code) const noexcept;
};

class EventFormat {
 public:
  void add(const std::string& name, FormatField field);
  // "event=0x3c,umask=0x01,edge". Nothing where a field is unknown, a value is too large, or one
  // is left to the caller ("core=?").
  [[nodiscard]] std::optional<EventCode> encode(std::uint32_t type, std::string_view terms) const;
  [[nodiscard]] std::optional<EventCode> encode(std::uint32_t type, std::uint32_t code,
                                                std::uint32_t unit_mask) const;
  [[nodiscard]] std::uint32_t code_of(const EventCode& code) const;
  [[nodiscard]] std::uint32_t unit_mask_of(const EventCode& code) const;

 private:
  [[nodiscard]] const FormatField* find(std::string_view name) const;

  std::map<std::string, FormatField, std::less<>> fields_;
};

// Decimal, or hexadecimal after 0x. Nothing: it is no such number.
[[nodiscard]] std::optional<std::uint64_t> parse_number(std::string_view text) noexcept;

}  // namespace meterbank::arbiter
