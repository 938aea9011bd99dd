// SPDX-License-Identifier: Apache-2.0
//
// What handles count into: the blocks of all slots, and what a thread needs to find them.
//
// It outlives the provider and all handles. While exit() destroys static handles, other threads
// still run, and count through them. A process that makes another provider does not exit: then the
// memory of those that have ended is freed. Until then it is address space and little more, because
// private zero pages have taken the place of the shared ones.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "meterbank/publisher/sharded.hpp"
#include "meterbank/shm/segment.hpp"
#include "meterbank/shm/segment_layout.hpp"

namespace meterbank::detail {

struct OwnedRegistration;

// The process-private side of one slot. The first cache line is what a search by name reads.
struct alignas(kCacheLine) SlotLife {
  BlockWriter<StdAtomics> writer;
  std::atomic<std::uint32_t> holders{0};  // handles that can still write to the slot
  std::uint32_t id = 0;
  std::string name;
  // What the holders keep alive together: made at the beginning of a life, deleted by the
  // holder that lets go last, and never replaced in between.
  const std::shared_ptr<OwnedRegistration>* kept = nullptr;
  bool live = false;
  std::chrono::steady_clock::time_point closed_at;
  SlotLife* closed_next = nullptr;
  SharedWord* slot = nullptr;
  SlotDescriptor* descriptor = nullptr;
  std::byte* long_name = nullptr;  // memory for names beyond kNameHereBytes, kept for reuse
  Ref long_name_ref = 0;
  std::uint64_t long_name_bytes = 0;
  std::unique_ptr<Shard[]> shards;  // none unless the set is sharded; the shared shard is the last
  std::uint32_t shards_count = 0;
  std::uint32_t number = 0;  // counted through the groups of the registration

  // As the writers of the present life need them; `area` is `rseq` of the registration.
  [[nodiscard]] Shards shards_now(std::ptrdiff_t area) const noexcept;
};

struct HandleMemory {
  std::vector<OwnedExtent> extents;
  std::vector<std::unique_ptr<SlotLife[]>> lives;
  HandleMemory* next_ended = nullptr;
};

// At the end of the provider and its last handle. Progress: one system call for each extent, and
// one for its descriptor.
void keep_ended_memory(std::unique_ptr<HandleMemory> memory) noexcept;

// Thread safety, both: any thread.
void free_ended_memory() noexcept;

}  // namespace meterbank::detail
