// SPDX-License-Identifier: Apache-2.0
//
// A stream of weighted values as at most kBlocksMax blocks of equally many: memory does not grow
// with the length of a recording. Where there would be more blocks, each two become one.
//
// A rate is the count that was added, weighted by seconds; a share of a base is weighted by the
// base; a level has the weight 1. So the mean of the stream is what `get` would have shown of two
// samples at its ends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace meterbank::compare {

class BlockSums {
 public:
  static constexpr std::size_t kBlocksMax = 128;

  void add(double value, double weight);

  [[nodiscard]] std::uint64_t values() const noexcept { return values_; }
  [[nodiscard]] std::uint64_t values_of_block() const noexcept { return values_of_block_; }
  [[nodiscard]] double weight() const noexcept;
  [[nodiscard]] double mean() const noexcept;  // precondition: weight() > 0
  // What each block adds to the error of the mean; their sum is zero.
  [[nodiscard]] std::vector<double> deviations() const;
  // All values were the same.
  [[nodiscard]] bool stood_still() const noexcept { return values_ > 0 && least_ == most_; }

 private:
  struct Block {
    double sum = 0, weight = 0;
  };

  void close_last();

  // What add() needs of each value is together: there may be hundreds of thousands of streams.
  Block last_;
  double least_ = 0, most_ = 0;
  std::uint64_t values_ = 0;
  std::uint64_t values_of_block_ = 1;
  std::uint64_t in_last_ = 0;
  std::vector<Block> blocks_;  // those before the last one
};

}  // namespace meterbank::compare
