// SPDX-License-Identifier: Apache-2.0
#include "cli/arguments/option_values.hpp"

#include <fmt/format.h>

#include <charconv>

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
