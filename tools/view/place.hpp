// SPDX-License-Identifier: Apache-2.0
//
// What a person looks at, as a value. A place says everything that decides a picture apart from
// the data, so a link, a bookmark and the state of a screen are one thing.
//
//   screen=set&set=demo_orders&provider=orders@48213&sort=accepted&at=1764213120.500000000
//
// Such a line is a link: what stands in the address of the page behind `?`, and in a file of
// bookmarks. Values are percent-encoded UTF-8; what is as it is by default is left out.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "meterbank/base/result.hpp"

namespace meterbank::view {

enum class Screen : std::uint8_t {
  kOverview,  // providers, their sets, what changed most, who holds hardware counters
  kSet,       // instances as rows, counters as columns
  kInstance,  // counters as rows; the chosen one as a plot, with percentiles and a heat map
};

enum class Grouping : std::uint8_t { kNone, kProvider, kLabel };

struct Place {
  Screen screen = Screen::kOverview;
  std::string provider;  // its label, "orders@48213"; empty: of all providers
  std::string set;       // its symbol
  std::string instance;  // its label, "eu" or "eu#7"
  std::string counter;   // the chosen one: "latency" or "latency.p99"; empty: the first

  std::string filter;  // rows whose words hold it; a glob if it has * or ?
  std::string sort;    // heading of a column; empty: as listed
  bool ascending = false;
  Grouping grouping = Grouping::kNone;
  std::vector<std::string> pins;  // keys of rows that stay above the others

  bool hide_zeros = false;
  bool stored = false;       // values as they are stored, in place of rates
  bool base_units = false;   // 1572864 By in place of 1.5 MiB
  bool logarithmic = false;  // values of plots

  std::optional<std::uint64_t> at_ns;  // since 1970; nothing: the newest moment
  std::chrono::nanoseconds span = std::chrono::minutes(15);  // of plots, up to the moment

  friend bool operator==(const Place&, const Place&) = default;
};

// Of everything, at the same time.
[[nodiscard]] Place overview_of(const Place& place);

// The page accepts no longer link, and a file of bookmarks no longer line.
inline constexpr std::size_t kLinkBytesMax = 16 * 1024;

[[nodiscard]] std::string link_of(const Place& place);
// Errors: kInvalidArgument, with the part that is wrong and what it may be.
[[nodiscard]] Result<Place> parse_link(std::string_view link);

}  // namespace meterbank::view
