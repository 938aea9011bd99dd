// SPDX-License-Identifier: Apache-2.0
//
// What a page says about the providers beside their counters.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "exposition/snapshot/snapshot.hpp"
#include "meterbank/reader/catalog.hpp"

namespace meterbank::exposition {

class AboutProviders {
 public:
  // Families with a series for each provider. One that has ended is shown as down for five minutes,
  // `now_ns` being CLOCK_MONOTONIC, so that an alert sees it.
  [[nodiscard]] std::vector<PlainFamily> families(const Catalog& catalog, std::string_view prefix,
                                                  std::uint64_t now_ns);

 private:
  [[nodiscard]] bool is_shown(const ProviderView& provider, std::uint64_t now_ns);

  std::map<std::string, std::uint64_t> ended_;  // first seen as ended, by record
};

}  // namespace meterbank::exposition
