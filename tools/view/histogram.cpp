// SPDX-License-Identifier: Apache-2.0
//
// The newest distribution of a picture.
#include <fmt/format.h>

#include <algorithm>

#include "cli/distribution/percentiles.hpp"
#include "cli/format/quantity.hpp"
#include "view/board_state.hpp"

namespace meterbank::view {
namespace {

constexpr std::size_t kHistogramRowsMax = 40;

ColumnFacts facts_of_values(const ColumnFacts& facts) {
  ColumnFacts of_values = facts;
  of_values.unit = facts.value_unit;
  return of_values;
}

}  // namespace

std::string outside_text(const Distribution& seen, const ColumnFacts& facts, const Place& place) {
  const ColumnFacts of_values = facts_of_values(facts);
  const std::int32_t first = seen.shape.first;
  const auto end = first + static_cast<std::int32_t>(seen.shape.buckets);
  std::string text;
  const auto add = [&](std::uint64_t count, Quantile::Side side, std::int32_t bucket) {
    if (count == 0) return;
    const auto bound = number_text(of_values, bucket_bound(bucket, seen.shape.scale), place);
    const auto values = count == seen.count
                            ? cli::counted(count, "value")
                            : fmt::format("{} of {}", count, cli::counted(seen.count, "value"));
    text += fmt::format("{}{} {}{}", text.empty() ? "" : ", ", values, cli::sign_of(side, false),
                        bound);
  };
  add(seen.below, Quantile::Side::kBelow, first);
  add(seen.above, Quantile::Side::kAbove, end);
  return text;
}

Histogram histogram_of(const Distribution& seen, const ColumnFacts& facts, const Place& place) {
  Histogram histogram;
  histogram.title = clean(facts.symbol);
  histogram.unit = facts.value_unit;
  histogram.outside = outside_text(seen, facts, place);
  const ColumnFacts of_values = facts_of_values(facts);
  for (const auto& [name, share] :
       {std::pair{"p50", 0.5}, std::pair{"p90", 0.9}, std::pair{"p99", 0.99},
        std::pair{"p99.9", 0.999}, std::pair{"max", 1.0}}) {
    const auto found = seen.quantile(share);
    if (!found) continue;
    const auto sign = cli::sign_of(found->side, false);
    histogram.percentiles.push_back(
        {name, std::string(sign) + number_text(of_values, found->value, place)});
  }
  const auto is_filled = [](std::uint64_t count) { return count != 0; };
  const auto filled = std::find_if(seen.buckets.begin(), seen.buckets.end(), is_filled);
  if (filled == seen.buckets.end()) return histogram;
  const auto behind = std::find_if(seen.buckets.rbegin(), seen.buckets.rend(), is_filled).base();
  const auto least = seen.shape.first + static_cast<std::int32_t>(filled - seen.buckets.begin());
  const auto most = seen.shape.first + static_cast<std::int32_t>(behind - seen.buckets.begin()) - 1;
  int joined = 0;
  while (static_cast<std::size_t>((most >> joined) - (least >> joined)) >= kHistogramRowsMax) {
    ++joined;
  }
  histogram.counts.assign(static_cast<std::size_t>((most >> joined) - (least >> joined)) + 1, 0);
  for (auto bucket = least; bucket <= most; ++bucket) {
    histogram.counts[static_cast<std::size_t>((bucket >> joined) - (least >> joined))] +=
        static_cast<double>(seen.buckets[static_cast<std::size_t>(bucket - seen.shape.first)]);
  }
  for (auto bucket = least >> joined; bucket <= (most >> joined) + 1; ++bucket) {
    histogram.edges.push_back(bucket_bound(bucket, seen.shape.scale - joined));
  }
  return histogram;
}

}  // namespace meterbank::view
