// SPDX-License-Identifier: Apache-2.0
//
// `meterbank record --when CONDITION`: notices that a condition holds, and has what is around it
// saved. Looks at the counters itself, beside the recorder, and touches no disk.
#pragma once

#include <chrono>
#include <optional>
#include <vector>

#include "cli/check/condition_rows.hpp"
#include "cli/record/saving.hpp"

namespace meterbank::cli {

// What is saved at a time, at most: an event that lasts longer becomes several files, each of which
// begins where the one before ended.
inline constexpr std::chrono::nanoseconds kEventMax = std::chrono::minutes(10);
// How long a ring has to keep what may be saved.
[[nodiscard]] std::chrono::nanoseconds age_for_events(const RecordOptions& options);

class Trigger {
 public:
  // Errors are usage errors, or those of a catalog. `selection` says where to look for providers.
  static Result<Trigger> open(const RecordOptions& options, SelectionOptions selection,
                              Waiter& waiter);

  // Of what matches nothing now.
  void say_unmatched(const Console& console) const;
  // After each tick of the recorder.
  void look(Timestamp tick, Saving& saving, const Console& console);
  // Saves what there is of an event that goes on.
  void finish(Saving& saving);

 private:
  struct Event {
    std::uint64_t from_ns = 0;   // of the part that is saved next
    std::uint64_t begun_ns = 0;  // this part
    std::uint64_t last_held_ns = 0;
  };

  Trigger(std::unique_ptr<Selection> selection, std::vector<ConditionRows> conditions,
          const RecordOptions& options);
  // What holds, in words; empty: nothing.
  [[nodiscard]] std::string what_holds();

  std::unique_ptr<Selection> selection_;
  std::unique_ptr<Sampler> sampler_;
  std::vector<ConditionRows> conditions_;
  std::uint64_t before_ns_, after_ns_;
  std::optional<Event> event_;
  std::uint64_t last_tick_ns_ = 0;
};

}  // namespace meterbank::cli
