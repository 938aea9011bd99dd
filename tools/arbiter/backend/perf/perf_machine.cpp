// SPDX-License-Identifier: Apache-2.0
#include "arbiter/backend/perf/perf_machine.hpp"

#include <linux/hw_breakpoint.h>

#include <array>

#include "meterbank/base/clock.hpp"
#include "meterbank/base/fnv1a.hpp"

namespace meterbank::arbiter {
namespace {

// No PMU of today has its events' bits up there.
constexpr std::uint64_t kRememberedBit = std::uint64_t{1} << 63;
// Below the lowest address that a process can map, so that nothing meets it.
constexpr std::uint64_t kUnmappedAddress = 0x10;
// A local event runs at once, one of another CPU after an interrupt there.
constexpr std::uint64_t kVerifyNs = 300'000;

// The same in each run, because clients and journals outlive this one.
[[nodiscard]] std::uint64_t digest_of(const EventCode& code) noexcept {
  Fnv1a digest;
  digest.add_object(std::uint64_t{code.type});
  digest.add_object(code.words);
  return digest.value();
}

[[nodiscard]] std::uint32_t breakpoint_bytes(const Event& event) noexcept {
  if (event.unit_mask != 0) return event.unit_mask;
  return event.code == HW_BREAKPOINT_X ? sizeof(long) : 1;
}

}  // namespace

Event PerfMachine::remember(PmuIndex pmu, const EventCode& code, const Event& shown) {
  const PerfPmu& facts = pmus[pmu];
  const bool is_one_word = code.words[1] == 0 && code.words[2] == 0;
  const bool is_raw = code.type == facts.type && is_one_word;
  if (is_raw && code.words[0] != 0 && (code.words[0] & kRememberedBit) == 0) {
    Event event{facts.format.code_of(code), facts.format.unit_mask_of(code), code.words[0]};
    // Short where that says it all, so that both ways to ask for it are the same event.
    const auto again = facts.format.encode(code.type, event.code, event.unit_mask);
    if (again == code) event.configuration = 0;
    return event;
  }
  Event event = shown;
  if (is_raw || code.type == facts.type) {
    event.code = facts.format.code_of(code);
    event.unit_mask = facts.format.unit_mask_of(code);
  }
  event.configuration = kRememberedBit | digest_of(code);
  codes_.insert_or_assign({pmu, event.configuration}, code);
  return event;
}

std::optional<perf_event_attr> PerfMachine::attributes(PmuIndex pmu, const Event& event,
                                                       std::uint32_t flags) const {
  if (pmu >= pmus.size()) return std::nullopt;
  const PerfPmu& facts = pmus[pmu];
  perf_event_attr result = {};
  if (event == Event{}) {
    result = facts.sort == PmuSort::kBreakpoint ? idle_breakpoint(facts.type, HW_BREAKPOINT_W)
                                                : attributes_of(facts.filler);
  } else if (facts.sort == PmuSort::kBreakpoint) {
    if (event.code < HW_BREAKPOINT_R || event.code > HW_BREAKPOINT_X) return std::nullopt;
    result = attributes_of({.type = facts.type});
    result.bp_type = event.code;
    result.bp_addr = event.configuration;
    result.bp_len = breakpoint_bytes(event);
  } else if ((event.configuration & kRememberedBit) != 0) {
    const auto found = codes_.find({pmu, event.configuration});
    if (found == codes_.end()) return std::nullopt;
    result = attributes_of(found->second);
  } else if (event.configuration != 0) {
    result = attributes_of({.type = facts.type, .words = {event.configuration}});
  } else {
    const auto code = facts.format.encode(facts.type, event.code, event.unit_mask);
    if (!code.has_value()) return std::nullopt;
    result = attributes_of(*code);
  }
  if ((flags & pmu::kItemExcludesUser) != 0) result.exclude_user = 1;
  if ((flags & pmu::kItemExcludesKernel) != 0) result.exclude_kernel = 1;
  if ((flags & pmu::kItemInherits) != 0) result.inherit = 1;
  return result;
}

perf_event_attr PerfMachine::guard(PmuIndex pmu) const {
  const PerfPmu& facts = pmus[pmu];
  if (facts.sort == PmuSort::kBreakpoint) return idle_breakpoint(facts.type, HW_BREAKPOINT_W);
  perf_event_attr result = attributes_of(facts.filler);
  // PMUs outside cores count for all tasks and refuse to exclude any.
  if (facts.sort == PmuSort::kCore) {
    result.exclude_user = 1;
    result.exclude_kernel = 1;
    result.exclude_hv = 1;
  }
  return result;
}

perf_event_attr attributes_of(const EventCode& code) {
  perf_event_attr result = {};
  result.size = sizeof result;
  result.type = code.type;
  result.config = code.words[0];
  result.config1 = code.words[1];
  result.config2 = code.words[2];
  result.pinned = 1;
  result.read_format =
      PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING | PERF_FORMAT_ID;
  return result;
}

perf_event_attr idle_breakpoint(std::uint32_t type, std::uint32_t access) {
  perf_event_attr result = attributes_of({.type = type});
  result.bp_type = access;
  result.bp_addr = kUnmappedAddress;
  result.bp_len = access == HW_BREAKPOINT_X ? sizeof(long) : 1;
  result.exclude_kernel = 1;
  // The slot is taken when the event is opened, whether it is enabled or not.
  result.disabled = 1;
  return result;
}

std::optional<EventWords> read_event(PerfCalls& calls, int descriptor) {
  std::array<std::uint64_t, 4> words = {};
  const std::int64_t bytes = calls.read(descriptor, words);
  if (bytes != static_cast<std::int64_t>(sizeof words)) return std::nullopt;
  return EventWords{words[0], words[1], words[2], words[3]};
}

bool has_run(PerfCalls& calls, int descriptor) {
  const std::uint64_t begin = clock_ns(CLOCK_MONOTONIC);
  do {
    const std::optional<EventWords> words = read_event(calls, descriptor);
    if (!words.has_value()) return false;
    if (words->running_ns > 0) return true;
  } while (clock_ns(CLOCK_MONOTONIC) - begin < kVerifyNs);
  return false;
}

std::uint32_t count_free(PerfCalls& calls, const perf_event_attr& attributes, pid_t task, int cpu,
                         std::uint32_t at_most, int& fault) {
  std::vector<EventFile> events;
  fault = 0;
  while (events.size() < at_most) {
    const int descriptor = calls.open(attributes, task, cpu);
    if (descriptor < 0) {
      fault = -descriptor;
      break;
    }
    EventFile event(calls, descriptor);
    // A slot for a breakpoint is reserved by open itself.
    if (attributes.type != PERF_TYPE_BREAKPOINT && !has_run(calls, descriptor)) break;
    events.push_back(std::move(event));
  }
  return static_cast<std::uint32_t>(events.size());
}

}  // namespace meterbank::arbiter
