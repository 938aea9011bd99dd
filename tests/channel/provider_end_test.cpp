// SPDX-License-Identifier: Apache-2.0
//
// What a provider with a callback does for a reader that keeps to the rules.
#include <array>
#include <set>
#include <stdexcept>
#include <vector>

#include "channel_fixture.hpp"

namespace meterbank {
namespace {

using test::AskingReader;
using test::ChannelFixture;
using test::comes_true;
using test::Gate;

class CallbackProvider : public ChannelFixture {
 protected:
  // As many as one registration answers at a time.
  [[nodiscard]] std::array<AskingReader, kOutstandingRequestsMax> four_readers() const {
    return {reader(), reader(), reader(), reader()};
  }
};

constexpr std::array<std::uint64_t, 3> kRow{1, 2, 3};

std::uint32_t add_three_rows(CallbackRequest& request) {
  request.add("small", 7, std::array<std::uint64_t, 3>{1, 0xffffffff, ~std::uint64_t{0}});
  request.add("medium", 8, kRow);
  request.add("large", 9, kRow);
  return 0;
}

TEST_F(CallbackProvider, DeliversRowsAsTheCallbackAddedThem) {
  const Registration registration = register_with(add_three_rows);
  AskingReader reader = this->reader();
  const auto answer = reader.ask_and_wait(request(MessageType::kCollect));
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->type, MessageType::kRows);
  EXPECT_EQ(answer->outcome, CallbackOutcome::kFinished);
  ASSERT_EQ(answer->rows.size(), 3U);
  EXPECT_EQ(answer->rows[0].name, "small");
  EXPECT_EQ(answer->rows[0].id, 7U);
  EXPECT_EQ(answer->rows[0].values, (std::vector<std::uint64_t>{1, 0xffffffff, ~std::uint64_t{0}}));
  EXPECT_EQ(answer->rows[2].name, "large");
}

TEST_F(CallbackProvider, CopiesValuesAtTheCall) {
  const Registration registration = register_with([](CallbackRequest& request) {
    std::array<std::uint64_t, 3> row{5, 6, 7};
    std::string name = "small";
    request.add(name, 1, row);
    row.fill(0);
    name = "large";
    return 0U;
  });
  AskingReader reader = this->reader();
  const auto answer = reader.ask_and_wait(request(MessageType::kCollect));
  ASSERT_TRUE(answer);
  ASSERT_EQ(answer->rows.size(), 1U);
  EXPECT_EQ(answer->rows[0].name, "small");
  EXPECT_EQ(answer->rows[0].values, (std::vector<std::uint64_t>{5, 6, 7}));
}

TEST_F(CallbackProvider, HandsOverWhatTheReaderAskedFor) {
  std::atomic<bool> right{false};
  const Registration registration = register_with([&right](CallbackRequest& request) {
    right = request.reason() == CallbackReason::kCollect && request.wants(2) && !request.wants(1) &&
            request.wants(64) && request.counter_mask().size() == 2 &&
            request.instance_id() == 12 && request.instance_mask() == "sm*" &&
            !request.collects_many() && !request.is_cancelled() &&
            request.deadline() > std::chrono::steady_clock::now();
    return 0U;
  });
  ChannelRequest asked = request(MessageType::kCollect);
  asked.counter_mask = {4, 1};
  asked.instance_id = 12;
  asked.pattern = "sm*";
  asked.collect_many = false;
  AskingReader reader = this->reader();
  ASSERT_TRUE(reader.ask_and_wait(asked));
  EXPECT_TRUE(right);
}

TEST_F(CallbackProvider, ShowsTheCodeOfACallbackAndDeliversItsRows) {
  const Registration registration = register_with([](CallbackRequest& request) {
    request.add("a", 1, kRow);
    request.add("b", 2, kRow);
    return 0xc0000001U;
  });
  AskingReader reader = this->reader();
  const auto answer = reader.ask_and_wait(request(MessageType::kCollect));
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->outcome, CallbackOutcome::kFailed);
  EXPECT_EQ(answer->code, 0xc0000001U);
  EXPECT_EQ(answer->rows.size(), 2U);
}

TEST_F(CallbackProvider, ContainsWhatACallbackThrows) {
  int calls = 0;
  const Registration registration = register_with([&calls](CallbackRequest& request) -> unsigned {
    request.add("a", 1, kRow);
    if (++calls == 1) throw std::runtime_error("pool \xc3\xa4 is gone");
    throw 5;
  });
  AskingReader reader = this->reader();
  const auto first = reader.ask_and_wait(request(MessageType::kCollect));
  ASSERT_TRUE(first);
  EXPECT_EQ(first->outcome, CallbackOutcome::kThrew);
  EXPECT_EQ(first->text, "pool \xc3\xa4 is gone");
  EXPECT_EQ(first->rows.size(), 1U);
  const auto second = reader.ask_and_wait(request(MessageType::kCollect));
  ASSERT_TRUE(second);
  EXPECT_EQ(second->outcome, CallbackOutcome::kThrew);
}

TEST_F(CallbackProvider, TakesRowsWithoutValuesOnlyToEnumerate) {
  std::vector<CallbackRequest::Added> added;
  const Registration registration = register_with([&added](CallbackRequest& request) {
    added.push_back(request.add("a", 1, {}));
    return 0U;
  });
  AskingReader reader = this->reader();
  const auto names = reader.ask_and_wait(request(MessageType::kEnumerate));
  ASSERT_TRUE(names);
  ASSERT_EQ(names->rows.size(), 1U);
  EXPECT_TRUE(names->rows[0].values.empty());
  const auto values = reader.ask_and_wait(request(MessageType::kCollect));
  ASSERT_TRUE(values);
  EXPECT_TRUE(values->rows.empty());
  EXPECT_EQ(added, (std::vector{CallbackRequest::Added::kYes, CallbackRequest::Added::kNoValues}));
}

TEST_F(CallbackProvider, RefusesRowsThatBreakARule) {
  std::vector<CallbackRequest::Added> added;
  const Registration registration = register_with([&added](CallbackRequest& request) {
    added = {request.add("", 1, kRow),
             request.add("a\xff", 1, kRow),
             request.add(std::string(1024, 'x'), 1, kRow),
             request.add("a", kAnyInstanceId, kRow),
             request.add("a", kAnyInstanceId - 1, kRow),
             request.add("a", 1, kRow)};
    return 0U;
  });
  AskingReader reader = this->reader();
  const auto answer = reader.ask_and_wait(request(MessageType::kCollect));
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->rows.size(), 1U);
  using Added = CallbackRequest::Added;
  EXPECT_EQ(added, (std::vector{Added::kBadName, Added::kBadName, Added::kBadName,
                                Added::kReservedId, Added::kReservedId, Added::kYes}));
}

TEST_F(CallbackProvider, DropsFurtherRowsWhereTheFirstIsEnough) {
  const Registration registration = register_with(add_three_rows);
  ChannelRequest asked = request(MessageType::kCollect);
  asked.collect_many = false;
  AskingReader reader = this->reader();
  const auto answer = reader.ask_and_wait(asked);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->rows.size(), 1U);
}

TEST_F(CallbackProvider, SendsManyRowsInMemory) {
  constexpr std::uint32_t kRows = 20'000;
  const Registration registration = register_with([](CallbackRequest& request) {
    for (std::uint32_t id = 0; id < kRows; ++id) {
      request.add("row " + std::to_string(id), id, std::array<std::uint64_t, 3>{id, id + 1, 5});
    }
    return 0U;
  });
  AskingReader reader = this->reader();
  const auto asked = request(MessageType::kCollect);
  std::ptrdiff_t before = 0;
  for (int round = 0; round < 4; ++round) {
    const auto answer = reader.ask_and_wait(asked);
    ASSERT_TRUE(answer);
    EXPECT_NE(answer->flags & kRowsInMemory, 0U);
    ASSERT_EQ(answer->rows.size(), kRows);
    EXPECT_EQ(answer->rows.back().name, "row 19999");
    EXPECT_EQ(answer->rows.back().values[1], kRows);
    if (round == 0) before = test::open_descriptors();  // connected by now
  }
  // The provider lets go of its own a moment after the answer.
  EXPECT_TRUE(comes_true([before] { return test::open_descriptors() <= before; }));
}

TEST_F(CallbackProvider, RunsCallsOfTwoReadersAtOnce) {
  Gate gate;
  const Registration registration = register_with([&gate](CallbackRequest& request) {
    gate.pass();
    request.add("a", 1, kRow);
    return 0U;
  });
  AskingReader one = reader(), two = reader();
  one.ask(request(MessageType::kCollect));
  two.ask(request(MessageType::kCollect));
  gate.wait_for(2);
  gate.open();
  EXPECT_TRUE(one.answer());
  EXPECT_TRUE(two.answer());
}

TEST_F(CallbackProvider, RunsOneCallAtATimeIfToldTo) {
  Gate gate;
  std::atomic<int> inside{0}, most{0};
  const Registration registration = register_with(
      [&](CallbackRequest&) {
        const int now = inside.fetch_add(1, std::memory_order_seq_cst) + 1;
        most.store(std::max(most.load(std::memory_order_seq_cst), now), std::memory_order_seq_cst);
        gate.pass();
        inside.fetch_sub(1, std::memory_order_seq_cst);
        return 0U;
      },
      {.serial = true});
  auto readers = four_readers();
  const ChannelRequest asked = request(MessageType::kCollect);
  for (AskingReader& reader : readers) reader.ask(asked);
  gate.wait_for(1);
  // What must not happen cannot be waited for: the other calls have this long to enter.
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_EQ(inside.load(std::memory_order_seq_cst), 1);
  gate.open();
  for (AskingReader& reader : readers) EXPECT_EQ(reader.answer()->type, MessageType::kRows);
  EXPECT_EQ(most.load(std::memory_order_seq_cst), 1);
}

TEST_F(CallbackProvider, TellsTheFifthCallerToComeAgain) {
  Gate gate;
  const Registration registration = register_with([&gate](CallbackRequest& request) {
    gate.pass();
    request.add("a", 1, kRow);
    return 0U;
  });
  const ChannelRequest asked = request(MessageType::kCollect);
  auto readers = four_readers();
  AskingReader late = reader();
  for (AskingReader& reader : readers) reader.ask(asked);
  gate.wait_for(4);
  const auto fifth = late.ask_and_wait(asked);
  ASSERT_TRUE(fifth);
  EXPECT_EQ(fifth->type, MessageType::kBusy);
  gate.open();
  for (AskingReader& reader : readers) {
    const auto answer = reader.answer();
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->rows.size(), 1U);
  }
  const auto again = late.ask_and_wait(asked);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->type, MessageType::kRows);
}

TEST_F(CallbackProvider, ServesSixtyFourReadersAtOnce) {
  const Registration registration = register_with(add_three_rows);
  const ChannelRequest asked = request(MessageType::kCollect);
  constexpr int kReaders = 64, kRounds = 100;
  std::atomic<int> answered{0};
  std::array<std::thread, kReaders> threads;
  for (int i = 0; i < kReaders; ++i) {
    threads[static_cast<std::size_t>(i)] = std::thread([&, i] {
      AskingReader reader = this->reader();
      ChannelRequest interest = asked;
      for (int round = 0; round < kRounds; ++round) {
        interest.type =
            round % 2 == i % 2 ? MessageType::kAddInterest : MessageType::kRemoveInterest;
        if (round > 0 || i % 2 == 0) static_cast<void>(reader.ask_and_wait(interest));
        auto answer = reader.ask_and_wait(asked);
        while (answer && answer->type == MessageType::kBusy) {
          std::this_thread::yield();
          answer = reader.ask_and_wait(asked);
        }
        if (answer && answer->rows.size() == 3) ++answered;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(answered, kReaders * kRounds);
  const Interest interest = registration.interest();
  EXPECT_TRUE(comes_true([&interest] { return !interest.wanted(); }));
}

TEST_F(CallbackProvider, AnswersOthersWhileEveryCallbackOfOneSetHangs) {
  Gate gate;
  const Registration hung = register_with([&gate](CallbackRequest&) {
    gate.pass();
    return 0U;
  });
  const ChannelRequest to_hung = request(MessageType::kCollect);
  constexpr CountersetSpec kOther{
      .name = "Other Orders", .symbol = "other_orders", .counters = test::kVenueCounters};
  ASSERT_TRUE(provider_.add(kOther, add_three_rows));
  const ChannelRequest to_other = request(MessageType::kCollect);
  auto readers = four_readers();
  for (AskingReader& reader : readers) reader.ask(to_hung);
  gate.wait_for(4);
  AskingReader other = reader();
  const auto answer = other.ask_and_wait(to_other);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->rows.size(), 3U);
  gate.open();
}

TEST_F(CallbackProvider, TellsARunningCallThatItsReaderHasCancelledOrGone) {
  for (const bool cancels : {true, false}) {
    std::atomic<bool> inside{false}, told{false};
    const Registration registration = register_with([&](CallbackRequest& request) {
      inside = true;
      told = comes_true([&request] { return request.is_cancelled(); }) &&
             request.cancelled().load(std::memory_order_relaxed) == 1;
      return 0U;
    });
    AskingReader reader = this->reader();
    const std::uint64_t id = reader.ask(request(MessageType::kCollect));
    ASSERT_TRUE(comes_true([&inside] { return inside.load(std::memory_order_relaxed); }));
    if (cancels) {
      ChannelRequest cancel;
      cancel.type = MessageType::kCancel;
      cancel.id = id;
      reader.socket().send(encode(cancel));
      const auto answer = reader.answer();
      ASSERT_TRUE(answer);
      EXPECT_EQ(answer->id, id);
      EXPECT_EQ(answer->outcome, CallbackOutcome::kCancelled);
    } else {
      reader.hang_up();
    }
    registration.close();
    EXPECT_TRUE(told);
  }
}

TEST_F(CallbackProvider, TellsACallOfACancelThatCameRightBehindIt) {
  const Registration registration = register_with([](CallbackRequest& request) {
    EXPECT_TRUE(comes_true([&request] { return request.is_cancelled(); }));
    return 0U;
  });
  const ChannelRequest collect = request(MessageType::kCollect);
  AskingReader reader = this->reader();
  for (int i = 0; i < 500 && !HasFailure(); ++i) {
    ChannelRequest cancel;
    cancel.type = MessageType::kCancel;
    cancel.id = reader.ask(collect);
    reader.socket().send(encode(cancel));
    const auto answer = reader.answer();
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->outcome, CallbackOutcome::kCancelled);
  }
}

TEST_F(CallbackProvider, RefusesSetsWhoseValuesAreMoreThanOneNumber) {
  constexpr std::array kCounters{CounterSpec{.id = 5,
                                             .name = "Sizes",
                                             .symbol = "sizes",
                                             .form = ValueForm::kDistribution,
                                             .buckets = {.scale = 2, .least = 1, .most = 64}}};
  const auto refused = provider_.add({.name = "Sizes", .symbol = "sizes", .counters = kCounters},
                                     [](CallbackRequest&) { return 0U; });
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kInvalidArgument);
  EXPECT_NE(refused.error().what.find("counter 5"), std::string::npos);
}

TEST_F(CallbackProvider, RefusesRegistrationsThatAreNotThere) {
  const Registration first = register_with(add_three_rows);
  const ChannelRequest old = request(MessageType::kCollect);
  AskingReader reader = this->reader();
  EXPECT_EQ(reader.ask_and_wait(old)->type, MessageType::kRows);
  first.close();
  EXPECT_EQ(reader.ask_and_wait(old)->refusal, ChannelRefusal::kNoRegistration);
  // The same set again is another registration.
  const Registration second = register_with(add_three_rows);
  EXPECT_EQ(reader.ask_and_wait(old)->refusal, ChannelRefusal::kNoRegistration);
  EXPECT_EQ(reader.ask_and_wait(request(MessageType::kCollect))->rows.size(), 3U);
  ChannelRequest wild = old;
  wild.registration = 12345;
  EXPECT_EQ(reader.ask_and_wait(wild)->refusal, ChannelRefusal::kNoRegistration);
}

TEST_F(CallbackProvider, WaitsForRunningCallsWhenARegistrationIsClosed) {
  Gate gate;
  std::atomic<bool> left{false};
  const Registration registration = register_with([&](CallbackRequest&) {
    gate.pass();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    left = true;
    return 0U;
  });
  AskingReader reader = this->reader();
  const ChannelRequest asked = request(MessageType::kCollect);
  reader.ask(asked);
  gate.wait_for(1);
  std::thread closer([&registration] { registration.close(); });
  ASSERT_TRUE(comes_true([&] { return registration.state() == RegistrationState::kClosing; }));
  AskingReader late = this->reader();
  const auto refused = late.ask_and_wait(asked);
  ASSERT_TRUE(refused) << "no answer: the call was admitted";
  EXPECT_EQ(refused->refusal, ChannelRefusal::kClosing);
  gate.open();
  closer.join();
  EXPECT_TRUE(left);
  EXPECT_EQ(registration.state(), RegistrationState::kClosed);
  EXPECT_TRUE(reader.answer());
}

TEST_F(CallbackProvider, MayCloseItsRegistrationFromInside) {
  Registration registration;
  std::atomic<RegistrationState> inside{RegistrationState::kFree};
  registration = register_with([&](CallbackRequest& request) {
    request.add("a", 1, kRow);
    registration.close();
    inside = registration.state();
    return 0U;
  });
  AskingReader reader = this->reader();
  const auto answer = reader.ask_and_wait(request(MessageType::kCollect));
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->rows.size(), 1U);
  EXPECT_EQ(inside, RegistrationState::kClosing);
  EXPECT_TRUE(comes_true([&] { return registration.state() == RegistrationState::kClosed; }));
  EXPECT_FALSE(registration.create_instance("late"));
}

TEST_F(CallbackProvider, MayEndItsProviderFromInside) {
  std::atomic<bool> ended{false};
  const Registration registration = register_with([&](CallbackRequest&) {
    provider_ = Provider::create_or_disabled({.name = "other", .directory = directory_.path()});
    ended = true;
    return 0U;
  });
  AskingReader reader = this->reader();
  reader.ask(request(MessageType::kCollect));
  EXPECT_TRUE(comes_true([&ended] { return ended.load(std::memory_order_relaxed); }));
  EXPECT_FALSE(reader.answer());  // hung up on
  EXPECT_TRUE(comes_true([&] { return registration.state() == RegistrationState::kClosed; }));
}

TEST_F(CallbackProvider, MayCreateInstancesFromInside) {
  Registration registration;
  registration = register_with(
      [&](CallbackRequest&) { return registration.create_instance("from inside") ? 0U : 1U; });
  AskingReader reader = this->reader();
  EXPECT_EQ(reader.ask_and_wait(request(MessageType::kCollect))->code, 0U);
}

TEST_F(CallbackProvider, LeavesNoSocketBehind) {
  { const Registration registration = register_with(add_three_rows); }
  EXPECT_EQ(directory_.files(), 3U);  // the record, its door and the socket
  provider_ = make({});
  EXPECT_EQ(directory_.files(), 2U);
}

TEST_F(CallbackProvider, StartsNoThreadAndNoSocketWithoutACallback) {
  ASSERT_TRUE(provider_.add(test::kOrders));
  EXPECT_EQ(directory_.files(), 2U);
}

}  // namespace
}  // namespace meterbank
