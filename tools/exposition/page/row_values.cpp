// SPDX-License-Identifier: Apache-2.0
#include "exposition/page/row_values.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "exposition/page/labels.hpp"

namespace meterbank::exposition {

bool RowValues::read(const PageFamily& family, const FamilyPart& part, const StoredRow& row,
                     const Timestamp& time) {
  switch (family.type) {
    case FamilyType::kCounter:
      value = number_of(part.value, row, time);
      return can_count(value);
    case FamilyType::kGauge:
      value = number_of(part.value, row, time);
      return value.kind != Number::Kind::kNone;
    case FamilyType::kSummary:
      value = number_of(part.value, row, time);
      count = number_of(part.count, row, time);
      return can_count(value) && can_count(count);
    case FamilyType::kInfo:
      read_text(*part.counter, row);
      return true;
    case FamilyType::kHistogram:
      return read_distribution(*part.counter, row);
  }
  return false;
}

bool RowValues::read_distribution(const CounterView& counter, const StoredRow& row) {
  words_.resize(1 + counter.more_words);
  words_[0] = row[counter.word];
  for (std::uint32_t word = 0; word < counter.more_words; ++word) {
    words_[1 + word] = row[counter.more + word];
  }
  return distribution.read({counter.shape, 0, 1}, words_);
}

void RowValues::read_text(const CounterView& counter, const StoredRow& row) {
  const std::uint32_t words = counter.more_words - (counter.timed ? 1 : 0);
  words_.resize(words);
  for (std::uint32_t word = 0; word < words; ++word) words_[word] = row[counter.more + word];
  const std::uint64_t bytes =
      std::min<std::uint64_t>(row[counter.word], std::uint64_t{words} * sizeof(std::uint64_t));
  std::string stored(bytes, '\0');
  std::memcpy(stored.data(), words_.data(), bytes);
  text = clean_text(stored);
}

std::uint64_t count_up_to(const Distribution& distribution, double bound) noexcept {
  const DistributionShape& shape = distribution.shape;
  if (!(bound >= bucket_bound(shape.first, shape.scale))) return 0;
  if (std::isinf(bound)) return distribution.count;
  std::int32_t last = bucket_index(bound, shape.scale);
  if (bucket_bound(last + 1, shape.scale) > bound) --last;
  std::uint64_t count = distribution.below;
  for (std::size_t bucket = 0; bucket < distribution.buckets.size(); ++bucket) {
    if (shape.first + static_cast<std::int32_t>(bucket) > last) break;
    count += distribution.buckets[bucket];
  }
  return count;
}

}  // namespace meterbank::exposition
