// SPDX-License-Identifier: Apache-2.0
#include "exposition/page/page_options.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <span>
#include <system_error>

#include "meterbank/base/fnv1a.hpp"

namespace meterbank::exposition {
namespace {

std::uint64_t hash_of(std::string_view text) noexcept {
  Fnv1a hash;
  hash.add(std::as_bytes(std::span(text)));
  return hash.value();
}

bool any_matches(const std::vector<Glob>& patterns, std::string_view text) noexcept {
  return std::any_of(patterns.begin(), patterns.end(),
                     [text](const Glob& pattern) { return pattern.matches(text); });
}

}  // namespace

std::optional<std::vector<double>> parse_buckets(std::string_view text) {
  std::vector<double> buckets;
  while (true) {
    const std::size_t end = std::min(text.find(','), text.size());
    double bound = 0;
    const auto [rest, error] = std::from_chars(text.data(), text.data() + end, bound);
    const bool is_number = error == std::errc{} && rest == text.data() + end;
    const bool is_larger = bound > (buckets.empty() ? 0 : buckets.back()) && std::isfinite(bound);
    if (!is_number || !is_larger || buckets.size() == kBucketsMax) return std::nullopt;
    buckets.push_back(bound);
    if (end == text.size()) return buckets;
    text.remove_prefix(end + 1);
  }
}

bool PageOptions::has(const RowBlock& block) const noexcept {
  const bool is_set =
      sets.empty() || any_matches(sets, block.set->name) || any_matches(sets, block.set->symbol);
  return is_set && has_provider(block.provider_name);
}

bool PageOptions::has_provider(std::string_view name) const noexcept {
  const bool is_host = name == kHostProvider;
  if (host == (is_host ? HostRows::kWithout : HostRows::kAlone)) return false;
  return providers.empty() || any_matches(providers, name);
}

bool PageOptions::has(const PlainSeries& series) const noexcept {
  if (shard != 0) return false;
  const auto provider = std::find_if(series.labels.begin(), series.labels.end(),
                                     [](const Label& label) { return label.name == "provider"; });
  return provider == series.labels.end() || has_provider(provider->value);
}

bool PageOptions::has_name(std::string_view family, std::string_view sample) const noexcept {
  return names.empty() || any_matches(names, family) || any_matches(names, sample);
}

bool PageOptions::has(const RowBlock& block, std::size_t row) const noexcept {
  const RowPlace place = block.places[row];
  if (place == RowPlace::kRepeated) return false;
  if (instances.empty()) {
    if (place == RowPlace::kTotal && !totals) return false;
  } else if (row >= block.instances.size() || !any_matches(instances, block.instances[row])) {
    return false;
  }
  return shards == 1 || hash_of(block.texts[row]) % shards == shard;
}

}  // namespace meterbank::exposition
