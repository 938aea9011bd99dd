// SPDX-License-Identifier: Apache-2.0
//
// How a client of the PMU arbiter asks for counters, and how it is answered.
//
// One SOCK_SEQPACKET socket. A message is one packet: LeaseHeader, then the body of its type, then
// what the body counts.
//
//   client                                       arbiter
//     | -- Hello (heartbeat memfd) -------------> |
//     | <--------------- Welcome (ledger memfd) - |
//     | -- Allocate ----------------------------> |   decided at once, or queued if it may wait
//     | <------------------------------- Queued - |   only if it waits; the answer follows
//     | <----------------- Granted or Refused --- |
//     | -- Read (token) ------------------------> |
//     | <-------------------------- LeaseValues - |
//     | <----------- Notice: revoking, until ... - |   unasked, with id 0
//     | -- Drained (token) ---------------------> |
//     | <--------------------------------- Done - |
//     | <----------------------- LeaseValues, Notice: lost (id 0) |
//
// Rules
//   1. A request has an id, not 0, that the client chose and has no other request out with. It is
//      answered exactly once, by the answer that its type names, Refused or Rejected; Queued comes
//      before the answer. What comes unasked has id 0.
//   2. A packet is as long as its header says. What counts in the body promise is there, and no
//      more.
//   3. Hello may carry a descriptor, Offer carries one; Welcome, Ledger and Counter carry one.
//      No other packet does.
//   4. Names end at their first NUL, which is there; reserved fields are zero.
//   5. A client that breaks a rule is told Rejected where there is an id to answer to, and
//   disconnected after
//      the third time, or at once where packets cannot be told apart.
//   6. Numbers have the byte order of the machine: both ends run on it. Times are nanoseconds of
//      CLOCK_MONOTONIC; 0 stands for "never" or "not known", as said.
//
// The identity of a client comes from the kernel (SO_PEERCRED, SO_PEERPIDFD), never from a message.
// Nothing here believes a byte that it did not check, or throws but for lack of memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "meterbank/shm/channel.hpp"
#include "meterbank/shm/pmu/lease_parts.hpp"

namespace meterbank::pmu {

inline constexpr std::uint32_t kLeaseMagic = 0x6d70626d;  // "mbpm"
inline constexpr std::uint16_t kLeaseVersion = 1;
// In the arbiter's directory.
inline constexpr std::string_view kArbiterSocket = "pmud.sock";
inline constexpr std::string_view kArbiterJournal = "pmud.journal";

// ---- Requests ----

// The first message. With it may come a heartbeat: a memfd of one page that passes the attach gate,
// in whose first word the client stores the time whenever it uses its counters.
struct Hello {
  std::uint64_t reserved = 0;
};
static_assert(offsetof(Hello, reserved) == 0);
static_assert(sizeof(Hello) == 8);

inline constexpr std::uint32_t kAllocateHasGroups = 1;   // without: all CPUs that are online
inline constexpr std::uint32_t kAllocateHasItems = 2;    // without: the whole PMU, alone
inline constexpr std::uint32_t kAllocateDryRun = 4;      // say what you would say, and do nothing
inline constexpr std::uint32_t kAllocateShares = 8;      // others may count the same on my counters
inline constexpr std::uint32_t kAllocateDelegates = 16;  // descriptors please; own tasks only
inline constexpr std::uint32_t kAllocateDetached = 32;   // survives a lost connection for a while
inline constexpr std::uint32_t kAllocateRestorable = 64;  // may be preempted: served again later
inline constexpr std::uint32_t kAllocateFlags = 127;

// Answer: Granted, Refused; Queued before it. The counts are the client's: they are wrong without
// the flags that go with them, and answered kInvalidParameter.
struct AllocateHead {
  std::uint32_t flags = 0;
  std::uint32_t group_count = 0;
  std::uint32_t item_count = 0;
  std::uint32_t priority = 1;  // a Priority below kKernel
  std::uint64_t wait_ns = 0;   // how long it may wait in the queue; kForever
  std::uint64_t term_ns = 0;   // it ends without a heartbeat in this time (1 s at least); 0: never
  std::uint64_t hold_ns = 0;   // ends it after so long; 0: as long as its class may
  std::uint32_t duty_permille = 1000;  // content with counters for this part of the time
  std::uint32_t task = 0;              // count this thread of the client, not CPUs
  Token reclaims = 0;                  // a lease of an arbiter before this one
  WireName pmu = {};                   // empty: on each CPU the first one that covers it
  WireName label = {};                 // shown to others: what it is for
};
static_assert(offsetof(AllocateHead, flags) == 0);
static_assert(offsetof(AllocateHead, group_count) == 4);
static_assert(offsetof(AllocateHead, item_count) == 8);
static_assert(offsetof(AllocateHead, priority) == 12);
static_assert(offsetof(AllocateHead, wait_ns) == 16);
static_assert(offsetof(AllocateHead, term_ns) == 24);
static_assert(offsetof(AllocateHead, hold_ns) == 32);
static_assert(offsetof(AllocateHead, duty_permille) == 40);
static_assert(offsetof(AllocateHead, task) == 44);
static_assert(offsetof(AllocateHead, reclaims) == 48);
static_assert(offsetof(AllocateHead, pmu) == 56);
static_assert(offsetof(AllocateHead, label) == 128);
static_assert(sizeof(AllocateHead) == 200);
static_assert(std::is_trivially_copyable_v<AllocateHead>);

inline constexpr std::uint64_t kForever = ~std::uint64_t{0};
struct Allocate {
  AllocateHead head;
  std::vector<CpuGroup> groups;  // none without kAllocateHasGroups, else group_count of them
  std::vector<Item> items;       // none without kAllocateHasItems, else item_count of them
};

// Answers: Done; Refused with kMalformed, if this client has no such lease.
struct Free {
  Token token = 0;
};
static_assert(offsetof(Free, token) == 0);
static_assert(sizeof(Free) == 8);

// Ends a wait. Not answered; the request that it names is.
struct Cancel {
  std::uint64_t request = 0;
};
static_assert(offsetof(Cancel, request) == 0);
static_assert(sizeof(Cancel) == 8);

// Begins the maximum hold anew, where the class allows that. Answer: Done, Refused.
struct Renew {
  Token token = 0;
};
static_assert(offsetof(Renew, token) == 0);
static_assert(sizeof(Renew) == 8);

// The holder has read what it wanted after a Notice of kRevoking. Answer: Done, Refused.
struct Drained {
  Token token = 0;
};
static_assert(offsetof(Drained, token) == 0);
static_assert(sizeof(Drained) == 8);

// Answer: LeaseValues, Refused.
struct Read {
  Token token = 0;
};
static_assert(offsetof(Read, token) == 0);
static_assert(sizeof(Read) == 8);

// Before an Allocate that reclaims: a counter that the client holds, with its descriptor. Answer:
// Done, Refused.
struct Offer {
  Token token = 0;
  std::uint64_t kernel_id = 0;  // PERF_EVENT_IOC_ID
};
static_assert(offsetof(Offer, token) == 0);
static_assert(offsetof(Offer, kernel_id) == 8);
static_assert(sizeof(Offer) == 16);

// How many more counters for `item`, an event or a class, could be leased on each of the CPUs.
// Asks the kernel where it can be asked, so that it is true. Answer: Room, Refused.
struct Probe {
  std::uint32_t flags = 0;  // kAllocateHasGroups
  std::uint32_t group_count = 0;
  WireName pmu = {};
  Item item;
  std::vector<CpuGroup> groups;
};
// The holder of each counter of a PMU on a CPU. Answer: OwnersAnswer, Refused.
struct Owners {
  std::uint32_t cpu = 0;
  std::uint32_t reserved = 0;
  WireName pmu = {};
};
static_assert(offsetof(Owners, cpu) == 0);
static_assert(offsetof(Owners, reserved) == 4);
static_assert(offsetof(Owners, pmu) == 8);
static_assert(sizeof(Owners) == 80);

// Takes a lease away. Administrators only. Answer: Done once it is fenced, Refused.
struct AdminRevoke {
  Token token = 0;
  std::uint64_t drain_ns = 0;  // how long the holder may take to read its last values
};
static_assert(offsetof(AdminRevoke, token) == 0);
static_assert(offsetof(AdminRevoke, drain_ns) == 8);
static_assert(sizeof(AdminRevoke) == 16);

// Keeps `count` counters of a PMU on CPUs for processes without a lease; replaces an earlier
// reserve of those CPUs. Administrators only. Answer: Done, Refused.
struct AdminReserve {
  std::uint32_t flags = 0;  // kAllocateHasGroups
  std::uint32_t group_count = 0;
  std::uint32_t count = 0;
  std::uint32_t reserved = 0;
  WireName pmu = {};
  std::vector<CpuGroup> groups;
};

// ---- Answers ----

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

// ---- Packets ----

enum class LeaseType : std::uint16_t {
  kHello = 1,
  kAllocate,
  kFree,
  kCancel,
  kRenew,
  kDrained,
  kRead,
  kOffer,
  kProbe,
  kOwners,
  kAdminRevoke,
  kAdminReserve,
  kWelcome = 0x81,
  kGranted,
  kCounter,
  kRefused,
  kQueued,
  kDone,
  kValues,
  kRoom,
  kOwnersAnswer,
  kRejected,
  kNotice = 0xc1,
  kNewLedger,
};

struct LeaseHeader {
  std::uint32_t magic;     //  0  kLeaseMagic
  std::uint16_t version;   //  4  kLeaseVersion
  LeaseType type;          //  6
  std::uint32_t bytes;     //  8  of the packet
  std::uint32_t reserved;  // 12  zero
  std::uint64_t id;        // 16
};
static_assert(offsetof(LeaseHeader, magic) == 0);
static_assert(offsetof(LeaseHeader, version) == 4);
static_assert(offsetof(LeaseHeader, type) == 6);
static_assert(offsetof(LeaseHeader, bytes) == 8);
static_assert(offsetof(LeaseHeader, reserved) == 12);
static_assert(offsetof(LeaseHeader, id) == 16);
static_assert(sizeof(LeaseHeader) == 24);
static_assert(std::has_unique_object_representations_v<LeaseHeader>);

// In the order of LeaseType.
using ClientMessage = std::variant<Hello, Allocate, Free, Cancel, Renew, Drained, Read, Offer,
                                   Probe, Owners, AdminRevoke, AdminReserve>;
using ArbiterMessage = std::variant<Welcome, Granted, Counter, Refused, Queued, Done, LeaseValues,
                                    Room, OwnersAnswer, Rejected, Notice, NewLedger>;

// A packet. Counts in heads are set from what is there, but for Allocate and Probe, whose counts
// are the client's own words. What is beyond the limits above is left out. Precondition: `message`
// fits in kPacketBytesMax.
[[nodiscard]] std::vector<std::byte> encode(std::uint64_t id, const ClientMessage& message);
[[nodiscard]] std::vector<std::byte> encode(std::uint64_t id, const ArbiterMessage& message);

template <typename Message>
struct Decoded {
  std::optional<Rejection> rejection;  // then only id is there, 0 where it could not be read
  std::uint64_t id = 0;
  Message message;
};
// Enumerations of a client's message are within their ranges and its names have an end. But what
// Item, CpuGroup and AllocateHead say otherwise (kinds, flags, reserved words of a group) is the
// arbiter's to answer.
[[nodiscard]] Decoded<ClientMessage> decode_client_message(std::span<const std::byte> packet);
// All enumerations are within their ranges, counts within their limits.
[[nodiscard]] Decoded<ArbiterMessage> decode_arbiter_message(std::span<const std::byte> packet);

}  // namespace meterbank::pmu
