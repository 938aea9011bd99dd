// SPDX-License-Identifier: Apache-2.0
//
// The walk of a lease through books, queue and kernel, and back. The classes of leases/ and parts/
// keep their data to themselves and return what follows from a change; the functions here do it.
// Each group of functions is a source file of its name; lease_path.cpp is the way to a grant.
// All of them run between at() and settle(), which begin and end every input.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "arbiter/core/arbiter.hpp"
#include "arbiter/core/leases/lease_table.hpp"
#include "arbiter/core/leases/lease_times.hpp"
#include "arbiter/core/leases/pieces.hpp"
#include "arbiter/core/leases/recovery.hpp"
#include "arbiter/core/leases/turns.hpp"
#include "arbiter/core/leases/wait_line.hpp"
#include "arbiter/core/parts/kernel_counters.hpp"
#include "arbiter/core/parts/ledger_words.hpp"
#include "arbiter/core/parts/outbox.hpp"
#include "arbiter/core/parts/outsiders.hpp"
#include "arbiter/core/parts/reservations.hpp"

namespace meterbank::arbiter {

inline constexpr Nanoseconds kViolationWait = 100'000'000;
// Longer times of clients count as these: years, so that no sum with the clock wraps.
inline constexpr Nanoseconds kTermMax = 100'000'000'000'000'000;
inline constexpr Nanoseconds kDrainMax = 3600'000'000'000;

struct Client {
  ClientIdentity identity;
  Rights rights;
};

struct Estimate {
  Nanoseconds time_ns = 0;   // kForever: not known
  std::size_t released = 0;  // how many have to end before
};

// When a lease ends, and its number: the order in which they are expected to end.
using End = std::pair<Nanoseconds, LeaseNumber>;

// The leases that block a request, in that order.
struct Expected {
  std::vector<End> ends;
  std::vector<Leaving> leaving;
};

class Arbiter::LeasePath {
 public:
  LeasePath(MachineBook machine_book, Policy rules, ArbiterOptions chosen);
  // The words are made of the other parts, where they are.
  LeasePath(const LeasePath&) = delete;
  LeasePath& operator=(const LeasePath&) = delete;

 private:
  friend class Arbiter;  // its face: arbiter.cpp

  // ---- clock.cpp: what time does ----
  void at(Nanoseconds time);
  void settle();
  void note_times();
  void heartbeat(ClientNumber client, Nanoseconds stamp);
  void become(Lease& lease, pmu::LeaseState state);
  [[nodiscard]] bool is_tallied() const;
  [[nodiscard]] std::optional<Nanoseconds> deadline() const;

  // ---- conversation.cpp: messages but Allocate ----
  void connect(ClientNumber client, ClientIdentity identity);
  void disconnect(ClientNumber client);
  void receive(ClientNumber client, std::uint64_t id, const pmu::ClientMessage& message);
  void refuse_token(ClientNumber client, std::uint64_t id);
  void free_lease(ClientNumber client, std::uint64_t id, pmu::Token token);
  void cancel(ClientNumber client, std::uint64_t request);
  void renew(ClientNumber client, std::uint64_t id, pmu::Token token);
  void drained(ClientNumber client, std::uint64_t id, pmu::Token token);
  void read(ClientNumber client, std::uint64_t id, pmu::Token token);
  void offer(ClientNumber client, std::uint64_t id, const pmu::Offer& offer);
  void admin_revoke(ClientNumber client, std::uint64_t id, const pmu::AdminRevoke& message);
  void admin_reserve(ClientNumber client, std::uint64_t id, const pmu::AdminReserve& message);
  void probe(ClientNumber client, std::uint64_t id, const pmu::Probe& message);
  void owners(ClientNumber client, std::uint64_t id, const pmu::Owners& message);

  // ---- lease_path.cpp: forward, from a request to the answer ----
  void allocate(ClientNumber client, std::uint64_t id, const pmu::Allocate& asked);
  void admit(ClientNumber client, std::uint64_t id, const pmu::Allocate& asked, Plan plan);
  [[nodiscard]] Decision consider(Lease& lease);
  [[nodiscard]] Decision try_start(Lease& lease);
  void prepare(Lease& lease);
  void verify_rest(Lease& lease, const Plan& rest);
  void opened(CarrierNumber number, const OpenOutcome& outcome);
  void verified(LeaseNumber number, std::uint32_t counters);
  void answered(Lease& lease);
  void grant(Lease& lease);
  void settle_hold(Lease& lease);
  // Whether its holder gets descriptors.
  [[nodiscard]] bool delegates(const Lease& lease) const;
  void record_grant(const Lease& lease);
  void send_granted(const Lease& lease);

  // ---- admission.cpp: what the policy allows ----
  [[nodiscard]] std::optional<Decision> policy_refusal(const Rights& rights,
                                                       const pmu::Allocate& asked,
                                                       const Plan& plan) const;
  template <typename IsOfSort>
  [[nodiscard]] std::uint32_t use_of(const Place& place, const Lease& lease,
                                     const IsOfSort& is_of_sort) const;
  [[nodiscard]] std::optional<Decision> quota_refusal(const Lease& lease) const;
  [[nodiscard]] std::uint32_t counters_at(const Plan& plan, const Place& place) const;
  void refuse(ClientNumber client, std::uint64_t id, const Decision& decision);

  // ---- refusal.cpp: what a client is told of the holders in its way ----
  void refuse_lease(Lease& lease, const Decision& decision);
  [[nodiscard]] pmu::Refused told(const Lease& lease, const Decision& decision) const;
  void add_blockers(pmu::Refused& refused, const Lease& lease,
                    const std::set<LeaseNumber>& numbers) const;
  [[nodiscard]] std::string sentence(const Lease& lease, const Decision& decision,
                                     const std::set<LeaseNumber>& numbers) const;
  void add_outsiders(pmu::Refused& refused, const Lease& lease) const;
  [[nodiscard]] bool is_cooling(LeaseId booking) const;
  // Whether its client may know the pids of this user.
  [[nodiscard]] bool may_see(const Lease& lease, std::uint32_t uid) const;

  // ---- placement.cpp: where the books have room ----
  [[nodiscard]] const Carrier* shared_carrier(const Lease& lease, const Piece& piece) const;
  [[nodiscard]] Alternative alternative_of(const Lease& lease) const;
  // What of its plan has to be had, where others have the rest already. Uses `room` if it needs to.
  [[nodiscard]] const Plan& wanted_by(const Lease& lease, Plan& room) const;
  // What books say of it. Takes it all, or nothing.
  [[nodiscard]] Decision take(const Lease& lease);
  // The same, and takes nothing.
  [[nodiscard]] Decision would_take(const Lease& lease);

  // ---- failed_start.cpp: the kernel said no ----
  void restart(Lease& lease);
  void not_opened(CarrierNumber number, const OpenOutcome& outcome);
  [[nodiscard]] Decision kernel_fault(const OpenOutcome& outcome,
                                      const std::vector<Opening>& openings);
  void undo(Lease& lease);

  // ---- queue.cpp: which request is served next, which lease gives way ----
  void enqueue(Lease& lease, const Decision& why);
  void serve_queue();
  void serve(Lease& lease);
  [[nodiscard]] bool is_delayed(const Lease& ahead, const Lease& lease) const;
  // When it could be served if all holders use up their time.
  [[nodiscard]] Estimate earliest(const Lease& lease) const;
  [[nodiscard]] Expected expected(const Lease& lease) const;
  // After which lease has ended `plan`, which is the lease's or a part of it, fits beside `coming`.
  // Nothing: it never does.
  [[nodiscard]] std::optional<End> fits_after(const Lease& lease, const Plan& plan,
                                              const Coming* coming) const;
  // Whether the lease has to wait for that end, or longer, at a place outside `plan`.
  [[nodiscard]] bool waits_as_long_elsewhere(const Lease& lease, const Plan& plan,
                                             const End& end) const;
  // The leases in its way where `plan` wants counters, in the order in which they end.
  [[nodiscard]] std::vector<End> ends(const Lease& lease, const Plan& plan) const;
  // The leases that have, or will have, counters where the plan wants some; ascending.
  [[nodiscard]] std::vector<LeaseNumber> booked_near(const Plan& plan) const;
  // When bookings there are given up as leases end: all in step 1, or one lease in each step.
  [[nodiscard]] std::vector<Leaving> leaving(const Plan& plan,
                                             const std::vector<LeaseNumber>& order,
                                             bool is_at_once) const;
  [[nodiscard]] bool fits_without(const Lease& lease, const std::set<LeaseNumber>& gone) const;
  void preempt_for(const Lease& lease);
  [[nodiscard]] std::vector<LeaseNumber> cheapest(
      const Lease& lease, const std::set<LeaseNumber>& going,
      const std::vector<const Lease*>& youngest_first) const;
  void give_up_waits();

  // ---- ending.cpp: from a revocation to the last counter ----
  void revoke(Lease& lease, pmu::Cause cause, Nanoseconds drain_ns);
  void end(Lease& lease, pmu::Cause cause);
  void put_aside(Lease& lease);
  void let_go(Lease& lease);
  void finish(Lease& lease);
  void stop(const Lease& lease);
  void look_for_violation(CarrierNumber number);
  void close(CarrierNumber number);
  void freed(CarrierNumber number);
  void confirmed(CarrierNumber number, bool has_let_go);
  void end_revoked(Lease& lease);
  void sample(const Lease& lease);
  void end_overdue();
  void end_all();

  // ---- suspension.cpp: counters that are away for now, and turns ----
  void sampled(CarrierNumber number, const std::vector<Reading>& readings);
  void suspend(Lease& lease, pmu::Cause cause);
  void resume(CarrierNumber number);
  void resumed(CarrierNumber number);
  void not_resumed(CarrierNumber number, const OpenOutcome& outcome);
  void back(Lease& lease);
  void set_online(const CpuSet& cpus);
  void retry_carriers();
  [[nodiscard]] std::optional<Decision> turn_refusal(const Lease& lease) const;
  void join_turns(Lease& lease);
  void leave_turns(LeaseNumber number);
  void stop_turn();
  [[nodiscard]] bool has_turn(const Carrier& carrier) const;
  void turn_over();

  // ---- surroundings.cpp: outsiders, and a policy that has changed ----
  void surveyed(std::vector<Outsider> found);
  void look_at_outsiders();
  void name_outsider(const Lease& lease, Decision& decision) const;
  void adopt(Policy rules);
  void settle_guards();

  // ---- reclaim.cpp: what outlives its connection or its arbiter ----
  [[nodiscard]] bool is_grace() const noexcept { return recovery_.is_grace(now_); }
  [[nodiscard]] bool take_over(ClientNumber client, std::uint64_t id, const pmu::Allocate& asked);
  void end_grace();

  // ---- saving.cpp ----
  [[nodiscard]] std::string save() const;
  [[nodiscard]] bool load(std::string_view saved);
  void load_plain(const nlohmann::json& from);
  [[nodiscard]] bool is_consistent() const;
  [[nodiscard]] bool book_again();

  MachineBook book_;
  Policy policy_;
  ArbiterOptions options_;
  Outbox outbox_;
  std::map<ClientNumber, Client> clients_;
  LeaseTable leases_;
  LeaseTimes times_;  // of `leases_`, after each input
  KernelCounters carriers_;
  WaitLine line_;
  Turns turns_;
  Recovery recovery_;
  Outsiders outsiders_;
  Reservations reservations_;
  LedgerWords words_;

  Nanoseconds now_ = 0;
  bool has_begun_ = false;  // `now_` has been set once
  bool has_news_ = false;   // something was given back, or may be: the queue is looked at
  bool has_ended_ = false;
  Nanoseconds served_ns_ = 0;  // when the queue was looked at last
  std::uint64_t changes_ = 0;
  Statistics statistics_;
};

// `name`[pid], as refusals name a process.
[[nodiscard]] std::string name_of(const ClientIdentity& holder, bool with_pid);
[[nodiscard]] Decision scarce(Reason reason, std::string sentence);
// What of a request is not for plan_for() to judge.
[[nodiscard]] std::optional<Decision> form_fault(const pmu::Allocate& asked);

}  // namespace meterbank::arbiter
