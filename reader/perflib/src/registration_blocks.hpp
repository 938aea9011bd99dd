// SPDX-License-Identifier: Apache-2.0
//
// What can be asked about a set without reading values: its description, its names, its instances.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "error_codes.hpp"
#include "found_sets.hpp"
#include "meterbank/perflib/result_layout.hpp"
#include "meterbank/reader/item_query.hpp"

namespace meterbank {

enum class DescriptionRequest : std::uint32_t {
  kSet = 1,
  kCounter = 2,
  kSetName = 3,
  kSetHelp = 4,
  kCounterNames = 5,
  kCounterHelp = 6,
  kProviderName = 7,
  kProviderGuid = 8,
  kSetEnglishName = 9,
  kCounterEnglishNames = 10,
};

// `counter` is looked at for kCounter only. kInvalidParameter for any other request.
[[nodiscard]] PerfError describe(const FoundSet& set, DescriptionRequest request,
                                 std::uint32_t counter, CharacterWidth width,
                                 std::vector<std::byte>& block);

// `answered` is a query of all instances of the set, or null where none are computed on demand.
// Where there are none: kInstanceNotFound, or why a registration did not answer.
[[nodiscard]] PerfError list_instances(const FoundSet& set, const ItemQuery* answered,
                                       CharacterWidth width, std::vector<std::byte>& block);

// RowHeader, name and padding. Returns the bytes appended.
std::size_t append_row_header(std::string_view name, std::uint32_t id, CharacterWidth width,
                              std::vector<std::byte>& out);

}  // namespace meterbank
