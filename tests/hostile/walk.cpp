// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdlib>
#include <memory>
#include <vector>

#include "catalog/decode/directory_decoder.hpp"
#include "collect/sweep.hpp"
#include "image.hpp"
#include "meterbank/shm/segment.hpp"

namespace meterbank::test {

namespace {

bool reads(const BlockParts<const SharedWord>& block, std::uint64_t generation,
           const Counterset& set, std::uint64_t* words) {
  if (!set.form.sharded()) {
    return read_bounded<StdAtomics>(block, words, 0).status != ReadStatus::kBusy;
  }
  std::vector<std::uint64_t> versions(set.form.shards), one_shard(set.form.words);
  RowStatus status = RowStatus::kBusy;
  RowConsistency consistency = RowConsistency::kBlock;
  read_sharded_row(block, generation, set, one_shard.data(), {words, versions.data(), &status},
                   consistency);
  return status != RowStatus::kBusy;
}

// What a reader does that has known the directory since an earlier version.
void follow(const MappedSegment& segment, const DecodedDirectory& known) {
  if (!known.errors.empty()) return;
  constexpr std::uint64_t kChanges = 7;
  const auto followed = decode_changes(segment, {known.version - kChanges, known.sets});
  if (!followed) return;
  for (const RegisteredSet& set : followed->sets) {
    for (const InstanceView& instance : set.instances) {
      // A sanitizer looks at each byte.
      if (std::count(instance.name.begin(), instance.name.end(), '\0') > 1024) std::abort();
    }
  }
}

}  // namespace

Walk walk(const std::byte* data, std::size_t size) {
  Walk result;
  auto segment = MappedSegment::attach(MappedExtent::over({data, size}));
  if (!segment) return result;
  result.attached = true;
  const DecodedDirectory directory = decode_directory(**segment);
  follow(**segment, directory);
  std::vector<std::uint64_t> words;
  for (const RegisteredSet& set : directory.sets) {
    ++result.sets;
    words.resize(set.set->form.words);
    for (const InstanceView& instance : set.instances) {
      ++result.instances;
      std::uint32_t slot = instance.slot;
      std::size_t group = 0;
      while (slot >= set.group_slots[group]) slot -= set.group_slots[group++];
      const std::byte* start = (*segment)->lines_at(set.groups[group], set.layouts[group].bytes);
      const auto block = block_parts(start, set.set->form, set.layouts[group], slot);
      ++result.snapshots;
      if (reads(block, instance.generation, *set.set, words.data())) ++result.blocks_read;
    }
  }
  return result;
}

}  // namespace meterbank::test
