// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace meterbank::push::otlp {

// What a receiver says of a request that it took.
struct PartialSuccess {
  std::uint64_t rejected_points = 0;
  std::string message;  // valid UTF-8 without control characters
};

// Of the body of an answer with status 200, which may be any bytes: of what is no answer, nothing
// was rejected. Throws std::bad_alloc.
[[nodiscard]] PartialSuccess parse_answer(std::string_view body);

}  // namespace meterbank::push::otlp
