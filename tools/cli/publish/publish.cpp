// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string>

#include "cli/format/time_text.hpp"
#include "cli/publish/demo_orders.hpp"
#include "cli/session/exit_code.hpp"
#include "cli/verbs.hpp"
#include "cli/watch/watch_screens.hpp"
#include "host/host_provider.hpp"
#include "meterbank/reader/path.hpp"
#include "meterbank/shm/pointer_record.hpp"

namespace meterbank::cli {
namespace {

constexpr const char* kHostName = "demo";
constexpr const char* kOrdersName = "orders";

// What a first visitor sees moves.
constexpr auto kScreenInterval = std::chrono::milliseconds(250);
constexpr std::array kScreenPaths{"orders:*", "demo:*"};
constexpr std::array kPrintedPaths{
    "orders:demo_orders/eu/accepted", "orders:demo_orders/us/queue_depth",
    "orders:demo_orders/asia/latency", "demo:processor_information/_Total/processor_time",
    "demo:memory/available_bytes"};

// Paths are written with the provider's name and narrowed to this process.
template <typename Paths>
std::vector<std::string> own_paths(const Paths& paths) {
  std::vector<std::string> own;
  for (const char* text : paths) {
    auto path = parse_path(text);
    if (!path) continue;
    path->provider_pid = static_cast<std::uint32_t>(::getpid());
    own.push_back(print_short(*path));
  }
  return own;
}

int wait_for_end(const Invocation& invocation, Waiter& waiter, const Console& console) {
  const auto end =
      invocation.duration ? Clock::now() + *invocation.duration : Clock::time_point::max();
  for (;;) {
    switch (waiter.wait_until(end)) {
      case Wake::kTimeout:
        complain(console, "timed out");
        return kExitTimeout;
      case Wake::kStop:
      case Wake::kDeadline:
        return kExitDone;
      case Wake::kInput:
      case Wake::kResize:
      case Wake::kRequest:
        break;
    }
  }
}

Result<std::string> directory_to_publish_in(const Invocation& invocation) {
  auto named = split_directories(invocation.selection.directory);
  return prepare_first_directory(named.empty() ? provider_directories() : named);
}

// The gateway comes first: how the latencies of one venue lie. Esc leads to everything else.
int show_demo(const Invocation& invocation, Selection& selection, Waiter& waiter,
              Console& console) {
  view::Place place;
  place.screen = view::Screen::kInstance;
  place.provider = fmt::format("{}@{}", kOrdersName, ::getpid());
  place.set = "demo_orders";
  place.instance = "eu";
  place.counter = "latency";
  place.span = std::chrono::minutes(1);
  Invocation screens = invocation;
  if (!invocation.has_interval) screens.interval = kScreenInterval;
  return show_screens(screens, place, selection, waiter, console);
}

}  // namespace

int host(const Invocation& invocation, Console& console) {
  // Before any thread, so that every thread leaves the signals to this one.
  Waiter waiter(invocation.timeout);
  const auto directory = directory_to_publish_in(invocation);
  if (!directory) return explain_failure(directory.error(), waiter, console);
  host::HostOptions options;
  options.name = invocation.name;
  options.directory = *directory;
  options.processes = invocation.processes;
  if (invocation.period) {
    options.period = std::chrono::duration_cast<std::chrono::milliseconds>(*invocation.period);
  }
  const auto provider = host::HostProvider::start(options);
  if (!provider) return explain_failure(provider.error(), waiter, console);
  if (!invocation.quiet && console.err_is_terminal) {
    say(console, fmt::format("publishing {}@{} in {}; stop with Ctrl-C, look with: meterbank watch",
                             escape_for_terminal(options.name), ::getpid(),
                             escape_for_terminal(*directory)));
    if (!provider->left_out().empty()) {
      say(console, fmt::format("left out, because this machine has no source for it: {}",
                               fmt::join(provider->left_out(), ", ")));
    }
  }
  return wait_for_end(invocation, waiter, console);
}

int demo(const Invocation& invocation, Console& console) {
  Waiter waiter(invocation.timeout);
  const auto prepared = directory_to_publish_in(invocation);
  if (!prepared) return explain_failure(prepared.error(), waiter, console);
  const std::string& directory = *prepared;
  host::HostOptions options;
  options.name = kHostName;
  options.directory = directory;
  options.processes = false;
  // Twice a sample, so that no sample finds the values of the one before.
  const auto half = std::chrono::duration_cast<std::chrono::milliseconds>(invocation.interval / 2);
  options.period = std::clamp(half, std::chrono::milliseconds(5), options.period);
  const auto machine = host::HostProvider::start(options);
  if (!machine) return explain_failure(machine.error(), waiter, console);
  const auto orders =
      DemoOrders::start({.name = kOrdersName, .directory = directory, .seed = invocation.seed});
  if (!orders) return explain_failure(orders.error(), waiter, console);

  const bool live = has_screen(console) && invocation.format == Format::kAuto;
  SelectionOptions selected;
  selected.directory = directory;
  selected.paths = live ? own_paths(kScreenPaths) : own_paths(kPrintedPaths);
  auto selection = Selection::open(selected, waiter);
  if (!selection) return explain_failure(selection.error(), waiter, console);
  if (selection->query.selected().empty()) return report_unmatched(*selection, console);
  if (live) return show_demo(invocation, *selection, waiter, console);

  Invocation rows = invocation;
  // A person reads this: in a log or a pager.
  if (rows.format == Format::kAuto) rows.format = Format::kTable;
  RowPlan plan;
  plan.samples = invocation.samples.value_or(invocation.duration ? 0 : 3);
  plan.warm_up = true;
  plan.stop_is_success = true;
  return print_rows(rows, plan, *selection, waiter, console);
}

}  // namespace meterbank::cli
