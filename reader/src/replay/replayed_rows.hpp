// SPDX-License-Identifier: Apache-2.0
//
// The rows of one registration of a recording.
//
// A row has a place in groups of private memory. It keeps the place until it ends, and the place
// may be taken by a row of any slot once show() has told of the end. So memory follows the number
// of rows, whatever their slots are.
//
//               begin()                 end()                    show()
//   free place ---------> row, pending --------> ended, readable --------> free place
//                           | show()               ^
//                           +--> row, listed ------+
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "../catalog/memory/private_groups.hpp"
#include "meterbank/reader/replay.hpp"
#include "replayed_segment.hpp"

namespace meterbank {

class ReplayedRows {
 public:
  // `record`: the extent of `segment` that the registration has, or had before.
  ReplayedRows(ReplayedSegment& segment, std::uint32_t record,
               std::shared_ptr<const Counterset> set);
  ReplayedRows(const ReplayedRows&) = delete;
  ReplayedRows& operator=(const ReplayedRows&) = delete;
  // Plans of earlier ticks see that it is gone.
  ~ReplayedRows();

  [[nodiscard]] Result<void> check(const ReplayedInstance& instance) const;
  // How many bytes the next begin() takes for groups.
  [[nodiscard]] std::uint64_t growth() const noexcept;
  // Precondition: check() found nothing.
  [[nodiscard]] std::uint32_t begin(const ReplayedInstance& instance);
  void close(std::uint32_t place);
  void end(std::uint32_t place);

  [[nodiscard]] std::span<std::uint64_t> words(std::uint32_t place) const noexcept;
  void set_row(std::uint32_t place, RowStatus status, RowConsistency consistency) const noexcept;
  void set_interest(std::uint64_t connections) const noexcept;
  [[nodiscard]] std::optional<CallbackAnswer>& answer() const noexcept {
    return memory_->answer.last;
  }

  // What began, closed and ended is listed, and what ended before is let go.
  void show();
  // As of the last show(), with the words that a plan reads. `answered`: see RecordedRows.
  [[nodiscard]] RegisteredSet registered(std::shared_ptr<const ProviderView> answered) const;
  // What a view of it has to keep.
  [[nodiscard]] std::shared_ptr<const void> memory() const noexcept { return memory_; }

 private:
  struct Memory {
    explicit Memory(const BlockForm& form) : groups(form, RecordedRow::kOwnWords) {}

    RegistrationRecord record{};
    PrivateGroups groups;
    RecordedAnswer answer;
  };
  struct Begun {
    std::string name;
    std::uint64_t generation = 0;
    std::uint32_t id = 0;
    std::uint32_t place = 0;
    bool closed = false;
  };
  // What happens to a slot at the next show(): the listed instance ends or closes, another begins.
  struct Change {
    bool ends = false;
    bool closes = false;
    std::optional<Begun> begun;
  };

  [[nodiscard]] std::uint32_t next_group() const noexcept;
  [[nodiscard]] std::uint32_t free_place();
  // Null: the slot had no instance at the last show().
  [[nodiscard]] const InstanceView* listed(std::uint32_t slot) const noexcept;
  [[nodiscard]] std::uint32_t slot_of(std::uint32_t place) const noexcept;
  void list_changes();

  ReplayedSegment& segment_;
  std::uint32_t record_;
  std::shared_ptr<Memory> memory_;
  std::vector<std::uint32_t> group_extents_;
  std::uint32_t used_ = 0;  // places that were ever taken
  std::vector<std::uint32_t> free_, ended_;
  std::map<std::uint32_t, Change> changes_;                   // by slot
  RegisteredSet listed_;                                      // set, instances and what keeps them
  std::shared_ptr<const std::vector<std::uint32_t>> places_;  // one an instance
};

}  // namespace meterbank
