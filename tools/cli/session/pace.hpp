// SPDX-License-Identifier: Apache-2.0
//
// When samples are taken: at moments that come, or at those of a recording.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>

#include "cli/session/selection.hpp"
#include "cli/session/waiter.hpp"

namespace meterbank::cli {

struct PaceOptions {
  std::chrono::nanoseconds interval = std::chrono::seconds(1);
  std::optional<std::chrono::nanoseconds> duration;  // no moment lies further behind the first
  // The first moment is for a sample that rates are measured from, one interval before the others;
  // not if a recording has no such moment.
  bool warm_up = false;
  // Also moments of a recording at which only some of the selected counters were sampled.
  bool takes_parts = false;
  LogOptions log;
};

class Pace {
 public:
  virtual ~Pace() = default;
  // Waits for the next moment, or shows that of a recording. Returns nothing when a recording has
  // no further moment.
  [[nodiscard]] virtual std::optional<Wake> next() = 0;
  // The work of this moment is done.
  virtual void done() = 0;
  // Whether the next moment is still wanted.
  [[nodiscard]] virtual bool is_over() const = 0;
  [[nodiscard]] virtual std::uint64_t missed() const noexcept { return 0; }
  // Whether the sample of the first moment with PaceOptions::warm_up is itself what was asked for:
  // none of its rows needs another, or, of a recording, there is no moment before it.
  [[nodiscard]] virtual bool shows_first(const Sampler& sampler) const = 0;
  // How many moments of a recording were left out because only some of the selected counters were
  // sampled then.
  [[nodiscard]] virtual std::uint64_t passed_over() const noexcept { return 0; }
};

// The selection and the waiter outlive it.
[[nodiscard]] std::unique_ptr<Pace> make_pace(Selection& selection, Waiter& waiter,
                                              const PaceOptions& options);

// Shows the last moment of the selection's recording, by then, that has all that is selected.
// False: there is none.
[[nodiscard]] bool show_whole_moment(Selection& selection, std::uint64_t realtime_ns);

// Takes the newest sample again until each provider has renewed its rows, within two seconds: for
// sets that are renewed less often than -i says. kDeadline: done.
Wake await_provider(Sampler& sampler, Waiter& waiter);

// Says that a recording has no moment that was asked for. Returns the exit code.
int report_no_moment(const LogOptions& log, const Console& console);

// Prints how many moments were passed over, if any were.
void report_passed_over(const Pace& pace, const Console& console, std::string_view side = {});

}  // namespace meterbank::cli
