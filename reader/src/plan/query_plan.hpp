// SPDX-License-Identifier: Apache-2.0
//
// What was selected, as addresses, and what was copied of it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "meterbank/reader/item_query.hpp"
#include "sample_memory.hpp"

namespace meterbank {

// What was selected, in order; immutable and shared by a query and its samples.
//
// The rows of a registration are kept in parts, one for each piece of its instances, and plans
// share the parts of pieces that have not changed:
//
//   Selection -> RowList -> PieceRows -> InstancePiece
//                   |    -> PieceRows -> InstancePiece
//                   |           ...
//                   rows of the parts, one part behind the other
struct QueryPlan {
  // Rows that one kernel copies: blocks of consecutive slots, so that addresses follow by stride.
  struct Run {
    enum class Kind : std::uint8_t { kTiles, kLines, kScattered };
    std::size_t first_row = 0, rows = 0;  // first_row: in PieceRows; tiles: a multiple of 8 rows
    const SharedWord* head = nullptr;     // seq of the first row; scattered: see RowBlocks
    std::size_t head_words = 0;           // from one head to the next
    Kind kind = Kind::kScattered;
  };
  // The rows that were selected of one piece. Immutable.
  struct PieceRows {
    std::shared_ptr<const InstancePiece> piece;
    std::uint32_t first_index = 0;      // of the piece, in RegisteredSet::instances
    std::vector<std::uint16_t> places;  // of each row in the piece, rising
    std::vector<Run> runs;              // has all rows; none of a sharded set

    [[nodiscard]] std::size_t size() const noexcept { return places.size(); }
    [[nodiscard]] const InstanceView& instance(std::size_t row) const noexcept {
      return piece->instances[places[row]];
    }
    [[nodiscard]] std::size_t index(std::size_t row) const noexcept {
      return first_index + places[row];
    }
  };
  static_assert(InstancePiece::kSlots <= 1U << 16);
  struct RowList {
    struct Part {
      std::shared_ptr<const PieceRows> rows;  // may be of no rows
      std::size_t first_row = 0;
    };
    std::vector<Part> parts;  // in the order of the pieces
    std::size_t size = 0;

    // Which part has the row. Precondition: one has.
    [[nodiscard]] std::size_t part_with(std::size_t row) const noexcept {
      const auto next = std::upper_bound(
          parts.begin(), parts.end(), row,
          [](std::size_t wanted, const Part& part) { return wanted < part.first_row; });
      return static_cast<std::size_t>(next - parts.begin()) - 1;
    }
  };
  // Where a group of the registration is mapped.
  struct Group {
    const std::byte* memory = nullptr;
    std::uint32_t first_slot = 0;
  };
  struct NameMark {
    bool has_namesake : 1 = false;  // see Row::has_namesake
    bool shares_name : 1 = false;   // see Row::shares_name
  };
  static constexpr std::size_t kNoShare = ~std::size_t{0};
  struct Selection {  // one registration of one provider
    std::shared_ptr<const ProviderView> provider;
    const RegisteredSet* set = nullptr;   // in *provider
    std::vector<std::uint32_t> counters;  // indexes in Counterset::counters, in order of request
    std::shared_ptr<const RowList> list;  // its rows, never null or empty
    std::size_t first_row = 0, rows = 0;
    std::size_t first_value = 0;  // in SampleContent::values; each row has BlockForm::words
    std::size_t first_part = 0, parts = 0;             // of `list`, counted through all selections
    std::shared_ptr<const std::vector<Group>> groups;  // those of RegisteredSet::groups, never null
    bool total = false;                                // its rows become one: cooking adds them up
    // The same for all registrations of a set that agree(): totals are made among these.
    std::uint32_t description = 0;
    // Of those, the ones with a total form a chain: the first one has the row.
    bool is_first_share = false;
    std::size_t next_share = kNoShare;
    bool is_apart = false;  // the name of the set stands for another description
    // Bit x: the counter with id x is wanted, by itself or as another's base. All ones where that
    // cannot be said: all are, or one has an id above 63. Windows: PCW_MASK_INFORMATION.
    std::uint64_t counter_mask = 0;
    const SharedWord* membership = nullptr;
    const SharedWord* word = nullptr;  // registration word
    // The RowStatus of the last answer, where rows are asked for; null: they are in shared memory.
    const SharedWord* answered = nullptr;
    // Only trusted providers count for the rows of one; rows of other providers always have one.
    bool all_have_namesakes = false;
    std::vector<NameMark> marks;  // one a row; empty: no more is to be said than that

    [[nodiscard]] NameMark mark_of(std::size_t row_of_selection) const noexcept {
      return marks.empty() ? NameMark{all_have_namesakes, false} : marks[row_of_selection];
    }
  };
  std::vector<Selection> selections;
  std::size_t rows = 0;
  // Which selection has row 0, 64, 128 and so on, and the last one.
  static constexpr std::size_t kRowsOfGuide = 64;
  std::vector<std::uint32_t> guide;
  // One an item, in their order, about the first description of its set; a query of patterns has
  // none. `others` are about further descriptions, those of untrusted providers taken together.
  std::vector<ItemAnswer> answers, others;
  // One a description of a set; of trusted providers. The sets of one user have at most 64 entries
  // and 16,384 counters together.
  std::vector<EndedValues> ended;
  std::uint64_t ended_left_out = 0;  // instances that ended beyond that
  // Those whose rows would be in a total if they were trusted.
  std::vector<std::shared_ptr<const ProviderView>> left_out;
  // Registrations of a recording whose callbacks a live reader would have asked.
  struct RecordedAsk {
    std::shared_ptr<const ProviderView> provider;
    const RegisteredSet* set = nullptr;  // in *provider
  };
  std::vector<RecordedAsk> recorded_answers;
  // Size of SampleContent::values. A selection of several rows begins at a cache line in it, so
  // there may be gaps.
  std::size_t words = 0;
  std::size_t parts = 0;         // of all selections
  std::size_t widest_shard = 0;  // words of a block in a sharded set
  // Registrations that were held against the request for this plan. The rest was taken over from
  // the plan before.
  std::size_t compiled = 0;
  // All providers of the catalog, selected or not: a change in any of them may concern the query.
  std::vector<std::shared_ptr<const ProviderView>> providers;

  [[nodiscard]] std::size_t number_of_selection(std::size_t row) const noexcept {
    const std::size_t first = guide[row / kRowsOfGuide], last = guide[row / kRowsOfGuide + 1];
    if (first == last) return first;
    const auto next = std::upper_bound(
        selections.data() + first + 1, selections.data() + last + 1, row,
        [](std::size_t wanted, const Selection& one) { return wanted < one.first_row; });
    return static_cast<std::size_t>(next - selections.data()) - 1;
  }
  [[nodiscard]] const Selection& selection_of(std::size_t row) const noexcept {
    return selections[number_of_selection(row)];
  }
  // Index of the row's first word in SampleContent::values.
  [[nodiscard]] std::size_t value_of(std::size_t row) const noexcept {
    const Selection& selection = selection_of(row);
    return selection.first_value + (row - selection.first_row) * selection.set->set->form.words;
  }
};

// Where a row of a plan is. Cheap to move to a row nearby.
class RowPlace {
 public:
  // Nowhere, until move_to().
  RowPlace() = default;
  explicit RowPlace(const QueryPlan& plan) noexcept : plan_(&plan) {}
  RowPlace(const QueryPlan& plan, std::size_t row) noexcept : plan_(&plan) { move_to(row); }

  // Precondition: the plan has the row.
  void move_to(std::size_t row) noexcept {
    row_ = row;
    if (row - first_ >= rows_of_part_) find();
  }
  [[nodiscard]] const QueryPlan::Selection& selection() const noexcept {
    return plan_->selections[selection_];
  }
  [[nodiscard]] std::size_t number_of_selection() const noexcept { return selection_; }
  [[nodiscard]] std::size_t in_selection() const noexcept { return row_ - selection().first_row; }
  // As QueryPlan::value_of().
  [[nodiscard]] std::size_t first_value() const noexcept {
    return selection().first_value + in_selection() * selection().set->set->form.words;
  }
  [[nodiscard]] const QueryPlan::PieceRows& part() const noexcept { return *part_; }
  // In RowList::parts.
  [[nodiscard]] std::size_t number_of_part() const noexcept { return number_of_part_; }
  [[nodiscard]] std::size_t in_part() const noexcept { return row_ - first_; }
  [[nodiscard]] const InstanceView& instance() const noexcept { return part_->instance(in_part()); }

 private:
  void find() noexcept {
    const std::vector<QueryPlan::Selection>& all = plan_->selections;
    const std::size_t next = selection_ + 1;
    const bool is_next = part_ != nullptr && next < all.size() && all[next].first_row == row_;
    selection_ = is_next ? next : plan_->number_of_selection(row_);
    const QueryPlan::RowList& list = *selection().list;
    number_of_part_ = list.part_with(in_selection());
    const QueryPlan::RowList::Part& part = list.parts[number_of_part_];
    part_ = part.rows.get();
    first_ = selection().first_row + part.first_row;
    rows_of_part_ = part.rows->size();
  }

  const QueryPlan* plan_ = nullptr;
  const QueryPlan::PieceRows* part_ = nullptr;
  std::size_t row_ = 0, selection_ = 0, number_of_part_ = 0;
  std::size_t first_ = 0, rows_of_part_ = 0;  // rows of *part_
};

// How the rows of one selection hang together.
struct SelectionCut {
  CutQuality quality = CutQuality::kPerBlock;
  std::uint64_t skew_ns = 0;  // kPerBlock: the first load was at most so long before the last
};

struct SampleContent {
  std::shared_ptr<const QueryPlan> plan;      // null: nothing was collected
  SampleWords values;                         // the words of each row, see QueryPlan::value_of()
  std::vector<RowStatus> status;              // one a row
  std::vector<RowConsistency> consistency;    // one a row
  std::vector<SelectionCut> cuts;             // one a selection; empty if no cut was asked for
  mutable std::shared_ptr<RowCursor> cursor;  // that of the last iteration, for its memory

  [[nodiscard]] const std::uint64_t* row(std::size_t index) const noexcept {
    return values.data() + plan->value_of(index);
  }
};

struct SampleAccess {
  // Null: nothing was ever collected.
  [[nodiscard]] static const SampleContent* find(const Sample& sample) noexcept {
    return sample.content_.get();
  }
  // Makes it if there is none: may throw std::bad_alloc.
  [[nodiscard]] static SampleContent& of(Sample& sample);
};

[[nodiscard]] std::vector<SelectedSet> selected_in(const QueryPlan& plan);

// Precondition: the sample was prepared or collected.
[[nodiscard]] inline const SampleContent& content_of(const Sample& sample) noexcept {
  return *SampleAccess::find(sample);
}

}  // namespace meterbank
