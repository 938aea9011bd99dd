// SPDX-License-Identifier: Apache-2.0
//
// An arbiter that lies. Whatever it says, its client neither crashes nor hangs nor believes what
// cannot be so: the connection is dropped, the request fails, and another arbiter is looked for.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "../support/descriptors.hpp"
#include "hostile_fixture.hpp"

namespace meterbank::pmu {
namespace {

using test::ScriptedArbiter;
using Client = ScriptedArbiter::Client;
using Kind = LeaseNotice::Kind;
using HostileArbiterTest = test::HostileArbiter;
using test::good_grant;
using test::memory;

TEST_F(HostileArbiterTest, GrantsThatCannotBeSoAreNotBelieved) {
  const std::map<std::string, std::function<void(Granted&)>> lies = {
      {"token of another epoch", [](Granted& g) { g.head.token ^= Token{1} << 48; }},
      {"no token", [](Granted& g) { g.head.token = 0; }},
      {"number beyond the ledger", [](Granted& g) { g.head.token = make_token(1, 0xffff, 1); }},
      {"token that is held already", [](Granted& g) { g.head.token = make_token(1, 1, 7); }},
      {"item that was not requested", [](Granted& g) { g.counters.front().item = 1; }},
      {"descriptors that were not requested", [](Granted& g) { g.head.descriptor_count = 1; }},
  };
  for (const auto& each : lies) {
    const auto& lie = each.second;
    expect_drop(each.first, [&](ScriptedArbiter& self, Client& client, std::uint64_t id,
                                const Allocate& asked) {
      Granted granted = good_grant(self, asked);
      lie(granted);
      self.send(client, id, granted);
    });
  }
}

TEST_F(HostileArbiterTest, AnswersThatDoNotFitAreNotBelieved) {
  using Answer = std::function<void(ScriptedArbiter&, Client&, std::uint64_t, const Allocate&)>;
  const std::map<std::string, Answer> lies = {
      {"to another question",
       [](auto& self, auto& client, auto id, auto&) {
         self.send(client, id, Room{1, 1});
       }},
      {"with another id",
       [](auto& self, auto& client, auto id, auto& asked) {
         self.send(client, id + 1000, good_grant(self, asked));
       }},
      {"to a greeting long past",
       [](auto& self, auto& client, auto, auto&) { self.send(client, 1, Done{}); }},
      {"queued after it was granted",
       [](auto& self, auto& client, auto id, auto& asked) {
         Granted granted = good_grant(self, asked);
         granted.counters.push_back(granted.counters.front());
         granted.head.descriptor_count = 1;
         self.send(client, id, granted);
         self.send(client, id, Queued{});
       }},
      {"notice with an id",
       [](auto&, auto& client, auto id, auto&) {
         auto packet = encode(0, ArbiterMessage(Notice{}));
         std::memcpy(packet.data() + offsetof(LeaseHeader, id), &id, sizeof id);
         client.socket.send(packet);
       }},
      {"answer without an id",
       [](auto&, auto& client, auto, auto&) {
         auto packet = encode(5, ArbiterMessage(Done{}));
         const std::uint64_t none = 0;
         std::memcpy(packet.data() + offsetof(LeaseHeader, id), &none, sizeof none);
         client.socket.send(packet);
       }},
      {"a second welcome",
       [](auto& self, auto& client, auto id, auto&) { self.welcome(client, id); }},
  };
  for (const auto& [name, lie] : lies) expect_drop(name, lie);
}

TEST_F(HostileArbiterTest, PacketsOfAnyMakeAreSurvived) {
  const auto send = [](const std::function<std::vector<std::byte>(std::vector<std::byte>)>& bend) {
    return [bend](ScriptedArbiter& self, Client& client, std::uint64_t id, const Allocate& asked) {
      client.socket.send(bend(encode(id, ArbiterMessage(good_grant(self, asked)))));
    };
  };
  expect_drop("truncated", send([](auto packet) {
                packet.resize(packet.size() - 8);
                return packet;
              }));
  expect_drop("too long", send([](auto packet) {
                packet.resize(packet.size() + 8);
                return packet;
              }));
  expect_drop("header alone", send([](auto packet) {
                packet.resize(sizeof(LeaseHeader));
                return packet;
              }));
  expect_drop("not even a header", send([](auto packet) {
                packet.resize(3);
                return packet;
              }));
  expect_drop("wrong magic", send([](auto packet) {
                packet[0] = std::byte{0};
                return packet;
              }));
  expect_drop("more counters than there are", send([](auto packet) {
                const std::uint32_t many = 0xffff'ffff;
                std::memcpy(
                    packet.data() + sizeof(LeaseHeader) + offsetof(GrantedHead, counter_count),
                    &many, sizeof many);
                return packet;
              }));
  expect_drop("unknown type", send([](auto packet) {
                packet[6] = std::byte{0x7f};
                return packet;
              }));
}

TEST_F(HostileArbiterTest, ManyDescriptorsAndOverlongPacketsLeakNothing) {
  expect_drop("two descriptors",
              [](ScriptedArbiter& self, Client& client, std::uint64_t id, const Allocate& asked) {
                const int wake = 0;
                test::send_raw(client.socket.descriptor(),
                               encode(id, ArbiterMessage(good_grant(self, asked))), {wake, wake});
              });
  crash();  // which closes what it had of its clients: they are gone, but it may not have looked
  const auto before = test::open_descriptors();
  for (int round = 0; round < 3; ++round) {
    expect_drop("descriptor where none belongs",
                [](ScriptedArbiter& self, Client& client, std::uint64_t id, const Allocate& asked) {
                  self.send(client, id, good_grant(self, asked), 0);
                });
  }
  crash();
  EXPECT_EQ(test::open_descriptors(), before);
}

// ---- False ledgers ----

TEST_F(HostileArbiterTest, FalseLedgersAreRefused) {
  const std::map<std::string, std::function<void(ScriptedArbiter&, Client&, std::uint64_t)>> lies =
      {
          {"memory that is not sealed",
           [](auto& self, auto& client, auto id) {
             self.send(client, id, Welcome{.epoch = 1}, memory(1 << 16).get());
           }},
          {"no ledger",
           [](auto& self, auto& client, auto id) {
             auto extent = OwnedExtent::create("lie", 1 << 16);
             ASSERT_TRUE(extent);
             self.send(client, id, Welcome{.epoch = 1}, extent->descriptor());
           }},
          {"places beyond its memory",
           [](auto& self, auto& client, auto id) {
             auto extent = OwnedExtent::create("lie", 1 << 12);
             ASSERT_TRUE(extent);
             LedgerHeader header{};
             header.magic = kLedgerMagic;
             header.version = kLedgerVersion;
             header.epoch = 1;
             header.place_count = kLedgerPlacesMax;
             header.places_at = 192;
             std::memcpy(extent->data(), &header, sizeof header);
             self.send(client, id, Welcome{.epoch = 1}, extent->descriptor());
           }},
          {"a ledger of another epoch",
           [](auto& self, auto& client, auto id) {
             self.send(client, id, Welcome{.epoch = 2}, self.ledger().descriptor());
           }},
          {"none at all",
           [](auto& self, auto& client, auto id) { self.send(client, id, Welcome{.epoch = 1}); }},
          {"something else",
           [](auto& self, auto& client, auto id) { self.send(client, id, Done{}); }},
      };
  for (const auto& each : lies) {
    const auto& lie = each.second;
    SCOPED_TRACE(each.first);
    arbiter(
        [&](ScriptedArbiter& self, Client& client, std::uint64_t id, const ClientMessage& message) {
          if (!std::holds_alternative<Hello>(message)) return false;
          lie(self, client, id);
          return true;
        });
    const auto connection = Connection::connect({.socket = socket()});
    ASSERT_FALSE(connection);
    EXPECT_EQ(connection.error().code, ErrorCode::kCorrupt) << connection.error().message();
  }
}

TEST_F(HostileArbiterTest, AFalseNewLedgerEndsTheConnectionAndKeepsTheOldOneMapped) {
  auto& arbiter = hold();
  const auto old = connection_->ledger();

  arbiter.run([](ScriptedArbiter& self) { self.send_all(NewLedger{}, memory(1 << 16).get()); });

  EXPECT_TRUE(notices_.await(Kind::kAdrift));
  EXPECT_TRUE(notices_.await(Kind::kReclaimed));
  EXPECT_EQ(old->epoch(), 1U);
}

// ---- LeaseValues and notices ----

TEST_F(HostileArbiterTest, ValuesOfSomethingElseAreNoValues) {
  Token token = 0;
  std::uint32_t item = 0;
  arbiter(
      [&](ScriptedArbiter& self, Client& client, std::uint64_t id, const ClientMessage& message) {
        const auto* const read = std::get_if<Read>(&message);
        if (read == nullptr) return false;
        LeaseValues values;
        values.head.token = token == 0 ? read->token : token;
        values.values.push_back({.item = item});
        self.send(client, id, values);
        return true;
      });
  hold();

  EXPECT_TRUE(lease_->read());  // the control
  token = 99;
  EXPECT_EQ(lease_->read().error().code, ErrorCode::kCorrupt);
  token = 0;
  item = 7;
  EXPECT_EQ(lease_->read().error().code, ErrorCode::kCorrupt);
}

TEST_F(HostileArbiterTest, NoticesOfLeasesThatAreNotOursAreNotTold) {
  auto& arbiter = hold();

  arbiter.run([&](ScriptedArbiter& self) {
    self.send_all(Notice{.token = 12345, .kind = NoticeKind::kLost, .cause = Cause::kPreempted});
    LeaseValues values;
    values.head.token = 12345;
    values.values.push_back({.item = 3});
    self.send_all(values);
  });
  EXPECT_TRUE(connection_->owners("core", 0));

  EXPECT_EQ(notices_.count(), 0U);
  EXPECT_TRUE(lease_->is_in_force());
}

// ---- Silence and ends ----

TEST_F(HostileArbiterTest, AnArbiterThatNeverAnswersIsWaitedForAsLongAsWasSaid) {
  arbiter([](ScriptedArbiter&, Client&, std::uint64_t, const ClientMessage& message) {
    return std::holds_alternative<Owners>(message);
  });
  for (const bool has_keeper : {true, false}) {
    auto connection = connect_with_timeout(std::chrono::milliseconds(50), has_keeper);
    const auto owners = connection.owners("core", 0);
    ASSERT_FALSE(owners);
    EXPECT_EQ(owners.error().error->code, ErrorCode::kGone);
    // It answers other things, if not at once.
    EXPECT_TRUE(
        test::comes_true([&] { return connection.probe(Request().event("cycles")).has_value(); }));
  }
  arbiter([](ScriptedArbiter&, Client&, std::uint64_t, const ClientMessage&) { return true; });
  const auto connection =
      Connection::connect({.socket = socket(), .timeout = std::chrono::milliseconds(50)});
  ASSERT_FALSE(connection);
  EXPECT_EQ(connection.error().code, ErrorCode::kGone);
  EXPECT_EQ(connection.error().system_error, ETIMEDOUT);
}

TEST_F(HostileArbiterTest, MayNotRunAsAnotherUser) {
  if (::geteuid() != 0) GTEST_SKIP() << "another user is needed";
  constexpr uid_t kStranger = 65534;
  const std::string path = socket();
  ASSERT_EQ(::chmod(path.substr(0, path.rfind('/')).c_str(), 0777), 0);
  int ready[2] = {};
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::setresuid(kStranger, kStranger, kStranger) != 0) ::_exit(1);
    const auto listener = PacketListener::listen(path, 4);
    static_cast<void>(!::write(ready[1], listener ? "r" : "x", 1));
    for (;;) ::pause();
  }
  char byte = 0;
  EXPECT_EQ(::read(ready[0], &byte, 1), 1);
  EXPECT_EQ(byte, 'r');
  const auto connection = Connection::connect({.socket = path});
  ASSERT_FALSE(connection);
  EXPECT_EQ(connection.error().code, ErrorCode::kCorrupt);
  EXPECT_NE(connection.error().what.find("uid 65534"), std::string::npos)
      << connection.error().message();
  ::kill(child, SIGKILL);
  EXPECT_EQ(::waitpid(child, nullptr, 0), child);
  for (const int end : ready) ::close(end);
}

// A grant without an owner would take its counters for ever.
TEST_F(HostileArbiterTest, AGrantThatComesTooLateIsGivenBack) {
  Client* asking = nullptr;
  std::uint64_t late = 0;
  auto& arbiter = this->arbiter(
      [&](ScriptedArbiter&, Client& client, std::uint64_t id, const ClientMessage& message) {
        if (!std::holds_alternative<Allocate>(message)) return false;
        asking = &client;
        late = id;
        return true;
      });
  auto connection = connect_with_timeout(std::chrono::milliseconds(50));
  ASSERT_FALSE(connection.acquire(Request().event("cycles")));
  EXPECT_EQ(arbiter.await<Cancel>(1).size(), 1U);

  Token token = 0;
  arbiter.run([&](ScriptedArbiter& self) {
    const Granted granted = self.grant_for(Request().event("cycles").message());
    token = granted.head.token;
    self.send(*asking, late, granted);
  });

  const auto freed = arbiter.await<Free>(1);
  ASSERT_EQ(freed.size(), 1U);
  EXPECT_EQ(freed.front().token, token);
}

TEST_F(HostileArbiterTest, AnArbiterThatHangsUpInTheMiddleFailsWhoWaits) {
  for (const bool has_keeper : {true, false}) {
    arbiter([](ScriptedArbiter&, Client& client, std::uint64_t, const ClientMessage& message) {
      if (!std::holds_alternative<Allocate>(message)) return false;
      client.socket = PacketSocket();
      return true;
    });
    auto connection = connect(has_keeper);
    const auto lease = connection.acquire(Request().event("cycles").wait(Request::kForEver));
    ASSERT_FALSE(lease);
    ASSERT_TRUE(lease.error().error);
    EXPECT_EQ(lease.error().error->code, ErrorCode::kGone);
  }
}

TEST_F(HostileArbiterTest, AGrantWhoseDescriptorsNeverComeIsNoGrant) {
  auto& arbiter = this->arbiter(
      [](ScriptedArbiter& self, Client& client, std::uint64_t id, const ClientMessage& message) {
        const auto* const asked = std::get_if<Allocate>(&message);
        if (asked == nullptr) return false;
        Granted granted = self.grant_for(*asked);
        granted.head.descriptor_count = 1;
        self.send(client, id, granted);
        return true;
      });
  auto connection = connect_with_timeout(std::chrono::milliseconds(50));

  EXPECT_FALSE(connection.acquire(Request().event("cycles").this_thread().delegates()));

  EXPECT_EQ(arbiter.await<Free>(1).size(), 1U);
}

TEST_F(HostileArbiterTest, ReportsARefusedConnection) {
  arbiter([](ScriptedArbiter& self, Client& client, std::uint64_t, const ClientMessage& message) {
    if (!std::holds_alternative<Hello>(message)) return false;
    self.send(client, 0, Rejected{Rejection::kTooMany});
    client.socket = PacketSocket();
    return true;
  });
  const auto connection = Connection::connect({.socket = socket()});
  ASSERT_FALSE(connection);
  EXPECT_EQ(connection.error().code, ErrorCode::kLimit);
}

// Any bytes instead of an answer: a fixed stream of them, so that a failure can be repeated.
TEST_F(HostileArbiterTest, BentBytesOfARealAnswerNeverHurt) {
  std::mt19937_64 random(0x6d626d62);
  arbiter(
      [&](ScriptedArbiter& self, Client& client, std::uint64_t id, const ClientMessage& message) {
        const auto* const asked = std::get_if<Allocate>(&message);
        if (asked == nullptr) return false;
        auto packet = encode(id, ArbiterMessage(self.grant_for(*asked)));
        const std::size_t bends = 1 + random() % 4;
        for (std::size_t bend = 0; bend < bends; ++bend) {
          packet[random() % packet.size()] = static_cast<std::byte>(random());
        }
        client.socket.send(packet);
        return true;
      });
  for (int round = 0; round < 200; ++round) {
    auto connection = connect_with_timeout(std::chrono::milliseconds(20));
    const auto lease = connection.acquire(Request().event("cycles").index(1));
    if (!lease) continue;
    for (const GrantedCounter& counter : lease->granted().counters) EXPECT_LT(counter.item, 2U);
  }
}

}  // namespace
}  // namespace meterbank::pmu
