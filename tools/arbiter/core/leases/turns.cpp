// SPDX-License-Identifier: Apache-2.0
#include "arbiter/core/leases/turns.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace meterbank::arbiter {

void Turns::join(LeaseNumber number, Nanoseconds now) {
  members_.push_back(number);
  begin(number, now);
}

bool Turns::leave(LeaseNumber number, Nanoseconds now) {
  if (std::erase(members_, number) == 0 || present_ != number) return false;
  present_ = 0;
  ends_ns_ = now;
  return true;
}

bool Turns::is_over(Nanoseconds now) const noexcept {
  if (members_.empty()) return false;
  return present_ == 0 || (members_.size() > 1 && now >= ends_ns_);
}

LeaseNumber Turns::next() const {
  const auto present = std::find(members_.begin(), members_.end(), present_);
  const bool is_last = present == members_.end() || present + 1 == members_.end();
  return is_last ? members_.front() : *(present + 1);
}

void Turns::begin(LeaseNumber number, Nanoseconds now) {
  present_ = number;
  ends_ns_ = now + slice_ns_;
}

void Turns::save(nlohmann::json& saved) const {
  saved["turns"] = members_;
  saved["turn"] = present_;
  saved["turn_ends"] = ends_ns_;
}

void Turns::load(const nlohmann::json& from) {
  members_ = from.at("turns").get<std::vector<LeaseNumber>>();
  present_ = from.at("turn");
  ends_ns_ = from.at("turn_ends");
}

}  // namespace meterbank::arbiter
