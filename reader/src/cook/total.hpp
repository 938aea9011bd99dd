// SPDX-License-Identifier: Apache-2.0
//
// Many rows as one: what Windows calls _Total, and the one row of a set of which each provider
// holds a share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "../plan/query_plan.hpp"

namespace meterbank {

// Cooked values are added up, not raw ones: providers have clocks and starts of their own.
class Total {
 public:
  // Keeps the memory.
  void clear() noexcept { used_ = 0; }
  // Of a row of one counterset. A row without a value for a reason of its own (it is new, it was
  // reset) is left out; one that could not be read makes the total unknown.
  void add(const Value& value);
  // What is gone has no rate; it adds to values, and to the raw sum of what rates are made of.
  // `of_interval`: the rows are of two samples, between which it recorded nothing.
  void add(const EndedValues& ended, bool of_interval);

  // Counters, in order of appearance.
  [[nodiscard]] std::size_t size() const noexcept { return used_; }
  // That of the first counter. Precondition: there is one.
  [[nodiscard]] const Row& row() const noexcept { return sums_.front().row; }
  // Refers to this object until the next clear().
  void give(std::size_t index, Value& value) const;

 private:
  struct Sum {
    Row row;      // the first of the counter, then the total
    Value value;  // without what the row, the text and the distribution are
    std::string text;
    Distribution distribution;
    bool has_distribution = false;
    std::uint64_t values = 0;  // cooked values in it
    std::uint64_t stored = 0;  // stored values in it: a rate has one before it has a value
    bool is_known = true;

    void begin(const Value& first);
    void add(const Distribution& more);
  };

  std::vector<Sum> sums_;  // the first used_ of them count, the others keep memory
  std::size_t used_ = 0;
};

}  // namespace meterbank
