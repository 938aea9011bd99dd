// SPDX-License-Identifier: Apache-2.0
#include "compare/statistics/block_sums.hpp"

#include <algorithm>

namespace meterbank::compare {

void BlockSums::add(double value, double weight) {
  if (values_ == 0) least_ = most_ = value;
  least_ = std::min(least_, value);
  most_ = std::max(most_, value);
  ++values_;
  if (blocks_.empty() || in_last_ == values_of_block_) {
    if (blocks_.size() == kBlocksMax) {
      for (std::size_t i = 0; i < kBlocksMax / 2; ++i) {
        const Block &first = blocks_[2 * i], &second = blocks_[2 * i + 1];
        blocks_[i] = {first.sum + second.sum, first.weight + second.weight};
      }
      blocks_.resize(kBlocksMax / 2);
      values_of_block_ *= 2;
    }
    blocks_.emplace_back();
    in_last_ = 0;
  }
  ++in_last_;
  blocks_.back().sum += value * weight;
  blocks_.back().weight += weight;
}

double BlockSums::weight() const noexcept {
  double all = 0;
  for (const Block& block : blocks_) all += block.weight;
  return all;
}

double BlockSums::mean() const noexcept {
  if (stood_still()) return least_;
  double sum = 0;
  for (const Block& block : blocks_) sum += block.sum;
  return sum / weight();
}

std::vector<double> BlockSums::deviations() const {
  if (stood_still()) return std::vector<double>(blocks_.size(), 0.0);
  const double middle = mean(), all = weight();
  std::vector<double> deviations;
  deviations.reserve(blocks_.size());
  for (const Block& block : blocks_) {
    deviations.push_back((block.sum - middle * block.weight) / all);
  }
  return deviations;
}

}  // namespace meterbank::compare
