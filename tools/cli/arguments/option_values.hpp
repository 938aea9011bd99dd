// SPDX-License-Identifier: Apache-2.0
//
// What stands behind an option, understood. Of what was not said, which is an empty word, targets
// stay as they are. All errors are usage errors.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "meterbank/base/result.hpp"

namespace meterbank::cli {

[[nodiscard]] tl::unexpected<Error> usage(std::string what, std::string remedy);

[[nodiscard]] Result<void> read_span(std::string_view word, const char* option,
                                     std::optional<std::chrono::nanoseconds>& target);
[[nodiscard]] Result<void> read_number(std::string_view word, const char* option,
                                       std::optional<std::uint64_t>& target);
// "64M": bytes with K, M, G or T for powers of 1,024, in either case.
[[nodiscard]] Result<void> read_bytes(std::string_view word, const char* option,
                                      std::optional<std::uint64_t>& target);
// As read_bytes() takes it.
[[nodiscard]] std::string bytes_text(std::uint64_t bytes);
// All of `word` as one number of this base; nothing if it is not a number or too great.
[[nodiscard]] std::optional<std::uint64_t> whole_number(std::string_view word, int base = 10);

// Which of `names` it is; the error has the nearest one.
[[nodiscard]] Result<std::size_t> choose_name(std::string_view word, const char* option,
                                              std::span<const char* const> names);

template <typename T>
[[nodiscard]] Result<void> choose(std::string_view word, const char* option,
                                  std::initializer_list<std::pair<const char*, T>> choices,
                                  T& target) {
  if (word.empty()) return {};
  std::vector<const char*> names;
  for (const auto& choice : choices) names.push_back(choice.first);
  const auto place = choose_name(word, option, names);
  if (!place) return tl::make_unexpected(place.error());
  target = (choices.begin() + *place)->second;
  return {};
}

}  // namespace meterbank::cli
