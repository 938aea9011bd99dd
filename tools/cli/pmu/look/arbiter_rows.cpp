// SPDX-License-Identifier: Apache-2.0
#include "cli/pmu/look/arbiter_rows.hpp"

#include <fmt/format.h>

#include "meterbank/reader/catalog.hpp"
#include "meterbank/reader/query.hpp"
#include "meterbank/reader/sample.hpp"

namespace meterbank::cli {
namespace {

constexpr const char* kProvider = "pmud";

}  // namespace

std::string ArbiterRow::text(std::string_view symbol) const {
  const auto found = texts.find(symbol);
  return found == texts.end() ? std::string() : found->second;
}

std::uint64_t ArbiterRow::number(std::string_view symbol) const {
  const auto found = numbers.find(symbol);
  return found == numbers.end() ? 0 : found->second;
}

Result<std::map<std::string, std::vector<ArbiterRow>, std::less<>>> read_arbiter_rows(
    const std::string& directory) {
  const auto catalog = Catalog::open({.directory = directory});
  if (!catalog) return tl::make_unexpected(catalog.error());
  // One that was killed leaves its record.
  const auto& providers = catalog->providers();
  const ProviderView* live = nullptr;
  for (const auto& provider : providers) {
    if (provider->name != kProvider || !is_alive(provider->state)) continue;
    // Any user may call a provider so.
    if (live == nullptr || comes_before(*provider, *live)) live = provider.get();
  }
  if (live == nullptr) {
    return fail(ErrorCode::kNotFound, fmt::format("no arbiter publishes in {}", directory),
                "meterbank doctor --dir " + directory);
  }
  const std::string label = live->label();
  auto query = Query::compile(
      *catalog, {label + ":pmu_lease", label + ":pmu_waiter", label + ":pmu_outsider"});
  if (!query) return tl::make_unexpected(query.error());
  Sample sample;
  query->collect(sample);
  std::map<std::string, std::vector<ArbiterRow>, std::less<>> rows;
  for (const Row& row : sample) {
    ArbiterRow& of_row = rows[row.set().symbol].emplace_back();
    if (!holds_values(row.status) || row.status == RowStatus::kClosed) continue;
    for (const Value& value : row) {
      if (value.text) {
        of_row.texts[value.symbol()] = *value.text;
      } else {
        of_row.numbers[value.symbol()] = value.raw.value;
      }
    }
  }
  for (auto& [set, of_set] : rows) {
    std::erase_if(of_set, [](const ArbiterRow& row) { return row.numbers.empty(); });
  }
  return rows;
}

}  // namespace meterbank::cli
