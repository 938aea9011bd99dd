// SPDX-License-Identifier: Apache-2.0
//
// What was selected, as addresses, and what was copied of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "meterbank/reader/item_query.hpp"
#include "sample_memory.hpp"

namespace meterbank {

// What was selected, in order; immutable and shared by a query and its samples.
struct QueryPlan {
  // Small, because a plan has one for each selected instance. The functions below have the rest.
  struct Row {
    static constexpr std::uint32_t kInstanceMask = 0x3fffffff;

    std::uint32_t selection = 0;
    std::uint32_t instance : 30 = 0;  // index in RegisteredSet::instances
    // Another provider has an instance of this name in a set so called. Only trusted providers
    // count for the rows of one; rows of other providers always have it.
    bool has_namesake : 1 = false;
    bool shares_name : 1 = false;  // another instance of its own provider has its name in the set
  };
  // Where a group of the registration is mapped.
  struct Group {
    const std::byte* memory = nullptr;
    std::uint32_t first_slot = 0;
  };
  static constexpr std::size_t kNoShare = ~std::size_t{0};
  struct Selection {  // one registration of one provider
    std::shared_ptr<const ProviderView> provider;
    const RegisteredSet* set = nullptr;   // in *provider
    std::vector<std::uint32_t> counters;  // indexes in Counterset::counters, in order of request
    std::size_t first_row = 0, rows = 0;
    std::size_t first_value = 0;  // in SampleContent::values; each row has BlockForm::words
    std::size_t first_run = 0, runs = 0;
    std::size_t first_version = 0;                     // versions of its rows' blocks, one a block
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
  };
  // Rows that one kernel copies: blocks of consecutive slots, so that addresses follow by stride.
  struct Run {
    enum class Kind : std::uint8_t { kTiles, kLines, kScattered };
    std::size_t first_row = 0, rows = 0;  // tiles: a multiple of 8
    const SharedWord* head = nullptr;     // seq of the first row; scattered: see block_of()
    std::size_t head_words = 0;           // from one head to the next
    Kind kind = Kind::kScattered;
  };
  std::vector<Selection> selections;
  std::vector<Run> runs;
  std::vector<Row> rows;
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
  // Sizes of SampleContent::values and of the versions. A selection of several rows begins at a
  // cache line in both, so there may be gaps.
  std::size_t words = 0;
  std::size_t versions = 0;
  std::size_t widest_shard = 0;  // words of a block in a sharded set
  // Registrations that were held against the request for this plan. The parts of the others were
  // taken over from the plan before.
  std::size_t compiled = 0;
  // All providers of the catalog, selected or not: a change in any of them may concern the query.
  std::vector<std::shared_ptr<const ProviderView>> providers;

  [[nodiscard]] const Selection& selection_of(std::size_t row) const noexcept {
    return selections[rows[row].selection];
  }
  [[nodiscard]] const InstanceView& instance_of(std::size_t row) const noexcept {
    return selection_of(row).set->instances[rows[row].instance];
  }
  // Index of the row's first word in SampleContent::values.
  [[nodiscard]] std::size_t value_of(std::size_t row) const noexcept {
    const Selection& selection = selection_of(row);
    return selection.first_value + (row - selection.first_row) * selection.set->set->form.words;
  }
  // Looks at what is known of the row, and finds its group: use RunBlocks for many rows in order.
  [[nodiscard]] BlockParts<const SharedWord> block_of(std::size_t row) const noexcept;
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
