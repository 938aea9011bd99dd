// SPDX-License-Identifier: Apache-2.0
#include "compare/statistics/block_histograms.hpp"

#include <algorithm>
#include <cmath>

namespace meterbank::compare {

void BlockHistograms::Block::add(std::uint32_t from, const std::vector<std::uint64_t>& more,
                                 std::size_t begin, std::size_t end) {
  if (begin == end) return;
  if (buckets.empty()) first = from;
  if (from < first) {
    buckets.insert(buckets.begin(), first - from, 0);
    first = from;
  }
  const std::size_t place = from - first;
  if (buckets.size() < place + (end - begin)) buckets.resize(place + (end - begin));
  for (std::size_t i = begin; i < end; ++i) buckets[place + i - begin] += more[i];
}

void BlockHistograms::Block::add(const Block& other) {
  count += other.count;
  below += other.below;
  add(other.first, other.buckets, 0, other.buckets.size());
}

void BlockHistograms::join_pairs() {
  for (std::size_t i = 0; i < kBlocksMax / 2; ++i) {
    Block joined = std::move(blocks_[2 * i]);
    joined.add(blocks_[2 * i + 1]);
    blocks_[i] = std::move(joined);
  }
  blocks_.resize(kBlocksMax / 2);
  samples_of_block_ *= 2;
}

bool BlockHistograms::add(const Distribution& recorded) {
  if (!(recorded.shape == shape_) || recorded.buckets.size() != shape_.buckets) return false;
  ++samples_;
  if (blocks_.empty() || in_last_ == samples_of_block_) {
    if (blocks_.size() == kBlocksMax) join_pairs();
    blocks_.emplace_back();
    in_last_ = 0;
  }
  ++in_last_;
  Block& last = blocks_.back();
  last.count += recorded.count;
  last.below += recorded.below;
  const auto& buckets = recorded.buckets;
  std::size_t begin = 0, end = buckets.size();
  while (begin < end && buckets[begin] == 0) ++begin;
  while (end > begin && buckets[end - 1] == 0) --end;
  last.add(static_cast<std::uint32_t>(begin), buckets, begin, end);
  return true;
}

Quantiles::Quantiles(const BlockHistograms& histograms)
    : histograms_(histograms), up_to_(histograms.shape_.buckets) {
  for (const auto& block : histograms.blocks_) {
    count_ += static_cast<double>(block.count);
    below_ += static_cast<double>(block.below);
    for (std::size_t i = 0; i < block.buckets.size(); ++i) {
      up_to_[block.first + i] += static_cast<double>(block.buckets[i]);
    }
  }
  double so_far = below_;
  for (double& bucket : up_to_) bucket = so_far += bucket;
}

std::optional<Quantiles::Place> Quantiles::place_of(double share) const {
  const double wanted = share * count_;
  if (!(share > 0) || !(share < 1) || up_to_.empty() || wanted <= below_) return std::nullopt;
  const auto found = std::lower_bound(up_to_.begin(), up_to_.end(), wanted);
  if (found == up_to_.end()) return std::nullopt;
  const double before = found == up_to_.begin() ? below_ : *(found - 1);
  return Place{static_cast<std::size_t>(found - up_to_.begin()),
               (wanted - before) / (*found - before)};
}

std::optional<double> Quantiles::at(double share) const {
  const auto place = place_of(share);
  if (!place) return std::nullopt;
  const auto& shape = histograms_.shape_;
  const auto index = shape.first + static_cast<std::int32_t>(place->bucket);
  const double lower = std::log2(bucket_bound(index, shape.scale));
  const double upper = std::log2(bucket_bound(index + 1, shape.scale));
  const double value = std::exp2(lower + (upper - lower) * place->part);
  if (!std::isfinite(value) || value <= 0) return std::nullopt;
  return value;
}

std::vector<double> Quantiles::deviations(double share) const {
  const Place place = *place_of(share);
  std::vector<double> deviations;
  deviations.reserve(histograms_.blocks_.size());
  for (const auto& block : histograms_.blocks_) {
    auto lower = static_cast<double>(block.below);
    for (std::size_t i = 0; i < block.buckets.size(); ++i) {
      const std::size_t bucket = block.first + i;
      if (bucket > place.bucket) break;
      const auto here = static_cast<double>(block.buckets[i]);
      lower += bucket == place.bucket ? here * place.part : here;
    }
    deviations.push_back((lower - share * static_cast<double>(block.count)) / count_);
  }
  return deviations;
}

}  // namespace meterbank::compare
