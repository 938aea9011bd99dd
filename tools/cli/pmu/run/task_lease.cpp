// SPDX-License-Identifier: Apache-2.0
#include "cli/pmu/run/task_lease.hpp"

#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <utility>

#include "cli/pmu/arbiter_access.hpp"

namespace meterbank::cli {
namespace {

using Got = PacketSocket::Got;

// Until something comes, or the time is over.
bool wait_for(int descriptor, short what, int timeout_ms) noexcept {
  pollfd watched{descriptor, what, 0};
  int ready = 0;
  do {
    ready = ::poll(&watched, 1, timeout_ms);
  } while (ready < 0 && errno == EINTR);
  return ready > 0;
}

bool send_all(PacketSocket& socket, std::span<const std::byte> packet, int attached = -1) {
  for (;;) {
    const auto sent = socket.send(packet, attached);
    if (sent != PacketSocket::Sent::kFull) return sent == PacketSocket::Sent::kAll;
    wait_for(socket.descriptor(), POLLOUT, -1);
  }
}

bool receive(PacketSocket& socket, PacketBuffer& packet, UniqueFd& attached, int timeout_ms) {
  for (;;) {
    const auto got = socket.receive(packet, attached);
    if (got == Got::kPacket) return true;
    if (got != Got::kNothing || !wait_for(socket.descriptor(), POLLIN, timeout_ms)) return false;
  }
}

// They follow the grant at once.
constexpr int kCounterTimeoutMs = 200;

// Descriptors are for the last values of a process that has ended. A caller without them asks
// again without.
bool wants_descriptors(const pmu::Allocate& asked) noexcept {
  return (asked.head.flags & pmu::kAllocateShares) == 0 && asked.head.duty_permille == 1000;
}

// A command is all that it starts, but for counters that take turns: they cannot be inherited.
void count_what_it_starts(pmu::Allocate& asked) noexcept {
  if (asked.head.duty_permille < 1000) return;
  for (pmu::Item& item : asked.items) {
    if (item.kind == static_cast<std::uint32_t>(pmu::ItemKind::kEvent) ||
        item.kind == static_cast<std::uint32_t>(pmu::ItemKind::kNamedEvent)) {
      item.flags |= pmu::kItemInherits;
    }
  }
}

class Asking {
 public:
  Asking(PacketSocket arbiter, PacketSocket parent)
      : arbiter_(std::move(arbiter)), parent_(std::move(parent)) {}

  void ask(pmu::Allocate asked) {
    asked.head.task = static_cast<std::uint32_t>(::gettid());
    if (wants_descriptors(asked)) asked.head.flags |= pmu::kAllocateDelegates;
    count_what_it_starts(asked);
    std::uint64_t id = 1;
    if (!send_all(arbiter_, pmu::encode(id, pmu::Hello()))) return;
    if (!send_all(arbiter_, pmu::encode(++id, asked))) return;
    std::uint32_t counters_left = 0;
    bool is_granted = false;
    for (UniqueFd attached;
         receive(arbiter_, packet_, attached, is_granted ? kCounterTimeoutMs : -1);) {
      const auto decoded = pmu::decode_arbiter_message(packet_.bytes());
      if (decoded.rejection || decoded.id != id) continue;  // Welcome, notices
      if (is_not_allowed(decoded.message) && wants_descriptors(asked) && id == 2) {
        asked.head.flags &= ~pmu::kAllocateDelegates;
        if (!send_all(arbiter_, pmu::encode(++id, asked))) return;
        continue;
      }
      if (!send_all(parent_, packet_.bytes(), attached.get())) return;
      if (const auto* granted = std::get_if<pmu::Granted>(&decoded.message)) {
        is_granted = true;
        counters_left = granted->head.descriptor_count;
      } else if (std::holds_alternative<pmu::Counter>(decoded.message) && counters_left > 0) {
        --counters_left;
      } else if (!std::holds_alternative<pmu::Queued>(decoded.message)) {
        return;
      }
      if (is_granted && counters_left == 0) break;
    }
    // A machine that is only described has no descriptors to give, whatever was promised.
    if (is_granted) {
      send_all(parent_, pmu::encode(0, pmu::ArbiterMessage(pmu::NewLedger())),
               arbiter_.descriptor());
    }
  }

 private:
  static bool is_not_allowed(const pmu::ArbiterMessage& message) {
    const auto* const refused = std::get_if<pmu::Refused>(&message);
    return refused != nullptr && refused->head.reason == pmu::Reason::kPolicy;
  }

  PacketSocket arbiter_, parent_;
  PacketBuffer packet_;
};

}  // namespace

void ask_for_own_thread(const std::string& socket, const pmu::Request& request, int parent) {
  auto connected = PacketSocket::connect(socket);
  if (!connected) return;
  Asking(std::move(*connected), PacketSocket(UniqueFd(::dup(parent)))).ask(request.message());
}

TaskLease::Progress TaskLease::take() {
  UniqueFd attached;
  switch (child_.receive(packet_, attached)) {
    case Got::kNothing:
      return Progress::kAsking;
    case Got::kPacket: {
      auto decoded = pmu::decode_arbiter_message(packet_.bytes());
      if (decoded.rejection) break;
      return understand(std::move(decoded.message), std::move(attached));
    }
    default:
      break;
  }
  refusal_.error = Error{ErrorCode::kGone, 0, "the arbiter hung up on the command's process",
                         "meterbank pmu leases"};
  return Progress::kRefused;
}

TaskLease::Progress TaskLease::understand(pmu::ArbiterMessage message, UniqueFd attached) {
  if (auto* const granted = std::get_if<pmu::Granted>(&message)) {
    granted_ = std::move(*granted);
    return Progress::kAsking;  // what follows it is missing yet
  }
  if (const auto* const queued = std::get_if<pmu::Queued>(&message)) {
    queued_ = *queued;
    return Progress::kQueued;
  }
  if (const auto* const counter = std::get_if<pmu::Counter>(&message)) {
    if (attached && counter->position < granted_.counters.size()) {
      counters_.push_back({counter->position, std::move(attached)});
    }
    return Progress::kAsking;
  }
  if (std::holds_alternative<pmu::NewLedger>(message)) {
    arbiter_ = PacketSocket(std::move(attached));
    // All of them or none: a table of the one kind and of the other would say little.
    if (counters_.size() != granted_.counters.size()) counters_.clear();
    return Progress::kGranted;
  }
  if (const auto* const refused = std::get_if<pmu::Refused>(&message)) {
    refusal_ = pmu::refusal_of(*refused);
  } else {
    refusal_.error =
        Error{ErrorCode::kLimit, 0, "the arbiter threw the request out", "meterbank pmu leases"};
  }
  return Progress::kRefused;
}

bool TaskLease::read_counters() {
  Counts counts{.quality = granted_.head.quality, .values = {}};
  for (const auto& counter : counters_) {
    // The kernel's format: value, time enabled, time running; more of it may follow.
    std::array<std::uint64_t, 8> words{};
    const auto got = ::read(counter.event.get(), words.data(), sizeof(words));
    // No bytes: it has lost its counter, which is no zero.
    if (got < static_cast<ssize_t>(3 * sizeof(words[0]))) return false;
    const auto& granted = granted_.counters[counter.position];
    counts.values.push_back({granted.item, pmu::kNoCpu, words[0], words[1], words[2]});
  }
  last_ = std::move(counts);
  return true;
}

bool TaskLease::ask_arbiter() {
  constexpr int kTimeoutMs = 1000;
  const auto id = ++last_id_;
  if (!send_all(arbiter_, pmu::encode(id, pmu::Read{granted_.head.token}))) return false;
  for (UniqueFd attached; receive(arbiter_, packet_, attached, kTimeoutMs);) {
    auto decoded = pmu::decode_arbiter_message(packet_.bytes());
    if (decoded.rejection) return false;
    auto* const values = std::get_if<pmu::LeaseValues>(&decoded.message);
    if (values != nullptr) last_ = Counts{values->head.quality, std::move(values->values)};
    if (decoded.id == id) return values != nullptr;
  }
  return false;
}

std::optional<Counts> TaskLease::read() {
  const bool is_new = counters_.empty() ? ask_arbiter() : read_counters();
  if (!is_new && !counters_.empty()) last_.reset();
  return last_;
}

}  // namespace meterbank::cli
