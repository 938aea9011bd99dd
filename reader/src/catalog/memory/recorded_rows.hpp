// SPDX-License-Identifier: Apache-2.0
//
// What providers and registrations of a recording have beside what live ones have, and where the
// two differ.
//
// Recorded rows lie in private memory (private_groups.hpp). Shards are joined in them already, and
// their slots may be any numbers, so they have a form and places of their own. A row's own word
// says what the recording says of it:
//
//    63        32 31       16 15          8 7      0
//   +------------+-----------+-------------+--------+
//   |    slot    |   zero    | consistency | status |
//   +------------+-----------+-------------+--------+
//
// The slot in it tells a plan of an earlier tick that the place has another row now.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "meterbank/reader/callback_answer.hpp"
#include "meterbank/reader/catalog.hpp"
#include "meterbank/reader/sample.hpp"

namespace meterbank {

struct RecordedProvider {
  SharedWord heartbeat_age_ns;
};

struct RecordedAnswer {
  std::optional<CallbackAnswer> last;
};

struct RecordedRows {
  BlockForm form;  // how the blocks of its groups lie in memory
  // One an instance, by its index: counted through the groups.
  std::span<const std::uint32_t> places;
  std::shared_ptr<const void> places_memory;
  // The provider with nothing but the rows that were answered; null: it has none.
  std::shared_ptr<const ProviderView> answered;
  std::shared_ptr<const RecordedAnswer> answer;
};

struct RecordedRow {
  static constexpr std::uint32_t kOwnWords = 1;

  RowStatus status = RowStatus::kFresh;
  RowConsistency consistency = RowConsistency::kBlock;
  std::uint32_t slot = 0;

  static constexpr RecordedRow of(std::uint64_t raw) noexcept {
    return {static_cast<RowStatus>(raw & 0xff), static_cast<RowConsistency>(raw >> 8 & 0xff),
            static_cast<std::uint32_t>(raw >> 32)};
  }
  [[nodiscard]] constexpr std::uint64_t raw() const noexcept {
    return std::uint64_t{slot} << 32 | static_cast<std::uint64_t>(consistency) << 8 |
           static_cast<std::uint64_t>(status);
  }
};

// How the blocks of its rows lie in memory.
[[nodiscard]] inline const BlockForm& form_of(const RegisteredSet& set) noexcept {
  return set.recorded == nullptr ? set.set->form : set.recorded->form;
}

// Whether instances of the same numbers have their blocks in the same places, if the groups are
// the same.
[[nodiscard]] inline bool lie_alike(const RegisteredSet& left,
                                    const RegisteredSet& right) noexcept {
  if (left.recorded == nullptr || right.recorded == nullptr) {
    return left.recorded == right.recorded;
  }
  const auto one = left.recorded->places, other = right.recorded->places;
  return one.data() == other.data() ||
         std::equal(one.begin(), one.end(), other.begin(), other.end());
}

}  // namespace meterbank
