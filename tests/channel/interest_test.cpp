// SPDX-License-Identifier: Apache-2.0
//
// Interest: which readers have it, and that it balances whichever process dies.
#include <signal.h>
#include <sys/wait.h>

#include <deque>
#include <vector>

#include "channel_fixture.hpp"

namespace meterbank {
namespace {

using test::AskingReader;
using test::ChannelFixture;
using test::comes_true;
using test::Gate;
using test::Venue;

// Counts what it is told.
class InterestTest : public ChannelFixture {
 protected:
  InterestTest() {
    registration_ = register_with([this](CallbackRequest& request) {
      const std::lock_guard lock(mutex_);
      if (request.reason() == CallbackReason::kAddInterest) told_ += 1;
      if (request.reason() == CallbackReason::kRemoveInterest) told_ -= 1;
      most_ = std::max(most_, told_);
      least_ = std::min(least_, told_);
      return 0U;
    });
    interest_ = registration_.interest();
  }
  ~InterestTest() override { registration_.close(); }  // it calls into this object
  int told() {
    const std::lock_guard lock(mutex_);
    return told_;
  }

  std::mutex mutex_;
  int told_ = 0, most_ = 0, least_ = 0;
  Registration registration_;
  Interest interest_;
};

TEST_F(InterestTest, IsToldOnceTheCallbackKnows) {
  EXPECT_FALSE(interest_.wanted());
  ChannelRequest add = request(MessageType::kAddInterest);
  add.counter_mask = {std::uint64_t{1} << 2};
  AskingReader reader = this->reader();
  const auto answer = reader.ask_and_wait(add);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->type, MessageType::kDone);
  EXPECT_EQ(told(), 1);
  EXPECT_TRUE(interest_.wanted());
  EXPECT_TRUE(interest_.wanted(Venue::kBytes));  // its id is 2
  EXPECT_FALSE(interest_.wanted(Venue::kAccepted));
  EXPECT_FALSE(interest_.wanted(1000));
  EXPECT_EQ(readers_in_segment(), 1U);
  EXPECT_EQ(reader.ask_and_wait(request(MessageType::kRemoveInterest))->type, MessageType::kDone);
  EXPECT_EQ(told(), 0);
  EXPECT_FALSE(interest_.wanted());
  EXPECT_FALSE(interest_.wanted(Venue::kBytes));
  EXPECT_EQ(readers_in_segment(), 0U);
}

TEST_F(InterestTest, EndsWithTheConnection) {
  AskingReader reader = this->reader();
  ASSERT_TRUE(reader.ask_and_wait(request(MessageType::kAddInterest)));
  reader.hang_up();
  EXPECT_TRUE(comes_true([this] { return told() == 0; }));
  EXPECT_FALSE(interest_.wanted());
}

TEST_F(InterestTest, IsCountedOnceAConnection) {
  AskingReader one = reader(), two = reader();
  const ChannelRequest add = request(MessageType::kAddInterest);
  EXPECT_EQ(one.ask_and_wait(add)->type, MessageType::kDone);
  EXPECT_EQ(one.ask_and_wait(add)->refusal, ChannelRefusal::kMalformed);
  EXPECT_EQ(two.ask_and_wait(add)->type, MessageType::kDone);
  EXPECT_EQ(readers_in_segment(), 2U);
  const ChannelRequest remove = request(MessageType::kRemoveInterest);
  EXPECT_EQ(one.ask_and_wait(remove)->type, MessageType::kDone);
  EXPECT_EQ(one.ask_and_wait(remove)->refusal, ChannelRefusal::kMalformed);
  EXPECT_EQ(readers_in_segment(), 1U);
}

// A query that wants other counters takes back and adds in one step. A thread that overtakes
// another with the second of two packets would leave the provider with no interest, or with one too
// many.
TEST_F(InterestTest, TakesEffectInTheOrderOfItsMessages) {
  constexpr int kChanges = 2000, kAtOnce = 8;
  AskingReader reader = this->reader();
  const ChannelRequest add = request(MessageType::kAddInterest);
  const ChannelRequest remove = request(MessageType::kRemoveInterest);
  ASSERT_EQ(reader.ask_and_wait(add)->type, MessageType::kDone);
  for (int done = 0; done < kChanges; done += kAtOnce) {
    for (int i = 0; i < kAtOnce; ++i) {
      reader.ask(remove);
      reader.ask(add);
    }
    for (int i = 0; i < 2 * kAtOnce; ++i) {
      const auto answer = reader.answer();
      ASSERT_TRUE(answer);
      ASSERT_EQ(answer->type, MessageType::kDone);
    }
    ASSERT_EQ(readers_in_segment(), 1U);
    ASSERT_EQ(told(), 1);
  }
}

TEST_F(InterestTest, ReturnsToZeroAfterAThousandReadersWereKilled) {
  const ChannelRequest add = request(MessageType::kAddInterest);
  const std::ptrdiff_t before = test::open_descriptors();
  constexpr int kReaders = 1000, kAtOnce = 50;
  const std::string record = provider_.record();
  for (int done = 0; done < kReaders; done += kAtOnce) {
    std::deque<pid_t> children;
    for (int i = 0; i < kAtOnce; ++i) {
      const pid_t child = ::fork();
      ASSERT_GE(child, 0);
      if (child == 0) {
        AskingReader reader(record);
        if (i % 2 == 0) {
          reader.ask(add);  // killed with the request on its way, more or less
        } else {
          static_cast<void>(reader.ask_and_wait(add));
        }
        ::raise(SIGKILL);
      }
      children.push_back(child);
    }
    for (const pid_t child : children) ::waitpid(child, nullptr, 0);
  }
  EXPECT_TRUE(comes_true([this] { return told() == 0 && !interest_.wanted(); }));
  EXPECT_TRUE(comes_true([&] { return test::open_descriptors() == before; }));
  EXPECT_EQ(readers_in_segment(), 0U);
  EXPECT_GT(most_, 0);
  EXPECT_GE(least_, 0);
}

TEST_F(InterestTest, EndsWithTheReadersProcessThoughAChildHoldsTheSocket) {
  const ChannelRequest add = request(MessageType::kAddInterest);
  const std::string record = provider_.record();
  std::array<int, 2> keep{};
  ASSERT_EQ(::pipe(keep.data()), 0);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    ::close(keep[1]);
    AskingReader reader(record);
    const bool told = reader.ask_and_wait(add).has_value();
    if (::fork() == 0) {  // holds the socket until the test is over
      char byte = 0;
      static_cast<void>(::read(keep[0], &byte, 1));
      ::_exit(0);
    }
    ::_exit(told ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(comes_true([this] { return told() == 0; }));
  ::close(keep[0]);
  ::close(keep[1]);
}

TEST_F(InterestTest, GoesWithTheRegistration) {
  AskingReader reader = this->reader();
  ASSERT_TRUE(reader.ask_and_wait(request(MessageType::kAddInterest)));
  registration_.close();
  EXPECT_FALSE(interest_.wanted());
  EXPECT_EQ(told(), 1);  // no notification after the end
  reader.hang_up();
  registration_ = Registration();
  provider_ = make({});
  EXPECT_FALSE(interest_.wanted());  // the handle outlives its provider
}

TEST(InterestAlone, IsCountedWithoutACallback) {
  const test::TemporaryDirectory directory;
  auto provider = Provider::create({.name = "orders", .directory = directory.path()});
  ASSERT_TRUE(provider);
  const auto registration = provider->add(test::kOrders, nullptr);
  ASSERT_TRUE(registration);
  const Interest interest = registration->interest();
  const auto catalog = Catalog::open({.directory = directory.path()});
  const RegisteredSet& set = catalog->providers().at(0)->sets.at(0);
  EXPECT_EQ(set.flags, kRegistrationInterest);
  ChannelRequest request;
  request.type = MessageType::kAddInterest;
  request.registration = set.registration;
  request.generation = set.generation;
  AskingReader reader(provider->record());
  EXPECT_EQ(reader.ask_and_wait(request)->type, MessageType::kDone);
  EXPECT_TRUE(interest.wanted());
  request.type = MessageType::kCollect;
  EXPECT_EQ(reader.ask_and_wait(request)->refusal, ChannelRefusal::kNoCallback);
}

TEST(InterestAlone, IsZeroWithoutARegistrationThatCountsIt) {
  const test::TemporaryDirectory directory;
  auto provider = Provider::create({.name = "orders", .directory = directory.path()});
  const auto plain = provider->add(test::kOrders);
  ASSERT_TRUE(plain);
  EXPECT_FALSE(plain->interest().wanted());
  EXPECT_FALSE(Registration().interest().wanted(0));
}

// The order of events is what counts: a removal that overtakes its addition would leave a provider
// gathering for ever.
TEST_F(InterestTest, IsToldInOrderWhileTheCallbackIsSlow) {
  registration_.close();
  Gate gate;
  std::vector<CallbackReason> reasons;
  const Registration slow = register_with([&](CallbackRequest& request) {
    gate.pass();
    const std::lock_guard lock(mutex_);
    reasons.push_back(request.reason());
    return 0U;
  });
  AskingReader one = reader(), two = reader();
  ChannelRequest add = request(MessageType::kAddInterest);
  add.counter_mask = {2};
  one.ask(add);
  gate.wait_for(1);
  add.counter_mask = {4};
  two.ask(add);  // waits behind the first
  ASSERT_TRUE(comes_true([&] { return slow.interest().wanted(Venue::kBytes); }));
  two.hang_up();  // comes and goes unheard
  ASSERT_TRUE(comes_true([&] { return !slow.interest().wanted(Venue::kBytes); }));
  one.hang_up();
  gate.open();
  EXPECT_TRUE(comes_true([&] {
    const std::lock_guard lock(mutex_);
    return reasons.size() == 2;
  }));
  const std::lock_guard lock(mutex_);
  EXPECT_EQ(reasons, (std::vector{CallbackReason::kAddInterest, CallbackReason::kRemoveInterest}));
}

}  // namespace
}  // namespace meterbank
