// SPDX-License-Identifier: Apache-2.0
#include "compare/statistics/block_sums.hpp"

#include <algorithm>
#include <utility>

namespace meterbank::compare {

void BlockSums::add(double value, double weight) {
  if (values_ == 0) least_ = most_ = value;
  least_ = std::min(least_, value);
  most_ = std::max(most_, value);
  if (in_last_ == values_of_block_) close_last();
  ++values_;
  ++in_last_;
  last_.sum += value * weight;
  last_.weight += weight;
}

void BlockSums::close_last() {
  blocks_.push_back(std::exchange(last_, {}));
  in_last_ = 0;
  if (blocks_.size() < kBlocksMax) return;
  for (std::size_t i = 0; i < kBlocksMax / 2; ++i) {
    const Block &first = blocks_[2 * i], &second = blocks_[2 * i + 1];
    blocks_[i] = {first.sum + second.sum, first.weight + second.weight};
  }
  blocks_.resize(kBlocksMax / 2);
  values_of_block_ *= 2;
}

double BlockSums::weight() const noexcept {
  double all = last_.weight;
  for (const Block& block : blocks_) all += block.weight;
  return all;
}

double BlockSums::mean() const noexcept {
  if (stood_still()) return least_;
  double sum = last_.sum;
  for (const Block& block : blocks_) sum += block.sum;
  return sum / weight();
}

std::vector<double> BlockSums::deviations() const {
  if (values_ == 0) return {};
  std::vector<double> deviations(blocks_.size() + 1);
  if (stood_still()) return deviations;
  const double middle = mean(), all = weight();
  const auto deviation = [&](const Block& block) {
    return (block.sum - middle * block.weight) / all;
  };
  std::transform(blocks_.begin(), blocks_.end(), deviations.begin(), deviation);
  deviations.back() = deviation(last_);
  return deviations;
}

}  // namespace meterbank::compare
