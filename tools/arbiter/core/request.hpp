// SPDX-License-Identifier: Apache-2.0
//
// What a client asks for, what it is told, and what a request means on a machine.
//
// The first six kinds of item have the shape, the numbers and the error contract of the Windows
// call; the others name events, blocks and units by what the topology says of them. Answers have
// an order: a malformed request is kInvalidParameter even where the machine could not serve it, and
// one that the machine can never serve is kNotSupported even where something is taken as well. So
// an answer other than kInsufficientResources does not change while a client waits.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <type_traits>
#include <vector>

#include "arbiter/core/counter_book.hpp"
#include "arbiter/core/cpu_set.hpp"
#include "arbiter/core/topology.hpp"

namespace meterbank::arbiter {

// A name inside a message: ends at the first NUL, which must be there.
inline constexpr std::size_t kWireNameBytes = 72;
static_assert(kWireNameBytes > kNameBytesMax);
using WireName = std::array<char, kWireNameBytes>;
// Precondition: `name` is shorter than kWireNameBytes.
[[nodiscard]] WireName wire_name(std::string_view name) noexcept;

// 64 CPUs: bit i of the mask is CPU 64 * group + i.
struct CpuGroup {
  std::uint64_t mask = 0;
  std::uint16_t group = 0;
  std::array<std::uint16_t, 3> reserved = {};  // zeros
};
static_assert(sizeof(CpuGroup) == 16 && std::is_trivially_copyable_v<CpuGroup>);

enum class ItemKind : std::uint32_t {
  kSingle = 0,                 // counter `begin`
  kRange = 1,                  // counters `begin` to `end`, both included
  kExtendedConfiguration = 2,  // known, and never supported
  kOverflow = 3,               // interrupts of the counters that the other items name
  kEventBuffer = 4,            // the unit kEventBufferUnit, with a `threshold`
  kIdentificationTag = 5,      // `tag` is shown to whoever asks who holds what
  kEvent = 0x100,              // `count` counters for the event `code`, `unit_mask`
  kClass = 0x101,              // `count` counters of the event class `name`
  kBlock = 0x102,              // `count` blocks by the rule `name`
  kUnit = 0x103,               // `count` of the unit `name`; with `threshold`, if it is shareable
  kExtra = 0x104               // a register of the sort `name`, with `configuration` in it
};

// A counter's number in an item is its bit in a CounterMask: fixed counters begin at kFixedFirst.
struct Item {
  std::uint32_t kind = 0;   // an ItemKind, or whatever a client sent
  std::uint32_t flags = 0;  // zero
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  std::uint32_t count = 0;
  std::uint32_t code = 0;
  std::uint32_t unit_mask = 0;
  std::uint32_t entry_size = 0;  // of an event buffer: zero
  std::uint32_t threshold = 0;   // at most so many records; 0: no wish of one's own
  std::uint32_t tag = 0;
  std::uint64_t configuration = 0;
  WireName name = {};
};
static_assert(sizeof(Item) == 120 && std::is_trivially_copyable_v<Item>);
static_assert(offsetof(Item, configuration) == 40 && offsetof(Item, name) == 48);

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
  WireName pmu = {};  // empty: on each CPU the first PMU of the topology that covers it
};

inline constexpr std::uint32_t kGroupsMax = kCpusMax / 64;
inline constexpr std::uint32_t kItemsMax = 128;
inline constexpr std::uint32_t kTakenMax = 64;  // no PMU has more counters for one request

enum class Answer : std::uint8_t {
  kGranted,
  kInvalidParameter,
  kNotSupported,
  kInsufficientResources
};

enum class Reason : std::uint8_t {
  kNone,         // granted
  kMalformed,    // the request breaks a rule
  kNoPmu,        // none at all, or none on `cpu`
  kNoSuchThing,  // this PMU has no such counter, class, block, unit, register or interrupt
  kNeverFits,    // known things, but more of them than there are
  kTaken,        // `leases` hold what it would take
  kWholePmu,     // the same, and the other lease or this request wants a PMU for itself
  kForeign,      // `foreign` holds it, and did not ask
  kCpuOffline,   // `cpu` is
  kQuota,        // the client has its share
  kTooHard       // places were searched for as long as is allowed
};

[[nodiscard]] std::string_view name_of(Answer answer) noexcept;
[[nodiscard]] std::string_view name_of(Reason reason) noexcept;

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

// What requests are measured against.
struct Machine {
  Topology topology;
  CpuSet possible;
  CpuSet online;

  // The PMU that a request means on this CPU.
  [[nodiscard]] std::optional<PmuIndex> pmu_on(std::uint32_t cpu) const noexcept;
};

// Whether the two cannot be used on one CPU at the same time: either of them may say so.
[[nodiscard]] bool conflict(const UnitRule& one, const UnitRule& other) noexcept;

struct Event {
  std::uint32_t code = 0;
  std::uint32_t unit_mask = 0;
  friend bool operator==(const Event&, const Event&) = default;
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
  std::vector<std::optional<Event>>
      events;  // for each of counters.any: the event, if one was named
  std::vector<UnitDemand> units;
  std::vector<ExtraDemand> extras;
};

struct Plan {
  std::vector<PmuDemand> parts;  // ascending by PMU
  std::optional<std::uint32_t> tag;
};

// Decides everything that does not depend on what others hold. Never answers kGranted.
[[nodiscard]] tl::expected<Plan, Decision> plan_for(const Request& request, const Machine& machine);

}  // namespace meterbank::arbiter
