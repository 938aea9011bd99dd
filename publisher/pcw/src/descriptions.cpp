// SPDX-License-Identifier: Apache-2.0
#include "descriptions.hpp"

#include <map>
#include <mutex>

#include "meterbank/pcw/describe.hpp"
#include "meterbank/shm/case_fold.hpp"

namespace meterbank::pcw {
namespace {

struct Descriptions {
  std::mutex mutex;
  std::map<std::string, std::shared_ptr<const OwnedSpec>, FoldedLess> by_name;
};

Descriptions& descriptions() {
  static auto* const kept = new Descriptions;  // as long as registrations may come
  return *kept;
}

// "Geometric Waves" is geometric_waves.
std::string symbol_of(std::string_view name) {
  std::string symbol;
  for (const char c : name) {
    const bool is_upper = c >= 'A' && c <= 'Z';
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    symbol += is_upper ? static_cast<char>(c - 'A' + 'a') : is_plain ? c : '_';
  }
  return symbol;
}

}  // namespace

OwnedSpec::OwnedSpec(const CountersetSpec& spec) : spec_(spec) {
  spec_.name = keep(spec.name);
  spec_.symbol = keep(spec.symbol);
  spec_.help = keep(spec.help);
  spec_.label = keep(spec.label);
  // The values are words that stand alone: they lie in the caller's memory, or are shared in place.
  spec_.consistency = Consistency::kIndependent;
  spec_.identity = InstanceIdentity::kNameAndId;  // the rule of Windows
  spec_.checkpoint = false;
  spec_.many = false;
  spec_.stamped = false;
  counters_.assign(spec.counters.begin(), spec.counters.end());
  for (CounterSpec& counter : counters_) {
    counter.name = keep(counter.name);
    counter.symbol = keep(counter.symbol);
    counter.unit = keep(counter.unit);
    counter.help = keep(counter.help);
  }
  spec_.counters = counters_;
}

Result<void> describe(const CountersetSpec& spec) {
  auto owned = std::make_shared<const OwnedSpec>(spec);
  if (auto good = encode_schema(owned->spec(), "describe"); !good) {
    return tl::make_unexpected(good.error());
  }
  Descriptions& all = descriptions();
  const std::lock_guard lock(all.mutex);
  all.by_name[std::string(spec.name)] = std::move(owned);
  return {};
}

void forget_descriptions() noexcept {
  Descriptions& all = descriptions();
  const std::lock_guard lock(all.mutex);
  all.by_name.clear();
}

std::shared_ptr<const OwnedSpec> described(std::string_view name) {
  Descriptions& all = descriptions();
  const std::lock_guard lock(all.mutex);
  const auto found = all.by_name.find(name);
  return found == all.by_name.end() ? nullptr : found->second;
}

std::shared_ptr<const OwnedSpec> described(const Guid& guid) {
  Descriptions& all = descriptions();
  const std::lock_guard lock(all.mutex);
  for (const auto& [name, spec] : all.by_name) {
    if (spec->spec().guid == guid) return spec;
  }
  return nullptr;
}

std::shared_ptr<const OwnedSpec> plain_spec(CountersetSpec spec,
                                            std::vector<CounterSpec> counters) {
  std::deque<std::string> texts;
  for (CounterSpec& counter : counters) {
    const std::string number = std::to_string(counter.id);
    counter.name = texts.emplace_back("Counter " + number);
    counter.symbol = texts.emplace_back("counter_" + number);
  }
  const std::string symbol = symbol_of(spec.name);
  spec.symbol = symbol;
  spec.label = "instance";
  spec.counters = counters;
  return std::make_shared<const OwnedSpec>(spec);
}

}  // namespace meterbank::pcw
