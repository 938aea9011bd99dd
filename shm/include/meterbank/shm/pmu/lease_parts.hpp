// SPDX-License-Identifier: Apache-2.0
//
// What the messages between the arbiter and its clients (lease_wire.hpp) and the ledger
// (lease_ledger.hpp) are made of: names, items, reasons, and the token of a lease.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace meterbank::pmu {

// A name inside a message: ends at the first NUL, which must be there.
inline constexpr std::size_t kWireNameBytes = 72;
using WireName = std::array<char, kWireNameBytes>;
// What has no room is cut off.
[[nodiscard]] WireName wire_name(std::string_view name) noexcept;
// Precondition: is_terminated(name).
[[nodiscard]] std::string_view text_of(const WireName& name) noexcept;
[[nodiscard]] bool is_terminated(const WireName& name) noexcept;

// 64 CPUs: bit i of the mask is CPU 64 * group + i. Shaped as GROUP_AFFINITY.
struct CpuGroup {
  std::uint64_t mask = 0;
  std::uint16_t group = 0;
  std::array<std::uint16_t, 3> reserved = {};  // zeros
};
static_assert(offsetof(CpuGroup, mask) == 0);
static_assert(offsetof(CpuGroup, group) == 8);
static_assert(offsetof(CpuGroup, reserved) == 10);
static_assert(sizeof(CpuGroup) == 16 && std::is_trivially_copyable_v<CpuGroup>);

// The first six have the numbers and the meaning that Windows gives them.
enum class ItemKind : std::uint32_t {
  kSingle = 0,                 // counter `begin`
  kRange = 1,                  // counters `begin` to `end`, both included
  kExtendedConfiguration = 2,  // known, and never supported
  kOverflow = 3,               // interrupts of the counters that the other items name
  kEventBuffer = 4,            // the unit "eventbuf", with a `threshold`
  kIdentificationTag = 5,      // `tag` is shown in lists of holders
  kEvent = 0x100,              // `count` counters for the event `code`, `unit_mask`
  kClass = 0x101,              // `count` counters of the event class `name`
  kBlock = 0x102,              // `count` blocks by the rule `name`
  kUnit = 0x103,               // `count` of the unit `name`; with `threshold`, if it is shareable
  kExtra = 0x104,              // a register of the sort `name`, with `configuration` in it
  kNamedEvent = 0x105          // one counter for the event that the arbiter knows as `name`
};

// Flags of kEvent and kNamedEvent; of other kinds flags are zero.
inline constexpr std::uint32_t kItemExcludesUser = 1;
inline constexpr std::uint32_t kItemExcludesKernel = 2;
// Of a task: what it starts from now on, threads and processes, counts as well. Not for leases that
// take turns or may be preempted: what runs already would be lost when they are opened anew.
inline constexpr std::uint32_t kItemInherits = 4;

// A counter's number in an item is its bit in a CounterMask: fixed counters begin at 32.
struct Item {
  std::uint32_t kind = 0;   // an ItemKind, or whatever a client sent
  std::uint32_t flags = 0;  // kItem...
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  std::uint32_t count = 0;
  std::uint32_t code = 0;        // of a breakpoint: 1 read, 2 write, 3 either, 4 execute
  std::uint32_t unit_mask = 0;   // of a breakpoint: bytes watched
  std::uint32_t entry_size = 0;  // of an event buffer: zero
  std::uint32_t threshold = 0;   // at most so many records; 0: no preference
  std::uint32_t tag = 0;
  std::uint64_t configuration = 0;  // of a breakpoint: its address
  WireName name = {};
};
static_assert(offsetof(Item, kind) == 0);
static_assert(offsetof(Item, flags) == 4);
static_assert(offsetof(Item, begin) == 8);
static_assert(offsetof(Item, end) == 12);
static_assert(offsetof(Item, count) == 16);
static_assert(offsetof(Item, code) == 20);
static_assert(offsetof(Item, unit_mask) == 24);
static_assert(offsetof(Item, entry_size) == 28);
static_assert(offsetof(Item, threshold) == 32);
static_assert(offsetof(Item, tag) == 36);
static_assert(offsetof(Item, configuration) == 40);
static_assert(offsetof(Item, name) == 48);
static_assert(sizeof(Item) == 120 && std::is_trivially_copyable_v<Item>);

// What this machine can be asked for at all stays below these.
inline constexpr std::uint32_t kGroupsMax = 64;
inline constexpr std::uint32_t kItemsMax = 128;

enum class Answer : std::uint32_t {
  kGranted,
  kInvalidParameter,
  kNotSupported,
  kInsufficientResources,
};

enum class Reason : std::uint32_t {
  kNone,         // granted
  kMalformed,    // the request breaks a rule
  kNoPmu,        // none at all, or none on `cpu`
  kNoSuchThing,  // this PMU has no such counter, class, block, unit, register or interrupt
  kNeverFits,    // known things, but more of them than there are
  kTaken,        // leases hold what it would take
  kWholePmu,     // the same, and the other lease or this request wants a PMU for itself
  kForeign,      // `foreign` holds it, and did not ask
  kCpuOffline,   // `cpu` is
  kQuota,        // the client has its share
  kTooHard,      // places were searched for as long as is allowed
  kPolicy,       // the policy file does not let this client have it, however much is free
  kLimbo,        // given back, but the kernel has not let go of it yet
  kGrace,        // after a restart only what was held before is given out, for a while
  kTimeOut,      // waited as long as it said it would
  kCancelled,    // its client asked for that
  kQueueFull,
  kUnverified,  // the books have room, the kernel refused, and no holder was found
};

[[nodiscard]] std::string_view name_of(Answer answer) noexcept;
[[nodiscard]] std::string_view name_of(Reason reason) noexcept;

// No client can ask for kKernel: what the kernel itself holds.
enum class Priority : std::uint32_t { kBatch, kMonitoring, kInteractive, kCritical, kKernel };
[[nodiscard]] std::string_view name_of(Priority priority) noexcept;

// How far a grant was checked.
enum class Grade : std::uint32_t {
  kLedger,    // in the books alone
  kVerified,  // every event was opened and has answered
  kGuarded,   // verified, and what is not leased is kept from processes without a lease
};
[[nodiscard]] std::string_view name_of(Grade grade) noexcept;

// What a value is worth.
enum class Quality : std::uint32_t {
  kExact,       // counted all the time, for this lease alone
  kShared,      // counted all the time, for several leases
  kSliced,      // counted for a part of the time, enabled and running say which
  kStarved,     // never counted: no number
  kFenced,      // final: the lease has ended
  kUnverified,  // held in the books alone
};
[[nodiscard]] std::string_view name_of(Quality quality) noexcept;

// Epoch of the arbiter (16 bits), number of the lease in it (16), generation of that number (32).
// Never 0, and never the same for two leases. The low 48 bits are those of a slot word
// (lease_ledger.hpp).
using Token = std::uint64_t;
[[nodiscard]] constexpr Token make_token(std::uint16_t epoch, std::uint16_t lease,
                                         std::uint32_t generation) noexcept {
  return std::uint64_t{epoch} << 48 | std::uint64_t{lease} << 32 | generation;
}
[[nodiscard]] constexpr std::uint16_t epoch_of(Token token) noexcept {
  return static_cast<std::uint16_t>(token >> 48);
}
[[nodiscard]] constexpr std::uint16_t lease_of(Token token) noexcept {
  return static_cast<std::uint16_t>(token >> 32);
}
[[nodiscard]] constexpr std::uint32_t generation_of(Token token) noexcept {
  return static_cast<std::uint32_t>(token);
}

}  // namespace meterbank::pmu
