// SPDX-License-Identifier: Apache-2.0
#include "unplaced_selection.hpp"

#include <algorithm>
#include <span>
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
  RunFinder(const RegisteredSet& set, std::span<const QueryPlan::Group> groups,
            QueryPlan::PieceRows& rows) noexcept
      : set_(set), groups_(groups), rows_(rows) {}

  void add_runs() {
    using Kind = QueryPlan::Run::Kind;
    const std::size_t lanes = form_of(set_).lanes;
    const std::size_t head_words = form_of(set_).head_stride() / sizeof(SharedWord);
    std::size_t row = 0, scattered = 0;
    const auto add_scattered = [&] {
      if (scattered != row) {
        rows_.runs.push_back({scattered, row - scattered, nullptr, 0, Kind::kScattered});
      }
    };
    while (row < rows_.size()) {
      const std::size_t rows = starts_a_head(row) ? heads_in_order(row, lanes) : 0;
      if (rows == 0) {
        ++row;
        continue;
      }
      add_scattered();
      const SharedWord* const head = RowBlocks(groups_, set_, rows_, row)[0].seq;
      rows_.runs.push_back(
          {row, rows, head, head_words, lanes == kLanes ? Kind::kTiles : Kind::kLines});
      row += rows;
      scattered = row;
    }
    add_scattered();
    rows_.runs.shrink_to_fit();
  }

 private:
  [[nodiscard]] std::uint32_t place(std::size_t row) const noexcept {
    return place_of(set_, rows_, row);
  }

  // How many rows from `row` on lie one head after the other in one group, `lanes` to a head.
  [[nodiscard]] std::size_t heads_in_order(std::size_t row, std::size_t lanes) const noexcept {
    const std::uint32_t first = place(row);
    const std::size_t group = group_with(groups_, first);
    const std::uint32_t end = groups_[group].first_slot + set_.group_slots[group];
    std::size_t count = 0;
    while (row + count < rows_.size() && place(row + count) == first + count &&
           first + count < end) {
      ++count;
    }
    return count / lanes * lanes;
  }

  [[nodiscard]] bool starts_a_head(std::size_t row) const noexcept {
    return place(row) % form_of(set_).lanes == 0;
  }

  const RegisteredSet& set_;
  std::span<const QueryPlan::Group> groups_;
  QueryPlan::PieceRows& rows_;
};

}  // namespace

SelectionBuilder::SelectionBuilder(const ProviderView& provider, const RegisteredSet& set)
    : provider_(provider),
      set_(set),
      groups_(groups_of(*provider.segment, set)),
      slots_(slots_in(*groups_, set)),
      list_(std::make_shared<QueryPlan::RowList>()) {
  list_->parts.reserve(set.instances.pieces().size());
}

const InstancePiece& SelectionBuilder::start_part(QueryPlan::PieceRows& rows) const {
  const std::size_t index = list_->parts.size();
  rows.piece = set_.instances.pieces()[index];
  rows.first_index = static_cast<std::uint32_t>(index * InstancePiece::kSlots);
  return *rows.piece;
}

void SelectionBuilder::finish_part(std::shared_ptr<QueryPlan::PieceRows> rows) {
  // They are in the order of their slots. Those of a recording all have a place.
  while (set_.recorded == nullptr && rows->size() != 0 &&
         rows->instance(rows->size() - 1).slot >= slots_) {
    rows->places.pop_back();
  }
  if (rows->places.capacity() > 2 * rows->size()) rows->places.shrink_to_fit();
  // Blocks of a sharded set are joined one by one.
  if (!form_of(set_).sharded()) RunFinder(set_, *groups_, *rows).add_runs();
  add_known(std::move(rows));
}

void SelectionBuilder::add_known(std::shared_ptr<const QueryPlan::PieceRows> rows) {
  const std::size_t first_row = list_->size;
  list_->size += rows->size();
  list_->parts.push_back({std::move(rows), first_row});
}

void SelectionBuilder::add_all(const std::vector<std::uint32_t>& instances) {
  auto next = instances.begin();
  while (list_->parts.size() < set_.instances.pieces().size()) {
    auto rows = std::make_shared<QueryPlan::PieceRows>();
    start_part(*rows);
    const std::uint32_t first = rows->first_index;
    const auto end = std::lower_bound(next, instances.end(), first + InstancePiece::kSlots);
    rows->places.reserve(static_cast<std::size_t>(end - next));
    for (; next != end; ++next) rows->places.push_back(static_cast<std::uint16_t>(*next - first));
    finish_part(std::move(rows));
  }
}

std::shared_ptr<UnplacedSelection> SelectionBuilder::finish(
    std::vector<std::uint32_t> counters) && {
  const auto* const record = provider_.segment->at<RegistrationRecord>(set_.registration);
  if (record == nullptr || list_->size == 0) return nullptr;
  auto selection = std::make_shared<UnplacedSelection>();
  selection->membership = &record->membership;
  selection->word = &record->word;
  selection->counter_mask = first_word_of(counter_mask_of(*set_.set, counters));
  selection->counters = std::move(counters);
  selection->list = std::move(list_);
  selection->groups = std::move(groups_);
  return selection;
}

std::shared_ptr<UnplacedSelection> make_selection(const ProviderView& provider,
                                                  const RegisteredSet& set,
                                                  const std::vector<std::uint32_t>& instances,
                                                  std::vector<std::uint32_t> counters) {
  SelectionBuilder builder(provider, set);
  builder.add_all(instances);
  return std::move(builder).finish(std::move(counters));
}

}  // namespace meterbank
