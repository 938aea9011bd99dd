// SPDX-License-Identifier: Apache-2.0
//
// What a page is to contain, beyond what its query selects.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "exposition/page/page_layout.hpp"
#include "exposition/page/plain_family.hpp"
#include "meterbank/reader/glob.hpp"

namespace meterbank::exposition {

// The provider of this machine's counters, which `meterbank host` is unless it is given a name.
inline constexpr std::string_view kHostProvider = "host";
enum class HostRows : std::uint8_t { kWith, kWithout, kAlone };

// "0.001,0.01": at most kBucketsMax finite positive numbers, ascending. Nothing if it is not such a
// list.
inline constexpr std::size_t kBucketsMax = 512;
[[nodiscard]] std::optional<std::vector<double>> parse_buckets(std::string_view text);

// Pages of one text that follow one another in time, as a server that fills its past takes them.
struct PageSequence {
  std::string timestamp;              // of the page that is written: behind each value
  std::set<std::string> described;    // families whose type has been said
  std::vector<bool> left_out_blocks;  // of the layout; those beyond its end are not left out

  [[nodiscard]] bool has(std::size_t block) const noexcept {
    return block >= left_out_blocks.size() || !left_out_blocks[block];
  }
};

// Each list: any of its patterns matches; an empty list matches everything.
class PageOptions {
 public:
  std::vector<Glob> sets;       // name or symbol of the counterset
  std::vector<Glob> names;      // name of a family, with or without "_total"
  std::vector<Glob> instances;  // rows without a name are left out, if there are any
  std::vector<Glob> providers;
  HostRows host = HostRows::kWith;
  // Also rows that are the totals of others, where `instances` is empty.
  bool totals = false;
  // One of `shards` parts of all rows. A row is always in the same part.
  std::uint32_t shard = 0, shards = 1;
  // Upper ends of the buckets of histograms in text formats, ascending, in the unit of the
  // histogram. The bucket of everything is always there.
  std::vector<double> buckets;
  // Not null: the page is one of these, and another may follow. Outlives the page.
  PageSequence* sequence = nullptr;

  [[nodiscard]] bool has(const RowBlock& block) const noexcept;
  [[nodiscard]] bool has_name(std::string_view family, std::string_view sample) const noexcept;
  // Precondition, of both: has(block).
  [[nodiscard]] bool has(const RowBlock& block, std::size_t row) const noexcept;
  // True: each row of the block, without a look at any of them.
  [[nodiscard]] bool has_all(const RowBlock& block) const noexcept {
    return block.are_all_shown && instances.empty() && shards == 1;
  }
  // Series that belong to no row are in the first part.
  [[nodiscard]] bool has(const PlainSeries& series) const noexcept;

 private:
  [[nodiscard]] bool has_provider(std::string_view name) const noexcept;
};

}  // namespace meterbank::exposition
