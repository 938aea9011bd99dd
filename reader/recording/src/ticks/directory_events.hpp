// SPDX-License-Identifier: Apache-2.0
//
// What a directory section of a key frame or tick consists of. The section of a key frame begins
// with nothing known and names everything; that of a tick has what changed.
//
//   number of events, then each:
//     kProvider   index, facts               new, or changed in more than the version of its
//                 directory and the age of its heartbeat
//     kNoProvider index                      its sets are gone with it
//     kSet        index, index of provider, number of the schema in this file, registration,
//                 generation, position among the sets of the provider, flags, state, rate at
//                 which its rows are sampled + 1, or 0 if they are not
//     kAnsweredSet index, index of the set whose callback gives the rows, number of the schema,
//                 serial number of the rows, rate
//     kNoSet      index
//     kRows       index of the set, whose rows are recorded,
//                 number that ended, each: slots since the one before
//                 number that began, each: slots since the one before, generation, id, closed, name
//
// Indexes are small numbers that the writer gives, and gives again when they are free. Slots rise.
#pragma once

#include <cstdint>

namespace meterbank::recording {

enum class DirectoryEvent : std::uint8_t {
  kProvider = 1,
  kNoProvider = 2,
  kSet = 3,
  kNoSet = 4,
  kRows = 5,
  kAnsweredSet = 6,
};

// What a reader takes of a file, whatever it says. CatalogOptions bound the memory of rows.
inline constexpr std::uint64_t kProvidersMax = std::uint64_t{1} << 20U;
inline constexpr std::uint64_t kSetsMax = std::uint64_t{1} << 22U;
inline constexpr std::uint64_t kSlotMax = std::uint64_t{1} << 31U;
inline constexpr std::size_t kFactBytesMax = 64 << 10U;

// Contexts of the coder.
inline constexpr unsigned kContextOtherStatus = 0;
inline constexpr unsigned kContextStatus = 1;
inline constexpr unsigned kContextConsistency = 2;

}  // namespace meterbank::recording
