// SPDX-License-Identifier: Apache-2.0
//
// Distributions over time as at most kBlocksMax blocks, which are joined as those of BlockSums are.
// A block keeps the buckets between the first and the last one that are not empty: 8 bytes each.
//
// Within a bucket, values are taken to be spread evenly on a logarithmic axis. A percentile is then
// a continuous function of the counts, and a change of less than a bucket's width is seen.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "meterbank/shm/distribution.hpp"

namespace meterbank::compare {

class BlockHistograms {
 public:
  static constexpr std::size_t kBlocksMax = 64;

  explicit BlockHistograms(const DistributionShape& shape) : shape_(shape) {}

  // What was recorded since the last call. False: it has another shape, and was not added.
  [[nodiscard]] bool add(const Distribution& recorded);

  [[nodiscard]] std::uint64_t samples() const noexcept { return samples_; }
  [[nodiscard]] std::uint64_t samples_of_block() const noexcept { return samples_of_block_; }
  [[nodiscard]] std::size_t blocks() const noexcept { return blocks_.size(); }

 private:
  friend class Quantiles;
  struct Block {
    std::uint64_t count = 0, below = 0;
    std::uint32_t first = 0;             // which bucket of the shape is the first one here
    std::vector<std::uint64_t> buckets;  // up to the last one that is not empty

    void add(std::uint32_t from, const std::vector<std::uint64_t>& more, std::size_t begin,
             std::size_t end);
    void add(const Block& other);
  };
  void join_pairs();

  DistributionShape shape_;
  std::vector<Block> blocks_;
  std::uint64_t samples_ = 0;
  std::uint64_t samples_of_block_ = 1;
  std::uint64_t in_last_ = 0;
};

// Percentiles of everything that was added.
class Quantiles {
 public:
  explicit Quantiles(const BlockHistograms& histograms);

  [[nodiscard]] double count() const noexcept { return count_; }
  // The value that a share of all values does not exceed. Nothing: it is beyond the buckets, or the
  // share is not between 0 and 1.
  [[nodiscard]] std::optional<double> at(double share) const;
  // What each block adds to the error of the share of values up to at(share); their sum is zero.
  // Precondition: at(share) is there.
  [[nodiscard]] std::vector<double> deviations(double share) const;

 private:
  struct Place {
    std::size_t bucket = 0;
    double part = 0;  // of its values
  };
  [[nodiscard]] std::optional<Place> place_of(double share) const;

  const BlockHistograms& histograms_;
  std::vector<double> up_to_;  // how many values lie up to the upper end of each bucket
  double below_ = 0, count_ = 0;
};

}  // namespace meterbank::compare
