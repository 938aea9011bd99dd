// SPDX-License-Identifier: Apache-2.0
//
// What the headers do not do inline: the commits of C++, on the same words. A template over the
// atomics policy like all of the block protocol, so that tests see its accesses, too.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "meterbank/c/values.h"
#include "meterbank/shm/block.hpp"
#include "meterbank/shm/distribution.hpp"

namespace meterbank::border {

// The structs of C and the objects of C++ are the same bytes. tests/c compares the members.
template <typename A>
[[nodiscard]] BlockWriter<A> writer_of(const mb_block& block) noexcept {
  static_assert(MB_BLOCK_WORDS_MAX == kBlockWordsMax);
  static_assert(MB_CHECKPOINT_EVERY == A::kCheckpointEvery);
  return std::bit_cast<BlockWriter<A>>(block);
}

template <typename A>
void set_slowly(const mb_block& block, std::uint32_t word, std::uint64_t value) noexcept {
  writer_of<A>(block).set(word, value);
}
template <typename A>
void add_slowly(const mb_block& block, std::uint32_t word, std::uint64_t delta) noexcept {
  writer_of<A>(block).add(word, delta);
}
template <typename A>
void commit_slowly(const mb_block& block, std::uint32_t changed) noexcept {
  typename BlockWriter<A>::Update(writer_of<A>(block), changed & 0xffff, changed >> 16).commit();
}
template <typename A>
void write_checkpoint(const mb_block& block, std::uint64_t seq) noexcept {
  const auto parts = writer_of<A>(block).parts();
  if (parts.checkpoint == nullptr) return;
  store_checkpoint<A>(parts.checkpoint, parts.copy0, parts.words, (seq + 1) / 2);
}
// What is passed in pieces. Not plain: what is called for it looks at the epoch.
[[nodiscard]] inline mb_block block_of(std::uint64_t* seq_word, std::uint32_t copy1,
                                       std::uint32_t checkpoint, std::uint32_t copy0,
                                       std::uint32_t words) noexcept {
  return {seq_word,
          copy1,
          checkpoint,
          static_cast<std::uint16_t>(copy0),
          static_cast<std::uint16_t>(words),
          0,
          0};
}

template <typename A>
void record_slowly(const mb_recorder& recorder, double value) noexcept {
  if (recorder.count >= recorder.block.words) return;
  const BlockWriter<A> writer = writer_of<A>(recorder.block);
  const DistributionPlace place{
      {recorder.scale, recorder.first_bucket, recorder.buckets}, recorder.count, recorder.more};
  writer.commit_words(
      changes_of(place, value, [&writer](std::uint32_t word) { return writer.value(word); }));
}
template <typename A>
void set_timed(const mb_gauge& gauge, std::uint64_t bits, std::uint64_t now) noexcept {
  if (gauge.time_word >= gauge.block.words) return;
  WordList<2> list;
  list.add(gauge.word, bits);
  list.add(gauge.time_word, now);
  writer_of<A>(gauge.block).commit_words(list);
}

}  // namespace meterbank::border
