// SPDX-License-Identifier: Apache-2.0
//
// The face of the state machine: every input sets the clock, does its part, and settles.
#include "arbiter/core/arbiter.hpp"

#include <utility>

#include "arbiter/core/life/lease_path.hpp"

namespace meterbank::arbiter {

Arbiter::Arbiter(MachineBook book, Policy policy, ArbiterOptions options)
    : path_(std::make_unique<LeasePath>(std::move(book), std::move(policy), options)) {}
Arbiter::Arbiter(Arbiter&&) noexcept = default;
Arbiter& Arbiter::operator=(Arbiter&&) noexcept = default;
Arbiter::~Arbiter() = default;

void Arbiter::remember(const std::vector<JournalRecord>& journal) {
  path_->recovery_.remember(journal);
}

void Arbiter::connected(ClientNumber client, ClientIdentity identity, Nanoseconds now) {
  path_->at(now);
  path_->connect(client, std::move(identity));
  path_->settle();
}

void Arbiter::disconnected(ClientNumber client, Nanoseconds now) {
  path_->at(now);
  path_->disconnect(client);
  path_->settle();
}

void Arbiter::received(ClientNumber client, std::uint64_t id, const pmu::ClientMessage& message,
                       Nanoseconds now) {
  path_->at(now);
  path_->receive(client, id, message);
  path_->settle();
}

void Arbiter::heartbeat(ClientNumber client, Nanoseconds stamp) { path_->heartbeat(client, stamp); }

void Arbiter::opened(CarrierNumber carrier, const OpenOutcome& outcome, Nanoseconds now) {
  path_->at(now);
  path_->opened(carrier, outcome);
  path_->settle();
}

void Arbiter::sampled(CarrierNumber carrier, const std::vector<Reading>& readings,
                      Nanoseconds now) {
  path_->at(now);
  path_->sampled(carrier, readings);
  path_->settle();
}

void Arbiter::confirmed(CarrierNumber carrier, bool has_let_go, Nanoseconds now) {
  path_->at(now);
  path_->confirmed(carrier, has_let_go);
  path_->settle();
}

void Arbiter::surveyed(std::vector<Outsider> outsiders, Nanoseconds now) {
  path_->at(now);
  path_->surveyed(std::move(outsiders));
  path_->settle();
}

void Arbiter::verified(std::uint16_t lease, PmuIndex /*pmu*/, std::uint32_t counters,
                       Nanoseconds now) {
  path_->at(now);
  path_->verified(lease, counters);
  path_->settle();
}

void Arbiter::online(const CpuSet& cpus, Nanoseconds now) {
  path_->at(now);
  path_->set_online(cpus);
  path_->settle();
}

void Arbiter::adopt(Policy policy, Nanoseconds now) {
  path_->at(now);
  path_->adopt(std::move(policy));
  path_->settle();
}

void Arbiter::passed(Nanoseconds now) {
  path_->at(now);
  path_->end_grace();
  path_->give_up_waits();
  path_->end_overdue();
  path_->retry_carriers();
  path_->turn_over();
  path_->look_at_outsiders();
  path_->settle();
}

void Arbiter::end(Nanoseconds now) {
  path_->at(now);
  path_->end_all();
  path_->settle();
}

std::optional<Nanoseconds> Arbiter::deadline() const { return path_->deadline(); }
std::optional<Action> Arbiter::next_action() {
  return path_->outbox_.next([this](const Lease& lease) { return path_->words_.values_of(lease); });
}

bool Arbiter::expects(ClientNumber client, const pmu::Offer& offer) const {
  const auto found = path_->clients_.find(client);
  return found != path_->clients_.end() && path_->recovery_.expects(found->second.identity, offer);
}
const std::map<std::uint16_t, Lease>& Arbiter::leases() const noexcept {
  return path_->leases_.all();
}
const std::map<CarrierNumber, Carrier>& Arbiter::carriers() const noexcept {
  return path_->carriers_.all();
}
std::vector<std::uint16_t> Arbiter::queue() const { return path_->line_.in_order(); }
const std::vector<Outsider>& Arbiter::outsiders() const noexcept { return path_->outsiders_.all(); }
const MachineBook& Arbiter::book() const noexcept { return path_->book_; }
std::vector<std::uint16_t> Arbiter::leases_of(LeaseId booking) const {
  return path_->carriers_.holders_of(booking);
}
const Statistics& Arbiter::statistics() const noexcept { return path_->statistics_; }
const ArbiterOptions& Arbiter::options() const noexcept { return path_->options_; }
const Policy& Arbiter::policy() const noexcept { return path_->policy_; }
pmu::LeaseValues Arbiter::values(const Lease& lease) const {
  return path_->words_.values_of(lease);
}
std::vector<std::uint64_t> Arbiter::slot_words(PmuIndex pmu, std::uint32_t cpu) const {
  return path_->words_.slot_words(pmu, cpu);
}
std::uint64_t Arbiter::lease_word(std::uint16_t number) const {
  return path_->words_.lease_word(number);
}
std::uint32_t Arbiter::first_slot(PmuIndex pmu, std::uint32_t cpu) const {
  return path_->words_.first_slot(pmu, cpu);
}
std::vector<pmu::GrantedCounter> Arbiter::counters(const Lease& lease) const {
  return path_->words_.counters_of(lease);
}
std::uint64_t Arbiter::changes() const noexcept { return path_->changes_; }
bool Arbiter::is_tallied() const { return path_->is_tallied(); }

std::string Arbiter::save() const { return path_->save(); }

Result<Arbiter> Arbiter::restore(std::string_view saved, MachineBook book, Policy policy) {
  Arbiter arbiter(std::move(book), std::move(policy), {});
  if (!arbiter.path_->load(saved)) {
    return fail(ErrorCode::kCorrupt, "saved arbiter state is inconsistent");
  }
  return arbiter;
}

}  // namespace meterbank::arbiter
