// SPDX-License-Identifier: Apache-2.0
#include "pcp/answers/instance_filter.hpp"

#include <algorithm>
#include <span>

namespace meterbank::pcp {

InstanceFilter::InstanceFilter(const pmProfile* profile, pmInDom domain) {
  if (profile == nullptr) return;
  includes_others_ = profile->state == PM_PROFILE_INCLUDE;
  const std::span domains(profile->profile, static_cast<std::size_t>(profile->profile_len));
  const auto own =
      std::find_if(domains.begin(), domains.end(),
                   [domain](const pmInDomProfile& one) { return one.indom == domain; });
  if (own == domains.end()) return;
  includes_others_ = own->state == PM_PROFILE_INCLUDE;
  listed_.assign(own->instances, own->instances + own->instances_len);
  std::sort(listed_.begin(), listed_.end());
}

bool InstanceFilter::has(int instance) const noexcept {
  if (listed_.empty()) return includes_others_;
  return std::binary_search(listed_.begin(), listed_.end(), instance) != includes_others_;
}

}  // namespace meterbank::pcp
