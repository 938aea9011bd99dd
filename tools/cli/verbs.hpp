// SPDX-License-Identifier: Apache-2.0
//
// What the program does, one function a verb. Each returns an exit code (session/exit_code.hpp) and
// has said on the console why if that is not zero.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "cli/derive/derivation.hpp"
#include "cli/invocation.hpp"
#include "cli/session/console.hpp"
#include "cli/session/waiter.hpp"

namespace meterbank::cli {

int list(const Invocation& invocation, Console& console);
int list_registrations(const Invocation& invocation, Console& console);
int get(const Invocation& invocation, Console& console);
int watch(const Invocation& invocation, Console& console);
int typeperf(const Invocation& invocation, Console& console);
int relog(const Invocation& invocation, Console& console);
int host(const Invocation& invocation, Console& console);
int demo(const Invocation& invocation, Console& console);
int gen(const Invocation& invocation, Console& console);
int serve(const Invocation& invocation, Console& console);
int push(const Invocation& invocation, Console& console);
int view(const Invocation& invocation, Console& console);
int record(const Invocation& invocation, Console& console);
int diff(const Invocation& invocation, Console& console);
int log(const Invocation& invocation, Console& console);
int check(const Invocation& invocation, Console& console);
int pmu_command(const Invocation& invocation, Console& console);
int doctor(const Invocation& invocation, Console& console);
int version(const Invocation& invocation, Console& console);
int help(const Invocation& invocation, Console& console);

// ---- Shared by get, watch and demo ----

struct RowPlan {
  std::uint64_t samples = 1;  // 0: until stopped
  bool warm_up = false;       // begin with a sample that is not shown, if rates need it
  bool stop_is_success = false;
  Derivation* derivation = nullptr;  // shows rows of its own beside those of the selection
};
// Prints rows sample by sample, in the format and at the distance of the invocation.
int print_rows(const Invocation& invocation, const RowPlan& plan, Selection& selection,
               Waiter& waiter, Console& console);

// Why a selection could not be opened, as words and an exit code.
int explain_failure(const Error& error, const Waiter& waiter, const Console& console);

// The format of output without a format option.
[[nodiscard]] RowStyle style_of(const Invocation& invocation, const Console& console);

}  // namespace meterbank::cli
