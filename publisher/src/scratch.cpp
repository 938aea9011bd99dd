// SPDX-License-Identifier: Apache-2.0
//
// Where handles without an instance count: written by every thread, read by none. All of it is
// initialised as constants, so such handles may count before and after main(), and no thread that
// is forked or interrupted ever holds a lock on the way here.
#include <array>

#include "meterbank/publisher/sharded.hpp"

namespace meterbank::detail {
namespace {

constinit std::array<SharedWord, 2 + 2 * std::size_t{kBlockWordsMax}> scratch_words{};
constinit SharedWord scratch_slot{0};
constinit const Shard kShard{BlockWriter<StdAtomics>({.seq = &scratch_words[0],
                                                      .slot = &scratch_words[1],
                                                      .copy0 = &scratch_words[2],
                                                      .copy1 = &scratch_words[2 + kBlockWordsMax],
                                                      .words = kBlockWordsMax}),
                             &scratch_slot};

}  // namespace

BlockWriter<StdAtomics> scratch_writer() noexcept { return kShard.writer; }

Shards scratch_shards() noexcept {
  Shards none;
  none.first = &kShard;
  return none;
}

}  // namespace meterbank::detail
