// SPDX-License-Identifier: Apache-2.0
//
// What a PerfLib query handle stands for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "../error_codes.hpp"
#include "../found_sets.hpp"
#include "meterbank/perflib/block_walker.hpp"
#include "meterbank/reader/catalog.hpp"
#include "meterbank/reader/item_query.hpp"
#include "result_plan.hpp"

namespace meterbank {

// A buffer of a caller: where, how much room, and what has been stored or would be needed.
struct CallerBuffer {
  std::byte* target = nullptr;
  std::size_t capacity = 0;
  std::uint32_t* needed = nullptr;

  // False: no place for the answer, or room without a place.
  [[nodiscard]] bool is_sound() const noexcept {
    return needed != nullptr && (target != nullptr || capacity == 0);
  }
  // Says what is needed; kSuccess if there is room for it.
  [[nodiscard]] PerfError announce(std::size_t bytes) const noexcept;
  // All of the block or, if there is no room, nothing.
  [[nodiscard]] PerfError fill(std::span<const std::byte> block) const noexcept;
};

// Thread safety: any thread may call any function; calls wait for each other. Errors: may throw
// std::bad_alloc only.
class PerfQuery {
 public:
  PerfQuery(Catalog catalog, CharacterWidth width)
      : catalog_(std::move(catalog)), width_(width), query_(ItemQuery::compile(catalog_, {})) {}

  // Both write each identifier's status into `bytes`. kInvalidParameter: the bytes are no sequence
  // of identifiers, and nothing was done.
  [[nodiscard]] PerfError add(std::span<std::byte> bytes);
  [[nodiscard]] PerfError remove(std::span<std::byte> bytes);

  [[nodiscard]] PerfError list(const CallerBuffer& buffer) const;
  [[nodiscard]] PerfError read(const CallerBuffer& buffer);

 private:
  struct Item {
    QueryItem asked;
    // What the provider returned when it was told; then the query does without the item, whose
    // block says so.
    PerfError refusal = PerfError::kSuccess;
  };

  [[nodiscard]] PerfError add_one(const FoundIdentifier& identifier,
                                  const std::vector<FoundSet>& sets);
  // Writes into `bytes` that a provider refused one of the last items; `offsets` says where their
  // identifiers are.
  void hear_refusals(std::span<std::byte> bytes, const std::vector<std::size_t>& offsets,
                     const std::vector<FoundSet>& sets);
  [[nodiscard]] PerfError remove_one(const FoundIdentifier& identifier);
  void look_around(std::uint64_t now_ns);
  void make_ready();
  // Tells providers that want to know which counters are in the query now.
  void show_interest();
  void lay_out();
  void lay_out_blocks();
  // Whether the sample was taken a moment ago for a buffer that had no room for it: then the next
  // buffer gets it, and no provider is asked twice for one answer.
  [[nodiscard]] bool is_waiting(std::uint64_t now_ns) const noexcept;

  mutable std::mutex mutex_;
  Catalog catalog_;
  const CharacterWidth width_;
  std::vector<Item> items_;
  std::size_t items_bytes_ = 0;      // of list()
  bool ready_ = false;               // the four below belong to the items and the catalog
  std::uint64_t ready_version_ = 0;  // of the catalog
  ItemQuery query_;
  ResultPlan plan_;
  Sample sample_;
  std::uint64_t scanned_ns_ = 0;
  bool is_unfetched_ = false;  // sample_ is an answer that found no room
};

}  // namespace meterbank
