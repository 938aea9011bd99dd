// SPDX-License-Identifier: Apache-2.0
//
// The parts of a PDH path, as its text has them: wildcards are characters like any other here.
// This is the one place that knows how a path says which of several instances of one name it means:
// `name#1` is the second.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "pdh.h"

namespace meterbank::pdh {

inline constexpr DWORD kNoIndex = 0xffffffff;

struct PathElements {
  std::string machine;  // without backslashes; empty: none was written
  std::string object;
  std::optional<std::string> parent;    // only with an instance
  std::optional<std::string> instance;  // nothing: no parentheses
  std::optional<std::uint32_t> index;   // kAnyInstanceIndex is `#*`
  std::string counter;

  // `parent/instance` or the instance, as it is published; empty without one.
  [[nodiscard]] std::string whole_instance() const;
};

// The path of a counter in the Windows spelling. Nothing: it is not a path.
[[nodiscard]] std::optional<PathElements> parse_elements(std::string_view path);

// Nothing if an object or a counter is missing, or if the text would not be read as these elements.
[[nodiscard]] std::optional<std::string> print_elements(const PathElements& elements);

// `parent/instance#index`, what stands between the parentheses of a path.
struct InstanceElements {
  std::string instance;
  std::optional<std::string> parent;
  std::optional<std::uint32_t> index;
};
[[nodiscard]] std::optional<InstanceElements> parse_instance(std::string_view text);

// The name of an instance that has `number` others of its name before it.
[[nodiscard]] std::string numbered_name(std::string_view name, std::uint32_t number);

[[nodiscard]] bool has_wildcard(std::string_view text) noexcept;

}  // namespace meterbank::pdh
