// SPDX-License-Identifier: Apache-2.0
//
// `meterbank record --when CONDITION`: notices that a condition holds, and has what is around it
// saved. Looks at the counters itself, beside the recorder, and touches no disk.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
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

  struct Rule {
    explicit Rule(ConditionRows of) : rows(std::move(of)) {}

    ConditionRows rows;
    bool is_named = false;       // as one that holds, in this event
    bool was_compared = false;   // some row, at some time
    std::set<std::string> said;  // why rows cannot be compared
  };
  // Why a row that has a value cannot be compared.
  struct WhyNot {
    std::string name, why, remedy;
  };

  Trigger(std::unique_ptr<Selection> selection, std::vector<Rule> rules,
          const RecordOptions& options);
  // Whether the rule holds for the sample that was taken last. Names it once an event. Until some
  // row could be compared, says why the others could not.
  [[nodiscard]] bool holds(Rule& rule, const Console& console);
  static void say_why_not(Rule& rule, const WhyNot& found, const Console& console);
  void end_event() noexcept;

  std::unique_ptr<Selection> selection_;
  std::unique_ptr<Sampler> sampler_;
  std::vector<Rule> rules_;
  std::uint64_t before_ns_, after_ns_;
  std::optional<Event> event_;
  std::uint64_t last_tick_ns_ = 0;
};

}  // namespace meterbank::cli
