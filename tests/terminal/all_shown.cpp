// SPDX-License-Identifier: Apache-2.0
//
// The seeded fault: linked before the library, this shows every foreign byte as it is.
#include "meterbank/shm/utf8.hpp"

namespace meterbank {

bool TextScan::next(TextPart& part) noexcept {
  if (rest_.empty()) return false;
  part = {rest_, TextPart::Kind::kShown, 0};
  rest_ = {};
  return true;
}

}  // namespace meterbank
