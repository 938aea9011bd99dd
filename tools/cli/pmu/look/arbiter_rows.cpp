// SPDX-License-Identifier: Apache-2.0
#include "cli/pmu/look/arbiter_rows.hpp"

#include <fmt/format.h>

#include "meterbank/reader/catalog.hpp"
#include "meterbank/reader/cook.hpp"
#include "meterbank/reader/query.hpp"

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
  const InstanceView* instance = nullptr;
  for (const CookedRow& cooked : cook(nullptr, sample)) {
    auto& of_set = rows[cooked.selection->set->set->symbol];
    if (cooked.instance != instance) of_set.emplace_back();
    instance = cooked.instance;
    if (!holds_values(cooked.row_status) || cooked.row_status == RowStatus::kClosed) continue;
    const std::string& symbol = cooked.counter->symbol;
    if (cooked.text != nullptr) {
      of_set.back().texts[symbol] = *cooked.text;
    } else {
      of_set.back().numbers[symbol] = cooked.raw.value;
    }
  }
  for (auto& [set, of_set] : rows) {
    std::erase_if(of_set, [](const ArbiterRow& row) { return row.numbers.empty(); });
  }
  return rows;
}

}  // namespace meterbank::cli
