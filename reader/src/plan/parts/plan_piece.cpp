// SPDX-License-Identifier: Apache-2.0
#include "plan_piece.hpp"

#include <utility>

#include "../match/counter_mask.hpp"
#include "../row_blocks.hpp"
#include "meterbank/shm/segment.hpp"

namespace meterbank {
namespace {

constexpr std::size_t kLanes = 8;
// See QueryPlan::Selection::counter_mask.
std::uint64_t first_word_of(const std::vector<std::uint64_t>& mask) {
  return mask.size() == 1 ? mask.front() : kEveryCounter;
}

// Where the groups of a registration are mapped, as far as they can be reached.
std::shared_ptr<const std::vector<QueryPlan::Group>> groups_of(const MappedSegment& segment,
                                                               const RegisteredSet& set) {
  auto groups = std::make_shared<std::vector<QueryPlan::Group>>();
  groups->reserve(set.groups.size());
  std::uint32_t first_slot = 0;
  for (std::size_t index = 0; index < set.groups.size(); ++index) {
    const std::byte* const memory = segment.lines_at(set.groups[index], set.layouts[index].bytes);
    if (memory == nullptr) break;
    groups->push_back({memory, first_slot});
    first_slot += set.group_slots[index];
  }
  return groups;
}

// How many slots these groups have.
std::uint32_t slots_in(const std::vector<QueryPlan::Group>& groups, const RegisteredSet& set) {
  return groups.empty() ? 0 : groups.back().first_slot + set.group_slots[groups.size() - 1];
}

// Finds rows that lie one behind the other.
class RunFinder {
 public:
  RunFinder(const RegisteredSet& set, PlanPiece& piece) noexcept : set_(set), piece_(piece) {}

  void add_runs() {
    using Kind = QueryPlan::Run::Kind;
    const std::size_t lanes = form_of(set_).lanes;
    const std::size_t head_words = form_of(set_).head_stride() / sizeof(SharedWord);
    std::size_t row = 0, scattered = 0;
    const auto add_scattered = [&] {
      if (scattered != row) {
        piece_.runs.push_back({scattered, row - scattered, nullptr, 0, Kind::kScattered});
      }
    };
    while (row < piece_.instances.size()) {
      const std::size_t rows = starts_a_head(row) ? heads_in_order(row, lanes) : 0;
      if (rows == 0) {
        ++row;
        continue;
      }
      add_scattered();
      const SharedWord* const head = block_in(*piece_.groups, set_, piece_.instances[row]).seq;
      piece_.runs.push_back(
          {row, rows, head, head_words, lanes == kLanes ? Kind::kTiles : Kind::kLines});
      row += rows;
      scattered = row;
    }
    add_scattered();
    piece_.runs.shrink_to_fit();
  }

 private:
  [[nodiscard]] std::uint32_t place(std::size_t row) const noexcept {
    return place_of(set_, piece_.instances[row]);
  }

  // How many rows from `row` on lie one head after the other in one group, `lanes` to a head.
  [[nodiscard]] std::size_t heads_in_order(std::size_t row, std::size_t lanes) noexcept {
    const std::uint32_t first = place(row);
    // Places of a recording are in any order.
    if (first < group_begin_) group_ = group_begin_ = group_end_ = 0;
    while (group_end_ <= first) {
      group_begin_ = group_end_;
      group_end_ += set_.group_slots[group_++];
    }
    std::size_t count = 0;
    while (row + count < piece_.instances.size() && place(row + count) == first + count &&
           first + count < group_end_) {
      ++count;
    }
    return count / lanes * lanes;
  }

  [[nodiscard]] bool starts_a_head(std::size_t row) const noexcept {
    return place(row) % form_of(set_).lanes == 0;
  }

  const RegisteredSet& set_;
  PlanPiece& piece_;
  std::uint32_t group_ = 0;
  // The slots of the group before `group_`, counted through the groups.
  std::uint32_t group_begin_ = 0, group_end_ = 0;
};

}  // namespace

std::shared_ptr<PlanPiece> make_piece(const ProviderView& provider, const RegisteredSet& set,
                                      std::vector<std::uint32_t> instances,
                                      std::vector<std::uint32_t> counters) {
  const auto* record = provider.segment->at<RegistrationRecord>(set.registration);
  if (record == nullptr) return nullptr;
  auto piece = std::make_shared<PlanPiece>();
  piece->membership = &record->membership;
  piece->word = &record->word;
  piece->counter_mask = first_word_of(counter_mask_of(*set.set, counters));
  piece->counters = std::move(counters);
  piece->groups = groups_of(*provider.segment, set);
  const std::uint32_t slots = slots_in(*piece->groups, set);
  piece->instances = std::move(instances);
  // They are in the order of their slots. Those of a recording all have a place.
  while (!piece->instances.empty() && set.recorded == nullptr &&
         set.instances[piece->instances.back()].slot >= slots) {
    piece->instances.pop_back();
  }
  if (piece->instances.empty()) return nullptr;
  if (!form_of(set).sharded()) RunFinder(set, *piece).add_runs();  // those are joined one by one
  return piece;
}

}  // namespace meterbank
