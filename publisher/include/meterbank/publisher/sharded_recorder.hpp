// SPDX-License-Identifier: Apache-2.0
//
// Recording values in a distribution from any thread.
//
// Thread safety  Any thread may call any function.
// Errors         None. A value beyond the range is counted as such, NaN as refused.
// Progress       Wait-free where the thread has a block of its own, else lock-free.
// Cost           A few nanoseconds. bench/README.md has the figures.
// Lifetime       May outlive its instance, and then counts into nothing.
// Units          Those of the counter: CounterSpec::unit.
#pragma once

#include <bit>
#include <cstdint>

#include "meterbank/publisher/sharded.hpp"
#include "meterbank/publisher/value_handles.hpp"

namespace meterbank {

namespace detail {

// Into the shard that threads share: word by word, so that a reader in between sees a
// count without its sum. RowConsistency::kSharedCounters says that this may be.
[[gnu::noinline, gnu::cold]] void record_shared(const Shards& shards,
                                                const DistributionPlace& place,
                                                double value) noexcept;
// One commit on the processor's block; into the shared one if that cannot be.
[[gnu::noinline]] void record_on_processor(const Shards& shards, const DistributionPlace& place,
                                           double value) noexcept;

}  // namespace detail

class ShardedRecorder {
 public:
  ShardedRecorder() noexcept : shards_(detail::scratch_shards()) {}

  void record(double value) noexcept {
    if (shards_.rseq != 0) return detail::record_on_processor(shards_, place_, value);
    std::uint32_t number = detail::thread_number.usable;
    if (number >= shards_.own) [[unlikely]] {
      if (!detail::take_thread_number() || detail::thread_number.usable >= shards_.own) {
        return detail::record_shared(shards_, place_, value);
      }
      number = detail::thread_number.usable;
    }
    const detail::Shard& shard = shards_.first[number];
    const detail::InsideShard inside(number);
    shards_.open(shard);
    shard.writer.commit_words(
        changes_of(place_, value, [&](std::uint32_t word) { return shard.writer.value(word); }));
  }
  [[nodiscard]] const DistributionPlace& distribution() const noexcept { return place_; }

 private:
  friend class ShardedWriter;
  ShardedRecorder(const detail::Shards& shards, const DistributionPlace& place,
                  const detail::SlotReference& slot) noexcept
      : shards_(shards), place_(place), slot_(slot) {}

  detail::Shards shards_;
  DistributionPlace place_;
  detail::SlotReference slot_;
};

inline void ShardValues::record(const ShardedRecorder& recorder, double value) noexcept {
  const DistributionPlace& place = recorder.distribution();
  // One that counts into nothing, or that is of a wider block than this.
  const bool is_here = place.shape.buckets != 0 && place.own < place.more &&
                       place.more + place.shape.more_words() <= writer_.words();
  if (!is_here) return;
  if (waits()) {
    later() = {.word = place.own,
               .change = detail::ShardChange::kRecord,
               .value = std::bit_cast<std::uint64_t>(value),
               .more = place.more,
               .buckets = place.shape.buckets,
               .scale = place.shape.scale,
               .first_bucket = place.shape.first};
    return;
  }
  if (into_ != Into::kCommit) return;  // independent counters, which have no distributions
  const auto changes =
      changes_of(place, value, [this](std::uint32_t word) { return update_.value(word); });
  changes.apply([this, own = place.own](std::uint32_t word, std::uint64_t bits) {
    if (word == own) return update_.set(word, bits);
    update_.set_apart(word, bits);
  });
}

template <CounterName C>
ShardedRecorder ShardedWriter::recorder(C name) const noexcept {
  const CounterPlace place = detail::place_of(slot_.life(), position_of(name));
  if (!place.known || place.form != ValueForm::kDistribution) return {};
  return {shards_, {place.shape, place.own, place.more}, slot_};
}

}  // namespace meterbank
