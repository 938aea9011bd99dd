// SPDX-License-Identifier: Apache-2.0
//
// The face of the state machine: every input sets the clock, does its part, and settles.
#include "arbiter/core/arbiter.hpp"

#include <utility>

#include "arbiter/core/life/state.hpp"

namespace meterbank::arbiter {

Arbiter::Arbiter(MachineBook book, Policy policy, ArbiterOptions options)
    : state_(std::make_unique<State>(std::move(book), std::move(policy), options)) {}
Arbiter::Arbiter(Arbiter&&) noexcept = default;
Arbiter& Arbiter::operator=(Arbiter&&) noexcept = default;
Arbiter::~Arbiter() = default;

void Arbiter::remember(const std::vector<JournalRecord>& journal) {
  state_->recovery.remember(journal);
}

void Arbiter::connected(ClientNumber client, ClientIdentity identity, Nanoseconds now) {
  state_->at(now);
  state_->connect(client, std::move(identity));
  state_->settle();
}

void Arbiter::disconnected(ClientNumber client, Nanoseconds now) {
  state_->at(now);
  state_->disconnect(client);
  state_->settle();
}

void Arbiter::received(ClientNumber client, std::uint64_t id, const pmu::ClientMessage& message,
                       Nanoseconds now) {
  state_->at(now);
  state_->receive(client, id, message);
  state_->settle();
}

void Arbiter::heartbeat(ClientNumber client, Nanoseconds stamp) {
  for (auto& [number, lease] : state_->leases) {
    // A client that writes the future into its page gets no more than the present for it.
    if (lease.client == client && stamp > lease.heartbeat_ns) {
      lease.heartbeat_ns = std::min(stamp, state_->now);
    }
  }
}

void Arbiter::opened(CarrierNumber carrier, const OpenOutcome& outcome, Nanoseconds now) {
  state_->at(now);
  state_->opened(carrier, outcome);
  state_->settle();
}

void Arbiter::sampled(CarrierNumber carrier, std::vector<Reading> readings, Nanoseconds now) {
  state_->at(now);
  state_->sampled(carrier, readings);
  state_->settle();
}

void Arbiter::confirmed(CarrierNumber carrier, bool has_let_go, Nanoseconds now) {
  state_->at(now);
  state_->confirmed(carrier, has_let_go);
  state_->settle();
}

void Arbiter::surveyed(std::vector<Outsider> outsiders, Nanoseconds now) {
  state_->at(now);
  state_->surveyed(std::move(outsiders));
  state_->settle();
}

void Arbiter::verified(std::uint16_t lease, PmuIndex /*pmu*/, std::uint32_t counters,
                       Nanoseconds now) {
  state_->at(now);
  state_->verified(lease, counters);
  state_->settle();
}

void Arbiter::online(const CpuSet& cpus, Nanoseconds now) {
  state_->at(now);
  state_->set_online(cpus);
  state_->settle();
}

void Arbiter::adopt(Policy policy, Nanoseconds now) {
  state_->at(now);
  state_->adopt(std::move(policy));
  state_->settle();
}

void Arbiter::passed(Nanoseconds now) {
  state_->at(now);
  state_->end_grace();
  state_->give_up_waits();
  state_->end_overdue();
  state_->retry_carriers();
  state_->turn_over();
  state_->forget_unknowns();
  state_->settle();
}

void Arbiter::end(Nanoseconds now) {
  state_->at(now);
  state_->end_all();
  state_->settle();
}

std::optional<Nanoseconds> Arbiter::deadline() const { return state_->deadline(); }
std::optional<Action> Arbiter::next_action() {
  return state_->outbox.next([this](const Lease& lease) { return state_->values(lease); });
}

bool Arbiter::expects(ClientNumber client, const pmu::Offer& offer) const {
  const auto found = state_->clients.find(client);
  return found != state_->clients.end() && state_->recovery.expects(found->second.identity, offer);
}
const std::map<std::uint16_t, Lease>& Arbiter::leases() const noexcept {
  return state_->leases.all();
}
const std::map<CarrierNumber, Carrier>& Arbiter::carriers() const noexcept {
  return state_->carriers.all();
}
std::vector<std::uint16_t> Arbiter::queue() const { return state_->line.in_order(); }
const std::vector<Outsider>& Arbiter::outsiders() const noexcept { return state_->outsiders; }
const MachineBook& Arbiter::book() const noexcept { return state_->book; }
std::vector<std::uint16_t> Arbiter::leases_of(LeaseId booking) const {
  return state_->leases_of(booking);
}
const Statistics& Arbiter::statistics() const noexcept { return state_->statistics; }
const ArbiterOptions& Arbiter::options() const noexcept { return state_->options; }
const Policy& Arbiter::policy() const noexcept { return state_->policy; }
pmu::Values Arbiter::values(const Lease& lease) const { return state_->values(lease); }
std::vector<std::uint64_t> Arbiter::slot_words(PmuIndex pmu, std::uint32_t cpu) const {
  return state_->slot_words(pmu, cpu);
}
std::uint64_t Arbiter::lease_word(std::uint16_t number) const { return state_->lease_word(number); }
std::uint32_t Arbiter::first_slot(PmuIndex pmu, std::uint32_t cpu) const {
  return state_->first_slot(pmu, cpu);
}
std::vector<pmu::GrantedCounter> Arbiter::counters(const Lease& lease) const {
  return state_->counters_of(lease);
}
std::uint64_t Arbiter::changes() const noexcept { return state_->changes; }
bool Arbiter::is_tallied() const { return state_->is_tallied(); }

std::string Arbiter::save() const { return state_->save(); }

Result<Arbiter> Arbiter::restore(std::string_view saved, MachineBook book, Policy policy) {
  Arbiter arbiter(std::move(book), std::move(policy), {});
  if (!arbiter.state_->load(saved)) {
    return fail(ErrorCode::kCorrupt, "saved arbiter state is inconsistent");
  }
  return arbiter;
}

}  // namespace meterbank::arbiter
