// SPDX-License-Identifier: Apache-2.0
//
// Random histories: what must hold after every step, whatever clients, kernel, outsiders, clock and
// CPUs did before.
//
//   I1  a counter has no two holders that count on it at the same time and do not share it
//   I2  no token is given twice, and none is in force after its end
//   I3  nothing is in limbo once the kernel has let go of all of it
//   I4  a grant is all or nothing: what is open is what leases have
//   I5  every request is answered once; a client without an answer is in the queue
//   I6  every counter of the machine is in exactly one state
//   I7  what the journal says is held is held
//   I8  the arbiter does not ask to be called again for a time that has passed
//   I9  what is counted and sorted beside the leases is what doing it anew gives
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "../../support/depth.hpp"
#include "../../support/sanitizers.hpp"
#include "scripted_kernel.hpp"

namespace meterbank::arbiter {
namespace {

class History {
 public:
  explicit History(std::uint32_t seed) : random_(seed) {
    for (int i = 0; i < 5; ++i) connect();
  }

  void step() {
    switch (below(22)) {
      case 0:
      case 1:
      case 2:
      case 3:
      case 4:
      case 5:
        return ask();
      case 6:
      case 7:
      case 8:
        return with_token(
            [&](ClientNumber client, pmu::Token token) { say(client, pmu::Free{token}); });
      case 9:
        return with_token([&](ClientNumber, pmu::Token token) {
          say(clients_.front(), pmu::AdminRevoke{token, below(2) * kMillisecond * 300});
        });
      case 10:
        return with_token(
            [&](ClientNumber client, pmu::Token token) { say(client, pmu::Drained{token}); });
      case 11:
        return with_token(
            [&](ClientNumber client, pmu::Token token) { say(client, pmu::Read{token}); });
      case 12: {
        const ClientNumber gone = clients_.at(below(clients_.size()));
        world.disconnect(gone);
        gone_.insert(gone);
        std::erase(clients_, gone);
        return connect();
      }
      case 13:
        world.keeps = below(4);
        return;
      case 14:
        world.outsiders.clear();
        if (below(2) == 0) {
          world.outsiders.push_back({.name = "perf",
                                     .pid = 77,
                                     .pmu = 0,
                                     .cpus = CpuSet::range(0, below(2)),
                                     .counters = 1 + below(2),
                                     .how = ""});
        }
        return;
      case 15:
        world.thieves.clear();
        if (below(3) == 0) world.thieves[{0, below(2)}] = 1 + below(2);
        return;
      case 16:
        return world.set_online(CpuSet::range(0, below(4) == 0 ? 0 : 1));
      case 17:
        if (!cancel_one()) world.sample_all();
        return;
      case 18:
        if (below(4) == 0) return world.restart_from(world.arbiter.save());
        return take_over();
      case 19:
        return read_policy();
      default:
        world.count(below(100), below(1000) * 1000);
        return world.pass(below(3) == 0 ? below(20'000) * kMillisecond : below(80) * kMillisecond);
    }
  }

  // All clients leave, and the kernel has time.
  void quiesce() {
    world.keeps = 0;
    for (const ClientNumber client : std::exchange(clients_, {})) {
      world.disconnect(client);
      gone_.insert(client);
    }
    world.pass(30 * kSecond);
  }

  [[nodiscard]] std::optional<std::string> contradiction() {
    world.arbiter.passed(world.now);
    world.run();
    if (const auto due = world.arbiter.deadline(); due && *due <= world.now) {
      return "what is due now was not done";
    }
    if (!world.arbiter.is_tallied()) return "counts have drifted from the leases";
    note_messages();
    if (!fault_.empty()) return fault_;
    if (auto fault = fault_of_counters()) return fault;
    if (auto fault = fault_of_leases()) return fault;
    if (auto fault = fault_of_requests()) return fault;
    return fault_of_journal();
  }

  ScriptedKernel world{small_machine(), Policy::standard(), {.leases_max = 24}};

 private:
  [[nodiscard]] std::uint32_t below(std::size_t bound) {
    return static_cast<std::uint32_t>(random_() % bound);
  }
  void connect() { clients_.push_back(world.connect_as(below(3) == 0 ? 7 : 0)); }
  // The policy changes under the holders: which gives way, and which may have what.
  void read_policy() {
    Policy policy = Policy::standard();
    policy.classes.at(below(policy.classes.size())).is_preemptible = below(2) == 0;
    policy.classes.at(below(policy.classes.size())).is_renewable = below(2) == 0;
    if (below(3) == 0)
      policy = parse_policy("[[rule]]\nuser = 7\ndeny = [\"whole-cpu\"]\n", "test").value();
    world.arbiter.adopt(std::move(policy), world.now);
    world.run();
  }
  void say(ClientNumber client, const pmu::ClientMessage& message) {
    world.say(client, ++last_id_, message);
  }
  void ask() {
    std::vector<Item> items;
    switch (below(6)) {
      case 0:
        items = {single(below(4))};
        break;
      case 1:
        items = {named(ItemKind::kClass, "any", 1 + below(2))};
        break;
      case 2:
        items = {single(below(4)), cycles(1)};
        break;
      default:
        items = {cycles(1 + below(3))};
        items.front().code = below(3);
    }
    pmu::Allocate asked = allocate(std::move(items), 1 + below(3));
    if (below(15) == 0) asked = allocate_whole(1 + below(3));
    const bool is_of_task =
        asked.items.size() == 1 && below(4) == 0 &&
        asked.items.front().kind == static_cast<std::uint32_t>(ItemKind::kEvent);
    if (is_of_task) {
      asked = allocate_of_task(asked.items, 900 + below(3));
      if (below(2) == 0) asked.head.flags |= pmu::kAllocateDelegates;
    } else if (below(4) == 0) {
      asked.head.duty_permille = 100 + 100 * below(4);
    } else if (below(3) == 0) {
      asked.head.flags |= pmu::kAllocateShares;
    }
    if (below(4) == 0) asked.head.flags |= pmu::kAllocateRestorable;
    if (below(12) == 0) asked.head.flags |= pmu::kAllocateDetached;
    if (below(20) == 0) asked.head.flags |= pmu::kAllocateDryRun;
    asked.head.priority = below(4);
    asked.head.wait_ns = below(2) * (1 + below(30)) * kSecond;
    asked.head.hold_ns = below(2) * (1 + below(20)) * kSecond;
    asked.head.term_ns = below(6) == 0 ? kSecond : 0;
    // The longest times that can be said.
    if (below(30) == 0) asked.head.wait_ns = pmu::kForever;
    if (below(30) == 0) asked.head.hold_ns = pmu::kForever;
    if (below(30) == 0) asked.head.term_ns = pmu::kForever;
    const ClientNumber client = clients_.at(below(clients_.size()));
    open_requests_[++last_id_] = client;
    world.say(client, last_id_, asked);
  }
  template <typename Do>
  void with_token(const Do& act) {
    std::vector<std::pair<ClientNumber, pmu::Token>> held;
    for (const auto& [number, lease] : world.arbiter.leases()) {
      if (lease.client != 0) held.emplace_back(lease.client, lease.token);
    }
    if (held.empty()) return;
    const auto& [client, token] = held.at(below(held.size()));
    act(client, token);
  }
  // Of what a connection left behind.
  void take_over() {
    for (const auto& [number, lease] : world.arbiter.leases()) {
      if (lease.client != 0 || !lease.is_held()) continue;
      pmu::Allocate again = lease.asked;
      again.head.reclaims = lease.token;
      const ClientNumber client = clients_.at(below(clients_.size()));
      open_requests_[++last_id_] = client;
      return world.say(client, last_id_, again);
    }
  }
  bool cancel_one() {
    const std::vector<std::uint16_t> queue = world.arbiter.queue();
    if (queue.empty()) return false;
    const Lease& lease = world.arbiter.leases().at(queue.at(below(queue.size())));
    if (lease.client == 0) return false;
    world.say(lease.client, ++last_id_, pmu::Cancel{lease.request});
    return true;
  }

  void note_messages() {
    for (; seen_ < world.sent.size(); ++seen_) {
      const Send& one = world.sent[seen_];
      const auto* granted = std::get_if<pmu::Granted>(&one.message);
      if (granted != nullptr && granted->head.token != 0 &&
          !tokens_.insert(granted->head.token).second) {
        fault_ = "a token was given twice";
      }
      const bool is_answer =
          granted != nullptr || std::holds_alternative<pmu::Refused>(one.message);
      if (!is_answer || !asked_ids_.contains(one.id)) {
        if (is_answer && open_requests_.contains(one.id)) {
          open_requests_.erase(one.id);
          asked_ids_.insert(one.id);
        }
        continue;
      }
      fault_ = "a request was answered twice";
    }
    for (; noted_ < world.journal.size(); ++noted_) {
      const JournalRecord& record = world.journal[noted_];
      if (record.kind == JournalRecord::Kind::kGranted) held_.insert(record.token);
      if (record.kind == JournalRecord::Kind::kFenced) held_.erase(record.token);
      if (record.kind == JournalRecord::Kind::kReclaimed) held_.erase(record.other);
    }
  }
  // I1 and I6, from the books, which the slot words come from.
  [[nodiscard]] std::optional<std::string> fault_of_counters() const {
    for (std::uint32_t cpu = 0; cpu < 2; ++cpu) {
      if (world.arbiter.slot_words(0, cpu).size() != 4) return "a counter has no state";
      std::map<std::uint32_t, std::vector<std::pair<LeaseId, Alternative>>> holders;
      const auto add = [&](LeaseId booking, const Lease& lease) {
        const auto placement = world.arbiter.book().placement(booking, 0, cpu);
        if (!placement) return;
        CounterMask mask = placement->exact;
        for (const std::uint32_t counter : placement->any) mask |= CounterMask{1} << counter;
        const Alternative alternative{.task = lease.plan.task,
                                      .slice = lease.is_sliced() ? lease.number : 0U};
        for (std::uint32_t counter = 0; counter < 4; ++counter) {
          if ((mask >> counter & 1) != 0) holders[counter].emplace_back(booking, alternative);
        }
      };
      for (const auto& [number, carrier] : world.arbiter.carriers()) {
        if (carrier.leases.empty()) continue;
        add(booking_of(number), world.arbiter.leases().at(carrier.leases.front()));
      }
      for (const auto& [number, lease] : world.arbiter.leases()) add(number, lease);
      for (const auto& [counter, all] : holders) {
        for (std::size_t i = 0; i < all.size(); ++i) {
          for (std::size_t j = 0; j < i; ++j) {
            if (all[i].second == all[j].second) return "a counter has two holders";
          }
        }
      }
    }
    return std::nullopt;
  }
  // I2 and I4.
  [[nodiscard]] std::optional<std::string> fault_of_leases() const {
    for (const pmu::Token token : tokens_) {
      const std::uint64_t word = world.arbiter.lease_word(pmu::lease_of(token));
      if (pmu::is_in_force(word, token) && !held_.contains(token)) {
        return "a token is in force after its end";
      }
    }
    for (const auto& [number, carrier] : world.arbiter.carriers()) {
      const bool is_open = carrier.state() != CarrierState::kClosed;
      if (is_open && carrier.leases.empty()) return "a carrier without leases is open";
      if (is_open != world.has_open(number)) return "what is open is not what leases have";
      for (const std::uint16_t lease : carrier.leases) {
        if (!world.arbiter.leases().contains(lease)) return "a carrier of a lease that is gone";
      }
    }
    std::size_t open = 0;
    for (const auto& [number, lease] : world.arbiter.leases()) {
      if (lease.state() == pmu::LeaseState::kPreparing) return "neither granted nor refused";
      if (lease.state() == pmu::LeaseState::kQueued && !lease.carriers.empty()) {
        return "half of a grant was left";
      }
      for (const CarrierNumber carrier : lease.carriers) {
        if (!world.arbiter.carriers().contains(carrier)) return "a carrier is missing";
      }
    }
    for (const auto& [number, carrier] : world.arbiter.carriers()) {
      open += carrier.state() != CarrierState::kClosed ? 1U : 0U;
    }
    if (open != world.open_count()) return "the kernel has events open that have no lease";
    return std::nullopt;
  }
  // I5.
  [[nodiscard]] std::optional<std::string> fault_of_requests() const {
    for (const auto& [id, client] : open_requests_) {
      if (gone_.contains(client)) continue;
      bool waits = false;
      for (const std::uint16_t number : world.arbiter.queue()) {
        const Lease& lease = world.arbiter.leases().at(number);
        waits = waits || (lease.client == client && lease.request == id);
      }
      if (!waits) return "a request is neither answered nor waiting";
    }
    return std::nullopt;
  }
  // I7.
  [[nodiscard]] std::optional<std::string> fault_of_journal() const {
    std::set<pmu::Token> held;
    for (const auto& [number, lease] : world.arbiter.leases()) {
      if (lease.is_held()) held.insert(lease.token);
    }
    if (held != held_) return "the journal says something else than the arbiter";
    return std::nullopt;
  }

  std::mt19937 random_;
  std::vector<ClientNumber> clients_;
  std::set<ClientNumber> gone_;
  std::uint64_t last_id_ = 0;
  std::map<std::uint64_t, ClientNumber> open_requests_;
  std::set<std::uint64_t> asked_ids_;
  std::set<pmu::Token> tokens_;
  std::set<pmu::Token> held_;
  std::size_t seen_ = 0;
  std::size_t noted_ = 0;
  std::string fault_;
};

[[nodiscard]] std::uint32_t steps() {
  return static_cast<std::uint32_t>(
      test::depth(test::kHasSanitizer ? 10'000 : 20'000, 200'000));
}

TEST(ArbiterStream, HoldsItsInvariantsThroughRandomHistories) {
  constexpr std::uint32_t kHistories = 20;
  std::uint64_t grants = 0;
  std::uint64_t preemptions = 0;
  std::uint64_t mismatches = 0;
  std::uint64_t reclaims = 0;
  for (std::uint32_t seed = 1; seed <= kHistories; ++seed) {
    History history(seed);
    for (std::uint32_t step = 0; step < steps() / kHistories; ++step) {
      history.step();
      const auto fault = history.contradiction();
      ASSERT_FALSE(fault) << *fault << ", seed " << seed << ", step " << step;
    }
    history.quiesce();
    const auto fault = history.contradiction();
    ASSERT_FALSE(fault) << *fault << " at the end, seed " << seed;
    ASSERT_TRUE(history.world.arbiter.leases().empty()) << "seed " << seed;
    ASSERT_TRUE(history.world.arbiter.carriers().empty()) << "seed " << seed;
    ASSERT_EQ(history.world.open_count(), 0U);
    grants += history.world.arbiter.statistics().grants;
    preemptions += history.world.arbiter.statistics().preemptions;
    mismatches += history.world.arbiter.statistics().mismatches;
    reclaims += history.world.arbiter.statistics().reclaims;
  }
  // The histories were about something.
  EXPECT_GT(grants, steps() / 20);
  EXPECT_GT(preemptions, 0U);
  EXPECT_GT(mismatches, 0U);
  EXPECT_GT(reclaims, 0U);
}

TEST(ArbiterStream, FindsAGrantThatTheArbiterDidNotGive) {
  History history(1);
  ASSERT_FALSE(history.contradiction());
  history.world.journal.push_back(
      {.token = pmu::make_token(1, 3, 99), .kind = JournalRecord::Kind::kGranted});
  EXPECT_TRUE(history.contradiction());
}

TEST(ArbiterStream, FindsATokenThatIsGivenTwice) {
  History history(1);
  pmu::Granted granted;
  granted.head.token = pmu::make_token(1, 3, 99);
  history.world.sent.push_back({1, 500, granted});
  EXPECT_FALSE(history.contradiction());
  history.world.sent.push_back({2, 501, granted});
  EXPECT_TRUE(history.contradiction());
}

}  // namespace
}  // namespace meterbank::arbiter
