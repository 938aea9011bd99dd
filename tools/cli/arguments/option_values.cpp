// SPDX-License-Identifier: Apache-2.0
#include "cli/arguments/option_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

#include "cli/format/time_text.hpp"
#include "meterbank/reader/suggest.hpp"

namespace meterbank::cli {

tl::unexpected<Error> usage(std::string what, std::string remedy) {
  return fail(ErrorCode::kInvalidArgument, std::move(what), std::move(remedy));
}

Result<void> read_span(std::string_view word, const char* option,
                       std::optional<std::chrono::nanoseconds>& target) {
  if (word.empty()) return {};
  target = parse_duration(word);
  if (target) return {};
  return usage(fmt::format("{}: '{}' is not a time span", option, word), "250ms, 5m or 00:01:30");
}

std::optional<std::uint64_t> whole_number(std::string_view word, int base) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number, base);
  if (error != std::errc{} || end != word.data() + word.size()) return std::nullopt;
  return number;
}

Result<void> read_number(std::string_view word, const char* option,
                         std::optional<std::uint64_t>& target) {
  if (word.empty()) return {};
  target = whole_number(word);
  if (target) return {};
  return usage(fmt::format("{}: '{}' is not a number", option, word), "0, 1, 2 ...");
}

Result<void> read_bytes(std::string_view word, const char* option,
                        std::optional<std::uint64_t>& target) {
  if (word.empty()) return {};
  constexpr std::string_view kSuffixes = "KMGT", kSmallSuffixes = "kmgt";
  const auto place = std::min(kSuffixes.find(word.back()), kSmallSuffixes.find(word.back()));
  const bool is_scaled = place != std::string_view::npos;
  const auto shift = is_scaled ? 10 * (place + 1) : 0;
  const auto number = whole_number(is_scaled ? word.substr(0, word.size() - 1) : word);
  if (!number || *number > std::numeric_limits<std::uint64_t>::max() >> shift) {
    return usage(fmt::format("{}: '{}' is not a number of bytes", option, word), "64M, 2G ...");
  }
  target = *number << shift;
  return {};
}

std::string bytes_text(std::uint64_t bytes) {
  std::size_t steps = 0;
  while (steps < 4 && bytes != 0 && bytes % 1024 == 0) {
    bytes /= 1024;
    ++steps;
  }
  constexpr std::array kSuffixes{"", "K", "M", "G", "T"};
  return std::to_string(bytes) + kSuffixes[steps];
}

Result<std::size_t> choose_name(std::string_view word, const char* option,
                                std::span<const char* const> names) {
  NearestName nearest(word);
  for (std::size_t place = 0; place < names.size(); ++place) {
    if (word == names[place]) return place;
    nearest.consider(names[place]);
  }
  return usage(fmt::format("{}: no '{}'", option, word),
               nearest.best().value_or(fmt::format("{}", fmt::join(names, ", "))));
}

}  // namespace meterbank::cli
