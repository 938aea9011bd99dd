// SPDX-License-Identifier: Apache-2.0
//
// Where handles without an instance count: written by every thread, read by none. All of it is
// initialised as constants, so such handles may count before and after main(), and no thread that
// is forked or interrupted ever holds a lock on the way here.
#include <array>

#include "meterbank/publisher/sharded.hpp"

namespace meterbank::detail {
namespace {

constinit std::array<SharedWord, 2 + 2 * std::size_t{kBlockWordsMax}> words{};
constinit SharedWord slot{0};
constinit const Shard kShard{BlockWriter<StdAtomics>({.seq = &words[0],
                                                      .slot = &words[1],
                                                      .copy0 = &words[2],
                                                      .copy1 = &words[2 + kBlockWordsMax],
                                                      .words = kBlockWordsMax}),
                             &slot};

}  // namespace

BlockWriter<StdAtomics> scratch_writer() noexcept { return kShard.writer; }

Shards scratch_shards() noexcept {
  Shards none;
  none.first = &kShard;
  return none;
}

}  // namespace meterbank::detail
