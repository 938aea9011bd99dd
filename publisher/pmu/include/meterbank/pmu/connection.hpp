// SPDX-License-Identifier: Apache-2.0
//
// A connection to the arbiter, and all requests that a client can make.
//
//                     keeper (or dispatch())                   any thread
//                  +-----------------------------+     +------------------------+
//   arbiter  <---> | answers, notices, end       |     | acquire, read, renew.. |  one waits for
//   ledger   ----> | reconnects, claims again    |     | is_in_force: two loads |  each answer
//                  +-----------------------------+     +------------------------+
//
// When the arbiter dies, leases are kAdrift until another one is found, for as long as it takes;
// they are claimed again by their old tokens, and those that are not granted again are lost.
//
// Thread safety  Any thread may call any function. on_notice runs on the keeper, or in dispatch(),
//                one call at a time; it may call all functions here, and end the connection.
// Errors         connect() returns an Error. The other requests return Asked: a Refusal that says
//                which clients stand in the way, or an Error if no arbiter decided. on_notice must
//                not throw. In the child of a fork all requests fail with kForked; the child may
//                connect anew.
// Progress       A request waits for the arbiter's answer, at most ConnectionOptions::timeout;
//                acquire() waits in the queue as long as its Request says, or until it is stopped.
// Cost           A request: one packet there and one back.
// Lifetime       Leases end with their connection. A ledger stays mapped while the caller holds it.
// Units          Deadlines are nanoseconds of CLOCK_MONOTONIC.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "meterbank/base/result.hpp"
#include "meterbank/pmu/lease.hpp"
#include "meterbank/pmu/refusal.hpp"
#include "meterbank/pmu/request.hpp"

namespace meterbank::pmu {

class LedgerView;

// What happens to a lease without its holder's doing.
struct LeaseNotice {
  enum class Kind : std::uint8_t {
    kRevoking,   // read, then say drained(), until deadline_ns
    kLost,       // with the last values, if there are any
    kSuspended,  // counters are away for now
    kResumed,
    kAdrift,     // the arbiter is gone
    kReclaimed,  // granted again by another arbiter; `token` is the new one
  };
  Kind kind = Kind::kLost;
  Token token = 0;
  Token before = 0;  // kReclaimed: the old one
  Cause cause = Cause::kNone;
  std::uint64_t deadline_ns = 0;                        // CLOCK_MONOTONIC
  std::shared_ptr<const LeaseValues> last_values = {};  // null: there are none
};
[[nodiscard]] std::string_view name_of(LeaseNotice::Kind kind) noexcept;

// Where the arbiter listens: $METERBANK_PMUD_SOCKET, else pmud.sock in $METERBANK_PMUD_DIR, else in
// $METERBANK_DIR, else in /run/meterbank. Of a process with more rights than its user the
// environment is not believed.
[[nodiscard]] std::string default_arbiter_socket();

struct ConnectionOptions {
  std::string socket = {};  // empty: default_arbiter_socket()
  // A thread of the library's own, which takes no signal. Without, the caller polls descriptor().
  bool has_keeper = true;
  std::function<void(const LeaseNotice&)> on_notice = {};
  // How long an answer that needs no waiting may take before the arbiter counts as hung.
  std::chrono::milliseconds timeout{10'000};
  // How long connect() waits for the arbiter's greeting, which a healthy one sends within
  // milliseconds; at most `timeout`.
  std::chrono::milliseconds greeting_timeout{2'000};
};

struct AcquireOptions {
  // Ends the wait: Refused with kCancelled.
  std::stop_token stop = {};
  // On the calling thread, when the request is queued.
  std::function<void(const Queued&)> on_queued = {};
};

// What the arbiter said of itself.
struct ArbiterFacts {
  std::uint32_t epoch = 0;
  std::uint64_t client = 0;  // number of this connection
  bool has_pmu = false;      // a hardware PMU, not only breakpoints
  bool is_in_grace = false;  // when it was connected: only what was held before was given out
  bool is_administrator = false;
};

class Connection {
 public:
  // The arbiter must run as root, as user "meterbank" or as the caller's own user.
  // Errors: kGone (no process listens; with ETIMEDOUT: it does not answer), kDenied, kLimit,
  // kCorrupt (not an arbiter, or a process of another user), kInvalidArgument, kNoSpace, kSystem.
  static Result<Connection> connect(ConnectionOptions options);
  Connection(Connection&&) noexcept;
  Connection& operator=(Connection&&) noexcept;
  ~Connection();

  [[nodiscard]] Asked<Lease> acquire(const Request& request, const AcquireOptions& options = {});
  // What acquire() would be told now. Nothing is held, and nothing waits.
  [[nodiscard]] Asked<Granted> try_out(const Request& request);

  // How many more counters for the item of `request`, of which it has exactly one, can be had on
  // each of its CPUs now. Of the rest of the request its PMU counts.
  [[nodiscard]] Asked<Room> probe(const Request& request);
  // Every counter once, ascending. An empty name: the first PMU that covers the CPU.
  [[nodiscard]] Asked<std::vector<CounterOwner>> owners(std::string_view pmu, std::uint32_t cpu);

  // ---- Of administrators ----

  // Returns once the lease is fenced.
  [[nodiscard]] Asked<void> revoke(Token token, std::chrono::nanoseconds drain);
  // Keeps `count` counters of the PMU for programs without a lease, on the CPUs of a list ("0-3";
  // an empty list: on all). Replaces what was reserved on these before.
  [[nodiscard]] Asked<void> reserve(std::string_view pmu, std::string_view cpus,
                                    std::uint32_t count);

  // As of the last arbiter.
  [[nodiscard]] ArbiterFacts facts() const;
  // False: the arbiter is gone, and another one is being looked for.
  [[nodiscard]] bool is_connected() const;
  // The ledger of the last arbiter; never null.
  [[nodiscard]] std::shared_ptr<const LedgerView> ledger() const;

  // ---- Without a keeper ----

  // Readable when dispatch() has something to do. Not to be read or closed.
  [[nodiscard]] int descriptor() const noexcept;
  // Does what the keeper would do, and nothing if there is one. Never waits, but for the answer to
  // a claim.
  void dispatch();

 private:
  explicit Connection(std::shared_ptr<detail::Link> link) noexcept;
  std::shared_ptr<detail::Link> link_;
};

}  // namespace meterbank::pmu
