// SPDX-License-Identifier: Apache-2.0
//
// What is known of a set besides what its registration says.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "meterbank/base/guid.hpp"
#include "meterbank/publisher/schema.hpp"

namespace meterbank::pcw {

// A specification that owns its text. Never changed once it is made.
class OwnedSpec {
 public:
  explicit OwnedSpec(const CountersetSpec& spec);
  OwnedSpec(const OwnedSpec&) = delete;
  OwnedSpec& operator=(const OwnedSpec&) = delete;

  [[nodiscard]] const CountersetSpec& spec() const noexcept { return spec_; }

 private:
  [[nodiscard]] std::string_view keep(std::string_view text) { return texts_.emplace_back(text); }

  std::deque<std::string> texts_;  // which never moves what it holds
  std::vector<CounterSpec> counters_;
  CountersetSpec spec_;
};

// Null for a set without a description. The name is compared without case.
[[nodiscard]] std::shared_ptr<const OwnedSpec> described(std::string_view name);
[[nodiscard]] std::shared_ptr<const OwnedSpec> described(const Guid& guid);

// For a set without a description. `spec` has a name; symbols, and the names and symbols of
// counters, are made up.
[[nodiscard]] std::shared_ptr<const OwnedSpec> plain_spec(CountersetSpec spec,
                                                          std::vector<CounterSpec> counters);

}  // namespace meterbank::pcw
