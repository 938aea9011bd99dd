// SPDX-License-Identifier: Apache-2.0
#include "exchange_script.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "arbiter/backend/simulated/simulated_backend.hpp"

namespace meterbank::test {
namespace {

using arbiter::Nanoseconds;

constexpr const char* kTopology =
    R"([[pmu]]
name = "cpu_core"
cpus = "0-1"
general = 4
fixed = 1
width = 48
flags = ["overflow"]
event = [{code = [0x80, 0x8f], class = "low2"}]
class.low2 = {general = 0x3}
block.pair = {length = 2, align = 2}
unit.lbr = {}
unit.eventbuf = {shareable = "threshold-min"}
extra.offcore_rsp = {scope = "core", count = 2}
)";
constexpr Nanoseconds kSecond = 1'000'000'000;

[[noreturn]] void broken(const char* rule) {
  std::fflush(stdout);
  std::fprintf(stderr, "broken: %s\n", rule);
  std::abort();
}

// Whatever `result` has, or the end of the program.
template <typename T>
T good(Result<T> result) {
  if (!result) broken(result.error().message().c_str());
  return std::move(*result);
}

}  // namespace

// Bytes of the script, zeros behind its end.
class ExchangeScript::Source {
 public:
  explicit Source(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}
  [[nodiscard]] bool has_more() const noexcept { return !bytes_.empty(); }
  std::uint8_t byte() noexcept {
    if (bytes_.empty()) return 0;
    const std::uint8_t first = bytes_.front();
    bytes_ = bytes_.subspan(1);
    return first;
  }
  std::uint32_t word() noexcept {
    std::uint32_t value = 0;
    for (int i = 0; i < 4; ++i) value = value << 8 | byte();
    return value;
  }
  std::vector<std::byte> some(std::size_t count) {
    std::vector<std::byte> part;
    for (std::size_t i = 0; i < count && has_more(); ++i) part.push_back(std::byte{byte()});
    return part;
  }

 private:
  std::span<const std::uint8_t> bytes_;
};

ExchangeScript::ExchangeScript() {
  backend_ = arbiter::make_simulated_backend(good(arbiter::parse_topology(kTopology, "test")),
                                             [this] { return now_; });
  processes_.emplace(good(arbiter::ProcessTable::open()));
  arbiter::ArbiterOptions options;
  options.leases_max = 64;
  exchange_.emplace(arbiter::Arbiter(good(arbiter::MachineBook::open(backend_->machine())),
                                     arbiter::Policy::standard(), options),
                    *backend_, *processes_,
                    good(arbiter::LedgerWriter::create(backend_->machine(), 1, now_)),
                    static_cast<arbiter::Outside&>(*this));
}

ExchangeScript::~ExchangeScript() = default;

std::uint64_t ExchangeScript::rejected() const { return exchange_->packets_rejected(); }

// ---- What comes out ----

void ExchangeScript::send(arbiter::ClientNumber client, std::vector<std::byte> packet, int) {
  const auto decoded = pmu::decode_arbiter_message(packet);
  if (decoded.rejection) broken("the arbiter sent a packet that breaks the rules of packets");
  const bool is_answer = !std::holds_alternative<pmu::Queued>(decoded.message) &&
                         !std::holds_alternative<pmu::Counter>(decoded.message);
  if (const auto* const granted = std::get_if<pmu::Granted>(&decoded.message)) {
    tokens_.push_back(granted->head.token);
    if (tokens_.size() > 64) tokens_.erase(tokens_.begin());
  }
  if (decoded.id == 0 || !is_answer) return;
  const auto owed = outstanding_.find({client, decoded.id});
  if (owed == outstanding_.end()) broken("an answer without a request");
  if (--owed->second == 0) outstanding_.erase(owed);
}

void ExchangeScript::hang_up(arbiter::ClientNumber client) { hung_up_.push_back(client); }

// ---- What goes in ----

arbiter::ClientNumber ExchangeScript::client_at(std::size_t seat) {
  if (seats_[seat] == 0) {
    seats_[seat] = next_client_++;
    arbiter::ClientIdentity identity;
    identity.pid = static_cast<std::uint32_t>(::getpid());
    identity.uid = seat < 2 ? 0 : 1000;
    identity.start_time = 1;
    identity.program = "script";
    exchange_->connected(seats_[seat], identity, now_);
    // Few forget to greet: such connections end soon.
    if (next_client_ % 16 != 0)
      deliver(seats_[seat], pmu::encode(255, pmu::ClientMessage(pmu::Hello())), false);
  }
  return seats_[seat];
}

void ExchangeScript::leave(std::size_t seat) {
  const arbiter::ClientNumber client = std::exchange(seats_[seat], 0);
  if (client == 0) return;
  exchange_->disconnected(client, now_);
  std::erase_if(outstanding_, [client](const auto& owed) { return owed.first.first == client; });
}

void ExchangeScript::leave_hung_up() {
  while (!hung_up_.empty()) {
    const auto client = hung_up_.back();
    hung_up_.pop_back();
    const auto seat = std::find(seats_.begin(), seats_.end(), client);
    if (seat != seats_.end()) leave(static_cast<std::size_t>(seat - seats_.begin()));
  }
}

void ExchangeScript::deliver(arbiter::ClientNumber client, std::vector<std::byte> packet,
                             bool has_descriptor) {
  const auto decoded = pmu::decode_client_message(packet);
  // A revocation in years is an administrator's to make, and would keep finish() waiting.
  const auto* const revoke = std::get_if<pmu::AdminRevoke>(&decoded.message);
  if (revoke != nullptr && revoke->drain_ns > 10 * kSecond) return;
  ++packets_;
  const bool is_answered =
      decoded.rejection || !std::holds_alternative<pmu::Cancel>(decoded.message);
  if (decoded.id != 0 && is_answered) ++outstanding_[{client, decoded.id}];
  UniqueFd attached;
  if (has_descriptor) attached.reset(::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3));
  // A Cancel is answered only where it breaks a rule, too: then it was owed.
  const bool may_be_rejected = decoded.id != 0 && !is_answered;
  if (may_be_rejected) ++outstanding_[{client, decoded.id}];
  exchange_->received(client, packet, std::move(attached), false, now_);
  if (may_be_rejected) {
    const auto owed = outstanding_.find({client, decoded.id});
    if (owed != outstanding_.end() && --owed->second == 0) outstanding_.erase(owed);
  }
  leave_hung_up();
}

pmu::Allocate ExchangeScript::allocate_from(Source& source) const {
  pmu::Allocate request;
  const std::uint8_t shape = source.byte();
  request.head.flags = source.byte() & pmu::kAllocateFlags;
  // Most requests make sense, so that counters run short.
  const bool is_plain = source.byte() < 192;
  if (is_plain) request.head.flags |= pmu::kAllocateHasGroups | pmu::kAllocateHasItems;
  if (is_plain) request.head.flags &= ~pmu::kAllocateDryRun;
  request.head.priority = source.byte() % 5;
  request.head.wait_ns = (shape & 1) != 0 ? source.byte() * kSecond / 8 : 0;
  request.head.term_ns = (shape & 2) != 0 ? source.byte() * kSecond / 8 : 0;
  request.head.hold_ns = (shape & 4) != 0 ? source.byte() * kSecond / 8 : 0;
  if ((shape & 8) != 0) request.head.duty_permille = source.byte() * 4U;
  if ((shape & 16) != 0) request.head.task = static_cast<std::uint32_t>(::getpid());
  if ((shape & 32) != 0 && !tokens_.empty()) {
    request.head.reclaims = tokens_[source.byte() % tokens_.size()];
  }
  if ((shape & 64) != 0) request.head.pmu = pmu::wire_name("cpu_core");
  if ((request.head.flags & pmu::kAllocateHasGroups) != 0) {
    request.groups.push_back({.mask = is_plain ? 1U + source.byte() % 3 : source.byte()});
    request.head.group_count = 1;
  }
  if ((request.head.flags & pmu::kAllocateHasItems) == 0) return request;
  const std::size_t count = is_plain ? 1 : 1 + source.byte() % 4;
  for (std::size_t i = 0; i < count; ++i) {
    pmu::Item item;
    const std::uint8_t kind = source.byte();
    item.kind = kind % 12 < 6 ? kind % 12 : 0x100U + kind % 12 - 6;
    item.begin = source.byte() % 40;
    item.end = item.begin + source.byte() % 4;
    item.count = source.byte() % 6;
    item.code = source.byte();
    if (is_plain && kind < 192) {
      item.kind = static_cast<std::uint32_t>(pmu::ItemKind::kEvent);
      item.begin = item.end = 0;
      item.count = 1 + item.count % 2;
      request.items.push_back(item);
      continue;
    }
    item.threshold = source.byte();
    item.tag = source.byte();
    constexpr std::array kNames{"", "low2", "pair", "lbr", "eventbuf", "offcore_rsp", "nothing"};
    item.name = pmu::wire_name(kNames[source.byte() % kNames.size()]);
    request.items.push_back(item);
  }
  request.head.item_count = static_cast<std::uint32_t>(count);
  return request;
}

pmu::ClientMessage ExchangeScript::message_from(Source& source) const {
  const std::uint8_t type = source.byte() % 16;
  const pmu::Token token =
      tokens_.empty() ? source.word() : tokens_[source.byte() % tokens_.size()];
  switch (type) {
    case 0:
      return pmu::Hello();
    case 1:
      return pmu::Free{token};
    case 2:
      return pmu::Cancel{source.byte()};
    case 3:
      return pmu::Renew{token};
    case 4:
      return pmu::Drained{token};
    case 5:
      return pmu::Read{token};
    case 6:
      return pmu::Offer{token, source.word()};
    case 7: {
      pmu::Probe probe;
      const pmu::Allocate like = allocate_from(source);
      probe.flags = like.head.flags & pmu::kAllocateHasGroups;
      probe.groups = like.groups;
      probe.group_count = static_cast<std::uint32_t>(like.groups.size());
      if (!like.items.empty()) probe.item = like.items[0];
      return probe;
    }
    case 8:
      return pmu::Owners{source.byte(), 0, pmu::wire_name("cpu_core")};
    case 9:
      return pmu::AdminRevoke{token, source.byte() * kSecond / 64};
    case 10: {
      pmu::AdminReserve reserve;
      reserve.flags = pmu::kAllocateHasGroups;
      reserve.groups = {{.mask = source.byte()}};
      reserve.group_count = 1;
      reserve.count = source.byte() % 6;
      reserve.pmu = pmu::wire_name("cpu_core");
      return reserve;
    }
    default:
      return allocate_from(source);
  }
}

void ExchangeScript::pass(Nanoseconds time) {
  now_ += time;
  exchange_->passed(now_);
  leave_hung_up();
}

void ExchangeScript::play(std::span<const std::uint8_t> script) {
  Source source(script);
  while (source.has_more()) {
    const std::uint8_t what = source.byte();
    const std::size_t seat = what % kClients;
    switch (what / kClients % 16) {
      case 0:
        leave(seat);
        break;
      case 1:
        pass(source.byte() * kSecond / 100);
        break;
      case 2: {  // noise
        auto noise = source.some(source.byte());
        deliver(client_at(seat), std::move(noise), false);
        break;
      }
      case 3:
      case 4: {  // damaged
        auto packet = pmu::encode(source.byte(), message_from(source));
        const std::size_t at = source.word() % packet.size();
        packet[at] ^= std::byte{source.byte()};
        if ((what & 0x80) != 0) packet.resize(at);
        deliver(client_at(seat), std::move(packet), (source.byte() & 15) == 0);
        break;
      }
      default: {
        const auto client = client_at(seat);
        auto packet = pmu::encode(1 + source.byte(), message_from(source));
        deliver(client, std::move(packet), false);
        pass(1000);
      }
    }
  }
}

void ExchangeScript::finish() {
  for (std::size_t seat = 0; seat < kClients; ++seat) leave(seat);
  // Detached leases, and limbo.
  for (int second = 0; second < 30; ++second) pass(kSecond);
  const arbiter::Arbiter& left = exchange_->arbiter();
  for (const auto& [number, lease] : left.leases()) {
    std::fprintf(stderr, "lease %d %s of client %llu, flags %u, carriers %zu, because %s\n", number,
                 std::string(name_of(lease.state())).c_str(),
                 static_cast<unsigned long long>(lease.client), lease.asked.head.flags,
                 lease.carriers.size(), std::string(name_of(lease.cause)).c_str());
  }
  if (!left.leases().empty()) broken("a lease without a holder is left");
  if (!left.carriers().empty()) broken("counters are open without a lease");
  for (const std::uint32_t cpu : {0U, 1U}) {
    for (const std::uint64_t word : left.slot_words(0, cpu)) {
      const auto state = pmu::state_of<pmu::CounterState>(word);
      const bool is_reserved = (pmu::flags_of(word) & pmu::kSlotReserved) != 0;
      if (state != pmu::CounterState::kFree && !is_reserved) broken("a counter is not free");
    }
  }
}

}  // namespace meterbank::test
