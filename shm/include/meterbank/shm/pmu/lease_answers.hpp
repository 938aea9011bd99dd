// SPDX-License-Identifier: Apache-2.0
//
// What the PMU arbiter says to a client: the bodies of its packets. lease_wire.hpp has the rules.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "meterbank/shm/pmu/lease_parts.hpp"

namespace meterbank::pmu {

inline constexpr std::uint32_t kWelcomeHasPmu = 1;         // a hardware PMU, not only breakpoints
inline constexpr std::uint32_t kWelcomeGrace = 2;          // only what was held before is given out
inline constexpr std::uint32_t kWelcomeAdministrator = 4;  // the Admin messages are allowed
// Carries the ledger.
struct Welcome {
  std::uint32_t flags = 0;
  std::uint32_t epoch = 0;
  std::uint64_t client = 0;  // number of this connection, as the ledger shows it
};
static_assert(offsetof(Welcome, flags) == 0);
static_assert(offsetof(Welcome, epoch) == 4);
static_assert(offsetof(Welcome, client) == 8);
static_assert(sizeof(Welcome) == 16);

// One counter of a lease. On a CPU it may move while it is held: the ledger knows where it is.
struct GrantedCounter {
  std::uint32_t item = 0;  // position in the request's list; says nothing of a whole PMU
  std::uint32_t cpu = 0;   // kNoCpu: of a task, wherever it runs
  std::uint32_t counter = 0;
  std::uint32_t slot = 0;       // position of its slot word in the ledger; kNoSlot
  std::uint64_t kernel_id = 0;  // PERF_EVENT_IOC_ID; 0: nothing is open for it
};
static_assert(offsetof(GrantedCounter, item) == 0);
static_assert(offsetof(GrantedCounter, cpu) == 4);
static_assert(offsetof(GrantedCounter, counter) == 8);
static_assert(offsetof(GrantedCounter, slot) == 12);
static_assert(offsetof(GrantedCounter, kernel_id) == 16);
static_assert(sizeof(GrantedCounter) == 24);

inline constexpr std::uint32_t kNoCpu = ~std::uint32_t{0};
inline constexpr std::uint32_t kNoSlot = ~std::uint32_t{0};
struct GrantedHead {
  Token token = 0;
  std::uint64_t ends_ns = 0;  // the longest it can last; 0: no end
  std::uint64_t term_ns = 0;
  Grade grade = Grade::kLedger;
  Quality quality = Quality::kUnverified;
  std::uint32_t threshold = 0;  // the one in force of a shareable unit
  std::uint32_t counter_count = 0;
  std::uint32_t descriptor_count = 0;  // so many Counter messages follow
  std::uint32_t duty_permille = 1000;
};
static_assert(offsetof(GrantedHead, token) == 0);
static_assert(offsetof(GrantedHead, ends_ns) == 8);
static_assert(offsetof(GrantedHead, term_ns) == 16);
static_assert(offsetof(GrantedHead, grade) == 24);
static_assert(offsetof(GrantedHead, quality) == 28);
static_assert(offsetof(GrantedHead, threshold) == 32);
static_assert(offsetof(GrantedHead, counter_count) == 36);
static_assert(offsetof(GrantedHead, descriptor_count) == 40);
static_assert(offsetof(GrantedHead, duty_permille) == 44);
static_assert(sizeof(GrantedHead) == 48);

struct Granted {
  GrantedHead head;
  std::vector<GrantedCounter> counters;
};
// Follows Granted, with its id, for each descriptor that is delegated; carries it.
struct Counter {
  Token token = 0;
  std::uint32_t position = 0;  // in Granted::counters
  std::uint32_t reserved = 0;
};
static_assert(offsetof(Counter, token) == 0);
static_assert(offsetof(Counter, position) == 8);
static_assert(offsetof(Counter, reserved) == 12);
static_assert(sizeof(Counter) == 16);

// A holder whose end would help.
struct Blocker {
  Token token = 0;  // 0: a process without a lease
  std::uint64_t since_ns = 0;
  std::uint64_t ends_ns = 0;  // at the latest; 0: not known
  std::uint32_t pid = 0;      // 0: not yours to know
  std::uint32_t uid = 0;
  Priority priority = Priority::kBatch;
  std::uint32_t is_waiting = 0;  // ahead in the queue, and not a holder
  WireName name = {};            // of its program
  WireName label = {};
};
static_assert(offsetof(Blocker, token) == 0);
static_assert(offsetof(Blocker, since_ns) == 8);
static_assert(offsetof(Blocker, ends_ns) == 16);
static_assert(offsetof(Blocker, pid) == 24);
static_assert(offsetof(Blocker, uid) == 28);
static_assert(offsetof(Blocker, priority) == 32);
static_assert(offsetof(Blocker, is_waiting) == 36);
static_assert(offsetof(Blocker, name) == 40);
static_assert(offsetof(Blocker, label) == 112);
static_assert(sizeof(Blocker) == 184);

inline constexpr std::uint32_t kBlockersMax = 16;  // more are counted, not shown

struct RefusedHead {
  Answer answer = Answer::kInvalidParameter;
  Reason reason = Reason::kMalformed;
  std::uint32_t item = kNoItem;   // position in the list of what is refused
  std::uint32_t cpu = kNoCpu;     // the first one on which it failed
  std::uint64_t earliest_ns = 0;  // when it could be granted at the earliest known time
  std::uint32_t ahead = 0;        // waiters before it
  std::uint32_t blocker_count = 0;
  std::uint32_t blockers_left_out = 0;
  std::uint32_t sentence_bytes = 0;
  static constexpr std::uint32_t kNoItem = ~std::uint32_t{0};
};
static_assert(offsetof(RefusedHead, answer) == 0);
static_assert(offsetof(RefusedHead, reason) == 4);
static_assert(offsetof(RefusedHead, item) == 8);
static_assert(offsetof(RefusedHead, cpu) == 12);
static_assert(offsetof(RefusedHead, earliest_ns) == 16);
static_assert(offsetof(RefusedHead, ahead) == 24);
static_assert(offsetof(RefusedHead, blocker_count) == 28);
static_assert(offsetof(RefusedHead, blockers_left_out) == 32);
static_assert(offsetof(RefusedHead, sentence_bytes) == 36);
static_assert(sizeof(RefusedHead) == 40);

struct Refused {
  RefusedHead head;
  std::vector<Blocker> blockers;
  std::string sentence;  // for people; UTF-8
};
inline constexpr std::size_t kSentenceBytesMax = 1024;

struct Queued {
  std::uint32_t ahead = 0;
  std::uint32_t reserved = 0;
  std::uint64_t estimate_ns = 0;  // when it is served if all holders use their time up; 0: unknown
};
static_assert(offsetof(Queued, ahead) == 0);
static_assert(offsetof(Queued, reserved) == 4);
static_assert(offsetof(Queued, estimate_ns) == 8);
static_assert(sizeof(Queued) == 16);

struct Done {
  std::uint64_t reserved = 0;
};
static_assert(offsetof(Done, reserved) == 0);
static_assert(sizeof(Done) == 8);

struct Value {
  std::uint32_t item = 0;
  std::uint32_t cpu = 0;  // kNoCpu: of a task
  std::uint64_t value = 0;
  std::uint64_t enabled_ns = 0;
  std::uint64_t running_ns = 0;
};
static_assert(offsetof(Value, item) == 0);
static_assert(offsetof(Value, cpu) == 4);
static_assert(offsetof(Value, value) == 8);
static_assert(offsetof(Value, enabled_ns) == 16);
static_assert(offsetof(Value, running_ns) == 24);
static_assert(sizeof(Value) == 32);

struct ValuesHead {
  Token token = 0;
  std::uint64_t sampled_ns = 0;
  Quality quality = Quality::kUnverified;
  std::uint32_t value_count = 0;
};
static_assert(offsetof(ValuesHead, token) == 0);
static_assert(offsetof(ValuesHead, sampled_ns) == 8);
static_assert(offsetof(ValuesHead, quality) == 16);
static_assert(offsetof(ValuesHead, value_count) == 20);
static_assert(sizeof(ValuesHead) == 24);

struct LeaseValues {
  ValuesHead head;
  std::vector<Value> values;
};

struct Room {
  std::uint32_t counters = 0;
  std::uint32_t is_probed = 0;  // the kernel was asked; else the books alone
};
static_assert(offsetof(Room, counters) == 0);
static_assert(offsetof(Room, is_probed) == 4);
static_assert(sizeof(Room) == 8);

// The first four as Windows shows them.
enum class OwnerKind : std::uint32_t {
  kFree,
  kUntagged,
  kTagged,
  kTaggedWithSource,  // and the event that is counted is known
  kForeign,
  kOffline,  // its holder cannot use it now
  kLimbo,
};
[[nodiscard]] std::string_view name_of(OwnerKind kind) noexcept;
struct CounterOwner {
  std::uint32_t counter = 0;
  OwnerKind kind = OwnerKind::kFree;
  Token token = 0;
  std::uint32_t tag = 0;
  std::uint32_t code = 0;
  std::uint32_t unit_mask = 0;
  std::uint32_t reserved = 0;
};
static_assert(offsetof(CounterOwner, counter) == 0);
static_assert(offsetof(CounterOwner, kind) == 4);
static_assert(offsetof(CounterOwner, token) == 8);
static_assert(offsetof(CounterOwner, tag) == 16);
static_assert(offsetof(CounterOwner, code) == 20);
static_assert(offsetof(CounterOwner, unit_mask) == 24);
static_assert(offsetof(CounterOwner, reserved) == 28);
static_assert(sizeof(CounterOwner) == 32);

struct OwnersAnswer {
  std::uint32_t owner_count = 0;
  std::uint32_t reserved = 0;
  std::vector<CounterOwner> owners;  // every counter once, ascending
};

// The packet itself broke a rule.
enum class Rejection : std::uint32_t {
  kMalformed = 1,
  kUnknownType,
  kVersion,
  kNoHello,    // something else came first
  kRate,       // this user asks too often
  kTooMany,    // of connections, leases or waiting requests of this user
  kNotAllowed  // an Admin message of a client that is not an administrator
};
[[nodiscard]] std::string_view name_of(Rejection rejection) noexcept;
struct Rejected {
  Rejection reason = Rejection::kMalformed;
  std::uint32_t reserved = 0;
};
static_assert(offsetof(Rejected, reason) == 0);
static_assert(offsetof(Rejected, reserved) == 4);
static_assert(sizeof(Rejected) == 8);

// ---- Unasked, with id 0 ----

enum class NoticeKind : std::uint32_t {
  kRevoking,   // read your last values and say Drained until `deadline_ns`
  kLost,       // it has ended; LeaseValues with the last ones came before, if there are any
  kSuspended,  // counters are away for now: the CPU is offline, or an outsider took one
  kResumed,
};
enum class Cause : std::uint32_t {
  kNone,
  kFreed,
  kRevokedByAdministrator,
  kPreempted,
  kHoldEnded,
  kTermEnded,  // no heartbeat
  kCpuOffline,
  kTakenByOutsider,
  kArbiterEnds,
  kHolderGone,
  kPolicyChanged,
};
[[nodiscard]] std::string_view name_of(NoticeKind kind) noexcept;
[[nodiscard]] std::string_view name_of(Cause cause) noexcept;
struct Notice {
  Token token = 0;
  NoticeKind kind = NoticeKind::kLost;
  Cause cause = Cause::kNone;
  std::uint64_t deadline_ns = 0;
};
static_assert(offsetof(Notice, token) == 0);
static_assert(offsetof(Notice, kind) == 8);
static_assert(offsetof(Notice, cause) == 12);
static_assert(offsetof(Notice, deadline_ns) == 16);
static_assert(sizeof(Notice) == 24);

// The arbiter was replaced in place, leases go on: here is the new ledger. Carries it.
struct NewLedger {
  std::uint64_t reserved = 0;
};
static_assert(offsetof(NewLedger, reserved) == 0);
static_assert(sizeof(NewLedger) == 8);

}  // namespace meterbank::pmu
