// SPDX-License-Identifier: Apache-2.0
#include "arbiter/server/exchange/exchange.hpp"

#include <fcntl.h>

#include <algorithm>
#include <string>
#include <utility>
#include <variant>

#include "meterbank/base/clock.hpp"
#include "meterbank/shm/segment_layout.hpp"

namespace meterbank::arbiter {
namespace {

using pmu::Rejection;

constexpr std::uint64_t kHeartbeatBytesMax = 65536;  // one page, wherever pages are large
constexpr Nanoseconds kOnlinePeriod = 1'000'000'000;

// Rule 3 of lease_wire.hpp.
bool attachment_is_right(const pmu::ClientMessage& message, bool has_attachment) noexcept {
  if (std::holds_alternative<pmu::Hello>(message)) return true;
  return std::holds_alternative<pmu::Offer>(message) == has_attachment;
}

bool is_administrative(const pmu::ClientMessage& message) noexcept {
  return std::holds_alternative<pmu::AdminRevoke>(message) ||
         std::holds_alternative<pmu::AdminReserve>(message);
}

}  // namespace

Exchange::Exchange(Arbiter arbiter, Backend& backend, const ProcessTable& processes,
                   LedgerWriter ledger, Outside& outside)
    : arbiter_(std::move(arbiter)),
      backend_(backend),
      processes_(processes),
      ledger_(std::move(ledger)),
      outside_(outside) {}

void Exchange::connected(ClientNumber client, const ClientIdentity& identity, Nanoseconds now) {
  visitors_[client].identity = identity;
  arbiter_.connected(client, identity, now);
  settle(now);
}

void Exchange::disconnected(ClientNumber client, Nanoseconds now) {
  if (visitors_.erase(client) == 0) return;
  std::erase_if(kept_, [client](const auto& one) { return one.second.client == client; });
  arbiter_.disconnected(client, now);
  settle(now);
}

void Exchange::received(ClientNumber client, std::span<const std::byte> packet, UniqueFd attached,
                        bool is_too_fast, Nanoseconds now) {
  const auto found = visitors_.find(client);
  if (found == visitors_.end()) return;
  Visitor& visitor = found->second;
  const auto decoded = pmu::decode_client_message(packet);
  if (decoded.rejection) return reject(client, visitor, decoded.id, *decoded.rejection);
  // Breaks no rule of the packets. A Cancel has no answer, and only takes work away.
  if (is_too_fast && !std::holds_alternative<pmu::Cancel>(decoded.message)) {
    ++packets_rejected_;
    return send(client, decoded.id, pmu::Rejected{Rejection::kRate, 0});
  }
  if (!attachment_is_right(decoded.message, static_cast<bool>(attached))) {
    return reject(client, visitor, decoded.id, Rejection::kMalformed);
  }
  if (std::holds_alternative<pmu::Hello>(decoded.message)) {
    return greet(client, visitor, decoded.id, std::move(attached), now);
  }
  if (!visitor.has_greeted) return reject(client, visitor, decoded.id, Rejection::kNoHello);
  if (!is_admissible(client, visitor, decoded.id, decoded.message, attached.get())) return;
  const auto* const offer = std::get_if<pmu::Offer>(&decoded.message);
  if (offer != nullptr && arbiter_.expects(client, *offer)) {
    kept_.insert_or_assign(offer->kernel_id, Kept{client, std::move(attached)});
  }
  arbiter_.received(client, decoded.id, decoded.message, now);
  settle(now);
}

void Exchange::reject(ClientNumber client, Visitor& visitor, std::uint64_t id, Rejection reason) {
  ++packets_rejected_;
  ++visitor.faults;
  // Without an id it was not a packet of this protocol.
  if (id != 0) send(client, id, pmu::Rejected{reason, 0});
  if (id == 0 || visitor.faults >= kFaultsMax) outside_.hang_up(client);
}

void Exchange::refuse(ClientNumber client, std::uint64_t id, std::string sentence) {
  pmu::Refused refused;
  refused.head.answer = pmu::Answer::kInvalidParameter;
  refused.head.reason = pmu::Reason::kMalformed;
  refused.sentence = std::move(sentence);
  send(client, id, refused);
}

void Exchange::send(ClientNumber client, std::uint64_t id, const pmu::ArbiterMessage& message,
                    int attached) {
  outside_.send(client, pmu::encode(id, message), attached);
}

bool Exchange::attach_heartbeat(Visitor& visitor, UniqueFd file) {
  // A mapping closes the descriptor that it was made of.
  UniqueFd for_mapping(::fcntl(file.get(), F_DUPFD_CLOEXEC, 0));
  if (!for_mapping) return false;
  auto mapped = MappedExtent::map(std::move(for_mapping), kHeartbeatBytesMax);
  if (!mapped) return false;
  visitor.heartbeat.emplace(std::move(*mapped));
  visitor.heartbeat_file = std::move(file);
  return true;
}

void Exchange::greet(ClientNumber client, Visitor& visitor, std::uint64_t id, UniqueFd heartbeat,
                     Nanoseconds now) {
  if (visitor.has_greeted) return reject(client, visitor, id, Rejection::kMalformed);
  if (heartbeat && !attach_heartbeat(visitor, std::move(heartbeat))) {
    return reject(client, visitor, id, Rejection::kMalformed);
  }
  visitor.has_greeted = true;
  pmu::Welcome welcome;
  welcome.epoch = arbiter_.options().epoch;
  welcome.client = client;
  if (backend_.why_no_pmu().empty()) welcome.flags |= pmu::kWelcomeHasPmu;
  if (now < grace_end_) welcome.flags |= pmu::kWelcomeGrace;
  const Rights rights = arbiter_.policy().rights_of(visitor.identity, arbiter_.options().own_uid);
  if (rights.is_administrator) welcome.flags |= pmu::kWelcomeAdministrator;
  send(client, id, welcome, ledger_.descriptor());
}

// What only the kernel knows of a request. False: it was answered.
bool Exchange::is_admissible(ClientNumber client, const Visitor& visitor, std::uint64_t id,
                             const pmu::ClientMessage& message, int attached) {
  if (is_administrative(message)) {
    const Rights rights = arbiter_.policy().rights_of(visitor.identity, arbiter_.options().own_uid);
    if (rights.is_administrator) return true;
    send(client, id, pmu::Rejected{Rejection::kNotAllowed, 0});
    return false;
  }
  if (const auto* allocate = std::get_if<pmu::Allocate>(&message)) {
    const std::uint32_t task = allocate->head.task;
    if (task == 0 || processes_.has_thread(visitor.identity.pid, task)) return true;
    refuse(client, id,
           "thread " + std::to_string(task) + " does not belong to your process; try: gettid()");
    return false;
  }
  if (const auto* owners = std::get_if<pmu::Owners>(&message)) {
    // Beyond that a group's number would not have room for it.
    if (owners->cpu < kCpusMax) return true;
    refuse(client, id, "there is no CPU " + std::to_string(owners->cpu));
    return false;
  }
  if (const auto* offer = std::get_if<pmu::Offer>(&message)) {
    if (processes_.is_counter(attached, offer->kernel_id)) return true;
    refuse(client, id, "the descriptor is not of the counter that is named");
    return false;
  }
  return true;
}

void Exchange::check(CarrierNumber carrier, Nanoseconds now) {
  if (!arbiter_.carriers().contains(carrier)) return;
  arbiter_.sampled(carrier, backend_.read(carrier), now);
  settle(now);
}

void Exchange::adopt(Policy policy, Nanoseconds now) {
  arbiter_.adopt(std::move(policy), now);
  settle(now);
}

void Exchange::end(Nanoseconds now) {
  arbiter_.end(now);
  settle(now);
}

void Exchange::passed(Nanoseconds now) {
  if (now >= grace_end_) kept_.clear();
  listen_to_hearts(now);
  arbiter_.passed(now);
  if (now - online_checked_ >= kOnlinePeriod) {
    online_checked_ = now;
    const CpuSet online = backend_.online();
    if (online != arbiter_.book().machine().online) arbiter_.online(online, now);
  }
  settle(now);
  if (now - sampled_ >= kSamplePeriod) {
    sampled_ = now;
    sample_carriers(now);
  }
}

void Exchange::listen_to_hearts(Nanoseconds now) {
  for (auto& [client, visitor] : visitors_) {
    if (!visitor.heartbeat) continue;
    const auto* const word = visitor.heartbeat->bytes().at<SharedWord>(0);
    if (word == nullptr) continue;
    // relaxed: a time that stands for itself.
    const Nanoseconds beat = word->load(std::memory_order_relaxed);
    if (beat == visitor.beat) continue;
    visitor.beat = beat;
    // A heartbeat in the future is capped: its client would never be taken for hung.
    arbiter_.heartbeat(client, std::min(beat, now));
  }
}

void Exchange::sample_carriers(Nanoseconds now) {
  std::vector<CarrierNumber> due;
  for (const auto& [number, carrier] : arbiter_.carriers()) {
    const bool is_in_force =
        std::any_of(carrier.leases.begin(), carrier.leases.end(), [this](std::uint16_t lease) {
          const auto found = arbiter_.leases().find(lease);
          if (found == arbiter_.leases().end()) return false;
          const pmu::LeaseState state = found->second.state();
          return state == pmu::LeaseState::kActive || state == pmu::LeaseState::kRevoking;
        });
    if (is_in_force && now - std::min(now, carrier.sampled_ns) >= kSamplePeriod) {
      due.push_back(number);
    }
  }
  for (const CarrierNumber number : due) {
    if (arbiter_.carriers().contains(number)) arbiter_.sampled(number, backend_.read(number), now);
  }
  settle(now);
}

// ---- Actions ----

void Exchange::settle(Nanoseconds now) {
  while (auto action = arbiter_.next_action()) {
    std::visit([this, now](auto& wanted) { carry_out(wanted, now); }, *action);
  }
  write_ledger();
}

void Exchange::write_ledger() {
  if (arbiter_.changes() == ledger_changes_) return;
  ledger_changes_ = arbiter_.changes();
  ledger_.write(arbiter_);
}

void Exchange::carry_out(Send& action, Nanoseconds now) {
  // The client that gets an answer must see its content in the ledger.
  write_ledger();
  if (const auto* granted = std::get_if<pmu::Granted>(&action.message)) {
    const auto lease = arbiter_.leases().find(pmu::lease_of(granted->head.token));
    if (lease != arbiter_.leases().end()) {
      const Nanoseconds sent = std::max(now, clock_ns(CLOCK_MONOTONIC));
      outside_.granted(sent - std::min(sent, lease->second.asked_ns));
    }
  }
  if (auto* const refused = std::get_if<pmu::Refused>(&action.message)) {
    // Why there is none, and what to change, is known to the backend alone.
    const std::string why = backend_.why_no_pmu();
    if (refused->head.reason == pmu::Reason::kNoPmu && !why.empty()) {
      refused->sentence += refused->sentence.empty() ? why : ": " + why;
    }
  }
  send(action.client, action.id, action.message);
}

void Exchange::carry_out(const Deliver& action, Nanoseconds) {
  const int descriptor = backend_.descriptor(action.carrier, action.opening);
  if (descriptor >= 0) send(action.client, action.id, action.message, descriptor);
}

void Exchange::carry_out(const Open& action, Nanoseconds now) {
  if (action.kept.empty()) {
    return arbiter_.opened(action.carrier, backend_.open(action.carrier, action.openings), now);
  }
  std::vector<UniqueFd> kept;
  for (const std::uint64_t kernel_id : action.kept) {
    auto found = kept_.extract(kernel_id);
    kept.push_back(found.empty() ? UniqueFd() : std::move(found.mapped().event));
  }
  arbiter_.opened(action.carrier,
                  backend_.take_back(action.carrier, action.openings, std::move(kept)), now);
}

// [L1] comes before the close: a client that still sees the token after it has read the counter
// knows that it was not taken away before.
void Exchange::carry_out(const Close& action, Nanoseconds) {
  write_ledger();
  outside_.closes(action.carrier);
  backend_.close(action.carrier);
}

void Exchange::carry_out(const Pause& action, Nanoseconds) {
  write_ledger();
  outside_.closes(action.carrier);
  backend_.pause(action.carrier);
}

void Exchange::carry_out(const Resume& action, Nanoseconds now) {
  arbiter_.opened(action.carrier, backend_.resume(action.carrier), now);
}

void Exchange::carry_out(const ReadCounters& action, Nanoseconds now) {
  arbiter_.sampled(action.carrier, backend_.read(action.carrier), now);
}

void Exchange::carry_out(const Confirm& action, Nanoseconds now) {
  arbiter_.confirmed(action.carrier, backend_.has_let_go(action.carrier), now);
}

void Exchange::carry_out(const Guard& action, Nanoseconds) {
  backend_.guard(action.pmu, action.cpu, action.counters);
}

void Exchange::carry_out(const ProbeKernel& action, Nanoseconds) {
  const std::uint32_t room = backend_.probe(action.pmu, action.cpus, action.event, action.at_most);
  send(action.client, action.id, pmu::Room{std::min(room, action.at_most), 1});
}

void Exchange::carry_out(const Verify& action, Nanoseconds now) {
  std::uint32_t room = backend_.probe(action.pmu, action.cpus, Event(), action.counters);
  // Fixed counters count events of their own only: with all general ones at hand the question is
  // answered as far as it can be.
  if (room >= arbiter_.book().machine().topology.pmus[action.pmu].general) room = action.counters;
  arbiter_.verified(action.lease, action.pmu, room, now);
}

void Exchange::carry_out(const Survey&, Nanoseconds now) {
  arbiter_.surveyed(backend_.survey(), now);
}

void Exchange::carry_out(const Disconnect& action, Nanoseconds) { outside_.hang_up(action.client); }

void Exchange::carry_out(const Record& action, Nanoseconds) { outside_.record(action.record); }

// ---- Going on in a new image ----

std::vector<SavedVisitor> Exchange::visitors() const {
  std::vector<SavedVisitor> saved;
  for (const auto& [client, visitor] : visitors_) {
    saved.push_back({client, visitor.has_greeted, visitor.faults, visitor.heartbeat_file.get()});
  }
  return saved;
}

void Exchange::adopt(const SavedVisitor& saved, ClientIdentity identity) {
  Visitor& visitor = visitors_[saved.client];
  visitor.identity = std::move(identity);
  visitor.has_greeted = saved.has_greeted;
  visitor.faults = saved.faults;
  if (saved.heartbeat < 0) return;
  static_cast<void>(attach_heartbeat(visitor, UniqueFd(saved.heartbeat)));
}

void Exchange::announce_ledger() {
  ledger_changes_ = arbiter_.changes();
  ledger_.write(arbiter_);
  for (const auto& [client, visitor] : visitors_) {
    if (visitor.has_greeted) send(client, 0, pmu::NewLedger{}, ledger_.descriptor());
  }
}

}  // namespace meterbank::arbiter
