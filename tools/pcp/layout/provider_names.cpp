// SPDX-License-Identifier: Apache-2.0
#include "pcp/layout/provider_names.hpp"

#include <fmt/format.h>

#include "pcp/names/pcp_name.hpp"

namespace meterbank::pcp {

const std::string& ProviderNames::of(const ProviderView& provider) {
  const auto [entry, is_new] = names_.try_emplace(provider.segment_id);
  std::string& name = entry->second;
  if (!is_new) return name;
  name = instance_part(provider.name);
  if (!provider.trusted) name += fmt::format("@uid{}", provider.uid);
  if (taken_.insert(name).second) return name;
  name += fmt::format("@{}", provider.named_pid());
  const std::string base = name;
  for (unsigned number = 2; !taken_.insert(name).second; ++number) {
    name = fmt::format("{}.{}", base, number);
  }
  return name;
}

void ProviderNames::keep(const std::set<std::array<std::uint64_t, 2>>& segments) {
  for (auto entry = names_.begin(); entry != names_.end();) {
    if (segments.contains(entry->first)) {
      ++entry;
      continue;
    }
    taken_.erase(entry->second);
    entry = names_.erase(entry);
  }
}

}  // namespace meterbank::pcp
