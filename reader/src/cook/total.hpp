// SPDX-License-Identifier: Apache-2.0
//
// Many rows as one: what Windows calls _Total, and the one row of a set of which each provider
// holds a share.
#pragma once

#include <cstdint>
#include <vector>

#include "meterbank/reader/cook.hpp"

namespace meterbank {

// Cooked values are added up, not raw ones: providers have clocks and starts of their own.
class Total {
 public:
  // Rows of one counterset. A row without a value for a reason of its own (it is new, it was reset)
  // is left out; one that could not be read makes the total unknown.
  void add(const CookedRow& row);
  // What is gone has no rate; it adds to values, and to the raw sum of what rates are made of.
  // `of_interval`: the rows are of two samples, between which it recorded nothing.
  void add(const QueryPlan::Ended& ended, bool of_interval);
  // One row a counter, in order of appearance. False: `take` wants no more.
  bool give(RowSink take) const;

 private:
  struct Sum {
    CookedRow row;             // the first of the counter, then the total
    std::uint64_t values = 0;  // cooked values in it
    std::uint64_t stored = 0;  // stored values in it: a rate has one before it has a value
    bool is_known = true;

    void add(const Distribution& distribution);
  };

  std::vector<Sum> sums_;
};

}  // namespace meterbank
