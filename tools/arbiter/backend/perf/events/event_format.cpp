// SPDX-License-Identifier: Apache-2.0
#include "arbiter/backend/perf/events/event_format.hpp"

#include <charconv>

namespace meterbank::arbiter {
namespace {

// The part of `text` up to `separator`; `text` goes on behind it.
[[nodiscard]] std::string_view take_until(std::string_view& text, char separator) noexcept {
  const std::size_t end = text.find(separator);
  const std::string_view part = text.substr(0, end);
  text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  return part;
}

[[nodiscard]] std::uint64_t mask_of(std::uint32_t bits) noexcept {
  return bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
}

}  // namespace

std::optional<std::uint64_t> parse_number(std::string_view text) noexcept {
  const bool is_hexadecimal = text.starts_with("0x") || text.starts_with("0X");
  if (is_hexadecimal) text.remove_prefix(2);
  std::uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, fault] = std::from_chars(text.data(), end, value, is_hexadecimal ? 16 : 10);
  if (fault != std::errc() || stop != end) return std::nullopt;
  return value;
}

std::optional<FormatField> FormatField::parse(std::string_view text) {
  static constexpr std::array<std::string_view, 3> kWords = {"config", "config1", "config2"};
  FormatField field;
  const std::string_view word = take_until(text, ':');
  while (field.word < kWords.size() && kWords[field.word] != word) ++field.word;
  if (field.word == kWords.size()) return std::nullopt;
  std::uint32_t bits = 0;
  while (!text.empty()) {
    std::string_view range = take_until(text, ',');
    const std::optional<std::uint64_t> first = parse_number(take_until(range, '-'));
    const std::optional<std::uint64_t> last = range.empty() ? first : parse_number(range);
    if (!first.has_value() || !last.has_value()) return std::nullopt;
    if (*last > 63 || *first > *last) return std::nullopt;
    bits += static_cast<std::uint32_t>(*last - *first) + 1;
    if (bits > 64) return std::nullopt;
    field.ranges.emplace_back(static_cast<std::uint32_t>(*first),
                              static_cast<std::uint32_t>(*last));
  }
  if (field.ranges.empty()) return std::nullopt;
  return field;
}

bool FormatField::put(std::uint64_t value, EventCode& code) const noexcept {
  for (const auto& [first, last] : ranges) {
    const std::uint32_t bits = last - first + 1;
    code.words[word] |= (value & mask_of(bits)) << first;
    value = bits >= 64 ? 0 : value >> bits;
  }
  return value == 0;
}

std::uint64_t FormatField::get(const EventCode& code) const noexcept {
  std::uint64_t value = 0;
  std::uint32_t position = 0;
  for (const auto& [first, last] : ranges) {
    const std::uint32_t bits = last - first + 1;
    value |= (code.words[word] >> first & mask_of(bits)) << position;
    position += bits;
  }
  return value;
}

void EventFormat::add(const std::string& name, FormatField field) {
  fields_.insert_or_assign(name, std::move(field));
}

const FormatField* EventFormat::find(std::string_view name) const {
  const auto found = fields_.find(name);
  return found == fields_.end() ? nullptr : &found->second;
}

std::optional<EventCode> EventFormat::encode(std::uint32_t type, std::string_view terms) const {
  EventCode code{.type = type};
  if (terms.empty()) return std::nullopt;
  while (!terms.empty()) {
    std::string_view text = take_until(terms, ',');
    const bool has_value = text.find('=') != std::string_view::npos;
    const std::string_view name = take_until(text, '=');
    const std::optional<std::uint64_t> value = has_value ? parse_number(text) : 1;
    if (!value.has_value()) return std::nullopt;
    if (name == "config") {
      code.words[0] |= *value;
      continue;
    }
    const FormatField* const field = find(name);
    if (field == nullptr || !field->put(*value, code)) return std::nullopt;
  }
  return code;
}

std::optional<EventCode> EventFormat::encode(std::uint32_t type, std::uint32_t code,
                                             std::uint32_t unit_mask) const {
  // The usual places, for PMUs that do not say where theirs are.
  static const FormatField usual_event = *FormatField::parse("config:0-7");
  static const FormatField usual_unit_mask = *FormatField::parse("config:8-15");
  const FormatField* const event = find("event");
  const FormatField* const umask = find("umask");
  EventCode result{.type = type};
  if (!(event == nullptr ? usual_event : *event).put(code, result)) return std::nullopt;
  if (unit_mask == 0) return result;
  // A PMU that says what its event field is, and has no unit mask, has none.
  if (umask == nullptr && event != nullptr) return std::nullopt;
  if (!(umask == nullptr ? usual_unit_mask : *umask).put(unit_mask, result)) return std::nullopt;
  return result;
}

std::uint32_t EventFormat::code_of(const EventCode& code) const {
  const FormatField* const event = find("event");
  return static_cast<std::uint32_t>(event == nullptr ? code.words[0] & 0xff : event->get(code));
}

std::uint32_t EventFormat::unit_mask_of(const EventCode& code) const {
  const FormatField* const umask = find("umask");
  return umask == nullptr ? 0 : static_cast<std::uint32_t>(umask->get(code));
}

}  // namespace meterbank::arbiter
