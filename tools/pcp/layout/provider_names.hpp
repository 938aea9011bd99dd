// SPDX-License-Identifier: Apache-2.0
//
// What providers are called in external names of instances. A provider keeps its name while it
// lives.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "meterbank/reader/catalog.hpp"

namespace meterbank::pcp {

class ProviderNames {
 public:
  // "orders"; "orders@48213", with the pid, if another provider has that name already. The name of
  // a provider that is not trusted has its user behind it: "orders@uid1000".
  [[nodiscard]] const std::string& of(const ProviderView& provider);
  // Lets go of the names of all others. Before of(): a provider that was started again gets the
  // name of the one that ended.
  void keep(const std::set<std::array<std::uint64_t, 2>>& segments);

 private:
  std::map<std::array<std::uint64_t, 2>, std::string> names_;  // by segment
  std::set<std::string> taken_;
};

}  // namespace meterbank::pcp
