// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "directory_decoder.hpp"
#include "image.hpp"
#include "meterbank/shm/segment.hpp"

namespace meterbank::test {

Walk walk(const std::byte* data, std::size_t size) {
  Walk result;
  auto segment = MappedSegment::attach(MappedExtent::over({data, size}));
  if (!segment) return result;
  result.attached = true;
  const DecodedDirectory directory = decode_directory(**segment);
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
      if (read_bounded<StdAtomics>(block, words.data(), 0).status != ReadStatus::kBusy) {
        ++result.blocks_read;
      }
    }
  }
  return result;
}

}  // namespace meterbank::test
