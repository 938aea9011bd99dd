// SPDX-License-Identifier: Apache-2.0
//
// What a client asks for, what it is told, and what a request means on a machine.
//
// The first six kinds of item have the shape, the numbers and the error contract of the Windows
// call; the others name events, blocks and units by what the topology says of them. Counters of a
// task are asked for by events or classes alone: which ones it has changes whenever it is
// scheduled. Answers have an order: a malformed request is kInvalidParameter even where the machine
// could not serve it, and one that the machine can never serve is kNotSupported even where
// something is taken as well. So an answer other than kInsufficientResources does not change while
// a client waits.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "arbiter/core/books/counter_book.hpp"
#include "arbiter/core/cpu_set.hpp"
#include "arbiter/core/topology.hpp"
#include "meterbank/shm/pmu/lease_wire.hpp"

namespace meterbank::arbiter {

using pmu::Answer;
using pmu::CpuGroup;
using pmu::is_terminated;
using pmu::Item;
using pmu::ItemKind;
using pmu::kGroupsMax;
using pmu::kItemsMax;
using pmu::Reason;
using pmu::text_of;
using pmu::wire_name;
using pmu::WireName;
static_assert(pmu::kWireNameBytes > kNameBytesMax);
static_assert(kGroupsMax == kCpusMax / 64);

[[nodiscard]] Item single(std::uint32_t counter) noexcept;
[[nodiscard]] Item range(std::uint32_t begin, std::uint32_t end) noexcept;
[[nodiscard]] Item overflow() noexcept;
[[nodiscard]] Item event_buffer(std::uint32_t threshold) noexcept;
[[nodiscard]] Item identification_tag(std::uint32_t tag) noexcept;
[[nodiscard]] Item counters_for_event(std::uint32_t count, std::uint32_t code,
                                      std::uint32_t unit_mask) noexcept;
// Of kClass, kBlock and kUnit.
[[nodiscard]] Item named(ItemKind kind, std::string_view name, std::uint32_t count) noexcept;
[[nodiscard]] Item extra_register(std::string_view name, std::uint64_t configuration) noexcept;

// The unit that an item of kind kEventBuffer means.
inline constexpr std::string_view kEventBufferUnit = "eventbuf";

// As a client sent it: counts stand beside what came with them, because they may disagree.
struct Request {
  bool has_handle = true;   // somewhere to put the handle was given
  bool has_groups = false;  // without: all CPUs that are online
  std::uint32_t group_count = 0;
  std::vector<CpuGroup> groups;
  bool has_items = false;  // without: the whole PMU, alone
  std::uint32_t item_count = 0;
  std::vector<Item> items;
  WireName pmu = {};       // empty: on each CPU the first PMU of the topology that covers it
  std::uint32_t task = 0;  // counters of this thread, wherever it runs; 0: of CPUs
};
// What is not about counters (priority, times) is left out.
[[nodiscard]] Request request_of(const pmu::Allocate& allocate);

inline constexpr std::uint32_t kTakenMax = 64;  // no PMU has more counters for one request

struct Decision {
  Answer answer = Answer::kGranted;
  Reason reason = Reason::kNone;
  std::optional<std::uint32_t> item;  // position in the list of what is refused
  std::optional<std::uint32_t> cpu;   // the first one on which it failed
  std::vector<LeaseId> leases;        // ascending
  std::string foreign;
  std::string sentence;                    // for people; empty if granted
  std::optional<std::uint32_t> threshold;  // granted a shareable unit: the one in force

  [[nodiscard]] bool is_granted() const noexcept { return answer == Answer::kGranted; }
};

struct Event {
  std::uint32_t code = 0;
  std::uint32_t unit_mask = 0;
  std::uint64_t configuration = 0;  // of a breakpoint: its address; else perf's, if not 0
  friend bool operator==(const Event&, const Event&) = default;
};
using EventNames = std::map<std::string, Event, std::less<>>;

// What requests are measured against.
struct Machine {
  Topology topology;
  CpuSet possible;
  CpuSet online;
  std::vector<EventNames> names = {};  // by PMU; those behind the end have none

  // The PMU that a request means on this CPU if it names none.
  [[nodiscard]] std::optional<PmuIndex> pmu_on(std::uint32_t cpu) const noexcept;
};

// Whether the two cannot be used on one CPU at the same time: either of them may say so.
[[nodiscard]] bool conflict(const UnitRule& one, const UnitRule& other) noexcept;

// An event that is to be opened, and what the client said of it.
struct EventUse {
  Event event;
  std::uint32_t item = 0;   // position in the request's list
  std::uint32_t flags = 0;  // kItem...
  friend bool operator==(const EventUse&, const EventUse&) = default;
};

struct UnitDemand {
  std::uint32_t rule = 0;  // position in Topology::units
  std::uint32_t count = 1;
  std::uint32_t threshold = 0;
  friend bool operator==(const UnitDemand&, const UnitDemand&) = default;
};

struct ExtraDemand {
  std::uint32_t rule = 0;  // position in Topology::extras
  std::uint64_t configuration = 0;
};

// What a request means for the CPUs of one PMU: the same on each of them.
struct PmuDemand {
  PmuIndex pmu = 0;
  CpuSet cpus;
  CounterDemand counters;
  // For each of counters.any: the event, if one was named.
  std::vector<std::optional<EventUse>> events;
  std::vector<UnitDemand> units;
  std::vector<ExtraDemand> extras;

  [[nodiscard]] bool has_units() const noexcept { return !units.empty() || !extras.empty(); }
};

struct Plan {
  std::vector<PmuDemand> parts;  // ascending by PMU
  std::optional<std::uint32_t> tag;
  std::uint32_t task = 0;  // 0: of CPUs

  [[nodiscard]] bool has_units() const noexcept {
    return std::any_of(parts.begin(), parts.end(),
                       [](const PmuDemand& part) { return part.has_units(); });
  }
  // Null: it wants nothing there.
  [[nodiscard]] const PmuDemand* part_at(PmuIndex pmu, std::uint32_t cpu) const noexcept {
    for (const PmuDemand& part : parts) {
      if (part.pmu == pmu && part.cpus.contains(cpu)) return &part;
    }
    return nullptr;
  }
};

// The first CPU of the plan that is offline, as a refusal.
[[nodiscard]] std::optional<Decision> offline_refusal(const Plan& plan, const Machine& machine);

// Decides everything that does not depend on what others hold. Never answers kGranted.
[[nodiscard]] tl::expected<Plan, Decision> plan_for(const Request& request, const Machine& machine);

}  // namespace meterbank::arbiter
