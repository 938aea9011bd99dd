// SPDX-License-Identifier: Apache-2.0
//
// One moment of all providers: what every page, push and recording of that moment is made of.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "exposition/page/page_layout.hpp"
#include "exposition/page/plain_family.hpp"
#include "meterbank/reader/sample.hpp"

namespace meterbank::exposition {

// Immutable once it is made: pages and pushes read it from several threads, by Sample::statuses()
// and stored() alone.
struct Snapshot {
  Sample sample;
  std::shared_ptr<const PageLayout> layout;  // of the sample's rows
  std::vector<PlainFamily> about;            // what the page says beside the counters
};

}  // namespace meterbank::exposition
