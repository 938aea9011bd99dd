// SPDX-License-Identifier: Apache-2.0
#include "plan_piece.hpp"

#include <utility>

#include "counter_mask.hpp"
#include "meterbank/shm/segment.hpp"

namespace meterbank {
namespace {

constexpr std::size_t kLanes = 8;
// See QueryPlan::Selection::counter_mask.
std::uint64_t first_word_of(const std::vector<std::uint64_t>& mask) {
  return mask.size() == 1 ? mask.front() : kEveryCounter;
}

// Turns instances into addresses.
class PieceWriter {
 public:
  PieceWriter(const MappedSegment& segment, const RegisteredSet& set, PlanPiece& piece) noexcept
      : segment_(segment), set_(set), piece_(piece) {}

  void add_row(std::uint32_t instance) {
    const InstanceView& view = set_.instances[instance];
    if (!go_to(view.slot)) return;
    QueryPlan::Row row;
    row.instance = instance;
    row.generation = view.generation;
    row.values = piece_.words;
    row.block = block_parts(group_, set_.set->form, set_.layouts[index_], view.slot - first_slot_);
    piece_.words += row.block.words;
    piece_.rows.push_back(row);
  }

  void add_runs() {
    using Kind = QueryPlan::Run::Kind;
    const std::size_t lanes = set_.set->form.lanes;
    const std::size_t head_words = set_.set->form.head_stride() / sizeof(SharedWord);
    std::size_t row = 0, scattered = 0;
    const auto add_scattered = [&] {
      if (scattered != row) {
        piece_.runs.push_back({scattered, row - scattered, nullptr, 0, Kind::kScattered});
      }
    };
    while (row < piece_.rows.size()) {
      const std::size_t rows = starts_a_head(row) ? heads_in_order(row, lanes, head_words) : 0;
      if (rows == 0) {
        ++row;
        continue;
      }
      add_scattered();
      piece_.runs.push_back({row, rows, piece_.rows[row].block.seq, head_words,
                             lanes == kLanes ? Kind::kTiles : Kind::kLines});
      row += rows;
      scattered = row;
    }
    add_scattered();
  }

 private:
  // To the group that holds a slot. Slots are asked for in rising order.
  bool go_to(std::uint32_t slot) noexcept {
    while (index_ < set_.groups.size() && slot - first_slot_ >= set_.group_slots[index_]) {
      first_slot_ += set_.group_slots[index_];
      ++index_;
      group_ = nullptr;
    }
    if (index_ == set_.groups.size()) return false;
    if (group_ == nullptr) {
      group_ = segment_.lines_at(set_.groups[index_], set_.layouts[index_].bytes);
    }
    return group_ != nullptr;
  }

  // How many rows from `row` on lie one head after the other, `lanes` to a head.
  [[nodiscard]] std::size_t heads_in_order(std::size_t row, std::size_t lanes,
                                           std::size_t head_words) const noexcept {
    const auto& rows = piece_.rows;
    const SharedWord* head = rows[row].block.seq;
    std::size_t count = 0;
    while (row + count < rows.size() &&
           rows[row + count].block.seq == head + count / lanes * head_words + count % lanes) {
      ++count;
    }
    return count / lanes * lanes;
  }

  [[nodiscard]] bool starts_a_head(std::size_t row) const noexcept {
    return set_.instances[piece_.rows[row].instance].slot % set_.set->form.lanes == 0;
  }

  const MappedSegment& segment_;
  const RegisteredSet& set_;
  PlanPiece& piece_;
  const std::byte* group_ = nullptr;
  std::size_t index_ = 0;
  std::uint32_t first_slot_ = 0;
};

}  // namespace

std::shared_ptr<PlanPiece> make_piece(const ProviderView& provider, const RegisteredSet& set,
                                      const std::vector<std::uint32_t>& instances,
                                      std::vector<std::uint32_t> counters) {
  const auto* record = provider.segment->at<RegistrationRecord>(set.registration);
  if (record == nullptr) return nullptr;
  auto piece = std::make_shared<PlanPiece>();
  piece->membership = &record->membership;
  piece->word = &record->word;
  piece->counter_mask = first_word_of(counter_mask_of(*set.set, counters));
  piece->counters = std::move(counters);
  piece->rows.reserve(instances.size());
  PieceWriter writer(*provider.segment, set, *piece);
  for (const std::uint32_t instance : instances) writer.add_row(instance);
  if (piece->rows.empty()) return nullptr;
  if (!set.set->form.sharded()) writer.add_runs();  // those rows are joined one by one
  return piece;
}

}  // namespace meterbank
