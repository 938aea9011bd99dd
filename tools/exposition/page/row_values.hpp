// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "exposition/page/number.hpp"
#include "exposition/page/row_walk.hpp"
#include "meterbank/shm/distribution.hpp"

namespace meterbank::exposition {

// What one row has of one family. Reading the next row uses the memory of the last one.
struct RowValues {
  Number value, count;        // counter, gauge; summary
  std::string text;           // info; valid UTF-8
  Distribution distribution;  // histogram

  // Of the row that the walk is at. False: it has no value at this moment, or words that contradict
  // each other. May throw std::bad_alloc.
  [[nodiscard]] bool read(const RowWalk& walk) {
    const NumberSource& source = walk.part().value;
    if (!walk.is_plain()) return read(walk.family(), walk.part(), walk.stored(), walk.time());
    value = {Number::Kind::kUnsigned, walk.stored()[source.word] & source.mask, 0};
    return true;
  }
  // The same of any row that holds values.
  [[nodiscard]] bool read(const PageFamily& family, const FamilyPart& part, const StoredRow& row,
                          const Timestamp& time);

 private:
  [[nodiscard]] bool read_distribution(const CounterView& counter, const StoredRow& row);
  void read_text(const CounterView& counter, const StoredRow& row);

  std::vector<std::uint64_t> words_;
};

// How many values are known not to exceed a bound. Values of the bucket that contains the bound
// count if it is their bucket's upper end.
[[nodiscard]] std::uint64_t count_up_to(const Distribution& distribution, double bound) noexcept;

}  // namespace meterbank::exposition
