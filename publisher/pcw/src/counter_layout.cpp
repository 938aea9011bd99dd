// SPDX-License-Identifier: Apache-2.0
#include "counter_layout.hpp"

#include <algorithm>
#include <cstring>
#include <map>

#include "refusal.hpp"

namespace meterbank::pcw {
namespace {

// The provider stores to these while they are read: a word of its own type, whatever that is.
using CallersWord32 [[gnu::may_alias]] = const std::uint32_t;
using CallersWord64 [[gnu::may_alias]] = const std::uint64_t;

// relaxed, both: the value is all that is asked for; nothing is ordered by it.
template <typename Word>
std::uint64_t load(const std::byte* at) noexcept {
  if (reinterpret_cast<std::uintptr_t>(at) % sizeof(Word) == 0) {
    return __atomic_load_n(reinterpret_cast<Word*>(at), __ATOMIC_RELAXED);
  }
  std::uint64_t value = 0;
  for (std::size_t byte = 0; byte < sizeof(Word); ++byte) {
    const auto part =
        __atomic_load_n(reinterpret_cast<const std::uint8_t*>(at) + byte, __ATOMIC_RELAXED);
    value |= std::uint64_t{part} << (8 * byte);
  }
  return value;
}

}  // namespace

std::optional<CounterLayout> CounterLayout::of(std::span<const PCW_COUNTER_DESCRIPTOR> descriptors,
                                               const CountersetSpec& spec, std::string& why) {
  std::map<std::uint32_t, const PCW_COUNTER_DESCRIPTOR*> by_id;
  for (const PCW_COUNTER_DESCRIPTOR& descriptor : descriptors) {
    const std::string which = "counter " + std::to_string(descriptor.Id) + ": ";
    if (descriptor.Size != 4 && descriptor.Size != 8) {
      why = which + "its size is neither 4 nor 8";
      return std::nullopt;
    }
    if (!by_id.emplace(descriptor.Id, &descriptor).second) {
      why = which + "described twice";
      return std::nullopt;
    }
  }
  CounterLayout layout;
  for (const CounterSpec& counter : spec.counters) {
    const std::string which = "counter " + std::to_string(counter.id) + ": ";
    const auto found = by_id.find(counter.id);
    if (found == by_id.end()) {
      why = which + "in the description, and not in the registration";
      return std::nullopt;
    }
    const PCW_COUNTER_DESCRIPTOR& descriptor = *found->second;
    const auto width = static_cast<std::uint16_t>(width_of(counter.type));
    if (width == 0) {
      why = which + "its type has no value";
      return std::nullopt;
    }
    layout.columns_.push_back({descriptor.StructIndex, descriptor.Offset, descriptor.Size,
                               std::min(width, descriptor.Size)});
    layout.blocks_ = std::max(layout.blocks_, std::size_t{descriptor.StructIndex} + 1);
  }
  if (layout.columns_.size() != by_id.size()) {
    why = "a counter of the registration is not in the description";
    return std::nullopt;
  }
  return layout;
}

bool CounterLayout::is_plain_words() const noexcept {
  for (std::size_t index = 0; index < columns_.size(); ++index) {
    const Column& column = columns_[index];
    if (column.block != 0 || column.offset != 8 * index) return false;
    if (column.bytes != column.value_bytes) return false;
  }
  return true;
}

NTSTATUS CounterLayout::check(std::span<const PCW_DATA> blocks) const noexcept {
  if (blocks.size() < blocks_) {
    return refuse(STATUS_INVALID_PARAMETER_4, std::to_string(blocks.size()) + " blocks where " +
                                                  std::to_string(blocks_) + " are needed");
  }
  for (const Column& column : columns_) {
    const PCW_DATA& block = blocks[column.block];
    if (block.Data == nullptr) return refuse(STATUS_INVALID_PARAMETER_5, "a block is null");
    if (block.Size < std::uint32_t{column.offset} + column.bytes) {
      return refuse(STATUS_INVALID_BUFFER_SIZE, "a block of " + std::to_string(block.Size) +
                                                    " bytes ends before the counter at " +
                                                    std::to_string(column.offset));
    }
  }
  return STATUS_SUCCESS;
}

void CounterLayout::read(std::span<const PCW_DATA> blocks,
                         std::span<std::uint64_t> values) const noexcept {
  for (std::size_t index = 0; index < columns_.size(); ++index) {
    const Column& column = columns_[index];
    const auto* const at = static_cast<const std::byte*>(blocks[column.block].Data) + column.offset;
    values[index] = column.value_bytes == 4 ? load<CallersWord32>(at) : load<CallersWord64>(at);
  }
}

}  // namespace meterbank::pcw
