// SPDX-License-Identifier: Apache-2.0
//
// Which rows the last push had, so that the next one can tell the receiver which series have ended.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "exposition/page/page_layout.hpp"

namespace meterbank::push::remote_write {

class ShownRows {
 public:
  using Layout = std::shared_ptr<const exposition::PageLayout>;
  // One bit for each row of each block.
  using Bits = std::vector<std::vector<bool>>;
  using Ended = std::function<void(std::size_t block, std::size_t row)>;

  // Takes over what this push has, and calls `ended` for each row that the last one had and this
  // one has not, with its place in the layout of then. A row is the same if its set and its labels
  // are.
  void replace(const Layout& layout, Bits shown, const Ended& ended);

 private:
  Layout layout_;
  Bits shown_;
};

}  // namespace meterbank::push::remote_write
