// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace meterbank::agent {

// The page for browsers that the agent serves: that of `meterbank view`.
struct ViewSettings {
  std::string address;       // on a loopback address; empty: nothing is served
  std::string address_file;  // gets the address with the token
  std::chrono::milliseconds interval{1000};
  std::vector<std::string> paths;  // empty: everything

  [[nodiscard]] bool is_on() const noexcept { return !address.empty(); }
  friend bool operator==(const ViewSettings&, const ViewSettings&) = default;
};

}  // namespace meterbank::agent
