// SPDX-License-Identifier: Apache-2.0
//
// The reading half of the block protocol, without a catalog around it.
#include <array>

#include "blocks.hpp"
#include "rows/bulk.hpp"

namespace meterbank::bench {
namespace {

[[gnu::noinline]] void read_warm(const BlockParts<const SharedWord>& parts,
                                 std::array<std::uint64_t, 8>& values, std::uint64_t turns) {
  for (std::uint64_t turn = 0; turn < turns; ++turn) {
    keep(read_bounded<StdAtomics>(parts, values.data(), 0).version);
    keep(values.data());
  }
}

[[gnu::noinline]] void copy_warm(const BlockParts<const SharedWord>& parts,
                                 std::array<std::uint64_t, 8>& values, std::uint64_t turns) {
  for (std::uint64_t turn = 0; turn < turns; ++turn) {
    StdAtomics::copy_words(values.data(), parts.copy0, values.size());
    keep(values.data());
  }
}

void one_warm_block(const Effort& effort, Table& table) {
  const Blocks blocks({.words = 8, .checkpoint = 1}, 1);
  const BlockParts<const SharedWord> parts = blocks.reader_parts(0);
  std::array<std::uint64_t, 8> values{};
  const std::uint64_t turns = effort.operations;
  table.time_row("snapshot of one warm block of 8 (limit: the copy alone)",
                 compare(
                     effort.rounds, turns, [&] { read_warm(parts, values, turns); },
                     [&] { copy_warm(parts, values, turns); }),
                 4.0);
}

}  // namespace

void snapshot_rows(const Effort& effort, Table& table) { one_warm_block(effort, table); }

}  // namespace meterbank::bench
