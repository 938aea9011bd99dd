// SPDX-License-Identifier: Apache-2.0
#include "cli/distribution/distribution_json.hpp"

#include <cmath>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/distribution/percentiles.hpp"
#include "cli/format/quantity.hpp"

namespace meterbank::cli {
namespace {

// "percentiles", and "beyond" for those of which only the end of the buckets is known.
template <typename InBase>
void write_percentiles(const Distribution& seen, const RowStyle& style, InBase&& in_base,
                       JsonWriter& json) {
  std::vector<std::pair<std::string, std::string_view>> beyond;
  json.key("percentiles").begin_object();
  for (const Percentile& percentile : style.percentiles) {
    const auto name = percent_text(percentile);
    json.key(name);
    const auto found = seen.quantile(percentile.share);
    if (!found) {
      json.null();
      continue;
    }
    json.number_or_null(in_base(found->value));
    if (found->side == Quantile::Side::kBelow) beyond.emplace_back(name, "below");
    if (found->side == Quantile::Side::kAbove) beyond.emplace_back(name, "above");
  }
  json.end_object();
  if (beyond.empty()) return;
  json.key("beyond").begin_object();
  for (const auto& [name, side] : beyond) json.key(name).text(side);
  json.end_object();
}

}  // namespace

void write_distribution(const Value& row, const RowStyle& style, JsonWriter& json) {
  const Distribution& seen = *row.distribution;
  const auto& stored = row.counter->unit;
  const auto in_base = [&](double value) { return in_base_unit(value, stored).value; };
  // Infinity is a value that can be recorded and that JSON has no word for.
  const auto put_known = [&](const char* key, const std::optional<double>& value) {
    if (value && std::isfinite(*value)) json.key(key).number(in_base(*value));
  };
  json.key("distribution").begin_object();
  json.key("unit").text(in_base_unit(0, stored).unit);
  json.key("count").number(seen.count);
  json.key("sum").number_or_null(in_base(seen.sum));
  json.key("mean");
  if (seen.count == 0) {
    json.null();
  } else {
    json.number_or_null(in_base(seen.sum / static_cast<double>(seen.count)));
  }
  put_known("min", seen.least);
  put_known("max", seen.most);
  json.key("below").number(seen.below).key("above").number(seen.above);
  json.key("refused").number(seen.refused);
  json.key("scale").number(std::int64_t{seen.shape.scale});
  json.key("error").number(seen.error_bound());
  write_percentiles(seen, style, in_base, json);
  if (style.histograms) {
    json.key("buckets").begin_array();
    for (std::uint32_t position = 0; position < seen.shape.buckets; ++position) {
      if (seen.buckets[position] == 0) continue;
      const std::int32_t index = seen.shape.first + static_cast<std::int32_t>(position);
      json.begin_array();
      json.number_or_null(in_base(bucket_bound(index, seen.shape.scale)));
      json.number_or_null(in_base(bucket_bound(index + 1, seen.shape.scale)));
      json.number(seen.buckets[position]).end_array();
    }
    json.end_array();
  }
  json.end_object();
}

}  // namespace meterbank::cli
