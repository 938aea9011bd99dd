// SPDX-License-Identifier: Apache-2.0
//
// The values of the counters of a query between its last two samples.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "../names/row_numbers.hpp"
#include "meterbank/reader/sample.hpp"
#include "pdh.h"

namespace meterbank::pdh {

struct FoundCounter;

// One instance of one counter. The name is valid while the newer sample is.
struct Reading {
  std::string_view name;
  std::uint32_t number = 0;  // how many rows of this name are before it
  DWORD status = PDH_CSTATUS_INVALID_DATA;
  double value = 0;
  DWORD raw_status = PDH_CSTATUS_INVALID_DATA;
  RawValue raw;
};

// By counter, in the order of `counters`, which are those of the sample; `rows` are those of the
// query that it was collected by.
[[nodiscard]] std::vector<std::vector<Reading>> read_samples(
    const Sample& older, const Sample& newer, const std::vector<FoundCounter>& counters,
    const std::vector<std::shared_ptr<const NumberedRows>>& rows, CookOptions options);

}  // namespace meterbank::pdh
