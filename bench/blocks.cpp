// SPDX-License-Identifier: Apache-2.0
#include "blocks.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <new>
#include <numeric>
#include <random>

namespace meterbank::bench {
namespace {

constexpr std::uint32_t kSlots = kGroupSlotsMax;

std::size_t bytes_for(const BlockForm& form, std::size_t count) {
  return (count + kSlots - 1) / kSlots * GroupLayout::of(form, kSlots).bytes;
}

}  // namespace

SharedPages::SharedPages(std::size_t bytes)
    : memory_(static_cast<std::byte*>(::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                                             MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0))),
      bytes_(bytes) {
  if (memory_ == MAP_FAILED) throw std::bad_alloc();
}
SharedPages::~SharedPages() { ::munmap(memory_, bytes_); }

Blocks::Blocks(const BlockForm& form, std::size_t count)
    : form_(form), memory_(bytes_for(form, count)) {
  const GroupLayout layout = GroupLayout::of(form, kSlots);
  parts_.reserve(count);
  for (std::size_t index = 0; index < count; ++index) {
    std::byte* const group = memory_.data() + index / kSlots * layout.bytes;
    parts_.push_back(block_parts(group, form, layout, static_cast<std::uint32_t>(index % kSlots)));
  }
}

BlockParts<const SharedWord> Blocks::reader_parts(std::size_t index) const noexcept {
  const BlockParts<SharedWord>& own = parts_[index];
  return {own.seq, own.slot, own.copy0, own.copy1, own.checkpoint, own.words};
}

std::vector<SharedWord*> Blocks::first_words() const {
  std::vector<SharedWord*> words;
  words.reserve(parts_.size());
  for (const BlockParts<SharedWord>& parts : parts_) words.push_back(parts.copy0);
  return words;
}

std::vector<std::uint32_t> shuffled(std::size_t count) {
  std::vector<std::uint32_t> order(count);
  std::iota(order.begin(), order.end(), 0U);
  std::mt19937 random(20261121);  // Always the same, so that runs can be compared.
  std::shuffle(order.begin(), order.end(), random);
  return order;
}

}  // namespace meterbank::bench
