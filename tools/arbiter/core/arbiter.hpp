// SPDX-License-Identifier: Apache-2.0
//
// The arbiter as a state machine: what clients say, what the kernel did and how late it is go in;
// answers, and what the kernel is to do, come out. No socket, clock or perf here, so that all of it
// can be tested as a function.
//
//   server                                      Arbiter
//     | -- received(client, id, Allocate) -------> |  books decide: refuse, queue or book
//     | <------------- actions: Open(carrier) ---- |
//     |    opens events, reads them                |
//     | -- opened(carrier, outcome) -------------> |  it counts: grant
//     | <------------- actions: Send(Granted) ---- |  it does not: refuse, name the holder
//     | -- passed(now) at deadline() ------------> |  terms, holds, drains, queue, turns
//
// The caller executes actions in their order and reports outcomes at once, before anything
// else goes in; every Open and Resume gets one opened(), every ReadCounters one sampled(), every
// Confirm one confirmed(), every Survey one surveyed(), every Verify one verified().
//
// One thread. Nothing waits. Time never goes back: an earlier `now` counts as the last one. While
// a process has to act in time, deadline() is never far away; so a gap of more than kTickLate
// between two inputs is time in which no process could act (suspend, the arbiter itself stopped),
// and terms, drains and the life of what is detached are extended by it.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "arbiter/core/books/machine_book.hpp"
#include "arbiter/core/lease.hpp"
#include "arbiter/core/policy.hpp"
#include "meterbank/base/result.hpp"
#include "meterbank/shm/pmu/lease_wire.hpp"

namespace meterbank::arbiter {

// ---- What comes out ----

struct Send {
  ClientNumber client = 0;
  std::uint64_t id = 0;
  pmu::ArbiterMessage message;
};
// A Counter message with the descriptor of a carrier's counter.
struct Deliver {
  ClientNumber client = 0;
  std::uint64_t id = 0;
  pmu::Counter message;
  CarrierNumber carrier = 0;
  std::uint32_t opening = 0;  // position in the carrier
};
// All openings or none, read until each has answered. Report opened().
struct Open {
  CarrierNumber carrier = 0;
  std::vector<Opening> openings;
  // As many, or none: which counter its holder kept open over the crash of the arbiter before, and
  // has offered; by the kernel's number for it, 0: to be opened.
  std::vector<std::uint64_t> kept = {};
};
// The last readings stay in Arbiter::values() only if ReadCounters came before.
struct Close {
  CarrierNumber carrier = 0;
};
struct Pause {  // gives the counters back until Resume; counts are kept
  CarrierNumber carrier = 0;
};
struct Resume {  // report opened()
  CarrierNumber carrier = 0;
};
// Report sampled().
struct ReadCounters {
  CarrierNumber carrier = 0;
};
// After Close: has the kernel let go? Report confirmed().
struct Confirm {
  CarrierNumber carrier = 0;
};
// Keep exactly so many counters of a place, by events that count nothing.
struct Guard {
  PmuIndex pmu = 0;
  std::uint32_t cpu = 0;
  std::uint32_t counters = 0;
};
// How many counters for the event can be had on each of the CPUs, and on the worst of them: ask the
// kernel, send Room. Only where the arbiter's own books said `at_most`.
struct ProbeKernel {
  ClientNumber client = 0;
  std::uint64_t id = 0;
  PmuIndex pmu = 0;
  CpuSet cpus;
  Event event;
  std::uint32_t at_most = 0;
};
// Can the kernel give so many counters of each of the CPUs at this moment, for whatever event? None
// is kept. Report verified().
struct Verify {
  std::uint16_t lease = 0;
  PmuIndex pmu = 0;
  CpuSet cpus;
  std::uint32_t counters = 0;
};
// Look for outsiders. Report surveyed().
struct Survey {};
// After the packets before it.
struct Disconnect {
  ClientNumber client = 0;
};

// 64 bytes, appended to the journal. From these alone a new arbiter knows what was held when this
// one died: the leases that were granted and have not ended.
struct JournalRecord {
  enum class Kind : std::uint16_t {
    kStarted = 1,
    kGranted,
    kRefused,
    kQueued,
    kRevoking,
    kFenced,  // the lease has ended
    kFreed,   // its counters are free again
    kSuspended,
    kResumed,
    kReclaimed,  // `other` is the token it had
    kOutsider,
    kViolation,  // a holder counted on after its fence
    kPolicy,     // read anew
    kDelegated,  // follows kGranted: the holder has the descriptor of a counter
  };
  std::uint64_t monotonic_ns = 0;
  std::uint64_t realtime_ns = 0;  // set by the code that writes the record
  pmu::Token token = 0;
  // In kGranted: digest of the request; in kDelegated: the kernel's number for the counter.
  std::uint64_t other = 0;
  std::uint64_t start_time = 0;  // of the holder's process
  std::uint32_t pid = 0;
  std::uint32_t uid = 0;
  Kind kind = Kind::kStarted;
  // Reason or Cause; in kGranted: kJournalDetached; in kDelegated: position among the counters.
  std::uint16_t reason = 0;
  std::uint32_t epoch = 0;
  std::uint32_t counters = 0;
  std::uint32_t check = 0;  // CRC-32C of the bytes before it; set by the same code
};
inline constexpr std::uint16_t kJournalDetached = 1;  // the same user may reclaim it, too
static_assert(sizeof(JournalRecord) == 64);
static_assert(std::has_unique_object_representations_v<JournalRecord>);
struct Record {
  JournalRecord record;
};

using Action = std::variant<Send, Deliver, Open, Close, Pause, Resume, ReadCounters, Confirm, Guard,
                            ProbeKernel, Survey, Disconnect, Record, Verify>;

// ---- What goes in ----

enum class OpenFault : std::uint8_t {
  kNone,
  kNoCounter,     // opened, but never got a counter, or ENOSPC
  kNotSupported,  // this PMU cannot count that
  kDenied,
  kNoTask,
  kNoDescriptors,
  kOffline,
  kOther,
};
struct OpenOutcome {
  OpenFault fault = OpenFault::kNone;
  std::uint32_t opening = 0;              // the first one that failed
  int system_error = 0;                   // of it
  std::vector<std::uint64_t> kernel_ids;  // if none failed
};

// A process that counts without a lease.
struct Outsider {
  std::string name;       // "perf", "kernel watchdog"
  std::uint32_t pid = 0;  // 0: the kernel
  std::uint32_t uid = 0;
  bool is_kernel = false;
  PmuIndex pmu = 0;
  CpuSet cpus;                 // empty: not known
  std::uint32_t counters = 0;  // on each of these; 0: not known
  std::string how;             // it was found: "open files", "nmi_watchdog"
  Nanoseconds first_ns = 0, last_ns = 0;
};

// ---- The machine ----

struct ArbiterOptions {
  std::uint16_t epoch = 1;
  std::uint32_t own_uid = 0;
  bool has_backend = true;                           // false: books alone, grade kLedger
  bool has_descriptors = true;                       // of its counters, to pass to clients
  std::uint32_t leases_max = pmu::kLedgerLeasesMax;  // with those that wait
  Nanoseconds drain_ns = 200'000'000;
  Nanoseconds grace_ns = 0;  // after a crash: 2 s
  Nanoseconds detached_ns = 10'000'000'000;
  Nanoseconds slice_ns = 50'000'000;
  Nanoseconds ageing_ns = 10'000'000'000;  // a waiter goes up a class after so long
  Nanoseconds confirm_ns = 1'000'000;      // between two looks at limbo; doubles up to 100 ms
};

struct Statistics {
  std::uint64_t grants = 0;
  std::array<std::uint64_t, 32> refusals = {};  // by Reason
  std::uint64_t queued = 0, revocations = 0, expiries = 0, preemptions = 0, suspensions = 0;
  std::uint64_t violations = 0;  // fences that a holder broke
  std::uint64_t mismatches = 0;  // the books had room and the kernel had not
  std::uint64_t reclaims = 0;
};

class Arbiter {
 public:
  static constexpr Nanoseconds kTermMin = 1'000'000'000;
  static constexpr Nanoseconds kTickLate = 1'000'000'000;

  Arbiter(MachineBook book, Policy policy, ArbiterOptions options);
  Arbiter(Arbiter&&) noexcept;
  Arbiter& operator=(Arbiter&&) noexcept;
  ~Arbiter();

  // What a journal says was held when the arbiter before died; these may be reclaimed while grace
  // lasts, by the same process, or by the same user if they were detached.
  void remember(const std::vector<JournalRecord>& journal);

  void connected(ClientNumber client, ClientIdentity identity, Nanoseconds now);
  // Its socket or its process has ended.
  void disconnected(ClientNumber client, Nanoseconds now);
  // Hello is answered by the server, which has the ledger. Messages of unknown clients are ignored.
  void received(ClientNumber client, std::uint64_t id, const pmu::ClientMessage& message,
                Nanoseconds now);
  // When the client used its counters last.
  void heartbeat(ClientNumber client, Nanoseconds stamp);

  void opened(CarrierNumber carrier, const OpenOutcome& outcome, Nanoseconds now);
  void sampled(CarrierNumber carrier, const std::vector<Reading>& readings, Nanoseconds now);
  void confirmed(CarrierNumber carrier, bool has_let_go, Nanoseconds now);
  // May also come without a request: when an outsider was seen.
  void surveyed(std::vector<Outsider> outsiders, Nanoseconds now);
  // `counters`: how many there were, on the worst of the CPUs.
  void verified(std::uint16_t lease, PmuIndex pmu, std::uint32_t counters, Nanoseconds now);
  void online(const CpuSet& cpus, Nanoseconds now);
  void adopt(Policy policy, Nanoseconds now);  // leases that it forbids are revoked
  void passed(Nanoseconds now);
  // No lease outlives it: notices, final values.
  void end(Nanoseconds now);

  // When passed() has something to do at the latest; nothing: never.
  [[nodiscard]] std::optional<Nanoseconds> deadline() const;
  // What is to be done, once. Values in a Send are those of the last ReadCounters before it.
  [[nodiscard]] std::optional<Action> next_action();

  // ---- To be looked at ----
  // Whether this client had that counter open, of a lease that it may reclaim now.
  [[nodiscard]] bool expects(ClientNumber client, const pmu::Offer& offer) const;
  [[nodiscard]] const std::map<std::uint16_t, Lease>& leases() const noexcept;  // by number
  [[nodiscard]] const std::map<CarrierNumber, Carrier>& carriers() const noexcept;
  [[nodiscard]] std::vector<std::uint16_t> queue() const;  // waiting leases, next one first
  [[nodiscard]] const std::vector<Outsider>& outsiders() const noexcept;
  // Leases stand in it as the carriers that they count on (booking_of), and under their own number
  // with what names no event; leases_of() tells whose a booking is.
  [[nodiscard]] const MachineBook& book() const noexcept;
  [[nodiscard]] std::vector<std::uint16_t> leases_of(LeaseId booking) const;
  [[nodiscard]] const Statistics& statistics() const noexcept;
  [[nodiscard]] const ArbiterOptions& options() const noexcept;
  [[nodiscard]] const Policy& policy() const noexcept;
  // What a Read would be answered from the last samples.
  [[nodiscard]] pmu::LeaseValues values(const Lease& lease) const;
  // Slot words of a place, counter by counter, as the ledger shows them.
  [[nodiscard]] std::vector<std::uint64_t> slot_words(PmuIndex pmu, std::uint32_t cpu) const;
  [[nodiscard]] std::uint64_t lease_word(std::uint16_t number) const;
  // Position in the ledger of the first slot word of a place. Places stand there by PMU, then by
  // CPU; of each, general counters come before fixed ones.
  [[nodiscard]] std::uint32_t first_slot(PmuIndex pmu, std::uint32_t cpu) const;
  // The counters of a lease, where they are now, as in Granted.
  [[nodiscard]] std::vector<pmu::GrantedCounter> counters(const Lease& lease) const;
  // Grows with every change of a word.
  [[nodiscard]] std::uint64_t changes() const noexcept;
  // Whether what is counted and sorted beside the leases is what doing it anew gives. For tests.
  [[nodiscard]] bool is_tallied() const;

  // ---- To be carried over ----
  // All of it but the book's machine, the policy and pending actions, which must be none.
  [[nodiscard]] std::string save() const;
  // Errors: kCorrupt.
  [[nodiscard]] static Result<Arbiter> restore(std::string_view saved, MachineBook book,
                                               Policy policy);

 private:
  class LeasePath;
  std::unique_ptr<LeasePath> path_;
};

}  // namespace meterbank::arbiter
