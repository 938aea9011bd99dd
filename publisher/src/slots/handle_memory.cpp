// SPDX-License-Identifier: Apache-2.0
#include "handle_memory.hpp"

#include <utility>

namespace meterbank::detail {
namespace {

constinit std::atomic<HandleMemory*> first_ended{nullptr};

}  // namespace

Shards SlotLife::shards_now(std::ptrdiff_t area) const noexcept {
  // relaxed: only the owner stores it, and its caller has a reference to the life.
  const auto word = SlotWord::of(StdAtomics::load_relaxed(*slot));
  Shards now;
  now.first = shards.get();
  now.live = SlotWord{word.generation, SlotState::kLive}.raw();
  now.own = shards_count - 1;
  now.rseq = area;
  if (area != 0 && now.first->writer.is_in_place(0)) {
    now.in_place = &now.first[0].writer.word(0);
    now.stride = static_cast<std::uint64_t>(&now.first[1].writer.word(0) - now.in_place) *
                 sizeof(SharedWord);
    now.in_place_words = now.first->writer.words();
  }
  return now;
}

void keep_ended_memory(std::unique_ptr<HandleMemory> memory) noexcept {
  for (OwnedExtent& extent : memory->extents) static_cast<void>(extent.detach());
  HandleMemory* const ended = memory.release();
  // release: pairs with the acquire in free_ended_memory(). Without it the thread that frees it
  // could find an older `next_ended`, or extents that are not detached. relaxed: a guess.
  ended->next_ended = first_ended.load(std::memory_order_relaxed);
  while (!first_ended.compare_exchange_weak(ended->next_ended, ended, std::memory_order_release,
                                            std::memory_order_relaxed)) {
  }
}

void free_ended_memory() noexcept {
  // acquire: pairs with the release in keep_ended_memory(). All are taken at once, so that none is
  // freed twice.
  std::unique_ptr<HandleMemory> ended(first_ended.exchange(nullptr, std::memory_order_acquire));
  while (ended != nullptr) ended.reset(std::exchange(ended->next_ended, nullptr));
}

}  // namespace meterbank::detail
