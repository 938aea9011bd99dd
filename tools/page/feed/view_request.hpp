// SPDX-License-Identifier: Apache-2.0
//
// What the page asks for: a link of a place, and which part of its tables there is room for.
//
//   screen=set&set=demo_orders&window.section=1&window.first=100&window.lines=50
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "meterbank/base/result.hpp"
#include "view/picture.hpp"
#include "view/place.hpp"

namespace meterbank::page {

// A moment beside the one that is looked at.
enum class Step : std::uint8_t { kNone, kEarlier, kLater };

struct ViewRequest {
  view::Place place;
  view::Window window;
  bool plots_apart = false;  // the columns of plots are asked for by themselves
  Step step = Step::kNone;

  // The same for requests for the same picture, plots_apart and step aside.
  [[nodiscard]] std::string key() const;
};

// `query` is what follows '?' in an address. Errors: kInvalidArgument.
[[nodiscard]] Result<ViewRequest> parse_view_request(std::string_view query);

}  // namespace meterbank::page
