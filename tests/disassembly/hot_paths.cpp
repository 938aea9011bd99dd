// SPDX-License-Identifier: Apache-2.0
//
// The hot paths, each flattened into one function of an object file whose machine code check.py
// reads. Readers know here that a block has eight words; where the width is known at run time only,
// there is a call in the code: beyond sixteen words a function of the library copies.
#include <array>
#include <cstdint>

#include "meterbank/publisher/instance.hpp"
#include "meterbank/publisher/sharded.hpp"
#include "meterbank/shm/block.hpp"
#include "meterbank/shm/slot.hpp"

namespace {

using Block = meterbank::BlockParts<const meterbank::StdAtomics::Word>;
constexpr std::uint32_t kWords = 8;

Block of_eight_words(Block block) {
  block.words = kWords;
  return block;
}

}  // namespace

extern "C" {

// Either one commit or, in an independent set, one increment.
[[gnu::flatten]] void hot_add(meterbank::Instance& instance, std::uint32_t counter) {
  instance.add(counter, 1);
}

// One addition to the block of the processor or of the thread, in a sharded set.
[[gnu::flatten]] void hot_sharded_add(meterbank::ShardedCounter& counter) { counter.add(1); }

// One commit that changes two of the words.
[[gnu::flatten]] void hot_update(meterbank::Instance& instance, std::uint64_t value) {
  instance.update([value](meterbank::Values& values) noexcept {
    values.set(1, value);
    values.set(6, value);
  });
}

[[gnu::flatten]] void hot_increment(meterbank::StdAtomics::Word& word) {
  meterbank::StdAtomics::add_single_writer(word, 1);
}

[[gnu::flatten]] bool hot_try_read(const Block& block, std::array<std::uint64_t, kWords>& row,
                                   std::uint64_t& version) {
  return meterbank::try_read<meterbank::StdAtomics>(of_eight_words(block), row.data(), version);
}

[[gnu::flatten]] void hot_read(const Block& block, std::array<std::uint64_t, kWords>& row,
                               std::uint64_t version, meterbank::ReadResult& result) {
  result =
      meterbank::read_bounded<meterbank::StdAtomics>(of_eight_words(block), row.data(), version);
}

[[gnu::flatten]] bool hot_still_in(const meterbank::StdAtomics::Word& slot,
                                   std::uint64_t generation) {
  return meterbank::still_in<meterbank::StdAtomics>(slot, generation);
}
}
